// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Delivery of a frame to the receive queue of a QP or WQ. The choice of the QP
 * is made in eth.c, flow.c and rss.c.
 */

#include "ethernet/eth_rx.h"

#include <endian.h>
#include <sys/uio.h>

#include "base/mac.h"
#include "base/outcome.h"
#include "base/verbs.h"
#include "ethernet/rss.h"
#include "mynic_regs.h"
#include "packet/packet.h"
#include "qp/counters.h"
#include "qp/qp.h"
#include "qp/qp_error.h"
#include "queue/rq.h"
#include "queue/wqe.h"

#define VLAN_PRIO_SHIFT 13

/*
 * Leaves out the VLAN tag if the QP strips it. Returns the length of the rest
 */
static uint32_t eth_rx_cut_out_tag(const struct qp *qp,
				   const struct eth_frame *frame,
				   struct iovec iov[2])
{
	uint8_t *data = (uint8_t *)frame->data;
	uint32_t tag_len = 0;

	if (qp->flags & MYNIC_QP_VLAN_STRIP && frame->vlan != PACKET_NO_VLAN)
		tag_len = VLAN_TAG_LEN;
	iov[0] = (struct iovec){ data, 2 * MAC_LEN };
	iov[1].iov_base = data + 2 * MAC_LEN + tag_len;
	iov[1].iov_len = frame->len - 2 * MAC_LEN - tag_len;
	return frame->len - tag_len;
}

/*
 * Places a frame in the next receive request. If the frame is too long, the
 * request stays for another frame. Returns false if the frame was not received.
 */
static bool eth_rx_deliver(struct qp *qp, const struct eth_frame *frame,
			   uint32_t flow_tag)
{
	struct recv_queue *rq = &qp->rq;
	struct iovec iov[2];
	uint32_t len = eth_rx_cut_out_tag(qp, frame, iov);
	struct mynic_cqe cqe = {
		.opcode = htole32(IBV_WC_RECV),
		.byte_len = htole32(len),
		.wc_flags = htole32(frame->csum_ok ? IBV_WC_IP_CSUM_OK : 0),
		.flow_tag = htole32(flow_tag),
		.stripped = frame->len - len,
	};
	struct sge_list list;
	enum outcome outcome;

	if (frame->vlan != PACKET_NO_VLAN) {
		cqe.cvlan = htole16(frame->vlan);
		cqe.sl = frame->vlan >> VLAN_PRIO_SHIFT;
	}
	if (!rq->has_recv && !wqe_fetch_recv(qp, &rq->recv))
		return false;
	rq->has_recv = true;
	outcome = rq->recv.outcome;
	if (!outcome && rq->recv.capacity < len)
		return false;
	rq->has_recv = false;
	if (!outcome) {
		list = recv_sges(qp, &rq->recv);
		outcome = sge_write(qp->nic, &list, 0, len, iov);
	}
	rq_complete(qp, &rq->recv, outcome, &cqe, false);
	if (outcome)
		qp_to_error(qp->nic, qp, 0);
	return !outcome;
}

void eth_deliver(struct qp *qp, const struct eth_frame *frame,
		 uint32_t flow_tag)
{
	if (qp->rss)
		qp = rss_wq(qp->rss, frame);
	if (qp_can_receive(qp) && eth_rx_deliver(qp, frame, flow_tag))
		qp_count_quietly(qp, MYNIC_STAT_RX_ETH_PACKETS);
	else
		qp_count_quietly(qp, MYNIC_STAT_RX_ETH_DROPPED);
}
