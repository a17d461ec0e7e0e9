// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * When the whole device goes up and down: recovery from a fatal error or a hang,
 * resets by others, and system sleep. state.c does it, and health.c finds out
 * that the device is dead.
 */
#include <linux/io.h>
#include <linux/pci.h>
#include <linux/suspend.h>

#include "mynic.h"

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
		mynic_lose(mdev);
		lost = true;
	}
	mutex_unlock(&mdev->state_lock);
	if (lost)
		mynic_devlink_report(mdev, &failure);
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

/* @down: MYNIC_DOWN or MYNIC_ASLEEP, of which the latter lasts longer */
static void mynic_bring_down(struct mynic_dev *mdev, enum mynic_state down)
{
	mutex_lock(&mdev->state_lock);
	if (mdev->state != MYNIC_ASLEEP)
		mynic_stop(mdev, down);
	mutex_unlock(&mdev->state_lock);
}

/*
 * Bring a device up that is in the state @down. If that fails, it is tried
 * again. A device that has not been @reset may have begun to hang while nobody
 * looked.
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
	mynic_ping_anew(mdev);
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
	mynic_ping_anew(mdev);
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
