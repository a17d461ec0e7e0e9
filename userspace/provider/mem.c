// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory that is shared with the kernel, or aligned to cache lines. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "mynic.h"

/*
 * Map memory that the kernel offers at offset @key. The kernel itself keeps
 * such mappings out of forked children. Return: 0 or a positive errno.
 */
int mynic_mmap(struct ibv_context *context, struct mynic_map *map, uint64_t key,
	       uint32_t size)
{
	map->addr = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED,
			 context->cmd_fd, key);
	if (map->addr == MAP_FAILED)
		return errno;
	map->size = size;
	return 0;
}

void mynic_munmap(struct mynic_map *map)
{
	munmap(map->addr, map->size);
}

/*
 * Return zeroed memory for an object with parts aligned to cache lines, to be
 * freed with free(), or NULL with errno set.
 */
void *mynic_alloc(size_t size)
{
	void *p;
	int err;

	err = posix_memalign(&p, MYNIC_CACHE_LINE, size);
	if (err) {
		errno = err;
		return NULL;
	}
	return memset(p, 0, size);
}
