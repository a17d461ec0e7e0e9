// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "responder.h"

#include <assert.h>
#include <errno.h>

#include "aeth.h"
#include "core.h"
#include "iov.h"
#include "opcode.h"
#include "path.h"
#include "psn.h"
#include "transport.h"

/* Atomics work on guest memory in place, and that is little-endian */
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "byte order");

void responder_start(struct qp *qp)
{
	qp->resp.epsn = qp->attr.rq_psn;
}

void responder_stop(struct qp *qp)
{
	struct responder *r = &qp->resp;

	responses_clear(r);
	r->nak = RESPONDER_NAK_NONE;
	r->ack = false;
}

void responder_reset(struct qp *qp)
{
	responses_free(&qp->resp);
	qp->resp = (struct responder){ 0 };
}

void responder_fail(struct responder *r, uint32_t psn, uint8_t nak_code,
		    uint8_t event)
{
	r->nak = RESPONDER_NAK_FATAL;
	r->nak_syndrome = AETH_NAK | nak_code;
	r->nak_psn = psn;
	r->nak_event = event;
}

static void complete_recv(struct qp *qp, struct wqe_error error,
			  struct mynic_cqe *cqe, bool solicited)
{
	qp->resp.has_recv = false;
	transport_complete_recv(qp, &qp->resp.recv, error, cqe, solicited);
}

/* The request in use, if any, says why; otherwise an event does */
static void fail(struct qp *qp, uint8_t nak_code, struct wqe_error error,
		 enum mynic_event event)
{
	struct mynic_cqe cqe = { 0 };

	responder_fail(&qp->resp, qp->resp.epsn, nak_code, event);
	if (qp->resp.has_recv)
		complete_recv(qp, error, &cqe, false);
}

static void fail_invalid(struct qp *qp)
{
	fail(qp, AETH_NAK_INVALID_REQUEST,
	     (struct wqe_error){ IB_WC_LOC_QP_OP_ERR, MYNIC_SYN_RQ_INVALID },
	     MYNIC_EVENT_QP_REQ_ERROR);
}

static void fail_access(struct qp *qp)
{
	fail(qp, AETH_NAK_REMOTE_ACCESS,
	     (struct wqe_error){ IB_WC_LOC_ACCESS_ERR, MYNIC_SYN_RQ_ACCESS },
	     MYNIC_EVENT_QP_ACCESS_ERROR);
}

/* This side's fault: the request in use has the reason */
static void fail_local(struct qp *qp, struct wqe_error error)
{
	fail(qp, AETH_NAK_REMOTE_OPERATION, error, 0);
}

/* A key that has gone since it was checked, or memory that has */
static void fail_mkey(struct qp *qp, int err)
{
	if (err == -EACCES || err == -ERANGE)
		fail_access(qp);
	else
		fail(qp, AETH_NAK_REMOTE_OPERATION,
		     (struct wqe_error){ IB_WC_LOC_QP_OP_ERR, MYNIC_SYN_DMA },
		     MYNIC_EVENT_QP_FATAL);
}

/* The packet was accepted */
static void advance(struct responder *r, const struct packet *pkt,
		    const struct opcode_info *info, uint32_t psns)
{
	r->epsn = psn_add(r->epsn, psns);
	r->gap = false;
	if (r->nak == RESPONDER_NAK_RNR ||
	    (r->nak == RESPONDER_NAK_SEQ && psn_diff(r->epsn, r->gap_end) > 0))
		r->nak = RESPONDER_NAK_NONE;
	if (info->class == OPCODE_READ || info->class == OPCODE_ATOMIC)
		r->ack = false; /* the response is one, for all before too */
	else if (pkt->roce.ack_req)
		r->ack = true;
	if (info->flags & OPCODE_LAST) {
		r->msg = 0;
		r->msn = psn_add(r->msn, 1);
	} else {
		r->msg = info->class;
	}
}

