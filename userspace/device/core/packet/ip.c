// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Building of IP headers, for wires and for GRHs. Parsing is in headers.c. */

#include "packet/ip.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/udp.h>
#include <stddef.h>
#include <string.h>

#include "packet/ip_gid.h"
#include "packet/packet.h"

static_assert(sizeof(struct ip) == IPV4_LEN, "IPv4 header");
static_assert(sizeof(struct ip6_hdr) == IPV6_LEN, "IPv6 header");
static_assert(sizeof(struct udphdr) == UDP_LEN, "UDP header");

uint16_t ip_checksum(const uint8_t header[IPV4_LEN])
{
	uint32_t sum = 0;

	for (unsigned int i = 0; i < IPV4_LEN; i += 2)
		sum += header[i] << 8 | header[i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	sum += sum >> 16;
	return ~sum;
}

static unsigned int ip_build_ipv4(uint8_t *buf, const struct roce_hdr *hdr,
				  uint32_t len)
{
	struct ip ip = {
		.ip_v = IPVERSION,
		.ip_hl = sizeof(ip) / 4,
		.ip_tos = hdr->traffic_class,
		.ip_len = htons(sizeof(ip) + len),
		.ip_off = htons(IP_DF),
		.ip_ttl = hdr->hop_limit,
		.ip_p = IPPROTO_UDP,
	};
	uint16_t sum;

	memcpy(&ip.ip_src, hdr->sgid + 12, sizeof(ip.ip_src));
	memcpy(&ip.ip_dst, hdr->dgid + 12, sizeof(ip.ip_dst));
	memcpy(buf, &ip, sizeof(ip));
	sum = htons(ip_checksum(buf));
	memcpy(buf + offsetof(struct ip, ip_sum), &sum, sizeof(sum));
	return sizeof(ip);
}

static unsigned int ip_build_ipv6(uint8_t *buf, const struct roce_hdr *hdr,
				  uint32_t len)
{
	struct ip6_hdr ip6 = {
		.ip6_flow = htonl(6u << 28 | hdr->traffic_class << 20 |
				  hdr->flow_label),
		.ip6_plen = htons(len),
		.ip6_nxt = IPPROTO_UDP,
		.ip6_hlim = hdr->hop_limit,
	};

	memcpy(&ip6.ip6_src, hdr->sgid, sizeof(ip6.ip6_src));
	memcpy(&ip6.ip6_dst, hdr->dgid, sizeof(ip6.ip6_dst));
	memcpy(buf, &ip6, sizeof(ip6));
	return sizeof(ip6);
}

unsigned int ip_build(uint8_t *buf, const struct roce_hdr *hdr, uint32_t len)
{
	if (gid_is_ipv4(hdr->dgid))
		return ip_build_ipv4(buf, hdr, len);
	return ip_build_ipv6(buf, hdr, len);
}
