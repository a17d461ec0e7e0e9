// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Event queues and their interrupts: vector 0 is for asynchronous events and
 * admin completions, the others are for completion events.
 */
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/slab.h>

#include "cmd.h"
#include "trace.h"

/* Any size will do: the device holds events back while the ring is full. */
#define MYNIC_EQ_LOG_SIZE 10
#define MYNIC_EQ_SIZE BIT(MYNIC_EQ_LOG_SIZE)
#define MYNIC_EQ_DBREC_OFFSET (MYNIC_EQ_SIZE * sizeof(struct mynic_eqe))

/* The interrupt of an entry that is not handled meanwhile counts as lost. */
#define MYNIC_EQ_CHECK_PERIOD HZ

struct mynic_event_data {
	u32 number;
	u8 type;
	struct mynic_missing_pages missing;
};

static bool mynic_eq_is_up(const struct mynic_eq *eq)
{
	/* Pairs with the release in mynic_eq_create() */
	return smp_load_acquire(&eq->up);
}

static const struct mynic_eqe *mynic_eqe(const struct mynic_eq *eq, u32 index)
{
	return mynic_mem_at(eq->mem,
			    index % MYNIC_EQ_SIZE * sizeof(struct mynic_eqe));
}

static bool mynic_eq_pending(const struct mynic_eq *eq)
{
	u32 ci = READ_ONCE(eq->ci);

	return (READ_ONCE(mynic_eqe(eq, ci)->phase) & 1) ==
	       mynic_phase(ci, MYNIC_EQ_LOG_SIZE);
}

static struct mynic_eq_dbrec *mynic_eq_dbrec(const struct mynic_eq *eq)
{
	return mynic_mem_at(eq->mem, MYNIC_EQ_DBREC_OFFSET);
}

/*
 * Release the entries that have been read. The device interrupts for the next
 * entry, unless it has written that one before it saw the index. Return:
 * whether it has written it.
 */
static bool mynic_eq_release(struct mynic_eq *eq)
{
	mynic_release(&mynic_eq_dbrec(eq)->ci, eq->ci);
	/*
	 * Pairs with the device, which writes an entry before it reads the
	 * index.
	 */
	mb();
	return mynic_eq_pending(eq);
}

/*
 * Return false if there is no event. Then an interrupt comes for the next one.
 */
static bool mynic_eq_next(struct mynic_eq *eq, struct mynic_event_data *event)
{
	const struct mynic_eqe *eqe = mynic_eqe(eq, eq->ci);

	if (!mynic_eq_pending(eq) && !mynic_eq_release(eq))
		return false;
	dma_rmb();
	event->number = le32_to_cpu(READ_ONCE(eqe->number));
	event->type = READ_ONCE(eqe->type);
	event->missing = (struct mynic_missing_pages){
		.addr = le64_to_cpu(READ_ONCE(eqe->addr)),
		.key = le32_to_cpu(READ_ONCE(eqe->key)),
		.length = le32_to_cpu(READ_ONCE(eqe->length)),
		.token = le32_to_cpu(READ_ONCE(eqe->token)),
		.write = READ_ONCE(eqe->flags) & MYNIC_PAGE_FAULT_WRITE,
	};
	WRITE_ONCE(eq->ci, eq->ci + 1);
	return true;
}

/*
 * A hostile device could write entries as fast as they are read, so a handler
 * reads at most a ring of them. If entries are left (@left), ringing the
 * doorbell raises another interrupt. It also makes the device write the events
 * held back.
 */
static void mynic_eq_done(struct mynic_eq *eq, bool left)
{
	if (left)
		mynic_eq_release(eq);
	if (left || READ_ONCE(mynic_eq_dbrec(eq)->ring))
		mynic_ring(eq->mdev, MYNIC_UAR_EQ_DB, eq->eqn, eq->ci);
}

/*
 * Whether events may be told to the consumer. Those of CQs that it polls are
 * ignored. The same holds for a CQ that ib_alloc_cq() is still setting up. Only
 * a bad device sends these events.
 */
