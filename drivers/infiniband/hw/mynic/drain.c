// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Flushing and draining of the kernel's QPs. When the device is dead, all
 * posted requests complete as flushed, as those of a QP in the error state do.
 */
#include <linux/bottom_half.h>
#include <linux/delay.h>
#include <linux/rcupdate.h>

#include "cmd.h"

/* Interval of polling for consumers that get no interrupts */
#define MYNIC_DRAIN_POLL (HZ / 10)
/*
 * Polls in which a device may complete nothing of a QP in the error state. A
 * guest that is paused does not poll.
 */
#define MYNIC_DRAIN_LIMIT 100

/**
 * struct mynic_drain - the last request of a queue
 * @qp: the queue's QP
 * @queue: the queue
 * @cq: where it completes
 * @cqe: its completion handler
 * @done: it has completed
 * @ci: completed requests of the queue, as of late
 * @idle: polls since then
 */
struct mynic_drain {
	struct mynic_qp *qp;
	struct mynic_queue *queue;
	struct mynic_cq *cq;
	struct ib_cqe cqe;
	struct completion done;
	u32 ci;
	unsigned int idle;
};

static bool mynic_queue_outstanding(const struct mynic_queue *queue)
{
	return queue->wr_id && READ_ONCE(queue->pi) != READ_ONCE(queue->ci);
}

/* The network interface's QP is not a verbs object, and has no RDMA device. */
static bool mynic_qp_is_consumers(const struct mynic_qp *qp)
{
	return qp->dbrec && qp->ibqp.device;
}

/*
 * A CQ of type IB_POLL_DIRECT is completed only when its consumer polls it. The
 * RDMA core frees no CQ while a QP uses it.
 */
static void mynic_wake_cq(struct mynic_cq *cq)
{
	if (cq->ibcq.poll_ctx == IB_POLL_DIRECT || !cq->ibcq.comp_handler)
		return;
	/* Completion handlers expect a hard interrupt, and raise soft ones. */
	local_bh_disable();
	cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
	local_bh_enable();
}

static void mynic_wake_qp(struct mynic_qp *qp)
{
	struct ib_event event = {
		.device = qp->ibqp.device,
		.element.qp = &qp->ibqp,
		.event = IB_EVENT_QP_LAST_WQE_REACHED,
	};

	if (mynic_queue_outstanding(&qp->sq))
		mynic_wake_cq(qp->send_cq);
	if (mynic_queue_outstanding(&qp->rq))
		mynic_wake_cq(qp->recv_cq);
	/* ib_drain_qp() of a QP with an SRQ waits for this event. */
	if (qp->ibqp.srq && qp->ibqp.event_handler)
		qp->ibqp.event_handler(&event, qp->ibqp.qp_context);
}

/* Whether a QP matches, with @cq as argument. Callable from any context. */
static bool mynic_any_qp(struct mynic_dev *mdev,
			 bool (*matches)(const struct mynic_qp *qp,
					 const struct mynic_cq *cq),
			 const struct mynic_cq *cq)
{
	struct mynic_res *res;
	unsigned long qpn;
	bool found;

	xa_for_each(&mdev->qps, qpn, res) {
		res = mynic_res_get(&mdev->qps, qpn);
		if (!res)
			continue;
		found = matches(container_of(res, struct mynic_qp, res), cq);
		mynic_res_put(res);
		if (found)
			return true;
	}
	return false;
}

static bool mynic_qp_may_drain(const struct mynic_qp *qp,
			       const struct mynic_cq *unused)
{
	return mynic_qp_is_consumers(qp) && qp->ibqp.qp_type != IB_QPT_GSI;
}

/*
 * Whether consumers in the kernel have QPs, other than the RDMA core. If the
 * device is dead, they cannot post to new ones.
 */
bool mynic_has_consumers(struct mynic_dev *mdev)
{
	return mynic_any_qp(mdev, mynic_qp_may_drain, NULL);
}

/*
 * Have the kernel's consumers of a dead device poll their CQs, where they find
 * their requests flushed. May sleep.
 */
