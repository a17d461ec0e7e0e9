// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Conversion between packets and the bytes of frames, with padding and ICRC.
 * Malformed input is marked here; NICs and switches decide what to do with it.
 */

#include "frame.h"

#include <assert.h>
#include <endian.h>
#include <libdeflate.h>
#include <net/ethernet.h>
#include <netinet/in.h>
#include <string.h>

#include "core/packet/ip_gid.h"
#include "core/packet/ip.h"
#include "core/packet/opcode.h"

#define ROCE_UDP_PORT 4791

#define VLAN_LEN 4 /* TCI and the ethertype behind it */

/* The ICRC starts with 8 bytes of ones in place of InfiniBand's LRH */
#define ICRC_LRH_LEN 8

#define IPV4_VERSION_IHL 0x45
#define IPV4_FRAGMENT 0x3fff /* more fragments, offset */
#define IPV6_VERSION 6

#define BTH_SE 0x80
#define BTH_M 0x40
#define BTH_PAD_SHIFT 4
#define BTH_PAD_MASK 0x3
#define BTH_TVER_MASK 0xf
#define BTH_FECN 0x80
#define BTH_BECN 0x40
#define BTH_A 0x80

/* AtomicETH is the longest; RETH with ImmDt or FETH is shorter */
static_assert(ETHER_HDR_LEN + VLAN_LEN + IPV6_LEN + UDP_LEN + BTH_LEN +
			      XRCETH_LEN + ATOMICETH_LEN <=
		      FRAME_MAX_HEADER,
	      "headers");

static uint8_t *frame_put8(uint8_t *p, uint8_t value)
{
	*p = value;
	return p + 1;
}

static uint8_t *frame_put16(uint8_t *p, uint16_t value)
{
	value = htobe16(value);
	return (uint8_t *)memcpy(p, &value, sizeof(value)) + sizeof(value);
}

static uint8_t *frame_put32(uint8_t *p, uint32_t value)
{
	value = htobe32(value);
	return (uint8_t *)memcpy(p, &value, sizeof(value)) + sizeof(value);
}

static uint8_t *frame_put64(uint8_t *p, uint64_t value)
{
	value = htobe64(value);
	return (uint8_t *)memcpy(p, &value, sizeof(value)) + sizeof(value);
}

static uint16_t frame_get16(const uint8_t *p)
{
	uint16_t value;

	memcpy(&value, p, sizeof(value));
	return be16toh(value);
}

static uint32_t frame_get32(const uint8_t *p)
{
	uint32_t value;

	memcpy(&value, p, sizeof(value));
	return be32toh(value);
}

static uint64_t frame_get64(const uint8_t *p)
{
	uint64_t value;

	memcpy(&value, p, sizeof(value));
	return be64toh(value);
}

/*
 * ICRC of the headers. Fields that routers may change count as ones. @ip has
 * @len bytes from the IP header on.
 */
static uint32_t frame_icrc_headers(const uint8_t *ip, size_t len)
{
	uint8_t buf[ICRC_LRH_LEN + FRAME_MAX_HEADER];
	uint8_t *p = buf + ICRC_LRH_LEN;

	memset(buf, 0xff, ICRC_LRH_LEN);
	memcpy(p, ip, len);
	if (ip[0] == IPV4_VERSION_IHL) {
		p[1] = 0xff; /* TOS */
		p[8] = 0xff; /* TTL */
		memset(p + 10, 0xff, 2); /* checksum */
		p += IPV4_LEN;
	} else {
		p[0] |= 0x0f; /* traffic class, flow label */
		memset(p + 1, 0xff, 3);
		p[7] = 0xff; /* hop limit */
		p += IPV6_LEN;
	}
	memset(p + 6, 0xff, 2); /* UDP checksum */
	p += UDP_LEN;
	p[4] = 0xff; /* FECN, BECN, and six reserved bits */
	return libdeflate_crc32(0, buf, ICRC_LRH_LEN + len);
}

static uint8_t *frame_put_eth(uint8_t *p, const struct packet *pkt,
			      uint16_t ethertype)
{
	memcpy(p, pkt->dmac, ETHER_ADDR_LEN);
	memcpy(p + ETHER_ADDR_LEN, pkt->smac, ETHER_ADDR_LEN);
	p += 2 * ETHER_ADDR_LEN;
	if (pkt->vlan != PACKET_NO_VLAN) {
		p = frame_put16(p, ETHERTYPE_VLAN);
		p = frame_put16(p, pkt->vlan);
	}
	return frame_put16(p, ethertype);
}