static bool mynic_cq_is_heard(const struct ib_cq *ibcq)
{
	if (!ibcq->comp_handler)
		return false;
	switch (ibcq->poll_ctx) {
	case IB_POLL_DIRECT:
		return false;
	case IB_POLL_WORKQUEUE:
	case IB_POLL_UNBOUND_WORKQUEUE:
		return READ_ONCE(ibcq->comp_wq);
	default:
		/* Only ib_alloc_cq() makes wc. */
		return !ibcq->wc || READ_ONCE(ibcq->iop.poll);
	}
}

static irqreturn_t mynic_comp_irq(int irq, void *data)
{
	struct mynic_eq *eq = data;
	struct mynic_event_data event;
	struct mynic_res *res;
	struct mynic_cq *cq;
	unsigned int n;

	if (!mynic_eq_is_up(eq))
		return IRQ_HANDLED;
	for (n = 0; n < MYNIC_EQ_SIZE && mynic_eq_next(eq, &event); n++) {
		if (event.type != MYNIC_EVENT_COMP)
			continue;
		res = mynic_res_get(&eq->mdev->cqs, event.number);
		if (!res)
			continue;
		cq = container_of(res, struct mynic_cq, res);
		if (mynic_cq_is_heard(&cq->ibcq))
			cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
		mynic_res_put(res);
	}
	mynic_eq_done(eq, n == MYNIC_EQ_SIZE);
	return IRQ_HANDLED;
}

static void mynic_cq_event(struct mynic_dev *mdev, u32 cqn)
{
	struct mynic_res *res = mynic_res_get(&mdev->cqs, cqn);
	struct ib_event event = { .event = IB_EVENT_CQ_ERR };
	struct mynic_cq *cq;

	if (!res)
		return;
	cq = container_of(res, struct mynic_cq, res);
	event.device = cq->ibcq.device;
	event.element.cq = &cq->ibcq;
	if (cq->ibcq.event_handler)
		cq->ibcq.event_handler(&event, cq->ibcq.cq_context);
	mynic_res_put(res);
}

static bool mynic_event_is_qp_error(u8 type)
{
	return type == MYNIC_EVENT_QP_FATAL ||
	       type == MYNIC_EVENT_QP_REQ_ERROR ||
	       type == MYNIC_EVENT_QP_ACCESS_ERROR;
}

static void mynic_qp_event(struct mynic_dev *mdev,
			   const struct mynic_event_data *data,
			   enum ib_event_type type)
{
	struct mynic_res *res = mynic_res_get(&mdev->qps, data->number);
	struct ib_event event = { .event = type };
	struct mynic_qp *qp;

	if (!res)
		return;
	qp = container_of(res, struct mynic_qp, res);
	if (mynic_event_is_qp_error(data->type))
		trace_mynic_qp_state(mdev, data->number, READ_ONCE(qp->state),
				     IB_QPS_ERR, data->type);
	event.device = qp->ibqp.device;
	event.element.qp = &qp->ibqp;
	if (qp->ibqp.event_handler)
		qp->ibqp.event_handler(&event, qp->ibqp.qp_context);
	mynic_res_put(res);
}

/* WQs share this event with QPs, but not the numbers. */
static void mynic_rwq_event(struct mynic_dev *mdev, u32 wqn)
{
	struct mynic_res *res = mynic_res_get(&mdev->rwqs, wqn);
	struct ib_event event = { .event = IB_EVENT_WQ_FATAL };
	struct mynic_rwq *rwq;

	if (!res)
		return;
	rwq = container_of(res, struct mynic_rwq, res);
	event.device = rwq->ibwq.device;
	event.element.wq = &rwq->ibwq;
	/* uverbs needs its object, which it may set last. */
	if (rwq->ibwq.event_handler &&
	    (rwq->dbrec || READ_ONCE(rwq->ibwq.uobject)))
		rwq->ibwq.event_handler(&event, rwq->ibwq.wq_context);
	mynic_res_put(res);
}

