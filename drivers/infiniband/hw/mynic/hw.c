// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The device below network interface and RDMA device: reset, bring-up and
 * bring-down of its admin queue and event queues.
 */
#include <linux/delay.h>
#include <linux/iopoll.h>

#include "mynic.h"
#include "trace.h"

/* Much longer than a reset may take */
#define MYNIC_RESET_TIMEOUT_US (5 * USEC_PER_SEC)
/* Longest time for a reset, and then for ENABLE and a command */
#define MYNIC_RESET_MS 1000
#define MYNIC_ENABLE_MS 100

static int mynic_hw_wait_reset(struct mynic_dev *mdev)
{
	u32 status;
	int ret;

	writel(MYNIC_CONTROL_RESET, mdev->regs + MYNIC_REG_CONTROL);
	ret = readl_poll_timeout(mdev->regs + MYNIC_REG_STATUS, status,
				 status & MYNIC_STATUS_READY, USEC_PER_MSEC,
				 MYNIC_RESET_TIMEOUT_US);
	if (!ret && PCI_POSSIBLE_ERROR(status))
		ret = -ENODEV;
	trace_mynic_reset(mdev, ret);
	if (ret)
		dev_err(&mdev->pdev->dev, "no end of reset, status %#x\n",
			status);
	return ret;
}

/*
 * Return: 0, -ENODEV if the device is gone or is no mynic device, -ETIMEDOUT.
 */
static int mynic_hw_reset(struct mynic_dev *mdev)
{
	struct device *dev = &mdev->pdev->dev;
	u32 magic, version;

	magic = readl(mdev->regs + MYNIC_REG_MAGIC);
	version = readl(mdev->regs + MYNIC_REG_VERSION);
	if (magic != MYNIC_MAGIC || version >> 16 != MYNIC_VERSION_MAJOR) {
		dev_err(dev, "unknown device: magic %#x, version %#x\n", magic,
			version);
		return -ENODEV;
	}
	return mynic_hw_wait_reset(mdev);
}

/*
 * Features for processes. The kernel's own QPs need none, as they always ring.
 */
#define MYNIC_DRIVER_FEATURES ((u32)MYNIC_FEATURE_DB_SUPPRESS)

static int mynic_hw_allow(struct mynic_dev *mdev)
{
	unsigned long flags;
	int ret = -ESHUTDOWN;

	spin_lock_irqsave(&mdev->failure_lock, flags);
	if (!test_bit(MYNIC_SHUT, &mdev->flags)) {
		writel(MYNIC_CONTROL_ENABLE, mdev->regs + MYNIC_REG_CONTROL);
		ret = 0;
	}
	spin_unlock_irqrestore(&mdev->failure_lock, flags);
	return ret;
}

/*
 * Let the device access memory, for as long as the driver is bound: its sign of
 * life is in memory.
 */
static void mynic_hw_set_master(struct mynic_dev *mdev)
{
	unsigned long flags;

	spin_lock_irqsave(&mdev->failure_lock, flags);
	if (!test_bit(MYNIC_SHUT, &mdev->flags))
		pci_set_master(mdev->pdev);
	spin_unlock_irqrestore(&mdev->failure_lock, flags);
}

static int mynic_hw_enable(struct mynic_dev *mdev)
{
	u32 status;
	int ret;

	mdev->features = readl(mdev->regs + MYNIC_REG_FEATURES_LO) &
			 MYNIC_DRIVER_FEATURES;
	writel(mdev->features, mdev->regs + MYNIC_REG_DRV_FEATURES_LO);
	writel(0, mdev->regs + MYNIC_REG_DRV_FEATURES_HI);
	ret = mynic_hw_allow(mdev);
	if (ret)
		return ret;
	ret = readl_poll_timeout(mdev->regs + MYNIC_REG_STATUS, status,
				 status & (MYNIC_STATUS_ENABLED |
					   MYNIC_STATUS_FATAL),
				 USEC_PER_MSEC, MYNIC_RESET_TIMEOUT_US);
	if (!ret && (PCI_POSSIBLE_ERROR(status) || status & MYNIC_STATUS_FATAL))
		ret = -EIO;
	if (ret)
		dev_err(&mdev->pdev->dev, "cannot be enabled, status %#x\n",
			status);
	return ret;
}

/*
 * First stop commands, then accesses. A device that hangs is left alone: it is
 * reset when it answers again, and until then its memory is kept.
 */
