// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Send queues: taking up requests, completing and flushing them. Entries are
 * parsed in wqe.c, and requests are executed by each type's own code.
 */

#include "queue/sq.h"

#include <endian.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/journal.h"
#include "base/mem.h"
#include "base/util.h"
#include "base/verbs.h"
#include "function/fault.h"
#include "memory/buf.h"
#include "mynic_regs.h"
#include "qp/comp_cntr.h"
#include "qp/counters.h"
#include "qp/odp.h"
#include "qp/qp.h"
#include "qp/qp_error.h"
#include "qp/qp_fault.h"
#include "qp/service.h"
#include "queue/cq.h"
#include "queue/wqe.h"
#include "state/fault_types.h"
#include "state/nic_types.h"
#include "state/queue_types.h"

/*
 * Limits of the requests of a QP that are on their way. More of them wait in
 * guest memory, so the memory of a QP is bounded.
 */
#define MIN_REQS 16
#define MAX_REQS 256

/* enum ibv_wc_opcode by enum ibv_wr_opcode */
static const uint8_t wc_opcodes[] = {
	[IBV_WR_RDMA_WRITE] = IBV_WC_RDMA_WRITE,
	[IBV_WR_RDMA_WRITE_WITH_IMM] = IBV_WC_RDMA_WRITE,
	[IBV_WR_SEND] = IBV_WC_SEND,
	[IBV_WR_SEND_WITH_IMM] = IBV_WC_SEND,
	[IBV_WR_RDMA_READ] = IBV_WC_RDMA_READ,
	[IBV_WR_ATOMIC_CMP_AND_SWP] = IBV_WC_COMP_SWAP,
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = IBV_WC_FETCH_ADD,
	[IBV_WR_LOCAL_INV] = IBV_WC_LOCAL_INV,
	[IBV_WR_BIND_MW] = IBV_WC_BIND_MW,
	[IBV_WR_SEND_WITH_INV] = IBV_WC_SEND,
	[MYNIC_WR_REG_MR] = MYNIC_WC_REG_MR,
	[IBV_WR_TSO] = IBV_WC_TSO,
	[IBV_WR_DRIVER1] = IBV_WC_DRIVER1,
	[IBV_WR_FLUSH] = IBV_WC_FLUSH,
	[IBV_WR_ATOMIC_WRITE] = IBV_WC_ATOMIC_WRITE,
};

/* Completion counters by opcode; 0: the request is not counted */
static const uint8_t counted_as[MYNIC_WQE_OPCODE_MASK + 1] = {
	[IBV_WR_RDMA_WRITE] = MYNIC_COMP_CNTR_WRITE,
	[IBV_WR_RDMA_WRITE_WITH_IMM] = MYNIC_COMP_CNTR_WRITE,
	[IBV_WR_SEND] = MYNIC_COMP_CNTR_SEND,
	[IBV_WR_SEND_WITH_IMM] = MYNIC_COMP_CNTR_SEND,
	[IBV_WR_RDMA_READ] = MYNIC_COMP_CNTR_READ,
	[IBV_WR_SEND_WITH_INV] = MYNIC_COMP_CNTR_SEND,
	[IBV_WR_TSO] = MYNIC_COMP_CNTR_SEND,
};

/* Upper bound of the spares that are kept */
#define MAX_SPARES 64

/**
 * struct spare_reqs - unused memory for MIN_REQS requests
 * @next: spare that was freed before this one
 * @num: number of spares from this one on
 *
 * A QP has memory for requests only while it has requests. The spare that was
 * freed last is used first, because it is in the caches. Memory of its own for
 * each of thousands of QPs would not be.
 */
struct spare_reqs {
	struct spare_reqs *next;
	unsigned int num;
};

static void sq_give_back(struct qp *qp)
{
	struct spare_reqs **list = &qp->nic->spare_reqs[qp->sq.ring.log_stride];
	struct send_queue *sq = &qp->sq;
	struct spare_reqs *spare = (struct spare_reqs *)sq->reqs;

	sq->reqs = NULL;
	sq->num_reqs = 0;
	if (*list && (*list)->num == MAX_SPARES) {
		free(spare);
		return;
	}
	spare->num = *list ? (*list)->num + 1 : 1;
	spare->next = *list;
	*list = spare;
}

