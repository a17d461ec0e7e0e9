/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Finds the headers of Ethernet frames, and computes their checksums. */
#ifndef MYNIC_HEADERS_H
#define MYNIC_HEADERS_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct layer - headers of a frame, or of a frame inside a tunnel
 * @eth: Ethernet header; NULL if the tunnel carries none
 * @ethertype: type behind all VLAN tags; 0 if unknown
 * @vlan: TCI of the first tag, or PACKET_NO_VLAN
 * @mpls: first MPLS label, or NULL
 * @ipv4: IPv4 header, or NULL
 * @ipv6: IPv6 header, or NULL
 * @sound: the lengths in the IP header fit the frame, and the packet is
 *	complete and not fragmented, so its checksum can be computed
 * @fragment: it is a fragment, the first one included
 * @proto: IP protocol behind extension headers
 * @payload: first byte of the IP payload, or NULL if it is missing
 * @payload_len: bytes of @payload, without padding of the frame
 * @tcp: TCP header, or NULL
 * @udp: UDP header, or NULL
 *
 * The fixed part of each header that is pointed to is complete. Options of TCP
 * and IPv4 are, too.
 */
struct layer {
	const uint8_t *eth;
	uint16_t ethertype;
	uint16_t vlan;
	const uint8_t *mpls;
	const uint8_t *ipv4;
	const uint8_t *ipv6;
	bool sound;
	bool fragment;
	uint8_t proto;
	const uint8_t *payload;
	uint32_t payload_len;
	const uint8_t *tcp;
	const uint8_t *udp;
};

/**
 * struct headers - all headers of a frame
 * @outer: headers of the frame itself
 * @vxlan: VXLAN header, or NULL
 * @gre: GRE header with the optional fields that its flags announce, or NULL
 * @inner: headers inside the VXLAN or GRE tunnel; empty without a tunnel
 */
struct headers {
	struct layer outer;
	const uint8_t *vxlan;
	const uint8_t *gre;
	struct layer inner;
};

/**
 * headers_parse() - find the headers of a frame
 * @frame: the frame, without FCS
 * @len: bytes of @frame, at least ETHER_HDR_LEN
 * @headers: result, with pointers into @frame
 */
void headers_parse(const uint8_t *frame, uint32_t len, struct headers *headers);

/*
 * Whether a layer has an IP checksum and a TCP or UDP checksum, both correct.
 */
bool headers_csum_ok(const struct layer *layer);

/**
 * headers_set_csum() - fill in IP and TCP or UDP checksums
 * @layer: layer of a frame that may be written; checksums whose headers are
 *	missing are left alone
 */
void headers_set_csum(const struct layer *layer);

/* Length of a GRE header, which depends on its flags (RFC 2890). */
unsigned int headers_gre_len(const uint8_t gre[4]);

#define GRE_CSUM 0x8000
#define GRE_ROUTING 0x4000
#define GRE_KEY 0x2000
#define GRE_SEQ 0x1000

static inline uint16_t headers_load_be16(const uint8_t *p)
{
	return p[0] << 8 | p[1];
}

static inline uint32_t headers_load_be32(const uint8_t *p)
{
	return (uint32_t)headers_load_be16(p) << 16 | headers_load_be16(p + 2);
}

static inline void headers_store_be16(uint8_t *p, uint16_t value)
{
	p[0] = value >> 8;
	p[1] = value;
}

static inline void headers_store_be32(uint8_t *p, uint32_t value)
{
	headers_store_be16(p, value >> 16);
	headers_store_be16(p + 2, value);
}

#endif /* MYNIC_HEADERS_H */
