// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Scheduling of QPs: those with work, and those whose doorbell records are
 * watched.
 */

#include "engine/qp_run.h"

#include <sys/queue.h>

#include "base/verbs.h"
#include "engine/transport.h"
#include "qp/qp.h"
#include "qp/qp_watch.h"
#include "qp/room.h"
#include "state/nic_types.h"
#include "state/qp_types.h"
#include "state/traffic.h"

/* Upper bound of the QPs that do some work in one nic_run() */
#define RUN_QUANTUM 16

/* Returns true if there is work */
static bool qp_run_stop_watching(struct nic *nic, struct qp *qp)
{
	if (!qp_watch_end(nic, qp))
		return false;
	transport_doorbell(qp);
	return true;
}

static void qp_run_start_watching(struct nic *nic, struct qp *qp)
{
	qp_watch_leave(nic, qp);
	if (qp_watch_is_full(nic))
		qp_run_stop_watching(nic, TAILQ_FIRST(&nic->watch_queue));
	qp_watch_begin(nic, qp);
}

bool qps_watch(struct nic *nic)
{
	uint64_t now = nic_now(nic);
	unsigned int num = nic->num_watched;
	struct qp *qp, *next;
	bool found = false;

	for (qp = TAILQ_FIRST(&nic->watch_queue); num--; qp = next) {
		next = TAILQ_NEXT(qp, watch_link);
		if (qp->state != IBV_QPS_RTS || now >= qp->watch_until) {
			found |= qp_run_stop_watching(nic, qp);
		} else if (!qp->scheduled && qp_watch_has_news(nic, qp)) {
			qp_run_start_watching(nic, qp);
			transport_doorbell(qp);
			found = true;
		}
	}
	return found;
}

bool qps_stop_watching(struct nic *nic)
{
	bool found = false;

	while (!TAILQ_EMPTY(&nic->watch_queue))
		found |= qp_run_stop_watching(nic,
					      TAILQ_FIRST(&nic->watch_queue));
	return found;
}

static void qp_run_once(struct nic *nic, struct qp *qp)
{
	nic_charge(nic, 1);
	qp_unschedule(nic, qp);
	qp->room.refused = false;
	if (transport_run_qp(qp))
		qp_schedule(nic, qp);
	/* It may have nothing to send any more */
	if (!qp->room.refused)
		room_leave(qp);
	if (qp->watched)
		qp_run_start_watching(nic, qp);
}

/* QPs that have waited for room take turns with all others */
static struct qp *qp_run_next(struct nic *nic)
{
	struct qp *qp = NULL;

	nic->rooms.first = !nic->rooms.first;
	if (nic->rooms.first)
		qp = room_next(nic);
	if (!qp)
		qp = TAILQ_FIRST(&nic->run_queue);
	return qp ? qp : room_next(nic);
}

bool qps_run(struct nic *nic)
{
	for (unsigned int i = 0; i < RUN_QUANTUM && nic_enabled(nic); i++) {
		struct qp *qp;

		if (nic_turn_is_over(nic))
			break;
		qp = qp_run_next(nic);
		if (!qp)
			return false;
		qp_run_once(nic, qp);
	}
	return !TAILQ_EMPTY(&nic->run_queue) || nic->rooms.resuming;
}

void qps_run_each(struct nic *nic)
{
	unsigned int num = 0;
	struct qp *qp;

	TAILQ_FOREACH(qp, &nic->run_queue, run_link)
	if (++num == RUN_QUANTUM)
		break;
	while (num-- && nic_enabled(nic)) {
		qp = TAILQ_FIRST(&nic->run_queue);
		if (!qp || nic_turn_is_over(nic))
			break;
		qp_run_once(nic, qp);
	}
}

bool qp_doorbell(struct nic *nic, uint32_t uarn, uint32_t number)
{
	struct qp *qp = qp_find(nic, number);

	if (!qp || qp->uarn != uarn)
		return false;
	if (traffic_is_noted(nic))
		traffic_note_doorbell(nic, number);
	if (qp->has_sq)
		qp_run_start_watching(nic, qp);
	transport_doorbell(qp);
	return true;
}
