// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Posting to the queues of the kernel's QPs and SRQs. Processes post without
 * the driver.
 */
#include <linux/io.h>

#include "mynic.h"

static void mynic_fill_sges(struct mynic_sge *dst, const struct ib_sge *src,
			    int num)
{
	int i;

	for (i = 0; i < num; i++) {
		dst[i].addr = cpu_to_le64(src[i].addr);
		dst[i].length = cpu_to_le32(src[i].length);
		dst[i].lkey = cpu_to_le32(src[i].lkey);
	}
}

static int mynic_fill_inline(const struct mynic_qp *qp, u8 *data,
			     const struct ib_send_wr *wr, u32 *len)
{
	const struct ib_sge *sge = wr->sg_list;
	u32 used = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++, sge++) {
		if (sge->length > qp->max_inline - used)
			return -EINVAL;
		memcpy(data + used, (void *)(uintptr_t)sge->addr, sge->length);
		used += sge->length;
	}
	*len = used;
	return 0;
}

static void mynic_fill_remote(struct mynic_send_wqe *wqe, u64 addr, u32 rkey)
{
	wqe->remote_addr = cpu_to_le64(addr);
	wqe->rkey = cpu_to_le32(rkey);
}

static_assert(IB_WR_REG_MR == MYNIC_WR_REG_MR);

static int mynic_fill_reg_mr(const struct mynic_qp *qp,
			     struct mynic_send_wqe *wqe,
			     const struct ib_reg_wr *wr)
{
	struct mynic_reg_mr_operands *op;

	if (wr->access & ~(MYNIC_MR_ACCESS | IB_ACCESS_OPTIONAL))
		return -EINVAL;
	mynic_fill_remote(wqe, wr->mr->iova, wr->key);
	op = (void *)((u8 *)wqe + mynic_wqe_data(qp));
	mynic_fast_reg_operands(to_mmr(wr->mr), op);
	op->access = cpu_to_le32(wr->access & MYNIC_MR_ACCESS);
	return 0;
}

static void mynic_fill_ud(struct mynic_send_wqe *wqe, const struct ib_ud_wr *wr)
{
	wqe->remote_qpn = cpu_to_le32(wr->remote_qpn);
	wqe->remote_qkey = cpu_to_le32(wr->remote_qkey);
	memcpy((u8 *)wqe + MYNIC_WQE_EXT, &to_mah(wr->ah)->av,
	       sizeof(struct mynic_av));
}

static void mynic_fill_atomic(struct mynic_send_wqe *wqe,
			      const struct ib_atomic_wr *wr)
{
	struct mynic_atomic_operands *atomic;

	mynic_fill_remote(wqe, wr->remote_addr, wr->rkey);
	atomic = (void *)((u8 *)wqe + MYNIC_WQE_DATA_RC + MYNIC_WQE_ATOMIC);
	atomic->compare_add = cpu_to_le64(wr->compare_add);
	atomic->swap = cpu_to_le64(wr->swap);
}

static int mynic_fill_operands(const struct mynic_qp *qp,
			       struct mynic_send_wqe *wqe,
			       const struct ib_send_wr *wr)
{
	switch (wr->opcode) {
	case IB_WR_LOCAL_INV:
		if (wr->num_sge)
			return -EINVAL;
		fallthrough;
	case IB_WR_SEND_WITH_INV:
		if (!mynic_qp_connected(qp))
			return -EINVAL;
		wqe->invalidate_rkey = cpu_to_le32(wr->ex.invalidate_rkey);
		return 0;
	case IB_WR_REG_MR:
		if (!mynic_qp_connected(qp) || wr->num_sge)
			return -EINVAL;
		return mynic_fill_reg_mr(qp, wqe, reg_wr(wr));
	case IB_WR_SEND_WITH_IMM:
		wqe->imm_data = wr->ex.imm_data;
		fallthrough;
	case IB_WR_SEND:
		if (!mynic_qp_connected(qp))
			mynic_fill_ud(wqe, ud_wr(wr));
		return 0;
	case IB_WR_RDMA_WRITE_WITH_IMM:
		wqe->imm_data = wr->ex.imm_data;
		fallthrough;
	case IB_WR_RDMA_WRITE:
		if (!mynic_qp_connected(qp))
			return -EINVAL;
		mynic_fill_remote(wqe, rdma_wr(wr)->remote_addr,
				  rdma_wr(wr)->rkey);
		return 0;
	case IB_WR_RDMA_READ:
		if (qp->type != MYNIC_QP_RC)
			return -EINVAL;
		mynic_fill_remote(wqe, rdma_wr(wr)->remote_addr,
				  rdma_wr(wr)->rkey);
		return 0;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		if (qp->type != MYNIC_QP_RC || wr->num_sge != 1)
			return -EINVAL;
		mynic_fill_atomic(wqe, atomic_wr(wr));
		return 0;
	default:
		return -EINVAL;
	}
}

