// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Commands on shared receive queues. */

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/queue.h>

#include "base/mem.h"
#include "base/table.h"
#include "function/eq.h"
#include "memory/buf.h"
#include "memory/pd.h"
#include "mynic_regs.h"
#include "queue/cq.h"
#include "queue/resize.h"
#include "queue/srq.h"
#include "queue/tm.h"
#include "queue/xrcd.h"
#include "state/admin_types.h"
#include "state/memory_types.h"
#include "state/nic_types.h"
#include "state/queue_types.h"

static int srq_commands_init(struct nic *nic, struct srq *srq,
			     const struct mynic_create_srq *cmd)
{
	int status;

	status = buf_parse(&srq->buf, &cmd->buf);
	if (status)
		return status;
	srq->dbrec_offset = le32toh(cmd->dbrec_offset);
	srq->ring = (struct ring){
		.buf = &srq->buf,
		.offset = le32toh(cmd->ring_offset),
		.log_size = cmd->log_size,
		.log_stride = cmd->log_stride,
	};
	status = ring_check(nic, &srq->ring, false);
	if (status)
		return status;
	status = buf_check(nic, &srq->buf, srq->dbrec_offset,
			   sizeof(struct mynic_srq_dbrec),
			   sizeof(struct mynic_srq_dbrec), true);
	if (status)
		return status;
	if (table_add(&nic->srqs, srq, &srq->number))
		return MYNIC_AQ_NO_RESOURCE;
	srq->events.number = srq->number;
	return MYNIC_AQ_OK;
}

static bool srq_commands_fits_type(const struct mynic_create_srq *cmd)
{
	static const struct mynic_buf none;

	if (cmd->type != MYNIC_SRQ_XRC && cmd->xrcdn)
		return false;
	if (cmd->type == MYNIC_SRQ_TM)
		return cmd->log_tag_size >= TM_MIN_LOG_OPS &&
		       cmd->log_tag_size <= TM_MAX_LOG_OPS && cmd->max_tags &&
		       le32toh(cmd->max_tags) <= TM_MAX_TAGS;
	if (cmd->type == MYNIC_SRQ_BASIC && cmd->cqn)
		return false;
	return !cmd->log_tag_size && !cmd->max_tags &&
	       !memcmp(&cmd->tag_buf, &none, sizeof(none));
}

static int srq_commands_check(const struct mynic_create_srq *cmd)
{
	if (cmd->type > MYNIC_SRQ_TM)
		return MYNIC_AQ_NOT_SUPPORTED;
	if (cmd->log_size > WQ_MAX_LOG_SIZE ||
	    cmd->log_stride < RQ_MIN_LOG_STRIDE ||
	    cmd->log_stride > WQ_MAX_LOG_STRIDE ||
	    le32toh(cmd->limit) > 1u << cmd->log_size ||
	    !srq_commands_fits_type(cmd))
		return MYNIC_AQ_BAD_PARAM;
	return MYNIC_AQ_OK;
}

static int srq_commands_find_objects(struct nic *nic, struct srq *srq,
				     const struct mynic_create_srq *cmd)
{
	srq->pd = table_lookup(&nic->pds, le32toh(cmd->pdn));
	if (!srq->pd)
		return MYNIC_AQ_BAD_NUMBER;
	if (cmd->type == MYNIC_SRQ_BASIC)
		return MYNIC_AQ_OK;
	if (cmd->type == MYNIC_SRQ_XRC) {
		srq->xrcd = table_lookup(&nic->xrcds, le32toh(cmd->xrcdn));
		if (!srq->xrcd)
			return MYNIC_AQ_BAD_NUMBER;
	}
	srq->cq = table_lookup(&nic->cqs, le32toh(cmd->cqn));
	if (!srq->cq)
		return MYNIC_AQ_BAD_NUMBER;
	return srq->cq->error ? MYNIC_AQ_BAD_STATE : MYNIC_AQ_OK;
}

int admin_create_srq(struct nic *nic, struct admin_call *call)
{
	const struct mynic_create_srq *cmd = &call->create_srq;
	struct srq *srq;
	int status;

	status = srq_commands_check(cmd);
	if (status)
		return status;
	srq = mem_alloc(&nic->mem, sizeof(*srq));
	if (!srq)
		return MYNIC_AQ_NO_RESOURCE;
	status = srq_commands_find_objects(nic, srq, cmd);
	if (!status)
		status = srq_commands_init(nic, srq, cmd);
	if (!status && cmd->type == MYNIC_SRQ_TM) {
		status = tm_create(nic, srq, cmd);
		if (status)
			table_remove(&nic->srqs, srq->number);
	}
	if (status) {
		mem_free(&nic->mem, srq);
		return status;
	}
	srq->limit = le32toh(cmd->limit);
	srq->pd->users++;
	if (srq->xrcd)
		srq->xrcd->num_srqs++;
	if (srq->cq)
		LIST_INSERT_HEAD(&srq->cq->srqs, srq, cq_link);
	call->cpl.number = htole32(srq->number);
	return MYNIC_AQ_OK;
}

