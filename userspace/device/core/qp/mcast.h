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
 * struct mcast_member - a QP that is attached to a group
 * @link: in &qp.mcast_groups
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
 * @link: in its bucket
 * @gid: as in &struct mynic_mcast
 * @num_qps: elements of @members
 * @members: the QPs attached
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
 * @buckets: by hash of the GID
 * @num_groups: groups in all
 */
struct mcast {
	struct mcast_bucket buckets[MCAST_BUCKETS];
	unsigned int num_groups;
};

/**
 * mcast_takes() - is a packet addressed to a group with a QP attached?
 * @nic: the NIC
 * @pkt: PACKET_ROCE to a multicast GID
 *
 * Its MAC is the one that IP derives from the group's address (RFC 1112, RFC
 * 2464), and it is not in a VLAN that the NIC has no GID in.
 *
 * Return: whether it is.
 */
bool mcast_takes(const struct nic *nic, const struct packet *pkt);

/** mcast_find() - the group of a GID, or NULL if no QP is attached */
const struct mcast_group *mcast_find(const struct nic *nic,
				     const uint8_t gid[16]);

/**
 * mcast_detach_some() - before a QP goes
 * @nic: the NIC
 * @qp: the QP
 *
 * Return: true if there are more groups that it is attached to.
 */
bool mcast_detach_some(struct nic *nic, struct qp *qp);

#endif /* MYNIC_MCAST_H */
