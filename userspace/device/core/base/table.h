/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Numbers for objects: a sparse two-level table from number to object whose
 * memory follows the number of objects, not the range of numbers.
 */
#ifndef MYNIC_TABLE_H
#define MYNIC_TABLE_H

#include <stddef.h>
#include <stdint.h>

#define TABLE_LEAF_BITS 10
#define TABLE_LEAF_SIZE (1u << TABLE_LEAF_BITS)
#define TABLE_MAX_NUMBER ((1u << 24) - 1)
#define TABLE_MAX_LEAVES ((TABLE_MAX_NUMBER >> TABLE_LEAF_BITS) + 1)

struct mem;

struct table_leaf {
	unsigned int used;
	void *slots[TABLE_LEAF_SIZE];
};

/**
 * struct table - numbers given out
 * @mem: what the leaves are taken from
 * @leaves: one for each TABLE_LEAF_SIZE numbers, NULL if all are free
 * @present: a bit for each of @leaves that is there
 * @first: lowest number given out
 * @last: highest number given out
 * @next: where the search for a free number starts
 * @laps: times that the search has begun again at @first
 * @taken: table_add_shuffled(): numbers of the leaf of @next that were given out
 * @num_taken: how many these are
 * @used: numbers in use
 * @limit: how many may be
 *
 * Numbers are given out in a circle, so that one is not used again soon.
 */
struct table {
	struct mem *mem;
	struct table_leaf **leaves;
	uint64_t present[TABLE_MAX_LEAVES / 64];
	uint32_t first;
	uint32_t last;
	uint32_t next;
	uint32_t laps;
	uint64_t taken[TABLE_LEAF_SIZE / 64];
	uint32_t num_taken;
	uint32_t used;
	uint32_t limit;
};

/**
 * table_init() - an empty table
 * @table: result
 * @mem: what it takes memory from as it grows
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
 * table_add() - give an object a number
 * @table: the table
 * @object: not NULL
 * @number: out: its number
 *
 * Return: 0, -ENOSPC if @limit is reached, or -ENOMEM.
 */
int table_add(struct table *table, void *object, uint32_t *number);

/**
 * table_add_shuffled() - likewise, with a number that nobody can foretell
 * @table: the table, of which no number is given out in turn
 * @object: not NULL
 * @random: any value
 * @number: out: its number
 *
 * It is one of half a leaf at least. What has been freed is not given out again
 * before all leaves had their turn, as with table_add().
 *
 * Return: 0, -ENOSPC if @limit is reached, or -ENOMEM.
 */
int table_add_shuffled(struct table *table, void *object, uint32_t random,
		       uint32_t *number);

/**
 * table_add_at() - give an object a number outside the range given out
 * @table: the table
 * @object: not NULL
 * @number: below @first, not in use; does not count against @limit
 *
 * Return: 0 or -ENOMEM.
 */
int table_add_at(struct table *table, void *object, uint32_t number);

/** table_remove() - take a number back that is in use */
void table_remove(struct table *table, uint32_t number);

/**
 * table_next() - the object with the lowest number at or above a number
 * @table: the table
 * @number: in: where to start; out: the object's number
 *
 * Return: the object, or NULL if there is none.
 */
void *table_next(const struct table *table, uint32_t *number);

static inline void *table_get(const struct table *table, uint32_t number)
{
	const struct table_leaf *leaf;

	if (number > table->last)
		return NULL;
	leaf = table->leaves[number >> TABLE_LEAF_BITS];
	return leaf ? leaf->slots[number & (TABLE_LEAF_SIZE - 1)] : NULL;
}

#endif /* MYNIC_TABLE_H */
