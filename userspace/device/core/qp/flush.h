/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* FLUSH: that what was written before is placed for good (IBTA annex A19). */
#ifndef MYNIC_FLUSH_H
#define MYNIC_FLUSH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "mynic_regs.h"
#include "qp/message_fault.h"

struct nic;
struct qp;
struct response;
struct roce_hdr;

/**
 * enum flush_state - how far a QP is with a piece of a FLUSH
 * @FLUSH_IDLE: nothing of it is under way
 * @FLUSH_QUEUED: it waits, because that of another QP is
 * @FLUSH_NEXT: it is the first of those that wait, and may begin
 * @FLUSH_BUSY: its own is
 * @FLUSH_DONE: its own was
 */
enum flush_state {
	FLUSH_IDLE,
	FLUSH_QUEUED,
	FLUSH_NEXT,
	FLUSH_BUSY,
	FLUSH_DONE,
};

/**
 * struct flush - a QP's share in making memory persistent
 * @state: how far it is
 * @len: FLUSH_BUSY, FLUSH_DONE: bytes of the piece
 * @err: FLUSH_DONE: what came of it
 * @link: in &flushes.waiting, with FLUSH_QUEUED and FLUSH_NEXT
 */
struct flush {
	enum flush_state state;
	uint32_t len;
	int err;
	TAILQ_ENTRY(qp) link;
};

/**
 * struct flushes - all FLUSHes of a NIC that make memory persistent
 * @busy: a piece is under way
 * @owner: whose it is; NULL: the QP has gone, or has been reset
 * @waiting: QPs whose turn comes behind it, in order
 */
struct flushes {
	bool busy;
	struct qp *owner;
	TAILQ_HEAD(flush_queue, qp) waiting;
};

/**
 * flush_check() - may a FLUSH be executed?
 * @qp: the queue pair
 * @hdr: the packet's headers
 * @response: @srqn and @rkey are set; gets @addr and @flush_left
 *
 * Return: MESSAGE_OK, or what is wrong.
 */
enum message_fault flush_check(struct qp *qp, const struct roce_hdr *hdr,
			       struct response *response);

/**
 * flush_run() - do a bounded piece of a FLUSH
 * @qp: the queue pair
 * @response: @addr and @flush_left are moved on
 * @stage: what waits if a page is not there
 *
 * Return: 0, or what mkey_check_remote() or mkey_iov() said; -EFAULT also if the
 * memory cannot be made persistent; -EINPROGRESS if nothing can be done until
 * the QP is scheduled again.
 */
int flush_run(struct qp *qp, struct response *response,
	      enum mynic_page_stage stage);

/** flush_waits() - is nothing to be done until the QP is scheduled again? */
static inline bool flush_waits(const struct flush *flush)
{
	return flush->state == FLUSH_QUEUED || flush->state == FLUSH_BUSY;
}

/** flush_stop() - the QP does not receive any more */
void flush_stop(struct qp *qp);

#endif /* MYNIC_FLUSH_H */
