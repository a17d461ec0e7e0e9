// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * bnxt_re for its newest devices (P7), with entries of variable size and a
 * table of message numbers. Its page for the pacing of doorbells asks for no
 * pause. It has neither extended CQs nor thread domains, and its
 * ibv_wr_complete() finishes only the last request of a batch.
 */
#include <endian.h>

#include <rdma/bnxt_re-abi.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>

#include "bench.h"
#include "bnxt_re-abi.h"
#include "kernel.h"

#define CHIP_P7 0x1760
#define SLOT_SIZE 16

static struct {
	void *ring;
	uint32_t size;
	uint32_t pi;
	uint8_t phase;
} cq;

/* Requests are of several slots, and counted, too. */
static struct {
	void *sq;
	uint64_t handle;
	uint32_t sq_slots;
	uint32_t sq_slot;
	uint32_t sq_ci;
	uint32_t rq_size;
	uint32_t rq_ci;
} qp;

static struct bnxt_re_db_hdr *doorbell;

static void card_bnxt_re_get_context(const struct command *c)
{
	struct bnxt_re_uctx_resp *resp =
		COMMAND_OUT(c, struct bnxt_re_uctx_resp);

	resp->max_qp = 1024;
	resp->pg_size = 4096;
	resp->cqe_sz =
		sizeof(struct bnxt_re_req_cqe) + sizeof(struct bnxt_re_bcqe);
	resp->max_cqd = 1 << 20;
	resp->comp_mask = BNXT_RE_UCNTX_CMASK_HAVE_CCTX |
			  BNXT_RE_UCNTX_CMASK_HAVE_MODE |
			  BNXT_RE_UCNTX_CMASK_DBR_PACING_ENABLED |
			  BNXT_RE_UCNTX_CMASK_POW2_DISABLED |
			  BNXT_RE_UCNTX_CMASK_MSN_TABLE_ENABLED;
	resp->chip_id0 = CHIP_P7;
	resp->mode = BNXT_QPLIB_WQE_MODE_VARIABLE;
}

static void card_bnxt_re_query_device(const struct command *c)
{
	struct ib_uverbs_query_device_resp *core = c->core_out;

	core->max_qp_wr = 1 << 15;
	core->max_sge = 13;
}

static void card_bnxt_re_alloc_pd(const struct command *c)
{
	struct bnxt_re_pd_resp *resp = COMMAND_OUT(c, struct bnxt_re_pd_resp);
	uint64_t offset;

	doorbell = kernel_alloc(&offset, 4096);
	resp->dbr = offset;
}

static void card_bnxt_re_create_cq(const struct command *c)
{
	const struct bnxt_re_cq_req *req = COMMAND_IN(c, struct bnxt_re_cq_req);
	const struct ib_uverbs_create_cq_resp *core = c->core_out;

	cq.ring = (void *)(uintptr_t)req->cq_va;
	cq.size = core->cqe + 1;
	cq.phase = 1;
	COMMAND_OUT(c, struct bnxt_re_cq_resp)->phase = cq.phase;
}

static void card_bnxt_re_create_qp(const struct command *c)
{
	const struct bnxt_re_qp_req *req = COMMAND_IN(c, struct bnxt_re_qp_req);
	const struct ib_uverbs_create_qp_resp *core = c->core_out;

	qp.sq = (void *)(uintptr_t)req->qpsva;
	qp.handle = req->qp_handle;
	qp.sq_slots = req->sq_slots;
	qp.rq_size = core->max_recv_wr + 1;
	COMMAND_OUT(c, struct bnxt_re_qp_resp)->qpid = KERNEL_QPN;
}

static const struct answer answers[] = {
	{ IB_USER_VERBS_CMD_GET_CONTEXT, card_bnxt_re_get_context },
	{ IB_USER_VERBS_CMD_QUERY_DEVICE, card_bnxt_re_query_device },
	{ IB_USER_VERBS_CMD_ALLOC_PD, card_bnxt_re_alloc_pd },
	{ IB_USER_VERBS_CMD_CREATE_CQ, card_bnxt_re_create_cq },
	{ IB_USER_VERBS_CMD_CREATE_QP, card_bnxt_re_create_qp },
	{},
};

