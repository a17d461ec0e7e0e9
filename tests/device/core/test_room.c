// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A wire without room for what goes to one peer: QPs that send there wait, and
 * no others.
 */
#include "core/engine/qp_info.h"
#include "harness_eth.h"

#define LEN 64
#define MAX_SLOW 40

/**
 * struct world - a NIC with two peers
 * @n: the NIC
 * @slow: QPs to the peer that there may be no room for
 * @num: number of @slow
 * @other: QP to the other peer
 */
struct world {
	struct sim_nic *n;
	struct drv_pair slow[MAX_SLOW];
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

static uint32_t waits(const struct drv_end *end)
{
	uint32_t number = end->qp->number;
	struct qp_info info;

	CHECK(nic_next_qp(end->d->n->nic, &number, &info));
	CHECK_EQ(number, end->qp->number);
	return info.waits;
}

static struct world new_world(unsigned int num)
{
	struct sim *sim = sim_new(3);
	struct drv *d[3];
	struct world w = { .n = &sim->nics[0], .num = num };

	for (unsigned int i = 0; i < ARRAY_SIZE(d); i++)
		d[i] = drv_up(&sim->nics[i]);
	for (unsigned int i = 0; i < num; i++)
		w.slow[i] = connect(d[0], d[1]);
	w.other = connect(d[0], d[2]);
	return w;
}

static void set_full(struct world *w, bool full)
{
	sim_set_room(&w->n->sim->nics[1], full ? 0 : SIM_MUCH_ROOM);
}

static void post_all(struct world *w)
{
	for (unsigned int i = 0; i < w->num; i++)
		post(&w->slow[i]);
}

static void expect_all(struct world *w)
{
	for (unsigned int i = 0; i < w->num; i++)
		expect(&w->slow[i]);
}

static void expect_nothing_sent(struct world *w)
{
	uint64_t sent = w->n->sent;

	sim_run(w->n->sim, SEC);
	CHECK_EQ(w->n->sent, sent);
}

TEST(room_for_others)
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

/* QPs that have never sent know as well as others that there is none */
TEST(room_for_nobody)
{
	struct world w = new_world(MAX_SLOW);

	set_full(&w, true);
	post_all(&w);
	expect_nothing_sent(&w);
	set_full(&w, false);
	expect_all(&w);
}

/* Another NIC may have used it up at once */
TEST(room_for_a_moment)
{
	struct world w = new_world(MAX_SLOW);

	set_full(&w, true);
	post_all(&w);
	expect_nothing_sent(&w);
	set_full(&w, false);
	set_full(&w, true);
	expect_nothing_sent(&w);
	set_full(&w, false);
	expect_all(&w);
}

/* A new request had it try before its turn came */
TEST(room_when_nobody_waits_any_more)
{
	struct world w = new_world(1);

	set_full(&w, true);
	post_all(&w);
	expect_nothing_sent(&w);
	CHECK(nic_next_event(w.n->nic) > w.n->sim->now);
	set_full(&w, false);
	CHECK(nic_next_event(w.n->nic) <= w.n->sim->now);
	post_all(&w);
	expect_all(&w);
	expect_all(&w);
}

TEST(room_for_one_of_two_peers)
{
	struct world w = new_world(1);
	struct sim_nic *third = &w.n->sim->nics[2];

	set_full(&w, true);
	sim_set_room(third, 0);
	post(&w.slow[0]);
	post(&w.other);
	expect_nothing_sent(&w);
	sim_set_room(third, SIM_MUCH_ROOM);
	expect(&w.other);
	drv_expect_none(w.slow[0].a.cq, SEC);
	set_full(&w, false);
	expect(&w.slow[0]);
}

/* Send one request, and lose it */
static void lose(struct drv_pair *p)
{
	uint64_t sent = p->a.d->n->sent;

	p->sim->drop = 1000;
	post(p);
	nic_run(p->a.d->n->nic);
	CHECK_EQ(p->a.d->n->sent, sent + 1);
	p->sim->drop = 0;
}

static struct drv_pair lose_one(unsigned int timeout)
{
	const struct drv_path path = { .timeout = timeout, .retry_cnt = 1 };
	struct drv_pair p = drv_rc_pair(&path);

