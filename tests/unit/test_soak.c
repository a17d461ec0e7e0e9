// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Random loads on a wire that loses, repeats and reorders packets. The seed is
 * printed; SOAK_SEED=N runs that one again, SOAK_ROUNDS=N runs more of them.
 */
#include <stdlib.h>

#include "harness_driver.h"

#define NUM_QPS 4
#define OPS_PER_QP 60
#define AREA 16384 /* bytes of each end's memory that one request has */

struct op {
	enum ibv_wr_opcode opcode;
	uint32_t len;
	uint64_t operand;
};

/* What one QP does; the requests' memory lies apart, AREA bytes each */
struct stream {
	struct drv_qp *from;
	struct drv_qp *to;
	struct drv_mr *near;
	struct drv_mr *far;
	struct op op[OPS_PER_QP];
	unsigned int posted;
	unsigned int done;
	unsigned int expected_recvs;
	unsigned int received;
};

static void prepare(struct sim *sim, struct stream *s)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND,
		IBV_WR_SEND_WITH_IMM,
		IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_WRITE_WITH_IMM,
		IBV_WR_RDMA_READ,
		IBV_WR_ATOMIC_FETCH_AND_ADD,
		IBV_WR_ATOMIC_CMP_AND_SWP,
	};

	for (unsigned int i = 0; i < OPS_PER_QP; i++) {
		struct op *op = &s->op[i];
		unsigned int at = i * AREA;

		op->opcode = opcodes[sim_random(sim, ARRAY_SIZE(opcodes))];
		op->len = sim_random(sim, sim_random(sim, 4) ? 3000 : AREA);
		op->operand = sim_random(sim, 1000);
		drv_fill(s->near->ptr + at, AREA, 2 * i + 1);
		drv_fill(s->far->ptr + at, AREA, 2 * i + 2);
		switch (op->opcode) {
		case IBV_WR_SEND:
		case IBV_WR_SEND_WITH_IMM:
		case IBV_WR_RDMA_WRITE_WITH_IMM: {
			struct mynic_sge sge = drv_sge(s->far, at, AREA);

			drv_post_recv(s->to, i, &sge, 1);
			s->expected_recvs++;
			break;
		}
		case IBV_WR_ATOMIC_FETCH_AND_ADD:
		case IBV_WR_ATOMIC_CMP_AND_SWP:
			op->len = 8;
			*(uint64_t *)(s->far->ptr + at) = op->operand;
			break;
		default:
			break;
		}
	}
}

static void post(struct stream *s)
{
	const struct op *op = &s->op[s->posted];
	unsigned int at = s->posted * AREA;
	struct drv_wr wr = {
		.wr_id = s->posted,
		.opcode = op->opcode,
		.flags = IBV_SEND_SIGNALED,
		.imm = s->posted,
		.num_sge = 2,
		.sge = { drv_sge(s->near, at, op->len / 3),
			 drv_sge(s->near, at + op->len / 3,
				 op->len - op->len / 3) },
		.remote_addr = s->far->addr + at,
		.rkey = s->far->key,
		.compare_add = op->operand,
		.swap = 77,
	};

	if (op->len == 8 && op->opcode >= IBV_WR_ATOMIC_CMP_AND_SWP) {
		wr.num_sge = 1;
		wr.sge[0] = drv_sge(s->near, at, 8);
	}
	drv_post_send(s->from, &wr);
	s->posted++;
}

static void check(const struct stream *s, unsigned int i)
{
	const struct op *op = &s->op[i];
	const uint8_t *near = s->near->ptr + i * AREA;
	const uint8_t *far = s->far->ptr + i * AREA;
	uint8_t want[AREA];

	switch (op->opcode) {
	case IBV_WR_RDMA_READ:
		CHECK_MEM(near, far, op->len);
		drv_fill(want, AREA, 2 * i + 1);
		CHECK_MEM(near + op->len, want + op->len, AREA - op->len);
		break;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		CHECK_EQ(*(uint64_t *)near, op->operand);
		CHECK_EQ(*(uint64_t *)far, 2 * op->operand);
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		CHECK_EQ(*(uint64_t *)near, op->operand);
		CHECK_EQ(*(uint64_t *)far, 77);
		break;
	default:
		CHECK_MEM(far, near, op->len);
		drv_fill(want, AREA, 2 * i + 2);
		CHECK_MEM(far + op->len, want + op->len, AREA - op->len);
		break;
	}
}

