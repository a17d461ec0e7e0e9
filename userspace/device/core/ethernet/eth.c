// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Sending and receiving Ethernet frames: RAW_PACKET QPs and the port's receive
 * filter. Flow rules are in flow.c, and TSO is in tso.c.
 */

#include "ethernet/eth.h"

#include <arpa/inet.h>
#include <endian.h>
#include <net/ethernet.h>
#include <stdbool.h>
#include <string.h>
#include <sys/uio.h>

#include "base/iov.h"
#include "base/mac.h"
#include "base/verbs.h"
#include "ethernet/eth_rx.h"
#include "ethernet/flow.h"
#include "function/port.h"
#include "packet/headers.h"
#include "packet/packet.h"
#include "qp/cc.h"
#include "qp/counters.h"
#include "qp/qp.h"
#include "qp/room.h"
#include "qp/service.h"
#include "qp/spread.h"
#include "queue/wqe.h"
#include "state/transport_types.h"

/*
 * Ethernet header with a VLAN tag; untagged frames have only the first
 * ETHER_HDR_LEN
 */
struct vlan_header {
	struct ether_header eth;
	uint16_t tci;
	uint16_t type;
};

_Static_assert(sizeof(struct vlan_header) == ETHER_HDR_LEN + VLAN_TAG_LEN,
	       "802.1Q");

/*
 * Returns the length of the header. Frames that are too short for a tag count
 * as untagged. An inserted tag comes before those of the frame, which are
 * payload then
 */
static unsigned int eth_parse_header(const struct send_req *req,
				     const struct vlan_header *header,
				     uint32_t frame_len, struct packet *pkt)
{
	pkt->kind = PACKET_ETH;
	pkt->defect = PACKET_SOUND;
	pkt->frame = NULL;
	pkt->train_mtu = 0;
	memcpy(pkt->dmac, header->eth.ether_dhost, sizeof(pkt->dmac));
	memcpy(pkt->smac, header->eth.ether_shost, sizeof(pkt->smac));
	pkt->vlan = req->vlan;
	pkt->ethertype = ntohs(header->eth.ether_type);
	/* A tag of all ones is reserved, and has the value of PACKET_NO_VLAN */
	if (pkt->vlan != PACKET_NO_VLAN || pkt->ethertype != ETHERTYPE_VLAN ||
	    frame_len < sizeof(*header) || ntohs(header->tci) == PACKET_NO_VLAN)
		return sizeof(header->eth);
	pkt->vlan = ntohs(header->tci);
	pkt->ethertype = ntohs(header->type);
	return sizeof(*header);
}

static unsigned int eth_build_header(const struct packet *pkt,
				     struct vlan_header *header)
{
	memcpy(header->eth.ether_dhost, pkt->dmac, sizeof(pkt->dmac));
	memcpy(header->eth.ether_shost, pkt->smac, sizeof(pkt->smac));
	header->eth.ether_type = htons(pkt->ethertype);
	if (pkt->vlan == PACKET_NO_VLAN)
		return sizeof(header->eth);
	header->eth.ether_type = htons(ETHERTYPE_VLAN);
	header->tci = htons(pkt->vlan);
	header->type = htons(pkt->ethertype);
	return sizeof(*header);
}

/* The header is read only once, because it decides where the payload begins */
static enum outcome eth_gather(struct qp *qp, const struct send_req *req,
			       struct packet *pkt)
{
	struct iov_list out = { .iov = pkt->iov, .max = PACKET_MAX_IOV };
	struct sge_list list = send_sges(qp, req);
	struct vlan_header header = { 0 };
	uint32_t len = sizeof(header);
	enum outcome outcome;

	if (len > req->length)
		len = req->length;
	if (req->flags & IBV_SEND_INLINE) {
		memcpy(&header, req->data, len);
		len = eth_parse_header(req, &header, req->length, pkt);
		pkt->payload_len = req->length - len;
		pkt->niov = 1;
		pkt->iov[0] = (struct iovec){ (void *)(req->data + len),
					      pkt->payload_len };
		return OUTCOME_OK;
	}
	outcome = sge_read(qp->nic, &list, 0, len, (uint8_t *)&header);
	if (outcome)
		return outcome;
	len = eth_parse_header(req, &header, req->length, pkt);
	pkt->payload_len = req->length - len;
	outcome = sge_map(qp->nic, &list, len, pkt->payload_len, &out);
	pkt->niov = out.num;
	return outcome;
}

