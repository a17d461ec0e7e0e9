// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The RC responder: requests that arrive, their order and their execution.
 * Answers are sent in response.c; SENDs and WRITEs are placed in message.c.
 */

#include "rdma/responder.h"

#include <assert.h>
#include <sys/uio.h>

#include "base/iov.h"
#include "base/journal.h"
#include "base/outcome.h"
#include "base/psn.h"
#include "base/verbs.h"
#include "memory/mkey.h"
#include "mynic_regs.h"
#include "packet/aeth.h"
#include "packet/opcode.h"
#include "packet/packet.h"
#include "qp/comp_cntr.h"
#include "qp/counters.h"
#include "qp/odp.h"
#include "qp/path.h"
#include "qp/qp.h"
#include "queue/xrcd.h"
#include "rdma/flush.h"
#include "rdma/message.h"
#include "rdma/response.h"
#include "rdma/response_queue.h"
#include "state/memory_types.h"
#include "state/nic_types.h"
#include "state/queue_types.h"
#include "state/transport_types.h"

/* Atomics work directly on guest memory, which is little-endian */
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "byte order");

void responder_start(struct qp *qp)
{
	qp->resp.epsn = qp->attr.rq_psn;
}

void responder_reset(struct qp *qp)
{
	flush_stop(qp);
	responses_free(qp);
	qp->resp = (struct responder){ 0 };
}

static void responder_note_refusal(struct qp *qp, const struct roce_hdr *hdr)
{
	unsigned int flags = opcode_info(hdr->opcode)->flags;
	struct journal_entry entry = {
		.kind = JOURNAL_REFUSED,
		.code = qp->resp.nak_syndrome & ~AETH_NAK,
		.number = qp->number,
		.from = hdr->opcode,
		.psn = hdr->psn,
	};

	if (flags & (OPCODE_RETH | OPCODE_ATOMICETH)) {
		entry.key = hdr->rkey;
		entry.addr = hdr->remote_addr;
		entry.length = flags & OPCODE_RETH ? hdr->dma_len :
						     sizeof(uint64_t);
	}
	nic_note(qp->nic, &entry);
}

/* Completion counters of the requests of a peer, by enum opcode_class */
static const uint8_t counted_as[OPCODE_CNP + 1] = {
	[OPCODE_READ] = MYNIC_COMP_CNTR_REMOTE_READ,
	[OPCODE_WRITE] = MYNIC_COMP_CNTR_REMOTE_WRITE,
};

static void responder_count_refusal(struct qp *qp, const struct roce_hdr *hdr,
				    enum outcome why)
{
	comp_cntr_count(qp, counted_as[opcode_info(hdr->opcode)->class], 1,
			why);
}

/*
 * The receive request in use gets the error; if there is none, an event reports
 * it
 */
static void responder_fail(struct qp *qp, const struct roce_hdr *hdr,
			   enum outcome why)
{
	struct mynic_cqe cqe = { 0 };

	responses_fail(&qp->resp, qp->resp.epsn, why);
	responder_note_refusal(qp, hdr);
	responder_count_refusal(qp, hdr, why);
	if (qp->rq.has_recv)
		message_complete(qp, why, &cqe, false);
}

static void responder_answer_rnr(struct qp *qp, uint8_t timer)
{
	struct responder *r = &qp->resp;

	r->nak = RESPONDER_NAK_RNR;
	r->nak_syndrome = AETH_RNR_NAK | timer;
	r->gap = true;
}

bool responder_defers(struct qp *qp, const struct packet *pkt,
		      const struct opcode_info *info)
{
	struct responder *r = &qp->resp;

	if (info->flags & OPCODE_RESPONSE || pkt->roce.psn != r->epsn ||
	    r->nak == RESPONDER_NAK_FATAL)
		return false;
	if (r->held != r->epsn + 1) {
		r->held = r->epsn + 1;
		return false;
	}
	if (!odp_waits_long(qp, MYNIC_PAGE_RECV))
		return false;
	responder_answer_rnr(qp, responder_defer_timer(qp));
	qp_schedule(qp->nic, qp);
	return true;
}

