// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Garbage from a peer, in the queues of a process, and from the driver */
#include "harness_driver.h"

/* Let both queue pairs begin again, whatever has become of them */
static void start_again(struct drv_pair *p)
{
	struct mynic_sge sge = drv_sge(p->b.mr, 0, 4096);
	struct mynic_cqe cqe;

	while (drv_poll(p->b.recv_cq, &cqe) || drv_poll(p->b.cq, &cqe) ||
	       drv_poll(p->a.cq, &cqe) || drv_poll(p->a.recv_cq, &cqe))
		;
	drv_reset_qp(p->a.qp);
	drv_reset_qp(p->b.qp);
	drv_connect(p->a.qp, p->b.qp, &(struct drv_path){ 0 });
	for (unsigned int k = 0; k < 8; k++)
		drv_post_recv(p->b.qp, k, &sge, 1);
}

/* Garbage from a peer, in every field of a packet */
TEST(garbage_packets)
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
		if (i % 100 == 0)
			start_again(&p);
	}
	CHECK_EQ(drv_number_cmd(p.b.d, MYNIC_CMD_NOP, 0), MYNIC_AQ_OK);
}

/* What a process may not change, nor see: regions of other PDs, full of this */
static const char foreign_bytes[] = "foreign!";

#define FOREIGN_LEN 65536

static struct drv_mr *make_foreign(struct drv *d)
{
	struct drv_mr *mr =
		drv_reg_mr(d, drv_alloc_pd(d), FOREIGN_LEN, ACCESS_ALL);

	for (size_t at = 0; at < FOREIGN_LEN; at += strlen(foreign_bytes))
		memcpy(mr->ptr + at, foreign_bytes, strlen(foreign_bytes));
	return mr;
}

static void check_unchanged(const struct drv_mr *mr)
{
	for (size_t at = 0; at < FOREIGN_LEN; at += strlen(foreign_bytes))
		CHECK_MEM(mr->ptr + at, foreign_bytes, strlen(foreign_bytes));
}

static void check_unseen(const struct drv_mr *mr)
{
	CHECK(!memmem(mr->ptr, mr->len, foreign_bytes, strlen(foreign_bytes)));
}

/*
 * struct garbage - a process that has memory on both NICs, and knows the keys and
 * addresses of memory that it does not have
 * @own, @foreign: regions, one on each NIC
 * @got: completions, by their status
 */
struct garbage {
	struct sim *sim;
	const struct drv_mr *own[2];
	const struct drv_mr *foreign[2];
	unsigned int got[IBV_WC_TM_RNDV_INCOMPLETE + 1];
};

/* More often its own, and the one of the right NIC, so that most are good */
static const struct drv_mr *any_region(struct garbage *g, unsigned int nic)
{
	if (!sim_random(g->sim, 8))
		nic = !nic;
	return sim_random(g->sim, 4) ? g->own[nic] : g->foreign[nic];
}

static uint32_t any_key(struct garbage *g, const struct drv_mr *mr)
{
	if (sim_random(g->sim, 4))
		return mr->key;
	if (sim_random(g->sim, 4))
		return any_region(g, sim_random(g->sim, 2))->key;
	return sim_random(g->sim, 1ull << 32);
}

static struct mynic_sge any_sge(struct garbage *g, unsigned int nic)
{
	const struct drv_mr *mr = any_region(g, nic);

	return (struct mynic_sge){
		.addr = mr->addr + sim_random(g->sim, FOREIGN_LEN / 8) * 8,
		.length = sim_random(g->sim, 2) ? 8 : sim_random(g->sim, 3000),
		.lkey = any_key(g, mr),
	};
}

