// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Shared receive queues as the data path uses them. Commands are in
 * srq_commands.c.
 */

#include "queue/srq.h"

#include "function/eq.h"
#include "memory/buf.h"
#include "mynic_regs.h"
#include "state/nic_types.h"

struct mynic_srq_dbrec *srq_dbrec(struct nic *nic, struct srq *srq)
{
	return buf_ptr(nic, &srq->buf, &srq->dbrec, srq->dbrec_offset,
		       sizeof(struct mynic_srq_dbrec), true);
}

void srq_to_error(struct nic *nic, struct srq *srq)
{
	if (srq->error)
		return;
	srq->error = true;
	eq_raise(nic, &srq->events, MYNIC_EVENT_SRQ_ERROR);
}
