// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Transmission of the network interface. A frame is one request of the send
 * queue. Its pieces stay where they are, and the device makes the checksums and
 * the segments.
 *
 * Only the last one of the requests that are handed over together is signaled.
 * Requests complete in order, so its completion ends them all.
 */
#include <linux/dma-mapping.h>
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/slab.h>
#include <linux/tcp.h>
#include <net/ip.h>
#include <net/page_pool/helpers.h>

#include "netdev.h"

#define MYNIC_TX_CSUM_FEATURES (NETIF_F_IP_CSUM | NETIF_F_IPV6_CSUM)
#define MYNIC_TX_TSO_FEATURES (NETIF_F_TSO | NETIF_F_TSO6 | NETIF_F_TSO_ECN)

/**
 * struct mynic_tx_buf - a frame in the send ring
 * @skb: the frame, if it is the stack's
 * @xdp: the frame, if it is from XDP. If both are NULL, the slot is free
 * @stamped: the stack wants to know when it has been sent
 * @linear: bytes outside of fragments that are mapped for the device
 * @frames: frames that the device makes of it
 * @bytes: their bytes
 * @dma: address of the linear part, if any, then those of the fragments
 */
struct mynic_tx_buf {
	struct sk_buff *skb;
	struct xdp_frame *xdp;
	bool stamped;
	u32 linear;
	u32 frames;
	u32 bytes;
	dma_addr_t dma[MYNIC_TX_MAX_SGE];
};

/**
 * struct mynic_tx_bufs - frames that the device was told of
 * @parked: keeps them while a dead device may read them
 * @mdev: device
 * @num_slots: slots of the ring
 * @tx: by slot
 */
struct mynic_tx_bufs {
	struct mynic_parked parked;
	struct mynic_dev *mdev;
	u32 num_slots;
	struct mynic_tx_buf tx[] __counted_by(num_slots);
};

/* What the device can do with a frame */

/*
 * The device looks for the checksum behind a plain IP header, whatever the
 * stack says. A frame of a virtual machine may have any header.
 *
 * Return: the protocol behind that header, or 0 if it is not there.
 */
static u8 mynic_tx_protocol(const struct sk_buff *skb)
{
	const struct ethhdr *eth = (const struct ethhdr *)skb->data;
	int l4 = skb_checksum_start_offset(skb);
	int l3 = skb_network_offset(skb);
	const struct ipv6hdr *ip6;
	const struct iphdr *ip;

	if (skb->encapsulation ||
	    (l3 != ETH_HLEN &&
	     (l3 != VLAN_ETH_HLEN || !eth_type_vlan(eth->h_proto))) ||
	    l4 < l3 + (int)sizeof(*ip) || l4 > (int)skb_headlen(skb))
		return 0;
	ip = (const struct iphdr *)(skb->data + l3);
	ip6 = (const struct ipv6hdr *)ip;
	switch (*(const __be16 *)(skb->data + l3 - sizeof(__be16))) {
	case htons(ETH_P_IP):
		return ip->version == 4 && l4 == l3 + 4 * ip->ihl &&
				       !ip_is_fragment(ip) ?
			       ip->protocol :
			       0;
	case htons(ETH_P_IPV6):
		return ip6->version == 6 && l4 == l3 + (int)sizeof(*ip6) ?
			       ip6->nexthdr :
			       0;
	default:
		return 0;
	}
}

/* Bytes of the tag that is not in the frame yet. */
static u32 mynic_tx_tag_len(const struct sk_buff *skb)
{
	return skb_vlan_tag_present(skb) ? VLAN_HLEN : 0;
}

static u32 mynic_tx_segments(const struct sk_buff *skb, u32 hdr_len)
{
	return DIV_ROUND_UP(max(skb->len - hdr_len, 1U),
			    skb_shinfo(skb)->gso_size);
}

/*
 * Whether the device accepts this TCP frame as a TSO request, also if the stack
 * puts the tag into the frame after it has asked.
 */
