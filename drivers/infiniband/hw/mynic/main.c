// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The PCI function: finding it, bringing it up and down, and its recovery */
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <net/devlink.h>
#include <rdma/mynic-abi.h>

#include "cmd.h"

/* From this the core makes a name for the RDMA device */
#define MYNIC_IB_NAME MYNIC_DRV_NAME "_%d"

/**
 * mynic_res_add() - let events find an object
 * @xa: objects of its kind
 * @number: its number
 * @res: the object's &struct mynic_res. From now on all of the object may be used
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
	.drain_rq = mynic_drain_rq,
	.drain_sq = mynic_drain_sq,
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

/**
 * mynic_ib_register() - show the RDMA device to the world
 * @mdev: device, which is up
 *
 * Return: 0 or an errno.
 */
int mynic_ib_register(struct mynic_dev *mdev)
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
	/* User contexts, and what they are told, may come before it returns */
	mdev->ibdev = mib;
	ret = ib_register_device(ibdev, mdev->ibdev_name, dev);
	if (ret == -ENFILE)
		ret = ib_register_device(ibdev, MYNIC_IB_NAME, dev);
	if (ret)
		goto err_page;
	return 0;

err_page:
	mdev->ibdev = NULL;
	put_page(mib->gid_page);
err_dealloc:
	ib_dealloc_device(ibdev);
	return ret;
}

/**
 * mynic_ib_unregister() - take the RDMA device from the world
 * @mdev: device, dead or alive
 *
 * This waits until all its users have let go.
 */
void mynic_ib_unregister(struct mynic_dev *mdev)
{
	const char *name = dev_name(&mdev->ibdev->ibdev.dev);

	/* It was renamed perhaps, but is not to be taken for a pattern */
	if (!strchr(name, '%'))
		strscpy(mdev->ibdev_name, name);
	ib_unregister_device(&mdev->ibdev->ibdev);
	mynic_dm_flush(mdev);
	put_page(mdev->ibdev->gid_page);
	ib_dealloc_device(&mdev->ibdev->ibdev);
	mdev->ibdev = NULL;
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

static struct mynic_dev *mynic_alloc(struct pci_dev *pdev)
{
	struct mynic_dev *mdev;

	mdev = kzalloc_obj(*mdev);
	if (!mdev)
		return NULL;
	mdev->pdev = pdev;
	mutex_init(&mdev->gid_lock);
	INIT_LIST_HEAD(&mdev->parked);
	spin_lock_init(&mdev->parked_lock);
	mynic_health_init(mdev);
	mynic_recover_init(mdev);
	strscpy(mdev->ibdev_name, MYNIC_IB_NAME);
	xa_init_flags(&mdev->cqs, XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&mdev->qps, XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&mdev->srqs, XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&mdev->rwqs, XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&mdev->odps, XA_FLAGS_LOCK_IRQ);
	ida_init(&mdev->uars);
	mynic_dm_init(mdev);
	return mdev;
}

/* After this nothing runs that uses the device, and it uses no memory */
static void mynic_quiesce(struct mynic_dev *mdev)
{
	mynic_recover_fini(mdev);
	mynic_health_fini(mdev);
	/* These may give up memory that a dead device was told of */
	flush_workqueue(mdev->fault_wq);
	pci_clear_master(mdev->pdev);
	mynic_unpark(mdev);
}

static int mynic_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct mynic_dev *mdev;
	int ret;

	mdev = mynic_alloc(pdev);
	if (!mdev)
		return -ENOMEM;
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
	ret = mynic_admin_alloc(mdev);
	if (ret)
		goto err_pci;
	ret = mynic_devlink_alloc(mdev);
	if (ret)
		goto err_admin;
	ret = mynic_netdev_alloc(mdev);
	if (ret)
		goto err_devlink;
	ret = mynic_irqs_request(mdev);
	if (ret)
		goto err_netdev;
	ret = mynic_hw_up(mdev);
	if (ret)
		goto err_quiesce;
	ret = mynic_netdev_register(mdev);
	if (ret)
		goto err_hw;
	mutex_lock(&mdev->state_lock);
	ret = mynic_ib_register(mdev);
	mutex_unlock(&mdev->state_lock);
	if (ret)
		goto err_unregister;
	/* Before a death can be reported */
	devlink_register(mdev->devlink);
	mutex_lock(&mdev->state_lock);
	mynic_set_up(mdev);
	mutex_unlock(&mdev->state_lock);
	mynic_sleep_init(mdev);
	return 0;

err_unregister:
	mynic_netdev_unregister(mdev);
err_hw:
	mynic_hw_down(mdev);
err_quiesce:
	mynic_quiesce(mdev);
	mynic_irqs_free(mdev);
err_netdev:
	mynic_netdev_free(mdev);
err_devlink:
	mynic_devlink_free(mdev);
err_admin:
	mynic_admin_free(mdev);
err_pci:
	mynic_pci_fini(mdev);
err_free:
	mynic_free(mdev);
	return ret;
}

static void mynic_remove(struct pci_dev *pdev)
{
	struct mynic_dev *mdev = pci_get_drvdata(pdev);

	mynic_sleep_fini(mdev);
	mynic_quiesce(mdev);
	devlink_unregister(mdev->devlink);
	mynic_irqs_free(mdev);
	mynic_netdev_unregister(mdev);
	mynic_netdev_free(mdev);
	mynic_devlink_free(mdev);
	mynic_admin_free(mdev);
	mynic_pci_fini(mdev);
	mynic_free(mdev);
}

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
	.shutdown = mynic_shutdown,
	.err_handler = &mynic_err_handlers,
	.driver.pm = pm_sleep_ptr(&mynic_pm_ops),
};

module_pci_driver(mynic_pci_driver);

MODULE_AUTHOR("The mynic developers");
MODULE_DESCRIPTION("mynic RDMA NIC driver");
MODULE_LICENSE("Dual BSD/GPL");
