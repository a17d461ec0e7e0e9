/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Work queue entries: fetched once from guest memory into private memory,
 * checked there, and never looked at again in guest memory.
 */
#ifndef MYNIC_WQE_H
#define MYNIC_WQE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "mynic_regs.h"

struct nic;
struct packet;
struct pd;
struct qp;

/** struct sge - &struct mynic_sge in host byte order */
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

/** The longest message, in bytes (IBTA chapter 9) */
#define WQE_MAX_LENGTH 0x80000000u

/**
 * enum send_trait - what follows from the opcode of a send request
 * @SEND_TAKES_RECV: it takes a receive request of the peer
 * @SEND_HAS_RESPONSE: a response, and not just an ACK, completes it
 * @SEND_IS_LOCAL: the peer has no part in it
 */
enum send_trait {
	SEND_TAKES_RECV = 1 << 0,
	SEND_HAS_RESPONSE = 1 << 1,
	SEND_IS_LOCAL = 1 << 2,
};

/**
 * struct wqe_error - why a work request cannot be executed
 * @status: enum ib_wc_status, 0 if it can
 * @syndrome: enum mynic_syndrome
 */
struct wqe_error {
	uint8_t status;
	uint8_t syndrome;
};

/**
 * struct send_req - a send queue entry, checked
 * @wr_id: for the completion
 * @error: if @error.status is not 0, only @wr_id counts beside it
 * @opcode: enum ib_wr_opcode
 * @traits: enum send_trait
 * @flags: enum ib_send_flags
 * @done: SEND_IS_LOCAL: it has been executed
 * @imm: immediate data as on the wire (big-endian), or the key to invalidate
 * @remote_addr: RDMA, atomics, FLUSH; DRIVER1: destination; REG_MR: where the
 *	region is to begin
 * @rkey: RDMA, atomics, FLUSH; DRIVER1: local key of the destination; BIND_MW:
 *	the window; REG_MR: the region
 * @remote_srqn: XRC, 24 bits; else 0
 * @remote_qpn: UD, 24 bits
 * @remote_qkey: UD
 * @length: bytes of the message, at most WQE_MAX_LENGTH
 * @flush_len: FLUSH: bytes to flush, at most WQE_MAX_LENGTH
 * @feth: FLUSH: see &struct roce_hdr.feth
 * @num_sge: elements of @sge; 0 with IB_SEND_INLINE
 * @first_psn: RC, UC: PSN of the first packet
 * @num_psn: RC, UC: how many PSNs the request takes, 0 until it is first sent;
 *	DRIVER1, TSO: not 0 when it has begun
 * @copied: DRIVER1: bytes that have been copied
 * @segments: TSO: segments that have been sent
 * @piece: RC READ: PSNs of the response to one request packet, 0: all
 * @cut_psn: RC READ, with @piece: where the first of these begins
 * @in_turn: RC READ, with @piece: it was requested as a whole before
 * @recv_index: RC: requests of the QP before this one, since RTS, that take a
 *	receive request of the peer
 * @mss: TSO: bytes of a segment behind the header
 * @hdr_len: TSO: bytes of header; see wqe_tso_header()
 * @compare_add: atomics
 * @swap: atomics
 * @av: UD, RAW_PACKET; the extension as it is in the entry
 * @sge: scatter/gather list
 * @data: inline data
 * @bind: BIND_MW, as in the entry
 * @reg_mr: REG_MR, as in the entry
 */
