/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Copies of packets that wait for their time, in a leftist heap. Adding and
 * taking one follow only its right spines, which are short however many packets
 * wait. Other heaps are as quick on average, but leave all the work of many
 * packets to one of them.
 */
#ifndef MYNIC_WIRE_HOLD_H
#define MYNIC_WIRE_HOLD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

struct packet;

STAILQ_HEAD(held_list, held);

/**
 * struct held - a waiting packet
 * @at: due time, ns
 * @seq: order of packets that are due at the same time
 * @until: for the owner of a list, ns
 * @rank: in a heap: packets on the right spine from this one on
 * @left: in a heap: packets behind this one, with at least the rank of @right
 * @right: in a heap: other packets behind this one
 * @link: in a list: the next packet
 * @followers: for the owner: packets that leave after this one
 * @copy: result of packet_copy()
 */
struct held {
	uint64_t at;
	uint64_t seq;
	uint64_t until;
	unsigned int rank;
	struct held *left;
	struct held *right;
	STAILQ_ENTRY(held) link;
	struct held_list followers;
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