static struct stream *find(struct stream *s, uint32_t number)
{
	for (unsigned int i = 0; i < NUM_QPS; i++)
		if (s[i].from->number == number || s[i].to->number == number)
			return &s[i];
	FAIL("completion of QP 0x%x", number);
}

static void soak(uint64_t seed)
{
	struct drv_pair p = { .sim = sim_new(2) };
	struct sim *sim = p.sim;
	struct drv_end *end[] = { &p.a, &p.b };
	struct stream s[NUM_QPS] = { 0 };
	unsigned int left = NUM_QPS * OPS_PER_QP;

	tap_note("SOAK_SEED=%llu", (unsigned long long)seed);
	sim->random = seed * 0x9e3779b97f4a7c15ull + 1;
	for (unsigned int i = 0; i < 2; i++) {
		end[i]->d = drv_up(&sim->nics[i]);
		end[i]->pdn = drv_alloc_pd(end[i]->d);
		end[i]->cq = drv_create_cq(end[i]->d, 9);
		end[i]->recv_cq = drv_create_cq(end[i]->d, 9);
	}
	for (unsigned int i = 0; i < NUM_QPS; i++) {
		struct drv_end *from = end[i % 2], *to = end[!(i % 2)];
		struct drv_qp_init init = { .type = MYNIC_QP_RC };
		struct drv_path path = {
			.mtu = 1 + sim_random(sim, 5),
			.gid_index = i / 2 % 2,
			.sq_psn = sim_random(sim, 1 << 24),
			.rq_psn = sim_random(sim, 1 << 24),
			.timeout = 8 + sim_random(sim, 4),
			.max_rd_atomic = 1 + sim_random(sim, 16),
		};

		init.pdn = from->pdn;
		init.send_cq = from->cq;
		init.recv_cq = from->recv_cq;
		s[i].from = drv_create_qp(from->d, &init);
		init.pdn = to->pdn;
		init.send_cq = to->cq;
		init.recv_cq = to->recv_cq;
		s[i].to = drv_create_qp(to->d, &init);
		s[i].near = drv_reg_mr(from->d, from->pdn, OPS_PER_QP * AREA,
				       ACCESS_ALL);
		s[i].far = drv_reg_mr(to->d, to->pdn, OPS_PER_QP * AREA,
				      ACCESS_ALL);
		drv_connect(s[i].from, s[i].to, &path);
		prepare(sim, &s[i]);
	}
	/* rates that seven retries outlive with certainty enough */
	sim->drop = sim_random(sim, 40);
	sim->duplicate = sim_random(sim, 60);
	sim->reorder = sim_random(sim, 100);
	sim->delay = 1 + sim_random(sim, 3 * MSEC);
	while (left) {
		struct mynic_cqe cqe;
		bool some = false;

		for (unsigned int i = 0; i < NUM_QPS; i++)
			if (s[i].posted < OPS_PER_QP &&
			    s[i].posted - s[i].done < 40 &&
			    sim_random(sim, 2)) {
				post(&s[i]);
				some = true;
			}
		for (unsigned int i = 0; i < 2; i++) {
			while (drv_poll(end[i]->recv_cq, &cqe)) {
				struct stream *st = find(s, cqe.qp_num);

				CHECK_EQ(cqe.status, 0);
				CHECK_EQ(cqe.byte_len, st->op[cqe.wr_id].len);
				if (cqe.wc_flags & IBV_WC_WITH_IMM)
					CHECK_EQ(cqe.imm_data, cqe.wr_id);
				st->received++;
			}
			while (drv_poll(end[i]->cq, &cqe)) {
				struct stream *st = find(s, cqe.qp_num);

				if (cqe.status)
					FAIL("status %u, syndrome %u",
					     cqe.status, cqe.vendor_err);
				CHECK_EQ(cqe.wr_id, st->done);
				check(st, st->done++);
				left--;
			}
		}
		if (left && !sim_step(sim, ~0ull) && !some)
			FAIL("no progress, %u requests are left", left);
	}
	sim_run(sim, SEC);
	for (unsigned int i = 0; i < NUM_QPS; i++) {
		struct mynic_cqe cqe;

		while (drv_poll(end[i % 2]->recv_cq, &cqe))
			find(s, cqe.qp_num)->received++;
	}
	for (unsigned int i = 0; i < NUM_QPS; i++)
		CHECK_EQ(s[i].received, s[i].expected_recvs);
	for (unsigned int i = 0; i < NUM_QPS; i++)
		for (unsigned int k = 0; k < OPS_PER_QP; k++)
			check(&s[i], k);
}

