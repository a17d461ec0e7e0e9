/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a queue pair has sent and received: the requester and responder of rdma/,
 * and their rates and estimates.
 */
#ifndef MYNIC_TRANSPORT_TYPES_H
#define MYNIC_TRANSPORT_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/timer.h"

struct atomic_result;
struct response;

/** enum cc_flow - flows of a QP that share its rate by turns */
enum cc_flow {
	CC_REQUESTS,
	CC_RESPONSES,
	CC_NUM_FLOWS,
};

/**
 * struct cc - congestion control of a queue pair
 * @cnp_due: a CNP is to be sent to the peer
 * @paced: @limited is set, or @ceiling is not 0
 * @limited: the peer has reported congestion, and the rate of the line has not
 *	been reached again. @rate to @volume are only valid then
 * @cnp_after: earliest time of the next CNP, ns
 * @ceiling: upper bound from the QP's rate limit or the path's static rate,
 *	bit/s; 0: none
 * @rate: current rate that congestion allows, bit/s
 * @target: rate that @rate approaches, bit/s
 * @alpha: estimate of the congestion; 65536 is the worst
 * @periods: periods that have ended since the last cut
 * @period_end: end of the current period, ns
 * @volumes: volumes that have been sent since the last cut
 * @volume: bytes sent of the next volume
 * @next: if @paced: earliest time of the next packet, ns
 * @waits: by enum cc_flow: it has a packet to send
 * @last: enum cc_flow of the last packet
 * @timer: set while a packet waits for @next
 */
struct cc {
	bool cnp_due;
	bool paced;
	bool limited;
	uint64_t cnp_after;
	uint64_t ceiling;
	uint64_t rate;
	uint64_t target;
	uint32_t alpha;
	uint32_t periods;
	uint64_t period_end;
	uint32_t volumes;
	uint32_t volume;
	uint64_t next;
	bool waits[CC_NUM_FLOWS];
	enum cc_flow last;
	struct timer timer;
};

/**
 * struct loss_recovery - estimates of an RC requester
 * @window: packets that may be on their way
 * @lossy: a packet was lost recently
 * @lost_psn: if @lossy: oldest unacknowledged PSN at the last loss
 * @interval: if @lossy: smoothed number of packets between two losses
 * @clear_psn: packets before this PSN were sent twice, so an answer does not
 *	tell which of the two it is for
 * @timing: a round trip is being measured
 * @timed_psn: the measurement ends when all before this PSN is acknowledged
 * @timed_una: oldest unacknowledged PSN when the measurement began
 * @timed_at: start of the measurement, ns
 * @srtt: smoothed round-trip time, ns
 * @rttvar: mean deviation of the round-trip time, ns
 * @min_rtt: shortest recent round-trip time, ns
 * @min_rtt_at: time at which @min_rtt was measured, ns
 * @path_packets: packets that the path holds without a queue; 0: unknown
 * @probed: answered probes since the last measurement
 * @probe_after: silence in ns after which a loss is suspected; 0: no round trip
 *	has been measured
 *
 * PSNs have 32 bits, as in &struct send_queue.
 */
struct loss_recovery {
	uint32_t window;
	bool lossy;
	uint32_t lost_psn;
	uint32_t interval;
	uint32_t clear_psn;
	bool timing;
	uint32_t timed_psn;
	uint32_t timed_una;
	uint64_t timed_at;
	uint64_t srtt;
	uint64_t rttvar;
	uint64_t min_rtt;
	uint64_t min_rtt_at;
	uint32_t path_packets;
	unsigned int probed;
	uint64_t probe_after;
};

/**
 * enum requester_place - where a packet is whose answer is waited for
 * @REQUESTER_SENT: sent
 * @REQUESTER_QUEUED: maybe in a queue of the process that has no room
 * @REQUESTER_LEFT: not there any more
 */
