/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The RC requester: what it has sent, and what it waits for. */
#ifndef MYNIC_REQUESTER_H
#define MYNIC_REQUESTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/timer.h"
#include "state/transport_types.h"

struct qp;
struct send_req;

/* Whether an RNR NAK keeps packets from being sent. */
static inline bool requester_waits_for_rnr(const struct requester *q)
{
	return timer_is_set(&q->rnr);
}

/**
 * requester_init() - add the timers of a new QP
 * @qp: RC or XRC_INI QP
 *
 * Return: 0 or -ENOMEM.
 */
int requester_init(struct qp *qp);

void requester_fini(struct qp *qp);

/* The QP goes to RTS for the first time, with the PSN in &qp.sq. */
void requester_start(struct qp *qp);

/* The QP goes to ERR; nothing is sent any more. */
void requester_stop(struct qp *qp);

/* Forgets what is on its way. */
void requester_reset(struct qp *qp);

/**
 * requester_run() - send some packets
 * @qp: RC or XRC_INI QP in RTS or SQD
 *
 * Return: true if there is more to do now.
 */
bool requester_run(struct qp *qp);

/* Something was acknowledged; @now is nic_now(). */
void requester_progress(struct qp *qp, uint64_t now);

/**
 * requester_retry() - send all again that is not acknowledged
 * @qp: RC QP in RTS or SQD
 *
 * After too many retries, it completes the oldest request with an error
 * instead.
 */
void requester_retry(struct qp *qp);

/* Like requester_retry(), but it does not count as a retry. */
void requester_resend(struct qp *qp);

/**
 * requester_piece_left() - remaining packets of the response to one packet
 * @req: a READ
 * @psn: PSN of a response packet, 32 bits; not behind the last one
 *
 * On a lossy path, a READ is requested in pieces.
 *
 * Return: number of response packets from @psn to the last one of the same
 * piece; 1 if @psn is the last.
 */
uint32_t requester_piece_left(const struct send_req *req, uint32_t psn);

/* Goes back, and waits for the time of a 5-bit RNR timer field. */
void requester_rnr(struct qp *qp, unsigned int timer);

#endif /* MYNIC_REQUESTER_H */
