// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queue pairs: their creation, attributes, states and destruction. Requests are
 * posted in wr.c, and kernel QPs are drained in drain.c.
 */
#include <linux/log2.h>
#include <linux/slab.h>
#include <rdma/mynic-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "cmd.h"
#include "mynic_names.h"
#include "trace.h"

/* clang-format off */
static const char *const mynic_qp_state_names[] = {
	MYNIC_QP_STATE_NAMES(MYNIC_NAME_AT, MYNIC_NAME_AT)
};

/* clang-format on */
static int mynic_sq_layout(struct mynic_qp *qp, const struct ib_qp_cap *cap)
{
	struct mynic_queue *sq = &qp->sq;
	size_t bytes, room;

	if (!cap->max_send_wr)
		return 0;
	bytes = max3(cap->max_send_sge * sizeof(struct mynic_sge),
		     (size_t)cap->max_inline_data,
		     MYNIC_WQE_ATOMIC + sizeof(struct mynic_atomic_operands));
	bytes += mynic_wqe_data(qp);
	if (cap->max_send_sge > MYNIC_MAX_SGE || bytes > MYNIC_SQ_MAX_STRIDE) {
		ibdev_dbg(qp->ibqp.device,
			  "no room for %u SGEs and %u bytes inline\n",
			  cap->max_send_sge, cap->max_inline_data);
		return -EINVAL;
	}

	sq->log_size = order_base_2(cap->max_send_wr);
	sq->log_stride =
		order_base_2(max_t(size_t, bytes, MYNIC_SQ_MIN_STRIDE));
	room = BIT(sq->log_stride) - mynic_wqe_data(qp);
	sq->max_sge = min(room / sizeof(struct mynic_sge), MYNIC_MAX_SGE);
	qp->max_inline = room;
	return 0;
}

static int mynic_qp_layout(struct mynic_dev *mdev, struct mynic_qp *qp,
			   const struct ib_qp_cap *cap, bool srq)
{
	int ret;

	if (cap->max_send_wr > mdev->caps.max_qp_wr ||
	    cap->max_recv_wr > mdev->caps.max_qp_wr) {
		ibdev_dbg(qp->ibqp.device,
			  "%u send and %u receive requests: at most %u\n",
			  cap->max_send_wr, cap->max_recv_wr,
			  mdev->caps.max_qp_wr);
		return -EINVAL;
	}
	ret = mynic_sq_layout(qp, cap);
	if (ret)
		return ret;
	if (cap->max_recv_wr && !srq) {
		ret = mynic_rq_layout(qp->ibqp.device, &qp->rq,
				      cap->max_recv_wr, cap->max_recv_sge);
		if (ret)
			return ret;
	}
	qp->rq.offset = mynic_queue_bytes(&qp->sq);
	if (qp->rq.log_stride)
		qp->rq.offset = ALIGN(qp->rq.offset, BIT(qp->rq.log_stride));
	qp->dbrec_offset = ALIGN(qp->rq.offset + mynic_queue_bytes(&qp->rq),
				 sizeof(struct mynic_qp_dbrec));
	return 0;
}

static void mynic_qp_report_cap(const struct mynic_qp *qp,
				struct ib_qp_cap *cap)
{
	cap->max_send_wr = mynic_queue_size(&qp->sq);
	cap->max_send_sge = qp->sq.max_sge;
	cap->max_inline_data = qp->max_inline;
	cap->max_recv_wr = mynic_queue_size(&qp->rq);
	cap->max_recv_sge = qp->rq.max_sge;
}

static int mynic_queue_init_kernel(struct mynic_queue *queue,
				   const struct mynic_mem *mem)
{
	spin_lock_init(&queue->lock);
	if (!queue->log_stride)
		return 0;
	queue->mem = mem;
	queue->wr_id = kvzalloc_objs(*queue->wr_id, mynic_queue_size(queue));
	return queue->wr_id ? 0 : -ENOMEM;
}

static int mynic_qp_init_kernel(struct mynic_qp *qp)
{
	int ret;

	qp->dbrec = mynic_mem_at(qp->mem, qp->dbrec_offset);
	ret = mynic_queue_init_kernel(&qp->sq, qp->mem);
	if (ret)
		return ret;
	return mynic_queue_init_kernel(&qp->rq, qp->mem);
}

