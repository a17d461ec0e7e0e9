/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The error states, into which the device itself moves a QP. */
#ifndef MYNIC_QP_ERROR_H
#define MYNIC_QP_ERROR_H

#include <stdbool.h>

struct nic;
struct qp;

/**
 * qp_to_error() - the device itself moves a QP to the error state
 * @nic: the NIC
 * @qp: the QP; nothing happens if it is in ERR or RESET
 * @event: enum mynic_event, or 0 for none
 *
 * The flush is work for transport_run_qp(), so that no completion is written
 * within this call.
 */
void qp_to_error(struct nic *nic, struct qp *qp, int event);

/** qp_to_sqe() - as qp_to_error(), from RTS to the send queue error state */
void qp_to_sqe(struct qp *qp);

/** qp_enter_error() - a QP has just come to ERR: it neither sends nor answers */
void qp_enter_error(struct qp *qp);

/** qp_set_rq_ring() - whether the host is to ring for receive requests */
void qp_set_rq_ring(struct qp *qp, bool ring);

#endif /* MYNIC_QP_ERROR_H */