static struct srq *srq_commands_find(struct nic *nic,
				     const struct admin_call *call)
{
	return table_lookup(&nic->srqs, le32toh(call->cmd.number));
}

/* The host may set a limit that is above the number of entries already */
static void srq_commands_check_limit(struct nic *nic, struct srq *srq)
{
	const struct mynic_srq_dbrec *dbrec;

	dbrec = srq->error ? NULL : srq_dbrec(nic, srq);
	if (!dbrec || buf_load_index(&dbrec->pi) - srq->ci >= srq->limit)
		return;
	srq->limit = 0;
	eq_raise(nic, &srq->events, MYNIC_EVENT_SRQ_LIMIT);
}

int admin_modify_srq(struct nic *nic, struct admin_call *call)
{
	uint32_t limit = le32toh(call->cmd.modify_srq.limit);
	struct srq *srq = srq_commands_find(nic, call);

	if (!srq)
		return MYNIC_AQ_BAD_NUMBER;
	if (limit > ring_size(&srq->ring))
		return MYNIC_AQ_BAD_PARAM;
	srq->limit = limit;
	srq_commands_check_limit(nic, srq);
	return MYNIC_AQ_OK;
}

/* The host has copied the remaining entries before it gives the command */
static int srq_commands_move(struct nic *nic, struct srq *srq,
			     const struct mynic_resize *cmd)
{
	struct ring ring = { .log_stride = srq->ring.log_stride };
	struct buf_window window = { 0 };
	struct mynic_srq_dbrec *dbrec;
	struct buf buf;
	int status;

	status = resize_check(nic, cmd, sizeof(*dbrec), false, &buf, &ring);
	if (status)
		return status;
	if (srq->error)
		return MYNIC_AQ_BAD_STATE;
	dbrec = buf_ptr(nic, &buf, &window, le32toh(cmd->dbrec_offset),
			sizeof(*dbrec), true);
	if (!dbrec)
		return MYNIC_AQ_BAD_DMA;
	if (buf_load_index(&dbrec->pi) - srq->ci > ring_size(&ring))
		return MYNIC_AQ_BAD_STATE;
	buf_store_index(&dbrec->ci, srq->ci);
	srq->buf = buf;
	srq->ring = ring;
	srq->ring.buf = &srq->buf;
	srq->dbrec = window;
	srq->dbrec_offset = le32toh(cmd->dbrec_offset);
	return MYNIC_AQ_OK;
}

int admin_resize_srq(struct nic *nic, struct admin_call *call)
{
	const struct mynic_resize *cmd = &call->cmd.resize;
	struct srq *srq = srq_commands_find(nic, call);

	if (cmd->log_size > WQ_MAX_LOG_SIZE)
		return MYNIC_AQ_BAD_PARAM;
	if (!srq)
		return MYNIC_AQ_BAD_NUMBER;
	return srq_commands_move(nic, srq, cmd);
}

static uint8_t srq_commands_type(const struct srq *srq)
{
	if (srq->tm)
		return MYNIC_SRQ_TM;
	return srq->xrcd ? MYNIC_SRQ_XRC : MYNIC_SRQ_BASIC;
}

int admin_query_srq(struct nic *nic, struct admin_call *call)
{
	const struct srq *srq = srq_commands_find(nic, call);

	if (!srq)
		return MYNIC_AQ_BAD_NUMBER;
	call->cpl.query_srq = (struct mynic_query_srq){
		.limit = htole32(srq->limit),
		.srqn = htole32(srq->number),
		.ci = htole32(srq->ci),
		.num_qps = htole32(srq->num_qps),
		.type = srq_commands_type(srq),
		.dead = srq->error,
	};
	if (srq->tm)
		tm_query(srq->tm, &call->cpl.query_srq);
	return MYNIC_AQ_OK;
}

static void srq_commands_destroy(struct nic *nic, struct srq *srq)
{
	eq_drop(nic, &srq->events);
	table_remove(&nic->srqs, srq->number);
	if (srq->xrcd)
		srq->xrcd->num_srqs--;
	if (srq->tm)
		tm_destroy(nic, srq);
	if (srq->cq)
		LIST_REMOVE(srq, cq_link);
	srq->pd->users--;
	mem_free(&nic->mem, srq);
}

int admin_destroy_srq(struct nic *nic, struct admin_call *call)
{
	struct srq *srq = srq_commands_find(nic, call);

	if (!srq)
		return MYNIC_AQ_BAD_NUMBER;
	if (srq->num_qps)
		return MYNIC_AQ_BUSY;
	if (xrc_unbind_some(nic, srq) || (srq->tm && tm_free_some(nic, srq)))
		return ADMIN_AGAIN;
	srq_commands_destroy(nic, srq);
	return MYNIC_AQ_OK;
}

bool srqs_free_one(struct nic *nic, uint32_t *number)
{
	struct srq *srq = table_next(&nic->srqs, number);

	if (!srq)
		return false;
	if (!srq->tm || !tm_free_some(nic, srq))
		srq_commands_destroy(nic, srq);
	return true;
}
