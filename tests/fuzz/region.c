// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory regions */
#include <errno.h>
#include <string.h>

#include "runner.h"

static void set_base(struct object *obj)
{
	obj->base = obj->access & IBV_ACCESS_ZERO_BASED ? 0 : obj->iova;
}

static uint8_t *start_of(const struct line *line, const struct object *obj)
{
	return nodes[obj->node].arena + number(line, "at", 0);
}

static int reg_mr(const struct line *line, struct object *obj)
{
	struct ibv_pd *pd = live(line, KIND_PD, must(line, "pd"));
	unsigned int access = number(line, "access", 0);
	size_t len = number(line, "len", 0);
	struct ibv_mr *mr;
	uint8_t *start;

	obj->node = object(line, must(line, "pd"))->node;
	start = start_of(line, obj);
	obj->iova = number(line, "iova", (uintptr_t)start);
	errno = 0;
	if (arg(line, "iova"))
		mr = ibv_reg_mr_iova(pd, start, len, obj->iova, access);
	else
		mr = ibv_reg_mr(pd, start, len, access);
	if (mr) {
		obj->lkey = mr->lkey;
		obj->rkey = mr->rkey;
		obj->access = access;
		set_base(obj);
	}
	return made(obj, mr);
}

static int alloc_null_mr(const struct line *line, struct object *obj)
{
	struct ibv_mr *mr;

	obj->node = object(line, must(line, "pd"))->node;
	errno = 0;
	mr = ibv_alloc_null_mr(live(line, KIND_PD, must(line, "pd")));
	if (mr)
		obj->lkey = mr->lkey;
	return made(obj, mr);
}

static int rereg_mr(const struct line *line, struct object *obj)
{
	struct ibv_mr *mr = live(line, KIND_MR, line->target);
	struct ibv_pd *pd = live(line, KIND_PD, must(line, "pd"));
	unsigned int access = number(line, "access", 0);
	int flags = number(line, "flags", 0);
	uint8_t *start = start_of(line, obj);
	int err;

	err = ibv_rereg_mr(mr, flags, pd, start, number(line, "len", 0),
			   access);
	if (err)
		return err;
	if (flags & IBV_REREG_MR_CHANGE_TRANSLATION)
		obj->iova = (uintptr_t)start;
	if (flags & IBV_REREG_MR_CHANGE_ACCESS)
		obj->access = access;
	set_base(obj);
	obj->lkey = mr->lkey;
	obj->rkey = mr->rkey;
	return 0;
}

bool region_call(const struct line *line)
{
	struct object *obj;

	if (!strcmp(line->verb, "reg_mr")) {
		obj = object(line, line->target);
		expect_errno(line, reg_mr(line, obj));
	} else if (!strcmp(line->verb, "alloc_null_mr")) {
		obj = object(line, line->target);
		expect_errno(line, alloc_null_mr(line, obj));
	} else if (!strcmp(line->verb, "rereg_mr")) {
		obj = object(line, line->target);
		expect_errno(line, rereg_mr(line, obj));
	} else {
		return false;
	}
	return true;
}
