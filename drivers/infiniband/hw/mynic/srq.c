// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Shared receive queues: creation, limit, resizing. Tag matching is in tm.c. */
#include <linux/bitmap.h>
#include <linux/slab.h>
#include <rdma/mynic-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "cmd.h"

static u32 mynic_srq_ring_bytes(u8 log_size, u8 log_stride)
{
	return ALIGN(1U << (log_size + log_stride),
		     sizeof(struct mynic_srq_dbrec));
}

static int mynic_srq_init_kernel(struct mynic_srq *srq)
{
	struct mynic_queue *queue = &srq->queue;
	u32 size = mynic_queue_size(queue);

	spin_lock_init(&queue->lock);
	srq->dbrec = mynic_mem_at(srq->mem, srq->dbrec_offset);
	queue->mem = srq->mem;
	queue->wr_id = kvzalloc_objs(*queue->wr_id, size);
	srq->tags = bitmap_zalloc(size, GFP_KERNEL);
	return queue->wr_id && srq->tags ? 0 : -ENOMEM;
}

static void mynic_srq_free(struct mynic_srq *srq)
{
	bitmap_free(srq->tags);
	kvfree(srq->queue.wr_id);
	mynic_tm_free(srq);
	mynic_mem_put(srq->mem);
}

static int mynic_srq_init(struct mynic_dev *mdev, struct mynic_srq *srq,
			  const struct ib_srq_init_attr *attr,
			  struct ib_udata *udata)
{
	struct mynic_queue *queue = &srq->queue;
	bool kernel = !udata;
	struct mynic_create_srq mbox = {
		.pdn = cpu_to_le32(to_mpd(srq->ibsrq.pd)->pdn),
		.log_size = queue->log_size,
		.log_stride = queue->log_stride,
	};
	size_t size;
	int ret;

	if (attr->srq_type == IB_SRQT_XRC) {
		mbox.type = MYNIC_SRQ_XRC;
		mbox.xrcdn = cpu_to_le32(to_mxrcd(attr->ext.xrc.xrcd)->xrcdn);
		mbox.cqn = cpu_to_le32(to_mcq(attr->ext.cq)->cqn);
	}

	srq->dbrec_offset =
		mynic_srq_ring_bytes(queue->log_size, queue->log_stride);
	size = srq->dbrec_offset + sizeof(struct mynic_srq_dbrec);
	srq->mem = mynic_mem_alloc(mdev, size, kernel);
	if (IS_ERR(srq->mem))
		return PTR_ERR(srq->mem);
	if (kernel) {
		ret = mynic_srq_init_kernel(srq);
		if (ret)
			goto err_free;
	}
	if (attr->srq_type == IB_SRQT_TM) {
		ret = mynic_tm_init(srq, attr, udata, &mbox);
		if (ret)
			goto err_free;
	}
	mbox.buf = srq->mem->list.buf;
	mbox.dbrec_offset = cpu_to_le32(srq->dbrec_offset);
	ret = mynic_cmd_create_srq(mdev, &mbox, &srq->srqn);
	if (ret)
		goto err_free;
	mynic_move_init(&srq->move);
	ret = mynic_res_add(mdev, &mdev->srqs, srq->srqn, &srq->res);
	if (ret)
		goto err_srq;
	if (kernel)
		mynic_res_show(&srq->res);
	return 0;

err_srq:
	mynic_move_fini(&srq->move);
	mynic_cmd_destroy_srq(mdev, srq->srqn);
err_free:
	mynic_srq_free(srq);
	return ret;
}

static void mynic_srq_fini(struct mynic_dev *mdev, struct mynic_srq *srq)
{
	mynic_cmd_destroy_srq(mdev, srq->srqn);
	if (srq->queue.wr_id)
		mynic_wait_quiet(mdev);
	mynic_res_remove(&mdev->srqs, srq->srqn, &srq->res);
	mynic_move_fini(&srq->move);
	mynic_srq_free(srq);
}

static int mynic_srq_respond(struct mynic_srq *srq, struct ib_udata *udata)
{
	struct mynic_create_srq_resp resp = {};
	int ret;

	if (srq->tag_mem) {
		ret = mynic_tm_respond(srq, udata, &resp);
		if (ret)
			return ret;
	}
	resp.mmap_key = rdma_user_mmap_get_offset(&srq->mem->mmap.rdma_entry);
	resp.mmap_size = srq->mem->num_pages * PAGE_SIZE;
	resp.dbrec_offset = srq->dbrec_offset;
	resp.srqn = srq->srqn;
	resp.log_size = srq->queue.log_size;
	resp.log_stride = srq->queue.log_stride;
	return ib_respond_udata(udata, resp);
}

