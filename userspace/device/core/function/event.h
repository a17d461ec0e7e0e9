/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Event queues, and events that wait for room in one. An object remembers its
 * own pending events as bits, so none is ever lost and none needs memory.
 */
#ifndef MYNIC_EVENT_H
#define MYNIC_EVENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "memory/buf.h"
#include "mynic_regs.h"

struct nic;
struct cq;

/**
 * struct event_source - what asynchronous events are about
 * @link: in &nic.pending_events, if @pending is not 0
 * @pending: bit n: event n of enum mynic_event is to be delivered
 * @number: the object's number
 * @describe: fills in what an event has beside type and number, or NULL
 */
struct event_source {
	TAILQ_ENTRY(event_source) link;
	uint32_t pending;
	uint32_t number;
	void (*describe)(const struct event_source *source,
			 struct mynic_eqe *eqe);
};

TAILQ_HEAD(event_sources, event_source);
TAILQ_HEAD(cq_queue, cq);

/**
 * struct eq - event queue
 * @buf: host memory
 * @ring: in @buf
 * @number: EQN
 * @pi: next index to write
 * @ci: consumer index when it was last read
 * @dbrec: window on the doorbell record
 * @dbrec_offset: of the doorbell record in @buf
 * @must_ring: the host has been told to ring when it has read entries
 * @vector: MSI-X vector
 * @async: takes the asynchronous events
 * @num_cqs: CQs bound to it
 * @pending_cqs: CQs whose completion event waits for room
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
	struct cq_queue pending_cqs;
};

/**
 * event_raise() - send an asynchronous event, now or when there is room
 * @nic: the NIC
 * @source: the object
 * @type: any but MYNIC_EVENT_COMP
 */
void event_raise(struct nic *nic, struct event_source *source,
		 enum mynic_event type);

/** event_cancel() - forget those of an object's pending events in @types */
void event_cancel(struct nic *nic, struct event_source *source, uint32_t types);

/** event_drop() - forget an object's pending events, before it goes */
void event_drop(struct nic *nic, struct event_source *source);

/** event_raise_comp() - send a CQ's completion event; disarming is the CQ's */
void event_raise_comp(struct nic *nic, struct cq *cq);
void event_drop_comp(struct cq *cq);

/**
 * eq_doorbell() - the host has read entries, or has stopped reading them
 * @nic: the NIC
 * @number: EQN from the doorbell, any value
 *
 * Return: whether it was accepted.
 */
bool eq_doorbell(struct nic *nic, uint32_t number);

/** events_run() - send a bounded number of events that wait; true: more */
bool events_run(struct nic *nic);

/** eqs_free_one() - in a reset: the next from @number on; false: no more */
bool eqs_free_one(struct nic *nic, uint32_t *number);

#endif /* MYNIC_EVENT_H */
