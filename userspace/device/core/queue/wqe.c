// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Parsing of work queue entries, and access to the buffers that they name. Each
 * entry is copied from guest memory once and checked in the copy.
 */

#include "queue/wqe.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

#include "base/iov.h"
#include "base/util.h"
#include "base/verbs.h"
#include "function/eq.h"
#include "memory/buf.h"
#include "memory/mkey.h"
#include "packet/feth.h"
#include "packet/packet.h"
#include "qp/counters.h"
#include "qp/odp.h"
#include "qp/qp.h"
#include "qp/qp_error.h"
#include "queue/srq.h"
#include "state/memory_types.h"
#include "state/nic_types.h"
#include "state/queue_types.h"

/*
 * The host has just written the entry, so its cache line is fetched before it
 * is needed
 */
#define WQE_AHEAD 2u

enum {
	RC = 1 << MYNIC_QP_RC,
	UC = 1 << MYNIC_QP_UC,
	UD = 1 << MYNIC_QP_UD | 1 << MYNIC_QP_GSI,
	RAW = 1 << MYNIC_QP_RAW_PACKET,
	XRC = 1 << MYNIC_QP_XRC_INI,
	DRIVER = 1 << MYNIC_QP_DRIVER,
};

/* Types and flags of each send opcode, in addition to the flags of the type */
static const struct {
	uint16_t types;
	uint8_t flags;
	uint8_t traits;
} send_table[MYNIC_WQE_OPCODE_MASK + 1] = {
	[IBV_WR_RDMA_WRITE] = { RC | XRC | UC, IBV_SEND_INLINE },
	[IBV_WR_RDMA_WRITE_WITH_IMM] = { RC | XRC | UC, IBV_SEND_INLINE,
					 SEND_TAKES_RECV },
	[IBV_WR_SEND] = { RC | XRC | UC | UD | RAW, IBV_SEND_INLINE,
			  SEND_TAKES_RECV },
	[IBV_WR_SEND_WITH_IMM] = { RC | XRC | UC | UD, IBV_SEND_INLINE,
				   SEND_TAKES_RECV },
	[IBV_WR_RDMA_READ] = { RC | XRC, 0, SEND_HAS_RESPONSE },
	[IBV_WR_ATOMIC_CMP_AND_SWP] = { RC | XRC, 0, SEND_HAS_RESPONSE },
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = { RC | XRC, 0, SEND_HAS_RESPONSE },
	[IBV_WR_LOCAL_INV] = { RC | XRC | UC, 0, SEND_IS_LOCAL },
	[IBV_WR_BIND_MW] = { RC | XRC | UC, 0, SEND_IS_LOCAL },
	[IBV_WR_SEND_WITH_INV] = { RC | XRC | UC, IBV_SEND_INLINE,
				   SEND_TAKES_RECV },
	[IBV_WR_TSO] = { UD | RAW, 0 },
	[IBV_WR_DRIVER1] = { DRIVER, IBV_SEND_INLINE },
	[IBV_WR_FLUSH] = { RC | XRC, 0, SEND_HAS_RESPONSE },
	[IBV_WR_ATOMIC_WRITE] = { RC | XRC, IBV_SEND_INLINE,
				  SEND_HAS_RESPONSE },
	[MYNIC_WR_REG_MR] = { RC | XRC | UC, 0, SEND_IS_LOCAL },
};

#define COMMON_FLAGS (IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED)

/* What an entry has between its fixed part and its data */
enum wqe_ext {
	WQE_EXT_NONE,
	WQE_EXT_AV, /* and no remote address in its fixed part */
	WQE_EXT_ETH,
	WQE_EXT_XRC,
	WQE_EXT_UNUSED,
};

