// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Frames: compared with frames of other programs, and with an independent
 * encoder in this file, and parsed from arbitrary input. Input is in memory of
 * its exact size, so that ASan finds reads beyond it.
 */
#include <stdlib.h>

#include "core/packet/opcode.h"
#include "harness_driver.h"
#include "wire/frame.h"

#define MAX_PAYLOAD 4096
#define ETH_LEN 14

/* RC SEND ONLY of 13 bytes, once with a VLAN tag; made by scapy 2.6.1 */
static const uint8_t send_ipv4[] = {
	0x02, 0x6d, 0x79, 0x6e, 0x69, 0x02, 0x02, 0x6d, 0x79, 0x6e, 0x69,
	0x01, 0x08, 0x00, 0x45, 0x6a, 0x00, 0x3c, 0x00, 0x00, 0x40, 0x00,
	0x40, 0x11, 0x26, 0x45, 0x0a, 0x00, 0x00, 0x01, 0x0a, 0x00, 0x00,
	0x02, 0xc1, 0x23, 0x12, 0xb7, 0x00, 0x28, 0x00, 0x00, 0x04, 0xf0,
	0xff, 0xff, 0x00, 0x12, 0x34, 0x56, 0x80, 0xfe, 0xdc, 0xba, 0x01,
	0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c,
	0x0d, 0x00, 0x00, 0x00, 0x79, 0x12, 0xd4, 0x57,
};

static const uint8_t send_ipv6[] = {
	0x02, 0x6d, 0x79, 0x6e, 0x69, 0x02, 0x02, 0x6d, 0x79, 0x6e, 0x69,
	0x01, 0x81, 0x00, 0xa0, 0x64, 0x86, 0xdd, 0x66, 0xa5, 0x43, 0x21,
	0x00, 0x28, 0x11, 0xff, 0xfe, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x6d, 0x79, 0xff, 0xfe, 0x6e, 0x69, 0x01, 0x20, 0x01,
	0x0d, 0xb8, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x02, 0xc1, 0x23, 0x12, 0xb7, 0x00, 0x28, 0x00, 0x00,
	0x04, 0x70, 0xff, 0xff, 0x00, 0x12, 0x34, 0x56, 0x80, 0xfe, 0xdc,
	0xba, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a,
	0x0b, 0x0c, 0x0d, 0x00, 0x00, 0x00, 0xf6, 0x34, 0xe4, 0x37,
};

/* CNP as a ConnectX-4 Lx sends it; caught for scapy's own tests */
static const uint8_t captured_cnp[] = {
	0xe4, 0x1d, 0x2d, 0xab, 0x2b, 0xc2, 0x7c, 0xfe, 0x90, 0x64, 0x3b,
	0x32, 0x08, 0x00, 0x45, 0xc2, 0x00, 0x3c, 0x71, 0x8c, 0x40, 0x00,
	0x40, 0x11, 0x91, 0x61, 0x0a, 0x00, 0x11, 0x01, 0x0a, 0x00, 0x12,
	0x01, 0x00, 0x00, 0x12, 0xb7, 0x00, 0x28, 0x00, 0x00, 0x81, 0x00,
	0xff, 0xff, 0x40, 0x00, 0x01, 0x18, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x82, 0xfd, 0x00, 0x2a,
};

/* UC SEND ONLY of 18 bytes with a UDP checksum; from there, too */
static const uint8_t captured_uc_send[] = {
	0x24, 0x8a, 0x07, 0xa8, 0xfa, 0x22, 0x24, 0x8a, 0x07, 0xa8, 0xfa, 0x22,
	0x08, 0x00, 0x45, 0x01, 0x00, 0x40, 0x04, 0x78, 0x40, 0x00, 0x40, 0x11,
	0xb4, 0xd5, 0xc0, 0xa8, 0x00, 0x07, 0xc0, 0xa8, 0x00, 0x07, 0xc0, 0x00,
	0x12, 0xb7, 0x00, 0x2c, 0xac, 0xa2, 0x24, 0x60, 0xff, 0xff, 0x00, 0x00,
	0x00, 0xd3, 0x00, 0xcf, 0x17, 0x10, 0x46, 0x30, 0x81, 0x8b, 0xe2, 0x89,
	0x35, 0xd9, 0x0e, 0x9a, 0x95, 0x50, 0x54, 0x01, 0xbe, 0x88, 0x5e, 0x50,
	0x00, 0x00, 0x78, 0xf3, 0x53, 0xf3,
};

/* The headers behind the BTH, as the IBTA lists them for each opcode (9.2) */
static const struct {
	uint8_t opcode;
	const char *headers;
} extended[] = {
	{ 0x03, "i" },	{ 0x05, "i" },	 { 0x06, "r" },	  { 0x09, "i" },
	{ 0x0a, "r" },	{ 0x0b, "ri" },	 { 0x0c, "r" },	  { 0x0d, "a" },
	{ 0x0f, "a" },	{ 0x10, "a" },	 { 0x11, "a" },	  { 0x12, "ao" },
	{ 0x13, "x" },	{ 0x14, "x" },	 { 0x16, "v" },	  { 0x17, "v" },
	{ 0x1c, "fr" }, { 0x1d, "r" },	 { 0x23, "i" },	  { 0x25, "i" },
	{ 0x26, "r" },	{ 0x29, "i" },	 { 0x2a, "r" },	  { 0x2b, "ri" },
	{ 0x64, "d" },	{ 0x65, "di" },	 { 0xa0, "c" },	  { 0xa1, "c" },
	{ 0xa2, "c" },	{ 0xa3, "ci" },	 { 0xa4, "c" },	  { 0xa5, "ci" },
	{ 0xa6, "cr" }, { 0xa7, "c" },	 { 0xa8, "c" },	  { 0xa9, "ci" },
	{ 0xaa, "cr" }, { 0xab, "cri" }, { 0xac, "cr" },  { 0xad, "a" },
	{ 0xaf, "a" },	{ 0xb0, "a" },	 { 0xb1, "a" },	  { 0xb2, "ao" },
	{ 0xb3, "cx" }, { 0xb4, "cx" },	 { 0xb6, "cv" },  { 0xb7, "cv" },
	{ 0x36, "v" },	{ 0x37, "v" },	 { 0xbc, "cfr" }, { 0xbd, "cr" },
};

