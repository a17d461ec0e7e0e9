// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The device clock, compared with the system's in a page that processes map */
#include <linux/clocksource.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <rdma/mynic-abi.h>

#include "cmd.h"

/* Interval between comparisons */
#define MYNIC_CLOCK_PERIOD HZ
/*
 * Commands for a comparison, of which the quickest is used, as the device may
 * be busy
 */
#define MYNIC_CLOCK_TRIES 4
/* Differences of up to this many seconds can be converted with 64 bits. */
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

/* From now on, readers wait. */
static void mynic_clock_hide(struct mynic_dev *mdev)
{
	struct mynic_clock_info *info = page_address(mdev->clock.page);

	lockdep_assert_held(&mdev->clock.lock);
	WRITE_ONCE(info->seq, info->seq | 1);
	/* Readers must see an odd @seq before any new value. */
	smp_wmb();
}

static void mynic_clock_show(struct mynic_dev *mdev)
{
	struct mynic_clock_info *info = page_address(mdev->clock.page);

	lockdep_assert_held(&mdev->clock.lock);
	/* Readers must see every new value before @seq is even. */
	smp_store_release(&info->seq, (info->seq | 1) + 1);
}

static void mynic_clock_write(struct mynic_dev *mdev,
			      const struct mynic_clock_info *now)
{
	struct mynic_clock_info *info = page_address(mdev->clock.page);
	u32 mult, shift;

	lockdep_assert_held(&mdev->clock.lock);
	/* From kilohertz to nanoseconds per millisecond */
	clocks_calc_mult_shift(&mult, &shift, mdev->caps.clock_khz,
			       NSEC_PER_MSEC, MYNIC_CLOCK_SPAN * MSEC_PER_SEC);

	mynic_clock_hide(mdev);
	WRITE_ONCE(info->nsec, now->nsec);
	WRITE_ONCE(info->cycles, now->cycles);
	WRITE_ONCE(info->mult, mult);
	WRITE_ONCE(info->shift, shift);
}

/*
 * The lock is not held while the device is asked, as it may not answer. If it
 * does not, readers wait no longer.
 */
static void mynic_clock_update(struct mynic_dev *mdev)
{
	struct mynic_clock_info now;
	bool valid;

	valid = mynic_clock_read(mdev, &now);
	mutex_lock(&mdev->clock.lock);
	if (valid)
		mynic_clock_write(mdev, &now);
	mynic_clock_show(mdev);
	mutex_unlock(&mdev->clock.lock);
}

/* Return whether the page has users, so that it is kept up to date. */
static bool mynic_clock_kept(struct mynic_dev *mdev)
{
	bool kept;

	mutex_lock(&mdev->clock.lock);
	kept = mdev->clock.users;
	mutex_unlock(&mdev->clock.lock);
	return kept;
}

static void mynic_clock_work(struct work_struct *work)
{
	struct mynic_dev *mdev = container_of(to_delayed_work(work),
					      struct mynic_dev, clock.work);

	if (!mynic_clock_kept(mdev))
		return;
	mynic_clock_update(mdev);
	/* Users of a dead device have no time stamps to convert. */
	if (mynic_dead(mdev))
		return;
	mutex_lock(&mdev->clock.lock);
	if (mdev->clock.users)
		queue_delayed_work(mdev->recover_wq, &mdev->clock.work,
				   MYNIC_CLOCK_PERIOD);
	mutex_unlock(&mdev->clock.lock);
}

int mynic_clock_init(struct mynic_dev *mdev)
{
	mutex_init(&mdev->clock.lock);
	INIT_DELAYED_WORK(&mdev->clock.work, mynic_clock_work);
	mdev->clock.page = alloc_page(GFP_KERNEL | __GFP_ZERO);
	return mdev->clock.page ? 0 : -ENOMEM;
}

/*
 * Stop asking the device for its time. There are no user contexts left, so
 * nobody starts the work again.
 */
void mynic_clock_stop(struct mynic_dev *mdev)
{
	cancel_delayed_work_sync(&mdev->clock.work);
}

/* Processes that have mapped the page keep it. */
void mynic_clock_fini(struct mynic_dev *mdev)
{
	if (mdev->clock.page)
		put_page(mdev->clock.page);
	mutex_destroy(&mdev->clock.lock);
}

/* Let a user context map the clock page, unless the clock has no frequency. */
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

void mynic_clock_close(struct mynic_ucontext *ucontext)
{
	struct mynic_dev *mdev = to_mdev(ucontext->ibucontext.device);

	if (!ucontext->clock)
		return;
	mutex_lock(&mdev->clock.lock);
	/* Without users, nobody asks the device. Readers must not wait for it. */
	if (ucontext->clock_used && !--mdev->clock.users)
		mynic_clock_show(mdev);
	mutex_unlock(&mdev->clock.lock);
	rdma_user_mmap_entry_remove(&ucontext->clock->rdma_entry);
}

/* Have the page up to date soon, and readers wait until then. */
static void mynic_clock_begin(struct mynic_dev *mdev)
{
	lockdep_assert_held(&mdev->clock.lock);
	mynic_clock_hide(mdev);
	/* It is still pending if there were users a moment ago. */
	mod_delayed_work(mdev->recover_wq, &mdev->clock.work, 0);
}

/**
 * mynic_clock_mmap() - map the clock page
 * @ucontext: user context; from now on the page is kept up to date for it
 * @vma: where
 *
 * Context: the process's mappings are locked. So the device, which may not
 * answer, is asked later.
 * Return: 0, -EIO if the device is dead, or an errno as of mynic_page_mmap().
 */
int mynic_clock_mmap(struct mynic_ucontext *ucontext,
		     struct vm_area_struct *vma)
{
	struct mynic_dev *mdev = to_mdev(ucontext->ibucontext.device);
	int ret;

	if (mynic_dead(mdev))
		return -EIO;
	ret = mynic_page_mmap(ucontext->ibucontext.device, vma,
			      mdev->clock.page);
	if (ret)
		return ret;
	mutex_lock(&mdev->clock.lock);
	if (!ucontext->clock_used) {
		ucontext->clock_used = true;
		if (!mdev->clock.users++)
			mynic_clock_begin(mdev);
	}
	mutex_unlock(&mdev->clock.lock);
	return 0;
}
