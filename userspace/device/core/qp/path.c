// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Headers that depend on the path of a QP, and sending of its packets. Payload
 * and transport headers are made in rdma/.
 */

#include "qp/path.h"

#include <endian.h>
#include <string.h>

#include "base/util.h"
#include "function/gid.h"
#include "function/port.h"
#include "mynic_regs.h"
#include "packet/ip.h"
#include "packet/ip_gid.h"
#include "packet/opcode.h"
#include "packet/packet.h"
#include "qp/counters.h"
#include "state/qp_types.h"

#define DEFAULT_HOP_LIMIT 64
#define FLOW_LABEL_MASK 0xfffff
/* Dynamic ports; RoCEv2 leaves the source port to the sender */
#define UDP_SPORT_MIN 0xc000
#define UDP_SPORT_BITS 14

#define VLAN_PRIO_SHIFT 13

/* Bytes of IPv6 and UDP; the longest BTH headers and the ICRC are added */
#define IP_UDP_LEN (IPV6_LEN + UDP_LEN)
#define MAX_BTH_HEADERS_LEN (BTH_LEN + XRCETH_LEN + ATOMICETH_LEN)

/* All packets of a flow have one port, and flows are spread over the ports */
static uint16_t path_udp_sport(uint32_t label, uint32_t qpn, uint32_t dest_qpn)
{
	uint32_t x = label ? label : qpn * 0x9e3779b1u ^ dest_qpn;

	if (!label)
		x *= 0x85ebca6bu;
	x ^= x >> UDP_SPORT_BITS ^ x >> 2 * UDP_SPORT_BITS;
	return UDP_SPORT_MIN | (x & ((1 << UDP_SPORT_BITS) - 1));
}

bool path_init(const struct qp *qp, const struct mynic_av *av,
	       uint32_t dest_qpn, struct packet *pkt)
{
	struct roce_hdr *hdr = &pkt->roce;
	const struct gid_entry *source;

	source = gid_at(qp->nic, le16toh(av->sgid_index));
	if (!source || gid_is_ipv4(source->gid) != gid_is_ipv4(av->dgid))
		return false;
	pkt->kind = PACKET_ROCE;
	pkt->defect = PACKET_SOUND;
	pkt->frame = NULL;
	pkt->train_mtu = 0;
	memcpy(pkt->dmac, av->dmac, sizeof(pkt->dmac));
	memcpy(pkt->smac, source->mac, sizeof(pkt->smac));
	pkt->vlan = PACKET_NO_VLAN;
	if (source->vlan != MYNIC_NO_VLAN)
		pkt->vlan = (av->sl & 7) << VLAN_PRIO_SHIFT | source->vlan;
	memcpy(hdr->sgid, source->gid, sizeof(hdr->sgid));
	memcpy(hdr->dgid, av->dgid, sizeof(hdr->dgid));
	hdr->traffic_class = av->traffic_class;
	if (qp->attr.ece_options & MYNIC_ECE_ECN &&
	    !(av->traffic_class & ECN_MASK))
		hdr->traffic_class |= ECN_ECT;
	hdr->hop_limit = av->hop_limit ? av->hop_limit : DEFAULT_HOP_LIMIT;
	hdr->flow_label = le32toh(av->flow_label) & FLOW_LABEL_MASK;
	hdr->udp_sport = path_udp_sport(hdr->flow_label, qp->number, dest_qpn);
	hdr->opcode = 0;
	hdr->solicited = false;
	hdr->mig_req = true;
	hdr->fecn = false;
	hdr->becn = false;
	hdr->ack_req = false;
	hdr->pad = 0;
	hdr->pkey = PATH_DEFAULT_PKEY;
	hdr->dest_qpn = dest_qpn;
	hdr->psn = 0;
	pkt->payload_len = 0;
	pkt->niov = 0;
	return true;
}

void path_send(struct qp *qp, struct packet *pkt)
{
	uint32_t num = packet_count(pkt);

	pkt->roce.pad = -pkt->payload_len & 3;
	qp->nic->stats[MYNIC_STAT_TX_RDMA_PACKETS] += num;
	counters_add(qp, MYNIC_STAT_TX_RDMA_PACKETS, num);
	qp->nic->stats[MYNIC_STAT_TX_RDMA_BYTES] += pkt->payload_len;
	counters_add(qp, MYNIC_STAT_TX_RDMA_BYTES, pkt->payload_len);
	port_transmit(qp->nic, pkt);
}

uint32_t path_train(const struct qp *qp, uint32_t num)
{
	const struct nic *nic = qp->nic;

	if (qp->cc.paced ||
	    !nic->config.ops->direct(nic->config.ctx, qp->attr.av.dmac))
		return 1;
	return min_u32(num, PACKET_QUANTUM);
}

/* Even an empty message takes a packet */
uint32_t path_packets(const struct qp *qp, uint32_t len)
{
	return len ? ((len - 1) >> path_log_mtu(qp)) + 1 : 1;
}

uint32_t path_port_mtu(const struct nic *nic)
{
	uint32_t overhead = IP_UDP_LEN + MAX_BTH_HEADERS_LEN + ICRC_LEN;
	uint32_t mtu = PATH_MAX_MTU;

	while (mtu > 256 && mtu + overhead > nic->port.mtu)
		mtu /= 2;
	return mtu;
}
