// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <sched.h>

#include "crowding.h"

/*
 * A process that could only wait for its processor needs less, one that has
 * something else to do between two requests more.
 */
#define CROWDING_WAKE_UP_NS 40000

/*
 * Who waits for each answer before the next request wakes the device up as
 * often, wherever it is. One move in so many wake-ups costs little there.
 */
#define CROWDING_WAKE_UPS 32

bool crowding_slept(struct crowding *crowding, uint64_t time)
{
	if (time >= CROWDING_WAKE_UP_NS) {
		crowding->wake_ups = 0;
		return false;
	}
	if (++crowding->wake_ups < CROWDING_WAKE_UPS)
		return false;
	crowding->wake_ups = 0;
	return true;
}

/*
 * The scheduler does not do so by itself: it counts threads that want to run,
 * and with two others that never sleep it is two on either processor.
 */
void crowding_move_away(void)
{
	cpu_set_t allowed, others;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return;
	others = allowed;
	CPU_CLR(sched_getcpu(), &others);
	if (!CPU_COUNT(&others))
		return;
	sched_setaffinity(0, sizeof(others), &others);
	sched_setaffinity(0, sizeof(allowed), &allowed);
}
