/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What all types of queue pairs have in common. Their work is done in
 * engine/.
 */
#ifndef MYNIC_QP_H
#define MYNIC_QP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/verbs.h"
#include "qp/service.h"
#include "state/qp_types.h"

struct admin_call;
struct nic;

/* Whether the QP has one path for all requests. */
static inline bool qp_is_connected(const struct qp *qp)
{
	return qp->service->connected;
}

/* Whether it has requests of its host, or of its own for rendezvous. */
static inline bool qp_sends(const struct qp *qp)
{
	return qp->sq.source;
}

static inline bool qp_can_receive(const struct qp *qp)
{
	return qp->state >= IBV_QPS_RTR && qp->state <= IBV_QPS_SQE;
}

/* The QP with any number, or NULL; takes constant time. */
struct qp *qp_find(const struct nic *nic, uint32_t number);

/* The QP that a command names; NULL if there is none, or it is a WQ. */
struct qp *qp_of_command(const struct nic *nic, const struct admin_call *call);

/* The doorbell record; NULL, counted as BAD_DMA, if it is not there. */
struct mynic_qp_dbrec *qp_dbrec(struct nic *nic, struct qp *qp);

/* Removes it from the run queue. */
void qp_unschedule(struct nic *nic, struct qp *qp);

/**
 * qp_schedule() - have transport_run_qp() called for a QP
 * @nic: the NIC
 * @qp: the QP
 *
 * It does nothing if the QP is scheduled already.
 */
void qp_schedule(struct nic *nic, struct qp *qp);

#endif /* MYNIC_QP_H */