static void *sq_make_room(struct qp *qp, uint32_t num)
{
	struct spare_reqs **list = &qp->nic->spare_reqs[qp->sq.ring.log_stride];
	struct spare_reqs *spare = *list;

	if (num > MIN_REQS)
		return mem_alloc(&qp->nic->mem, (size_t)num * qp->sq.req_size);
	if (num < MIN_REQS || !spare)
		return malloc((size_t)num * qp->sq.req_size);
	*list = spare->next;
	return spare;
}

void sq_free_spares(struct nic *nic)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(nic->spare_reqs); i++) {
		struct spare_reqs *spare;

		while ((spare = nic->spare_reqs[i])) {
			nic->spare_reqs[i] = spare->next;
			free(spare);
		}
	}
}

/*
 * Memory for MIN_REQS is reserved when the QP is created; more was allocated
 * later
 */
static void sq_free_reqs(struct qp *qp, const struct send_queue *sq)
{
	if (sq->num_reqs > MIN_REQS)
		mem_free(&qp->nic->mem, sq->reqs);
	else
		free(sq->reqs);
}

static uint32_t sq_req_size(const struct qp *qp)
{
	return offsetof(struct send_req, data) +
	       (1u << qp->sq.ring.log_stride) - MYNIC_WQE_DATA_RC;
}

static size_t sq_reserved(const struct qp *qp)
{
	if (!qp_sends(qp))
		return 0;
	return min_u32(MIN_REQS, ring_size(&qp->sq.ring)) * sq_req_size(qp);
}

bool sq_init(struct qp *qp)
{
	return mem_reserve(&qp->nic->mem, sq_reserved(qp));
}

void sq_fini(struct qp *qp)
{
	sq_free_reqs(qp, &qp->sq);
	mem_unreserve(&qp->nic->mem, sq_reserved(qp));
}

/*
 * Makes room for one more request. Returns false at the limit, or without
 * memory
 */
static bool sq_grow(struct qp *qp)
{
	struct send_queue old = qp->sq;
	struct send_queue *sq = &qp->sq;
	uint32_t num;

	num = min_u32(old.num_reqs ? old.num_reqs * 2 : MIN_REQS,
		      ring_size(&qp->sq.ring));
	if (num > MAX_REQS || num == old.num_reqs)
		return false;
	sq->req_size = sq_req_size(qp);
	sq->reqs = sq_make_room(qp, num);
	if (!sq->reqs) {
		sq->reqs = old.reqs;
		if (!old.reqs)
			qp_to_error(qp->nic, qp, MYNIC_EVENT_QP_FATAL);
		return false;
	}
	sq->num_reqs = num;
	for (uint32_t i = old.ci; i != old.fetched; i++) {
		uint64_t slot = i & (old.num_reqs - 1);

		memcpy(sq_req(sq, i), old.reqs + slot * old.req_size,
		       old.req_size);
	}
	sq_free_reqs(qp, &old);
	return true;
}

bool sq_update_pi(struct qp *qp)
{
	struct send_queue *sq = &qp->sq;
	struct mynic_qp_dbrec *dbrec;
	uint32_t pi;

	dbrec = qp_dbrec(qp->nic, qp);
	if (!dbrec) {
		qp_to_error(qp->nic, qp, MYNIC_EVENT_QP_FATAL);
		return false;
	}
	pi = buf_load_index(&dbrec->sq_pi);
	if (pi - sq->ci > ring_size(&qp->sq.ring) ||
	    pi - sq->ci < sq->pi - sq->ci) {
		wqe_bad_index(qp);
		return false;
	}
	sq->pi = pi;
	return pi != sq->fetched;
}

/* Whether a request was sent in part, or is being sent again */
static bool sq_has_begun(const struct send_queue *sq, uint32_t index)
{
	return index != sq->fetched &&
	       (sq_req(sq, index)->num_psn || sq_req(sq, index)->done);
}