/* A request with all keys that there are, in a slot of 64 bytes or more */
static void write_request(struct garbage *g, struct drv_qp *qp)
{
	struct mynic_sge remote = any_sge(g, 1), bound = any_sge(g, 0);
	struct drv_wr wr = {
		.opcode = sim_random(g->sim, IBV_WR_ATOMIC_WRITE + 1),
		.flags = sim_random(g->sim, 4) ? IBV_SEND_SIGNALED :
						 sim_random(g->sim, 128),
		.num_sge = sim_random(g->sim, 3),
		.sge = { any_sge(g, 0), any_sge(g, 0) },
		.remote_addr = remote.addr,
		.rkey = remote.lkey,
		.bind = { .addr = bound.addr,
			  .length = bound.length,
			  .lkey = bound.lkey,
			  .access = ACCESS_ALL },
		.flush = { .length = bound.length,
			   .placement = sim_random(g->sim, 4) },
	};
	uint32_t *words;

	if (wr.flags & IBV_SEND_INLINE)
		wr.flags = IBV_SEND_SIGNALED;
	words = drv_write_wqe(qp, &wr);
	if (sim_random(g->sim, 3) == 0)
		words[sim_random(g->sim, 16)] = sim_random(g->sim, 256);
}

/* Nothing that makes sense */
static void fill_queue(struct garbage *g, struct drv_qp *qp)
{
	for (unsigned int k = 0; k < qp->buf.num_pages; k++)
		for (unsigned int at = 0; at < DRV_PAGE; at += 4)
			*(uint32_t *)(qp->buf.page[k] + at) =
				sim_random(g->sim, 3) ?
					sim_random(g->sim, 16) :
					sim_random(g->sim, 1ull << 32);
	qp->rec->sq_pi = sim_random(g->sim, 10);
	qp->rec->rq_pi = sim_random(g->sim, 4);
	sim_doorbell(qp->d->n, qp->create.uarn, MYNIC_UAR_QP_DB, qp->number,
		     qp->sq_pi);
	qp->rec->sq_pi = sim_random(g->sim, 10);
}

static void post_requests(struct garbage *g, struct drv_qp *qp,
			  struct drv_qp *peer)
{
	for (unsigned int i = 0; i < 2; i++) {
		struct mynic_sge sge = any_sge(g, 1);

		drv_post_recv(peer, i, &sge, 1);
	}
	for (unsigned int i = 0; i < 1u << qp->create.log_sq_size; i++)
		write_request(g, qp);
	drv_ring(qp);
}

static void count_completions(struct garbage *g, struct drv_cq *cq)
{
	struct mynic_cqe cqe;

	while (drv_poll(cq, &cqe)) {
		CHECK(cqe.status < ARRAY_SIZE(g->got));
		g->got[cqe.status]++;
	}
}

/* A queue pair of a, whose peer is the victim; @init has its type and PD */
static struct drv_qp *make_attacker(struct drv *d, struct drv_qp_init *init,
				    struct drv_cq *cq, struct drv_qp *victim)
{
	struct sim *sim = d->sim;
	struct drv_qp *qp;

	init->send_cq = cq;
	init->recv_cq = cq;
	init->log_sq_size = 1 + sim_random(sim, 3);
	init->log_rq_size = 1;
	init->log_sq_stride = 6 + sim_random(sim, 4);
	qp = drv_create_qp(d, init);
	drv_connect_to(qp, 1, victim->number,
		       &(struct drv_path){ .timeout = 1, .retry_cnt = 1 },
		       IBV_QPS_RTS);
	drv_reset_qp(victim);
	drv_connect_to(victim, 0, qp->number, &(struct drv_path){ 0 },
		       IBV_QPS_RTS);
	return qp;
}

static void attack(struct garbage *g, struct drv_qp *qp, struct drv_cq *cq)
{
	cq->rec->ci = sim_random(g->sim, 4) ? 0 : sim_random(g->sim, 20);
	cq->vector = sim_random(g->sim, MYNIC_MAX_VECTORS);
	drv_arm(cq, sim_random(g->sim, 2));
	sim_run(g->sim, 100 * USEC);
	count_completions(g, cq);
	CHECK_EQ(drv_number_cmd(qp->d, MYNIC_CMD_DESTROY_QP, qp->number), 0);
	CHECK_EQ(drv_number_cmd(qp->d, MYNIC_CMD_DESTROY_CQ, cq->number), 0);
}

