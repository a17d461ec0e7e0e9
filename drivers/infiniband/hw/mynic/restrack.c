// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Details of objects for rdma(8), beyond those of the RDMA core: first the
 * choices of the driver, then the raw state from the device. The RDMA core
 * keeps an object alive while it is shown.
 */
#include <rdma/ib_umem.h>
#include <rdma/restrack.h>
#include <uapi/rdma/rdma_netlink.h>

#include "cmd.h"

/**
 * struct mynic_detail - a number that is shown with its name
 * @name: name
 * @value: number
 */
struct mynic_detail {
	const char *name;
	u32 value;
};

static int mynic_fill_details(struct sk_buff *msg,
			      const struct mynic_detail *details,
			      unsigned int num)
{
	struct nlattr *nest;
	unsigned int i;

	nest = nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < num; i++) {
		if (rdma_nl_put_driver_u32(msg, details[i].name,
					   details[i].value)) {
			nla_nest_cancel(msg, nest);
			return -EMSGSIZE;
		}
	}
	nla_nest_end(msg, nest);
	return 0;
}

static u32 mynic_queue_stride(const struct mynic_queue *queue)
{
	return queue->log_stride ? 1U << queue->log_stride : 0;
}

static int mynic_fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ibqp)
{
	const struct mynic_qp *qp = to_mqp(ibqp);
	const struct mynic_detail details[] = {
		{ "sq_size", mynic_queue_size(&qp->sq) },
		{ "sq_stride", mynic_queue_stride(&qp->sq) },
		{ "sq_max_sge", qp->sq.max_sge },
		{ "sq_max_inline", qp->max_inline },
		{ "rq_size", mynic_queue_size(&qp->rq) },
		{ "rq_stride", mynic_queue_stride(&qp->rq) },
		{ "rq_max_sge", qp->rq.max_sge },
	};

	return mynic_fill_details(msg, details, ARRAY_SIZE(details));
}

static int mynic_fill_res_qp_entry_raw(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct mynic_qp_attr mbox;
	int ret;

	ret = mynic_cmd_query_qp(to_mdev(ibqp->device), to_mqp(ibqp)->qpn,
				 &mbox);
	if (ret)
		return ret;
	return nla_put(msg, RDMA_NLDEV_ATTR_RES_RAW, sizeof(mbox), &mbox);
}

static int mynic_fill_res_cq_entry(struct sk_buff *msg, struct ib_cq *ibcq)
{
	const struct mynic_cq *cq = to_mcq(ibcq);
	const struct mynic_detail details[] = {
		{ "number", cq->cqn },
		{ "size", 1U << cq->log_size },
	};

	return mynic_fill_details(msg, details, ARRAY_SIZE(details));
}

static int mynic_fill_res_cq_entry_raw(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct mynic_query_cq mbox;
	int ret;

	ret = mynic_cmd_query_cq(to_mdev(ibcq->device), to_mcq(ibcq)->cqn,
				 &mbox);
	if (ret)
		return ret;
	return nla_put(msg, RDMA_NLDEV_ATTR_RES_RAW, sizeof(mbox), &mbox);
}

static int mynic_fill_res_mr_entry(struct sk_buff *msg, struct ib_mr *ibmr)
{
	const struct mynic_buf *buf = &to_mmr(ibmr)->list.buf;
	const struct mynic_detail details[] = {
		{ "page_list_levels", buf->levels },
		{ "page_size", buf->levels ? 1U << buf->log_page_size : 0 },
		{ "page_offset", le32_to_cpu(buf->offset) },
	};

	return mynic_fill_details(msg, details, ARRAY_SIZE(details));
}

static int mynic_fill_res_mr_entry_raw(struct sk_buff *msg, struct ib_mr *ibmr)
{
	struct mynic_query_mkey mbox;
	int ret;

	ret = mynic_cmd_query_mkey(to_mdev(ibmr->device), ibmr->lkey, &mbox);
	if (ret)
		return ret;
	return nla_put(msg, RDMA_NLDEV_ATTR_RES_RAW, sizeof(mbox), &mbox);
}

static int mynic_fill_res_srq_entry(struct sk_buff *msg, struct ib_srq *ibsrq)
{
	const struct mynic_srq *srq = to_msrq(ibsrq);
	const struct mynic_detail details[] = {
		{ "number", srq->srqn },
		{ "size", mynic_queue_size(&srq->queue) },
		{ "stride", mynic_queue_stride(&srq->queue) },
		{ "max_sge", srq->queue.max_sge },
	};

	return mynic_fill_details(msg, details, ARRAY_SIZE(details));
}

static int mynic_fill_res_srq_entry_raw(struct sk_buff *msg,
					struct ib_srq *ibsrq)
{
	struct mynic_query_srq body;
	int ret;

	ret = mynic_cmd_query_srq(to_mdev(ibsrq->device), to_msrq(ibsrq)->srqn,
				  &body);
	if (ret)
		return ret;
	return nla_put(msg, RDMA_NLDEV_ATTR_RES_RAW, sizeof(body), &body);
}

const struct ib_device_ops mynic_restrack_ops = {
	.fill_res_cq_entry = mynic_fill_res_cq_entry,
	.fill_res_cq_entry_raw = mynic_fill_res_cq_entry_raw,
	.fill_res_mr_entry = mynic_fill_res_mr_entry,
	.fill_res_mr_entry_raw = mynic_fill_res_mr_entry_raw,
	.fill_res_qp_entry = mynic_fill_res_qp_entry,
	.fill_res_qp_entry_raw = mynic_fill_res_qp_entry_raw,
	.fill_res_srq_entry = mynic_fill_res_srq_entry,
	.fill_res_srq_entry_raw = mynic_fill_res_srq_entry_raw,
};
