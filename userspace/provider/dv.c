// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Direct verbs: attributes of the device, and what posting by hand needs. */
#include <config.h>

#include <errno.h>
#include <string.h>

#include "mynic.h"
#include "mynicdv.h"

int mynicdv_query_device(struct ibv_context *context,
			 struct mynicdv_device_attr *attr, uint32_t inlen)
{
	const struct mynic_context *ctx = to_mctx(context);
	struct mynicdv_device_attr all = {};

	if (!mynicdv_is_supported(context->device)) {
		verbs_debug(verbs_get_ctx(context), "not a mynic device\n");
		return EOPNOTSUPP;
	}
	if (!vext_field_avail(struct mynicdv_device_attr, max_memcpy_size,
			      inlen)) {
		verbs_debug(verbs_get_ctx(context),
			    "device attributes of %u bytes are too few\n",
			    inlen);
		return EINVAL;
	}
	all.max_sq_stride = ctx->max_sq_stride;
	all.max_rq_stride = ctx->max_rq_stride;
	all.driver_qp_types = ctx->driver_qp_types;
	all.max_memcpy_size = ctx->max_memcpy;
	memset(attr, 0, inlen);
	memcpy(attr, &all, inlen < sizeof(all) ? inlen : sizeof(all));
	return 0;
}

static void mynic_rq_to_dv(struct mynic_rq *rq, struct mynicdv_ring *out)
{
	mynic_lock(&rq->lock);
	*out = (struct mynicdv_ring){
		.base = rq->ring,
		.num = rq->size,
		.stride = rq->stride,
		.max_sge = rq->max_sge,
		.pi = rq->end - rq->room,
	};
	mynic_unlock(&rq->lock);
}

static int mynic_dv_refuse(struct ibv_context *context, uint64_t comp_mask)
{
	verbs_debug(verbs_get_ctx(context), "direct object: comp_mask 0x%llx\n",
		    (unsigned long long)comp_mask);
	return EINVAL;
}

static int mynic_qp_to_dv(struct mynic_qp *qp, struct mynicdv_qp *out)
{
	struct mynic_sq *sq = &qp->sq;

	if (out->comp_mask)
		return mynic_dv_refuse(qp->vqp.qp.context, out->comp_mask);
	mynic_lock(&sq->lock);
	*out = (struct mynicdv_qp){
		.sq = {
			.base = sq->ring,
			.num = sq->size,
			.stride = sq->stride,
			.max_sge = sq->max_sge,
			.pi = sq->pi,
		},
		.max_inline = sq->max_inline,
		.qpn = qp->vqp.qp.qp_num,
		.dbrec = qp->map.addr ? sq->dbrec : NULL,
		.doorbell = sq->doorbell,
	};
	mynic_unlock(&sq->lock);
	mynic_rq_to_dv(&qp->rq, &out->rq);
	return 0;
}

static int mynic_cq_to_dv(struct mynic_cq *cq, struct mynicdv_cq *out)
{
	if (out->comp_mask)
		return mynic_dv_refuse(cq->vcq.cq.context, out->comp_mask);
	mynic_lock(&cq->lock);
	*out = (struct mynicdv_cq){
		.ring = cq->ring,
		.num = cq->end - cq->ring,
		.cqn = cq->cqn,
		.dbrec = cq->dbrec,
		.doorbell = cq->doorbell,
		.ci = cq->ci,
		.base = cq->base,
	};
	mynic_unlock(&cq->lock);
	return 0;
}

static void mynic_tags_to_dv(struct mynic_tags *tags, struct mynicdv_tags *out)
{
	mynic_lock(&tags->lock);
	*out = (struct mynicdv_tags){
		.ring = tags->ring,
		.num = tags->size,
		.max_tags = tags->max_tags,
		.pi = tags->pi,
		.handle = tags->added,
		.dbrec = tags->dbrec,
		.doorbell = tags->doorbell,
	};
	mynic_unlock(&tags->lock);
}

