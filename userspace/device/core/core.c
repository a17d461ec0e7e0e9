// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What all of the core does with a NIC: the end of a turn, and of the device. */
#include "core.h"

#define FATAL_VECTOR 0

void nic_look_at_clock(struct nic *nic)
{
	nic->turn.charged = 0;
	nic->turn.over = nic_now(nic) >= nic->turn.end;
}

void nic_fatal(struct nic *nic, enum mynic_fatal why)
{
	if (nic->regs.status & MYNIC_STATUS_FATAL)
		return;
	nic->regs.status = MYNIC_STATUS_FATAL;
	nic->dma.generation++;
	nic->regs.fatal = why;
	nic->config.ops->raise_irq(nic->config.ctx, FATAL_VECTOR);
}