static const char *headers_of(uint8_t opcode)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(extended); i++)
		if (extended[i].opcode == opcode)
			return extended[i].headers;
	return "";
}

struct bytes {
	uint8_t data[FRAME_MAX_LEN];
	size_t len;
};

static void add(struct bytes *b, uint64_t value, unsigned int bytes)
{
	while (bytes--)
		b->data[b->len++] = value >> 8 * bytes;
}

static void add_bytes(struct bytes *b, const void *data, size_t len)
{
	memcpy(b->data + b->len, data, len);
	b->len += len;
}

static void load(struct bytes *b, const uint8_t *data, size_t len)
{
	b->len = 0;
	add_bytes(b, data, len);
}

static uint32_t crc_bits(uint32_t crc, uint8_t byte)
{
	for (unsigned int bit = 0; bit < 8; bit++) {
		uint32_t odd = (crc ^ byte >> bit) & 1;

		crc = crc >> 1 ^ (odd ? 0xedb88320 : 0);
	}
	return crc;
}

/*
 * Bits of a byte that routers may change, so that the ICRC counts them as ones
 * (A17.3.3)
 */
static uint8_t variant_bits(bool ipv4, size_t at)
{
	size_t udp = ipv4 ? 20 : 40;

	if (at == udp + 6 || at == udp + 7 || at == udp + 8 + 4)
		return 0xff;
	if (ipv4)
		return at == 1 || at == 8 || at == 10 || at == 11 ? 0xff : 0;
	if (at == 0)
		return 0x0f;
	return at <= 3 || at == 7 ? 0xff : 0;
}

static uint32_t slow_icrc(const uint8_t *ip, size_t len)
{
	uint32_t crc = ~0u;

	for (unsigned int i = 0; i < 8; i++)
		crc = crc_bits(crc, 0xff);
	for (size_t i = 0; i < len; i++)
		crc = crc_bits(crc, ip[i] | variant_bits(ip[0] >> 4 == 4, i));
	return ~crc;
}

static void set16(uint8_t *p, uint16_t value)
{
	p[0] = value >> 8;
	p[1] = value;
}

static void fix_ip_checksum(uint8_t *ip)
{
	uint32_t sum = 0;

	set16(ip + 10, 0);
	for (unsigned int i = 0; i < (ip[0] & 15u) * 4; i += 2)
		sum += ip[i] * 256u + ip[i + 1];
	while (sum > 0xffff)
		sum = (sum >> 16) + (sum & 0xffff);
	set16(ip + 10, 0xffff - sum);
}

static void fix_icrc(uint8_t *ip, size_t len)
{
	uint32_t icrc = slow_icrc(ip, len - 4);

	for (unsigned int i = 0; i < 4; i++)
		ip[len - 4 + i] = icrc >> 8 * i;
}

/* First bytes of GIDs that are IPv4 addresses */
static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

static bool is_ipv4(const uint8_t gid[16])
{
	return !memcmp(gid, mapped, sizeof(mapped));
}

static void add_ethernet(struct bytes *b, const struct packet *pkt)
{
	add_bytes(b, pkt->dmac, 6);
	add_bytes(b, pkt->smac, 6);
	if (pkt->vlan != PACKET_NO_VLAN)
		add(b, 0x81000000u | pkt->vlan, 4);
	add(b, is_ipv4(pkt->roce.dgid) ? 0x0800 : 0x86dd, 2);
}

static void add_ip(struct bytes *b, const struct roce_hdr *h)
{
	if (is_ipv4(h->dgid)) {
		add(b, 0x45, 1);
		add(b, h->traffic_class, 1);
		add(b, 0, 2); /* length */
		add(b, 0, 2); /* identification */
		add(b, 0x4000, 2);
		add(b, h->hop_limit, 1);
		add(b, 17, 1);
		add(b, 0, 2); /* checksum */
		add_bytes(b, h->sgid + 12, 4);
		add_bytes(b, h->dgid + 12, 4);
	} else {
		add(b, 6u << 28 | h->traffic_class << 20 | h->flow_label, 4);
		add(b, 0, 2); /* length */
		add(b, 17, 1);
		add(b, h->hop_limit, 1);
		add_bytes(b, h->sgid, 16);
		add_bytes(b, h->dgid, 16);
	}
}

static void add_udp_bth(struct bytes *b, const struct roce_hdr *h)
{
	add(b, h->udp_sport, 2);
	add(b, 4791, 2);
	add(b, 0, 2); /* length */
	add(b, 0, 2);
	add(b, h->opcode, 1);
	add(b, h->solicited << 7 | h->mig_req << 6 | h->pad << 4, 1);
	add(b, h->pkey, 2);
	add(b, h->fecn << 7 | h->becn << 6, 1);
	add(b, h->dest_qpn, 3);
	add(b, h->ack_req << 7, 1);
	add(b, h->psn, 3);
}

/* The headers behind the BTH */
static void add_extended(struct bytes *b, const struct roce_hdr *h)
{
	for (const char *p = headers_of(h->opcode); *p; p++)
		switch (*p) {
		case 'c':
			add(b, h->srqn, 4);
			break;
		case 'f':
			add(b, h->feth, 4);
			break;
		case 'd':
			add(b, h->qkey, 4);
			add(b, h->src_qpn, 4);
			break;
		case 'r':
			add(b, h->remote_addr, 8);
			add(b, h->rkey, 4);
			add(b, h->dma_len, 4);
			break;
		case 'x':
			add(b, h->remote_addr, 8);
			add(b, h->rkey, 4);
			add(b, h->swap_add, 8);
			add(b, h->compare, 8);
			break;
		case 'a':
			add(b, h->aeth, 4);
			break;
		case 'o':
			add(b, h->atomic_orig, 8);
			break;
		case 'i':
			add_bytes(b, &h->imm, 4);
			break;
		case 'v':
			add(b, h->imm, 4);
			break;
		}
}