static void responder_refuse(struct qp *qp, const struct roce_hdr *hdr,
			     enum outcome why)
{
	switch (why) {
	case OUTCOME_NO_RECV:
		responder_answer_rnr(qp, qp->attr.min_rnr_timer);
		break;
	case OUTCOME_WAIT:
		/* The packet is held and handled again later */
		break;
	default:
		responder_fail(qp, hdr, why);
	}
}

/* Advances the state behind a packet that was accepted */
static void responder_advance(struct responder *r, const struct packet *pkt,
			      const struct opcode_info *info, uint32_t psns)
{
	r->epsn = psn_add(r->epsn, psns);
	r->gap = false;
	if (r->nak == RESPONDER_NAK_RNR ||
	    (r->nak == RESPONDER_NAK_SEQ && psn_diff(r->epsn, r->gap_end) > 0))
		r->nak = RESPONDER_NAK_NONE;
	if (opcode_has_response(info))
		r->ack = false; /* the response acknowledges all before */
	else if (pkt->roce.ack_req)
		r->ack = true;
	if (info->flags & OPCODE_LAST)
		r->msn = psn_add(r->msn, 1);
}

/* Returns true if there is room for the response to a new request */
static bool responder_reserve_response(struct qp *qp,
				       const struct roce_hdr *hdr)
{
	switch (responses_reserve(qp)) {
	case RESPONSES_ROOM:
		return true;
	case RESPONSES_EXCEEDED:
		responder_fail(qp, hdr, OUTCOME_INVALID);
		return false;
	default:
		/*
		 * The request counts as lost, and the requester will repeat it
		 */
		return false;
	}
}

static void responder_execute_read(struct qp *qp, const struct packet *pkt,
				   const struct opcode_info *info)
{
	struct responder *r = &qp->resp;
	struct response response = {
		.first = true,
		.psn = r->epsn,
		.srqn = pkt->roce.srqn,
		.rkey = pkt->roce.rkey,
		.left = pkt->roce.dma_len,
		.addr = pkt->roce.remote_addr,
	};
	enum outcome outcome;
	struct mkey *mkey;

	outcome = message_check_reth(qp, &pkt->roce, IBV_ACCESS_REMOTE_READ,
				     &mkey);
	if (outcome) {
		responder_refuse(qp, &pkt->roce, outcome);
		return;
	}
	if (!responder_reserve_response(qp, &pkt->roce))
		return;
	responder_advance(r, pkt, info, path_packets(qp, response.left));
	response.msn = r->msn;
	responses_add(r, &response);
	r->reads_left++;
	r->read_end = r->epsn;
}

/* Finds the 8 bytes that an atomic or ATOMIC WRITE accesses */
static enum outcome responder_find_operand(struct qp *qp,
					   const struct roce_hdr *hdr,
					   enum ibv_access_flags access,
					   uint64_t **ptr)
{
	struct iovec iov;
	struct iov_list list = { .iov = &iov, .max = 1, .write = true };
	const struct mkey_range range = {
		.key = hdr->rkey,
		.access = access,
		.addr = hdr->remote_addr,
		.len = sizeof(**ptr),
	};
	struct page_fault fault;
	enum outcome outcome;
	struct mkey *mkey;

	outcome = mkey_check_remote(qp, qp->pd, &range, &mkey);
	if (outcome)
		return outcome;
	outcome = mkey_iov(qp->nic, mkey, range.addr, range.len, &list, &fault);
	if (outcome == OUTCOME_NO_PAGE)
		return odp_wait(qp, MYNIC_PAGE_RECV, &fault);
	if (outcome)
		return outcome;
	*ptr = iov.iov_base;
	/* Addresses of a region need not be aligned like its pages */
	return (uintptr_t)*ptr % sizeof(**ptr) ? OUTCOME_DMA : OUTCOME_OK;
}

