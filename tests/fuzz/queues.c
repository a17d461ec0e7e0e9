// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Completion queues and shared receive queues: all but polling and posting */
#include <errno.h>
#include <string.h>

#include "runner.h"

static int create_cq(const struct line *line, struct object *obj)
{
	struct node *node = node_of(line, &obj->node);
	struct ibv_cq_init_attr_ex attr = {
		.cqe = number(line, "cqe", 1),
		.channel = maybe(line, KIND_CHANNEL, "channel"),
		.cq_context = obj,
		.comp_vector = number(line, "vector", 0),
		.wc_flags = number(line, "wc_flags", 0),
		.comp_mask = number(line, "mask", 0),
		.flags = number(line, "flags", 0),
		.parent_domain = maybe(line, KIND_PD, "pd"),
	};

	if (attr.parent_domain)
		attr.comp_mask |= IBV_CQ_INIT_ATTR_MASK_PD;
	if (attr.flags)
		attr.comp_mask |= IBV_CQ_INIT_ATTR_MASK_FLAGS;
	errno = 0;
	obj->wc_flags = attr.wc_flags;
	obj->ex = arg(line, "wc_flags");
	if (!obj->ex)
		return made(obj, ibv_create_cq(node->ctx, attr.cqe, obj,
					       attr.channel, attr.comp_vector));
	return made(obj, ibv_create_cq_ex(node->ctx, &attr));
}

static int resize_cq(const struct line *line, struct object *obj)
{
	struct ibv_cq *cq = live(line, KIND_CQ, line->target);
	int before = cq->cqe, cqe = number(line, "cqe", 0);
	int err = ibv_resize_cq(cq, cqe);

	if (err && cq->cqe != before)
		fail(line, "failed, but has changed");
	if (!err && cq->cqe < cqe)
		fail(line, "has %d entries of %d", cq->cqe, cqe);
	(void)obj;
	return err;
}

static int modify_cq(const struct line *line, struct object *obj)
{
	struct ibv_modify_cq_attr attr = {
		.attr_mask = number(line, "mask", 0),
		.moderate = { .cq_count = number(line, "count", 0),
			      .cq_period = number(line, "period", 0) },
	};

	(void)obj;
	return ibv_modify_cq(live(line, KIND_CQ, line->target), &attr);
}

static int create_srq(const struct line *line, struct object *obj)
{
	struct ibv_pd *pd = live(line, KIND_PD, must(line, "pd"));
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = number(line, "wr", 1),
			  .max_sge = number(line, "sge", 1),
			  .srq_limit = number(line, "limit", 0) },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.pd = pd,
		.xrcd = maybe(line, KIND_XRCD, "xrcd"),
		.cq = maybe(line, KIND_CQ, "cq"),
		.tm_cap = { .max_num_tags = number(line, "tags", 0),
			    .max_ops = number(line, "ops", 0) },
	};
	struct ibv_srq_init_attr basic = { .attr = attr.attr };
	struct ibv_srq *srq;

	errno = 0;
	attr.srq_type = number(line, "type", IBV_SRQT_XRC);
	if (arg(line, "tags")) {
		attr.srq_type = IBV_SRQT_TM;
		attr.comp_mask ^= IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_TM;
	}
	if (attr.xrcd || arg(line, "tags")) {
		srq = ibv_create_srq_ex(pd->context, &attr);
	} else {
		srq = ibv_create_srq(pd, &basic);
		attr.attr = basic.attr;
	}
	obj->cap.max_recv_wr = attr.attr.max_wr;
	obj->cap.max_recv_sge = attr.attr.max_sge;
	return made(obj, srq);
}

static int modify_srq(const struct line *line, struct object *obj)
{
	struct ibv_srq *srq = live(line, KIND_SRQ, line->target);
	struct ibv_srq_attr attr = {
		.max_wr = number(line, "wr", 0),
		.srq_limit = number(line, "limit", 0),
	};
	int err = ibv_modify_srq(srq, &attr, number(line, "mask", 0));

	if (ibv_query_srq(srq, &attr))
		fail(line, "cannot be queried");
	if (err && attr.max_wr != obj->cap.max_recv_wr)
		fail(line, "failed, but has changed");
	obj->cap.max_recv_wr = attr.max_wr;
	return err;
}

static int query_srq(const struct line *line, struct object *obj)
{
	struct ibv_srq *srq = live(line, KIND_SRQ, line->target);
	struct ibv_srq_attr attr;
	int err = ibv_query_srq(srq, &attr);

	if (err)
		return err;
	if (attr.max_wr != obj->cap.max_recv_wr ||
	    attr.max_sge != obj->cap.max_recv_sge)
		fail(line, "has %u requests of %u SGEs, expected %u of %u",
		     attr.max_wr, attr.max_sge, obj->cap.max_recv_wr,
		     obj->cap.max_recv_sge);
	if (attr.srq_limit != number(line, "limit", 0))
		fail(line, "has limit %u, expected %u", attr.srq_limit,
		     (unsigned int)number(line, "limit", 0));
	return 0;
}

static int get_srq_num(const struct line *line, struct object *obj)
{
	uint32_t number;

	(void)obj;
	return ibv_get_srq_num(live(line, KIND_SRQ, line->target), &number);
}

bool queue_call(const struct line *line)
{
	static const struct call calls[] = {
		{ "create_cq", create_cq },	{ "resize_cq", resize_cq },
		{ "modify_cq", modify_cq },	{ "create_srq", create_srq },
		{ "modify_srq", modify_srq },	{ "query_srq", query_srq },
		{ "get_srq_num", get_srq_num },
	};

	return one_of(line, calls, sizeof(calls) / sizeof(*calls));
}