/* By type: the flags that all opcodes accept, and the format */
static const struct {
	uint8_t flags;
	uint8_t ext;
} wqe_formats[] = {
	[MYNIC_QP_RC] = { COMMON_FLAGS, WQE_EXT_NONE },
	[MYNIC_QP_UC] = { COMMON_FLAGS, WQE_EXT_NONE },
	[MYNIC_QP_UD] = { COMMON_FLAGS | IBV_SEND_IP_CSUM, WQE_EXT_AV },
	[MYNIC_QP_GSI] = { COMMON_FLAGS | IBV_SEND_IP_CSUM, WQE_EXT_AV },
	[MYNIC_QP_RAW_PACKET] = { COMMON_FLAGS | IBV_SEND_IP_CSUM,
				  WQE_EXT_ETH },
	[MYNIC_QP_XRC_INI] = { COMMON_FLAGS, WQE_EXT_XRC },
	[MYNIC_QP_DRIVER] = { COMMON_FLAGS, WQE_EXT_UNUSED },
};

/*
 * Guest memory may change at any time. The barrier keeps the compiler from
 * reading the source again.
 */
static void wqe_fetch(void *dst, const void *src, size_t len)
{
	memcpy(dst, src, len);
	__asm__ __volatile__("" : : : "memory");
}

static void wqe_fetch_sges(struct sge *sge, const void *src, unsigned int num)
{
	wqe_fetch(sge, src, num * sizeof(*sge));
	for (unsigned int i = 0; i < num; i++) {
		sge[i].addr = le64toh(sge[i].addr);
		sge[i].length = le32toh(sge[i].length);
		sge[i].lkey = le32toh(sge[i].lkey);
	}
}

static_assert(sizeof(struct sge) == sizeof(struct mynic_sge), "sge");

enum outcome wqe_refuse(struct nic *nic, enum outcome why)
{
	nic_count(nic, MYNIC_STAT_BAD_WQE);
	return why;
}

static enum outcome wqe_fetch_data(struct qp *qp, const uint8_t *data,
				   uint32_t room, uint32_t len,
				   struct send_req *req)
{
	struct mynic_atomic_operands operands;
	uint64_t length = 0;

	if (req->flags & IBV_SEND_INLINE) {
		if (len > room)
			return wqe_refuse(qp->nic, OUTCOME_BAD_ENTRY);
		wqe_fetch(req->data, data, len);
		req->length = len;
		return OUTCOME_OK;
	}
	if (len > room / sizeof(struct mynic_sge))
		return wqe_refuse(qp->nic, OUTCOME_BAD_ENTRY);
	req->num_sge = len;
	wqe_fetch_sges(req->sge, data, len);
	for (uint32_t i = 0; i < len; i++)
		length += req->sge[i].length;
	if (length > WQE_MAX_LENGTH)
		return wqe_refuse(qp->nic, OUTCOME_BAD_LEN);
	req->length = length;
	if (req->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	    req->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		if (len != 1 || length != sizeof(uint64_t))
			return wqe_refuse(qp->nic, OUTCOME_BAD_LEN);
		wqe_fetch(&operands, data + MYNIC_WQE_ATOMIC, sizeof(operands));
		req->compare_add = le64toh(operands.compare_add);
		req->swap = le64toh(operands.swap);
	}
	return OUTCOME_OK;
}

/* A FLUSH is a message without payload; its range is in the operands */
static enum outcome wqe_fetch_flush(struct qp *qp, const uint8_t *data,
				    uint32_t room, uint32_t len,
				    struct send_req *req)
{
	struct mynic_flush_operands operands;
	uint32_t placement, selectivity;
	uint64_t length;

	if (len || room < sizeof(operands))
		return wqe_refuse(qp->nic, OUTCOME_BAD_ENTRY);
	wqe_fetch(&operands, data, sizeof(operands));
	length = le64toh(operands.length);
	if (length > WQE_MAX_LENGTH)
		return wqe_refuse(qp->nic, OUTCOME_BAD_LEN);
	placement = le32toh(operands.placement);
	selectivity = le32toh(operands.selectivity);
	if (!feth_is_valid(placement, selectivity))
		return wqe_refuse(qp->nic, OUTCOME_BAD_FLAGS);
	req->feth = feth_make(placement, selectivity);
	req->flush_len = length;
	req->length = 0;
	return OUTCOME_OK;
}

static enum outcome wqe_fetch_local(struct qp *qp, const uint8_t *data,
				    uint32_t room, uint32_t len,
				    struct send_req *req)
{
	uint32_t size = 0;

