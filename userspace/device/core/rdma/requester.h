/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The sending half of a queue pair, in particular the RC requester. */
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
 * struct requester - the sending half of a queue pair
 * @reqs: private copies of the entries @ci to @fetched; the slot is the index
 *	modulo @num_reqs
 * @num_reqs: slots in @reqs, a power of two; 0 before the first request
 * @req_size: bytes in a slot of @reqs
 * @ci: oldest request that has not completed
 * @cur: request that is being sent
 * @fetched: first request that has not been fetched
 * @pi: producer index when it was last read
 * @psn: PSN of the next packet to send
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
 * @rnr_wait: @timer runs for an RNR NAK
 * @went_back: it has gone back to @una, and nothing was acknowledged since
 * @drained: the drained event of SQD was sent
 * @probes: probes since the last acknowledgment of anything new
 * @probing: a probe is not answered yet
 * @probe_psn: if @probing: PSN of the probe
 * @probe_end: if @probing: value of @psn when the probe was sent
 * @probe_at: if @probing: time of the probe, ns
 * @quiet_since: start of the silence: the last progress, or the first packet
 *	after it, ns
 * @ack_due: end of the ACK timeout, or TIMER_NEVER
 * @timer: ACK timeout and probes, RNR, or wait for a credit. In the error
 *	state: time of the next look for receive requests
 * @recovery: estimates of the path
 *
 * Indexes are free-running: @ci <= @cur <= @fetched <= @pi. PSNs have 32 bits
 * here, of which 24 are sent. A request may thus take as many PSNs as the
 * responder can tell apart.
 */
struct requester {
	uint8_t *reqs;
	uint32_t num_reqs;
	uint32_t req_size;
	uint32_t ci;
	uint32_t cur;
	uint32_t fetched;
	uint32_t pi;
	uint32_t psn;
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
	bool rnr_wait;
	bool went_back;
	bool drained;
	bool probing;
	uint8_t probes;
	uint32_t probe_psn;
	uint32_t probe_end;
	uint64_t probe_at;
	uint64_t quiet_since;
	uint64_t ack_due;
	struct timer timer;
	struct recovery recovery;
};

/* The QP goes to RTS for the first time. */
void requester_start(struct qp *qp);

/**
 * requester_run() - send some packets
 * @qp: RC or XRC_INI QP in RTS or SQD
 *
 * Return: true if there is more to do now.
 */
bool requester_run(struct qp *qp);

/** requester_timer() - handle the expiry of &requester.timer in RTS or SQD */
void requester_timer(struct qp *qp);

/* In state SQD: whether requests that have begun are still to complete. */
bool requester_draining(const struct qp *qp);

/**
 * requester_next() - find the request to send now
 * @qp: QP of any type with a send queue, in RTS or SQD
 *
 * In SQD only a request that has begun continues.
 *
 * Return: the request, as from sq_next(). NULL if there is none, if it waits
 * for a page, or if the QP has gone to the error state.
 */
struct send_req *requester_next(struct qp *qp);

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
