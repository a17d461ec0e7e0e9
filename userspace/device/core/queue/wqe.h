/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Work queue entries. Each is copied from guest memory once, and checked in the
 * copy.
 */
#ifndef MYNIC_WQE_H
#define MYNIC_WQE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/outcome.h"
#include "mynic_regs.h"

struct iov_list;
struct nic;
struct packet;
struct pd;
struct qp;

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
 * @outcome: if it is not OUTCOME_OK, only @wr_id is valid besides it
 * @opcode: enum ibv_wr_opcode
 * @traits: enum send_trait
 * @flags: enum ibv_send_flags
 * @done: RC: SEND_IS_LOCAL: it was executed; other types: all of it was sent
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
 * @num_sge: elements of @sge; 0 with IBV_SEND_INLINE
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
 * @compare_add: atomics
 * @swap: atomics
 * @av: UD, RAW_PACKET: the extension as in the entry
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

/* The header of a TSO request, which is stored behind its SGEs. */
static inline const uint8_t *wqe_tso_header(const struct send_req *req)
{
	return req->data + req->num_sge * sizeof(req->sge[0]);
}

/**
 * struct recv_req - a receive request after checks
 * @wr_id: for the completion
 * @outcome: if it is not OUTCOME_OK, only @wr_id is valid besides it
 * @capacity: bytes of all elements
 * @num_sge: elements of @sge
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
 * wqe_fetch_send() - fetch and check a send request
 * @qp: the queue pair
 * @index: free-running index of the entry
 * @req: result; @req->sge and @req->data are written only as far as the slot
 *	reaches
 *
 * An error of the entry is in @req->outcome, and is counted.
 */
void wqe_fetch_send(struct qp *qp, uint32_t index, struct send_req *req);

/* The wr_id of an entry that is flushed without having been fetched. */
uint64_t wqe_send_wr_id(struct qp *qp, uint32_t index);

/**
 * wqe_fetch_recv() - take the next receive request of the RQ or SRQ
 * @qp: the queue pair
 * @req: result
 *
 * It writes the consumer index and sends the limit event of an SRQ. An error of
 * the entry is in @req->outcome, and is counted. A producer index that is more
 * than a ring ahead is handled as the specification says. The queue then looks
 * empty.
 *
 * Return: true if there was a request.
 */
bool wqe_fetch_recv(struct qp *qp, struct recv_req *req);

/* Counts an entry that is refused, and returns @why. */
enum outcome wqe_refuse(struct nic *nic, enum outcome why);

/* Counts an impossible producer index, once for each QP. */
void wqe_bad_index(struct qp *qp);

/**
 * struct sge_list - buffers of a request
 * @pd: PD that the keys must have
 * @sge: the elements
 * @num: elements of @sge
 * @kernel: dma_lkey is allowed
 * @waiter: QP that waits for missing pages; NULL: a missing page is an error
 * @stage: part of @waiter that waits
 */
struct sge_list {
	const struct pd *pd;
	const struct sge *sge;
	unsigned int num;
	bool kernel;
	struct qp *waiter;
	enum mynic_page_stage stage;
};

/* Buffers of a send or receive request. */
struct sge_list send_sges(struct qp *qp, const struct send_req *req);
struct sge_list recv_sges(struct qp *qp, const struct recv_req *req);

/**
 * sge_map() - translate a part of a list
 * @nic: the NIC
 * @list: the buffers
 * @offset: offset of the part in the list
 * @len: bytes of the part, which lies in the list; at most the payload of a
 *	packet
 * @out: result; empty before, with room for PACKET_MAX_IOV elements
 *
 * Return: OUTCOME_OK, OUTCOME_WAIT, OUTCOME_LKEY, OUTCOME_LKEY_BOUNDS, or
 * OUTCOME_LKEY_DMA.
 */
enum outcome sge_map(struct nic *nic, const struct sge_list *list,
		     uint64_t offset, uint32_t len, struct iov_list *out);

/* Like sge_map(), but copies the bytes to @dst. */
enum outcome sge_read(struct nic *nic, const struct sge_list *list,
		      uint64_t offset, uint32_t len, uint8_t *dst);

/* Like sge_map(), but copies the bytes of @iov to the list. */
enum outcome sge_write(struct nic *nic, const struct sge_list *list,
		       uint64_t offset, uint32_t len, const struct iovec *iov);

/**
 * range_map() - translate a range for writing
 * @qp: the queue pair
 * @key: local key with the right to write
 * @addr: address
 * @len: bytes, at least 1
 * @whole: bytes from @addr on that must be in the region; at least @len
 * @out: result; empty before, with room for PACKET_MAX_IOV elements
 *
 * Return: like sge_map().
 */
enum outcome range_map(struct qp *qp, uint32_t key, uint64_t addr, uint32_t len,
		       uint32_t whole, struct iov_list *out);

/**
 * send_payload() - make a part of a message the payload of a packet
 * @qp: the sending QP
 * @req: the message
 * @offset: offset of the part in the message
 * @len: bytes, at most a path MTU
 * @pkt: the packet
 *
 * Return: like sge_map().
 */
enum outcome send_payload(struct qp *qp, const struct send_req *req,
			  uint32_t offset, uint32_t len, struct packet *pkt);

#endif /* MYNIC_WQE_H */