/*
 * Create the QP in the device. Events, page faults among them, find it after
 * mynic_res_show().
 */
static int mynic_qp_register(struct mynic_dev *mdev, struct mynic_qp *qp,
			     const struct mynic_create_qp *mbox)
{
	int ret;

	ret = mynic_cmd_create_qp(mdev, mbox, &qp->qpn);
	if (ret)
		return ret;
	qp->faults = mynic_page_faults_alloc(mdev, qp->qpn);
	if (IS_ERR(qp->faults)) {
		ret = PTR_ERR(qp->faults);
		goto err_qp;
	}
	mutex_init(&qp->mutex);
	ret = mynic_res_add(mdev, &mdev->qps, qp->qpn, &qp->res);
	if (ret)
		goto err_faults;
	return 0;

err_faults:
	mutex_destroy(&qp->mutex);
	mynic_page_faults_free(qp->faults);
err_qp:
	mynic_cmd_destroy_qp(mdev, qp->qpn);
	return ret;
}

static int mynic_qp_cmd_create(struct mynic_dev *mdev, struct mynic_qp *qp,
			       const struct mynic_qp_init *init)
{
	struct mynic_create_qp mbox = {
		.buf = qp->mem->list.buf,
		.sq_offset = cpu_to_le32(qp->sq.offset),
		.rq_offset = cpu_to_le32(qp->rq.log_stride ? qp->rq.offset : 0),
		.dbrec_offset = cpu_to_le32(qp->dbrec_offset),
		.uarn = cpu_to_le32(init->uarn),
		.pdn = cpu_to_le32(init->pdn),
		.send_cqn = cpu_to_le32(init->send_cq->cqn),
		.recv_cqn = cpu_to_le32(init->recv_cq->cqn),
		.srqn = cpu_to_le32(init->srqn),
		.type = init->type,
		.flags = init->flags,
		.log_sq_size = qp->sq.log_size,
		.log_sq_stride = qp->sq.log_stride,
		.log_rq_size = qp->rq.log_size,
		.log_rq_stride = qp->rq.log_stride,
	};

	return mynic_qp_register(mdev, qp, &mbox);
}

/**
 * mynic_qp_init() - create a QP
 * @mdev: device
 * @qp: QP, zero except for its &struct ib_qp, whose event handler may run at
 *	once
 * @init: attributes; on success, its capabilities are those granted
 *
 * Return: 0, -EINVAL if @init asks for more than the device has, or another
 * errno.
 */
int mynic_qp_init(struct mynic_dev *mdev, struct mynic_qp *qp,
		  const struct mynic_qp_init *init)
{
	bool kernel = init->flags & MYNIC_QP_KERNEL;
	size_t size;
	int ret;

	qp->type = init->type;
	qp->send_cq = init->send_cq;
	qp->recv_cq = init->recv_cq;
	qp->sig_all = init->flags & MYNIC_QP_SIG_ALL;
	qp->state = IB_QPS_RESET;
	ret = mynic_qp_layout(mdev, qp, init->cap, init->srqn != MYNIC_NO_SRQ);
	if (ret)
		return ret;
	size = qp->dbrec_offset + sizeof(struct mynic_qp_dbrec);
	qp->mem = mynic_mem_alloc(mdev, size, kernel);
	if (IS_ERR(qp->mem))
		return PTR_ERR(qp->mem);
	if (kernel) {
		ret = mynic_qp_init_kernel(qp);
		if (ret)
			goto err_mem;
	}
	ret = mynic_qp_cmd_create(mdev, qp, init);
	if (ret)
		goto err_mem;
	mynic_qp_report_cap(qp, init->cap);
	if (kernel)
		mynic_res_show(&qp->res);
	return 0;

err_mem:
	kvfree(qp->rq.wr_id);
	kvfree(qp->sq.wr_id);
	mynic_mem_free(qp->mem);
	return ret;
}

