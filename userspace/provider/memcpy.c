// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Direct verbs: queue pairs of type IBV_QPT_DRIVER. */
#include <config.h>

#include <errno.h>

#include <rdma/mynic-abi.h>

#include "mynic.h"

static_assert((int)MYNICDV_DRIVER_QP_MEMCPY == MYNIC_DRIVER_QP_MEMCPY,
	      "the kernel's number is the library's");

static int mynic_check_driver_qp(struct ibv_context *context,
				 const struct ibv_qp_init_attr_ex *attr,
				 const struct mynicdv_qp_init_attr *dv_attr)
{
	if (!mynicdv_is_supported(context->device))
		return EOPNOTSUPP;
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || dv_attr->comp_mask)
		return EINVAL;
	if (attr->qp_type != IBV_QPT_DRIVER ||
	    !check_comp_mask(attr->comp_mask,
			     IBV_QP_INIT_ATTR_PD |
				     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) ||
	    (attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS &&
	     attr->send_ops_flags) ||
	    !check_comp_mask(dv_attr->send_ops_flags,
			     MYNICDV_QP_EX_WITH_MEMCPY) ||
	    dv_attr->driver_qp_type != MYNICDV_DRIVER_QP_MEMCPY ||
	    !(to_mctx(context)->driver_qp_types &
	      1U << dv_attr->driver_qp_type))
		return EOPNOTSUPP;
	return 0;
}

static void mynic_wr_memcpy(struct mynicdv_qp_ex *dv_qp, uint32_t lkey,
			    uint64_t addr)
{
	struct mynic_qp *qp = container_of(dv_qp, struct mynic_qp, dv_qp);

	mynic_wr_driver1(&qp->vqp.qp_ex, lkey, addr);
}

struct ibv_qp *mynicdv_create_qp(struct ibv_context *context,
				 struct ibv_qp_init_attr_ex *attr,
				 const struct mynicdv_qp_init_attr *dv_attr)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp *qp;
	int err;

	err = mynic_check_driver_qp(context, attr, dv_attr);
	if (err) {
		verbs_debug(
			verbs_get_ctx(context),
			"driver QP: type %d of %d, comp_mask 0x%x and 0x%llx, or send_ops_flags\n",
			dv_attr->driver_qp_type, attr->qp_type, attr->comp_mask,
			(unsigned long long)dv_attr->comp_mask);
		errno = err;
		return NULL;
	}
	init = (struct ibv_qp_init_attr){
		.qp_context = attr->qp_context,
		.send_cq = attr->send_cq,
		/*
		 * The QP receives nothing, but the kernel requires a CQ here.
		 */
		.recv_cq = attr->send_cq,
		.srq = attr->srq,
		.cap = attr->cap,
		.qp_type = IBV_QPT_DRIVER,
		.sq_sig_all = attr->sq_sig_all,
	};
	qp = mynic_create_driver_qp(attr->pd, &init, MYNIC_DRIVER_QP_MEMCPY);
	if (!qp)
		return NULL;
	attr->cap = init.cap;
	if (dv_attr->send_ops_flags) {
		mynic_wr_setup(to_mqp(qp), 0);
		to_mqp(qp)->dv_qp.wr_memcpy = mynic_wr_memcpy;
	}
	return qp;
}

struct mynicdv_qp_ex *mynicdv_qp_ex_from_ibv_qp_ex(struct ibv_qp_ex *qp)
{
	return &to_mqp_ex(qp)->dv_qp;
}
