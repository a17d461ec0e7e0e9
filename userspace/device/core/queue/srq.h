/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MYNIC_SRQ_H
#define MYNIC_SRQ_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "function/event.h"
#include "memory/buf.h"
#include "mynic_regs.h"

struct cq;
struct nic;
struct pd;
struct tm;
struct xrcd;

LIST_HEAD(qp_list, qp);
TAILQ_HEAD(srq_queue, srq);

/**
 * struct srq - shared receive queue
 * @number: SRQN
 * @pd: protection domain of its SGEs; XRC: of its messages' keys, too
 * @xrcd: XRC: its domain; else NULL
 * @tm: tag matching; NULL: there is none
 * @tag_link: in &nic.tag_queue
 * @cq: XRC, tag matching: CQ of its entries; else NULL
 * @cq_link: in &cq.srqs
 * @events: its asynchronous events
 * @buf: host memory
 * @ring: in @buf
 * @dbrec: window on the doorbell record
 * @dbrec_offset: of the doorbell record in @buf
 * @ci: next entry to fetch
 * @limit: the event's limit; 0: none
 * @error: its memory or record is bad: its QPs find no entry any more
 * @num_qps: QPs bound to it, but for XRC_TGT QPs
 * @targets: XRC: XRC_TGT QPs whose last request named it
 */
struct srq {
	uint32_t number;
	struct pd *pd;
	struct xrcd *xrcd;
	struct tm *tm;
	TAILQ_ENTRY(srq) tag_link;
	struct cq *cq;
	LIST_ENTRY(srq) cq_link;
	struct event_source events;
	struct buf buf;
	struct ring ring;
	struct buf_window dbrec;
	uint32_t dbrec_offset;
	uint32_t ci;
	uint32_t limit;
	bool error;
	uint32_t num_qps;
	struct qp_list targets;
};

/** srq_dbrec() - the doorbell record, or NULL (counted as BAD_DMA) */
struct mynic_srq_dbrec *srq_dbrec(struct nic *nic, struct srq *srq);

/** srq_to_error() - stop it for good and send SRQ_ERROR */
void srq_to_error(struct nic *nic, struct srq *srq);

/** srqs_free_one() - in a reset: the next from @number on; false: no more */
bool srqs_free_one(struct nic *nic, uint32_t *number);

#endif /* MYNIC_SRQ_H */
