// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Bringing the whole device up and down: recovery from a fatal error or a hang,
 * resets by others, and system sleep. The device itself is handled in hw.c, and
 * health.c finds out that it is dead.
 */
#include <linux/io.h>
#include <linux/pci.h>
#include <linux/suspend.h>

#include "mynic.h"
#include "trace.h"

/*
 * First and longest pause between attempts at recovery. A device that hangs is
 * checked for an answer every MYNIC_LISTEN.
 */
#define MYNIC_MIN_PAUSE HZ
#define MYNIC_MAX_PAUSE (30 * HZ)
#define MYNIC_LISTEN (HZ / 2)
/* A device that has been up for longer than this counts as recovered. */
#define MYNIC_STEADY (60 * HZ)

static unsigned long mynic_longer(unsigned long pause)
{
	return clamp(2 * pause, (unsigned long)MYNIC_MIN_PAUSE,
		     (unsigned long)MYNIC_MAX_PAUSE);
}

/*
 * This must not wait for others: those who wait for the device, perhaps with
 * locks held, are released only by this.
 */
static void mynic_announce_work(struct work_struct *work)
{
	struct mynic_dev *mdev =
		container_of(work, struct mynic_dev, announce_work);

	if (!mynic_dead(mdev))
		return;
	netif_carrier_off(mdev->netdev);
	mynic_tell_soon(mdev);
	mynic_hw_quiet(mdev);
	mynic_wake_consumers(mdev);
}

static void mynic_stop(struct mynic_dev *mdev, enum mynic_state state)
{
	lockdep_assert_held(&mdev->state_lock);
	/*
	 * It resets the device. And consumers clean up when their requests fail:
	 * if they lost the RDMA device before that, they would first wait for
	 * timeouts.
	 */
	flush_work(&mdev->announce_work);
	if (mdev->state == MYNIC_UP) {
		mynic_ib_unregister(mdev);
		mynic_netdev_detach(mdev);
		mynic_hw_down(mdev);
	}
	WRITE_ONCE(mdev->state, state);
	trace_mynic_state(mdev, state);
}

static int mynic_start(struct mynic_dev *mdev)
{
	int ret;

	lockdep_assert_held(&mdev->state_lock);
	ret = mynic_hw_up(mdev);
	if (ret)
		goto err;
	ret = mynic_netdev_attach(mdev);
	if (ret)
		goto err_hw;
	ret = mynic_ib_register(mdev);
	if (ret)
		goto err_netdev;
	mynic_set_up(mdev);
	return 0;

err_netdev:
	mynic_netdev_detach(mdev);
err_hw:
	mynic_hw_down(mdev);
err:
	flush_work(&mdev->announce_work);
	return ret;
}

/* The device is up, with network interface and RDMA device. */
void mynic_set_up(struct mynic_dev *mdev)
{
	lockdep_assert_held(&mdev->state_lock);
	WRITE_ONCE(mdev->state, MYNIC_UP);
	trace_mynic_state(mdev, MYNIC_UP);
	mdev->recovered = jiffies;
	/*
	 * If it failed before this, mynic_stop_work() has found nothing to stop.
	 */
	if (mynic_dead(mdev))
		queue_work(mdev->recover_wq, &mdev->stop_work);
}

/* Try to bring a lost device up until that succeeds. */
void mynic_recover_soon(struct mynic_dev *mdev)
{
	queue_delayed_work(mdev->recover_wq, &mdev->recover_work, mdev->pause);
}

/*
 * The device has failed: remove its RDMA device at once, and leave the reset to
 * recover_work.
 */
static void mynic_stop_work(struct work_struct *work)
{
	struct mynic_dev *mdev =
		container_of(work, struct mynic_dev, stop_work);
	struct mynic_failure failure;
	bool lost = false;

	mutex_lock(&mdev->state_lock);
	if (mdev->state == MYNIC_UP && mynic_dead(mdev)) {
		failure = mynic_read_failure(mdev);
		if (time_after(jiffies, mdev->recovered + MYNIC_STEADY))
			mdev->pause = 0;
		else
			mdev->pause = mynic_longer(mdev->pause);
		mynic_stop(mdev, MYNIC_LOST);
		mdev->next_ping = jiffies;
		mdev->ping_pause = 0;
		lost = true;
	}
	mutex_unlock(&mdev->state_lock);
	if (lost)
		mynic_devlink_report(mdev, &failure);
}

