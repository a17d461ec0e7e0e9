// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* ibv_modify_qp(), ibv_query_qp() */
#include <string.h>

#include "runner.h"

static void set_path(const struct line *line, struct ibv_ah_attr *path,
		     unsigned int from)
{
	unsigned int to = number(line, "to", 0);

	*path = (struct ibv_ah_attr){
		.is_global = 1,
		.port_num = 1,
		.grh = { .dgid = nodes[to].gid,
			 .sgid_index = nodes[from].gid_index,
			 .hop_limit = 64 },
	};
}

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
	};

	if (arg(line, "dest"))
		attr.dest_qp_num = qp_number(line, arg(line, "dest"));
	set_path(line, &attr.ah_attr, obj->node);
	return ibv_modify_qp(live(line, KIND_QP, line->target), &attr,
			     number(line, "mask", 0));
}

static int query_qp(const struct line *line)
{
	struct ibv_qp *qp = live(line, KIND_QP, line->target);
	uint64_t state = number(line, "state", 0);
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	int err;

	err = ibv_query_qp(qp, &attr, IBV_QP_STATE, &init);
	if (!err && attr.qp_state != state)
		fail(line, "is in state %u, expected %llu", attr.qp_state,
		     (unsigned long long)state);
	return err;
}

bool modify_call(const struct line *line)
{
	if (!strcmp(line->verb, "modify_qp"))
		expect_errno(line, modify_qp(line));
	else if (!strcmp(line->verb, "query_qp"))
		expect_errno(line, query_qp(line));
	else
		return false;
	return true;
}
