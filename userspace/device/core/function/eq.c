// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Event queues: their commands, and delivery of events and interrupts. Events
 * that find no room wait with their objects.
 */

#include "function/eq.h"

#include <endian.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "base/journal.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/util.h"
#include "function/fatal.h"
#include "function/interrupt.h"
#include "memory/buf.h"
#include "state/nic_types.h"

#define MIN_LOG_SIZE 1
#define MAX_LOG_SIZE 20
#define LOG_EQE_SIZE 5

/* Waiting events of one EQ that are sent at a time */
#define QUANTUM 64

/* An interrupt costs a system call */
#define INTERRUPT_UNITS 2

_Static_assert(sizeof(struct mynic_eqe) == 1 << LOG_EQE_SIZE, "EQE stride");
_Static_assert(ARRAY_SIZE(((struct nic *)NULL)->comp_eqs) ==
		       MYNIC_ARM_VECTOR_MASK + 1,
	       "an EQ for each vector that a host can ask for");

static void eq_interrupt(struct nic *nic, const struct eq *eq)
{
	nic_charge(nic, INTERRUPT_UNITS);
	interrupt_raise(nic, eq->vector);
}

/*
 * Finds the doorbell record. A fatal error follows without it, because the host
 * would get no more events
 */
static struct mynic_eq_dbrec *eq_record(struct nic *nic, struct eq *eq)
{
	struct mynic_eq_dbrec *dbrec = buf_ptr(nic, &eq->buf, &eq->dbrec,
					       eq->dbrec_offset, sizeof(*dbrec),
					       true);

	if (!dbrec)
		nic_fatal(nic, MYNIC_FATAL_EQ_DMA);
	return dbrec;
}

/*
 * The host may have read entries, and it sees all that were written before this
 */
static void eq_read_ci(struct nic *nic, struct eq *eq)
{
	const struct mynic_eq_dbrec *dbrec = eq_record(nic, eq);
	uint32_t ci;

	if (!dbrec)
		return;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	ci = buf_load_index(&dbrec->ci);
	if (ci - eq->ci > eq->pi - eq->ci)
		nic_count(nic, MYNIC_STAT_BAD_INDEX);
	else
		eq->ci = ci;
}

static void eq_set_must_ring(struct nic *nic, struct eq *eq, bool on)
{
	struct mynic_eq_dbrec *dbrec;

	if (eq->must_ring == on)
		return;
	eq->must_ring = on;
	dbrec = eq_record(nic, eq);
	if (dbrec)
		buf_store_index(&dbrec->ring, on);
}

static bool eq_is_full(const struct eq *eq)
{
	return eq->pi - eq->ci == ring_size(&eq->ring);
}

static bool eq_has_room(struct nic *nic, struct eq *eq)
{
	if (!eq_is_full(eq))
		return true;
	eq_set_must_ring(nic, eq, true);
	eq_read_ci(nic, eq);
	return !eq_is_full(eq);
}

/*
 * Returns false if there is no room. Returns true after a fatal error, because
 * the event is then of no use
 */
static bool eq_push(struct nic *nic, struct eq *eq, struct mynic_eqe *eqe)
{
	struct mynic_eqe *slot;

	if (!eq_has_room(nic, eq))
		return false;
	slot = ring_slot(nic, &eq->ring, eq->pi, true);
	if (!slot) {
		nic_fatal(nic, MYNIC_FATAL_EQ_DMA);
		return true;
	}
	eqe->phase = ring_phase(&eq->ring, eq->pi);
	buf_publish(slot, eqe, sizeof(*eqe));
	eq->pi++;
	nic_charge(nic, 1);
	eq_read_ci(nic, eq);
	if (eq->ci == eq->pi - 1)
		eq_interrupt(nic, eq);
	return true;
}

static bool eq_push_completion(struct nic *nic, struct eq *eq,
			       const struct comp_source *source)
{
	struct mynic_eqe eqe = {
		.number = htole32(source->number),
		.type = MYNIC_EVENT_COMP,
	};

	return eq_push(nic, eq, &eqe);
}

/*
 * Pushes events of one object while there is room. Returns true if none is left
 */
static bool eq_push_source(struct nic *nic, struct eq *eq,
			   struct event_source *source)
{
	while (source->pending) {
		int type = __builtin_ctz(source->pending);
		struct mynic_eqe eqe = {
			.number = htole32(source->number),
			.type = type,
		};

		if (source->describe)
			source->describe(source, &eqe);
		if (!eq_push(nic, eq, &eqe))
			return false;
		source->pending &= ~(1u << type);
	}
	return true;
}

/*
 * Pushes the event that has waited longest. Returns false if there is none, or
 * no room
 */
static bool eq_push_one(struct nic *nic, struct eq *eq)
{
	struct event_source *source = TAILQ_FIRST(&nic->pending_events);
	struct comp_source *comp = TAILQ_FIRST(&eq->pending_comps);

	if (eq->async && source) {
		if (!eq_push_source(nic, eq, source))
			return false;
		TAILQ_REMOVE(&nic->pending_events, source, link);
		return true;
	}
	if (!comp || !eq_push_completion(nic, eq, comp))
		return false;
	eq_drop_comp(comp);
	return true;
}

/* Pushes a limited number of events; nic_run() sends the rest */
static void eq_push_pending(struct nic *nic, struct eq *eq)
{
	for (unsigned int i = 0; i < QUANTUM; i++) {
		if (!eq_push_one(nic, eq))
			return;
	}
	nic->events_left = true;
}

