/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * QPs whose doorbell records the NIC looks at for a while after they had work, so
 * that the host need not ring. There is a limit to how many these are.
 */
#ifndef MYNIC_QP_POLL_H
#define MYNIC_QP_POLL_H

#include <stdbool.h>

#include "qp/qp.h"

/** qp_poll_has_news() - there are requests that the NIC has not seen */
bool qp_poll_has_news(struct nic *nic, struct qp *qp);

/** qp_poll_is_full() - no more QPs can be looked after */
bool qp_poll_is_full(const struct nic *nic);

/** qp_poll_begin() - look after a QP from now on; there is room for it */
void qp_poll_begin(struct nic *nic, struct qp *qp);

/**
 * qp_poll_end() - look after it no more, and have the host ring again
 * @nic: the NIC
 * @qp: the QP
 *
 * Return: whether the host has put in requests meanwhile without ringing.
 */
bool qp_poll_end(struct nic *nic, struct qp *qp);

/** qp_poll_leave() - likewise, of a QP that goes: the host is told nothing */
void qp_poll_leave(struct nic *nic, struct qp *qp);

/** qp_watch() - qp_expect_answer() for a QP that has sent since the last one */
void qp_watch(struct qp *qp);

/**
 * qp_expect_answer() - before what a request brings becomes visible
 * @qp: the QP that received it
 *
 * Who sends in turn is likely to answer on the same QP within some us, and need
 * not ring for that if the QP is looked after by then. Who only receives is not
 * looked after.
 */
static inline void qp_expect_answer(struct qp *qp)
{
	if (qp->req.pi != qp->answered)
		qp_watch(qp);
}

#endif /* MYNIC_QP_POLL_H */
