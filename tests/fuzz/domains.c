// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Protection domains, thread domains, and parent domains that have both */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

static int alloc_pd(const struct line *line, struct object *obj)
{
	struct ibv_context *ctx = context_of(line, obj);

	errno = 0;
	return made(obj, ibv_alloc_pd(ctx));
}

static int alloc_td(const struct line *line, struct object *obj)
{
	struct node *node = node_of(line, &obj->node);
	struct ibv_td_init_attr attr = {
		.comp_mask = number(line, "mask", 0),
	};

	errno = 0;
	return made(obj, ibv_alloc_td(node->ctx, &attr));
}

/* Each second allocation is left to the provider. */
static void *allocate(struct ibv_pd *pd, void *context, size_t size,
		      size_t alignment, uint64_t type)
{
	static _Thread_local unsigned int turn;
	struct object *obj = context;
	void *ptr;

	(void)pd;
	(void)type;
	if (turn++ % 2)
		return IBV_ALLOCATOR_USE_DEFAULT;
	if (posix_memalign(&ptr, alignment, size))
		return NULL;
	__atomic_add_fetch(&obj->allocated, 1, __ATOMIC_RELAXED);
	return memset(ptr, 0, size);
}

static void release(struct ibv_pd *pd, void *context, void *ptr, uint64_t type)
{
	struct object *obj = context;

	(void)pd;
	(void)type;
	__atomic_sub_fetch(&obj->allocated, 1, __ATOMIC_RELAXED);
	free(ptr);
}

static int alloc_parent_domain(const struct line *line, struct object *obj)
{
	struct ibv_parent_domain_init_attr attr = {
		.pd = maybe(line, KIND_PD, "pd"),
		.td = maybe(line, KIND_TD, "td"),
		.comp_mask = number(line, "mask", 0),
		.pd_context = obj,
	};
	struct node *node = node_of(line, &obj->node);

	obj->allocated = 0;
	if (number(line, "alloc", 0))
		attr.alloc = allocate;
	if (number(line, "free", 0))
		attr.free = release;
	errno = 0;
	return made(obj, ibv_alloc_parent_domain(node->ctx, &attr));
}

bool domain_call(const struct line *line)
{
	static const struct call calls[] = {
		{ "alloc_pd", alloc_pd },
		{ "alloc_td", alloc_td },
		{ "alloc_parent_domain", alloc_parent_domain },
	};

	return one_of(line, calls, sizeof(calls) / sizeof(*calls));
}
