/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Macros and functions that the kernel has and libc has not. No types. */
#ifndef MYNIC_UTIL_H
#define MYNIC_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* Finds the struct whose member @ptr points to. */
#define container_of(ptr, type, member) \
	((type *)((uintptr_t)(ptr) - offsetof(type, member)))

/* Whether @a is before @b: numbers that wrap, and are less than 2^31 apart. */
static inline bool seq_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

static inline uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static inline uint32_t max_u32(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#endif /* MYNIC_UTIL_H */
