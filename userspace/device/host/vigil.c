// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The decision when the device's thread sleeps. The event loop reports work and
 * interrupts, and acts on the decision.
 */

#include "vigil.h"

/* No longer than a wake-up takes */
#define VIGIL_WORK_NS 5000

/* Time for a process to wake up after an interrupt and to post */
#define VIGIL_INTERRUPT_NS 400000

/* Time slices on a shared processor are longer, and answers come sooner */
#define VIGIL_SLICE_NS 700000

/*
 * One time slice may be an accident, for example of a virtual processor that
 * waits for a lock. With the upper bound, time slices of a polling process cost
 * 1 %.
 */
#define VIGIL_POLLED_MIN_NS 10000000
#define VIGIL_POLLED_MAX_NS 320000000

static uint64_t vigil_longer(uint64_t time)
{
	if (!time)
		return VIGIL_POLLED_MIN_NS;
	return time < VIGIL_POLLED_MAX_NS ? 2 * time : time;
}

void vigil_work(struct vigil *vigil, uint64_t now)
{
	if (vigil->interrupt)
		vigil->answered = now - vigil->interrupt < VIGIL_INTERRUPT_NS;
	if (vigil->polite && vigil->answered)
		vigil->polled = 0;
	vigil->interrupt = 0;
	vigil->polite = false;
	vigil->until = now + VIGIL_WORK_NS;
}

void vigil_interrupt(struct vigil *vigil, uint64_t now)
{
	vigil->interrupt = now;
	vigil->polite = vigil->answered && now >= vigil->polled_until;
	vigil->until = vigil->polite ? now + VIGIL_INTERRUPT_NS : now;
}

bool vigil_is_over(const struct vigil *vigil, uint64_t now)
{
	return now >= vigil->until;
}

void vigil_gave_way(struct vigil *vigil, uint64_t begin, uint64_t end)
{
	if (end - begin < VIGIL_SLICE_NS)
		return;
	vigil->polled = vigil_longer(vigil->polled);
	vigil->polled_until = end + vigil->polled;
}
