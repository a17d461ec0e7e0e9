/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The sending half of a queue pair, and the RC requester in particular. */
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
 * @num_reqs: slots in @reqs, a power of two, or 0 before the first send
 * @req_size: bytes in a slot of @reqs
 * @ci: the oldest entry that has not completed
 * @cur: the entry that is being sent
 * @fetched: the first entry that has not been fetched
 * @pi: producer index when it was last read
 * @psn: of the next packet to send
 * @una: the oldest PSN that is not acknowledged
 * @max_psn: behind the last PSN in use; all before it are retransmissions
 * @resumed: the PSN to which it went back last
 * @window_base: where nothing is lost, the window of unacknowledged packets
 *	counts from here, if that is ahead of @una: responses to a read do not
 *	count
 * @ack_psn: behind the last packet that asked for an acknowledgment
 * @rd_atomic: packets that request reads and atomics, on their way
 * @recvs: requests so far that take a receive request of the peer
 * @credit_end: @counts_credits: where in @recvs those begin for which the
 *	peer has none
 * @counts_credits: the peer tells how many receive requests it has
 * @credit_wait: how long to wait for a credit since the last answer, ns
 * @credit_wait_end: when not to wait any more, as the last RNR NAK is long ago
 * @retry_left: how often may be tried again
 * @rnr_left: likewise, after RNR NAKs
 * @rnr_wait: @timer is the time that an RNR NAK asked for
 * @went_back: it has gone back to @una, and nothing has been acknowledged
 *	since
 * @drained: SQD: the drained event has been sent
 * @probes: probes since something was acknowledged
 * @probing: the answer to a probe is awaited
 * @probe_psn: @probing: the packet that was sent
 * @probe_end: @probing: @psn at that time
 * @probe_at: @probing: when, ns
 * @quiet_since: when something was acknowledged, or was to be from then on, ns
 * @ack_due: when the ACK timer runs out, or TIMER_NEVER
 * @timer: ACK timer and probes, RNR, wait for a credit; in the error state:
 *	when to look for receive requests once more
 * @recovery: what is known of the path
 *
 * Indexes are free-running: @ci <= @cur <= @fetched <= @pi. PSNs have 32 bits
 * here, of which 24 are on the wire, so that a request may take as many of
 * them as the responder can tell apart.
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

/** requester_start() - the QP goes to RTS for the first time */
void requester_start(struct qp *qp);

/**
 * requester_run() - send some packets
 * @qp: RC or XRC_INI QP in RTS or SQD
 *
 * Return: true if there is more to do now.
 */
bool requester_run(struct qp *qp);

/** requester_timer() - &requester.timer has run out, in RTS or SQD */
void requester_timer(struct qp *qp);

/** requester_draining() - SQD: whether begun requests have yet to complete */
bool requester_draining(const struct qp *qp);

/**
 * requester_next() - the request to send now
 * @qp: QP with a send queue in RTS or SQD, of any type
 *
 * In SQD only a request that has begun goes on.
 *
 * Return: the request, as from sq_next(); NULL: there is none, or it waits for a
 * page, or the QP has gone to the error state.
 */
struct send_req *requester_next(struct qp *qp);

/** requester_progress() - something was acknowledged; @now: nic_now() */
void requester_progress(struct qp *qp, uint64_t now);

/**
 * requester_retry() - send again what is not acknowledged
 * @qp: RC QP in RTS or SQD
 *
 * Or, if that was tried too often, complete the oldest request with an error.
 */
void requester_retry(struct qp *qp);

/** requester_resend() - likewise, but it does not count as a retry */
void requester_resend(struct qp *qp);

/**
 * requester_piece_left() - how far the response to one packet goes
 * @req: READ
 * @psn: of a response, without wrapping; not behind the last one
 *
 * A READ is requested in pieces where packets get lost.
 *
 * Return: the responses from @psn to the last to the packet that requests it;
 * 1 if @psn is that.
 */
uint32_t requester_piece_left(const struct send_req *req, uint32_t psn);

/** requester_rnr() - go back, and wait for the time of a 5 bit timer field */
void requester_rnr(struct qp *qp, unsigned int timer);

/** completer_receive() - a response came in for an RC QP in RTS or SQD */
void completer_receive(struct qp *qp, const struct packet *pkt,
		       const struct opcode_info *info);

#endif /* MYNIC_REQUESTER_H */