/* Return: 0, -EAGAIN if the device is still lost, or -ENODEV. */
static int mynic_try_recover(struct mynic_dev *mdev)
{
	int ret;

	lockdep_assert_held(&mdev->state_lock);
	if (mdev->state != MYNIC_LOST)
		return mdev->state == MYNIC_UP ? 0 : -ENODEV;
	if (!mynic_readable(mdev))
		return -EAGAIN;
	ret = mynic_start(mdev);
	if (ret) {
		dev_err_ratelimited(&mdev->pdev->dev,
				    "device stays down: %pe\n", ERR_PTR(ret));
		mdev->pause = mynic_longer(mdev->pause);
		return -EAGAIN;
	}
	return 0;
}

/*
 * Pauses between probes of a device that hangs grow, but its answer is looked
 * for at short intervals.
 */
static unsigned long mynic_ping(struct mynic_dev *mdev)
{
	lockdep_assert_held(&mdev->state_lock);
	if (mdev->state != MYNIC_LOST || !mynic_hung(mdev))
		return mdev->pause;
	if (time_after_eq(jiffies, mdev->next_ping)) {
		mynic_hw_ping(mdev);
		mdev->ping_pause = mynic_longer(mdev->ping_pause);
		mdev->next_ping = jiffies + mdev->ping_pause;
	}
	return mynic_admin_ping_answered(mdev) ? 0 : MYNIC_LISTEN;
}

static void mynic_recover_work(struct work_struct *work)
{
	struct mynic_dev *mdev = container_of(to_delayed_work(work),
					      struct mynic_dev, recover_work);
	unsigned long delay = 0;
	int ret;

	mutex_lock(&mdev->state_lock);
	ret = mynic_try_recover(mdev);
	if (ret == -EAGAIN)
		delay = mynic_ping(mdev);
	mutex_unlock(&mdev->state_lock);
	if (ret == -EAGAIN)
		queue_delayed_work(mdev->recover_wq, &mdev->recover_work,
				   delay);
	else if (!ret)
		mynic_devlink_recovered(mdev);
}

/*
 * Try once to bring a lost device up. Return: 0 if it is up, -EAGAIN if the
 * attempt failed, -ENODEV if the device should not be up.
 */
int mynic_recover(struct mynic_dev *mdev)
{
	int ret;

	mutex_lock(&mdev->state_lock);
	if (mdev->state == MYNIC_LOST && mynic_hung(mdev) &&
	    !mynic_admin_ping_answered(mdev))
		mynic_hw_ping(mdev);
	ret = mynic_try_recover(mdev);
	mutex_unlock(&mdev->state_lock);
	return ret;
}

/* @down: MYNIC_DOWN or MYNIC_ASLEEP, of which the latter lasts longer */
static void mynic_bring_down(struct mynic_dev *mdev, enum mynic_state down)
{
	mutex_lock(&mdev->state_lock);
	if (mdev->state != MYNIC_ASLEEP)
		mynic_stop(mdev, down);
	mutex_unlock(&mdev->state_lock);
}

/*
 * If that fails, it is tried again. A device that has not been @reset may have
 * begun to hang while nobody looked.
 */
static void mynic_bring_up(struct mynic_dev *mdev, enum mynic_state down,
			   bool reset)
{
	int ret;

	mutex_lock(&mdev->state_lock);
	/* Another function that brought it down brings it up. */
	if (mdev->state != down) {
		mutex_unlock(&mdev->state_lock);
		return;
	}
	mynic_set_hung(mdev, !reset);
	WRITE_ONCE(mdev->state, MYNIC_LOST);
	mdev->next_ping = jiffies;
	mdev->ping_pause = 0;
	ret = mynic_try_recover(mdev);
	mutex_unlock(&mdev->state_lock);
	if (!reset)
		mod_delayed_work(mdev->recover_wq, &mdev->recover_work, 0);
	else if (ret)
		mynic_recover_soon(mdev);
	else
		mynic_devlink_recovered(mdev);
}

/*
 * Consumers release the device in threads of their own, which are frozen before
 * devices are suspended. So bring it down before that.
 */
static int mynic_pm_notify(struct notifier_block *nb, unsigned long action,
			   void *unused)
{
	struct mynic_dev *mdev = container_of(nb, struct mynic_dev, pm_nb);

	switch (action) {
	case PM_SUSPEND_PREPARE:
	case PM_HIBERNATION_PREPARE:
	case PM_RESTORE_PREPARE:
		mynic_bring_down(mdev, MYNIC_ASLEEP);
		break;
	/* If suspending was refused, the device has not been resumed. */
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
	case PM_POST_RESTORE:
		mynic_bring_up(mdev, MYNIC_ASLEEP, false);
		break;
	}
	return NOTIFY_DONE;
}

