/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The sending half of a queue pair: requester.c, completer.c and ud.c. */
#ifndef MYNIC_REQUESTER_H
#define MYNIC_REQUESTER_H

#include <stdbool.h>
#include <stdint.h>

#include "timer.h"
#include "wqe.h"

struct qp;
struct packet;

/**
 * struct requester - the sending half of a queue pair
 *
 * Indexes are free-running indexes of the send queue:
 * @ci <= @cur <= @fetched <= the producer index in the doorbell record.
 *
 * @reqs: private copies of the entries @ci to @fetched; the slot is the index
 *	modulo @num_reqs; of the size of &struct send_req up to its data, and
 *	the data of a slot of the ring
 * @num_reqs: slots in @reqs, a power of two, 0 before the first send
 * @req_size: bytes in a slot of @reqs
 * @ci: the oldest entry that has not completed
 * @cur: the entry that is being sent
 * @fetched: the first entry that has not been fetched
 * @psn: of the next packet to send
 * @una: the oldest PSN that is not acknowledged
 * @max_psn: behind the last PSN in use; before it, all is retransmission
 * @window_base: PSN from which the window of unacknowledged packets counts
 * @ack_psn: behind the last packet that asked for an acknowledgement
 * @rd_atomic: outstanding reads and atomics
 * @retry_left: how often may be tried again before it is an error
 * @rnr_left: likewise, for "receiver not ready"
 * @rnr_wait: @timer is the time that a "receiver not ready" asked for
 * @went_back: has gone back to @una already, and nothing has been acknowledged
 *	since
 * @drained: SQD: the drained event has been sent
 * @timer: retransmission, "receiver not ready"; in the error state when to
 *	look for entries to flush
 * @flush_delay: ns to the next such look
 */
struct requester {
	uint8_t *reqs;
	uint32_t num_reqs;
	uint32_t req_size;
	uint32_t ci;
	uint32_t cur;
	uint32_t fetched;
	uint32_t psn;
	uint32_t una;
	uint32_t max_psn;
	uint32_t window_base;
	uint32_t ack_psn;
	uint32_t rd_atomic;
	uint8_t retry_left;
	uint8_t rnr_left;
	bool rnr_wait;
	bool went_back;
	bool drained;
	struct timer timer;
	uint64_t flush_delay;
};

static inline struct send_req *requester_req(const struct requester *q,
					     uint32_t index)
{
	return (struct send_req *)(q->reqs +
				   (uint64_t)(index & (q->num_reqs - 1)) *
					   q->req_size);
}

#endif /* MYNIC_REQUESTER_H */
