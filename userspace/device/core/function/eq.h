/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Event queues, and events that wait for room in them. Pending events are bits
 * in their object. None is lost, and none needs memory.
 */
#ifndef MYNIC_EQ_H
#define MYNIC_EQ_H

#include <stdbool.h>
#include <stdint.h>

#include "mynic_regs.h"
#include "state/function_types.h"
#include "state/memory_types.h"

struct admin_call;
struct nic;

/**
 * struct eq - an event queue
 * @buf: host memory
 * @ring: the ring in @buf
 * @number: EQN
 * @pi: next index to write
 * @ci: consumer index when it was last read
 * @dbrec: translation of the doorbell record
 * @dbrec_offset: offset of the doorbell record in @buf
 * @must_ring: the host has been told to ring the doorbell after it has read
 *	entries
 * @vector: MSI-X vector
 * @async: asynchronous events go to this EQ
 * @num_cqs: CQs that are bound to it
 * @pending_comps: CQs whose completion event waits for room
 */
struct eq {
	struct buf buf;
	struct ring ring;
	uint32_t number;
	uint32_t pi;
	uint32_t ci;
	struct buf_window dbrec;
	uint32_t dbrec_offset;
	bool must_ring;
	uint16_t vector;
	bool async;
	uint32_t num_cqs;
	struct comp_sources pending_comps;
};

/**
 * eq_raise() - send an asynchronous event, at once or when there is room
 * @nic: the NIC
 * @source: the object
 * @type: any but MYNIC_EVENT_COMP
 */
void eq_raise(struct nic *nic, struct event_source *source,
	      enum mynic_event type);

/* Discards pending events of an object; @types has one bit for each type. */
void eq_cancel(struct nic *nic, struct event_source *source, uint32_t types);

/* Discards all pending events of an object that is being destroyed. */
void eq_drop(struct nic *nic, struct event_source *source);

/* Sends a completion event. The caller disarms the CQ. */
void eq_raise_comp(struct nic *nic, struct comp_source *source);
void eq_drop_comp(struct comp_source *source);

/**
 * eq_doorbell() - note that the host has read entries, or no longer does
 * @nic: the NIC
 * @number: EQN from the doorbell, any value
 *
 * Return: true if the doorbell was accepted.
 */
bool eq_doorbell(struct nic *nic, uint32_t number);

/*
 * Sends a limited number of waiting events. Returns true if more are waiting.
 */
bool eqs_run(struct nic *nic);

/*
 * Part of a reset: frees the next EQ from @number on. Returns false if there is
 * none.
 */
bool eqs_free_one(struct nic *nic, uint32_t *number);

/* Commands of the host; see admin.h */
int admin_create_eq(struct nic *nic, struct admin_call *call);
int admin_destroy_eq(struct nic *nic, struct admin_call *call);

#endif /* MYNIC_EQ_H */