/* The kernel API offers neither XRC QPs nor tags, so kernel SRQs are basic. */
static bool mynic_srq_has_type(const struct mynic_dev *mdev,
			       enum ib_srq_type type, bool kernel)
{
	switch (type) {
	case IB_SRQT_BASIC:
		return true;
	case IB_SRQT_XRC:
		return !kernel;
	case IB_SRQT_TM:
		return !kernel && mdev->caps.max_tags;
	default:
		return false;
	}
}

/*
 * Driver data is in struct mynic_create_srq_req (only IB_SRQT_TM) and struct
 * mynic_create_srq_resp. @udata is NULL for kernel SRQs.
 */
int mynic_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *attr,
		     struct ib_udata *udata)
{
	struct mynic_dev *mdev = to_mdev(ibsrq->device);
	struct mynic_srq *srq = to_msrq(ibsrq);
	int ret;

	if (!mynic_srq_has_type(mdev, attr->srq_type, !udata)) {
		ibdev_dbg(ibsrq->device, "no SRQs of type %d for a %s\n",
			  attr->srq_type, udata ? "process" : "kernel");
		return -EOPNOTSUPP;
	}
	if (attr->srq_type != IB_SRQT_TM) {
		ret = ib_is_udata_in_empty(udata);
		if (ret)
			return ret;
	}
	if (!attr->attr.max_wr || attr->attr.max_wr > mdev->caps.max_srq_wr) {
		ibdev_dbg(ibsrq->device, "an SRQ of %u requests: 1 to %u\n",
			  attr->attr.max_wr, mdev->caps.max_srq_wr);
		return -EINVAL;
	}
	ret = mynic_rq_layout(ibsrq->device, &srq->queue, attr->attr.max_wr,
			      attr->attr.max_sge);
	if (ret)
		return ret;
	ret = mynic_srq_init(mdev, srq, attr, udata);
	if (ret)
		return ret;
	if (attr->srq_type == IB_SRQT_XRC)
		ibsrq->ext.xrc.srq_num = srq->srqn;
	attr->attr.max_wr = mynic_queue_size(&srq->queue);
	attr->attr.max_sge = srq->queue.max_sge;
	if (!udata)
		return 0;

	ret = mynic_mem_expose(srq->mem, udata);
	if (ret)
		goto err;
	ret = mynic_srq_respond(srq, udata);
	if (ret)
		goto err;
	mynic_res_show(&srq->res);
	return 0;

err:
	mynic_srq_fini(mdev, srq);
	return ret;
}

static int mynic_srq_make_ring(struct mynic_srq *srq, u8 log_size, u64 addr,
			       struct ib_udata *udata)
{
	struct mynic_resize_resp resp = {
		.dbrec_offset =
			mynic_srq_ring_bytes(log_size, srq->queue.log_stride),
		.log_size = log_size,
	};
	int ret;

	ret = mynic_move_make(&srq->move, to_mdev(srq->ibsrq.device),
			      sizeof(struct mynic_srq_dbrec), udata, &resp);
	if (ret)
		return ret;
	if (copy_to_user(u64_to_user_ptr(addr), &resp, sizeof(resp)))
		return -EFAULT;
	return 0;
}

static int mynic_srq_move(struct mynic_srq *srq, u64 mmap_key, u8 log_size)
{
	struct mynic_resize body;
	int ret;

	if (!mynic_move_matches(&srq->move, mmap_key, log_size)) {
		ibdev_dbg(srq->ibsrq.device,
			  "SRQ %#x has no memory %#llx for 2^%u requests\n",
			  srq->srqn, mmap_key, log_size);
		return -EINVAL;
	}
	body = mynic_move_body(&srq->move);
	ret = mynic_cmd_resize_srq(to_mdev(srq->ibsrq.device), srq->srqn,
				   &body);
	if (ret)
		return ret;
	srq->dbrec_offset = srq->move.dbrec_offset;
	srq->queue.log_size = log_size;
	mynic_move_done(&srq->move, &srq->mem);
	return 0;
}

