// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion queues: their commands, entries, arming, and errors. The event
 * itself is sent in function/eq.c.
 */

#include "queue/cq.h"

#include <endian.h>
#include <stddef.h>

#include "base/mem.h"
#include "base/table.h"
#include "base/util.h"
#include "function/eq.h"
#include "memory/buf.h"
#include "qp/qp_error.h"
#include "queue/resize.h"
#include "queue/srq.h"
#include "state/nic_types.h"
#include "state/traffic.h"

#define MIN_LOG_SIZE 1
#define LOG_CQE_SIZE 6
#define NS_PER_US 1000u

/*
 * The host has just read the slot, so its cache line is fetched before it is
 * needed
 */
#define CQE_AHEAD 4

/*
 * Limit of looks for requests in vain. Arming through the doorbell record saves
 * the host a doorbell, but costs the NIC a look after each completion. That is
 * too much for a CQ that is only polled.
 */
#define MAX_LOOKS 1024

_Static_assert(sizeof(struct mynic_cqe) == 1 << LOG_CQE_SIZE, "CQE stride");

static void cq_disarm(struct cq *cq)
{
	cq->arm = CQ_NOT_ARMED;
	cq->held = 0;
	timer_stop(&cq->moderation);
}

static void cq_notify(struct nic *nic, struct cq *cq)
{
	cq_disarm(cq);
	eq_raise_comp(nic, &cq->comp);
}

static void cq_moderation_expired(struct timer *timer)
{
	struct cq *cq = container_of(timer, struct cq, moderation);

	cq_notify(cq->nic, cq);
}

/* The armed CQ has waited for @held entries that are there now */
static void cq_notify_or_hold(struct nic *nic, struct cq *cq, uint32_t held)
{
	cq->held = held;
	if (held >= cq->mod_count)
		cq_notify(nic, cq);
	else if (!timer_is_set(&cq->moderation))
		timer_set(&nic->timers, &cq->moderation,
			  nic_now(nic) + cq->mod_period);
}

static struct mynic_cq_dbrec *cq_record(struct nic *nic, struct cq *cq)
{
	return buf_ptr(nic, &cq->buf, &cq->dbrec, cq->dbrec_offset,
		       sizeof(struct mynic_cq_dbrec), true);
}

static void cq_set_watched(struct nic *nic, struct cq *cq, bool on)
{
	struct mynic_cq_dbrec *dbrec = cq_record(nic, cq);

	cq->watched = on;
	cq->looks = 0;
	if (dbrec)
		buf_store_index(&dbrec->db_suppress, on);
}

/*
 * Reads the host's request for an event, after the entries were written. The
 * host stores a request and then looks for entries. If this misses the request,
 * the host sees all entries. Returns 0 if the request is not new.
 */
static uint64_t cq_look(struct nic *nic, struct cq *cq)
{
	const struct mynic_cq_dbrec *dbrec = cq_record(nic, cq);
	uint64_t request;

	if (!dbrec)
		return 0;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	request = le64toh(__atomic_load_n(&dbrec->arm, __ATOMIC_ACQUIRE));
	return request & MYNIC_ARM_VALID && request != cq->taken ? request : 0;
}

static uint64_t cq_look_if_watched(struct nic *nic, struct cq *cq)
{
	uint64_t request;

	if (!cq->watched)
		return 0;
	request = cq_look(nic, cq);
	if (request) {
		cq->looks = 0;
	} else if (++cq->looks == MAX_LOOKS) {
		cq_set_watched(nic, cq, false);
		request = cq_look(nic, cq);
	}
	return request;
}

static uint32_t cq_sequence(uint64_t request)
{
	return request >> MYNIC_ARM_SEQ_SHIFT & MYNIC_ARM_SEQ_MASK;
}

/*
 * The host replaces a request only after it has seen the entry, so the event
 * was due
 */
static bool cq_has_missed_one(const struct cq *cq, uint64_t request)
{
	return ((cq_sequence(request) - cq_sequence(cq->taken)) &
		MYNIC_ARM_SEQ_MASK) > 1;
}

