/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What an RC requester learns from its acknowledgments: how long they take,
 * and how much should be on its way where packets are lost. See "Loss
 * recovery" in Documentation/hardware/transport.rst.
 */
#ifndef MYNIC_RECOVERY_H
#define MYNIC_RECOVERY_H

#include <stdbool.h>
#include <stdint.h>

/* Packets that may be on their way where none was lost lately */
#define RECOVERY_MAX_WINDOW 256

/*
 * An answer may be late because the peer has to be scheduled, so no loss is
 * suspected sooner, ns.
 */
#define RECOVERY_MIN_PROBE_NS 500000

/**
 * struct recovery - round trips and losses of an RC requester
 * @window: packets that may be on their way
 * @lossy: one was lost not long ago
 * @lost_psn: @lossy: the oldest PSN not acknowledged when that was noticed
 * @interval: @lossy: packets between two losses, smoothed
 * @clear_psn: packets before this one were sent twice, and which time it was
 *	that is answered cannot be told
 * @timing: a round trip is being measured; it is over when ...
 * @timed_psn: ... all before this PSN is acknowledged
 * @timed_una: the oldest PSN that was not acknowledged when it began
 * @timed_at: when it began, ns
 * @srtt: smoothed round trip time, ns
 * @rttvar: its mean deviation, ns
 * @min_rtt: the shortest one of late, ns
 * @min_rtt_at: when that was measured, ns
 * @path_packets: packets that the path holds without a queue; 0: not known
 * @probed: probes that were followed by an acknowledgment, since a round trip
 *	was measured
 * @probe_after: silence after which a loss is suspected, ns; 0: no round trip
 *	has been measured
 *
 * PSNs as in &struct requester.
 */
struct recovery {
	uint32_t window;
	bool lossy;
	uint32_t lost_psn;
	uint32_t interval;
	uint32_t clear_psn;
	bool timing;
	uint32_t timed_psn;
	uint32_t timed_una;
	uint64_t timed_at;
	uint64_t srtt;
	uint64_t rttvar;
	uint64_t min_rtt;
	uint64_t min_rtt_at;
	uint32_t path_packets;
	unsigned int probed;
	uint64_t probe_after;
};

/** recovery_start() - forget all; @psn is the first one to be sent */
void recovery_start(struct recovery *r, uint32_t psn);

/**
 * recovery_sent() - a packet has been sent that is to be answered
 * @r: no measurement is under way
 * @psn: PSN of the packet
 * @una: the oldest PSN that is not acknowledged
 * @now: time in ns
 */
void recovery_sent(struct recovery *r, uint32_t psn, uint32_t una,
		   uint64_t now);

/**
 * recovery_heard() - the peer has answered for the first time
 * @r: @r->probe_after is 0, and something has been sent
 * @now: time in ns
 *
 * Whatever it is that it has answered, a round trip takes no longer.
 */
void recovery_heard(struct recovery *r, uint64_t now);

/** recovery_acked() - @una has moved on */
void recovery_acked(struct recovery *r, uint32_t una, uint64_t now);

/**
 * recovery_probed() - something was acknowledged after a probe
 * @r: round trips and losses
 * @rtt: the round trip was not longer, ns
 *
 * If that is all one ever hears, the probes may be what is too early.
 */
void recovery_probed(struct recovery *r, uint64_t rtt);

/**
 * recovery_unclear() - packets are sent again that may have arrived
 * @r: something has been sent
 * @end: behind them
 * @now: time in ns
 *
 * So their answers do not tell how long a round trip is (Karn).
 */
void recovery_unclear(struct recovery *r, uint32_t end, uint64_t now);

/** recovery_lost() - a packet from @una on was lost */
void recovery_lost(struct recovery *r, uint32_t una, uint64_t now);

#endif /* MYNIC_RECOVERY_H */
