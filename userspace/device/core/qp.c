// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Life and scheduling of queue pairs; see qp_attr.c for MODIFY and QUERY. */
#include "qp.h"

#include <string.h>

#include "core.h"
#include "mw.h"
#include "opcode.h"
#include "rss.h"
#include "transport.h"

/* How many QPs one nic_run() lets do a piece of work at most */
#define RUN_QUANTUM 16

/* How long and how many idle QPs nic_poll() looks after */
#define POLL_TIME_NS 50000
#define POLL_MAX_QPS 64

#define SUPPORTED_TYPES                                           \
	(1 << MYNIC_QP_RC | 1 << MYNIC_QP_UC | 1 << MYNIC_QP_UD | \
	 1 << MYNIC_QP_GSI | 1 << MYNIC_QP_RAW_PACKET |           \
	 1 << MYNIC_QP_XRC_INI | 1 << MYNIC_QP_XRC_TGT | 1 << MYNIC_QP_DRIVER)

struct qp *qp_find(const struct nic *nic, uint32_t number)
{
	return table_get(&nic->qps, number);
}

struct qp *qp_of_command(const struct nic *nic, const struct admin_call *call)
{
	struct qp *qp = qp_find(nic, le32toh(call->cmd.number));

	return qp && qp->type != QP_TYPE_WQ ? qp : NULL;
}

struct mynic_qp_dbrec *qp_dbrec(struct nic *nic, struct qp *qp)
{
	return buf_ptr(nic, &qp->buf, &qp->dbrec, qp->dbrec_offset,
		       sizeof(struct mynic_qp_dbrec), true);
}

void qp_schedule(struct nic *nic, struct qp *qp)
{
	if (qp->scheduled)
		return;
	qp->scheduled = true;
	TAILQ_INSERT_TAIL(&nic->run_queue, qp, run_link);
}

static void unschedule(struct nic *nic, struct qp *qp)
{
	if (qp->scheduled)
		TAILQ_REMOVE(&nic->run_queue, qp, run_link);
	qp->scheduled = false;
}

static bool sq_has_news(struct nic *nic, struct qp *qp)
{
	const struct mynic_qp_dbrec *dbrec = qp_dbrec(nic, qp);

	return dbrec && load_index(&dbrec->sq_pi) != qp->req.pi;
}

static void set_no_ring(struct nic *nic, struct qp *qp, bool on)
{
	struct mynic_qp_dbrec *dbrec;

	if (qp->no_ring == on)
		return;
	qp->no_ring = on;
	dbrec = qp_dbrec(nic, qp);
	if (dbrec)
		store_index(&dbrec->sq_no_ring, on);
}

static void leave_poll_queue(struct nic *nic, struct qp *qp)
{
	if (!qp->polled)
		return;
	qp->polled = false;
	TAILQ_REMOVE(&nic->poll_queue, qp, poll_link);
	nic->num_polled--;
}

/*
 * The host may have left out a doorbell until it sees that it must not any
 * more: look once again behind that.
 *
 * Return: whether there is work.
 */
static bool stop_polling(struct nic *nic, struct qp *qp)
{
	leave_poll_queue(nic, qp);
	if (!qp->no_ring)
		return false;
	set_no_ring(nic, qp, false);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!sq_has_news(nic, qp))
		return false;
	transport_doorbell(qp);
	return true;
}

static void start_polling(struct nic *nic, struct qp *qp)
{
	leave_poll_queue(nic, qp);
	if (nic->num_polled == POLL_MAX_QPS)
		stop_polling(nic, TAILQ_FIRST(&nic->poll_queue));
	qp->polled = true;
	qp->poll_until = nic_now(nic) + POLL_TIME_NS;
	TAILQ_INSERT_TAIL(&nic->poll_queue, qp, poll_link);
	nic->num_polled++;
	if (nic->regs.drv_features & MYNIC_FEATURE_DB_SUPPRESS)
		set_no_ring(nic, qp, true);
}

/* For a guess no QP is put out of the queue. */
void qp_watch(struct qp *qp)
{
	struct nic *nic = qp->nic;

	qp->answered = qp->req.pi;
	if (!qp->polled && qp->has_sq && nic->num_polled < POLL_MAX_QPS)
		start_polling(nic, qp);
}

bool qps_poll(struct nic *nic)
{
	uint64_t now = nic_now(nic);
	unsigned int num = nic->num_polled;
	struct qp *qp, *next;
	bool found = false;

	for (qp = TAILQ_FIRST(&nic->poll_queue); num--; qp = next) {
		next = TAILQ_NEXT(qp, poll_link);
		if (qp->state != IB_QPS_RTS || now >= qp->poll_until) {
			found |= stop_polling(nic, qp);
		} else if (!qp->scheduled && sq_has_news(nic, qp)) {
			start_polling(nic, qp);
			transport_doorbell(qp);
			found = true;
		}
	}
	return found;
}

