// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Queue pairs: creation, transitions, queries, destruction. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ccan/array_size.h>

#include "mynic-abi.h"
#include "sq.h"

static bool mynic_may_send(enum ibv_qp_state state)
{
	return state == IBV_QPS_RTS || state == IBV_QPS_SQD ||
	       state == IBV_QPS_SQE || state == IBV_QPS_ERR;
}

static void mynic_sq_set_limit(struct mynic_sq *sq, uint32_t limit)
{
	mynic_lock(&sq->lock);
	sq->limit = limit;
	if (!limit)
		sq->end = sq->pi;
	mynic_unlock(&sq->lock);
}

static void mynic_rq_set_limit(struct mynic_rq *rq, uint32_t limit)
{
	mynic_lock(&rq->lock);
	rq->limit = limit;
	if (!limit) {
		rq->end -= rq->room;
		rq->room = 0;
	}
	mynic_unlock(&rq->lock);
}

/*
 * Allow posting as far as the state does. The lock is taken only for a change,
 * because the caller may hold it within wr_start and wr_complete.
 */
static void mynic_qp_set_limits(struct mynic_qp *qp, enum ibv_qp_state state)
{
	uint32_t sq_limit = mynic_may_send(state) ? qp->sq.size : 0;
	uint32_t rq_limit = state == IBV_QPS_RESET ? 0 : qp->rq.size;

	if (qp->sq.limit != sq_limit)
		mynic_sq_set_limit(&qp->sq, sq_limit);
	if (qp->rq.limit != rq_limit)
		mynic_rq_set_limit(&qp->rq, rq_limit);
}

static void mynic_qp_use_cq(struct mynic_qp *qp, int i, struct ibv_cq *ibcq)
{
	qp->cqs[i] = to_mcq(ibcq);
	mynic_use(&qp->cqs[i]->users);
}

/*
 * Record the CQs that are cleaned when the QP is destroyed, and cannot be
 * destroyed before. The CQ of a tag matching SRQ is not cleaned, even if it is
 * also the QP's own. A lost message there would make all later counts wrong.
 */
void mynic_qp_init(struct mynic_qp *qp)
{
	struct ibv_qp *ibqp = &qp->vqp.qp;
	struct ibv_cq *tm_cq = NULL;

	pthread_mutex_init(&qp->state_lock, NULL);
	if (ibqp->srq && to_msrq(ibqp->srq)->tags.ring)
		tm_cq = to_msrq(ibqp->srq)->vsrq.cq;
	if (ibqp->recv_cq && ibqp->recv_cq != tm_cq)
		mynic_qp_use_cq(qp, 0, ibqp->recv_cq);
	if (ibqp->send_cq && ibqp->send_cq != ibqp->recv_cq &&
	    ibqp->send_cq != tm_cq)
		mynic_qp_use_cq(qp, 1, ibqp->send_cq);
}

/* Remove what the device completed before the QP was reset or destroyed. */
static void mynic_qp_clean_cqs(struct mynic_qp *qp)
{
	for (int i = 0; i < ARRAY_SIZE(qp->cqs); i++)
		if (qp->cqs[i])
			mynic_cq_clean(qp->cqs[i], qp->vqp.qp.qp_num);
}

void mynic_qp_fini(struct mynic_qp *qp)
{
	mynic_qp_clean_cqs(qp);
	for (int i = 0; i < ARRAY_SIZE(qp->cqs); i++)
		if (qp->cqs[i])
			mynic_unuse(&qp->cqs[i]->users);
	pthread_mutex_destroy(&qp->state_lock);
}

/* In RESET the device begins at index 0 again. */
static void mynic_qp_restart(struct mynic_qp *qp)
{
	if (!qp->map.addr)
		return;
	mynic_qp_clean_cqs(qp);

	mynic_lock(&qp->sq.lock);
	mynic_lock(&qp->rq.lock);
	mynic_sq_seek(&qp->sq, 0);
	qp->sq.end = 0;
	qp->rq.next = qp->rq.ring;
	qp->rq.room = 0;
	qp->rq.end = 0;
	memset(qp->sq.dbrec, 0, sizeof(*qp->sq.dbrec));
	mynic_unlock(&qp->rq.lock);
	mynic_unlock(&qp->sq.lock);
}

