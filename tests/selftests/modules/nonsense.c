// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Changes what a mynic has written to its rings, before the driver reads it. To
 * the driver, that is a device that breaks the rules. Loading succeeds if the
 * driver's reaction is right.
 */
#include <linux/delay.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "compat.h"
#include "mynic.h"

#define PATIENCE_MS 60000
/* A number that no object has */
#define NOBODY 0xfffff0
/* MYNIC_EQ_LOG_SIZE of the driver */
#define NONSENSE_EQ_LOG_SIZE 10

static char *device;
module_param(device, charp, 0);
MODULE_PARM_DESC(device, "RDMA device");

/*
 * What is changed: "command", "frame", "events" or "unsent" (a frame that failed
 * to be sent). "windows": a region has windows. "impossible", "twice-given": the
 * number of a new object. "number", "request", "bits", "queue", "twice": of a
 * completion. "unflushed": completions are missing. "slow": nothing, but a
 * consumer takes long.
 */
static char *what;
module_param(what, charp, 0);
MODULE_PARM_DESC(what, "what is changed");

static bool nonsense_wait(bool (*condition)(void *arg), void *arg)
{
	unsigned int i;

	for (i = 0; i < PATIENCE_MS; i++) {
		if (condition(arg))
			return true;
		usleep_range(1000, 2000);
	}
	return false;
}

static bool nonsense_is(const char *name)
{
	return !strcmp(what, name);
}

static bool nonsense_dead(void *arg)
{
	return mynic_dead(arg);
}

/* A completion of a command that was not given */

/*
 * Health checks give commands and do not wait for them. Their completions stay
 * in the ring for a while.
 */
static bool nonsense_cpl(void *arg)
{
	struct mynic_dev *mdev = arg;
	struct mynic_admin *admin = &mdev->admin;
	struct mynic_admin_cpl *cpl;
	unsigned long flags;
	bool found;

	spin_lock_irqsave(&admin->lock, flags);
	cpl = &admin->cpls[admin->ci % MYNIC_AQ_SIZE];
	found = (READ_ONCE(cpl->phase) & 1) ==
		mynic_phase(admin->ci, MYNIC_AQ_LOG_SIZE);
	if (found)
		cpl->id = cpu_to_le16(MYNIC_AQ_SIZE);
	spin_unlock_irqrestore(&admin->lock, flags);
	return found;
}

static int nonsense_command(struct mynic_dev *mdev)
{
	if (!nonsense_wait(nonsense_cpl, mdev))
		return -ENODATA;
	return nonsense_wait(nonsense_dead, mdev) ? 0 : -ETIMEDOUT;
}

/* A completion of a frame that there is not. Frames come meanwhile. */

static struct mynic_dev *nonsense_mdev;
static bool nonsense_frame_seen;

/* Other devices are not touched. A netdev's CQ has no RDMA device. */
static int nonsense_peek(struct kretprobe_instance *instance,
			 struct pt_regs *regs)
{
	struct mynic_cq *cq = (void *)regs_get_kernel_argument(regs, 0);

	return cq->ibcq.device || cq->mem->mdev != nonsense_mdev;
}

static int nonsense_peeked(struct kretprobe_instance *instance,
			   struct pt_regs *regs)
{
	struct mynic_cqe *cqe = (void *)regs_return_value(regs);

	if (!cqe)
		return 0;
	if (nonsense_is("unsent") && le64_to_cpu(cqe->wr_id) & MYNIC_WR_RECV)
		return 0;
	if (xchg(&nonsense_frame_seen, true))
		return 0;
	if (nonsense_is("unsent"))
		cqe->status = IB_WC_LOC_PROT_ERR;
	else
		cqe->wr_id = cpu_to_le64(le64_to_cpu(cqe->wr_id) + 1);
	return 0;
}

static struct kretprobe nonsense_peek_probe = {
	.kp.symbol_name = "mynic_cq_peek",
	.entry_handler = nonsense_peek,
	.handler = nonsense_peeked,
};

static int nonsense_frame(struct mynic_dev *mdev)
{
	int ret;

	nonsense_mdev = mdev;
	ret = register_kretprobe(&nonsense_peek_probe);
	if (ret)
		return ret;
	if (!nonsense_wait(nonsense_dead, mdev))
		ret = -ETIMEDOUT;
	unregister_kretprobe(&nonsense_peek_probe);
	return ret;
}

