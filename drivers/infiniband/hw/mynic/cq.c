// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion queues: creation, resizing, and polling and arming from the
 * kernel. Processes poll and arm their CQs without the driver.
 */
#include <linux/if_vlan.h>
#include <linux/log2.h>
#include <rdma/mynic-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "cmd.h"

/* Value of qp_num that marks a purged entry */
#define MYNIC_VOID_QPN cpu_to_le32(U32_MAX)

static u32 mynic_cq_dbrec_offset(u8 log_size)
{
	return ALIGN((u32)sizeof(struct mynic_cqe) << log_size,
		     sizeof(struct mynic_cq_dbrec));
}

static struct mynic_cq_dbrec *mynic_cq_dbrec(const struct mynic_cq *cq)
{
	return mynic_mem_at(cq->mem, mynic_cq_dbrec_offset(cq->log_size));
}

static u8 mynic_cq_log_size(u32 entries)
{
	return max(order_base_2(entries), 1);
}

/**
 * mynic_cq_init() - create a CQ
 * @mdev: device
 * @cq: CQ; if its &struct ib_cq has handlers, they may run at once
 * @attr: what it is to be like
 *
 * Return: 0 or an errno.
 */
int mynic_cq_init(struct mynic_dev *mdev, struct mynic_cq *cq,
		  const struct mynic_cq_init_attr *attr)
{
	unsigned int eq = attr->comp_vector ? attr->comp_vector - 1 : 0;
	struct mynic_create_cq body = {
		.uarn = cpu_to_le32(attr->uarn),
		.eqn = cpu_to_le16(mdev->comp_eqs[eq].eqn),
	};
	size_t size;
	int ret;

	spin_lock_init(&cq->lock);
	cq->ci = 0;
	cq->num_vectors = attr->comp_vector ? 0 : mdev->num_comp_eqs;
	cq->log_size = mynic_cq_log_size(attr->entries);
	size = mynic_cq_dbrec_offset(cq->log_size) +
	       sizeof(struct mynic_cq_dbrec);
	cq->mem = mynic_mem_alloc(mdev, size, attr->kernel);
	if (IS_ERR(cq->mem))
		return PTR_ERR(cq->mem);

	body.buf = cq->mem->list.buf;
	body.dbrec_offset = cpu_to_le32(mynic_cq_dbrec_offset(cq->log_size));
	body.log_size = cq->log_size;
	ret = mynic_cmd_create_cq(mdev, attr->flags, &body, &cq->cqn);
	if (ret)
		goto err_mem;
	mynic_move_init(&cq->move);
	ret = mynic_res_add(mdev, &mdev->cqs, cq->cqn, &cq->res);
	if (ret)
		goto err_cq;
	if (attr->kernel)
		mynic_res_show(&cq->res);
	return 0;

err_cq:
	mynic_move_fini(&cq->move);
	mynic_cmd_destroy_cq(mdev, cq->cqn);
err_mem:
	mynic_mem_free(cq->mem);
	return ret;
}

/* From now on the CQ has no events. The device still has the CQ. */
static void mynic_cq_hide(struct mynic_dev *mdev, struct mynic_cq *cq)
{
	mynic_res_remove(&mdev->cqs, cq->cqn, &cq->res);
}

static void mynic_cq_destroy(struct mynic_dev *mdev, struct mynic_cq *cq)
{
	mynic_cmd_destroy_cq(mdev, cq->cqn);
	mynic_move_fini(&cq->move);
	mynic_mem_put(cq->mem);
}

void mynic_cq_fini(struct mynic_dev *mdev, struct mynic_cq *cq)
{
	mynic_cq_hide(mdev, cq);
	mynic_cq_destroy(mdev, cq);
}

/**
 * mynic_cq_peek() - the next entry of a kernel CQ
 * @cq: CQ
 *
 * The device can overwrite the entry only after @cq->ci has passed it and has
 * been published. Its contents are not trusted: read each field once, then
 * check.
 *
 * Context: one caller at a time.
 * Return: the entry, or NULL if the device has not written it yet.
 */
struct mynic_cqe *mynic_cq_peek(struct mynic_cq *cq)
{
	if (!mynic_cq_has(cq, cq->ci))
		return NULL;
	dma_rmb();
	return mynic_cqe(cq, cq->ci);
}