/* Create a QP without queues of its own, and thus without memory. */
static int mynic_qp_init_bare(struct mynic_dev *mdev, struct mynic_qp *qp,
			      const struct mynic_create_qp *mbox)
{
	qp->type = mbox->type;
	qp->state = IB_QPS_RESET;
	return mynic_qp_register(mdev, qp, mbox);
}

/* Only kernel CQs need it: the provider purges those of processes. */
static void mynic_qp_purge_cqs(struct mynic_qp *qp)
{
	if (!qp->dbrec)
		return;
	mynic_cq_purge(qp->send_cq, qp);
	if (qp->recv_cq != qp->send_cq)
		mynic_cq_purge(qp->recv_cq, qp);
}

void mynic_qp_fini(struct mynic_dev *mdev, struct mynic_qp *qp)
{
	mynic_cmd_destroy_qp(mdev, qp->qpn);
	if (qp->dbrec)
		mynic_wait_quiet(mdev);
	/* Purged entries stay in the ring, and mynic_poll_cq() skips them. */
	mynic_qp_purge_cqs(qp);
	mynic_res_remove(&mdev->qps, qp->qpn, &qp->res);
	mynic_page_faults_free(qp->faults);
	mutex_destroy(&qp->mutex);
	kvfree(qp->rq.wr_id);
	kvfree(qp->sq.wr_id);
	if (qp->mem)
		mynic_mem_put(qp->mem);
}

static int mynic_qp_type(enum ib_qp_type type, bool user)
{
	switch (type) {
	case IB_QPT_RC:
		return MYNIC_QP_RC;
	case IB_QPT_UC:
		return MYNIC_QP_UC;
	case IB_QPT_UD:
		return MYNIC_QP_UD;
	case IB_QPT_GSI:
		return user ? -EOPNOTSUPP : MYNIC_QP_GSI;
	case IB_QPT_RAW_PACKET:
		return user ? MYNIC_QP_RAW_PACKET : -EOPNOTSUPP;
	case IB_QPT_XRC_INI:
		return user ? MYNIC_QP_XRC_INI : -EOPNOTSUPP;
	case IB_QPT_DRIVER:
		return user ? MYNIC_QP_DRIVER : -EOPNOTSUPP;
	default:
		return -EOPNOTSUPP;
	}
}

static int mynic_qp_respond(struct mynic_qp *qp, struct ib_udata *udata)
{
	struct mynic_create_qp_resp resp = {};

	resp.mmap_key = rdma_user_mmap_get_offset(&qp->mem->mmap.rdma_entry);
	resp.mmap_size = qp->mem->num_pages * PAGE_SIZE;
	resp.sq_offset = qp->sq.offset;
	resp.rq_offset = qp->rq.offset;
	resp.dbrec_offset = qp->dbrec_offset;
	resp.log_sq_size = qp->sq.log_size;
	resp.log_sq_stride = qp->sq.log_stride;
	resp.log_rq_size = qp->rq.log_size;
	resp.log_rq_stride = qp->rq.log_stride;
	return ib_respond_udata(udata, resp);
}

/*
 * Driver data is needed only for DRIVER QPs: verbs has no field for their kind.
 */
static int mynic_qp_request(const struct ib_device *ibdev,
			    const struct ib_qp_init_attr *attr,
			    struct ib_udata *udata)
{
	struct mynic_create_qp_req req = {};
	int ret;

	if (attr->qp_type != IB_QPT_DRIVER)
		return ib_is_udata_in_empty(udata);
	ret = ib_copy_validate_udata_in(udata, req, reserved_04);
	if (ret)
		return ret;
	if (req.driver_qp_type != MYNIC_DRIVER_QP_MEMCPY ||
	    memchr_inv(&req.reserved_04, 0,
		       sizeof(req) - sizeof(req.driver_qp_type))) {
		ibdev_dbg(ibdev,
			  "driver QP type %u, or fields that are reserved\n",
			  req.driver_qp_type);
		return -EOPNOTSUPP;
	}
	if (attr->cap.max_recv_wr || attr->srq) {
		ibdev_dbg(ibdev, "memcpy QPs do not receive\n");
		return -EINVAL;
	}
	return 0;
}

