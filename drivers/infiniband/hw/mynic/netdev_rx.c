// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Reception of the network interface. A receive request has a head, which
 * becomes the linear part of an skb, and pages for the rest of the largest
 * frame. What a frame fills goes to the stack, and is replaced. The stack gives
 * it back to the page pool. A short frame is copied, and its buffer stays.
 */
#include <linux/dma-mapping.h>
#include <linux/etherdevice.h>
#include <linux/slab.h>
#include <net/page_pool/helpers.h>

#include "netdev.h"

/* Bytes of a head, with room for what the stack adds before and behind */
#define MYNIC_RX_HEAD_SIZE 2048U
#define MYNIC_RX_HEADROOM (NET_SKB_PAD + NET_IP_ALIGN)
#define MYNIC_RX_HEAD_ROOM \
	((u32)SKB_WITH_OVERHEAD(MYNIC_RX_HEAD_SIZE) - MYNIC_RX_HEADROOM)
/* Pages behind the head */
#define MYNIC_RX_MAX_PAGES (MYNIC_RX_MAX_SGE - 1)
/* Longest frame that is copied */
#define MYNIC_RX_COPYBREAK 256U

/**
 * struct mynic_rx_buf - buffer of a receive request
 * @head: page of the head
 * @offset: of the head in its page
 * @pages: what follows the head
 */
struct mynic_rx_buf {
	struct page *head;
	unsigned int offset;
	struct page *pages[MYNIC_RX_MAX_PAGES];
};

/**
 * struct mynic_rx_bufs - buffers that the device was told of
 * @parked: keeps them while a dead device may write them
 * @pool: their pages
 * @num_pages: pages of a buffer behind its head
 * @num_slots: slots of the ring
 * @rx: by slot
 */
struct mynic_rx_bufs {
	struct mynic_parked parked;
	struct page_pool *pool;
	unsigned int num_pages;
	u32 num_slots;
	struct mynic_rx_buf rx[] __counted_by(num_slots);
};

/* Pages of a frame of @len bytes behind its head */
static unsigned int mynic_rx_num_pages(u32 len)
{
	return len <= MYNIC_RX_HEAD_ROOM ?
		       0 :
		       DIV_ROUND_UP(len - MYNIC_RX_HEAD_ROOM, PAGE_SIZE);
}

/* Bytes of the longest frame that the buffers can have */
u32 mynic_rx_max_size(void)
{
	return MYNIC_RX_HEAD_ROOM + MYNIC_RX_MAX_PAGES * PAGE_SIZE;
}

/* Memory */

static void mynic_rx_put_buf(struct page_pool *pool, struct mynic_rx_buf *buf)
{
	unsigned int i;

	for (i = 0; i < MYNIC_RX_MAX_PAGES && buf->pages[i]; i++)
		page_pool_put_full_page(pool, buf->pages[i], false);
	if (buf->head)
		page_pool_put_full_page(pool, buf->head, false);
}

/* Return: whether there was memory for the head and for @num_pages pages. */
static bool mynic_rx_get_buf(struct page_pool *pool, struct mynic_rx_buf *buf,
			     unsigned int num_pages, gfp_t gfp)
{
	unsigned int i;

	*buf = (struct mynic_rx_buf){};
	buf->head = page_pool_alloc_frag(pool, &buf->offset, MYNIC_RX_HEAD_SIZE,
					 gfp);
	if (!buf->head)
		return false;
	for (i = 0; i < num_pages; i++) {
		buf->pages[i] = page_pool_alloc_pages(pool, gfp);
		if (!buf->pages[i]) {
			mynic_rx_put_buf(pool, buf);
			return false;
		}
	}
	return true;
}

static void mynic_rx_release(struct mynic_parked *parked)
{
	struct mynic_rx_bufs *bufs =
		container_of(parked, struct mynic_rx_bufs, parked);
	unsigned int i;

	for (i = 0; i < bufs->num_slots; i++)
		mynic_rx_put_buf(bufs->pool, &bufs->rx[i]);
	page_pool_destroy(bufs->pool);
	kvfree(bufs);
}

static struct page_pool *mynic_rx_create_pool(struct mynic_channel *ch,
					      unsigned int num_pages)
{
	struct device *dev = &ch->nd->mdev->pdev->dev;
	struct page_pool_params params = {
		.flags = PP_FLAG_DMA_MAP | PP_FLAG_DMA_SYNC_DEV,
		.pool_size = ch->nd->setup.rx_slots * (num_pages + 1),
		.nid = dev_to_node(dev),
		.dev = dev,
		.napi = &ch->napi,
		.queue_idx = ch->index,
		.netdev = ch->nd->ndev,
		.dma_dir = DMA_FROM_DEVICE,
		.max_len = PAGE_SIZE,
	};

	return page_pool_create(&params);
}

