// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The common work of queue pairs of all types: their states, their turns, and
 * the way of a RoCEv2 packet to its queue pair. The type decides the rest, by
 * &qp.service.
 */

#include "engine/transport.h"

#include <endian.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/queue.h>

#include "base/journal.h"
#include "base/mac.h"
#include "ethernet/eth.h"
#include "function/eq.h"
#include "function/gid.h"
#include "mynic_regs.h"
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
#include "qp/room.h"
#include "qp/service.h"
#include "qp/spread.h"
#include "queue/rq.h"
#include "queue/sq.h"
#include "rdma/responder.h"
#include "rdma/ud.h"
#include "state/nic_types.h"

#define PKEY_MASK 0x7fff /* without the membership bit */

int qp_transport_init(struct qp *qp)
{
	odp_init(qp);
	if (!sq_init(qp))
		return -ENOMEM;
	if (rq_init(qp))
		goto err_sq;
	if (qp->service->init && qp->service->init(qp))
		goto err_rq;
	if (!cc_init(qp))
		return 0;
	if (qp->service->fini)
		qp->service->fini(qp);
err_rq:
	rq_fini(qp);
err_sq:
	sq_fini(qp);
	return -ENOMEM;
}

void qp_transport_fini(struct qp *qp)
{
	odp_stop(qp);
	if (qp->service->fini)
		qp->service->fini(qp);
	cc_fini(qp);
	sq_reset(qp);
	sq_fini(qp);
	rq_reset(qp);
	rq_fini(qp);
}

static void transport_start_sending(struct qp *qp)
{
	qp->sq.psn = qp->attr.sq_psn;
	/* The journal shows it for all types */
	qp->req.una = qp->sq.psn;
	if (qp->service->start_sending)
		qp->service->start_sending(qp);
}

void transport_set_state(struct qp *qp, enum ibv_qp_state old)
{
	switch (qp->state) {
	case IBV_QPS_RESET:
		odp_stop(qp);
		room_leave(qp);
		rq_return(qp);
		qp_set_rq_ring(qp, false);
		sq_reset(qp);
		rq_reset(qp);
		if (qp->service->reset)
			qp->service->reset(qp);
		cc_reset(qp);
		return;
	case IBV_QPS_RTR:
		if (old != IBV_QPS_RTR && qp->service->start_receiving)
			qp->service->start_receiving(qp);
		return;
	case IBV_QPS_RTS:
		if (old == IBV_QPS_RTR)
			transport_start_sending(qp);
		break;
	case IBV_QPS_SQD:
		if (old != IBV_QPS_SQD)
			qp->sq.drained = false;
		break;
	case IBV_QPS_ERR:
		if (old != IBV_QPS_ERR)
			qp_enter_error(qp);
		break;
	default:
		break;
	}
	qp_schedule(qp->nic, qp);
}

void transport_doorbell(struct qp *qp)
{
	if (qp->state < IBV_QPS_RTS)
		return;
	if (qp->has_sq)
		sq_update_pi(qp);
	qp_schedule(qp->nic, qp);
}

static bool transport_flush(struct qp *qp)
{
	bool more = qp_sends(qp) && sq_flush(qp);

	if (more && qp->sq.source->flush_first)
		return true;
	return rq_flush(qp) || more;
}

static bool transport_run_sq(struct qp *qp)
{
	switch (qp->state) {
	case IBV_QPS_RTS:
		return qp->service->send(qp);
	case IBV_QPS_SQD:
		/* A request of many packets that has begun continues first */
		if (qp->service->send(qp))
			return true;
		if (!sq_draining(&qp->sq) && !qp->sq.drained) {
			qp->sq.drained = true;
			if (qp->attr.sq_drained_event)
				eq_raise(qp->nic, &qp->events,
					 MYNIC_EVENT_SQ_DRAINED);
		}
		return false;
	case IBV_QPS_SQE:
		return sq_flush(qp);
	default:
		return false;
	}
}

bool transport_run_qp(struct qp *qp)
{
	enum ibv_qp_state state = qp->state;
	bool more = false;

	if (state == IBV_QPS_ERR)
		return transport_flush(qp);
	if (qp->cc.cnp_due)
		cc_send_cnp(qp);
	if (!STAILQ_EMPTY(&qp->odp.held))
		more = odp_replay(qp, qp->service->receive);
	if (qp->state == IBV_QPS_ERR)
		return true;
	if (qp->service->answer && qp_can_receive(qp))
		more |= qp->service->answer(qp);
	/* What waits for room has not tried to access memory yet */
	if (!qp->room.refused)
		odp_passed(&qp->odp, MYNIC_PAGE_READ);
	if (qp_sends(qp))
		more |= transport_run_sq(qp);
	if (!qp->room.refused)
		odp_passed(&qp->odp, MYNIC_PAGE_SEND);
	/* A QP that has just failed has requests to flush */
	return more || qp->state != state;
}

