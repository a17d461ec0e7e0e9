// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Arbitrary packets from a wire and arbitrary requests from a guest. The NIC
 * must not crash, hang or write to wrong memory, and must work afterwards.
 */
#include "core/packet/opcode.h"
#include "harness_driver.h"

#define ROUNDS 300
#define STEPS 200
#define GUARD 4096

static uint64_t any(struct sim *sim, uint64_t below)
{
	return sim_random(sim, below);
}

/* A length that is mostly valid, so that packets pass many checks */
static uint32_t some_len(struct sim *sim)
{
	static const uint32_t lens[] = { 0,   1,    3,	  4,	255,  256,
					 257, 1000, 1023, 1024, 1025, 4096 };

	return lens[any(sim, ARRAY_SIZE(lens))];
}

static uint64_t some_addr(struct sim *sim, const struct drv_mr *mr)
{
	switch (any(sim, 8)) {
	case 0:
		return any(sim, ~0ull);
	case 1:
		return mr->addr + mr->len - any(sim, 2000);
	default:
		return mr->addr + any(sim, mr->len / 8) * 8;
	}
}

static uint8_t some_opcode(struct sim *sim, enum mynic_qp_type type)
{
	if (!any(sim, 8))
		return any(sim, 256);
	switch (type) {
	case MYNIC_QP_RC:
		return any(sim, BTH_RC_ATOMIC_WRITE + 1);
	case MYNIC_QP_UC:
		return BTH_UC_SEND_FIRST + any(sim, 12);
	default:
		return BTH_UD_SEND_ONLY + any(sim, 2);
	}
}

/* Send a packet to the QP of @to that claims to be from the QP of @from */
static void send_junk(struct sim *sim, struct drv_end *from, struct drv_end *to)
{
	static const uint32_t syndromes[] = { 0x1f, 0x3f, 0x5f, 0x7f,
					      0x60, 0x61, 0x62, 0x63,
					      0x64, 0x20, 0x2e, 0xff };
	static uint8_t payload[8192];
	struct mynic_qp_attr attr = drv_query_qp(to->qp);
	uint8_t opcode = some_opcode(sim, to->qp->create.type);
	uint32_t len = any(sim, 4) ? 1024 : some_len(sim);
	uint32_t base = any(sim, 2) ? attr.rq_psn : attr.sq_psn;
	struct packet pkt = {
		.kind = PACKET_ROCE,
		.vlan = PACKET_NO_VLAN,
		.niov = 2,
		.iov = { { payload, len / 3 },
			 { payload + 4000, len - len / 3 } },
		.roce = {
			.hop_limit = any(sim, 256),
			.udp_sport = any(sim, 65536),
			.opcode = opcode,
			.ack_req = any(sim, 2),
			.solicited = any(sim, 2),
			.pkey = any(sim, 32) ? 0xffff : any(sim, 65536),
			.dest_qpn = any(sim, 32) ? to->qp->number :
						   any(sim, 1 << 24),
			.psn = (base + any(sim, 10) - 5) & 0xffffff,
			.qkey = any(sim, 4) ? 0x11111111 : any(sim, ~0u),
			.src_qpn = any(sim, 1 << 24),
			.remote_addr = some_addr(sim, to->mr),
			.rkey = any(sim, 16) ? to->mr->key : any(sim, ~0u),
			.dma_len = any(sim, 8) ? some_len(sim) : any(sim, ~0u),
			.swap_add = any(sim, ~0ull),
			.compare = any(sim, ~0ull),
			.aeth = syndromes[any(sim, ARRAY_SIZE(syndromes))]
				<< 24,
			.atomic_orig = any(sim, ~0ull),
			.imm = any(sim, ~0u),
		},
	};

	if (!(opcode_info(opcode)->flags & OPCODE_PAYLOAD) && any(sim, 16))
		len = 0;
	if (!any(sim, 16))
		pkt.roce.psn = any(sim, 1 << 24);
	pkt.payload_len = len;
	if (!len)
		pkt.niov = 0;
	pkt.roce.pad = any(sim, 32) ? -len & 3 : any(sim, 4);
	drv_gid(from->d->n->index, DRV_GID_IPV6, pkt.roce.sgid);
	drv_gid(to->d->n->index, DRV_GID_IPV6, pkt.roce.dgid);
	memcpy(pkt.dmac, nic_mac(to->d->n->nic), 6);
	memcpy(pkt.smac, nic_mac(from->d->n->nic), 6);
	sim_inject(to->d->n, &pkt);
}

static struct mynic_sge some_sge(struct sim *sim, const struct drv_mr *mr)
{
	uint32_t len = some_len(sim);
	struct mynic_sge sge = drv_sge(mr, any(sim, mr->len - len + 1), len);

	if (!any(sim, 32))
		sge.lkey = any(sim, ~0u);
	if (!any(sim, 32))
		sge.addr = any(sim, ~0ull);
	if (!any(sim, 64))
		sge.length = any(sim, ~0u);
	return sge;
}

