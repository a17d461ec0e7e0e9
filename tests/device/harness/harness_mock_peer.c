// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The mock peer: packets to a NIC, and the record of its answers. */
#include "harness_mock_peer.h"

/* The answers of the NIC are recorded, and reach nobody */
static enum sim_verdict listen(struct sim *sim, struct sim_nic *from,
			       struct packet *pkt)
{
	struct mock_peer *p = sim->filter_arg;
	struct answer *answer = &p->answers[p->num++];
	uint32_t len = 0;

	CHECK_EQ(from->index, 1);
	CHECK(p->num <= MOCK_MAX_ANSWERS);
	CHECK(pkt->payload_len <= sizeof(answer->payload));
	answer->hdr = pkt->roce;
	answer->len = pkt->payload_len;
	for (unsigned int i = 0; i < pkt->niov; i++) {
		memcpy(answer->payload + len, pkt->iov[i].iov_base,
		       pkt->iov[i].iov_len);
		len += pkt->iov[i].iov_len;
	}
	return SIM_DROP;
}

struct mock_peer *mock_new(const struct drv_pair *pair)
{
	struct mock_peer *p = tap_alloc(sizeof(*p));

	p->sim = pair->sim;
	p->a = pair->a;
	p->b = pair->b;
	p->sim->filter = listen;
	p->sim->filter_arg = p;
	drv_fill(p->payload, sizeof(p->payload), 0x5a);
	return p;
}

static const struct drv_path path = {
	.mtu = IBV_MTU_256,
	.sq_psn = MOCK_PSN,
};

struct mock_peer *mock_rc(void)
{
	struct drv_pair pair = drv_rc_pair(&path);

	return mock_new(&pair);
}

struct mock_peer *mock_uc(void)
{
	struct drv_pair pair = drv_uc_pair(&path);

	return mock_new(&pair);
}

struct mock_peer *mock_ud(void)
{
	struct drv_pair pair = drv_ud_pair();

	return mock_new(&pair);
}

void mock_payload(struct mock_peer *p, struct packet *pkt, uint32_t offset,
		  uint32_t len)
{
	CHECK(offset + len <= sizeof(p->payload));
	pkt->payload_len = len;
	pkt->iov[0] = (struct iovec){ p->payload + offset, len };
	pkt->niov = len ? 1 : 0;
	pkt->roce.pad = -len & 3;
}

struct packet mock_packet(struct mock_peer *p, uint8_t opcode, int32_t psn,
			  uint32_t len)
{
	struct packet pkt = {
		.kind = PACKET_ROCE,
		.vlan = PACKET_NO_VLAN,
		.roce = {
			.hop_limit = 64,
			.udp_sport = 0xc001,
			.opcode = opcode,
			.ack_req = true,
			.pkey = 0xffff,
			.dest_qpn = p->b.qp->number,
			.psn = (MOCK_PSN + psn) & 0xffffff,
			.srqn = p->srqn,
			.qkey = MOCK_QKEY,
			.src_qpn = p->a.qp->number,
			.remote_addr = p->b.mr->addr,
			.rkey = p->b.mr->key,
			.dma_len = len,
			.imm = 0x12345678,
		},
	};

	memcpy(pkt.dmac, nic_mac(p->b.d->n->nic), 6);
	memcpy(pkt.smac, nic_mac(p->a.d->n->nic), 6);
	drv_gid(0, DRV_GID_IPV6, pkt.roce.sgid);
	drv_gid(1, DRV_GID_IPV6, pkt.roce.dgid);
	if (opcode_info(opcode)->flags & OPCODE_PAYLOAD ||
	    opcode_info(opcode)->class == OPCODE_RESERVED)
		mock_payload(p, &pkt, 0, len);
	return pkt;
}

void mock_send(struct mock_peer *p, const struct packet *pkt)
{
	sim_inject(p->b.d->n, pkt);
	sim_settle(p->sim);
}

void mock_send_opcode(struct mock_peer *p, uint8_t opcode, int32_t psn,
		      uint32_t len)
{
	struct packet pkt = mock_packet(p, opcode, psn, len);

	mock_send(p, &pkt);
}

void mock_recv(struct mock_peer *p, uint64_t wr_id, uint32_t offset,
	       uint32_t len)
{
	struct mynic_sge sge = drv_sge(p->b.mr, offset, len);

	drv_post_recv(p->b.qp, wr_id, &sge, 1);
}

const struct answer *mock_expect(struct mock_peer *p, uint8_t opcode,
				 int32_t psn)
{
	const struct answer *answer = &p->answers[p->next];

	if (p->next == p->num)
		FAIL("no answer, but opcode 0x%02x is due", opcode);
	p->next++;
	CHECK_EQ(answer->hdr.opcode, opcode);
	CHECK_EQ(answer->hdr.psn, (MOCK_PSN + psn) & 0xffffff);
	CHECK_EQ(answer->hdr.dest_qpn, p->a.qp->number);
	return answer;
}

uint32_t mock_expect_ack(struct mock_peer *p, uint8_t syndrome, int32_t psn)
{
	const struct answer *answer = mock_expect(p, BTH_RC_ACK, psn);

	CHECK_EQ(answer->hdr.aeth >> 24, syndrome);
	CHECK_EQ(answer->len, 0);
	return answer->hdr.aeth & 0xffffff;
}

void mock_expect_nothing(struct mock_peer *p)
{
	sim_run(p->sim, SEC);
	if (p->next < p->num)
		FAIL("there is another answer: opcode 0x%02x, AETH 0x%08x",
		     p->answers[p->next].hdr.opcode,
		     p->answers[p->next].hdr.aeth);
}

enum ibv_qp_state mock_state(struct mock_peer *p)
{
	return drv_query_qp(p->b.qp).qp_state;
}

uint64_t mock_stat(struct mock_peer *p, enum mynic_stat stat)
{
	return drv_stat(p->b.d, stat);
}

int32_t mock_epsn(struct mock_peer *p)
{
	uint32_t psn = drv_query_qp(p->b.qp).rq_psn - MOCK_PSN;

	return (int32_t)(psn << 8) >> 8;
}

void mock_set_access(struct mock_peer *p, uint32_t access)
{
	struct mynic_qp_attr attr = {
		.attr_mask = IBV_QP_ACCESS_FLAGS,
		.access_flags = access,
	};

	CHECK_EQ(drv_modify_qp(p->b.qp, &attr), MYNIC_AQ_OK);
}

void mock_no_event(struct mock_peer *p)
{
	struct mynic_eqe eqe;

	if (drv_eq_poll(&p->b.d->event, &eqe))
		FAIL("event %u for %u", eqe.type, eqe.number);
}
