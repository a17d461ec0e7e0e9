// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Allocation of numbers for objects, and the leaves that hold the objects.
 * Look-up is inline, in table.h.
 */

#include "base/table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"

static uint32_t table_num_leaves(const struct table *table)
{
	return (table->last >> TABLE_LEAF_BITS) + 1;
}

int table_init(struct table *table, struct mem *mem, uint32_t first,
	       uint32_t last, uint32_t limit)
{
	*table = (struct table){
		.mem = mem,
		.first = first,
		.last = last,
		.next = first,
		.limit = limit,
	};
	table->leaves = calloc(table_num_leaves(table), sizeof(*table->leaves));
	return table->leaves ? 0 : -ENOMEM;
}

void table_free(struct table *table)
{
	if (!table->leaves)
		return;
	for (uint32_t i = 0; i < table_num_leaves(table); i++)
		mem_free(table->mem, table->leaves[i]);
	free(table->leaves);
}

int table_add_at(struct table *table, void *object, uint32_t number)
{
	uint32_t index = number >> TABLE_LEAF_BITS;
	struct table_leaf **leaf = &table->leaves[index];

	if (!*leaf)
		*leaf = mem_alloc(table->mem, sizeof(**leaf));
	if (!*leaf)
		return -ENOMEM;
	table->present[index / 64] |= 1ull << index % 64;
	(*leaf)->used++;
	(*leaf)->slots[number & (TABLE_LEAF_SIZE - 1)] = object;
	return 0;
}

static bool table_is_full(const struct table *table, uint32_t number)
{
	const struct table_leaf *leaf =
		table->leaves[number >> TABLE_LEAF_BITS];

	return leaf && leaf->used == TABLE_LEAF_SIZE;
}

/*
 * Finds the next free number in turn. The caller has checked that there is one.
 */
static uint32_t table_find_free(struct table *table)
{
	uint32_t number = table->next;

	for (;;) {
		if (number > table->last)
			number = table->first;
		if (table_is_full(table, number))
			number = (number | (TABLE_LEAF_SIZE - 1)) + 1;
		else if (table_lookup(table, number))
			number++;
		else
			return number;
	}
}

int table_add(struct table *table, void *object, uint32_t *number)
{
	int err;

	if (table->used == table->limit)
		return -ENOSPC;
	*number = table_find_free(table);
	err = table_add_at(table, object, *number);
	if (err)
		return err;
	table->used++;
	table->next = *number + 1;
	return 0;
}

void table_remove(struct table *table, uint32_t number)
{
	uint32_t index = number >> TABLE_LEAF_BITS;
	struct table_leaf **leaf = &table->leaves[index];

	(*leaf)->slots[number & (TABLE_LEAF_SIZE - 1)] = NULL;
	if (number >= table->first)
		table->used--;
	if (!--(*leaf)->used) {
		mem_free(table->mem, *leaf);
		*leaf = NULL;
		table->present[index / 64] &= ~(1ull << index % 64);
	}
}

static uint32_t table_next_leaf(const struct table *table, uint32_t index)
{
	while (index < TABLE_MAX_LEAVES) {
		uint64_t bits = table->present[index / 64] >> index % 64;

		if (bits)
			return index + __builtin_ctzll(bits);
		index = (index | 63) + 1;
	}
	return TABLE_MAX_LEAVES;
}

void *table_next(const struct table *table, uint32_t *number)
{
	uint32_t i = *number;

	while (i <= table->last) {
		uint32_t leaf = table_next_leaf(table, i >> TABLE_LEAF_BITS);
		void *object;

		if (leaf > i >> TABLE_LEAF_BITS)
			i = leaf << TABLE_LEAF_BITS;
		object = table_lookup(table, i);
		if (object) {
			*number = i;
			return object;
		}
		i++;
	}
	return NULL;
}
