// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Makes health checks of a mynic come late, as on a machine without a processor
 * to spare. Loading succeeds if the driver counts those that it should.
 */
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "compat.h"
#include "mynic.h"
#include "stuck_command.h"

static char *device;
module_param(device, charp, 0);
MODULE_PARM_DESC(device, "RDMA device");

static int late_check_result = -ENODEV;

/* The age of a command that nobody answers, after checks one by one */
static const struct {
	bool late;
	u8 age;
} late_checks[] = {
	{ false, 1 },
	/* One of four in a row counts. */
	{ true, 1 },
	{ true, 1 },
	{ true, 1 },
	{ true, 2 },
	{ true, 2 },
	/* The end of the row */
	{ false, 3 },
	{ true, 3 },
	{ true, 3 },
	{ true, 3 },
	{ false, 4 },
};

/* A check ages all commands. Those of the device are under way for no time. */
static void late_check_spare(struct mynic_admin *admin,
			     const struct mynic_admin_slot *stuck)
{
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&admin->lock, flags);
	for (i = 0; i < MYNIC_AQ_SIZE; i++)
		if (&admin->slots[i] != stuck)
			admin->slots[i].age = 0;
	spin_unlock_irqrestore(&admin->lock, flags);
}

/* Do a check that was due at some time. It asks for the next one. */
static int late_check_do(struct mynic_dev *mdev, unsigned long due,
			 const struct mynic_admin_slot *slot)
{
	unsigned long now = jiffies;

	late_check_spare(&mdev->admin, slot);
	mdev->health_due = due;
	mdev->health_work.work.func(&mdev->health_work.work);
	late_check_spare(&mdev->admin, slot);
	return time_before(mdev->health_due, now + HZ / 4) ? -EDOM : 0;
}

static int late_check_count(struct mynic_dev *mdev,
			    const struct mynic_admin_slot *slot)
{
	unsigned int i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(late_checks); i++) {
		ret = late_check_do(mdev,
				    late_checks[i].late ? jiffies - HZ / 5 :
							  CHECK_THAT_COUNTS,
				    slot);
		if (ret)
			return ret;
		if (slot->age == late_checks[i].age)
			continue;
		pr_info("late_check: check %u left the age at %u\n", i,
			slot->age);
		return -EBADMSG;
	}
	return 0;
}

/* A check that is a little late counts. Try until this takes no longer. */
static int late_check_little(struct mynic_dev *mdev,
			     const struct mynic_admin_slot *slot)
{
	unsigned long due;
	int ret, age;

	do {
		age = slot->age;
		mdev->health_late = 0;
		due = jiffies - HZ / 16;
		ret = late_check_do(mdev, due, slot);
		if (ret || slot->age == age + 1)
			return ret;
		cond_resched();
	} while (time_after(jiffies, due + HZ / 8));
	return -EBADMSG;
}

/* The driver does no checks meanwhile. */
static int late_check_test(struct mynic_dev *mdev)
{
	struct mynic_admin_slot *slot;
	int ret = -EBUSY;

	disable_delayed_work_sync(&mdev->health_work);
	slot = stuck_command(&mdev->admin, 0);
	if (slot) {
		ret = late_check_count(mdev, slot) ?:
			      late_check_little(mdev, slot);
		stuck_command_end(&mdev->admin, slot);
	}
	enable_delayed_work(&mdev->health_work);
	queue_delayed_work(mdev->alive_wq, &mdev->health_work, 0);
	return ret;
}

static int late_check_add(struct ib_device *ibdev)
{
	if (!strcmp(ibdev->name, device))
		late_check_result = late_check_test(to_mdev(ibdev));
	return -EOPNOTSUPP;
}

static struct ib_client late_check_client = {
	.name = "mynic_late_check",
	.add = late_check_add,
};

static int __init late_check_init(void)
{
	int ret;

	if (!device)
		return -EINVAL;
	ret = ib_register_client(&late_check_client);
	if (ret)
		return ret;
	if (late_check_result)
		ib_unregister_client(&late_check_client);
	return late_check_result;
}

static void __exit late_check_exit(void)
{
	ib_unregister_client(&late_check_client);
}

module_init(late_check_init);
module_exit(late_check_exit);

MODULE_AUTHOR("The mynic developers");
MODULE_DESCRIPTION("Health checks of a mynic that come late, for tests");
MODULE_LICENSE("Dual BSD/GPL");
