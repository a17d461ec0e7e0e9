// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A consumer in the kernel that has a request outstanding when the device fails.
 * If it lost the device first, some consumers would wait for the request until
 * it times out. It does not let go of the device before that request is flushed. Nothing else
 * that it has may be woken. The device must not write to memory any more then,
 * nor when a QP has been destroyed.
 */
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "mynic_regs.h"

#define PATIENCE (300 * HZ)

static char *device;
module_param(device, charp, 0);
MODULE_PARM_DESC(device, "RDMA device");

static bool removing;
module_param(removing, bool, 0400);
MODULE_PARM_DESC(removing, "the device is taken away, or has been");

static bool told;
module_param(told, bool, 0400);
MODULE_PARM_DESC(told,
		 "its request was flushed before the device was taken away");

static int result = -ENODEV;
module_param(result, int, 0400);
MODULE_PARM_DESC(result, "-EINPROGRESS until it has let go of the device");

/*
 * All QPs have a receive request, and no send request. So @send_cq has nothing
 * outstanding. @direct_cq is completed by polling only. @early_qp is destroyed
 * by @early as soon as the device is dead, and is gone when @early_done. @enabled:
 * the device was at work when a request was flushed, or when that QP was gone.
 */
struct flushed {
	struct ib_pd *pd;
	struct ib_cq *send_cq;
	struct ib_cq *recv_cq;
	struct ib_cq *direct_cq;
	struct ib_qp *qp;
	struct ib_qp *direct_qp;
	struct ib_qp *early_qp;
	struct workqueue_struct *wq;
	struct work_struct early;
	bool early_done;
	bool ends;
	struct completion woken;
	unsigned int unsolicited;
	void __iomem *regs;
	bool enabled;
};

static struct flushed flushed;

static void flushed_look(struct flushed *f)
{
	u32 status = readl(f->regs + MYNIC_REG_STATUS);

	if (!PCI_POSSIBLE_ERROR(status) && status & MYNIC_STATUS_ENABLED)
		WRITE_ONCE(f->enabled, true);
}

static void flushed_woken(struct ib_cq *cq, void *context)
{
	flushed_look(&flushed);
	complete(&flushed.woken);
}

/* The queue is full, so that posting fails otherwise before the death. */
static void flushed_early(struct work_struct *work)
{
	struct flushed *f = container_of(work, struct flushed, early);
	const struct ib_recv_wr wr = {};
	int ret;

	do {
		usleep_range(20, 50);
		ret = ib_post_recv(f->early_qp, &wr, NULL);
	} while (ret != -EIO && !READ_ONCE(f->ends));
	ib_destroy_qp(f->early_qp);
	f->early_qp = ERR_PTR(-ENOENT);
	if (ret == -EIO)
		flushed_look(f);
	WRITE_ONCE(f->early_done, true);
}

/* Milliseconds for which the device is left alone when it has died */
#define FLUSHED_DELAY 300

/* The driver tells a dead device to leave memory alone. */
static int flushed_quiet(struct kprobe *probe, struct pt_regs *regs)
{
	unsigned int ms;

	for (ms = 0; ms < FLUSHED_DELAY && !READ_ONCE(flushed.early_done); ms++)
		mdelay(1);
	return 0;
}

static struct kprobe flushed_quiet_probe = {
	.symbol_name = "mynic_hw_quiet",
	.pre_handler = flushed_quiet,
};

static void flushed_unsolicited(struct ib_cq *cq, void *context)
{
	WRITE_ONCE(flushed.unsolicited, flushed.unsolicited + 1);
}

static struct ib_qp *flushed_qp(struct flushed *f, struct ib_cq *recv_cq)
{
	struct ib_qp_init_attr init = {
		.send_cq = f->send_cq,
		.recv_cq = recv_cq,
		.cap = {
			.max_send_wr = 1,
			.max_send_sge = 1,
			.max_recv_wr = 1,
			.max_recv_sge = 1,
		},
		.qp_type = IB_QPT_RC,
	};

	return ib_create_qp(f->pd, &init);
}

static int flushed_receive(struct ib_qp *qp)
{
	const struct ib_recv_wr wr = {};
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT, .port_num = 1 };
	int ret;

	ret = ib_modify_qp(qp, &attr,
			   IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
				   IB_QP_ACCESS_FLAGS);
	return ret ?: ib_post_recv(qp, &wr, NULL);
}

