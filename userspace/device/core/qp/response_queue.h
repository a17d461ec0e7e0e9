/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What of a queue pair is not answered by just an ACK, until it is answered.
 * What is put in is sorted by PSN: an answer to a duplicate takes the place of
 * all that were to come behind it, since the requester has gone back and will
 * request them again too.
 */
#ifndef MYNIC_RESPONSE_QUEUE_H
#define MYNIC_RESPONSE_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

#include "rdma/responder.h"

struct qp;

/** responses_waiting() - the answer at a place of the queue */
struct response *responses_waiting(const struct response_queue *queue,
				   unsigned int i);

/**
 * enum responses_room - whether one more read, atomic or the like can be answered
 * @RESPONSES_ROOM: it can
 * @RESPONSES_FULL: not now
 * @RESPONSES_EXCEEDED: the requester has more outstanding than it may
 */
enum responses_room {
	RESPONSES_ROOM,
	RESPONSES_FULL,
	RESPONSES_EXCEEDED,
};

/** responses_reserve() - make room for one more answer */
enum responses_room responses_reserve(struct qp *qp);

/** responses_add() - the answer to a new request */
void responses_add(struct responder *r, const struct response *response);

/** responses_add_duplicate() - the answer to a request that came again */
void responses_add_duplicate(struct qp *qp, const struct response *response);

void responses_clear(struct responder *r);
void responses_free(struct qp *qp);

/**
 * responses_keep() - see to it that there is memory for answers
 * @qp: the queue pair
 * @num: reads, atomics and the like that may be outstanding
 *
 * Return: false if the NIC has none.
 */
bool responses_keep(struct qp *qp, unsigned int num);

/** responses_stop() - the QP goes to ERR: nothing is answered any more */
void responses_stop(struct qp *qp);

/** responses_fail() - have a request NAKed, and then the QP in error */
void responses_fail(struct responder *r, uint32_t psn, uint8_t nak_code,
		    uint8_t event);

#endif /* MYNIC_RESPONSE_QUEUE_H */
