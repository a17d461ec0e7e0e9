/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The time limit of one nic_run(). A look at the clock costs as much as a small
 * packet, so there is one look for several units of work. A unit takes up to
 * about a microsecond: a packet, a completion, a flow rule, a timer.
 */
#ifndef MYNIC_TURN_H
#define MYNIC_TURN_H

#include <stdbool.h>
#include <stdint.h>

/* Units of work between two looks at the clock, here and in wires and queues */
#define TURN_LOOK 16

/**
 * struct turn - limit of the current nic_run()
 * @end: when it has to end, in ns
 * @charged: units of work since the last look at the clock
 * @over: @end has passed
 *
 * Each kind of work is granted TURN_LOOK units even if the time is over. No
 * kind is starved by those before it.
 */
struct turn {
	uint64_t end;
	uint32_t charged;
	bool over;
};

#endif /* MYNIC_TURN_H */
