/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Timers of one NIC, in a binary heap. A timer that is postponed keeps its
 * place in the heap until that place is at the top. Restarting a retransmission
 * timer, which happens with each acknowledgment, thus costs one store.
 */
#ifndef MYNIC_TIMER_H
#define MYNIC_TIMER_H

#include <stdbool.h>
#include <stdint.h>

struct mem;

#define TIMER_NEVER UINT64_MAX

/**
 * struct timer - a function to call at a later time
 * @fn: is called from timers_run(); it may set the timer again, to a later time
 * @expires: due time in ns; TIMER_NEVER if it is not set
 * @key: time by which the heap is sorted; never later than @expires
 * @pos: index in the heap plus 1; 0 if it is not in the heap
 */
struct timer {
	void (*fn)(struct timer *timer);
	uint64_t expires;
	uint64_t key;
	uint32_t pos;
};

/**
 * struct timers - the timers of a NIC; all zeroes but @mem is an empty set
 * @mem: accounting for @heap
 * @heap: the timers, the earliest @key first
 * @used: elements in @heap
 * @reserved: timers that have been added; the heap has room for all of them
 * @size: capacity of @heap
 */
struct timers {
	struct mem *mem;
	struct timer **heap;
	uint32_t used;
	uint32_t reserved;
	uint32_t size;
};

/**
 * timer_add() - add a timer that is not set
 * @timers: the NIC's timers
 * @timer: the timer
 * @fn: see &struct timer
 *
 * Return: 0 or -ENOMEM.
 */
int timer_add(struct timers *timers, struct timer *timer,
	      void (*fn)(struct timer *timer));

/* Removes a timer that timer_add() has added, and stops it. */
void timer_remove(struct timers *timers, struct timer *timer);

/* Starts or restarts a timer; @expires is in ns of nic_now(). */
void timer_set(struct timers *timers, struct timer *timer, uint64_t expires);

/* Stops a timer. Its place in the heap may still cause a timers_run(). */
static inline void timer_stop(struct timer *timer)
{
	timer->expires = TIMER_NEVER;
}

static inline bool timer_is_set(const struct timer *timer)
{
	return timer->expires != TIMER_NEVER;
}

/* Stops a timer that is not set again soon, and causes no timers_run(). */
void timer_cancel(struct timers *timers, struct timer *timer);

/**
 * timers_run() - call timers that are due, up to a limit
 * @timers: the NIC's timers
 * @now: current time, in ns
 *
 * Return: true if more timers may be due.
 */
bool timers_run(struct timers *timers, uint64_t now);

/* When timers_run() is needed next; TIMER_NEVER if no timer is set. */
uint64_t timers_next(const struct timers *timers);

/* Frees the heap. All timers must have been removed. */
void timers_free(struct timers *timers);

#endif /* MYNIC_TIMER_H */