static void transport_connected_receive(struct qp *qp, const struct packet *pkt,
					const struct opcode_info *info)
{
	if (roce_is_marked(&pkt->roce)) {
		qp_count_quietly(qp, MYNIC_STAT_RX_ECN);
		cc_marked(qp);
	}
	if (info->class == OPCODE_CNP) {
		cc_cnp(qp);
		return;
	}
	if (!odp_holds(&qp->odp))
		qp->service->receive(qp, pkt);
	if (!odp_holds(&qp->odp))
		return;
	if (!qp->service->answer || !responder_defers(qp, pkt, info))
		odp_hold(qp, pkt);
}

/*
 * Reserved operations of the QP's own service pass, because the responder
 * refuses them
 */
static bool transport_fits_type(const struct qp *qp, const struct roce_hdr *hdr,
				const struct opcode_info *info)
{
	if (opcode_is_of(info, qp->type))
		return true;
	return qp->service->answer && !info->types &&
	       (hdr->opcode & ~BTH_OPERATION_MASK) == qp->service->bth;
}

static bool transport_well_formed(const struct packet *pkt,
				  const struct opcode_info *info)
{
	if (pkt->roce.pad != (-pkt->payload_len & 3))
		return false;
	return info->class == OPCODE_RESERVED || info->flags & OPCODE_PAYLOAD ||
	       !pkt->payload_len;
}

static void transport_drop(struct nic *nic, const struct packet *pkt,
			   enum mynic_stat stat)
{
	const struct journal_entry entry = {
		.kind = JOURNAL_DROP,
		.code = stat,
		.number = pkt->roce.dest_qpn,
		.from = pkt->roce.opcode,
		.psn = pkt->roce.psn,
	};

	nic->stats[stat]++;
	nic_note(nic, &entry);
}

static void transport_group_receive(struct nic *nic, const struct packet *pkt,
				    const struct opcode_info *info)
{
	if (!(info->flags & OPCODE_DETH) ||
	    pkt->roce.dest_qpn != PATH_MULTICAST_QPN)
		transport_drop(nic, pkt, MYNIC_STAT_RX_DROP_HEADER);
	else
		spread_packet(nic, &ud_group_kind, pkt);
}

/* @own: address at which a connected QP expects packets of its peer */
static void transport_qp_receive(struct nic *nic, struct qp *qp,
				 const struct packet *pkt,
				 const struct opcode_info *info,
				 const struct gid_entry *own,
				 const struct gid_entry *to)
{
	const struct roce_hdr *hdr = &pkt->roce;

	if (!qp || !transport_fits_type(qp, hdr, info) || !qp_can_receive(qp)) {
		transport_drop(nic, pkt, MYNIC_STAT_RX_DROP_QP);
		return;
	}
	if (qp_is_connected(qp)) {
		if (to != own ||
		    memcmp(hdr->sgid, qp->attr.av.dgid, sizeof(hdr->sgid))) {
			qp_count(qp, MYNIC_STAT_RX_DROP_KEY);
			return;
		}
		transport_connected_receive(qp, pkt, info);
	} else if (ud_receive(qp, pkt) && roce_is_marked(hdr)) {
		qp_count_quietly(qp, MYNIC_STAT_RX_ECN);
	}
}

/* No RoCEv2 QP has this address, but a program may receive it as a frame */
static void transport_pass_on(struct nic *nic, const struct packet *pkt)
{
	if (pkt->frame)
		eth_receive(nic, pkt);
	else if (mac_equal(pkt->dmac, nic->port.mac))
		transport_drop(nic, pkt, MYNIC_STAT_RX_DROP_KEY);
	else
		nic->stats[MYNIC_STAT_RX_DROP_KEY]++;
}

void transport_receive(struct nic *nic, const struct packet *pkt)
{
	const struct opcode_info *info = opcode_info(pkt->roce.opcode);
	bool group = gid_is_multicast(pkt->roce.dgid);
	const struct gid_entry *own = NULL;
	const struct gid_entry *to = NULL;
	struct qp *qp = NULL;
	uint32_t num;

	if (!group) {
		qp = qp_find(nic, pkt->roce.dest_qpn);
		if (qp && qp_is_connected(qp))
			own = gid_at(nic, le16toh(qp->attr.av.sgid_index));
		to = own && gid_takes(nic, own, pkt) ? own : gid_find(nic, pkt);
	}
	if (group ? !mcast_takes(nic, pkt) : !to) {
		transport_pass_on(nic, pkt);
		return;
	}
	num = packet_count(pkt);
	nic->stats[MYNIC_STAT_RX_RDMA_PACKETS] += num;
	nic->stats[MYNIC_STAT_RX_RDMA_BYTES] += pkt->payload_len;
	if (qp) {
		counters_add(qp, MYNIC_STAT_RX_RDMA_PACKETS, num);
		counters_add(qp, MYNIC_STAT_RX_RDMA_BYTES, pkt->payload_len);
	}
	if (!transport_well_formed(pkt, info))
		transport_drop(nic, pkt, MYNIC_STAT_RX_DROP_HEADER);
	else if ((pkt->roce.pkey & PKEY_MASK) !=
		 (PATH_DEFAULT_PKEY & PKEY_MASK))
		transport_drop(nic, pkt, MYNIC_STAT_RX_DROP_KEY);
	else if (group)
		transport_group_receive(nic, pkt, info);
	else
		transport_qp_receive(nic, qp, pkt, info, own, to);
}