static void cq_take(struct nic *nic, struct cq *cq, uint64_t request)
{
	struct mynic_cq_dbrec *dbrec = cq_record(nic, cq);
	bool missed = cq_has_missed_one(cq, request);
	uint32_t index = (uint32_t)request;
	uint32_t end;

	cq->taken = request;
	cq->comp.vector = request >> MYNIC_ARM_VECTOR_SHIFT &
			  MYNIC_ARM_VECTOR_MASK;
	if (dbrec)
		__atomic_store_n(&dbrec->taken, htole64(request),
				 __ATOMIC_RELEASE);
	if (missed)
		cq_notify(nic, cq);
	if (!(request & MYNIC_ARM_SOLICITED))
		cq->arm = CQ_ARMED;
	else if (cq->arm == CQ_NOT_ARMED)
		cq->arm = CQ_ARMED_SOLICITED;
	end = cq->arm == CQ_ARMED ? cq->pi : cq->solicited_end;
	cq->held = 0;
	timer_stop(&cq->moderation);
	if (seq_before(index, end))
		cq_notify_or_hold(nic, cq, end - index);
}

/* Sends or prepares the event for an entry that was just written */
static void cq_serve(struct nic *nic, struct cq *cq, bool solicited)
{
	uint64_t request = cq_look_if_watched(nic, cq);

	/*
	 * A request that includes this entry replaces the last one; otherwise
	 * the entry belongs to the last one
	 */
	if (request && seq_before((uint32_t)request, cq->pi)) {
		cq_take(nic, cq, request);
		return;
	}
	if (cq->arm == CQ_ARMED || (cq->arm == CQ_ARMED_SOLICITED && solicited))
		cq_notify_or_hold(nic, cq, cq->held + 1);
	if (request)
		cq_take(nic, cq, request);
}

static void cq_fail(struct nic *nic, struct cq *cq)
{
	cq->error = true;
	cq_disarm(cq);
	eq_raise(nic, &cq->events, MYNIC_EVENT_CQ_ERROR);
	TAILQ_INSERT_TAIL(&nic->failed_cqs, cq, error_link);
	cq->error_pending = true;
}

/* The doorbell record is read only if the ring seems to be full */
static bool cq_has_room(struct nic *nic, struct cq *cq)
{
	const struct mynic_cq_dbrec *dbrec;

	if (cq->pi - cq->ci < ring_size(&cq->ring) || cq->ignore_overrun)
		return true;
	dbrec = cq_record(nic, cq);
	if (!dbrec)
		return false;
	cq->ci = buf_load_index(&dbrec->ci);
	if (cq->pi - cq->ci < ring_size(&cq->ring))
		return true;
	if (cq->pi - cq->ci > ring_size(&cq->ring))
		nic_count(nic, MYNIC_STAT_BAD_INDEX);
	else
		nic_count(nic, MYNIC_STAT_CQ_OVERRUN);
	return false;
}

void cq_push(struct nic *nic, struct cq *cq, const struct mynic_cqe *cqe,
	     bool solicited, uint64_t now)
{
	struct mynic_cqe entry = *cqe;
	struct mynic_cqe *slot = NULL;

	if (cq->error)
		return;
	if (cq_has_room(nic, cq))
		slot = ring_slot(nic, &cq->ring, cq->pi - cq->base, true);
	if (!slot) {
		cq_fail(nic, cq);
		return;
	}
	entry.timestamp = htole64(now);
	entry.phase = ring_phase(&cq->ring, cq->pi - cq->base);
	buf_publish(slot, &entry, sizeof(entry));
	if (traffic_is_noted(nic))
		traffic_note_completion(nic, cq->number, &entry);
	__builtin_prefetch(slot + CQE_AHEAD, 1);
	cq->pi++;
	if (entry.status)
		solicited = true;
	if (solicited)
		cq->solicited_end = cq->pi;
	cq_serve(nic, cq, solicited);
}

static void cq_look_and_take(struct nic *nic, struct cq *cq)
{
	uint64_t request = cq_look(nic, cq);

	if (request)
		cq_take(nic, cq, request);
}

bool cq_doorbell(struct nic *nic, uint32_t uarn, uint32_t number)
{
	struct cq *cq = table_lookup(&nic->cqs, number);

	if (!cq || cq->uarn != uarn)
		return false;
	if (cq->error)
		return true;
	if (nic->regs.drv_features & MYNIC_FEATURE_DB_SUPPRESS)
		cq_set_watched(nic, cq, true);
	cq_look_and_take(nic, cq);
	return true;
}

/*
 * Moves one of the QPs and SRQs of a failed CQ to the error state. Returns
 * false if there are none left
 */
