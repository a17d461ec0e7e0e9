// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Tables of receive work queues, and their commands. Commands of a single WQ
 * are in engine/rwq_commands.c.
 */

#include "ethernet/rwq.h"

#include <endian.h>

#include "base/mem.h"
#include "base/table.h"
#include "mynic_regs.h"
#include "qp/qp.h"
#include "state/admin_types.h"
#include "state/nic_types.h"
#include "state/qp_types.h"

struct qp *rwq_find(const struct nic *nic, uint32_t number)
{
	struct qp *wq = qp_find(nic, number);

	return wq && wq->type == QP_TYPE_RWQ ? wq : NULL;
}

int admin_create_rwq_table(struct nic *nic, struct admin_call *call)
{
	uint8_t log_size = call->cmd.create_rwq_table.log_size;
	uint32_t num = 1u << (log_size & 31);
	struct rwq_table *table;

	if (log_size > MYNIC_RWQ_TABLE_MAX_LOG_SIZE ||
	    le32toh(call->cmd.mbox_len) < num * sizeof(call->wqns[0]))
		return MYNIC_AQ_BAD_PARAM;
	for (uint32_t i = 0; i < num; i++) {
		if (!rwq_find(nic, le32toh(call->wqns[i])))
			return MYNIC_AQ_BAD_NUMBER;
	}
	table = mem_alloc(&nic->mem,
			  sizeof(*table) + num * sizeof(table->wqs[0]));
	if (!table)
		return MYNIC_AQ_NO_RESOURCE;
	if (table_add(&nic->rwq_tables, table, &table->number)) {
		mem_free(&nic->mem, table);
		return MYNIC_AQ_NO_RESOURCE;
	}
	table->num_wqs = num;
	for (uint32_t i = 0; i < num; i++) {
		table->wqs[i] = rwq_find(nic, le32toh(call->wqns[i]));
		table->wqs[i]->num_tables++;
	}
	call->cpl.number = htole32(table->number);
	return MYNIC_AQ_OK;
}

static void rwq_destroy(struct nic *nic, struct rwq_table *table)
{
	for (uint32_t i = 0; i < table->num_wqs; i++)
		table->wqs[i]->num_tables--;
	table_remove(&nic->rwq_tables, table->number);
	mem_free(&nic->mem, table);
}

int admin_destroy_rwq_table(struct nic *nic, struct admin_call *call)
{
	struct rwq_table *table =
		table_lookup(&nic->rwq_tables, le32toh(call->cmd.number));

	if (!table)
		return MYNIC_AQ_BAD_NUMBER;
	if (table->num_qps)
		return MYNIC_AQ_BUSY;
	rwq_destroy(nic, table);
	return MYNIC_AQ_OK;
}

bool rwq_tables_free_one(struct nic *nic, uint32_t *number)
{
	struct rwq_table *table = table_next(&nic->rwq_tables, number);

	if (!table)
		return false;
	/* A reset frees the WQs before their tables */
	table_remove(&nic->rwq_tables, *number);
	mem_free(&nic->mem, table);
	return true;
}
