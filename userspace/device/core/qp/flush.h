/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * FLUSH makes sure that earlier writes are visible or persistent (IBTA annex
 * A19).
 */
#ifndef MYNIC_FLUSH_H
#define MYNIC_FLUSH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/outcome.h"
#include "mynic_regs.h"

struct nic;
struct qp;
struct response;
struct roce_hdr;

/**
 * enum flush_state - progress of a QP with a piece of a FLUSH
 * @FLUSH_IDLE: no piece is under way
 * @FLUSH_QUEUED: it waits for the piece of another QP
 * @FLUSH_NEXT: it is the first of those that wait, and may begin
 * @FLUSH_BUSY: its piece is under way
 * @FLUSH_DONE: its piece is complete
 */
enum flush_state {
	FLUSH_IDLE,
	FLUSH_QUEUED,
	FLUSH_NEXT,
	FLUSH_BUSY,
	FLUSH_DONE,
};

/**
 * struct flush - persistence work of a QP
 * @state: progress of the current piece
 * @len: FLUSH_BUSY, FLUSH_DONE: bytes of the piece
 * @err: FLUSH_DONE: the result
 * @link: link in &flushes.waiting for FLUSH_QUEUED and FLUSH_NEXT
 */
struct flush {
	enum flush_state state;
	uint32_t len;
	int err;
	TAILQ_ENTRY(qp) link;
};

/**
 * struct flushes - persistence work of a NIC
 * @busy: a piece is under way
 * @owner: QP of the piece; NULL: the QP was reset or destroyed
 * @waiting: QPs that wait, in order
 */
struct flushes {
	bool busy;
	struct qp *owner;
	TAILQ_HEAD(flush_queue, qp) waiting;
};

/**
 * flush_check() - check a FLUSH
 * @qp: the queue pair
 * @hdr: headers of the packet
 * @response: in: @srqn and @rkey; out: @addr and @flush_left
 *
 * Return: OUTCOME_OK, or the reason to refuse it.
 */
enum outcome flush_check(struct qp *qp, const struct roce_hdr *hdr,
			 struct response *response);

/**
 * flush_run() - do a limited part of a FLUSH
 * @qp: the queue pair
 * @response: @addr and @flush_left advance
 *
 * Return: like mkey_check_remote() and mkey_iov(). OUTCOME_DMA also means that
 * the memory cannot be made persistent. OUTCOME_WAIT: the QP will be scheduled
 * when it can continue.
 */
enum outcome flush_run(struct qp *qp, struct response *response);

/* Whether the QP has to wait until it is scheduled again. */
static inline bool flush_waits(const struct flush *flush)
{
	return flush->state == FLUSH_QUEUED || flush->state == FLUSH_BUSY;
}

/* The QP no longer receives. A piece under way ends without it. */
void flush_stop(struct qp *qp);

#endif /* MYNIC_FLUSH_H */
