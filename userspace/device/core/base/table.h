/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A sparse table with two levels that gives numbers to objects and finds
 * objects by number. Its size depends on the number of objects, not on the
 * range of numbers.
 */
#ifndef MYNIC_TABLE_H
#define MYNIC_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct mem;

#define TABLE_LEAF_BITS 10
#define TABLE_LEAF_SIZE (1u << TABLE_LEAF_BITS)
#define TABLE_MAX_NUMBER ((1u << 24) - 1)
#define TABLE_MAX_LEAVES ((TABLE_MAX_NUMBER >> TABLE_LEAF_BITS) + 1)

struct table_leaf {
	unsigned int used;
	void *slots[TABLE_LEAF_SIZE];
};

/**
 * struct table - numbers that are in use
 * @mem: accounting for the leaves
 * @leaves: one for each TABLE_LEAF_SIZE numbers; NULL if all of these are free
 * @present: one bit for each element of @leaves; 1: not NULL
 * @first: lowest number to give out
 * @last: highest number to give out
 * @next: where the next search for a free number starts
 * @used: numbers in use, except those of table_add_at()
 * @limit: upper bound of @used
 *
 * Numbers are given out in a circle. A number is not used again soon after it
 * was freed.
 */
struct table {
	struct mem *mem;
	struct table_leaf **leaves;
	uint64_t present[TABLE_MAX_LEAVES / 64];
	uint32_t first;
	uint32_t last;
	uint32_t next;
	uint32_t used;
	uint32_t limit;
};

/**
 * table_init() - make an empty table
 * @table: result
 * @mem: accounting for the leaves
 * @first: lowest number to give out
 * @last: highest number to give out, up to TABLE_MAX_NUMBER
 * @limit: how many numbers may be in use
 *
 * Return: 0 or -ENOMEM.
 */
int table_init(struct table *table, struct mem *mem, uint32_t first,
	       uint32_t last, uint32_t limit);
void table_free(struct table *table);

/**
 * table_add() - give an object the next number
 * @table: the table
 * @object: must not be NULL
 * @number: out: its number
 *
 * Return: 0, -ENOSPC if @limit is reached, or -ENOMEM.
 */
int table_add(struct table *table, void *object, uint32_t *number);

/**
 * table_add_at() - give an object a number outside the range of table_add()
 * @table: the table
 * @object: must not be NULL
 * @number: below &table.first and free; does not count against &table.limit
 *
 * Return: 0 or -ENOMEM.
 */
int table_add_at(struct table *table, void *object, uint32_t number);

/* Frees a number that is in use. */
void table_remove(struct table *table, uint32_t number);

/**
 * table_next() - find the next object in the order of numbers
 * @table: the table
 * @number: in: where to start; out: the object's number
 *
 * Return: the object, or NULL if there is none.
 */
void *table_next(const struct table *table, uint32_t *number);

static inline void *table_lookup(const struct table *table, uint32_t number)
{
	const struct table_leaf *leaf;

	if (number > table->last)
		return NULL;
	leaf = table->leaves[number >> TABLE_LEAF_BITS];
	return leaf ? leaf->slots[number & (TABLE_LEAF_SIZE - 1)] : NULL;
}

#endif /* MYNIC_TABLE_H */
