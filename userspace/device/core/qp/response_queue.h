/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Requests of a queue pair that need more than an ACK, until they are answered.
 * They are sorted by PSN. A response to a duplicate replaces all later ones,
 * because the requester has gone back and will repeat those requests, too.
 */
#ifndef MYNIC_RESPONSE_QUEUE_H
#define MYNIC_RESPONSE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/outcome.h"
#include "rdma/responder.h"

struct qp;

/* The waiting response with index @i, the oldest first. */
struct response *responses_waiting(const struct response_queue *queue,
				   unsigned int i);

/**
 * enum responses_room - whether one more request can wait for its response
 * @RESPONSES_ROOM: there is room
 * @RESPONSES_FULL: there is no room at present
 * @RESPONSES_EXCEEDED: the requester has exceeded its limit of outstanding
 *	requests
 */
enum responses_room {
	RESPONSES_ROOM,
	RESPONSES_FULL,
	RESPONSES_EXCEEDED,
};

/* Makes room for one more response. */
enum responses_room responses_reserve(struct qp *qp);

/* Adds the response to a new request. */
void responses_add(struct responder *r, const struct response *response);

/* Adds the response to a duplicate request. */
void responses_add_duplicate(struct qp *qp, const struct response *response);

void responses_clear(struct responder *r);
void responses_free(struct qp *qp);

/**
 * responses_keep() - reserve memory for responses
 * @qp: the queue pair
 * @num: upper bound of outstanding READs, atomics and the like
 *
 * Return: false if the NIC has too little memory.
 */
bool responses_keep(struct qp *qp, unsigned int num);

/* The QP goes to ERR; nothing is answered any more. */
void responses_stop(struct qp *qp);

/**
 * responses_fail() - have a NAK sent for a request
 * @r: the responder; its QP goes to the error state when the NAK is sent
 * @psn: PSN of the request
 * @why: what has come of the request
 */
void responses_fail(struct responder *r, uint32_t psn, enum outcome why);

#endif /* MYNIC_RESPONSE_QUEUE_H */
