// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Tag matching: the tag ring, which SRQs of type TM have in addition. Processes
 * post to it without the driver.
 */
#include <rdma/mynic-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "cmd.h"

static u32 mynic_tag_ring_bytes(const struct mynic_srq *srq)
{
	return sizeof(struct mynic_tag_wqe) << srq->log_tag_size;
}

/**
 * mynic_tm_init() - allocate the tag ring
 * @srq: SRQ of a process
 * @attr: requested attributes
 * @udata: request: &struct mynic_create_srq_req
 * @mbox: command that creates the SRQ; its tag matching fields are filled in
 *
 * On error, too, the caller frees the ring with mynic_tm_free().
 *
 * Return: 0 or an errno.
 */
int mynic_tm_init(struct mynic_srq *srq, const struct ib_srq_init_attr *attr,
		  struct ib_udata *udata, struct mynic_create_srq *mbox)
{
	struct mynic_dev *mdev = to_mdev(srq->ibsrq.device);
	u32 max_tags = attr->ext.tag_matching.max_num_tags;
	struct mynic_create_srq_req req;
	struct mynic_mem *mem;
	int ret;

	ret = ib_copy_validate_udata_in(udata, req, reserved_04);
	if (ret)
		return ret;
	if (req.reserved_04) {
		ibdev_dbg(srq->ibsrq.device, "an SRQ with reserved field %#x\n",
			  req.reserved_04);
		return -EOPNOTSUPP;
	}
	if (!req.max_ops || req.max_ops > mdev->caps.max_tag_ops || !max_tags ||
	    max_tags > mdev->caps.max_tags) {
		ibdev_dbg(srq->ibsrq.device,
			  "%u tags and %u operations: 1 to %u, 1 to %u\n",
			  max_tags, req.max_ops, mdev->caps.max_tags,
			  mdev->caps.max_tag_ops);
		return -EINVAL;
	}

	srq->log_tag_size = max(order_base_2(req.max_ops), 1);
	mem = mynic_mem_alloc(mdev,
			      mynic_tag_ring_bytes(srq) +
				      sizeof(struct mynic_tag_dbrec),
			      false);
	if (IS_ERR(mem))
		return PTR_ERR(mem);
	srq->tag_mem = mem;
	mbox->type = MYNIC_SRQ_TM;
	mbox->cqn = cpu_to_le32(to_mcq(attr->ext.cq)->cqn);
	mbox->log_tag_size = srq->log_tag_size;
	mbox->max_tags = cpu_to_le32(max_tags);
	mbox->tag_buf = mem->list.buf;
	return 0;
}

/* Free the tag ring, if there is one. The device no longer knows the SRQ. */
void mynic_tm_free(struct mynic_srq *srq)
{
	if (srq->tag_mem)
		mynic_mem_put(srq->tag_mem);
}

/* Let the process map the tag ring, and complete the response. */
int mynic_tm_respond(struct mynic_srq *srq, struct ib_udata *udata,
		     struct mynic_create_srq_resp *resp)
{
	struct mynic_mem *mem = srq->tag_mem;
	int ret;

	ret = mynic_mem_expose(mem, udata);
	if (ret)
		return ret;
	resp->log_tag_size = srq->log_tag_size;
	resp->tag_mmap_key = rdma_user_mmap_get_offset(&mem->mmap.rdma_entry);
	resp->tag_mmap_size = mem->num_pages * PAGE_SIZE;
	resp->tag_dbrec_offset = mynic_tag_ring_bytes(srq);
	return 0;
}