static void mynic_hw_stop(struct mynic_dev *mdev)
{
	mynic_mark_down(mdev);
	mynic_health_stop(mdev);
	mynic_admin_slots_abort(mdev);
	/* Only now, as the last health check may have found a hang. */
	if (mynic_hung(mdev))
		return;
	if (!mynic_hw_wait_reset(mdev))
		mynic_unpark(mdev);
	else
		mynic_set_hung(mdev, true);
}

/* Reset the device and bring it up. It is down, and not known to hang. */
int mynic_hw_up(struct mynic_dev *mdev)
{
	int ret;

	/* It resets the device, too, and may find that it hangs. */
	flush_work(&mdev->announce_work);
	if (mynic_hung(mdev))
		return -EIO;
	ret = mynic_hw_reset(mdev);
	if (ret) {
		mynic_set_hung(mdev, true);
		return ret;
	}
	mynic_hw_set_master(mdev);
	mynic_admin_setup(mdev);
	memset(mdev->gids, 0, sizeof(mdev->gids));
	ret = mynic_hw_enable(mdev);
	if (ret)
		goto err;
	/* For mynic_slot_reset(): not all kernels keep it by themselves. */
	pci_save_state(mdev->pdev);
	ret = mynic_mark_alive(mdev);
	if (ret)
		goto err;
	mynic_unpark(mdev);
	mynic_health_start(mdev);
	ret = mynic_eqs_init(mdev);
	if (ret)
		goto err;
	return 0;

err:
	mynic_hw_stop(mdev);
	return ret;
}

/* Bring the device down. It may be dead. */
void mynic_hw_down(struct mynic_dev *mdev)
{
	mynic_eqs_fini(mdev);
	mynic_hw_stop(mdev);
}

/**
 * mynic_hw_quiet() - tell a dead device to leave memory alone
 * @mdev: device
 *
 * One that seems to hang may only be slow with commands, and go on with
 * messages. Its registers are not read, so it is given the time for a reset.
 * One that really hangs finds the reset first of all. If a reset does not end,
 * consumers are released all the same: nothing more can be done.
 *
 * Context: may sleep.
 */
void mynic_hw_quiet(struct mynic_dev *mdev)
{
	if (mynic_hung(mdev)) {
		writel(MYNIC_CONTROL_RESET, mdev->regs + MYNIC_REG_CONTROL);
		msleep(MYNIC_RESET_MS);
	} else if (mynic_hw_wait_reset(mdev)) {
		mynic_set_hung(mdev, true);
	}
	set_bit(MYNIC_QUIET, &mdev->flags);
}

/**
 * mynic_hw_shut() - stop the device's memory accesses for good
 * @mdev: device; somebody may be bringing it up
 *
 * A device that hangs keeps bus mastering, as taking it away would read from
 * the device. It finds the reset first of all.
 */
void mynic_hw_shut(struct mynic_dev *mdev)
{
	unsigned long flags;

	spin_lock_irqsave(&mdev->failure_lock, flags);
	set_bit(MYNIC_SHUT, &mdev->flags);
	spin_unlock_irqrestore(&mdev->failure_lock, flags);
	/* From now on nobody can mark it alive. */
	mynic_fail_removed(mdev, false);
	writel(MYNIC_CONTROL_RESET, mdev->regs + MYNIC_REG_CONTROL);
	if (!mynic_hung(mdev))
		pci_clear_master(mdev->pdev);
}

/* Bus mastering may have been restored after mynic_hw_shut(). */
void mynic_hw_stay_shut(struct mynic_dev *mdev)
{
	if (test_bit(MYNIC_SHUT, &mdev->flags))
		pci_clear_master(mdev->pdev);
}

/*
 * Probe a device that hangs. No register is read, as that would stop the
 * processor. The device is told to reset itself and to execute a command, whose
 * completion is in memory. Sleeps for about a second.
 */
void mynic_hw_ping(struct mynic_dev *mdev)
{
	writel(MYNIC_CONTROL_RESET, mdev->regs + MYNIC_REG_CONTROL);
	msleep(MYNIC_RESET_MS);
	mynic_admin_setup(mdev);
	writel(0, mdev->regs + MYNIC_REG_DRV_FEATURES_LO);
	writel(0, mdev->regs + MYNIC_REG_DRV_FEATURES_HI);
	if (mynic_hw_allow(mdev))
		return;
	msleep(MYNIC_ENABLE_MS);
	mynic_admin_ping(mdev);
	msleep(MYNIC_ENABLE_MS);
	trace_mynic_ping(mdev,
			 mynic_admin_ping_answered(mdev) ? 0 : -ETIMEDOUT);
}