static void slow_build(struct bytes *b, const struct packet *pkt)
{
	const struct roce_hdr *h = &pkt->roce;
	size_t ip, udp;

	b->len = 0;
	add_ethernet(b, pkt);
	ip = b->len;
	add_ip(b, h);
	udp = b->len;
	add_udp_bth(b, h);
	add_extended(b, h);
	for (unsigned int i = 0; i < pkt->niov; i++)
		add_bytes(b, pkt->iov[i].iov_base, pkt->iov[i].iov_len);
	add(b, 0, h->pad);
	add(b, 0, 4); /* ICRC */
	set16(b->data + udp + 4, b->len - udp);
	if (is_ipv4(h->dgid)) {
		set16(b->data + ip + 2, b->len - ip);
		fix_ip_checksum(b->data + ip);
	} else {
		set16(b->data + ip + 4, b->len - udp);
	}
	fix_icrc(b->data + ip, b->len - ip);
}

enum form {
	IPV4 = 1,
	VLAN = 2,
};

/* Make the headers of an opcode behind the BTH random */
static void random_extended(struct sim *r, struct roce_hdr *h,
			    const char *headers)
{
	if (strchr(headers, 'c'))
		h->srqn = sim_random(r, 1 << 24);
	if (strchr(headers, 'f'))
		h->feth = sim_random(r, 1ull << 32);
	if (strchr(headers, 'd')) {
		h->qkey = sim_random(r, 1ull << 32);
		h->src_qpn = sim_random(r, 1 << 24);
	}
	if (strchr(headers, 'r') || strchr(headers, 'x')) {
		h->remote_addr = sim_random(r, 1ull << 47) * 0x10001;
		h->rkey = sim_random(r, 1ull << 32);
	}
	if (strchr(headers, 'r'))
		h->dma_len = sim_random(r, 1ull << 32);
	if (strchr(headers, 'x')) {
		h->swap_add = sim_random(r, 1ull << 47) * 0x10001;
		h->compare = sim_random(r, 1ull << 47) * 0x10001;
	}
	if (strchr(headers, 'a'))
		h->aeth = sim_random(r, 1ull << 32);
	if (strchr(headers, 'o'))
		h->atomic_orig = sim_random(r, 1ull << 47) * 0x10001;
	if (strchr(headers, 'i') || strchr(headers, 'v'))
		h->imm = sim_random(r, 1ull << 32);
}

/* Make all fields random, and those that the opcode lacks zero */
static void random_packet(struct sim *r, struct packet *pkt, uint8_t opcode,
			  unsigned int form, uint8_t *payload, uint32_t len)
{
	bool ipv4 = form & IPV4;
	bool vlan = form & VLAN;
	struct roce_hdr *h = &pkt->roce;

	memset(pkt, 0, sizeof(*pkt));
	pkt->kind = PACKET_ROCE;
	for (unsigned int i = 0; i < 6; i++) {
		pkt->dmac[i] = sim_random(r, 256);
		pkt->smac[i] = sim_random(r, 256);
	}
	pkt->vlan = vlan ? sim_random(r, PACKET_NO_VLAN) : PACKET_NO_VLAN;
	pkt->ethertype = ipv4 ? 0x0800 : 0x86dd;
	for (unsigned int i = 0; i < 16; i++) {
		h->sgid[i] = i ? sim_random(r, 256) : 0x20;
		h->dgid[i] = i ? sim_random(r, 256) : 0x20;
	}
	if (ipv4) {
		memcpy(h->sgid, mapped, sizeof(mapped));
		memcpy(h->dgid, mapped, sizeof(mapped));
	}
	h->traffic_class = sim_random(r, 256);
	h->hop_limit = sim_random(r, 256);
	h->flow_label = ipv4 ? 0 : sim_random(r, 1 << 20);
	h->udp_sport = sim_random(r, 1 << 16);
	h->opcode = opcode;
	h->solicited = sim_random(r, 2);
	h->mig_req = sim_random(r, 2);
	h->fecn = sim_random(r, 2);
	h->becn = sim_random(r, 2);
	h->ack_req = sim_random(r, 2);
	h->pad = -len & 3;
	h->pkey = sim_random(r, 1 << 16);
	h->dest_qpn = sim_random(r, 1 << 24);
	h->psn = sim_random(r, 1 << 24);
	random_extended(r, h, headers_of(opcode));
	pkt->payload_len = len;
	for (uint32_t i = 0; i < len; i++)
		payload[i] = sim_random(r, 256);
	while (len) {
		uint32_t piece = 1 + sim_random(r, len);

		pkt->iov[pkt->niov++] = (struct iovec){ payload, piece };
		payload += piece;
		len -= piece;
	}
}

