// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * CREATE_WQ, MODIFY_WQ, DESTROY_WQ. A WQ is a QP that has only a receive queue.
 */
#include <string.h>

#include "core.h"
#include "engine/qp_create.h"
#include "engine/transport.h"
#include "ethernet/rwq.h"

/* Bits of enum ib_wq_attr_mask */
#define ATTR_STATE 1
#define ATTR_CUR_STATE 2
#define ATTR_FLAGS 4
#define ALL_ATTRS (ATTR_STATE | ATTR_CUR_STATE | ATTR_FLAGS)

#define WQ_FLAGS MYNIC_WQ_VLAN_STRIP

static void wq_set_flags(struct qp *wq, uint8_t flags)
{
	wq->flags = flags & MYNIC_WQ_VLAN_STRIP ? MYNIC_QP_VLAN_STRIP : 0;
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
		.type = QP_TYPE_WQ,
		.log_rq_size = cmd->log_size,
		.log_rq_stride = cmd->log_stride,
	};
	struct qp *wq;
	int status;

	if (cmd->flags & ~WQ_FLAGS)
		return MYNIC_AQ_NOT_SUPPORTED;
	if (!cmd->log_stride)
		return MYNIC_AQ_BAD_PARAM;
	status = qp_create(nic, &create, &wq);
	if (status)
		return status;
	wq_set_flags(wq, cmd->flags);
	call->cpl.number = htole32(wq->number);
	return MYNIC_AQ_OK;
}

static uint8_t wq_state_of(const struct qp *wq)
{
	switch (wq->state) {
	case IBV_QPS_RESET:
		return MYNIC_WQS_RESET;
	case IBV_QPS_RTR:
		return MYNIC_WQS_RDY;
	default:
		return MYNIC_WQS_ERR;
	}
}

static void wq_set_state(struct qp *wq, uint8_t state)
{
	static const uint8_t states[] = {
		[MYNIC_WQS_RESET] = IBV_QPS_RESET,
		[MYNIC_WQS_RDY] = IBV_QPS_RTR,
		[MYNIC_WQS_ERR] = IBV_QPS_ERR,
	};
	enum ibv_qp_state old = wq->state;

	wq->state = states[state];
	transport_set_state(wq, old);
}

int admin_modify_wq(struct nic *nic, struct admin_call *call)
{
	const struct mynic_modify_wq *cmd = &call->cmd.modify_wq;
	struct qp *wq = rwq_find(nic, le32toh(call->cmd.number));
	uint32_t mask = le32toh(cmd->attr_mask);

	if (!wq)
		return MYNIC_AQ_BAD_NUMBER;
	if (mask & ~ALL_ATTRS ||
	    (mask & ATTR_FLAGS && (cmd->flags | cmd->flags_mask) & ~WQ_FLAGS))
		return MYNIC_AQ_NOT_SUPPORTED;
	if ((mask & ATTR_STATE && cmd->state > MYNIC_WQS_ERR) ||
	    (mask & ATTR_CUR_STATE && cmd->cur_state > MYNIC_WQS_ERR))
		return MYNIC_AQ_BAD_PARAM;
	if (mask & ATTR_CUR_STATE && cmd->cur_state != wq_state_of(wq))
		return MYNIC_AQ_BAD_STATE;
	if (mask & ATTR_STATE && cmd->state == MYNIC_WQS_RDY &&
	    wq_state_of(wq) == MYNIC_WQS_ERR)
		return MYNIC_AQ_BAD_STATE;
	if (mask & ATTR_FLAGS && cmd->flags_mask & MYNIC_WQ_VLAN_STRIP)
		wq_set_flags(wq, cmd->flags);
	if (mask & ATTR_STATE)
		wq_set_state(wq, cmd->state);
	return MYNIC_AQ_OK;
}

int admin_destroy_wq(struct nic *nic, struct admin_call *call)
{
	struct qp *wq = rwq_find(nic, le32toh(call->cmd.number));

	if (!wq)
		return MYNIC_AQ_BAD_NUMBER;
	if (wq->num_tables)
		return MYNIC_AQ_BUSY;
	qp_destroy(nic, wq);
	return MYNIC_AQ_OK;
}
