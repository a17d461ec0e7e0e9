// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory that a dead device may still use. A device that hangs goes on some
 * day, and finishes what it had begun. So what it was told of is kept until a
 * reset has been seen to end, or it can no longer be master of the bus.
 */
#include "mynic.h"

/**
 * mynic_park() - give up what the device was told of
 * @mdev: device. If it is alive it has forgotten the memory.
 * @parked: what to give up
 * @free: gives it up; now, or when the device cannot use it any more
 *
 * Context: as @free, which may sleep.
 */
void mynic_park(struct mynic_dev *mdev, struct mynic_parked *parked,
		void (*free)(struct mynic_parked *parked))
{
	spin_lock(&mdev->parked_lock);
	if (mynic_dead(mdev)) {
		parked->free = free;
		list_add_tail(&parked->list, &mdev->parked);
		free = NULL;
	}
	spin_unlock(&mdev->parked_lock);
	if (free)
		free(parked);
}

/**
 * mynic_unpark() - give up all that was kept
 * @mdev: device, which has been reset, or is no longer master of the bus
 */
void mynic_unpark(struct mynic_dev *mdev)
{
	struct mynic_parked *parked, *next;
	LIST_HEAD(all);

	spin_lock(&mdev->parked_lock);
	list_splice_init(&mdev->parked, &all);
	spin_unlock(&mdev->parked_lock);
	list_for_each_entry_safe(parked, next, &all, list)
		parked->free(parked);
}
