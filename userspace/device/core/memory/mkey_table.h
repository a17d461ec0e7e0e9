/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The memory keys of a NIC, and the choice of new keys. All other objects are
 * in a &struct table, whose numbers can be told from each other.
 */
#ifndef MYNIC_MKEY_TABLE_H
#define MYNIC_MKEY_TABLE_H

#include <stdint.h>

#include "memory/mkey.h"

#define MKEY_TABLE_BUCKETS (1u << 17)

/*
 * A QP may have them all, and unbinds them when it is destroyed. The driver
 * must not take a command for hung that waits for a busy device as well.
 */
#define MKEY_TABLE_MAX_WINDOWS 65536

/**
 * mkey_table_init() - make an empty table
 * @table: result
 * @secret: a random number
 * @limit: how many keys there may be; less than half of all indexes
 *
 * Return: 0 or -ENOMEM.
 */
int mkey_table_init(struct mkey_table *table, uint64_t secret, uint32_t limit);
void mkey_table_free(struct mkey_table *table);

/**
 * mkey_table_add() - give a region or window a new key
 * @table: the table
 * @mkey: sets &mkey.key
 *
 * The indexes come in laps, each in a secret order of its own. An index has
 * another key byte in each of 256 laps. The next index is found in two tries on
 * average, if the limit is half of all indexes.
 *
 * Return: 0, or -ENOSPC if &mkey_table.limit or %MKEY_TABLE_MAX_WINDOWS is
 * reached.
 */
int mkey_table_add(struct mkey_table *table, struct mkey *mkey);

/* Frees the key of @mkey. */
void mkey_table_remove(struct mkey_table *table, struct mkey *mkey);

static inline struct mkey **mkey_table_bucket(const struct mkey_table *table,
					      uint32_t index)
{
	return &table->buckets[index % MKEY_TABLE_BUCKETS];
}

/* Returns NULL if there is no such key. */
static inline struct mkey *mkey_table_lookup(const struct mkey_table *table,
					     uint32_t index)
{
	struct mkey *mkey = *mkey_table_bucket(table, index);

	while (mkey && mkey_index(mkey->key) != index)
		mkey = mkey->next;
	return mkey;
}

#endif /* MYNIC_MKEY_TABLE_H */