enum requester_place {
	REQUESTER_SENT,
	REQUESTER_QUEUED,
	REQUESTER_LEFT,
};

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
 * @probing: a probe is not answered yet
 * @probes: probes since the last acknowledgment of anything new
 * @place: where the packet is that asks for the next answer
 * @num_resumes: if @place is REQUESTER_SENT: &rooms.num_resumes when it began to
 *	wait
 * @way: if @place is REQUESTER_QUEUED: number of the way
 * @leaves: likewise: its &way.num_resumes at which the packet has left
 * @probe_psn: if @probing: PSN of the probe
 * @probe_end: if @probing: value of &send_queue.psn when the probe was
 *	sent
 * @probe_at: if @probing: time of the probe, ns
 * @quiet_since: start of the silence: the last progress, or the first packet
 *	after it, ns
 * @ack_due: end of the ACK timeout, or TIMER_NEVER
 * @ack_timeout: set to @ack_due while packets are not acknowledged, unless a
 *	probe comes first
 * @probe: set to the next probe, if it comes before @ack_due
 * @rnr: set after an RNR NAK, until packets may be sent again
 * @credit: set while a packet waits for a credit
 * @loss: estimates of the path
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
	enum requester_place place;
	uint32_t num_resumes;
	int way;
	uint32_t leaves;
	uint32_t probe_psn;
	uint32_t probe_end;
	uint64_t probe_at;
	uint64_t quiet_since;
	uint64_t ack_due;
	struct timer ack_timeout;
	struct timer probe;
	struct timer rnr;
	struct timer credit;
	struct loss_recovery loss;
};

/**
 * enum responder_nak - NAK that is waiting to be sent
 * @RESPONDER_NAK_NONE: none
 * @RESPONDER_NAK_SEQ: a PSN is missing
 * @RESPONDER_NAK_RNR: there was no receive request, or a page takes long
 * @RESPONDER_NAK_FATAL: the request has failed, and the QP goes to the error
 *	state
 */
enum responder_nak {
	RESPONDER_NAK_NONE,
	RESPONDER_NAK_SEQ,
	RESPONDER_NAK_RNR,
	RESPONDER_NAK_FATAL,
};

/**
 * struct response_queue - requests of a QP that need more than an ACK
 * @size: capacity of @waiting and @results; at least max_dest_rd_atomic after
 *	the first such request
 * @kept: number of responses for which memory is reserved
 * @flushing: @waiting has a FLUSH that is not done
 * @first: index of the oldest in @waiting
 * @num: number of waiting responses
 * @next_result: index of the next result in @results
 * @waiting: waiting responses, in the order of their PSNs
 * @results: results of the last atomics
 */
struct response_queue {
	unsigned int size;
	unsigned int kept;
	bool flushing;
	unsigned int first;
	unsigned int num;
	unsigned int next_result;
	struct response *waiting;
	struct atomic_result *results;
};

/**
 * struct responder - a responder of RC or UC
 * @epsn: expected PSN, 24 bits
 * @msn: number of executed messages, 24 bits
 * @msg: enum opcode_class of the message that has begun: OPCODE_SEND,
 *	OPCODE_WRITE; 0: none
 * @offset: bytes of that message that have been placed
 * @write_addr: WRITE: destination of the message
 * @write_len: WRITE: its length
 * @write_rkey: WRITE: its key
 * @established: COMM_EST has been sent
 * @gap: a NAK for @epsn was sent; no other is sent until @epsn has arrived
 * @gap_end: last PSN that has arrived too early
 * @ack: an acknowledgment is to be sent
 * @defer: an RNR NAK is to be sent for the request whose response waits
 * @held: 1 plus the last @epsn that came while the QP waited for a page; 0: none
 * @nak: the NAK that is to be sent, if any
 * @nak_syndrome: its AETH syndrome
 * @nak_event: RESPONDER_NAK_FATAL: enum mynic_event that follows, or 0
 * @nak_psn: RESPONDER_NAK_FATAL: PSN of the failed request
 * @reads_left: READs that no completion counter has counted yet
 * @read_end: PSN behind the response to the last READ
 * @responses: requests that need more than an ACK
 */
struct responder {
	uint32_t epsn;
	uint32_t msn;
	uint8_t msg;
	uint32_t offset;
	uint64_t write_addr;
	uint32_t write_len;
	uint32_t write_rkey;
	bool established;
	bool gap;
	uint32_t gap_end;
	bool ack;
	bool defer;
	uint32_t held;
	enum responder_nak nak;
	uint8_t nak_syndrome;
	uint8_t nak_event;
	uint32_t nak_psn;
	uint32_t reads_left;
	uint32_t read_end;
	struct response_queue responses;
};

#endif /* MYNIC_TRANSPORT_TYPES_H */
