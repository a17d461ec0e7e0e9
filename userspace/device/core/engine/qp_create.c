// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* CREATE_QP and DESTROY_QP, with all resources of a queue pair. */

#include "engine/qp_create.h"

#include <endian.h>
#include <string.h>
#include <sys/queue.h>

#include "base/mem.h"
#include "base/table.h"
#include "engine/services.h"
#include "engine/transport.h"
#include "ethernet/eth.h"
#include "ethernet/rss.h"
#include "function/eq.h"
#include "memory/buf.h"
#include "memory/mw.h"
#include "memory/pd.h"
#include "mynic_regs.h"
#include "qp/comp_cntr.h"
#include "qp/counters.h"
#include "qp/mcast.h"
#include "qp/qp.h"
#include "qp/qp_watch.h"
#include "qp/room.h"
#include "qp/service.h"
#include "queue/cq.h"
#include "queue/rndv.h"
#include "queue/rq.h"
#include "queue/sq.h"
#include "queue/srq.h"
#include "queue/xrcd.h"
#include "state/admin_types.h"
#include "state/memory_types.h"
#include "state/nic_types.h"
#include "state/queue_types.h"

#define QP_FLAGS (MYNIC_QP_SIG_ALL | MYNIC_QP_KERNEL | MYNIC_QP_VLAN_STRIP)

static bool qp_create_has_no_rq(const struct mynic_create_qp *cmd)
{
	return !cmd->log_rq_stride && le32toh(cmd->srqn) == MYNIC_NO_SRQ;
}

static bool qp_create_fits_service(const struct mynic_create_qp *cmd)
{
	const struct qp_service *service = services_of(cmd->type);
	const struct mynic_create_qp target = {
		.srqn = htole32(MYNIC_NO_SRQ),
		.xrcdn = cmd->xrcdn,
		.type = cmd->type,
	};

	if (service->xrc_tgt)
		return !memcmp(cmd, &target, sizeof(target));
	return !cmd->xrcdn &&
	       (!service->sends_only || qp_create_has_no_rq(cmd));
}

static bool qp_create_check(const struct mynic_create_qp *cmd)
{
	return cmd->log_sq_size <= WQ_MAX_LOG_SIZE &&
	       cmd->log_sq_stride <= WQ_MAX_LOG_STRIDE &&
	       (!cmd->log_sq_stride ||
		cmd->log_sq_stride >= SQ_MIN_LOG_STRIDE) &&
	       cmd->log_rq_size <= WQ_MAX_LOG_SIZE &&
	       cmd->log_rq_stride <= WQ_MAX_LOG_STRIDE &&
	       (!cmd->log_rq_stride ||
		cmd->log_rq_stride >= RQ_MIN_LOG_STRIDE) &&
	       le32toh(cmd->uarn) < NIC_NUM_UAR && rss_is_valid(cmd) &&
	       qp_create_fits_service(cmd);
}

static int qp_create_find_objects(struct nic *nic, struct qp *qp,
				  const struct mynic_create_qp *cmd)
{
	if (qp->service->xrc_tgt) {
		qp->xrcd = table_lookup(&nic->xrcds, le32toh(cmd->xrcdn));
		return qp->xrcd ? MYNIC_AQ_OK : MYNIC_AQ_BAD_NUMBER;
	}
	qp->pd = table_lookup(&nic->pds, le32toh(cmd->pdn));
	if (cmd->rwq_tablen)
		return qp->pd ? rss_init(nic, qp, cmd) : MYNIC_AQ_BAD_NUMBER;
	qp->send_cq = table_lookup(&nic->cqs, le32toh(cmd->send_cqn));
	qp->recv_cq = table_lookup(&nic->cqs, le32toh(cmd->recv_cqn));
	if (!qp->pd || !qp->send_cq || !qp->recv_cq)
		return MYNIC_AQ_BAD_NUMBER;
	if (qp->send_cq->error || qp->recv_cq->error)
		return MYNIC_AQ_BAD_STATE;
	if (le32toh(cmd->srqn) == MYNIC_NO_SRQ)
		return MYNIC_AQ_OK;
	qp->srq = table_lookup(&nic->srqs, le32toh(cmd->srqn));
	if (!qp->srq)
		return MYNIC_AQ_BAD_NUMBER;
	if (cmd->log_rq_stride || (qp->srq->tm && qp->type != MYNIC_QP_RC))
		return MYNIC_AQ_BAD_PARAM;
	if (qp->srq->tm)
		qp->recv_cq = qp->srq->cq;
	return qp->srq->error ? MYNIC_AQ_BAD_STATE : MYNIC_AQ_OK;
}

static int qp_create_init_rings(struct nic *nic, struct qp *qp,
				const struct mynic_create_qp *cmd)
{
	int status;

	if (qp->service->xrc_tgt || qp->rss)
		return MYNIC_AQ_OK;
	status = buf_parse(&qp->buf, &cmd->buf);
	if (status)
		return status;
	qp->dbrec_offset = le32toh(cmd->dbrec_offset);
	status = buf_check(nic, &qp->buf, qp->dbrec_offset,
			   sizeof(struct mynic_qp_dbrec),
			   sizeof(struct mynic_qp_dbrec), true);
	if (status)
		return status;
	qp->has_sq = cmd->log_sq_stride;
	qp->has_rq = cmd->log_rq_stride;
	qp->sq.ring = (struct ring){
		.buf = &qp->buf,
		.offset = le32toh(cmd->sq_offset),
		.log_size = cmd->log_sq_size,
		.log_stride = cmd->log_sq_stride,
	};
	qp->rq.ring = (struct ring){
		.buf = &qp->buf,
		.offset = le32toh(cmd->rq_offset),
		.log_size = cmd->log_rq_size,
		.log_stride = cmd->log_rq_stride,
	};
	if (qp->has_sq)
		status = ring_check(nic, &qp->sq.ring, false);
	if (status || !qp->has_rq)
		return status;
	return ring_check(nic, &qp->rq.ring, false);
}

