/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Multicast groups, and packets with many receivers. */
#ifndef MYNIC_DELIVERY_TYPES_H
#define MYNIC_DELIVERY_TYPES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct mcast_group;
struct qp;
struct spread_packet;

#define MCAST_BUCKETS 256

/**
 * struct mcast_member - attachment of a QP to a group
 * @link: link in &qp.mcast_groups
 * @group: the group
 * @qp: the QP
 */
struct mcast_member {
	LIST_ENTRY(mcast_member) link;
	struct mcast_group *group;
	struct qp *qp;
};

LIST_HEAD(mcast_members, mcast_member);

LIST_HEAD(mcast_bucket, mcast_group);

/**
 * struct mcast - the port's multicast groups
 * @buckets: hash table by GID
 * @num_groups: number of groups
 */
struct mcast {
	struct mcast_bucket buckets[MCAST_BUCKETS];
	unsigned int num_groups;
};

/**
 * struct spread_place - progress of a delivery
 * @bounded: stop at the end of the turn
 * @stage: frames: current list of rules, see flow.c
 * @rule: frames: number of rules of the list that have been asked
 * @member: datagrams: number of QPs that have been asked
 * @accepted: datagrams: a QP has taken it
 */
struct spread_place {
	bool bounded;
	uint8_t stage;
	uint32_t rule;
	uint32_t member;
	bool accepted;
};

STAILQ_HEAD(spread_packets, spread_packet);

/**
 * struct spread - packets with many receivers
 * @packets: waiting packets, the oldest first
 * @bytes: costs of @packets, see packet_copy_cost()
 * @place: progress with the first packet
 */
struct spread {
	struct spread_packets packets;
	uint32_t bytes;
	struct spread_place place;
};

#endif /* MYNIC_DELIVERY_TYPES_H */
