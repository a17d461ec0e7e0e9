// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Does to a PCI function, when it is loaded, what the kernel does after an error
 * of the slot, or when the system ends.
 */
#include <linux/module.h>
#include <linux/pci.h>

static char *function;
module_param(function, charp, 0);
MODULE_PARM_DESC(function, "its address, such as 0000:01:00.0");

static char *call;
module_param(call, charp, 0);
MODULE_PARM_DESC(call, "aer or shutdown");

/*
 * A function level reset stands for that of the slot. Other than that, it may
 * leave the configuration space as it was.
 */
static int pci_caller_aer(struct pci_dev *pdev)
{
	const struct pci_error_handlers *handlers = pdev->driver->err_handler;
	int ret;

	if (handlers->error_detected(pdev, pci_channel_io_frozen) !=
	    PCI_ERS_RESULT_NEED_RESET)
		return -EIO;
	ret = pcie_flr(pdev);
	if (ret)
		return ret;
	pci_write_config_word(pdev, PCI_COMMAND, 0);
	if (handlers->slot_reset(pdev) != PCI_ERS_RESULT_RECOVERED)
		return -EIO;
	handlers->resume(pdev);
	return 0;
}

static int pci_caller_call(struct pci_dev *pdev)
{
	if (!pdev->driver)
		return -ENODEV;
	if (!strcmp(call, "aer"))
		return pci_caller_aer(pdev);
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
}

module_init(pci_caller_init);
module_exit(pci_caller_exit);

MODULE_AUTHOR("The mynic developers");
MODULE_DESCRIPTION("Calls of a PCI driver, for tests");
MODULE_LICENSE("Dual BSD/GPL");
