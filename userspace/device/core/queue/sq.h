/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The send queue of all QP types: requests taken up, completed and flushed. */
#ifndef MYNIC_SQ_H
#define MYNIC_SQ_H

#include <stdbool.h>
#include <stdint.h>

#include "qp/qp.h"

/* How much of a queue is flushed, or of a datagram queue sent, at a time */
#define SQ_QUANTUM 64

/** sq_req() - a request between the indexes ci and fetched */
static inline struct send_req *sq_req(const struct qp *qp, uint32_t index)
{
	const struct requester *q = &qp->req;
	uint64_t slot = index & (q->num_reqs - 1);

	return (struct send_req *)(q->reqs + slot * q->req_size);
}

/**
 * sq_update_pi() - read the producer index
 * @qp: QP with a send queue
 *
 * Return: whether there are requests that have not been fetched. If the index
 * cannot be right the QP goes to the error state.
 */
bool sq_update_pi(struct qp *qp);

/**
 * sq_next() - the request to send now, fetched if need be
 * @qp: QP with a send queue
 *
 * Return: the request, valid until the next call; NULL: there is none, no room
 * for one, or the QP has gone to the error state.
 */
struct send_req *sq_next(struct qp *qp);

/**
 * sq_complete() - the oldest @num requests have been executed
 * @qp: QP with a send queue
 * @num: how many. Local ones behind them that are done complete, too.
 * @now: nic_now()
 *
 * They, and what sq_next() has returned, are not valid any more.
 */
void sq_complete(struct qp *qp, uint32_t num, uint64_t now);

/** sq_fail() - the oldest request has failed; the QP goes to ERR or SQE */
void sq_fail(struct qp *qp, struct wqe_error error);

/**
 * sq_flush() - complete a bounded number of requests as flushed
 * @qp: QP with a send queue, in ERR or SQE
 *
 * Return: true if there are more.
 */
bool sq_flush(struct qp *qp);

/** sq_init() - see to it that there is memory for a new QP; false: too little */
bool sq_init(struct qp *qp);
void sq_fini(struct qp *qp);

/** sq_reset() - forget all */
void sq_reset(struct qp *qp);

/** sq_free_spares() - free what destroyed and idle QPs have left */
void sq_free_spares(struct nic *nic);

#endif /* MYNIC_SQ_H */
