// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The heap behind timer.h. It reads no clock; callers pass the time. */

#include "base/timer.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"

/*
 * Timers that one call runs, so that other work need not wait for all of them
 */
#define QUANTUM 64
#define MIN_SIZE 64

static void timer_place(struct timers *timers, struct timer *timer,
			uint32_t pos)
{
	timers->heap[pos] = timer;
	timer->pos = pos + 1;
}

static void timer_sift_up(struct timers *timers, struct timer *timer,
			  uint32_t pos)
{
	while (pos) {
		uint32_t parent = (pos - 1) / 2;

		if (timers->heap[parent]->key <= timer->key)
			break;
		timer_place(timers, timers->heap[parent], pos);
		pos = parent;
	}
	timer_place(timers, timer, pos);
}

static void timer_sift_down(struct timers *timers, struct timer *timer,
			    uint32_t pos)
{
	for (;;) {
		uint32_t child = pos * 2 + 1;

		if (child >= timers->used)
			break;
		if (child + 1 < timers->used &&
		    timers->heap[child + 1]->key < timers->heap[child]->key)
			child++;
		if (timers->heap[child]->key >= timer->key)
			break;
		timer_place(timers, timers->heap[child], pos);
		pos = child;
	}
	timer_place(timers, timer, pos);
}

static void timer_heap_remove(struct timers *timers, struct timer *timer)
{
	uint32_t pos = timer->pos - 1;
	struct timer *last = timers->heap[--timers->used];

	timer->pos = 0;
	if (last == timer)
		return;
	if (last->key < timer->key)
		timer_sift_up(timers, last, pos);
	else
		timer_sift_down(timers, last, pos);
}

static int timer_resize(struct timers *timers, uint32_t size)
{
	struct timer **heap = mem_alloc(timers->mem, size * sizeof(*heap));

	if (!heap)
		return -ENOMEM;
	if (timers->used)
		memcpy(heap, timers->heap, timers->used * sizeof(*heap));
	mem_free(timers->mem, timers->heap);
	timers->heap = heap;
	timers->size = size;
	return 0;
}

int timer_add(struct timers *timers, struct timer *timer,
	      void (*fn)(struct timer *timer))
{
	if (timers->reserved == timers->size &&
	    timer_resize(timers, timers->size ? timers->size * 2 : MIN_SIZE))
		return -ENOMEM;
	timers->reserved++;
	timer->fn = fn;
	timer->expires = TIMER_NEVER;
	timer->pos = 0;
	return 0;
}

void timer_remove(struct timers *timers, struct timer *timer)
{
	timer_cancel(timers, timer);
	timers->reserved--;
	/*
	 * Give back what many objects have needed. A quarter, so that the next
	 * object does not need it again. Without memory for less, keep it.
	 */
	if (timers->size > MIN_SIZE && timers->reserved <= timers->size / 4)
		timer_resize(timers, timers->size / 2);
}

void timer_set(struct timers *timers, struct timer *timer, uint64_t expires)
{
	timer->expires = expires;
	if (timer->pos) {
		if (expires >= timer->key)
			return;
		timer->key = expires;
		timer_sift_up(timers, timer, timer->pos - 1);
		return;
	}
	timer->key = expires;
	timers->used++;
	timer_sift_up(timers, timer, timers->used - 1);
}

void timer_cancel(struct timers *timers, struct timer *timer)
{
	timer_stop(timer);
	if (timer->pos)
		timer_heap_remove(timers, timer);
}

bool timers_run(struct timers *timers, uint64_t now)
{
	/* The budget ends the loop even if a timer is due again at once */
	uint32_t budget = timers->used;
	bool all = budget <= QUANTUM;

	if (!all)
		budget = QUANTUM;

	while (budget-- && timers->used && timers->heap[0]->key <= now) {
		struct timer *timer = timers->heap[0];

		if (timer->expires > now && timer_is_set(timer)) {
			timer->key = timer->expires;
			timer_sift_down(timers, timer, 0);
			continue;
		}
		timer_heap_remove(timers, timer);
		if (timer_is_set(timer)) {
			timer->expires = TIMER_NEVER;
			timer->fn(timer);
		}
	}
	return !all && timers->used && timers->heap[0]->key <= now;
}

uint64_t timers_next(const struct timers *timers)
{
	return timers->used ? timers->heap[0]->key : TIMER_NEVER;
}

void timers_free(struct timers *timers)
{
	mem_free(timers->mem, timers->heap);
	*timers = (struct timers){ .mem = timers->mem };
}