/* Return: what was there */
static uint64_t responder_do_atomic(const struct roce_hdr *hdr, uint64_t *ptr)
{
	uint64_t orig = hdr->compare;

	if ((hdr->opcode & BTH_OPERATION_MASK) == BTH_RC_FETCH_ADD)
		return __atomic_fetch_add(ptr, hdr->swap_add, __ATOMIC_SEQ_CST);
	__atomic_compare_exchange_n(ptr, &orig, hdr->swap_add, false,
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	return orig;
}

static void responder_do_atomic_write(const struct packet *pkt, uint64_t *ptr)
{
	struct iov_cursor cursor = { .iov = pkt->iov };
	uint64_t value;

	iov_read(&cursor, &value, sizeof(value));
	__atomic_store_n(ptr, value, __ATOMIC_SEQ_CST);
}

static bool responder_brings_operand(const struct packet *pkt)
{
	return pkt->roce.dma_len == sizeof(uint64_t) &&
	       pkt->payload_len == sizeof(uint64_t);
}

/* Executes an atomic, or an ATOMIC WRITE, which has no result */
static void responder_execute_atomic(struct qp *qp, const struct packet *pkt,
				     const struct opcode_info *info)
{
	bool write = info->class == OPCODE_ATOMIC_WRITE;
	enum ibv_access_flags access = write ? IBV_ACCESS_REMOTE_WRITE :
					       IBV_ACCESS_REMOTE_ATOMIC;
	struct responder *r = &qp->resp;
	struct response response = {
		.atomic = true,
		.empty = write,
		.psn = r->epsn,
	};
	enum outcome outcome;
	uint64_t *ptr = NULL;

	if (!(qp->attr.access_flags & access) ||
	    pkt->roce.remote_addr % sizeof(*ptr) ||
	    (write && !responder_brings_operand(pkt))) {
		responder_fail(qp, &pkt->roce, OUTCOME_INVALID);
		return;
	}
	if (!responder_reserve_response(qp, &pkt->roce))
		return;
	outcome = responder_find_operand(qp, &pkt->roce, access, &ptr);
	if (outcome) {
		responder_refuse(qp, &pkt->roce, outcome);
		return;
	}
	if (write)
		responder_do_atomic_write(pkt, ptr);
	else
		response.orig = responder_do_atomic(&pkt->roce, ptr);
	responder_advance(r, pkt, info, 1);
	response.msn = r->msn;
	responses_add(r, &response);
}

static void responder_execute_flush(struct qp *qp, const struct packet *pkt,
				    const struct opcode_info *info)
{
	struct responder *r = &qp->resp;
	struct response response = {
		.atomic = true,
		.empty = true,
		.psn = r->epsn,
		.srqn = pkt->roce.srqn,
		.rkey = pkt->roce.rkey,
	};
	enum outcome outcome;

	outcome = flush_check(qp, &pkt->roce, &response);
	if (outcome) {
		responder_refuse(qp, &pkt->roce, outcome);
		return;
	}
	if (!responder_reserve_response(qp, &pkt->roce))
		return;
	responder_advance(r, pkt, info, 1);
	response.msn = r->msn;
	responses_add(r, &response);
}

static void responder_execute_message(struct qp *qp, const struct packet *pkt,
				      const struct opcode_info *info)
{
	enum outcome outcome = message_execute(qp, pkt, info);

	if (outcome)
		responder_refuse(qp, &pkt->roce, outcome);
	else
		responder_advance(&qp->resp, pkt, info, packet_count(pkt));
}

/* The SRQ may change between requests, but not inside a message */
static bool responder_bind_srq(struct qp *qp, const struct roce_hdr *hdr)
{
	struct srq *srq = xrc_srq_find(qp, hdr->srqn);

	if (!srq || (qp->resp.msg && srq != qp->srq))
		return false;
	xrc_bind(qp, srq);
	return true;
}

static void responder_execute(struct qp *qp, const struct packet *pkt,
			      const struct opcode_info *info)
{
	if (!opcode_is_of(info, qp->type) ||
	    !message_in_sequence(&qp->resp, info) ||
	    (qp->xrcd && !responder_bind_srq(qp, &pkt->roce))) {
		responder_fail(qp, &pkt->roce, OUTCOME_INVALID);
		return;
	}
	switch (info->class) {
	case OPCODE_READ:
		responder_execute_read(qp, pkt, info);
		break;
	case OPCODE_ATOMIC:
	case OPCODE_ATOMIC_WRITE:
		responder_execute_atomic(qp, pkt, info);
		break;
	case OPCODE_FLUSH:
		responder_execute_flush(qp, pkt, info);
		break;
	default:
		responder_execute_message(qp, pkt, info);
	}
}

/*
 * Reads what is there now. A request that is not valid (any more) is dropped,
 * because it may be a late duplicate that the wire has made.
 */
static void responder_repeat_read(struct qp *qp, const struct roce_hdr *hdr)
{
	struct responder *r = &qp->resp;
	struct response response = {
		.duplicate = true,
		.first = true,
		.psn = hdr->psn,
		.msn = r->msn,
		.srqn = hdr->srqn,
		.rkey = hdr->rkey,
		.left = hdr->dma_len,
		.addr = hdr->remote_addr,
	};
	uint32_t behind = psn_add(r->epsn, -hdr->psn);
	const struct mkey_range range = {
		.key = hdr->rkey,
		.access = IBV_ACCESS_REMOTE_READ,
		.addr = hdr->remote_addr,
		.len = hdr->dma_len,
	};
	struct mkey *mkey;

	if (!(qp->attr.access_flags & IBV_ACCESS_REMOTE_READ) ||
	    hdr->dma_len > WQE_MAX_LENGTH ||
	    path_packets(qp, hdr->dma_len) > behind)
		return;
	if (hdr->dma_len &&
	    mkey_check_remote(qp, xrc_pd(qp, response.srqn), &range, &mkey))
		return;
	responses_add_duplicate(qp, &response);
}

static void responder_repeat_atomic(struct qp *qp, uint32_t psn)
{
	const struct response_queue *queue = &qp->resp.responses;

	/*
	 * The latest result is found first. An older one may have the same PSN
	 * after wrapping
	 */
	for (unsigned int i = 1; i <= queue->size; i++) {
		const struct atomic_result *result =
			&queue->results[(queue->next_result + queue->size - i) %
					queue->size];
		struct response response = {
			.atomic = true,
			.empty = result->empty,
			.duplicate = true,
			.psn = psn,
			.msn = result->msn,
			.orig = result->orig,
		};

		if (result->valid && result->psn == psn) {
			responses_add_duplicate(qp, &response);
			return;
		}
	}
}

static void responder_repeat(struct qp *qp, const struct packet *pkt,
			     const struct opcode_info *info)
{
	qp_count(qp, MYNIC_STAT_DUPLICATE);
	if (responder_defers_response(qp, pkt->roce.psn))
		return;
	switch (info->class) {
	case OPCODE_READ:
		responder_repeat_read(qp, &pkt->roce);
		break;
	case OPCODE_ATOMIC:
	case OPCODE_ATOMIC_WRITE:
	case OPCODE_FLUSH:
		responder_repeat_atomic(qp, pkt->roce.psn);
		break;
	case OPCODE_RESERVED:
		break;
	default:
		qp->resp.ack = true;
	}
}

static void responder_report_gap(struct qp *qp, uint32_t psn)
{
	struct responder *r = &qp->resp;

	qp_count(qp, MYNIC_STAT_OUT_OF_SEQUENCE);
	if (r->nak == RESPONDER_NAK_NONE && !r->gap) {
		r->gap = true;
		r->gap_end = r->epsn;
		r->nak = RESPONDER_NAK_SEQ;
		r->nak_syndrome = AETH_NAK | AETH_NAK_SEQUENCE;
	}
	if (psn_diff(psn, r->gap_end) > 0)
		r->gap_end = psn;
}

void responder_receive(struct qp *qp, const struct packet *pkt,
		       const struct opcode_info *info)
{
	struct responder *r = &qp->resp;
	int32_t ahead = psn_diff(pkt->roce.psn, r->epsn);

	if (r->nak == RESPONDER_NAK_FATAL)
		return;
	if (ahead > 0)
		responder_report_gap(qp, pkt->roce.psn);
	else if (ahead < 0)
		responder_repeat(qp, pkt, info);
	else
		responder_execute(qp, pkt, info);
	qp_schedule(qp->nic, qp);
}