bool qps_stop_polling(struct nic *nic)
{
	bool found = false;

	while (!TAILQ_EMPTY(&nic->poll_queue))
		found |= stop_polling(nic, TAILQ_FIRST(&nic->poll_queue));
	return found;
}

static bool run_pieces(struct nic *nic, unsigned int num)
{
	struct qp *qp;

	for (unsigned int i = 0; i < num && nic_enabled(nic); i++) {
		qp = TAILQ_FIRST(&nic->run_queue);
		if (!qp)
			return false;
		if (nic_turn_is_over(nic))
			return true;
		nic_charge(nic, 1);
		unschedule(nic, qp);
		if (transport_run_qp(qp))
			qp_schedule(nic, qp);
		if (qp->polled)
			start_polling(nic, qp);
	}
	return !TAILQ_EMPTY(&nic->run_queue);
}

bool qps_run(struct nic *nic)
{
	return run_pieces(nic, RUN_QUANTUM);
}

void qps_run_each(struct nic *nic)
{
	unsigned int num = 0;
	struct qp *qp;

	TAILQ_FOREACH(qp, &nic->run_queue, run_link)
	if (++num == RUN_QUANTUM)
		break;
	run_pieces(nic, num);
}

bool qp_doorbell(struct nic *nic, uint32_t uarn, uint32_t number)
{
	struct qp *qp = qp_find(nic, number);

	if (!qp || qp->uarn != uarn)
		return false;
	if (qp->has_sq)
		start_polling(nic, qp);
	transport_doorbell(qp);
	return true;
}

static void set_state(struct qp *qp, enum ib_qp_state state)
{
	enum ib_qp_state old = qp->state;

	qp->state = state;
	transport_set_state(qp, old);
}

void qp_to_error(struct nic *nic, struct qp *qp, int event)
{
	if (qp->state == IB_QPS_ERR || qp->state == IB_QPS_RESET)
		return;
	set_state(qp, IB_QPS_ERR);
	if (event)
		event_raise(nic, &qp->events, event);
}

void qp_to_sqe(struct qp *qp)
{
	if (qp->state == IB_QPS_RTS)
		set_state(qp, IB_QPS_SQE);
}

static bool has_no_rq(const struct mynic_create_qp *cmd)
{
	return !cmd->log_rq_stride && le32toh(cmd->srqn) == MYNIC_NO_SRQ;
}

static bool fits_type(const struct mynic_create_qp *cmd)
{
	const struct mynic_create_qp target = {
		.srqn = htole32(MYNIC_NO_SRQ),
		.xrcdn = cmd->xrcdn,
		.type = MYNIC_QP_XRC_TGT,
	};

	switch (cmd->type) {
	case MYNIC_QP_XRC_TGT:
		return !memcmp(cmd, &target, sizeof(target));
	case MYNIC_QP_XRC_INI:
	case MYNIC_QP_DRIVER:
		return !cmd->xrcdn && has_no_rq(cmd);
	default:
		return !cmd->xrcdn;
	}
}

static bool check(const struct mynic_create_qp *cmd)
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
	       fits_type(cmd);
}

static int find_objects(struct nic *nic, struct qp *qp,
			const struct mynic_create_qp *cmd)
{
	if (qp->type == MYNIC_QP_XRC_TGT) {
		qp->xrcd = table_get(&nic->xrcds, le32toh(cmd->xrcdn));
		return qp->xrcd ? MYNIC_AQ_OK : MYNIC_AQ_BAD_NUMBER;
	}
	qp->pd = table_get(&nic->pds, le32toh(cmd->pdn));
	if (cmd->rwq_tablen)
		return qp->pd ? rss_init(nic, qp, cmd) : MYNIC_AQ_BAD_NUMBER;
	qp->send_cq = table_get(&nic->cqs, le32toh(cmd->send_cqn));
	qp->recv_cq = table_get(&nic->cqs, le32toh(cmd->recv_cqn));
	if (!qp->pd || !qp->send_cq || !qp->recv_cq)
		return MYNIC_AQ_BAD_NUMBER;
	if (qp->send_cq->error || qp->recv_cq->error)
		return MYNIC_AQ_BAD_STATE;
	if (le32toh(cmd->srqn) == MYNIC_NO_SRQ)
		return MYNIC_AQ_OK;
	qp->srq = table_get(&nic->srqs, le32toh(cmd->srqn));
	if (!qp->srq)
		return MYNIC_AQ_BAD_NUMBER;
	if (cmd->log_rq_stride || (qp->srq->tm && qp->type != MYNIC_QP_RC))
		return MYNIC_AQ_BAD_PARAM;
	if (qp->srq->tm)
		qp->recv_cq = qp->srq->cq;
	return qp->srq->error ? MYNIC_AQ_BAD_STATE : MYNIC_AQ_OK;
}