static void check_same(const struct packet *got, const struct packet *want)
{
	const struct roce_hdr *g = &got->roce, *w = &want->roce;
	struct iovec whole;
	uint32_t at = 0;

	CHECK_EQ(got->kind, want->kind);
	CHECK_EQ(got->defect, PACKET_SOUND);
	CHECK_MEM(got->dmac, want->dmac, 6);
	CHECK_MEM(got->smac, want->smac, 6);
	CHECK_EQ(got->vlan, want->vlan);
	CHECK_EQ(got->ethertype, want->ethertype);
	CHECK_EQ(got->payload_len, want->payload_len);
	CHECK_EQ(got->niov, got->payload_len ? 1 : 0);
	whole = got->iov[0];
	for (unsigned int i = 0; i < want->niov; i++) {
		CHECK_MEM((uint8_t *)whole.iov_base + at, want->iov[i].iov_base,
			  want->iov[i].iov_len);
		at += want->iov[i].iov_len;
	}
	CHECK_EQ(at, got->payload_len);
	if (want->kind != PACKET_ROCE)
		return;
	CHECK_MEM(g->sgid, w->sgid, 16);
	CHECK_MEM(g->dgid, w->dgid, 16);
	CHECK_EQ(g->traffic_class, w->traffic_class);
	CHECK_EQ(g->hop_limit, w->hop_limit);
	CHECK_EQ(g->flow_label, w->flow_label);
	CHECK_EQ(g->udp_sport, w->udp_sport);
	CHECK_EQ(g->opcode, w->opcode);
	CHECK_EQ(g->solicited, w->solicited);
	CHECK_EQ(g->mig_req, w->mig_req);
	CHECK_EQ(g->fecn, w->fecn);
	CHECK_EQ(g->becn, w->becn);
	CHECK_EQ(g->ack_req, w->ack_req);
	CHECK_EQ(g->pad, w->pad);
	CHECK_EQ(g->pkey, w->pkey);
	CHECK_EQ(g->dest_qpn, w->dest_qpn);
	CHECK_EQ(g->psn, w->psn);
	CHECK_EQ(g->srqn, w->srqn);
	CHECK_EQ(g->qkey, w->qkey);
	CHECK_EQ(g->src_qpn, w->src_qpn);
	CHECK_EQ(g->feth, w->feth);
	CHECK_EQ(g->remote_addr, w->remote_addr);
	CHECK_EQ(g->rkey, w->rkey);
	CHECK_EQ(g->dma_len, w->dma_len);
	CHECK_EQ(g->swap_add, w->swap_add);
	CHECK_EQ(g->compare, w->compare);
	CHECK_EQ(g->aeth, w->aeth);
	CHECK_EQ(g->atomic_orig, w->atomic_orig);
	CHECK_EQ(g->imm, w->imm);
}

static void build(struct bytes *b, const struct packet *pkt)
{
	struct frame frame;
	size_t len = 0;

	frame_build(&frame, pkt);
	for (unsigned int i = 0; i < frame.niov; i++)
		len += frame.iov[i].iov_len;
	CHECK_EQ(frame.len, len);
	CHECK_EQ(packet_len(pkt), len);
	CHECK(len <= FRAME_MAX_LEN);
	frame_copy(&frame, b->data);
	b->len = len;
}

/* @pkt points into the result, which the caller frees */
static uint8_t *parse(const uint8_t *data, size_t len, struct packet *pkt)
{
	uint8_t *copy = malloc(len);
	const uint8_t *end = copy + len;

	CHECK(copy);
	memcpy(copy, data, len);
	/* fields that are not set must be noticed */
	memset(pkt, 0xa5, sizeof(*pkt));
	CHECK_EQ(frame_parse(copy, len, pkt),
		 len >= ETH_LEN && len <= FRAME_MAX_LEN);
	if (len < ETH_LEN || len > FRAME_MAX_LEN)
		return copy;
	CHECK(pkt->frame == copy);
	CHECK_EQ(pkt->frame_len, len);
	CHECK(pkt->kind == PACKET_ETH || pkt->kind == PACKET_ROCE);
	CHECK_EQ(pkt->niov, pkt->payload_len ? 1 : 0);
	if (pkt->niov) {
		const uint8_t *payload = pkt->iov[0].iov_base;

		CHECK_EQ(pkt->iov[0].iov_len, pkt->payload_len);
		CHECK(payload > copy && payload + pkt->payload_len <= end);
	}
	if (pkt->kind == PACKET_ETH)
		CHECK_EQ(pkt->defect, PACKET_SOUND);
	if (pkt->defect != PACKET_SOUND)
		CHECK_EQ(pkt->payload_len, 0);
	return copy;
}

static bool is_sound_roce(const struct packet *pkt)
{
	return pkt->kind == PACKET_ROCE && pkt->defect == PACKET_SOUND;
}

/* Build a frame, compare it with the second encoder, and parse it */
static void round_trip(const struct packet *pkt)
{
	static struct bytes got, want;
	struct packet back;
	uint8_t *copy;

	slow_build(&want, pkt);
	build(&got, pkt);
	if (got.len != want.len)
		FAIL("opcode 0x%02x: %zu bytes, not %zu", pkt->roce.opcode,
		     got.len, want.len);
	CHECK_MEM(got.data, want.data, want.len);
	copy = parse(got.data, got.len, &back);
	check_same(&back, pkt);
	free(copy);
}

TEST(frame_every_opcode)
{
	static uint8_t payload[MAX_PAYLOAD];
	struct sim r = { .random = 1 };
	struct packet pkt;

	for (unsigned int opcode = 0; opcode < 256; opcode++)
		for (unsigned int form = 0; form < 16; form++) {
			uint32_t len = form >> 2;

			if (sim_random(&r, 2))
				len += 4 * sim_random(&r, 16);
			random_packet(&r, &pkt, opcode, form, payload, len);
			round_trip(&pkt);
		}
}

TEST(frame_every_length)
{
	static uint8_t payload[MAX_PAYLOAD];
	struct sim r = { .random = 2 };
	struct packet pkt;

	for (uint32_t len = 0; len <= MAX_PAYLOAD;
	     len += len < 300 || len > MAX_PAYLOAD - 8 ? 1 : 61) {
		random_packet(&r, &pkt, BTH_RC_WRITE_MIDDLE,
			      len & (IPV4 | VLAN), payload, len);
		round_trip(&pkt);
	}
}

/* Each byte has its own element, up to the limit of the list */
TEST(frame_scattered_payload)
{
	static uint8_t payload[PACKET_MAX_IOV];
	struct sim r = { .random = 3 };
	struct packet pkt;

	random_packet(&r, &pkt, BTH_RC_SEND_ONLY, IPV4 | VLAN, payload,
		      sizeof(payload));
	pkt.niov = PACKET_MAX_IOV;
	for (unsigned int i = 0; i < PACKET_MAX_IOV; i++)
		pkt.iov[i] = (struct iovec){ &payload[i], 1 };
	round_trip(&pkt);
}