static unsigned long setting(const char *name, unsigned long otherwise)
{
	const char *value = getenv(name);

	return value ? strtoul(value, NULL, 0) : otherwise;
}

TEST(soak_on_a_bad_wire)
{
	unsigned long first = setting("SOAK_SEED", 1);
	unsigned long rounds =
		setting("SOAK_ROUNDS", getenv("SOAK_SEED") ? 1 : 30);

	for (unsigned long i = 0; i < rounds; i++)
		soak(first + i);
}

/* The same seed and the same calls give the same run, to the nanosecond */
TEST(soak_is_reproducible)
{
	uint64_t sent[2];

	for (unsigned int i = 0; i < 2; i++) {
		struct drv_pair p =
			drv_rc_pair(&(struct drv_path){ .timeout = 8 });
		struct drv_wr wr = {
			.opcode = IBV_WR_RDMA_WRITE,
			.flags = IBV_SEND_SIGNALED,
			.num_sge = 1,
			.sge = { drv_sge(p.a.mr, 0, 500000) },
			.remote_addr = p.b.mr->addr,
			.rkey = p.b.mr->key,
		};

		p.sim->random = 42;
		p.sim->drop = 30;
		p.sim->reorder = 50;
		drv_post_send(p.a.qp, &wr);
		drv_expect(p.a.cq, 0, IBV_WC_SUCCESS);
		sent[i] = p.a.d->n->sent * 1000000000 + p.sim->now;
	}
	CHECK_EQ(sent[0], sent[1]);
}

/* Garbage from a peer, in every field of a packet */
TEST(soak_random_packets)
{
	struct drv_pair p = drv_rc_pair(NULL);
	static uint8_t payload[4096];

	p.sim->random = 7;
	for (unsigned int i = 0; i < 200000; i++) {
		struct packet pkt = {
			.kind = PACKET_ROCE,
			.vlan = PACKET_NO_VLAN,
			.roce = {
				.hop_limit = 1,
				.udp_sport = sim_random(p.sim, 65536),
				.opcode = sim_random(p.sim, 256),
				.solicited = sim_random(p.sim, 2),
				.ack_req = sim_random(p.sim, 2),
				.pkey = 0xffff,
				.dest_qpn = sim_random(p.sim, 10) ?
						    p.b.qp->number :
						    sim_random(p.sim, 32),
				.psn = sim_random(p.sim, 6) ?
					       sim_random(p.sim, 16) :
					       sim_random(p.sim, 1 << 24),
				.qkey = sim_random(p.sim, 1ull << 32),
				.remote_addr = p.b.mr->addr +
					       sim_random(p.sim, 2 * DRV_PAIR_MEM),
				.rkey = p.b.mr->key,
				.dma_len = sim_random(p.sim, 8192),
				.aeth = sim_random(p.sim, 1ull << 32),
			},
			.payload_len = sim_random(p.sim, 3) ?
					       sim_random(p.sim, 5) * 512 :
					       sim_random(p.sim, 4097),
		};

		pkt.roce.pad = sim_random(p.sim, 8) ? -pkt.payload_len & 3 :
						      sim_random(p.sim, 4);
		pkt.niov = pkt.payload_len ? 1 : 0;
		pkt.iov[0] = (struct iovec){ payload, pkt.payload_len };
		memcpy(pkt.dmac, nic_mac(p.b.d->n->nic), 6);
		memcpy(pkt.smac, nic_mac(p.a.d->n->nic), 6);
		drv_gid(0, DRV_GID_IPV6, pkt.roce.sgid);
		drv_gid(1, DRV_GID_IPV6, pkt.roce.dgid);
		sim_inject(p.b.d->n, &pkt);
		sim_settle(p.sim);
		if (i % 100 == 0) {
			struct mynic_cqe cqe;

			while (drv_poll(p.b.recv_cq, &cqe) ||
			       drv_poll(p.b.cq, &cqe) ||
			       drv_poll(p.a.cq, &cqe) ||
			       drv_poll(p.a.recv_cq, &cqe))
				;
			drv_reset_qp(p.a.qp);
			drv_reset_qp(p.b.qp);
			drv_connect(p.a.qp, p.b.qp, &(struct drv_path){ 0 });
			for (unsigned int k = 0; k < 8; k++) {
				struct mynic_sge sge = drv_sge(p.b.mr, 0, 4096);

				drv_post_recv(p.b.qp, k, &sge, 1);
			}
		}
	}
	CHECK_EQ(drv_number_cmd(p.b.d, MYNIC_CMD_NOP, 0), MYNIC_AQ_OK);
}

