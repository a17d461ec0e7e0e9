// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memcpy QPs: copies within the memory of the host, without packets. */

#include "rdma/memcpy.h"

#include "base/iov.h"
#include "core.h"
#include "queue/sq.h"

/* Bytes of a piece; it fits in PACKET_MAX_IOV elements */
#define PIECE 4096

/* Pieces copied in one run, so that other QPs need not wait */
#define QUANTUM 64

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

static enum outcome memcpy_some(struct qp *qp, struct send_req *req)
{
	enum outcome outcome;
	uint32_t len;

	if (!req->num_psn) {
		req->num_psn = 1;
		req->copied = 0;
	}
	len = req->length - req->copied;
	if (!len)
		return OUTCOME_OK;
	if (len > PIECE)
		len = PIECE;
	outcome = memcpy_piece(qp, req, len);
	if (!outcome)
		req->copied += len;
	return outcome;
}

bool memcpy_run(struct qp *qp)
{
	for (unsigned int i = 0; i < QUANTUM; i++) {
		enum outcome outcome;
		struct send_req *req;

		req = sq_next(qp);
		if (!req)
			return false;
		outcome = req->outcome;
		if (!outcome)
			outcome = memcpy_some(qp, req);
		if (outcome == OUTCOME_WAIT)
			return false;
		if (outcome) {
			sq_fail(qp, outcome);
			return true;
		}
		if (req->copied == req->length)
			sq_complete(qp, 1, nic_now(qp->nic));
		nic_charge(qp->nic, 1);
		if (nic_turn_is_over(qp->nic))
			break;
	}
	return true;
}