/* Have a usable receive request, or answer that there is none */
static bool take_recv(struct qp *qp)
{
	struct responder *r = &qp->resp;

	if (!r->has_recv)
		r->has_recv = wqe_fetch_recv(qp, &r->recv);
	if (!r->has_recv) {
		r->nak = RESPONDER_NAK_RNR;
		r->nak_syndrome = AETH_RNR_NAK | qp->attr.min_rnr_timer;
		r->gap = true;
		return false;
	}
	if (r->recv.error.status) {
		fail_local(qp, r->recv.error);
		return false;
	}
	return true;
}

static void complete_message(struct qp *qp, const struct packet *pkt,
			     const struct opcode_info *info,
			     enum ib_wc_opcode opcode)
{
	struct mynic_cqe cqe = {
		.opcode = htole32(opcode),
		.byte_len = htole32(qp->resp.offset),
	};

	if (info->flags & OPCODE_IMM) {
		cqe.wc_flags = htole32(IB_WC_WITH_IMM);
		cqe.imm_data = pkt->roce.imm;
	}
	complete_recv(qp, (struct wqe_error){ 0 }, &cqe, pkt->roce.solicited);
}

static void execute_send(struct qp *qp, const struct packet *pkt,
			 const struct opcode_info *info)
{
	struct wqe_error error = { .status = IB_WC_LOC_PROT_ERR };
	struct responder *r = &qp->resp;
	struct sge_list list;
	int syndrome;

	if (info->flags & OPCODE_FIRST) {
		if (!take_recv(qp))
			return;
		r->offset = 0;
	}
	if (r->offset + pkt->payload_len > r->recv.capacity ||
	    r->offset + pkt->payload_len > WQE_MAX_LENGTH) {
		fail(qp, AETH_NAK_INVALID_REQUEST,
		     (struct wqe_error){ IB_WC_LOC_LEN_ERR, MYNIC_SYN_RQ_LEN },
		     0);
		return;
	}
	list = recv_sges(qp, &r->recv);
	syndrome = sge_write(qp->nic, &list, r->offset, pkt->payload_len,
			     pkt->iov);
	if (syndrome) {
		error.syndrome = syndrome;
		fail_local(qp, error);
		return;
	}
	r->offset += pkt->payload_len;
	advance(r, pkt, info, 1);
	if (info->flags & OPCODE_LAST)
		complete_message(qp, pkt, info, IB_WC_RECV);
}

/* Check a RETH as a whole. Return: whether it is good */
static bool check_reth(struct qp *qp, const struct roce_hdr *hdr,
		       uint32_t access)
{
	struct mkey *mkey;

	if (!(qp->attr.access_flags & access) ||
	    hdr->dma_len > WQE_MAX_LENGTH) {
		fail_invalid(qp);
		return false;
	}
	if (hdr->dma_len &&
	    mkey_check(qp->nic, qp->pd, hdr->rkey, hdr->remote_addr,
		       hdr->dma_len, access, false, &mkey)) {
		fail_access(qp);
		return false;
	}
	return true;
}

static int place_write(struct qp *qp, const struct packet *pkt)
{
	struct iov_cursor cursor = { .iov = pkt->iov };
	struct iovec dst[PACKET_MAX_IOV];
	struct responder *r = &qp->resp;
	uint64_t addr = r->write_addr + r->offset;
	unsigned int ndst = 0;
	struct mkey *mkey;
	int err;

	if (!pkt->payload_len)
		return 0;
	err = mkey_check(qp->nic, qp->pd, r->write_rkey, addr, pkt->payload_len,
			 IB_ACCESS_REMOTE_WRITE, false, &mkey);
	if (err)
		return err;
	err = mkey_iov(qp->nic, mkey, addr, pkt->payload_len, true, dst,
		       PACKET_MAX_IOV, &ndst);
	if (err)
		return err;
	for (unsigned int i = 0; i < ndst; i++)
		iov_read(&cursor, dst[i].iov_base, dst[i].iov_len);
	return 0;
}

