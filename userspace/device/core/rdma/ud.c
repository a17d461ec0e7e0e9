// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Datagrams of UD QPs and the GSI: sending, receiving, and delivery to
 * multicast groups.
 */

#include "rdma/ud.h"

#include <endian.h>
#include <string.h>
#include <sys/uio.h>

#include "base/psn.h"
#include "base/verbs.h"
#include "function/fault.h"
#include "mynic_regs.h"
#include "packet/ip.h"
#include "packet/ip_gid.h"
#include "packet/opcode.h"
#include "packet/packet.h"
#include "qp/cc.h"
#include "qp/counters.h"
#include "qp/mcast.h"
#include "qp/odp.h"
#include "qp/path.h"
#include "qp/qp.h"
#include "qp/qp_error.h"
#include "qp/qp_fault.h"
#include "qp/qp_watch.h"
#include "qp/room.h"
#include "qp/service.h"
#include "queue/rq.h"
#include "queue/wqe.h"
#include "state/fault_types.h"
#include "state/nic_types.h"
#include "state/transport_types.h"

#define GSI_QKEY 0x80010000
#define OWN_QKEY 0x80000000 /* the Q_Key of the sending QP is used */

#define GRH_LEN IPV6_LEN

static uint32_t ud_own_qkey(const struct qp *qp)
{
	return qp->type == MYNIC_QP_GSI ? GSI_QKEY : qp->attr.qkey;
}

/* Sends a packet that has a path and a payload */
static void ud_send_packet(struct qp *qp, const struct send_req *req,
			   struct packet *pkt)
{
	pkt->roce.opcode = BTH_UD_SEND_ONLY;
	if (req->opcode == IBV_WR_SEND_WITH_IMM)
		pkt->roce.opcode = BTH_UD_SEND_ONLY_IMM;
	pkt->roce.imm = req->imm;
	pkt->roce.solicited = req->flags & IBV_SEND_SOLICITED;
	pkt->roce.psn = qp->sq.psn++ & PSN_MASK;
	pkt->roce.src_qpn = qp->number;
	pkt->roce.qkey = req->remote_qkey;
	if (req->remote_qkey & OWN_QKEY)
		pkt->roce.qkey = ud_own_qkey(qp);
	path_send(qp, pkt);
	/* The wire delivers to all members except those on this NIC */
	if (gid_is_multicast(pkt->roce.dgid))
		spread_packet(qp->nic, &ud_group_kind, pkt);
}

enum outcome ud_send(struct qp *qp, const struct send_req *req)
{
	struct nic *nic = qp->nic;
	enum outcome outcome;
	struct packet pkt;

	if (req->length > path_port_mtu(nic))
		return wqe_refuse(nic, OUTCOME_BAD_LEN);
	if (!path_init(qp, &req->av, req->remote_qpn, &pkt))
		return wqe_refuse(nic, OUTCOME_BAD_GID);
	if (!room_admit(qp, pkt.dmac))
		return OUTCOME_WAIT;
	if (qp->cc.paced && !cc_admit(qp, CC_REQUESTS, 1, req->length))
		return OUTCOME_WAIT;
	outcome = send_payload(qp, req, 0, req->length, &pkt);
	if (outcome)
		return outcome;
	ud_send_packet(qp, req, &pkt);
	return OUTCOME_OK;
}

enum outcome ud_send_bytes(struct qp *qp, const struct send_req *req,
			   const uint8_t *data, uint32_t len)
{
	struct packet pkt;

	if (!path_init(qp, &req->av, req->remote_qpn, &pkt))
		return wqe_refuse(qp->nic, OUTCOME_BAD_GID);
	pkt.payload_len = len;
	pkt.niov = len ? 1 : 0;
	pkt.iov[0] = (struct iovec){ (void *)data, len };
	ud_send_packet(qp, req, &pkt);
	return OUTCOME_OK;
}

/*
 * Builds the GRH in front of the received payload; it holds the packet's IP
 * header
 */
static void ud_make_grh(uint8_t grh[GRH_LEN], const struct packet *pkt)
{
	const struct roce_hdr *hdr = &pkt->roce;
	/* The shorter IPv4 header is at the end of the GRH (IBTA annex A17) */
	size_t at = gid_is_ipv4(hdr->dgid) ? GRH_LEN - IPV4_LEN : 0;

	memset(grh, 0, at);
	if (pkt->frame)
		memcpy(grh + at, pkt->frame + packet_eth_len(pkt),
		       GRH_LEN - at);
	else
		ip_build(grh + at, hdr,
			 packet_len(pkt) - packet_eth_len(pkt) -
				 (GRH_LEN - at));
}

