// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The PCI function: finding it, bringing it up and down, and its recovery */
#include <linux/dma-mapping.h>
#include <linux/iopoll.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <rdma/mynic-abi.h>

#include "cmd.h"

/* From this the core makes a name for the RDMA device */
#define MYNIC_IB_NAME MYNIC_DRV_NAME "_%d"

/* A device that fails again and again is reset this often */
#define MYNIC_RECOVER_INTERVAL (10 * HZ)
/* A reset may take this long */
#define MYNIC_RESET_TIMEOUT_US (30 * USEC_PER_SEC)

/**
 * mynic_res_add() - let events find an object
 * @xa: objects of its kind
 * @number: its number
 * @res: the object's &struct mynic_res
 *
 * Return: 0, -ENOMEM, or -EBUSY if the device gave out a number twice.
 */
int mynic_res_add(struct xarray *xa, u32 number, struct mynic_res *res)
{
	refcount_set(&res->refs, 1);
	init_completion(&res->unused);
	return xa_insert_irq(xa, number, res, GFP_KERNEL);
}

/**
 * mynic_res_get() - find an object, and keep it until mynic_res_put()
 * @xa: objects of its kind
 * @number: its number, which comes from the device and may be anything
 *
 * Context: any.
 * Return: the object, or NULL.
 */
struct mynic_res *mynic_res_get(struct xarray *xa, u32 number)
{
	struct mynic_res *res;
	unsigned long flags;

	xa_lock_irqsave(xa, flags);
	res = xa_load(xa, number);
	if (res)
		refcount_inc(&res->refs);
	xa_unlock_irqrestore(xa, flags);
	return res;
}

/**
 * mynic_res_put() - let go of an object
 * @res: the object
 *
 * Context: any.
 */
void mynic_res_put(struct mynic_res *res)
{
	if (refcount_dec_and_test(&res->refs))
		complete(&res->unused);
}

/**
 * mynic_res_remove() - hide an object from events, and wait for those under way
 * @xa: objects of its kind
 * @number: its number
 * @res: the object
 */
void mynic_res_remove(struct xarray *xa, u32 number, struct mynic_res *res)
{
	xa_erase_irq(xa, number);
	mynic_res_put(res);
	wait_for_completion(&res->unused);
}

/**
 * mynic_die() - give up a device that failed
 * @mdev: device
 * @why: what it did
 *
 * From now on commands fail, the device reaches no memory and raises no
 * interrupt, and objects are destroyed without it. A work item resets it.
 *
 * Context: any.
 */
void mynic_die(struct mynic_dev *mdev, const char *why)
{
	unsigned long next = mdev->recovered + MYNIC_RECOVER_INTERVAL;
	unsigned long now = jiffies;

	if (test_and_set_bit(MYNIC_DEAD, &mdev->flags))
		return;
	pci_clear_master(mdev->pdev);
	dev_err(&mdev->pdev->dev, "device failed: %s\n", why);
	mynic_admin_abort(mdev);
	queue_delayed_work(system_long_wq, &mdev->recover_work,
			   time_before(now, next) ? next - now : 0);
}

/**
 * mynic_check_status() - look whether the device is in order
 * @mdev: device, which was ENABLED
 *
 * Context: any.
 */
void mynic_check_status(struct mynic_dev *mdev)
{
	u32 status = readl(mdev->regs + MYNIC_REG_STATUS);

	if (PCI_POSSIBLE_ERROR(status))
		mynic_die(mdev, "it is gone");
	else if (status & MYNIC_STATUS_FATAL)
		mynic_die(mdev, "it reports an error");
	else if (!(status & MYNIC_STATUS_ENABLED))
		mynic_die(mdev, "it was reset");
}

