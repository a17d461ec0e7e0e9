// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The PCI driver: probing and removal. Bringing a device up and down is in
 * recover.c.
 */
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <net/devlink.h>

#include "cmd.h"

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

/* Those that are not allocated yet are NULL. */
static void mynic_wqs_free(struct mynic_dev *mdev)
{
	if (mdev->fault_wq)
		destroy_workqueue(mdev->fault_wq);
	if (mdev->recover_wq)
		destroy_workqueue(mdev->recover_wq);
	if (mdev->alive_wq)
		destroy_workqueue(mdev->alive_wq);
}

/*
 * None of them is bound to a processor, as a processor may spin for the device.
 * Work of @alive_wq waits neither for memory nor for the others' work. Work of
 * @recover_wq waits for it, for work of the RDMA core that may need memory, and
 * for the device.
 * Work of @fault_wq may wait for ever. No process has much of it, and the limit
 * is for all together.
 */
static int mynic_wqs_alloc(struct mynic_dev *mdev)
{
	mdev->alive_wq =
		alloc_workqueue("mynic_alive", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	mdev->recover_wq = alloc_workqueue("mynic_recover", WQ_UNBOUND, 0);
	mdev->fault_wq =
		alloc_workqueue("mynic_fault", WQ_UNBOUND, WQ_MAX_ACTIVE);
	return mdev->alive_wq && mdev->recover_wq && mdev->fault_wq ? 0 :
								      -ENOMEM;
}

static void mynic_free(struct mynic_dev *mdev)
{
	mynic_wqs_free(mdev);
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
	mutex_init(&mdev->pma_lock);
	INIT_LIST_HEAD(&mdev->parked);
	spin_lock_init(&mdev->parked_lock);
	INIT_LIST_HEAD(&mdev->pagers);
	spin_lock_init(&mdev->pager_lock);
	mynic_fail_init(mdev);
	mynic_health_init(mdev);
	mynic_recover_init(mdev);
	strscpy(mdev->ibdev_name, MYNIC_IB_NAME);
	strscpy(mdev->node_desc, KBUILD_MODNAME);
	xa_init_flags(&mdev->cqs, XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&mdev->qps, XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&mdev->srqs, XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&mdev->rwqs, XA_FLAGS_LOCK_IRQ);
	xa_init_flags(&mdev->odps, XA_FLAGS_LOCK_IRQ);
	ida_init(&mdev->uars);
	mynic_dm_init(mdev);
	return mdev;
}

/* Afterwards nothing uses the device, and the device uses no memory. */
static void mynic_quiesce(struct mynic_dev *mdev)
{
	mynic_recover_fini(mdev);
	mynic_health_fini(mdev);
	pci_clear_master(mdev->pdev);
	mynic_unpark(mdev);
	/* Page faults under way may park memory. They may take long. */
	flush_workqueue(mdev->fault_wq);
	mynic_unpark(mdev);
}

/* Bring the hardware up, and let its users in. */
static int mynic_start(struct mynic_dev *mdev)
{
	int ret;

	ret = mynic_hw_up(mdev);
	if (ret)
		return ret;
	ret = mynic_netdev_register(mdev);
	if (ret)
		goto err_hw;
	mutex_lock(&mdev->state_lock);
	ret = mynic_ib_register(mdev);
	mutex_unlock(&mdev->state_lock);
	if (ret)
		goto err_unregister;
	/* Register before a dead device can be reported. */
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
	return ret;
}

static int mynic_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct mynic_dev *mdev;
	int ret;

	mdev = mynic_alloc(pdev);
	if (!mdev)
		return -ENOMEM;
	pci_set_drvdata(pdev, mdev);

	/* mynic_free() undoes these two, whatever they return. */
	ret = mynic_clock_init(mdev);
	if (ret)
		goto err_free;
	ret = mynic_wqs_alloc(mdev);
	if (ret)
		goto err_free;
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
	mdev->netdev->ethtool_ops = &mynic_ethtool_ops;
	ret = mynic_irqs_request(mdev);
	if (ret)
		goto err_netdev;
	ret = mynic_start(mdev);
	if (ret)
		goto err_quiesce;
	return 0;

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
