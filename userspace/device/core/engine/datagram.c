// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Send queues of UD, GSI and RAW_PACKET QPs. Each request completes as soon as
 * it is sent.
 */
#include "engine/datagram.h"

#include "core.h"
#include "ethernet/tso.h"
#include "qp/cc.h"
#include "queue/sq.h"
#include "rdma/ud.h"

/* Units of a turn for each datagram, which several receivers may get */
#define DATAGRAM_UNITS 2

/* @done: the whole request is sent */
static struct wqe_error datagram_send(struct qp *qp, struct send_req *req,
				      bool *done)
{
	struct wqe_error error;

	*done = true;
	if (req->opcode == IBV_WR_TSO) {
		error = tso_send(qp, req);
		*done = error.status || tso_is_sent(req);
		return error;
	}
	if (qp->type == MYNIC_QP_RAW_PACKET)
		return eth_send(qp, req);
	return ud_send(qp, req);
}

/* Each request of a UD QP has a path and a rate of its own */
static bool datagram_may_send(struct qp *qp, const struct send_req *req)
{
	/* A request that has begun is not delayed again */
	if (req->num_psn)
		return true;
	if (qp->type == MYNIC_QP_UD || qp->type == MYNIC_QP_GSI)
		cc_set_ceiling(qp, req->av.static_rate);
	return !qp->cc.paced || cc_admit(qp, CC_REQUESTS, req->length);
}

bool datagram_run(struct qp *qp)
{
	for (unsigned int i = 0; i < SQ_QUANTUM; i++) {
		struct wqe_error error;
		struct send_req *req;
		bool done = true;

		req = sq_next(qp);
		if (!req)
			return false;
		if (!datagram_may_send(qp, req))
			return false;
		error = req->error;
		if (!error.status)
			error = datagram_send(qp, req, &done);
		if (odp_waits(&qp->odp, MYNIC_PAGE_SEND))
			return false;
		if (error.status) {
			sq_fail(qp, error);
			return true;
		}
		if (!done)
			return true;
		sq_complete(qp, 1, nic_now(qp->nic));
		nic_charge(qp->nic, DATAGRAM_UNITS);
		if (nic_turn_is_over(qp->nic))
			break;
	}
	return true;
}
