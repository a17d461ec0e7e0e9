// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * XDP: programs that see received frames before the stack. What they send goes
 * into the send ring of the channel, between the frames of the stack.
 */
#include <linux/bpf.h>
#include <linux/bpf_trace.h>
#include <linux/filter.h>

#include "netdev.h"

/* Return: XDP_PASS, XDP_DROP, XDP_TX or XDP_REDIRECT */
u32 mynic_xdp_run(struct mynic_channel *ch, struct bpf_prog *prog,
		  struct xdp_buff *xdp)
{
	struct net_device *ndev = ch->nd->ndev;
	u32 act = bpf_prog_run_xdp(prog, xdp);

	switch (act) {
	case XDP_PASS:
	case XDP_TX:
	case XDP_REDIRECT:
		return act;
	default:
		bpf_warn_invalid_xdp_action(ndev, prog, act);
		fallthrough;
	case XDP_ABORTED:
		trace_xdp_exception(ndev, prog, act);
		fallthrough;
	case XDP_DROP:
		u64_stats_inc(&ch->rx_stats.xdp_drop);
		return XDP_DROP;
	}
}

static bool mynic_xdp_send_back(struct mynic_channel *ch, struct xdp_buff *xdp)
{
	struct xdp_frame *frame = xdp_convert_buff_to_frame(xdp);
	struct netdev_queue *txq = mynic_tx_queue(ch);
	bool sent;

	if (!frame)
		return false;
	__netif_tx_lock(txq, smp_processor_id());
	sent = mynic_tx_send_xdp(ch, frame, true);
	/* A queue that XDP has filled has not hung. */
	if (sent)
		txq_trans_cond_update(txq);
	__netif_tx_unlock(txq);
	ch->xdp_sent |= sent;
	return sent;
}

/* Return: whether the frame, and with it its page, will go. */
bool mynic_xdp_forward(struct mynic_channel *ch, struct bpf_prog *prog,
		       struct xdp_buff *xdp, u32 act)
{
	struct mynic_rx_stats *stats = &ch->rx_stats;
	struct net_device *ndev = ch->nd->ndev;
	bool sent;

	if (act == XDP_TX) {
		sent = mynic_xdp_send_back(ch, xdp);
	} else {
		sent = !xdp_do_redirect(ndev, xdp, prog);
		ch->xdp_redirected |= sent;
	}
	if (!sent) {
		trace_xdp_exception(ndev, prog, act);
		u64_stats_inc(&stats->xdp_failed);
	} else if (act == XDP_TX) {
		u64_stats_inc(&stats->xdp_tx);
	} else {
		u64_stats_inc(&stats->xdp_redirect);
	}
	return sent;
}

/* Called by NAPI when it has polled. */
void mynic_xdp_flush(struct mynic_channel *ch)
{
	struct netdev_queue *txq = mynic_tx_queue(ch);

	if (ch->xdp_redirected)
		xdp_do_flush();
	if (ch->xdp_sent) {
		__netif_tx_lock(txq, smp_processor_id());
		mynic_tx_flush(ch);
		__netif_tx_unlock(txq);
	}
	ch->xdp_redirected = false;
	ch->xdp_sent = false;
}

/* Frames that other interfaces have received */
int mynic_xdp_xmit(struct net_device *ndev, int num, struct xdp_frame **frames,
		   u32 flags)
{
	struct mynic_netdev *nd = netdev_priv(ndev);
	struct mynic_channel *ch;
	struct netdev_queue *txq;
	unsigned int index;
	int sent = 0;

	if (flags & ~XDP_XMIT_FLAGS_MASK)
		return -EINVAL;
	index = smp_processor_id() % READ_ONCE(nd->setup.num_channels);
	ch = &nd->channels[index];
	txq = mynic_tx_queue(ch);
	__netif_tx_lock(txq, smp_processor_id());
	while (sent < num && mynic_tx_send_xdp(ch, frames[sent], false))
		sent++;
	if (sent)
		txq_trans_cond_update(txq);
	/* Even if the queue is full: of frames that nobody has flushed. */
	if (flags & XDP_XMIT_FLUSH && mynic_tx_ready(ch))
		mynic_tx_flush(ch);
	__netif_tx_unlock(txq);
	return sent;
}
