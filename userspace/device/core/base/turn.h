/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How long a nic_run() goes on: until the clock says that it is over. To look
 * at the clock costs as much as a small packet, so it is looked at once for
 * some units of work. A unit is what takes up to a microsecond or so: a packet,
 * a completion, a flow rule, a timer.
 */
#ifndef MYNIC_TURN_H
#define MYNIC_TURN_H

#include <stdbool.h>
#include <stdint.h>

/** Units between two looks at the clock; wires and queued packets likewise */
#define TURN_LOOK 16

/**
 * struct turn - the nic_run() that goes on
 * @end: when it is to be over, ns
 * @charged: units since the clock was looked at
 * @over: it is
 *
 * Each kind of work that a nic_run() does is granted TURN_LOOK units, so that
 * none is left out because of those before it.
 */
struct turn {
	uint64_t end;
	uint32_t charged;
	bool over;
};

#endif /* MYNIC_TURN_H */
