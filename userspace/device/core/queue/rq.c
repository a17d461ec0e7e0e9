// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completing and flushing of receive requests, for all QP types. They are
 * fetched in wqe.c.
 */

#include "queue/rq.h"

#include <endian.h>
#include <sys/queue.h>

#include "base/journal.h"
#include "base/timer.h"
#include "base/util.h"
#include "base/verbs.h"
#include "function/eq.h"
#include "mynic_regs.h"
#include "qp/comp_cntr.h"
#include "qp/counters.h"
#include "qp/qp.h"
#include "queue/cq.h"
#include "queue/sq.h"
#include "queue/tm.h"
#include "queue/wqe.h"
#include "state/nic_types.h"

static void rq_look_fn(struct timer *timer)
{
	struct qp *qp = container_of(timer, struct qp, rq.look);

	qp_schedule(qp->nic, qp);
}

int rq_init(struct qp *qp)
{
	if (!qp->has_rq)
		return 0;
	return timer_add(&qp->nic->timers, &qp->rq.look, rq_look_fn);
}

void rq_fini(struct qp *qp)
{
	if (qp->has_rq)
		timer_remove(&qp->nic->timers, &qp->rq.look);
}

/* A flushed request has no error of its own */
static void rq_count_error(struct qp *qp, struct outcome_result result)
{
	const struct journal_entry entry = {
		.kind = JOURNAL_RECV_ERROR,
		.status = result.status,
		.from = result.syndrome,
		.number = qp->number,
		.psn = qp->resp.epsn,
	};

	qp_count_quietly(qp, MYNIC_STAT_RECV_ERRORS);
	if (result.status != IBV_WC_WR_FLUSH_ERR)
		nic_note(qp->nic, &entry);
}

void rq_complete(struct qp *qp, const struct recv_req *req,
		 enum outcome outcome, struct mynic_cqe *cqe, bool solicited)
{
	struct outcome_result result = outcome_result(outcome);

	cqe->wr_id = htole64(req->wr_id);
	cqe->status = htole32(result.status);
	cqe->vendor_err = htole32(result.syndrome);
	cqe->qp_num = htole32(qp->number);
	if (result.status)
		rq_count_error(qp, result);
	comp_cntr_count(qp, MYNIC_COMP_CNTR_RECV, 1, outcome);
	cq_push(qp->nic, qp->recv_cq, cqe, solicited, nic_now(qp->nic));
}

static void rq_flush_recv(struct qp *qp)
{
	struct mynic_cqe cqe = { 0 };

	qp->rq.has_recv = false;
	if (qp->rq.match.kind)
		tm_end(qp, false);
	rq_complete(qp, &qp->rq.recv, OUTCOME_FLUSHED, &cqe, false);
}

void rq_return(struct qp *qp)
{
	if (qp->rq.has_recv && !qp->has_rq)
		rq_flush_recv(qp);
}

void rq_reset(struct qp *qp)
{
	struct recv_queue *rq = &qp->rq;

	if (rq->match.kind)
		tm_end(qp, false);
	timer_stop(&rq->look);
	rq->ci = 0;
	rq->pi = 0;
	rq->has_recv = false;
	rq->last_wqe = false;
}

/* Requests in an SRQ are not flushed, because other QPs may take them */
bool rq_flush(struct qp *qp)
{
	if (qp->rq.has_recv)
		rq_flush_recv(qp);
	if (qp->srq || qp->xrcd) {
		if (!qp->rq.last_wqe) {
			qp->rq.last_wqe = true;
			eq_raise(qp->nic, &qp->events, MYNIC_EVENT_LAST_WQE);
		}
		return false;
	}
	for (unsigned int i = 0; i < SQ_QUANTUM; i++) {
		if (!wqe_fetch_recv(qp, &qp->rq.recv))
			return false;
		rq_flush_recv(qp);
	}
	return true;
}
