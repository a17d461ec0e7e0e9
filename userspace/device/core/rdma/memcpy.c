// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memcpy QPs: copies within the memory of the host, without packets. */

#include "rdma/memcpy.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/iov.h"
#include "base/util.h"
#include "packet/packet.h"
#include "queue/wqe.h"
#include "state/queue_types.h"

/* Bytes of a piece; it fits in PACKET_MAX_IOV elements */
#define PIECE 4096

static enum outcome memcpy_piece(struct qp *qp, const struct send_req *req,
				 uint32_t len)
{
	struct packet from;
	struct iovec pieces[PACKET_MAX_IOV];
	struct iov_list to = {
		.iov = pieces,
		.max = PACKET_MAX_IOV,
		.write = true,
	};
	enum outcome outcome;

	outcome = range_map(qp, req->rkey, req->remote_addr + req->copied, len,
			    req->length - req->copied, &to);
	if (!outcome)
		outcome = send_payload(qp, req, req->copied, len, &from);
	if (!outcome)
		iov_copy(to.iov, to.num, from.iov);
	return outcome;
}

enum outcome memcpy_send(struct qp *qp, struct send_req *req)
{
	enum outcome outcome = OUTCOME_OK;
	uint32_t len;

	if (!req->num_psn) {
		req->num_psn = 1;
		req->copied = 0;
	}
	len = min_u32(req->length - req->copied, PIECE);
	if (len)
		outcome = memcpy_piece(qp, req, len);
	if (outcome)
		return outcome;
	req->copied += len;
	return req->copied == req->length ? OUTCOME_OK : OUTCOME_MORE;
}