static bool mynic_tx_is_tso(const struct mynic_netdev *nd,
			    const struct sk_buff *skb)
{
	u32 mss = skb_shinfo(skb)->gso_size;
	u32 tag_len = mynic_tx_tag_len(skb);
	u32 hdr_len;

	if (skb_headlen(skb) <
	    skb_transport_offset(skb) + sizeof(struct tcphdr))
		return false;
	hdr_len = skb_tcp_all_headers(skb);
	return mss && tcp_hdr(skb)->doff * 4 >= sizeof(struct tcphdr) &&
	       hdr_len <= skb_headlen(skb) &&
	       hdr_len + tag_len <= MYNIC_TX_MAX_HEADER &&
	       hdr_len + tag_len + mss <= nd->max_frame &&
	       skb->len - hdr_len <= nd->mdev->caps.max_tso &&
	       mynic_tx_segments(skb, hdr_len) <= MYNIC_TSO_MAX_SEGMENTS;
}

/*
 * Whether the device inserts this tag. Two values mean to it that there is none,
 * and after a reset it may be an older device, which ignores all.
 */
static bool mynic_tx_can_insert(const struct mynic_netdev *nd,
				const struct sk_buff *skb)
{
	u16 tag = skb_vlan_tag_get(skb);

	return nd->mdev->caps.caps & MYNIC_CAP_VLAN_INSERT &&
	       skb->vlan_proto == htons(ETH_P_8021Q) && tag && tag != U16_MAX;
}

/* What is refused here is done by the stack before it sends the frame. */
netdev_features_t mynic_features_check(struct sk_buff *skb,
				       struct net_device *ndev,
				       netdev_features_t features)
{
	struct mynic_netdev *nd = netdev_priv(ndev);
	u8 protocol;

	features = vlan_features_check(skb, features);
	if (skb_vlan_tag_present(skb) && !mynic_tx_can_insert(nd, skb))
		features &= ~NETIF_F_HW_VLAN_CTAG_TX;
	if (skb_shinfo(skb)->nr_frags >= MYNIC_TX_MAX_SGE)
		features &= ~(NETIF_F_SG | NETIF_F_GSO_MASK);
	if (skb->ip_summed != CHECKSUM_PARTIAL)
		return skb_is_gso(skb) ? features & ~NETIF_F_GSO_MASK :
					 features;
	protocol = mynic_tx_protocol(skb);
	if (protocol != IPPROTO_TCP && protocol != IPPROTO_UDP)
		features &= ~(NETIF_F_CSUM_MASK | NETIF_F_GSO_MASK);
	else if (skb_is_gso(skb) &&
		 (protocol != IPPROTO_TCP || !mynic_tx_is_tso(nd, skb)))
		features &= ~NETIF_F_GSO_MASK;
	return features;
}

void mynic_tx_set_features(struct mynic_netdev *nd)
{
	struct net_device *ndev = nd->ndev;
	u32 max_tso = nd->mdev->caps.max_tso;

	ndev->hw_features |= NETIF_F_SG | MYNIC_TX_CSUM_FEATURES;
	if (max_tso) {
		ndev->hw_features |= MYNIC_TX_TSO_FEATURES;
		netif_set_tso_max_size(ndev, min(max_tso, GSO_LEGACY_MAX_SIZE));
		netif_set_tso_max_segs(ndev, MYNIC_TSO_MAX_SEGMENTS);
	}
	ndev->features |= ndev->hw_features;
	/* The device inserts one tag, so that of a VLAN inside another is not here. */
	ndev->vlan_features |= ndev->hw_features;
	if (nd->mdev->caps.caps & MYNIC_CAP_VLAN_INSERT) {
		ndev->hw_features |= NETIF_F_HW_VLAN_CTAG_TX;
		ndev->features |= NETIF_F_HW_VLAN_CTAG_TX;
	}
}

/* Memory */