bool eqs_run(struct nic *nic)
{
	uint32_t number = 0;
	struct eq *eq;

	if (!nic->events_left)
		return false;
	nic->events_left = false;
	for (; (eq = table_next(&nic->eqs, &number)); number++) {
		if (nic_turn_is_over(nic)) {
			nic->events_left = true;
			break;
		}
		eq_push_pending(nic, eq);
	}
	return nic->events_left;
}

void eq_raise(struct nic *nic, struct event_source *source,
	      enum mynic_event type)
{
	const struct journal_entry entry = {
		.kind = JOURNAL_EVENT,
		.code = type,
		.number = source->number,
	};
	bool waits = source->pending;

	nic_note(nic, &entry);
	source->pending |= 1u << type;
	if (waits || (nic->async_eq && TAILQ_EMPTY(&nic->pending_events) &&
		      eq_push_source(nic, nic->async_eq, source)))
		return;
	TAILQ_INSERT_TAIL(&nic->pending_events, source, link);
}

void eq_cancel(struct nic *nic, struct event_source *source, uint32_t types)
{
	if (source->pending && !(source->pending & ~types))
		TAILQ_REMOVE(&nic->pending_events, source, link);
	source->pending &= ~types;
}

void eq_drop(struct nic *nic, struct event_source *source)
{
	eq_cancel(nic, source, ~0u);
}

/* Returns false if there is no room, or if other events have to go first */
static bool eq_push_comp(struct nic *nic, struct eq *eq,
			 const struct comp_source *source)
{
	return TAILQ_EMPTY(&eq->pending_comps) &&
	       eq_push_completion(nic, eq, source);
}

/*
 * The vector that the host has named is preferred, but the event does not wait
 * for room in its EQ
 */
void eq_raise_comp(struct nic *nic, struct comp_source *source)
{
	struct eq *wanted = nic->comp_eqs[source->vector];

	if (source->pending || (wanted && eq_push_comp(nic, wanted, source)) ||
	    eq_push_comp(nic, source->eq, source))
		return;
	source->pending = true;
	TAILQ_INSERT_TAIL(&source->eq->pending_comps, source, link);
}

void eq_drop_comp(struct comp_source *source)
{
	if (source->pending)
		TAILQ_REMOVE(&source->eq->pending_comps, source, link);
	source->pending = false;
}

bool eq_doorbell(struct nic *nic, uint32_t number)
{
	struct eq *eq = table_lookup(&nic->eqs, number);

	if (!eq)
		return false;
	eq_read_ci(nic, eq);
	if (eq->pi != eq->ci)
		eq_interrupt(nic, eq);
	eq_push_pending(nic, eq);
	if (!eq_is_full(eq))
		eq_set_must_ring(nic, eq, false);
	return true;
}

int admin_create_eq(struct nic *nic, struct admin_call *call)
{
	const struct mynic_create_eq *cmd = &call->cmd.create_eq;
	uint16_t vector = le16toh(cmd->vector);
	struct eq *eq;
	int status, err;

	if (vector >= MYNIC_MAX_VECTORS || cmd->log_size < MIN_LOG_SIZE ||
	    cmd->log_size > MAX_LOG_SIZE || cmd->async > 1)
		return MYNIC_AQ_BAD_PARAM;
	if (cmd->async && nic->async_eq)
		return MYNIC_AQ_BUSY;
	eq = mem_alloc(&nic->mem, sizeof(*eq));
	if (!eq)
		return MYNIC_AQ_NO_RESOURCE;
	eq->vector = vector;
	eq->async = cmd->async;
	TAILQ_INIT(&eq->pending_comps);
	status = buf_parse(&eq->buf, &cmd->buf);
	if (status)
		goto free;
	eq->ring = (struct ring){
		.buf = &eq->buf,
		.log_size = cmd->log_size,
		.log_stride = LOG_EQE_SIZE,
	};
	status = ring_check(nic, &eq->ring, true);
	if (status)
		goto free;
	eq->dbrec_offset = le32toh(cmd->dbrec_offset);
	status = buf_check(nic, &eq->buf, eq->dbrec_offset,
			   sizeof(struct mynic_eq_dbrec),
			   sizeof(struct mynic_eq_dbrec), true);
	if (status)
		goto free;
	err = table_add(&nic->eqs, eq, &eq->number);
	if (err) {
		status = MYNIC_AQ_NO_RESOURCE;
		goto free;
	}
	call->cpl.number = htole32(eq->number);
	if (eq->async) {
		nic->async_eq = eq;
		eq_push_pending(nic, eq);
	} else if (eq->vector) {
		nic->comp_eqs[eq->vector] = eq;
	}
	return MYNIC_AQ_OK;
free:
	mem_free(&nic->mem, eq);
	return status;
}

static void eq_destroy(struct nic *nic, struct eq *eq)
{
	if (nic->async_eq == eq)
		nic->async_eq = NULL;
	if (nic->comp_eqs[eq->vector] == eq)
		nic->comp_eqs[eq->vector] = NULL;
	table_remove(&nic->eqs, eq->number);
	mem_free(&nic->mem, eq);
}

int admin_destroy_eq(struct nic *nic, struct admin_call *call)
{
	struct eq *eq = table_lookup(&nic->eqs, le32toh(call->cmd.number));

	if (!eq)
		return MYNIC_AQ_BAD_NUMBER;
	if (eq->num_cqs)
		return MYNIC_AQ_BUSY;
	eq_destroy(nic, eq);
	return MYNIC_AQ_OK;
}

bool eqs_free_one(struct nic *nic, uint32_t *number)
{
	struct eq *eq = table_next(&nic->eqs, number);

	if (!eq)
		return false;
	eq_destroy(nic, eq);
	return true;
}