/*
 * A resize takes two calls: the first allocates memory, the second moves the
 * SRQ there. Only the second may also set the limit.
 */
static int mynic_resize_srq(struct mynic_srq *srq,
			    const struct ib_srq_attr *attr,
			    enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct mynic_dev *mdev = to_mdev(srq->ibsrq.device);
	struct mynic_modify_srq_req req;
	u8 log_size;
	int ret;

	/* A kernel SRQ remembers its requests by slot, which would change. */
	if (!udata)
		return -EOPNOTSUPP;
	ret = ib_copy_validate_udata_in(udata, req, resp);
	if (ret)
		return ret;
	if (!attr->max_wr || attr->max_wr > mdev->caps.max_srq_wr) {
		ibdev_dbg(srq->ibsrq.device,
			  "SRQ %#x of %u requests: 1 to %u\n", srq->srqn,
			  attr->max_wr, mdev->caps.max_srq_wr);
		return -EINVAL;
	}
	log_size = order_base_2(attr->max_wr);
	if (mask & IB_SRQ_LIMIT &&
	    (!req.mmap_key || attr->srq_limit > BIT(log_size))) {
		ibdev_dbg(srq->ibsrq.device,
			  "SRQ %#x: limit %u, memory %#llx of 2^%u requests\n",
			  srq->srqn, attr->srq_limit, req.mmap_key, log_size);
		return -EINVAL;
	}
	mutex_lock(&srq->move.lock);
	if (req.mmap_key)
		ret = mynic_srq_move(srq, req.mmap_key, log_size);
	else
		ret = mynic_srq_make_ring(srq, log_size, req.resp, udata);
	mutex_unlock(&srq->move.lock);
	return ret;
}

int mynic_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr,
		     enum ib_srq_attr_mask mask, struct ib_udata *udata)
{
	struct mynic_srq *srq = to_msrq(ibsrq);
	int ret;

	if (mask & ~(IB_SRQ_LIMIT | IB_SRQ_MAX_WR)) {
		ibdev_dbg(ibsrq->device, "SRQ %#x: no attributes %#x\n",
			  srq->srqn, mask);
		return -EOPNOTSUPP;
	}
	if (mask & IB_SRQ_MAX_WR)
		ret = mynic_resize_srq(srq, attr, mask, udata);
	else
		ret = ib_no_udata_io(udata);
	if (ret || !(mask & IB_SRQ_LIMIT))
		return ret;
	if (attr->srq_limit > mynic_queue_size(&srq->queue)) {
		ibdev_dbg(ibsrq->device, "SRQ %#x: limit %u, at most %u\n",
			  srq->srqn, attr->srq_limit,
			  mynic_queue_size(&srq->queue));
		return -EINVAL;
	}
	return mynic_cmd_modify_srq(to_mdev(ibsrq->device), srq->srqn,
				    attr->srq_limit);
}

int mynic_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct mynic_srq *srq = to_msrq(ibsrq);
	struct mynic_query_srq body;
	int ret;

	ret = mynic_cmd_query_srq(to_mdev(ibsrq->device), srq->srqn, &body);
	if (ret)
		return ret;
	attr->max_wr = mynic_queue_size(&srq->queue);
	attr->max_sge = srq->queue.max_sge;
	attr->srq_limit = le32_to_cpu(body.limit);
	return 0;
}

int mynic_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	int ret;

	ret = ib_no_udata_io(udata);
	if (ret)
		return ret;
	mynic_srq_fini(to_mdev(ibsrq->device), to_msrq(ibsrq));
	return 0;
}

/**
 * mynic_srq_complete() - find the request that the device completed
 * @srq: kernel SRQ
 * @tag: number from the device, not trusted
 * @wr_id: result
 *
 * Context: any.
 * Return: whether there was such a request.
 */
bool mynic_srq_complete(struct mynic_srq *srq, u32 tag, u64 *wr_id)
{
	struct mynic_queue *queue = &srq->queue;
	unsigned long flags;
	bool found = false;

	spin_lock_irqsave(&queue->lock, flags);
	if (tag < mynic_queue_size(queue) &&
	    __test_and_clear_bit(tag, srq->tags)) {
		*wr_id = queue->wr_id[tag];
		found = true;
	}
	spin_unlock_irqrestore(&queue->lock, flags);
	return found;
}