	lose(&p);
	return p;
}

static uint64_t timeouts(const struct drv_pair *p)
{
	return drv_stat(p->a.d, MYNIC_STAT_TIMEOUT);
}

/* For all that the NIC knows it is still in the queue */
TEST(room_and_timeouts)
{
	struct drv_pair p = lose_one(1);

	sim_set_room(p.b.d->n, 0);
	drv_expect_none(p.a.cq, SEC);
	CHECK_EQ(timeouts(&p), 0);
	CHECK_EQ(p.a.d->n->sent, 1);
	sim_set_room(p.b.d->n, SIM_MUCH_ROOM);
	expect(&p);
	CHECK_EQ(timeouts(&p), 1);
	/* So it is with the next one */
	lose(&p);
	sim_set_room(p.b.d->n, 0);
	drv_expect_none(p.a.cq, SEC);
	CHECK_EQ(timeouts(&p), 1);
}

/* When there is room for the first time, the end of the queue may be left */
TEST(room_for_others_in_the_queue)
{
	/* 17 ms */
	struct drv_pair p = lose_one(12);

	sim_set_room(p.b.d->n, 0);
	sim_run(p.sim, 30 * MSEC);
	sim_set_room(p.b.d->n, SIM_MUCH_ROOM);
	sim_set_room(p.b.d->n, 0);
	drv_expect_none(p.a.cq, SEC);
	CHECK_EQ(timeouts(&p), 0);
	sim_set_room(p.b.d->n, SIM_MUCH_ROOM);
	expect(&p);
}

/*
 * It is to be sent again, but others have their turns first. Nothing is given up
 * before, and the time of its answer begins only then
 */
TEST(room_for_a_repeated_packet)
{
	struct drv_pair p = lose_one(1);
	struct sim_nic *n = p.a.d->n;

	sim_set_room(p.b.d->n, 0);
	sim_run(p.sim, MSEC);
	/* There is room for others only, until the timeout has come */
	for (unsigned int i = 0; i < 3; i++) {
		nic_resume(n->nic, 1);
		sim_run(p.sim, 30 * MSEC);
	}
	CHECK_EQ(timeouts(&p), 1);
	CHECK_EQ(n->sent, 1);
	for (unsigned int i = 0; i < 50; i++) {
		nic_resume(n->nic, 1);
		sim_run(p.sim, 30 * MSEC);
	}
	CHECK_EQ(timeouts(&p), 1);
	sim_set_room(p.b.d->n, SIM_MUCH_ROOM);
	expect(&p);
}

/* A probe is as large as any packet */
TEST(room_for_probes)
{
	/* 268 ms */
	static const struct drv_path path = { .timeout = 16, .retry_cnt = 1 };
	struct drv_pair p = drv_rc_pair(&path);
	uint64_t sent;

	/* The probe comes when the time of a round trip is known */
	post(&p);
	expect(&p);
	lose(&p);
	sent = p.a.d->n->sent;
	sim_set_room(p.b.d->n, 0);
	sim_run(p.sim, 50 * MSEC);
	for (unsigned int i = 0; i < 2; i++) {
		sim_set_room(p.b.d->n, SIM_MUCH_ROOM);
		sim_set_room(p.b.d->n, 0);
	}
	sim_run(p.sim, 100 * MSEC);
	CHECK_EQ(p.a.d->n->sent, sent);
	sim_set_room(p.b.d->n, SIM_MUCH_ROOM);
	expect(&p);
	CHECK_EQ(timeouts(&p), 0);
	CHECK(drv_stat(p.a.d, MYNIC_STAT_PROBE));
}

/* It may have left the queue only now, and its answer is to come */
TEST(room_before_a_timeout)
{
	/* 17 ms */
	struct drv_pair p = lose_one(12);

	sim_set_room(p.b.d->n, 0);
	sim_run(p.sim, SEC);
	sim_run(p.sim, nic_next_event(p.a.d->n->nic) - p.sim->now - 1);
	sim_set_room(p.b.d->n, SIM_MUCH_ROOM);
	sim_run(p.sim, MSEC);
	CHECK_EQ(timeouts(&p), 0);
	expect(&p);
	CHECK_EQ(timeouts(&p), 1);
}

/* The same if there was none only while no timer expired */
TEST(room_for_a_part_of_the_time)
{
	struct drv_pair p = lose_one(12);

	sim_set_room(p.b.d->n, 0);
	sim_run(p.sim, 10 * MSEC);
	sim_set_room(p.b.d->n, SIM_MUCH_ROOM);
	sim_run(p.sim, 10 * MSEC);
	CHECK_EQ(timeouts(&p), 0);
	expect(&p);
	CHECK_EQ(timeouts(&p), 1);
}

/* Other senders use up all room again and again */
TEST(room_for_short_times_only)
{
	/* 67 ms */
	struct drv_pair p = lose_one(14);
	uint64_t end = p.sim->now + 300 * MSEC;
	struct mynic_cqe cqe;

	do {
		CHECK(p.sim->now < end);
		sim_set_room(p.b.d->n, 0);
		sim_run(p.sim, 3900 * USEC);
		sim_set_room(p.b.d->n, SIM_MUCH_ROOM);
		sim_run(p.sim, 100 * USEC);
	} while (!drv_poll(p.a.cq, &cqe));
	CHECK_EQ(timeouts(&p), 1);
}

/* Each takes what there is, and more of them than it suffices for wait */
TEST(room_is_shared)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_UC,
						 .log_sq_size = 6 };
	static const struct drv_path path = { 0 };
	struct drv_pair p[5];
	struct sim *sim = sim_new(2);
	struct drv *a = drv_up(&sim->nics[0]);
	struct drv *b = drv_up(&sim->nics[1]);

	for (unsigned int i = 0; i < ARRAY_SIZE(p); i++) {
		p[i] = drv_pair_on(a, b, &init);
		drv_connect(p[i].a.qp, p[i].b.qp, &path);
	}
	sim_set_room(&sim->nics[1], 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(p); i++)
		for (unsigned int j = 0; j < 60; j++)
			post(&p[i]);
	sim_run(sim, MSEC);
	/* In three rounds of all, with room for not quite one QP at a time */
	for (unsigned int i = 0; i < 3 * ARRAY_SIZE(p); i++) {
		sim_set_room(&sim->nics[1], 7);
		sim_run(sim, MSEC);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(p); i++)
		for (unsigned int j = 0; j < 3 * 7; j++)
			expect(&p[i]);
}

