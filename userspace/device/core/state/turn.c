// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The look at the clock, which is outside the core, for base/turn.h. */

#include "nic.h"
#include "state/nic_types.h"

/*
 * The units between two looks take longer than this if memory is missing, which
 * the kernel then brings. With the most of SLOW, there is one unit
 */
#define SLOW_NS (NIC_TURN_NS / 2)
#define SLOW 4

void nic_begin_turn(struct nic *nic, uint64_t ns)
{
	nic->turn.looked = nic_now(nic);
	nic->turn.end = nic->turn.looked + ns;
}

void nic_look_at_clock(struct nic *nic)
{
	uint64_t now = nic_now(nic);
	struct turn *turn = &nic->turn;

	if (now - turn->looked > SLOW_NS)
		turn->slow = SLOW;
	else if (turn->slow)
		turn->slow--;
	turn->looked = now;
	turn->charged = 0;
	turn->over = now >= turn->end;
}
