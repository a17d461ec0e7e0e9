// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The completer: acknowledgments and responses that arrive at an RC requester.
 * Sending, retries and timers are in requester.c.
 */

#include "rdma/completer.h"

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/outcome.h"
#include "base/psn.h"
#include "base/util.h"
#include "base/verbs.h"
#include "mynic_regs.h"
#include "packet/aeth.h"
#include "packet/opcode.h"
#include "packet/packet.h"
#include "qp/counters.h"
#include "qp/loss_recovery.h"
#include "qp/path.h"
#include "qp/qp.h"
#include "queue/sq.h"
#include "queue/srq.h"
#include "queue/wqe.h"
#include "rdma/requester.h"
#include "state/nic_types.h"
#include "state/queue_types.h"

/* Whether the request is completed by a response and not by an ACK */
static bool completer_has_response(const struct send_req *req)
{
	return req->traits & SEND_HAS_RESPONSE;
}

/*
 * All packets before @psn have arrived. Returns false if a response to one of
 * their requests is missing.
 */
static bool completer_acknowledge(struct qp *qp, uint32_t psn)
{
	struct requester *q = &qp->req;
	uint32_t una = q->una;
	uint32_t num = 0;
	uint64_t now;

	while (seq_before(q->una, psn)) {
		const struct send_req *req = sq_req(&qp->sq, qp->sq.ci + num);
		uint32_t end = req->first_psn + req->num_psn;

		if (req->done) {
			num++;
			continue;
		}
		if (completer_has_response(req))
			break;
		if (seq_before(psn, end)) {
			q->una = psn;
			break;
		}
		q->una = end;
		num++;
	}
	if (num || q->una != una) {
		now = nic_now(qp->nic);
		if (!sq_complete(qp, num, now))
			return false;
		if (q->una != una)
			requester_progress(qp, now);
	}
	return q->una == psn;
}

/* Each packet behind a loss reports it again */
static void completer_go_back_once(struct qp *qp)
{
	if (qp->req.went_back || requester_waits_for_rnr(&qp->req))
		return;
	requester_retry(qp);
	qp->req.went_back = true;
}

/* A gap before a response means that packets were lost (IBTA 9.7.6.1.2) */
static void completer_implied_nak(struct qp *qp)
{
	/* A NIC fault has ended the QP, and nothing is lost */
	if (qp->state == IBV_QPS_ERR)
		return;
	qp_count(qp, MYNIC_STAT_IMPLIED_NAK);
	completer_go_back_once(qp);
}

static void completer_fail_remote(struct qp *qp, enum mynic_stat stat,
				  enum outcome outcome)
{
	qp_count(qp, stat);
	sq_fail(qp, outcome);
}

static void completer_receive_nak(struct qp *qp, enum aeth_nak code)
{
	switch (code) {
	case AETH_NAK_SEQUENCE:
		qp_count(qp, MYNIC_STAT_RX_NAK_SEQ);
		completer_go_back_once(qp);
		break;
	case AETH_NAK_INVALID_REQUEST:
		completer_fail_remote(qp, MYNIC_STAT_RX_NAK_INVALID,
				      OUTCOME_REMOTE_INVALID);
		break;
	case AETH_NAK_REMOTE_ACCESS:
		completer_fail_remote(qp, MYNIC_STAT_RX_NAK_ACCESS,
				      OUTCOME_REMOTE_ACCESS);
		break;
	case AETH_NAK_REMOTE_OPERATION:
		completer_fail_remote(qp, MYNIC_STAT_RX_NAK_OPERATION,
				      OUTCOME_REMOTE_OP);
		break;
	default:
		completer_fail_remote(qp, MYNIC_STAT_RX_DROP_HEADER,
				      OUTCOME_BAD_RESPONSE);
	}
}

/*
 * An ACK of nothing but the probe means that the packets behind it are lost. An
 * ACK that comes too early may answer the first copy.
 */
static bool completer_answers_probe(const struct qp *qp, uint32_t psn)
{
	const struct requester *q = &qp->req;

	return q->probing && psn == q->probe_psn &&
	       nic_now(qp->nic) - q->probe_at >= q->loss.min_rtt;
}