/* Those that wait for one peer do not take the time of another one's */
TEST(room_for_two_peers)
{
	struct world w = new_world(MAX_SLOW);
	unsigned int left = 0;

	set_full(&w, true);
	sim_set_room(&w.n->sim->nics[2], 0);
	post_all(&w);
	post(&w.other);
	expect_nothing_sent(&w);
	set_full(&w, false);
	sim_set_room(&w.n->sim->nics[2], SIM_MUCH_ROOM);
	CHECK(nic_run(w.n->nic));
	for (unsigned int i = 0; i < w.num; i++)
		left += waits(&w.slow[i].a) == QP_WAIT_ROOM;
	/* In one turn, several go on, and not all */
	CHECK(left);
	CHECK(left + 4 < w.num);
	CHECK(waits(&w.other.a) != QP_WAIT_ROOM);
	expect(&w.other);
	expect_all(&w);
}

/* Who has waited for long keeps its place, whatever else it has to do */
TEST(room_and_places)
{
	struct world w = new_world(2);

	set_full(&w, true);
	post(&w.slow[0]);
	expect_nothing_sent(&w);
	post(&w.slow[1]);
	expect_nothing_sent(&w);
	post(&w.slow[0]);
	expect_nothing_sent(&w);
	sim_set_room(&w.n->sim->nics[1], 1);
	expect(&w.slow[0]);
	drv_expect_none(w.slow[1].a.cq, SEC);
}

/* Looking for room must not take the time of others */
TEST(room_is_looked_for_rarely)
{
	struct drv_pair p = lose_one(1);
	struct nic *nic = p.a.d->n->nic;

	sim_set_room(p.b.d->n, 0);
	/* The ACK timeout, which finds that there is none */
	sim_run(p.sim, MSEC);
	CHECK(nic_next_event(nic) > p.sim->now + 5 * MSEC);
	CHECK(nic_next_event(nic) < p.sim->now + SEC);
}

TEST(room_and_flushing)
{
	struct world w = new_world(2);

	set_full(&w, true);
	post_all(&w);
	expect_nothing_sent(&w);
	CHECK_EQ(drv_set_state(w.slow[0].a.qp, IBV_QPS_ERR), MYNIC_AQ_OK);
	drv_expect(w.slow[0].a.cq, DRV_WR_ID, IBV_WC_WR_FLUSH_ERR);
	drv_expect_none(w.slow[1].a.cq, SEC);
	CHECK_EQ(drv_number_cmd(w.slow[1].a.d, MYNIC_CMD_DESTROY_QP,
				w.slow[1].a.qp->number),
		 MYNIC_AQ_OK);
	set_full(&w, false);
	post(&w.other);
	expect(&w.other);
}

/* Where a QP sent before does not matter */
TEST(room_for_another_peer)
{
	static const struct drv_path path = { .timeout = 1, .retry_cnt = 1 };
	struct world w = new_world(1);
	struct drv_pair p = w.slow[0];

	post(&w.slow[0]);
	expect(&w.slow[0]);
	set_full(&w, true);
	post(&w.slow[0]);
	expect_nothing_sent(&w);
	CHECK_EQ(waits(&p.a), QP_WAIT_ROOM);
	drv_reset_qp(p.a.qp);
	CHECK_EQ(waits(&p.a), 0);
	drv_reset_qp(w.other.b.qp);
	p.b = w.other.b;
	drv_connect_to(p.a.qp, 2, p.b.qp->number, &path, IBV_QPS_RTS);
	drv_connect_to(p.b.qp, 0, p.a.qp->number, &path, IBV_QPS_RTS);
	post(&p);
	expect(&p);
}

