/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The interface of the transport to the rest of the core. */
#ifndef MYNIC_TRANSPORT_H
#define MYNIC_TRANSPORT_H

#include <stdbool.h>

#include "base/verbs.h"

struct nic;
struct packet;
struct qp;

/**
 * qp_transport_init() - initialize the transport of a new QP
 * @qp: a QP of any type, after CREATE_QP has set its fields
 *
 * Return: 0 or -ENOMEM.
 */
int qp_transport_init(struct qp *qp);

/* Frees the resources of the transport for a QP. */
void qp_transport_fini(struct qp *qp);

/**
 * transport_set_state() - follow a change of a QP's state or attributes
 * @qp: the queue pair, with the new state and attributes
 * @old: previous state
 *
 * It is called after each legal MODIFY_QP, even if the state is the same.
 * Errors use qp_to_error() and qp_to_sqe() instead.
 */
void transport_set_state(struct qp *qp, enum ibv_qp_state old);

/* The doorbell was rung, or the doorbell record has changed. */
void transport_doorbell(struct qp *qp);

/**
 * transport_run_qp() - do a limited amount of a QP's work
 * @qp: a QP in any state
 *
 * Return: true if there is more to do now.
 */
bool transport_run_qp(struct qp *qp);

/* Receives a PACKET_ROCE. */
void transport_receive(struct nic *nic, const struct packet *pkt);

#endif /* MYNIC_TRANSPORT_H */
