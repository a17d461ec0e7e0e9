/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * SipHash-2-4 of 8 bytes. Without the key, its values cannot be told from
 * random ones. (Aumasson, Bernstein: SipHash: a fast short-input PRF, 2012.)
 */
#ifndef MYNIC_SIPHASH_H
#define MYNIC_SIPHASH_H

#include <stdint.h>

/* The secret: the two halves of the paper's k. */
struct siphash_key {
	uint64_t k0;
	uint64_t k1;
};

static inline uint64_t siphash_rotate(uint64_t x, unsigned int bits)
{
	return x << bits | x >> (64 - bits);
}

static inline void siphash_round(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = siphash_rotate(v[1], 13) ^ v[0];
	v[0] = siphash_rotate(v[0], 32);
	v[2] += v[3];
	v[3] = siphash_rotate(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = siphash_rotate(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = siphash_rotate(v[1], 17) ^ v[2];
	v[2] = siphash_rotate(v[2], 32);
}

static inline void siphash_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	siphash_round(v);
	siphash_round(v);
	v[0] ^= word;
}

/* Hashes the 8 bytes of @value in little-endian order. */
static inline uint64_t siphash(const struct siphash_key *key, uint64_t value)
{
	uint64_t v[4] = {
		key->k0 ^ 0x736f6d6570736575,
		key->k1 ^ 0x646f72616e646f6d,
		key->k0 ^ 0x6c7967656e657261,
		key->k1 ^ 0x7465646279746573,
	};

	siphash_word(v, value);
	/* The input is one whole word, so the last word has only the length */
	siphash_word(v, 8ull << 56);
	v[2] ^= 0xff;
	for (int i = 0; i < 4; i++)
		siphash_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

#endif /* MYNIC_SIPHASH_H */
