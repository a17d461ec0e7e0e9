// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Estimates for loss recovery: round-trip time, capacity of the path, and
 * window. It sends nothing; rdma/requester.c acts on the estimates.
 */

#include "qp/loss_recovery.h"

#include <stdbool.h>

#include "base/util.h"
#include "state/transport_types.h"

/* Lower bound of the window, in packets */
#define MIN_WINDOW 16

/*
 * After a loss all later packets are sent again, so the window should be what
 * the path holds. The estimate of that is too low if the peer sometimes has to
 * wait for a processor. The window is therefore not below this value, nor below
 * half the packets between two losses. At worst a third of all packets is then
 * sent in vain.
 */
#define SAFE_WINDOW 64

/* Estimate of the interval at the first loss, in packets */
#define FIRST_INTERVAL 512

/* A loss counts as an accident after this many packets without another */
#define CLEAN_PACKETS 8192

/*
 * After this many probes without a measurement, the round-trip time may have
 * grown
 */
#define MAX_PROBED 8

/* How long the shortest round-trip time stays valid */
#define MIN_RTT_LIFE_NS 100000000

/*
 * log2 of the weights of a new round-trip time in mean and deviation (RFC 6298)
 */
#define SRTT_SHIFT 3
#define RTTVAR_SHIFT 2

/* log2 of the weight of a new interval between losses in their mean */
#define INTERVAL_SHIFT 2

void loss_recovery_start(struct loss_recovery *r, uint32_t psn)
{
	*r = (struct loss_recovery){
		.window = LOSS_RECOVERY_MAX_WINDOW,
		.clear_psn = psn,
	};
}

void loss_recovery_sent(struct loss_recovery *r, uint32_t psn, uint32_t una,
			uint64_t now)
{
	if (seq_before(psn, r->clear_psn))
		return;
	r->timing = true;
	r->timed_psn = psn + 1;
	r->timed_una = una;
	r->timed_at = now;
}

static void loss_recovery_set_probe_after(struct loss_recovery *r, uint64_t rtt)
{
	uint64_t deviation = rtt > r->srtt ? rtt - r->srtt : r->srtt - rtt;

	if (!r->srtt) {
		r->srtt = rtt;
		r->rttvar = rtt / 2;
	} else {
		r->rttvar += deviation >> RTTVAR_SHIFT;
		r->rttvar -= r->rttvar >> RTTVAR_SHIFT;
		r->srtt += rtt >> SRTT_SHIFT;
		r->srtt -= r->srtt >> SRTT_SHIFT;
	}
	r->probe_after = r->srtt + 4 * r->rttvar;
	if (r->probe_after < LOSS_RECOVERY_MIN_PROBE_NS)
		r->probe_after = LOSS_RECOVERY_MIN_PROBE_NS;
}

static void loss_recovery_set_min_rtt(struct loss_recovery *r, uint64_t rtt,
				      uint64_t now)
{
	if (r->min_rtt && rtt > r->min_rtt)
		return;
	r->min_rtt = rtt;
	r->min_rtt_at = now;
}

void loss_recovery_heard(struct loss_recovery *r, uint64_t now)
{
	uint64_t rtt = now - r->timed_at + 1;

	r->timing = false;
	loss_recovery_set_min_rtt(r, rtt, now);
	loss_recovery_set_probe_after(r, rtt);
}

static void loss_recovery_set_window(struct loss_recovery *r, uint32_t window)
{
	window = max_u32(window, min_u32(r->interval / 2, SAFE_WINDOW));
	window = max_u32(window, MIN_WINDOW);
	r->window = min_u32(window, LOSS_RECOVERY_MAX_WINDOW);
}

/*
 * @packets were acknowledged within @rtt. Without a queue the path can hold
 * more. With a queue, it holds the rate times the shortest round-trip time. The
 * window is a quarter larger, to find out whether the path holds more now.
 */
static void loss_recovery_set_path_packets(struct loss_recovery *r,
					   uint32_t packets, uint64_t rtt)
{
	/*
	 * A window that is not full shows the rate of the sender, not of the
	 * path
	 */
	if (packets < r->window / 2)
		return;
	r->path_packets = packets * r->min_rtt / rtt;
	if (rtt < r->min_rtt + r->min_rtt / 8)
		loss_recovery_set_window(r, 2 * r->path_packets);
	else
		loss_recovery_set_window(r,
					 r->path_packets + r->path_packets / 4);
}

void loss_recovery_acked(struct loss_recovery *r, uint32_t una, uint64_t now)
{
	uint64_t rtt = now - r->timed_at + 1;

	if (!r->timing || seq_before(una, r->timed_psn))
		return;
	r->timing = false;
	/* Old values must not become "ahead" again when PSNs wrap */
	r->clear_psn = una;
	r->probed = 0;
	loss_recovery_set_min_rtt(r, rtt, now);
	loss_recovery_set_probe_after(r, rtt);
	if (!r->lossy)
		return;
	if (una - r->lost_psn > CLEAN_PACKETS) {
		r->lossy = false;
		r->window = LOSS_RECOVERY_MAX_WINDOW;
	} else {
		loss_recovery_set_path_packets(r, una - r->timed_una, rtt);
	}
}

void loss_recovery_probed(struct loss_recovery *r, uint64_t rtt)
{
	if (++r->probed < MAX_PROBED)
		return;
	r->probed = 0;
	loss_recovery_set_probe_after(r, rtt);
}

void loss_recovery_unclear(struct loss_recovery *r, uint32_t end, uint64_t now)
{
	r->clear_psn = end;
	/* Before any measurement, the first answer gives an upper bound */
	if (r->probe_after)
		r->timing = false;
	else
		r->timed_at = now;
}

static void loss_recovery_set_interval(struct loss_recovery *r,
				       uint32_t packets)
{
	r->interval += min_u32(packets, CLEAN_PACKETS) >> INTERVAL_SHIFT;
	r->interval -= r->interval >> INTERVAL_SHIFT;
}

void loss_recovery_lost(struct loss_recovery *r, uint32_t una, uint64_t now)
{
	r->timing = false;
	if (r->lossy)
		loss_recovery_set_interval(r, una - r->lost_psn);
	else
		r->interval = FIRST_INTERVAL;
	r->lossy = true;
	r->lost_psn = una;
	if (now - r->min_rtt_at < MIN_RTT_LIFE_NS) {
		loss_recovery_set_window(r,
					 r->path_packets + r->path_packets / 4);
		return;
	}
	/* Let the queue drain before the next measurement */
	r->min_rtt = 0;
	loss_recovery_set_window(r, r->window / 2);
}