/* Builds the bytes of a packet that has none yet, and returns their number */
static uint32_t eth_linearize(const struct packet *pkt,
			      uint8_t buf[ETH_MAX_FRAME])
{
	struct iov_cursor cursor = { .iov = pkt->iov };
	struct vlan_header header;
	uint32_t len = eth_build_header(pkt, &header);

	memcpy(buf, &header, len);
	iov_read(&cursor, buf + len, pkt->payload_len);
	return len + pkt->payload_len;
}

/* @buf has room for the frame if it is not contiguous */
static void eth_parse_frame(struct eth_frame *frame, const struct packet *pkt,
			    uint8_t buf[ETH_MAX_FRAME])
{
	frame->vlan = pkt->vlan;
	frame->data = pkt->frame;
	frame->len = pkt->frame_len;
	if (!pkt->frame) {
		frame->len = eth_linearize(pkt, buf);
		frame->data = buf;
	}
	headers_parse(frame->data, frame->len, &frame->headers);
	frame->csum_ok = headers_csum_ok(&frame->headers.outer);
}

static bool eth_passes_filter(const struct nic *nic,
			      const uint8_t dmac[MAC_LEN])
{
	const struct eth *eth = &nic->eth;

	if (eth->flags & MYNIC_RX_PROMISC || mac_is_broadcast(dmac) ||
	    mac_equal(dmac, nic->port.mac))
		return true;
	if (eth->flags & MYNIC_RX_ALLMULTI && mac_is_multicast(dmac))
		return true;
	for (uint32_t i = 0; i < eth->num_macs; i++) {
		if (mac_equal(dmac, eth->macs[i]))
			return true;
	}
	return false;
}

static bool eth_spread(struct nic *nic, const struct packet *pkt, bool own,
		       struct spread_place *place)
{
	struct qp *qp = own ? NULL : nic->eth.qp;
	uint8_t buf[ETH_MAX_FRAME];
	enum flow_result result;
	struct eth_frame frame;

	eth_parse_frame(&frame, pkt, buf);
	result = flow_steer(nic, &frame, place);
	if (result)
		return result == FLOW_TAKEN;
	if (qp && eth_passes_filter(nic, pkt->dmac)) {
		eth_deliver(qp, &frame, 0);
		return true;
	}
	result = flow_steer_rest(nic, &frame, place);
	/* A network has many frames for others: they are no news */
	if (result == FLOW_PASSED && !own)
		nic->stats[MYNIC_STAT_RX_ETH_DROPPED]++;
	return result != FLOW_STOPPED;
}

static uint32_t eth_num_rules(const struct nic *nic, const struct packet *pkt)
{
	(void)pkt;
	return nic->flows.numbers.used;
}

static bool eth_give(struct nic *nic, const struct packet *pkt,
		     struct spread_place *place)
{
	return eth_spread(nic, pkt, false, place);
}

static bool eth_give_own(struct nic *nic, const struct packet *pkt,
			 struct spread_place *place)
{
	return eth_spread(nic, pkt, true, place);
}

/* Frames from the wire go to flow rules and to the port's receiver */
static const struct spread_kind eth_frame_kind = { eth_num_rules, eth_give };

/* The NIC's own multicast frames go to flow rules only */
static const struct spread_kind eth_own_frame_kind = { eth_num_rules,
						       eth_give_own };

/*
 * The wire does not return multicast frames to their sender. Flow rules on this
 * NIC get them here; the port's own receiver does not.
 */
static void eth_loop_back(struct nic *nic, const struct packet *pkt)
{
	if (nic->flows.numbers.used && mac_is_multicast(pkt->dmac) &&
	    port_is_open(nic) &&
	    packet_len(pkt) <= nic->port.mtu + PORT_FRAME_OVERHEAD)
		spread_packet(nic, &eth_own_frame_kind, pkt);
}

static void eth_transmit(struct qp *qp, const struct packet *pkt)
{
	qp_count_quietly(qp, MYNIC_STAT_TX_ETH_PACKETS);
	port_transmit(qp->nic, pkt);
	eth_loop_back(qp->nic, pkt);
}