struct send_req {
	uint64_t wr_id;
	struct wqe_error error;
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

/** wqe_tso_header() - the header of a TSO request: behind its SGEs */
static inline const uint8_t *wqe_tso_header(const struct send_req *req)
{
	return req->data + req->num_sge * sizeof(req->sge[0]);
}

/**
 * struct recv_req - a receive queue entry, checked
 * @wr_id: for the completion
 * @error: if @error.status is not 0, only @wr_id counts beside it
 * @capacity: bytes that fit in
 * @num_sge: elements of @sge
 * @sge: scatter list
 */
struct recv_req {
	uint64_t wr_id;
	struct wqe_error error;
	uint8_t num_sge;
	uint64_t capacity;
	struct sge sge[WQE_MAX_RECV_SGE];
};

/**
 * wqe_fetch_send() - read a send queue entry
 * @qp: the queue pair
 * @index: free-running index of the entry
 * @req: result; of @req->sge or @req->data only what the slot has room for is
 *	written
 *
 * What is wrong with the entry is told in @req->error and counted.
 */
void wqe_fetch_send(struct qp *qp, uint32_t index, struct send_req *req);

/** wqe_send_wr_id() - what a send queue entry is flushed with */
uint64_t wqe_send_wr_id(struct qp *qp, uint32_t index);

/**
 * wqe_fetch_recv() - take the next entry of a QP's RQ or SRQ
 * @qp: the queue pair
 * @req: result
 *
 * Writes the consumer index back and sends the limit event of an SRQ. What is
 * wrong with the entry is told in @req->error and counted. A producer index
 * that is more than a ring ahead is handled as the specification says and
 * looks like an empty queue.
 *
 * Return: whether there was an entry.
 */
bool wqe_fetch_recv(struct qp *qp, struct recv_req *req);

/** wqe_bad_index() - a producer index that cannot be right: count it once */
void wqe_bad_index(struct qp *qp);

/**
 * struct sge_list - buffers of a work request
 * @pd: protection domain that the keys have to be of
 * @sge: the elements
 * @num: how many
 * @kernel: the device's dma_lkey may be used
 * @waiter: QP that waits where a page is not there; NULL: that is an error
 * @stage: ... and what of it
 */
struct sge_list {
	const struct pd *pd;
	const struct sge *sge;
	unsigned int num;
	bool kernel;
	struct qp *waiter;
	enum mynic_page_stage stage;
};

/** send_sges(), recv_sges() - the buffers of a request of a QP */
struct sge_list send_sges(struct qp *qp, const struct send_req *req);
struct sge_list recv_sges(struct qp *qp, const struct recv_req *req);

/**
 * sge_map() - host addresses of a part of a list
 * @nic: the NIC
 * @list: the list
 * @offset: where in the list the part begins, in bytes
 * @len: bytes of the part, inside the list; no more than a packet's payload
 * @write: the NIC is going to write there
 * @iov: result, PACKET_MAX_IOV elements
 * @niov: out: elements of @iov used
 *
 * Return: enum mynic_syndrome, 0 if all is well.
 */
int sge_map(struct nic *nic, const struct sge_list *list, uint64_t offset,
	    uint32_t len, bool write, struct iovec *iov, unsigned int *niov);

/** sge_read() - as sge_map(), but gather the bytes in @dst */
int sge_read(struct nic *nic, const struct sge_list *list, uint64_t offset,
	     uint32_t len, uint8_t *dst);

/** sge_write() - as sge_map(), but scatter the bytes of @iov into the list */
int sge_write(struct nic *nic, const struct sge_list *list, uint64_t offset,
	      uint32_t len, const struct iovec *iov);

/**
 * range_map() - host addresses of a range that is to be written
 * @qp: the queue pair that writes
 * @key: local key with the right to
 * @addr: address
 * @len: bytes, not 0
 * @whole: bytes from @addr on that have to be in the region, at least @len
 * @iov: result, PACKET_MAX_IOV elements
 * @niov: out: elements of @iov used
 *
 * Return: enum mynic_syndrome, 0 if all is well.
 */
int range_map(struct qp *qp, uint32_t key, uint64_t addr, uint32_t len,
	      uint32_t whole, struct iovec *iov, unsigned int *niov);

/**
 * send_payload() - give a packet a part of a message as payload
 * @qp: the sender
 * @req: the message
 * @offset: of the part, in bytes
 * @len: bytes, at most a path MTU
 * @pkt: the packet
 *
 * Return: enum mynic_syndrome, 0 if all is well.
 */
int send_payload(struct qp *qp, const struct send_req *req, uint32_t offset,
		 uint32_t len, struct packet *pkt);

#endif /* MYNIC_WQE_H */