static void mynic_tx_unmap(struct device *dev, const struct mynic_tx_buf *buf,
			   unsigned int num_frags)
{
	const skb_frag_t *frags;
	unsigned int i;

	if (buf->linear)
		dma_unmap_single(dev, buf->dma[0], buf->linear, DMA_TO_DEVICE);
	if (!num_frags)
		return;
	frags = skb_shinfo(buf->skb)->frags;
	for (i = 0; i < num_frags; i++)
		dma_unmap_page(dev, buf->dma[i + 1], skb_frag_size(&frags[i]),
			       DMA_TO_DEVICE);
}

static unsigned int mynic_tx_num_frags(const struct mynic_tx_buf *buf)
{
	return buf->skb ? skb_shinfo(buf->skb)->nr_frags : 0;
}

/*
 * Map what follows the first @skip bytes.
 *
 * Return: whether there was room.
 */
static bool mynic_tx_map(struct device *dev, struct mynic_tx_buf *buf, u32 skip)
{
	struct sk_buff *skb = buf->skb;
	skb_frag_t *frags = skb_shinfo(skb)->frags;
	unsigned int i;

	buf->linear = skb_headlen(skb) - skip;
	if (buf->linear) {
		buf->dma[0] = dma_map_single(dev, skb->data + skip, buf->linear,
					     DMA_TO_DEVICE);
		if (dma_mapping_error(dev, buf->dma[0]))
			return false;
	}
	for (i = 0; i < skb_shinfo(skb)->nr_frags; i++) {
		buf->dma[i + 1] = skb_frag_dma_map(dev, &frags[i], 0,
						   skb_frag_size(&frags[i]),
						   DMA_TO_DEVICE);
		if (dma_mapping_error(dev, buf->dma[i + 1])) {
			mynic_tx_unmap(dev, buf, i);
			return false;
		}
	}
	return true;
}

static void mynic_tx_release(struct mynic_parked *parked)
{
	struct mynic_tx_bufs *bufs =
		container_of(parked, struct mynic_tx_bufs, parked);
	struct device *dev = &bufs->mdev->pdev->dev;
	struct mynic_tx_buf *buf;
	unsigned int i;

	for (i = 0; i < bufs->num_slots; i++) {
		buf = &bufs->tx[i];
		if (!buf->skb && !buf->xdp)
			continue;
		mynic_tx_unmap(dev, buf, mynic_tx_num_frags(buf));
		if (buf->xdp)
			xdp_return_frame(buf->xdp);
		else
			dev_kfree_skb(buf->skb);
	}
	kvfree(bufs);
}

int mynic_tx_alloc(struct mynic_channel *ch)
{
	u32 num_slots = ch->nd->setup.tx_slots;
	struct mynic_tx_bufs *bufs;

	bufs = kvzalloc(struct_size(bufs, tx, num_slots), GFP_KERNEL);
	if (!bufs)
		return -ENOMEM;
	bufs->num_slots = num_slots;
	bufs->mdev = ch->nd->mdev;
	ch->tx_bufs = bufs;
	ch->tx_next = 0;
	return 0;
}

struct netdev_queue *mynic_tx_queue(const struct mynic_channel *ch)
{
	return netdev_get_tx_queue(ch->nd->ndev, ch->index);
}

/*
 * Transmission is disabled. The senders of these frames must not wait for a
 * device that may never come back.
 */
void mynic_tx_free(struct mynic_channel *ch)
{
	struct mynic_tx_bufs *bufs = ch->tx_bufs;
	struct sk_buff *skb;
	unsigned int i;

	for (i = 0; i < bufs->num_slots; i++) {
		skb = bufs->tx[i].skb;
		if (skb) {
			skb_orphan(skb);
			nf_reset_ct(skb);
		}
		if (skb || bufs->tx[i].xdp)
			u64_stats_inc(&ch->tx_stats.dropped);
	}
	netdev_tx_reset_queue(mynic_tx_queue(ch));
	ch->tx_bufs = NULL;
	mynic_park(ch->nd->mdev, &bufs->parked, mynic_tx_release);
}

/* Posting */

static struct mynic_tx_buf *mynic_tx_buf(const struct mynic_channel *ch,
					 u32 index)
{
	return &ch->tx_bufs->tx[index % ch->tx_bufs->num_slots];
}

