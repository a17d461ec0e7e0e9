// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Rendezvous: the READ and the FIN of each matched tag. The requester sends
 * them like requests of a send queue; matching itself is in tm.c.
 */

#include "queue/rndv.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "base/outcome.h"
#include "base/verbs.h"
#include "function/eq.h"
#include "mynic_regs.h"
#include "qp/counters.h"
#include "queue/cq.h"
#include "queue/sq.h"
#include "queue/srq.h"
#include "queue/tm.h"
#include "state/nic_types.h"
#include "state/queue_types.h"

/*
 * Size of a ring that would hold the requests; limits how many are on their way
 */
#define LOG_SIZE 6
#define LOG_STRIDE SQ_MIN_LOG_STRIDE

_Static_assert(MYNIC_WQE_DATA_RC + TM_RNDV_HDR <= 1 << LOG_STRIDE, "FIN");

static bool rndv_is_read(uint32_t index)
{
	return !(index & 1);
}

void rndv_start(struct qp *qp, struct tag *tag)
{
	struct rndv *rndv = &qp->rndv;

	TAILQ_INSERT_TAIL(&rndv->tags, tag, link);
	if (!rndv->next)
		rndv->next = tag;
	qp->sq.pi += 2;
}

static void rndv_fetch_read(const struct tag *tag, struct send_req *req)
{
	req->opcode = IBV_WR_RDMA_READ;
	req->traits = SEND_HAS_RESPONSE;
	req->remote_addr = be64toh(tag->header.va);
	req->rkey = be32toh(tag->header.rkey);
	req->length = be32toh(tag->header.len);
	if (!req->length)
		return;
	req->num_sge = 1;
	req->sge[0] = tag->sge;
	req->sge[0].length = req->length;
}

/*
 * The FIN says that the data is not needed any more, so it waits for the READ
 */
static void rndv_fetch_fin(const struct tag *tag, struct send_req *req)
{
	struct tm_header header = tag->header;

	header.opcode = IBV_TMH_FIN;
	req->opcode = IBV_WR_SEND;
	req->traits = SEND_TAKES_RECV;
	req->flags = IBV_SEND_INLINE | IBV_SEND_FENCE;
	req->length = sizeof(header);
	memcpy(req->data, &header, sizeof(header));
}

static void rndv_fetch(struct qp *qp, uint32_t index, struct send_req *req)
{
	struct rndv *rndv = &qp->rndv;

	memset(req, 0, offsetof(struct send_req, data));
	if (rndv_is_read(index)) {
		rndv_fetch_read(rndv->next, req);
	} else {
		rndv_fetch_fin(rndv->next, req);
		rndv->next = TAILQ_NEXT(rndv->next, link);
	}
}

static void rndv_remove_tag(struct rndv *rndv, struct tag *tag)
{
	if (rndv->next == tag)
		rndv->next = TAILQ_NEXT(tag, link);
	TAILQ_REMOVE(&rndv->tags, tag, link);
	free(tag);
}

/* Writes the second completion of the tag */
static void rndv_complete(struct qp *qp, const struct tag *tag,
			  enum outcome outcome)
{
	struct outcome_result result = outcome_result(outcome);
	struct mynic_cqe cqe = {
		.wr_id = htole64(tag->wr_id),
		.status = htole32(result.status),
		.vendor_err = htole32(result.syndrome),
		.opcode = htole32(IBV_WC_TM_RECV),
		.qp_num = htole32(qp->number),
	};

	tm_release(qp->nic, qp->srq);
	if (outcome) {
		qp_count_quietly(qp, MYNIC_STAT_RECV_ERRORS);
	} else {
		cqe.wc_flags = htole32(IBV_WC_TM_DATA_VALID);
		cqe.byte_len = htole32(be32toh(tag->header.len));
	}
	cq_push(qp->nic, qp->recv_cq, &cqe, false, nic_now(qp->nic));
}

/*
 * The oldest request has ended. The QP goes to the error state unless it was
 * successful.
 */
static void rndv_done(struct qp *qp, enum outcome outcome)
{
	struct rndv *rndv = &qp->rndv;
	struct tag *tag = TAILQ_FIRST(&rndv->tags);

	if (!tag->arrived) {
		rndv_complete(qp, tag, outcome);
		tag->arrived = true;
		if (outcome)
			rndv_remove_tag(rndv, tag);
		else
			qp->srq->tm->num_fin++;
		return;
	}
	qp->srq->tm->num_fin--;
	rndv_remove_tag(rndv, tag);
	/* No completion can report a failed FIN, so there is an event */
	if (outcome)
		eq_raise(qp->nic, &qp->events, MYNIC_EVENT_QP_FATAL);
}

static bool rndv_update(struct qp *qp)
{
	return qp->sq.pi != qp->sq.fetched;
}

static void rndv_complete_one(struct qp *qp, const struct send_req *req,
			      uint64_t now)
{
	(void)req;
	(void)now;
	rndv_done(qp, OUTCOME_OK);
}

static void rndv_fail(struct qp *qp, const struct send_req *req,
		      enum outcome outcome)
{
	(void)req;
	rndv_done(qp, outcome);
}

static bool rndv_flush(struct qp *qp)
{
	struct send_queue *sq = &qp->sq;
	struct rndv *rndv = &qp->rndv;
	struct tag *tag;

	for (unsigned int i = 0; i < SQ_QUANTUM; i++) {
		tag = TAILQ_FIRST(&rndv->tags);
		if (!tag)
			break;
		nic_charge(qp->nic, 1);
		if (tag->arrived)
			qp->srq->tm->num_fin--;
		else
			rndv_complete(qp, tag, OUTCOME_FLUSHED);
		rndv_remove_tag(rndv, tag);
	}
	sq->ci = 0;
	sq->cur = 0;
	sq->fetched = 0;
	sq->pi = 0;
	return !TAILQ_EMPTY(&rndv->tags);
}

static void rndv_reset(struct qp *qp)
{
	struct rndv *rndv = &qp->rndv;
	struct tag *tag;

	while ((tag = TAILQ_FIRST(&rndv->tags))) {
		nic_charge(qp->nic, 1);
		if (tag->arrived)
			qp->srq->tm->num_fin--;
		else
			tm_release(qp->nic, qp->srq);
		rndv_remove_tag(rndv, tag);
	}
}

/* LAST_WQE must come after the completions of tags */
static const struct send_source rndv_source = {
	.flush_first = true,
	.update = rndv_update,
	.fetch = rndv_fetch,
	.complete = rndv_complete_one,
	.fail = rndv_fail,
	.flush = rndv_flush,
	.reset = rndv_reset,
};

void rndv_init(struct qp *qp)
{
	TAILQ_INIT(&qp->rndv.tags);
	qp->sq.source = &rndv_source;
	/* A READ for a tag uses the PD of the SRQ */
	qp->sq.pd = qp->srq->pd;
	qp->sq.ring.log_size = LOG_SIZE;
	qp->sq.ring.log_stride = LOG_STRIDE;
}

bool rndv_takes(const struct qp *qp, const struct tag *tag)
{
	const struct tag_matching *tm = qp->srq->tm;
	uint32_t len = be32toh(tag->header.len);

	return qp->sq.source == &rndv_source && len <= tag->sge.length &&
	       len <= WQE_MAX_LENGTH && tm->num_fin < tm->max_tags;
}