/* One frame fails to be sent. The queues are made anew, and the NIC lives on. */

static bool nonsense_restarted_seen;

static int nonsense_start(struct kprobe *probe, struct pt_regs *regs)
{
	if (READ_ONCE(nonsense_frame_seen))
		WRITE_ONCE(nonsense_restarted_seen, true);
	return 0;
}

static struct kprobe nonsense_start_probe = {
	.symbol_name = "mynic_netdev_start",
	.pre_handler = nonsense_start,
};

static bool nonsense_restarted(void *arg)
{
	return READ_ONCE(nonsense_restarted_seen);
}

static int nonsense_unsent(struct mynic_dev *mdev)
{
	int ret;

	nonsense_mdev = mdev;
	ret = register_kprobe(&nonsense_start_probe);
	if (ret)
		return ret;
	ret = register_kretprobe(&nonsense_peek_probe);
	if (ret)
		goto out;
	if (!nonsense_wait(nonsense_restarted, NULL))
		ret = -ETIMEDOUT;
	else if (mynic_dead(mdev))
		ret = -EIO;
	unregister_kretprobe(&nonsense_peek_probe);
out:
	unregister_kprobe(&nonsense_start_probe);
	return ret;
}

/* A queue pair in error completes all requests at once. */

struct nonsense_qp {
	struct ib_pd *pd;
	struct ib_cq *send_cq;
	struct ib_cq *recv_cq;
	struct ib_qp *qp;
	unsigned int events;
};

static void nonsense_event(struct ib_event *event, void *context)
{
	struct nonsense_qp *q = context;

	WRITE_ONCE(q->events, q->events + 1);
}

static void nonsense_comp(struct ib_cq *cq, void *context)
{
	struct nonsense_qp *q = context;

	WRITE_ONCE(q->events, q->events + 1);
}

static int nonsense_to_error(struct ib_qp *qp)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = MYNIC_PORT,
	};
	int ret;

	ret = ib_modify_qp(qp, &attr,
			   IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
				   IB_QP_ACCESS_FLAGS);
	if (ret)
		return ret;
	attr.qp_state = IB_QPS_ERR;
	return ib_modify_qp(qp, &attr, IB_QP_STATE);
}

static int nonsense_make_qp(struct nonsense_qp *q, struct ib_device *ibdev,
			    unsigned int cqe)
{
	struct ib_cq_init_attr cq_attr = { .cqe = cqe };
	struct ib_qp_init_attr init = {
		.cap = {
			.max_send_wr = 4,
			.max_send_sge = 1,
			.max_recv_wr = 4,
			.max_recv_sge = 1,
		},
		.qp_type = IB_QPT_RC,
	};

	q->pd = ib_alloc_pd(ibdev, 0);
	q->send_cq =
		ib_create_cq(ibdev, nonsense_comp, nonsense_event, q, &cq_attr);
	q->recv_cq =
		ib_create_cq(ibdev, nonsense_comp, nonsense_event, q, &cq_attr);
	q->qp = ERR_PTR(-ENOMEM);
	if (IS_ERR(q->pd) || IS_ERR(q->send_cq) || IS_ERR(q->recv_cq))
		return -ENOMEM;
	init.send_cq = q->send_cq;
	init.recv_cq = q->recv_cq;
	q->qp = ib_create_qp(q->pd, &init);
	if (IS_ERR(q->qp))
		return PTR_ERR(q->qp);
	return nonsense_to_error(q->qp);
}

static void nonsense_free_qp(struct nonsense_qp *q)
{
	if (!IS_ERR(q->qp))
		ib_destroy_qp(q->qp);
	if (!IS_ERR(q->recv_cq))
		ib_destroy_cq(q->recv_cq);
	if (!IS_ERR(q->send_cq))
		ib_destroy_cq(q->send_cq);
	if (!IS_ERR(q->pd))
		ib_dealloc_pd(q->pd);
}

static int nonsense_send(struct nonsense_qp *q, unsigned int num)
{
	const struct ib_send_wr wr = {
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};
	int ret = 0;

	while (num-- && !ret)
		ret = ib_post_send(q->qp, &wr, NULL);
	return ret;
}