/*
 * Adjust the queues after a transition to @state. The caller has held
 * state_lock since before the command.
 */
void mynic_qp_moved(struct mynic_qp *qp, enum ibv_qp_state state)
{
	qp->state = state;
	atomic_fetch_add(&qp->transitions, 1);
	if (state == IBV_QPS_RESET)
		mynic_qp_restart(qp);
	mynic_qp_set_limits(qp, state);
}

/*
 * A query may report more than the last transition: the device may have entered
 * an error state by itself. Requests can still be posted there, so a query
 * never forbids posting. Ignore the answer if there has been a transition since
 * the query began (@transitions), or if one is under way: it may be older than
 * that.
 */
static void mynic_qp_found(struct mynic_qp *qp, enum ibv_qp_state state,
			   unsigned int transitions)
{
	if (!mynic_may_send(state) ||
	    atomic_load(&qp->transitions) != transitions ||
	    pthread_mutex_trylock(&qp->state_lock))
		return;
	if (atomic_load(&qp->transitions) == transitions)
		mynic_qp_set_limits(qp, state);
	pthread_mutex_unlock(&qp->state_lock);
}

/* Locate the queues in the mapped memory. @qp has its context and number. */
void mynic_qp_init_queues(struct mynic_qp *qp,
			  const struct mynic_create_qp_resp *resp,
			  const struct ibv_qp_cap *cap)
{
	struct mynic_qp_dbrec *dbrec = qp->map.addr + resp->dbrec_offset;
	struct mynic_sq *sq = &qp->sq;
	struct mynic_rq *rq = &qp->rq;

	sq->dbrec = dbrec;
	sq->doorbell = to_mctx(qp->vqp.qp.context)->uar + MYNIC_UAR_QP_DB;
	sq->db_number = (uint64_t)qp->vqp.qp.qp_num << MYNIC_DB_NUMBER_SHIFT;
	sq->data_offset = mynic_sq_data_offset(qp->vqp.qp.qp_type);
	if (resp->log_sq_stride) {
		sq->ring = qp->map.addr + resp->sq_offset;
		sq->size = 1U << resp->log_sq_size;
		sq->stride = 1U << resp->log_sq_stride;
		sq->ring_end = sq->ring + (size_t)sq->size * sq->stride;
		mynic_sq_seek(sq, 0);
		sq->max_sge = cap->max_send_sge;
		sq->max_inline = cap->max_inline_data;
	}

	rq->pi_record = &dbrec->rq_pi;
	rq->ci_record = &dbrec->rq_ci;
	if (resp->log_rq_stride) {
		rq->ring = qp->map.addr + resp->rq_offset;
		rq->size = 1U << resp->log_rq_size;
		rq->stride = 1U << resp->log_rq_stride;
		rq->max_sge = cap->max_recv_sge;
		rq->next = rq->ring;
		rq->ring_end = rq->ring + rq->size * rq->stride;
	}
}

/*
 * The kernel does not know TSO headers. Ask it for inline data as large as a
 * header followed by all SGEs.
 */
static void mynic_cap_add_tso(struct ibv_qp_cap *cap, uint32_t max_tso_hdr)
{
	uint32_t size = mynic_tso_sges(max_tso_hdr) +
			cap->max_send_sge * sizeof(struct mynic_sge);

	if (cap->max_inline_data < size)
		cap->max_inline_data = size;
}

/*
 * Each request may have a header and all SGEs, so report only as many SGEs as
 * fit behind the header.
 */
static void mynic_cap_sub_tso(struct ibv_qp_cap *cap, uint32_t max_tso_hdr)
{
	uint32_t room = cap->max_inline_data - mynic_tso_sges(max_tso_hdr);

	if (cap->max_send_sge > room / sizeof(struct mynic_sge))
		cap->max_send_sge = room / sizeof(struct mynic_sge);
}

/* Only the extended command takes flags. */
static int mynic_cmd_create_qp(struct ibv_pd *pd, struct mynic_qp *qp,
			       struct ibv_qp_init_attr *attr,
			       uint32_t create_flags, uint32_t driver_qp_type,
			       struct mynic_create_qp_resp *drv_resp)
{
	struct umynic_create_qp cmd = { .driver_qp_type = driver_qp_type };
	struct umynic_create_qp_resp resp = {};
	struct umynic_create_qp_ex cmd_ex = {};
	struct umynic_create_qp_ex_resp resp_ex = {};
	struct ibv_qp_init_attr_ex attr_ex;
	int err;