static int mynic_qp_create_flags(const struct ib_device *ibdev,
				 struct mynic_qp_init *init, u32 create_flags)
{
	if (create_flags & ~IB_QP_CREATE_CVLAN_STRIPPING ||
	    (create_flags && init->type != MYNIC_QP_RAW_PACKET)) {
		ibdev_dbg(ibdev, "creation flags %#x\n", create_flags);
		return -EOPNOTSUPP;
	}
	if (create_flags & IB_QP_CREATE_CVLAN_STRIPPING)
		init->flags |= MYNIC_QP_VLAN_STRIP;
	return 0;
}

/* An XRC target has no queues. Each request names the SRQ to take from. */
static int mynic_create_target(struct ib_qp *ibqp, struct ib_qp_init_attr *attr,
			       struct ib_udata *udata)
{
	struct mynic_create_qp mbox = {
		.srqn = cpu_to_le32(MYNIC_NO_SRQ),
		.xrcdn = cpu_to_le32(to_mxrcd(attr->xrcd)->xrcdn),
		.type = MYNIC_QP_XRC_TGT,
	};
	struct mynic_qp *qp = to_mqp(ibqp);
	int ret;

	ret = ib_no_udata_io(udata);
	if (ret)
		return ret;
	if (attr->create_flags) {
		ibdev_dbg(ibqp->device, "creation flags %#x of an XRC target\n",
			  attr->create_flags);
		return -EOPNOTSUPP;
	}
	ret = mynic_qp_init_bare(to_mdev(ibqp->device), qp, &mbox);
	if (ret)
		return ret;
	ibqp->qp_num = qp->qpn;
	mynic_qp_report_cap(qp, &attr->cap);
	mynic_res_show(&qp->res);
	return 0;
}

static bool mynic_rss_is_ok(const struct ib_device *ibdev,
			    const struct ib_qp_init_attr *attr,
			    const struct mynic_create_qp_req *req)
{
	if (req->driver_qp_type || req->reserved_04 ||
	    memchr_inv(req->reserved_0d, 0, sizeof(req->reserved_0d)) ||
	    req->rx_hash_fields & ~MYNIC_RX_HASH_FIELDS ||
	    req->rx_hash_function != MYNIC_RX_HASH_TOEPLITZ) {
		ibdev_dbg(
			ibdev,
			"RSS: function %u, fields %#x, or others that are reserved\n",
			req->rx_hash_function, req->rx_hash_fields);
		return false;
	}
	if (attr->qp_type != IB_QPT_RAW_PACKET || attr->create_flags ||
	    attr->cap.max_send_wr) {
		ibdev_dbg(
			ibdev,
			"RSS: a QP of type %d, creation flags %#x, %u to send\n",
			attr->qp_type, attr->create_flags,
			attr->cap.max_send_wr);
		return false;
	}
	return true;
}

/* An RSS QP has no queues. Its table names the receive work queues to use. */
static int mynic_create_rss(struct ib_qp *ibqp, struct ib_qp_init_attr *attr,
			    struct ib_udata *udata)
{
	struct mynic_create_qp mbox = {
		.pdn = cpu_to_le32(to_mpd(ibqp->pd)->pdn),
		.srqn = cpu_to_le32(MYNIC_NO_SRQ),
		.type = MYNIC_QP_RAW_PACKET,
		.rwq_tablen =
			cpu_to_le32(to_mrwq_table(attr->rwq_ind_tbl)->number),
	};
	struct mynic_create_qp_resp resp = {};
	struct mynic_create_qp_req req = {};
	struct mynic_qp *qp = to_mqp(ibqp);
	int ret;

	ret = ib_copy_validate_udata_in(udata, req, rx_hash_key);
	if (ret)
		return ret;
	if (!mynic_rss_is_ok(ibqp->device, attr, &req))
		return -EOPNOTSUPP;
	mbox.rx_hash_function = req.rx_hash_function;
	mbox.rx_hash_fields = cpu_to_le32(req.rx_hash_fields);
	memcpy(mbox.rx_hash_key, req.rx_hash_key, sizeof(mbox.rx_hash_key));
	ret = mynic_qp_init_bare(to_mdev(ibqp->device), qp, &mbox);
	if (ret)
		return ret;
	ibqp->qp_num = qp->qpn;
	mynic_qp_report_cap(qp, &attr->cap);
	ret = ib_respond_udata(udata, resp);
	if (ret)
		mynic_qp_fini(to_mdev(ibqp->device), qp);
	else
		mynic_res_show(&qp->res);
	return ret;
}

