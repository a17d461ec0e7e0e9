/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory that a NIC takes because its host wants something. It has a limit, so
 * that no guest can take what others need. What a command makes is taken or
 * reserved by the command, which fails if there is too little; what comes later
 * can do without more.
 */
#ifndef MYNIC_MEM_H
#define MYNIC_MEM_H

#include <stdbool.h>
#include <stddef.h>

/**
 * struct mem - the memory of a NIC
 * @used: bytes in use or reserved
 * @limit: how many may be
 */
struct mem {
	size_t used;
	size_t limit;
};

/**
 * mem_alloc() - take memory
 * @mem: the NIC's
 * @size: bytes
 *
 * Return: the memory, zeroed; NULL if that is more than the limit, or there is
 * none.
 */
void *mem_alloc(struct mem *mem, size_t size);

/** mem_free() - give back what mem_alloc() has given, or NULL */
void mem_free(struct mem *mem, void *ptr);

/** mem_reserve() - count @size bytes as in use; false: more than the limit */
bool mem_reserve(struct mem *mem, size_t size);

static inline void mem_unreserve(struct mem *mem, size_t size)
{
	mem->used -= size;
}

#endif /* MYNIC_MEM_H */
