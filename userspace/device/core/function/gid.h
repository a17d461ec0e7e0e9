/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MYNIC_GID_H
#define MYNIC_GID_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct nic;
struct packet;

#define GID_TABLE_SIZE 256

/* What precedes an IPv4 address (RFC 4291, 2.5.5.2) */
static const uint8_t gid_ipv4_prefix[12] = { [10] = 0xff, [11] = 0xff };

/**
 * struct gid_entry - source address of packets
 * @gid: IPv6 address, or IPv4 as ::ffff:a.b.c.d; all zeroes: empty
 * @mac: source MAC
 * @vlan: VLAN id, or MYNIC_NO_VLAN, which equals PACKET_NO_VLAN
 */
struct gid_entry {
	uint8_t gid[16];
	uint8_t mac[6];
	uint16_t vlan;
};

/**
 * struct gid_table - the port's GIDs
 * @entries: by sgid_index
 * @used: entries from here on are all empty
 */
struct gid_table {
	struct gid_entry entries[GID_TABLE_SIZE];
	unsigned int used;
};

/** gid_get() - the entry with an index (any value), or NULL if empty */
const struct gid_entry *gid_get(const struct nic *nic, uint32_t index);

/**
 * gid_takes() - is a packet addressed to an entry?
 * @nic: the NIC
 * @entry: an entry, not empty
 * @pkt: PACKET_ROCE
 *
 * It has the entry's GID and VLAN, and the entry's MAC or the port's. A tag
 * with VLAN 0 has a priority and no VLAN (IEEE 802.1Q, 9.6).
 *
 * Return: whether it is.
 */
bool gid_takes(const struct nic *nic, const struct gid_entry *entry,
	       const struct packet *pkt);

/** gid_find() - the entry that a packet is addressed to, or NULL */
const struct gid_entry *gid_find(const struct nic *nic,
				 const struct packet *pkt);

/** gid_on_vlan() - is a packet untagged, or in the VLAN of some entry? */
bool gid_on_vlan(const struct nic *nic, const struct packet *pkt);

/** gid_is_ipv4() - is it ::ffff:a.b.c.d? */
static inline bool gid_is_ipv4(const uint8_t gid[16])
{
	return !memcmp(gid, gid_ipv4_prefix, sizeof(gid_ipv4_prefix));
}

/** gid_from_ipv4() - ::ffff:a.b.c.d for the four bytes of an IPv4 address */
void gid_from_ipv4(const uint8_t address[4], uint8_t gid[16]);

/** gid_is_multicast() - is it an IPv6 or IPv4 multicast address? */
static inline bool gid_is_multicast(const uint8_t gid[16])
{
	if (gid_is_ipv4(gid))
		return gid[12] >> 4 == 0xe;
	return gid[0] == 0xff;
}

#endif /* MYNIC_GID_H */
