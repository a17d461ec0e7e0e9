/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Rendezvous: what a QP does for its tag matching SRQ. Such a QP has no send
 * queue. Its requests are made here: for one message after the other a READ of
 * the data, and a SEND that says that the data has arrived (FIN).
 */
#ifndef MYNIC_RNDV_H
#define MYNIC_RNDV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/outcome.h"

struct qp;
struct send_req;
struct tag;

/* For a QP with a tag matching SRQ and without a send queue. */
void rndv_init(struct qp *qp);

/* Whether the QP can do the rendezvous of a matched tag, or software has to. */
bool rndv_takes(const struct qp *qp, const struct tag *tag);

/* Starts the rendezvous. The QP owns the tag from now on. */
void rndv_start(struct qp *qp, struct tag *tag);

/**
 * rndv_fetch() - make the next request
 * @qp: the queue pair, which must have one
 * @index: index of the request
 * @req: result
 */
void rndv_fetch(struct qp *qp, uint32_t index, struct send_req *req);

/**
 * rndv_done() - handle the completion of the oldest request
 * @qp: the queue pair
 * @outcome: what has come of the request; the QP goes to the error state unless
 *	it is OUTCOME_OK
 */
void rndv_done(struct qp *qp, enum outcome outcome);

/* Like sq_flush(). */
bool rndv_flush(struct qp *qp);

/* Discards all requests and tags without completions, if there are any. */
void rndv_reset(struct qp *qp);

#endif /* MYNIC_RNDV_H */
