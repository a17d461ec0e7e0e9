// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* BAR2: doorbell pages, which also have a readable clock. */

#include "uar.h"

#include <stdbool.h>

#include "engine/qp_run.h"
#include "function/eq.h"
#include "mynic_regs.h"
#include "queue/cq.h"
#include "queue/tm.h"
#include "state/nic_types.h"

uint64_t uar_read(struct nic *nic, uint64_t offset, size_t len)
{
	if (offset / MYNIC_UAR_SIZE >= NIC_NUM_UAR ||
	    offset % MYNIC_UAR_SIZE != MYNIC_UAR_CLOCK ||
	    len != sizeof(uint64_t))
		return 0;
	return nic_now(nic);
}

void uar_write(struct nic *nic, uint64_t offset, uint64_t value, size_t len)
{
	uint64_t uarn = offset / MYNIC_UAR_SIZE;
	uint32_t number = value >> MYNIC_DB_NUMBER_SHIFT & MYNIC_DB_NUMBER_MASK;
	uint64_t doorbell = offset % MYNIC_UAR_SIZE;
	bool good = false;

	if (nic_enabled(nic) && len == sizeof(value) && uarn < NIC_NUM_UAR) {
		if (doorbell == MYNIC_UAR_QP_DB)
			good = qp_doorbell(nic, uarn, number);
		else if (doorbell == MYNIC_UAR_CQ_DB)
			good = cq_doorbell(nic, uarn, number);
		else if (doorbell == MYNIC_UAR_TAG_DB)
			good = tm_doorbell(nic, uarn, number);
		else if (doorbell == MYNIC_UAR_EQ_DB && !uarn)
			good = eq_doorbell(nic, number);
	}
	if (!good)
		nic_count(nic, MYNIC_STAT_BAD_DOORBELL);
}