	if (req->opcode == IBV_WR_BIND_MW)
		size = sizeof(req->bind);
	else if (req->opcode == MYNIC_WR_REG_MR)
		size = sizeof(req->reg_mr);
	if (len || size > room)
		return wqe_refuse(qp->nic, OUTCOME_BAD_ENTRY);
	wqe_fetch(req->data, data, size);
	req->length = 0;
	return OUTCOME_OK;
}

static enum outcome wqe_fetch_atomic_write(struct qp *qp, const uint8_t *data,
					   uint32_t room, uint32_t len,
					   struct send_req *req)
{
	enum outcome outcome = wqe_fetch_data(qp, data, room, len, req);

	if (!outcome && (req->length != sizeof(uint64_t) || req->num_sge > 1))
		return wqe_refuse(qp->nic, OUTCOME_BAD_LEN);
	return outcome;
}

/*
 * In the entry the header comes before the SGEs; in @req it is stored behind
 * them
 */
static enum outcome wqe_fetch_tso(struct qp *qp, const uint8_t *data,
				  uint32_t room,
				  const struct mynic_send_wqe *wqe,
				  struct send_req *req)
{
	uint32_t align = sizeof(struct mynic_sge);
	uint32_t header_room;
	enum outcome outcome;

	req->mss = le16toh(wqe->mss);
	req->hdr_len = le16toh(wqe->hdr_len);
	header_room = (req->hdr_len + align - 1) / align * align;
	if (header_room > room)
		return wqe_refuse(qp->nic, OUTCOME_BAD_ENTRY);
	outcome = wqe_fetch_data(qp, data + header_room, room - header_room,
				 le32toh(wqe->len), req);
	if (!outcome)
		wqe_fetch((void *)wqe_tso_header(req), data, req->hdr_len);
	return outcome;
}

/* Only the kernel may make a region of DMA addresses */
static bool wqe_is_allowed(const struct qp *qp, uint8_t opcode)
{
	if (opcode == MYNIC_WR_REG_MR && !(qp->flags & MYNIC_QP_KERNEL))
		return false;
	return send_table[opcode].types & 1 << qp->type;
}

static enum outcome wqe_read_send(struct qp *qp, const uint8_t *slot,
				  struct send_req *req)
{
	uint32_t stride = 1u << qp->sq.ring.log_stride;
	enum wqe_ext ext = wqe_formats[qp->type].ext;
	uint32_t data = ext ? MYNIC_WQE_DATA_EXT : MYNIC_WQE_DATA_RC;
	struct mynic_send_wqe wqe;
	struct mynic_xrc_ext xrc;
	struct mynic_eth_ext eth;
	uint32_t ctrl;

