// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Whether the device has failed, and why. All files that talk to the device
 * report failures here. Failures that nothing reports are found in health.c.
 */
#include "mynic.h"
#include "trace.h"

static const char *const mynic_fatal_names[] = {
	[MYNIC_FATAL_NONE] = "no cause",
	[MYNIC_FATAL_AQ_DMA] = "no access to an admin ring",
	[MYNIC_FATAL_AQ_INDEX] = "a bad index of the admin queue",
	[MYNIC_FATAL_EQ_DMA] = "no access to an event ring",
	[MYNIC_FATAL_INTERNAL] = "an internal error",
};

/* @fatal comes from the device and may have any value. */
const char *mynic_fatal_name(u32 fatal)
{
	return fatal < ARRAY_SIZE(mynic_fatal_names) ?
		       mynic_fatal_names[fatal] :
		       "an unknown cause";
}

/**
 * mynic_get_death() - what the device died of
 * @mdev: device
 *
 * Return: that, all of it by the same death.
 */
struct mynic_death mynic_get_death(struct mynic_dev *mdev)
{
	struct mynic_death death;
	unsigned long flags;

	spin_lock_irqsave(&mdev->death_lock, flags);
	death = mdev->death;
	spin_unlock_irqrestore(&mdev->death_lock, flags);
	return death;
}

/**
 * mynic_hung() - whether the device may hang, so that it must not be read
 * @mdev: device
 *
 * Return: whether it may.
 */
bool mynic_hung(struct mynic_dev *mdev)
{
	return mynic_get_death(mdev).hung;
}

/**
 * mynic_set_hung() - whether the device may hang has become known
 * @mdev: device, dead
 * @hung: it may; else it has been reset
 */
void mynic_set_hung(struct mynic_dev *mdev, bool hung)
{
	unsigned long flags;

	spin_lock_irqsave(&mdev->death_lock, flags);
	mdev->death.hung = hung;
	spin_unlock_irqrestore(&mdev->death_lock, flags);
}

/* Whoever comes first says why. Return: whether nobody came before */
static bool mynic_mark_dead(struct mynic_dev *mdev,
			    const struct mynic_death *how)
{
	unsigned long flags;
	bool first;

	spin_lock_irqsave(&mdev->death_lock, flags);
	first = !test_and_set_bit(MYNIC_DEAD, &mdev->flags);
	if (first)
		mdev->death = *how;
	else
		mdev->death.hung |= how->hung;
	spin_unlock_irqrestore(&mdev->death_lock, flags);
	return first;
}

static __printf(3, 0) void mynic_give_up(struct mynic_dev *mdev,
					 struct mynic_death *how,
					 const char *fmt, va_list args)
{
	vsnprintf(how->why, sizeof(how->why), fmt, args);
	if (!mynic_mark_dead(mdev, how))
		return;
	dev_err(&mdev->pdev->dev, "device failed: %s\n", how->why);
	trace_mynic_death(mdev, how->hung, how->why);
	mynic_admin_abort(mdev);
	queue_work(mdev->alive_wq, &mdev->announce_work);
	queue_work(mdev->recover_wq, &mdev->stop_work);
}

/**
 * mynic_die() - give up a device that violates the specification
 * @mdev: device
 * @fmt: what it has done
 *
 * From now on commands fail, objects are destroyed without the device, and
 * their memory is kept until it has been reset. The device is not accessed
 * here, as it may hang. Work items tell its users, and reset it.
 *
 * Context: any.
 */
void mynic_die(struct mynic_dev *mdev, const char *fmt, ...)
{
	struct mynic_death how = {};
	va_list args;

	va_start(args, fmt);
	mynic_give_up(mdev, &how, fmt, args);
	va_end(args);
}

void mynic_hang(struct mynic_dev *mdev, const char *fmt, ...)
{
	struct mynic_death how = { .hung = true };
	va_list args;

	va_start(args, fmt);
	mynic_give_up(mdev, &how, fmt, args);
	va_end(args);
}

void mynic_fatal(struct mynic_dev *mdev, u32 fatal, const char *fmt, ...)
{
	struct mynic_death how = { .fatal = fatal };
	va_list args;

	va_start(args, fmt);
	mynic_give_up(mdev, &how, fmt, args);
	va_end(args);
}

/*
 * Make the device dead for its users. The caller brings it down. @hung: its
 * registers must not be read.
 */
void mynic_abandon(struct mynic_dev *mdev, bool hung)
{
	const struct mynic_death how = { .hung = hung };

	if (!mynic_mark_dead(mdev, &how))
		return;
	trace_mynic_death(mdev, hung, "it is taken away");
	mynic_admin_abort(mdev);
	queue_work(mdev->alive_wq, &mdev->announce_work);
}

/**
 * mynic_bury() - have the device be dead, or down, for all that is to come
 * @mdev: device, of which all who use it know by now
 *
 * Return: whether it may hang.
 */
bool mynic_bury(struct mynic_dev *mdev)
{
	const struct mynic_death how = {};

	mynic_mark_dead(mdev, &how);
	return mynic_hung(mdev);
}

/**
 * mynic_revive() - have the device be alive
 * @mdev: device, which has been reset
 *
 * Return: 0, or -EIO if it has been lost again.
 */
int mynic_revive(struct mynic_dev *mdev)
{
	unsigned long flags;
	int ret = -EIO;

	spin_lock_irqsave(&mdev->death_lock, flags);
	if (!mdev->death.hung) {
		mdev->death = (struct mynic_death){};
		clear_bit(MYNIC_DEAD, &mdev->flags);
		ret = 0;
	}
	spin_unlock_irqrestore(&mdev->death_lock, flags);
	return ret;
}

/* There are no commands before the device is up. */
void mynic_fail_init(struct mynic_dev *mdev)
{
	spin_lock_init(&mdev->death_lock);
	set_bit(MYNIC_DEAD, &mdev->flags);
}
