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

struct qp;
struct responder;
struct response_queue;

/**
 * struct response - a request that needs more than an ACK
 * @atomic: not a READ; it must not be executed twice, so its result is kept
 * @empty: ATOMIC WRITE or FLUSH, answered by a READ response without data
 * @duplicate: the request has arrived before
 * @first: the next packet is the first of the response
 * @psn: PSN of the next packet
 * @msn: MSN for the answer
 * @srqn: READ, FLUSH on XRC: the SRQ of the request
 * @rkey: READ, FLUSH: the key
 * @left: READ: bytes still to be sent
 * @flush_left: FLUSH: bytes still to be made persistent
 * @addr: READ, FLUSH: address of these bytes
 * @orig: atomic: previous value
 */
struct response {
	bool atomic;
	bool empty;
	bool duplicate;
	bool first;
	uint32_t psn;
	uint32_t msn;
	uint32_t srqn;
	uint32_t rkey;
	uint32_t left;
	uint64_t flush_left;
	uint64_t addr;
	uint64_t orig;
};

/**
 * struct atomic_result - answer to duplicates of a request other than a READ
 * @valid: the entry is in use
 * @empty: see &struct response
 * @psn: PSN of the request
 * @msn: MSN for the answer
 * @orig: previous value
 */
struct atomic_result {
	bool valid;
	bool empty;
	uint32_t psn;
	uint32_t msn;
	uint64_t orig;
};

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
