// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* erdma, which has neither ibv_wr_*() nor extended CQs nor thread domains */
#include <endian.h>

#include <util/util.h>

#include <rdma/erdma-abi.h>
#include <rdma/ib_user_verbs.h>

#include "bench.h"
#include "erdma_hw.h"
#include "kernel.h"

static struct {
	struct erdma_cqe *ring;
	uint32_t size;
	uint32_t pi;
} cq;

/* Requests are of several basic blocks. */
static struct {
	void *sq;
	uint32_t sq_size;
	__le64 *dbrec;
	uint16_t sq_ci;
	uint16_t rq_ci;
} qp;

static void card_erdma_get_context(const struct command *c)
{
	struct erdma_uresp_alloc_ctx *resp =
		COMMAND_OUT(c, struct erdma_uresp_alloc_ctx);

	resp->sdb_type = ERDMA_SDB_PAGE;
	kernel_alloc((uint64_t *)&resp->sdb, 4096);
	kernel_alloc((uint64_t *)&resp->rdb, 4096);
	kernel_alloc((uint64_t *)&resp->cdb, 4096);
}

static void card_erdma_create_cq(const struct command *c)
{
	const struct erdma_ureq_create_cq *req =
		COMMAND_IN(c, struct erdma_ureq_create_cq);
	struct erdma_uresp_create_cq *resp =
		COMMAND_OUT(c, struct erdma_uresp_create_cq);

	cq.ring = (void *)(uintptr_t)req->qbuf_va;
	cq.size = req->qbuf_len / sizeof(*cq.ring);
	resp->num_cqe = cq.size;
}

static void card_erdma_create_qp(const struct command *c)
{
	const struct erdma_ureq_create_qp *req =
		COMMAND_IN(c, struct erdma_ureq_create_qp);
	struct erdma_uresp_create_qp *resp =
		COMMAND_OUT(c, struct erdma_uresp_create_qp);

	qp.sq = (void *)(uintptr_t)req->qbuf_va;
	qp.sq_size = RING * MAX_WQEBB_PER_SQE;
	qp.dbrec = (void *)(uintptr_t)req->db_record_va;
	resp->qp_id = KERNEL_QPN;
	resp->num_sqe = qp.sq_size;
	resp->num_rqe = RING;
	resp->rq_offset = qp.sq_size << SQEBB_SHIFT;
}

static const struct answer answers[] = {
	{ IB_USER_VERBS_CMD_GET_CONTEXT, card_erdma_get_context },
	{ IB_USER_VERBS_CMD_CREATE_CQ, card_erdma_create_cq },
	{ IB_USER_VERBS_CMD_CREATE_QP, card_erdma_create_qp },
	{},
};

static struct ibv_context *card_erdma_open(void)
{
	return kernel_open(&verbs_provider_erdma, 1, answers);
}

static void card_erdma_complete(uint32_t queue, uint32_t opcode, uint16_t index)
{
	struct erdma_cqe *cqe = &cq.ring[cq.pi & (cq.size - 1)];

	*cqe = (struct erdma_cqe){
		.hdr = htobe32(FIELD_PREP(ERDMA_CQE_HDR_OWNER_MASK,
					  !(cq.pi & cq.size)) |
			       FIELD_PREP(ERDMA_CQE_HDR_OPCODE_MASK, opcode) |
			       FIELD_PREP(ERDMA_CQE_HDR_QTYPE_MASK, queue)),
		.qe_idx = htobe32(index),
		.qpn = htobe32(KERNEL_QPN),
		.size = htobe32(PAYLOAD_LEN),
	};
	cq.pi++;
}

static void card_erdma_carry_out_sends(void)
{
	uint16_t pi = le64toh(qp.dbrec[0]);
	uint64_t hdr;

	while (qp.sq_ci != pi) {
		hdr = le64toh(
			*(__le64 *)(qp.sq + (qp.sq_ci & (qp.sq_size - 1)) *
						    SQEBB_SIZE));
		CHECK_EQ(FIELD_GET(ERDMA_SQE_HDR_QPN_MASK, hdr), KERNEL_QPN);
		card_erdma_complete(ERDMA_CQE_QTYPE_SQ,
				    FIELD_GET(ERDMA_SQE_HDR_OPCODE_MASK, hdr),
				    qp.sq_ci);
		qp.sq_ci += FIELD_GET(ERDMA_SQE_HDR_WQEBB_CNT_MASK, hdr) + 1;
	}
}

/* The record of the RQ is the first half of the entry that was posted last. */
static void card_erdma_carry_out_recvs(void)
{
	uint16_t pi = le64toh(qp.dbrec[1]);

	for (; qp.rq_ci != pi; qp.rq_ci++)
		card_erdma_complete(ERDMA_CQE_QTYPE_RQ, ERDMA_OP_RECEIVE,
				    qp.rq_ci);
}

const struct card card = {
	.lacks = LACKS_WR | LACKS_EX | LACKS_TD,
	.open = card_erdma_open,
	.send = card_erdma_carry_out_sends,
	.recv = card_erdma_carry_out_recvs,
};