	if (!create_flags) {
		err = ibv_cmd_create_qp(pd, &qp->vqp.qp, attr, &cmd.ibv_cmd,
					sizeof(cmd), &resp.ibv_resp,
					sizeof(resp));
		*drv_resp = resp.drv_payload;
		return err;
	}
	attr_ex = (struct ibv_qp_init_attr_ex){
		.qp_context = attr->qp_context,
		.send_cq = attr->send_cq,
		.recv_cq = attr->recv_cq,
		.srq = attr->srq,
		.cap = attr->cap,
		.qp_type = attr->qp_type,
		.sq_sig_all = attr->sq_sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_CREATE_FLAGS,
		.pd = pd,
		.create_flags = create_flags,
	};
	err = ibv_cmd_create_qp_ex2(pd->context, &qp->vqp, &attr_ex,
				    &cmd_ex.ibv_cmd, sizeof(cmd_ex),
				    &resp_ex.ibv_resp, sizeof(resp_ex), NULL);
	attr->cap = attr_ex.cap;
	*drv_resp = resp_ex.drv_payload;
	return err;
}

static struct mynic_qp *mynic_alloc_qp(struct ibv_pd *pd)
{
	struct mynic_home home;
	struct mynic_qp *qp;

	qp = mynic_alloc_object(&home, pd, sizeof(*qp), MYNICDV_RES_QP);
	if (!qp)
		return NULL;
	qp->home = home;
	qp->sq.single_threaded = mynic_single_threaded(pd);
	qp->sq.db_suppress = to_mctx(pd->context)->db_suppress;
	qp->rq.single_threaded = mynic_single_threaded(pd);
	mynic_choose_queue_ops(pd->context, MYNIC_QUEUE_RQ, mynic_recv_forms,
			       qp->rq.single_threaded);
	return qp;
}

static struct ibv_qp *mynic_new_qp(struct ibv_pd *pd,
				   struct ibv_qp_init_attr *attr,
				   uint32_t create_flags, uint32_t max_tso_hdr,
				   uint32_t driver_qp_type)
{
	struct mynic_create_qp_resp resp;
	struct ibv_qp_cap *cap = &attr->cap;
	struct mynic_qp *qp;
	int err;

	if (!mynic_sq_type(attr->qp_type)) {
		verbs_debug(verbs_get_ctx(pd->context), "no QPs of type %d\n",
			    attr->qp_type);
		errno = EOPNOTSUPP;
		return NULL;
	}

	qp = mynic_alloc_qp(pd);
	if (!qp)
		return NULL;
	if (max_tso_hdr)
		mynic_cap_add_tso(cap, max_tso_hdr);
	err = mynic_cmd_create_qp(pd, qp, attr, create_flags, driver_qp_type,
				  &resp);
	if (err)
		goto err_free;
	err = mynic_mmap(pd->context, &qp->map, resp.mmap_key, resp.mmap_size);
	if (err)
		goto err_destroy;

	if (max_tso_hdr && resp.log_sq_stride) {
		mynic_cap_sub_tso(cap, max_tso_hdr);
		qp->sq.max_tso_hdr = max_tso_hdr;
	}
	/*
	 * The kernel keeps only the CQs that are used, whatever the application
	 * named.
	 */
	if (attr->qp_type == IBV_QPT_XRC_SEND) {
		qp->vqp.qp.recv_cq = NULL;
		qp->vqp.qp.srq = NULL;
	}
	mynic_qp_init(qp);
	mynic_qp_init_queues(qp, &resp, cap);
	mynic_ece_reset(qp);
	mynic_post_send_setup(qp);
	return &qp->vqp.qp;

err_destroy:
	ibv_cmd_destroy_qp(&qp->vqp.qp);
err_free:
	mynic_free_object(&qp->home, qp, MYNICDV_RES_QP);
	errno = err;
	return NULL;
}

/*
 * Posting reads this record in QPs without queues. As their rings have no
 * slots, nothing is ever stored in it.
 */
static struct mynic_qp_dbrec mynic_no_dbrec;