/*
 * Let the device overwrite the entries before @cq->ci. The caller serialises.
 */
void mynic_cq_publish(struct mynic_cq *cq)
{
	mynic_release(&mynic_cq_dbrec(cq)->ci, cq->ci);
}

/* Vector of this processor, or 0 for the one that the CQ was created with. */
static u64 mynic_cq_vector(const struct mynic_cq *cq)
{
	if (!cq->num_vectors)
		return 0;
	return raw_smp_processor_id() % cq->num_vectors + 1;
}

/*
 * Return the request to store, or 0 if the device has not yet taken an equal
 * one.
 */
static u64 mynic_cq_request(const struct mynic_cq *cq, u32 index,
			    bool solicited)
{
	const struct mynic_cq_dbrec *dbrec = mynic_cq_dbrec(cq);
	u64 last = le64_to_cpu(READ_ONCE(dbrec->arm));
	u64 seq = last >> MYNIC_ARM_SEQ_SHIFT & MYNIC_ARM_SEQ_MASK;
	u64 request = MYNIC_ARM_VALID | index |
		      mynic_cq_vector(cq) << MYNIC_ARM_VECTOR_SHIFT;

	if (solicited)
		request |= MYNIC_ARM_SOLICITED;
	if (le64_to_cpu(READ_ONCE(dbrec->taken)) == last ||
	    lower_32_bits(last) != index)
		seq = (seq + 1) & MYNIC_ARM_SEQ_MASK;
	else if (solicited || !(last & MYNIC_ARM_SOLICITED))
		return 0;
	return request | seq << MYNIC_ARM_SEQ_SHIFT;
}

/**
 * mynic_cq_arm() - ask for an event
 * @mdev: device
 * @cq: kernel CQ
 * @solicited: whether only solicited completions and errors count
 *
 * An unread entry raises the event at once. With completion vector 0, the event
 * interrupts the calling processor.
 *
 * Context: any.
 */
void mynic_cq_arm(struct mynic_dev *mdev, struct mynic_cq *cq, bool solicited)
{
	struct mynic_cq_dbrec *dbrec = mynic_cq_dbrec(cq);
	unsigned long flags;
	u64 request;
	u32 index;

	spin_lock_irqsave(&cq->lock, flags);
	index = READ_ONCE(cq->ci);
	request = mynic_cq_request(cq, index, solicited);
	if (request)
		WRITE_ONCE(dbrec->arm, cpu_to_le64(request));
	spin_unlock_irqrestore(&cq->lock, flags);
	if (!request)
		return;
	/*
	 * Pairs with the device, which writes an entry before it reads the
	 * request.
	 */
	mb();
	if (!READ_ONCE(dbrec->db_suppress) || mynic_cq_has(cq, index))
		mynic_ring(mdev, MYNIC_UAR_CQ_DB, cq->cqn, index);
}

static bool mynic_cqe_is(const struct mynic_cqe *cqe, u32 qpn)
{
	return le32_to_cpu(READ_ONCE(cqe->qp_num)) == qpn;
}

/*
 * Nobody sees this completion, but its request must give back its slot of the
 * SRQ.
 */
static void mynic_cqe_drop(struct mynic_cq *cq, struct mynic_qp *qp,
			   struct mynic_cqe *cqe)
{
	u64 token = le64_to_cpu(READ_ONCE(cqe->wr_id));
	u64 wr_id;

	WRITE_ONCE(cqe->qp_num, MYNIC_VOID_QPN);
	if (qp->ibqp.srq && qp->recv_cq == cq &&
	    token >> 32 == MYNIC_WR_RECV >> 32)
		mynic_srq_complete(to_msrq(qp->ibqp.srq), lower_32_bits(token),
				   &wr_id);
}

/**
 * mynic_cq_purge() - drop the completions of a QP that is reset or destroyed
 * @cq: kernel CQ
 * @qp: QP for which the device writes no more entries. It must still be
 *	registered in &mynic_dev.qps, where its remaining entries look it up.
 */
