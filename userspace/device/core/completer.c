// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "requester.h"

#include "aeth.h"
#include "core.h"
#include "opcode.h"
#include "path.h"
#include "psn.h"
#include "sq.h"

static const struct wqe_error bad_response = { IB_WC_BAD_RESP_ERR,
					       MYNIC_SYN_BAD_RESPONSE };

/* Whether a response, and not just an ACK, completes the request */
static bool has_response(const struct send_req *req)
{
	return req->opcode >= IB_WR_RDMA_READ;
}

static void made_progress(struct qp *qp)
{
	struct requester *q = &qp->req;

	/* It may have gone back to what is acknowledged only now */
	if ((int32_t)(q->psn - q->una) < 0)
		q->psn = q->una;
	q->retry_left = qp->attr.retry_cnt;
	q->rnr_left = qp->attr.rnr_retry;
	q->rnr_wait = false;
	q->went_back = false;
	requester_restart_timer(qp);
}

/*
 * All before @psn has arrived at the responder. Return: false if a response
 * to one of these requests is missing.
 */
static bool acknowledge(struct qp *qp, uint32_t psn)
{
	struct requester *q = &qp->req;
	uint32_t una = q->una;
	uint32_t num = 0;

	while ((int32_t)(psn - q->una) > 0) {
		const struct send_req *req = sq_req(qp, q->ci + num);
		uint32_t end = req->first_psn + req->num_psn;

		if (has_response(req))
			break;
		if ((int32_t)(psn - end) < 0) {
			q->una = psn;
			break;
		}
		q->una = end;
		num++;
	}
	sq_complete(qp, num);
	if (q->una != una)
		made_progress(qp);
	return q->una == psn;
}

/* One loss is reported by every packet behind it */
static void go_back_once(struct qp *qp)
{
	if (qp->req.went_back || qp->req.rnr_wait)
		return;
	requester_retry(qp);
	qp->req.went_back = true;
}

/* What is missing before a response was lost (IBTA 9.7.6.1.2) */
static void implied_nak(struct qp *qp)
{
	nic_count(qp->nic, MYNIC_STAT_IMPLIED_NAK);
	go_back_once(qp);
}

static void receive_nak(struct qp *qp, enum aeth_nak code)
{
	switch (code) {
	case AETH_NAK_SEQUENCE:
		nic_count(qp->nic, MYNIC_STAT_RX_NAK_SEQ);
		go_back_once(qp);
		break;
	case AETH_NAK_INVALID_REQUEST:
		nic_count(qp->nic, MYNIC_STAT_RX_NAK_INVALID);
		sq_fail(qp, (struct wqe_error){ IB_WC_REM_INV_REQ_ERR,
						MYNIC_SYN_REMOTE_INVALID });
		break;
	case AETH_NAK_REMOTE_ACCESS:
		nic_count(qp->nic, MYNIC_STAT_RX_NAK_ACCESS);
		sq_fail(qp, (struct wqe_error){ IB_WC_REM_ACCESS_ERR,
						MYNIC_SYN_REMOTE_ACCESS });
		break;
	case AETH_NAK_REMOTE_OPERATION:
		nic_count(qp->nic, MYNIC_STAT_RX_NAK_OPERATION);
		sq_fail(qp, (struct wqe_error){ IB_WC_REM_OP_ERR,
						MYNIC_SYN_REMOTE_OP });
		break;
	default:
		nic_count(qp->nic, MYNIC_STAT_RX_DROP_HEADER);
		sq_fail(qp, bad_response);
	}
}

