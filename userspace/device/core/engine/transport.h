/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The transport as the rest of the core sees it. */
#ifndef MYNIC_TRANSPORT_H
#define MYNIC_TRANSPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/verbs.h"
#include "queue/wqe.h"

struct nic;
struct packet;
struct qp;

/**
 * qp_transport_init() - prepare a new QP
 * @qp: of any type; the fields that CREATE_QP sets are set
 *
 * Return: 0 or -ENOMEM.
 */
int qp_transport_init(struct qp *qp);

/** qp_transport_fini() - free what the transport holds for a QP */
void qp_transport_fini(struct qp *qp);

/**
 * transport_set_state() - a QP has changed its state, or attributes of it
 * @qp: the queue pair; its state and attributes are the new ones
 * @old: the state before
 *
 * Called after each legal MODIFY_QP, also where the state stays the same, and
 * by qp_to_error() and qp_to_sqe().
 */
void transport_set_state(struct qp *qp, enum ib_qp_state old);

/** transport_sq_draining() - SQD: begun requests have yet to complete */
bool transport_sq_draining(const struct qp *qp);

/** transport_doorbell() - the QP doorbell rang or its record has changed */
void transport_doorbell(struct qp *qp);

/**
 * transport_run_qp() - do a bounded piece of a QP's work
 * @qp: in any state
 *
 * Return: true if there is more to do now.
 */
bool transport_run_qp(struct qp *qp);

/** transport_receive() - a PACKET_ROCE came in */
void transport_receive(struct nic *nic, const struct packet *pkt);

/*
 * For RAW_PACKET QPs the transport keeps the send queue (fetch, completion,
 * error states, flush) and calls eth_send() for each request; eth.c takes a
 * receive request with wqe_fetch_recv(), fills it with sge_write() and
 * completes it with rq_complete().
 */

#endif /* MYNIC_TRANSPORT_H */