/* NAPI is disabled. */
int mynic_rx_alloc(struct mynic_channel *ch)
{
	u32 num_slots = ch->nd->setup.rx_slots;
	struct mynic_rx_bufs *bufs;
	unsigned int i;
	int ret;

	bufs = kvzalloc(struct_size(bufs, rx, num_slots), GFP_KERNEL);
	if (!bufs)
		return -ENOMEM;
	bufs->num_slots = num_slots;
	bufs->num_pages = mynic_rx_num_pages(ch->nd->max_frame);
	bufs->pool = mynic_rx_create_pool(ch, bufs->num_pages);
	if (IS_ERR(bufs->pool)) {
		ret = PTR_ERR(bufs->pool);
		kvfree(bufs);
		return ret;
	}
	for (i = 0; i < num_slots; i++) {
		if (!mynic_rx_get_buf(bufs->pool, &bufs->rx[i], bufs->num_pages,
				      GFP_KERNEL)) {
			mynic_rx_release(&bufs->parked);
			return -ENOMEM;
		}
	}
	ch->rx_bufs = bufs;
	return 0;
}

/* NAPI is disabled. It may be enabled for other buffers before these are freed. */
void mynic_rx_free(struct mynic_channel *ch)
{
	struct mynic_rx_bufs *bufs = ch->rx_bufs;

	page_pool_disable_direct_recycling(bufs->pool);
	ch->rx_bufs = NULL;
	mynic_park(ch->nd->mdev, &bufs->parked, mynic_rx_release);
}

/* Posting */

static dma_addr_t mynic_rx_head_dma(const struct mynic_rx_buf *buf)
{
	return page_pool_get_dma_addr(buf->head) + buf->offset +
	       MYNIC_RX_HEADROOM;
}

static void mynic_rx_post(struct mynic_channel *ch)
{
	struct mynic_queue *rq = ch->rq;
	struct mynic_recv_wqe *wqe = mynic_queue_slot(rq, rq->pi);
	struct mynic_sge *sge = (struct mynic_sge *)(wqe + 1);
	const struct mynic_rx_bufs *bufs = ch->rx_bufs;
	const struct mynic_rx_buf *buf = &bufs->rx[rq->pi % bufs->num_slots];
	unsigned int i;

	wqe->wr_id = cpu_to_le64(MYNIC_WR_RECV | rq->pi);
	wqe->num_sge = cpu_to_le32(bufs->num_pages + 1);
	mynic_netdev_fill_sge(ch->nd, sge, mynic_rx_head_dma(buf),
			      MYNIC_RX_HEAD_ROOM);
	for (i = 0; i < bufs->num_pages; i++)
		mynic_netdev_fill_sge(ch->nd, &sge[i + 1],
				      page_pool_get_dma_addr(buf->pages[i]),
				      PAGE_SIZE);
	rq->pi++;
}

/* Hand what has been posted over to the device. */
static void mynic_rx_flush(struct mynic_channel *ch)
{
	if (ch->rq == &ch->rwq.rq)
		mynic_rwq_ring(ch->nd->mdev, &ch->rwq);
	else
		mynic_qp_ring_rq(ch->nd->mdev, &ch->qp);
}

void mynic_rx_post_all(struct mynic_channel *ch)
{
	unsigned int i;

	for (i = 0; i < ch->rx_bufs->num_slots; i++)
		mynic_rx_post(ch);
	mynic_rx_flush(ch);
}

/* Frames */

static void *mynic_rx_head(const struct mynic_rx_buf *buf)
{
	return page_address(buf->head) + buf->offset;
}

static struct sk_buff *mynic_rx_copy(struct mynic_channel *ch,
				     const struct mynic_rx_buf *buf, u32 len)
{
	struct sk_buff *skb = napi_alloc_skb(&ch->napi, len);

	if (!skb)
		return NULL;
	skb_put_data(skb, mynic_rx_head(buf) + MYNIC_RX_HEADROOM, len);
	dma_sync_single_for_device(&ch->nd->mdev->pdev->dev,
				   mynic_rx_head_dma(buf), len,
				   DMA_FROM_DEVICE);
	return skb;
}

/* Make an skb of what a frame has filled, and put new pages in its place. */
static struct sk_buff *mynic_rx_take(struct mynic_channel *ch,
				     struct mynic_rx_buf *buf, u32 len)
{
	struct page_pool *pool = ch->rx_bufs->pool;
	unsigned int num_pages = mynic_rx_num_pages(len), i;
	u32 part = min(len, MYNIC_RX_HEAD_ROOM);
	struct mynic_rx_buf fresh;
	struct sk_buff *skb;

