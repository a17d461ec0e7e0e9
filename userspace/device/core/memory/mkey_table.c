// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory keys by index, and the choice of new keys. A peer that was given some
 * keys must not be able to tell others.
 */

#include "memory/mkey_table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "base/siphash.h"
#include "memory/mkey.h"
#include "state/memory_types.h"

#define INDEX_BITS 24

/* Each use of the secret has a number, so that no use tells of another */
enum purpose {
	KEY_BYTE = 0x6b627974,
	INDEX = 0x6b696478,
};

/* With four rounds nobody can tell it from a random permutation */
#define ROUNDS 6

/* Places of the round and of the order beside half an index */
#define ROUND_SHIFT (INDEX_BITS / 2)
#define ORDER_SHIFT 16

int mkey_table_init(struct mkey_table *table, uint64_t secret, uint32_t limit)
{
	*table = (struct mkey_table){ .limit = limit, .secret = secret };
	LIST_INIT(&table->regions);
	LIST_INIT(&table->others);
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
 * A secret permutation of the numbers below 2^(2 * @half_bits), another one for
 * each @order: a Feistel network (Luby, Rackoff: How to construct pseudorandom
 * permutations, 1988)
 */
static uint32_t mkey_table_permute(const struct mkey_table *table,
				   enum purpose purpose, uint64_t order,
				   uint32_t number, uint32_t half_bits)
{
	uint32_t mask = (1u << half_bits) - 1;
	uint32_t left = number >> half_bits & mask;
	uint32_t right = number & mask;

	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint64_t value = order << ORDER_SHIFT | round << ROUND_SHIFT |
				 right;
		uint32_t next =
			(left ^ mkey_table_random(table, purpose, value)) &
			mask;

		left = right;
		right = next;
	}
	return left << half_bits | right;
}

/*
 * Each lap has an order of its own. Otherwise keys that were created in a row
 * would stand in a row again. The next lap would have to pass all that still
 * exist. 0 is not an index, because commands use it for "none".
 */
static uint32_t mkey_table_next_index(struct mkey_table *table)
{
	uint32_t index;

	do {
		index = mkey_table_permute(table, INDEX,
					   table->tries >> INDEX_BITS,
					   table->tries, INDEX_BITS / 2);
		table->tries++;
	} while (!index || mkey_table_lookup(table, index));
	return index;
}

/* Each index has its own order of key bytes, so that none tells the next. */
static uint32_t mkey_table_key_byte(const struct mkey_table *table,
				    uint32_t index)
{
	uint64_t lap = (table->tries - 1) >> INDEX_BITS;
	uint64_t cycle = lap >> MKEY_INDEX_SHIFT;

	return mkey_table_permute(table, KEY_BYTE, cycle << INDEX_BITS | index,
				  lap, MKEY_INDEX_SHIFT / 2);
}

int mkey_table_add(struct mkey_table *table, struct mkey *mkey)
{
	bool window = mkey_is_window(mkey);
	struct mkey **bucket;
	uint32_t index;

	if (table->used == table->limit ||
	    (window && table->windows == MKEY_TABLE_MAX_WINDOWS))
		return -ENOSPC;
	index = mkey_table_next_index(table);
	mkey->key = index << MKEY_INDEX_SHIFT |
		    mkey_table_key_byte(table, index);
	bucket = mkey_table_bucket(table, index);
	mkey->next = *bucket;
	*bucket = mkey;
	LIST_INSERT_HEAD(&table->others, mkey, link);
	table->used++;
	table->windows += window;
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
	table->windows -= mkey_is_window(mkey);
}
