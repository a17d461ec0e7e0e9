// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Finding out whether the device is alive, and telling its users if not.
 * Recovery is in recover.c.
 *
 * Reading a register of a device that hangs would stop the processor, and in a
 * virtual machine all others. So a hang is found by admin commands, whose
 * completions are in memory.
 */
#include <linux/io.h>

#include "cmd.h"

/*
 * Short enough for MYNIC_ADMIN_MAX_AGE. A guest that is paused makes no checks,
 * so it does not mistake its own pause for the device's.
 */
#define MYNIC_HEALTH_PERIOD (HZ / 4)
/* Of late checks in a row, one in this many counts. */
#define MYNIC_HEALTH_LATE 4
/* What the RDMA core may take before user contexts are told without it */
#define MYNIC_TELL_DELAY HZ

/*
 * Check the device after an interrupt. If it seems to be gone, it may only be
 * slow. If it is really gone, it does not answer a command either. Callable
 * from any context.
 */
void mynic_check_status(struct mynic_dev *mdev)
{
	u32 status = readl(mdev->regs + MYNIC_REG_STATUS);
	u32 fatal;

	if (PCI_POSSIBLE_ERROR(status) || mynic_dead(mdev))
		return;
	if (status & MYNIC_STATUS_FATAL) {
		fatal = readl(mdev->regs + MYNIC_REG_FATAL);
		mynic_fail_fatal(mdev, fatal, "it reports %s (%u)",
				 mynic_fatal_name(fatal), fatal);
	} else if (!(status & MYNIC_STATUS_ENABLED)) {
		mynic_fail_device(mdev, "it was reset");
	}
}

/*
 * Whether this check counts against the device. If it is late, the machine had
 * no processor for the driver, and perhaps none for a device made of software.
 * If all checks are late, a hang must still be found.
 */
static bool mynic_health_counts(struct mynic_dev *mdev)
{
	if (time_before_eq(jiffies, mdev->health_due + MYNIC_HEALTH_PERIOD / 2))
		mdev->health_late = 0;
	else
		mdev->health_late++;
	return mdev->health_late % MYNIC_HEALTH_LATE == 0;
}

static void mynic_health_queue(struct mynic_dev *mdev, unsigned long delay)
{
	mdev->health_due = jiffies + delay;
	queue_delayed_work(mdev->alive_wq, &mdev->health_work, delay);
}

static void mynic_health_work(struct work_struct *work)
{
	struct mynic_dev *mdev = container_of(to_delayed_work(work),
					      struct mynic_dev, health_work);
	struct mynic_admin_stuck stuck;

	if (mynic_admin_check(mdev, mynic_health_counts(mdev), &stuck))
		mynic_fail_hung(mdev, "it does not answer %s %u",
				mynic_cmd_name(stuck.opcode), stuck.number);
	if (!mynic_dead(mdev))
		mynic_health_queue(mdev, MYNIC_HEALTH_PERIOD);
}

void mynic_health_start(struct mynic_dev *mdev)
{
	mynic_health_queue(mdev, 0);
}

/* The device is marked dead, so that the check does not start again. */
void mynic_health_stop(struct mynic_dev *mdev)
{
	cancel_delayed_work_sync(&mdev->health_work);
}

/*
 * The RDMA core tells user contexts when it disassociates them. But first it
 * takes the device away from kernel consumers that came later, which may take
 * long.
 */
static void mynic_tell_work(struct work_struct *work)
{
	struct mynic_dev *mdev = container_of(to_delayed_work(work),
					      struct mynic_dev, tell_work);
	struct ib_event event = {
		.device = &mdev->ibdev->ibdev,
		.event = IB_EVENT_DEVICE_FATAL,
	};

	ib_dispatch_event(&event);
}

/*
 * The device is dead. If it may hang, consumers in the kernel delay the RDMA
 * core for the time of a reset, see mynic_stop().
 */
void mynic_tell_soon(struct mynic_dev *mdev)
{
	bool late = mynic_hung(mdev) && mynic_has_consumers(mdev);

	queue_delayed_work(mdev->alive_wq, &mdev->tell_work,
			   late ? 0 : MYNIC_TELL_DELAY);
}

/* From now on contexts can be told: &mynic_dev.ibdev is there. */
void mynic_tell_start(struct mynic_dev *mdev)
{
	enable_delayed_work(&mdev->tell_work);
	/* It may have failed before. */
	if (mynic_dead(mdev))
		mynic_tell_soon(mdev);
}

/*
 * There are no contexts left. An event that is on its way to them refers to the
 * RDMA device.
 */
void mynic_tell_stop(struct mynic_dev *mdev)
{
	disable_delayed_work_sync(&mdev->tell_work);
	flush_workqueue(ib_wq);
}

void mynic_health_init(struct mynic_dev *mdev)
{
	INIT_DELAYED_WORK(&mdev->health_work, mynic_health_work);
	INIT_DELAYED_WORK(&mdev->tell_work, mynic_tell_work);
	disable_delayed_work(&mdev->tell_work);
}

/* Stop telling users. The device is down for good. */
void mynic_health_fini(struct mynic_dev *mdev)
{
	disable_work_sync(&mdev->announce_work);
}
