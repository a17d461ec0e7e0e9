// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The UC service (IBTA 9.8.2): sending and receiving without acknowledgments.
 */

#include "rdma/uc.h"

#include "base/psn.h"
#include "core.h"
#include "memory/local.h"
#include "packet/opcode.h"
#include "qp/cc.h"
#include "qp/path.h"
#include "qp/qp_error.h"
#include "queue/sq.h"
#include "rdma/message.h"
#include "rdma/segment.h"

static struct wqe_error uc_send_one(struct qp *qp, struct send_req *req)
{
	struct send_queue *sq = &qp->sq;
	struct packet pkt;
	int syndrome;

	if (!path_init(qp, &qp->attr.av, qp->attr.dest_qpn, &pkt))
		return (struct wqe_error){ IBV_WC_LOC_QP_OP_ERR,
					   MYNIC_SYN_BAD_GID };
	if (!req->num_psn) {
		req->first_psn = sq->psn;
		req->num_psn = path_packets(qp, req->length);
	}
	syndrome = segment_build(
		qp, req, (sq->psn - req->first_psn) * path_mtu(qp), 1, &pkt);
	if (syndrome)
		return (struct wqe_error){ IBV_WC_LOC_PROT_ERR, syndrome };
	pkt.roce.psn = sq->psn++ & PSN_MASK;
	path_send(qp, &pkt);
	return (struct wqe_error){ 0 };
}

/* The last packet of a message may be shorter */
static uint32_t uc_next_len(const struct qp *qp, const struct send_req *req)
{
	return req->length < path_mtu(qp) ? req->length : path_mtu(qp);
}

bool uc_run(struct qp *qp)
{
	const struct send_queue *sq = &qp->sq;

	for (unsigned int i = 0; i < SQ_QUANTUM; i++) {
		struct wqe_error error;
		struct send_req *req;

		req = sq_next(qp);
		if (!req)
			return false;
		error = req->error;
		if (!error.status && req->traits & SEND_IS_LOCAL) {
			error = local_run(qp, req);
			req->done = true;
		} else if (qp->cc.paced &&
			   !cc_admit(qp, CC_REQUESTS, uc_next_len(qp, req))) {
			return false;
		} else if (!error.status) {
			error = uc_send_one(qp, req);
		}
		if (odp_waits(&qp->odp, MYNIC_PAGE_SEND))
			return false;
		if (error.status) {
			sq_fail(qp, error);
			return true;
		}
		if (req->done || sq->psn == req->first_psn + req->num_psn)
			sq_complete(qp, 1, nic_now(qp->nic));
		nic_charge(qp->nic, 1);
		if (nic_turn_is_over(qp->nic))
			break;
	}
	return true;
}

/* The rest of a refused message is dropped, because no message has begun */
static void uc_refuse(struct qp *qp, enum message_fault fault)
{
	struct wqe_error error = { IBV_WC_LOC_QP_OP_ERR, MYNIC_SYN_DMA };
	struct responder *r = &qp->resp;
	struct nic *nic = qp->nic;
	struct mynic_cqe cqe = { 0 };

	r->msg = 0;
	switch (fault) {
	case MESSAGE_NO_RECV:
	case MESSAGE_TOO_LONG:
		qp_count(qp, MYNIC_STAT_RX_DROP_WQE);
		break;
	case MESSAGE_NOT_ALLOWED:
	case MESSAGE_BAD_KEY:
		qp_count(qp, MYNIC_STAT_RX_DROP_KEY);
		break;
	case MESSAGE_BAD_RECV:
		message_complete(qp, qp->rq.recv.error, &cqe, false);
		qp_to_error(nic, qp, 0);
		break;
	case MESSAGE_NO_MEMORY:
		if (qp->rq.has_recv)
			message_complete(qp, error, &cqe, false);
		qp_to_error(nic, qp, MYNIC_EVENT_QP_FATAL);
		break;
	default:
		qp_count(qp, MYNIC_STAT_RX_DROP_HEADER);
	}
}

void uc_receive(struct qp *qp, const struct packet *pkt)
{
	const struct opcode_info *info = opcode_info(pkt->roce.opcode);
	struct responder *r = &qp->resp;
	enum message_fault fault;

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
	fault = message_execute(qp, pkt, info);
	if (fault == MESSAGE_PAGE_FAULT)
		r->epsn = pkt->roce.psn;
	else if (fault)
		uc_refuse(qp, fault);
}