/* Checks the attributes, and stores them in @init. */
static int mynic_qp_prepare(const struct ib_qp *ibqp,
			    const struct ib_qp_init_attr *attr,
			    struct ib_udata *udata, struct mynic_qp_init *init)
{
	struct ib_cq *recv_cq;
	int ret;

	ret = mynic_qp_type(attr->qp_type, udata);
	if (ret < 0) {
		ibdev_dbg(ibqp->device, "no QPs of type %d for a %s\n",
			  attr->qp_type, udata ? "process" : "kernel");
		return ret;
	}
	init->type = ret;
	if (attr->srq && attr->srq->srq_type == IB_SRQT_TM &&
	    init->type != MYNIC_QP_RC) {
		ibdev_dbg(ibqp->device, "tag matching is for RC only\n");
		return -EINVAL;
	}
	ret = mynic_qp_request(ibqp->device, attr, udata);
	if (ret)
		return ret;
	ret = mynic_qp_create_flags(ibqp->device, init, attr->create_flags);
	if (ret)
		return ret;
	recv_cq = attr->recv_cq;
	if (init->type == MYNIC_QP_XRC_INI || init->type == MYNIC_QP_DRIVER)
		recv_cq = attr->send_cq;
	if (!attr->send_cq || !recv_cq) {
		ibdev_dbg(ibqp->device, "the QP has no CQ\n");
		return -EINVAL;
	}
	init->pdn = to_mpd(ibqp->pd)->pdn;
	init->send_cq = to_mcq(attr->send_cq);
	init->recv_cq = to_mcq(recv_cq);
	if (attr->sq_sig_type == IB_SIGNAL_ALL_WR)
		init->flags |= MYNIC_QP_SIG_ALL;
	if (!udata)
		init->flags |= MYNIC_QP_KERNEL;
	return 0;
}

/*
 * Driver data is in struct mynic_create_qp_req (DRIVER and RSS QPs) and struct
 * mynic_create_qp_resp. @udata is NULL for kernel QPs, and for XRC_TGT, which
 * belong to no process.
 */
int mynic_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr,
		    struct ib_udata *udata)
{
	struct mynic_dev *mdev = to_mdev(ibqp->device);
	struct mynic_qp *qp = to_mqp(ibqp);
	struct mynic_qp_init init = {
		.uarn = mynic_udata_uarn(udata),
		.srqn = attr->srq ? to_msrq(attr->srq)->srqn : MYNIC_NO_SRQ,
		.cap = &attr->cap,
	};
	int ret;

	if (attr->qp_type == IB_QPT_XRC_TGT)
		return mynic_create_target(ibqp, attr, udata);
	if (attr->rwq_ind_tbl)
		return mynic_create_rss(ibqp, attr, udata);
	ret = mynic_qp_prepare(ibqp, attr, udata, &init);
	if (ret)
		return ret;
	ret = mynic_qp_init(mdev, qp, &init);
	if (ret)
		return ret;
	ibqp->qp_num = qp->qpn;
	if (!udata)
		return 0;

	ret = mynic_mem_expose(qp->mem, udata);
	if (ret)
		goto err;
	ret = mynic_qp_respond(qp, udata);
	if (ret)
		goto err;
	mynic_res_show(&qp->res);
	return 0;

err:
	mynic_qp_fini(mdev, qp);
	return ret;
}

static bool mynic_attr_is_bad(const struct mynic_qp *qp, const char *name,
			      bool given, u32 value, u32 min, u32 max)
{
	if (!given || (value >= min && value <= max))
		return false;
	ibdev_dbg(qp->ibqp.device, "QP %#x: %s is %u, not %u to %u\n", qp->qpn,
		  name, value, min, max);
	return true;
}

