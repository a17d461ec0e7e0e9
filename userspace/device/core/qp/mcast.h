/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Multicast groups and the UD QPs attached to them. */
#ifndef MYNIC_MCAST_H
#define MYNIC_MCAST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct nic;
struct packet;
struct qp;

#define MCAST_MAX_GROUPS 4096
#define MCAST_MAX_QPS 64
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

/**
 * struct mcast_group - a group with at least one QP
 * @link: link in its hash bucket
 * @gid: as in &struct mynic_mcast
 * @num_qps: elements of @members
 * @members: attached QPs
 */
struct mcast_group {
	LIST_ENTRY(mcast_group) link;
	uint8_t gid[16];
	unsigned int num_qps;
	struct mcast_member *members[MCAST_MAX_QPS];
};

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
 * mcast_takes() - check whether a packet is addressed to a group with a QP
 * @nic: the NIC
 * @pkt: a PACKET_ROCE to a multicast GID
 *
 * Its MAC must be the one that IP derives from the group's address (RFC 1112,
 * RFC 2464). Its VLAN, if any, must be one in which the NIC has a GID.
 *
 * Return: true if it is.
 */
bool mcast_takes(const struct nic *nic, const struct packet *pkt);

/* The group of a GID; NULL if no QP is attached. */
const struct mcast_group *mcast_find(const struct nic *nic,
				     const uint8_t gid[16]);

/**
 * mcast_detach_some() - detach a QP from some of its groups
 * @nic: the NIC
 * @qp: a QP that is going to be destroyed
 *
 * Return: true if it is attached to more groups.
 */
bool mcast_detach_some(struct nic *nic, struct qp *qp);

#endif /* MYNIC_MCAST_H */