void mynic_cq_purge(struct mynic_cq *cq, struct mynic_qp *qp)
{
	u32 mask = BIT(cq->log_size) - 1;
	struct mynic_cqe *cqe;
	unsigned long flags;
	u32 i;

	spin_lock_irqsave(&cq->lock, flags);
	for (i = cq->ci; i - cq->ci <= mask && mynic_cq_has(cq, i); i++) {
		cqe = mynic_cqe(cq, i);
		dma_rmb();
		if (mynic_cqe_is(cqe, qp->qpn))
			mynic_cqe_drop(cq, qp, cqe);
	}
	spin_unlock_irqrestore(&cq->lock, flags);
}

static int mynic_cq_respond(struct mynic_cq *cq, struct ib_udata *udata)
{
	struct mynic_create_cq_resp resp = {};

	resp.mmap_key = rdma_user_mmap_get_offset(&cq->mem->mmap.rdma_entry);
	resp.mmap_size = cq->mem->num_pages * PAGE_SIZE;
	resp.dbrec_offset = mynic_cq_dbrec_offset(cq->log_size);
	resp.cqn = cq->cqn;
	resp.log_size = cq->log_size;
	resp.num_vectors = cq->num_vectors;
	return ib_respond_udata(udata, resp);
}

static int mynic_cq_check(struct ib_device *ibdev,
			  const struct ib_cq_init_attr *attr)
{
	const struct mynic_dev *mdev = to_mdev(ibdev);

	if (attr->flags & ~(IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION |
			    IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN)) {
		ibdev_dbg(ibdev, "a CQ with flags %#x\n", attr->flags);
		return -EOPNOTSUPP;
	}
	if (!attr->cqe || attr->cqe > mdev->caps.max_cqe ||
	    attr->comp_vector > mdev->num_comp_eqs) {
		ibdev_dbg(
			ibdev,
			"a CQ of %u entries with vector %u: 1 to %u, 0 to %u\n",
			attr->cqe, attr->comp_vector, mdev->caps.max_cqe,
			mdev->num_comp_eqs);
		return -EINVAL;
	}
	return 0;
}

/* @attrs is NULL for kernel CQs. */
int mynic_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		    struct uverbs_attr_bundle *attrs)
{
	struct ib_udata *udata = attrs ? &attrs->driver_udata : NULL;
	struct mynic_dev *mdev = to_mdev(ibcq->device);
	struct mynic_cq *cq = to_mcq(ibcq);
	struct mynic_cq_init_attr init;
	u8 flags = 0;
	int ret;

	ret = ib_is_udata_in_empty(udata);
	if (ret)
		return ret;
	ret = mynic_cq_check(ibcq->device, attr);
	if (ret)
		return ret;
	if (attr->flags & IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN)
		flags |= MYNIC_CQ_IGNORE_OVERRUN;

	init = (struct mynic_cq_init_attr){
		.entries = attr->cqe,
		.comp_vector = attr->comp_vector,
		.flags = flags,
		.uarn = mynic_udata_uarn(udata),
		.kernel = !udata,
	};
	ret = mynic_cq_init(mdev, cq, &init);
	if (ret)
		return ret;
	ibcq->cqe = BIT(cq->log_size);
	if (!udata)
		return 0;

	ret = mynic_mem_expose(cq->mem, udata);
	if (ret)
		goto err;
	ret = mynic_cq_respond(cq, udata);
	if (ret)
		goto err;
	mynic_res_show(&cq->res);
	return 0;

err:
	mynic_cq_fini(mdev, cq);
	return ret;
}

int mynic_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	int ret;

	ret = ib_no_udata_io(udata);
	if (ret)
		return ret;
	mynic_cq_fini(to_mdev(ibcq->device), to_mcq(ibcq));
	return 0;
}

/*
 * ib_free_cq() stops the work of a kernel CQ between these two. An event must
 * not queue it again. The work may still use the CQ.
 */
int mynic_pre_destroy_cq(struct ib_cq *ibcq)
{
	mynic_cq_hide(to_mdev(ibcq->device), to_mcq(ibcq));
	return 0;
}

void mynic_post_destroy_cq(struct ib_cq *ibcq)
{
	mynic_cq_destroy(to_mdev(ibcq->device), to_mcq(ibcq));
}

static int mynic_cq_make_ring(struct mynic_cq *cq, u8 log_size,
			      struct ib_udata *udata)
{
	struct mynic_resize_resp resp = {
		.dbrec_offset = mynic_cq_dbrec_offset(log_size),
		.log_size = log_size,
	};
	int ret;

