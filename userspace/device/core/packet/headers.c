// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Parsing of Ethernet frames, also inside tunnels, and their checksums. All
 * lengths are checked against the bytes that are there; nothing is trusted.
 */

#include "packet/headers.h"

#include <net/ethernet.h>
#include <netinet/in.h>
#include <stddef.h>

#include "packet/ip.h"
#include "packet/packet.h"

#define ETHERTYPE_QINQ 0x88a8
#define ETHERTYPE_MPLS 0x8847
#define ETHERTYPE_MPLS_MC 0x8848
#define ETHERTYPE_TEB 0x6558 /* transparent Ethernet bridging, in GRE */

#define VLAN_LEN 4
#define VXLAN_LEN 8
#define VXLAN_PORT 4789
#define VXLAN_HAS_VNI 0x08
#define MPLS_LEN 4
#define MPLS_BOTTOM 0x01 /* flag in the third byte of a label */
#define MPLS_UDP_PORT 6635
#define TCP_LEN 20
#define EXT_LEN 8 /* fixed part of an IPv6 extension header */

/*
 * Limit for each of VLAN tags, MPLS labels and extension headers, beyond any
 * sensible use
 */
#define MAX_STACKED 8

/* The bytes of the frame that have not been parsed */
struct span {
	const uint8_t *at;
	const uint8_t *end;
};

static uint32_t headers_left(const struct span *span)
{
	return span->end - span->at;
}

/* Returns the next @len bytes, or NULL if there are fewer */
static const uint8_t *headers_take(struct span *span, uint32_t len)
{
	const uint8_t *p = span->at;

	if (headers_left(span) < len)
		return NULL;
	span->at += len;
	return p;
}

static void headers_parse_l4(struct layer *layer)
{
	const uint8_t *p = layer->payload;
	uint32_t len = layer->payload_len;

	if (layer->proto == IPPROTO_UDP && len >= UDP_LEN) {
		layer->udp = p;
		if (headers_load_be16(p + 4) != len)
			layer->sound = false;
	} else if (layer->proto == IPPROTO_TCP && len >= TCP_LEN &&
		   p[12] >> 4 >= TCP_LEN / 4 && (p[12] >> 4) * 4u <= len) {
		layer->tcp = p;
	}
}

static void headers_parse_ipv4(struct span *span, struct layer *layer)
{
	const uint8_t *ip = span->at;
	uint32_t header_len, total;
	uint16_t fragment;

	if (headers_left(span) < IPV4_LEN || ip[0] >> 4 != 4)
		return;
	header_len = (ip[0] & 0xf) * 4;
	if (header_len < IPV4_LEN || !headers_take(span, header_len))
		return;
	layer->ipv4 = ip;
	layer->proto = ip[9];
	total = headers_load_be16(ip + 2);
	fragment = headers_load_be16(ip + 6);
	layer->fragment = fragment & 0x3fff;
	layer->sound = total >= header_len &&
		       total - header_len <= headers_left(span) &&
		       !layer->fragment;
	if (total >= header_len && total - header_len < headers_left(span))
		span->end = span->at + (total - header_len);
	/* Only the first fragment has the header of the next protocol */
	if (fragment & 0x1fff)
		return;
	layer->payload = span->at;
	layer->payload_len = headers_left(span);
	headers_parse_l4(layer);
}

static void headers_parse_ipv6(struct span *span, struct layer *layer)
{
	const uint8_t *ip = span->at;
	const uint8_t *ext;
	uint32_t len;

	if (headers_left(span) < IPV6_LEN || ip[0] >> 4 != 6)
		return;
	span->at += IPV6_LEN;
	layer->ipv6 = ip;
	layer->proto = ip[6];
	len = headers_load_be16(ip + 4);
	layer->sound = len <= headers_left(span);
	if (len < headers_left(span) && len)
		span->end = span->at + len;
	for (int i = 0; i < MAX_STACKED; i++) {
		switch (layer->proto) {
		case IPPROTO_HOPOPTS:
		case IPPROTO_DSTOPTS:
			ext = span->at;
			if (headers_left(span) < EXT_LEN ||
			    !headers_take(span, EXT_LEN * (ext[1] + 1u)))
				return;
			break;
		case IPPROTO_FRAGMENT:
			ext = headers_take(span, EXT_LEN);
			if (!ext)
				return;
			layer->fragment = true;
			layer->sound = false;
			if (headers_load_be16(ext + 2) & 0xfff8)
				return;
			break;
		default:
			layer->payload = span->at;
			layer->payload_len = headers_left(span);
			headers_parse_l4(layer);
			return;
		}
		layer->proto = ext[0];
	}
}

static void headers_parse_mpls(struct span *span, struct layer *layer)
{
	const uint8_t *label;

	for (int i = 0; i < MAX_STACKED; i++) {
		label = headers_take(span, MPLS_LEN);
		if (!label)
			return;
		if (!i)
			layer->mpls = label;
		if (label[2] & MPLS_BOTTOM) {
			/*
			 * Labels do not say what they carry, so the payload
			 * itself has to tell
			 */
			headers_parse_ipv4(span, layer);
			if (!layer->ipv4)
				headers_parse_ipv6(span, layer);
			return;
		}
	}
}

static void headers_parse_l3(struct span *span, struct layer *layer)
{
	switch (layer->ethertype) {
	case ETHERTYPE_IP:
		headers_parse_ipv4(span, layer);
		break;
	case ETHERTYPE_IPV6:
		headers_parse_ipv6(span, layer);
		break;
	case ETHERTYPE_MPLS:
	case ETHERTYPE_MPLS_MC:
		headers_parse_mpls(span, layer);
		break;
	default:
		break;
	}
}

