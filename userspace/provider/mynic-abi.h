/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Commands of the kernel that carry driver data of mynic. */
#ifndef MYNIC_ABI_H
#define MYNIC_ABI_H

#include <infiniband/kern-abi.h>
#include <rdma/mynic-abi.h>
#include <kernel-abi/mynic-abi.h>

DECLARE_DRV_CMD(umynic_get_context, IB_USER_VERBS_CMD_GET_CONTEXT, empty,
		mynic_alloc_ucontext_resp);
DECLARE_DRV_CMD(umynic_create_ah, IB_USER_VERBS_CMD_CREATE_AH, empty,
		mynic_create_ah_resp);
DECLARE_DRV_CMD(umynic_create_cq, IB_USER_VERBS_CMD_CREATE_CQ, empty,
		mynic_create_cq_resp);
DECLARE_DRV_CMD(umynic_create_cq_ex, IB_USER_VERBS_EX_CMD_CREATE_CQ, empty,
		mynic_create_cq_resp);
DECLARE_DRV_CMD(umynic_resize_cq, IB_USER_VERBS_CMD_RESIZE_CQ,
		mynic_resize_cq_req, mynic_resize_resp);
DECLARE_DRV_CMD(umynic_create_qp, IB_USER_VERBS_CMD_CREATE_QP,
		mynic_create_qp_req, mynic_create_qp_resp);
DECLARE_DRV_CMD(umynic_create_qp_ex, IB_USER_VERBS_EX_CMD_CREATE_QP,
		mynic_create_qp_req, mynic_create_qp_resp);
DECLARE_DRV_CMD(umynic_modify_qp_ex, IB_USER_VERBS_EX_CMD_MODIFY_QP,
		mynic_modify_qp_req, mynic_modify_qp_resp);
DECLARE_DRV_CMD(umynic_create_srq, IB_USER_VERBS_CMD_CREATE_SRQ, empty,
		mynic_create_srq_resp);
DECLARE_DRV_CMD(umynic_create_srq_ex, IB_USER_VERBS_CMD_CREATE_XSRQ,
		mynic_create_srq_req, mynic_create_srq_resp);
DECLARE_DRV_CMD(umynic_modify_srq, IB_USER_VERBS_CMD_MODIFY_SRQ,
		mynic_modify_srq_req, empty);
DECLARE_DRV_CMD(umynic_create_wq, IB_USER_VERBS_EX_CMD_CREATE_WQ, empty,
		mynic_create_wq_resp);
DECLARE_DRV_CMD(umynic_create_rwq_ind_table,
		IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL, empty, empty);

#endif /* MYNIC_ABI_H */
