/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Fair scheduling of NICs. Turns differ in length. One with a single queue pair
 * and large messages ends after tens of microseconds, and one with much to send
 * after 200. Time is therefore what counts. A NIC that has had more than others
 * leaves out turns until they have caught up.
 */
#ifndef MYNIC_HOST_FAIR_SHARE_H
#define MYNIC_HOST_FAIR_SHARE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct fair_clock - reference for the time of turns
 * @now: ns; advances with the NIC with work that has had the least time
 */
struct fair_clock {
	uint64_t now;
};

/**
 * struct fair_share - processor time of a NIC
 * @used: time of its turns in ns, as if the NIC had always been busy
 */
struct fair_share {
	uint64_t used;
};

/* Time that a NIC has had. An idle NIC does not save up time. */
uint64_t fair_share_used(const struct fair_clock *clock,
			 const struct fair_share *share);

/* Whether a NIC has had more time than it may have now. */
bool fair_share_is_ahead(const struct fair_clock *clock,
			 const struct fair_share *share);

/* All NICs with work have had at least @least. */
void fair_clock_advance(struct fair_clock *clock, uint64_t least);

/**
 * fair_share_spent() - charge work that was done outside of a NIC's turn
 * @clock: reference time
 * @share: share of the NIC
 * @ns: time that it took
 *
 * The debt of a NIC is limited to some 20 ms. Anything that takes longer is not
 * caused by the NIC alone, and its driver must not report a hang.
 */
void fair_share_spent(const struct fair_clock *clock, struct fair_share *share,
		      uint64_t ns);

/* Charges a turn that has taken @ns. */
void fair_share_ran(const struct fair_clock *clock, struct fair_share *share,
		    uint64_t ns);

#endif /* MYNIC_HOST_FAIR_SHARE_H */