static uint8_t *frame_put_bth(uint8_t *p, const struct roce_hdr *hdr)
{
	p = frame_put8(p, hdr->opcode);
	p = frame_put8(p, (hdr->solicited ? BTH_SE : 0) |
				  (hdr->mig_req ? BTH_M : 0) |
				  hdr->pad << BTH_PAD_SHIFT);
	p = frame_put16(p, hdr->pkey);
	p = frame_put32(p, hdr->dest_qpn);
	p[-4] = (hdr->fecn ? BTH_FECN : 0) | (hdr->becn ? BTH_BECN : 0);
	p = frame_put32(p, hdr->psn);
	p[-4] = hdr->ack_req ? BTH_A : 0;
	return p;
}

static uint8_t *frame_put_extended(uint8_t *p, const struct roce_hdr *hdr,
				   unsigned int flags)
{
	if (flags & OPCODE_XRCETH) {
		p = frame_put32(p, hdr->srqn);
		p[-4] = 0;
	}
	if (flags & OPCODE_DETH) {
		p = frame_put32(p, hdr->qkey);
		p = frame_put32(p, hdr->src_qpn);
		p[-4] = 0;
	}
	if (flags & OPCODE_FETH)
		p = frame_put32(p, hdr->feth);
	if (flags & OPCODE_RETH) {
		p = frame_put64(p, hdr->remote_addr);
		p = frame_put32(p, hdr->rkey);
		p = frame_put32(p, hdr->dma_len);
	}
	if (flags & OPCODE_ATOMICETH) {
		p = frame_put64(p, hdr->remote_addr);
		p = frame_put32(p, hdr->rkey);
		p = frame_put64(p, hdr->swap_add);
		p = frame_put64(p, hdr->compare);
	}
	if (flags & OPCODE_AETH)
		p = frame_put32(p, hdr->aeth);
	if (flags & OPCODE_ATOMICACKETH)
		p = frame_put64(p, hdr->atomic_orig);
	if (flags & OPCODE_IMM)
		p = (uint8_t *)memcpy(p, &hdr->imm, IMM_LEN) + IMM_LEN;
	if (flags & OPCODE_IETH)
		p = frame_put32(p, hdr->imm);
	return p;
}

static void frame_get_extended(const uint8_t *p, struct roce_hdr *hdr,
			       unsigned int flags)
{
	if (flags & OPCODE_XRCETH) {
		hdr->srqn = frame_get32(p) & 0xffffff;
		p += XRCETH_LEN;
	}
	if (flags & OPCODE_DETH) {
		hdr->qkey = frame_get32(p);
		hdr->src_qpn = frame_get32(p + 4) & 0xffffff;
		p += DETH_LEN;
	}
	if (flags & OPCODE_FETH) {
		hdr->feth = frame_get32(p);
		p += FETH_LEN;
	}
	if (flags & OPCODE_RETH) {
		hdr->remote_addr = frame_get64(p);
		hdr->rkey = frame_get32(p + 8);
		hdr->dma_len = frame_get32(p + 12);
		p += RETH_LEN;
	}
	if (flags & OPCODE_ATOMICETH) {
		hdr->remote_addr = frame_get64(p);
		hdr->rkey = frame_get32(p + 8);
		hdr->swap_add = frame_get64(p + 12);
		hdr->compare = frame_get64(p + 20);
		p += ATOMICETH_LEN;
	}
	if (flags & OPCODE_AETH) {
		hdr->aeth = frame_get32(p);
		p += AETH_LEN;
	}
	if (flags & OPCODE_ATOMICACKETH) {
		hdr->atomic_orig = frame_get64(p);
		p += ATOMICACKETH_LEN;
	}
	if (flags & OPCODE_IMM) {
		memcpy(&hdr->imm, p, IMM_LEN);
		p += IMM_LEN;
	}
	if (flags & OPCODE_IETH)
		hdr->imm = frame_get32(p);
}

/*
 * Builds headers and trailer around the payload, which is in @frame->iov
 * already. frame_copy() completes the ICRC
 */
static void frame_build_roce(struct frame *frame, const struct packet *pkt)
{
	const struct roce_hdr *hdr = &pkt->roce;
	const struct opcode_info *info = opcode_info(hdr->opcode);
	uint32_t udp_len = UDP_LEN + opcode_headers_len(info) +
			   pkt->payload_len + hdr->pad + ICRC_LEN;
	bool ipv4 = gid_is_ipv4(hdr->dgid);
	uint8_t *ip, *p;

	ip = frame_put_eth(frame->header, pkt,
			   ipv4 ? ETHERTYPE_IP : ETHERTYPE_IPV6);
	p = ip + ip_build(ip, hdr, udp_len);
	p = frame_put16(p, hdr->udp_sport);
	p = frame_put16(p, ROCE_UDP_PORT);
	p = frame_put16(p, udp_len);
	p = frame_put16(p, 0); /* no checksum, as there is an ICRC */
	p = frame_put_bth(p, hdr);
	p = frame_put_extended(p, hdr, info->flags);
	frame->iov[0].iov_len = p - frame->header;

	frame->has_icrc = true;
	frame->icrc = frame_icrc_headers(ip, p - ip);
	memset(frame->trailer, 0, hdr->pad + ICRC_LEN);
	frame->iov[frame->niov++] = (struct iovec){
		frame->trailer,
		hdr->pad + ICRC_LEN,
	};
	frame->len =
		frame->iov[0].iov_len + pkt->payload_len + hdr->pad + ICRC_LEN;
}

