/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The requests and queues of a queue pair, as queue/ has them. */
#ifndef MYNIC_QUEUE_TYPES_H
#define MYNIC_QUEUE_TYPES_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/outcome.h"
#include "base/timer.h"
#include "mynic_regs.h"
#include "state/memory_types.h"

struct pd;
struct send_source;
struct tag;

/*
 * Limits of work queues: log2 of the number of slots, and of the bytes in a
 * slot
 */
#define WQ_MAX_LOG_SIZE 15
#define WQ_MAX_LOG_STRIDE 9
#define SQ_MIN_LOG_STRIDE 6
#define RQ_MIN_LOG_STRIDE 5

/* &struct mynic_sge in host byte order. */
struct sge {
	uint64_t addr;
	uint32_t length;
	uint32_t lkey;
};

#define WQE_MAX_SEND_SGE \
	((MYNIC_SQ_MAX_STRIDE - MYNIC_WQE_DATA_RC) / sizeof(struct mynic_sge))
#define WQE_MAX_RECV_SGE                                         \
	((MYNIC_RQ_MAX_STRIDE - sizeof(struct mynic_recv_wqe)) / \
	 sizeof(struct mynic_sge))

/* Upper bound for the bytes of a message (IBTA chapter 9) */
#define WQE_MAX_LENGTH 0x80000000u

/**
 * enum send_trait - properties of a send opcode
 * @SEND_TAKES_RECV: it consumes a receive request of the peer
 * @SEND_HAS_RESPONSE: a response completes it, and not just an ACK
 * @SEND_IS_LOCAL: it sends no packets
 */
enum send_trait {
	SEND_TAKES_RECV = 1 << 0,
	SEND_HAS_RESPONSE = 1 << 1,
	SEND_IS_LOCAL = 1 << 2,
};

/**
 * struct send_req - a send request after checks
 * @wr_id: for the completion
 * @outcome: if it is not OUTCOME_OK, only @wr_id is valid besides it. The
 *	request was refused when it was fetched, or has failed and ends after
 *	those before it
 * @opcode: enum ibv_wr_opcode
 * @traits: enum send_trait
 * @flags: enum ibv_send_flags
 * @done: RC: SEND_IS_LOCAL: it was executed
 * @num_sge: elements of @sge; 0 with IBV_SEND_INLINE
 * @imm: immediate data as on the wire (big-endian), or the key to invalidate
 * @remote_addr: RDMA, atomics, FLUSH; DRIVER1: destination; REG_MR: address of
 *	the region's first byte
 * @rkey: RDMA, atomics, FLUSH; DRIVER1: local key of the destination; BIND_MW:
 *	the window; REG_MR: the region
 * @remote_srqn: XRC, 24 bits; else 0
 * @remote_qpn: UD, 24 bits
 * @remote_qkey: UD
 * @length: bytes of the message, at most WQE_MAX_LENGTH
 * @flush_len: FLUSH: bytes to flush, at most WQE_MAX_LENGTH
 * @feth: FLUSH: see &struct roce_hdr.feth
 * @first_psn: RC, UC: PSN of the first packet
 * @num_psn: RC, UC: PSNs of the request, 0 until it is first sent; DRIVER1,
 *	TSO: not 0 once it has begun
 * @copied: DRIVER1: bytes that have been copied
 * @segments: TSO: segments that have been sent
 * @piece: RC READ: PSNs of the response that one request packet asks for; 0:
 *	all
 * @cut_psn: RC READ with @piece: first PSN of the first piece
 * @in_turn: RC READ with @piece: the whole was requested before
 * @recv_index: RC: number of requests since RTS, before this one, that consume
 *	a receive request of the peer
 * @mss: TSO: payload bytes of a segment
 * @hdr_len: TSO: bytes of the header, see wqe_tso_header()
 * @vlan: RAW_PACKET: VLAN tag to be inserted; PACKET_NO_VLAN: none
 * @compare_add: atomics
 * @swap: atomics
 * @av: UD: the extension as in the entry
 * @sge: scatter/gather list
 * @data: inline data
 * @bind: BIND_MW, as in the entry
 * @reg_mr: REG_MR, as in the entry
 */
struct send_req {
	uint64_t wr_id;
	enum outcome outcome;
	uint8_t opcode;
	uint8_t traits;
	uint8_t flags;
	bool done;
	uint8_t num_sge;
	uint32_t imm;
	uint64_t remote_addr;
	uint32_t rkey;
	uint32_t remote_srqn;
	uint32_t remote_qpn;
	uint32_t remote_qkey;
	uint32_t length;
	uint32_t flush_len;
	uint32_t feth;
	uint32_t first_psn;
	uint32_t num_psn;
	uint32_t copied;
	uint32_t segments;
	uint32_t piece;
	uint32_t cut_psn;
	bool in_turn;
	uint32_t recv_index;
	uint16_t mss;
	uint16_t hdr_len;
	uint16_t vlan;
	uint64_t compare_add;
	uint64_t swap;
	struct mynic_av av;
	union {
		struct sge sge[WQE_MAX_SEND_SGE];
		uint8_t data[MYNIC_SQ_MAX_STRIDE - MYNIC_WQE_DATA_RC];
		struct mynic_bind_operands bind;
		struct mynic_reg_mr_operands reg_mr;
	};
};

