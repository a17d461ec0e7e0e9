/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The RC responder: what it expects, and what it has to answer. UC has its
 * PSNs and its messages.
 */
#ifndef MYNIC_RESPONDER_H
#define MYNIC_RESPONDER_H

#include <stdbool.h>
#include <stdint.h>

struct opcode_info;
struct packet;
struct qp;

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
	struct response_queue responses;
};

/* The QP goes to RTR. */
void responder_start(struct qp *qp);

/* Discards the state of messages and responses. */
void responder_reset(struct qp *qp);

/* Handles a request for an RC or XRC_TGT QP. */
void responder_receive(struct qp *qp, const struct packet *pkt,
		       const struct opcode_info *info);

/**
 * responder_defers() - answer the expected request while the QP waits for a page
 * @qp: RC or XRC_TGT QP that holds packets, see odp_holds()
 * @pkt: packet that has arrived
 * @info: its opcode
 *
 * A page may take longer than all retries of the peer. After a while, an RNR NAK
 * tells the peer that the request is not lost; see "On-demand paging" of the
 * specification. A request that comes for the first time is held, because the
 * RNR NAK would end it if the peer's rnr_retry is 0.
 *
 * Return: whether @pkt has been answered, and is not to be held.
 */
bool responder_defers(struct qp *qp, const struct packet *pkt,
		      const struct opcode_info *info);

/* The same for a duplicate of the request whose response waits for a page. */
bool responder_defers_response(struct qp *qp, uint32_t psn);

/* Timer field of the RNR NAK for a request that waits for a page. */
uint8_t responder_defer_timer(const struct qp *qp);

/**
 * responder_run() - send some of the waiting answers
 * @qp: RC or XRC_TGT QP that can receive
 *
 * Return: true if there is more to do now.
 */
bool responder_run(struct qp *qp);

#endif /* MYNIC_RESPONDER_H */