bool sq_draining(const struct send_queue *sq)
{
	return sq_has_begun(sq, sq->ci);
}

struct send_req *sq_next(struct qp *qp)
{
	struct send_queue *sq = &qp->sq;

	if (odp_waits(&qp->odp, MYNIC_PAGE_SEND))
		return NULL;
	if (qp->state == IBV_QPS_SQD && !sq_has_begun(sq, sq->cur))
		return NULL;
	if (sq->cur != sq->fetched)
		return sq_req(sq, sq->cur);
	if (sq->fetched == sq->pi && !sq->source->update(qp))
		return NULL;
	if (sq->fetched - sq->ci == sq->num_reqs && !sq_grow(qp))
		return NULL;
	sq->source->fetch(qp, sq->fetched, sq_req(sq, sq->fetched));
	return sq_req(sq, sq->fetched++);
}

/* Releases slots. The host must see them free no later than the completions */
static void sq_release(struct qp *qp, uint32_t num)
{
	struct mynic_qp_dbrec *dbrec;

	if (!qp->has_sq)
		return;
	dbrec = qp_dbrec(qp->nic, qp);
	if (dbrec)
		buf_store_index(&dbrec->sq_ci, qp->sq.ci + num);
}

/* A flushed request has no error of its own */
static void sq_note_error(struct qp *qp, const struct send_req *req,
			  struct outcome_result result)
{
	const struct journal_entry entry = {
		.kind = JOURNAL_SEND_ERROR,
		.code = req->opcode,
		.status = result.status,
		.from = result.syndrome,
		.number = qp->number,
		.psn = qp->req.una,
	};

	nic_note(qp->nic, &entry);
}

static void sq_push_error(struct qp *qp, struct wqe_id id, enum outcome outcome)
{
	struct outcome_result result = outcome_result(outcome);
	struct mynic_cqe cqe = {
		.wr_id = htole64(id.wr_id),
		.status = htole32(result.status),
		.vendor_err = htole32(result.syndrome),
		.qp_num = htole32(qp->number),
	};

	qp_count_quietly(qp, MYNIC_STAT_SEND_ERRORS);
	comp_cntr_count(qp, counted_as[id.opcode], 1, outcome);
	cq_push(qp->nic, qp->send_cq, &cqe, false, nic_now(qp->nic));
}

static void sq_complete_one(struct qp *qp, const struct send_req *req,
			    uint64_t now)
{
	struct mynic_cqe cqe = {
		.wr_id = htole64(req->wr_id),
		.opcode = htole32(wc_opcodes[req->opcode]),
		.byte_len = htole32(req->length),
		.qp_num = htole32(qp->number),
	};

	comp_cntr_count(qp, counted_as[req->opcode], 1, OUTCOME_OK);
	if (req->flags & IBV_SEND_SIGNALED || qp->flags & MYNIC_QP_SIG_ALL)
		cq_push(qp->nic, qp->send_cq, &cqe, false, now);
}

static struct wqe_id sq_id(const struct send_req *req)
{
	return (struct wqe_id){ .wr_id = req->wr_id, .opcode = req->opcode };
}

static void sq_fail_one(struct qp *qp, const struct send_req *req,
			enum outcome outcome)
{
	sq_push_error(qp, sq_id(req), outcome);
}

static void sq_succeed(struct qp *qp, uint32_t num, uint64_t now)
{
	struct send_queue *sq = &qp->sq;

	/* One acknowledgment may complete all requests of a window */
	nic_charge(qp->nic, num - 1);
	sq_release(qp, num);
	while (num--) {
		sq->source->complete(qp, sq_req(sq, sq->ci), now);
		if (sq->cur == sq->ci)
			sq->cur++;
		sq->ci++;
	}
	if (sq->ci == sq->pi && sq->num_reqs == MIN_REQS)
		sq_give_back(qp);
}