/* Return: 0, -ENODEV if the device is gone or no mynic, -ETIMEDOUT */
static int mynic_hw_reset(struct mynic_dev *mdev)
{
	struct device *dev = &mdev->pdev->dev;
	u32 magic, version, status;
	int ret;

	magic = readl(mdev->regs + MYNIC_REG_MAGIC);
	version = readl(mdev->regs + MYNIC_REG_VERSION);
	if (magic != MYNIC_MAGIC || version >> 16 != MYNIC_VERSION_MAJOR) {
		dev_err(dev, "unknown device: magic %#x, version %#x\n", magic,
			version);
		return -ENODEV;
	}
	writel(MYNIC_CONTROL_RESET, mdev->regs + MYNIC_REG_CONTROL);
	ret = readl_poll_timeout(mdev->regs + MYNIC_REG_STATUS, status,
				 status & MYNIC_STATUS_READY, USEC_PER_MSEC,
				 MYNIC_RESET_TIMEOUT_US);
	if (!ret && PCI_POSSIBLE_ERROR(status))
		ret = -ENODEV;
	if (ret)
		dev_err(dev, "no end of reset, status %#x\n", status);
	return ret;
}

/* Of these the kernel itself needs nothing: its own QPs always ring. */
#define MYNIC_DRIVER_FEATURES ((u32)MYNIC_FEATURE_DB_SUPPRESS)

static int mynic_hw_enable(struct mynic_dev *mdev)
{
	u32 status;
	int ret;

	mdev->features = readl(mdev->regs + MYNIC_REG_FEATURES_LO) &
			 MYNIC_DRIVER_FEATURES;
	writel(mdev->features, mdev->regs + MYNIC_REG_DRV_FEATURES_LO);
	writel(0, mdev->regs + MYNIC_REG_DRV_FEATURES_HI);
	writel(MYNIC_CONTROL_ENABLE, mdev->regs + MYNIC_REG_CONTROL);
	ret = readl_poll_timeout(mdev->regs + MYNIC_REG_STATUS, status,
				 status & (MYNIC_STATUS_ENABLED |
					   MYNIC_STATUS_FATAL),
				 USEC_PER_MSEC, MYNIC_RESET_TIMEOUT_US);
	if (!ret && (PCI_POSSIBLE_ERROR(status) || status & MYNIC_STATUS_FATAL))
		ret = -EIO;
	if (ret)
		dev_err(&mdev->pdev->dev, "cannot be enabled, status %#x\n",
			status);
	return ret;
}

/* Everything below the netdev and the RDMA device */
static int mynic_hw_up(struct mynic_dev *mdev)
{
	int ret;

	ret = mynic_hw_reset(mdev);
	if (ret)
		return ret;
	ret = mynic_admin_init(mdev);
	if (ret)
		return ret;
	memset(mdev->gids, 0, sizeof(mdev->gids));
	clear_bit(MYNIC_DEAD, &mdev->flags);
	pci_set_master(mdev->pdev);
	ret = mynic_hw_enable(mdev);
	if (ret)
		goto err_reset;
	ret = mynic_eqs_init(mdev);
	if (ret)
		goto err_reset;
	return 0;

err_reset:
	writel(MYNIC_CONTROL_RESET, mdev->regs + MYNIC_REG_CONTROL);
	pci_clear_master(mdev->pdev);
	mynic_admin_fini(mdev);
	return ret;
}

static void mynic_hw_down(struct mynic_dev *mdev)
{
	mynic_eqs_fini(mdev);
	writel(MYNIC_CONTROL_RESET, mdev->regs + MYNIC_REG_CONTROL);
	pci_clear_master(mdev->pdev);
	mynic_admin_fini(mdev);
}