void frame_build(struct frame *frame, const struct packet *pkt)
{
	uint8_t *end;

	frame->has_icrc = false;
	if (pkt->frame) {
		frame->iov[0] = (struct iovec){
			(void *)pkt->frame,
			pkt->frame_len,
		};
		frame->niov = 1;
		frame->len = pkt->frame_len;
		return;
	}
	frame->iov[0].iov_base = frame->header;
	memcpy(frame->iov + 1, pkt->iov, pkt->niov * sizeof(*pkt->iov));
	frame->niov = 1 + pkt->niov;
	if (pkt->kind == PACKET_ROCE) {
		frame_build_roce(frame, pkt);
		return;
	}
	end = frame_put_eth(frame->header, pkt, pkt->ethertype);
	frame->iov[0].iov_len = end - frame->header;
	frame->len = frame->iov[0].iov_len + pkt->payload_len;
}

/*
 * The payload is in the memory of a guest, which may change it meanwhile. So it
 * is read once, and the ICRC is that of the copy.
 */
void frame_copy(const struct frame *frame, uint8_t *buf)
{
	size_t headers_len = frame->iov[0].iov_len;
	uint8_t *p = buf;
	uint32_t icrc;

	for (unsigned int i = 0; i < frame->niov; i++) {
		memcpy(p, frame->iov[i].iov_base, frame->iov[i].iov_len);
		p += frame->iov[i].iov_len;
	}
	if (!frame->has_icrc)
		return;
	p -= ICRC_LEN;
	icrc = libdeflate_crc32(frame->icrc, buf + headers_len,
				p - buf - headers_len);
	icrc = htole32(icrc);
	memcpy(p, &icrc, sizeof(icrc));
}

/*
 * struct ip_view - an IP packet that carries UDP @header_len: bytes before the
 * UDP header @len: bytes from the UDP header on, according to the IP header
 * @sound: the IP header is valid for RoCEv2, and @len bytes are present
 */
struct ip_view {
	size_t header_len;
	size_t len;
	bool sound;
};

static bool frame_parse_ipv4(const uint8_t *ip, size_t len,
			     struct roce_hdr *hdr, struct ip_view *view)
{
	size_t total;

	if (len < IPV4_LEN || ip[0] >> 4 != 4)
		return false;
	view->header_len = (ip[0] & 0xf) * 4;
	if (view->header_len < IPV4_LEN || ip[9] != IPPROTO_UDP ||
	    frame_get16(ip + 6) & IPV4_FRAGMENT)
		return false;
	total = frame_get16(ip + 2);
	view->len = total - view->header_len;
	view->sound = ip[0] == IPV4_VERSION_IHL && total >= IPV4_LEN &&
		      total <= len && !ip_checksum(ip);
	hdr->traffic_class = ip[1];
	hdr->hop_limit = ip[8];
	hdr->flow_label = 0;
	gid_from_ipv4(ip + 12, hdr->sgid);
	gid_from_ipv4(ip + 16, hdr->dgid);
	return true;
}

static bool frame_parse_ipv6(const uint8_t *ip, size_t len,
			     struct roce_hdr *hdr, struct ip_view *view)
{
	if (len < IPV6_LEN || ip[0] >> 4 != IPV6_VERSION ||
	    ip[6] != IPPROTO_UDP)
		return false;
	view->header_len = IPV6_LEN;
	view->len = frame_get16(ip + 4);
	hdr->traffic_class = frame_get32(ip) >> 20;
	hdr->hop_limit = ip[7];
	hdr->flow_label = frame_get32(ip) & 0xfffff;
	memcpy(hdr->sgid, ip + 8, sizeof(hdr->sgid));
	memcpy(hdr->dgid, ip + 24, sizeof(hdr->dgid));
	/*
	 * IPv4-mapped addresses stand for IPv4 here, and are invalid on a wire
	 */
	view->sound = IPV6_LEN + view->len <= len && !gid_is_ipv4(hdr->sgid) &&
		      !gid_is_ipv4(hdr->dgid);
	return true;
}

