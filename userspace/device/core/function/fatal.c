// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Fatal errors: the device stops until it is reset. */

#include "function/fatal.h"

#include "base/journal.h"
#include "function/interrupt.h"
#include "state/nic_types.h"

#define FATAL_VECTOR 0

void nic_fatal(struct nic *nic, enum mynic_fatal why)
{
	const struct journal_entry entry = {
		.kind = JOURNAL_FATAL,
		.code = why,
	};

	if (nic->regs.status & MYNIC_STATUS_FATAL)
		return;
	nic->regs.status = MYNIC_STATUS_FATAL;
	nic->dma.generation++;
	nic->regs.fatal = why;
	nic_note(nic, &entry);
	if (nic->config.ops->failed)
		nic->config.ops->failed(nic->config.ctx);
	interrupt_raise(nic, FATAL_VECTOR);
}