	wqe_fetch(&wqe, slot, sizeof(wqe));
	req->wr_id = le64toh(wqe.wr_id);
	ctrl = le32toh(wqe.ctrl);
	req->opcode = ctrl & MYNIC_WQE_OPCODE_MASK;
	req->flags = ctrl >> MYNIC_WQE_FLAGS_SHIFT;
	req->num_sge = 0;
	if (!wqe_is_allowed(qp, req->opcode))
		return wqe_refuse(qp->nic, OUTCOME_BAD_OPCODE);
	if (ctrl >> MYNIC_WQE_FLAGS_SHIFT &
	    ~(wqe_formats[qp->type].flags | send_table[req->opcode].flags))
		return wqe_refuse(qp->nic, OUTCOME_BAD_FLAGS);
	req->traits = send_table[req->opcode].traits;
	if (req->opcode == IBV_WR_LOCAL_INV ||
	    req->opcode == IBV_WR_SEND_WITH_INV)
		req->imm = le32toh(wqe.invalidate_rkey);
	else
		req->imm = wqe.imm_data;
	req->remote_srqn = 0;
	if (ext == WQE_EXT_AV) {
		req->remote_qpn = le32toh(wqe.remote_qpn) & 0xffffff;
		req->remote_qkey = le32toh(wqe.remote_qkey);
		wqe_fetch(&req->av, slot + MYNIC_WQE_EXT, sizeof(req->av));
	} else {
		req->remote_addr = le64toh(wqe.remote_addr);
		req->rkey = le32toh(wqe.rkey);
	}
	if (ext == WQE_EXT_ETH) {
		wqe_fetch(&eth, slot + MYNIC_WQE_EXT, sizeof(eth));
		req->vlan = eth.vlan ? le16toh(eth.vlan) : PACKET_NO_VLAN;
	}
	if (ext == WQE_EXT_XRC) {
		wqe_fetch(&xrc, slot + MYNIC_WQE_EXT, sizeof(xrc));
		req->remote_srqn = le32toh(xrc.remote_srqn) & 0xffffff;
	}
	if (req->opcode == IBV_WR_TSO)
		return wqe_fetch_tso(qp, slot + data, stride - data, &wqe, req);
	if (req->opcode == IBV_WR_FLUSH)
		return wqe_fetch_flush(qp, slot + data, stride - data,
				       le32toh(wqe.len), req);
	if (req->opcode == IBV_WR_ATOMIC_WRITE)
		return wqe_fetch_atomic_write(qp, slot + data, stride - data,
					      le32toh(wqe.len), req);
	if (req->traits & SEND_IS_LOCAL)
		return wqe_fetch_local(qp, slot + data, stride - data,
				       le32toh(wqe.len), req);
	return wqe_fetch_data(qp, slot + data, stride - data, le32toh(wqe.len),
			      req);
}

void wqe_fetch_send(struct qp *qp, uint32_t index, struct send_req *req)
{
	const uint8_t *slot = ring_slot(qp->nic, &qp->sq.ring, index, false);

	req->num_psn = 0;
	req->traits = 0;
	req->done = false;
	if (slot) {
		__builtin_prefetch(slot +
				   (WQE_AHEAD << qp->sq.ring.log_stride));
		req->outcome = wqe_read_send(qp, slot, req);
		return;
	}
	req->wr_id = 0;
	req->opcode = WQE_NO_OPCODE;
	req->outcome = OUTCOME_NO_ENTRY;
}

struct wqe_id wqe_send_id(struct qp *qp, uint32_t index)
{
	const struct mynic_send_wqe *slot =
		ring_slot(qp->nic, &qp->sq.ring, index, false);
	struct wqe_id id = { .opcode = WQE_NO_OPCODE };

	if (slot) {
		id.wr_id = le64toh(slot->wr_id);
		id.opcode = le32toh(slot->ctrl) & MYNIC_WQE_OPCODE_MASK;
	}
	return id;
}

static enum outcome wqe_read_recv(struct nic *nic, const uint8_t *slot,
				  uint32_t stride, struct recv_req *req)
{
	uint32_t room = (stride - sizeof(struct mynic_recv_wqe)) /
			sizeof(struct mynic_sge);
	struct mynic_recv_wqe wqe;
	uint32_t num_sge;

	wqe_fetch(&wqe, slot, sizeof(wqe));
	req->wr_id = le64toh(wqe.wr_id);
	num_sge = le32toh(wqe.num_sge);
	if (num_sge > room)
		return wqe_refuse(nic, OUTCOME_BAD_ENTRY);
	req->num_sge = num_sge;
	wqe_fetch_sges(req->sge, slot + sizeof(wqe), num_sge);
	req->capacity = 0;
	for (uint32_t i = 0; i < num_sge; i++)
		req->capacity += req->sge[i].length;
	return OUTCOME_OK;
}

static void wqe_fetch_recv_slot(struct nic *nic, struct ring *ring,
				uint32_t index, struct recv_req *req)
{
	const uint8_t *slot = ring_slot(nic, ring, index, false);

	if (slot) {
		req->outcome =
			wqe_read_recv(nic, slot, 1u << ring->log_stride, req);
		return;
	}
	req->wr_id = 0;
	req->outcome = OUTCOME_NO_ENTRY;
}

static bool wqe_fetch_from_srq(struct nic *nic, struct srq *srq,
			       struct recv_req *req)
{
	struct mynic_srq_dbrec *dbrec;
	uint32_t left;

