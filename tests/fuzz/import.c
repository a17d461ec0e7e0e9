// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Objects that were made in another context of the same file */
#include <errno.h>
#include <string.h>

#include "runner.h"

static int import_pd(const struct line *line, struct object *obj)
{
	struct ibv_context *ctx = context_of(line, obj);
	struct ibv_pd *of = maybe(line, KIND_PD, "of");

	errno = 0;
	return made(obj, ibv_import_pd(ctx, of ? of->handle :
						 number(line, "handle", 0)));
}

static int import_mr(const struct line *line, struct object *obj)
{
	struct ibv_pd *pd = live(line, KIND_PD, must(line, "pd"));
	struct ibv_mr *mr, *of = maybe(line, KIND_MR, "of");
	struct object *from;

	errno = 0;
	mr = ibv_import_mr(pd, of ? of->handle : number(line, "handle", 0));
	if (!mr || !of)
		return made(obj, mr);
	from = object(line, arg(line, "of"));
	if (mr->lkey != from->lkey || mr->rkey != from->rkey ||
	    mr->length != of->length)
		fail(line, "has other keys, or another length");
	*obj = *from;
	return made(obj, mr);
}

static int import_dm(const struct line *line, struct object *obj)
{
	struct ibv_context *ctx = context_of(line, obj);
	struct ibv_dm *of = maybe(line, KIND_DM, "of");

	errno = 0;
	return made(obj, ibv_import_dm(ctx, of ? of->handle :
						 number(line, "handle", 0)));
}

static int unimport(const struct line *line, struct object *obj)
{
	enum kind kind = kind_of(line, line->target);
	void *ptr = live(line, kind, line->target);

	if (kind == KIND_PD)
		ibv_unimport_pd(ptr);
	else if (kind == KIND_MR)
		ibv_unimport_mr(ptr);
	else
		ibv_unimport_dm(ptr);
	obj->ptr = NULL;
	return 0;
}

bool import_call(const struct line *line)
{
	static const struct call calls[] = {
		{ "import_pd", import_pd },
		{ "import_mr", import_mr },
		{ "import_dm", import_dm },
		{ "unimport", unimport },
	};

	return one_of(line, calls, sizeof(calls) / sizeof(*calls));
}