static void mynic_qp_init_bare(struct mynic_qp *qp)
{
	/*
	 * The kernel keeps no CQs of this QP, even if the application named
	 * some.
	 */
	qp->vqp.qp.send_cq = NULL;
	qp->vqp.qp.recv_cq = NULL;
	qp->vqp.qp.srq = NULL;
	mynic_qp_init(qp);
	qp->sq.dbrec = &mynic_no_dbrec;
	qp->rq.pi_record = &mynic_no_dbrec.rq_pi;
	qp->rq.ci_record = &mynic_no_dbrec.rq_ci;
	mynic_choose_queue_ops(qp->vqp.qp.context, MYNIC_QUEUE_RQ,
			       mynic_recv_forms, false);
	mynic_post_send_setup(qp);
}

static struct ibv_qp *mynic_new_target(struct ibv_context *context,
				       struct ibv_qp_init_attr_ex *attr)
{
	struct umynic_create_qp_resp resp = {};
	struct ibv_create_qp cmd;
	struct mynic_qp *qp;
	int err;

	qp = mynic_alloc(sizeof(*qp));
	if (!qp)
		return NULL;
	err = ibv_cmd_create_qp_ex(context, &qp->vqp, attr, &cmd, sizeof(cmd),
				   &resp.ibv_resp, sizeof(resp));
	if (err) {
		free(qp);
		errno = err;
		return NULL;
	}
	/*
	 * The QP has no PD, but librdmacm uses this one as the PD of the
	 * connection.
	 */
	qp->vqp.qp.pd = attr->comp_mask & IBV_QP_INIT_ATTR_PD ? attr->pd : NULL;
	mynic_qp_init_bare(qp);
	return &qp->vqp.qp;
}

/* Create a QP that spreads received frames over the WQs of a table. */
static struct ibv_qp *mynic_new_rss(struct ibv_context *context,
				    struct ibv_qp_init_attr_ex *attr)
{
	const struct ibv_rx_hash_conf *hash = &attr->rx_hash_conf;
	struct umynic_create_qp_ex cmd = {
		.rx_hash_fields = hash->rx_hash_fields_mask,
		.rx_hash_function = hash->rx_hash_function,
	};
	struct umynic_create_qp_ex_resp resp = {};
	struct mynic_qp *qp;
	int err;

	if (attr->qp_type != IBV_QPT_RAW_PACKET ||
	    hash->rx_hash_fields_mask > UINT32_MAX) {
		verbs_debug(verbs_get_ctx(context),
			    "RSS: QP of type %d, fields 0x%llx\n",
			    attr->qp_type,
			    (unsigned long long)hash->rx_hash_fields_mask);
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (hash->rx_hash_key_len != sizeof(cmd.rx_hash_key)) {
		verbs_debug(verbs_get_ctx(context),
			    "RSS: a key of %u bytes, not %zu\n",
			    hash->rx_hash_key_len, sizeof(cmd.rx_hash_key));
		errno = EINVAL;
		return NULL;
	}
	memcpy(cmd.rx_hash_key, hash->rx_hash_key, sizeof(cmd.rx_hash_key));
	qp = mynic_alloc(sizeof(*qp));
	if (!qp)
		return NULL;
	err = ibv_cmd_create_qp_ex2(context, &qp->vqp, attr, &cmd.ibv_cmd,
				    sizeof(cmd), &resp.ibv_resp, sizeof(resp),
				    NULL);
	if (err) {
		free(qp);
		errno = err;
		return NULL;
	}
	mynic_qp_init_bare(qp);
	return &qp->vqp.qp;
}

struct ibv_qp *mynic_open_qp(struct ibv_context *context,
			     struct ibv_qp_open_attr *attr)
{
	struct ib_uverbs_create_qp_resp resp = {};
	struct ibv_open_qp cmd = {};
	struct mynic_qp *qp;
	int err;

	qp = mynic_alloc(sizeof(*qp));
	if (!qp)
		return NULL;
	err = ibv_cmd_open_qp(context, &qp->vqp, sizeof(qp->vqp), attr, &cmd,
			      sizeof(cmd), &resp, sizeof(resp));
	if (err) {
		free(qp);
		errno = err;
		return NULL;
	}
	mynic_qp_init_bare(qp);
	return &qp->vqp.qp;
}

struct ibv_qp *mynic_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	return mynic_new_qp(pd, attr, 0, 0, 0);
}