static int mynic_fill_send(const struct mynic_qp *qp, u32 index,
			   const struct ib_send_wr *wr)
{
	struct mynic_send_wqe *wqe = mynic_queue_slot(&qp->sq, index);
	u8 *data = (u8 *)wqe + mynic_wqe_data(qp);
	u32 len = wr->num_sge;
	int ret;

	if (wr->num_sge < 0 || wr->num_sge > qp->sq.max_sge)
		return -EINVAL;
	memset(wqe, 0, mynic_wqe_data(qp));
	wqe->wr_id = cpu_to_le64(index);
	wqe->ctrl = mynic_wqe_ctrl(wr->opcode, wr->send_flags);
	ret = mynic_fill_operands(qp, wqe, wr);
	if (ret)
		return ret;
	if (wr->send_flags & IB_SEND_INLINE) {
		ret = mynic_fill_inline(qp, data, wr, &len);
		if (ret)
			return ret;
	} else {
		mynic_fill_sges((struct mynic_sge *)data, wr->sg_list, len);
	}
	wqe->len = cpu_to_le32(len);
	return 0;
}

/* Hand the send requests up to sq.pi to the device. The caller serialises. */
void mynic_qp_ring_sq(struct mynic_dev *mdev, struct mynic_qp *qp)
{
	u32 pi = qp->sq.pi;

	/* The device must not see the index before the requests. */
	dma_wmb();
	WRITE_ONCE(qp->dbrec->sq_pi, cpu_to_le32(pi));
	/*
	 * Pairs with the device, which says that it stops watching the index
	 * before it reads it once more.
	 */
	mb();
	if (!READ_ONCE(qp->dbrec->sq_db_suppress))
		mynic_ring(mdev, MYNIC_UAR_QP_DB, qp->qpn, pi);
}

/* Return: whether the doorbell has to be rung. */
static bool mynic_publish_rq(struct mynic_qp_dbrec *dbrec, u32 pi)
{
	/* The device must not see the index before the requests. */
	dma_wmb();
	WRITE_ONCE(dbrec->rq_pi, cpu_to_le32(pi));
	return READ_ONCE(dbrec->rq_ring);
}

/*
 * Hand the receive requests up to rq.pi to the device. The caller serialises.
 */
void mynic_qp_ring_rq(struct mynic_dev *mdev, struct mynic_qp *qp)
{
	if (mynic_publish_rq(qp->dbrec, qp->rq.pi))
		mynic_ring(mdev, MYNIC_UAR_QP_DB, qp->qpn,
			   READ_ONCE(qp->sq.pi));
}

/* The same for a kernel WQ. */
void mynic_rwq_ring(struct mynic_dev *mdev, struct mynic_rwq *rwq)
{
	if (mynic_publish_rq(rwq->dbrec, rwq->rq.pi))
		mynic_ring(mdev, MYNIC_UAR_QP_DB, rwq->wqn, 0);
}

static bool mynic_queue_full(const struct mynic_queue *queue, u32 pi)
{
	/* Pairs with the release in mynic_queue_complete() */
	return pi - smp_load_acquire(&queue->ci) >= mynic_queue_size(queue);
}