static int qp_create_add_number(struct nic *nic, struct qp *qp)
{
	int err;

	if (qp->type != MYNIC_QP_GSI) {
		err = table_add(&nic->qps, qp, &qp->number);
	} else {
		if (qp_find(nic, NIC_QPN_GSI))
			return MYNIC_AQ_BUSY;
		qp->number = NIC_QPN_GSI;
		err = table_add_at(&nic->qps, qp, NIC_QPN_GSI);
	}
	qp->events.number = qp->number;
	return err ? MYNIC_AQ_NO_RESOURCE : MYNIC_AQ_OK;
}

static int qp_create_init(struct nic *nic, struct qp *qp,
			  const struct mynic_create_qp *cmd)
{
	int status;

	qp->nic = nic;
	qp->type = cmd->type;
	qp->service = services_of(cmd->type);
	qp->flags = cmd->flags;
	qp->uarn = le32toh(cmd->uarn);
	status = qp_create_find_objects(nic, qp, cmd);
	if (status)
		return status;
	status = qp_create_init_rings(nic, qp, cmd);
	if (status)
		return status;
	status = qp_create_add_number(nic, qp);
	if (status)
		return status;
	if (qp->has_sq)
		sq_use_ring(qp);
	else if (qp->srq && qp->srq->tm)
		rndv_init(qp);
	if (qp_transport_init(qp)) {
		table_remove(&nic->qps, qp->number);
		return MYNIC_AQ_NO_RESOURCE;
	}
	return MYNIC_AQ_OK;
}

static void qp_create_add_user(struct qp *qp)
{
	if (qp->xrcd) {
		LIST_INSERT_HEAD(&qp->xrcd->targets, qp, recv_link);
		return;
	}
	qp->pd->users++;
	if (qp->rss)
		return;
	if (qp->srq)
		qp->srq->num_qps++;
	LIST_INSERT_HEAD(&qp->send_cq->senders, qp, send_link);
	LIST_INSERT_HEAD(&qp->recv_cq->receivers, qp, recv_link);
}

static void qp_create_remove_user(struct qp *qp)
{
	if (qp->xrcd) {
		xrc_bind(qp, NULL);
		LIST_REMOVE(qp, recv_link);
		return;
	}
	qp->pd->users--;
	if (qp->rss)
		return;
	LIST_REMOVE(qp, recv_link);
	LIST_REMOVE(qp, send_link);
	if (qp->srq)
		qp->srq->num_qps--;
}

int qp_create(struct nic *nic, const struct mynic_create_qp *cmd,
	      struct qp **result)
{
	struct qp *qp;
	int status;

	if (!qp_create_check(cmd))
		return MYNIC_AQ_BAD_PARAM;
	qp = mem_alloc(&nic->mem, sizeof(*qp));
	if (!qp)
		return MYNIC_AQ_NO_RESOURCE;
	status = qp_create_init(nic, qp, cmd);
	if (status) {
		rss_fini(qp);
		mem_free(&nic->mem, qp);
		return status;
	}
	qp_create_add_user(qp);
	*result = qp;
	return MYNIC_AQ_OK;
}

int admin_create_qp(struct nic *nic, struct admin_call *call)
{
	const struct mynic_create_qp *cmd = &call->create_qp;
	struct qp *qp;
	int status;

	if (cmd->flags & ~QP_FLAGS || !services_has(cmd->type))
		return MYNIC_AQ_NOT_SUPPORTED;
	status = qp_create(nic, cmd, &qp);
	if (!status)
		call->cpl.number = htole32(qp->number);
	return status;
}

void qp_destroy(struct nic *nic, struct qp *qp)
{
	counters_bind(qp, NULL);
	comp_cntr_detach(qp);
	eth_qp_gone(nic, qp);
	qp_transport_fini(qp);
	qp_unschedule(nic, qp);
	room_leave(qp);
	qp_watch_leave(nic, qp);
	eq_drop(nic, &qp->events);
	qp_create_remove_user(qp);
	rss_fini(qp);
	table_remove(&nic->qps, qp->number);
	mem_free(&nic->mem, qp);
}

/* Returns true if the QP still has multicast groups or windows */
static bool qp_create_unbind_some(struct nic *nic, struct qp *qp)
{
	return mcast_detach_some(nic, qp) || mw_unbind_some(qp);
}

int admin_destroy_qp(struct nic *nic, struct admin_call *call)
{
	struct qp *qp = qp_of_command(nic, call);

	if (!qp)
		return MYNIC_AQ_BAD_NUMBER;
	if (qp->num_flows)
		return MYNIC_AQ_BUSY;
	if (qp_create_unbind_some(nic, qp))
		return ADMIN_AGAIN;
	rq_return(qp);
	qp_destroy(nic, qp);
	return MYNIC_AQ_OK;
}

bool qps_free_one(struct nic *nic, uint32_t *number)
{
	struct qp *qp = table_next(&nic->qps, number);

	if (!qp)
		return false;
	if (!qp_create_unbind_some(nic, qp))
		qp_destroy(nic, qp);
	return true;
}
