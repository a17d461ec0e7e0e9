// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory windows: allocating, and binding to memory regions. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include "sq.h"

/* A window has no local key, so LOCAL_WRITE is meaningless. */
#define MYNIC_MW_ACCESS                                     \
	(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
	 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_ZERO_BASED)

struct ibv_mw *mynic_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct ib_uverbs_alloc_mw_resp resp;
	struct ibv_alloc_mw cmd;
	struct mynic_mw *mw;
	int err;

	mw = calloc(1, sizeof(*mw));
	if (!mw)
		return NULL;
	mw->pd_handle = pd->handle;
	err = ibv_cmd_alloc_mw(pd, type, &mw->ibv_mw, &cmd, sizeof(cmd), &resp,
			       sizeof(resp));
	if (err) {
		free(mw);
		errno = err;
		return NULL;
	}
	return &mw->ibv_mw;
}

int mynic_dealloc_mw(struct ibv_mw *mw)
{
	int err;

	err = ibv_cmd_dealloc_mw(mw);
	if (err)
		return err;
	free(to_mmw(mw));
	return 0;
}

/* Log why the request is refused, and return @err. */
static __attribute__((cold)) int mynic_bind_refuse(struct ibv_mw *mw,
						   const char *why, int err)
{
	verbs_debug(verbs_get_ctx(mw->context), "window 0x%x: %s\n", mw->rkey,
		    why);
	return err;
}

/* Check what the memory region tells. The device checks address ranges. */
static int mynic_check_bind_mr(struct ibv_mw *mw, struct ibv_mr *mr,
			       uint32_t access)
{
	const struct verbs_mr *vmr = verbs_get_mr(mr);

	if (mr->context != mw->context ||
	    to_mmr(mr)->pd_handle != to_mmw(mw)->pd_handle)
		return mynic_bind_refuse(mw, "region of another PD", EPERM);
	if (vmr->mr_type != IBV_MR_TYPE_MR &&
	    vmr->mr_type != IBV_MR_TYPE_DMABUF_MR)
		return mynic_bind_refuse(mw, "imported or null region",
					 EOPNOTSUPP);
	if (!(vmr->access & IBV_ACCESS_MW_BIND))
		return mynic_bind_refuse(mw, "region without MW_BIND", EINVAL);
	if (vmr->access & IBV_ACCESS_ZERO_BASED)
		return mynic_bind_refuse(mw, "zero-based region", EINVAL);
	if (access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC) &&
	    !(vmr->access & IBV_ACCESS_LOCAL_WRITE))
		return mynic_bind_refuse(mw, "region without LOCAL_WRITE",
					 EINVAL);
	return 0;
}

/* The same as mynic_sq_set_bind() for windows of both types */
static int mynic_set_bind(const struct mynic_sq *sq, struct mynic_send_wqe *wqe,
			  struct ibv_mw *mw, uint32_t rkey,
			  const struct ibv_mw_bind_info *info)
{
	struct mynic_bind_operands *operands = mynic_sq_data_of(sq, wqe);
	uint32_t access = info->mw_access_flags & ~IBV_ACCESS_LOCAL_WRITE;
	struct ibv_mr *mr = info->mr;
	int err;

	/* Only the low 8 bits of a key change. */
	if (access & ~MYNIC_MW_ACCESS || (rkey ^ mw->rkey) & ~0xffU)
		return mynic_bind_refuse(mw, "access flags, or another key",
					 EINVAL);
	if (info->length) {
		if (!mr)
			return mynic_bind_refuse(mw, "no region", EINVAL);
		err = mynic_check_bind_mr(mw, mr, access);
		if (err)
			return err;
	} else if (mw->type != IBV_MW_TYPE_1) {
		/* Binding without a region unbinds, for type 1 only. */
		return mynic_bind_refuse(mw, "no length, which is for type 1",
					 EINVAL);
	}

	wqe->rkey = htole32(mw->rkey);
	wqe->len = 0;
	operands->addr = htole64(info->addr);
	operands->length = htole64(info->length);
	operands->lkey = htole32(mr ? mr->lkey : 0);
	operands->new_rkey = htole32(rkey);
	operands->access = htole32(access);
	operands->reserved_1c = 0;
	return 0;
}

/**
 * mynic_sq_set_bind() - make an entry a BIND_MW
 * @sq: send queue
 * @wqe: the entry
 * @mw: the memory window, of type 2
 * @rkey: its next key
 * @info: memory region, range and access flags
 *
 * Return: 0 or an error, which is logged. EINVAL is for a window of type 1, bad
 * access flags, a key of another window, or no suitable memory region. EPERM is
 * for a region of another protection domain, EOPNOTSUPP for one with unknown
 * access rights.
 */
int mynic_sq_set_bind(const struct mynic_sq *sq, struct mynic_send_wqe *wqe,
		      struct ibv_mw *mw, uint32_t rkey,
		      const struct ibv_mw_bind_info *info)
{
	if (mw->type != IBV_MW_TYPE_2)
		return mynic_bind_refuse(mw, "type 1 is for ibv_bind_mw()",
					 EINVAL);
	return mynic_set_bind(sq, wqe, mw, rkey, info);
}

/* Fill in and post one request. The caller holds the lock. */
static int mynic_post_bind(struct mynic_sq *sq, struct ibv_mw *mw,
			   uint32_t rkey, const struct ibv_mw_bind *bind)
{
	struct mynic_send_wqe *wqe;
	int err;

	err = mynic_sq_make_room(sq);
	if (err == EINVAL)
		return mynic_sq_refuse_state(sq);
	if (err)
		return err;
	wqe = mynic_sq_next(sq, sq->last);
	err = mynic_set_bind(sq, wqe, mw, rkey, &bind->bind_info);
	if (err)
		return err;
	wqe->wr_id = htole64(bind->wr_id);
	wqe->ctrl = mynic_sq_ctrl(IBV_WR_BIND_MW, bind->send_flags);
	sq->last = wqe;
	sq->pi++;
	mynic_sq_ring(sq, sq->pi, sq->db_suppress);
	return 0;
}

/*
 * @mw is of type 1, and its key changes on success. EINVAL: the QP cannot bind
 * windows, its state forbids posting, or @bind has flags other than FENCE and
 * SIGNALED. ENOMEM: the SQ is full. Otherwise as mynic_sq_set_bind().
 */
int mynic_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw,
		  struct ibv_mw_bind *bind)
{
	struct mynic_sq *sq = &to_mqp(qp)->sq;
	uint32_t rkey = ibv_inc_rkey(mw->rkey);
	int err;

	if (!mynic_op_on(IBV_WR_BIND_MW, qp->qp_type) ||
	    bind->send_flags & ~(IBV_SEND_FENCE | IBV_SEND_SIGNALED))
		return mynic_bind_refuse(mw, "type of the QP, or flags",
					 EINVAL);

	if (!sq->single_threaded)
		mynic_lock(&sq->lock);
	err = mynic_post_bind(sq, mw, rkey, bind);
	if (!err)
		mw->rkey = rkey;
	if (!sq->single_threaded)
		mynic_unlock(&sq->lock);
	return err;
}