	if (!mynic_rx_get_buf(pool, &fresh, num_pages,
			      GFP_ATOMIC | __GFP_NOWARN))
		return NULL;
	skb = napi_build_skb(mynic_rx_head(buf), MYNIC_RX_HEAD_SIZE);
	if (!skb) {
		mynic_rx_put_buf(pool, &fresh);
		return NULL;
	}
	skb_mark_for_recycle(skb);
	skb_reserve(skb, MYNIC_RX_HEADROOM);
	skb_put(skb, part);
	buf->head = fresh.head;
	buf->offset = fresh.offset;
	for (i = 0; i < num_pages; i++) {
		len -= part;
		part = min_t(u32, len, PAGE_SIZE);
		page_pool_dma_sync_for_cpu(pool, buf->pages[i], 0, part);
		skb_add_rx_frag(skb, i, buf->pages[i], 0, part, PAGE_SIZE);
		buf->pages[i] = fresh.pages[i];
	}
	return skb;
}

static void mynic_rx_deliver(struct mynic_channel *ch, struct sk_buff *skb,
			     u32 flags, u16 vlan)
{
	struct net_device *ndev = ch->nd->ndev;

	/* A tag of 0 says nothing that its absence does not. */
	if (vlan && ch->nd->setup.vlan_strip)
		__vlan_hwaccel_put_tag(skb, htons(ETH_P_8021Q), vlan);
	if (flags & MYNIC_WC_IP_CSUM_OK && ndev->features & NETIF_F_RXCSUM) {
		skb->ip_summed = CHECKSUM_UNNECESSARY;
		u64_stats_inc(&ch->rx_stats.csum_ok);
	}
	skb_record_rx_queue(skb, ch->index);
	skb->protocol = eth_type_trans(skb, ndev);
	napi_gro_receive(&ch->napi, skb);
}

/* Return: bytes of the frame, or 0 if it is dropped. */
static u32 mynic_rx_frame(struct mynic_channel *ch, struct mynic_rx_buf *buf,
			  const struct mynic_cqe *cqe)
{
	u32 flags = le32_to_cpu(READ_ONCE(cqe->wc_flags));
	u32 len = le32_to_cpu(READ_ONCE(cqe->byte_len));
	u16 vlan = le16_to_cpu(READ_ONCE(cqe->cvlan));
	struct mynic_netdev *nd = ch->nd;
	struct sk_buff *skb;

	if (len < ETH_HLEN || len > nd->max_frame) {
		u64_stats_inc(&ch->rx_stats.length_errors);
		return 0;
	}
	dma_sync_single_for_cpu(&nd->mdev->pdev->dev, mynic_rx_head_dma(buf),
				min(len, MYNIC_RX_HEAD_ROOM), DMA_FROM_DEVICE);
	skb = len <= MYNIC_RX_COPYBREAK ? mynic_rx_copy(ch, buf, len) :
					  mynic_rx_take(ch, buf, len);
	if (!skb) {
		u64_stats_inc(&ch->rx_stats.dropped);
		return 0;
	}
	u64_stats_inc(&ch->rx_stats.packets);
	u64_stats_add(&ch->rx_stats.bytes, len);
	mynic_rx_deliver(ch, skb, flags, vlan);
	return len;
}

/* Completions */

/* Return: whether this completion is possible, given what was posted. */
static bool mynic_rx_is_next(const struct mynic_queue *rq,
			     const struct mynic_cqe *cqe)
{
	return le64_to_cpu(READ_ONCE(cqe->wr_id)) == (MYNIC_WR_RECV | rq->ci) &&
	       rq->ci != rq->pi;
}

struct mynic_polled mynic_rx_poll(struct mynic_channel *ch, unsigned int budget)
{
	struct mynic_rx_bufs *bufs = ch->rx_bufs;
	struct mynic_queue *rq = ch->rq;
	struct mynic_polled polled = {};
	struct mynic_cqe *cqe;

	while (polled.num < budget) {
		cqe = mynic_cq_peek(&ch->rx_cq);
		if (!cqe)
			break;
		if (!mynic_rx_is_next(rq, cqe)) {
			polled.nonsense = true;
			break;
		}
		if (READ_ONCE(cqe->status)) {
			polled.failed = true;
			u64_stats_inc(&ch->rx_stats.errors);
		} else {
			polled.bytes += mynic_rx_frame(
				ch, &bufs->rx[rq->ci % bufs->num_slots], cqe);
			mynic_rx_post(ch);
		}
		rq->ci++;
		WRITE_ONCE(ch->rx_cq.ci, ch->rx_cq.ci + 1);
		polled.num++;
	}
	if (polled.num) {
		mynic_cq_publish(&ch->rx_cq);
		mynic_rx_flush(ch);
	}
	return polled;
}