/* The entry that will be polled @after others */
static struct mynic_cqe *nonsense_cqe(const struct mynic_cq *cq, u32 after)
{
	u32 index = cq->ci + after;
	u32 slot = index & (BIT(cq->log_size) - 1);

	return mynic_mem_at(cq->mem, slot * sizeof(struct mynic_cqe));
}

static bool nonsense_two_completed(void *arg)
{
	struct mynic_cq *cq = arg;

	return (READ_ONCE(nonsense_cqe(cq, 1)->phase) & 1) ==
	       mynic_phase(cq->ci + 1, cq->log_size);
}

/* Change the second of two completions. */
static int nonsense_change(struct mynic_cq *cq)
{
	struct mynic_cqe *cqe = nonsense_cqe(cq, 1);
	u64 wr_id = le64_to_cpu(cqe->wr_id);

	if (nonsense_is("number"))
		cqe->qp_num = cpu_to_le32(NOBODY);
	else if (nonsense_is("request"))
		wr_id++;
	else if (nonsense_is("bits"))
		wr_id |= BIT_ULL(40);
	else if (nonsense_is("queue"))
		wr_id |= MYNIC_WR_RECV;
	else if (nonsense_is("twice"))
		wr_id--;
	else
		return -EINVAL;
	cqe->wr_id = cpu_to_le64(wr_id);
	return 0;
}

static int nonsense_completion(struct ib_device *ibdev)
{
	struct nonsense_qp q;
	struct mynic_cq *cq;
	struct ib_wc wc[3];
	int ret;

	ret = nonsense_make_qp(&q, ibdev, 8);
	if (!ret)
		ret = nonsense_send(&q, 2);
	if (ret)
		goto out;
	cq = to_mcq(q.send_cq);
	ret = -ENODATA;
	if (!nonsense_wait(nonsense_two_completed, cq))
		goto out;
	ret = nonsense_change(cq);
	if (ret)
		goto out;
	/* The first, and perhaps the second as one that a dead device flushes */
	ret = -EBADMSG;
	if (ib_poll_cq(q.send_cq, 1, wc) == 1 &&
	    wc[0].status == IB_WC_WR_FLUSH_ERR &&
	    ib_poll_cq(q.send_cq, ARRAY_SIZE(wc), wc) <= 1 &&
	    mynic_dead(to_mdev(ibdev)))
		ret = 0;
out:
	nonsense_free_qp(&q);
	return ret;
}

/* A queue pair in error completes nothing. */

static const struct mynic_cq *nonsense_hidden;
static struct mynic_cqe *nonsense_hidden_cqe;

static int nonsense_hide(struct kretprobe_instance *instance,
			 struct pt_regs *regs)
{
	return (void *)regs_get_kernel_argument(regs, 0) != nonsense_hidden;
}

static int nonsense_hide_cqe(struct kretprobe_instance *instance,
			     struct pt_regs *regs)
{
	struct mynic_cqe *cqe = (void *)regs_return_value(regs);

	if (!cqe)
		return 0;
	/* As if the device had not written it */
	cqe->phase ^= 1;
	nonsense_hidden_cqe = cqe;
	regs_set_return_value(regs, 0);
	return 0;
}

static struct kretprobe nonsense_hide_probe = {
	.kp.symbol_name = "mynic_cq_peek",
	.entry_handler = nonsense_hide,
	.handler = nonsense_hide_cqe,
};

struct nonsense_drain {
	struct work_struct work;
	struct ib_qp *qp;
	struct completion done;
};

static void nonsense_drain(struct work_struct *work)
{
	struct nonsense_drain *drain =
		container_of(work, struct nonsense_drain, work);

	ib_drain_sq(drain->qp);
	complete(&drain->done);
}