void eth_send_bytes(struct qp *qp, const struct send_req *req,
		    const uint8_t *frame, uint32_t len)
{
	struct vlan_header header = { 0 };
	struct packet pkt;
	uint32_t at;

	memcpy(&header, frame, len < sizeof(header) ? len : sizeof(header));
	at = eth_parse_header(req, &header, len, &pkt);
	pkt.payload_len = len - at;
	pkt.niov = 1;
	pkt.iov[0] = (struct iovec){ (void *)(frame + at), pkt.payload_len };
	eth_transmit(qp, &pkt);
}

uint32_t eth_tag_len(const struct send_req *req)
{
	return req->vlan == PACKET_NO_VLAN ? 0 : VLAN_TAG_LEN;
}

/* Whether a frame may be sent now */
static bool eth_admit(struct qp *qp, const struct send_req *req,
		      const uint8_t dmac[MAC_LEN])
{
	return room_admit(qp, dmac) &&
	       (!qp->cc.paced ||
		cc_admit(qp, CC_REQUESTS, 1, req->length + eth_tag_len(req)));
}

static enum outcome eth_send_with_csum(struct qp *qp,
				       const struct send_req *req)
{
	struct sge_list list = send_sges(qp, req);
	uint8_t buf[ETH_MAX_FRAME];
	struct headers headers;
	enum outcome outcome;

	if (req->flags & IBV_SEND_INLINE) {
		memcpy(buf, req->data, req->length);
	} else {
		outcome = sge_read(qp->nic, &list, 0, req->length, buf);
		if (outcome)
			return outcome;
	}
	if (!eth_admit(qp, req, buf))
		return OUTCOME_WAIT;
	headers_parse(buf, req->length, &headers);
	headers_set_csum(&headers.outer);
	eth_send_bytes(qp, req, buf, req->length);
	return OUTCOME_OK;
}

static enum outcome eth_send_as_it_is(struct qp *qp, const struct send_req *req)
{
	struct packet pkt;
	enum outcome outcome;

	outcome = eth_gather(qp, req, &pkt);
	if (outcome)
		return outcome;
	if (!eth_admit(qp, req, pkt.dmac))
		return OUTCOME_WAIT;
	eth_transmit(qp, &pkt);
	return OUTCOME_OK;
}

enum outcome eth_send(struct qp *qp, const struct send_req *req)
{
	uint32_t len = req->length + eth_tag_len(req);

	if (req->length < ETHER_HDR_LEN || len > ETH_MAX_FRAME)
		return wqe_refuse(qp->nic, OUTCOME_BAD_LEN);
	if (req->flags & IBV_SEND_IP_CSUM)
		return eth_send_with_csum(qp, req);
	return eth_send_as_it_is(qp, req);
}

void eth_receive(struct nic *nic, const struct packet *pkt)
{
	spread_packet(nic, &eth_frame_kind, pkt);
}

void eth_qp_gone(struct nic *nic, const struct qp *qp)
{
	if (nic->eth.qp == qp)
		nic->eth.qp = NULL;
}

int admin_set_rx(struct nic *nic, struct admin_call *call)
{
	uint32_t num_macs = le32toh(call->cmd.set_rx.num_macs);
	struct qp *qp = qp_find(nic, le32toh(call->cmd.number));
	uint32_t flags = le32toh(call->cmd.set_rx.flags);
	struct eth *eth = &nic->eth;

	if (!qp || qp->type != MYNIC_QP_RAW_PACKET)
		return MYNIC_AQ_BAD_NUMBER;
	if (flags & ~ETH_RX_FLAGS)
		return MYNIC_AQ_NOT_SUPPORTED;
	if (num_macs > MYNIC_RX_MAX_MACS ||
	    num_macs > le32toh(call->cmd.mbox_len) / sizeof(call->macs[0]) ||
	    (!(flags & MYNIC_RX_ENABLE) && (flags || num_macs)))
		return MYNIC_AQ_BAD_PARAM;
	for (uint32_t i = 0; i < num_macs; i++) {
		if (call->macs[i][6] || call->macs[i][7])
			return MYNIC_AQ_BAD_PARAM;
	}
	if (!flags) {
		eth_qp_gone(nic, qp);
		return MYNIC_AQ_OK;
	}
	eth->qp = qp;
	eth->flags = flags;
	eth->num_macs = num_macs;
	for (uint32_t i = 0; i < num_macs; i++)
		memcpy(eth->macs[i], call->macs[i], MAC_LEN);
	return MYNIC_AQ_OK;
}
