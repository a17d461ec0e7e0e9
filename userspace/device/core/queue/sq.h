/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Send queues of all QP types: taking up, completing and flushing requests. */
#ifndef MYNIC_SQ_H
#define MYNIC_SQ_H

#include <stdbool.h>
#include <stdint.h>

#include "qp/qp.h"

/* Limit of requests that are flushed at a time, or sent by a datagram QP */
#define SQ_QUANTUM 64

/* A request that was fetched and has not completed. */
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
 * Return: true if there are requests that have not been fetched. If the index
 * is impossible, the QP goes to the error state.
 */
bool sq_update_pi(struct qp *qp);

/**
 * sq_next() - find the request to send now, and fetch it if needed
 * @qp: QP with a send queue
 *
 * Return: the request, valid until the next call. NULL if there is none or no
 * room for it, or if the QP has gone to the error state.
 */
struct send_req *sq_next(struct qp *qp);

/**
 * sq_complete() - complete the oldest requests
 * @qp: QP with a send queue
 * @num: number of requests; local requests behind them that are done complete,
 *	too
 * @now: nic_now()
 *
 * These requests, and what sq_next() has returned, are no longer valid.
 */
void sq_complete(struct qp *qp, uint32_t num, uint64_t now);

/* Fails the oldest request. The QP goes to ERR or SQE. */
void sq_fail(struct qp *qp, struct wqe_error error);

/**
 * sq_flush() - flush a limited number of requests
 * @qp: QP with a send queue, in state ERR or SQE
 *
 * Return: true if there are more to flush.
 */
bool sq_flush(struct qp *qp);

/* Reserves the memory of a new QP. Returns false if there is too little. */
bool sq_init(struct qp *qp);
void sq_fini(struct qp *qp);

/* Discards all requests without completions. */
void sq_reset(struct qp *qp);

/* Frees the memory that idle and destroyed QPs have left. */
void sq_free_spares(struct nic *nic);

#endif /* MYNIC_SQ_H */
