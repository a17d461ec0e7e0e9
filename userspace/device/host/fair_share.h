/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Whose turn it is. NICs have turns one after the other, but how long these
 * are is different: who has one queue pair with large messages ends after some
 * tens of microseconds, who sends as much as fits after 200. So what counts is
 * the time: a NIC that has had more than the others leaves out turns until they
 * have caught up.
 */
#ifndef MYNIC_HOST_FAIR_SHARE_H
#define MYNIC_HOST_FAIR_SHARE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct fair_clock - the time that turns are counted in
 * @now: ns; goes on with what the NIC has had that has the least, of those with
 *	work
 */
struct fair_clock {
	uint64_t now;
};

/**
 * struct fair_share - what a NIC has had
 * @used: time of its turns, ns; or as if it had always been there
 */
struct fair_share {
	uint64_t used;
};

/** fair_share_used() - what a NIC has had; who was idle has not saved it up */
uint64_t fair_share_used(const struct fair_clock *clock,
			 const struct fair_share *share);

/** fair_share_is_ahead() - whether a NIC has had more than it may have now */
bool fair_share_is_ahead(const struct fair_clock *clock,
			 const struct fair_share *share);

/** fair_clock_advance() - all NICs that have work have had at least @least */
void fair_clock_advance(struct fair_clock *clock, uint64_t least);

/**
 * fair_share_spent() - something was done for a NIC outside of its turns
 * @clock: the time that turns are counted in
 * @share: the NIC's
 * @ns: how long it took
 *
 * Beyond some 20 ms a NIC does not owe more: what took that long was not all
 * its own doing, and its guest must not take it for dead.
 */
void fair_share_spent(const struct fair_clock *clock, struct fair_share *share,
		      uint64_t ns);

/** fair_share_ran() - a NIC had a turn, which has taken @ns */
void fair_share_ran(const struct fair_clock *clock, struct fair_share *share,
		    uint64_t ns);

#endif /* MYNIC_HOST_FAIR_SHARE_H */
