/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MYNIC_SRQ_H
#define MYNIC_SRQ_H

#include <stdbool.h>
#include <stdint.h>

#include "buf.h"
#include "event.h"
#include "mynic_regs.h"

struct nic;
struct pd;

/**
 * struct srq - shared receive queue
 * @number: SRQN
 * @pd: protection domain of its SGEs
 * @events: its asynchronous events
 * @buf: host memory
 * @ring: in @buf
 * @dbrec: window on the doorbell record
 * @dbrec_offset: of the doorbell record in @buf
 * @ci: next entry to fetch
 * @limit: the event's limit; 0: none
 * @error: its memory or record is bad: its QPs find no entry any more
 * @num_qps: QPs bound to it
 */
struct srq {
	uint32_t number;
	struct pd *pd;
	struct event_source events;
	struct buf buf;
	struct ring ring;
	struct buf_window dbrec;
	uint32_t dbrec_offset;
	uint32_t ci;
	uint32_t limit;
	bool error;
	uint32_t num_qps;
};

/** srq_dbrec() - the doorbell record, or NULL (counted as BAD_DMA) */
struct mynic_srq_dbrec *srq_dbrec(struct nic *nic, struct srq *srq);

/** srq_to_error() - stop it for good and send SRQ_ERROR */
void srq_to_error(struct nic *nic, struct srq *srq);

void srqs_free(struct nic *nic);

#endif /* MYNIC_SRQ_H */
