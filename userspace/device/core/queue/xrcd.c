// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* XRC domains: their commands, and the binding of XRC_TGT QPs to SRQs. */

#include "queue/xrcd.h"

#include <endian.h>
#include <sys/queue.h>

#include "base/mem.h"
#include "base/table.h"
#include "mynic_regs.h"
#include "queue/srq.h"
#include "state/nic_types.h"

struct srq *xrc_srq_find(const struct qp *qp, uint32_t srqn)
{
	struct srq *srq = table_lookup(&qp->nic->srqs, srqn);

	return srq && srq->xrcd == qp->xrcd ? srq : NULL;
}

const struct pd *xrc_pd(const struct qp *qp, uint32_t srqn)
{
	const struct srq *srq;

	if (!qp->xrcd)
		return qp->pd;
	srq = xrc_srq_find(qp, srqn);
	return srq ? srq->pd : NULL;
}

void xrc_bind(struct qp *qp, struct srq *srq)
{
	if (qp->srq == srq)
		return;
	if (qp->srq)
		LIST_REMOVE(qp, srq_link);
	if (srq)
		LIST_INSERT_HEAD(&srq->targets, qp, srq_link);
	qp->srq = srq;
	qp->pd = srq ? srq->pd : NULL;
	qp->recv_cq = srq ? srq->cq : NULL;
}

bool xrc_unbind_some(struct nic *nic, struct srq *srq)
{
	struct qp *qp;

	while ((qp = LIST_FIRST(&srq->targets))) {
		if (nic_turn_is_over(nic))
			return true;
		nic_charge(nic, 1);
		qp->rq.has_recv = false;
		xrc_bind(qp, NULL);
	}
	return false;
}

int admin_alloc_xrcd(struct nic *nic, struct admin_call *call)
{
	struct xrcd *xrcd = mem_alloc(&nic->mem, sizeof(*xrcd));

	if (!xrcd || table_add(&nic->xrcds, xrcd, &xrcd->number)) {
		mem_free(&nic->mem, xrcd);
		return MYNIC_AQ_NO_RESOURCE;
	}
	LIST_INIT(&xrcd->targets);
	call->cpl.number = htole32(xrcd->number);
	return MYNIC_AQ_OK;
}

int admin_dealloc_xrcd(struct nic *nic, struct admin_call *call)
{
	struct xrcd *xrcd =
		table_lookup(&nic->xrcds, le32toh(call->cmd.number));

	if (!xrcd)
		return MYNIC_AQ_BAD_NUMBER;
	if (xrcd->num_srqs || !LIST_EMPTY(&xrcd->targets))
		return MYNIC_AQ_BUSY;
	table_remove(&nic->xrcds, xrcd->number);
	mem_free(&nic->mem, xrcd);
	return MYNIC_AQ_OK;
}

bool xrcds_free_one(struct nic *nic, uint32_t *number)
{
	struct xrcd *xrcd = table_next(&nic->xrcds, number);

	if (!xrcd)
		return false;
	table_remove(&nic->xrcds, *number);
	mem_free(&nic->mem, xrcd);
	return true;
}
