/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Shared receive queues as objects. Their entries are fetched in wqe.h. Tag
 * matching is in tm.h, and XRC domains are in queue/xrcd.h.
 */
#ifndef MYNIC_SRQ_H
#define MYNIC_SRQ_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "state/function_types.h"
#include "state/memory_types.h"
#include "state/qp_types.h"

struct admin_call;
struct cq;
struct nic;
struct pd;
struct tag_matching;
struct xrcd;

/**
 * struct srq - a shared receive queue
 * @number: SRQN
 * @pd: PD of its SGEs; for XRC, also of the keys in messages
 * @xrcd: XRC domain of an XRC SRQ; otherwise NULL
 * @tm: tag matching; NULL if the SRQ has none
 * @tag_link: link in &nic.tag_queue
 * @cq: CQ of an SRQ for XRC or tag matching; otherwise NULL
 * @cq_link: link in &cq.srqs
 * @events: asynchronous events of the SRQ
 * @buf: host memory
 * @ring: the ring in @buf
 * @dbrec: translation of the doorbell record
 * @dbrec_offset: offset of the doorbell record in @buf
 * @ci: index of the next entry to fetch
 * @limit: the limit event is sent below this many entries; 0: there is no limit
 * @error: its memory or record is bad; its QPs find no more entries
 * @num_qps: QPs that are bound to it, except for XRC_TGT QPs
 * @targets: XRC_TGT QPs whose last request has named it
 */
struct srq {
	uint32_t number;
	struct pd *pd;
	struct xrcd *xrcd;
	struct tag_matching *tm;
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

/* The doorbell record; NULL, counted as BAD_DMA, if it is not there. */
struct mynic_srq_dbrec *srq_dbrec(struct nic *nic, struct srq *srq);

/* Stops the SRQ for good and sends SRQ_ERROR. */
void srq_to_error(struct nic *nic, struct srq *srq);

/*
 * Part of a reset: frees the next SRQ from @number on. Returns false if there
 * is none.
 */
bool srqs_free_one(struct nic *nic, uint32_t *number);

/* Commands of the host; see admin.h */
int admin_create_srq(struct nic *nic, struct admin_call *call);
int admin_modify_srq(struct nic *nic, struct admin_call *call);
int admin_query_srq(struct nic *nic, struct admin_call *call);
int admin_destroy_srq(struct nic *nic, struct admin_call *call);
int admin_resize_srq(struct nic *nic, struct admin_call *call);

#endif /* MYNIC_SRQ_H */