static bool cq_tell_one(struct nic *nic, struct cq *cq)
{
	struct qp *qp = LIST_FIRST(&cq->senders);
	struct srq *srq = LIST_FIRST(&cq->srqs);

	if (qp) {
		LIST_REMOVE(qp, send_link);
		LIST_INSERT_HEAD(&cq->told_senders, qp, send_link);
		qp_to_error(nic, qp, MYNIC_EVENT_QP_FATAL);
		return true;
	}
	qp = LIST_FIRST(&cq->receivers);
	if (qp) {
		LIST_REMOVE(qp, recv_link);
		LIST_INSERT_HEAD(&cq->told_receivers, qp, recv_link);
		qp_to_error(nic, qp, MYNIC_EVENT_QP_FATAL);
		return true;
	}
	if (!srq)
		return false;
	LIST_REMOVE(srq, cq_link);
	LIST_INSERT_HEAD(&cq->told_srqs, srq, cq_link);
	srq_to_error(nic, srq);
	return true;
}

bool cqs_run(struct nic *nic)
{
	struct cq *cq;

	while ((cq = TAILQ_FIRST(&nic->failed_cqs))) {
		if (nic_turn_is_over(nic))
			return true;
		nic_charge(nic, 1);
		if (cq_tell_one(nic, cq))
			continue;
		TAILQ_REMOVE(&nic->failed_cqs, cq, error_link);
		cq->error_pending = false;
	}
	return false;
}

static int cq_init(struct nic *nic, struct cq *cq,
		   const struct mynic_create_cq *cmd)
{
	int status;

	status = buf_parse(&cq->buf, &cmd->buf);
	if (status)
		return status;
	cq->dbrec_offset = le32toh(cmd->dbrec_offset);
	cq->ring = (struct ring){
		.buf = &cq->buf,
		.offset = le32toh(cmd->ring_offset),
		.log_size = cmd->log_size,
		.log_stride = LOG_CQE_SIZE,
	};
	status = ring_check(nic, &cq->ring, true);
	if (status)
		return status;
	status = buf_check(nic, &cq->buf, cq->dbrec_offset,
			   sizeof(struct mynic_cq_dbrec),
			   sizeof(struct mynic_cq_dbrec), true);
	if (status)
		return status;
	if (timer_add(&nic->timers, &cq->moderation, cq_moderation_expired))
		return MYNIC_AQ_NO_RESOURCE;
	if (table_add(&nic->cqs, cq, &cq->number)) {
		timer_remove(&nic->timers, &cq->moderation);
		return MYNIC_AQ_NO_RESOURCE;
	}
	cq->events.number = cq->number;
	cq->comp.number = cq->number;
	return MYNIC_AQ_OK;
}

int admin_create_cq(struct nic *nic, struct admin_call *call)
{
	const struct mynic_create_cq *cmd = &call->cmd.create_cq;
	uint32_t uarn = le32toh(cmd->uarn);
	struct eq *eq;
	struct cq *cq;
	int status;

	if (cmd->log_size < MIN_LOG_SIZE || cmd->log_size > CQ_MAX_LOG_SIZE ||
	    uarn >= NIC_NUM_UAR)
		return MYNIC_AQ_BAD_PARAM;
	eq = table_lookup(&nic->eqs, le16toh(cmd->eqn));
	if (!eq)
		return MYNIC_AQ_BAD_NUMBER;
	cq = mem_alloc(&nic->mem, sizeof(*cq));
	if (!cq)
		return MYNIC_AQ_NO_RESOURCE;
	status = cq_init(nic, cq, cmd);
	if (status) {
		mem_free(&nic->mem, cq);
		return status;
	}
	cq->nic = nic;
	cq->uarn = uarn;
	cq->comp.eq = eq;
	cq->ignore_overrun = call->cmd.flags & MYNIC_CQ_IGNORE_OVERRUN;
	eq->num_cqs++;
	LIST_INIT(&cq->senders);
	LIST_INIT(&cq->receivers);
	LIST_INIT(&cq->srqs);
	LIST_INIT(&cq->told_senders);
	LIST_INIT(&cq->told_receivers);
	LIST_INIT(&cq->told_srqs);
	call->cpl.number = htole32(cq->number);
	return MYNIC_AQ_OK;
}

int admin_modify_cq(struct nic *nic, struct admin_call *call)
{
	const struct mynic_modify_cq *cmd = &call->cmd.modify_cq;
	struct cq *cq = table_lookup(&nic->cqs, le32toh(call->cmd.number));

	if (!cq)
		return MYNIC_AQ_BAD_NUMBER;
	cq->mod_count = cmd->period ? le16toh(cmd->count) : 0;
	cq->mod_period = le16toh(cmd->period) * NS_PER_US;
	if (cq->held && cq->held >= cq->mod_count)
		cq_notify(nic, cq);
	return MYNIC_AQ_OK;
}