static void mynic_qp_page_fault(struct mynic_dev *mdev,
				const struct mynic_event_data *event)
{
	struct mynic_res *res = mynic_res_get(&mdev->qps, event->number);
	struct mynic_qp *qp;

	if (!res)
		return;
	qp = container_of(res, struct mynic_qp, res);
	mynic_page_fault(qp->faults, event->type - MYNIC_EVENT_PAGE_FAULT,
			 &event->missing);
	mynic_res_put(res);
}

static void mynic_srq_event(struct mynic_dev *mdev, u32 srqn,
			    enum ib_event_type type)
{
	struct mynic_res *res = mynic_res_get(&mdev->srqs, srqn);
	struct ib_event event = { .event = type };
	struct mynic_srq *srq;

	if (!res)
		return;
	srq = container_of(res, struct mynic_srq, res);
	event.device = srq->ibsrq.device;
	event.element.srq = &srq->ibsrq;
	if (srq->ibsrq.event_handler)
		srq->ibsrq.event_handler(&event, srq->ibsrq.srq_context);
	mynic_res_put(res);
}

static void mynic_async_event(struct mynic_dev *mdev,
			      const struct mynic_event_data *event)
{
	u32 number = event->number;

	trace_mynic_event(mdev, event->type, number);
	switch (event->type) {
	case MYNIC_EVENT_CQ_ERROR:
		mynic_cq_event(mdev, number);
		break;
	case MYNIC_EVENT_QP_FATAL:
		mynic_qp_event(mdev, event, IB_EVENT_QP_FATAL);
		mynic_rwq_event(mdev, number);
		break;
	case MYNIC_EVENT_QP_REQ_ERROR:
		mynic_qp_event(mdev, event, IB_EVENT_QP_REQ_ERR);
		break;
	case MYNIC_EVENT_QP_ACCESS_ERROR:
		mynic_qp_event(mdev, event, IB_EVENT_QP_ACCESS_ERR);
		break;
	case MYNIC_EVENT_COMM_EST:
		mynic_qp_event(mdev, event, IB_EVENT_COMM_EST);
		break;
	case MYNIC_EVENT_SQ_DRAINED:
		mynic_qp_event(mdev, event, IB_EVENT_SQ_DRAINED);
		break;
	case MYNIC_EVENT_LAST_WQE:
		mynic_qp_event(mdev, event, IB_EVENT_QP_LAST_WQE_REACHED);
		break;
	case MYNIC_EVENT_SRQ_LIMIT:
		mynic_srq_event(mdev, number, IB_EVENT_SRQ_LIMIT_REACHED);
		break;
	case MYNIC_EVENT_SRQ_ERROR:
		mynic_srq_event(mdev, number, IB_EVENT_SRQ_ERR);
		break;
	case MYNIC_EVENT_PORT_UP:
	case MYNIC_EVENT_PORT_DOWN:
		mynic_netdev_link_event(mdev);
		break;
	case MYNIC_EVENT_PAGE_FAULT + MYNIC_PAGE_SEND:
	case MYNIC_EVENT_PAGE_FAULT + MYNIC_PAGE_RECV:
	case MYNIC_EVENT_PAGE_FAULT + MYNIC_PAGE_READ:
		mynic_qp_page_fault(mdev, event);
		break;
	}
}

static irqreturn_t mynic_async_thread(int irq, void *data)
{
	struct mynic_eq *eq = data;
	struct mynic_event_data event;
	unsigned int n;

	if (!mynic_eq_is_up(eq))
		return IRQ_HANDLED;
	for (n = 0; n < MYNIC_EQ_SIZE && mynic_eq_next(eq, &event); n++)
		mynic_async_event(eq->mdev, &event);
	mynic_eq_done(eq, n == MYNIC_EQ_SIZE);
	return IRQ_HANDLED;
}

/*
 * Event handlers of QPs may sleep, so the thread handles events. Admin
 * completions are handled here, as event handlers may wait for commands.
 *
 * A polling thread may take a completion before its interrupt arrives, so an
 * interrupt without one is not spurious. Nor is it a reason to look for a dead
 * device: commands and events must not cost a register access. If the device
 * has failed, the next command finds out.
 */
