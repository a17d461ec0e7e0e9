/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * FLUSH makes sure that earlier writes are visible or persistent (IBTA annex
 * A19).
 */
#ifndef MYNIC_FLUSH_H
#define MYNIC_FLUSH_H

#include <stdbool.h>

#include "base/outcome.h"
#include "state/waits_types.h"

struct qp;
struct response;
struct roce_hdr;

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
