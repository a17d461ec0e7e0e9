// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Looks at what is under way when a mynic is brought down: the work that asks
 * for its clock, and the last health check. That check may find a hang.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "compat.h"
#include "mynic.h"
#include "stuck_command.h"

static char *function;
module_param(function, charp, 0);
MODULE_PARM_DESC(function, "address of the PCI function");

static bool hang;
module_param(hang, bool, 0);
MODULE_PARM_DESC(hang, "the last health check finds a hang");

static unsigned int clocks;
module_param(clocks, uint, 0444);
MODULE_PARM_DESC(clocks, "how often the clock was to be asked for later");

static unsigned int clocks_left;
module_param(clocks_left, uint, 0444);
MODULE_PARM_DESC(clocks_left, "how often also without an RDMA device");

static unsigned int hangs;
module_param(hangs, uint, 0444);
MODULE_PARM_DESC(hangs, "hangs that were found");

static unsigned int hangs_lost;
module_param(hangs_lost, uint, 0444);
MODULE_PARM_DESC(hangs_lost, "hangs that were not remembered");

static unsigned int memory_freed;
module_param(memory_freed, uint, 0444);
MODULE_PARM_DESC(memory_freed, "how often a hung device lost its memory");

static bool down_race_hung;

static bool down_race_is_ours(const struct mynic_dev *mdev)
{
	return !strcmp(pci_name(mdev->pdev), function);
}

/**
 * struct down_race_call - a call for the device
 * @mdev: the device
 * @clock: the clock is to be asked for later
 */
struct down_race_call {
	struct mynic_dev *mdev;
	bool clock;
};

static int down_race_enter(struct kretprobe_instance *instance,
			   struct pt_regs *regs)
{
	struct down_race_call *call = (void *)instance->data;

	call->mdev = (void *)regs_get_kernel_argument(regs, 0);
	if (!down_race_is_ours(call->mdev))
		return 1;
	call->clock = work_busy(&call->mdev->clock.work.work);
	return 0;
}

/* From now on, the device may be reset or freed. */
static int down_race_unregistered(struct kretprobe_instance *instance,
				  struct pt_regs *regs)
{
	const struct down_race_call *call = (void *)instance->data;

	clocks += call->clock;
	clocks_left += delayed_work_pending(&call->mdev->clock.work);
	return 0;
}

static struct kretprobe down_race_unregister_probe = {
	.kp.symbol_name = "mynic_ib_unregister",
	.entry_handler = down_race_enter,
	.handler = down_race_unregistered,
	.data_size = sizeof(struct down_race_call),
};

/* The driver waits for the last health check. */
static int down_race_check(struct kprobe *probe, struct pt_regs *regs)
{
	struct mynic_dev *mdev = (void *)regs_get_kernel_argument(regs, 0);
	struct mynic_admin_slot *slot;

	if (!hang || !down_race_is_ours(mdev))
		return 0;
	/* It has been under way for too long. */
	slot = stuck_command(&mdev->admin, U8_MAX - 1);
	if (!slot)
		return 0;
	mdev->health_due = CHECK_THAT_COUNTS;
	mdev->health_work.work.func(&mdev->health_work.work);
	stuck_command_end(&mdev->admin, slot);
	hangs++;
	down_race_hung = true;
	return 0;
}

static struct kprobe down_race_check_probe = {
	.symbol_name = "mynic_health_stop",
	.pre_handler = down_race_check,
};

/* Memory that the device may still access is freed. */
static int down_race_unpark(struct kprobe *probe, struct pt_regs *regs)
{
	const struct mynic_dev *mdev =
		(void *)regs_get_kernel_argument(regs, 0);

	if (down_race_hung && down_race_is_ours(mdev))
		memory_freed++;
	return 0;
}

static struct kprobe down_race_unpark_probe = {
	.symbol_name = "mynic_unpark",
	.pre_handler = down_race_unpark,
};

static int down_race_down(struct kretprobe_instance *instance,
			  struct pt_regs *regs)
{
	const struct down_race_call *call = (void *)instance->data;

	if (down_race_hung)
		hangs_lost += !READ_ONCE(call->mdev->failure.hung);
	down_race_hung = false;
	return 0;
}

static struct kretprobe down_race_down_probe = {
	.kp.symbol_name = "mynic_hw_down",
	.entry_handler = down_race_enter,
	.handler = down_race_down,
	.data_size = sizeof(struct down_race_call),
};

static struct kprobe *down_race_probes[] = {
	&down_race_check_probe,
	&down_race_unpark_probe,
};

static struct kretprobe *down_race_retprobes[] = {
	&down_race_unregister_probe,
	&down_race_down_probe,
};

static int __init down_race_init(void)
{
	int ret;

	if (!function)
		return -EINVAL;
	ret = register_kretprobes(down_race_retprobes,
				  ARRAY_SIZE(down_race_retprobes));
	if (ret)
		return ret;
	ret = register_kprobes(down_race_probes, ARRAY_SIZE(down_race_probes));
	if (ret)
		unregister_kretprobes(down_race_retprobes,
				      ARRAY_SIZE(down_race_retprobes));
	return ret;
}

static void __exit down_race_exit(void)
{
	unregister_kprobes(down_race_probes, ARRAY_SIZE(down_race_probes));
	unregister_kretprobes(down_race_retprobes,
			      ARRAY_SIZE(down_race_retprobes));
}

module_init(down_race_init);
module_exit(down_race_exit);

MODULE_AUTHOR("The mynic developers");
MODULE_DESCRIPTION("Looks at a mynic that is brought down, for tests");
MODULE_LICENSE("Dual BSD/GPL");