static int mynic_qp_check_attr(const struct mynic_dev *mdev,
			       const struct mynic_qp *qp,
			       const struct ib_qp_attr *attr, int mask)
{
	/* A QP with a receive WQ table has no states. */
	if (qp->ibqp.rwq_ind_tbl) {
		ibdev_dbg(qp->ibqp.device, "QP %#x: RSS QPs have no states\n",
			  qp->qpn);
		return -EOPNOTSUPP;
	}
	if (mask & (IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE) ||
	    mask & ~(IB_QP_ATTR_STANDARD_BITS | IB_QP_RATE_LIMIT)) {
		ibdev_dbg(qp->ibqp.device, "QP %#x: no attributes %#x\n",
			  qp->qpn, mask);
		return -EOPNOTSUPP;
	}
	if (mynic_attr_is_bad(qp, "pkey_index", mask & IB_QP_PKEY_INDEX,
			      attr->pkey_index, 0, 0) ||
	    mynic_attr_is_bad(qp, "path_mtu", mask & IB_QP_PATH_MTU,
			      attr->path_mtu, IB_MTU_256, IB_MTU_4096) ||
	    mynic_attr_is_bad(qp, "dest_qp_num", mask & IB_QP_DEST_QPN,
			      attr->dest_qp_num, 0, 0xffffff) ||
	    mynic_attr_is_bad(qp, "timeout", mask & IB_QP_TIMEOUT,
			      attr->timeout, 0, 31) ||
	    mynic_attr_is_bad(qp, "retry_cnt", mask & IB_QP_RETRY_CNT,
			      attr->retry_cnt, 0, 7) ||
	    mynic_attr_is_bad(qp, "rnr_retry", mask & IB_QP_RNR_RETRY,
			      attr->rnr_retry, 0, 7) ||
	    mynic_attr_is_bad(qp, "min_rnr_timer", mask & IB_QP_MIN_RNR_TIMER,
			      attr->min_rnr_timer, 0, 31) ||
	    mynic_attr_is_bad(
		    qp, "max_rd_atomic", mask & IB_QP_MAX_QP_RD_ATOMIC,
		    attr->max_rd_atomic, 0, mdev->caps.max_rd_atomic) ||
	    mynic_attr_is_bad(
		    qp, "max_dest_rd_atomic", mask & IB_QP_MAX_DEST_RD_ATOMIC,
		    attr->max_dest_rd_atomic, 0, mdev->caps.max_rd_atomic) ||
	    mynic_attr_is_bad(qp, "rate_limit", mask & IB_QP_RATE_LIMIT,
			      attr->rate_limit, 0, mdev->caps.max_rate_kbps))
		return -EINVAL;
	return 0;
}

static int mynic_qp_attr_to_hw(const struct ib_device *ibdev,
			       struct mynic_qp_attr *hw,
			       const struct ib_qp_attr *attr, int mask)
{
	hw->attr_mask = cpu_to_le32(mask);
	if (mask & IB_QP_STATE)
		hw->qp_state = attr->qp_state;
	if (mask & IB_QP_CUR_STATE)
		hw->cur_qp_state = attr->cur_qp_state;
	if (mask & IB_QP_EN_SQD_ASYNC_NOTIFY)
		hw->sq_drained_event = !!attr->en_sqd_async_notify;
	if (mask & IB_QP_ACCESS_FLAGS)
		hw->access_flags = cpu_to_le32(attr->qp_access_flags);
	if (mask & IB_QP_PORT)
		hw->port_num = attr->port_num;
	if (mask & IB_QP_QKEY)
		hw->qkey = cpu_to_le32(attr->qkey);
	if (mask & IB_QP_PATH_MTU)
		hw->path_mtu = attr->path_mtu;
	if (mask & IB_QP_TIMEOUT)
		hw->timeout = attr->timeout;
	if (mask & IB_QP_RETRY_CNT)
		hw->retry_cnt = attr->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		hw->rnr_retry = attr->rnr_retry;
	if (mask & IB_QP_RQ_PSN)
		hw->rq_psn = cpu_to_le32(attr->rq_psn & 0xffffff);
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		hw->max_rd_atomic = attr->max_rd_atomic;
	if (mask & IB_QP_MIN_RNR_TIMER)
		hw->min_rnr_timer = attr->min_rnr_timer;
	if (mask & IB_QP_SQ_PSN)
		hw->sq_psn = cpu_to_le32(attr->sq_psn & 0xffffff);
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		hw->max_dest_rd_atomic = attr->max_dest_rd_atomic;
	if (mask & IB_QP_DEST_QPN)
		hw->dest_qpn = cpu_to_le32(attr->dest_qp_num);
	if (mask & IB_QP_RATE_LIMIT)
		hw->rate_limit = cpu_to_le32(attr->rate_limit);
	if (mask & IB_QP_AV)
		return mynic_av_from_attr(ibdev, &hw->av, &attr->ah_attr);
	return 0;
}

