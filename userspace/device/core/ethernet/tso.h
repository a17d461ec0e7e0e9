/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Requests that the device cuts into packets with a header each. */
#ifndef MYNIC_TSO_H
#define MYNIC_TSO_H

#include <stdbool.h>
#include <stdint.h>

#include "queue/wqe.h"

struct qp;

/** The longest request behind its header, in bytes */
#define TSO_MAX_LENGTH 0x10000
#define TSO_MAX_SEGMENTS 1024

/** tso_segments() - packets that a TSO request makes; 0 if @req->mss is 0 */
static inline uint32_t tso_segments(const struct send_req *req)
{
	if (!req->mss)
		return 0;
	return req->length ? (req->length + req->mss - 1) / req->mss : 1;
}

/**
 * tso_send() - execute a bounded piece of a TSO request
 * @qp: UD, GSI or RAW_PACKET QP
 * @req: checked; @req->error is none
 *
 * Return: what is wrong with it, for the completion.
 */
struct wqe_error tso_send(struct qp *qp, struct send_req *req);

/** tso_is_sent() - after a tso_send() that found nothing wrong: that was all */
static inline bool tso_is_sent(const struct send_req *req)
{
	return req->segments == tso_segments(req);
}

#endif /* MYNIC_TSO_H */