static irqreturn_t mynic_async_irq(int irq, void *data)
{
	struct mynic_eq *eq = data;
	struct mynic_dev *mdev = eq->mdev;
	bool completed = mynic_admin_irq(mdev);

	if (mynic_eq_is_up(eq) && mynic_eq_pending(eq))
		return IRQ_WAKE_THREAD;
	if (!completed && !mynic_dead(mdev))
		mynic_check_status(mdev);
	return IRQ_HANDLED;
}

/*
 * An entry whose interrupt was lost would stay for ever: there is no interrupt
 * for later ones. The doorbell raises another. It is rung only after a period,
 * because the handler may be busy.
 */
static void mynic_eq_check(struct mynic_eq *eq)
{
	u32 ci = READ_ONCE(eq->ci);

	if (!mynic_eq_pending(eq)) {
		eq->late_ci = ci - 1;
		return;
	}
	if (eq->late_ci == ci)
		mynic_ring(eq->mdev, MYNIC_UAR_EQ_DB, eq->eqn, ci);
	eq->late_ci = ci;
}

static void mynic_eq_check_work(struct work_struct *work)
{
	struct mynic_dev *mdev = container_of(to_delayed_work(work),
					      struct mynic_dev, eq_check_work);
	unsigned int i;

	if (mynic_dead(mdev))
		return;
	mynic_eq_check(&mdev->async_eq);
	for (i = 0; i < mdev->num_comp_eqs; i++)
		mynic_eq_check(&mdev->comp_eqs[i]);
	queue_delayed_work(mdev->alive_wq, &mdev->eq_check_work,
			   MYNIC_EQ_CHECK_PERIOD);
}

/* Wait for handlers that are using the ring. */
static void mynic_eq_free(struct mynic_eq *eq)
{
	WRITE_ONCE(eq->up, false);
	synchronize_irq(pci_irq_vector(eq->mdev->pdev, eq->vector));
	mynic_mem_free(eq->mem);
	eq->mem = NULL;
}

static void mynic_eq_destroy(struct mynic_eq *eq)
{
	mynic_cmd_destroy_eq(eq->mdev, eq->eqn);
	mynic_eq_free(eq);
}

static int mynic_eq_create(struct mynic_eq *eq, bool async)
{
	struct mynic_create_eq body = {
		.vector = cpu_to_le16(eq->vector),
		.log_size = MYNIC_EQ_LOG_SIZE,
		.async = async,
		.dbrec_offset = cpu_to_le32(MYNIC_EQ_DBREC_OFFSET),
	};
	struct mynic_dev *mdev = eq->mdev;
	struct mynic_mem *mem;
	int ret;

	mem = mynic_mem_alloc(
		mdev, MYNIC_EQ_DBREC_OFFSET + sizeof(struct mynic_eq_dbrec),
		true);
	if (IS_ERR(mem))
		return PTR_ERR(mem);
	eq->ci = 0;
	eq->late_ci = -1;
	eq->mem = mem;
	/* From here on the interrupt handler reads the ring. */
	smp_store_release(&eq->up, true);
	body.buf = mem->list.buf;
	ret = mynic_cmd_create_eq(mdev, &body, &eq->eqn);
	if (ret)
		mynic_eq_free(eq);
	return ret;
}

/* The device is ENABLED, and has been given nothing but NOPs. */
int mynic_eqs_init(struct mynic_dev *mdev)
{
	unsigned int i;
	int ret;

	ret = mynic_cmd_query_device(mdev, &mdev->caps);
	if (ret)
		return ret;
	ret = mynic_eq_create(&mdev->async_eq, true);
	if (ret)
		return ret;
	mdev->num_comp_eqs = min(mdev->num_vectors, mdev->caps.max_eq) - 1;
	for (i = 0; i < mdev->num_comp_eqs; i++) {
		ret = mynic_eq_create(&mdev->comp_eqs[i], false);
		if (ret)
			goto err;
	}
	queue_delayed_work(mdev->alive_wq, &mdev->eq_check_work,
			   MYNIC_EQ_CHECK_PERIOD);
	return 0;

err:
	while (i--)
		mynic_eq_destroy(&mdev->comp_eqs[i]);
	mynic_eq_destroy(&mdev->async_eq);
	return ret;
}