static void execute_write(struct qp *qp, const struct packet *pkt,
			  const struct opcode_info *info)
{
	bool last = info->flags & OPCODE_LAST;
	struct responder *r = &qp->resp;
	uint32_t left;
	int err;

	if (info->flags & OPCODE_FIRST) {
		if (!check_reth(qp, &pkt->roce, IB_ACCESS_REMOTE_WRITE))
			return;
		r->offset = 0;
		r->write_addr = pkt->roce.remote_addr;
		r->write_len = pkt->roce.dma_len;
		r->write_rkey = pkt->roce.rkey;
	}
	left = r->write_len - r->offset;
	if (last ? pkt->payload_len != left : pkt->payload_len >= left) {
		fail_invalid(qp);
		return;
	}
	if (info->flags & OPCODE_IMM && !take_recv(qp))
		return;
	err = place_write(qp, pkt);
	if (err) {
		fail_mkey(qp, err);
		return;
	}
	r->offset += pkt->payload_len;
	advance(r, pkt, info, 1);
	if (info->flags & OPCODE_IMM)
		complete_message(qp, pkt, info, IB_WC_RECV_RDMA_WITH_IMM);
}

/* Return: whether there is room for the answer to a new request */
static bool reserve_response(struct qp *qp)
{
	switch (responses_reserve(qp)) {
	case RESPONSES_ROOM:
		return true;
	case RESPONSES_EXCEEDED:
		fail_invalid(qp);
		return false;
	default:
		/* As if lost: the requester comes again */
		return false;
	}
}

static void execute_read(struct qp *qp, const struct packet *pkt,
			 const struct opcode_info *info)
{
	struct responder *r = &qp->resp;
	struct response response = {
		.first = true,
		.psn = r->epsn,
		.rkey = pkt->roce.rkey,
		.left = pkt->roce.dma_len,
		.addr = pkt->roce.remote_addr,
	};

	if (!check_reth(qp, &pkt->roce, IB_ACCESS_REMOTE_READ) ||
	    !reserve_response(qp))
		return;
	advance(r, pkt, info, path_packets(qp, response.left));
	response.msn = r->msn;
	responses_add(r, &response);
}

