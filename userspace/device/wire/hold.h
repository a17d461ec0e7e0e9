/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Copies of packets that wait for their time: a pairing heap */
#ifndef MYNIC_WIRE_HOLD_H
#define MYNIC_WIRE_HOLD_H

#include <stddef.h>
#include <stdint.h>

struct packet;

/**
 * struct held - a packet that waits
 * @at: when it is due, ns
 * @seq: of two that are due at the same time the lower goes first
 * @until: for who has it in a list: ns
 * @child: the first of those that go after this one, while it is in a heap
 * @next: of the same parent in a heap; or in a list
 * @copy: see packet_copy()
 */
struct held {
	uint64_t at;
	uint64_t seq;
	uint64_t until;
	struct held *child;
	struct held *next;
	max_align_t copy[];
};

/**
 * struct hold - packets that wait, in the order in which they are due
 * @root: the next one, or NULL
 * @seq: of the next packet that comes
 */
struct hold {
	struct held *root;
	uint64_t seq;
};

/** held_size() - bytes of memory that it takes to hold a packet back */
size_t held_size(const struct packet *pkt);

/**
 * held_create() - copy a packet, to be freed with free()
 * @pkt: the packet
 * @at: when it is due
 *
 * Return: NULL if there is no memory.
 */
struct held *held_create(const struct packet *pkt, uint64_t at);

/** hold_add() - have a packet wait until &held.at */
void hold_add(struct hold *hold, struct held *held);

/** hold_next() - when the next packet is due, or UINT64_MAX */
uint64_t hold_next(const struct hold *hold);

/** hold_take() - the next packet, which is there */
struct held *hold_take(struct hold *hold);

#endif /* MYNIC_WIRE_HOLD_H */