TEST(room_for_responses)
{
	struct world w = new_world(1);
	struct drv_wr wr = drv_pair_wr(&w.slow[0], IBV_WR_RDMA_READ, LEN);

	sim_set_room(w.n, 0);
	drv_post_send(w.slow[0].a.qp, &wr);
	drv_expect_none(w.slow[0].a.cq, 1000);
	sim_set_room(w.n, SIM_MUCH_ROOM);
	expect(&w.slow[0]);
}

/*
 * A FLUSH must not wait for room: it would keep its place, and others wait for
 * its end
 */
TEST(room_and_persistence)
{
	static const unsigned int order[] = { 1, 0, 2 };
	struct sim *sim = sim_new(4);
	struct drv *d[4];
	struct drv_pair p[3];

	for (unsigned int i = 0; i < ARRAY_SIZE(d); i++)
		d[i] = drv_up(&sim->nics[i]);
	for (unsigned int i = 0; i < ARRAY_SIZE(p); i++)
		p[i] = connect(d[i], d[3]);
	sim->nics[3].persist_later = true;
	for (unsigned int i = 0; i < ARRAY_SIZE(order); i++) {
		struct drv_pair *from = &p[order[i]];
		struct drv_wr wr = drv_pair_wr(from, IBV_WR_FLUSH, 0);

		wr.num_sge = 0;
		wr.flush = (struct mynic_flush_operands){
			.length = LEN,
			.placement = IBV_FLUSH_PERSISTENT,
			.selectivity = IBV_FLUSH_RANGE,
		};
		drv_post_send(from->a.qp, &wr);
		sim_run(sim, 1000);
	}
	sim_set_room(&sim->nics[0], 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(order); i++) {
		sim_persisted(&sim->nics[3]);
		sim_run(sim, 1000);
	}
	expect(&p[1]);
	expect(&p[2]);
	drv_expect_none(p[0].a.cq, 1000);
	sim_set_room(&sim->nics[0], SIM_MUCH_ROOM);
	expect(&p[0]);
}

TEST(room_for_uc)
{
	struct drv_pair p = drv_uc_pair(NULL);
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_WRITE, LEN);

	sim_set_room(p.b.d->n, 0);
	drv_post_send(p.a.qp, &wr);
	drv_expect_none(p.a.cq, SEC);
	CHECK_EQ(p.a.d->n->sent, 0);
	sim_set_room(p.b.d->n, SIM_MUCH_ROOM);
	expect(&p);
}

TEST(room_for_ud)
{
	struct drv_pair p = drv_ud_pair();
	struct drv_wr wr = drv_send_wr(&p.a, LEN);

	wr.remote_qpn = p.b.qp->number;
	wr.av = drv_av(p.a.d, 1, DRV_GID_IPV6);
	sim_set_room(p.b.d->n, 0);
	drv_post_send(p.a.qp, &wr);
	drv_expect_none(p.a.cq, SEC);
	CHECK_EQ(p.a.d->n->sent, 0);
	sim_set_room(p.b.d->n, SIM_MUCH_ROOM);
	expect(&p);
	/* What fails without being sent needs none */
	sim_set_room(p.b.d->n, 0);
	wr.sge[0].length = 9000;
	drv_post_send(p.a.qp, &wr);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_LOC_LEN_ERR);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_WR_FLUSH_ERR);
}

/* An UDP datagram to the other NIC */
static void make_frame(struct drv_pair *p, struct eth_buf *frame)
{
	eth_begin(frame, nic_mac(p->b.d->n->nic), 0x0800);
	eth_put_ipv4(frame, 0x0a000001, 0x0a000002, 17, 100);
	eth_put_udp(frame, 1, 2, 100);
	eth_put_data(frame, 100, 1);
	memcpy(p->a.mr->ptr, frame->data, frame->len);
}

static void check_frames(unsigned int flags)
{
	struct drv_pair p = eth_raw_pair();
	struct eth_buf frame = { 0 };
	struct drv_wr wr;

	make_frame(&p, &frame);
	wr = drv_send_wr(&p.a, frame.len);
	wr.flags |= flags;
	sim_set_room(p.b.d->n, 0);
	drv_post_send(p.a.qp, &wr);
	drv_expect_none(p.a.cq, SEC);
	CHECK_EQ(p.a.d->n->sent, 0);
	sim_set_room(p.b.d->n, SIM_MUCH_ROOM);
	expect(&p);
	CHECK_EQ(p.a.d->n->sent, 1);
}

TEST(room_for_frames)
{
	check_frames(0);
	check_frames(IBV_SEND_IP_CSUM);
}