/*
 * The peer reports how many receive requests it has for messages that it has
 * not acknowledged (IBTA 9.7.7.2)
 */
static void completer_set_credits(struct qp *qp, uint32_t aeth)
{
	unsigned int code = aeth_value(aeth);
	struct requester *q = &qp->req;
	uint32_t done = q->recvs;

	q->counts_credits = code != AETH_NO_CREDITS;
	if (!q->counts_credits)
		return;
	if (sq_draining(&qp->sq))
		done = sq_req(&qp->sq, qp->sq.ci)->recv_index;
	q->credit_end = done + aeth_credits(code);
}

static void completer_receive_ack(struct qp *qp, uint32_t psn, uint32_t aeth)
{
	bool answered;

	switch (aeth_type(aeth)) {
	case AETH_ACK:
		answered = completer_answers_probe(qp, psn);
		if (!completer_acknowledge(qp, psn + 1))
			completer_implied_nak(qp);
		else
			completer_set_credits(qp, aeth);
		if (answered && qp->state != IBV_QPS_ERR &&
		    seq_before(psn + 1, qp->req.probe_end)) {
			requester_resend(qp);
			qp->req.went_back = true;
		}
		break;
	case AETH_RNR_NAK:
		qp_count(qp, MYNIC_STAT_RX_NAK_RNR);
		if (!completer_acknowledge(qp, psn))
			completer_implied_nak(qp);
		else if (!requester_waits_for_rnr(&qp->req))
			requester_rnr(qp, aeth_value(aeth));
		break;
	case AETH_NAK:
		if (!completer_acknowledge(qp, psn))
			completer_implied_nak(qp);
		else
			completer_receive_nak(qp, aeth_value(aeth));
		break;
	default:
		qp_count(qp, MYNIC_STAT_RX_DROP_HEADER);
	}
}

/* The last packet of a response to one request packet has arrived */
static void completer_ends_rd_atomic(struct qp *qp)
{
	/* After going back, that request packet is not counted any more */
	if (!seq_before(qp->sq.psn, qp->req.una))
		qp->req.rd_atomic--;
}

/*
 * Checks whether FIRST and LAST of a response of @num packets match the request
 * packets. A part may have been requested again, and then begins there.
 */
static bool completer_in_place(const struct requester *q,
			       const struct send_req *req,
			       const struct opcode_info *info, uint32_t num,
			       bool last)
{
	bool starts = q->una == req->first_psn;
	bool may_start = starts || q->una == q->resumed ||
			 requester_piece_left(req, q->una - 1) == 1;

	if (info->flags & OPCODE_FIRST ? !may_start : starts)
		return false;
	if (info->flags & OPCODE_LAST)
		return requester_piece_left(req, q->una + num - 1) == 1;
	return !last;
}

static struct sge_list completer_scatter_list(struct qp *qp,
					      const struct send_req *req)
{
	struct sge_list list = send_sges(qp, req);

	list.stage = MYNIC_PAGE_RECV;
	return list;
}

/* Handles the arrival of the next @num packets of READ responses. */
static void completer_arrive(struct qp *qp, const struct send_req *req,
			     uint32_t num)
{
	struct requester *q = &qp->req;

	while (num) {
		uint32_t left = requester_piece_left(req, q->una);

		if (left > num) {
			q->una += num;
			return;
		}
		q->una += left;
		num -= left;
		completer_ends_rd_atomic(qp);
	}
}

static void completer_receive_read(struct qp *qp, const struct send_req *req,
				   const struct packet *pkt,
				   const struct opcode_info *info)
{
	uint32_t mtu = path_mtu(qp);
	struct sge_list list = completer_scatter_list(qp, req);
	struct requester *q = &qp->req;
	uint32_t offset = (q->una - req->first_psn) * mtu;
	uint32_t len = req->length - offset;
	uint32_t num = packet_count(pkt);
	bool last = len <= num * mtu;
	uint64_t now;
	enum outcome outcome;

	if (!last)
		len = num * mtu;
	if (pkt->payload_len != len || (num > 1 && pkt->train_mtu != mtu) ||
	    !completer_in_place(q, req, info, num, last)) {
		sq_fail(qp, OUTCOME_BAD_RESPONSE);
		return;
	}
	outcome = sge_write(qp->nic, &list, offset, len, pkt->iov);
	if (outcome == OUTCOME_WAIT)
		return;
	if (outcome) {
		sq_fail(qp, outcome);
		return;
	}
	completer_arrive(qp, req, num);
	now = nic_now(qp->nic);
	if (last && !sq_complete(qp, 1, now))
		return;
	requester_progress(qp, now);
}