/* The memory of a guest may change at any time */
TEST(frame_payload_changes)
{
	static uint8_t payload[1000], data[FRAME_MAX_LEN];
	struct sim r = { .random = 4 };
	struct packet pkt, back;
	struct frame frame;
	uint8_t *copy;

	random_packet(&r, &pkt, BTH_RC_WRITE_MIDDLE, 0, payload,
		      sizeof(payload));
	frame_build(&frame, &pkt);
	payload[77] ^= 1;
	frame_copy(&frame, data);
	payload[77] ^= 2;
	copy = parse(data, frame.len, &back);
	CHECK(is_sound_roce(&back));
	payload[77] ^= 2;
	CHECK_MEM(back.iov[0].iov_base, payload, sizeof(payload));
	free(copy);
}

static void check_send_only(const struct packet *pkt, uint16_t vlan,
			    uint32_t flow_label, uint8_t hop_limit,
			    bool solicited)
{
	static const uint8_t payload[] = { 1, 2, 3,  4,	 5,  6, 7,
					   8, 9, 10, 11, 12, 13 };

	CHECK(is_sound_roce(pkt));
	CHECK_EQ(pkt->vlan, vlan);
	CHECK_EQ(pkt->dmac[5], 2);
	CHECK_EQ(pkt->smac[5], 1);
	CHECK_EQ(pkt->roce.traffic_class, 0x6a);
	CHECK_EQ(pkt->roce.flow_label, flow_label);
	CHECK_EQ(pkt->roce.hop_limit, hop_limit);
	CHECK_EQ(pkt->roce.udp_sport, 0xc123);
	CHECK_EQ(pkt->roce.opcode, BTH_RC_SEND_ONLY);
	CHECK_EQ(pkt->roce.solicited, solicited);
	CHECK(pkt->roce.mig_req);
	CHECK(pkt->roce.ack_req);
	CHECK(!pkt->roce.fecn && !pkt->roce.becn);
	CHECK_EQ(pkt->roce.pad, 3);
	CHECK_EQ(pkt->roce.pkey, 0xffff);
	CHECK_EQ(pkt->roce.dest_qpn, 0x123456);
	CHECK_EQ(pkt->roce.psn, 0xfedcba);
	CHECK_EQ(pkt->payload_len, sizeof(payload));
	CHECK_MEM(pkt->iov[0].iov_base, payload, sizeof(payload));
}

static void check_rebuilt(struct packet *pkt, const struct bytes *want)
{
	static struct bytes again;

	pkt->frame = NULL;
	build(&again, pkt);
	CHECK_EQ(again.len, want->len);
	CHECK_MEM(again.data, want->data, want->len);
}

TEST(frame_made_by_scapy)
{
	static const uint8_t sgid[16] = { [10] = 0xff, 0xff, 10, 0, 0, 1 };
	static const uint8_t dgid[16] = { 0x20, 1, 0x0d, 0xb8, [15] = 2 };
	struct packet pkt;
	struct bytes b;
	uint8_t *copy;

	load(&b, send_ipv4, sizeof(send_ipv4));
	copy = parse(b.data, b.len, &pkt);
	check_send_only(&pkt, PACKET_NO_VLAN, 0, 64, true);
	CHECK_MEM(pkt.roce.sgid, sgid, 16);
	check_rebuilt(&pkt, &b);
	free(copy);

	load(&b, send_ipv6, sizeof(send_ipv6));
	copy = parse(b.data, b.len, &pkt);
	check_send_only(&pkt, 5 << 13 | 100, 0x54321, 255, false);
	CHECK_MEM(pkt.roce.dgid, dgid, 16);
	check_rebuilt(&pkt, &b);
	free(copy);
}

TEST(frame_captured)
{
	static const uint8_t zero[16];
	struct packet pkt;
	struct bytes b;
	uint8_t *copy;

	load(&b, captured_cnp, sizeof(captured_cnp));
	copy = parse(b.data, b.len, &pkt);
	CHECK(is_sound_roce(&pkt));
	CHECK_EQ(pkt.roce.opcode, BTH_CNP);
	CHECK(pkt.roce.becn && !pkt.roce.fecn);
	CHECK_EQ(pkt.roce.dest_qpn, 0x118);
	CHECK_EQ(pkt.roce.udp_sport, 0);
	CHECK_EQ(pkt.payload_len, 16);
	CHECK_MEM(pkt.iov[0].iov_base, zero, 16);
	/* bytes from a wire are forwarded unchanged */
	pkt.payload_len = 0;
	build(&b, &pkt);
	CHECK_EQ(b.len, pkt.frame_len);
	CHECK_MEM(b.data, copy, b.len);
	free(copy);

	load(&b, captured_uc_send, sizeof(captured_uc_send));
	copy = parse(b.data, b.len, &pkt);
	CHECK(is_sound_roce(&pkt));
	CHECK_EQ(pkt.roce.opcode, BTH_UC_SEND_ONLY);
	CHECK_EQ(pkt.roce.dest_qpn, 211);
	CHECK_EQ(pkt.roce.psn, 13571856);
	CHECK_EQ(pkt.roce.pad, 2);
	CHECK_EQ(pkt.payload_len, 18);
	free(copy);
}

/* Padding to Ethernet's minimum, or more, follows the ICRC */
TEST(frame_ethernet_padding)
{
	struct packet pkt;
	struct bytes b;
	uint8_t *copy;

	for (unsigned int i = 0; i < 2; i++) {
		if (i)
			load(&b, send_ipv6, sizeof(send_ipv6));
		else
			load(&b, send_ipv4, sizeof(send_ipv4));
		for (unsigned int padding = 1; padding < 64; padding++) {
			add(&b, padding, 1);
			copy = parse(b.data, b.len, &pkt);
			CHECK(is_sound_roce(&pkt));
			CHECK_EQ(pkt.payload_len, 13);
			free(copy);
		}
	}
}

/*
 * Fields that the ICRC leaves out, in which a flipped bit is not noticed.
 * IPv4's TOS and TTL do not count, because its checksum covers them.
 */
static bool is_left_out(const struct bytes *b, size_t ip, size_t bit)
{
	bool ipv4 = b->data[ip] >> 4 == 4;
	size_t at = bit / 8 - ip;

	if (ipv4 && at < 20)
		return false;
	return variant_bits(ipv4, at) >> bit % 8 & 1;
}