void mynic_wake_consumers(struct mynic_dev *mdev)
{
	struct mynic_res *res;
	struct mynic_qp *qp;
	unsigned long qpn;

	/*
	 * Wait for posters, which have interrupts off: later ones see a dead
	 * device.
	 */
	synchronize_rcu();
	xa_for_each(&mdev->qps, qpn, res) {
		res = mynic_res_get(&mdev->qps, qpn);
		if (!res)
			continue;
		qp = container_of(res, struct mynic_qp, res);
		if (mynic_qp_is_consumers(qp))
			mynic_wake_qp(qp);
		mynic_res_put(res);
	}
}

/*
 * Report a lost message as sent, so that the connection manager waits for the
 * answer until its time is up. It drops flushed ones without telling anybody.
 */
static enum ib_wc_status mynic_flush_status(const struct mynic_qp *qp,
					    const struct mynic_queue *queue)
{
	return qp->ibqp.qp_type == IB_QPT_GSI && queue == &qp->sq &&
			       READ_ONCE(qp->state) == IB_QPS_RTS ?
		       IB_WC_SUCCESS :
		       IB_WC_WR_FLUSH_ERR;
}

static int mynic_flush_queue(struct mynic_qp *qp, struct mynic_queue *queue,
			     int room, struct ib_wc *wc)
{
	enum ib_wc_status status = mynic_flush_status(qp, queue);
	int n = 0;

	while (n < room &&
	       mynic_queue_complete(queue, queue->ci, &wc[n].wr_id)) {
		wc[n].qp = &qp->ibqp;
		wc[n].status = status;
		n++;
	}
	return n;
}

/**
 * mynic_flush_cq() - complete what a dead device left behind
 * @mdev: dead device
 * @cq: CQ of the kernel
 * @room: entries that fit into @wc
 * @wc: completions
 *
 * Context: with the lock of @cq held.
 * Return: the number of completions.
 */
int mynic_flush_cq(struct mynic_dev *mdev, struct mynic_cq *cq, int room,
		   struct ib_wc *wc)
{
	struct mynic_res *res;
	struct mynic_qp *qp;
	unsigned long qpn;
	int n = 0;

	lockdep_assert_held(&cq->lock);
	memset(wc, 0, room * sizeof(*wc));
	xa_for_each(&mdev->qps, qpn, res) {
		res = mynic_res_get(&mdev->qps, qpn);
		if (!res)
			continue;
		qp = container_of(res, struct mynic_qp, res);
		if (qp->send_cq == cq && qp->sq.wr_id)
			n += mynic_flush_queue(qp, &qp->sq, room - n, wc + n);
		if (qp->recv_cq == cq && qp->rq.wr_id)
			n += mynic_flush_queue(qp, &qp->rq, room - n, wc + n);
		mynic_res_put(res);
	}
	return n;
}

static bool mynic_qp_has_for(const struct mynic_qp *qp,
			     const struct mynic_cq *cq)
{
	return (qp->send_cq == cq && mynic_queue_outstanding(&qp->sq)) ||
	       (qp->recv_cq == cq && mynic_queue_outstanding(&qp->rq));
}

/* Whether mynic_flush_cq() would find something. Callable from any context. */
bool mynic_flush_pending(struct mynic_dev *mdev, const struct mynic_cq *cq)
{
	return mynic_any_qp(mdev, mynic_qp_has_for, cq);
}

static void mynic_drain_done(struct ib_cq *ibcq, struct ib_wc *wc)
{
	struct mynic_drain *drain =
		container_of(wc->wr_cqe, struct mynic_drain, cqe);

	complete(&drain->done);
}

/*
 * What has become of the queue since the last look. @cq->lock keeps others from
 * polling meanwhile.
 */
enum mynic_drain_state {
	MYNIC_DRAIN_GOES_ON, /* more has completed, or nothing is outstanding */
	MYNIC_DRAIN_FULL, /* there is something to poll */
	MYNIC_DRAIN_EMPTY, /* the device has completed nothing */
};