struct ibv_qp *mynic_create_driver_qp(struct ibv_pd *pd,
				      struct ibv_qp_init_attr *attr,
				      uint32_t driver_qp_type)
{
	return mynic_new_qp(pd, attr, 0, 0, driver_qp_type);
}

/* Create a QP that has send and receive queues of its own, or an SRQ. */
static struct ibv_qp *mynic_new_qp_ex(struct ibv_context *context,
				      struct ibv_qp_init_attr_ex *attr)
{
	bool wr_api = attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	bool tso = attr->comp_mask & IBV_QP_INIT_ATTR_MAX_TSO_HEADER &&
		   attr->max_tso_header;
	uint32_t create_flags = 0;
	struct ibv_qp *qp;

	if (attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS)
		create_flags = attr->create_flags;
	if (!check_comp_mask(attr->comp_mask,
			     IBV_QP_INIT_ATTR_PD |
				     IBV_QP_INIT_ATTR_CREATE_FLAGS |
				     IBV_QP_INIT_ATTR_MAX_TSO_HEADER |
				     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) ||
	    create_flags & ~IBV_QP_CREATE_CVLAN_STRIPPING ||
	    (create_flags && attr->qp_type != IBV_QPT_RAW_PACKET) ||
	    (tso && !mynic_op_on(IBV_WR_TSO, attr->qp_type)) ||
	    (wr_api &&
	     !mynic_ops_supported(attr->qp_type, attr->send_ops_flags))) {
		verbs_debug(
			verbs_get_ctx(context),
			"QP of type %d: comp_mask 0x%x, create_flags 0x%x or send_ops_flags 0x%llx\n",
			attr->qp_type, attr->comp_mask, create_flags,
			wr_api ? (unsigned long long)attr->send_ops_flags : 0);
		errno = EOPNOTSUPP;
		return NULL;
	}
	/*
	 * struct ibv_qp_init_attr_ex begins with the other struct, as
	 * libibverbs assumes, too.
	 */
	qp = mynic_new_qp(attr->pd, (struct ibv_qp_init_attr *)attr,
			  create_flags, tso ? attr->max_tso_header : 0, 0);
	if (qp && wr_api)
		mynic_wr_setup(to_mqp(qp), attr->send_ops_flags);
	return qp;
}

#define MYNIC_TARGET_MASK (IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD)
#define MYNIC_RSS_MASK                                         \
	(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS | \
	 IBV_QP_INIT_ATTR_IND_TABLE | IBV_QP_INIT_ATTR_RX_HASH)

/* Return: 0 or a positive errno. */
static int mynic_qp_check_mask(const struct ibv_qp_init_attr_ex *attr)
{
	uint32_t mask = attr->comp_mask;

	if (attr->qp_type == IBV_QPT_XRC_RECV)
		return mask & ~MYNIC_TARGET_MASK ? EOPNOTSUPP : 0;
	if (!(mask & IBV_QP_INIT_ATTR_PD))
		return EINVAL;
	if (!(mask & IBV_QP_INIT_ATTR_IND_TABLE))
		return 0;
	if (!(mask & IBV_QP_INIT_ATTR_RX_HASH))
		return EOPNOTSUPP;
	return mask & ~MYNIC_RSS_MASK ? EOPNOTSUPP : 0;
}

struct ibv_qp *mynic_create_qp_ex(struct ibv_context *context,
				  struct ibv_qp_init_attr_ex *attr)
{
	int err = mynic_qp_check_mask(attr);

	if (err) {
		verbs_debug(verbs_get_ctx(context),
			    "QP of type %d: comp_mask 0x%x\n", attr->qp_type,
			    attr->comp_mask);
		errno = err;
		return NULL;
	}
	if (attr->qp_type == IBV_QPT_XRC_RECV)
		return mynic_new_target(context, attr);
	if (attr->comp_mask & IBV_QP_INIT_ATTR_IND_TABLE)
		return mynic_new_rss(context, attr);
	return mynic_new_qp_ex(context, attr);
}

