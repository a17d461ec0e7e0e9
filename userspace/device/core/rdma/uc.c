// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The UC service (IBTA 9.8.2): sending and receiving without acknowledgments.
 */

#include "rdma/uc.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/psn.h"
#include "base/verbs.h"
#include "mynic_regs.h"
#include "packet/opcode.h"
#include "packet/packet.h"
#include "qp/cc.h"
#include "qp/counters.h"
#include "qp/path.h"
#include "qp/qp_error.h"
#include "qp/room.h"
#include "queue/local.h"
#include "rdma/message.h"
#include "rdma/message_packet.h"
#include "state/queue_types.h"
#include "state/transport_types.h"

/* message_packet_build() makes a WRITE of any other request */
static bool uc_has_packets(const struct send_req *req)
{
	switch (req->opcode) {
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
	case IBV_WR_SEND_WITH_INV:
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return true;
	default:
		return false;
	}
}

static enum outcome uc_send_packet(struct qp *qp, struct send_req *req)
{
	struct send_queue *sq = &qp->sq;
	enum outcome outcome;
	struct packet pkt;

	if (!path_init(qp, &qp->attr.av, qp->attr.dest_qpn, &pkt))
		return OUTCOME_BAD_GID;
	if (!req->num_psn) {
		if (!uc_has_packets(req))
			return OUTCOME_BAD_OPCODE;
		req->first_psn = sq->psn;
		req->num_psn = path_packets(qp, req->length);
	}
	outcome = message_packet_build(
		qp, req, (sq->psn - req->first_psn) * path_mtu(qp), 1, &pkt);
	if (outcome)
		return outcome;
	pkt.roce.psn = sq->psn++ & PSN_MASK;
	path_send(qp, &pkt);
	return sq->psn == req->first_psn + req->num_psn ? OUTCOME_OK :
							  OUTCOME_MORE;
}

/* The last packet of a message may be shorter */
static uint32_t uc_next_len(const struct qp *qp, const struct send_req *req)
{
	return req->length < path_mtu(qp) ? req->length : path_mtu(qp);
}

enum outcome uc_send(struct qp *qp, struct send_req *req)
{
	if (req->traits & SEND_IS_LOCAL)
		return local_run(qp, req);
	if (!room_admit(qp, qp->attr.av.dmac))
		return OUTCOME_WAIT;
	if (qp->cc.paced && !cc_admit(qp, CC_REQUESTS, 1, uc_next_len(qp, req)))
		return OUTCOME_WAIT;
	return uc_send_packet(qp, req);
}

/*
 * It ends the message, so that the rest is dropped. Only a first packet is
 * accepted then.
 */
static void uc_refuse(struct qp *qp, enum outcome why)
{
	struct responder *r = &qp->resp;
	struct nic *nic = qp->nic;
	struct mynic_cqe cqe = { 0 };

	r->msg = 0;
	switch (why) {
	case OUTCOME_NO_RECV:
	case OUTCOME_TOO_LONG:
		qp_count(qp, MYNIC_STAT_RX_DROP_WQE);
		break;
	case OUTCOME_NOT_ALLOWED:
	case OUTCOME_RKEY:
		qp_count(qp, MYNIC_STAT_RX_DROP_KEY);
		break;
	case OUTCOME_INVALID:
		qp_count(qp, MYNIC_STAT_RX_DROP_HEADER);
		break;
	case OUTCOME_DMA:
	case OUTCOME_SCATTERED:
		if (qp->rq.has_recv)
			message_complete(qp, why, &cqe, false);
		qp_to_error(nic, qp, MYNIC_EVENT_QP_FATAL);
		break;
	default:
		/* An error of the receive request */
		message_complete(qp, why, &cqe, false);
		qp_to_error(nic, qp, 0);
	}
}

void uc_receive(struct qp *qp, const struct packet *pkt)
{
	const struct opcode_info *info = opcode_info(pkt->roce.opcode);
	struct responder *r = &qp->resp;
	enum outcome outcome;

	message_arrives(qp);
	if (pkt->roce.psn != r->epsn) {
		qp_count(qp, MYNIC_STAT_OUT_OF_SEQUENCE);
		r->msg = 0;
	}
	r->epsn = psn_add(pkt->roce.psn, 1);
	/* A new message begins, even if the last one is not complete */
	if (info->flags & OPCODE_FIRST)
		r->msg = 0;
	if (!message_in_sequence(r, info)) {
		qp_count(qp, MYNIC_STAT_RX_DROP_SEQUENCE);
		r->msg = 0;
		return;
	}
	outcome = message_execute(qp, pkt, info);
	if (outcome == OUTCOME_WAIT)
		r->epsn = pkt->roce.psn;
	else if (outcome)
		uc_refuse(qp, outcome);
}
