/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Random numbers of the rules of faults, which a seed determines. */
#ifndef MYNIC_SPLITMIX_H
#define MYNIC_SPLITMIX_H

#include <stdint.h>

/*
 * SplitMix64 (Steele, Lea and Flood 2014), which works equally well with all
 * seeds
 */
static inline uint64_t splitmix_next(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

/* Scales a random number to 0 to @limit - 1. */
static inline uint64_t splitmix_scale(uint64_t random, uint64_t limit)
{
	return (__uint128_t)random * limit >> 64;
}

#endif /* MYNIC_SPLITMIX_H */
