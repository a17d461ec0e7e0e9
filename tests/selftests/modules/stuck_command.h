/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A command that the device leaves unanswered */
#ifndef MYNIC_SELFTEST_STUCK_COMMAND_H
#define MYNIC_SELFTEST_STUCK_COMMAND_H

#include <linux/jiffies.h>
#include <linux/semaphore.h>

#include "mynic.h"

/* When a check was due that counts, however late it comes */
#define CHECK_THAT_COUNTS (jiffies + 600 * HZ)

/* It has been under way for @age health checks. NULL if there is no slot. */
static inline struct mynic_admin_slot *stuck_command(struct mynic_admin *admin,
						     u8 age)
{
	struct mynic_admin_slot *slot;
	unsigned long flags;

	if (down_trylock(&admin->free))
		return NULL;
	spin_lock_irqsave(&admin->lock, flags);
	for (slot = admin->slots; slot->busy; slot++)
		;
	slot->busy = true;
	slot->completed = false;
	slot->asleep = false;
	slot->age = age;
	slot->opcode = MYNIC_CMD_NOP;
	spin_unlock_irqrestore(&admin->lock, flags);
	return slot;
}

static inline void stuck_command_end(struct mynic_admin *admin,
				     struct mynic_admin_slot *slot)
{
	unsigned long flags;

	spin_lock_irqsave(&admin->lock, flags);
	slot->busy = false;
	spin_unlock_irqrestore(&admin->lock, flags);
	up(&admin->free);
}

#endif /* MYNIC_SELFTEST_STUCK_COMMAND_H */
