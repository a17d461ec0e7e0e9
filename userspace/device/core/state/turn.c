// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The look at the clock, which is outside the core, for base/turn.h. */

#include "state/nic_types.h"

void nic_look_at_clock(struct nic *nic)
{
	nic->turn.charged = 0;
	nic->turn.over = nic_now(nic) >= nic->turn.end;
}
