/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Estimates of an RC requester from its acknowledgments: the round-trip time,
 * and the window on a path that loses packets. See "Loss recovery" in
 * Documentation/hardware/transport.rst.
 */
#ifndef MYNIC_LOSS_RECOVERY_H
#define MYNIC_LOSS_RECOVERY_H

#include <stdint.h>

struct loss_recovery;

/* Packets that may be on their way if none was lost recently */
#define LOSS_RECOVERY_MAX_WINDOW 256

/*
 * Lower bound in ns for suspecting a loss, because the peer may have to wait
 * for a processor
 */
#define LOSS_RECOVERY_MIN_PROBE_NS 500000

/* Discards all estimates; @psn is the first one to send. */
void loss_recovery_start(struct loss_recovery *r, uint32_t psn);

/**
 * loss_recovery_sent() - note that a packet was sent that will be answered
 * @r: estimates without a measurement under way
 * @psn: PSN of the packet
 * @una: oldest unacknowledged PSN
 * @now: current time, ns
 */
void loss_recovery_sent(struct loss_recovery *r, uint32_t psn, uint32_t una,
			uint64_t now);

/**
 * loss_recovery_heard() - note the first answer of the peer
 * @r: estimates with a @probe_after of 0; something has been sent
 * @now: current time, ns
 *
 * Whatever the answer is for, the round trip took no longer.
 */
void loss_recovery_heard(struct loss_recovery *r, uint64_t now);

/* @una has advanced. */
void loss_recovery_acked(struct loss_recovery *r, uint32_t una, uint64_t now);

/**
 * loss_recovery_probed() - note that a probe was followed by an acknowledgment
 * @r: estimates
 * @rtt: upper bound of the round-trip time, ns
 *
 * If no other answers arrive, probes may be sent too early.
 */
void loss_recovery_probed(struct loss_recovery *r, uint64_t rtt);

/**
 * loss_recovery_unclear() - note that packets are sent again
 * @r: estimates
 * @end: PSN behind these packets
 * @now: current time, ns
 *
 * The packets may have arrived before. Their answers do not tell the round-trip
 * time (Karn's algorithm).
 */
void loss_recovery_unclear(struct loss_recovery *r, uint32_t end, uint64_t now);

/* A packet from @una on was lost. */
void loss_recovery_lost(struct loss_recovery *r, uint32_t una, uint64_t now);

#endif /* MYNIC_LOSS_RECOVERY_H */
