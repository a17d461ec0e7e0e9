// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A copy of a queue pair's state for people to look at. */
#include "engine/qp_info.h"

#include <string.h>

#include "base/psn.h"
#include "base/table.h"
#include "base/timer.h"
#include "nic.h"
#include "qp/odp.h"
#include "qp/path.h"
#include "qp/qp.h"
#include "queue/cq.h"
#include "queue/sq.h"
#include "queue/srq.h"
#include "state/nic_types.h"
#include "state/qp_types.h"
#include "state/waits_types.h"

static uint64_t qp_info_until(uint64_t time, uint64_t now)
{
	return time > now ? time - now : 0;
}

/* The peer, its address and the path, which are known from RTR on */
static void qp_info_path(struct qp_info *info, const struct qp *qp)
{
	info->connected = qp_is_connected(qp) && qp_can_receive(qp);
	if (!info->connected)
		return;
	info->dest_qpn = qp->attr.dest_qpn;
	memcpy(info->dgid, qp->attr.av.dgid, sizeof(info->dgid));
	info->path_mtu = path_mtu(qp);
}

static void qp_info_requests(struct qp_info *info, const struct qp *qp)
{
	const struct send_queue *sq = &qp->sq;

	info->has_sq = qp_sends(qp);
	if (!info->has_sq)
		return;
	info->posted = sq->pi - sq->ci;
	info->sent = sq->cur - sq->ci;
	info->psn = sq->psn & PSN_MASK;
	if (sq->ci != sq->fetched)
		info->oldest = sq_req(sq, sq->ci)->opcode;
}

static void qp_info_requester(struct qp_info *info, const struct qp *qp,
			      uint64_t now)
{
	const struct requester *req = &qp->req;
	bool busy = info->sent;

	info->reliable = qp->service->reliable && info->has_sq;
	if (!info->reliable)
		return;
	info->una = req->una & PSN_MASK;
	info->retries = busy ? req->retry_left : qp->attr.retry_cnt;
	info->rnr_retries = busy ? req->rnr_left : qp->attr.rnr_retry;
	info->window = req->loss.window;
	info->rtt = req->loss.srtt;
	if (timer_is_set(&req->ack_timeout) || timer_is_set(&req->probe)) {
		info->waits |= QP_WAIT_ACK;
		info->silent = now - req->quiet_since;
		info->retry_in = req->ack_due == TIMER_NEVER ?
					 ~0ull :
					 qp_info_until(req->ack_due, now);
	}
	if (timer_is_set(&req->rnr)) {
		info->waits |= QP_WAIT_RNR;
		info->pause = qp_info_until(req->rnr.expires, now);
	}
	if (timer_is_set(&req->credit))
		info->waits |= QP_WAIT_CREDIT;
}

static void qp_info_pages(struct qp_info *info, const struct odp *odp)
{
	for (unsigned int stage = 0; stage < MYNIC_PAGE_STAGES; stage++) {
		if (!odp_waits(odp, stage))
			continue;
		info->waits |= QP_WAIT_PAGE << stage;
		info->page[stage].key = odp->waits[stage].fault.key;
		info->page[stage].addr = odp->waits[stage].fault.addr;
	}
}

static uint64_t qp_info_rate(const struct cc *cc)
{
	if (!cc->paced)
		return 0;
	if (!cc->limited)
		return cc->ceiling;
	return cc->ceiling && cc->ceiling < cc->rate ? cc->ceiling : cc->rate;
}

static void qp_info_queues(struct qp_info *info, const struct qp *qp)
{
	info->has_rq = qp->has_rq;
	info->received = qp->rq.ci;
	info->srqn = qp->srq ? qp->srq->number : MYNIC_NO_SRQ;
	info->send_cqn = qp->send_cq ? qp->send_cq->number : 0;
	info->recv_cqn = qp->recv_cq ? qp->recv_cq->number : 0;
}

bool nic_next_qp(const struct nic *nic, uint32_t *number, struct qp_info *info)
{
	const struct qp *qp = table_next(&nic->qps, number);
	uint64_t now = nic_now(nic);

	if (!qp)
		return false;
	*info = (struct qp_info){
		.number = qp->number,
		.type = qp->type == QP_TYPE_RWQ ? 0 : qp->type,
		.state = qp->state,
		.epsn = qp->resp.epsn & PSN_MASK,
		.messages = qp->resp.msn & PSN_MASK,
		.answers = qp->resp.responses.num,
		.rate = qp_info_rate(&qp->cc),
	};
	qp_info_path(info, qp);
	qp_info_requests(info, qp);
	qp_info_requester(info, qp, now);
	qp_info_queues(info, qp);
	qp_info_pages(info, &qp->odp);
	if (timer_is_set(&qp->cc.timer))
		info->waits |= QP_WAIT_RATE;
	if (qp->flush.state != FLUSH_IDLE)
		info->waits |= QP_WAIT_FLUSH;
	if (qp->room.waits)
		info->waits |= QP_WAIT_ROOM;
	if (qp->scheduled)
		info->waits |= QP_WAIT_TURN;
	return true;
}
