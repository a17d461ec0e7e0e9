// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The decision when the device's thread sleeps. The event loop reports work and
 * interrupts, and acts on the decision.
 */

#include "busy_poll.h"

/* No longer than a wake-up takes */
#define BUSY_POLL_WORK_NS 5000

/* Time for a process to wake up after an interrupt and to post */
#define BUSY_POLL_INTERRUPT_NS 400000

/* Time slices on a shared processor are longer, and answers come sooner */
#define BUSY_POLL_SLICE_NS 700000

/*
 * One time slice may be an accident, for example of a virtual processor that
 * waits for a lock. With the upper bound, time slices of a polling process cost
 * 1 %.
 */
#define BUSY_POLL_POLLED_MIN_NS 10000000
#define BUSY_POLL_POLLED_MAX_NS 320000000

static uint64_t busy_poll_longer(uint64_t time)
{
	if (!time)
		return BUSY_POLL_POLLED_MIN_NS;
	return time < BUSY_POLL_POLLED_MAX_NS ? 2 * time : time;
}

void busy_poll_work(struct busy_poll *busy_poll, uint64_t now)
{
	if (busy_poll->interrupt)
		busy_poll->answered = now - busy_poll->interrupt <
				      BUSY_POLL_INTERRUPT_NS;
	if (busy_poll->yields && busy_poll->answered)
		busy_poll->polled = 0;
	busy_poll->interrupt = 0;
	busy_poll->yields = false;
	busy_poll->until = now + BUSY_POLL_WORK_NS;
}

void busy_poll_interrupt(struct busy_poll *busy_poll, uint64_t now)
{
	busy_poll->interrupt = now;
	busy_poll->yields = busy_poll->answered &&
			    now >= busy_poll->polled_until;
	busy_poll->until = busy_poll->yields ? now + BUSY_POLL_INTERRUPT_NS :
					       now;
}

bool busy_poll_is_over(const struct busy_poll *busy_poll, uint64_t now)
{
	return now >= busy_poll->until;
}

void busy_poll_yielded(struct busy_poll *busy_poll, uint64_t begin,
		       uint64_t end)
{
	if (end - begin < BUSY_POLL_SLICE_NS)
		return;
	busy_poll->polled = busy_poll_longer(busy_poll->polled);
	busy_poll->polled_until = end + busy_poll->polled;
}
