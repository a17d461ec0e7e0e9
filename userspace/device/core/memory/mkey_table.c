// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory keys by index, and the choice of new keys. A peer that was given some
 * keys must not be able to tell others.
 */

#include "memory/mkey_table.h"

#include <errno.h>
#include <stdlib.h>

#include "base/siphash.h"

#define HALF_BITS 12
#define HALF_MASK ((1u << HALF_BITS) - 1)
#define INDEX_BITS (2 * HALF_BITS)
#define KEY_BYTE_MASK ((1u << MKEY_INDEX_SHIFT) - 1)

/* Each use of the secret has a number, so that no use tells of another */
enum purpose {
	KEY_BYTE = 0x6b627974,
	INDEX = 0x6b696478,
};

/* With four rounds nobody can tell it from a random permutation */
#define ROUNDS 6
#define LAP_SHIFT 16

int mkey_table_init(struct mkey_table *table, uint64_t secret, uint32_t limit)
{
	*table = (struct mkey_table){ .limit = limit, .secret = secret };
	LIST_INIT(&table->all);
	table->buckets = calloc(MKEY_TABLE_BUCKETS, sizeof(*table->buckets));
	return table->buckets ? 0 : -ENOMEM;
}

void mkey_table_free(struct mkey_table *table)
{
	free(table->buckets);
}

static uint32_t mkey_table_random(const struct mkey_table *table,
				  enum purpose purpose, uint64_t value)
{
	struct siphash_key key = { table->secret, purpose };

	return siphash(&key, value);
}

/*
 * A permutation of all indexes: a Feistel network (Luby, Rackoff: How to
 * construct pseudorandom permutations, 1988). Each lap has another one.
 * Otherwise keys that were created in a row would stand in a row again, and the
 * next lap would have to pass all that still exist.
 */
static uint32_t mkey_table_permute(const struct mkey_table *table,
				   uint64_t number)
{
	uint64_t lap = number >> INDEX_BITS;
	uint32_t left = number >> HALF_BITS & HALF_MASK;
	uint32_t right = number & HALF_MASK;

	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint32_t f = mkey_table_random(
			table, INDEX,
			lap << LAP_SHIFT | round << HALF_BITS | right);
		uint32_t next = (left ^ f) & HALF_MASK;

		left = right;
		right = next;
	}
	return left << HALF_BITS | right;
}

/* 0 is not an index, because commands use it for "none" */
static uint32_t mkey_table_next_index(struct mkey_table *table)
{
	uint32_t index;

	do {
		index = mkey_table_permute(table, table->tries++);
	} while (!index || mkey_table_get(table, index));
	return index;
}

static uint32_t mkey_table_key_byte(const struct mkey_table *table,
				    uint32_t index)
{
	uint32_t lap = (table->tries - 1) >> INDEX_BITS;

	return (mkey_table_random(table, KEY_BYTE, index) + lap) &
	       KEY_BYTE_MASK;
}

int mkey_table_add(struct mkey_table *table, struct mkey *mkey)
{
	struct mkey **bucket;
	uint32_t index;

	if (table->used == table->limit)
		return -ENOSPC;
	index = mkey_table_next_index(table);
	mkey->key = index << MKEY_INDEX_SHIFT |
		    mkey_table_key_byte(table, index);
	bucket = mkey_table_bucket(table, index);
	mkey->next = *bucket;
	*bucket = mkey;
	LIST_INSERT_HEAD(&table->all, mkey, link);
	table->used++;
	return 0;
}

void mkey_table_remove(struct mkey_table *table, struct mkey *mkey)
{
	struct mkey **link = mkey_table_bucket(table, mkey_index(mkey->key));

	while (*link != mkey)
		link = &(*link)->next;
	*link = mkey->next;
	LIST_REMOVE(mkey, link);
	table->used--;
}
