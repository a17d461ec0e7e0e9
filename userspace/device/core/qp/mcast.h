/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Multicast groups and the UD QPs attached to them. */
#ifndef MYNIC_MCAST_H
#define MYNIC_MCAST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct admin_call;
struct mcast_member;
struct nic;
struct packet;
struct qp;

#define MCAST_MAX_GROUPS 4096
#define MCAST_MAX_QPS 64

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

/* Commands of the host; see admin.h */
int admin_attach_mcast(struct nic *nic, struct admin_call *call);
int admin_detach_mcast(struct nic *nic, struct admin_call *call);

#endif /* MYNIC_MCAST_H */
