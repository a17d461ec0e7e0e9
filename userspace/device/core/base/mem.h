/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory that a NIC allocates on behalf of its host. It has a limit, so that a
 * guest cannot take what others need. A command allocates or reserves all that
 * its object needs, and fails if there is too little. Later allocations are for
 * what the NIC can do without.
 */
#ifndef MYNIC_MEM_H
#define MYNIC_MEM_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct mem - memory accounting of a NIC
 * @used: bytes allocated or reserved
 * @limit: upper bound of @used
 */
struct mem {
	size_t used;
	size_t limit;
};

/**
 * mem_alloc() - allocate memory
 * @mem: accounting of the NIC
 * @size: bytes
 *
 * Return: zeroed memory; NULL if the limit or the machine's memory is
 * exhausted.
 */
void *mem_alloc(struct mem *mem, size_t size);

/* Frees what mem_alloc() has returned; NULL is allowed. */
void mem_free(struct mem *mem, void *ptr);

/*
 * Counts @size bytes as used. Returns false, and counts nothing, beyond the
 * limit.
 */
bool mem_reserve(struct mem *mem, size_t size);

static inline void mem_unreserve(struct mem *mem, size_t size)
{
	mem->used -= size;
}

#endif /* MYNIC_MEM_H */
