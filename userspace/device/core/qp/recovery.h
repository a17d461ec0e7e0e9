/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Estimates of an RC requester from its acknowledgments: the round-trip time,
 * and the window on a path that loses packets. See "Loss recovery" in
 * Documentation/hardware/transport.rst.
 */
#ifndef MYNIC_RECOVERY_H
#define MYNIC_RECOVERY_H

#include <stdbool.h>
#include <stdint.h>

/* Packets that may be on their way if none was lost recently */
#define RECOVERY_MAX_WINDOW 256

/*
 * Lower bound in ns for suspecting a loss, because the peer may have to wait
 * for a processor
 */
#define RECOVERY_MIN_PROBE_NS 500000

/**
 * struct recovery - estimates of an RC requester
 * @window: packets that may be on their way
 * @lossy: a packet was lost recently
 * @lost_psn: if @lossy: oldest unacknowledged PSN at the last loss
 * @interval: if @lossy: smoothed number of packets between two losses
 * @clear_psn: packets before this PSN were sent twice, so an answer does not
 *	tell which of the two it is for
 * @timing: a round trip is being measured
 * @timed_psn: the measurement ends when all before this PSN is acknowledged
 * @timed_una: oldest unacknowledged PSN when the measurement began
 * @timed_at: start of the measurement, ns
 * @srtt: smoothed round-trip time, ns
 * @rttvar: mean deviation of the round-trip time, ns
 * @min_rtt: shortest recent round-trip time, ns
 * @min_rtt_at: time at which @min_rtt was measured, ns
 * @path_packets: packets that the path holds without a queue; 0: unknown
 * @probed: answered probes since the last measurement
 * @probe_after: silence in ns after which a loss is suspected; 0: no round trip
 *	has been measured
 *
 * PSNs have 32 bits, as in &struct send_queue.
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

/* Discards all estimates; @psn is the first one to send. */
void recovery_start(struct recovery *r, uint32_t psn);

/**
 * recovery_sent() - note that a packet was sent that will be answered
 * @r: estimates without a measurement under way
 * @psn: PSN of the packet
 * @una: oldest unacknowledged PSN
 * @now: current time, ns
 */
void recovery_sent(struct recovery *r, uint32_t psn, uint32_t una,
		   uint64_t now);

/**
 * recovery_heard() - note the first answer of the peer
 * @r: estimates with a @probe_after of 0; something has been sent
 * @now: current time, ns
 *
 * Whatever the answer is for, the round trip took no longer.
 */
void recovery_heard(struct recovery *r, uint64_t now);

/* @una has advanced. */
void recovery_acked(struct recovery *r, uint32_t una, uint64_t now);

/**
 * recovery_probed() - note that a probe was followed by an acknowledgment
 * @r: estimates
 * @rtt: upper bound of the round-trip time, ns
 *
 * If no other answers arrive, probes may be sent too early.
 */
void recovery_probed(struct recovery *r, uint64_t rtt);

/**
 * recovery_unclear() - note that packets are sent again
 * @r: estimates
 * @end: PSN behind these packets
 * @now: current time, ns
 *
 * The packets may have arrived before. Their answers do not tell the round-trip
 * time (Karn's algorithm).
 */
void recovery_unclear(struct recovery *r, uint32_t end, uint64_t now);

/* A packet from @una on was lost. */
void recovery_lost(struct recovery *r, uint32_t una, uint64_t now);

#endif /* MYNIC_RECOVERY_H */
