// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Tag matching: what its SRQs have beside others. Posting is the process's. */
#include <rdma/mynic-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "cmd.h"

static u32 mynic_tag_ring_bytes(const struct mynic_srq *srq)
{
	return sizeof(struct mynic_tag_wqe) << srq->log_tag_size;
}

/**
 * mynic_tm_init() - make the tag ring
 * @srq: SRQ of a process
 * @attr: what is asked for
 * @udata: request: &struct mynic_create_srq_req
 * @mbox: command that creates the SRQ; completed
 *
 * Return: 0 or an errno; mynic_tm_free() undoes it in any case.
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
	if (req.reserved_04)
		return -EOPNOTSUPP;
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

/**
 * mynic_tm_free() - give up the tag ring
 * @srq: SRQ of any type that the device no longer knows
 */
void mynic_tm_free(struct mynic_srq *srq)
{
	if (srq->tag_mem)
		mynic_mem_put(srq->tag_mem);
}

/**
 * mynic_tm_respond() - let the process map the tag ring
 * @srq: SRQ for tag matching
 * @udata: of the call that creates it
 * @resp: response to that; completed
 *
 * Return: 0 or an errno.
 */
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
