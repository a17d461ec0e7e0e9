// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * No provider: functions that return at once. They cost as much as the loop and
 * the call, which is subtracted from the cost of providers. Their objects are
 * those of mynic.
 */
#include "../../tests/provider/fastpath/fake.h"
#include "bench.h"

static int card_null_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
			       struct ibv_send_wr **bad)
{
	return 0;
}

static int card_null_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
			       struct ibv_recv_wr **bad)
{
	return 0;
}

static int card_null_poll(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	return n;
}

static void card_null_start(struct ibv_qp_ex *qp)
{
}

static int card_null_complete(struct ibv_qp_ex *qp)
{
	return 0;
}

static void card_null_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr)
{
}

static void card_null_send(struct ibv_qp_ex *qp)
{
}

static void card_null_ud_addr(struct ibv_qp_ex *qp, struct ibv_ah *ah,
			      uint32_t remote_qpn, uint32_t remote_qkey)
{
}

static void card_null_set_sge(struct ibv_qp_ex *qp, uint32_t lkey,
			      uint64_t addr, uint32_t length)
{
}

static void card_null_set_inline(struct ibv_qp_ex *qp, void *addr,
				 size_t length)
{
}

static int card_null_start_poll(struct ibv_cq_ex *cq,
				struct ibv_poll_cq_attr *attr)
{
	return 0;
}

static int card_null_next_poll(struct ibv_cq_ex *cq)
{
	return 0;
}

static void card_null_end_poll(struct ibv_cq_ex *cq)
{
}

static uint32_t card_null_read32(struct ibv_cq_ex *cq)
{
	return 0;
}

static enum ibv_wc_opcode card_null_read_opcode(struct ibv_cq_ex *cq)
{
	return 0;
}

static unsigned int card_null_read_flags(struct ibv_cq_ex *cq)
{
	return 0;
}

static void card_null_nothing(struct ibv_context *context, struct ibv_qp_ex *qp,
			      struct ibv_cq_ex *cq)
{
	context->ops.post_send = card_null_post_send;
	context->ops.post_recv = card_null_post_recv;
	context->ops.poll_cq = card_null_poll;
	qp->wr_start = card_null_start;
	qp->wr_complete = card_null_complete;
	qp->wr_rdma_write = card_null_write;
	qp->wr_send = card_null_send;
	qp->wr_set_ud_addr = card_null_ud_addr;
	qp->wr_set_sge = card_null_set_sge;
	qp->wr_set_inline_data = card_null_set_inline;
	cq->start_poll = card_null_start_poll;
	cq->next_poll = card_null_next_poll;
	cq->end_poll = card_null_end_poll;
	cq->read_opcode = card_null_read_opcode;
	cq->read_byte_len = card_null_read32;
	cq->read_qp_num = card_null_read32;
	cq->read_wc_flags = card_null_read_flags;
}

const struct card card = {
	.open = fake_open,
	.nothing = card_null_nothing,
};
