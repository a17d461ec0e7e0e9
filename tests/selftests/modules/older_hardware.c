// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Hides from the driver what devices have since hardware version 1.1. Functions
 * that are bound or reset while it is loaded do without.
 */
#include <linux/kprobes.h>
#include <linux/module.h>

#include "compat.h"
#include "mynic.h"

static int older_hardware_enter(struct kretprobe_instance *instance,
				struct pt_regs *regs)
{
	*(struct mynic_caps **)instance->data =
		(void *)regs_get_kernel_argument(regs, 1);
	return 0;
}

static int older_hardware_leave(struct kretprobe_instance *instance,
				struct pt_regs *regs)
{
	struct mynic_caps *caps = *(struct mynic_caps **)instance->data;

	caps->caps &= ~(u64)(MYNIC_CAP_WQ_KERNEL | MYNIC_CAP_VLAN_INSERT);
	caps->max_comp_cntr = 0;
	return 0;
}

static struct kretprobe older_hardware_probe = {
	.kp.symbol_name = "mynic_cmd_query_device",
	.entry_handler = older_hardware_enter,
	.handler = older_hardware_leave,
	.data_size = sizeof(struct mynic_caps *),
};

static int __init older_hardware_init(void)
{
	return register_kretprobe(&older_hardware_probe);
}

static void __exit older_hardware_exit(void)
{
	unregister_kretprobe(&older_hardware_probe);
}

module_init(older_hardware_init);
module_exit(older_hardware_exit);

MODULE_AUTHOR("The mynic developers");
MODULE_DESCRIPTION("Hides capabilities of mynic, for tests");
MODULE_LICENSE("Dual BSD/GPL");