/* Likewise, but each request may meet a NIC fault */
static bool sq_try_to_succeed(struct qp *qp, uint32_t num, uint64_t now)
{
	struct send_queue *sq = &qp->sq;

	while (num--) {
		struct qp_fault fault = qp_fault_decide(
			qp, wc_opcodes[sq_req(sq, sq->ci)->opcode]);

		if (fault.outcome) {
			sq_fail(qp, fault.outcome);
			return false;
		}
		nic_charge(qp->nic, 1);
		sq_succeed(qp, 1, now);
		if (fault.to_error) {
			qp_to_error(qp->nic, qp, MYNIC_EVENT_QP_FATAL);
			return false;
		}
	}
	return true;
}

bool sq_complete(struct qp *qp, uint32_t num, uint64_t now)
{
	struct send_queue *sq = &qp->sq;

	if (!num)
		return true;
	while (sq->ci + num != sq->fetched && sq_req(sq, sq->ci + num)->done)
		num++;
	if (nic_fault_waits(qp->nic, NIC_FAULT_ON_COMPLETION) && qp->has_sq)
		return sq_try_to_succeed(qp, num, now);
	sq_succeed(qp, num, now);
	return true;
}

void sq_fail(struct qp *qp, enum outcome outcome)
{
	struct send_queue *sq = &qp->sq;
	const struct send_req *req = sq_req(sq, sq->ci);

	sq_note_error(qp, req, outcome_result(outcome));
	sq_release(qp, 1);
	sq->source->fail(qp, req, outcome);
	if (sq->cur == sq->ci)
		sq->cur++;
	sq->ci++;
	if (!qp->service->reliable && qp->state == IBV_QPS_RTS)
		qp_to_sqe(qp);
	else
		qp_to_error(qp->nic, qp, 0);
}

bool sq_run(struct qp *qp)
{
	for (unsigned int i = 0; i < SQ_QUANTUM; i++) {
		struct send_req *req = sq_next(qp);
		enum outcome outcome;

		if (!req)
			return false;
		outcome = req->outcome;
		if (!outcome)
			outcome = qp->service->send_one(qp, req);
		if (outcome == OUTCOME_WAIT)
			return false;
		if (outcome == OUTCOME_OK) {
			if (!sq_complete(qp, 1, nic_now(qp->nic)))
				return true;
		} else if (outcome != OUTCOME_MORE) {
			sq_fail(qp, outcome);
			return true;
		}
		nic_charge(qp->nic, 1);
		if (nic_turn_is_over(qp->nic))
			break;
	}
	return true;
}

static bool sq_flush_ring(struct qp *qp)
{
	struct send_queue *sq = &qp->sq;
	struct wqe_id ids[SQ_QUANTUM];
	uint32_t num;

	sq_update_pi(qp);
	num = min_u32(sq->pi - sq->ci, SQ_QUANTUM);
	if (!num)
		return false;
	for (uint32_t i = 0; i < num; i++) {
		if (i < sq->fetched - sq->ci)
			ids[i] = sq_id(sq_req(sq, sq->ci + i));
		else
			ids[i] = wqe_send_id(qp, sq->ci + i);
	}
	sq_release(qp, num);
	for (uint32_t i = 0; i < num; i++)
		sq_push_error(qp, ids[i], OUTCOME_FLUSHED);
	if (num > sq->fetched - sq->ci)
		sq->fetched = sq->ci + num;
	if (num > sq->cur - sq->ci)
		sq->cur = sq->ci + num;
	sq->ci += num;
	return sq->ci != sq->pi;
}

static const struct send_source ring_source = {
	.update = sq_update_pi,
	.fetch = wqe_fetch_send,
	.complete = sq_complete_one,
	.fail = sq_fail_one,
	.flush = sq_flush_ring,
};

void sq_use_ring(struct qp *qp)
{
	qp->sq.source = &ring_source;
	qp->sq.pd = qp->pd;
}

bool sq_flush(struct qp *qp)
{
	return qp->sq.source->flush(qp);
}

void sq_reset(struct qp *qp)
{
	struct send_queue *sq = &qp->sq;

	if (sq->source && sq->source->reset)
		sq->source->reset(qp);
	sq->ci = 0;
	sq->cur = 0;
	sq->fetched = 0;
	sq->pi = 0;
	sq->drained = false;
}
