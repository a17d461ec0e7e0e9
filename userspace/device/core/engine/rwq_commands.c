// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * CREATE_WQ, MODIFY_WQ, DESTROY_WQ. A WQ is a QP that has only a receive queue.
 */

#include "engine/rwq_commands.h"

#include <endian.h>
#include <stdint.h>

#include "base/verbs.h"
#include "engine/qp_create.h"
#include "engine/transport.h"
#include "ethernet/rwq.h"
#include "mynic_regs.h"
#include "state/admin_types.h"
#include "state/qp_types.h"

/* Bits of enum ib_wq_attr_mask */
#define ATTR_STATE 1
#define ATTR_CUR_STATE 2
#define ATTR_FLAGS 4
#define ALL_ATTRS (ATTR_STATE | ATTR_CUR_STATE | ATTR_FLAGS)

/* Flags that can change */
#define WQ_FLAGS MYNIC_WQ_VLAN_STRIP
#define CREATE_FLAGS (WQ_FLAGS | MYNIC_WQ_KERNEL)

static void rwq_commands_set_flags(struct qp *rwq, uint8_t flags)
{
	rwq->flags &= ~MYNIC_QP_VLAN_STRIP;
	if (flags & MYNIC_WQ_VLAN_STRIP)
		rwq->flags |= MYNIC_QP_VLAN_STRIP;
}

int admin_create_wq(struct nic *nic, struct admin_call *call)
{
	const struct mynic_create_wq *cmd = &call->create_wq;
	struct mynic_create_qp create = {
		.buf = cmd->buf,
		.rq_offset = cmd->rq_offset,
		.dbrec_offset = cmd->dbrec_offset,
		.uarn = cmd->uarn,
		.pdn = cmd->pdn,
		.send_cqn = cmd->cqn,
		.recv_cqn = cmd->cqn,
		.srqn = htole32(MYNIC_NO_SRQ),
		.type = QP_TYPE_RWQ,
		.log_rq_size = cmd->log_size,
		.log_rq_stride = cmd->log_stride,
	};
	struct qp *rwq;
	int status;

	if (cmd->flags & ~CREATE_FLAGS)
		return MYNIC_AQ_NOT_SUPPORTED;
	if (!cmd->log_stride)
		return MYNIC_AQ_BAD_PARAM;
	status = qp_create(nic, &create, &rwq);
	if (status)
		return status;
	rwq->flags = cmd->flags & MYNIC_WQ_KERNEL ? MYNIC_QP_KERNEL : 0;
	rwq_commands_set_flags(rwq, cmd->flags);
	call->cpl.number = htole32(rwq->number);
	return MYNIC_AQ_OK;
}

static uint8_t rwq_commands_state(const struct qp *rwq)
{
	switch (rwq->state) {
	case IBV_QPS_RESET:
		return MYNIC_WQS_RESET;
	case IBV_QPS_RTR:
		return MYNIC_WQS_RDY;
	default:
		return MYNIC_WQS_ERR;
	}
}

static void rwq_commands_set_state(struct qp *rwq, uint8_t state)
{
	static const uint8_t states[] = {
		[MYNIC_WQS_RESET] = IBV_QPS_RESET,
		[MYNIC_WQS_RDY] = IBV_QPS_RTR,
		[MYNIC_WQS_ERR] = IBV_QPS_ERR,
	};
	enum ibv_qp_state old = rwq->state;

	rwq->state = states[state];
	transport_set_state(rwq, old);
}

int admin_modify_wq(struct nic *nic, struct admin_call *call)
{
	const struct mynic_modify_wq *cmd = &call->cmd.modify_wq;
	struct qp *rwq = rwq_find(nic, le32toh(call->cmd.number));
	uint32_t mask = le32toh(cmd->attr_mask);

	if (!rwq)
		return MYNIC_AQ_BAD_NUMBER;
	if (mask & ~ALL_ATTRS ||
	    (mask & ATTR_FLAGS && (cmd->flags | cmd->flags_mask) & ~WQ_FLAGS))
		return MYNIC_AQ_NOT_SUPPORTED;
	if ((mask & ATTR_STATE && cmd->state > MYNIC_WQS_ERR) ||
	    (mask & ATTR_CUR_STATE && cmd->cur_state > MYNIC_WQS_ERR))
		return MYNIC_AQ_BAD_PARAM;
	if (mask & ATTR_CUR_STATE && cmd->cur_state != rwq_commands_state(rwq))
		return MYNIC_AQ_BAD_STATE;
	if (mask & ATTR_STATE && cmd->state == MYNIC_WQS_RDY &&
	    rwq_commands_state(rwq) == MYNIC_WQS_ERR)
		return MYNIC_AQ_BAD_STATE;
	if (mask & ATTR_FLAGS && cmd->flags_mask & MYNIC_WQ_VLAN_STRIP)
		rwq_commands_set_flags(rwq, cmd->flags);
	if (mask & ATTR_STATE)
		rwq_commands_set_state(rwq, cmd->state);
	return MYNIC_AQ_OK;
}

int admin_destroy_wq(struct nic *nic, struct admin_call *call)
{
	struct qp *rwq = rwq_find(nic, le32toh(call->cmd.number));

	if (!rwq)
		return MYNIC_AQ_BAD_NUMBER;
	if (rwq->num_tables)
		return MYNIC_AQ_BUSY;
	qp_destroy(nic, rwq);
	return MYNIC_AQ_OK;
}