static int do_atomic(struct qp *qp, const struct roce_hdr *hdr, uint64_t *orig)
{
	unsigned int niov = 0;
	struct iovec iov[1];
	struct mkey *mkey;
	uint64_t *ptr;
	int err;

	err = mkey_check(qp->nic, qp->pd, hdr->rkey, hdr->remote_addr,
			 sizeof(*ptr), IB_ACCESS_REMOTE_ATOMIC, false, &mkey);
	if (err)
		return err;
	err = mkey_iov(qp->nic, mkey, hdr->remote_addr, sizeof(*ptr), true, iov,
		       1, &niov);
	if (err)
		return err;
	ptr = iov[0].iov_base;
	/* A region whose addresses do not line up with its pages */
	if ((uintptr_t)ptr % sizeof(*ptr))
		return -EFAULT;
	if (hdr->opcode == BTH_RC_FETCH_ADD) {
		*orig = __atomic_fetch_add(ptr, hdr->swap_add,
					   __ATOMIC_SEQ_CST);
	} else {
		*orig = hdr->compare;
		__atomic_compare_exchange_n(ptr, orig, hdr->swap_add, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
	}
	return 0;
}

static void execute_atomic(struct qp *qp, const struct packet *pkt,
			   const struct opcode_info *info)
{
	struct responder *r = &qp->resp;
	struct response response = {
		.atomic = true,
		.psn = r->epsn,
	};
	int err;

	if (!(qp->attr.access_flags & IB_ACCESS_REMOTE_ATOMIC) ||
	    pkt->roce.remote_addr % sizeof(uint64_t)) {
		fail_invalid(qp);
		return;
	}
	if (!reserve_response(qp))
		return;
	err = do_atomic(qp, &pkt->roce, &response.orig);
	if (err) {
		fail_mkey(qp, err);
		return;
	}
	advance(r, pkt, info, 1);
	response.msn = r->msn;
	responses_add(r, &response);
}

/* Does the opcode come in its turn, with the payload that it must have? */
static bool in_order(const struct qp *qp, const struct packet *pkt,
		     const struct opcode_info *info)
{
	bool first = info->flags & OPCODE_FIRST;
	bool last = info->flags & OPCODE_LAST;
	uint8_t msg = qp->resp.msg;

	if (!(info->types & 1 << qp->type) || first != !msg ||
	    (msg && msg != info->class))
		return false;
	if (!(info->flags & OPCODE_PAYLOAD))
		return true;
	if (!last)
		return pkt->payload_len == path_mtu(qp);
	return pkt->payload_len <= path_mtu(qp) && (first || pkt->payload_len);
}

static void execute(struct qp *qp, const struct packet *pkt,
		    const struct opcode_info *info)
{
	if (!in_order(qp, pkt, info)) {
		fail_invalid(qp);
		return;
	}
	switch (info->class) {
	case OPCODE_SEND:
		execute_send(qp, pkt, info);
		break;
	case OPCODE_WRITE:
		execute_write(qp, pkt, info);
		break;
	case OPCODE_READ:
		execute_read(qp, pkt, info);
		break;
	default:
		execute_atomic(qp, pkt, info);
	}
}

/*
 * Read again what is there now. A request that is not good (any more) is
 * dropped: it may be the wire's duplicate of one that has long been answered.
 */
static void repeat_read(struct qp *qp, const struct roce_hdr *hdr)
{
	struct responder *r = &qp->resp;
	struct response response = {
		.duplicate = true,
		.first = true,
		.psn = hdr->psn,
		.msn = r->msn,
		.rkey = hdr->rkey,
		.left = hdr->dma_len,
		.addr = hdr->remote_addr,
	};
	uint32_t behind = psn_add(r->epsn, -hdr->psn);
	struct mkey *mkey;

	if (!(qp->attr.access_flags & IB_ACCESS_REMOTE_READ) ||
	    hdr->dma_len > WQE_MAX_LENGTH ||
	    path_packets(qp, hdr->dma_len) > behind)
		return;
	if (hdr->dma_len &&
	    mkey_check(qp->nic, qp->pd, hdr->rkey, hdr->remote_addr,
		       hdr->dma_len, IB_ACCESS_REMOTE_READ, false, &mkey))
		return;
	responses_add_duplicate(qp, &response);
}

static void repeat_atomic(struct qp *qp, uint32_t psn)
{
	const struct response_queue *queue = &qp->resp.responses;

	/* The latest first: an older one may have the same PSN by wrapping */
	for (unsigned int i = 1; i <= queue->size; i++) {
		const struct atomic_result *result =
			&queue->results[(queue->next_result + queue->size - i) %
					queue->size];
		struct response response = {
			.atomic = true,
			.duplicate = true,
			.psn = psn,
			.msn = result->msn,
			.orig = result->orig,
		};

		if (result->valid && result->psn == psn) {
			responses_add_duplicate(qp, &response);
			return;
		}
	}
}

static void repeat(struct qp *qp, const struct packet *pkt,
		   const struct opcode_info *info)
{
	nic_count(qp->nic, MYNIC_STAT_DUPLICATE);
	switch (info->class) {
	case OPCODE_READ:
		repeat_read(qp, &pkt->roce);
		break;
	case OPCODE_ATOMIC:
		repeat_atomic(qp, pkt->roce.psn);
		break;
	case OPCODE_RESERVED:
		break;
	default:
		qp->resp.ack = true;
	}
}

static void report_gap(struct qp *qp, uint32_t psn)
{
	struct responder *r = &qp->resp;

	nic_count(qp->nic, MYNIC_STAT_OUT_OF_SEQUENCE);
	if (r->nak == RESPONDER_NAK_NONE && !r->gap) {
		r->gap = true;
		r->gap_end = r->epsn;
		r->nak = RESPONDER_NAK_SEQ;
		r->nak_syndrome = AETH_NAK | AETH_NAK_SEQUENCE;
	}
	if (psn_diff(psn, r->gap_end) > 0)
		r->gap_end = psn;
}

void responder_receive(struct qp *qp, const struct packet *pkt,
		       const struct opcode_info *info)
{
	struct responder *r = &qp->resp;
	int32_t ahead = psn_diff(pkt->roce.psn, r->epsn);

	if (r->nak == RESPONDER_NAK_FATAL)
		return;
	if (ahead > 0)
		report_gap(qp, pkt->roce.psn);
	else if (ahead < 0)
		repeat(qp, pkt, info);
	else
		execute(qp, pkt, info);
	qp_schedule(qp->nic, qp);
}
