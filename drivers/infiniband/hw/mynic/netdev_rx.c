// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Reception of the network interface. A receive request has a head, which
 * becomes the linear part of an skb, and pages for the rest of a frame of the
 * MTU. With an XDP program, the head is a page, and there is nothing behind it.
 * What a frame fills goes to the stack, and is replaced. The stack gives
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
 * @head_size: bytes of a head, with what the stack adds
 * @headroom: bytes before the frame
 * @room: bytes of the frame in a head
 * @max_len: bytes of the longest frame that there may be
 * @num_pages: pages of a buffer behind its head
 * @num_slots: slots of the ring
 * @rx: by slot
 */
struct mynic_rx_bufs {
	struct mynic_parked parked;
	struct page_pool *pool;
	u32 head_size;
	u32 headroom;
	u32 room;
	u32 max_len;
	unsigned int num_pages;
	u32 num_slots;
	struct mynic_rx_buf rx[] __counted_by(num_slots);
};

/* Pages of a frame of @len bytes behind its head, which has @room for it */
static unsigned int mynic_rx_num_pages(u32 room, u32 len)
{
	return len <= room ? 0 : DIV_ROUND_UP(len - room, PAGE_SIZE);
}

static u32 mynic_rx_head_size(bool xdp)
{
	return xdp ? PAGE_SIZE : MYNIC_RX_HEAD_SIZE;
}

static u32 mynic_rx_headroom(bool xdp)
{
	return xdp ? XDP_PACKET_HEADROOM : MYNIC_RX_HEADROOM;
}

static u32 mynic_rx_room(bool xdp)
{
	return SKB_WITH_OVERHEAD(mynic_rx_head_size(xdp)) -
	       mynic_rx_headroom(xdp);
}

/* Pages behind the head of each buffer */
static unsigned int mynic_rx_setup_pages(const struct mynic_setup *setup)
{
	return mynic_rx_num_pages(mynic_rx_room(setup->xdp),
				  setup->mtu + VLAN_ETH_HLEN);
}

/* Return: whether the buffers for one MTU are those for the other, too. */
bool mynic_rx_same_pages(const struct mynic_setup *setup,
			 const struct mynic_setup *other)
{
	return mynic_rx_setup_pages(setup) == mynic_rx_setup_pages(other);
}

/* Bytes of the longest frame that buffers can have */
u32 mynic_rx_max_size(bool xdp)
{
	return mynic_rx_room(xdp) + (xdp ? 0 : MYNIC_RX_MAX_PAGES * PAGE_SIZE);
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
static bool mynic_rx_get_buf(const struct mynic_rx_bufs *bufs,
			     struct mynic_rx_buf *buf, unsigned int num_pages,
			     gfp_t gfp)
{
	struct page_pool *pool = bufs->pool;
	unsigned int size = bufs->head_size;
	unsigned int i;

	*buf = (struct mynic_rx_buf){};
	buf->head = page_pool_alloc(pool, &buf->offset, &size, gfp);
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
		.dma_dir = ch->nd->setup.xdp ? DMA_BIDIRECTIONAL :
					       DMA_FROM_DEVICE,
		.max_len = PAGE_SIZE,
	};

	return page_pool_create(&params);
}

static int mynic_rx_register_xdp(struct mynic_channel *ch,
				 struct page_pool *pool)
{
	int ret;

	if (!ch->nd->setup.xdp)
		return 0;
	ret = xdp_rxq_info_reg(&ch->xdp_rxq, ch->nd->ndev, ch->index,
			       ch->napi.napi_id);
	if (ret)
		return ret;
	ret = xdp_rxq_info_reg_mem_model(&ch->xdp_rxq, MEM_TYPE_PAGE_POOL,
					 pool);
	if (ret)
		xdp_rxq_info_unreg(&ch->xdp_rxq);
	return ret;
}

