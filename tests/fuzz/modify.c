// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* ibv_modify_qp(), ibv_query_qp(), ibv_query_qp_data_in_order() */
#include <string.h>
#include <time.h>

#include "runner.h"

/* IBV_QP_STATE up to IBV_QP_DEST_QPN; the others of libibverbs are not queried. */
#define ALL_ATTRS ((IBV_QP_DEST_QPN << 1) - 1)

static uint32_t qp_number(const struct line *line, const char *name)
{
	struct ibv_qp *qp = live(line, KIND_QP, name);

	return qp->qp_num;
}

static int modify_qp(const struct line *line)
{
	struct object *obj = object(line, line->target);
	struct ibv_qp_attr attr = {
		.qp_state = number(line, "state", 0),
		.cur_qp_state = number(line, "cur", 0),
		.pkey_index = number(line, "pkey", 0),
		.port_num = number(line, "port", 1),
		.qkey = number(line, "qkey", 0),
		.qp_access_flags = number(line, "access", 0),
		.path_mtu = number(line, "mtu", 0),
		.rq_psn = number(line, "rq_psn", 0),
		.sq_psn = number(line, "sq_psn", 0),
		.max_rd_atomic = number(line, "rd", 0),
		.max_dest_rd_atomic = number(line, "dest_rd", 0),
		.min_rnr_timer = number(line, "min_rnr", 0),
		.timeout = number(line, "timeout", 0),
		.retry_cnt = number(line, "retry", 0),
		.rnr_retry = number(line, "rnr", 0),
		.en_sqd_async_notify = number(line, "notify", 0),
		.rate_limit = number(line, "rate", 0),
	};

	if (arg(line, "dest"))
		attr.dest_qp_num = qp_number(line, arg(line, "dest"));
	attr.ah_attr = path_make(line, &program->nodes[obj->node]);
	return ibv_modify_qp(live(line, KIND_QP, line->target), &attr,
			     number(line, "mask", 0));
}

static void check_told(const struct line *line, const char *name,
		       uint64_t value)
{
	uint64_t expected = number(line, name, value);

	if (value != expected)
		fail(line, "%s is %llu, expected %llu", name,
		     (unsigned long long)value, (unsigned long long)expected);
}

static void check_attr(const struct line *line, const struct ibv_qp_attr *attr)
{
	const struct object *obj = object(line, line->target);
	struct ibv_ah_attr path;

	check_told(line, "state", attr->qp_state);
	check_told(line, "access", attr->qp_access_flags);
	check_told(line, "pkey", attr->pkey_index);
	check_told(line, "port", attr->port_num);
	check_told(line, "qkey", attr->qkey);
	check_told(line, "mtu", attr->path_mtu);
	check_told(line, "rq_psn", attr->rq_psn);
	check_told(line, "sq_psn", attr->sq_psn);
	check_told(line, "timeout", attr->timeout);
	check_told(line, "retry", attr->retry_cnt);
	check_told(line, "rnr", attr->rnr_retry);
	check_told(line, "rd", attr->max_rd_atomic);
	check_told(line, "dest_rd", attr->max_dest_rd_atomic);
	check_told(line, "min_rnr", attr->min_rnr_timer);
	if (arg(line, "dest") &&
	    attr->dest_qp_num != qp_number(line, arg(line, "dest")))
		fail(line, "has another destination");
	if (!arg(line, "to"))
		return;
	path = path_make(line, &program->nodes[obj->node]);
	path_compare(line, &attr->ah_attr, &path);
}

static void check_cap(const struct line *line, const struct ibv_qp_cap *found)
{
	const struct ibv_qp_cap *cap = &object(line, line->target)->cap;

	if (found->max_send_wr != cap->max_send_wr ||
	    found->max_recv_wr != cap->max_recv_wr ||
	    found->max_send_sge != cap->max_send_sge ||
	    found->max_recv_sge != cap->max_recv_sge ||
	    found->max_inline_data != cap->max_inline_data)
		fail(line, "has more or less room than when it was made");
}

/* Attributes of creation are what creation was given, and returned. */
static void check_init(const struct line *line,
		       const struct ibv_qp_init_attr *found)
{
	const struct ibv_qp_init_attr *init = &object(line, line->target)->init;

	check_cap(line, &found->cap);
	if (found->qp_context != init->qp_context)
		fail(line, "has another context");
	if (found->send_cq != init->send_cq ||
	    found->recv_cq != init->recv_cq || found->srq != init->srq)
		fail(line, "has other queues than when it was made");
	if (found->qp_type != init->qp_type ||
	    found->sq_sig_all != init->sq_sig_all)
		fail(line, "is of type %u with sq_sig_all %d, not %u with %d",
		     found->qp_type, found->sq_sig_all, init->qp_type,
		     init->sq_sig_all);
}

/* Nothing that was sent is left to wait for, so that draining ends. */
static int query_drained(const struct line *line, struct ibv_qp_attr *attr,
			 struct ibv_qp_init_attr *init)
{
	struct ibv_qp *qp = live(line, KIND_QP, line->target);
	time_t end = time(NULL) + PATIENCE;
	int err;

	do
		err = ibv_query_qp(qp, attr, ALL_ATTRS, init);
	while (!err && attr->qp_state == IBV_QPS_SQD && attr->sq_draining &&
	       time(NULL) < end);
	if (!err && attr->qp_state == IBV_QPS_SQD && attr->sq_draining)
		fail(line, "is never drained");
	return err;
}

static int query_qp(const struct line *line)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int err;

	err = query_drained(line, &attr, &init);
	if (err)
		return err;
	check_attr(line, &attr);
	check_cap(line, &attr.cap);
	check_init(line, &init);
	return 0;
}

static int query_order(const struct line *line)
{
	return ibv_query_qp_data_in_order(live(line, KIND_QP, line->target),
					  number(line, "op", 0),
					  number(line, "flags", 0));
}

bool modify_call(const struct line *line)
{
	if (!strcmp(line->verb, "modify_qp"))
		expect_errno(line, modify_qp(line));
	else if (!strcmp(line->verb, "query_qp"))
		expect_errno(line, query_qp(line));
	else if (!strcmp(line->verb, "query_qp_data_in_order"))
		expect_returned(line, query_order(line));
	else
		return false;
	return true;
}