/**
 * struct recv_req - a receive request after checks
 * @wr_id: for the completion
 * @outcome: if it is not OUTCOME_OK, only @wr_id is valid besides it
 * @num_sge: elements of @sge
 * @capacity: bytes of all elements
 * @sge: scatter list
 */
struct recv_req {
	uint64_t wr_id;
	enum outcome outcome;
	uint8_t num_sge;
	uint64_t capacity;
	struct sge sge[WQE_MAX_RECV_SGE];
};

/**
 * struct send_queue - send requests of a queue pair
 * @source: where requests come from; NULL: the QP has no send requests
 * @pd: PD of the memory that requests name
 * @ring: the entries in host memory; of a QP with rendezvous only its size is
 *	used
 * @reqs: private copies of the entries @ci to @fetched; the slot is the index
 *	modulo @num_reqs
 * @num_reqs: slots in @reqs, a power of two; 0 before the first request
 * @req_size: bytes in a slot of @reqs
 * @ci: oldest request that has not completed
 * @cur: request that is being sent
 * @fetched: first request that has not been fetched
 * @pi: producer index when it was last read
 * @psn: PSN of the next packet to send, if packets have PSNs
 * @drained: the drained event of SQD was sent
 *
 * Indexes are free-running: @ci <= @cur <= @fetched <= @pi. PSNs have 32 bits
 * here, of which 24 are sent. A request may thus take as many PSNs as the
 * responder can tell apart.
 */
struct send_queue {
	const struct send_source *source;
	const struct pd *pd;
	struct ring ring;
	uint8_t *reqs;
	uint32_t num_reqs;
	uint32_t req_size;
	uint32_t ci;
	uint32_t cur;
	uint32_t fetched;
	uint32_t pi;
	uint32_t psn;
	bool drained;
};

/**
 * struct tm_header - header of each message for tag matching
 * @opcode: enum ibv_tmh_op
 * @reserved: ignored
 * @app_ctx: for the application; passed through
 * @tag: tag to match
 * @va: RNDV: address of the data at the sender
 * @rkey: RNDV: remote key of the data
 * @len: RNDV: bytes of the data
 */
struct tm_header {
	uint8_t opcode;
	uint8_t reserved[3];
	__be32 app_ctx;
	__be64 tag;
	__be64 va;
	__be32 rkey;
	__be32 len;
};

TAILQ_HEAD(tag_queue, tag);

/**
 * enum tm_kind - result of a match
 * @TM_NONE: the message is not subject to tag matching
 * @TM_NO_TAG: it has no tag, or its header is invalid
 * @TM_UNEXPECTED: no tag in the list matches
 * @TM_EAGER: the data goes to the buffer of the tag
 * @TM_RNDV: the NIC reads the data from the sender into the buffer of the tag
 * @TM_INCOMPLETE: like TM_RNDV, but software has to read the data
 */
enum tm_kind {
	TM_NONE,
	TM_NO_TAG,
	TM_UNEXPECTED,
	TM_EAGER,
	TM_RNDV,
	TM_INCOMPLETE,
};

/**
 * struct tm_match - tag matching of the message that is being received
 * @kind: enum tm_kind
 * @skip: bytes at its beginning that do not go to the buffer
 * @tag: TM_EAGER, TM_RNDV, TM_INCOMPLETE: the tag, which has left the list
 * @header: header of the message, if there is a tag
 */
struct tm_match {
	uint8_t kind;
	uint16_t skip;
	struct tag *tag;
	struct tm_header header;
};

/**
 * struct recv_queue - receive requests of a queue pair
 * @ring: the entries in host memory; not used with an SRQ
 * @ci: index of the next request to fetch from @ring
 * @pi: producer index of @ring when it was last read
 * @has_recv: @recv is in use, or is kept for the next message
 * @last_wqe: LAST_WQE has been sent
 * @look: with @ring, in ERR: time of a look for requests that the host has
 *	posted without a doorbell
 * @match: result of tag matching for the message in @recv
 * @recv: receive request in use, from @ring or from an SRQ
 */
struct recv_queue {
	struct ring ring;
	uint32_t ci;
	uint32_t pi;
	bool has_recv;
	bool last_wqe;
	struct timer look;
	struct tm_match match;
	struct recv_req recv;
};

/**
 * struct rndv - rendezvous of a QP
 * @tags: matched tags, in the order of their matches; a tag leaves when its
 *	requests have completed
 * @next: tag in @tags of the next request; NULL: all requests are fetched
 *
 * Requests have indexes like those of a send queue. The READ has an even index,
 * and the FIN has the next one.
 */
struct rndv {
	struct tag_queue tags;
	struct tag *next;
};

#endif /* MYNIC_QUEUE_TYPES_H */
