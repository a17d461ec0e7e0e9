// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Receive work queues, and the tables of them that RSS QPs use */
#include <linux/log2.h>
#include <linux/slab.h>
#include <rdma/mynic-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "cmd.h"

/* The driver passes the states on unconverted. */
static_assert(MYNIC_WQS_RESET == (int)IB_WQS_RESET);
static_assert(MYNIC_WQS_RDY == (int)IB_WQS_RDY);
static_assert(MYNIC_WQS_ERR == (int)IB_WQS_ERR);
static_assert(MYNIC_WQ_VLAN_STRIP == (int)IB_WQ_FLAGS_CVLAN_STRIPPING);

/* Those that a process may have. No bit of verbs gives it MYNIC_WQ_KERNEL. */
#define MYNIC_RWQ_FLAGS IB_WQ_FLAGS_CVLAN_STRIPPING

/**
 * mynic_rwq_init() - create a WQ
 * @mdev: device
 * @rwq: WQ, zero except for its &struct ib_wq, whose event handler may run at
 *	once, and the layout of its ring
 * @init: attributes
 *
 * Return: 0 or an errno.
 */
int mynic_rwq_init(struct mynic_dev *mdev, struct mynic_rwq *rwq,
		   const struct mynic_rwq_init *init)
{
	struct mynic_create_wq mbox = {
		.uarn = cpu_to_le32(init->uarn),
		.pdn = cpu_to_le32(init->pdn),
		.cqn = cpu_to_le32(init->cqn),
		.log_size = rwq->rq.log_size,
		.log_stride = rwq->rq.log_stride,
		.flags = init->flags,
	};
	size_t size;
	int ret;

	rwq->dbrec_offset = ALIGN(mynic_queue_bytes(&rwq->rq),
				  sizeof(struct mynic_qp_dbrec));
	size = rwq->dbrec_offset + sizeof(struct mynic_qp_dbrec);
	rwq->mem = mynic_mem_alloc(mdev, size, init->kernel);
	if (IS_ERR(rwq->mem))
		return PTR_ERR(rwq->mem);
	if (init->kernel) {
		rwq->rq.mem = rwq->mem;
		rwq->dbrec = mynic_mem_at(rwq->mem, rwq->dbrec_offset);
	}
	mbox.buf = rwq->mem->list.buf;
	mbox.dbrec_offset = cpu_to_le32(rwq->dbrec_offset);
	ret = mynic_cmd_create_wq(mdev, &mbox, &rwq->wqn);
	if (ret)
		goto err_mem;
	mutex_init(&rwq->mutex);
	ret = mynic_res_add(mdev, &mdev->rwqs, rwq->wqn, &rwq->res);
	if (ret)
		goto err_wq;
	if (init->kernel)
		mynic_res_show(&rwq->res);
	return 0;

err_wq:
	mutex_destroy(&rwq->mutex);
	mynic_cmd_destroy_wq(mdev, rwq->wqn);
err_mem:
	mynic_mem_free(rwq->mem);
	return ret;
}

void mynic_rwq_fini(struct mynic_dev *mdev, struct mynic_rwq *rwq)
{
	mynic_cmd_destroy_wq(mdev, rwq->wqn);
	mynic_res_remove(&mdev->rwqs, rwq->wqn, &rwq->res);
	mutex_destroy(&rwq->mutex);
	mynic_mem_put(rwq->mem);
}

static int mynic_rwq_respond(struct mynic_rwq *rwq, struct ib_udata *udata)
{
	struct mynic_create_wq_resp resp = {};

	resp.mmap_key = rdma_user_mmap_get_offset(&rwq->mem->mmap.rdma_entry);
	resp.mmap_size = rwq->mem->num_pages * PAGE_SIZE;
	resp.rq_offset = rwq->rq.offset;
	resp.dbrec_offset = rwq->dbrec_offset;
	resp.log_size = rwq->rq.log_size;
	resp.log_stride = rwq->rq.log_stride;
	return ib_respond_udata(udata, resp);
}

static int mynic_rwq_check(struct ib_device *ibdev,
			   const struct ib_wq_init_attr *attr)
{
	const struct mynic_dev *mdev = to_mdev(ibdev);

	if (attr->wq_type != IB_WQT_RQ ||
	    attr->create_flags & ~MYNIC_RWQ_FLAGS) {
		ibdev_dbg(ibdev, "a WQ of type %d with flags %#x\n",
			  attr->wq_type, attr->create_flags);
		return -EOPNOTSUPP;
	}
	if (!attr->max_wr || attr->max_wr > mdev->caps.max_qp_wr) {
		ibdev_dbg(ibdev, "a WQ of %u requests: 1 to %u\n", attr->max_wr,
			  mdev->caps.max_qp_wr);
		return -EINVAL;
	}
	return 0;
}

struct ib_wq *mynic_create_wq(struct ib_pd *ibpd, struct ib_wq_init_attr *attr,
			      struct ib_udata *udata)
{
	struct mynic_rwq_init init = {
		.pdn = to_mpd(ibpd)->pdn,
		.cqn = to_mcq(attr->cq)->cqn,
		.uarn = mynic_udata_uarn(udata),
		.flags = attr->create_flags,
	};
	struct mynic_dev *mdev = to_mdev(ibpd->device);
	struct mynic_rwq *rwq;
	int ret;

