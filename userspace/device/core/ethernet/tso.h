/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Requests that the device cuts into several packets, each with a header. */
#ifndef MYNIC_TSO_H
#define MYNIC_TSO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/outcome.h"
#include "state/queue_types.h"

struct qp;

/* Upper bound for the bytes of a request without its header */
#define TSO_MAX_LENGTH 0x10000

/* Number of segments of a request; 0 if @req->mss is 0. */
static inline uint32_t tso_segments(const struct send_req *req)
{
	if (!req->mss)
		return 0;
	return req->length ? (req->length + req->mss - 1) / req->mss : 1;
}

/**
 * tso_send_raw() - send some segments of a request as frames
 * @qp: RAW_PACKET QP
 * @req: a request without error
 *
 * Return: error for the completion, if any.
 */
enum outcome tso_send_raw(struct qp *qp, struct send_req *req);

/* The same as datagrams of a UD or GSI QP. */
enum outcome tso_send_ud(struct qp *qp, struct send_req *req);

/* Whether all segments have been sent; only after one of these has succeeded. */
static inline bool tso_is_sent(const struct send_req *req)
{
	return req->segments == tso_segments(req);
}

#endif /* MYNIC_TSO_H */