static struct mynic_rx_bufs *mynic_rx_create(struct mynic_channel *ch)
{
	const struct mynic_setup *setup = &ch->nd->setup;
	struct mynic_rx_bufs *bufs;
	struct page_pool *pool;

	bufs = kvzalloc(struct_size(bufs, rx, setup->rx_slots), GFP_KERNEL);
	if (!bufs)
		return ERR_PTR(-ENOMEM);
	bufs->num_slots = setup->rx_slots;
	bufs->head_size = mynic_rx_head_size(setup->xdp);
	bufs->headroom = mynic_rx_headroom(setup->xdp);
	bufs->room = mynic_rx_room(setup->xdp);
	bufs->num_pages = mynic_rx_setup_pages(setup);
	bufs->max_len = min_t(u32, ch->nd->max_frame,
			      bufs->room + bufs->num_pages * PAGE_SIZE);
	pool = mynic_rx_create_pool(ch, bufs->num_pages);
	if (IS_ERR(pool)) {
		kvfree(bufs);
		return ERR_CAST(pool);
	}
	bufs->pool = pool;
	return bufs;
}

/* NAPI is disabled. */
int mynic_rx_alloc(struct mynic_channel *ch)
{
	struct mynic_rx_bufs *bufs = mynic_rx_create(ch);
	unsigned int i;
	int ret;

	if (IS_ERR(bufs))
		return PTR_ERR(bufs);
	for (i = 0; i < bufs->num_slots; i++) {
		ret = -ENOMEM;
		if (!mynic_rx_get_buf(bufs, &bufs->rx[i], bufs->num_pages,
				      GFP_KERNEL))
			goto err;
	}
	ret = mynic_rx_register_xdp(ch, bufs->pool);
	if (ret)
		goto err;
	ch->rx_bufs = bufs;
	return 0;

err:
	mynic_rx_release(&bufs->parked);
	return ret;
}

/* NAPI is disabled. It may be enabled for other buffers before these are freed. */
void mynic_rx_free(struct mynic_channel *ch)
{
	struct mynic_rx_bufs *bufs = ch->rx_bufs;

	if (xdp_rxq_info_is_reg(&ch->xdp_rxq))
		xdp_rxq_info_unreg(&ch->xdp_rxq);
	page_pool_disable_direct_recycling(bufs->pool);
	ch->rx_bufs = NULL;
	mynic_park(ch->nd->mdev, &bufs->parked, mynic_rx_release);
}

/* Posting */

