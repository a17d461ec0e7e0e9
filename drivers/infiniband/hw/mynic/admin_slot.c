// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The slots of the admin queue, one for each command under way: how old the
 * command is, and how it ends if the device fails. An unanswered command means
 * that the device hangs.
 */
#include "mynic.h"

/*
 * A device hangs if it leaves a command unanswered for this many health checks.
 * One check issues the command, so a hang is found after 1.75 seconds, and
 * reported within two.
 */
#define MYNIC_ADMIN_MAX_AGE 6

/* The caller holds a count of admin->free, so there is a free slot. */
unsigned int mynic_admin_slot_take(struct mynic_admin *admin)
{
	unsigned int id = 0;

	lockdep_assert_held(&admin->lock);
	while (admin->slots[id].busy)
		id++;
	admin->slots[id].busy = true;
	admin->slots[id].completed = false;
	admin->slots[id].asleep = false;
	admin->slots[id].age = 0;
	reinit_completion(&admin->slots[id].done);
	return id;
}

void mynic_admin_slot_free(struct mynic_admin *admin,
			   struct mynic_admin_slot *slot)
{
	lockdep_assert_held(&admin->lock);
	/*
	 * mynic_admin_slots_abort() wakes up without a completion if the device
	 * has failed.
	 */
	if (!slot->completed)
		admin->sleepers -= slot->asleep;
	slot->busy = false;
}

/* Return a command that the device has left unanswered too long, or NULL. */
const struct mynic_admin_slot *mynic_admin_slots_age(struct mynic_admin *admin)
{
	const struct mynic_admin_slot *old = NULL;
	struct mynic_admin_slot *slot;
	unsigned int i;

	lockdep_assert_held(&admin->lock);
	for (i = 0; i < MYNIC_AQ_SIZE; i++) {
		slot = &admin->slots[i];
		if (slot->busy && !slot->completed &&
		    ++slot->age > MYNIC_ADMIN_MAX_AGE)
			old = slot;
	}
	return old;
}

void mynic_admin_slot_end_beat(struct mynic_admin *admin)
{
	lockdep_assert_held(&admin->lock);
	if (!admin->beat)
		return;
	mynic_admin_slot_free(admin, admin->beat);
	admin->beat = NULL;
	up(&admin->free);
}

/*
 * End all commands with an error. The device is marked dead, so no new ones
 * begin. Callable from any context.
 */
void mynic_admin_slots_abort(struct mynic_dev *mdev)
{
	struct mynic_admin *admin = &mdev->admin;
	unsigned long flags;
	unsigned int i;

	spin_lock_irqsave(&admin->lock, flags);
	mynic_admin_slot_end_beat(admin);
	for (i = 0; i < MYNIC_AQ_SIZE; i++)
		if (admin->slots[i].busy)
			complete(&admin->slots[i].done);
	spin_unlock_irqrestore(&admin->lock, flags);
}
