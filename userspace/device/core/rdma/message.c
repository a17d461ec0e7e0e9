// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Receiving SENDs and RDMA WRITEs on connected QPs: checks, placement and
 * completion. PSNs and answers are in responder.c and uc.c.
 */

#include "rdma/message.h"

#include <endian.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/iov.h"
#include "function/eq.h"
#include "function/fault.h"
#include "memory/mkey.h"
#include "mynic_regs.h"
#include "packet/packet.h"
#include "qp/comp_cntr.h"
#include "qp/odp.h"
#include "qp/path.h"
#include "qp/qp_error.h"
#include "qp/qp_fault.h"
#include "qp/qp_watch.h"
#include "queue/rq.h"
#include "queue/srq.h"
#include "queue/tm.h"
#include "queue/wqe.h"
#include "state/fault_types.h"
#include "state/memory_types.h"
#include "state/qp_types.h"
#include "state/queue_types.h"
#include "state/transport_types.h"

void message_arrives(struct qp *qp)
{
	if (qp->state == IBV_QPS_RTR && !qp->resp.established) {
		qp->resp.established = true;
		eq_raise(qp->nic, &qp->events, MYNIC_EVENT_COMM_EST);
	}
	qp_expect_answer(qp);
}

/*
 * All packets but the last must be full, and only a whole message may be empty
 */
static bool message_has_right_length(const struct qp *qp,
				     const struct packet *pkt,
				     const struct opcode_info *info)
{
	if (pkt->train_mtu)
		return pkt->train_mtu == path_mtu(qp) &&
		       (info->flags & OPCODE_LAST ||
			!(pkt->payload_len & (pkt->train_mtu - 1)));
	if (!(info->flags & OPCODE_LAST))
		return pkt->payload_len == path_mtu(qp);
	return pkt->payload_len <= path_mtu(qp) &&
	       (info->flags & OPCODE_FIRST || pkt->payload_len);
}

static enum outcome message_take_recv(struct qp *qp)
{
	struct recv_queue *rq = &qp->rq;

	if (!rq->has_recv && !qp_fault_takes_recv(qp))
		rq->has_recv = wqe_fetch_recv(qp, &rq->recv);
	if (!rq->has_recv)
		return OUTCOME_NO_RECV;
	return rq->recv.outcome;
}

void message_complete(struct qp *qp, enum outcome why, struct mynic_cqe *cqe,
		      bool solicited)
{
	qp->rq.has_recv = false;
	if (qp->rq.match.kind)
		tm_end(qp, !why);
	rq_complete(qp, &qp->rq.recv, why, cqe, solicited);
}

static void message_end(struct qp *qp, const struct packet *pkt,
			const struct opcode_info *info)
{
	struct responder *r = &qp->resp;
	struct mynic_cqe cqe = {
		.opcode = htole32(IBV_WC_RECV),
		.byte_len = htole32(r->offset - qp->rq.match.skip),
	};
	enum outcome outcome = OUTCOME_OK;

	r->msg = 0;
	if (info->class == OPCODE_WRITE) {
		comp_cntr_count(qp, MYNIC_COMP_CNTR_REMOTE_WRITE, 1,
				OUTCOME_OK);
		if (!(info->flags & OPCODE_IMM))
			return;
		cqe.opcode = htole32(IBV_WC_RECV_RDMA_WITH_IMM);
	}
	if (info->flags & OPCODE_IMM) {
		cqe.wc_flags = htole32(IBV_WC_WITH_IMM);
		cqe.imm_data = pkt->roce.imm;
	} else if (info->flags & OPCODE_IETH) {
		cqe.wc_flags = htole32(IBV_WC_WITH_INV);
		cqe.invalidated_rkey = htole32(pkt->roce.imm);
	}
	if (qp->rq.match.kind && info->class == OPCODE_SEND)
		outcome = tm_complete(qp, info->flags & OPCODE_FIRST, &cqe);
	message_complete(qp, outcome, &cqe, pkt->roce.solicited);
}

/* Takes the buffer of a matching tag, or else the next receive request */
static enum outcome message_take_tag_or_recv(struct qp *qp,
					     const struct packet *pkt,
					     const struct opcode_info *info)
{
	enum outcome outcome;

	if (qp->rq.has_recv)
		return message_take_recv(qp);
	if (tm_match(qp, pkt, info))
		return OUTCOME_OK;
	outcome = message_take_recv(qp);
	tm_no_match(qp, qp->rq.has_recv);
	return outcome;
}

/* Writes the part of the payload that belongs in the receive request */
static enum outcome message_write_recv(struct qp *qp, const struct packet *pkt)
{
	struct sge_list list = recv_sges(qp, &qp->rq.recv);
	const struct tm_match *match = &qp->rq.match;
	uint32_t offset = qp->resp.offset;
	struct iovec iov[PACKET_MAX_IOV];
	uint32_t len = pkt->payload_len;

	if (match->kind == TM_INCOMPLETE && len > qp->rq.recv.capacity)
		len = qp->rq.recv.capacity;
	if (!match->skip)
		return sge_write(qp->nic, &list, offset, len, pkt->iov);
	if (offset)
		return sge_write(qp->nic, &list, offset - match->skip, len,
				 pkt->iov);
	tm_cut(pkt, match->skip, iov);
	return sge_write(qp->nic, &list, 0, len - match->skip, iov);
}

static bool message_fits(const struct recv_queue *rq, uint64_t len)
{
	return len <= WQE_MAX_LENGTH &&
	       (len <= rq->recv.capacity + rq->match.skip ||
		rq->match.kind == TM_INCOMPLETE);
}

