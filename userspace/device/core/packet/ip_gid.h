/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* GIDs of RoCEv2, which are IP addresses (IBTA A17.4.1.1). */
#ifndef MYNIC_IP_GID_H
#define MYNIC_IP_GID_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Prefix of an IPv4-mapped address (RFC 4291, 2.5.5.2) */
static const uint8_t gid_ipv4_prefix[12] = { [10] = 0xff, [11] = 0xff };

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

#endif /* MYNIC_IP_GID_H */
