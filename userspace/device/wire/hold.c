// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The leftist heap of packets that wait for their time. */

#include "hold.h"

#include <stdbool.h>
#include <stdlib.h>

#include "core/packet/packet_copy.h"

size_t held_size(const struct packet *pkt)
{
	return sizeof(struct held) + packet_copy_size(pkt);
}

struct held *held_create(const struct packet *pkt, uint64_t at)
{
	struct held *held = malloc(held_size(pkt));

	if (!held)
		return NULL;
	*held = (struct held){ .at = at };
	STAILQ_INIT(&held->followers);
	packet_copy(held->copy, pkt);
	return held;
}

static bool hold_before(const struct held *a, const struct held *b)
{
	return a->at != b->at ? a->at < b->at : a->seq < b->seq;
}

static unsigned int hold_rank(const struct held *held)
{
	return held ? held->rank : 0;
}

/*
 * Merges two heaps, either of which may be NULL. The depth of the recursion is
 * the sum of their ranks at most, and a rank is a logarithm.
 */
static struct held *hold_merge(struct held *a, struct held *b)
{
	struct held *first = a, *second = b;
	struct held *shorter;

	if (!a || !b)
		return a ? a : b;
	if (hold_before(b, a)) {
		first = b;
		second = a;
	}
	first->right = hold_merge(first->right, second);
	if (hold_rank(first->left) < hold_rank(first->right)) {
		shorter = first->left;
		first->left = first->right;
		first->right = shorter;
	}
	first->rank = hold_rank(first->right) + 1;
	return first;
}

void hold_add(struct hold *hold, struct held *held)
{
	held->seq = hold->seq++;
	held->rank = 1;
	held->left = NULL;
	held->right = NULL;
	hold->root = hold_merge(hold->root, held);
}

uint64_t hold_next(const struct hold *hold)
{
	return hold->root ? hold->root->at : UINT64_MAX;
}

struct held *hold_take(struct hold *hold)
{
	struct held *taken = hold->root;

	hold->root = hold_merge(taken->left, taken->right);
	return taken;
}