static void mynic_fill_marker(struct mynic_queue *queue, u32 index, u64 token)
{
	/* Clear the whole slot, as a marker has no data. */
	memset(mynic_queue_slot(queue, index), 0, BIT(queue->log_stride));
	if (token & MYNIC_WR_RECV) {
		struct mynic_recv_wqe *recv = mynic_queue_slot(queue, index);

		recv->wr_id = cpu_to_le64(token);
	} else {
		struct mynic_send_wqe *send = mynic_queue_slot(queue, index);

		send->wr_id = cpu_to_le64(token);
		send->ctrl = mynic_wqe_ctrl(IB_WR_SEND, IB_SEND_SIGNALED);
	}
}

/*
 * Let the RDMA core find messages that a dead device has lost. Callable
 * anywhere.
 */
static void mynic_wake_mads(struct mynic_qp *qp)
{
	struct ib_cq *cq = &qp->send_cq->ibcq;

	/* The RDMA core's handler only queues the work that polls this CQ. */
	cq->comp_handler(cq, cq->cq_context);
}

/*
 * Send a message of the GSI QP on a dead device: accept it, and drop it.
 * Consumers of the connection manager wait until its message is answered or
 * times out, but are not told if it could not be posted. Refuse the message's
 * next try, as that ends all tries. Each message has an address handle of its
 * own.
 */
static int mynic_lose_mad(struct mynic_qp *qp, u32 index,
			  const struct ib_send_wr *wr)
{
	struct mynic_ah *ah = to_mah(ud_wr(wr)->ah);

	if (ah->lost)
		return -EIO;
	ah->lost = true;
	/* A device that only hangs must not find an old request here. */
	mynic_fill_marker(&qp->sq, index, index);
	return 0;
}

/*
 * -ENOMEM: the queue is full. -EINVAL: the request is bad, or the state does
 * not allow it. -EIO: the device is dead. Its GSI QP takes each message once.
 * Callable from any context.
 */
int mynic_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad_wr)
{
	struct mynic_dev *mdev = to_mdev(ibqp->device);
	struct mynic_qp *qp = to_mqp(ibqp);
	struct mynic_queue *sq = &qp->sq;
	unsigned long flags;
	bool dead;
	int ret = 0;
	u32 pi;

	spin_lock_irqsave(&sq->lock, flags);
	dead = mynic_dead(mdev);
	pi = sq->pi;
	for (; wr; wr = wr->next, pi++) {
		if (dead && ibqp->qp_type != IB_QPT_GSI)
			ret = -EIO;
		else if (READ_ONCE(qp->state) < IB_QPS_RTS)
			ret = -EINVAL;
		else if (mynic_queue_full(sq, pi))
			ret = -ENOMEM;
		else if (dead)
			ret = mynic_lose_mad(qp, pi, wr);
		else
			ret = mynic_fill_send(qp, pi, wr);
		if (ret) {
			*bad_wr = wr;
			break;
		}
		sq->wr_id[pi & mynic_queue_mask(sq)] = wr->wr_id;
	}
	if (pi != sq->pi) {
		/* Pairs with the acquire in mynic_queue_complete() */
		smp_store_release(&sq->pi, pi);
		if (dead)
			mynic_wake_mads(qp);
		else
			mynic_qp_ring_sq(mdev, qp);
	}
	spin_unlock_irqrestore(&sq->lock, flags);
	return ret;
}

static int mynic_fill_recv(const struct mynic_queue *queue, u32 index, u32 tag,
			   const struct ib_recv_wr *wr)
{
	struct mynic_recv_wqe *wqe = mynic_queue_slot(queue, index);

	if (wr->num_sge < 0 || wr->num_sge > queue->max_sge)
		return -EINVAL;
	wqe->wr_id = cpu_to_le64(MYNIC_WR_RECV | tag);
	wqe->num_sge = cpu_to_le32(wr->num_sge);
	wqe->reserved_0c = 0;
	mynic_fill_sges((struct mynic_sge *)(wqe + 1), wr->sg_list,
			wr->num_sge);
	return 0;
}

