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

/* How the device has failed. Only its member hung may be of a later failure. */
struct mynic_failure mynic_read_failure(struct mynic_dev *mdev)
{
	struct mynic_failure failure;
	unsigned long flags;

	spin_lock_irqsave(&mdev->failure_lock, flags);
	failure = mdev->failure;
	spin_unlock_irqrestore(&mdev->failure_lock, flags);
	return failure;
}

/* A device that may hang must not be read. */
bool mynic_hung(struct mynic_dev *mdev)
{
	return mynic_read_failure(mdev).hung;
}

/* An answer that came before proves nothing any more. */
static void mynic_mark_hung(struct mynic_dev *mdev)
{
	lockdep_assert_held(&mdev->failure_lock);
	mdev->failure.hung = true;
	mynic_admin_ping_forget(mdev);
}

/* Record whether a dead device may hang. If not, it has been reset. */
void mynic_set_hung(struct mynic_dev *mdev, bool hung)
{
	unsigned long flags;

	spin_lock_irqsave(&mdev->failure_lock, flags);
	if (hung)
		mynic_mark_hung(mdev);
	else
		mdev->failure.hung = false;
	spin_unlock_irqrestore(&mdev->failure_lock, flags);
}

/**
 * mynic_readable() - whether the device may be read
 * @mdev: device, dead; it may have got a command to see whether it answers
 *
 * Return: whether it does not hang, or has answered since it did.
 */
bool mynic_readable(struct mynic_dev *mdev)
{
	unsigned long flags;
	bool hung;

	spin_lock_irqsave(&mdev->failure_lock, flags);
	if (mynic_admin_ping_answered(mdev))
		mdev->failure.hung = false;
	hung = mdev->failure.hung;
	spin_unlock_irqrestore(&mdev->failure_lock, flags);
	return !hung;
}

/*
 * Only the first caller's reason is kept. Whoever finds the device dead can
 * flush the work that announces it. Return whether this is the first.
 */
static bool mynic_mark_dead(struct mynic_dev *mdev,
			    const struct mynic_failure *how, bool announce)
{
	unsigned long flags;
	bool first;

	spin_lock_irqsave(&mdev->failure_lock, flags);
	first = !test_and_set_bit(MYNIC_DEAD, &mdev->flags);
	if (first)
		mdev->failure = *how;
	if (first && announce)
		queue_work(mdev->alive_wq, &mdev->announce_work);
	if (how->hung)
		mynic_mark_hung(mdev);
	spin_unlock_irqrestore(&mdev->failure_lock, flags);
	return first;
}

static __printf(3, 0) void mynic_fail(struct mynic_dev *mdev,
				      struct mynic_failure *how,
				      const char *fmt, va_list args)
{
	vsnprintf(how->why, sizeof(how->why), fmt, args);
	if (!mynic_mark_dead(mdev, how, true))
		return;
	dev_err(&mdev->pdev->dev, "device failed: %s\n", how->why);
	trace_mynic_failure(mdev, how->hung, how->why);
	mynic_admin_slots_abort(mdev);
	queue_work(mdev->recover_wq, &mdev->stop_work);
}

/**
 * mynic_fail_device() - report that the device violates the specification
 * @mdev: device
 * @fmt: what it has done
 *
 * From now on commands fail, objects are destroyed without the device, and
 * their memory is kept until it has been reset. The device is not accessed
 * here, as it may hang. Work items tell its users, and reset it.
 *
 * Context: any.
 */
void mynic_fail_device(struct mynic_dev *mdev, const char *fmt, ...)
{
	struct mynic_failure how = {};
	va_list args;

	va_start(args, fmt);
	mynic_fail(mdev, &how, fmt, args);
	va_end(args);
}

void mynic_fail_hung(struct mynic_dev *mdev, const char *fmt, ...)
{
	struct mynic_failure how = { .hung = true };
	va_list args;

	va_start(args, fmt);
	mynic_fail(mdev, &how, fmt, args);
	va_end(args);
}

void mynic_fail_fatal(struct mynic_dev *mdev, u32 fatal, const char *fmt, ...)
{
	struct mynic_failure how = { .fatal = fatal };
	va_list args;

	va_start(args, fmt);
	mynic_fail(mdev, &how, fmt, args);
	va_end(args);
}

/*
 * Make the device dead for its users. The caller brings it down. @hung: its
 * registers must not be read.
 */
void mynic_fail_removed(struct mynic_dev *mdev, bool hung)
{
	const struct mynic_failure how = { .hung = hung };

	if (!mynic_mark_dead(mdev, &how, true))
		return;
	trace_mynic_failure(mdev, hung, "it is taken away");
	mynic_admin_slots_abort(mdev);
}

/* Mark the device dead while it is brought down. Its users know already. */
void mynic_mark_down(struct mynic_dev *mdev)
{
	const struct mynic_failure how = {};

	mynic_mark_dead(mdev, &how, false);
}

/*
 * The caller is about to give up memory that only a consumer keeps. If the
 * device is dead, wait until it has been told to leave memory alone.
 */
void mynic_wait_quiet(struct mynic_dev *mdev)
{
	if (!mynic_dead(mdev) || mynic_quiet(mdev))
		return;
	/* Pairs with mynic_mark_dead(), which has queued the work by then. */
	spin_lock_irq(&mdev->failure_lock);
	spin_unlock_irq(&mdev->failure_lock);
	flush_work(&mdev->announce_work);
}

/**
 * mynic_mark_alive() - mark the device alive
 * @mdev: device, which has been reset
 *
 * Return: 0, or -EIO if it has been lost again or the system shuts down.
 */
int mynic_mark_alive(struct mynic_dev *mdev)
{
	unsigned long flags;
	int ret = -EIO;

	spin_lock_irqsave(&mdev->failure_lock, flags);
	if (!mdev->failure.hung && !test_bit(MYNIC_SHUT, &mdev->flags)) {
		mdev->failure = (struct mynic_failure){};
		clear_bit(MYNIC_QUIET, &mdev->flags);
		clear_bit(MYNIC_DEAD, &mdev->flags);
		ret = 0;
	}
	spin_unlock_irqrestore(&mdev->failure_lock, flags);
	return ret;
}

/* There are no commands before the device is up. */
void mynic_fail_init(struct mynic_dev *mdev)
{
	spin_lock_init(&mdev->failure_lock);
	set_bit(MYNIC_DEAD, &mdev->flags);
}