static enum mynic_drain_state mynic_drain_look(struct mynic_drain *drain)
{
	enum mynic_drain_state state = MYNIC_DRAIN_GOES_ON;
	struct mynic_queue *queue = drain->queue;
	struct mynic_cq *cq = drain->cq;
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	if (queue->ci == drain->ci && mynic_queue_outstanding(queue))
		state = mynic_cq_has(cq, cq->ci) ? MYNIC_DRAIN_FULL :
						   MYNIC_DRAIN_EMPTY;
	drain->ci = queue->ci;
	spin_unlock_irqrestore(&cq->lock, flags);
	return state;
}

/*
 * The consumer's callbacks may take as long as they like. But a device that does
 * not complete requests must not hold up those who wait here.
 */
static void mynic_drain_check(struct mynic_dev *mdev, struct mynic_drain *drain)
{
	enum mynic_drain_state state = mynic_drain_look(drain);
	u64 unused;

	if (state != MYNIC_DRAIN_GOES_ON && ++drain->idle < MYNIC_DRAIN_LIMIT)
		return;
	drain->idle = 0;
	if (state == MYNIC_DRAIN_FULL)
		/* The device may not have told of it. */
		mynic_wake_cq(drain->cq);
	else if (state == MYNIC_DRAIN_EMPTY &&
		 /* One that hangs is found by the health check. */
		 !mynic_cmd_nop(mdev, &unused) &&
		 mynic_drain_look(drain) == MYNIC_DRAIN_EMPTY)
		mynic_fail_device(mdev, "it does not flush QP %u",
				  drain->qp->qpn);
}

/* Return true once the last request of the queue has completed. */
static bool mynic_drain_wait(struct mynic_dev *mdev, struct mynic_drain *drain)
{
	struct mynic_cq *cq = drain->cq;

	if (wait_for_completion_timeout(&drain->done, MYNIC_DRAIN_POLL))
		return true;
	if (cq->ibcq.poll_ctx == IB_POLL_DIRECT)
		ib_process_cq_direct(&cq->ibcq, -1);
	else if (mynic_dead(mdev))
		mynic_wake_cq(cq);
	if (!mynic_dead(mdev))
		mynic_drain_check(mdev, drain);
	return false;
}

/*
 * The request that is posted here completes last. Then all others have
 * completed, and their callbacks have returned.
 */
static void mynic_drain(struct mynic_qp *qp, struct mynic_queue *queue,
			struct mynic_cq *cq)
{
	struct mynic_dev *mdev = to_mdev(qp->ibqp.device);
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	struct mynic_drain drain = {
		.qp = qp,
		.queue = queue,
		.cq = cq,
		.cqe.done = mynic_drain_done,
		.ci = READ_ONCE(queue->ci),
	};

	if (!queue->wr_id)
		return;
	init_completion(&drain.done);
	if (ib_modify_qp(&qp->ibqp, &attr, IB_QP_STATE))
		mynic_fail_device(mdev, "QP %u cannot be moved to ERR",
				  qp->qpn);
	/* If the queue is full, wait until a request completes. */
	while (mynic_post_marker(mdev, qp, queue, &drain.cqe))
		mynic_drain_wait(mdev, &drain);
	if (mynic_dead(mdev))
		mynic_wake_cq(cq);
	while (!mynic_drain_wait(mdev, &drain))
		;
}

void mynic_drain_sq(struct ib_qp *ibqp)
{
	struct mynic_qp *qp = to_mqp(ibqp);

	mynic_drain(qp, &qp->sq, qp->send_cq);
}

void mynic_drain_rq(struct ib_qp *ibqp)
{
	struct mynic_qp *qp = to_mqp(ibqp);

	mynic_drain(qp, &qp->rq, qp->recv_cq);
}

/*
 * Move a kernel QP to ERR without the device, which is dead. Its requests are
 * flushed when they are polled. The consumer gets the same event as from the
 * device.
 */
void mynic_qp_err_dead(struct mynic_qp *qp)
{
	struct mynic_dev *mdev = to_mdev(qp->ibqp.device);

	WRITE_ONCE(qp->state, IB_QPS_ERR);
	/* Pairs with synchronize_rcu() in mynic_wake_consumers() */
	smp_mb();
	if (mynic_quiet(mdev))
		mynic_wake_qp(qp);
}