static bool mynic_tx_full(const struct mynic_channel *ch)
{
	/* Pairs with the release in mynic_tx_wake() */
	return ch->tx_next - smp_load_acquire(&ch->qp.sq.ci) >=
	       ch->tx_bufs->num_slots;
}

/* Return: whether the sender wants to know when the device has sent the frame. */
static bool mynic_tx_is_stamped(const struct mynic_netdev *nd,
				const struct sk_buff *skb)
{
	return skb_shinfo(skb)->tx_flags & SKBTX_HW_TSTAMP &&
	       READ_ONCE(nd->ptp.tx);
}

static unsigned int mynic_tx_fill_sges(const struct mynic_netdev *nd,
				       const struct mynic_tx_buf *buf,
				       struct mynic_sge *sge)
{
	const struct skb_shared_info *shinfo = skb_shinfo(buf->skb);
	unsigned int num = 0, i;

	if (buf->linear)
		mynic_netdev_fill_sge(nd, &sge[num++], buf->dma[0],
				      buf->linear);
	for (i = 0; i < shinfo->nr_frags; i++)
		mynic_netdev_fill_sge(nd, &sge[num++], buf->dma[i + 1],
				      skb_frag_size(&shinfo->frags[i]));
	return num;
}

/* @wqe, which has its data, is the next request. */
static void mynic_tx_add(struct mynic_channel *ch, struct mynic_send_wqe *wqe,
			 __le32 ctrl, unsigned int num_sge)
{
	wqe->wr_id = cpu_to_le64(ch->tx_next);
	wqe->ctrl = ctrl;
	wqe->len = cpu_to_le32(num_sge);
	/* mynic_tx_wake() reads this without the lock. */
	WRITE_ONCE(ch->tx_next, ch->tx_next + 1);
}

/*
 * Write the next request. The device does not know of it yet.
 *
 * Return: whether the frame could be mapped.
 */
static bool mynic_tx_prepare(struct mynic_channel *ch, struct sk_buff *skb)
{
	struct mynic_tx_buf *buf = mynic_tx_buf(ch, ch->tx_next);
	struct mynic_send_wqe *wqe = mynic_queue_slot(&ch->qp.sq, ch->tx_next);
	u32 flags = skb->ip_summed == CHECKSUM_PARTIAL ? IB_SEND_IP_CSUM : 0;
	u32 hdr_len = skb_is_gso(skb) ? skb_tcp_all_headers(skb) : 0;
	u32 tag_len = mynic_tx_tag_len(skb);
	struct mynic_eth_ext *ext = (void *)wqe + MYNIC_WQE_EXT;
	void *data = (void *)wqe + MYNIC_WQE_DATA_EXT;
	enum ib_wr_opcode opcode = IB_WR_SEND;

	buf->skb = skb;
	if (!mynic_tx_map(&ch->nd->mdev->pdev->dev, buf, hdr_len)) {
		buf->skb = NULL;
		return false;
	}
	buf->frames = 1;
	buf->bytes = skb->len + tag_len;
	buf->stamped = mynic_tx_is_stamped(ch->nd, skb);
	if (buf->stamped) {
		skb_shinfo(skb)->tx_flags |= SKBTX_IN_PROGRESS;
		flags |= IB_SEND_SIGNALED;
	}
	memset(wqe, 0, MYNIC_WQE_DATA_EXT);
	if (tag_len)
		ext->vlan = cpu_to_le16(skb_vlan_tag_get(skb));
	if (hdr_len) {
		opcode = IB_WR_LSO;
		buf->frames = mynic_tx_segments(skb, hdr_len);
		buf->bytes += (buf->frames - 1) * (hdr_len + tag_len);
		wqe->mss = cpu_to_le16(skb_shinfo(skb)->gso_size);
		wqe->hdr_len = cpu_to_le16(hdr_len);
		memcpy(data, skb->data, hdr_len);
		data += ALIGN(hdr_len, sizeof(struct mynic_sge));
	}
	mynic_tx_add(ch, wqe, mynic_wqe_ctrl(opcode, flags),
		     mynic_tx_fill_sges(ch->nd, buf, data));
	return true;
}