static dma_addr_t mynic_rx_head_dma(const struct mynic_rx_bufs *bufs,
				    const struct mynic_rx_buf *buf)
{
	return page_pool_get_dma_addr(buf->head) + buf->offset + bufs->headroom;
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
	mynic_netdev_fill_sge(ch->nd, sge, mynic_rx_head_dma(bufs, buf),
			      bufs->room);
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

/* A buffer that has been read is to be written once more. */
static void mynic_rx_keep(const struct mynic_channel *ch,
			  const struct mynic_rx_buf *buf, u32 len)
{
	const struct mynic_rx_bufs *bufs = ch->rx_bufs;

	dma_sync_single_for_device(&ch->nd->mdev->pdev->dev,
				   mynic_rx_head_dma(bufs, buf), len,
				   page_pool_get_dma_dir(bufs->pool));
}

static struct sk_buff *mynic_rx_copy(struct mynic_channel *ch,
				     const struct mynic_rx_buf *buf, u32 len)
{
	struct sk_buff *skb = napi_alloc_skb(&ch->napi, len);

	if (!skb)
		return NULL;
	skb_put_data(skb, mynic_rx_head(buf) + ch->rx_bufs->headroom, len);
	mynic_rx_keep(ch, buf, len);
	return skb;
}

/* Make an skb of what a frame has filled, and put new pages in its place. */
static struct sk_buff *mynic_rx_take(struct mynic_channel *ch,
				     struct mynic_rx_buf *buf, u32 len)
{
	const struct mynic_rx_bufs *bufs = ch->rx_bufs;
	unsigned int num_pages = mynic_rx_num_pages(bufs->room, len), i;
	struct page_pool *pool = bufs->pool;
	u32 part = min(len, bufs->room);
	struct mynic_rx_buf fresh;
	struct sk_buff *skb;

	if (!mynic_rx_get_buf(bufs, &fresh, num_pages,
			      GFP_ATOMIC | __GFP_NOWARN))
		return NULL;
	skb = napi_build_skb(mynic_rx_head(buf), bufs->head_size);
	if (!skb) {
		mynic_rx_put_buf(pool, &fresh);
		return NULL;
	}
	skb_mark_for_recycle(skb);
	skb_reserve(skb, bufs->headroom);
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

/**
 * struct mynic_rx_frame - a frame as its completion describes it
 * @len: bytes
 * @flags: MYNIC_WC_*
 * @vlan: tag; 0: none
 * @stripped: there is a tag, and it is not in the frame
 * @cycles: the device's CLOCK
 */
struct mynic_rx_frame {
	u32 len;
	u32 flags;
	u16 vlan;
	bool stripped;
	u64 cycles;
};

static void mynic_rx_deliver(struct mynic_channel *ch, struct sk_buff *skb,
			     const struct mynic_rx_frame *frame)
{
	struct net_device *ndev = ch->nd->ndev;

	/* A tag of 0 says nothing that its absence does not. */
	if (frame->stripped && frame->vlan)
		__vlan_hwaccel_put_tag(skb, htons(ETH_P_8021Q), frame->vlan);
	if (frame->flags & MYNIC_WC_IP_CSUM_OK &&
	    ndev->features & NETIF_F_RXCSUM) {
		skb->ip_summed = CHECKSUM_UNNECESSARY;
		u64_stats_inc(&ch->rx_stats.csum_ok);
	}
	if (READ_ONCE(ch->nd->ptp.rx))
		skb_hwtstamps(skb)->hwtstamp =
			mynic_ptp_time(&ch->nd->ptp, frame->cycles);
	skb_record_rx_queue(skb, ch->index);
	skb->protocol = eth_type_trans(skb, ndev);
	napi_gro_receive(&ch->napi, skb);
}

/* Make an skb of a page that a program has passed on, perhaps with changes. */
static struct sk_buff *mynic_rx_build(const struct xdp_buff *xdp)
{
	unsigned int meta = xdp->data - xdp->data_meta;
	struct sk_buff *skb;

	skb = napi_build_skb(xdp->data_hard_start, xdp->frame_sz);
	if (!skb)
		return NULL;
	skb_mark_for_recycle(skb);
	skb_reserve(skb, xdp->data - xdp->data_hard_start);
	skb_put(skb, xdp->data_end - xdp->data);
	if (meta)
		skb_metadata_set(skb, meta);
	return skb;
}

/*
 * Run the program, and do what it wants.
 *
 * Return: whether the frame went somewhere, and with it the page.
 */
static bool mynic_rx_dispose(struct mynic_channel *ch, struct xdp_buff *xdp,
			     const struct mynic_rx_frame *frame)
{
	/* Another program may take its place at any time. */
	struct bpf_prog *prog = READ_ONCE(ch->nd->xdp_prog);
	u32 act = mynic_xdp_run(ch, prog, xdp);
	struct sk_buff *skb;

	if (act == XDP_DROP)
		return false;
	if (act != XDP_PASS)
		return mynic_xdp_forward(ch, prog, xdp, act);
	skb = mynic_rx_build(xdp);
	if (!skb) {
		u64_stats_inc(&ch->rx_stats.dropped);
		return false;
	}
	mynic_rx_deliver(ch, skb, frame);
	return true;
}

/* Return: bytes of the frame, or 0 if there was no memory. */
static u32 mynic_rx_show_xdp(struct mynic_channel *ch, struct mynic_rx_buf *buf,
			     const struct mynic_rx_frame *frame)
{
	const struct mynic_rx_bufs *bufs = ch->rx_bufs;
	struct mynic_rx_buf fresh;
	struct xdp_buff xdp;

	/* Get this first: what the program does cannot be undone. */
	if (!mynic_rx_get_buf(bufs, &fresh, 0, GFP_ATOMIC | __GFP_NOWARN)) {
		u64_stats_inc(&ch->rx_stats.dropped);
		mynic_rx_keep(ch, buf, bufs->room);
		return 0;
	}
	u64_stats_inc(&ch->rx_stats.packets);
	u64_stats_add(&ch->rx_stats.bytes, frame->len);
	xdp_init_buff(&xdp, bufs->head_size, &ch->xdp_rxq);
	xdp_prepare_buff(&xdp, mynic_rx_head(buf), bufs->headroom, frame->len,
			 true);
	if (mynic_rx_dispose(ch, &xdp, frame)) {
		*buf = fresh;
		return frame->len;
	}
	mynic_rx_put_buf(bufs->pool, &fresh);
	mynic_rx_keep(ch, buf, bufs->room);
	return frame->len;
}

/* Return: bytes of the frame, or 0 if it is dropped. */
static u32 mynic_rx_receive(struct mynic_channel *ch, struct mynic_rx_buf *buf,
			    const struct mynic_cqe *cqe)
{
	struct mynic_rx_frame frame = {
		.len = le32_to_cpu(READ_ONCE(cqe->byte_len)),
		.flags = le32_to_cpu(READ_ONCE(cqe->wc_flags)),
		.vlan = le16_to_cpu(READ_ONCE(cqe->cvlan)),
		.cycles = le64_to_cpu(READ_ONCE(cqe->timestamp)),
	};
	const struct mynic_rx_bufs *bufs = ch->rx_bufs;
	struct sk_buff *skb;

	/* A device below version 1.3 only tells of tags that are not 0. */
	frame.stripped = READ_ONCE(cqe->stripped) ||
			 (mynic_strips_vlan(ch->nd) && frame.vlan);
	if (frame.len < ETH_HLEN || frame.len > bufs->max_len) {
		u64_stats_inc(&ch->rx_stats.length_errors);
		return 0;
	}
	page_pool_dma_sync_for_cpu(bufs->pool, buf->head,
				   buf->offset + bufs->headroom,
				   min(frame.len, bufs->room));
	if (ch->nd->setup.xdp)
		return mynic_rx_show_xdp(ch, buf, &frame);
	skb = frame.len <= MYNIC_RX_COPYBREAK ?
		      mynic_rx_copy(ch, buf, frame.len) :
		      mynic_rx_take(ch, buf, frame.len);
	if (!skb) {
		u64_stats_inc(&ch->rx_stats.dropped);
		mynic_rx_keep(ch, buf, min(frame.len, bufs->room));
		return 0;
	}
	u64_stats_inc(&ch->rx_stats.packets);
	u64_stats_add(&ch->rx_stats.bytes,
		      frame.len + (frame.stripped ? VLAN_HLEN : 0));
	mynic_rx_deliver(ch, skb, &frame);
	return frame.len;
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
	u32 status;

	while (polled.num < budget) {
		cqe = mynic_cq_peek(&ch->rx_cq);
		if (!cqe)
			break;
		if (!mynic_rx_is_next(rq, cqe)) {
			polled.nonsense = true;
			break;
		}
		status = le32_to_cpu(READ_ONCE(cqe->status));
		if (status) {
			polled.failed = true;
			/* A request that is flushed has had no frame. */
			if (status != IB_WC_WR_FLUSH_ERR)
				u64_stats_inc(&ch->rx_stats.errors);
		} else {
			polled.bytes += mynic_rx_receive(
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
		mynic_xdp_flush(ch);
	}
	return polled;
}
