/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Send queues of all QP types: taking up, completing and flushing requests. */
#ifndef MYNIC_SQ_H
#define MYNIC_SQ_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/outcome.h"
#include "state/queue_types.h"

struct nic;
struct qp;

/* Limit of requests that sq_flush() or sq_run() takes up at a time */
#define SQ_QUANTUM 64

/**
 * struct send_source - where the requests of a send queue come from
 * @flush_first: its requests are flushed before the QP's receive requests
 * @update: finds out whether there are requests that have not been fetched
 * @fetch: makes the request with the index @index
 * @complete: the oldest request was done
 * @fail: the oldest request ends with @outcome
 * @flush: see sq_flush()
 * @reset: discards what it has besides &struct send_queue; NULL: nothing
 */
struct send_source {
	bool flush_first;
	bool (*update)(struct qp *qp);
	void (*fetch)(struct qp *qp, uint32_t index, struct send_req *req);
	void (*complete)(struct qp *qp, const struct send_req *req,
			 uint64_t now);
	void (*fail)(struct qp *qp, const struct send_req *req,
		     enum outcome outcome);
	bool (*flush)(struct qp *qp);
	void (*reset)(struct qp *qp);
};

/* Has the QP send what its host posts to its send ring. */
void sq_use_ring(struct qp *qp);

/* A request that was fetched and has not completed. */
static inline struct send_req *sq_req(const struct send_queue *sq,
				      uint32_t index)
{
	uint64_t slot = index & (sq->num_reqs - 1);

	return (struct send_req *)(sq->reqs + slot * sq->req_size);
}

/**
 * sq_update_pi() - read the producer index
 * @qp: QP with a send ring
 *
 * Return: true if there are requests that have not been fetched. If the index
 * is impossible, the QP goes to the error state.
 */
bool sq_update_pi(struct qp *qp);

/* In state SQD: whether requests that have begun are still to complete. */
bool sq_draining(const struct send_queue *sq);

/**
 * sq_next() - find the request to send now, and fetch it if needed
 * @qp: QP of any type with a send queue, in RTS or SQD
 *
 * In SQD only a request that has begun continues.
 *
 * Return: the request, valid until the next call; NULL if there is none or no
 * room for it, if it waits for a page, or if the QP has gone to ERR.
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
 *
 * Return: false if one of them has met a NIC fault, and the QP has gone to ERR
 * or SQE.
 */
bool sq_complete(struct qp *qp, uint32_t num, uint64_t now);

/* Fails the oldest request. The QP goes to ERR or SQE. */
void sq_fail(struct qp *qp, enum outcome outcome);

/**
 * sq_run() - send some requests, each of which completes when it is sent
 * @qp: QP in RTS or SQD whose service has send_one()
 *
 * Return: true if there is more to do now.
 */
bool sq_run(struct qp *qp);

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