static void flip_all_bits(const uint8_t *frame, size_t len, size_t ip)
{
	struct packet pkt;
	struct bytes b;
	uint8_t *copy;

	load(&b, frame, len);
	for (size_t bit = 8 * ip; bit < 8 * b.len; bit++) {
		b.data[bit / 8] ^= 1 << bit % 8;
		copy = parse(b.data, b.len, &pkt);
		if (is_sound_roce(&pkt) != is_left_out(&b, ip, bit))
			FAIL("bit %zu of byte %zu: kind %u, defect %u", bit % 8,
			     bit / 8, pkt.kind, pkt.defect);
		free(copy);
		b.data[bit / 8] ^= 1 << bit % 8;
	}
}

TEST(frame_flipped_bits)
{
	flip_all_bits(send_ipv4, sizeof(send_ipv4), 14);
	flip_all_bits(send_ipv6, sizeof(send_ipv6), 18);
	flip_all_bits(captured_cnp, sizeof(captured_cnp), 14);
	flip_all_bits(captured_uc_send, sizeof(captured_uc_send), 14);
}

TEST(frame_flipped_bits_of_all_opcodes)
{
	static uint8_t payload[64];
	struct sim r = { .random = 4 };
	struct packet pkt, back;
	struct bytes b;
	uint8_t *copy;

	for (unsigned int opcode = 0; opcode < 256; opcode++)
		for (unsigned int i = 0; i < 200; i++) {
			size_t bit, ip;

			random_packet(&r, &pkt, opcode, i & (IPV4 | VLAN),
				      payload,
				      sim_random(&r, sizeof(payload) + 1));
			ip = i & 2 ? 18 : 14;
			build(&b, &pkt);
			bit = 8 * ip + sim_random(&r, 8 * (b.len - ip));
			b.data[bit / 8] ^= 1 << bit % 8;
			copy = parse(b.data, b.len, &back);
			CHECK_EQ(is_sound_roce(&back),
				 is_left_out(&b, ip, bit));
			free(copy);
		}
}

static void truncate_frame(const uint8_t *frame, size_t whole)
{
	struct packet pkt;

	for (size_t len = 0; len < whole; len++) {
		uint8_t *copy = parse(frame, len, &pkt);

		if (len >= ETH_LEN)
			CHECK(!is_sound_roce(&pkt));
		free(copy);
	}
}

TEST(frame_truncated)
{
	truncate_frame(send_ipv4, sizeof(send_ipv4));
	truncate_frame(send_ipv6, sizeof(send_ipv6));
	truncate_frame(captured_cnp, sizeof(captured_cnp));
	truncate_frame(captured_uc_send, sizeof(captured_uc_send));
}

TEST(frame_lengths)
{
	static uint8_t data[FRAME_MAX_LEN + 1];
	struct packet pkt;

	free(parse(data, 0, &pkt));
	free(parse(data, ETH_LEN - 1, &pkt));
	free(parse(data, ETH_LEN, &pkt));
	CHECK_EQ(pkt.kind, PACKET_ETH);
	CHECK_EQ(pkt.ethertype, 0);
	CHECK_EQ(pkt.payload_len, 0);
	free(parse(data, FRAME_MAX_LEN, &pkt));
	CHECK_EQ(pkt.payload_len, FRAME_MAX_LEN - ETH_LEN);
	free(parse(data, FRAME_MAX_LEN + 1, &pkt));
}

/* Each row is one edit, after which checksum and ICRC are corrected */
static const struct edit {
	const char *what;
	const uint8_t *frame;
	size_t at; /* from the IP header on */
	unsigned int bytes;
	uint16_t value;
	bool roce;
	enum packet_defect defect;
} edits[] = {
	{ "nothing", send_ipv4, 1, 1, 0x6a, true, PACKET_SOUND },
	{ "IPv4 version 5", send_ipv4, 0, 1, 0x55, false, 0 },
	{ "IPv4 header of 16 bytes", send_ipv4, 0, 1, 0x44, false, 0 },
	{ "IPv4 too short", send_ipv4, 2, 2, 59, true, PACKET_BAD_HEADER },
	{ "IPv4 too long", send_ipv4, 2, 2, 61, true, PACKET_BAD_HEADER },
	{ "IPv4 empty", send_ipv4, 2, 2, 0, true, PACKET_BAD_HEADER },
	{ "IPv4 without UDP", send_ipv4, 2, 2, 20, true, PACKET_BAD_HEADER },
	{ "IPv4 in half of UDP", send_ipv4, 2, 2, 24, true, PACKET_BAD_HEADER },
	{ "any identification", send_ipv4, 4, 2, 0x1234, true, PACKET_SOUND },
	{ "may be fragmented", send_ipv4, 6, 2, 0, true, PACKET_SOUND },
	{ "first fragment", send_ipv4, 6, 2, 0x2000, false, 0 },
	{ "last fragment", send_ipv4, 6, 2, 1, false, 0 },
	{ "TTL 0", send_ipv4, 8, 1, 0, true, PACKET_SOUND },
	{ "TCP", send_ipv4, 9, 1, 6, false, 0 },
	{ "IPv6 version 4", send_ipv6, 0, 1, 0x46, false, 0 },
	{ "IPv6 too short", send_ipv6, 4, 2, 39, true, PACKET_BAD_HEADER },
	{ "IPv6 too long", send_ipv6, 4, 2, 41, true, PACKET_BAD_HEADER },
	{ "IPv6 empty", send_ipv6, 4, 2, 0, true, PACKET_BAD_HEADER },
	{ "hop-by-hop options", send_ipv6, 6, 1, 0, false, 0 },
	{ "fragment header", send_ipv6, 6, 1, 44, false, 0 },
	{ "other UDP port", send_ipv4, 22, 2, 4790, false, 0 },
	{ "other UDP port", send_ipv6, 42, 2, 4792, false, 0 },
	{ "UDP too short", send_ipv4, 24, 2, 39, true, PACKET_BAD_HEADER },
	{ "UDP too long", send_ipv4, 24, 2, 41, true, PACKET_BAD_HEADER },
	{ "UDP empty", send_ipv4, 24, 2, 0, true, PACKET_BAD_HEADER },
	{ "jumbo", send_ipv6, 44, 2, 0, true, PACKET_BAD_HEADER },
	{ "UDP checksum", send_ipv4, 26, 2, 0xffff, true, PACKET_SOUND },
	{ "transport version 1", send_ipv4, 29, 1, 0xf1, true,
	  PACKET_BAD_HEADER },
	/* The transport checks the rest */
	{ "no padding", send_ipv4, 29, 1, 0xc0, true, PACKET_SOUND },
	{ "reserved opcode", send_ipv4, 28, 1, 0x1f, true, PACKET_SOUND },
	{ "manufacturer's", send_ipv4, 28, 1, 0xff, true, PACKET_SOUND },
	{ "reserved bits", send_ipv4, 32, 1, 0x3f, true, PACKET_SOUND },
	{ "reserved bits", send_ipv4, 36, 1, 0x7f, true, PACKET_SOUND },
	/* 16 bytes are less than the AtomicETH */
	{ "too short for its opcode", send_ipv4, 28, 1, 0x13, true,
	  PACKET_BAD_HEADER },
	/* RETH takes them all, but there is padding, too */
	{ "too short for padding", send_ipv4, 28, 1, 0x0c, true,
	  PACKET_BAD_HEADER },
};

