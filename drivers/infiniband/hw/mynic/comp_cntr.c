// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion counters: the device counts requests of queue pairs in a page
 * that the process maps
 */
#include <linux/mm.h>
#include <rdma/mynic-abi.h>
#include <rdma/mynic-hw.h>
#include <rdma/uverbs_ioctl.h>

#include "cmd.h"

#define UVERBS_MODULE_NAME mynic
#include <rdma/uverbs_named_ioctl.h>

static_assert(MYNIC_COMP_CNTR_SEND == IB_QP_ATTACH_COMP_CNTR_OP_SEND);
static_assert(MYNIC_COMP_CNTR_RECV == IB_QP_ATTACH_COMP_CNTR_OP_RECV);
static_assert(MYNIC_COMP_CNTR_READ == IB_QP_ATTACH_COMP_CNTR_OP_RDMA_READ);
static_assert(MYNIC_COMP_CNTR_REMOTE_READ ==
	      IB_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ);
static_assert(MYNIC_COMP_CNTR_WRITE == IB_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE);
static_assert(MYNIC_COMP_CNTR_REMOTE_WRITE ==
	      IB_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE);

int mynic_create_comp_cntr(struct ib_comp_cntr *ibcc,
			   struct uverbs_attr_bundle *attrs)
{
	struct mynic_dev *mdev = to_mdev(ibcc->device);
	struct mynic_comp_cntr *cntr = to_mcomp_cntr(ibcc);
	struct mynic_create_comp_cntr_resp resp = {};
	int ret;

	cntr->mem = mynic_mem_alloc(mdev, PAGE_SIZE, false);
	if (IS_ERR(cntr->mem))
		return PTR_ERR(cntr->mem);
	cntr->mem->mmap.type = MYNIC_MMAP_COMP_CNTR;
	ret = mynic_cmd_create_comp_cntr(mdev, cntr->mem->dma[0],
					 &cntr->number);
	if (ret)
		goto err_mem;
	ret = mynic_mem_expose(cntr->mem, &attrs->driver_udata);
	if (ret)
		goto err_cmd;
	resp.mmap_key = rdma_user_mmap_get_offset(&cntr->mem->mmap.rdma_entry);
	resp.mmap_size = PAGE_SIZE;
	ret = uverbs_copy_to_struct_or_zero(
		attrs, MYNIC_ATTR_CREATE_COMP_CNTR_RESP, &resp, sizeof(resp));
	if (ret)
		goto err_cmd;
	return 0;

err_cmd:
	mynic_cmd_destroy_comp_cntr(mdev, cntr->number);
err_mem:
	mynic_mem_put(cntr->mem);
	return ret;
}

/* No QP has the counter any more. */
int mynic_destroy_comp_cntr(struct ib_comp_cntr *ibcc)
{
	struct mynic_comp_cntr *cntr = to_mcomp_cntr(ibcc);

	mynic_cmd_destroy_comp_cntr(to_mdev(ibcc->device), cntr->number);
	mynic_mem_put(cntr->mem);
	return 0;
}

/* The RDMA core takes any numbers. */
static int mynic_comp_cntr_check_entry(const struct ib_comp_cntr *ibcc,
				       enum ib_comp_cntr_entry entry)
{
	if (entry == IB_COMP_CNTR_ENTRY_COMP || entry == IB_COMP_CNTR_ENTRY_ERR)
		return 0;
	ibdev_dbg(ibcc->device, "a completion counter has no entry %u\n",
		  entry);
	return -EINVAL;
}

int mynic_modify_comp_cntr(struct ib_comp_cntr *ibcc,
			   enum ib_comp_cntr_entry entry,
			   enum ib_comp_cntr_modify_op op, u64 value)
{
	bool errors = entry == IB_COMP_CNTR_ENTRY_ERR;
	bool add = op == IB_COMP_CNTR_MODIFY_OP_INC;
	int ret;

