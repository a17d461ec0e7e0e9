/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Comparisons of MAC addresses as bytes. host/ has them as text. */
#ifndef MYNIC_MAC_H
#define MYNIC_MAC_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MAC_LEN 6

static inline bool mac_equal(const uint8_t a[MAC_LEN], const uint8_t b[MAC_LEN])
{
	return !memcmp(a, b, MAC_LEN);
}

/* The broadcast address is a multicast address, too */
static inline bool mac_is_multicast(const uint8_t mac[MAC_LEN])
{
	return mac[0] & 1;
}

static inline bool mac_is_broadcast(const uint8_t mac[MAC_LEN])
{
	static const uint8_t broadcast[MAC_LEN] = { 0xff, 0xff, 0xff,
						    0xff, 0xff, 0xff };

	return mac_equal(mac, broadcast);
}

static inline bool mac_is_zero(const uint8_t mac[MAC_LEN])
{
	static const uint8_t zero[MAC_LEN];

	return mac_equal(mac, zero);
}

#endif /* MYNIC_MAC_H */
