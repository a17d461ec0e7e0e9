// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Times of completions: after their requests, and before they were polled */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "runner.h"

/*
 * How far the wall clock of completions may be from the system's. The driver
 * reads both one after the other, which takes longer on a busy machine.
 */
#define SLACK_NS 500000000ULL

/**
 * clock_now() - read a device's clock, and then the system's
 * @node: the device
 * @now: where to write both
 *
 * Return: whether the device has a clock.
 */
bool clock_now(const struct node *node, struct moment *now)
{
	struct ibv_values_ex values = { .comp_mask =
						IBV_VALUES_MASK_RAW_CLOCK };
	struct timespec real;

	if (ibv_query_rt_values_ex(node->ctx, &values))
		return false;
	clock_gettime(CLOCK_REALTIME, &real);
	now->ticks = values.raw_clock.tv_nsec;
	now->ns = real.tv_sec * 1000000000ULL + real.tv_nsec;
	return true;
}

/** clock_stamp() - note the time before the requests of a line are posted */
void clock_stamp(const struct line *line)
{
	bool asked = false, known = false;
	struct moment now;
	uint64_t wr_id;

	for (unsigned int i = 0; i < line->num_args; i++) {
		struct stamp *stamp;

		if (sscanf(line->args[i], "wr=id=%" SCNu64, &wr_id) != 1)
			continue;
		if (!asked)
			known = clock_now(
				&program->nodes[object(line, line->target)->node],
				&now);
		asked = true;
		stamp = &program->stamps[wr_id % MAX_STAMPS];
		*stamp = (struct stamp){ wr_id, known, now };
	}
}

/* The time may wrap in between. */
static void compare_ticks(const struct line *line, uint64_t mask,
			  const struct timed *timed, const struct stamp *stamp)
{
	uint64_t first = stamp->at.ticks;

	if (((timed->ticks - first) & mask) >
	    ((timed->polled.ticks - first) & mask))
		fail(line,
		     "request %llu was posted at %#llx, completed at %#llx, and polled at %#llx",
		     (unsigned long long)stamp->wr_id,
		     (unsigned long long)first,
		     (unsigned long long)timed->ticks,
		     (unsigned long long)timed->polled.ticks);
}

/**
 * clock_compare() - fail if a completion has another time than it can have
 * @line: the call
 * @cq: the completion queue
 * @wr_id: of the request
 * @timed: times of the completion
 */
void clock_compare(const struct line *line, const struct object *cq,
		   uint64_t wr_id, const struct timed *timed)
{
	const struct stamp *stamp = &program->stamps[wr_id % MAX_STAMPS];

	if (!timed->known || stamp->wr_id != wr_id)
		return;
	if (!stamp->known)
		fail(line, "there was no clock when request %llu was posted",
		     (unsigned long long)wr_id);
	if (cq->wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
		compare_ticks(line, program->nodes[cq->node].clock_mask, timed,
			      stamp);
	if (cq->wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK &&
	    (timed->ns + SLACK_NS < stamp->at.ns ||
	     timed->ns > timed->polled.ns + SLACK_NS))
		fail(line,
		     "request %llu was posted at %llu ns, completed at %llu, and polled at %llu",
		     (unsigned long long)wr_id,
		     (unsigned long long)stamp->at.ns,
		     (unsigned long long)timed->ns,
		     (unsigned long long)timed->polled.ns);
}
