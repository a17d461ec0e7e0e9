// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mlx5 as with a current kernel. Its CQEs have 64 B and name a QP by its user
 * index. It uses BlueFlame, with a doorbell page for each QP or thread domain.
 */
#include <endian.h>
#include <errno.h>

#include <infiniband/mlx5dv.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

#include "bench.h"
#include "kernel.h"

#define UAR_OFFSET (1ULL << 40)

static struct {
	struct mlx5_cqe64 *ring;
	uint32_t size;
	uint32_t pi;
} cq;

static struct {
	void *sq;
	void *rq;
	uint32_t sq_size;
	uint32_t rq_size;
	__be32 *dbrec;
	uint32_t uidx;
	uint16_t sq_ci;
	uint16_t rq_ci;
} qp;

static void card_mlx5_get_context(const struct command *c)
{
	struct mlx5_ib_alloc_ucontext_resp *resp =
		COMMAND_OUT(c, struct mlx5_ib_alloc_ucontext_resp);

	resp->qp_tab_size = 1 << 18;
	resp->bf_reg_size = 512;
	resp->cache_line_size = 64;
	resp->max_sq_desc_sz = 1024;
	resp->max_rq_desc_sz = 512;
	resp->max_send_wqebb = 1 << 15;
	resp->max_recv_wr = 1 << 15;
	resp->max_srq_recv_wr = 1 << 15;
	resp->num_ports = 1;
	resp->response_length = sizeof(*resp);
	resp->cqe_version = 1;
	resp->log_uar_size = 12;
	resp->num_uars_per_page = 1;
}

static void card_mlx5_create_cq(const struct command *c)
{
	const struct mlx5_ib_create_cq *req =
		COMMAND_IN(c, struct mlx5_ib_create_cq);
	const struct ib_uverbs_create_cq_resp *core = c->core_out;

	CHECK_EQ(req->cqe_size, sizeof(*cq.ring));
	cq.ring = (void *)(uintptr_t)req->buf_addr;
	cq.size = core->cqe + 1;
}

static void card_mlx5_create_qp(const struct command *c)
{
	const struct mlx5_ib_create_qp *req =
		COMMAND_IN(c, struct mlx5_ib_create_qp);

	qp.rq = (void *)(uintptr_t)req->buf_addr;
	qp.rq_size = req->rq_wqe_count;
	qp.sq = qp.rq + ((size_t)req->rq_wqe_count << req->rq_wqe_shift);
	qp.sq_size = req->sq_wqe_count;
	qp.dbrec = (void *)(uintptr_t)req->db_addr;
	qp.uidx = req->uidx;
}

static const struct answer answers[] = {
	{ IB_USER_VERBS_CMD_GET_CONTEXT, card_mlx5_get_context },
	{ IB_USER_VERBS_CMD_CREATE_CQ, card_mlx5_create_cq },
	{ IB_USER_VERBS_CMD_CREATE_QP, card_mlx5_create_qp },
	{},
};

/* A doorbell page */
static int card_mlx5_answer_ioctl(uint16_t object, uint16_t method,
				  struct ib_uverbs_attr *attrs, int num_attrs)
{
	static uint32_t page_id;
	int err = EPROTONOSUPPORT;

	if (object == MLX5_IB_OBJECT_UAR &&
	    method == MLX5_IB_METHOD_UAR_OBJ_ALLOC)
		err = 0;
	for (int i = 0; !err && i < num_attrs; i++) {
		void *out = (void *)(uintptr_t)attrs[i].data;

		switch (attrs[i].attr_id) {
		case MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET:
			*(uint64_t *)out = UAR_OFFSET;
			break;
		case MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH:
			*(uint32_t *)out = 4096;
			break;
		case MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID:
			*(uint32_t *)out = ++page_id;
			break;
		}
	}
	return err;
}

static struct ibv_context *card_mlx5_open(void)
{
	kernel_ioctl(card_mlx5_answer_ioctl);
	return kernel_open(&verbs_provider_mlx5, 1, answers);
}

static void card_mlx5_complete(uint8_t opcode, uint8_t wqe_opcode,
			       uint16_t index)
{
	struct mlx5_cqe64 *cqe = &cq.ring[cq.pi & (cq.size - 1)];

	*cqe = (struct mlx5_cqe64){
		.srqn_uidx = htobe32(qp.uidx),
		.byte_cnt = htobe32(PAYLOAD_LEN),
		.sop_drop_qpn =
			htobe32((uint32_t)wqe_opcode << 24 | KERNEL_QPN),
		.wqe_counter = htobe16(index),
		.op_own = opcode << 4 | !!(cq.pi & cq.size),
	};
	cq.pi++;
}

/* The requests of the benchmark take one basic block of 64 B each. */
static void card_mlx5_carry_out_sends(void)
{
	uint16_t pi = be32toh(qp.dbrec[MLX5_SND_DBR]);
	struct mlx5_wqe_ctrl_seg *wqe;

	for (; qp.sq_ci != pi; qp.sq_ci++) {
		wqe = qp.sq + (qp.sq_ci & (qp.sq_size - 1)) * 64;
		CHECK_EQ(be32toh(wqe->opmod_idx_opcode) >> 8 & 0xffff,
			 qp.sq_ci);
		CHECK_EQ(be32toh(wqe->qpn_ds) >> 8, KERNEL_QPN);
		CHECK((be32toh(wqe->qpn_ds) & 0x3f) <= 4);
		card_mlx5_complete(MLX5_CQE_REQ, be32toh(wqe->opmod_idx_opcode),
				   qp.sq_ci);
	}
}

static void card_mlx5_carry_out_recvs(void)
{
	uint16_t pi = be32toh(qp.dbrec[MLX5_RCV_DBR]);

	for (; qp.rq_ci != pi; qp.rq_ci++)
		card_mlx5_complete(MLX5_CQE_RESP_SEND, 0, qp.rq_ci);
}

const struct card card = {
	.open = card_mlx5_open,
	.send = card_mlx5_carry_out_sends,
	.recv = card_mlx5_carry_out_recvs,
};
