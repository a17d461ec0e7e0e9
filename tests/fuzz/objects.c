// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Verbs that make and destroy objects */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runner.h"

/* A destroyed object leaves its name, and MRs and MWs leave their key. */
static int gone(struct object *obj, int err)
{
	if (!err)
		obj->ptr = NULL;
	return err;
}

static int open_xrcd(const struct line *line, struct object *obj)
{
	struct node *node = node_of(line, &obj->node);
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = number(line, "oflag", O_CREAT),
	};
	char path[64];
	int err;

	if (arg(line, "file")) {
		snprintf(path, sizeof(path), "/tmp/fuzz-xrcd-%s",
			 arg(line, "file"));
		attr.fd = open(path, O_RDONLY | O_CREAT, 0600);
		if (attr.fd < 0)
			fail(line, "%s: %s", path, strerror(errno));
	}
	errno = 0;
	err = made(obj, ibv_open_xrcd(node->ctx, &attr));
	if (attr.fd >= 0)
		close(attr.fd);
	return err;
}

/* It has nothing of its own. */
static int create_xrc_recv(const struct line *line, struct object *obj)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = live(line, KIND_XRCD, must(line, "xrcd")),
	};

	obj->node = object(line, must(line, "xrcd"))->node;
	obj->init = (struct ibv_qp_init_attr){ .qp_type = attr.qp_type };
	errno = 0;
	return made(obj,
		    ibv_create_qp_ex(program->nodes[obj->node].ctx, &attr));
}

static struct ibv_qp_cap cap_of(const struct line *line)
{
	return (struct ibv_qp_cap){
		.max_send_wr = number(line, "swr", 0),
		.max_recv_wr = number(line, "rwr", 0),
		.max_send_sge = number(line, "ssge", 0),
		.max_recv_sge = number(line, "rsge", 0),
		.max_inline_data = number(line, "inline", 0),
	};
}

static bool has_room(const struct line *line, const struct ibv_qp_cap *cap)
{
	return cap->max_send_wr >= number(line, "swr", 0) &&
	       cap->max_recv_wr >= number(line, "rwr", 0) &&
	       cap->max_send_sge >= number(line, "ssge", 0) &&
	       cap->max_recv_sge >= number(line, "rsge", 0) &&
	       cap->max_inline_data >= number(line, "inline", 0);
}

static int create_qp(const struct line *line, struct object *obj)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_context = obj,
		.send_cq = maybe(line, KIND_CQ, "scq"),
		.recv_cq = maybe(line, KIND_CQ, "rcq"),
		.srq = maybe(line, KIND_SRQ, "srq"),
		.cap = cap_of(line),
		.qp_type = number(line, "type", 0),
		.sq_sig_all = number(line, "sig_all", 0),
		.comp_mask = IBV_QP_INIT_ATTR_PD | number(line, "mask", 0),
		.pd = maybe(line, KIND_PD, "pd"),
		.send_ops_flags = number(line, "ops", 0),
	};
	struct ibv_qp *qp;

	if (arg(line, "xrcd"))
		return create_xrc_recv(line, obj);
	if (arg(line, "table"))
		return create_rss_qp(line, obj);
	if (arg(line, "tso")) {
		attr.comp_mask |= IBV_QP_INIT_ATTR_MAX_TSO_HEADER;
		attr.max_tso_header = number(line, "tso", 0);
	}
	if (arg(line, "flags")) {
		attr.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
		attr.create_flags = number(line, "flags", 0);
	}
	obj->node = object(line, must(line, "pd"))->node;
	obj->ex = arg(line, "ops");
	if (obj->ex)
		attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	errno = 0;
	/* The one struct begins with the other. */
	if (arg(line, "basic"))
		qp = ibv_create_qp(attr.pd, (struct ibv_qp_init_attr *)&attr);
	else
		qp = ibv_create_qp_ex(program->nodes[obj->node].ctx, &attr);
	if (qp && !has_room(line, &attr.cap))
		fail(line, "has less room than was asked for");
	obj->cap = attr.cap;
	memcpy(&obj->init, &attr, sizeof(obj->init));
	return made(obj, qp);
}

