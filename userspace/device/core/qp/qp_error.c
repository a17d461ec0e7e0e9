// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Transitions to the error states that the device itself makes. */

#include "qp/qp_error.h"

#include "base/journal.h"
#include "base/timer.h"
#include "base/verbs.h"
#include "function/eq.h"
#include "memory/buf.h"
#include "qp/odp.h"
#include "qp/qp.h"
#include "qp/service.h"
#include "state/nic_types.h"
#include "state/qp_types.h"

/*
 * In the error state the host is asked to ring the doorbell for receive
 * requests, too. The host knows about it after this time, in ns.
 */
#define RQ_RING_DELAY 1000000

void qp_set_rq_ring(struct qp *qp, bool ring)
{
	struct mynic_qp_dbrec *dbrec;

	if (!qp->has_rq)
		return;
	dbrec = qp_dbrec(qp->nic, qp);
	if (dbrec)
		buf_store_index(&dbrec->rq_ring, ring);
}

void qp_enter_error(struct qp *qp)
{
	odp_stop(qp);
	if (qp->service->stop)
		qp->service->stop(qp);
	qp_set_rq_ring(qp, true);
	if (qp->has_rq)
		timer_set(&qp->nic->timers, &qp->rq.look,
			  nic_now(qp->nic) + RQ_RING_DELAY);
}

static void qp_error_note_move(const struct qp *qp, enum ibv_qp_state to,
			       int event)
{
	const struct journal_entry entry = {
		.kind = JOURNAL_MOVED,
		.code = event,
		.number = qp->number,
		.from = qp->state,
		.to = to,
	};

	nic_note(qp->nic, &entry);
}

void qp_to_error(struct nic *nic, struct qp *qp, int event)
{
	if (qp->state == IBV_QPS_ERR || qp->state == IBV_QPS_RESET)
		return;
	qp_error_note_move(qp, IBV_QPS_ERR, event);
	qp->state = IBV_QPS_ERR;
	qp_enter_error(qp);
	qp_schedule(nic, qp);
	if (event)
		eq_raise(nic, &qp->events, event);
}

void qp_to_sqe(struct qp *qp)
{
	if (qp->state != IBV_QPS_RTS)
		return;
	qp_error_note_move(qp, IBV_QPS_SQE, 0);
	qp->state = IBV_QPS_SQE;
	qp_schedule(qp->nic, qp);
}
