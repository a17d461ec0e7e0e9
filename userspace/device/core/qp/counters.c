// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Counter sets: their commands, and the binding of QPs. Counting itself is in
 * qp/counters.h, and for the whole NIC in state/nic_types.h.
 */

#include "qp/counters.h"

#include <endian.h>

#include "base/mem.h"
#include "base/table.h"
#include "qp/qp.h"

static struct counters *counters_find(struct nic *nic, __le32 number)
{
	return table_lookup(&nic->counters, le32toh(number));
}

void counters_bind(struct qp *qp, struct counters *set)
{
	if (qp->counters)
		qp->counters->users--;
	qp->counters = set;
	if (set)
		set->users++;
}

int admin_create_counters(struct nic *nic, struct admin_call *call)
{
	struct counters *set = mem_alloc(&nic->mem, sizeof(*set));

	if (!set || table_add(&nic->counters, set, &set->number)) {
		mem_free(&nic->mem, set);
		return MYNIC_AQ_NO_RESOURCE;
	}
	call->cpl.number = htole32(set->number);
	return MYNIC_AQ_OK;
}

int admin_bind_counters(struct nic *nic, struct admin_call *call)
{
	struct qp *qp = qp_find(nic, le32toh(call->cmd.number));
	__le32 number = call->cmd.bind_counters.counters;
	struct counters *set = NULL;

	if (!qp)
		return MYNIC_AQ_BAD_NUMBER;
	if (number) {
		set = counters_find(nic, number);
		if (!set)
			return MYNIC_AQ_BAD_NUMBER;
	}
	counters_bind(qp, set);
	return MYNIC_AQ_OK;
}

int admin_query_counters(struct nic *nic, struct admin_call *call)
{
	const struct counters *set = counters_find(nic, call->cmd.number);

	if (!set)
		return MYNIC_AQ_BAD_NUMBER;
	for (int i = 0; i < MYNIC_NUM_STATS; i++)
		call->stats[i] = htole64(set->values[i]);
	return MYNIC_AQ_OK;
}

static void counters_destroy(struct nic *nic, struct counters *set)
{
	table_remove(&nic->counters, set->number);
	mem_free(&nic->mem, set);
}

int admin_destroy_counters(struct nic *nic, struct admin_call *call)
{
	struct counters *set = counters_find(nic, call->cmd.number);

	if (!set)
		return MYNIC_AQ_BAD_NUMBER;
	if (set->users)
		return MYNIC_AQ_BUSY;
	counters_destroy(nic, set);
	return MYNIC_AQ_OK;
}

bool counters_free_one(struct nic *nic, uint32_t *number)
{
	struct counters *set = table_next(&nic->counters, number);

	if (!set)
		return false;
	counters_destroy(nic, set);
	return true;
}