static const struct ib_device_ops mynic_dev_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_UNKNOWN,
	.uverbs_abi_ver = MYNIC_UVERBS_ABI_VERSION,
	.uverbs_robust_udata = 1,

	.add_gid = mynic_add_gid,
	.advise_mr = mynic_advise_mr,
	.alloc_dm = mynic_alloc_dm,
	.alloc_hw_port_stats = mynic_alloc_hw_port_stats,
	.alloc_mr = mynic_alloc_mr,
	.alloc_mw = mynic_alloc_mw,
	.alloc_pd = mynic_alloc_pd,
	.alloc_ucontext = mynic_alloc_ucontext,
	.alloc_xrcd = mynic_alloc_xrcd,
	.attach_mcast = mynic_attach_mcast,
	.create_ah = mynic_create_ah,
	.create_cq = mynic_create_cq,
	.create_flow = mynic_create_flow,
	.create_qp = mynic_create_qp,
	.create_rwq_ind_table = mynic_create_rwq_ind_table,
	.create_srq = mynic_create_srq,
	.create_user_ah = mynic_create_ah,
	.create_wq = mynic_create_wq,
	.dealloc_dm = mynic_dealloc_dm,
	.dealloc_mw = mynic_dealloc_mw,
	.dealloc_pd = mynic_dealloc_pd,
	.dealloc_ucontext = mynic_dealloc_ucontext,
	.dealloc_xrcd = mynic_dealloc_xrcd,
	.del_gid = mynic_del_gid,
	.dereg_mr = mynic_dereg_mr,
	.destroy_ah = mynic_destroy_ah,
	.destroy_cq = mynic_destroy_cq,
	.destroy_flow = mynic_destroy_flow,
	.destroy_qp = mynic_destroy_qp,
	.destroy_rwq_ind_table = mynic_destroy_rwq_ind_table,
	.destroy_srq = mynic_destroy_srq,
	.destroy_wq = mynic_destroy_wq,
	.detach_mcast = mynic_detach_mcast,
	.disassociate_ucontext = mynic_disassociate_ucontext,
	.get_dev_fw_str = mynic_get_dev_fw_str,
	.get_dma_mr = mynic_get_dma_mr,
	.get_hw_stats = mynic_get_hw_stats,
	.get_link_layer = mynic_get_link_layer,
	.get_port_immutable = mynic_get_port_immutable,
	.map_mr_sg = mynic_map_mr_sg,
	.mmap = mynic_mmap,
	.mmap_free = mynic_mmap_free,
	.modify_cq = mynic_modify_cq,
	.modify_qp = mynic_modify_qp,
	.modify_srq = mynic_modify_srq,
	.modify_wq = mynic_modify_wq,
	.poll_cq = mynic_poll_cq,
	.post_recv = mynic_post_recv,
	.post_send = mynic_post_send,
	.post_srq_recv = mynic_post_srq_recv,
	.query_ah = mynic_query_ah,
	.query_device = mynic_query_device,
	.query_pkey = mynic_query_pkey,
	.query_port = mynic_query_port,
	.query_qp = mynic_query_qp,
	.query_srq = mynic_query_srq,
	.query_ucontext = mynic_query_ucontext,
	.reg_dm_mr = mynic_reg_dm_mr,
	.reg_user_mr = mynic_reg_user_mr,
	.reg_user_mr_dmabuf = mynic_reg_user_mr_dmabuf,
	.req_notify_cq = mynic_req_notify_cq,
	.rereg_user_mr = mynic_rereg_user_mr,
	.resize_user_cq = mynic_resize_user_cq,

	INIT_RDMA_OBJ_SIZE(ib_ah, mynic_ah, ibah),
	INIT_RDMA_OBJ_SIZE(ib_cq, mynic_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_mw, mynic_mw, ibmw),
	INIT_RDMA_OBJ_SIZE(ib_pd, mynic_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_qp, mynic_qp, ibqp),
	INIT_RDMA_OBJ_SIZE(ib_rwq_ind_table, mynic_rwq_table, ibtable),
	INIT_RDMA_OBJ_SIZE(ib_srq, mynic_srq, ibsrq),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, mynic_ucontext, ibucontext),
	INIT_RDMA_OBJ_SIZE(ib_xrcd, mynic_xrcd, ibxrcd),
};

static const struct uapi_definition mynic_uapi_defs[] = {
	UAPI_DEF_CHAIN(mynic_dm_defs),
	UAPI_DEF_CHAIN(mynic_pd_defs),
	UAPI_DEF_CHAIN(mynic_ucontext_defs),
	{},
};