static void receive_ack(struct qp *qp, uint32_t psn, uint32_t aeth)
{
	switch (aeth_type(aeth)) {
	case AETH_ACK:
		if (!acknowledge(qp, psn + 1))
			implied_nak(qp);
		break;
	case AETH_RNR_NAK:
		nic_count(qp->nic, MYNIC_STAT_RX_NAK_RNR);
		if (!acknowledge(qp, psn))
			implied_nak(qp);
		else if (!qp->req.rnr_wait)
			requester_rnr(qp, aeth_value(aeth));
		break;
	case AETH_NAK:
		if (!acknowledge(qp, psn))
			implied_nak(qp);
		else if (!qp->req.rnr_wait)
			receive_nak(qp, aeth_value(aeth));
		break;
	default:
		nic_count(qp->nic, MYNIC_STAT_RX_DROP_HEADER);
	}
}

/* The oldest request is complete but for bookkeeping */
static void complete_response(struct qp *qp)
{
	struct requester *q = &qp->req;

	if (q->cur != q->ci)
		q->rd_atomic--;
	sq_complete(qp, 1);
}

static void receive_read(struct qp *qp, const struct send_req *req,
			 const struct packet *pkt,
			 const struct opcode_info *info)
{
	uint32_t mtu = path_mtu(qp);
	struct sge_list list = send_sges(qp, req);
	struct requester *q = &qp->req;
	uint32_t offset = (q->una - req->first_psn) * mtu;
	uint32_t len = req->length - offset;
	bool last = len <= mtu;
	int syndrome;

	if (!last)
		len = mtu;
	if (pkt->payload_len != len ||
	    (bool)(info->flags & OPCODE_LAST) != last) {
		sq_fail(qp, bad_response);
		return;
	}
	syndrome = sge_write(qp->nic, &list, offset, len, pkt->iov);
	if (syndrome) {
		sq_fail(qp, (struct wqe_error){ IB_WC_LOC_PROT_ERR, syndrome });
		return;
	}
	q->una++;
	if (last)
		complete_response(qp);
	made_progress(qp);
}

static void receive_atomic(struct qp *qp, const struct send_req *req,
			   uint64_t orig)
{
	struct sge_list list = send_sges(qp, req);
	struct iovec iov = { &orig, sizeof(orig) };
	int syndrome;

	orig = htole64(orig);
	syndrome = sge_write(qp->nic, &list, 0, sizeof(orig), &iov);
	if (syndrome) {
		sq_fail(qp, (struct wqe_error){ IB_WC_LOC_PROT_ERR, syndrome });
		return;
	}
	qp->req.una++;
	complete_response(qp);
	made_progress(qp);
}

static void receive_response(struct qp *qp, uint32_t psn,
			     const struct packet *pkt,
			     const struct opcode_info *info)
{
	const struct send_req *req;

	if (info->flags & OPCODE_AETH &&
	    aeth_type(pkt->roce.aeth) != AETH_ACK) {
		nic_count(qp->nic, MYNIC_STAT_RX_DROP_HEADER);
		return;
	}
	if (!acknowledge(qp, psn)) {
		implied_nak(qp);
		return;
	}
	req = sq_req(qp, qp->req.ci);
	if (info->class == OPCODE_READ_RESPONSE &&
	    req->opcode == IB_WR_RDMA_READ)
		receive_read(qp, req, pkt, info);
	else if (info->class == OPCODE_ATOMIC_ACK && has_response(req) &&
		 req->opcode != IB_WR_RDMA_READ)
		receive_atomic(qp, req, pkt->roce.atomic_orig);
	else
		sq_fail(qp, bad_response);
}

void completer_receive(struct qp *qp, const struct packet *pkt,
		       const struct opcode_info *info)
{
	const struct requester *q = &qp->req;
	uint32_t psn = q->una + psn_diff(pkt->roce.psn, q->una);

	/* Old, or to what was never sent: a ghost (IBTA 9.7.6.2) */
	if ((int32_t)(psn - q->una) < 0 || (int32_t)(psn - q->max_psn) >= 0) {
		nic_count(qp->nic, MYNIC_STAT_GHOST);
		return;
	}
	if (info->class == OPCODE_ACK)
		receive_ack(qp, psn, pkt->roce.aeth);
	else
		receive_response(qp, psn, pkt, info);
	qp_schedule(qp->nic, qp);
}