static void frame_parse_bth(const uint8_t *bth, struct roce_hdr *hdr)
{
	hdr->opcode = bth[0];
	hdr->solicited = bth[1] & BTH_SE;
	hdr->mig_req = bth[1] & BTH_M;
	hdr->pad = bth[1] >> BTH_PAD_SHIFT & BTH_PAD_MASK;
	hdr->pkey = frame_get16(bth + 2);
	hdr->fecn = bth[4] & BTH_FECN;
	hdr->becn = bth[4] & BTH_BECN;
	hdr->dest_qpn = frame_get32(bth + 4) & 0xffffff;
	hdr->ack_req = bth[8] & BTH_A;
	hdr->psn = frame_get32(bth + 8) & 0xffffff;
}

/* @udp has @len bytes, according to the IP header */
static enum packet_defect frame_parse_udp(const uint8_t *ip, const uint8_t *udp,
					  size_t len, struct packet *pkt)
{
	const uint8_t *bth = udp + UDP_LEN;
	struct roce_hdr *hdr = &pkt->roce;
	const struct opcode_info *info;
	size_t headers_len;
	uint32_t want, icrc;

	if (len < UDP_LEN + BTH_LEN + ICRC_LEN || frame_get16(udp + 4) != len)
		return PACKET_BAD_HEADER;
	len -= UDP_LEN + ICRC_LEN;
	memcpy(&want, bth + len, sizeof(want));
	icrc = frame_icrc_headers(ip, bth + BTH_LEN - ip);
	icrc = libdeflate_crc32(icrc, bth + BTH_LEN, len - BTH_LEN);
	if (icrc != le32toh(want))
		return PACKET_BAD_ICRC;

	frame_parse_bth(bth, hdr);
	hdr->udp_sport = frame_get16(udp);
	info = opcode_info(hdr->opcode);
	headers_len = opcode_headers_len(info);
	if (bth[1] & BTH_TVER_MASK || headers_len + hdr->pad > len)
		return PACKET_BAD_HEADER;
	frame_get_extended(bth + BTH_LEN, hdr, info->flags);
	pkt->payload_len = len - headers_len - hdr->pad;
	pkt->niov = pkt->payload_len ? 1 : 0;
	pkt->iov[0] = (struct iovec){
		(void *)(bth + headers_len),
		pkt->payload_len,
	};
	return PACKET_SOUND;
}

/* Returns true if it is RoCEv2; &packet.defect then has its defect */
static bool frame_parse_roce(const uint8_t *ip, size_t len, struct packet *pkt)
{
	struct ip_view view;

	switch (pkt->ethertype) {
	case ETHERTYPE_IP:
		if (!frame_parse_ipv4(ip, len, &pkt->roce, &view))
			return false;
		break;
	case ETHERTYPE_IPV6:
		if (!frame_parse_ipv6(ip, len, &pkt->roce, &view))
			return false;
		break;
	default:
		return false;
	}
	if (len < view.header_len + 4 ||
	    frame_get16(ip + view.header_len + 2) != ROCE_UDP_PORT)
		return false;
	pkt->kind = PACKET_ROCE;
	pkt->payload_len = 0;
	pkt->niov = 0;
	pkt->defect = PACKET_BAD_HEADER;
	if (view.sound)
		pkt->defect = frame_parse_udp(ip, ip + view.header_len,
					      view.len, pkt);
	return true;
}

bool frame_parse(const uint8_t *data, size_t len, struct packet *pkt)
{
	size_t at = ETHER_HDR_LEN;

	if (len < ETHER_HDR_LEN || len > FRAME_MAX_LEN)
		return false;
	memcpy(pkt->dmac, data, ETHER_ADDR_LEN);
	memcpy(pkt->smac, data + ETHER_ADDR_LEN, ETHER_ADDR_LEN);
	pkt->vlan = PACKET_NO_VLAN;
	pkt->ethertype = frame_get16(data + at - 2);
	/* A tag of all ones is reserved, and has the value of PACKET_NO_VLAN */
	if (pkt->ethertype == ETHERTYPE_VLAN && len >= at + VLAN_LEN &&
	    frame_get16(data + at) != PACKET_NO_VLAN) {
		pkt->vlan = frame_get16(data + at);
		at += VLAN_LEN;
		pkt->ethertype = frame_get16(data + at - 2);
	}
	pkt->frame = data;
	pkt->frame_len = len;
	pkt->train_mtu = 0;
	pkt->roce = (struct roce_hdr){ 0 };
	if (frame_parse_roce(data + at, len - at, pkt))
		return true;
	pkt->kind = PACKET_ETH;
	pkt->defect = PACKET_SOUND;
	pkt->payload_len = len - at;
	pkt->niov = pkt->payload_len ? 1 : 0;
	pkt->iov[0] = (struct iovec){ (void *)(data + at), pkt->payload_len };
	return true;
}
