/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Arithmetic of packet and message sequence numbers: 24 bits that wrap. */
#ifndef MYNIC_PSN_H
#define MYNIC_PSN_H

#include <stdint.h>

#define PSN_MASK 0xffffffu

/*
 * How many PSNs the responder tells from duplicates: the half of the number
 * space (IBTA 9.7.1).
 */
#define PSN_HALF 0x800000

static inline uint32_t psn_add(uint32_t psn, uint32_t n)
{
	return (psn + n) & PSN_MASK;
}

/** psn_diff() - how far @a is ahead of @b: -PSN_HALF to PSN_HALF - 1 */
static inline int32_t psn_diff(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << 8) >> 8;
}

#endif /* MYNIC_PSN_H */
