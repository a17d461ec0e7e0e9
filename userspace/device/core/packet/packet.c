// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Lengths of packets and trains, computed from their headers. */

#include "packet/packet.h"

#include "packet/ip.h"
#include "packet/ip_gid.h"
#include "packet/opcode.h"

#define ETH_LEN 14
#define VLAN_LEN 4

unsigned int packet_eth_len(const struct packet *pkt)
{
	return ETH_LEN + (pkt->vlan == PACKET_NO_VLAN ? 0 : VLAN_LEN);
}

/* Bytes of a RoCEv2 frame that are not payload */
static uint32_t packet_roce_overhead(const struct packet *pkt,
				     const struct opcode_info *info)
{
	uint32_t len = packet_eth_len(pkt) + UDP_LEN + ICRC_LEN;

	len += gid_is_ipv4(pkt->roce.dgid) ? IPV4_LEN : IPV6_LEN;
	return len + opcode_headers_len(info) + pkt->roce.pad;
}

/* Extra bytes of a train over one packet with the same payload */
static uint32_t packet_more_overhead(const struct packet *pkt,
				     const struct opcode_info *info)
{
	uint32_t middle = packet_roce_overhead(pkt, info) - info->extended_len -
			  pkt->roce.pad;
	uint32_t len;

	if (info->flags & OPCODE_XRCETH)
		middle += XRCETH_LEN;
	len = (packet_count(pkt) - 1) * middle;
	/*
	 * Of a READ response, only the first and the last packet have an AETH
	 */
	if (info->flags & OPCODE_AETH &&
	    (info->flags & OPCODE_ONLY) == OPCODE_ONLY)
		len += AETH_LEN;
	return len;
}

uint32_t packet_len(const struct packet *pkt)
{
	const struct opcode_info *info;
	uint32_t len;

	if (pkt->frame)
		return pkt->frame_len;
	if (pkt->kind != PACKET_ROCE)
		return packet_eth_len(pkt) + pkt->payload_len;
	info = opcode_info(pkt->roce.opcode);
	len = packet_roce_overhead(pkt, info) + pkt->payload_len;
	return pkt->train_mtu ? len + packet_more_overhead(pkt, info) : len;
}

uint32_t packet_longest(const struct packet *pkt)
{
	return packet_roce_overhead(pkt, opcode_info(pkt->roce.opcode)) +
	       pkt->train_mtu;
}
