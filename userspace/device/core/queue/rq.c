// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completing and flushing of receive requests, for all QP types. They are
 * fetched in wqe.c.
 */
#include "queue/rq.h"

#include "core.h"
#include "queue/sq.h"
#include "queue/tm.h"

/* What is flushed has no error of its own */
static void rq_count_error(struct qp *qp, struct wqe_error error)
{
	const struct journal_entry entry = {
		.kind = JOURNAL_RECV_ERROR,
		.status = error.status,
		.from = error.syndrome,
		.number = qp->number,
		.psn = qp->resp.epsn,
	};

	qp_add(qp, MYNIC_STAT_RECV_ERRORS);
	if (error.status != IBV_WC_WR_FLUSH_ERR)
		nic_note(qp->nic, &entry);
}

void rq_complete(struct qp *qp, const struct recv_req *req,
		 struct wqe_error error, struct mynic_cqe *cqe, bool solicited)
{
	cqe->wr_id = htole64(req->wr_id);
	cqe->status = htole32(error.status);
	cqe->vendor_err = htole32(error.syndrome);
	cqe->qp_num = htole32(qp->number);
	if (error.status)
		rq_count_error(qp, error);
	cq_push(qp->nic, qp->recv_cq, cqe, solicited, nic_now(qp->nic));
}

static void rq_flush_recv(struct qp *qp)
{
	struct wqe_error error = { IBV_WC_WR_FLUSH_ERR, MYNIC_SYN_FLUSHED };
	struct mynic_cqe cqe = { 0 };

	qp->resp.has_recv = false;
	if (qp->resp.match.kind)
		tm_end(qp, false);
	rq_complete(qp, &qp->resp.recv, error, &cqe, false);
}

void rq_return(struct qp *qp)
{
	if (qp->resp.has_recv && !qp->has_rq)
		rq_flush_recv(qp);
}

/* Requests in an SRQ are not flushed, because other QPs may take them */
bool rq_flush(struct qp *qp)
{
	if (qp->resp.has_recv)
		rq_flush_recv(qp);
	if (qp->srq || qp->xrcd) {
		if (!qp->resp.last_wqe) {
			qp->resp.last_wqe = true;
			event_raise(qp->nic, &qp->events, MYNIC_EVENT_LAST_WQE);
		}
		return false;
	}
	for (unsigned int i = 0; i < SQ_QUANTUM; i++) {
		if (!wqe_fetch_recv(qp, &qp->resp.recv))
			return false;
		rq_flush_recv(qp);
	}
	return true;
}