static int mynic_ib_register(struct mynic_dev *mdev)
{
	struct device *dev = &mdev->pdev->dev;
	struct mynic_ib_dev *mib;
	struct ib_device *ibdev;
	int ret;

	mib = ib_alloc_device(mynic_ib_dev, ibdev);
	if (!mib)
		return -ENOMEM;
	mib->mdev = mdev;
	ibdev = &mib->ibdev;
	mib->gid_page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	if (!mib->gid_page) {
		ret = -ENOMEM;
		goto err_dealloc;
	}
	ibdev->node_type = RDMA_NODE_IB_CA;
	ibdev->node_guid = mdev->caps.node_guid;
	ibdev->phys_port_cnt = 1;
	/* Vector 0 is that of the processor which asks for an event */
	ibdev->num_comp_vectors = mdev->num_comp_eqs + 1;
	ibdev->local_dma_lkey = mdev->caps.dma_lkey;
	ibdev->dev.parent = dev;
	ib_set_device_ops(ibdev, &mynic_dev_ops);
	ibdev->driver_def = mynic_uapi_defs;
	ib_set_device_ops(ibdev, &mynic_restrack_ops);
	ib_set_device_ops(ibdev, &mynic_dmah_ops);
	if (mdev->caps.max_counters)
		ib_set_device_ops(ibdev, &mynic_counter_ops);
	if (mdev->caps.max_counters && mdev->caps.max_flow)
		ib_set_device_ops(ibdev, &mynic_ibcounters_ops);
	ret = ib_device_set_netdev(ibdev, mdev->netdev, MYNIC_PORT);
	if (ret)
		goto err_page;
	ret = ib_register_device(ibdev, mdev->ibdev_name, dev);
	if (ret == -ENFILE)
		ret = ib_register_device(ibdev, MYNIC_IB_NAME, dev);
	if (ret)
		goto err_page;
	mdev->ibdev = mib;
	return 0;

err_page:
	put_page(mib->gid_page);
err_dealloc:
	ib_dealloc_device(ibdev);
	return ret;
}

static void mynic_ib_unregister(struct mynic_dev *mdev)
{
	const char *name = dev_name(&mdev->ibdev->ibdev.dev);

	/* It was renamed perhaps, but is not to be taken for a pattern */
	if (!strchr(name, '%'))
		strscpy(mdev->ibdev_name, name);
	ib_unregister_device(&mdev->ibdev->ibdev);
	put_page(mdev->ibdev->gid_page);
	ib_dealloc_device(&mdev->ibdev->ibdev);
	mdev->ibdev = NULL;
}

/*
 * Consumers in the kernel wait for what they posted: let them poll it. The CQ
 * of the netdev, which is no consumer's, has no RDMA device.
 */
static void mynic_wake_kernel_cqs(struct mynic_dev *mdev)
{
	struct mynic_res *res;
	struct mynic_cq *cq;
	unsigned long cqn;

	xa_for_each(&mdev->cqs, cqn, res) {
		res = mynic_res_get(&mdev->cqs, cqn);
		if (!res)
			continue;
		cq = container_of(res, struct mynic_cq, res);
		if (!cq->ibcq.uobject && cq->ibcq.device &&
		    cq->ibcq.comp_handler)
			cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
		mynic_res_put(res);
	}
}

static void mynic_announce_death(struct mynic_dev *mdev)
{
	struct ib_event event = {
		.device = &mdev->ibdev->ibdev,
		.element.port_num = MYNIC_PORT,
		.event = IB_EVENT_DEVICE_FATAL,
	};

	ib_dispatch_event(&event);
	/* Whoever still posts, with interrupts off, sees that it is dead */
	synchronize_rcu();
	mynic_wake_kernel_cqs(mdev);
}

static void mynic_stop(struct mynic_dev *mdev)
{
	lockdep_assert_held(&mdev->state_lock);
	if (!mdev->up)
		return;
	mdev->up = false;
	if (mynic_dead(mdev))
		mynic_announce_death(mdev);
	mynic_ib_unregister(mdev);
	mynic_netdev_detach(mdev);
	mynic_hw_down(mdev);
}

static int mynic_start(struct mynic_dev *mdev)
{
	int ret;

	lockdep_assert_held(&mdev->state_lock);
	ret = mynic_hw_up(mdev);
	if (ret)
		goto err;
	ret = mynic_netdev_attach(mdev);
	if (ret)
		goto err_hw;
	ret = mynic_ib_register(mdev);
	if (ret)
		goto err_netdev;
	mdev->up = true;
	return 0;

err_netdev:
	mynic_netdev_detach(mdev);
err_hw:
	mynic_hw_down(mdev);
err:
	dev_err(&mdev->pdev->dev, "device stays down: %pe\n", ERR_PTR(ret));
	return ret;
}

