/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The receiving half of a queue pair. */
#ifndef MYNIC_RESPONDER_H
#define MYNIC_RESPONDER_H

#include <stdbool.h>
#include <stdint.h>

#include "wqe.h"

struct qp;
struct packet;

/**
 * enum responder_msg - the message that has begun and not ended
 * @RESPONDER_IDLE: none
 * @RESPONDER_SEND: SEND
 * @RESPONDER_WRITE: RDMA WRITE
 */
enum responder_msg {
	RESPONDER_IDLE,
	RESPONDER_SEND,
	RESPONDER_WRITE,
};

/**
 * enum responder_nak - the negative acknowledgement that waits to be sent
 * @RESPONDER_NAK_NONE: none
 * @RESPONDER_NAK_SEQ: a PSN is missing
 * @RESPONDER_NAK_RNR: there was no receive request
 * @RESPONDER_NAK_FATAL: the request fails, and the QP with it
 */
enum responder_nak {
	RESPONDER_NAK_NONE,
	RESPONDER_NAK_SEQ,
	RESPONDER_NAK_RNR,
	RESPONDER_NAK_FATAL,
};

/**
 * struct response - a read or atomic that waits to be answered
 * @atomic: it is an atomic, whose result is @orig
 * @first: the next packet is the first of the response
 * @psn: PSN of the next packet
 * @rkey: read: the key
 * @addr: read: where the next packet's payload begins
 * @left: read: bytes to send
 * @orig: atomic: the value before
 * @msn: MSN of the response
 */
struct response {
	bool atomic;
	bool first;
	uint32_t psn;
	uint32_t rkey;
	uint64_t addr;
	uint32_t left;
	uint32_t msn;
	uint64_t orig;
};

/**
 * struct atomic_result - what to say when an atomic is requested again
 * @valid: the entry is in use
 * @psn: PSN of the request
 * @msn: MSN of the response
 * @orig: the value before
 */
struct atomic_result {
	bool valid;
	uint32_t psn;
	uint32_t msn;
	uint64_t orig;
};

/**
 * struct responder - the receiving half of a queue pair
 * @epsn: the PSN expected
 * @msn: messages executed, 24 bits
 * @msg: message in progress
 * @has_recv: @recv is in use by the message in progress
 * @recv: the receive request in use
 * @offset: bytes of the message in progress that are in place
 * @write_addr: WRITE: where the next byte goes
 * @write_left: WRITE: bytes to come
 * @write_rkey: WRITE: the key
 * @established: COMM_EST has been sent or is not due
 * @gap: a NAK for @epsn is out: no further one until it has arrived
 * @dead: a request has failed; none is executed any more
 * @ack: an acknowledgement is to be sent
 * @nak: a negative one is to be sent
 * @nak_syndrome: its AETH syndrome
 * @nak_event: enum mynic_event that RESPONDER_NAK_FATAL brings, or 0
 * @max_responses: room in @responses and in @atomics
 * @responses: reads and atomics that wait to be answered, oldest first, or
 *	NULL before the first
 * @first_response: place of the oldest in @responses
 * @num_responses: how many wait
 * @atomics: the last results
 * @next_atomic: place in @atomics of the next result
 */
struct responder {
	uint32_t epsn;
	uint32_t msn;
	enum responder_msg msg;
	bool has_recv;
	struct recv_req recv;
	uint32_t offset;
	uint64_t write_addr;
	uint32_t write_left;
	uint32_t write_rkey;
	bool established;
	bool gap;
	bool dead;
	bool ack;
	enum responder_nak nak;
	uint8_t nak_syndrome;
	uint8_t nak_event;
	uint16_t max_responses;
	struct response *responses;
	uint16_t first_response;
	uint16_t num_responses;
	struct atomic_result *atomics;
	uint16_t next_atomic;
};

#endif /* MYNIC_RESPONDER_H */