/* flushed_free() ignores objects that could not be created. */
static int flushed_make(struct flushed *f, struct ib_device *ibdev)
{
	struct pci_dev *pdev = to_pci_dev(ibdev->dev.parent);
	struct ib_cq_init_attr attr = { .cqe = 2 };
	int ret;

	init_completion(&f->woken);
	INIT_WORK(&f->early, flushed_early);
	f->regs = ioremap(pci_resource_start(pdev, MYNIC_BAR_REGS),
			  MYNIC_BAR_REGS_SIZE);
	f->qp = ERR_PTR(-ENOMEM);
	f->direct_qp = ERR_PTR(-ENOMEM);
	f->early_qp = ERR_PTR(-ENOMEM);
	f->pd = ib_alloc_pd(ibdev, 0);
	f->send_cq = ib_create_cq(ibdev, flushed_unsolicited, NULL, f, &attr);
	f->recv_cq = ib_create_cq(ibdev, flushed_woken, NULL, f, &attr);
	f->direct_cq = ib_alloc_cq(ibdev, f, 2, 0, IB_POLL_DIRECT);
	if (!f->regs || IS_ERR(f->pd) || IS_ERR(f->send_cq) ||
	    IS_ERR(f->recv_cq) || IS_ERR(f->direct_cq))
		return -ENOMEM;
	/* That of the RDMA core only warns, and only once. */
	f->direct_cq->comp_handler = flushed_unsolicited;
	f->qp = flushed_qp(f, f->recv_cq);
	f->direct_qp = flushed_qp(f, f->direct_cq);
	f->early_qp = flushed_qp(f, f->direct_cq);
	if (IS_ERR(f->qp) || IS_ERR(f->direct_qp) || IS_ERR(f->early_qp))
		return -ENOMEM;
	ret = flushed_receive(f->qp);
	ret = ret ?: flushed_receive(f->direct_qp);
	return ret ?: flushed_receive(f->early_qp);
}

static void flushed_free(struct flushed *f)
{
	if (!IS_ERR(f->early_qp))
		ib_destroy_qp(f->early_qp);
	if (!IS_ERR(f->direct_qp))
		ib_destroy_qp(f->direct_qp);
	if (!IS_ERR(f->qp))
		ib_destroy_qp(f->qp);
	if (!IS_ERR(f->direct_cq))
		ib_free_cq(f->direct_cq);
	if (!IS_ERR(f->recv_cq))
		ib_destroy_cq(f->recv_cq);
	if (!IS_ERR(f->send_cq))
		ib_destroy_cq(f->send_cq);
	if (!IS_ERR(f->pd))
		ib_dealloc_pd(f->pd);
	if (f->regs)
		iounmap(f->regs);
}

static int flushed_wait(struct flushed *f)
{
	struct ib_wc wc;

	if (!wait_for_completion_timeout(&f->woken, PATIENCE))
		return -ETIMEDOUT;
	if (ib_poll_cq(f->recv_cq, 1, &wc) != 1 ||
	    wc.status != IB_WC_WR_FLUSH_ERR)
		return -ENODATA;
	return READ_ONCE(f->unsolicited) ? -EBADMSG : 0;
}

/* The device comes back while the module is loaded. */
static int flushed_add(struct ib_device *ibdev)
{
	if (result != -ENODEV || strcmp(dev_name(&ibdev->dev), device))
		return -EOPNOTSUPP;
	result = flushed_make(&flushed, ibdev);
	if (result) {
		flushed_free(&flushed);
		return -EOPNOTSUPP;
	}
	result = -EINPROGRESS;
	queue_work(flushed.wq, &flushed.early);
	return 0;
}

static void flushed_remove(struct ib_device *ibdev, void *client_data)
{
	int ret;

	WRITE_ONCE(told, completion_done(&flushed.woken));
	WRITE_ONCE(removing, true);
	ret = flushed_wait(&flushed);
	WRITE_ONCE(flushed.ends, true);
	flush_work(&flushed.early);
	if (!ret && READ_ONCE(flushed.enabled))
		ret = -EBUSY;
	flushed_free(&flushed);
	WRITE_ONCE(result, ret);
}

static struct ib_client flushed_client = {
	.name = "flushed_consumer",
	.add = flushed_add,
	.remove = flushed_remove,
};

static int __init flushed_init(void)
{
	int ret;

	if (!device)
		return -EINVAL;
	/* Not bound to the processor that the probe keeps busy */
	flushed.wq = alloc_workqueue("flushed_consumer", WQ_UNBOUND, 0);
	if (!flushed.wq)
		return -ENOMEM;
	ret = register_kprobe(&flushed_quiet_probe);
	if (ret)
		goto err_wq;
	ret = ib_register_client(&flushed_client);
	if (ret)
		goto err_probe;
	if (result == -EINPROGRESS)
		return 0;
	ret = result;
	ib_unregister_client(&flushed_client);
err_probe:
	unregister_kprobe(&flushed_quiet_probe);
err_wq:
	destroy_workqueue(flushed.wq);
	return ret;
}

static void __exit flushed_exit(void)
{
	ib_unregister_client(&flushed_client);
	unregister_kprobe(&flushed_quiet_probe);
	destroy_workqueue(flushed.wq);
}

module_init(flushed_init);
module_exit(flushed_exit);

MODULE_AUTHOR("The mynic developers");
MODULE_DESCRIPTION("Kernel consumer whose device fails, for tests");
MODULE_LICENSE("Dual BSD/GPL");
