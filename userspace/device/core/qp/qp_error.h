/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Transitions to the error states that the device itself makes. */
#ifndef MYNIC_QP_ERROR_H
#define MYNIC_QP_ERROR_H

#include <stdbool.h>

struct nic;
struct qp;

/**
 * qp_to_error() - move a QP to the error state
 * @nic: the NIC
 * @qp: the QP; nothing happens in ERR or RESET
 * @event: enum mynic_event to send; 0: none
 *
 * transport_run_qp() flushes the QP later. No completion is written inside this
 * call.
 */
void qp_to_error(struct nic *nic, struct qp *qp, int event);

/* Like qp_to_error(), but from RTS to the send queue error state. */
void qp_to_sqe(struct qp *qp);

/* The QP has just entered ERR. It stops sending and answering. */
void qp_enter_error(struct qp *qp);

/* Tells the host whether it has to ring the doorbell for receive requests. */
void qp_set_rq_ring(struct qp *qp, bool ring);

#endif /* MYNIC_QP_ERROR_H */
