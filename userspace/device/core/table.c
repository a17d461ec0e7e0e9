// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "table.h"

#include <errno.h>
#include <stdlib.h>

static uint32_t num_leaves(const struct table *table)
{
	return (table->last >> TABLE_LEAF_BITS) + 1;
}

int table_init(struct table *table, uint32_t first, uint32_t last,
	       uint32_t limit)
{
	*table = (struct table){
		.first = first,
		.last = last,
		.next = first,
		.limit = limit,
	};
	table->leaves = calloc(num_leaves(table), sizeof(*table->leaves));
	return table->leaves ? 0 : -ENOMEM;
}

void table_free(struct table *table)
{
	if (!table->leaves)
		return;
	for (uint32_t i = 0; i < num_leaves(table); i++)
		free(table->leaves[i]);
	free(table->leaves);
}

int table_add_at(struct table *table, void *object, uint32_t number)
{
	struct table_leaf **leaf = &table->leaves[number >> TABLE_LEAF_BITS];

	if (!*leaf)
		*leaf = calloc(1, sizeof(**leaf));
	if (!*leaf)
		return -ENOMEM;
	(*leaf)->used++;
	(*leaf)->slots[number & (TABLE_LEAF_SIZE - 1)] = object;
	return 0;
}

/* The free number to give out next; there is one */
static uint32_t find_free(struct table *table)
{
	uint32_t number = table->next;

	for (;;) {
		const struct table_leaf *leaf;

		if (number > table->last) {
			number = table->first;
			table->laps++;
		}
		leaf = table->leaves[number >> TABLE_LEAF_BITS];
		if (leaf && leaf->used == TABLE_LEAF_SIZE)
			number = (number | (TABLE_LEAF_SIZE - 1)) + 1;
		else if (table_get(table, number))
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
	*number = find_free(table);
	err = table_add_at(table, object, *number);
	if (err)
		return err;
	table->used++;
	table->next = *number + 1;
	return 0;
}

void table_remove(struct table *table, uint32_t number)
{
	struct table_leaf **leaf = &table->leaves[number >> TABLE_LEAF_BITS];

	(*leaf)->slots[number & (TABLE_LEAF_SIZE - 1)] = NULL;
	if (number >= table->first)
		table->used--;
	if (!--(*leaf)->used) {
		free(*leaf);
		*leaf = NULL;
	}
}

void *table_next(const struct table *table, uint32_t *number)
{
	uint32_t i = *number;

	while (i <= table->last) {
		void *object = table_get(table, i);

		if (object) {
			*number = i;
			return object;
		}
		if (table->leaves[i >> TABLE_LEAF_BITS])
			i++;
		else
			i = (i | (TABLE_LEAF_SIZE - 1)) + 1;
	}
	return NULL;
}
