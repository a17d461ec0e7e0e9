// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * When it is loaded, handles a PCI function as the kernel does after an error.
 * The error froze the slot, did no harm, or is one that the slot does not survive.
 * Or it does so as at the shutdown of the system, or resets the function while the
 * system goes to sleep.
 */
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/suspend.h>

static char *function;
module_param(function, charp, 0);
MODULE_PARM_DESC(function, "its address, such as 0000:01:00.0");

static char *call;
module_param(call, charp, 0);
MODULE_PARM_DESC(call, "frozen, harmless, lost, shutdown or asleep");

static struct pci_dev *pci_caller_pdev;

static int pci_caller_error(struct pci_dev *pdev, pci_channel_state_t state,
			    pci_ers_result_t answer)
{
	const struct pci_error_handlers *handlers = pdev->driver->err_handler;

	return handlers->error_detected(pdev, state) == answer ? 0 : -EIO;
}

/*
 * A function level reset replaces that of the slot. Unlike that, it may keep
 * configuration space.
 */
static int pci_caller_frozen(struct pci_dev *pdev)
{
	const struct pci_error_handlers *handlers = pdev->driver->err_handler;
	int ret;

	ret = pci_caller_error(pdev, pci_channel_io_frozen,
			       PCI_ERS_RESULT_NEED_RESET);
	if (!ret)
		ret = pcie_flr(pdev);
	if (ret)
		return ret;
	pci_write_config_word(pdev, PCI_COMMAND, 0);
	if (handlers->slot_reset(pdev) != PCI_ERS_RESULT_RECOVERED)
		return -EIO;
	handlers->resume(pdev);
	return 0;
}

static int pci_caller_harmless(struct pci_dev *pdev)
{
	int ret;

	ret = pci_caller_error(pdev, pci_channel_io_normal,
			       PCI_ERS_RESULT_CAN_RECOVER);
	if (!ret)
		pdev->driver->err_handler->resume(pdev);
	return ret;
}

static int pci_caller_lost(struct pci_dev *pdev)
{
	return pci_caller_error(pdev, pci_channel_io_perm_failure,
				PCI_ERS_RESULT_DISCONNECT);
}

static int pci_caller_is_rdma(struct device *dev, void *unused)
{
	return dev->class && !strcmp(dev->class->name, "infiniband");
}

/* An RDMA device that the reset brings back keeps the system awake. */
static int pci_caller_pm(struct notifier_block *nb, unsigned long action,
			 void *unused)
{
	int ret;

	if (action != PM_SUSPEND_PREPARE)
		return NOTIFY_DONE;
	ret = pci_reset_function(pci_caller_pdev);
	if (!ret && device_for_each_child(&pci_caller_pdev->dev, NULL,
					  pci_caller_is_rdma))
		ret = -EBUSY;
	return notifier_from_errno(ret);
}

/* It is called after the driver. */
static struct notifier_block pci_caller_nb = {
	.notifier_call = pci_caller_pm,
	.priority = -1,
};

static int pci_caller_asleep(struct pci_dev *pdev)
{
	pci_caller_pdev = pci_dev_get(pdev);
	return register_pm_notifier(&pci_caller_nb);
}

static int pci_caller_call(struct pci_dev *pdev)
{
	if (!pdev->driver)
		return -ENODEV;
	if (!strcmp(call, "asleep"))
		return pci_caller_asleep(pdev);
	if (!strcmp(call, "frozen"))
		return pci_caller_frozen(pdev);
	if (!strcmp(call, "harmless"))
		return pci_caller_harmless(pdev);
	if (!strcmp(call, "lost"))
		return pci_caller_lost(pdev);
	if (strcmp(call, "shutdown"))
		return -EINVAL;
	pdev->driver->shutdown(pdev);
	return 0;
}

static int __init pci_caller_init(void)
{
	unsigned int domain, bus, slot, number;
	struct pci_dev *pdev;
	int ret;

	if (!function || !call ||
	    sscanf(function, "%x:%x:%x.%x", &domain, &bus, &slot, &number) != 4)
		return -EINVAL;
	pdev = pci_get_domain_bus_and_slot(domain, bus,
					   PCI_DEVFN(slot, number));
	if (!pdev)
		return -ENODEV;
	device_lock(&pdev->dev);
	ret = pci_caller_call(pdev);
	device_unlock(&pdev->dev);
	pci_dev_put(pdev);
	return ret;
}

static void __exit pci_caller_exit(void)
{
	if (!pci_caller_pdev)
		return;
	unregister_pm_notifier(&pci_caller_nb);
	pci_dev_put(pci_caller_pdev);
}

module_init(pci_caller_init);
module_exit(pci_caller_exit);

MODULE_AUTHOR("The mynic developers");
MODULE_DESCRIPTION("Calls of a PCI driver, for tests");
MODULE_LICENSE("Dual BSD/GPL");
