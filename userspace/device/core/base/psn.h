/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Arithmetic of packet and message sequence numbers: 24 bits that wrap. */
#ifndef MYNIC_PSN_H
#define MYNIC_PSN_H

#include <stdint.h>

#define PSN_MASK 0xffffffu

/*
 * PSNs ahead of the expected one up to this distance are new, and the others
 * are duplicates. It is half of the number space (IBTA 9.7.1).
 */
#define PSN_HALF 0x800000

static inline uint32_t psn_add(uint32_t psn, uint32_t n)
{
	return (psn + n) & PSN_MASK;
}

/*
 * Distance from @b to @a, from -PSN_HALF to PSN_HALF - 1; positive: @a is
 * ahead.
 */
static inline int32_t psn_diff(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << 8) >> 8;
}

#endif /* MYNIC_PSN_H */