static void post_junk(struct sim *sim, struct drv_end *e, struct drv_end *peer)
{
	struct drv_wr wr = {
		.opcode = any(sim, 32) ? any(sim, 7) : any(sim, 256),
		.flags = any(sim, 64) ? any(sim, 8) : any(sim, 32),
		.num_sge = any(sim, 4),
		.remote_addr = some_addr(sim, peer->mr),
		.rkey = any(sim, 16) ? peer->mr->key : any(sim, ~0u),
		.compare_add = any(sim, 4),
		.remote_qpn = peer->qp->number,
		.remote_qkey = 0x11111111,
		.av = drv_av(e->d, peer->d->n->index, DRV_GID_IPV6),
	};
	struct mynic_send_wqe *wqe;

	if (e->qp->sq_pi - e->qp->rec->sq_ci >= 60)
		return;
	for (unsigned int i = 0; i < wr.num_sge; i++)
		wr.sge[i] = some_sge(sim, e->mr);
	if (wr.opcode >= IBV_WR_ATOMIC_CMP_AND_SWP && any(sim, 8)) {
		wr.num_sge = 1;
		wr.sge[0].length = 8;
	}
	wqe = drv_write_wqe(e->qp, &wr);
	if (!any(sim, 64))
		wqe->len = any(sim, ~0u);
	if (!any(sim, 64))
		((uint8_t *)wqe)[any(sim, 128)] = any(sim, 256);
	drv_ring(e->qp);
}

static void post_recv_junk(struct sim *sim, struct drv_end *e)
{
	struct mynic_sge sge[3];

	if (e->qp->rq_pi - e->qp->rec->rq_ci >= 60)
		return;
	for (unsigned int i = 0; i < ARRAY_SIZE(sge); i++)
		sge[i] = some_sge(sim, e->mr);
	drv_post_recv(e->qp, 1, sge, any(sim, 4));
}

static void spoil_record(struct sim *sim, struct drv_end *e)
{
	switch (any(sim, 4)) {
	case 0:
		e->qp->rec->sq_pi = any(sim, ~0u);
		break;
	case 1:
		e->qp->rec->rq_pi = any(sim, ~0u);
		break;
	case 2:
		e->qp->rec->sq_ci = any(sim, ~0u);
		break;
	default:
		e->qp->rec->rq_ci = any(sim, ~0u);
	}
	sim_doorbell(e->d->n, 1, MYNIC_UAR_QP_DB, e->qp->number, any(sim, ~0u));
}

static void drain(struct drv_end *e)
{
	struct mynic_cqe cqe;
	struct mynic_eqe eqe;

	while (drv_poll(e->cq, &cqe))
		;
	while (drv_poll(e->recv_cq, &cqe))
		;
	while (drv_eq_poll(&e->d->event, &eqe))
		;
	drv_eq_release(&e->d->event);
}

static void do_something(struct drv_pair *p)
{
	bool swap = any(p->sim, 2);
	struct drv_end *e = swap ? &p->a : &p->b;
	struct drv_end *peer = swap ? &p->b : &p->a;

	switch (any(p->sim, 16)) {
	case 0 ... 4:
		send_junk(p->sim, e, peer);
		break;
	case 5 ... 7:
		post_junk(p->sim, e, peer);
		break;
	case 8 ... 10:
		post_recv_junk(p->sim, e);
		break;
	case 11 ... 13:
		nic_run(e->d->n->nic);
		break;
	case 14:
		if (!any(p->sim, 8))
			spoil_record(p->sim, e);
		break;
	default:
		sim_step(p->sim, p->sim->now + MSEC);
	}
}

static void reconnect(struct drv_pair *p, enum mynic_qp_type type)
{
	drv_reset_qp(p->a.qp);
	drv_reset_qp(p->b.qp);
	sim_settle(p->sim);
	drain(&p->a);
	drain(&p->b);
	if (type != MYNIC_QP_UD) {
		drv_connect(p->a.qp, p->b.qp,
			    &(struct drv_path){ .timeout = 4,
						.retry_cnt = 2,
						.rnr_retry = 2,
						.min_rnr_timer = 2,
						.sq_psn =
							any(p->sim, 1 << 24) });
	} else {
		drv_ud_up(p->a.qp, 0x11111111, IBV_QPS_RTS);
		drv_ud_up(p->b.qp, 0x11111111, IBV_QPS_RTS);
	}
}

static void fuzz(enum mynic_qp_type type, uint64_t seed)
{
	struct drv_qp_init init = { .type = type };
	struct drv_pair p = drv_pair_unconnected(&init);
	struct drv_mr *guard = drv_reg_mr(p.b.d, p.b.pdn, GUARD, 0);
	uint8_t want[GUARD];

	drv_fill(guard->ptr, GUARD, 1);
	p.sim->random = seed;
	tap_note("seed %llu", (unsigned long long)seed);
	for (int round = 0; round < ROUNDS; round++) {
		reconnect(&p, type);
		for (int step = 0; step < STEPS; step++) {
			do_something(&p);
			drain(&p.a);
			drain(&p.b);
		}
	}
	reconnect(&p, type);
	if (type != MYNIC_QP_UD)
		drv_send_recv(&p.a, &p.b, 5000);
	drv_fill(want, GUARD, 1);
	CHECK_MEM(guard->ptr, want, GUARD);
}

TEST(fuzz_rc)
{
	for (uint64_t seed = 1; seed <= 4; seed++)
		fuzz(MYNIC_QP_RC, seed);
}

TEST(fuzz_uc)
{
	for (uint64_t seed = 1; seed <= 4; seed++)
		fuzz(MYNIC_QP_UC, seed);
}

TEST(fuzz_ud)
{
	for (uint64_t seed = 1; seed <= 2; seed++)
		fuzz(MYNIC_QP_UD, seed);
}
