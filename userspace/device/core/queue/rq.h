/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The receive queue of all QP types: requests completed and flushed. */
#ifndef MYNIC_RQ_H
#define MYNIC_RQ_H

#include <stdbool.h>

#include "queue/wqe.h"

struct qp;

/**
 * rq_return() - what a QP has taken from an SRQ is not lost with it
 * @qp: the queue pair, which the host resets or destroys
 *
 * The entry completes as flushed.
 */
void rq_return(struct qp *qp);

/**
 * rq_complete() - completion of a receive request
 * @qp: the queue pair
 * @req: the request
 * @error: how it ended
 * @cqe: what the packet says; the rest is filled in here
 * @solicited: the sender asked for an event
 */
void rq_complete(struct qp *qp, const struct recv_req *req,
		 struct wqe_error error, struct mynic_cqe *cqe, bool solicited);

/**
 * rq_flush() - complete a bounded number of requests as flushed
 * @qp: QP in ERR
 *
 * Return: true if there are more.
 */
bool rq_flush(struct qp *qp);

#endif /* MYNIC_RQ_H */