/* A page, which is zero */
static int card_bnxt_re_answer_ioctl(uint16_t object, uint16_t method,
				     struct ib_uverbs_attr *attrs,
				     int num_attrs)
{
	CHECK_EQ(object, BNXT_RE_OBJECT_ALLOC_PAGE);
	CHECK_EQ(method, BNXT_RE_METHOD_ALLOC_PAGE);
	for (int i = 0; i < num_attrs; i++) {
		void *out = (void *)(uintptr_t)attrs[i].data;

		switch (attrs[i].attr_id) {
		case BNXT_RE_ALLOC_PAGE_MMAP_OFFSET:
			kernel_alloc(out, 4096);
			break;
		case BNXT_RE_ALLOC_PAGE_MMAP_LENGTH:
			*(uint32_t *)out = 4096;
			break;
		}
	}
	return 0;
}

static struct ibv_context *card_bnxt_re_open(void)
{
	kernel_ioctl(card_bnxt_re_answer_ioctl);
	return kernel_open(&verbs_provider_bnxt_re, 1, answers);
}

static struct bnxt_re_bcqe *card_bnxt_re_next_cqe(void **cqe)
{
	*cqe = cq.ring + (size_t)cq.pi * (sizeof(struct bnxt_re_req_cqe) +
					  sizeof(struct bnxt_re_bcqe));
	return *cqe + sizeof(struct bnxt_re_req_cqe);
}

static void card_bnxt_re_finish_cqe(struct bnxt_re_bcqe *hdr, uint32_t type)
{
	hdr->flg_st_typ_ph =
		htole32(type << BNXT_RE_BCQE_TYPE_SHIFT | cq.phase);
	if (++cq.pi == cq.size) {
		cq.pi = 0;
		cq.phase = !cq.phase;
	}
}

/* All kinds of doorbells go to the same address. */
static uint32_t card_bnxt_re_rung(uint32_t type)
{
	uint32_t typ_qid = le32toh(doorbell->typ_qid);

	CHECK_EQ(typ_qid >> BNXT_RE_DB_TYP_SHIFT & BNXT_RE_DB_TYP_MASK, type);
	CHECK_EQ(typ_qid & BNXT_RE_DB_QID_MASK, KERNEL_QPN);
	return le32toh(doorbell->indx) & BNXT_RE_DB_INDX_MASK;
}

static void card_bnxt_re_carry_out_sends(void)
{
	uint32_t pi = card_bnxt_re_rung(BNXT_RE_QUE_TYPE_SQ);
	struct bnxt_re_req_cqe *cqe;
	struct bnxt_re_bcqe *hdr;
	struct bnxt_re_bsqe *wqe;

	while (qp.sq_slot != pi) {
		wqe = qp.sq + (size_t)qp.sq_slot * SLOT_SIZE;
		qp.sq_slot += le32toh(wqe->rsv_ws_fl_wt) >>
				      BNXT_RE_HDR_WS_SHIFT &
			      BNXT_RE_HDR_WS_MASK;
		qp.sq_slot %= qp.sq_slots;
		qp.sq_ci = (qp.sq_ci + 1) % qp.sq_slots;
		hdr = card_bnxt_re_next_cqe((void **)&cqe);
		cqe->qp_handle = htole64(qp.handle);
		cqe->con_indx = htole32(qp.sq_ci);
		card_bnxt_re_finish_cqe(hdr, BNXT_RE_WC_TYPE_SEND);
	}
}

static void card_bnxt_re_carry_out_recvs(void)
{
	uint32_t pi = card_bnxt_re_rung(BNXT_RE_QUE_TYPE_RQ);
	struct bnxt_re_rc_cqe *cqe;
	struct bnxt_re_bcqe *hdr;

	while (qp.rq_ci != pi) {
		qp.rq_ci = (qp.rq_ci + 1) % qp.rq_size;
		hdr = card_bnxt_re_next_cqe((void **)&cqe);
		cqe->qp_handle = htole64(qp.handle);
		cqe->length = htole32(PAYLOAD_LEN);
		card_bnxt_re_finish_cqe(hdr, BNXT_RE_WC_TYPE_RECV_RC);
	}
}

const struct card card = {
	.lacks = LACKS_WR_BATCH | LACKS_EX | LACKS_TD,
	.open = card_bnxt_re_open,
	.send = card_bnxt_re_carry_out_sends,
	.recv = card_bnxt_re_carry_out_recvs,
};