	ret = mynic_move_make(&cq->move, to_mdev(cq->ibcq.device),
			      sizeof(struct mynic_cq_dbrec), udata, &resp);
	if (ret)
		return ret;
	return ib_respond_udata(udata, resp);
}

static int mynic_cq_move(struct mynic_cq *cq, u64 mmap_key, u8 log_size)
{
	struct mynic_resize body;
	int ret;

	if (!mynic_move_matches(&cq->move, mmap_key, log_size)) {
		ibdev_dbg(cq->ibcq.device,
			  "CQ %#x has no memory %#llx for 2^%u entries\n",
			  cq->cqn, mmap_key, log_size);
		return -EINVAL;
	}
	body = mynic_move_body(&cq->move);
	ret = mynic_cmd_resize_cq(to_mdev(cq->ibcq.device), cq->cqn, &body);
	if (ret)
		return ret;
	mynic_move_done(&cq->move, &cq->mem);
	cq->log_size = log_size;
	cq->ibcq.cqe = BIT(log_size);
	return 0;
}

/*
 * A resize takes two calls: the first allocates memory, which the process maps,
 * and the second moves the CQ there. If either fails, the CQ is unchanged.
 */
int mynic_resize_user_cq(struct ib_cq *ibcq, unsigned int cqe,
			 struct ib_udata *udata)
{
	struct mynic_dev *mdev = to_mdev(ibcq->device);
	struct mynic_cq *cq = to_mcq(ibcq);
	struct mynic_resize_cq_req req;
	u8 log_size;
	int ret;

	if (!udata)
		return -EOPNOTSUPP;
	ret = ib_copy_validate_udata_in(udata, req, mmap_key);
	if (ret)
		return ret;
	if (!cqe || cqe > mdev->caps.max_cqe) {
		ibdev_dbg(ibcq->device, "CQ %#x of %u entries: 1 to %u\n",
			  cq->cqn, cqe, mdev->caps.max_cqe);
		return -EINVAL;
	}
	log_size = mynic_cq_log_size(cqe);
	mutex_lock(&cq->move.lock);
	if (req.mmap_key)
		ret = mynic_cq_move(cq, req.mmap_key, log_size);
	else
		ret = mynic_cq_make_ring(cq, log_size, udata);
	mutex_unlock(&cq->move.lock);
	return ret;
}

int mynic_modify_cq(struct ib_cq *ibcq, u16 count, u16 period)
{
	return mynic_cmd_modify_cq(to_mdev(ibcq->device), to_mcq(ibcq)->cqn,
				   count, period);
}

static bool mynic_wc_request(struct mynic_cq *cq, struct mynic_qp *qp,
			     u64 token, u64 *wr_id)
{
	u32 index = lower_32_bits(token);

	if (token & ~(MYNIC_WR_RECV | U32_MAX))
		return false;
	if (!(token & MYNIC_WR_RECV))
		return qp->send_cq == cq && qp->sq.wr_id &&
		       mynic_queue_complete(&qp->sq, index, wr_id);
	if (qp->recv_cq != cq)
		return false;
	if (qp->ibqp.srq)
		return mynic_srq_complete(to_msrq(qp->ibqp.srq), index, wr_id);
	return qp->rq.wr_id && mynic_queue_complete(&qp->rq, index, wr_id);
}

static void mynic_wc_fill(struct ib_wc *wc, const struct mynic_cqe *cqe)
{
	u32 flags = le32_to_cpu(cqe->wc_flags);
	u16 vlan = le16_to_cpu(cqe->cvlan);

	wc->opcode = le32_to_cpu(cqe->opcode);
	if (wc->opcode == MYNIC_WC_REG_MR)
		wc->opcode = IB_WC_REG_MR;
	wc->byte_len = le32_to_cpu(cqe->byte_len);
	wc->src_qp = le32_to_cpu(cqe->src_qp);
	wc->pkey_index = le16_to_cpu(cqe->pkey_index);
	wc->sl = vlan >> VLAN_PRIO_SHIFT;
	if (flags & MYNIC_WC_GRH) {
		wc->wc_flags |= IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE;
		wc->network_hdr_type = cqe->sl == MYNIC_NETWORK_IPV4 ?
					       RDMA_NETWORK_IPV4 :
					       RDMA_NETWORK_IPV6;
	}
	if (flags & MYNIC_WC_WITH_IMM) {
		wc->wc_flags |= IB_WC_WITH_IMM;
		wc->ex.imm_data = cqe->imm_data;
	}
	if (flags & MYNIC_WC_WITH_INV) {
		wc->wc_flags |= IB_WC_WITH_INVALIDATE;
		wc->ex.invalidate_rkey = le32_to_cpu(cqe->invalidated_rkey);
	}
	if (vlan) {
		wc->wc_flags |= IB_WC_WITH_VLAN;
		wc->vlan_id = vlan & VLAN_VID_MASK;
	}
}

