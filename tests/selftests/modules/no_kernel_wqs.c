// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Hides from the driver that devices have WQs of the kernel, as those of hardware
 * version 1.0 have none. Functions that are bound while it is loaded do without.
 */
#include <linux/kprobes.h>
#include <linux/module.h>

#include "compat.h"
#include "mynic.h"

static int no_kernel_wqs_enter(struct kretprobe_instance *instance,
			       struct pt_regs *regs)
{
	*(struct mynic_caps **)instance->data =
		(void *)regs_get_kernel_argument(regs, 1);
	return 0;
}

static int no_kernel_wqs_leave(struct kretprobe_instance *instance,
			       struct pt_regs *regs)
{
	struct mynic_caps *caps = *(struct mynic_caps **)instance->data;

	caps->caps &= ~(u64)MYNIC_CAP_WQ_KERNEL;
	return 0;
}

static struct kretprobe no_kernel_wqs_probe = {
	.kp.symbol_name = "mynic_cmd_query_device",
	.entry_handler = no_kernel_wqs_enter,
	.handler = no_kernel_wqs_leave,
	.data_size = sizeof(struct mynic_caps *),
};

static int __init no_kernel_wqs_init(void)
{
	return register_kretprobe(&no_kernel_wqs_probe);
}

static void __exit no_kernel_wqs_exit(void)
{
	unregister_kretprobe(&no_kernel_wqs_probe);
}

module_init(no_kernel_wqs_init);
module_exit(no_kernel_wqs_exit);

MODULE_AUTHOR("The mynic developers");
MODULE_DESCRIPTION("Hides a capability of mynic, for tests");
MODULE_LICENSE("Dual BSD/GPL");
