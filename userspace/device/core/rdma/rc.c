// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The two halves of the RC service: responses go to the requester, and requests
 * to the responder.
 */

#include "rdma/rc.h"

#include "base/verbs.h"
#include "mynic_regs.h"
#include "packet/opcode.h"
#include "packet/packet.h"
#include "qp/counters.h"
#include "rdma/completer.h"
#include "rdma/message.h"
#include "rdma/requester.h"
#include "rdma/responder.h"
#include "rdma/response_queue.h"

void rc_receive(struct qp *qp, const struct packet *pkt)
{
	const struct opcode_info *info = opcode_info(pkt->roce.opcode);

	if (!(info->flags & OPCODE_RESPONSE)) {
		message_arrives(qp);
		responder_receive(qp, pkt, info);
	} else if (qp->state == IBV_QPS_RTS || qp->state == IBV_QPS_SQD) {
		completer_receive(qp, pkt, info);
	} else {
		qp_count(qp, MYNIC_STAT_GHOST);
	}
}

void rc_fini(struct qp *qp)
{
	requester_fini(qp);
	responder_reset(qp);
}

void rc_reset(struct qp *qp)
{
	requester_reset(qp);
	responder_reset(qp);
}

void rc_stop(struct qp *qp)
{
	requester_stop(qp);
	responses_stop(qp);
}
