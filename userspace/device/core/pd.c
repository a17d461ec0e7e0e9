// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "pd.h"

#include <stdlib.h>

#include "core.h"

int admin_alloc_pd(struct nic *nic, struct admin_call *call)
{
	struct pd *pd = calloc(1, sizeof(*pd));

	if (!pd || table_add(&nic->pds, pd, &pd->number)) {
		free(pd);
		return MYNIC_AQ_NO_RESOURCE;
	}
	call->cpl.number = htole32(pd->number);
	return MYNIC_AQ_OK;
}

int admin_dealloc_pd(struct nic *nic, struct admin_call *call)
{
	struct pd *pd = table_get(&nic->pds, le32toh(call->cmd.number));

	if (!pd)
		return MYNIC_AQ_BAD_NUMBER;
	if (pd->users)
		return MYNIC_AQ_BUSY;
	table_remove(&nic->pds, pd->number);
	free(pd);
	return MYNIC_AQ_OK;
}

void pds_free(struct nic *nic)
{
	uint32_t number = 0;
	struct pd *pd;

	while ((pd = table_next(&nic->pds, &number))) {
		table_remove(&nic->pds, number);
		free(pd);
	}
}