TEST(frame_edited)
{
	struct packet pkt;
	struct bytes b;
	uint8_t *copy;

	for (unsigned int i = 0; i < ARRAY_SIZE(edits); i++) {
		const struct edit *e = &edits[i];
		bool ipv4 = e->frame == send_ipv4;
		uint8_t *ip = b.data + (ipv4 ? 14 : 18);

		load(&b, e->frame,
		     ipv4 ? sizeof(send_ipv4) : sizeof(send_ipv6));
		if (e->bytes == 2)
			set16(ip + e->at, e->value);
		else
			ip[e->at] = e->value;
		if (ipv4)
			fix_ip_checksum(ip);
		fix_icrc(ip, b.data + b.len - ip);
		copy = parse(b.data, b.len, &pkt);
		if (pkt.kind != (e->roce ? PACKET_ROCE : PACKET_ETH) ||
		    pkt.defect != e->defect)
			FAIL("%s: kind %u, defect %u", e->what, pkt.kind,
			     pkt.defect);
		free(copy);
	}
}

/* Both lengths may shrink, because bytes after a packet do not belong to it */
TEST(frame_lengths_that_agree)
{
	struct packet pkt;
	struct bytes b;
	uint8_t *copy;

	for (unsigned int udp_len = 0; udp_len <= 40; udp_len++) {
		bool sound = udp_len >= 8 + 12 + 4 + 3;

		load(&b, send_ipv4, sizeof(send_ipv4));
		set16(b.data + 16, 20 + udp_len);
		set16(b.data + 38, udp_len);
		fix_ip_checksum(b.data + 14);
		if (udp_len >= 8 + 12 + 4)
			fix_icrc(b.data + 14, 20 + udp_len);
		copy = parse(b.data, b.len, &pkt);
		CHECK_EQ(pkt.kind, PACKET_ROCE);
		CHECK_EQ(pkt.defect, sound ? PACKET_SOUND : PACKET_BAD_HEADER);
		if (sound)
			CHECK_EQ(pkt.payload_len, udp_len - 8 - 12 - 4 - 3);
		free(copy);
	}
}

TEST(frame_ipv4_options)
{
	static const uint8_t nop[4] = { 1, 1, 1, 1 };
	struct packet pkt;
	struct bytes b;
	uint8_t *copy;

	load(&b, send_ipv4, sizeof(send_ipv4));
	memmove(b.data + 38, b.data + 34, b.len - 34);
	memcpy(b.data + 34, nop, 4);
	b.len += 4;
	b.data[14] = 0x46;
	set16(b.data + 16, 64);
	fix_ip_checksum(b.data + 14);
	copy = parse(b.data, b.len, &pkt);
	CHECK_EQ(pkt.kind, PACKET_ROCE);
	CHECK_EQ(pkt.defect, PACKET_BAD_HEADER);
	free(copy);
	/* a packet with options for another port goes to the host */
	set16(b.data + 40, 53);
	copy = parse(b.data, b.len, &pkt);
	CHECK_EQ(pkt.kind, PACKET_ETH);
	free(copy);
}

/* IPv6 addresses must not be taken for IPv4 */
TEST(frame_mapped_addresses)
{
	struct packet pkt;
	struct bytes b;
	uint8_t *copy;

	for (unsigned int at = 18 + 8; at <= 18 + 24; at += 16) {
		load(&b, send_ipv6, sizeof(send_ipv6));
		memcpy(b.data + at, mapped, sizeof(mapped));
		fix_icrc(b.data + 18, b.len - 18);
		copy = parse(b.data, b.len, &pkt);
		CHECK_EQ(pkt.kind, PACKET_ROCE);
		CHECK_EQ(pkt.defect, PACKET_BAD_HEADER);
		free(copy);
	}
}