static void mynic_recover_work(struct work_struct *work)
{
	struct mynic_dev *mdev = container_of(to_delayed_work(work),
					      struct mynic_dev, recover_work);

	mutex_lock(&mdev->state_lock);
	if (mdev->up && mynic_dead(mdev)) {
		mdev->recovered = jiffies;
		mynic_stop(mdev);
		mynic_start(mdev);
	}
	mutex_unlock(&mdev->state_lock);
}

static int mynic_pci_init(struct mynic_dev *mdev)
{
	struct pci_dev *pdev = mdev->pdev;
	unsigned int max;
	int ret;

	ret = pci_enable_device_mem(pdev);
	if (ret)
		return ret;
	ret = pci_request_mem_regions(pdev, MYNIC_DRV_NAME);
	if (ret)
		goto err_disable;
	ret = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (ret)
		goto err_regions;
	dma_set_max_seg_size(&pdev->dev, UINT_MAX);

	ret = -ENODEV;
	if (pci_resource_len(pdev, MYNIC_BAR_REGS) < MYNIC_BAR_REGS_SIZE ||
	    pci_resource_len(pdev, MYNIC_BAR_UAR) < PAGE_SIZE)
		goto err_regions;
	ret = -ENOMEM;
	mdev->regs = pci_iomap(pdev, MYNIC_BAR_REGS, MYNIC_BAR_REGS_SIZE);
	if (!mdev->regs)
		goto err_regions;
	mdev->uar0 = pci_iomap(pdev, MYNIC_BAR_UAR, MYNIC_UAR_SIZE);
	if (!mdev->uar0)
		goto err_regs;

	max = min(num_online_cpus() + 1, (unsigned int)MYNIC_MAX_VECTORS);
	ret = pci_alloc_irq_vectors(pdev, 2, max, PCI_IRQ_MSIX);
	if (ret < 0)
		goto err_uar0;
	mdev->num_vectors = ret;
	return 0;

err_uar0:
	pci_iounmap(pdev, mdev->uar0);
err_regs:
	pci_iounmap(pdev, mdev->regs);
err_regions:
	pci_release_mem_regions(pdev);
err_disable:
	pci_disable_device(pdev);
	return ret;
}

static void mynic_pci_fini(struct mynic_dev *mdev)
{
	struct pci_dev *pdev = mdev->pdev;

	pci_free_irq_vectors(pdev);
	pci_iounmap(pdev, mdev->uar0);
	pci_iounmap(pdev, mdev->regs);
	pci_release_mem_regions(pdev);
	pci_disable_device(pdev);
}

static void mynic_free(struct mynic_dev *mdev)
{
	if (mdev->fault_wq)
		destroy_workqueue(mdev->fault_wq);
	ida_destroy(&mdev->uars);
	xa_destroy(&mdev->odps);
	xa_destroy(&mdev->srqs);
	xa_destroy(&mdev->rwqs);
	xa_destroy(&mdev->qps);
	xa_destroy(&mdev->cqs);
	mynic_clock_fini(mdev);
	mutex_destroy(&mdev->gid_lock);
	mutex_destroy(&mdev->state_lock);
	kfree(mdev);
}

