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
static enum outcome datagram_send(struct qp *qp, struct send_req *req,
				  bool *done)
{
	enum outcome outcome;

	*done = true;
	if (req->opcode == IBV_WR_TSO) {
		outcome = tso_send(qp, req);
		*done = outcome || tso_is_sent(req);
		return outcome;
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
		enum outcome outcome;
		struct send_req *req;
		bool done = true;

		req = sq_next(qp);
		if (!req)
			return false;
		if (!datagram_may_send(qp, req))
			return false;
		outcome = req->outcome;
		if (!outcome)
			outcome = datagram_send(qp, req, &done);
		if (outcome == OUTCOME_WAIT)
			return false;
		if (outcome) {
			sq_fail(qp, outcome);
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
