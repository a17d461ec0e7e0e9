/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The NIC watches the doorbell records of a limited number of QPs for some time
 * after their last work. The host need not ring the doorbell of these.
 */
#ifndef MYNIC_QP_WATCH_H
#define MYNIC_QP_WATCH_H

#include <stdbool.h>

#include "state/qp_types.h"

struct nic;

/* Whether there are requests that the NIC has not seen. */
bool qp_watch_has_news(struct nic *nic, struct qp *qp);

/* Whether the limit of watched QPs is reached. */
bool qp_watch_is_full(const struct nic *nic);

/* Starts to watch a QP. The limit must not have been reached. */
void qp_watch_begin(struct nic *nic, struct qp *qp);

/**
 * qp_watch_end() - stop watching a QP, and have its host ring the doorbell
 * @nic: the NIC
 * @qp: the QP
 *
 * Return: true if the host has posted requests without a doorbell.
 */
bool qp_watch_end(struct nic *nic, struct qp *qp);

/* Like qp_watch_end(), for a QP that goes away, whose host need not be told. */
void qp_watch_leave(struct nic *nic, struct qp *qp);

/*
 * The slow path of qp_expect_answer(), if the QP has sent since the last call.
 */
void qp_watch_for_answer(struct qp *qp);

/**
 * qp_expect_answer() - watch a QP whose host is likely to answer
 * @qp: the QP that has received a request
 *
 * It is called before the host can see the request. A host that sends and
 * receives by turns is likely to answer on the same QP within some
 * microseconds. It then needs no doorbell. A QP that only receives is not
 * watched.
 */
static inline void qp_expect_answer(struct qp *qp)
{
	if (qp->sq.pi != qp->answered)
		qp_watch_for_answer(qp);
}

#endif /* MYNIC_QP_WATCH_H */
