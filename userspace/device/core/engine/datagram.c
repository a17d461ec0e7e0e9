// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Requests of UD, GSI and RAW_PACKET QPs: the rates of paths, and pieces */

#include "engine/datagram.h"

#include "base/verbs.h"
#include "ethernet/eth.h"
#include "ethernet/tso.h"
#include "mynic_regs.h"
#include "qp/cc.h"
#include "qp/qp.h"
#include "rdma/ud.h"
#include "state/nic_types.h"
#include "state/qp_types.h"
#include "state/queue_types.h"

/* More units of a turn for each datagram, which several receivers may get */
#define EXTRA_UNITS 1

/* A request, or a piece of it, has been sent, or has failed */
static enum outcome datagram_end(struct qp *qp, const struct send_req *req,
				 enum outcome outcome)
{
	if (outcome)
		return outcome;
	if (req->opcode == IBV_WR_TSO && !tso_is_sent(req)) {
		/* Other QPs come before the next piece */
		qp_schedule(qp->nic, qp);
		return OUTCOME_WAIT;
	}
	nic_charge(qp->nic, EXTRA_UNITS);
	return OUTCOME_OK;
}

enum outcome datagram_send_ud(struct qp *qp, struct send_req *req)
{
	enum outcome outcome;

	/* Each request has a path and a rate of its own */
	if (!req->num_psn)
		cc_set_ceiling(qp, req->av.static_rate);
	outcome = req->opcode == IBV_WR_TSO ? tso_send_ud(qp, req) :
					      ud_send(qp, req);
	return datagram_end(qp, req, outcome);
}

enum outcome datagram_send_raw(struct qp *qp, struct send_req *req)
{
	enum outcome outcome = req->opcode == IBV_WR_TSO ?
				       tso_send_raw(qp, req) :
				       eth_send(qp, req);

	return datagram_end(qp, req, outcome);
}