	ret = mynic_comp_cntr_check_entry(ibcc, entry);
	if (ret)
		return ret;
	if (!add && op != IB_COMP_CNTR_MODIFY_OP_SET) {
		ibdev_dbg(ibcc->device,
			  "a completion counter cannot be modified by %u\n",
			  op);
		return -EINVAL;
	}
	return mynic_cmd_modify_comp_cntr(
		to_mdev(ibcc->device), to_mcomp_cntr(ibcc)->number,
		errors ? MYNIC_COMP_CNTR_ERRORS : MYNIC_COMP_CNTR_COMPLETIONS,
		add ? MYNIC_COMP_CNTR_ADD : MYNIC_COMP_CNTR_SET, value);
}

int mynic_read_comp_cntr(struct ib_comp_cntr *ibcc,
			 enum ib_comp_cntr_entry entry, u64 *value)
{
	const struct mynic_comp_cntr_values *values =
		page_address(to_mcomp_cntr(ibcc)->mem->pages[0]);
	int ret;

	ret = mynic_comp_cntr_check_entry(ibcc, entry);
	if (ret)
		return ret;
	*value = le64_to_cpu(entry == IB_COMP_CNTR_ENTRY_ERR ?
				     READ_ONCE(values->errors) :
				     READ_ONCE(values->completions));
	/* The caller then looks at the data of what was counted. */
	dma_rmb();
	return 0;
}

int mynic_query_comp_cntr_caps(struct ib_device *ibdev,
			       struct ib_comp_cntr_caps *caps,
			       struct uverbs_attr_bundle *attrs)
{
	caps->max_value = U64_MAX;
	caps->max_counters = to_mdev(ibdev)->caps.max_comp_cntr;
	caps->supported_qp_attach_ops =
		MYNIC_COMP_CNTR_SEND | MYNIC_COMP_CNTR_RECV |
		MYNIC_COMP_CNTR_READ | MYNIC_COMP_CNTR_REMOTE_READ |
		MYNIC_COMP_CNTR_WRITE | MYNIC_COMP_CNTR_REMOTE_WRITE;
	return 0;
}

/* The device checks the state of the QP. */
int mynic_qp_attach_comp_cntr(struct ib_qp *ibqp, struct ib_comp_cntr *ibcc,
			      struct ib_qp_attach_comp_cntr_attr *attr)
{
	return mynic_cmd_attach_comp_cntr(to_mdev(ibqp->device),
					  to_mqp(ibqp)->qpn,
					  to_mcomp_cntr(ibcc)->number,
					  attr->op_mask);
}

const struct ib_device_ops mynic_comp_cntr_ops = {
	.create_comp_cntr = mynic_create_comp_cntr,
	.destroy_comp_cntr = mynic_destroy_comp_cntr,
	.modify_comp_cntr = mynic_modify_comp_cntr,
	.qp_attach_comp_cntr = mynic_qp_attach_comp_cntr,
	.query_comp_cntr_caps = mynic_query_comp_cntr_caps,
	.read_comp_cntr = mynic_read_comp_cntr,

	INIT_RDMA_OBJ_SIZE(ib_comp_cntr, mynic_comp_cntr, ibcc),
};

#define MYNIC_CREATE_COMP_CNTR_RESP \
	UVERBS_ATTR_STRUCT(struct mynic_create_comp_cntr_resp, values_offset)

ADD_UVERBS_ATTRIBUTES_SIMPLE(
	mynic_comp_cntr, UVERBS_OBJECT_COMP_CNTR,
	UVERBS_METHOD_COMP_CNTR_CREATE,
	UVERBS_ATTR_PTR_OUT(MYNIC_ATTR_CREATE_COMP_CNTR_RESP,
			    MYNIC_CREATE_COMP_CNTR_RESP, UA_MANDATORY));

const struct uapi_definition mynic_comp_cntr_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_COMP_CNTR, &mynic_comp_cntr),
	{},
};
