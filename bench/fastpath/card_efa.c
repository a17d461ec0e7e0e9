// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * efa: an SRD QP, whose requests all have an address handle, and whose send
 * requests are written to the device's memory. Its release in Debian has no
 * thread domains, and ibv_post_send() of SENDs only.
 */
#include <util/util.h>

#include <infiniband/efadv.h>
#include <rdma/efa-abi.h>
#include <rdma/ib_user_verbs.h>

#include "bench.h"
#include "efa_io_defs.h"
#include "kernel.h"

#define FIELD(value, mask) (((value) & (mask)) >> __builtin_ctz(mask))
#define AH 7
#define EX_QUERY_DEVICE \
	(IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_QUERY_DEVICE)

static struct {
	void *ring;
	uint32_t entry_size;
	uint32_t size;
	uint32_t pi;
} cq;

static struct {
	struct efa_io_tx_wqe *sq;
	struct efa_io_rx_desc *rq;
	uint32_t sq_size;
	uint32_t rq_size;
	uint32_t *sq_doorbell;
	uint32_t *rq_doorbell;
	uint16_t sq_ci;
	uint16_t rq_ci;
} qp;

static void card_efa_get_context(const struct command *c)
{
	struct efa_ibv_alloc_ucontext_resp *resp =
		COMMAND_OUT(c, struct efa_ibv_alloc_ucontext_resp);

	resp->cmds_supp_udata_mask = EFA_USER_CMDS_SUPP_UDATA_QUERY_DEVICE |
				     EFA_USER_CMDS_SUPP_UDATA_CREATE_AH;
	resp->sub_cqs_per_cq = 1;
	resp->inline_buf_size = PAYLOAD_LEN;
	resp->max_llq_size = RING * sizeof(struct efa_io_tx_wqe);
}

static void card_efa_query_device(const struct command *c)
{
	struct efa_ibv_ex_query_device_resp *resp =
		COMMAND_OUT(c, struct efa_ibv_ex_query_device_resp);
	struct ib_uverbs_ex_query_device_resp *core = c->core_out;

	core->base.max_qp = 256;
	core->base.max_sge_rd = 1;
	core->response_length = sizeof(*core) + sizeof(*resp);
	resp->max_sq_wr = RING;
	resp->max_rq_wr = RING;
	resp->max_sq_sge = 2;
	resp->max_rq_sge = 4;
	resp->max_rdma_size = 1 << 30;
	resp->device_caps = EFA_QUERY_DEVICE_CAPS_RDMA_READ |
			    EFA_QUERY_DEVICE_CAPS_RDMA_WRITE;
}

static void card_efa_create_cq(const struct command *c)
{
	const struct efa_ibv_create_cq *req =
		COMMAND_IN(c, struct efa_ibv_create_cq);
	const struct ib_uverbs_create_cq_resp *core = c->core_out;
	struct efa_ibv_create_cq_resp *resp =
		COMMAND_OUT(c, struct efa_ibv_create_cq_resp);

	cq.entry_size = req->cq_entry_size;
	cq.size = core->cqe;
	resp->q_mmap_size = (size_t)cq.size * cq.entry_size;
	cq.ring =
		kernel_alloc((uint64_t *)&resp->q_mmap_key, resp->q_mmap_size);
}

static void card_efa_create_qp(const struct command *c)
{
	const struct efa_ibv_create_qp *req =
		COMMAND_IN(c, struct efa_ibv_create_qp);
	struct efa_ibv_create_qp_resp *resp =
		COMMAND_OUT(c, struct efa_ibv_create_qp_resp);

	resp->rq_mmap_size = req->rq_ring_size;
	qp.rq = kernel_alloc((uint64_t *)&resp->rq_mmap_key, req->rq_ring_size);
	qp.sq = kernel_alloc((uint64_t *)&resp->llq_desc_mmap_key,
			     req->sq_ring_size);
	qp.rq_doorbell = kernel_alloc((uint64_t *)&resp->rq_db_mmap_key, 4096);
	qp.sq_doorbell = kernel_alloc((uint64_t *)&resp->sq_db_mmap_key, 4096);
	qp.sq_size = req->sq_ring_size / sizeof(*qp.sq);
	qp.rq_size = req->rq_ring_size / sizeof(*qp.rq);
}

static void card_efa_create_ah(const struct command *c)
{
	struct efa_ibv_create_ah_resp *resp =
		COMMAND_OUT(c, struct efa_ibv_create_ah_resp);

	resp->efa_address_handle = AH;
}

static const struct answer answers[] = {
	{ IB_USER_VERBS_CMD_GET_CONTEXT, card_efa_get_context },
	{ EX_QUERY_DEVICE, card_efa_query_device },
	{ IB_USER_VERBS_CMD_CREATE_CQ, card_efa_create_cq },
	{ IB_USER_VERBS_CMD_CREATE_QP, card_efa_create_qp },
	{ IB_USER_VERBS_CMD_CREATE_AH, card_efa_create_ah },
	{},
};

static struct ibv_context *card_efa_open(void)
{
	return kernel_open(&verbs_provider_efa, 1, answers);
}

static struct ibv_qp *card_efa_create_srd(struct ibv_context *context,
					  struct ibv_qp_init_attr_ex *attr)
{
	struct efadv_qp_init_attr efa_attr = {
		.driver_qp_type = EFADV_QP_DRIVER_TYPE_SRD,
	};

	attr->qp_type = IBV_QPT_DRIVER;
	return efadv_create_qp_ex(context, attr, &efa_attr, sizeof(efa_attr));
}

static void card_efa_complete(enum efa_io_queue_type queue, uint8_t op,
			      uint16_t req_id)
{
	struct efa_io_rx_cdesc_ex *cqe =
		cq.ring + (size_t)(cq.pi & (cq.size - 1)) * cq.entry_size;

	*cqe = (struct efa_io_rx_cdesc_ex){
		.base.common.req_id = req_id,
		.base.common.qp_num = KERNEL_QPN,
		.base.common.flags = queue << 1 | op << 4 | !(cq.pi & cq.size),
		.base.length = PAYLOAD_LEN,
	};
	cq.pi++;
}

static void card_efa_carry_out_sends(void)
{
	uint16_t pi = *qp.sq_doorbell;
	struct efa_io_tx_meta_desc *meta;

	for (; qp.sq_ci != pi; qp.sq_ci++) {
		meta = &qp.sq[qp.sq_ci & (qp.sq_size - 1)].meta;
		CHECK_EQ(meta->ah, AH);
		card_efa_complete(EFA_IO_SEND_QUEUE,
				  FIELD(meta->ctrl1,
					EFA_IO_TX_META_DESC_OP_TYPE_MASK),
				  meta->req_id);
	}
}

static void card_efa_carry_out_recvs(void)
{
	uint16_t pi = *qp.rq_doorbell;

	for (; qp.rq_ci != pi; qp.rq_ci++)
		card_efa_complete(EFA_IO_RECV_QUEUE, EFA_IO_SEND,
				  qp.rq[qp.rq_ci & (qp.rq_size - 1)].req_id);
}

const struct card card = {
	.lacks = LACKS_WRITE | LACKS_TD,
	.open = card_efa_open,
	.create_qp = card_efa_create_srd,
	.needs_ah = true,
	.send = card_efa_carry_out_sends,
	.recv = card_efa_carry_out_recvs,
};
