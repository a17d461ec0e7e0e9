// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A way that can take no more: QPs whose last packet went there wait, and no
 * others.
 */
#include "harness_driver.h"

#define LEN 64
#define NUM_QPS 40

/**
 * struct world - a NIC with two peers
 * @n: the NIC
 * @slow: QPs to the peer behind a way that gets full
 * @num: number of @slow
 * @other: QP to the other peer
 */
struct world {
	struct sim_nic *n;
	struct drv_pair slow[NUM_QPS];
	unsigned int num;
	struct drv_pair other;
};

static struct drv_pair connect(struct drv *from, struct drv *to)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_RC };
	static const struct drv_path path = { .timeout = 1, .retry_cnt = 1 };
	struct drv_pair p = drv_pair_on(from, to, &init);

	drv_connect(p.a.qp, p.b.qp, &path);
	return p;
}

static void post(struct drv_pair *p)
{
	struct drv_wr wr = drv_pair_wr(p, IBV_WR_RDMA_WRITE, LEN);

	drv_post_send(p->a.qp, &wr);
}

static void expect(struct drv_pair *p)
{
	drv_expect(p->a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
}

/* Each QP has sent, so that its way is known */
static struct world new_world(unsigned int num)
{
	struct sim *sim = sim_new(3);
	struct drv *d[3];
	struct world w = { .n = &sim->nics[0], .num = num };

	for (unsigned int i = 0; i < ARRAY_SIZE(d); i++)
		d[i] = drv_up(&sim->nics[i]);
	for (unsigned int i = 0; i < num; i++) {
		w.slow[i] = connect(d[0], d[1]);
		post(&w.slow[i]);
		expect(&w.slow[i]);
	}
	w.other = connect(d[0], d[2]);
	post(&w.other);
	expect(&w.other);
	return w;
}

static void set_full(struct world *w, bool full)
{
	sim_set_full(w->slow[0].b.d->n, full);
}

TEST(full_way_holds_nobody_else)
{
	struct world w = new_world(1);

	set_full(&w, true);
	post(&w.slow[0]);
	for (unsigned int i = 0; i < 10; i++) {
		post(&w.other);
		expect(&w.other);
	}
	drv_expect_none(w.slow[0].a.cq, SEC);
	set_full(&w, false);
	expect(&w.slow[0]);
	/* Silence of the peer while nothing could be sent is no timeout */
	CHECK_EQ(drv_stat(w.other.a.d, MYNIC_STAT_TIMEOUT), 0);
}

/* What is on that way is late, also if there is nothing more to send */
TEST(full_way_gives_nothing_up)
{
	struct world w = new_world(1);
	struct sim *sim = w.n->sim;

	sim->drop = 1000;
	post(&w.slow[0]);
	nic_run(w.n->nic);
	set_full(&w, true);
	sim_run(sim, SEC);
	CHECK_EQ(drv_stat(w.other.a.d, MYNIC_STAT_TIMEOUT), 0);
	drv_expect_none(w.slow[0].a.cq, 0);
	sim->drop = 0;
	set_full(&w, false);
	expect(&w.slow[0]);
}

TEST(full_way_gets_nothing_more)
{
	struct world w = new_world(NUM_QPS);
	uint64_t sent = w.n->sent;

	set_full(&w, true);
	for (unsigned int i = 0; i < w.num; i++)
		post(&w.slow[i]);
	sim_run(w.n->sim, SEC);
	CHECK_EQ(w.n->sent, sent);
	set_full(&w, false);
	for (unsigned int i = 0; i < w.num; i++)
		expect(&w.slow[i]);
}

/* It has room for a moment, which another NIC may have used up */
TEST(full_way_is_full_again)
{
	struct world w = new_world(2);
	uint64_t sent = w.n->sent;

	set_full(&w, true);
	post(&w.slow[0]);
	post(&w.slow[1]);
	sim_run(w.n->sim, SEC);
	set_full(&w, false);
	set_full(&w, true);
	sim_run(w.n->sim, SEC);
	CHECK_EQ(w.n->sent, sent);
	set_full(&w, false);
	expect(&w.slow[0]);
	expect(&w.slow[1]);
}

/* A wait for a way does not end with another one's */
TEST(full_ways_are_told_apart)
{
	struct world w = new_world(1);
	uint64_t sent;

	set_full(&w, true);
	sim_set_full(w.other.b.d->n, true);
	post(&w.slow[0]);
	post(&w.other);
	sent = w.n->sent;
	sim_run(w.n->sim, SEC);
	CHECK_EQ(w.n->sent, sent);
	sim_set_full(w.other.b.d->n, false);
	expect(&w.other);
	drv_expect_none(w.slow[0].a.cq, SEC);
	set_full(&w, false);
	expect(&w.slow[0]);
}

TEST(full_way_does_not_delay_a_flush)
{
	struct world w = new_world(2);

	set_full(&w, true);
	post(&w.slow[0]);
	post(&w.slow[1]);
	sim_run(w.n->sim, SEC);
	CHECK_EQ(drv_set_state(w.slow[0].a.qp, IBV_QPS_ERR), MYNIC_AQ_OK);
	drv_expect(w.slow[0].a.cq, DRV_WR_ID, IBV_WC_WR_FLUSH_ERR);
	drv_expect_none(w.slow[1].a.cq, SEC);
	/* Neither does what was held keep its place after that */
	CHECK_EQ(drv_set_state(w.slow[0].a.qp, IBV_QPS_RESET), MYNIC_AQ_OK);
	CHECK_EQ(drv_set_state(w.slow[1].a.qp, IBV_QPS_RESET), MYNIC_AQ_OK);
	CHECK_EQ(drv_number_cmd(w.slow[1].a.d, MYNIC_CMD_DESTROY_QP,
				w.slow[1].a.qp->number),
		 MYNIC_AQ_OK);
	set_full(&w, false);
	post(&w.other);
	expect(&w.other);
}

/* Responses go the same way */
TEST(full_way_holds_responses)
{
	struct world w = new_world(1);
	struct drv_wr wr = drv_pair_wr(&w.slow[0], IBV_WR_RDMA_READ, LEN);

	sim_set_full(w.n, true);
	drv_post_send(w.slow[0].a.qp, &wr);
	drv_expect_none(w.slow[0].a.cq, 1000);
	sim_set_full(w.n, false);
	expect(&w.slow[0]);
}