static enum outcome ud_place(struct qp *qp, const struct packet *pkt)
{
	struct sge_list list = recv_sges(qp, &qp->rq.recv);
	uint8_t grh[GRH_LEN];
	struct iovec iov = { grh, GRH_LEN };
	enum outcome outcome;

	ud_make_grh(grh, pkt);
	outcome = sge_write(qp->nic, &list, 0, GRH_LEN, &iov);
	if (outcome)
		return outcome;
	return sge_write(qp->nic, &list, GRH_LEN, pkt->payload_len, pkt->iov);
}

static void ud_complete(struct qp *qp, const struct packet *pkt,
			enum outcome outcome)
{
	const struct roce_hdr *hdr = &pkt->roce;
	struct mynic_cqe cqe = {
		.opcode = htole32(IBV_WC_RECV),
		.byte_len = htole32(GRH_LEN + pkt->payload_len),
		.src_qp = htole32(hdr->src_qpn),
		.wc_flags = htole32(IBV_WC_GRH),
		.sl = gid_is_ipv4(hdr->dgid) ? MYNIC_NETWORK_IPV4 :
					       MYNIC_NETWORK_IPV6,
	};

	if (hdr->opcode == BTH_UD_SEND_ONLY_IMM) {
		cqe.wc_flags |= htole32(IBV_WC_WITH_IMM);
		cqe.imm_data = hdr->imm;
	}
	if (pkt->vlan != PACKET_NO_VLAN)
		cqe.cvlan = htole16(pkt->vlan);
	qp->rq.has_recv = false;
	rq_complete(qp, &qp->rq.recv, outcome, &cqe, hdr->solicited);
}

void ud_take(struct qp *qp, const struct packet *pkt)
{
	struct recv_req *recv = &qp->rq.recv;
	struct qp_fault fault = { 0 };
	enum outcome outcome;

	if (!qp->rq.has_recv && !wqe_fetch_recv(qp, recv)) {
		qp_count(qp, MYNIC_STAT_RX_DROP_WQE);
		return;
	}
	qp->rq.has_recv = true;
	outcome = recv->outcome;
	if (!outcome && recv->capacity < GRH_LEN + pkt->payload_len) {
		/*
		 * Only this datagram is dropped, because the next may fit (IBTA
		 * 9.9.3, class D)
		 */
		qp_count(qp, MYNIC_STAT_RX_DROP_WQE);
		return;
	}
	if (!outcome) {
		qp_expect_answer(qp);
		outcome = ud_place(qp, pkt);
		if (outcome == OUTCOME_WAIT)
			return;
	}
	if (!outcome && nic_fault_waits(qp->nic, NIC_FAULT_ON_COMPLETION))
		fault = qp_fault_decide(qp, IBV_WC_RECV);
	if (fault.outcome)
		outcome = fault.outcome;
	ud_complete(qp, pkt, outcome);
	if (outcome || fault.to_error)
		qp_to_error(qp->nic, qp,
			    fault.to_error ? MYNIC_EVENT_QP_FATAL : 0);
}

bool ud_receive(struct qp *qp, const struct packet *pkt)
{
	if (pkt->roce.qkey != ud_own_qkey(qp)) {
		qp_count(qp, MYNIC_STAT_RX_DROP_KEY);
		return false;
	}
	if (!odp_holds(&qp->odp))
		ud_take(qp, pkt);
	if (odp_holds(&qp->odp))
		odp_hold(qp, pkt);
	return true;
}

static uint32_t ud_num_members(const struct nic *nic, const struct packet *pkt)
{
	const struct mcast_group *group = mcast_find(nic, pkt->roce.dgid);

	return group ? group->num_qps : 0;
}

/* Members may come and go between turns, but no QP gets the packet twice */
static bool ud_multicast(struct nic *nic, const struct packet *pkt,
			 struct spread_place *place)
{
	const struct mcast_group *group = mcast_find(nic, pkt->roce.dgid);

	while (group && place->member < group->num_qps) {
		struct qp *qp;

		if (place->bounded && nic_turn_is_over(nic))
			return false;
		nic_charge(nic, 1);
		qp = group->members[place->member++]->qp;
		if (qp_can_receive(qp) && ud_receive(qp, pkt))
			place->accepted = true;
	}
	if (place->accepted && roce_is_marked(&pkt->roce))
		nic_count(nic, MYNIC_STAT_RX_ECN);
	return true;
}

const struct spread_kind ud_group_kind = { ud_num_members, ud_multicast };
