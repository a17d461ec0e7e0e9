// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Protection domains: their commands. Checks of a PD are made where it is used.
 */

#include "memory/pd.h"

#include <endian.h>

#include "base/mem.h"
#include "base/table.h"
#include "mynic_regs.h"
#include "state/admin_types.h"
#include "state/nic_types.h"

int admin_alloc_pd(struct nic *nic, struct admin_call *call)
{
	struct pd *pd = mem_alloc(&nic->mem, sizeof(*pd));

	if (!pd || table_add(&nic->pds, pd, &pd->number)) {
		mem_free(&nic->mem, pd);
		return MYNIC_AQ_NO_RESOURCE;
	}
	call->cpl.number = htole32(pd->number);
	return MYNIC_AQ_OK;
}

int admin_dealloc_pd(struct nic *nic, struct admin_call *call)
{
	struct pd *pd = table_lookup(&nic->pds, le32toh(call->cmd.number));

	if (!pd)
		return MYNIC_AQ_BAD_NUMBER;
	if (pd->users)
		return MYNIC_AQ_BUSY;
	table_remove(&nic->pds, pd->number);
	mem_free(&nic->mem, pd);
	return MYNIC_AQ_OK;
}

bool pds_free_one(struct nic *nic, uint32_t *number)
{
	struct pd *pd = table_next(&nic->pds, number);

	if (!pd)
		return false;
	table_remove(&nic->pds, *number);
	mem_free(&nic->mem, pd);
	return true;
}