static int nonsense_unflushed(struct ib_device *ibdev)
{
	struct nonsense_drain drain;
	struct nonsense_qp q;
	int ret;

	ret = nonsense_make_qp(&q, ibdev, 8);
	if (ret)
		goto out;
	/* Who drains polls it. */
	q.send_cq->poll_ctx = IB_POLL_DIRECT;
	nonsense_hidden = to_mcq(q.send_cq);
	ret = register_kretprobe(&nonsense_hide_probe);
	if (ret)
		goto out;
	drain.qp = q.qp;
	init_completion(&drain.done);
	INIT_WORK_ONSTACK(&drain.work, nonsense_drain);
	queue_work(system_long_wq, &drain.work);
	if (!wait_for_completion_timeout(&drain.done,
					 msecs_to_jiffies(PATIENCE_MS)))
		ret = -ETIMEDOUT;
	else if (!mynic_dead(to_mdev(ibdev)))
		ret = -EBADMSG;
	unregister_kretprobe(&nonsense_hide_probe);
	/* Let it end. */
	if (ret == -ETIMEDOUT && nonsense_hidden_cqe)
		nonsense_hidden_cqe->phase ^= 1;
	flush_work(&drain.work);
	destroy_work_on_stack(&drain.work);
out:
	nonsense_free_qp(&q);
	return ret;
}

/* A consumer that takes longer than a device may. */

struct nonsense_slow {
	struct ib_cqe cqe;
	struct completion begun;
};

static void nonsense_slow_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct nonsense_slow *slow =
		container_of(wc->wr_cqe, struct nonsense_slow, cqe);

	complete(&slow->begun);
	/* The driver looks ten times a second, and a hundred times. */
	msleep(13000);
}

static int nonsense_drain_slowly(struct ib_device *ibdev, struct ib_qp *qp,
				 struct nonsense_slow *slow)
{
	const struct ib_send_wr wr = {
		.wr_cqe = &slow->cqe,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};
	int ret;

	ret = ib_post_send(qp, &wr, NULL);
	if (ret)
		return ret;
	wait_for_completion(&slow->begun);
	ib_drain_sq(qp);
	return mynic_dead(to_mdev(ibdev)) ? -EBADMSG : 0;
}

static int nonsense_slow(struct ib_device *ibdev)
{
	struct nonsense_slow slow = { .cqe.done = nonsense_slow_done };
	struct ib_qp_init_attr init = {
		.cap = { .max_send_wr = 4, .max_send_sge = 1 },
		.qp_type = IB_QPT_RC,
	};
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	int ret = -ENOMEM;

	init_completion(&slow.begun);
	pd = ib_alloc_pd(ibdev, 0);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	cq = ib_alloc_cq_any(ibdev, NULL, 8, IB_POLL_WORKQUEUE);
	if (IS_ERR(cq))
		goto out_pd;
	init.send_cq = cq;
	init.recv_cq = cq;
	qp = ib_create_qp(pd, &init);
	if (IS_ERR(qp))
		goto out_cq;
	ret = nonsense_to_error(qp) ?: nonsense_drain_slowly(ibdev, qp, &slow);
	ib_destroy_qp(qp);
out_cq:
	ib_free_cq(cq);
out_pd:
	ib_dealloc_pd(pd);
	return ret;
}

/* Events of unknown objects, and of unknown types, are ignored. */

static u32 nonsense_cqn;
static bool nonsense_type;
static unsigned int nonsense_hits;

/* All events in a ring that belong to the CQ, when a handler begins to read */
static void nonsense_change_events(const struct mynic_eq *eq)
{
	const unsigned int log_size = NONSENSE_EQ_LOG_SIZE;
	struct mynic_eqe *eqe;
	u32 i;

	if (!READ_ONCE(eq->up))
		return;
	for (i = eq->ci; i - eq->ci < BIT(log_size); i++) {
		eqe = mynic_mem_at(eq->mem,
				   (i & (BIT(log_size) - 1)) * sizeof(*eqe));
		if ((READ_ONCE(eqe->phase) & 1) != mynic_phase(i, log_size))
			return;
		if (le32_to_cpu(eqe->number) != READ_ONCE(nonsense_cqn) ||
		    (eqe->type != MYNIC_EVENT_COMP &&
		     eqe->type != MYNIC_EVENT_CQ_ERROR))
			continue;
		if (READ_ONCE(nonsense_type))
			eqe->type = U8_MAX;
		else
			eqe->number = cpu_to_le32(NOBODY);
		WRITE_ONCE(nonsense_hits, nonsense_hits + 1);
	}
}

static int nonsense_handler(struct kprobe *probe, struct pt_regs *regs)
{
	nonsense_change_events((void *)regs_get_kernel_argument(regs, 1));
	return 0;
}

