/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The receiving half of a queue pair, and the RC responder in particular. */
#ifndef MYNIC_RESPONDER_H
#define MYNIC_RESPONDER_H

#include <stdbool.h>
#include <stdint.h>

#include "queue/tm.h"
#include "queue/wqe.h"

struct opcode_info;
struct packet;
struct qp;

/**
 * enum responder_nak - the negative acknowledgment that waits to be sent
 * @RESPONDER_NAK_NONE: none
 * @RESPONDER_NAK_SEQ: a PSN is missing
 * @RESPONDER_NAK_RNR: there was no receive request
 * @RESPONDER_NAK_FATAL: the request has failed, and the QP will with it
 */
enum responder_nak {
	RESPONDER_NAK_NONE,
	RESPONDER_NAK_SEQ,
	RESPONDER_NAK_RNR,
	RESPONDER_NAK_FATAL,
};

/**
 * struct response - what waits to be answered, but not by just an ACK
 * @atomic: no read, but what is not done twice: its result is saved
 * @empty: ATOMIC WRITE or FLUSH, answered by a read response without data
 * @duplicate: it has been requested before
 * @first: the next packet is the first of the response
 * @psn: PSN of the next packet
 * @msn: MSN to tell
 * @srqn: read, FLUSH, XRC: the SRQ that was named
 * @rkey: read, FLUSH: the key
 * @left: read: bytes to send
 * @flush_left: FLUSH: bytes that are still to be made persistent
 * @addr: read, FLUSH: where they begin
 * @orig: atomic: the value before
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
 * struct atomic_result - what to say when what is not a read is requested again
 * @valid: the entry is in use
 * @empty: see &struct response
 * @psn: PSN of the request
 * @msn: MSN to tell
 * @orig: the value before
 */
struct atomic_result {
	bool valid;
	bool empty;
	uint32_t psn;
	uint32_t msn;
	uint64_t orig;
};

/**
 * struct response_queue - what of a QP is not answered by just an ACK
 * @size: room in @waiting and @results: at least max_dest_rd_atomic, once there
 *	has been such a request
 * @kept: memory for so many is reserved
 * @flushing: a FLUSH in @waiting has not been done yet
 * @first: place of the oldest in @waiting
 * @num: how many wait
 * @next_result: place in @results of the next result
 * @waiting: to be answered, in the order of their PSNs
 * @results: of the last atomics
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
 * struct responder - the receiving half of a queue pair
 * @ci: RQ: next entry to fetch
 * @pi: RQ: producer index when it was last read
 * @epsn: the PSN expected, 24 bits
 * @msn: messages executed, 24 bits
 * @msg: enum opcode_class of the message that has begun and not ended:
 *	OPCODE_SEND, OPCODE_WRITE, or 0 for none
 * @offset: bytes of that message that are in place
 * @write_addr: WRITE: where the message goes
 * @write_len: WRITE: its length
 * @write_rkey: WRITE: its key
 * @has_recv: @recv is in use, or kept for the next message
 * @established: COMM_EST has been sent
 * @last_wqe: LAST_WQE has been sent
 * @gap: a NAK for @epsn is out: no further one until @epsn has arrived
 * @gap_end: the last PSN that came too early
 * @ack: an acknowledgment is to be sent
 * @nak: a negative one is to be sent
 * @nak_syndrome: its AETH syndrome
 * @nak_event: RESPONDER_NAK_FATAL: enum mynic_event that it brings, or 0
 * @nak_psn: RESPONDER_NAK_FATAL: the PSN of the request that has failed
 * @responses: what waits to be answered
 * @match: what tag matching says of the message that @recv is in use for
 * @recv: the receive request in use
 */
struct responder {
	uint32_t ci;
	uint32_t pi;
	uint32_t epsn;
	uint32_t msn;
	uint8_t msg;
	uint32_t offset;
	uint64_t write_addr;
	uint32_t write_len;
	uint32_t write_rkey;
	bool has_recv;
	bool established;
	bool last_wqe;
	bool gap;
	uint32_t gap_end;
	bool ack;
	enum responder_nak nak;
	uint8_t nak_syndrome;
	uint8_t nak_event;
	uint32_t nak_psn;
	struct response_queue responses;
	struct tm_match match;
	struct recv_req recv;
};

/** responder_start() - the QP goes to RTR */
void responder_start(struct qp *qp);

/** responder_reset() - forget all */
void responder_reset(struct qp *qp);

/** responder_receive() - a request came in for an RC or XRC_TGT QP */
void responder_receive(struct qp *qp, const struct packet *pkt,
		       const struct opcode_info *info);

/**
 * responder_run() - send some of the answers that wait
 * @qp: RC or XRC_TGT QP that can receive
 *
 * Return: true if there is more to do now.
 */
bool responder_run(struct qp *qp);

#endif /* MYNIC_RESPONDER_H */
