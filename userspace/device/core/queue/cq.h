/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MYNIC_CQ_H
#define MYNIC_CQ_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/timer.h"
#include "function/event.h"
#include "memory/buf.h"
#include "mynic_regs.h"
#include "queue/srq.h"

struct nic;
struct qp;
struct srq;

#define CQ_MAX_LOG_SIZE 22

LIST_HEAD(srq_list, srq);

enum cq_arm {
	CQ_NOT_ARMED = MYNIC_CQ_NOT_ARMED,
	CQ_ARMED_SOLICITED = MYNIC_CQ_ARMED_SOLICITED,
	CQ_ARMED = MYNIC_CQ_ARMED,
};

/**
 * struct cq - completion queue
 * @nic: its NIC
 * @number: CQN
 * @uarn: the UAR page on which its doorbell is rung
 * @eq: takes its completion events that are not for another @vector
 * @events: its asynchronous events
 * @buf: host memory
 * @ring: in @buf
 * @dbrec: window on the doorbell record
 * @dbrec_offset: of the doorbell record in @buf
 * @base: index of the entry that went to the ring's first slot
 * @pi: next index to write
 * @ci: consumer index when it was last read
 * @ignore_overrun: write without a look at the consumer index
 * @solicited_end: index behind the last entry that a solicited-only arm
 *	waits for
 * @arm: what the next event waits for
 * @taken: the last request for an event, as in the doorbell record
 * @vector: MSI-X vector that it names; 0: that of @eq
 * @watched: look for requests behind each entry
 * @looks: how often that has been for nothing since the last one
 * @mod_count: entries that the event waits for; 0: it does not wait
 * @mod_period: how long it waits at most, in ns
 * @held: entries that the next event is about and waits with
 * @moderation: ends the wait; set while @held is not 0
 * @error: overrun, or its memory is gone: nothing is written any more
 * @senders: QPs whose send queue completes here
 * @receivers: QPs whose receive queue completes here
 * @srqs: XRC SRQs whose entries complete here
 * @told_senders: those of @senders that know of the error
 * @told_receivers: likewise, of @receivers
 * @told_srqs: likewise, of @srqs
 * @event_pending: in &eq.pending_cqs through @event_link
 * @event_link: see @event_pending
 * @error_link: in &nic.failed_cqs, from the error until the QPs know
 * @error_pending: see @error_link
 */
struct cq {
	struct nic *nic;
	uint32_t number;
	uint32_t uarn;
	struct eq *eq;
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
	uint8_t vector;
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
	bool event_pending;
	TAILQ_ENTRY(cq) event_link;
	bool error_pending;
	TAILQ_ENTRY(cq) error_link;
};

/**
 * cq_push() - write a completion
 * @nic: the NIC
 * @cq: where
 * @cqe: all but the phase and the timestamp
 * @solicited: a receive completion whose sender asked for an event; an error
 *	status counts as such by itself
 * @now: nic_now(), which completions of the same moment may share
 *
 * If the CQ overruns or its memory is gone it is dead from now on, its event
 * is sent, and its QPs go to the error state in the next nic_run() or, if they
 * are many, those behind it, not within this call.
 */
void cq_push(struct nic *nic, struct cq *cq, const struct mynic_cqe *cqe,
	     bool solicited, uint64_t now);

/**
 * cq_doorbell() - the host has asked for an event
 * @nic: the NIC
 * @uarn: the page that it was rung on
 * @number: CQN from the doorbell, any value
 *
 * Return: whether it was accepted.
 */
bool cq_doorbell(struct nic *nic, uint32_t uarn, uint32_t number);

/** cqs_run() - tell some QPs of failed CQs; true if there are more */
bool cqs_run(struct nic *nic);

/** cqs_free_one() - in a reset: the next from @number on; false: no more */
bool cqs_free_one(struct nic *nic, uint32_t *number);

#endif /* MYNIC_CQ_H */