/* Handles a response that has only one packet */
static void completer_end_alone(struct qp *qp)
{
	uint64_t now = nic_now(qp->nic);

	qp->req.una++;
	completer_ends_rd_atomic(qp);
	if (sq_complete(qp, 1, now))
		requester_progress(qp, now);
}

static void completer_receive_atomic(struct qp *qp, const struct send_req *req,
				     uint64_t orig)
{
	struct sge_list list = completer_scatter_list(qp, req);
	struct iovec iov = { &orig, sizeof(orig) };
	enum outcome outcome;

	orig = htole64(orig);
	outcome = sge_write(qp->nic, &list, 0, sizeof(orig), &iov);
	if (outcome == OUTCOME_WAIT)
		return;
	if (outcome) {
		sq_fail(qp, outcome);
		return;
	}
	completer_end_alone(qp);
}

/* ATOMIC WRITE and FLUSH are answered by a READ response without data */
static bool completer_is_empty_response(const struct packet *pkt,
					const struct opcode_info *info)
{
	return info->class == OPCODE_READ_RESPONSE &&
	       (info->flags & OPCODE_ONLY) == OPCODE_ONLY && !pkt->payload_len;
}

static void completer_receive_response(struct qp *qp, uint32_t psn,
				       const struct packet *pkt,
				       const struct opcode_info *info)
{
	const struct send_req *req;
	bool fits;

	if (info->flags & OPCODE_AETH &&
	    aeth_type(pkt->roce.aeth) != AETH_ACK) {
		qp_count(qp, MYNIC_STAT_RX_DROP_HEADER);
		return;
	}
	if (!completer_acknowledge(qp, psn)) {
		completer_implied_nak(qp);
		return;
	}
	req = sq_req(&qp->sq, qp->sq.ci);
	switch (req->opcode) {
	case IBV_WR_RDMA_READ:
		fits = info->class == OPCODE_READ_RESPONSE;
		if (fits)
			completer_receive_read(qp, req, pkt, info);
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		fits = info->class == OPCODE_ATOMIC_ACK;
		if (fits)
			completer_receive_atomic(qp, req,
						 pkt->roce.atomic_orig);
		break;
	case IBV_WR_ATOMIC_WRITE:
	case IBV_WR_FLUSH:
		fits = completer_is_empty_response(pkt, info);
		if (fits)
			completer_end_alone(qp);
		break;
	default:
		fits = false;
	}
	if (!fits)
		sq_fail(qp, OUTCOME_BAD_RESPONSE);
	if (info->flags & OPCODE_AETH && info->flags & OPCODE_LAST)
		completer_set_credits(qp, pkt->roce.aeth);
}

void completer_receive(struct qp *qp, const struct packet *pkt,
		       const struct opcode_info *info)
{
	const struct requester *q = &qp->req;
	uint32_t psn = q->una + psn_diff(pkt->roce.psn, q->una);

	/* A peer repeats its last ACK to report new credits */
	if (psn == q->una - 1 && q->counts_credits &&
	    info->class == OPCODE_ACK &&
	    aeth_type(pkt->roce.aeth) == AETH_ACK) {
		completer_set_credits(qp, pkt->roce.aeth);
		qp_schedule(qp->nic, qp);
		return;
	}
	/*
	 * A ghost: too old, or for a packet that was never sent (IBTA 9.7.6.2)
	 */
	if (seq_before(psn, q->una) || !seq_before(psn, q->max_psn)) {
		qp_count(qp, MYNIC_STAT_GHOST);
		return;
	}
	if (!q->loss.probe_after)
		loss_recovery_heard(&qp->req.loss, nic_now(qp->nic));
	if (info->class == OPCODE_ACK)
		completer_receive_ack(qp, psn, pkt->roce.aeth);
	else
		completer_receive_response(qp, psn, pkt, info);
	qp_schedule(qp->nic, qp);
}
