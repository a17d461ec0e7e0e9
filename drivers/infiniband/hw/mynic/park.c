// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory that a dead device may still use. A device that hangs may resume and
 * finish what it had begun. Memory that it was told of is kept until it has
 * been reset, or has lost bus mastering.
 */
#include "mynic.h"

/**
 * mynic_park() - free what the device was told of
 * @mdev: device. If it is alive, it has forgotten the memory.
 * @parked: what to free
 * @free: frees it, now or when the device can no longer use it
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

/*
 * Free all that was kept. The device has been reset, or is no longer a bus
 * master.
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
