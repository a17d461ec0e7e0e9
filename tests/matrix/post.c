// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Posting a request through either API */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/mynicdv.h>
#include <string.h>

#include "matrix.h"

#define QKEY 0x11111111
#define MAX_LIST 8

static bool is_inline(enum setter setter)
{
	return setter == SETTER_INLINE || setter == SETTER_INLINE_LIST;
}

static void to_send_wr(struct pair *pair, const struct request *req,
		       struct ibv_send_wr *wr)
{
	*wr = (struct ibv_send_wr){
		.wr_id = req->wr_id,
		.sg_list = (struct ibv_sge *)req->sge,
		.num_sge = req->num_sge,
		.opcode = req->op->opcode,
		.send_flags = req->flags |
			      (is_inline(req->setter) ? IBV_SEND_INLINE : 0),
		.wr.rdma = { req->remote_addr, req->rkey },
	};

	if (req->op->data == DATA_FETCH) {
		wr->wr.atomic.remote_addr = req->remote_addr;
		wr->wr.atomic.rkey = req->rkey;
		wr->wr.atomic.compare_add = req->compare_add;
		wr->wr.atomic.swap = req->swap;
	}
	if (pair->type == TYPE_UD) {
		wr->wr.ud.ah = pair->ah;
		wr->wr.ud.remote_qpn = req->remote_qpn;
		wr->wr.ud.remote_qkey = QKEY;
	}
	if (pair->type == TYPE_XRC)
		wr->qp_type.xrc.remote_srqn = pair->srqn;
	switch (req->op->opcode) {
	case IBV_WR_SEND_WITH_INV:
	case IBV_WR_LOCAL_INV:
		wr->invalidate_rkey = req->invalidate;
		break;
	case IBV_WR_BIND_MW:
		wr->bind_mw.mw = req->mw;
		wr->bind_mw.rkey = req->rkey;
		wr->bind_mw.bind_info = req->bind;
		break;
	case IBV_WR_TSO:
		wr->tso.hdr = req->hdr;
		wr->tso.hdr_sz = req->hdr_len;
		wr->tso.mss = req->mss;
		break;
	default:
		wr->imm_data = htonl(IMM);
	}
}

static int post_list(struct pair *pair, const struct request *reqs,
		     unsigned int num, unsigned int *bad)
{
	struct ibv_send_wr wrs[MAX_LIST], *bad_wr = NULL;
	int err;

	for (unsigned int i = 0; i < num; i++) {
		to_send_wr(pair, &reqs[i], &wrs[i]);
		if (i)
			wrs[i - 1].next = &wrs[i];
	}
	err = ibv_post_send(pair->qp, wrs, &bad_wr);
	*bad = bad_wr ? bad_wr - wrs : num;
	return err;
}

void begin(struct ibv_qp_ex *qpx, const struct request *req)
{
	uint64_t addr = req->remote_addr;
	uint32_t rkey = req->rkey;

	switch (req->op->opcode) {
	case IBV_WR_SEND:
		ibv_wr_send(qpx);
		break;
	case IBV_WR_SEND_WITH_IMM:
		ibv_wr_send_imm(qpx, htonl(IMM));
		break;
	case IBV_WR_SEND_WITH_INV:
		ibv_wr_send_inv(qpx, req->invalidate);
		break;
	case IBV_WR_RDMA_WRITE:
		ibv_wr_rdma_write(qpx, rkey, addr);
		break;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		ibv_wr_rdma_write_imm(qpx, rkey, addr, htonl(IMM));
		break;
	case IBV_WR_RDMA_READ:
		ibv_wr_rdma_read(qpx, rkey, addr);
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		ibv_wr_atomic_cmp_swp(qpx, rkey, addr, req->compare_add,
				      req->swap);
		break;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		ibv_wr_atomic_fetch_add(qpx, rkey, addr, req->compare_add);
		break;
	case IBV_WR_ATOMIC_WRITE:
		ibv_wr_atomic_write(qpx, rkey, addr,
				    (void *)(uintptr_t)req->sge[0].addr);
		break;
	case IBV_WR_FLUSH:
		ibv_wr_flush(qpx, rkey, addr, req->sge[0].length,
			     IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE);
		break;
	case IBV_WR_BIND_MW:
		ibv_wr_bind_mw(qpx, req->mw, rkey, &req->bind);
		break;
	case IBV_WR_LOCAL_INV:
		ibv_wr_local_inv(qpx, req->invalidate);
		break;
	case IBV_WR_TSO:
		ibv_wr_send_tso(qpx, req->hdr, req->hdr_len, req->mss);
		break;
	case IBV_WR_DRIVER1:
		mynicdv_wr_memcpy(mynicdv_qp_ex_from_ibv_qp_ex(qpx), rkey,
				  addr);
		break;
	default:
		break;
	}
}

static void set_data(struct ibv_qp_ex *qpx, const struct request *req)
{
	struct ibv_data_buf bufs[MAX_SGE];
	const struct ibv_sge *sge = req->sge;

	for (int i = 0; i < req->num_sge; i++)
		bufs[i] = (struct ibv_data_buf){
			.addr = (void *)(uintptr_t)sge[i].addr,
			.length = sge[i].length,
		};
	switch (req->setter) {
	case SETTER_SGE:
		ibv_wr_set_sge(qpx, sge->lkey, sge->addr, sge->length);
		break;
	case SETTER_SGE_LIST:
		ibv_wr_set_sge_list(qpx, req->num_sge, sge);
		break;
	case SETTER_INLINE:
		ibv_wr_set_inline_data(qpx, bufs->addr, bufs->length);
		break;
	case SETTER_INLINE_LIST:
		ibv_wr_set_inline_data_list(qpx, req->num_sge, bufs);
		break;
	default:
		break;
	}
}

static int post_section(struct pair *pair, const struct request *reqs,
			unsigned int num)
{
	struct ibv_qp_ex *qpx = pair->qpx;

	ibv_wr_start(qpx);
	for (unsigned int i = 0; i < num; i++) {
		qpx->wr_id = reqs[i].wr_id;
		qpx->wr_flags = reqs[i].flags;
		begin(qpx, &reqs[i]);
		set_data(qpx, &reqs[i]);
		if (pair->type == TYPE_UD)
			ibv_wr_set_ud_addr(qpx, pair->ah, reqs[i].remote_qpn,
					   QKEY);
		/* Operations that stay here have no such setter to call. */
		if (pair->type == TYPE_XRC &&
		    reqs[i].op->opcode != IBV_WR_BIND_MW &&
		    reqs[i].op->opcode != IBV_WR_LOCAL_INV)
			ibv_wr_set_xrc_srqn(qpx, pair->srqn);
	}
	return ibv_wr_complete(qpx);
}

int post(struct pair *pair, enum wr_api api, const struct request *requests,
	 unsigned int num, unsigned int *bad)
{
	if (api == API_POST_SEND)
		return post_list(pair, requests, num, bad);
	*bad = num;
	return post_section(pair, requests, num);
}
