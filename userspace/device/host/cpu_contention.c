// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Detection of a process that shares the device's processor, and the move away
 * from it.
 */

#include <sched.h>

#include "cpu_contention.h"

/*
 * A process that was waiting for its processor takes less time, and one that
 * does other work between two requests takes more.
 */
#define CPU_CONTENTION_WAKE_UP_NS 40000

/*
 * A process that waits for each answer causes the same pattern from any
 * processor. One move for so many wake-ups costs it little.
 */
#define CPU_CONTENTION_WAKE_UPS 32

bool cpu_contention_slept(struct cpu_contention *contention, uint64_t time)
{
	if (time >= CPU_CONTENTION_WAKE_UP_NS) {
		contention->wake_ups = 0;
		return false;
	}
	if (++contention->wake_ups < CPU_CONTENTION_WAKE_UPS)
		return false;
	contention->wake_ups = 0;
	return true;
}

/*
 * The scheduler counts runnable threads. With two other busy threads, both
 * processors look equal to it, so it does not move this thread by itself.
 */
void cpu_contention_move_away(void)
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
