/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Packets that a NIC gives to many: frames by its flow rules, datagrams to the
 * QPs of a group. Where these are more than a few it takes a copy, and goes on
 * with it in its own turns, so that others need not wait for all of them.
 */
#ifndef MYNIC_SPREAD_H
#define MYNIC_SPREAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct flow;
struct nic;
struct packet;

/**
 * struct spread_place - who has got a packet already
 * @bounded: to go on no longer than the turn
 * @stage: frames: the list of rules, see flow.c
 * @begun: frames: @flow is where to go on in that list
 * @flow: the next rule; NULL: none
 * @member: datagrams: how many QPs have been asked
 * @accepted: datagrams: one of them took it
 */
struct spread_place {
	bool bounded;
	uint8_t stage;
	bool begun;
	struct flow *flow;
	uint32_t member;
	bool accepted;
};

/**
 * struct spread_kind - what is given to whom
 * @num_takers: how many may get a packet
 * @give: give it to them, from @place on; returns whether all have got it
 */
struct spread_kind {
	uint32_t (*num_takers)(const struct nic *nic, const struct packet *pkt);
	bool (*give)(struct nic *nic, const struct packet *pkt,
		     struct spread_place *place);
};

STAILQ_HEAD(spread_packets, spread_packet);

/**
 * struct spread - packets that are given to many
 * @packets: those that wait, the oldest first
 * @bytes: memory that they take
 * @place: where it is with the first one
 */
struct spread {
	struct spread_packets packets;
	uint32_t bytes;
	struct spread_place place;
};

/** spread_init() - none yet */
void spread_init(struct spread *spread);

/**
 * spread_packet() - give a packet to all that are to get it
 * @nic: the NIC
 * @kind: who that is
 * @pkt: the packet, valid in the call
 *
 * At once if they are few, and no other packet waits.
 */
void spread_packet(struct nic *nic, const struct spread_kind *kind,
		   const struct packet *pkt);

/** spread_run() - a bounded piece of that; true if there is more */
bool spread_run(struct nic *nic);

/** spread_free() - forget all packets */
void spread_free(struct nic *nic);

#endif /* MYNIC_SPREAD_H */
