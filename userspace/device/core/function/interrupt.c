// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Interrupts, which rules of NIC faults may delay or lose. */

#include "function/interrupt.h"

#include <stdbool.h>

#include "function/fault.h"
#include "state/fault_types.h"
#include "state/nic_types.h"

static void interrupt_delay(struct nic *nic, unsigned int vector,
			    const struct nic_fault *rule)
{
	struct nic_faults *faults = &nic->faults;

	/* The one that is late already stands for this one, too */
	if (faults->late & 1u << vector)
		return;
	faults->late |= 1u << vector;
	faults->late_until[vector] = nic_now(nic) + rule->time;
	faults->late_by[vector] = rule->number;
	nic_fault_wake(nic, faults->late_until[vector]);
}

/* Returns true if the interrupt is not raised now */
static bool interrupt_meets_fault(struct nic *nic, unsigned int vector)
{
	const struct nic_occasion occasion = {
		.on = NIC_FAULT_ON_INTERRUPT,
		.number = vector,
	};
	const struct nic_fault *rule = nic_fault_meet(nic, &occasion);

	if (rule && rule->kind == NIC_FAULT_IRQ_DELAY)
		interrupt_delay(nic, vector, rule);
	return rule;
}

void interrupt_raise(struct nic *nic, unsigned int vector)
{
	if (nic_fault_waits(nic, NIC_FAULT_ON_INTERRUPT) &&
	    interrupt_meets_fault(nic, vector))
		return;
	nic->config.ops->raise_irq(nic->config.ctx, vector);
}
