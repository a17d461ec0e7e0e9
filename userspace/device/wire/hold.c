// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The pairing heap of packets that wait for their time. */

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
	packet_copy(held->copy, pkt);
	return held;
}

static bool hold_before(const struct held *a, const struct held *b)
{
	return a->at != b->at ? a->at < b->at : a->seq < b->seq;
}

/* Merges two heaps, either of which may be NULL. */
static struct held *hold_merge(struct held *a, struct held *b)
{
	struct held *first = a, *second = b;

	if (!a || !b)
		return a ? a : b;
	if (hold_before(b, a)) {
		first = b;
		second = a;
	}
	second->next = first->child;
	first->child = second;
	return first;
}

void hold_add(struct hold *hold, struct held *held)
{
	held->seq = hold->seq++;
	held->child = NULL;
	held->next = NULL;
	hold->root = hold_merge(hold->root, held);
}

uint64_t hold_next(const struct hold *hold)
{
	return hold->root ? hold->root->at : UINT64_MAX;
}

/* Removes and returns the first of a list, or NULL */
static struct held *hold_cut_first(struct held **list)
{
	struct held *first = *list;

	if (first) {
		*list = first->next;
		first->next = NULL;
	}
	return first;
}

/* Merging in pairs first keeps later operations cheap. */
struct held *hold_take(struct hold *hold)
{
	struct held *taken = hold->root;
	struct held *list = taken->child;
	struct held *pairs = NULL;

	while (list) {
		struct held *a = hold_cut_first(&list);
		struct held *pair = hold_merge(a, hold_cut_first(&list));

		pair->next = pairs;
		pairs = pair;
	}
	hold->root = NULL;
	while (pairs) {
		struct held *pair = hold_cut_first(&pairs);

		hold->root = hold_merge(hold->root, pair);
	}
	return taken;
}
