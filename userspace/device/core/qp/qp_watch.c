// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Watching of doorbell records, which saves the host its doorbells. */

#include "qp/qp_watch.h"

#include <sys/queue.h>

#include "memory/buf.h"
#include "mynic_regs.h"
#include "qp/qp.h"
#include "state/nic_types.h"
#include "state/qp_types.h"

/* How long nic_watch() watches an idle QP, and how many */
#define WATCH_TIME_NS 50000
#define WATCH_MAX_QPS 64

bool qp_watch_has_news(struct nic *nic, struct qp *qp)
{
	const struct mynic_qp_dbrec *dbrec = qp_dbrec(nic, qp);

	return dbrec && buf_load_index(&dbrec->sq_pi) != qp->sq.pi;
}

static void qp_watch_set_db_suppress(struct nic *nic, struct qp *qp, bool on)
{
	struct mynic_qp_dbrec *dbrec;

	if (qp->db_suppress == on)
		return;
	qp->db_suppress = on;
	dbrec = qp_dbrec(nic, qp);
	if (dbrec)
		buf_store_index(&dbrec->sq_db_suppress, on);
}

void qp_watch_leave(struct nic *nic, struct qp *qp)
{
	if (!qp->watched)
		return;
	qp->watched = false;
	TAILQ_REMOVE(&nic->watch_queue, qp, watch_link);
	nic->num_watched--;
}

bool qp_watch_is_full(const struct nic *nic)
{
	return nic->num_watched == WATCH_MAX_QPS;
}

void qp_watch_begin(struct nic *nic, struct qp *qp)
{
	qp_watch_leave(nic, qp);
	qp->watched = true;
	qp->watch_until = nic_now(nic) + WATCH_TIME_NS;
	TAILQ_INSERT_TAIL(&nic->watch_queue, qp, watch_link);
	nic->num_watched++;
	if (nic->regs.drv_features & MYNIC_FEATURE_DB_SUPPRESS)
		qp_watch_set_db_suppress(nic, qp, true);
}

/*
 * The host leaves out doorbells until it has seen that they are needed again,
 * so the record is read once more after that.
 */
bool qp_watch_end(struct nic *nic, struct qp *qp)
{
	qp_watch_leave(nic, qp);
	if (!qp->db_suppress)
		return false;
	qp_watch_set_db_suppress(nic, qp, false);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return qp_watch_has_news(nic, qp);
}

/* This is only a guess, so no other QP has to leave the queue. */
void qp_watch_for_answer(struct qp *qp)
{
	struct nic *nic = qp->nic;

	qp->answered = qp->sq.pi;
	if (!qp->watched && qp->has_sq && !qp_watch_is_full(nic))
		qp_watch_begin(nic, qp);
}
