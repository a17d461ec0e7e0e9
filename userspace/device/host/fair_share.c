// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Accounting of the processor time of NICs. The event loop asks it whose turn
 * is next.
 */

#include "core/base/util.h"
#include "core/nic.h"
#include "fair_share.h"

/* How far a NIC may be ahead of others, and how much an idle NIC may save up */
#define LEAD NIC_TURN_NS

/* A turn has a cost even if it does nothing */
#define MIN_TURN 500

/*
 * Upper bound of a NIC's debt. A turn that ends by the clock is charged in
 * full. A turn that waits for a disk or the scheduler is not. With 60 busy
 * neighbours the NIC is back after 1.2 s, before its driver reports a hang.
 */
#define MOST_AHEAD (100 * NIC_TURN_NS)

uint64_t fair_share_used(const struct fair_clock *clock,
			 const struct fair_share *share)
{
	return clock->now > LEAD ? max_u64(share->used, clock->now - LEAD) :
				   share->used;
}

bool fair_share_is_ahead(const struct fair_clock *clock,
			 const struct fair_share *share)
{
	return share->used > clock->now + LEAD;
}

void fair_clock_advance(struct fair_clock *clock, uint64_t least)
{
	clock->now = max_u64(clock->now, least);
}

void fair_share_spent(const struct fair_clock *clock, struct fair_share *share,
		      uint64_t ns)
{
	uint64_t used = fair_share_used(clock, share) + ns;
	uint64_t most = clock->now + LEAD + MOST_AHEAD;

	share->used = min_u64(used, most);
}

void fair_share_ran(const struct fair_clock *clock, struct fair_share *share,
		    uint64_t ns)
{
	fair_share_spent(clock, share, max_u64(ns, MIN_TURN));
}