int mynic_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad_wr)
{
	struct mynic_dev *mdev = to_mdev(ibqp->device);
	struct mynic_qp *qp = to_mqp(ibqp);
	struct mynic_queue *rq = &qp->rq;
	unsigned long flags;
	int ret = 0;
	u32 pi;

	spin_lock_irqsave(&rq->lock, flags);
	pi = rq->pi;
	for (; wr; wr = wr->next, pi++) {
		if (mynic_dead(mdev))
			ret = -EIO;
		else if (READ_ONCE(qp->state) < IB_QPS_INIT)
			ret = -EINVAL;
		else if (mynic_queue_full(rq, pi))
			ret = -ENOMEM;
		else
			ret = mynic_fill_recv(rq, pi, pi, wr);
		if (ret) {
			*bad_wr = wr;
			break;
		}
		rq->wr_id[pi & mynic_queue_mask(rq)] = wr->wr_id;
	}
	if (pi != rq->pi) {
		/* Pairs with the acquire in mynic_queue_complete() */
		smp_store_release(&rq->pi, pi);
		mynic_qp_ring_rq(mdev, qp);
	}
	spin_unlock_irqrestore(&rq->lock, flags);
	return ret;
}

/*
 * Post a request that will be flushed: the QP is in ERR. The device may be
 * dead. -ENOMEM: the queue is full.
 */
int mynic_post_marker(struct mynic_dev *mdev, struct mynic_qp *qp,
		      struct mynic_queue *queue, struct ib_cqe *cqe)
{
	bool recv = queue == &qp->rq;
	unsigned long flags;
	int ret = -ENOMEM;
	u32 pi;

	spin_lock_irqsave(&queue->lock, flags);
	pi = queue->pi;
	if (!mynic_queue_full(queue, pi)) {
		mynic_fill_marker(queue, pi, recv ? MYNIC_WR_RECV | pi : pi);
		queue->wr_id[pi & mynic_queue_mask(queue)] = (uintptr_t)cqe;
		/* Pairs with the acquire in mynic_queue_complete() */
		smp_store_release(&queue->pi, pi + 1);
		if (recv)
			mynic_qp_ring_rq(mdev, qp);
		else
			mynic_qp_ring_sq(mdev, qp);
		ret = 0;
	}
	spin_unlock_irqrestore(&queue->lock, flags);
	return ret;
}

int mynic_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad_wr)
{
	struct mynic_dev *mdev = to_mdev(ibsrq->device);
	struct mynic_srq *srq = to_msrq(ibsrq);
	struct mynic_queue *queue = &srq->queue;
	unsigned long flags;
	int ret = 0;
	u32 pi, tag;

	spin_lock_irqsave(&queue->lock, flags);
	pi = queue->pi;
	for (; wr; wr = wr->next, pi++) {
		tag = find_first_zero_bit(srq->tags, mynic_queue_size(queue));
		if (mynic_dead(mdev))
			ret = -EIO;
		else if (tag >= mynic_queue_size(queue))
			ret = -ENOMEM;
		else
			ret = mynic_fill_recv(queue, pi, tag, wr);
		if (ret) {
			*bad_wr = wr;
			break;
		}
		__set_bit(tag, srq->tags);
		queue->wr_id[tag] = wr->wr_id;
	}
	if (pi != queue->pi) {
		queue->pi = pi;
		/* The device must not see the index before the requests. */
		dma_wmb();
		WRITE_ONCE(srq->dbrec->pi, cpu_to_le32(pi));
	}
	spin_unlock_irqrestore(&queue->lock, flags);
	return ret;
}

/**
 * mynic_queue_complete() - end a request of the kernel
 * @queue: its queue
 * @index: number from the device, not trusted
 * @wr_id: result
 *
 * Context: with the lock of the CQ held.
 * Return: whether the request with this index is outstanding.
 */
bool mynic_queue_complete(struct mynic_queue *queue, u32 index, u64 *wr_id)
{
	u32 ci = queue->ci;

	/* Pairs with the release when the request was posted. */
	if (index - ci >= smp_load_acquire(&queue->pi) - ci)
		return false;
	*wr_id = queue->wr_id[index & mynic_queue_mask(queue)];
	/* Posters may reuse the slot from now on. */
	smp_store_release(&queue->ci, index + 1);
	return true;
}