void mynic_sleep_init(struct mynic_dev *mdev)
{
	mdev->pm_nb.notifier_call = mynic_pm_notify;
	register_pm_notifier(&mdev->pm_nb);
}

void mynic_sleep_fini(struct mynic_dev *mdev)
{
	unregister_pm_notifier(&mdev->pm_nb);
}

void mynic_recover_init(struct mynic_dev *mdev)
{
	mutex_init(&mdev->state_lock);
	INIT_WORK(&mdev->announce_work, mynic_announce_work);
	INIT_WORK(&mdev->stop_work, mynic_stop_work);
	INIT_DELAYED_WORK(&mdev->recover_work, mynic_recover_work);
	mdev->next_ping = jiffies;
}

/* Bring the device down for good. */
void mynic_recover_fini(struct mynic_dev *mdev)
{
	disable_work_sync(&mdev->stop_work);
	disable_delayed_work_sync(&mdev->recover_work);
	mynic_bring_down(mdev, MYNIC_DOWN);
}

static pci_ers_result_t mynic_error_detected(struct pci_dev *pdev,
					     pci_channel_state_t state)
{
	struct mynic_dev *mdev = pci_get_drvdata(pdev);

	if (state == pci_channel_io_normal)
		return PCI_ERS_RESULT_CAN_RECOVER;
	mynic_fail_removed(mdev, true);
	mynic_bring_down(mdev, MYNIC_DOWN);
	return state == pci_channel_io_perm_failure ?
		       PCI_ERS_RESULT_DISCONNECT :
		       PCI_ERS_RESULT_NEED_RESET;
}

/*
 * The function was enabled all the time. Older kernels restore only once what
 * was saved.
 */
static pci_ers_result_t mynic_slot_reset(struct pci_dev *pdev)
{
	pci_restore_state(pdev);
	pci_save_state(pdev);
	mynic_hw_stay_shut(pci_get_drvdata(pdev));
	return PCI_ERS_RESULT_RECOVERED;
}

static void mynic_error_resume(struct pci_dev *pdev)
{
	mynic_bring_up(pci_get_drvdata(pdev), MYNIC_DOWN, true);
}

static void mynic_reset_prepare(struct pci_dev *pdev)
{
	mynic_bring_down(pci_get_drvdata(pdev), MYNIC_DOWN);
}

static void mynic_reset_done(struct pci_dev *pdev)
{
	mynic_bring_up(pci_get_drvdata(pdev), MYNIC_DOWN, true);
}

const struct pci_error_handlers mynic_err_handlers = {
	.error_detected = mynic_error_detected,
	.slot_reset = mynic_slot_reset,
	.resume = mynic_error_resume,
	.reset_prepare = mynic_reset_prepare,
	.reset_done = mynic_reset_done,
};

static int mynic_suspend(struct device *dev)
{
	mynic_bring_down(dev_get_drvdata(dev), MYNIC_ASLEEP);
	return 0;
}

/* Unless the firmware took its power, the device has not been reset. */
static int mynic_resume(struct device *dev)
{
	mynic_bring_up(dev_get_drvdata(dev), MYNIC_ASLEEP,
		       pm_resume_via_firmware());
	return 0;
}

/*
 * There is no thaw: the device stays down while the image of a hibernation is
 * written, as tasks are frozen. mynic_pm_notify() brings it up if that fails.
 */
const struct dev_pm_ops mynic_pm_ops = {
	.suspend = pm_sleep_ptr(mynic_suspend),
	.resume = pm_sleep_ptr(mynic_resume),
	.freeze = pm_sleep_ptr(mynic_suspend),
	.poweroff = pm_sleep_ptr(mynic_suspend),
	.restore = pm_sleep_ptr(mynic_resume),
};

/*
 * The next kernel, which may begin without a reset, must find a device that
 * leaves its memory alone. This waits neither for users of the device, to whom
 * it is dead, nor for somebody who is bringing it up.
 */
void mynic_shutdown(struct pci_dev *pdev)
{
	struct mynic_dev *mdev = pci_get_drvdata(pdev);

	disable_delayed_work(&mdev->recover_work);
	disable_work(&mdev->stop_work);
	mynic_hw_shut(mdev);
}