/* Hand what has been prepared over to the device. */
void mynic_tx_flush(struct mynic_channel *ch)
{
	struct mynic_queue *sq = &ch->qp.sq;
	struct mynic_send_wqe *wqe;

	if (sq->pi == ch->tx_next)
		return;
	wqe = mynic_queue_slot(sq, ch->tx_next - 1);
	wqe->ctrl |= mynic_wqe_ctrl(0, IB_SEND_SIGNALED);
	/* Pairs with the acquire in mynic_tx_is_posted() */
	smp_store_release(&sq->pi, ch->tx_next);
	mynic_qp_ring_sq(ch->nd->mdev, &ch->qp);
}

static bool mynic_tx_is_valid(const struct mynic_netdev *nd,
			      const struct sk_buff *skb)
{
	if (skb_shinfo(skb)->nr_frags >= MYNIC_TX_MAX_SGE ||
	    (skb_vlan_tag_present(skb) && !mynic_tx_can_insert(nd, skb)))
		return false;
	if (skb_is_gso(skb))
		return mynic_tx_is_tso(nd, skb);
	return skb->len >= ETH_HLEN &&
	       skb->len + mynic_tx_tag_len(skb) <= nd->max_frame;
}

static void mynic_tx_drop(struct mynic_channel *ch, struct sk_buff *skb)
{
	dev_kfree_skb_any(skb);
	u64_stats_inc(&ch->tx_stats.dropped);
}

/* The queue is full: wait until frames have been sent, unless they are by now. */
static void mynic_tx_stop(struct mynic_channel *ch)
{
	struct netdev_queue *txq = mynic_tx_queue(ch);

	netif_tx_stop_queue(txq);
	/* Pairs with the barrier in mynic_tx_wake() */
	smp_mb__after_atomic();
	if (mynic_tx_full(ch))
		u64_stats_inc(&ch->tx_stats.stop);
	else
		netif_tx_start_queue(txq);
}

/* Return: whether there is a queue, and a device that takes frames from it. */
bool mynic_tx_ready(const struct mynic_channel *ch)
{
	const struct mynic_netdev *nd = ch->nd;

	/* Pairs with the release in mynic_netdev_start() */
	return smp_load_acquire(&nd->running) && ch->tx_bufs &&
	       !mynic_dead(nd->mdev);
}

/* Return: whether the device has no frame to send. */
bool mynic_tx_idle(const struct mynic_channel *ch)
{
	return !mynic_tx_ready(ch) ||
	       READ_ONCE(ch->tx_next) == READ_ONCE(ch->qp.sq.ci);
}

netdev_tx_t mynic_start_xmit(struct sk_buff *skb, struct net_device *ndev)
{
	struct mynic_netdev *nd = netdev_priv(ndev);
	struct mynic_channel *ch = &nd->channels[skb_get_queue_mapping(skb)];
	u32 index;

	if (!mynic_tx_ready(ch)) {
		mynic_tx_drop(ch, skb);
		return NETDEV_TX_OK;
	}
	/* XDP may have filled a queue that the stack has just been told to use. */
	if (unlikely(mynic_tx_full(ch))) {
		mynic_tx_flush(ch);
		mynic_tx_stop(ch);
		return NETDEV_TX_BUSY;
	}
	index = ch->tx_next;
	if (!mynic_tx_is_valid(nd, skb) || !mynic_tx_prepare(ch, skb)) {
		mynic_tx_drop(ch, skb);
		if (!netdev_xmit_more())
			mynic_tx_flush(ch);
		return NETDEV_TX_OK;
	}
	skb_tx_timestamp(skb);
	if (mynic_tx_full(ch))
		mynic_tx_stop(ch);
	if (__netdev_tx_sent_queue(mynic_tx_queue(ch),
				   mynic_tx_buf(ch, index)->bytes,
				   netdev_xmit_more()))
		mynic_tx_flush(ch);
	return NETDEV_TX_OK;
}