/* No command is given afterwards. */
void mynic_eqs_fini(struct mynic_dev *mdev)
{
	unsigned int i;

	cancel_delayed_work_sync(&mdev->eq_check_work);
	for (i = 0; i < mdev->num_comp_eqs; i++)
		mynic_eq_destroy(&mdev->comp_eqs[i]);
	mynic_eq_destroy(&mdev->async_eq);
}

/*
 * Return the processor for a vector: the first online one whose number, modulo
 * the number of vectors, is that of the vector, or NULL. mynic_cq_vector() and
 * processes choose vectors in the same way.
 */
static const struct cpumask *mynic_comp_cpu(const struct mynic_eq *eq)
{
	unsigned int cpu;

	for_each_online_cpu(cpu) {
		if (cpu % (eq->mdev->num_vectors - 1) + 1 == eq->vector)
			return cpumask_of(cpu);
	}
	return NULL;
}

/* Prefer the vector's processor, but any other one will do. */
static void mynic_comp_eq_bind(const struct mynic_eq *eq, int irq)
{
	const struct cpumask *cpu = mynic_comp_cpu(eq);
	int ret;

	if (!cpu)
		return;
	ret = irq_set_affinity_and_hint(irq, cpu);
	if (ret)
		dev_dbg(&eq->mdev->pdev->dev, "%s is not bound: %pe\n",
			eq->name, ERR_PTR(ret));
}

static int mynic_comp_irq_request(struct mynic_dev *mdev, struct mynic_eq *eq,
				  u16 vector)
{
	int irq = pci_irq_vector(mdev->pdev, vector);
	int ret;

	eq->mdev = mdev;
	eq->vector = vector;
	snprintf(eq->name, sizeof(eq->name), MYNIC_DRV_NAME "-comp%u@pci:%s",
		 vector, pci_name(mdev->pdev));
	ret = request_irq(irq, mynic_comp_irq, 0, eq->name, eq);
	if (ret)
		return ret;
	mynic_comp_eq_bind(eq, irq);
	return 0;
}

static void mynic_comp_irqs_free(struct mynic_dev *mdev, unsigned int n)
{
	int irq;

	while (n--) {
		irq = pci_irq_vector(mdev->pdev, n + 1);
		irq_update_affinity_hint(irq, NULL);
		free_irq(irq, &mdev->comp_eqs[n]);
	}
	kfree(mdev->comp_eqs);
}

/*
 * Interrupts are kept while the device is dead or in reset. Freeing them would
 * access a device that perhaps hangs.
 */
int mynic_irqs_request(struct mynic_dev *mdev)
{
	struct mynic_eq *async = &mdev->async_eq;
	struct pci_dev *pdev = mdev->pdev;
	unsigned int i, n = mdev->num_vectors - 1;
	int ret;

	INIT_DELAYED_WORK(&mdev->eq_check_work, mynic_eq_check_work);
	mdev->comp_eqs = kzalloc_objs(*mdev->comp_eqs, n);
	if (!mdev->comp_eqs)
		return -ENOMEM;
	async->mdev = mdev;
	snprintf(async->name, sizeof(async->name),
		 MYNIC_DRV_NAME "-async@pci:%s", pci_name(pdev));
	for (i = 0; i < n; i++) {
		ret = mynic_comp_irq_request(mdev, &mdev->comp_eqs[i], i + 1);
		if (ret)
			goto err;
	}
	ret = request_threaded_irq(pci_irq_vector(pdev, 0), mynic_async_irq,
				   mynic_async_thread, 0, async->name, async);
	if (ret)
		goto err;
	return 0;

err:
	mynic_comp_irqs_free(mdev, i);
	return ret;
}

void mynic_irqs_free(struct mynic_dev *mdev)
{
	free_irq(pci_irq_vector(mdev->pdev, 0), &mdev->async_eq);
	mynic_comp_irqs_free(mdev, mdev->num_vectors - 1);
}
