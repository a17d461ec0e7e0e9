/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Copies of packets that wait for their time, in a pairing heap */
#ifndef MYNIC_WIRE_HOLD_H
#define MYNIC_WIRE_HOLD_H

#include <stddef.h>
#include <stdint.h>

struct packet;

/**
 * struct held - a waiting packet
 * @at: due time, ns
 * @seq: order of packets that are due at the same time
 * @until: for the owner of a list, ns
 * @child: in a heap: first of the packets below this one
 * @next: in a heap: next packet with the same parent; or next in a list
 * @copy: result of packet_copy()
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
 * struct hold - waiting packets, in the order of their due times
 * @root: next packet, or NULL
 * @seq: sequence number of the next packet to be added
 */
struct hold {
	struct held *root;
	uint64_t seq;
};

/* Bytes of memory for a waiting packet. */
size_t held_size(const struct packet *pkt);

/**
 * held_create() - copy a packet
 * @pkt: the packet
 * @at: due time
 *
 * Return: the copy, for free(); NULL if there is no memory.
 */
struct held *held_create(const struct packet *pkt, uint64_t at);

void hold_add(struct hold *hold, struct held *held);

/* Due time of the next packet, or UINT64_MAX. */
uint64_t hold_next(const struct hold *hold);

/* Removes the next packet. There must be one. */
struct held *hold_take(struct hold *hold);

#endif /* MYNIC_WIRE_HOLD_H */