/* Frames of XDP */

static dma_addr_t mynic_tx_pool_dma(const struct xdp_frame *frame)
{
	const struct page *page = virt_to_head_page(frame->data);

	return page_pool_get_dma_addr(page) +
	       (frame->data - page_address(page));
}

/* Return: whether the frame could be mapped. */
static bool mynic_tx_map_xdp(struct device *dev, struct mynic_tx_buf *buf,
			     bool own)
{
	struct xdp_frame *frame = buf->xdp;

	if (own) {
		buf->linear = 0;
		buf->dma[0] = mynic_tx_pool_dma(frame);
		dma_sync_single_for_device(dev, buf->dma[0], frame->len,
					   DMA_BIDIRECTIONAL);
		return true;
	}
	buf->linear = frame->len;
	buf->dma[0] =
		dma_map_single(dev, frame->data, frame->len, DMA_TO_DEVICE);
	return !dma_mapping_error(dev, buf->dma[0]);
}

/**
 * mynic_tx_send_xdp() - put a frame of XDP into the send ring
 * @ch: channel
 * @frame: frame, which is given back when it has been sent
 * @own: whether its memory is of a page pool of this interface
 *
 * The device does not know of it before mynic_tx_flush().
 *
 * Context: the lock of transmission is held.
 * Return: whether it will be sent.
 */
bool mynic_tx_send_xdp(struct mynic_channel *ch, struct xdp_frame *frame,
		       bool own)
{
	struct mynic_netdev *nd = ch->nd;
	struct mynic_send_wqe *wqe;
	struct mynic_tx_buf *buf;

	if (!mynic_tx_ready(ch) || mynic_tx_full(ch) || frame->len < ETH_HLEN ||
	    frame->len > nd->max_frame)
		return false;
	buf = mynic_tx_buf(ch, ch->tx_next);
	buf->xdp = frame;
	buf->stamped = false;
	if (!mynic_tx_map_xdp(&nd->mdev->pdev->dev, buf, own)) {
		buf->xdp = NULL;
		return false;
	}
	buf->frames = 1;
	buf->bytes = frame->len;
	wqe = mynic_queue_slot(&ch->qp.sq, ch->tx_next);
	memset(wqe, 0, MYNIC_WQE_DATA_EXT);
	mynic_netdev_fill_sge(nd, (void *)wqe + MYNIC_WQE_DATA_EXT, buf->dma[0],
			      frame->len);
	mynic_tx_add(ch, wqe, mynic_wqe_ctrl(IB_WR_SEND, 0), 1);
	if (mynic_tx_full(ch)) {
		mynic_tx_flush(ch);
		mynic_tx_stop(ch);
	}
	return true;
}

/* Completions */

/*
 * Return: whether the device was told of this request, which is @next or a later
 * one.
 */
static bool mynic_tx_is_posted(const struct mynic_queue *sq, u32 next,
			       u64 wr_id)
{
	u32 index = wr_id;
	u32 pi;

	/* Pairs with the release in mynic_tx_flush() */
	pi = smp_load_acquire(&sq->pi);
	return wr_id == index && index - next < pi - next;
}

/**
 * struct mynic_tx_end - what ends by a completion
 * @next: index of the first request that has not ended
 * @last: index of its request, which is the last one that ends
 * @bad: that request failed
 * @cycles: the device's CLOCK then
 * @budget: of NAPI
 * @frames: of the stack that have ended; for the limit of bytes in the queue,
 *	like @bytes
 * @bytes: their bytes
 */
struct mynic_tx_end {
	u32 next;
	u32 last;
	bool bad;
	u64 cycles;
	int budget;
	unsigned int frames;
	unsigned int bytes;
};

static void mynic_tx_stamp(struct mynic_netdev *nd, struct sk_buff *skb,
			   u64 cycles)
{
	struct skb_shared_hwtstamps stamps = {
		.hwtstamp = mynic_ptp_time(&nd->ptp, cycles),
	};

	skb_tstamp_tx(skb, &stamps);
}