	if (srq->error)
		return false;
	dbrec = srq_dbrec(nic, srq);
	if (!dbrec) {
		srq_to_error(nic, srq);
		return false;
	}
	left = buf_load_index(&dbrec->pi) - srq->ci;
	if (left > ring_size(&srq->ring)) {
		nic_count(nic, MYNIC_STAT_BAD_INDEX);
		srq_to_error(nic, srq);
		return false;
	}
	if (!left)
		return false;
	wqe_fetch_recv_slot(nic, &srq->ring, srq->ci, req);
	buf_store_index(&dbrec->ci, ++srq->ci);
	if (left - 1 < srq->limit) {
		srq->limit = 0;
		eq_raise(nic, &srq->events, MYNIC_EVENT_SRQ_LIMIT);
	}
	return true;
}

void wqe_bad_index(struct qp *qp)
{
	if (qp->state == IBV_QPS_ERR)
		return;
	qp_count(qp, MYNIC_STAT_BAD_INDEX);
	qp_to_error(qp->nic, qp, MYNIC_EVENT_QP_FATAL);
}

static bool wqe_fetch_from_rq(struct nic *nic, struct qp *qp,
			      struct recv_req *req)
{
	struct mynic_qp_dbrec *dbrec;
	uint32_t pi, left;

	dbrec = qp_dbrec(nic, qp);
	if (!dbrec) {
		qp_to_error(nic, qp, MYNIC_EVENT_QP_FATAL);
		return false;
	}
	pi = buf_load_index(&dbrec->rq_pi);
	left = pi - qp->rq.ci;
	if (left > ring_size(&qp->rq.ring) || left < qp->rq.pi - qp->rq.ci) {
		wqe_bad_index(qp);
		return false;
	}
	qp->rq.pi = pi;
	if (!left)
		return false;
	wqe_fetch_recv_slot(nic, &qp->rq.ring, qp->rq.ci, req);
	buf_store_index(&dbrec->rq_ci, ++qp->rq.ci);
	return true;
}

bool wqe_fetch_recv(struct qp *qp, struct recv_req *req)
{
	if (qp->srq)
		return wqe_fetch_from_srq(qp->nic, qp->srq, req);
	return qp->has_rq && wqe_fetch_from_rq(qp->nic, qp, req);
}

struct sge_list send_sges(struct qp *qp, const struct send_req *req)
{
	return (struct sge_list){
		.pd = qp->sq.pd,
		.sge = req->sge,
		.num = req->num_sge,
		.kernel = qp->flags & MYNIC_QP_KERNEL,
		.waiter = qp,
		.stage = MYNIC_PAGE_SEND,
	};
}

struct sge_list recv_sges(struct qp *qp, const struct recv_req *req)
{
	return (struct sge_list){
		.pd = qp->srq ? qp->srq->pd : qp->pd,
		.sge = req->sge,
		.num = req->num_sge,
		.kernel = qp->flags & MYNIC_QP_KERNEL,
		/*
		 * A frame is dropped rather than kept until a missing page is
		 * there
		 */
		.waiter = qp->service->receive ? qp : NULL,
		.stage = MYNIC_PAGE_RECV,
	};
}

/*
 * A region without memory that a request of the host names is an error of the
 * request. One that a peer names ends the QP
 */
static enum outcome wqe_blame(enum outcome outcome)
{
	if (outcome == OUTCOME_DMA || outcome == OUTCOME_SCATTERED)
		return OUTCOME_LKEY_DMA;
	return outcome;
}

/* How many of @len bytes from @addr on are in the region; @addr itself is */
static uint32_t wqe_inside(const struct mkey *mkey, uint64_t addr, uint32_t len)
{
	return min_u64(len, mkey->length - (addr - mkey->iova));
}

