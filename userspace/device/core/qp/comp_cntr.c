// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion counters: their commands, their values, and the QPs that they are
 * attached to.
 */

#include "qp/comp_cntr.h"

#include <endian.h>

#include "base/mem.h"
#include "base/table.h"
#include "base/verbs.h"
#include "memory/buf.h"
#include "mynic_regs.h"
#include "qp/qp.h"
#include "state/admin_types.h"
#include "state/nic_types.h"

#define VALUES_SIZE sizeof(struct mynic_comp_cntr_values)

#define ALL_OPERATIONS ((1u << QP_COUNTED_OPS) - 1)

static struct comp_cntr *comp_cntr_find(const struct nic *nic, __le32 number)
{
	return table_lookup(&nic->comp_cntrs, le32toh(number));
}

/* Returns the two values in host memory, or NULL */
static uint64_t *comp_cntr_memory(struct nic *nic, struct comp_cntr *cntr)
{
	return buf_ptr(nic, &cntr->buf, &cntr->window, 0, VALUES_SIZE, true);
}

/* The host sees what is counted no later than the value */
static void comp_cntr_store(struct nic *nic, struct comp_cntr *cntr,
			    unsigned int entry)
{
	uint64_t *values = comp_cntr_memory(nic, cntr);

	if (values)
		__atomic_store_n(&values[entry], htole64(cntr->values[entry]),
				 __ATOMIC_RELEASE);
}

void comp_cntr_add(struct qp *qp, uint8_t operation, uint32_t num,
		   enum outcome outcome)
{
	struct comp_cntr *cntr = qp->comp_cntrs[__builtin_ctz(operation)];
	unsigned int entry = outcome ? MYNIC_COMP_CNTR_ERRORS :
				       MYNIC_COMP_CNTR_COMPLETIONS;

	cntr->values[entry] += num;
	comp_cntr_store(qp->nic, cntr, entry);
}

int admin_create_comp_cntr(struct nic *nic, struct admin_call *call)
{
	uint64_t addr = le64toh(call->cmd.create_comp_cntr.addr);
	const struct buf buf = { .addr = addr };
	struct comp_cntr *cntr;
	int status;

	if (addr % VALUES_SIZE)
		return MYNIC_AQ_BAD_PARAM;
	status = buf_check(nic, &buf, 0, VALUES_SIZE, VALUES_SIZE, true);
	if (status)
		return status;
	cntr = mem_alloc(&nic->mem, sizeof(*cntr));
	if (!cntr || table_add(&nic->comp_cntrs, cntr, &cntr->number)) {
		mem_free(&nic->mem, cntr);
		return MYNIC_AQ_NO_RESOURCE;
	}
	cntr->buf = buf;
	comp_cntr_store(nic, cntr, MYNIC_COMP_CNTR_COMPLETIONS);
	comp_cntr_store(nic, cntr, MYNIC_COMP_CNTR_ERRORS);
	call->cpl.number = htole32(cntr->number);
	return MYNIC_AQ_OK;
}

int admin_modify_comp_cntr(struct nic *nic, struct admin_call *call)
{
	const struct mynic_modify_comp_cntr *cmd = &call->cmd.modify_comp_cntr;
	struct comp_cntr *cntr = comp_cntr_find(nic, call->cmd.number);

	if (cmd->entry > MYNIC_COMP_CNTR_ERRORS ||
	    cmd->op > MYNIC_COMP_CNTR_ADD)
		return MYNIC_AQ_BAD_PARAM;
	if (!cntr)
		return MYNIC_AQ_BAD_NUMBER;
	if (!comp_cntr_memory(nic, cntr))
		return MYNIC_AQ_BAD_DMA;
	if (cmd->op == MYNIC_COMP_CNTR_SET)
		cntr->values[cmd->entry] = 0;
	cntr->values[cmd->entry] += le64toh(cmd->value);
	comp_cntr_store(nic, cntr, cmd->entry);
	return MYNIC_AQ_OK;
}

int admin_attach_comp_cntr(struct nic *nic, struct admin_call *call)
{
	const struct mynic_attach_comp_cntr *cmd = &call->cmd.attach_comp_cntr;
	struct comp_cntr *cntr = comp_cntr_find(nic, cmd->comp_cntr);
	struct qp *qp = qp_of_command(nic, call);
	uint32_t ops = le32toh(cmd->operations);

	if (!ops)
		return MYNIC_AQ_BAD_PARAM;
	if (ops & ~ALL_OPERATIONS)
		return MYNIC_AQ_NOT_SUPPORTED;
	if (!qp || !cntr)
		return MYNIC_AQ_BAD_NUMBER;
	if (qp->rss)
		return MYNIC_AQ_NOT_SUPPORTED;
	if (qp->state != IBV_QPS_RESET && qp->state != IBV_QPS_INIT)
		return MYNIC_AQ_BAD_STATE;
	if (ops & qp->counted_ops)
		return MYNIC_AQ_BUSY;
	for (unsigned int i = 0; i < QP_COUNTED_OPS; i++) {
		if (!(ops & 1u << i))
			continue;
		qp->comp_cntrs[i] = cntr;
		cntr->users++;
	}
	qp->counted_ops |= ops;
	return MYNIC_AQ_OK;
}

void comp_cntr_detach(struct qp *qp)
{
	for (unsigned int i = 0; i < QP_COUNTED_OPS; i++) {
		if (qp->comp_cntrs[i])
			qp->comp_cntrs[i]->users--;
	}
}

static void comp_cntr_destroy(struct nic *nic, struct comp_cntr *cntr)
{
	table_remove(&nic->comp_cntrs, cntr->number);
	mem_free(&nic->mem, cntr);
}

int admin_destroy_comp_cntr(struct nic *nic, struct admin_call *call)
{
	struct comp_cntr *cntr = comp_cntr_find(nic, call->cmd.number);

	if (!cntr)
		return MYNIC_AQ_BAD_NUMBER;
	if (cntr->users)
		return MYNIC_AQ_BUSY;
	comp_cntr_destroy(nic, cntr);
	return MYNIC_AQ_OK;
}

bool comp_cntrs_free_one(struct nic *nic, uint32_t *number)
{
	struct comp_cntr *cntr = table_next(&nic->comp_cntrs, number);

	if (!cntr)
		return false;
	comp_cntr_destroy(nic, cntr);
	return true;
}