static struct kprobe nonsense_comp_probe = {
	.symbol_name = "mynic_comp_irq",
	.pre_handler = nonsense_handler,
};

static struct kprobe nonsense_async_probe = {
	.symbol_name = "mynic_async_thread",
	.pre_handler = nonsense_handler,
};

static bool nonsense_hit(void *arg)
{
	return READ_ONCE(nonsense_hits);
}

static bool nonsense_heard(void *arg)
{
	const struct nonsense_qp *q = arg;

	return READ_ONCE(q->events);
}

/*
 * A completion that was asked for, or an error, as two CQEs are too few for
 * four. @hidden: the event becomes nonsense.
 */
static int nonsense_one_event(struct ib_device *ibdev, bool error, bool hidden)
{
	struct nonsense_qp q = {};
	int ret;

	ret = nonsense_make_qp(&q, ibdev, error ? 2 : 8);
	if (ret)
		goto out;
	WRITE_ONCE(nonsense_hits, 0);
	WRITE_ONCE(nonsense_cqn, hidden ? to_mcq(q.send_cq)->cqn : NOBODY);
	if (!error)
		ret = ib_req_notify_cq(q.send_cq, IB_CQ_NEXT_COMP);
	if (!ret)
		ret = nonsense_send(&q, error ? 4 : 1);
	if (ret)
		goto out;
	if (!nonsense_wait(hidden ? nonsense_hit : nonsense_heard, &q) ||
	    (hidden && q.events) || mynic_dead(to_mdev(ibdev)))
		ret = -EBADMSG;
out:
	nonsense_free_qp(&q);
	return ret;
}

static int nonsense_events(struct ib_device *ibdev)
{
	unsigned int i;
	int ret;

	ret = register_kprobe(&nonsense_comp_probe);
	if (ret)
		return ret;
	ret = register_kprobe(&nonsense_async_probe);
	if (ret)
		goto out;
	for (i = 0; i < 8 && !ret; i++) {
		WRITE_ONCE(nonsense_type, i & 4);
		ret = nonsense_one_event(ibdev, i & 2, !(i & 1));
	}
	if (ret)
		pr_info("nonsense: event %u: %pe\n", i - 1, ERR_PTR(ret));
	unregister_kprobe(&nonsense_async_probe);
out:
	unregister_kprobe(&nonsense_comp_probe);
	return ret;
}

/*
 * The device says that windows are bound to a region, though the driver has made
 * none. It may be true: a process can bind a window before the call that makes
 * it has returned. So the region stays, and the device does not fail.
 */

static u32 nonsense_key;
static u32 nonsense_pdn;

/* The protection domain is in use, which has the same status */
static int nonsense_destroy(struct kprobe *probe, struct pt_regs *regs)
{
	struct mynic_admin_cmd *cmd = (void *)regs_get_kernel_argument(regs, 1);

	if (cmd->opcode != MYNIC_CMD_DESTROY_MKEY ||
	    le32_to_cpu(cmd->number) != nonsense_key >> 8)
		return 0;
	cmd->opcode = MYNIC_CMD_DEALLOC_PD;
	cmd->number = cpu_to_le32(nonsense_pdn);
	return 0;
}

static struct kprobe nonsense_destroy_probe = {
	.symbol_name = "mynic_admin_exec",
	.pre_handler = nonsense_destroy,
};

static int nonsense_windows(struct ib_device *ibdev)
{
	struct ib_pd *pd;
	struct ib_mr *mr;
	int ret;

	pd = ib_alloc_pd(ibdev, 0);
	if (IS_ERR(pd))
		return PTR_ERR(pd);
	mr = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, 1);
	if (IS_ERR(mr)) {
		ret = PTR_ERR(mr);
		goto out;
	}
	nonsense_key = mr->lkey;
	nonsense_pdn = to_mpd(pd)->pdn;
	ret = register_kprobe(&nonsense_destroy_probe);
	if (ret) {
		ib_dereg_mr(mr);
		goto out;
	}
	ret = ib_dereg_mr(mr);
	unregister_kprobe(&nonsense_destroy_probe);
	if (ret == -EBUSY) {
		ret = mynic_dead(to_mdev(ibdev)) ? -EIO : 0;
		ib_dereg_mr(mr);
	} else if (!ret) {
		ret = -EBADMSG;
	}