/* The receiver of a datagram sees the original IP header */
TEST(frame_becomes_grh)
{
	struct drv_pair p = drv_ud_pair();
	struct mynic_sge sge = drv_sge(p.b.mr, 0, 4096);
	struct sim r = { .random = 8 };
	uint8_t payload[100], *grh = p.b.mr->ptr, *copy;
	struct packet pkt, back;
	struct bytes b;

	for (unsigned int i = 0; i < 2; i++) {
		size_t ip_len = i ? 20 : 40;
		uint8_t *ip = b.data + ETH_LEN;

		random_packet(&r, &pkt, BTH_UD_SEND_ONLY, i ? IPV4 : 0, payload,
			      sizeof(payload));
		memcpy(pkt.dmac, nic_mac(p.b.d->n->nic), 6);
		drv_gid(1, i ? DRV_GID_IPV4 : DRV_GID_IPV6, pkt.roce.dgid);
		pkt.roce.dest_qpn = p.b.qp->number;
		pkt.roce.pkey = 0xffff;
		pkt.roce.qkey = 0x11111111;
		build(&b, &pkt);
		if (i) {
			set16(ip + 4, 0x1234);
			fix_ip_checksum(ip);
			fix_icrc(ip, b.len - ETH_LEN);
		}
		copy = parse(b.data, b.len, &back);
		CHECK(is_sound_roce(&back));
		drv_post_recv(p.b.qp, i, &sge, 1);
		sim_inject(p.b.d->n, &back);
		free(copy);
		drv_expect(p.b.recv_cq, i, IBV_WC_SUCCESS);
		for (unsigned int k = 0; k < 40 - ip_len; k++)
			CHECK_EQ(grh[k], 0);
		CHECK_MEM(grh + 40 - ip_len, ip, ip_len);
		CHECK_MEM(grh + 40, payload, sizeof(payload));
	}
}

TEST(frame_ethernet)
{
	static const uint16_t types[] = { 0x0000, 0x05dc, 0x0806, 0x8100,
					  0x88a8, 0x88cc, 0x8915, 0xffff };
	static uint8_t payload[9000];
	static struct bytes b;
	struct sim r = { .random = 5 };
	struct packet pkt, back;
	uint8_t *copy;

	for (unsigned int i = 0; i < 2000; i++) {
		uint32_t len = sim_random(&r, i % 8 ? 100 : 9001);

		random_packet(&r, &pkt, 0, VLAN, payload, len);
		pkt.kind = PACKET_ETH;
		pkt.vlan = i % 2 ? pkt.vlan : PACKET_NO_VLAN;
		pkt.ethertype = types[sim_random(&r, ARRAY_SIZE(types))];
		if (pkt.vlan == PACKET_NO_VLAN && pkt.ethertype == 0x8100)
			continue;
		build(&b, &pkt);
		CHECK_EQ(b.len, len + (i % 2 ? 18 : 14));
		copy = parse(b.data, b.len, &back);
		check_same(&back, &pkt);
		free(copy);
	}
}

/* Incomplete tags and the reserved tag of all ones stay in the frame */
TEST(frame_odd_tags)
{
	struct packet pkt;
	struct bytes b;
	uint8_t *copy;

	load(&b, send_ipv6, sizeof(send_ipv6));
	for (size_t len = ETH_LEN; len < 18; len++) {
		copy = parse(b.data, len, &pkt);
		CHECK_EQ(pkt.kind, PACKET_ETH);
		CHECK_EQ(pkt.vlan, PACKET_NO_VLAN);
		CHECK_EQ(pkt.ethertype, 0x8100);
		CHECK_EQ(pkt.payload_len, len - ETH_LEN);
		free(copy);
	}
	set16(b.data + 14, 0xffff);
	copy = parse(b.data, b.len, &pkt);
	CHECK_EQ(pkt.kind, PACKET_ETH);
	CHECK_EQ(pkt.vlan, PACKET_NO_VLAN);
	CHECK_EQ(pkt.ethertype, 0x8100);
	free(copy);
	/* a priority tag is a tag */
	set16(b.data + 14, 0x6000);
	copy = parse(b.data, b.len, &pkt);
	CHECK(is_sound_roce(&pkt));
	CHECK_EQ(pkt.vlan, 0x6000);
	free(copy);
}

/* A sound packet loses nothing when it is built and parsed again */
static void check_stable(const struct packet *pkt)
{
	static struct bytes b;
	struct packet bare = *pkt, back;
	uint8_t *copy;

	bare.frame = NULL;
	build(&b, &bare);
	copy = parse(b.data, b.len, &back);
	check_same(&back, &bare);
	free(copy);
}

TEST(frame_random_bytes)
{
	struct sim r = { .random = 6 };
	uint8_t data[200];
	struct packet pkt;

	for (unsigned int i = 0; i < 100000; i++) {
		size_t len = sim_random(&r, sizeof(data));

		for (size_t k = 0; k < len; k++)
			data[k] = sim_random(&r, 256);
		if (len > 14 && i % 2) {
			set16(data + 12, i % 4 == 1 ? 0x0800 : 0x86dd);
			data[14] = i % 4 == 1 ? 0x45 : 0x60;
		}
		free(parse(data, len, &pkt));
		if (len >= ETH_LEN)
			CHECK(!is_sound_roce(&pkt));
	}
}

/* Frames that pass the first checks, with errors further on */
TEST(frame_random_edits)
{
	static uint8_t payload[128];
	struct sim r = { .random = 7 };
	unsigned int sound = 0;
	struct packet pkt, back;
	struct bytes b;

	for (unsigned int i = 0; i < 100000; i++) {
		size_t ip = i & 2 ? 18 : 14;
		size_t udp = ip + (i & 1 ? 20 : 40);
		uint8_t *copy;

		random_packet(&r, &pkt, sim_random(&r, 256), i & (IPV4 | VLAN),
			      payload, sim_random(&r, sizeof(payload) + 1));
		build(&b, &pkt);
		for (unsigned int k = sim_random(&r, 4); k; k--)
			b.data[ip + sim_random(&r, b.len - ip)] =
				sim_random(&r, 256);
		if (sim_random(&r, 4)) {
			/* truncated at any place, with lengths that agree */
			b.len = udp + 24 + sim_random(&r, b.len - udp - 23);
			set16(b.data + udp + 4, b.len - udp);
			set16(b.data + ip + (i & 1 ? 2 : 4),
			      b.len - (i & 1 ? ip : udp));
		}
		if (i & 1 && b.data[ip] == 0x45)
			fix_ip_checksum(b.data + ip);
		fix_icrc(b.data + ip, b.len - ip);
		copy = parse(b.data, b.len, &back);
		if (is_sound_roce(&back)) {
			check_stable(&back);
			sound++;
		}
		free(copy);
	}
	CHECK(sound > 10000);
	tap_note("%u of 100000 are sound", sound);
}