static int init_rings(struct nic *nic, struct qp *qp,
		      const struct mynic_create_qp *cmd)
{
	int status;

	if (qp->type == MYNIC_QP_XRC_TGT || qp->rss)
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
	if (qp->has_sq)
		status = ring_init(nic, &qp->sq, &qp->buf,
				   le32toh(cmd->sq_offset), cmd->log_sq_size,
				   cmd->log_sq_stride, false);
	if (status || !qp->has_rq)
		return status;
	return ring_init(nic, &qp->rq, &qp->buf, le32toh(cmd->rq_offset),
			 cmd->log_rq_size, cmd->log_rq_stride, false);
}

static int add_number(struct nic *nic, struct qp *qp)
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

static const uint8_t services[QP_TYPE_WQ + 1] = {
	[MYNIC_QP_RC] = BTH_SERVICE_RC << BTH_SERVICE_SHIFT,
	[MYNIC_QP_UC] = BTH_SERVICE_UC << BTH_SERVICE_SHIFT,
	[MYNIC_QP_XRC_INI] = BTH_SERVICE_XRC << BTH_SERVICE_SHIFT,
	[MYNIC_QP_XRC_TGT] = BTH_SERVICE_XRC << BTH_SERVICE_SHIFT,
};

static int init(struct nic *nic, struct qp *qp,
		const struct mynic_create_qp *cmd)
{
	int status;

	qp->nic = nic;
	qp->type = cmd->type;
	qp->service = services[cmd->type];
	qp->flags = cmd->flags;
	qp->uarn = le32toh(cmd->uarn);
	status = find_objects(nic, qp, cmd);
	if (status)
		return status;
	status = init_rings(nic, qp, cmd);
	if (status)
		return status;
	status = add_number(nic, qp);
	if (status)
		return status;
	if (qp->srq && qp->srq->tm && !qp->has_sq)
		rndv_init(qp);
	if (qp_transport_init(qp)) {
		table_remove(&nic->qps, qp->number);
		return MYNIC_AQ_NO_RESOURCE;
	}
	return MYNIC_AQ_OK;
}

static void add_user(struct qp *qp)
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

static void remove_user(struct qp *qp)
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

	if (!check(cmd))
		return MYNIC_AQ_BAD_PARAM;
	qp = mem_alloc(&nic->mem, sizeof(*qp));
	if (!qp)
		return MYNIC_AQ_NO_RESOURCE;
	status = init(nic, qp, cmd);
	if (status) {
		rss_fini(qp);
		mem_free(&nic->mem, qp);
		return status;
	}
	add_user(qp);
	*result = qp;
	return MYNIC_AQ_OK;
}

int admin_create_qp(struct nic *nic, struct admin_call *call)
{
	const struct mynic_create_qp *cmd = &call->create_qp;
	struct qp *qp;
	int status;

	if (cmd->flags & ~QP_FLAGS || cmd->type > MYNIC_QP_DRIVER ||
	    !(SUPPORTED_TYPES & 1 << cmd->type))
		return MYNIC_AQ_NOT_SUPPORTED;
	status = qp_create(nic, cmd, &qp);
	if (!status)
		call->cpl.number = htole32(qp->number);
	return status;
}

void qp_destroy(struct nic *nic, struct qp *qp)
{
	counters_bind(qp, NULL);
	eth_qp_gone(nic, qp);
	qp_transport_fini(qp);
	unschedule(nic, qp);
	leave_poll_queue(nic, qp);
	event_drop(nic, &qp->events);
	remove_user(qp);
	rss_fini(qp);
	table_remove(&nic->qps, qp->number);
	mem_free(&nic->mem, qp);
}

/* Return: true if it still has groups or windows */
static bool unbind_some(struct nic *nic, struct qp *qp)
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
	if (unbind_some(nic, qp))
		return ADMIN_AGAIN;
	transport_return_recv(qp);
	qp_destroy(nic, qp);
	return MYNIC_AQ_OK;
}

bool qps_free_one(struct nic *nic, uint32_t *number)
{
	struct qp *qp = table_next(&nic->qps, number);

	if (!qp)
		return false;
	if (!unbind_some(nic, qp))
		qp_destroy(nic, qp);
	return true;
}
