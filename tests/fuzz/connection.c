// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Options of connections, and limits of their rates */
#include <errno.h>
#include <string.h>

#include "runner.h"

static int query_ece(const struct line *line, struct object *obj)
{
	uint32_t expected = number(line, "options", 0);
	struct ibv_ece ece = { 0 };
	int err;

	(void)obj;
	err = ibv_query_ece(live(line, KIND_QP, line->target), &ece);
	if (!err && ece.options != expected)
		fail(line, "has options %#x, expected %#x", ece.options,
		     expected);
	return err;
}

/* Of no vendor if the queue pair has no options */
static int set_ece(const struct line *line, struct object *obj)
{
	struct ibv_qp *qp = live(line, KIND_QP, line->target);
	struct ibv_ece ece = { 0 };

	(void)obj;
	(void)ibv_query_ece(qp, &ece);
	ece.vendor_id ^= number(line, "vendor", 0);
	ece.comp_mask = number(line, "comp_mask", 0);
	ece.options = number(line, "options", 0);
	return ibv_set_ece(qp, &ece);
}

static int rate_limit(const struct line *line, struct object *obj)
{
	struct ibv_qp *qp = live(line, KIND_QP, line->target);
	struct ibv_qp_rate_limit_attr attr = {
		.rate_limit = number(line, "rate", 0),
		.max_burst_sz = number(line, "burst", 0),
		.typical_pkt_sz = number(line, "packet", 0),
	};

	(void)obj;
	return ibv_modify_qp_rate_limit(qp, &attr);
}

bool connection_call(const struct line *line)
{
	static const struct call calls[] = {
		{ "query_ece", query_ece },
		{ "set_ece", set_ece },
		{ "rate_limit", rate_limit },
	};

	return one_of(line, calls, sizeof(calls) / sizeof(*calls));
}