	if (!udata)
		return ERR_PTR(-EOPNOTSUPP);
	ret = ib_is_udata_in_empty(udata);
	if (ret)
		return ERR_PTR(ret);
	ret = mynic_rwq_check(ibpd->device, attr);
	if (ret)
		return ERR_PTR(ret);

	rwq = kzalloc_obj(*rwq);
	if (!rwq)
		return ERR_PTR(-ENOMEM);
	ret = mynic_rq_layout(ibpd->device, &rwq->rq, attr->max_wr,
			      attr->max_sge);
	if (ret)
		goto err_free;
	rwq->ibwq.device = ibpd->device;
	rwq->ibwq.event_handler = attr->event_handler;
	rwq->ibwq.wq_context = attr->wq_context;
	rwq->ibwq.state = IB_WQS_RESET;
	ret = mynic_rwq_init(mdev, rwq, &init);
	if (ret)
		goto err_free;
	rwq->ibwq.wq_num = rwq->wqn;
	attr->max_wr = mynic_queue_size(&rwq->rq);
	attr->max_sge = rwq->rq.max_sge;

	ret = mynic_mem_expose(rwq->mem, udata);
	if (ret)
		goto err_fini;
	ret = mynic_rwq_respond(rwq, udata);
	if (ret)
		goto err_fini;
	mynic_res_show(&rwq->res);
	return &rwq->ibwq;

err_fini:
	mynic_rwq_fini(mdev, rwq);
err_free:
	kfree(rwq);
	return ERR_PTR(ret);
}

/* The RDMA core has checked the states. */
int mynic_modify_wq(struct ib_wq *ibwq, struct ib_wq_attr *attr, u32 mask,
		    struct ib_udata *udata)
{
	struct mynic_rwq *rwq = to_mrwq(ibwq);
	struct mynic_modify_wq body = { .attr_mask = cpu_to_le32(mask) };
	int ret;

	ret = ib_no_udata_io(udata);
	if (ret)
		return ret;
	if (mask & ~(IB_WQ_STATE | IB_WQ_CUR_STATE | IB_WQ_FLAGS) ||
	    (mask & IB_WQ_FLAGS &&
	     (attr->flags | attr->flags_mask) & ~MYNIC_RWQ_FLAGS)) {
		ibdev_dbg(ibwq->device,
			  "WQ %#x: attributes %#x, flags %#x of %#x\n",
			  rwq->wqn, mask, attr->flags, attr->flags_mask);
		return -EOPNOTSUPP;
	}
	if (mask & IB_WQ_STATE)
		body.state = attr->wq_state;
	if (mask & IB_WQ_CUR_STATE)
		body.cur_state = attr->curr_wq_state;
	if (mask & IB_WQ_FLAGS) {
		body.flags = attr->flags;
		body.flags_mask = attr->flags_mask;
	}

	mutex_lock(&rwq->mutex);
	ret = mynic_cmd_modify_wq(to_mdev(ibwq->device), rwq->wqn, &body);
	if (!ret && mask & IB_WQ_STATE)
		ibwq->state = attr->wq_state;
	mutex_unlock(&rwq->mutex);
	return ret;
}

int mynic_destroy_wq(struct ib_wq *ibwq, struct ib_udata *udata)
{
	struct mynic_rwq *rwq = to_mrwq(ibwq);
	int ret;

	ret = ib_no_udata_io(udata);
	if (ret)
		return ret;
	mynic_rwq_fini(to_mdev(ibwq->device), rwq);
	kfree(rwq);
	return 0;
}

int mynic_create_rwq_ind_table(struct ib_rwq_ind_table *ibtable,
			       struct ib_rwq_ind_table_init_attr *attr,
			       struct ib_udata *udata)
{
	struct mynic_rwq_table *table = to_mrwq_table(ibtable);
	struct mynic_dev *mdev = to_mdev(ibtable->device);
	u32 max_log_size = ilog2(max(mdev->caps.max_rwq_table_size, 1U));
	__le32 *wqns;
	u32 i;
	int ret;

	ret = ib_no_udata_io(udata);
	if (ret)
		return ret;
	if (attr->log_ind_tbl_size > max_log_size) {
		ibdev_dbg(ibtable->device,
			  "a table of 2^%u WQs: at most 2^%u\n",
			  attr->log_ind_tbl_size, max_log_size);
		return -EINVAL;
	}
	wqns = kzalloc_objs(*wqns, 1U << attr->log_ind_tbl_size);
	if (!wqns)
		return -ENOMEM;
	for (i = 0; i < 1U << attr->log_ind_tbl_size; i++)
		wqns[i] = cpu_to_le32(to_mrwq(attr->ind_tbl[i])->wqn);
	ret = mynic_cmd_create_rwq_table(mdev, attr->log_ind_tbl_size, wqns,
					 &table->number);
	kfree(wqns);
	if (ret)
		return ret;
	ibtable->ind_tbl_num = table->number;
	return 0;
}

int mynic_destroy_rwq_ind_table(struct ib_rwq_ind_table *ibtable)
{
	mynic_cmd_destroy_rwq_table(to_mdev(ibtable->device),
				    to_mrwq_table(ibtable)->number);
	return 0;
}
