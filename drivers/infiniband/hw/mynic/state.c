// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The state of a whole device: bringing it up and down, and attempts to recover
 * one that has failed. recover.c and devlink.c decide when. hw.c has the steps
 * that touch the hardware.
 */
#include <linux/workqueue.h>

#include "mynic.h"
#include "trace.h"

/*
 * First and longest pause between attempts at recovery, and between commands
 * that probe a device that hangs. For the answer to such a command the driver
 * looks every MYNIC_LISTEN.
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
 * Unregister the RDMA device, detach the network interface, and bring the
 * device down. Returns when consumers have released the RDMA device.
 */
void mynic_stop(struct mynic_dev *mdev, enum mynic_state state)
{
	lockdep_assert_held(&mdev->state_lock);
	/*
	 * If the device is dead, this work fails the requests of consumers, once
	 * the device has had the time for a reset. They must see that before
	 * they lose the RDMA device, or they wait for their timeouts. User
	 * contexts have nothing to wait for.
	 */
	if (mynic_has_consumers(mdev))
		flush_work(&mdev->announce_work);
	if (mdev->state == MYNIC_UP)
		mynic_ib_unregister(mdev);
	flush_work(&mdev->announce_work);
	if (mdev->state == MYNIC_UP) {
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
	 * If it failed before it was MYNIC_UP, mynic_stop_work() may have run
	 * already, and left it alone.
	 */
	if (mynic_dead(mdev))
		queue_work(mdev->recover_wq, &mdev->stop_work);
}

/* Begin attempts to bring a lost device up, until one succeeds. */
void mynic_recover_soon(struct mynic_dev *mdev)
{
	queue_delayed_work(mdev->recover_wq, &mdev->recover_work, mdev->pause);
}

/*
 * Bring down a device that has failed. The less time it has been up, the longer
 * is the pause before the next attempt.
 */
void mynic_lose(struct mynic_dev *mdev)
{
	lockdep_assert_held(&mdev->state_lock);
	if (time_after(jiffies, mdev->recovered + MYNIC_STEADY))
		mdev->pause = 0;
	else
		mdev->pause = mynic_longer(mdev->pause);
	mynic_stop(mdev, MYNIC_LOST);
	mynic_ping_anew(mdev);
}

/* If the lost device hangs, mynic_ping() probes it at once. */
void mynic_ping_anew(struct mynic_dev *mdev)
{
	mdev->next_ping = jiffies;
	mdev->ping_pause = 0;
}

/*
 * Return: 0 if the device is up, -EAGAIN if it is lost and stays so for now,
 * -ENODEV if it should not be up.
 */
int mynic_try_recover(struct mynic_dev *mdev)
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
 * Probe a lost device if it hangs and a probe is due. Pauses between probes
 * grow, but an answer is looked for at short intervals. Return: the jiffies
 * until the next attempt at recovery.
 */
unsigned long mynic_ping(struct mynic_dev *mdev)
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

/*
 * Make one attempt on request, and return what mynic_try_recover() returns. A
 * device that hangs gets a probe, whose answer lets a later attempt succeed.
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
