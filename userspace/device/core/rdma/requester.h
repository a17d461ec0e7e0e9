/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The RC requester: what it has sent, and what it waits for. */
#ifndef MYNIC_REQUESTER_H
#define MYNIC_REQUESTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/timer.h"
#include "qp/recovery.h"
#include "queue/wqe.h"

struct opcode_info;
struct packet;
struct qp;

/**
 * struct requester - an RC requester
 * @una: oldest unacknowledged PSN
 * @max_psn: PSN behind the last one in use; packets before it are
 *	retransmissions
 * @resumed: PSN to which it has last gone back
 * @window_base: on a path without losses, start of the window, if ahead of
 *	@una. Responses to READs do not count towards the window
 * @ack_psn: PSN behind the last packet that has requested an acknowledgment
 * @rd_atomic: request packets of READs and atomics that are on their way
 * @recvs: number of requests so far that consume a receive request of the peer
 * @credit_end: if @counts_credits: value of @recvs at which the peer's credits
 *	end
 * @counts_credits: the peer reports how many receive requests it has
 * @credit_wait: how long to wait for a credit after the last answer, ns
 * @credit_wait_end: time after which waiting ends, because the last RNR NAK is
 *	long ago
 * @retry_left: remaining retries
 * @rnr_left: remaining retries after RNR NAKs
 * @went_back: it has gone back to @una, and nothing was acknowledged since
 * @probes: probes since the last acknowledgment of anything new
 * @probing: a probe is not answered yet
 * @probe_psn: if @probing: PSN of the probe
 * @probe_end: if @probing: value of &send_queue.psn when the probe was
 *	sent
 * @probe_at: if @probing: time of the probe, ns
 * @quiet_since: start of the silence: the last progress, or the first packet
 *	after it, ns
 * @ack_due: end of the ACK timeout, or TIMER_NEVER
 * @silence: set while packets are not acknowledged, to @ack_due or to the next
 *	probe
 * @rnr: set after an RNR NAK, until packets may be sent again
 * @credit: set while a packet waits for a credit
 * @recovery: estimates of the path
 *
 * PSNs have 32 bits, as in &struct send_queue.
 */
struct requester {
	uint32_t una;
	uint32_t max_psn;
	uint32_t resumed;
	uint32_t window_base;
	uint32_t ack_psn;
	uint32_t rd_atomic;
	uint32_t recvs;
	uint32_t credit_end;
	bool counts_credits;
	uint32_t credit_wait;
	uint64_t credit_wait_end;
	uint8_t retry_left;
	uint8_t rnr_left;
	bool went_back;
	bool probing;
	uint8_t probes;
	uint32_t probe_psn;
	uint32_t probe_end;
	uint64_t probe_at;
	uint64_t quiet_since;
	uint64_t ack_due;
	struct timer silence;
	struct timer rnr;
	struct timer credit;
	struct recovery recovery;
};

/* Whether an RNR NAK keeps packets from being sent. */
static inline bool requester_waits_for_rnr(const struct requester *q)
{
	return timer_is_set(&q->rnr);
}

static inline void requester_stop_timers(struct requester *q)
{
	timer_stop(&q->silence);
	timer_stop(&q->rnr);
	timer_stop(&q->credit);
}

/**
 * requester_init() - add the timers of a new QP
 * @qp: RC or XRC_INI QP
 *
 * Return: 0 or -ENOMEM.
 */
int requester_init(struct qp *qp);

void requester_fini(struct qp *qp);

/* The QP goes to RTS for the first time. */
void requester_start(struct qp *qp);

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

/* Handles an acknowledgment or response for an RC QP in RTS or SQD. */
void completer_receive(struct qp *qp, const struct packet *pkt,
		       const struct opcode_info *info);

#endif /* MYNIC_REQUESTER_H */
