/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The GID table: addresses that RoCEv2 packets are sent from and accepted for.
 * Groups are in qp/mcast.h, and the MACs of other frames in ethernet/eth.h.
 */
#ifndef MYNIC_GID_H
#define MYNIC_GID_H

#include <stdbool.h>
#include <stdint.h>

struct admin_call;
struct gid_entry;
struct nic;
struct packet;

/* Entry with any index; NULL if it is empty or out of range. */
const struct gid_entry *gid_at(const struct nic *nic, uint32_t index);

/**
 * gid_takes() - check whether a packet is addressed to an entry
 * @nic: the NIC
 * @entry: an entry that is not empty
 * @pkt: a PACKET_ROCE
 *
 * GID and VLAN must be those of the entry, and the MAC that of the entry or of
 * the port. A tag with VLAN 0 has only a priority (IEEE 802.1Q, 9.6).
 *
 * Return: true if it is.
 */
bool gid_takes(const struct nic *nic, const struct gid_entry *entry,
	       const struct packet *pkt);

/* Entry that a packet is addressed to, or NULL. */
const struct gid_entry *gid_find(const struct nic *nic,
				 const struct packet *pkt);

/* Whether a packet is untagged, or in the VLAN of an entry. */
bool gid_on_vlan(const struct nic *nic, const struct packet *pkt);

/* Commands of the host; see admin.h */
int admin_set_gid(struct nic *nic, struct admin_call *call);

#endif /* MYNIC_GID_H */
