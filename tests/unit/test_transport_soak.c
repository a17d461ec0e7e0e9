// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * All operations at once, both ways, on several QPs, over wires that lose,
 * repeat and reorder: every byte arrives, every request completes once and in
 * order, and nothing that comes late changes what is there.
 */
#include "harness_driver.h"

#define QPS 3
#define SLOTS 24
#define SLOT_SIZE 20000
#define COUNTER (SLOTS * SLOT_SIZE) /* offset of an atomic variable */
#define MR_SIZE (COUNTER + 8)

/**
 * struct op - a request on its way
 * @index: number of the request in its flow
 * @opcode: what it does
 * @len: bytes
 * @seed: of the data, for drv_fill()
 * @before: atomics: the value that it must find
 */
struct op {
	uint64_t index;
	enum ibv_wr_opcode opcode;
	uint32_t len;
	unsigned int seed;
	uint64_t before;
};

/**
 * struct flow - all that goes one way on a QP
 * @sim: the world
 * @from: the end that sends
 * @to: the end that receives
 * @ops: by number of the request modulo SLOTS
 * @posted: requests posted
 * @done: requests completed
 * @needed: receive requests that are needed for what was posted
 * @offered: receive requests posted
 * @received: receive requests completed
 * @receivers: the requests that need them, by number modulo SLOTS
 * @counter: what the atomic variable will be
 */
struct flow {
	struct sim *sim;
	struct drv_end from;
	struct drv_end to;
	struct op ops[SLOTS];
	uint64_t posted;
	uint64_t done;
	uint64_t needed;
	uint64_t offered;
	uint64_t received;
	uint64_t receivers[SLOTS];
	uint64_t counter;
};

static uint64_t chance(struct flow *f, uint64_t below)
{
	return sim_random(f->sim, below);
}

static uint8_t *slot(const struct drv_mr *mr, uint64_t index)
{
	return mr->ptr + index % SLOTS * SLOT_SIZE;
}