/* Completions, which may be forged, are compared with both indices. */
static void mynic_queue_reset(struct mynic_queue *queue, struct mynic_cq *cq)
{
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	queue->pi = 0;
	queue->ci = 0;
	spin_unlock_irqrestore(&cq->lock, flags);
}

/*
 * Do for a kernel QP what the transition to RESET did in the device: remove all
 * requests, and begin at index 0 again. For the QPs of processes the provider
 * does this.
 */
static void mynic_qp_reset_queues(struct mynic_qp *qp)
{
	if (!qp->dbrec)
		return;
	mynic_qp_purge_cqs(qp);
	mynic_queue_reset(&qp->sq, qp->send_cq);
	mynic_queue_reset(&qp->rq, qp->recv_cq);
	memset(qp->dbrec, 0, sizeof(*qp->dbrec));
}

static int mynic_modify_request(const struct mynic_qp *qp,
				struct ib_udata *udata,
				struct mynic_modify_qp_req *req)
{
	int ret;

	*req = (struct mynic_modify_qp_req){};
	if (!udata || !udata->inlen)
		return 0;
	ret = ib_copy_validate_udata_in(udata, *req, reserved_04);
	if (ret)
		return ret;
	if (req->reserved_04) {
		ibdev_dbg(qp->ibqp.device, "QP %#x: reserved field %#x\n",
			  qp->qpn, req->reserved_04);
		return -EOPNOTSUPP;
	}
	return 0;
}

/*
 * ib_modify_qp_is_ok() does not know type DRIVER, and not all kernels allow a
 * rate limit for all types. The device checks these itself.
 */
static bool mynic_modify_is_ok(enum ib_qp_state cur, enum ib_qp_state new,
			       enum ib_qp_type type, int mask)
{
	if (type == IB_QPT_DRIVER)
		return true;
	if (mask & IB_QP_RATE_LIMIT && !(MYNIC_RATE_LIMIT_QPTS & BIT(type)))
		return false;
	return ib_modify_qp_is_ok(cur, new, type, mask & ~IB_QP_RATE_LIMIT);
}

/* Return the requested options that the device has. */
static u32 mynic_modify_ece(const struct mynic_dev *mdev,
			    struct mynic_qp_attr *hw, u32 options)
{
	options &= mynic_ece_options(mdev);
	if (options) {
		hw->attr_mask |= cpu_to_le32(MYNIC_QP_ATTR_ECE);
		hw->ece_options = cpu_to_le32(options);
	}
	return options;
}

/*
 * A kernel QP can go to ERR even if the device is dead, as ULPs drain their QPs
 * before they destroy them.
 */
