/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Rendezvous: what a QP does for the tag matching SRQ that it has. It has no
 * send queue of its own; its requests, a READ of the data and a SEND that says
 * so, come from here, for one message after the other.
 */
#ifndef MYNIC_RNDV_H
#define MYNIC_RNDV_H

#include <stdbool.h>
#include <stdint.h>

#include "queue/tm.h"

struct qp;
struct send_req;

/**
 * struct rndv - the rendezvous of a QP
 * @active: the QP does them; else all of this is zero
 * @tags: those matched, in this order. A tag leaves when its requests have
 *	completed.
 * @next: in @tags: that of the next request to fetch; NULL: all are fetched
 *
 * Requests have indexes like those of a send queue: the READ an even one, the
 * SEND the next.
 */
struct rndv {
	bool active;
	struct tag_queue tags;
	struct tag *next;
};

/** rndv_init() - the QP has a tag matching SRQ and no send queue */
void rndv_init(struct qp *qp);

/** rndv_takes() - whether the QP can do the rendezvous of a matched tag */
bool rndv_takes(const struct qp *qp, const struct tag *tag);

/** rndv_start() - do it; the tag is the QP's from then on */
void rndv_start(struct qp *qp, struct tag *tag);

/**
 * rndv_fetch() - the next request
 * @qp: the queue pair; there is one
 * @index: the request's
 * @req: result
 */
void rndv_fetch(struct qp *qp, uint32_t index, struct send_req *req);

/**
 * rndv_done() - the oldest request has completed
 * @qp: the queue pair
 * @error: its error, if it has failed. The QP goes to the error state then.
 */
void rndv_done(struct qp *qp, struct wqe_error error);

/** rndv_flush() - as sq_flush() */
bool rndv_flush(struct qp *qp);

/** rndv_reset() - forget all, without completions */
void rndv_reset(struct qp *qp);

#endif /* MYNIC_RNDV_H */