static int open_qp(const struct line *line, struct object *obj)
{
	struct ibv_qp *qp, *of = live(line, KIND_QP, must(line, "of"));
	struct ibv_qp_open_attr attr = {
		.comp_mask = number(line, "mask", 0),
		.qp_num = number(line, "number", of->qp_num),
		.xrcd = live(line, KIND_XRCD, must(line, "xrcd")),
		.qp_type = number(line, "type", 0),
	};

	*obj = *object(line, must(line, "of"));
	obj->init.qp_context = NULL;
	errno = 0;
	qp = ibv_open_qp(of->context, &attr);
	if (qp && qp->qp_num != of->qp_num)
		fail(line, "has another number");
	return made(obj, qp);
}

static int create_ah(const struct line *line, struct object *obj)
{
	struct ibv_ah_attr attr;

	obj->node = object(line, must(line, "pd"))->node;
	attr = path_make(line, &program->nodes[obj->node]);
	attr.is_global = number(line, "global", 1);
	attr.port_num = number(line, "port", 1);
	attr.grh.hop_limit = number(line, "hop", HOP_LIMIT);
	if (arg(line, "group"))
		attr.grh.dgid = group(line);
	errno = 0;
	return made(obj, ibv_create_ah(live(line, KIND_PD, must(line, "pd")),
				       &attr));
}

/* Its own allocator has everything back. */
static int dealloc_pd(const struct line *line, struct object *obj)
{
	int err = gone(obj, ibv_dealloc_pd(obj->ptr));

	if (!err && obj->allocated)
		fail(line, "%u allocations are left", obj->allocated);
	return err;
}

static int destroy(const struct line *line, struct object *obj)
{
	live(line, kind_of(line, line->target), line->target);
	switch (kind_of(line, line->target)) {
	case KIND_PD:
		return dealloc_pd(line, obj);
	case KIND_MR:
		return gone(obj, ibv_dereg_mr(obj->ptr));
	case KIND_MW:
		return gone(obj, ibv_dealloc_mw(obj->ptr));
	case KIND_CQ:
		return gone(obj, ibv_destroy_cq(obj->ptr));
	case KIND_SRQ:
		return gone(obj, ibv_destroy_srq(obj->ptr));
	case KIND_QP:
		return gone(obj, ibv_destroy_qp(obj->ptr));
	case KIND_XRCD:
		return gone(obj, ibv_close_xrcd(obj->ptr));
	case KIND_TD:
		return gone(obj, ibv_dealloc_td(obj->ptr));
	case KIND_DM:
		return gone(obj, ibv_free_dm(obj->ptr));
	case KIND_WQ:
		return gone(obj, ibv_destroy_wq(obj->ptr));
	case KIND_TABLE:
		return gone(obj, ibv_destroy_rwq_ind_table(obj->ptr));
	case KIND_FLOW:
		return gone(obj, ibv_destroy_flow(obj->ptr));
	case KIND_COUNTERS:
		return gone(obj, ibv_destroy_counters(obj->ptr));
	case KIND_CTX:
		return gone(obj, ibv_close_device(obj->ptr));
	case KIND_CHANNEL:
		return gone(obj, ibv_destroy_comp_channel(obj->ptr));
	default:
		return gone(obj, ibv_destroy_ah(obj->ptr));
	}
}

bool objects_call(const struct line *line)
{
	static const struct call calls[] = {
		{ "create_qp", create_qp }, { "create_ah", create_ah },
		{ "destroy", destroy },	    { "open_xrcd", open_xrcd },
		{ "open_qp", open_qp },
	};

	return one_of(line, calls, sizeof(calls) / sizeof(*calls));
}
