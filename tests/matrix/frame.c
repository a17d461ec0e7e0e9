// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Frames for RAW_PACKET QPs: Ethernet, IPv4, UDP or TCP */
#include <arpa/inet.h>
#include <net/ethernet.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <string.h>

#include "matrix.h"

#define PORT 4321

const uint8_t raw_mac[6] = { 0x02, 0x6d, 0x79, 0x6e, 0x69, 0x63 };

static uint8_t *set_lower_headers(uint8_t *frame, uint8_t protocol,
				  unsigned int len)
{
	static const uint8_t source[6] = { 0x02, 0x73, 0x65, 0x6e, 0x64, 0x72 };
	struct ether_header eth = { .ether_type = htons(ETHERTYPE_IP) };
	struct iphdr ip = {
		.version = 4,
		.ihl = 5,
		.tot_len = htons(sizeof(ip) + len),
		.ttl = 64,
		.protocol = protocol,
		.saddr = htonl(0xc0000201), /* TEST-NET-1 (RFC 5737) */
		.daddr = htonl(0xc0000202),
	};

	memcpy(eth.ether_dhost, raw_mac, sizeof(raw_mac));
	memcpy(eth.ether_shost, source, sizeof(source));
	memcpy(frame, &eth, sizeof(eth));
	memcpy(frame + sizeof(eth), &ip, sizeof(ip));
	return frame + sizeof(eth) + sizeof(ip);
}

void set_udp_header(uint8_t *frame, unsigned int payload)
{
	struct udphdr udp = {
		.source = htons(PORT),
		.dest = htons(PORT),
		.len = htons(sizeof(udp) + payload),
	};

	frame = set_lower_headers(frame, IPPROTO_UDP, sizeof(udp) + payload);
	memcpy(frame, &udp, sizeof(udp));
}

void set_tcp_header(uint8_t *frame)
{
	struct tcphdr tcp = {
		.source = htons(PORT),
		.dest = htons(PORT),
		.seq = htonl(TCP_SEQ),
		.doff = sizeof(tcp) / 4,
		.ack = 1,
		.psh = 1,
	};

	frame = set_lower_headers(frame, IPPROTO_TCP, sizeof(tcp));
	memcpy(frame, &tcp, sizeof(tcp));
}

/* One's complement sum of 16 bit words (RFC 1071) */
static uint32_t add_up(uint32_t sum, const uint8_t *data, unsigned int len)
{
	for (unsigned int i = 0; i < len; i++)
		sum += i % 2 ? data[i] : data[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

bool take_checksums(uint8_t *frame, unsigned int len)
{
	uint8_t *ip = frame + sizeof(struct ether_header);
	uint8_t *transport = ip + sizeof(struct iphdr);
	unsigned int transport_len = frame + len - transport;
	uint8_t protocol = ip[offsetof(struct iphdr, protocol)];
	unsigned int at = protocol == IPPROTO_TCP ?
				  offsetof(struct tcphdr, check) :
				  offsetof(struct udphdr, check);
	uint32_t sum = protocol + transport_len;
	bool right;

	sum = add_up(sum, ip + offsetof(struct iphdr, saddr), 8);
	right = add_up(0, ip, sizeof(struct iphdr)) == 0xffff &&
		add_up(sum, transport, transport_len) == 0xffff;
	memset(ip + offsetof(struct iphdr, check), 0, 2);
	memset(transport + at, 0, 2);
	return right;
}

void check_tcp_segment(uint8_t *frame, unsigned int len, unsigned int done,
		       bool last)
{
	uint8_t expected[TCP_FRAME_HEADER];
	struct tcphdr tcp;
	struct iphdr ip;

	if (!take_checksums(frame, len))
		wrong("a checksum is wrong");
	memcpy(&ip, frame + sizeof(struct ether_header), sizeof(ip));
	memcpy(&tcp, frame + sizeof(struct ether_header) + sizeof(ip),
	       sizeof(tcp));
	if (ntohs(ip.tot_len) != len - sizeof(struct ether_header))
		wrong("tot_len is %u", ntohs(ip.tot_len));
	if (ntohl(tcp.seq) != (uint32_t)(TCP_SEQ + done))
		wrong("seq is %#x", ntohl(tcp.seq));
	if (tcp.psh != last)
		wrong("psh is %u", tcp.psh);
	/* All that belongs to the segment was seen; the rest is as it was. */
	set_tcp_header(expected);
	if (memcmp(frame, expected, sizeof(struct ether_header)))
		wrong("the Ethernet header changed");
}
