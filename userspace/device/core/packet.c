// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "packet.h"

#include "gid.h"
#include "ip.h"
#include "opcode.h"

#define ETH_LEN 14
#define VLAN_LEN 4

unsigned int packet_eth_len(const struct packet *pkt)
{
	return ETH_LEN + (pkt->vlan == PACKET_NO_VLAN ? 0 : VLAN_LEN);
}

uint32_t packet_len(const struct packet *pkt)
{
	uint32_t len = packet_eth_len(pkt) + pkt->payload_len;

	if (pkt->frame)
		return pkt->frame_len;
	if (pkt->kind != PACKET_ROCE)
		return len;
	len += gid_is_ipv4(pkt->roce.dgid) ? IPV4_LEN : IPV6_LEN;
	len += UDP_LEN + opcode_headers_len(opcode_info(pkt->roce.opcode));
	return len + pkt->roce.pad + ICRC_LEN;
}
