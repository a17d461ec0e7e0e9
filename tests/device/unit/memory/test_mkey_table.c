// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The choice of memory keys over many laps through all indexes, without a NIC */
#include <stdlib.h>

#include "core/memory/mkey_table.h"
#include "harness_tap.h"

#define INDEXES (1ull << 24)
#define LIMIT (1u << 16)
/* By then, another 250 of 256 indexes would have to be in use */
#define MANY_TRIES 64

static void add(struct mkey_table *table, struct mkey *mkey)
{
	CHECK_EQ(mkey_table_add(table, mkey), 0);
}

/*
 * A process with many keys must not make the next one take long to find. The
 * thread of all NICs does nothing else meanwhile.
 */
TEST(next_lap_with_many_keys)
{
	struct mkey *mkeys = calloc(LIMIT, sizeof(*mkeys));
	struct mkey_table table;

	CHECK(mkeys);
	CHECK_EQ(mkey_table_init(&table, 1, LIMIT), 0);
	for (unsigned int i = 0; i < LIMIT - 1; i++)
		add(&table, &mkeys[i]);
	for (uint64_t lap = 1; lap < 300; lap++) {
		table.tries = lap * INDEXES;
		add(&table, &mkeys[LIMIT - 1]);
		CHECK(table.tries < lap * INDEXES + MANY_TRIES);
		mkey_table_remove(&table, &mkeys[LIMIT - 1]);
	}
	mkey_table_free(&table);
	free(mkeys);
}

/* Each lap has an order of its own, which the one before does not tell. */
TEST(laps_differ)
{
	struct mkey_table table;
	struct mkey first = {}, second = {};
	unsigned int same = 0;

	CHECK_EQ(mkey_table_init(&table, 1, LIMIT), 0);
	for (uint64_t i = 0; i < 1000; i++) {
		table.tries = i;
		add(&table, &first);
		mkey_table_remove(&table, &first);
		table.tries = INDEXES + i;
		add(&table, &second);
		mkey_table_remove(&table, &second);
		same += mkey_index(first.key) == mkey_index(second.key);
	}
	CHECK(same < 10);
	mkey_table_free(&table);
}

/*
 * A key that was freed at the end of a lap does not come back in the next one. It
 * does not tell the next key of its index either.
 */
TEST(index_of_last_lap_has_another_byte)
{
	struct mkey *mkeys = calloc(2 * LIMIT, sizeof(*mkeys));
	unsigned int again = 0, told = 0;
	struct mkey_table table;

	CHECK(mkeys);
	CHECK_EQ(mkey_table_init(&table, 1, LIMIT), 0);
	table.tries = INDEXES - LIMIT;
	for (unsigned int i = 0; i < LIMIT; i++)
		add(&table, &mkeys[i]);
	CHECK_EQ(table.tries, INDEXES);
	while (!LIST_EMPTY(&table.others))
		mkey_table_remove(&table, LIST_FIRST(&table.others));
	for (unsigned int i = 0; i < LIMIT; i++)
		add(&table, &mkeys[LIMIT + i]);
	for (unsigned int i = 0; i < LIMIT; i++) {
		const struct mkey *mkey =
			mkey_table_lookup(&table, mkey_index(mkeys[i].key));

		if (!mkey)
			continue;
		again++;
		CHECK(mkey->key != mkeys[i].key);
		told += (uint8_t)(mkey->key - mkeys[i].key) == 1;
	}
	/* 256 of 65536, if the orders have nothing to do with each other */
	CHECK(again > 128 && again < 512);
	CHECK(told < 16);
	mkey_table_free(&table);
	free(mkeys);
}
