// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "requester.h"

#include <string.h>

#include "core.h"
#include "opcode.h"
#include "path.h"
#include "psn.h"
#include "sq.h"

/* Packets sent in one run, so that no QP keeps the others waiting */
#define QUANTUM 64
/* Packets that may be on their way; every quarter asks for an ACK */
#define WINDOW 256

#define RNR_RETRY_FOREVER 7

/* The ACK timeout is 4.096 us times 2^timeout (IBTA 9.7.6.1.3) */
#define TIMEOUT_UNIT 4096

/* The times of the RNR NAK timer field, in 10 us (IBTA 9.7.5.2.8) */
#define RNR_TIME_UNIT 10000
static const uint32_t rnr_times[32] = {
	65536, 1,    2,	   3,	 4,    6,     8,     12,    16,	   24,	  32,
	48,    64,   96,   128,	 192,  256,   384,   512,   768,   1024,  1536,
	2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

/* BTH opcodes by OPCODE_FIRST and OPCODE_LAST */
static const uint8_t send_opcodes[] = {
	[0] = BTH_RC_SEND_MIDDLE,
	[OPCODE_FIRST] = BTH_RC_SEND_FIRST,
	[OPCODE_LAST] = BTH_RC_SEND_LAST,
	[OPCODE_ONLY] = BTH_RC_SEND_ONLY,
};

static const uint8_t write_opcodes[] = {
	[0] = BTH_RC_WRITE_MIDDLE,
	[OPCODE_FIRST] = BTH_RC_WRITE_FIRST,
	[OPCODE_LAST] = BTH_RC_WRITE_LAST,
	[OPCODE_ONLY] = BTH_RC_WRITE_ONLY,
};

void requester_start(struct qp *qp)
{
	struct requester *q = &qp->req;

	q->psn = qp->attr.sq_psn;
	q->una = q->psn;
	q->max_psn = q->psn;
	q->window_base = q->psn;
	q->ack_psn = q->psn;
	q->retry_left = qp->attr.retry_cnt;
	q->rnr_left = qp->attr.rnr_retry;
}

static bool is_rd_atomic(const struct send_req *req)
{
	return req->opcode >= IB_WR_RDMA_READ;
}

/* A request that has been sent in part, or is sent again */
static bool begun(const struct qp *qp, uint32_t index)
{
	return index != qp->req.fetched && sq_req(qp, index)->num_psn;
}

bool requester_draining(const struct qp *qp)
{
	return begun(qp, qp->req.ci);
}

void requester_restart_timer(struct qp *qp)
{
	uint64_t timeout = (uint64_t)TIMEOUT_UNIT << qp->attr.timeout;
	struct requester *q = &qp->req;

	if (q->una == q->max_psn || !qp->attr.timeout)
		timer_stop(&q->timer);
	else
		timer_set(&qp->nic->timers, &q->timer,
			  nic_now(qp->nic) + timeout);
}

static void fail(struct qp *qp, enum ib_wc_status status,
		 enum mynic_syndrome syndrome)
{
	sq_fail(qp, (struct wqe_error){ status, syndrome });
}

static void go_back(struct requester *q)
{
	q->cur = q->ci;
	q->psn = q->una;
	q->window_base = q->una;
	q->ack_psn = q->una;
	q->rd_atomic = 0;
}

void requester_retry(struct qp *qp)
{
	struct requester *q = &qp->req;

	if (!q->retry_left) {
		nic_count(qp->nic, MYNIC_STAT_RETRY_EXCEEDED);
		fail(qp, IB_WC_RETRY_EXC_ERR, MYNIC_SYN_RETRY);
		return;
	}
	q->retry_left--;
	go_back(q);
	requester_restart_timer(qp);
}

void requester_rnr(struct qp *qp, unsigned int timer)
{
	uint64_t time = (uint64_t)RNR_TIME_UNIT * rnr_times[timer];
	struct requester *q = &qp->req;

	if (!q->rnr_left) {
		nic_count(qp->nic, MYNIC_STAT_RNR_RETRY_EXCEEDED);
		fail(qp, IB_WC_RNR_RETRY_EXC_ERR, MYNIC_SYN_RNR_RETRY);
		return;
	}
	if (qp->attr.rnr_retry != RNR_RETRY_FOREVER)
		q->rnr_left--;
	go_back(q);
	q->rnr_wait = true;
	timer_set(&qp->nic->timers, &q->timer, nic_now(qp->nic) + time);
}

void requester_timer(struct qp *qp)
{
	struct requester *q = &qp->req;

	if (q->rnr_wait) {
		q->rnr_wait = false;
		return;
	}
	nic_count(qp->nic, MYNIC_STAT_TIMEOUT);
	q->went_back = false;
	requester_retry(qp);
}

/* Whether fences, limits and the window let the next packet go */
static bool may_send(const struct qp *qp, const struct send_req *req)
{
	const struct requester *q = &qp->req;
	uint32_t base = q->una;

	if (!req->num_psn || q->psn == req->first_psn || is_rd_atomic(req)) {
		if (req->flags & IB_SEND_FENCE && q->rd_atomic)
			return false;
		if (is_rd_atomic(req) && q->rd_atomic >= qp->attr.max_rd_atomic)
			return false;
	}
	if (!req->num_psn &&
	    q->psn - q->una + path_packets(qp, req->length) > PSN_HALF)
		return false;
	if ((int32_t)(q->window_base - base) > 0)
		base = q->window_base;
	return q->psn - base < WINDOW;
}

/* A packet that takes the PSNs up to @next is ready to go */
static void send_packet(struct qp *qp, struct packet *pkt, uint32_t next)
{
	struct requester *q = &qp->req;

	pkt->roce.psn = q->psn & PSN_MASK;
	if (pkt->roce.ack_req)
		q->ack_psn = next;
	q->psn = next;
	if ((int32_t)(next - q->max_psn) > 0)
		q->max_psn = next;
	else
		nic_count(qp->nic, MYNIC_STAT_RETRANSMIT);
	if (!timer_is_set(&q->timer))
		requester_restart_timer(qp);
	path_send(qp->nic, pkt);
}

static void set_reth(struct roce_hdr *hdr, const struct send_req *req,
		     uint32_t offset)
{
	hdr->remote_addr = req->remote_addr + offset;
	hdr->rkey = req->rkey;
	hdr->dma_len = req->length - offset;
}

/* SEND or RDMA WRITE. Return: enum mynic_syndrome, 0 if the packet is sent */
static int send_data(struct qp *qp, const struct send_req *req,
		     struct packet *pkt)
{
	uint32_t offset = (qp->req.psn - req->first_psn) * path_mtu(qp);
	uint32_t len = req->length - offset;
	struct requester *q = &qp->req;
	unsigned int position = 0;
	bool has_imm = false;
	int syndrome;

	if (!offset)
		position |= OPCODE_FIRST;
	if (len <= path_mtu(qp))
		position |= OPCODE_LAST;
	else
		len = path_mtu(qp);
	syndrome = send_payload(qp, req, offset, len, pkt);
	if (syndrome)
		return syndrome;
	if (req->opcode == IB_WR_SEND || req->opcode == IB_WR_SEND_WITH_IMM) {
		pkt->roce.opcode = send_opcodes[position];
	} else {
		pkt->roce.opcode = write_opcodes[position];
		if (position & OPCODE_FIRST)
			set_reth(&pkt->roce, req, 0);
	}
	pkt->roce.ack_req = q->psn + 1 - q->ack_psn >= WINDOW / 4;
	if (position & OPCODE_LAST) {
		has_imm = req->opcode == IB_WR_SEND_WITH_IMM ||
			  req->opcode == IB_WR_RDMA_WRITE_WITH_IMM;
		/* The opcode with immediate data is always the next one */
		pkt->roce.opcode += has_imm;
		pkt->roce.imm = req->imm;
		pkt->roce.ack_req = true;
		pkt->roce.solicited = req->flags & IB_SEND_SOLICITED;
		q->cur++;
	}
	send_packet(qp, pkt, q->psn + 1);
	return MYNIC_SYN_NONE;
}

/* After a retry, what has arrived of the response is not requested again */
static void send_read(struct qp *qp, const struct send_req *req,
		      struct packet *pkt)
{
	struct requester *q = &qp->req;

	set_reth(&pkt->roce, req, (q->psn - req->first_psn) * path_mtu(qp));
	pkt->roce.opcode = BTH_RC_READ_REQUEST;
	pkt->roce.ack_req = true;
	q->rd_atomic++;
	q->cur++;
	send_packet(qp, pkt, req->first_psn + req->num_psn);
	q->window_base = q->psn;
}

static void send_atomic(struct qp *qp, const struct send_req *req,
			struct packet *pkt)
{
	struct requester *q = &qp->req;

	pkt->roce.remote_addr = req->remote_addr;
	pkt->roce.rkey = req->rkey;
	if (req->opcode == IB_WR_ATOMIC_CMP_AND_SWP) {
		pkt->roce.opcode = BTH_RC_CMP_SWAP;
		pkt->roce.compare = req->compare_add;
		pkt->roce.swap_add = req->swap;
	} else {
		pkt->roce.opcode = BTH_RC_FETCH_ADD;
		pkt->roce.swap_add = req->compare_add;
	}
	pkt->roce.ack_req = true;
	q->rd_atomic++;
	q->cur++;
	send_packet(qp, pkt, q->psn + 1);
	q->window_base = q->psn;
}

static struct wqe_error send_one(struct qp *qp, const struct send_req *req)
{
	struct packet pkt;
	int syndrome;

	if (!path_init(qp, &qp->attr.av, qp->attr.dest_qpn, &pkt))
		return (struct wqe_error){ IB_WC_LOC_QP_OP_ERR,
					   MYNIC_SYN_BAD_GID };
	switch (req->opcode) {
	case IB_WR_RDMA_READ:
		send_read(qp, req, &pkt);
		break;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		send_atomic(qp, req, &pkt);
		break;
	default:
		syndrome = send_data(qp, req, &pkt);
		if (syndrome)
			return (struct wqe_error){ IB_WC_LOC_PROT_ERR,
						   syndrome };
	}
	return (struct wqe_error){ 0 };
}

bool requester_run(struct qp *qp)
{
	struct requester *q = &qp->req;

	for (unsigned int i = 0; i < QUANTUM; i++) {
		struct send_req *req;

		if (q->rnr_wait)
			return false;
		if (qp->state == IB_QPS_SQD && !begun(qp, q->cur))
			return false;
		req = sq_next(qp);
		if (!req)
			return false;
		if (is_rd_atomic(req) && !qp->attr.max_rd_atomic)
			req->error = (struct wqe_error){ IB_WC_LOC_QP_OP_ERR,
							 MYNIC_SYN_BAD_OPCODE };
		if (req->error.status) {
			/* Those before it may still succeed */
			if (q->ci != q->cur)
				return false;
			sq_fail(qp, req->error);
			return true;
		}
		if (!may_send(qp, req))
			return false;
		if (!req->num_psn) {
			req->first_psn = q->psn;
			req->num_psn = path_packets(qp, req->length);
		}
		req->error = send_one(qp, req);
	}
	return true;
}
