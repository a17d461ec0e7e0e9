/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Completing and flushing of receive requests, for all QP types. */
#ifndef MYNIC_RQ_H
#define MYNIC_RQ_H

#include <stdbool.h>

#include "base/outcome.h"

struct mynic_cqe;
struct qp;
struct recv_req;

/* For a new QP. Return: 0 or -ENOMEM. */
int rq_init(struct qp *qp);

void rq_fini(struct qp *qp);

/**
 * rq_return() - flush a receive request that the QP has taken from an SRQ
 * @qp: a QP that is reset or destroyed
 *
 * Without its completion the host would lose the request.
 */
void rq_return(struct qp *qp);

/* Forgets the receive request in use, and indexes. */
void rq_reset(struct qp *qp);

/**
 * rq_complete() - complete a receive request
 * @qp: the queue pair
 * @req: the request
 * @outcome: what has come of it
 * @cqe: the fields that depend on the packet; this fills in the others
 * @solicited: the sender has asked for an event
 */
void rq_complete(struct qp *qp, const struct recv_req *req,
		 enum outcome outcome, struct mynic_cqe *cqe, bool solicited);

/**
 * rq_flush() - flush a limited number of receive requests
 * @qp: QP in state ERR
 *
 * Return: true if there are more to flush.
 */
bool rq_flush(struct qp *qp);

#endif /* MYNIC_RQ_H */
