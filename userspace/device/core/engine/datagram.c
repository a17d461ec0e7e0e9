// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Requests of UD, GSI and RAW_PACKET QPs: their rate, and who sends them */

#include "engine/datagram.h"

#include <stdbool.h>

#include "base/verbs.h"
#include "ethernet/eth.h"
#include "ethernet/tso.h"
#include "mynic_regs.h"
#include "qp/cc.h"
#include "qp/qp.h"
#include "rdma/ud.h"
#include "state/nic_state.h"
#include "state/qp.h"
#include "state/queue.h"
#include "state/transport.h"

/* More units of a turn for each datagram, which several receivers may get */
#define EXTRA_UNITS 1

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

static enum outcome datagram_execute(struct qp *qp, struct send_req *req)
{
	if (req->opcode == IBV_WR_TSO)
		return tso_send(qp, req);
	if (qp->type == MYNIC_QP_RAW_PACKET)
		return eth_send(qp, req);
	return ud_send(qp, req);
}

enum outcome datagram_send(struct qp *qp, struct send_req *req)
{
	enum outcome outcome;

	if (!datagram_may_send(qp, req))
		return OUTCOME_WAIT;
	outcome = req->outcome ? req->outcome : datagram_execute(qp, req);
	if (outcome)
		return outcome;
	if (req->opcode == IBV_WR_TSO && !tso_is_sent(req)) {
		/* Other QPs come before the next piece */
		qp_schedule(qp->nic, qp);
		return OUTCOME_WAIT;
	}
	req->done = true;
	nic_charge(qp->nic, EXTRA_UNITS);
	return OUTCOME_OK;
}
