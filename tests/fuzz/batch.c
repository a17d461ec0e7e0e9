// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The critical section of ibv_wr_start() and ibv_wr_complete() or _abort() */
#include <string.h>

#include "runner.h"

static void build(const struct line *line, struct ibv_qp_ex *qp,
		  const struct request *req)
{
	const struct ibv_send_wr *wr = &req->wr;
	uint64_t remote_addr = wr->wr.rdma.remote_addr;
	uint32_t rkey = wr->wr.rdma.rkey;

	switch (wr->opcode) {
	case IBV_WR_SEND:
		ibv_wr_send(qp);
		break;
	case IBV_WR_SEND_WITH_IMM:
		ibv_wr_send_imm(qp, wr->imm_data);
		break;
	case IBV_WR_SEND_WITH_INV:
		ibv_wr_send_inv(qp, wr->invalidate_rkey);
		break;
	case IBV_WR_RDMA_WRITE:
		ibv_wr_rdma_write(qp, rkey, remote_addr);
		break;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		ibv_wr_rdma_write_imm(qp, rkey, remote_addr, wr->imm_data);
		break;
	case IBV_WR_RDMA_READ:
		ibv_wr_rdma_read(qp, rkey, remote_addr);
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		ibv_wr_atomic_cmp_swp(qp, wr->wr.atomic.rkey, remote_addr,
				      wr->wr.atomic.compare_add,
				      wr->wr.atomic.swap);
		break;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		ibv_wr_atomic_fetch_add(qp, wr->wr.atomic.rkey, remote_addr,
					wr->wr.atomic.compare_add);
		break;
	case IBV_WR_ATOMIC_WRITE:
		ibv_wr_atomic_write(qp, rkey, remote_addr,
				    (void *)(uintptr_t)wr->sg_list->addr);
		break;
	case IBV_WR_TSO:
		ibv_wr_send_tso(qp, wr->tso.hdr, wr->tso.hdr_sz, wr->tso.mss);
		break;
	case IBV_WR_FLUSH:
		ibv_wr_flush(qp, rkey, remote_addr, req->flush.len,
			     req->flush.type, req->flush.level);
		break;
	case IBV_WR_LOCAL_INV:
		ibv_wr_local_inv(qp, wr->invalidate_rkey);
		break;
	case IBV_WR_BIND_MW:
		ibv_wr_bind_mw(qp, wr->bind_mw.mw, wr->bind_mw.rkey,
			       &wr->bind_mw.bind_info);
		break;
	default:
		fail(line, "opcode %u has no builder", wr->opcode);
	}
}

static void set_inline(struct ibv_qp_ex *qp, const struct ibv_send_wr *wr,
		       bool list)
{
	struct ibv_data_buf bufs[64] = { 0 };

	for (int i = 0; i < wr->num_sge; i++) {
		bufs[i].addr = (void *)(uintptr_t)wr->sg_list[i].addr;
		bufs[i].length = wr->sg_list[i].length;
	}
	if (list)
		ibv_wr_set_inline_data_list(qp, wr->num_sge, bufs);
	else
		ibv_wr_set_inline_data(qp, bufs[0].addr, bufs[0].length);
}

static void set_data(const struct line *line, struct ibv_qp_ex *qp,
		     const struct request *req)
{
	const struct ibv_send_wr *wr = &req->wr;
	const char *setter = req->setter;

	if (!setter)
		return;
	if (!strcmp(setter, "sge"))
		ibv_wr_set_sge(qp, wr->sg_list->lkey, wr->sg_list->addr,
			       wr->sg_list->length);
	else if (!strcmp(setter, "sge_list"))
		ibv_wr_set_sge_list(qp, wr->num_sge, wr->sg_list);
	else if (!strcmp(setter, "inline_data"))
		set_inline(qp, wr, false);
	else if (!strcmp(setter, "inline_data_list"))
		set_inline(qp, wr, true);
	else
		fail(line, "there is no setter %s", setter);
}

static void add_one(const struct line *line, struct ibv_qp_ex *qp,
		    const struct request *req)
{
	qp->wr_id = req->wr.wr_id;
	qp->wr_flags = req->wr.send_flags;
	build(line, qp, req);
	if (req->ud)
		ibv_wr_set_ud_addr(qp, req->wr.wr.ud.ah,
				   req->wr.wr.ud.remote_qpn,
				   req->wr.wr.ud.remote_qkey);
	if (req->srqn)
		ibv_wr_set_xrc_srqn(qp, req->wr.qp_type.xrc.remote_srqn);
	set_data(line, qp, req);
}

static void add(const struct line *line, struct ibv_qp_ex *qp, char *text)
{
	unsigned int n = request_count(line, true);
	struct request req;

	request_parse(line, text, &req);
	while (n--)
		add_one(line, qp, &req);
}

/*
 * The calls of a batch are arguments, in their order: wr=, complete=, abort=. A
 * section of the queue pair beside= is open meanwhile.
 */
bool batch_call(const struct line *line)
{
	struct ibv_qp *beside = maybe(line, KIND_QP, "beside");
	struct ibv_qp_ex *qp;
	int err = 0;

	if (strcmp(line->verb, "wr_batch"))
		return false;
	qp = ibv_qp_to_qp_ex(live(line, KIND_QP, line->target));
	if (beside)
		ibv_wr_start(ibv_qp_to_qp_ex(beside));
	ibv_wr_start(qp);
	for (unsigned int i = 0; i < line->num_args; i++)
		if (!strncmp(line->args[i], "wr=", 3))
			add(line, qp, line->args[i] + 3);
	if (number(line, "abort", 0))
		ibv_wr_abort(qp);
	else
		err = ibv_wr_complete(qp);
	if (beside)
		ibv_wr_abort(ibv_qp_to_qp_ex(beside));
	expect_errno(line, err);
	return true;
}
