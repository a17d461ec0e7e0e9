/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The GID table: addresses that RoCEv2 packets are sent from and accepted for.
 * Groups are in qp/mcast.h, and the MACs of other frames in ethernet/eth.h.
 */
#ifndef MYNIC_GID_H
#define MYNIC_GID_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct nic;
struct packet;

#define GID_TABLE_SIZE 256

/* Prefix of an IPv4-mapped address (RFC 4291, 2.5.5.2) */
static const uint8_t gid_ipv4_prefix[12] = { [10] = 0xff, [11] = 0xff };

/**
 * struct gid_entry - a source address for packets
 * @gid: IPv6 address, or IPv4 as ::ffff:a.b.c.d; all zeroes: the entry is empty
 * @mac: source MAC
 * @vlan: VLAN id, or MYNIC_NO_VLAN, which equals PACKET_NO_VLAN
 */
struct gid_entry {
	uint8_t gid[16];
	uint8_t mac[6];
	uint16_t vlan;
};

/**
 * struct gid_table - the GIDs of the port
 * @entries: entries by sgid_index
 * @used: all entries from this index on are empty
 */
struct gid_table {
	struct gid_entry entries[GID_TABLE_SIZE];
	unsigned int used;
};

/* Entry with any index; NULL if it is empty or out of range. */
const struct gid_entry *gid_get(const struct nic *nic, uint32_t index);

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

static inline bool gid_is_ipv4(const uint8_t gid[16])
{
	return !memcmp(gid, gid_ipv4_prefix, sizeof(gid_ipv4_prefix));
}

/* Makes the IPv4-mapped address ::ffff:a.b.c.d. */
void gid_from_ipv4(const uint8_t address[4], uint8_t gid[16]);

/* Whether it is a multicast address, of IPv6 or mapped IPv4. */
static inline bool gid_is_multicast(const uint8_t gid[16])
{
	if (gid_is_ipv4(gid))
		return gid[12] >> 4 == 0xe;
	return gid[0] == 0xff;
}

#endif /* MYNIC_GID_H */