static int mynic_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct mynic_dev *mdev;
	int ret;

	mdev = kzalloc_obj(*mdev);
	if (!mdev)
		return -ENOMEM;
	mdev->pdev = pdev;
	mutex_init(&mdev->state_lock);
	mutex_init(&mdev->gid_lock);
	strscpy(mdev->ibdev_name, MYNIC_IB_NAME);
	INIT_DELAYED_WORK(&mdev->recover_work, mynic_recover_work);
	mdev->recovered = jiffies - MYNIC_RECOVER_INTERVAL;
	xa_init_flags(&mdev->cqs, XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&mdev->qps, XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&mdev->srqs, XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&mdev->rwqs, XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&mdev->odps, XA_FLAGS_LOCK_IRQ);
	ida_init(&mdev->uars);
	pci_set_drvdata(pdev, mdev);

	/* First: whatever it returns, mynic_free() undoes it */
	ret = mynic_clock_init(mdev);
	if (ret)
		goto err_free;
	/* Not bound to a processor: finding a page may take long */
	mdev->fault_wq = alloc_workqueue("mynic_fault", WQ_UNBOUND, 0);
	if (!mdev->fault_wq) {
		ret = -ENOMEM;
		goto err_free;
	}
	ret = mynic_pci_init(mdev);
	if (ret)
		goto err_free;
	ret = mynic_netdev_alloc(mdev);
	if (ret)
		goto err_pci;
	ret = mynic_hw_up(mdev);
	if (ret)
		goto err_alloc;
	ret = mynic_netdev_register(mdev);
	if (ret)
		goto err_hw;
	mutex_lock(&mdev->state_lock);
	ret = mynic_ib_register(mdev);
	mdev->up = !ret;
	mutex_unlock(&mdev->state_lock);
	if (ret)
		goto err_netdev;
	/* It may have died before anything was there to recover */
	if (mynic_dead(mdev))
		queue_delayed_work(system_long_wq, &mdev->recover_work, 0);
	return 0;

err_netdev:
	mynic_netdev_unregister(mdev);
err_hw:
	mynic_hw_down(mdev);
err_alloc:
	disable_delayed_work_sync(&mdev->recover_work);
	mynic_netdev_free(mdev);
err_pci:
	mynic_pci_fini(mdev);
err_free:
	mynic_free(mdev);
	return ret;
}

static void mynic_remove(struct pci_dev *pdev)
{
	struct mynic_dev *mdev = pci_get_drvdata(pdev);

	disable_delayed_work_sync(&mdev->recover_work);
	mutex_lock(&mdev->state_lock);
	mynic_stop(mdev);
	mutex_unlock(&mdev->state_lock);
	mynic_netdev_unregister(mdev);
	mynic_netdev_free(mdev);
	mynic_pci_fini(mdev);
	mynic_free(mdev);
}

static void mynic_reset_prepare(struct pci_dev *pdev)
{
	struct mynic_dev *mdev = pci_get_drvdata(pdev);

	mutex_lock(&mdev->state_lock);
	mynic_stop(mdev);
	mutex_unlock(&mdev->state_lock);
}

static void mynic_reset_done(struct pci_dev *pdev)
{
	struct mynic_dev *mdev = pci_get_drvdata(pdev);

	mutex_lock(&mdev->state_lock);
	mynic_start(mdev);
	mutex_unlock(&mdev->state_lock);
}

static const struct pci_error_handlers mynic_err_handlers = {
	.reset_prepare = mynic_reset_prepare,
	.reset_done = mynic_reset_done,
};

static int mynic_suspend(struct device *dev)
{
	mynic_reset_prepare(to_pci_dev(dev));
	return 0;
}

static int mynic_resume(struct device *dev)
{
	struct mynic_dev *mdev = dev_get_drvdata(dev);
	int ret;

	mutex_lock(&mdev->state_lock);
	ret = mynic_start(mdev);
	mutex_unlock(&mdev->state_lock);
	return ret;
}

static DEFINE_SIMPLE_DEV_PM_OPS(mynic_pm_ops, mynic_suspend, mynic_resume);

static const struct pci_device_id mynic_pci_tbl[] = {
	{ PCI_DEVICE(MYNIC_PCI_VENDOR_ID, MYNIC_PCI_DEVICE_ID) },
	{}
};
MODULE_DEVICE_TABLE(pci, mynic_pci_tbl);

static struct pci_driver mynic_pci_driver = {
	.name = MYNIC_DRV_NAME,
	.id_table = mynic_pci_tbl,
	.probe = mynic_probe,
	.remove = mynic_remove,
	.err_handler = &mynic_err_handlers,
	.driver.pm = pm_sleep_ptr(&mynic_pm_ops),
};

module_pci_driver(mynic_pci_driver);

MODULE_AUTHOR("The mynic developers");
MODULE_DESCRIPTION("mynic RDMA NIC driver");
MODULE_LICENSE("Dual BSD/GPL");