/* Garbage in queues, records, doorbells and commands: only itself is hurt */
TEST(soak_random_host)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_qp_init init = {
		.type = MYNIC_QP_RC,
		.pdn = p.a.pdn,
	};
	struct drv_qp_init target = {
		.type = MYNIC_QP_RC,
		.pdn = p.b.pdn,
		.send_cq = p.b.cq,
		.recv_cq = p.b.recv_cq,
	};
	struct drv *d = p.a.d;
	struct sim *sim = p.sim;
	struct drv_qp *victim = drv_create_qp(p.b.d, &target);

	sim->random = 11;
	for (unsigned int i = 0; i < 20000; i++) {
		struct drv_cq *cq = drv_create_cq(d, 3);
		struct drv_qp *qp;
		uint8_t *page;

		init.send_cq = cq;
		init.recv_cq = cq;
		init.log_sq_size = 1 + sim_random(sim, 3);
		init.log_rq_size = 1;
		init.log_sq_stride = 6 + sim_random(sim, 4);
		qp = drv_create_qp(d, &init);
		drv_connect_to(qp, 1, victim->number,
			       &(struct drv_path){ .timeout = 1,
						   .retry_cnt = 1 },
			       IBV_QPS_RTS);
		drv_reset_qp(victim);
		drv_connect_to(victim, 0, qp->number, &(struct drv_path){ 0 },
			       IBV_QPS_RTS);
		for (unsigned int k = 0; k < qp->buf.num_pages; k++) {
			page = qp->buf.page[k];
			for (unsigned int at = 0; at < DRV_PAGE; at += 4)
				*(uint32_t *)(page + at) =
					sim_random(sim, 3) ?
						sim_random(sim, 16) :
						sim_random(sim, 1ull << 32);
		}
		qp->rec->sq_pi = sim_random(sim, 10);
		qp->rec->rq_pi = sim_random(sim, 4);
		drv_ring(qp);
		qp->rec->sq_pi = sim_random(sim, 10);
		cq->rec->ci = sim_random(sim, 4) ? 0 : sim_random(sim, 20);
		drv_arm(cq, sim_random(sim, 2));
		sim_run(sim, 100 * USEC);
		CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_QP, qp->number),
			 0);
		CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_CQ, cq->number),
			 0);
		/* the memory can be used again */
		d->n->used = d->n->used > SIM_MEM_SIZE / 2 ? SIM_MEM_SIZE / 4 :
							     d->n->used;
	}
	drv_send_recv(&p.a, &p.b, 5000);
	drv_send_recv(&p.b, &p.a, 5000);
}

TEST(soak_random_commands)
{
	struct drv *d = drv_up(&sim_new(1)->nics[0]);
	struct sim *sim = d->sim;

	sim->random = 13;
	for (unsigned int i = 0; i < 200000; i++) {
		struct mynic_admin_cmd cmd = {
			.opcode = sim_random(sim, 10) ? sim_random(sim, 0x44) :
							sim_random(sim, 256),
			.flags = sim_random(sim, 4) ? 0 : 1,
			.number = sim_random(sim, 3) ? sim_random(sim, 40) : 0,
		};
		uint8_t mbox[256];

		for (unsigned int k = 0; k < sizeof(cmd.body); k++)
			cmd.body[k] = sim_random(sim, 3) ? 0 :
							   sim_random(sim, 256);
		if (sim_random(sim, 2))
			*(uint64_t *)cmd.body = d->n->iova;
		for (unsigned int k = 0; k < sizeof(mbox); k++)
			mbox[k] = sim_random(sim, 3) ? 0 : sim_random(sim, 16);
		if (sim_random(sim, 2))
			*(uint64_t *)mbox = d->n->iova;
		drv_admin_in(d, &cmd, NULL, mbox, sim_random(sim, 257));
	}
	CHECK_EQ(sim_read32(d->n, MYNIC_REG_STATUS),
		 MYNIC_STATUS_READY | MYNIC_STATUS_ENABLED);
}