static enum outcome message_place_send(struct qp *qp, const struct packet *pkt,
				       const struct opcode_info *info)
{
	struct responder *r = &qp->resp;
	enum outcome outcome;

	if (info->flags & OPCODE_FIRST) {
		if (qp->srq && qp->srq->tm)
			outcome = message_take_tag_or_recv(qp, pkt, info);
		else
			outcome = message_take_recv(qp);
		if (outcome)
			return outcome;
		r->offset = 0;
	}
	if (!message_fits(&qp->rq, r->offset + pkt->payload_len))
		return OUTCOME_TOO_LONG;
	outcome = message_write_recv(qp, pkt);
	if (!outcome && info->flags & OPCODE_IETH)
		return mkey_invalidate_remote(qp, pkt->roce.imm);
	return outcome;
}

enum outcome message_check_reth(struct qp *qp, const struct roce_hdr *hdr,
				enum ibv_access_flags access,
				struct mkey **mkey)
{
	const struct mkey_range range = {
		.key = hdr->rkey,
		.access = access,
		.addr = hdr->remote_addr,
		.len = hdr->dma_len,
	};

	if (!(qp->attr.access_flags & access))
		return OUTCOME_NOT_ALLOWED;
	if (hdr->dma_len > WQE_MAX_LENGTH)
		return OUTCOME_INVALID;
	if (!hdr->dma_len)
		return OUTCOME_OK;
	return mkey_check_remote(qp, qp->pd, &range, mkey);
}

/* @mkey: the key, already checked for this packet; NULL: check it again */
static enum outcome message_write_payload(struct qp *qp,
					  const struct packet *pkt,
					  struct mkey *mkey)
{
	struct iovec pieces[PACKET_MAX_IOV];
	struct iov_list dst = {
		.iov = pieces,
		.max = PACKET_MAX_IOV,
		.write = true,
	};
	struct responder *r = &qp->resp;
	const struct mkey_range range = {
		.key = r->write_rkey,
		.access = IBV_ACCESS_REMOTE_WRITE,
		.addr = r->write_addr + r->offset,
		.len = pkt->payload_len,
	};
	enum outcome outcome = OUTCOME_OK;
	struct page_fault fault;

	if (!pkt->payload_len)
		return OUTCOME_OK;
	if (!mkey)
		outcome = mkey_check_remote(qp, qp->pd, &range, &mkey);
	if (outcome)
		return outcome;
	outcome = mkey_iov(qp->nic, mkey, range.addr, range.len, &dst, &fault);
	if (outcome == OUTCOME_NO_PAGE) {
		fault.len += r->write_len - r->offset - pkt->payload_len;
		return odp_wait(qp, MYNIC_PAGE_RECV, &fault);
	}
	if (outcome)
		return outcome;
	iov_copy(dst.iov, dst.num, pkt->iov);
	return OUTCOME_OK;
}

static enum outcome message_place_write(struct qp *qp, const struct packet *pkt,
					const struct opcode_info *info)
{
	struct responder *r = &qp->resp;
	enum outcome outcome;
	struct mkey *mkey = NULL;
	uint32_t left;

	if (info->flags & OPCODE_FIRST) {
		outcome = message_check_reth(qp, &pkt->roce,
					     IBV_ACCESS_REMOTE_WRITE, &mkey);
		if (outcome)
			return outcome;
		r->offset = 0;
		r->write_addr = pkt->roce.remote_addr;
		r->write_len = pkt->roce.dma_len;
		r->write_rkey = pkt->roce.rkey;
	}
	left = r->write_len - r->offset;
	if (info->flags & OPCODE_LAST ? pkt->payload_len != left :
					pkt->payload_len >= left)
		return OUTCOME_INVALID;
	if (info->flags & OPCODE_IMM) {
		outcome = message_take_recv(qp);
		if (outcome)
			return outcome;
	}
	return message_write_payload(qp, pkt, mkey);
}

/* Whether the packet ends a receive request, which may meet a NIC fault */
static bool message_may_meet_fault(const struct qp *qp,
				   const struct opcode_info *info)
{
	return nic_fault_waits(qp->nic, NIC_FAULT_ON_COMPLETION) &&
	       info->flags & OPCODE_LAST &&
	       (info->class == OPCODE_SEND || info->flags & OPCODE_IMM) &&
	       !qp->rq.match.kind;
}

enum outcome message_execute(struct qp *qp, const struct packet *pkt,
			     const struct opcode_info *info)
{
	struct responder *r = &qp->resp;
	struct qp_fault fault = { 0 };
	enum outcome outcome;

	if (!message_has_right_length(qp, pkt, info))
		return OUTCOME_INVALID;
	if (info->class == OPCODE_SEND)
		outcome = message_place_send(qp, pkt, info);
	else
		outcome = message_place_write(qp, pkt, info);
	if (outcome)
		return outcome;
	if (message_may_meet_fault(qp, info))
		fault = qp_fault_decide(qp, IBV_WC_RECV);
	if (fault.outcome)
		return fault.outcome;
	r->offset += pkt->payload_len;
	r->msg = info->class;
	if (info->flags & OPCODE_LAST)
		message_end(qp, pkt, info);
	else if (info->flags & OPCODE_FIRST && qp->rq.match.kind)
		tm_begun(qp);
	if (fault.to_error)
		qp_to_error(qp->nic, qp, MYNIC_EVENT_QP_FATAL);
	return OUTCOME_OK;
}