out:
	ib_dealloc_pd(pd);
	return ret;
}

/* A new object has a number that it cannot have. */

static struct task_struct *nonsense_creator;
static u32 nonsense_number;

struct nonsense_creation {
	struct mynic_admin_cpl *cpl;
};

static int nonsense_create(struct kretprobe_instance *instance,
			   struct pt_regs *regs)
{
	struct mynic_admin_cmd *cmd = (void *)regs_get_kernel_argument(regs, 1);
	struct nonsense_creation *creation = (void *)instance->data;

	creation->cpl = (void *)regs_get_kernel_argument(regs, 5);
	return current != nonsense_creator ||
	       cmd->opcode != MYNIC_CMD_CREATE_CQ;
}

static int nonsense_created(struct kretprobe_instance *instance,
			    struct pt_regs *regs)
{
	struct nonsense_creation *creation = (void *)instance->data;

	creation->cpl->number = cpu_to_le32(nonsense_number);
	return 0;
}

static struct kretprobe nonsense_create_probe = {
	.kp.symbol_name = "mynic_admin_exec",
	.entry_handler = nonsense_create,
	.handler = nonsense_created,
	.data_size = sizeof(struct nonsense_creation),
};

static int nonsense_object(struct ib_device *ibdev)
{
	struct ib_cq_init_attr attr = { .cqe = 1 };
	struct ib_cq *first, *second;
	int ret;

	first = ib_create_cq(ibdev, nonsense_comp, NULL, NULL, &attr);
	if (IS_ERR(first))
		return PTR_ERR(first);
	nonsense_number = nonsense_is("twice-given") ? to_mcq(first)->cqn :
						       MYNIC_MAX_NUMBER + 1;
	nonsense_creator = current;
	ret = register_kretprobe(&nonsense_create_probe);
	if (ret)
		goto out;
	second = ib_create_cq(ibdev, nonsense_comp, NULL, NULL, &attr);
	unregister_kretprobe(&nonsense_create_probe);
	if (!IS_ERR(second)) {
		ret = -EBADMSG;
		ib_destroy_cq(second);
	} else if (second != ERR_PTR(-EIO) || !mynic_dead(to_mdev(ibdev))) {
		ret = -EBADMSG;
	}
out:
	ib_destroy_cq(first);
	return ret;
}

static int nonsense_result = -ENODEV;

static int nonsense_run(struct ib_device *ibdev)
{
	if (nonsense_is("command"))
		return nonsense_command(to_mdev(ibdev));
	if (nonsense_is("frame"))
		return nonsense_frame(to_mdev(ibdev));
	if (nonsense_is("unsent"))
		return nonsense_unsent(to_mdev(ibdev));
	if (nonsense_is("events"))
		return nonsense_events(ibdev);
	if (nonsense_is("impossible") || nonsense_is("twice-given"))
		return nonsense_object(ibdev);
	if (nonsense_is("windows"))
		return nonsense_windows(ibdev);
	if (nonsense_is("unflushed"))
		return nonsense_unflushed(ibdev);
	if (nonsense_is("slow"))
		return nonsense_slow(ibdev);
	return nonsense_completion(ibdev);
}

/* The device comes back while the module is loaded. */
static int nonsense_add(struct ib_device *ibdev)
{
	if (nonsense_result == -ENODEV &&
	    !strcmp(dev_name(&ibdev->dev), device))
		nonsense_result = nonsense_run(ibdev);
	return -EOPNOTSUPP;
}

static struct ib_client nonsense_client = {
	.name = "nonsense",
	.add = nonsense_add,
};

static int __init nonsense_init(void)
{
	int ret;

	if (!device || !what)
		return -EINVAL;
	ret = ib_register_client(&nonsense_client);
	if (ret)
		return ret;
	if (nonsense_result)
		ib_unregister_client(&nonsense_client);
	return nonsense_result;
}

static void __exit nonsense_exit(void)
{
	ib_unregister_client(&nonsense_client);
}

module_init(nonsense_init);
module_exit(nonsense_exit);

MODULE_AUTHOR("The mynic developers");
MODULE_DESCRIPTION("A device that answers nonsense, for tests");
MODULE_LICENSE("Dual BSD/GPL");
