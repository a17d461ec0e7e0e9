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
#include "state/queue_types.h"

struct iov_list;
struct nic;
struct packet;
struct pd;
struct qp;

/* No operation has this opcode: the entry cannot be read */
#define WQE_NO_OPCODE MYNIC_WQE_OPCODE_MASK

/**
 * struct wqe_id - what the completion of a failed send request depends on
 * @wr_id: for the completion
 * @opcode: enum ibv_wr_opcode, or any other value; WQE_NO_OPCODE
 */
struct wqe_id {
	uint64_t wr_id;
	uint8_t opcode;
};

/* The header of a TSO request, which is stored behind its SGEs. */
static inline const uint8_t *wqe_tso_header(const struct send_req *req)
{
	return req->data + req->num_sge * sizeof(req->sge[0]);
}

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

/* What an entry of a send queue that is flushed without a fetch has. */
struct wqe_id wqe_send_id(struct qp *qp, uint32_t index);

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