int mynic_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata)
{
	struct mynic_dev *mdev = to_mdev(ibqp->device);
	struct mynic_qp *qp = to_mqp(ibqp);
	enum ib_qp_state cur_state, new_state;
	struct mynic_modify_qp_resp resp = {};
	struct mynic_modify_qp_req req;
	struct mynic_qp_attr hw = {};
	int ret;

	ret = mynic_modify_request(qp, udata, &req);
	if (ret)
		return ret;
	ret = mynic_qp_check_attr(mdev, qp, attr, mask);
	if (ret)
		return ret;
	ret = mynic_qp_attr_to_hw(ibqp->device, &hw, attr, mask);
	if (ret)
		return ret;

	mutex_lock(&qp->mutex);
	cur_state = mask & IB_QP_CUR_STATE ? attr->cur_qp_state : qp->state;
	new_state = mask & IB_QP_STATE ? attr->qp_state : cur_state;
	ret = -EINVAL;
	if (!mynic_modify_is_ok(cur_state, new_state, ibqp->qp_type, mask)) {
		ibdev_dbg(ibqp->device,
			  "QP %#x: no way from %s to %s with attributes %#x\n",
			  qp->qpn, mynic_qp_state_names[cur_state],
			  mynic_qp_state_names[new_state], mask);
		goto out;
	}
	if (mynic_qp_connected(qp) && cur_state == IB_QPS_INIT &&
	    new_state == IB_QPS_RTR)
		resp.ece_options = mynic_modify_ece(mdev, &hw, req.ece_options);
	ret = mynic_cmd_modify_qp(mdev, qp->qpn, &hw);
	if (ret && !udata && new_state == IB_QPS_ERR && mynic_dead(mdev)) {
		mynic_qp_err_dead(qp);
		ret = 0;
	}
	if (ret)
		goto out;
	if (new_state != cur_state)
		trace_mynic_qp_state(mdev, qp->qpn, cur_state, new_state, 0);
	WRITE_ONCE(qp->state, new_state);
	if (new_state == IB_QPS_RESET)
		mynic_qp_reset_queues(qp);
out:
	mutex_unlock(&qp->mutex);
	if (ret || !udata)
		return ret;
	return ib_respond_udata(udata, resp);
}

static void mynic_qp_attr_from_hw(struct ib_qp_attr *attr,
				  const struct mynic_qp_attr *hw)
{
	attr->qp_state = hw->qp_state;
	attr->cur_qp_state = hw->qp_state;
	attr->path_mtu = hw->path_mtu;
	attr->path_mig_state = IB_MIG_MIGRATED;
	attr->qkey = le32_to_cpu(hw->qkey);
	attr->rq_psn = le32_to_cpu(hw->rq_psn);
	attr->sq_psn = le32_to_cpu(hw->sq_psn);
	attr->dest_qp_num = le32_to_cpu(hw->dest_qpn);
	attr->qp_access_flags = le32_to_cpu(hw->access_flags);
	attr->sq_draining = hw->sq_drained_event;
	attr->max_rd_atomic = hw->max_rd_atomic;
	attr->max_dest_rd_atomic = hw->max_dest_rd_atomic;
	attr->min_rnr_timer = hw->min_rnr_timer;
	attr->port_num = hw->port_num;
	attr->timeout = hw->timeout;
	attr->retry_cnt = hw->retry_cnt;
	attr->rnr_retry = hw->rnr_retry;
	attr->rate_limit = le32_to_cpu(hw->rate_limit);
}

/* All attributes are reported, whatever @mask asks for. */
int mynic_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init_attr)
{
	struct mynic_qp *qp = to_mqp(ibqp);
	struct mynic_qp_attr hw;
	int ret;

	ret = mynic_cmd_query_qp(to_mdev(ibqp->device), qp->qpn, &hw);
	if (ret)
		return ret;
	/* The RDMA core shows all fields to processes, set or not. */
	memset(attr, 0, sizeof(*attr));
	memset(init_attr, 0, sizeof(*init_attr));
	mynic_qp_attr_from_hw(attr, &hw);
	if (mynic_qp_connected(qp))
		mynic_av_to_attr(&hw.av, &attr->ah_attr);
	mynic_qp_report_cap(qp, &attr->cap);

	init_attr->send_cq = ibqp->send_cq;
	init_attr->recv_cq = ibqp->recv_cq;
	init_attr->srq = ibqp->srq;
	init_attr->cap = attr->cap;
	init_attr->qp_type = ibqp->qp_type;
	init_attr->sq_sig_type = qp->sig_all ? IB_SIGNAL_ALL_WR :
					       IB_SIGNAL_REQ_WR;
	return 0;
}

int mynic_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	int ret;

	ret = ib_no_udata_io(udata);
	if (ret)
		return ret;
	mynic_qp_fini(to_mdev(ibqp->device), to_mqp(ibqp));
	return 0;
}
