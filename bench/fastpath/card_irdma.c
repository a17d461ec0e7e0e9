// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * irdma for its second generation of devices. It has neither ibv_wr_*() nor
 * thread domains. Valid entries have a bit, and doorbells carry no index. The
 * bit is checked here up to the provider's own index.
 */
#include <endian.h>

#include <util/util.h>

#include <rdma/ib_user_verbs.h>
#include <rdma/irdma-abi.h>

#include "bench.h"
#include "defs.h"
#include "kernel.h"
#include "user.h"

#define QTYPE_RQ 0
#define QTYPE_SQ 1

static struct {
	struct irdma_cqe *ring;
	uint32_t size;
	uint32_t pi;
	bool lap;
} cq;

static struct irdma_qp_uk *qp;
static uint32_t sq_ci, rq_ci;
static bool sq_lap, rq_lap;
static uint32_t *doorbell;

static void card_irdma_get_context(const struct command *c)
{
	struct irdma_alloc_ucontext_resp *resp =
		COMMAND_OUT(c, struct irdma_alloc_ucontext_resp);

	resp->hw_rev = 2;
	resp->max_hw_wq_frags = 13;
	resp->max_hw_read_sges = 13;
	resp->max_hw_inline = 101;
	resp->max_hw_rq_quanta = 32768;
	resp->max_hw_wq_quanta = 32768;
	resp->max_hw_sq_chunk = 8;
	resp->max_hw_cq_size = 1 << 20;
	resp->min_hw_cq_size = 32;
	doorbell = kernel_alloc((uint64_t *)&resp->db_mmap_key, 4096);
}

static void card_irdma_create_cq(const struct command *c)
{
	const struct irdma_create_cq_req *req =
		COMMAND_IN(c, struct irdma_create_cq_req);
	const struct ib_uverbs_create_cq_resp *core = c->core_out;

	cq.ring = (void *)(uintptr_t)req->user_cq_buf;
	cq.size = core->cqe;
}

static void card_irdma_create_qp(const struct command *c)
{
	const struct irdma_create_qp_req *req =
		COMMAND_IN(c, struct irdma_create_qp_req);
	const struct ib_uverbs_create_qp_resp *core = c->core_out;
	struct irdma_create_qp_resp *resp =
		COMMAND_OUT(c, struct irdma_create_qp_resp);

	qp = (void *)(uintptr_t)req->user_compl_ctx;
	resp->qp_id = KERNEL_QPN;
	resp->actual_sq_size = core->max_send_wr;
	resp->actual_rq_size = core->max_recv_wr;
}

static const struct answer answers[] = {
	{ IB_USER_VERBS_CMD_GET_CONTEXT, card_irdma_get_context },
	{ IB_USER_VERBS_CMD_CREATE_CQ, card_irdma_create_cq },
	{ IB_USER_VERBS_CMD_CREATE_QP, card_irdma_create_qp },
	{},
};

static struct ibv_context *card_irdma_open(void)
{
	return kernel_open(&verbs_provider_irdma, 5, answers);
}

static uint32_t card_irdma_next(uint32_t index, uint32_t count, uint32_t size,
				bool *lap)
{
	index += count;
	if (index < size)
		return index;
	*lap = !*lap;
	return index - size;
}

static void card_irdma_complete(uint64_t queue, uint64_t op, uint64_t index)
{
	__le64 *cqe = cq.ring[cq.pi].buf;

	cqe[0] = htole64(FIELD_PREP(IRDMACQ_PAYLDLEN, PAYLOAD_LEN));
	cqe[1] = htole64((uintptr_t)qp);
	cqe[2] = htole64(FIELD_PREP(IRDMACQ_QPID, KERNEL_QPN));
	cqe[3] = htole64(FIELD_PREP(IRDMA_CQ_WQEIDX, index) |
			 FIELD_PREP(IRDMACQ_OP, op) |
			 FIELD_PREP(IRDMA_CQ_SQ, queue) |
			 FIELD_PREP(IRDMA_CQ_VALID, !cq.lap));
	cq.pi = card_irdma_next(cq.pi, 1, cq.size, &cq.lap);
}

/* NOPs fill what is left of a chunk of the ring. */
static void card_irdma_carry_out_sends(void)
{
	uint64_t hdr, op;
	uint32_t quanta;

	CHECK_EQ(*doorbell, KERNEL_QPN);
	*doorbell = 0;
	while (sq_ci != qp->sq_ring.head) {
		hdr = le64toh(qp->sq_base[sq_ci].elem[3]);
		op = FIELD_GET(IRDMAQPSQ_OPCODE, hdr);
		quanta = 1;
		CHECK_EQ(FIELD_GET(IRDMAQPSQ_VALID, hdr), !sq_lap);
		if (op != IRDMAQP_OP_NOP) {
			card_irdma_complete(QTYPE_SQ, op, sq_ci);
			quanta = qp->sq_wrtrk_array[sq_ci].quanta;
		}
		sq_ci = card_irdma_next(sq_ci, quanta, qp->sq_ring.size,
					&sq_lap);
	}
}

static void card_irdma_carry_out_recvs(void)
{
	uint32_t step = qp->rq_wqe_size_multiplier;
	uint64_t hdr;

	while (rq_ci != qp->rq_ring.head) {
		hdr = le64toh(qp->rq_base[rq_ci * step].elem[3]);
		CHECK_EQ(FIELD_GET(IRDMAQPSQ_VALID, hdr), !rq_lap);
		card_irdma_complete(QTYPE_RQ, IRDMA_OP_TYPE_SEND, rq_ci * step);
		rq_ci = card_irdma_next(rq_ci, 1, qp->rq_ring.size, &rq_lap);
	}
}

const struct card card = {
	.lacks = LACKS_WR | LACKS_TD,
	.open = card_irdma_open,
	.send = card_irdma_carry_out_sends,
	.recv = card_irdma_carry_out_recvs,
};