static void headers_parse_l2(struct span *span, struct layer *layer)
{
	const uint8_t *tag;

	layer->eth = headers_take(span, ETHER_HDR_LEN);
	if (!layer->eth)
		return;
	layer->ethertype = headers_load_be16(layer->eth + 2 * ETHER_ADDR_LEN);
	for (int i = 0; i < MAX_STACKED; i++) {
		if (layer->ethertype != ETHERTYPE_VLAN &&
		    layer->ethertype != ETHERTYPE_QINQ)
			break;
		tag = headers_take(span, VLAN_LEN);
		if (!tag)
			return;
		if (layer->vlan == PACKET_NO_VLAN)
			layer->vlan = headers_load_be16(tag);
		layer->ethertype = headers_load_be16(tag + 2);
	}
	headers_parse_l3(span, layer);
}

unsigned int headers_gre_len(const uint8_t gre[4])
{
	uint16_t flags = headers_load_be16(gre);

	return 4 + (flags & (GRE_CSUM | GRE_ROUTING) ? 4 : 0) +
	       (flags & GRE_KEY ? 4 : 0) + (flags & GRE_SEQ ? 4 : 0);
}

static void headers_parse_gre(struct span *span, struct headers *headers)
{
	if (headers_left(span) < 4 ||
	    headers_left(span) < headers_gre_len(span->at))
		return;
	headers->gre = headers_take(span, headers_gre_len(span->at));
	headers->inner.ethertype = headers_load_be16(headers->gre + 2);
	if (headers->inner.ethertype == ETHERTYPE_TEB)
		headers_parse_l2(span, &headers->inner);
	else
		headers_parse_l3(span, &headers->inner);
}

static void headers_parse_tunnel(struct headers *headers)
{
	const struct layer *outer = &headers->outer;
	struct span span = { outer->payload,
			     outer->payload + outer->payload_len };

	if (!outer->payload)
		return;
	if (outer->proto == IPPROTO_GRE) {
		headers_parse_gre(&span, headers);
	} else if (outer->udp) {
		headers_take(&span, UDP_LEN);
		if (headers_load_be16(outer->udp + 2) == MPLS_UDP_PORT) {
			headers_parse_mpls(&span, &headers->inner);
		} else if (headers_load_be16(outer->udp + 2) == VXLAN_PORT &&
			   headers_left(&span) >= VXLAN_LEN &&
			   span.at[0] & VXLAN_HAS_VNI) {
			headers->vxlan = headers_take(&span, VXLAN_LEN);
			headers_parse_l2(&span, &headers->inner);
		}
	}
}

void headers_parse(const uint8_t *frame, uint32_t len, struct headers *headers)
{
	struct span span = { frame, frame + len };

	*headers = (struct headers){
		.outer.vlan = PACKET_NO_VLAN,
		.inner.vlan = PACKET_NO_VLAN,
	};
	headers_parse_l2(&span, &headers->outer);
	headers_parse_tunnel(headers);
}

static uint32_t headers_sum(const uint8_t *p, uint32_t len, uint32_t start)
{
	uint64_t total = start;

	for (; len >= 2; p += 2, len -= 2)
		total += headers_load_be16(p);
	if (len)
		total += *p << 8;
	while (total >> 16)
		total = (total & 0xffff) + (total >> 16);
	return total;
}

static uint32_t headers_ipv4_header_len(const uint8_t *ip)
{
	return (ip[0] & 0xf) * 4;
}

/*
 * Sum of pseudo header, TCP or UDP header, and data; all ones if it is correct
 */
static uint32_t headers_l4_sum(const struct layer *layer)
{
	uint32_t start = layer->proto + layer->payload_len;

	if (layer->ipv4)
		start = headers_sum(layer->ipv4 + 12, 8, start);
	else
		start = headers_sum(layer->ipv6 + 8, 32, start);
	return headers_sum(layer->payload, layer->payload_len, start);
}

bool headers_csum_ok(const struct layer *layer)
{
	if (!layer->sound || (!layer->tcp && !layer->udp))
		return false;
	if (layer->ipv4 &&
	    headers_sum(layer->ipv4, headers_ipv4_header_len(layer->ipv4), 0) !=
		    0xffff)
		return false;
	/* The UDP checksum is optional over IPv4 */
	if (layer->ipv4 && layer->udp && !headers_load_be16(layer->udp + 6))
		return true;
	return headers_l4_sum(layer) == 0xffff;
}

void headers_set_csum(const struct layer *layer)
{
	uint8_t *ip = (uint8_t *)layer->ipv4;
	uint8_t *field = NULL;
	uint16_t value;

	if (ip) {
		headers_store_be16(ip + 10, 0);
		headers_store_be16(ip + 10,
				   ~headers_sum(ip, headers_ipv4_header_len(ip),
						0));
	}
	if (!layer->sound)
		return;
	if (layer->tcp)
		field = (uint8_t *)layer->tcp + 16;
	else if (layer->udp)
		field = (uint8_t *)layer->udp + 6;
	else
		return;
	headers_store_be16(field, 0);
	value = ~headers_l4_sum(layer);
	/*
	 * A UDP checksum of 0 means that there is none, so 0 is sent as 0xffff
	 * (RFC 768)
	 */
	headers_store_be16(field, value || layer->tcp ? value : 0xffff);
}