static void mynic_tx_done(struct mynic_channel *ch, struct mynic_tx_buf *buf,
			  bool sent, struct mynic_tx_end *end)
{
	mynic_tx_unmap(&ch->nd->mdev->pdev->dev, buf, mynic_tx_num_frags(buf));
	if (sent && buf->stamped)
		mynic_tx_stamp(ch->nd, buf->skb, end->cycles);
	if (sent) {
		u64_stats_add(&ch->tx_stats.packets, buf->frames);
		u64_stats_add(&ch->tx_stats.bytes, buf->bytes);
	} else {
		u64_stats_inc(&ch->tx_stats.errors);
	}
	if (buf->xdp) {
		xdp_return_frame(buf->xdp);
		buf->xdp = NULL;
		return;
	}
	end->frames++;
	end->bytes += buf->bytes;
	napi_consume_skb(buf->skb, end->budget);
	buf->skb = NULL;
}

/*
 * End all requests up to that of a completion.
 *
 * Return: whether that was possible. With interrupts off, frames of XDP cannot be
 * freed, and time stamps should not be given. So netpoll leaves such frames, and
 * what follows.
 */
static bool mynic_tx_finish(struct mynic_channel *ch, struct mynic_tx_end *end,
			    struct mynic_polled *polled)
{
	struct mynic_tx_buf *buf;

	for (; end->next - 1 != end->last; end->next++) {
		buf = mynic_tx_buf(ch, end->next);
		if ((buf->xdp || buf->stamped) && !end->budget)
			return false;
		polled->bytes += buf->bytes;
		polled->num++;
		mynic_tx_done(ch, buf, !end->bad || end->next != end->last,
			      end);
	}
	return true;
}

static void mynic_tx_wake(struct mynic_channel *ch,
			  const struct mynic_tx_end *end)
{
	struct netdev_queue *txq = mynic_tx_queue(ch);
	u32 num_slots = ch->tx_bufs->num_slots;

	/*
	 * First the CQ, which has as many slots as the send queue: requests in
	 * the slots that are free now complete there.
	 */
	mynic_cq_publish(&ch->tx_cq);
	/* Pairs with the acquire in mynic_tx_full() */
	smp_store_release(&ch->qp.sq.ci, end->next);
	netdev_tx_completed_queue(txq, end->frames, end->bytes);
	/* Pairs with the barrier in mynic_tx_stop() */
	smp_mb();
	/* A queue that was full goes on when a quarter of it is free. */
	if (netif_tx_queue_stopped(txq) && READ_ONCE(ch->nd->running) &&
	    READ_ONCE(ch->tx_next) - end->next <= num_slots - num_slots / 4) {
		netif_tx_wake_queue(txq);
		u64_stats_inc(&ch->tx_stats.wake);
	}
}

struct mynic_polled mynic_tx_poll(struct mynic_channel *ch, int budget)
{
	struct mynic_tx_end end = { .next = ch->qp.sq.ci, .budget = budget };
	struct mynic_polled polled = {};
	struct mynic_cqe *cqe;
	u64 wr_id;

	while (polled.num < ch->tx_bufs->num_slots) {
		cqe = mynic_cq_peek(&ch->tx_cq);
		if (!cqe)
			break;
		wr_id = le64_to_cpu(READ_ONCE(cqe->wr_id));
		if (!mynic_tx_is_posted(&ch->qp.sq, end.next, wr_id)) {
			polled.nonsense = true;
			break;
		}
		end.last = wr_id;
		end.bad = READ_ONCE(cqe->status);
		end.cycles = le64_to_cpu(READ_ONCE(cqe->timestamp));
		if (!mynic_tx_finish(ch, &end, &polled))
			break;
		polled.failed |= end.bad;
		WRITE_ONCE(ch->tx_cq.ci, ch->tx_cq.ci + 1);
	}
	if (polled.num)
		mynic_tx_wake(ch, &end);
	return polled;
}
