// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The queue of a responder: requests that need more than an ACK. The answers
 * are sent in rdma/response.c.
 */

#include "rdma/response_queue.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/psn.h"
#include "mynic_regs.h"
#include "packet/aeth.h"
#include "qp/path.h"
#include "rdma/flush.h"
#include "state/nic_types.h"
#include "state/qp_types.h"
#include "state/transport_types.h"

/* Bytes of a waiting response, and of the result that is kept for duplicates */
#define ENTRY_COST (sizeof(struct response) + sizeof(struct atomic_result))

struct response *responses_waiting(const struct response_queue *queue,
				   unsigned int i)
{
	return &queue->waiting[(queue->first + i) % queue->size];
}

/* max_dest_rd_atomic may grow while requests are waiting */
static bool response_queue_grow(struct response_queue *queue, unsigned int size)
{
	struct atomic_result *results = calloc(size, sizeof(*results));
	struct response *new = calloc(size, sizeof(*new));

	if (!results || !new) {
		free(results);
		free(new);
		return false;
	}
	for (unsigned int i = 0; i < queue->num; i++)
		new[i] = *responses_waiting(queue, i);
	/*
	 * The oldest result goes first, so that free entries are the next to be
	 * written
	 */
	for (unsigned int i = 0; i < queue->size; i++)
		results[i] =
			queue->results[(queue->next_result + i) % queue->size];
	free(queue->results);
	free(queue->waiting);
	queue->next_result = queue->size;
	queue->size = size;
	queue->first = 0;
	queue->waiting = new;
	queue->results = results;
	return true;
}

enum responses_room responses_reserve(struct qp *qp)
{
	struct response_queue *queue = &qp->resp.responses;
	unsigned int limit = qp->attr.max_dest_rd_atomic;

	/* Later requests must not have an effect before the FLUSH is done */
	if (queue->flushing)
		return RESPONSES_FULL;
	if (queue->num < limit) {
		if (queue->size < limit && !response_queue_grow(queue, limit))
			return RESPONSES_FULL;
		return RESPONSES_ROOM;
	}
	/*
	 * Duplicates that the wire has made do not count as outstanding
	 * requests
	 */
	for (unsigned int i = 0; i < queue->num; i++) {
		if (responses_waiting(queue, i)->duplicate)
			return RESPONSES_FULL;
	}
	return RESPONSES_EXCEEDED;
}

void responses_add(struct responder *r, const struct response *response)
{
	struct response_queue *queue = &r->responses;

	*responses_waiting(queue, queue->num++) = *response;
	if (!response->atomic)
		return;
	queue->flushing = response->flush_left;
	queue->results[queue->next_result] = (struct atomic_result){
		.valid = true,
		.empty = response->empty,
		.psn = response->psn,
		.msn = response->msn,
		.orig = response->orig,
	};
	queue->next_result = (queue->next_result + 1) % queue->size;
}

void responses_add_duplicate(struct qp *qp, const struct response *response)
{
	struct response_queue *queue = &qp->resp.responses;
	uint32_t behind = psn_add(qp->resp.epsn, -response->psn);
	unsigned int i;

	/* A FLUSH that has begun must not be discarded for an older request */
	if (queue->flushing)
		return;
	for (i = 0; i < queue->num; i++) {
		const struct response *other = responses_waiting(queue, i);
		uint32_t start = psn_add(qp->resp.epsn, -other->psn);

		if (start < behind)
			break;
		/* This part will be sent anyway */
		if (start - behind < path_packets(qp, other->left))
			return;
	}
	queue->num = i;
	if (i < qp->attr.max_dest_rd_atomic && i < queue->size)
		*responses_waiting(queue, queue->num++) = *response;
}

void responses_clear(struct responder *r)
{
	r->responses.num = 0;
	r->responses.flushing = false;
	r->defer = false;
}

void responses_free(struct qp *qp)
{
	struct response_queue *queue = &qp->resp.responses;

	mem_unreserve(&qp->nic->mem, queue->kept * ENTRY_COST);
	free(queue->waiting);
	free(queue->results);
	*queue = (struct response_queue){ 0 };
}

bool responses_keep(struct qp *qp, unsigned int num)
{
	struct response_queue *queue = &qp->resp.responses;

	if (num <= queue->kept)
		return true;
	if (!mem_reserve(&qp->nic->mem, (num - queue->kept) * ENTRY_COST))
		return false;
	queue->kept = num;
	return true;
}

void responses_stop(struct qp *qp)
{
	struct responder *r = &qp->resp;

	flush_stop(qp);
	responses_clear(r);
	r->nak = RESPONDER_NAK_NONE;
	r->ack = false;
}

/**
 * struct refusal - what the peer and the host learn of a request that fails
 * @code: enum aeth_nak
 * @event: enum mynic_event; 0: the completion of the receive request tells the
 *	host
 */
struct refusal {
	uint8_t code;
	uint8_t event;
};

/* An error of the receive request is an error of this side */
static const struct refusal refusals[OUTCOMES] = {
	[OUTCOME_DMA] = { AETH_NAK_REMOTE_OPERATION, MYNIC_EVENT_QP_FATAL },
	[OUTCOME_SCATTERED] = { AETH_NAK_REMOTE_OPERATION,
				MYNIC_EVENT_QP_FATAL },
	[OUTCOME_RKEY] = { AETH_NAK_REMOTE_ACCESS,
			   MYNIC_EVENT_QP_ACCESS_ERROR },
	[OUTCOME_LKEY] = { AETH_NAK_REMOTE_OPERATION, 0 },
	[OUTCOME_LKEY_BOUNDS] = { AETH_NAK_REMOTE_OPERATION, 0 },
	[OUTCOME_LKEY_DMA] = { AETH_NAK_REMOTE_OPERATION, 0 },
	[OUTCOME_NO_ENTRY] = { AETH_NAK_REMOTE_OPERATION, 0 },
	[OUTCOME_BAD_ENTRY] = { AETH_NAK_REMOTE_OPERATION, 0 },
	[OUTCOME_TOO_LONG] = { AETH_NAK_INVALID_REQUEST, 0 },
	[OUTCOME_INVALID] = { AETH_NAK_INVALID_REQUEST,
			      MYNIC_EVENT_QP_REQ_ERROR },
	[OUTCOME_NOT_ALLOWED] = { AETH_NAK_INVALID_REQUEST,
				  MYNIC_EVENT_QP_REQ_ERROR },
};

void responses_fail(struct responder *r, uint32_t psn, enum outcome why)
{
	r->nak = RESPONDER_NAK_FATAL;
	r->nak_syndrome = AETH_NAK | refusals[why].code;
	r->nak_psn = psn;
	r->nak_event = refusals[why].event;
}
