/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Timers of one NIC: a binary heap. A timer that is put off keeps its place in
 * the heap until that comes up, so that restarting a retransmission timer for
 * each acknowledgment costs one store.
 */
#ifndef MYNIC_TIMER_H
#define MYNIC_TIMER_H

#include <stdbool.h>
#include <stdint.h>

#define TIMER_NEVER UINT64_MAX

/**
 * struct timer - something to do at a later time
 * @fn: called from timers_run(), may set the timer again, to a later time
 * @expires: when it is due, in ns; TIMER_NEVER if it is not set
 * @key: the time by which it is sorted, at most @expires
 * @pos: place in the heap plus 1, 0 if it is not there
 */
struct timer {
	void (*fn)(struct timer *timer);
	uint64_t expires;
	uint64_t key;
	uint32_t pos;
};

struct mem;

/**
 * struct timers - the timers of a NIC; all zeroes but @mem is none
 * @mem: what @heap is taken from
 * @heap: the timers, the earliest @key first
 * @used: elements in @heap
 * @reserved: timers that have been added, for each of which there is room
 * @size: room in @heap
 */
struct timers {
	struct mem *mem;
	struct timer **heap;
	uint32_t used;
	uint32_t reserved;
	uint32_t size;
};

/**
 * timer_add() - make a timer known, not set
 * @timers: where it belongs
 * @timer: the timer
 * @fn: see &struct timer
 *
 * Return: 0 or -ENOMEM.
 */
int timer_add(struct timers *timers, struct timer *timer,
	      void (*fn)(struct timer *timer));

/** timer_remove() - forget a timer that timer_add() has made known */
void timer_remove(struct timers *timers, struct timer *timer);

/** timer_set() - (re)start a timer; @expires is in ns of nic_now() */
void timer_set(struct timers *timers, struct timer *timer, uint64_t expires);

static inline void timer_stop(struct timer *timer)
{
	timer->expires = TIMER_NEVER;
}

static inline bool timer_is_set(const struct timer *timer)
{
	return timer->expires != TIMER_NEVER;
}

/**
 * timers_run() - call a bounded number of the timers that are due
 * @timers: the timers
 * @now: the time
 *
 * Return: true if there may be more.
 */
bool timers_run(struct timers *timers, uint64_t now);

/** timers_next() - when timers_run() next has something to do, or TIMER_NEVER */
uint64_t timers_next(const struct timers *timers);

/** timers_free() - give back the memory, when no timer is known any more */
void timers_free(struct timers *timers);

#endif /* MYNIC_TIMER_H */