static int mynic_srq_to_dv(struct mynic_srq *srq, struct mynicdv_srq *out)
{
	if (!check_comp_mask(out->comp_mask, MYNICDV_SRQ_MASK_TAGS))
		return mynic_dv_refuse(srq->vsrq.srq.context, out->comp_mask);
	mynic_rq_to_dv(&srq->rq, &out->rq);
	out->dbrec =
		container_of(srq->rq.pi_record, struct mynic_srq_dbrec, pi);
	out->srqn = srq->srqn;
	if (out->comp_mask & MYNICDV_SRQ_MASK_TAGS)
		mynic_tags_to_dv(&srq->tags, &out->tags);
	return 0;
}

static int mynic_wq_to_dv(struct mynic_rwq *rwq, struct mynicdv_wq *out)
{
	struct mynic_sq *sq = &rwq->qp.sq;

	if (out->comp_mask)
		return mynic_dv_refuse(rwq->ibv_wq.context, out->comp_mask);
	mynic_rq_to_dv(&rwq->qp.rq, &out->rq);
	out->wqn = rwq->ibv_wq.wq_num;
	out->dbrec = sq->dbrec;
	out->doorbell = sq->doorbell;
	return 0;
}

static int mynic_ah_to_dv(const struct mynic_ah *ah, struct mynicdv_ah *out)
{
	if (out->comp_mask)
		return mynic_dv_refuse(ah->ibv_ah.context, out->comp_mask);
	out->av = ah->av;
	return 0;
}

static int mynic_dm_to_dv(const struct mynic_dm *dm, struct mynicdv_dm *out)
{
	if (out->comp_mask)
		return mynic_dv_refuse(dm->vdm.dm.context, out->comp_mask);
	out->buf = dm->map.addr;
	out->length = dm->length;
	return 0;
}

static bool mynic_objs_are_ours(const struct mynicdv_obj *obj, uint64_t types)
{
	return (!(types & MYNICDV_OBJ_QP) ||
		mynicdv_is_supported(obj->qp.in->context->device)) &&
	       (!(types & MYNICDV_OBJ_CQ) ||
		mynicdv_is_supported(obj->cq.in->context->device)) &&
	       (!(types & MYNICDV_OBJ_SRQ) ||
		mynicdv_is_supported(obj->srq.in->context->device)) &&
	       (!(types & MYNICDV_OBJ_WQ) ||
		mynicdv_is_supported(obj->wq.in->context->device)) &&
	       (!(types & MYNICDV_OBJ_AH) ||
		mynicdv_is_supported(obj->ah.in->context->device)) &&
	       (!(types & MYNICDV_OBJ_DM) ||
		mynicdv_is_supported(obj->dm.in->context->device));
}

int mynicdv_init_obj(struct mynicdv_obj *obj, uint64_t obj_type)
{
	int err = 0;

	if (!check_comp_mask(obj_type, MYNICDV_OBJ_QP | MYNICDV_OBJ_CQ |
					       MYNICDV_OBJ_SRQ |
					       MYNICDV_OBJ_WQ | MYNICDV_OBJ_AH |
					       MYNICDV_OBJ_DM))
		return EINVAL;
	if (!mynic_objs_are_ours(obj, obj_type))
		return EOPNOTSUPP;
	if (obj_type & MYNICDV_OBJ_QP)
		err = mynic_qp_to_dv(to_mqp(obj->qp.in), obj->qp.out);
	if (!err && obj_type & MYNICDV_OBJ_CQ)
		err = mynic_cq_to_dv(to_mcq(obj->cq.in), obj->cq.out);
	if (!err && obj_type & MYNICDV_OBJ_SRQ)
		err = mynic_srq_to_dv(to_msrq(obj->srq.in), obj->srq.out);
	if (!err && obj_type & MYNICDV_OBJ_WQ)
		err = mynic_wq_to_dv(to_mrwq(obj->wq.in), obj->wq.out);
	if (!err && obj_type & MYNICDV_OBJ_AH)
		err = mynic_ah_to_dv(to_mah(obj->ah.in), obj->ah.out);
	if (!err && obj_type & MYNICDV_OBJ_DM)
		err = mynic_dm_to_dv(to_mdm(obj->dm.in), obj->dm.out);
	return err;
}
