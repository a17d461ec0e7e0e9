// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory regions */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

static void set_base(struct object *obj)
{
	obj->base = obj->access & IBV_ACCESS_ZERO_BASED ? 0 : obj->iova;
}

static uint8_t *start_of(const struct line *line, const struct object *obj)
{
	return program->nodes[obj->node].arena + number(line, "at", 0);
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
	if (arg(line, "second"))
		mr = ibv_reg_mr_iova2(pd, start, len, obj->iova, access);
	else if (arg(line, "iova"))
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

/* Its fd= is "device" for a file that is no dma-buf, or a number. */
static int dmabuf_of(const struct line *line, const struct object *obj)
{
	const char *fd = arg(line, "fd");

	if (!fd)
		return program->nodes[obj->node].dmabuf;
	if (!strcmp(fd, "device"))
		return program->nodes[obj->node].ctx->cmd_fd;
	return strtol(fd, NULL, 0);
}

static int reg_dmabuf_mr(const struct line *line, struct object *obj)
{
	struct ibv_pd *pd = live(line, KIND_PD, must(line, "pd"));
	struct ibv_mr *mr;

	obj->node = object(line, must(line, "pd"))->node;
	obj->access = number(line, "access", 0);
	obj->iova = number(line, "iova", 0);
	errno = 0;
	mr = ibv_reg_dmabuf_mr(pd, number(line, "at", 0),
			       number(line, "len", 0), obj->iova,
			       dmabuf_of(line, obj), obj->access);
	if (mr) {
		obj->lkey = mr->lkey;
		obj->rkey = mr->rkey;
		set_base(obj);
	}
	return made(obj, mr);
}

static int advise_mr(const struct line *line, struct object *obj)
{
	const char *key = arg(line, "lkey");
	struct ibv_sge sge = {
		.addr = address(line, must(line, "raddr")),
		.length = number(line, "len", 0),
		.lkey = key ? lkey(line, key) : obj->lkey,
	};

	return ibv_advise_mr(live(line, KIND_PD, must(line, "pd")),
			     number(line, "advice", 0),
			     number(line, "flags", 0), &sge, 1);
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
	static const struct call calls[] = {
		{ "reg_mr", reg_mr },	    { "alloc_null_mr", alloc_null_mr },
		{ "rereg_mr", rereg_mr },   { "reg_dmabuf_mr", reg_dmabuf_mr },
		{ "advise_mr", advise_mr },
	};

	return one_of(line, calls, sizeof(calls) / sizeof(*calls));
}
