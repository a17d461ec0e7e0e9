/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Completion queues: entries, requests for events, and the failure of a CQ. The
 * fields of an entry come from the caller, and eq.h sends the event.
 */
#ifndef MYNIC_CQ_H
#define MYNIC_CQ_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/timer.h"
#include "mynic_regs.h"
#include "state/function_types.h"
#include "state/memory_types.h"
#include "state/qp_types.h"

struct admin_call;
struct mynic_cqe;
struct nic;
struct srq;

#define CQ_MAX_LOG_SIZE 22

LIST_HEAD(srq_list, srq);

enum cq_arm {
	CQ_NOT_ARMED = MYNIC_CQ_NOT_ARMED,
	CQ_ARMED_SOLICITED = MYNIC_CQ_ARMED_SOLICITED,
	CQ_ARMED = MYNIC_CQ_ARMED,
};

/**
 * struct cq - a completion queue
 * @nic: its NIC
 * @number: CQN
 * @uarn: UAR page of its doorbell
 * @comp: completion events of the CQ
 * @events: asynchronous events of the CQ
 * @buf: host memory
 * @ring: the ring in @buf
 * @dbrec: translation of the doorbell record
 * @dbrec_offset: offset of the doorbell record in @buf
 * @base: index of the entry in the first slot of the ring
 * @pi: next index to write
 * @ci: consumer index when it was last read
 * @ignore_overrun: entries are written without regard to the consumer index
 * @solicited_end: index behind the last entry that counts for an arm for
 *	solicited completions
 * @arm: kind of completion that the next event waits for
 * @taken: last request for an event that was taken, as in the doorbell record;
 *	its vector is in @comp
 * @watched: the doorbell record is read after each entry
 * @looks: number of such reads since the last one that found a request
 * @mod_count: number of entries that an event waits for; 0: no moderation
 * @mod_period: upper bound of the wait, in ns
 * @held: entries that the waiting event is about
 * @moderation: timer that ends the wait; set while @held is not 0
 * @error: overrun, or its memory is gone; no more entries are written
 * @senders: QPs whose send queue completes here
 * @receivers: QPs whose receive queue completes here
 * @srqs: XRC SRQs whose entries complete here
 * @told_senders: how many of @senders know about the error
 * @told_receivers: how many of @receivers know about the error
 * @told_srqs: how many of @srqs know about the error
 * @error_pending: it is in &nic.failed_cqs
 * @error_link: link in &nic.failed_cqs, until all QPs know about the error
 */
struct cq {
	struct nic *nic;
	uint32_t number;
	uint32_t uarn;
	struct comp_source comp;
	struct event_source events;
	struct buf buf;
	struct ring ring;
	struct buf_window dbrec;
	uint32_t dbrec_offset;
	uint32_t base;
	uint32_t pi;
	uint32_t ci;
	bool ignore_overrun;
	uint32_t solicited_end;
	enum cq_arm arm;
	uint64_t taken;
	bool watched;
	uint16_t looks;
	uint16_t mod_count;
	uint32_t mod_period;
	uint32_t held;
	struct timer moderation;
	bool error;
	struct qp_list senders;
	struct qp_list receivers;
	struct srq_list srqs;
	struct qp_list told_senders;
	struct qp_list told_receivers;
	struct srq_list told_srqs;
	bool error_pending;
	TAILQ_ENTRY(cq) error_link;
};

/**
 * cq_push() - write a completion
 * @nic: the NIC
 * @cq: the CQ
 * @cqe: the entry without phase and timestamp
 * @solicited: the sender has asked for an event; errors always count as
 *	solicited
 * @now: nic_now(); completions of the same moment may share it
 *
 * On an overrun, or if its memory is gone, the CQ fails for good. Its event is
 * sent at once. Its QPs go to the error state in later calls of nic_run(), and
 * not inside this call.
 */
void cq_push(struct nic *nic, struct cq *cq, const struct mynic_cqe *cqe,
	     bool solicited, uint64_t now);

/**
 * cq_doorbell() - arm a CQ
 * @nic: the NIC
 * @uarn: UAR page of the doorbell
 * @number: CQN from the doorbell, any value
 *
 * Return: true if the doorbell was accepted.
 */
bool cq_doorbell(struct nic *nic, uint32_t uarn, uint32_t number);

/* Tells some QPs that their CQ has failed. Returns true if more are waiting. */
bool cqs_run(struct nic *nic);

/*
 * Part of a reset: frees the next CQ from @number on. Returns false if there is
 * none.
 */
bool cqs_free_one(struct nic *nic, uint32_t *number);

/* Commands of the host; see admin.h */
int admin_create_cq(struct nic *nic, struct admin_call *call);
int admin_destroy_cq(struct nic *nic, struct admin_call *call);
int admin_resize_cq(struct nic *nic, struct admin_call *call);
int admin_modify_cq(struct nic *nic, struct admin_call *call);
int admin_query_cq(struct nic *nic, struct admin_call *call);

#endif /* MYNIC_CQ_H */
