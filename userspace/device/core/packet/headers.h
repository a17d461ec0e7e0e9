/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The headers of Ethernet frames: where they are, and their checksums. */
#ifndef MYNIC_HEADERS_H
#define MYNIC_HEADERS_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct layer - the headers of a frame, or of what is in its tunnel
 * @eth: Ethernet header; NULL: the tunnel carries none
 * @ethertype: behind all VLAN tags; 0: not known
 * @vlan: TCI of the first tag, or PACKET_NO_VLAN
 * @mpls: the first MPLS label, or NULL
 * @ipv4: IPv4 header, or NULL
 * @ipv6: IPv6 header, or NULL
 * @sound: the lengths in the IP header fit the frame, and all that it carries
 *	is there and in one piece, so that its checksum can be told
 * @fragment: it is a part of a packet, the first one or another
 * @proto: what IP carries, behind extension headers
 * @payload: what IP carries: its first byte, or NULL if it is not there
 * @payload_len: bytes of it, without what pads the frame
 * @tcp: TCP header, or NULL
 * @udp: UDP header, or NULL
 *
 * Fixed parts of headers that are pointed to are there in full, as are TCP's
 * options and IPv4's.
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
 * struct headers - of a frame
 * @outer: the frame's own
 * @vxlan: VXLAN header, or NULL
 * @gre: GRE header with the fields that its flags tell of, or NULL
 * @inner: what is in the VXLAN or GRE tunnel; empty if there is none
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
 * @len: bytes, at least ETHER_HDR_LEN
 * @headers: result; points into @frame
 */
void headers_parse(const uint8_t *frame, uint32_t len, struct headers *headers);

/** headers_csum_ok() - IP and TCP or UDP checksums of a layer are there and right */
bool headers_csum_ok(const struct layer *layer);

/**
 * headers_set_csum() - fill in IP and TCP or UDP checksums
 * @layer: of a frame that may be written; whatever is not there is left alone
 */
void headers_set_csum(const struct layer *layer);

/** headers_gre_len() - bytes of a GRE header, by its flags (RFC 2890) */
unsigned int headers_gre_len(const uint8_t gre[4]);

#define GRE_CSUM 0x8000
#define GRE_ROUTING 0x4000
#define GRE_KEY 0x2000
#define GRE_SEQ 0x1000

static inline uint16_t get_be16(const uint8_t *p)
{
	return p[0] << 8 | p[1];
}

static inline uint32_t get_be32(const uint8_t *p)
{
	return (uint32_t)get_be16(p) << 16 | get_be16(p + 2);
}

static inline void put_be16(uint8_t *p, uint16_t value)
{
	p[0] = value >> 8;
	p[1] = value;
}

static inline void put_be32(uint8_t *p, uint32_t value)
{
	put_be16(p, value >> 16);
	put_be16(p + 2, value);
}

#endif /* MYNIC_HEADERS_H */