static enum outcome wqe_map_one(struct nic *nic, const struct sge_list *list,
				const struct sge *sge, uint32_t offset,
				uint32_t len, struct iov_list *out)
{
	/*
	 * Reads are checked for the whole element, because all of it will be
	 * read. Writes are checked only for what is written.
	 */
	const struct mkey_range range = {
		.key = sge->lkey,
		.access = out->write ? IBV_ACCESS_LOCAL_WRITE : 0,
		.addr = sge->addr + (out->write ? offset : 0),
		.len = out->write ? len : sge->length,
	};
	uint64_t addr = sge->addr + offset;
	struct page_fault fault;
	enum outcome outcome;
	struct mkey *mkey;

	outcome = mkey_check_local(nic, list->pd, list->kernel, &range, &mkey);
	if (outcome)
		return outcome;
	outcome = mkey_iov(nic, mkey, addr, len, out, &fault);
	if (outcome != OUTCOME_NO_PAGE)
		return outcome;
	if (!list->waiter)
		return OUTCOME_DMA;
	fault.len += wqe_inside(mkey, addr + len, sge->length - offset - len);
	return odp_wait(list->waiter, list->stage, &fault);
}

enum outcome sge_map(struct nic *nic, const struct sge_list *list,
		     uint64_t offset, uint32_t len, struct iov_list *out)
{
	const struct sge *sge = list->sge;
	const struct sge *end = sge + list->num;

	while (sge != end && offset >= sge->length)
		offset -= sge++->length;
	for (; len && sge != end; sge++, offset = 0) {
		uint32_t n = min_u32(sge->length - offset, len);
		enum outcome outcome;

		if (!n)
			continue;
		outcome = wqe_map_one(nic, list, sge, offset, n, out);
		if (outcome)
			return wqe_blame(outcome);
		len -= n;
	}
	return OUTCOME_OK;
}

enum outcome range_map(struct qp *qp, uint32_t key, uint64_t addr, uint32_t len,
		       uint32_t whole, struct iov_list *out)
{
	const struct mkey_range range = {
		.key = key,
		.access = IBV_ACCESS_LOCAL_WRITE,
		.addr = addr,
		.len = whole,
	};
	struct page_fault fault;
	enum outcome outcome;
	struct mkey *mkey;

	outcome = mkey_check_local(qp->nic, qp->pd, false, &range, &mkey);
	if (!outcome)
		outcome = mkey_iov(qp->nic, mkey, addr, len, out, &fault);
	if (outcome == OUTCOME_NO_PAGE)
		outcome = odp_wait(qp, MYNIC_PAGE_SEND, &fault);
	return wqe_blame(outcome);
}

enum outcome sge_read(struct nic *nic, const struct sge_list *list,
		      uint64_t offset, uint32_t len, uint8_t *dst)
{
	struct iovec iov[PACKET_MAX_IOV];
	struct iov_cursor cursor = { .iov = iov };
	struct iov_list src = { .iov = iov, .max = PACKET_MAX_IOV };
	enum outcome outcome;

	outcome = sge_map(nic, list, offset, len, &src);
	if (!outcome)
		iov_read(&cursor, dst, len);
	return outcome;
}

enum outcome sge_write(struct nic *nic, const struct sge_list *list,
		       uint64_t offset, uint32_t len, const struct iovec *iov)
{
	struct iovec pieces[PACKET_MAX_IOV];
	struct iov_list dst = {
		.iov = pieces,
		.max = PACKET_MAX_IOV,
		.write = true,
	};
	enum outcome outcome;

	outcome = sge_map(nic, list, offset, len, &dst);
	if (outcome)
		return outcome;
	iov_copy(dst.iov, dst.num, iov);
	return OUTCOME_OK;
}

enum outcome send_payload(struct qp *qp, const struct send_req *req,
			  uint32_t offset, uint32_t len, struct packet *pkt)
{
	struct iov_list out = { .iov = pkt->iov, .max = PACKET_MAX_IOV };
	struct sge_list list = send_sges(qp, req);
	enum outcome outcome;

	pkt->payload_len = len;
	if (req->flags & IBV_SEND_INLINE) {
		pkt->niov = 1;
		pkt->iov[0].iov_base = (uint8_t *)req->data + offset;
		pkt->iov[0].iov_len = len;
		return OUTCOME_OK;
	}
	outcome = sge_map(qp->nic, &list, offset, len, &out);
	pkt->niov = out.num;
	return outcome;
}