/* Only the extended command has room for these attributes. */
static int mynic_modify_qp_ex(struct mynic_qp *qp, struct ibv_qp_attr *attr,
			      int attr_mask)
{
	struct umynic_modify_qp_ex cmd = {};
	struct umynic_modify_qp_ex_resp resp = {};
	int err;

	if (qp->ece_set)
		cmd.ece_options = qp->ece_options;
	err = ibv_cmd_modify_qp_ex(&qp->vqp.qp, attr, attr_mask, &cmd.ibv_cmd,
				   sizeof(cmd), &resp.ibv_resp, sizeof(resp));
	if (!err && attr_mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RTR)
		qp->ece_options = resp.ece_options;
	return err;
}

static int mynic_qp_modify(struct mynic_qp *qp, struct ibv_qp_attr *attr,
			   int attr_mask)
{
	bool to_rtr = attr_mask & IBV_QP_STATE && attr->qp_state == IBV_QPS_RTR;
	struct ibv_modify_qp cmd;
	int err;

	if (attr_mask & IBV_QP_RATE_LIMIT || (to_rtr && qp->ece_set))
		err = mynic_modify_qp_ex(qp, attr, attr_mask);
	else
		err = ibv_cmd_modify_qp(&qp->vqp.qp, attr, attr_mask, &cmd,
					sizeof(cmd));
	if (err || !(attr_mask & IBV_QP_STATE))
		return err;

	if (to_rtr && !qp->ece_set)
		qp->ece_options = 0;
	if (attr->qp_state == IBV_QPS_RESET)
		mynic_ece_reset(qp);
	mynic_qp_moved(qp, attr->qp_state);
	return 0;
}

int mynic_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr,
		    int attr_mask)
{
	struct mynic_qp *qp = to_mqp(ibqp);
	int err;

	pthread_mutex_lock(&qp->state_lock);
	err = mynic_qp_modify(qp, attr, attr_mask);
	pthread_mutex_unlock(&qp->state_lock);
	return err;
}

/*
 * The limit is in kbit/s, 0 for none. Limits of bursts are refused, because the
 * device has none.
 */
int mynic_modify_qp_rate_limit(struct ibv_qp *ibqp,
			       struct ibv_qp_rate_limit_attr *attr)
{
	struct ibv_qp_attr qp_attr = { .rate_limit = attr->rate_limit };
	struct mynic_qp *qp = to_mqp(ibqp);
	int err;

	if (attr->comp_mask || attr->max_burst_sz || attr->typical_pkt_sz) {
		verbs_debug(verbs_get_ctx(ibqp->context),
			    "QP 0x%x: a rate limit has no bursts\n",
			    ibqp->qp_num);
		return EINVAL;
	}
	pthread_mutex_lock(&qp->state_lock);
	if (qp->state == IBV_QPS_RTS) {
		err = mynic_qp_modify(qp, &qp_attr, IBV_QP_RATE_LIMIT);
	} else {
		verbs_debug(verbs_get_ctx(ibqp->context),
			    "QP 0x%x: not in RTS, for a rate limit\n",
			    ibqp->qp_num);
		err = EINVAL;
	}
	pthread_mutex_unlock(&qp->state_lock);
	return err;
}

int mynic_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int attr_mask,
		   struct ibv_qp_init_attr *init_attr)
{
	unsigned int transitions = atomic_load(&to_mqp(ibqp)->transitions);
	struct ibv_query_qp cmd;
	int err;

	err = ibv_cmd_query_qp(ibqp, attr, attr_mask, init_attr, &cmd,
			       sizeof(cmd));
	if (err)
		return err;
	/*
	 * The kernel does not know TSO headers, and counts their room as inline
	 * data.
	 */
	if (to_mqp(ibqp)->sq.max_tso_hdr) {
		attr->cap.max_send_sge = to_mqp(ibqp)->sq.max_sge;
		init_attr->cap.max_send_sge = to_mqp(ibqp)->sq.max_sge;
	}
	if (attr_mask & IBV_QP_STATE)
		mynic_qp_found(to_mqp(ibqp), attr->qp_state, transitions);
	return 0;
}

int mynic_destroy_qp(struct ibv_qp *ibqp)
{
	struct mynic_qp *qp = to_mqp(ibqp);
	int err;

	err = ibv_cmd_destroy_qp(ibqp);
	if (err)
		return err;
	mynic_qp_fini(qp);
	if (qp->map.addr)
		mynic_munmap(&qp->map);
	mynic_free_object(&qp->home, qp, MYNICDV_RES_QP);
	return 0;
}