static bool takes_recv(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM ||
	       opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static bool is_atomic(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

/* What both sides have after an operation, until the slot is used again */
static void check_data(struct flow *f, const struct op *op)
{
	static uint8_t want[SLOT_SIZE];
	uint64_t got;

	if (is_atomic(op->opcode)) {
		memcpy(&got, slot(f->from.mr, op->index), sizeof(got));
		CHECK_EQ(got, op->before);
		return;
	}
	drv_fill(want, op->len, op->seed);
	CHECK_MEM(slot(f->from.mr, op->index), want, op->len);
	CHECK_MEM(slot(f->to.mr, op->index), want, op->len);
}

/* One, two or three pieces of a slot */
static unsigned int make_sges(struct flow *f, const struct drv_mr *mr,
			      const struct op *op, struct mynic_sge *sge)
{
	uint64_t offset = op->index % SLOTS * SLOT_SIZE;
	uint32_t left = op->len;
	unsigned int num = 0;

	while (num < 2 && chance(f, 2)) {
		uint32_t len = chance(f, left + 1);

		sge[num++] = drv_sge(mr, offset, len);
		offset += len;
		left -= len;
	}
	sge[num++] = drv_sge(mr, offset, left);
	return num;
}

static void offer_recv(struct flow *f)
{
	uint64_t index = f->receivers[f->offered % SLOTS];
	const struct op *op = &f->ops[index % SLOTS];
	struct mynic_sge sge[3];
	unsigned int num = 0;

	if (op->opcode != IBV_WR_RDMA_WRITE_WITH_IMM)
		num = make_sges(f, f->to.mr, op, sge);
	drv_post_recv(f->to.qp, f->offered++, sge, num);
}

static void fill_wr(struct flow *f, struct op *op, struct drv_wr *wr)
{
	uint8_t *source = slot(f->from.mr, op->index);

	if (is_atomic(op->opcode)) {
		op->len = 8;
		op->before = f->counter;
		wr->num_sge = 1;
		wr->sge[0] =
			drv_sge(f->from.mr, op->index % SLOTS * SLOT_SIZE, 8);
		wr->remote_addr = f->to.mr->addr + COUNTER;
		wr->compare_add = 1 + chance(f, 1000);
		if (op->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
			f->counter += wr->compare_add;
			return;
		}
		wr->swap = chance(f, ~0ull);
		if (chance(f, 2)) {
			wr->compare_add = f->counter;
			f->counter = wr->swap;
		} else if (wr->compare_add == f->counter) {
			f->counter = wr->swap;
		}
		return;
	}
	memset(slot(f->to.mr, op->index), 0, SLOT_SIZE);
	memset(source, 0, SLOT_SIZE);
	if (op->opcode == IBV_WR_RDMA_READ)
		source = slot(f->to.mr, op->index);
	drv_fill(source, op->len, op->seed);
	wr->remote_addr = f->to.mr->addr + op->index % SLOTS * SLOT_SIZE;
	if (wr->flags & IBV_SEND_INLINE) {
		wr->inline_data = source;
		wr->inline_len = op->len;
		return;
	}
	wr->num_sge = make_sges(f, f->from.mr, op, wr->sge);
}

static void post(struct flow *f)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND,
		IBV_WR_SEND_WITH_IMM,
		IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_WRITE_WITH_IMM,
		IBV_WR_RDMA_READ,
		IBV_WR_ATOMIC_CMP_AND_SWP,
		IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	struct op *op = &f->ops[f->posted % SLOTS];
	struct drv_wr wr = { .flags = IBV_SEND_SIGNALED };

	if (f->posted >= SLOTS)
		check_data(f, op);
	op->index = f->posted++;
	op->opcode = opcodes[chance(f, ARRAY_SIZE(opcodes))];
	op->len = chance(f, 2) ? chance(f, 200) : chance(f, SLOT_SIZE);
	op->seed = chance(f, 1 << 20);
	if (op->len < 200 && !is_atomic(op->opcode) &&
	    op->opcode != IBV_WR_RDMA_READ && chance(f, 2))
		wr.flags |= IBV_SEND_INLINE;
	if (!chance(f, 8))
		wr.flags |= IBV_SEND_FENCE;
	wr.wr_id = op->index;
	wr.opcode = op->opcode;
	wr.imm = op->seed;
	wr.rkey = f->to.mr->key;
	fill_wr(f, op, &wr);
	if (takes_recv(op->opcode))
		f->receivers[f->needed++ % SLOTS] = op->index;
	drv_post_send(f->from.qp, &wr);
}

static void poll_send(struct flow *f)
{
	struct op *op = &f->ops[f->done % SLOTS];
	struct mynic_cqe cqe;

	while (drv_poll(f->from.cq, &cqe)) {
		if (cqe.status)
			FAIL("request %llu, opcode %d: status %u, syndrome %u",
			     (unsigned long long)f->done, op->opcode,
			     cqe.status, cqe.vendor_err);
		CHECK_EQ(cqe.wr_id, f->done);
		CHECK_EQ(cqe.byte_len, op->len);
		check_data(f, op);
		f->done++;
		op = &f->ops[f->done % SLOTS];
	}
}

static void poll_recv(struct flow *f)
{
	struct mynic_cqe cqe;

	while (drv_poll(f->to.recv_cq, &cqe)) {
		uint64_t index = f->receivers[f->received % SLOTS];
		const struct op *op = &f->ops[index % SLOTS];

		CHECK_EQ(cqe.status, 0);
		CHECK_EQ(cqe.wr_id, f->received);
		CHECK_EQ(cqe.byte_len, op->len);
		if (op->opcode != IBV_WR_SEND)
			CHECK_EQ(cqe.imm_data, op->seed);
		check_data(f, op);
		f->received++;
	}
}

static void init_flow(struct flow *f, struct sim *sim, struct drv_end *from,
		      struct drv_end *to)
{
	f->sim = sim;
	f->from = *from;
	f->to = *to;
	f->from.mr = drv_reg_mr(from->d, from->pdn, MR_SIZE, ACCESS_ALL);
	f->to.mr = drv_reg_mr(to->d, to->pdn, MR_SIZE, ACCESS_ALL);
}

static void init_end(struct drv_end *e, struct drv *d, uint32_t pdn)
{
	struct drv_qp_init init = { .type = MYNIC_QP_RC };

	e->d = d;
	e->pdn = pdn;
	e->cq = drv_create_cq(d, 6);
	e->recv_cq = drv_create_cq(d, 6);
	init.pdn = pdn;
	init.send_cq = e->cq;
	init.recv_cq = e->recv_cq;
	e->qp = drv_create_qp(d, &init);
}

/* @faults: what to do to the wire, when all is connected */
static void soak(unsigned int num, uint64_t seed,
		 void (*faults)(struct sim *sim))
{
	static const enum ibv_mtu mtus[QPS] = { IBV_MTU_256, IBV_MTU_1024,
						IBV_MTU_4096 };
	struct sim *sim = sim_new(2);
	struct flow *flows = tap_alloc(2 * QPS * sizeof(*flows));
	struct drv *d[2] = { drv_up(&sim->nics[0]), drv_up(&sim->nics[1]) };
	uint32_t pdn[2] = { drv_alloc_pd(d[0]), drv_alloc_pd(d[1]) };
	uint64_t until = 1000 * SEC;
	bool busy = true;

	for (unsigned int i = 0; i < QPS; i++) {
		struct drv_path path = {
			.mtu = mtus[i],
			.sq_psn = 0xffffff - 50 * i,
			.rq_psn = 0x7fffff + 7 * i,
			.timeout = 8,
			.retry_cnt = 7,
			.rnr_retry = 7,
			.min_rnr_timer = 1,
			.max_rd_atomic = 1 + 3 * i,
		};
		struct drv_end a, b;

		init_end(&a, d[0], pdn[0]);
		init_end(&b, d[1], pdn[1]);
		drv_connect(a.qp, b.qp, &path);
		init_flow(&flows[2 * i], sim, &a, &b);
		init_flow(&flows[2 * i + 1], sim, &b, &a);
	}
	tap_note("seed %llu", (unsigned long long)seed);
	sim->random = seed;
	faults(sim);
	while (busy) {
		struct flow *f = &flows[sim_random(sim, 2 * QPS)];

		if (f->posted < num && f->posted - f->done < SLOTS &&
		    f->needed - f->received < SLOTS)
			post(f);
		while (f->offered != f->needed && chance(f, 4))
			offer_recv(f);
		if (!chance(f, 3) && !sim_step(sim, until))
			CHECK(sim->now < until);
		busy = false;
		for (unsigned int i = 0; i < 2 * QPS; i++) {
			poll_recv(&flows[i]);
			poll_send(&flows[i]);
			busy |= flows[i].done < num ||
				flows[i].received != flows[i].needed;
		}
	}
	for (unsigned int i = 0; i < 2 * QPS; i++) {
		uint64_t counter;

		memcpy(&counter, flows[i].to.mr->ptr + COUNTER, 8);
		CHECK_EQ(counter, flows[i].counter);
	}
	tap_note("retransmissions %llu, timeouts %llu",
		 (unsigned long long)drv_stat(d[0], MYNIC_STAT_RETRANSMIT),
		 (unsigned long long)drv_stat(d[0], MYNIC_STAT_TIMEOUT));
}

static void none(struct sim *sim)
{
	(void)sim;
}

TEST(soak_clean)
{
	soak(1500, 1, none);
}

static void direct(struct sim *sim)
{
	sim->direct = true;
}

TEST(soak_direct)
{
	soak(1500, 2, direct);
}

static void lossy(struct sim *sim)
{
	sim->drop = 10;
}

TEST(soak_loss)
{
	soak(500, 3, lossy);
}

static void very_lossy(struct sim *sim)
{
	sim->drop = 100;
}

TEST(soak_heavy_loss)
{
	soak(300, 4, very_lossy);
}

static void duplicating(struct sim *sim)
{
	sim->duplicate = 100;
}

TEST(soak_duplicates)
{
	soak(500, 5, duplicating);
}

static void reordering(struct sim *sim)
{
	sim->reorder = 100;
	sim->delay = 30 * USEC;
}

TEST(soak_reordering)
{
	soak(500, 6, reordering);
}

static void all(struct sim *sim)
{
	sim->drop = 20;
	sim->duplicate = 50;
	sim->reorder = 50;
	sim->delay = 100 * USEC;
}

TEST(soak_all)
{
	for (uint64_t seed = 7; seed < 12; seed++)
		soak(200, seed, all);
}
