// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "core/nic.h"
#include "fair_share.h"

/* How far a NIC may be ahead, and how far who was idle is behind at most */
#define LEAD NIC_TURN_NS

/* What is around a turn takes time as well */
#define MIN_TURN 500

/*
 * What a NIC may owe. Turns that end by the clock are charged in full many
 * times over. One that waits for a disk, or for the scheduler, is not: with
 * 60 neighbours that are all busy the NIC is back after 1.2 s, before its
 * driver takes it for dead.
 */
#define MOST_AHEAD (100 * NIC_TURN_NS)

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

uint64_t fair_share_used(const struct fair_clock *clock,
			 const struct fair_share *share)
{
	return clock->now > LEAD ? later(share->used, clock->now - LEAD) :
				   share->used;
}

bool fair_share_is_ahead(const struct fair_clock *clock,
			 const struct fair_share *share)
{
	return share->used > clock->now + LEAD;
}

void fair_clock_advance(struct fair_clock *clock, uint64_t least)
{
	clock->now = later(clock->now, least);
}

void fair_share_spent(const struct fair_clock *clock, struct fair_share *share,
		      uint64_t ns)
{
	uint64_t used = fair_share_used(clock, share) + ns;
	uint64_t most = clock->now + LEAD + MOST_AHEAD;

	share->used = used < most ? used : most;
}

void fair_share_ran(const struct fair_clock *clock, struct fair_share *share,
		    uint64_t ns)
{
	fair_share_spent(clock, share, later(ns, MIN_TURN));
}