/*
 * Return: 1; 0 if the entry was purged, with its QP; or -EINVAL if there is no
 * such QP, or it has no such request.
 */
static int mynic_poll_one(struct mynic_dev *mdev, struct mynic_cq *cq,
			  const struct mynic_cqe *cqe, struct ib_wc *wc)
{
	u32 qpn = le32_to_cpu(READ_ONCE(cqe->qp_num));
	struct mynic_res *res;
	struct mynic_qp *qp;
	bool valid;

	res = mynic_res_get(&mdev->qps, qpn);
	if (!res)
		return qpn == le32_to_cpu(MYNIC_VOID_QPN) ? 0 : -EINVAL;
	qp = container_of(res, struct mynic_qp, res);
	memset(wc, 0, sizeof(*wc));
	valid = mynic_wc_request(cq, qp, le64_to_cpu(READ_ONCE(cqe->wr_id)),
				 &wc->wr_id);
	if (valid) {
		wc->qp = &qp->ibqp;
		wc->port_num = MYNIC_PORT;
		wc->vendor_err = le32_to_cpu(cqe->vendor_err);
		wc->status =
			min_t(u32, le32_to_cpu(cqe->status), IB_WC_GENERAL_ERR);
		if (wc->status == IB_WC_SUCCESS)
			mynic_wc_fill(wc, cqe);
	}
	mynic_res_put(res);
	return valid ? 1 : -EINVAL;
}

int mynic_poll_cq(struct ib_cq *ibcq, int num_entries, struct ib_wc *wc)
{
	struct mynic_dev *mdev = to_mdev(ibcq->device);
	struct mynic_cq *cq = to_mcq(ibcq);
	struct mynic_cqe *cqe;
	unsigned long flags;
	bool bad = false;
	u32 passed;
	int n = 0;
	int ret;

	spin_lock_irqsave(&cq->lock, flags);
	/*
	 * Bound the loop: a hostile device could write bad entries as fast as
	 * we skip them.
	 */
	for (passed = 0; n < num_entries && passed < BIT(cq->log_size);
	     passed++) {
		cqe = mynic_cq_peek(cq);
		if (!cqe)
			break;
		ret = mynic_poll_one(mdev, cq, cqe, wc + n);
		if (ret > 0)
			n++;
		else if (ret)
			bad = true;
		WRITE_ONCE(cq->ci, cq->ci + 1);
	}
	if (passed)
		mynic_cq_publish(cq);
	if (n < num_entries && mynic_quiet(mdev))
		n += mynic_flush_cq(mdev, cq, num_entries - n, wc + n);
	spin_unlock_irqrestore(&cq->lock, flags);
	/* Without this, the owner of the real request would wait for ever. */
	if (bad)
		mynic_fail_device(mdev, "it completes what was not posted");
	return n;
}

/*
 * The device misses no events while it lives. For a dead one,
 * IB_CQ_REPORT_MISSED_EVENTS must report requests that wait to be flushed.
 */
int mynic_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	bool solicited = (flags & IB_CQ_SOLICITED_MASK) == IB_CQ_SOLICITED;
	struct mynic_dev *mdev = to_mdev(ibcq->device);
	struct mynic_cq *cq = to_mcq(ibcq);

	mynic_cq_arm(mdev, cq, solicited);
	return flags & IB_CQ_REPORT_MISSED_EVENTS && mynic_quiet(mdev) &&
	       mynic_flush_pending(mdev, cq);
}
