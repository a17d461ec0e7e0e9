// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Accounting for the memory of one NIC. The limit is on bytes that are
 * allocated or reserved.
 */

#include "base/mem.h"

#include <malloc.h>
#include <stdlib.h>

/* Bytes that libc needs for the bookkeeping of one allocation */
#define OVERHEAD 16

static size_t mem_cost(void *ptr)
{
	return malloc_usable_size(ptr) + OVERHEAD;
}

bool mem_reserve(struct mem *mem, size_t size)
{
	if (size > mem->limit || mem->used > mem->limit - size)
		return false;
	mem->used += size;
	return true;
}

void *mem_alloc(struct mem *mem, size_t size)
{
	void *ptr = NULL;

	if (size <= mem->limit && mem->used <= mem->limit - size)
		ptr = calloc(1, size);
	if (ptr && !mem_reserve(mem, mem_cost(ptr))) {
		free(ptr);
		ptr = NULL;
	}
	return ptr;
}

void mem_free(struct mem *mem, void *ptr)
{
	if (!ptr)
		return;
	mem_unreserve(mem, mem_cost(ptr));
	free(ptr);
}
