// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Reading and setting ECN bits of packets, also in IPv4 and IPv6 frames. */

#include "ecn.h"

#include <net/ethernet.h>
#include <string.h>

#include "core/base/iov.h"
#include "core/packet/ip.h"
#include "core/packet/packet.h"

/* Offsets of TOS and checksum in an IPv4 header */
#define TOS_AT 1
#define CHECKSUM_AT 10

/* Bits 3:0 of the traffic class are bits 7:4 of IPv6's second byte. */
#define IPV6_ECN_SHIFT 4

static unsigned int ecn_of_ip(uint16_t ethertype, const uint8_t *ip)
{
	if (ethertype == ETHERTYPE_IP && ip[0] >> 4 == 4)
		return ip[TOS_AT] & ECN_MASK;
	if (ethertype == ETHERTYPE_IPV6 && ip[0] >> 4 == 6)
		return ip[1] >> IPV6_ECN_SHIFT & ECN_MASK;
	return 0;
}

static unsigned int ecn_of(const struct packet *pkt)
{
	struct iov_cursor cursor = { pkt->iov, 0 };
	unsigned int at = packet_eth_len(pkt);
	uint8_t ip[2];

	if (pkt->kind == PACKET_ROCE && !pkt->frame)
		return pkt->roce.traffic_class & ECN_MASK;
	if (packet_len(pkt) < at + IPV4_LEN)
		return 0;
	if (pkt->frame)
		return ecn_of_ip(pkt->frame[at - 2] << 8 | pkt->frame[at - 1],
				 pkt->frame + at);
	iov_read(&cursor, ip, sizeof(ip));
	return ecn_of_ip(pkt->ethertype, ip);
}

bool ecn_capable(const struct packet *pkt)
{
	unsigned int ecn = ecn_of(pkt);

	return ecn && ecn != ECN_CE;
}

/*
 * The checksum is the complement of a sum of 16-bit words. An increase of a
 * word is therefore subtracted from it (RFC 1624).
 */
void ecn_set_ce(uint8_t *ip)
{
	uint8_t added = ECN_CE - (ip[TOS_AT] & ECN_MASK);
	uint32_t sum;

	if (ip[0] >> 4 == 6) {
		ip[1] |= ECN_CE << IPV6_ECN_SHIFT;
		return;
	}
	ip[TOS_AT] += added;
	sum = (uint16_t)~(ip[CHECKSUM_AT] << 8 | ip[CHECKSUM_AT + 1]) + added;
	sum = ~(sum + (sum >> 16));
	ip[CHECKSUM_AT] = sum >> 8;
	ip[CHECKSUM_AT + 1] = sum;
}