/*
 * Garbage in queues, records and doorbells, and keys of others in requests:
 * only the process itself is hurt
 */
TEST(garbage_queues)
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
	struct garbage g = {
		.sim = sim,
		.own = { p.a.mr, p.b.mr },
		.foreign = { make_foreign(p.a.d), make_foreign(p.b.d) },
	};
	size_t used;

	sim->random = 11;
	used = d->n->used;
	for (unsigned int i = 0; i < 20000; i++) {
		struct drv_cq *cq = drv_create_cq(d, 3);
		struct drv_qp *qp = make_attacker(d, &init, cq, victim);

		if (i % 2)
			post_requests(&g, qp, victim);
		else
			fill_queue(&g, qp);
		attack(&g, qp, cq);
		count_completions(&g, p.b.recv_cq);
		if (i % 100 == 0)
			for (unsigned int k = 0; k < 2; k++)
				check_unseen(g.own[k]);
		/* the memory can be used again */
		memset(d->n->mem + used, 0, d->n->used - used);
		d->n->used = used;
	}
	for (unsigned int k = 0; k < 2; k++) {
		check_unseen(g.own[k]);
		check_unchanged(g.foreign[k]);
	}
	/* Requests got as far as the keys, and not all keys were bad */
	CHECK(g.got[IBV_WC_SUCCESS] > 1000);
	CHECK(g.got[IBV_WC_LOC_PROT_ERR] > 1000);
	CHECK(g.got[IBV_WC_REM_ACCESS_ERR] > 200);
	drv_send_recv(&p.a, &p.b, 5000);
	drv_send_recv(&p.b, &p.a, 5000);
}

/* Memory that commands name, and numbers that they have returned */
struct command_pool {
	struct drv *d;
	uint8_t *mem;
	uint32_t pdn;
	uint64_t dm;
	uint32_t number[16];
};

#define POOL_LEN (4u << 20)

static const uint8_t mkey_flags[] = {
	0,
	MYNIC_MKEY_DMA,
	MYNIC_MKEY_FAST_REG,
	MYNIC_MKEY_MW1,
	MYNIC_MKEY_MW2,
	MYNIC_MKEY_ODP,
	MYNIC_MKEY_DM,
};

/* A memory key as the device wants it */
static void good_mkey(struct command_pool *pool, struct mynic_admin_cmd *cmd,
		      uint8_t flags)
{
	struct sim *sim = pool->d->sim;
	struct mynic_create_mkey *body = &cmd->create_mkey;

	*cmd = (struct mynic_admin_cmd){ .opcode = MYNIC_CMD_CREATE_MKEY,
					 .flags = flags };
	body->pdn = pool->pdn;
	if (flags == MYNIC_MKEY_ODP) {
		body->buf.levels = 1 + sim_random(sim, 2);
		body->buf.log_page_size = 12;
		body->buf.log_list_size = 12;
	}
	switch (flags) {
	case MYNIC_MKEY_FAST_REG:
		body->length = 1 + sim_random(sim, 64);
		return;
	case MYNIC_MKEY_MW1:
	case MYNIC_MKEY_MW2:
		return;
	case MYNIC_MKEY_DMA:
		break;
	case MYNIC_MKEY_DM:
		body->buf.addr = pool->dm;
		body->length = sim_random(sim, 4096);
		break;
	default:
		body->buf.addr = sim_iova(pool->d->n, pool->mem);
		body->length = sim_random(sim, POOL_LEN / 4);
		body->iova = sim_random(sim, 1ull << 40);
	}
	body->access = IBV_ACCESS_LOCAL_WRITE;
}

/* Any opcode and any flags that exist, and a few others */
static void random_command(struct command_pool *pool,
			   struct mynic_admin_cmd *cmd)
{
	struct sim *sim = pool->d->sim;

