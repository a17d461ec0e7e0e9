// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The state of a whole device: taking it up and down, and attempts to get a lost
 * one back. recover.c and devlink.c decide when. The device itself is handled in
 * hw.c.
 */
#include <linux/workqueue.h>

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
 * Remove the RDMA device and the network interface, and let go of the device.
 * The caller waits for all of its users.
 */
void mynic_stop(struct mynic_dev *mdev, enum mynic_state state)
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
	mdev->next_ping = jiffies;
	mdev->ping_pause = 0;
}

/* Return: 0, -EAGAIN if the device is still lost, or -ENODEV. */
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
 * Pauses between probes of a device that hangs grow, but its answer is looked
 * for at short intervals.
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