/*
 * Entries that the host has not read stay in the old ring, and the host copies
 * them. The cost for the NIC is the same for any number of entries.
 */
static int cq_move(struct nic *nic, struct cq *cq,
		   const struct mynic_resize *cmd)
{
	struct mynic_cq_dbrec *old_dbrec, *dbrec;
	struct ring ring = { .log_stride = LOG_CQE_SIZE };
	struct buf_window window = { 0 };
	struct buf buf;
	uint32_t ci;
	int status;

	status = resize_check(nic, cmd, sizeof(*dbrec), true, &buf, &ring);
	if (status)
		return status;
	if (cq->error)
		return MYNIC_AQ_BAD_STATE;
	old_dbrec = cq_record(nic, cq);
	dbrec = buf_ptr(nic, &buf, &window, le32toh(cmd->dbrec_offset),
			sizeof(*dbrec), true);
	if (!old_dbrec || !dbrec)
		return MYNIC_AQ_BAD_DMA;
	ci = buf_load_index(&old_dbrec->ci);
	if (cq->pi - ci > ring_size(&cq->ring) ||
	    cq->pi - ci > ring_size(&ring))
		return MYNIC_AQ_BAD_STATE;
	cq_look_and_take(nic, cq);
	buf_store_index(&dbrec->ci, ci);
	dbrec->taken = htole64(cq->taken);
	buf_store_index(&dbrec->db_suppress, cq->watched);
	cq->ci = ci;
	cq->base = ci;
	cq->buf = buf;
	cq->ring = ring;
	cq->ring.buf = &cq->buf;
	cq->dbrec = window;
	cq->dbrec_offset = le32toh(cmd->dbrec_offset);
	return MYNIC_AQ_OK;
}

int admin_resize_cq(struct nic *nic, struct admin_call *call)
{
	const struct mynic_resize *cmd = &call->cmd.resize;
	struct cq *cq = table_lookup(&nic->cqs, le32toh(call->cmd.number));

	if (cmd->log_size < MIN_LOG_SIZE || cmd->log_size > CQ_MAX_LOG_SIZE)
		return MYNIC_AQ_BAD_PARAM;
	if (!cq)
		return MYNIC_AQ_BAD_NUMBER;
	return cq_move(nic, cq, cmd);
}

int admin_query_cq(struct nic *nic, struct admin_call *call)
{
	struct cq *cq = table_lookup(&nic->cqs, le32toh(call->cmd.number));

	if (!cq)
		return MYNIC_AQ_BAD_NUMBER;
	if (!cq->error)
		cq_look_and_take(nic, cq);
	call->query_cq = (struct mynic_query_cq){
		.cqn = htole32(cq->number),
		.uarn = htole32(cq->uarn),
		.pi = htole32(cq->pi),
		.ci = htole32(cq->ci),
		.solicited_end = htole32(cq->solicited_end),
		.eqn = htole16(cq->comp.eq->number),
		.log_size = cq->ring.log_size,
		.arm = cq->arm,
		.dead = cq->error,
	};
	return MYNIC_AQ_OK;
}

static void cq_destroy(struct nic *nic, struct cq *cq)
{
	if (cq->error_pending)
		TAILQ_REMOVE(&nic->failed_cqs, cq, error_link);
	eq_drop(nic, &cq->events);
	eq_drop_comp(&cq->comp);
	timer_remove(&nic->timers, &cq->moderation);
	cq->comp.eq->num_cqs--;
	table_remove(&nic->cqs, cq->number);
	mem_free(&nic->mem, cq);
}

static bool cq_is_used(const struct cq *cq)
{
	return !LIST_EMPTY(&cq->senders) || !LIST_EMPTY(&cq->receivers) ||
	       !LIST_EMPTY(&cq->srqs) || !LIST_EMPTY(&cq->told_senders) ||
	       !LIST_EMPTY(&cq->told_receivers) || !LIST_EMPTY(&cq->told_srqs);
}

int admin_destroy_cq(struct nic *nic, struct admin_call *call)
{
	struct cq *cq = table_lookup(&nic->cqs, le32toh(call->cmd.number));

	if (!cq)
		return MYNIC_AQ_BAD_NUMBER;
	if (cq_is_used(cq))
		return MYNIC_AQ_BUSY;
	cq_destroy(nic, cq);
	return MYNIC_AQ_OK;
}

bool cqs_free_one(struct nic *nic, uint32_t *number)
{
	struct cq *cq = table_next(&nic->cqs, number);

	if (!cq)
		return false;
	cq_destroy(nic, cq);
	return true;
}
