// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* rxe, whose doorbell is a write(2), here to /dev/null */
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_rxe.h>

#include "bench.h"
#include "kernel.h"

static struct rxe_queue_buf *cq, *sq, *rq;

/* A ring has one slot that is never used. */
static struct rxe_queue_buf *card_rxe_queue(struct mminfo *info,
					    size_t elem_size)
{
	struct rxe_queue_buf *q;
	int log = 0;

	while (1U << log < elem_size)
		log++;
	info->size = sizeof(*q) + (2 * RING << log);
	q = kernel_alloc((uint64_t *)&info->offset, info->size);
	q->log2_elem_size = log;
	q->index_mask = 2 * RING - 1;
	return q;
}

static void card_rxe_create_cq(const struct command *c)
{
	cq = card_rxe_queue(&COMMAND_OUT(c, struct rxe_create_cq_resp)->mi,
			    sizeof(struct ib_uverbs_wc));
}

static void card_rxe_create_qp(const struct command *c)
{
	struct rxe_create_qp_resp *resp =
		COMMAND_OUT(c, struct rxe_create_qp_resp);

	sq = card_rxe_queue(&resp->sq_mi, sizeof(struct rxe_send_wqe) +
						  2 * sizeof(struct rxe_sge));
	rq = card_rxe_queue(&resp->rq_mi, sizeof(struct rxe_recv_wqe) +
						  sizeof(struct rxe_sge));
}

static const struct answer answers[] = {
	{ IB_USER_VERBS_CMD_CREATE_CQ, card_rxe_create_cq },
	{ IB_USER_VERBS_CMD_CREATE_QP, card_rxe_create_qp },
	{},
};

static struct ibv_context *card_rxe_open(void)
{
	return kernel_open(&verbs_provider_rxe, 2, answers);
}

static void *card_rxe_slot(struct rxe_queue_buf *q, uint32_t index)
{
	return q->data + ((size_t)index << q->log2_elem_size);
}

static void card_rxe_complete(enum ibv_wc_opcode opcode, uint64_t wr_id)
{
	struct ib_uverbs_wc *wc = card_rxe_slot(cq, cq->producer_index);

	*wc = (struct ib_uverbs_wc){
		.wr_id = wr_id,
		.opcode = opcode,
		.byte_len = PAYLOAD_LEN,
		.qp_num = KERNEL_QPN,
	};
	cq->producer_index = (cq->producer_index + 1) & cq->index_mask;
}

static void card_rxe_carry_out_sends(void)
{
	struct rxe_send_wqe *wqe;

	while (sq->consumer_index != sq->producer_index) {
		wqe = card_rxe_slot(sq, sq->consumer_index);
		card_rxe_complete(wqe->wr.opcode == IBV_WR_RDMA_WRITE ?
					  IBV_WC_RDMA_WRITE :
					  IBV_WC_SEND,
				  wqe->wr.wr_id);
		sq->consumer_index = (sq->consumer_index + 1) & sq->index_mask;
	}
}

static void card_rxe_carry_out_recvs(void)
{
	struct rxe_recv_wqe *wqe;

	while (rq->consumer_index != rq->producer_index) {
		wqe = card_rxe_slot(rq, rq->consumer_index);
		card_rxe_complete(IBV_WC_RECV, wqe->wr_id);
		rq->consumer_index = (rq->consumer_index + 1) & rq->index_mask;
	}
}

const struct card card = {
	.lacks = LACKS_TD,
	.open = card_rxe_open,
	.send = card_rxe_carry_out_sends,
	.recv = card_rxe_carry_out_recvs,
};