	*cmd = (struct mynic_admin_cmd){
		.opcode = sim_random(sim, 10) ?
				  sim_random(sim,
					     MYNIC_CMD_ATTACH_COMP_CNTR + 2) :
				  sim_random(sim, 256),
		.flags = sim_random(sim, 4) ? 0 : sim_random(sim, 256),
	};
	for (unsigned int k = 0; k < sizeof(cmd->body); k++)
		cmd->body[k] = sim_random(sim, 3) ? 0 : sim_random(sim, 256);
	if (sim_random(sim, 2))
		*(uint64_t *)cmd->body = sim_iova(pool->d->n, pool->mem);
}

/* Return: what is good but for a byte or two, or not even that */
static struct mynic_admin_cmd next_command(struct command_pool *pool)
{
	struct sim *sim = pool->d->sim;
	struct mynic_admin_cmd cmd;

	if (sim_random(sim, 4))
		random_command(pool, &cmd);
	else
		good_mkey(pool, &cmd,
			  mkey_flags[sim_random(sim, ARRAY_SIZE(mkey_flags))]);
	switch (sim_random(sim, 4)) {
	case 0:
		cmd.number = sim_random(sim, 40);
		break;
	case 1:
		cmd.number =
			pool->number[sim_random(sim, ARRAY_SIZE(pool->number))];
	}
	/* keys are told by their index */
	if (sim_random(sim, 2))
		cmd.number >>= 8;
	for (unsigned int k = sim_random(sim, 3); k; k--)
		cmd.body[sim_random(sim, sizeof(cmd.body))] =
			sim_random(sim, 256);
	return cmd;
}

static struct command_pool new_pool(struct drv *d)
{
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_ALLOC_DM };
	struct command_pool pool = {
		.d = d,
		.mem = sim_alloc(d->n, POOL_LEN, DRV_PAGE),
		.pdn = drv_alloc_pd(d),
	};
	struct mynic_admin_cpl cpl;

	cmd.alloc_dm.length = 4096;
	CHECK_EQ(drv_admin(d, &cmd, &cpl), MYNIC_AQ_OK);
	pool.dm = cpl.dm_place.offset;
	return pool;
}

TEST(garbage_commands)
{
	struct drv *d = drv_one();
	struct command_pool pool = new_pool(d);
	unsigned int made[256] = { 0 }, opcodes[256] = { 0 };
	struct sim *sim = d->sim;

	sim->random = 13;
	for (unsigned int i = 0; i < 200000; i++) {
		struct mynic_admin_cmd cmd = next_command(&pool);
		struct mynic_admin_cpl cpl;
		uint8_t mbox[256];
		uint8_t status;

		for (unsigned int k = 0; k < sizeof(mbox); k++)
			mbox[k] = sim_random(sim, 3) ? 0 : sim_random(sim, 16);
		if (sim_random(sim, 2))
			*(uint64_t *)mbox = sim_iova(d->n, pool.mem);
		status = drv_admin_in(
			d, &cmd, &cpl, mbox,
			sim_random(sim, 2) ? 0 :
					     sim_random(sim, sizeof(mbox) + 1));
		opcodes[cmd.opcode] += status != MYNIC_AQ_BAD_OPCODE;
		if (status)
			continue;
		if (cpl.number)
			pool.number[i % ARRAY_SIZE(pool.number)] = cpl.number;
		if (cmd.opcode == MYNIC_CMD_CREATE_MKEY)
			made[cmd.flags]++;
	}
	for (unsigned int k = 0; k < ARRAY_SIZE(mkey_flags); k++)
		if (made[mkey_flags[k]] < 100)
			FAIL("%u keys with flags 0x%02x", made[mkey_flags[k]],
			     mkey_flags[k]);
	for (unsigned int k = 0; k < ARRAY_SIZE(opcodes); k++)
		if (opcodes[k] && opcodes[k] < 100)
			FAIL("%u commands 0x%02x", opcodes[k], k);
	CHECK(opcodes[MYNIC_CMD_ATTACH_COMP_CNTR] >= 100);
	CHECK_EQ(sim_read32(d->n, MYNIC_REG_STATUS),
		 MYNIC_STATUS_READY | MYNIC_STATUS_ENABLED);
}
