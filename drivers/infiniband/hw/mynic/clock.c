// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The device clock beside the system's, in a page that processes can read */
#include <linux/clocksource.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <rdma/mynic-abi.h>

#include "cmd.h"

/* The clocks are compared this often */
#define MYNIC_CLOCK_PERIOD HZ
/* ... by the quickest of so many commands, as the device may be busy */
#define MYNIC_CLOCK_TRIES 4
/* Differences of so many seconds can be converted with 64 bits */
#define MYNIC_CLOCK_SPAN 3600U

static bool mynic_clock_read(struct mynic_dev *mdev,
			     struct mynic_clock_info *now)
{
	u64 before, took, cycles, best = U64_MAX;
	unsigned int i;

	for (i = 0; i < MYNIC_CLOCK_TRIES; i++) {
		before = ktime_get_real_ns();
		if (mynic_cmd_nop(mdev, &cycles))
			break;
		took = ktime_get_real_ns() - before;
		if (!cycles || took >= best)
			continue;
		best = took;
		now->cycles = cycles;
		now->nsec = before + took / 2;
	}
	return best != U64_MAX;
}

static void mynic_clock_update(struct mynic_dev *mdev)
{
	struct mynic_clock_info *info = page_address(mdev->clock.page);
	struct mynic_clock_info now;

	lockdep_assert_held(&mdev->clock.lock);
	if (!mynic_clock_read(mdev, &now))
		return;
	/* Kilohertz and nanoseconds in a millisecond */
	clocks_calc_mult_shift(&now.mult, &now.shift, mdev->caps.clock_khz,
			       NSEC_PER_MSEC, MYNIC_CLOCK_SPAN * MSEC_PER_SEC);

	WRITE_ONCE(info->seq, info->seq + 1);
	/* Readers see that it is odd before they see anything new */
	smp_wmb();
	WRITE_ONCE(info->nsec, now.nsec);
	WRITE_ONCE(info->cycles, now.cycles);
	WRITE_ONCE(info->mult, now.mult);
	WRITE_ONCE(info->shift, now.shift);
	/* ... and everything new before it is even */
	smp_store_release(&info->seq, info->seq + 1);
}

static void mynic_clock_work(struct work_struct *work)
{
	struct mynic_dev *mdev = container_of(to_delayed_work(work),
					      struct mynic_dev, clock.work);

	mutex_lock(&mdev->clock.lock);
	if (mdev->clock.users) {
		mynic_clock_update(mdev);
		schedule_delayed_work(&mdev->clock.work, MYNIC_CLOCK_PERIOD);
	}
	mutex_unlock(&mdev->clock.lock);
}

/**
 * mynic_clock_init() - make the clock page
 * @mdev: device
 *
 * Return: 0 or -ENOMEM.
 */
int mynic_clock_init(struct mynic_dev *mdev)
{
	mutex_init(&mdev->clock.lock);
	INIT_DELAYED_WORK(&mdev->clock.work, mynic_clock_work);
	mdev->clock.page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	return mdev->clock.page ? 0 : -ENOMEM;
}

/**
 * mynic_clock_fini() - give up the clock page
 * @mdev: device, of which there are no user contexts any more
 *
 * Who has mapped the page keeps it.
 */
void mynic_clock_fini(struct mynic_dev *mdev)
{
	disable_delayed_work_sync(&mdev->clock.work);
	if (mdev->clock.page)
		put_page(mdev->clock.page);
	mutex_destroy(&mdev->clock.lock);
}

/**
 * mynic_clock_open() - let a user context map the clock page
 * @ucontext: user context. It gets none of a clock that has no frequency.
 *
 * Return: 0 or an errno.
 */
int mynic_clock_open(struct mynic_ucontext *ucontext)
{
	struct mynic_mmap_entry *mmap;

	if (!to_mdev(ucontext->ibucontext.device)->caps.clock_khz)
		return 0;
	mmap = mynic_page_open(ucontext, MYNIC_MMAP_CLOCK);
	if (IS_ERR(mmap))
		return PTR_ERR(mmap);
	ucontext->clock = mmap;
	return 0;
}

/**
 * mynic_clock_close() - at the end of a user context
 * @ucontext: user context
 */
void mynic_clock_close(struct mynic_ucontext *ucontext)
{
	struct mynic_dev *mdev = to_mdev(ucontext->ibucontext.device);

	if (!ucontext->clock)
		return;
	mutex_lock(&mdev->clock.lock);
	if (ucontext->clock_used)
		mdev->clock.users--;
	mutex_unlock(&mdev->clock.lock);
	rdma_user_mmap_entry_remove(&ucontext->clock->rdma_entry);
}

/**
 * mynic_clock_mmap() - map the clock page
 * @ucontext: user context; from now on the page is kept up to date for it
 * @vma: where
 *
 * Return: 0, or an errno as of mynic_page_mmap().
 */
int mynic_clock_mmap(struct mynic_ucontext *ucontext,
		     struct vm_area_struct *vma)
{
	struct mynic_dev *mdev = to_mdev(ucontext->ibucontext.device);
	int ret;

	ret = mynic_page_mmap(vma, mdev->clock.page);
	if (ret)
		return ret;
	mutex_lock(&mdev->clock.lock);
	if (!ucontext->clock_used) {
		ucontext->clock_used = true;
		mdev->clock.users++;
		mynic_clock_update(mdev);
		schedule_delayed_work(&mdev->clock.work, MYNIC_CLOCK_PERIOD);
	}
	mutex_unlock(&mdev->clock.lock);
	return 0;
}
