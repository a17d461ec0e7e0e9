// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Event queues and completion queues */
#include "harness_driver.h"

struct source {
	struct drv *d;
	struct drv_cq *cq;
	struct drv_qp *qp;
};

static struct source add_source(struct drv *d, uint8_t log_cq)
{
	struct drv_cq *cq = drv_create_cq(d, log_cq);

	return (struct source){
		.d = d,
		.cq = cq,
		.qp = drv_create_flushing_qp(d, cq),
	};
}

static void complete(struct source *s, uint64_t wr_id)
{
	struct drv_wr wr = { .wr_id = wr_id, .opcode = IBV_WR_SEND };

	drv_post_send(s->qp, &wr);
	sim_settle(s->d->sim);
}

static void check_event(struct source *s, bool expected)
{
	struct mynic_eqe eqe;
	bool got;

	sim_settle(s->d->sim);
	got = drv_eq_poll(&s->d->comp, &eqe);
	CHECK_EQ(got, expected);
	if (!got)
		return;
	CHECK_EQ(eqe.type, MYNIC_EVENT_COMP);
	CHECK_EQ(eqe.number, s->cq->number);
	drv_eq_release(&s->d->comp);
}

static struct source source(uint8_t log_cq)
{
	struct source s = add_source(drv_one(), log_cq);

	CHECK_EQ(s.cq->rec->db_suppress, 0);
	if (!drv_features)
		return s;
	/* After the first doorbell, the device watches requests */
	drv_arm(s.cq, false);
	CHECK_EQ(s.cq->rec->db_suppress, 1);
	CHECK_EQ(s.cq->rec->taken, s.cq->rec->arm);
	complete(&s, 0);
	check_event(&s, true);
	drv_expect(s.cq, 0, IBV_WC_WR_FLUSH_ERR);
	return s;
}

TEST(cq_phase_wraps)
{
	struct source s = source(2);

	for (uint64_t i = 0; i < 1000; i++) {
		complete(&s, i);
		CHECK_EQ(drv_expect(s.cq, i, IBV_WC_WR_FLUSH_ERR).qp_num,
			 s.qp->number);
	}
	drv_expect_none(s.cq, 0);
}

TEST(cq_full_is_no_overrun)
{
	struct source s = source(3);
	struct mynic_eqe eqe;

	for (uint64_t i = 0; i < 8; i++)
		complete(&s, i);
	for (uint64_t i = 0; i < 8; i++)
		drv_expect(s.cq, i, IBV_WC_WR_FLUSH_ERR);
	CHECK_EQ(drv_stat(s.d, MYNIC_STAT_CQ_OVERRUN), 0);
	CHECK(!drv_eq_poll(&s.d->event, &eqe));
}

TEST(cq_overrun_is_contained)
{
	struct source s = source(3);
	struct source other = add_source(s.d, 3);
	struct mynic_eqe eqe;
	struct mynic_cqe cqe;
	bool cq_error = false;

	for (uint64_t i = 0; i < 20; i++)
		complete(&s, i);
	/* entries that were not read are unchanged */
	for (uint64_t i = 0; i < 8; i++)
		drv_expect(s.cq, i, IBV_WC_WR_FLUSH_ERR);
	CHECK_EQ(drv_stat(s.d, MYNIC_STAT_CQ_OVERRUN), 1);
	while (drv_eq_poll(&s.d->event, &eqe)) {
		if (eqe.type != MYNIC_EVENT_CQ_ERROR)
			continue;
		CHECK_EQ(eqe.number, s.cq->number);
		CHECK(!cq_error);
		cq_error = true;
	}
	CHECK(cq_error);
	/* it stays dead, although there is room again */
	complete(&s, 21);
	CHECK(!drv_poll(s.cq, &cqe));
	/* others are not affected */
	complete(&other, 77);
	drv_expect(other.cq, 77, IBV_WC_WR_FLUSH_ERR);
	CHECK_EQ(drv_number_cmd(s.d, MYNIC_CMD_DESTROY_QP, s.qp->number), 0);
	CHECK_EQ(drv_number_cmd(s.d, MYNIC_CMD_DESTROY_CQ, s.cq->number), 0);
}

TEST(cq_overrun_stops_its_qps)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct mynic_eqe eqe;
	struct drv_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.flags = IBV_SEND_SIGNALED,
		.remote_addr = p.b.mr->addr,
		.rkey = p.b.mr->key,
	};
	bool qp_fatal = false;

	/* 256 entries, none of which is ever read */
	for (int i = 0; i < 257; i++) {
		drv_post_send(p.a.qp, &wr);
		sim_settle(p.sim);
	}
	SIM_WAIT(p.sim, drv_query_qp(p.a.qp).qp_state == IBV_QPS_ERR);
	while (drv_eq_poll(&p.a.d->event, &eqe))
		if (eqe.type == MYNIC_EVENT_QP_FATAL) {
			CHECK_EQ(eqe.number, p.a.qp->number);
			qp_fatal = true;
		}
	CHECK(qp_fatal);
}

/*
 * An impossible consumer index. The device need not read it before the ring
 * seems to be full.
 */
static void check_bad_ci(uint32_t ci)
{
	struct source s = source(3);
	struct mynic_eqe eqe = { 0 };

	for (uint64_t i = 0; i < 20; i++) {
		complete(&s, i);
		drv_expect(s.cq, i, IBV_WC_WR_FLUSH_ERR);
	}
	s.cq->rec->ci = ci;
	for (uint64_t i = 0; i < 9 && !drv_eq_poll(&s.d->event, &eqe); i++)
		complete(&s, i);
	CHECK_EQ(eqe.type, MYNIC_EVENT_CQ_ERROR);
	CHECK_EQ(eqe.number, s.cq->number);
	CHECK(drv_stat(s.d, MYNIC_STAT_BAD_INDEX) > 0);
	CHECK_EQ(drv_stat(s.d, MYNIC_STAT_CQ_OVERRUN), 0);
	CHECK_EQ(drv_number_cmd(s.d, MYNIC_CMD_NOP, 0), MYNIC_AQ_OK);
}

TEST(cq_index_far_ahead)
{
	check_bad_ci(0x80000000);
}

TEST(cq_index_behind)
{
	check_bad_ci(11);
}

TEST(cq_memory_unmapped)
{
	struct source s = source(3);
	struct source other = add_source(s.d, 3);
	uint8_t *mem = sim_alloc(s.d->n, 4096, 4096);
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_CREATE_CQ };
	struct mynic_admin_cpl cpl;
	struct drv_qp_init init = { .type = MYNIC_QP_RC };
	struct drv_cq ghost = { .d = s.d };
	uint64_t list = sim_iova(s.d->n, mem);

	/* its list names memory that does not exist */
	*(uint64_t *)mem = 0x1000;
	cmd.create_cq.buf.addr = list;
	cmd.create_cq.buf.levels = 1;
	cmd.create_cq.buf.log_page_size = 12;
	cmd.create_cq.dbrec_offset = 2048;
	cmd.create_cq.uarn = 1;
	cmd.create_cq.eqn = s.d->comp.number;
	cmd.create_cq.log_size = 3;
	if (drv_admin(s.d, &cmd, &cpl) == MYNIC_AQ_BAD_DMA)
		return;
	CHECK_EQ(cpl.status, MYNIC_AQ_OK);
	ghost.number = cpl.number;
	init.pdn = drv_alloc_pd(s.d);
	init.send_cq = &ghost;
	init.recv_cq = &ghost;
	s.qp = drv_create_qp(s.d, &init);
	CHECK_EQ(drv_set_state(s.qp, IBV_QPS_ERR), MYNIC_AQ_OK);
	complete(&s, 1);
	drv_expect_event(&s.d->event, MYNIC_EVENT_CQ_ERROR, ghost.number);
	CHECK(drv_stat(s.d, MYNIC_STAT_BAD_DMA) > 0);
	complete(&other, 5);
	drv_expect(other.cq, 5, IBV_WC_WR_FLUSH_ERR);
}

/*
 * Two tests: with a doorbell for each request, and with a device that watches
 * requests
 */
#define TEST_ARMING(name)                                 \
	static void check_##name(void);                   \
	TEST(name)                                        \
	{                                                 \
		check_##name();                           \
	}                                                 \
	TEST(name##_in_memory)                            \
	{                                                 \
		drv_features = MYNIC_FEATURE_DB_SUPPRESS; \
		check_##name();                           \
	}                                                 \
	static void check_##name(void)

TEST_ARMING(arm_then_complete)
{
	struct source s = source(6);

	complete(&s, 0);
	check_event(&s, false);
	drv_expect(s.cq, 0, IBV_WC_WR_FLUSH_ERR);
	drv_arm(s.cq, false);
	check_event(&s, false);
	complete(&s, 1);
	check_event(&s, true);
	/* one event for one arm */
	complete(&s, 2);
	check_event(&s, false);
}

/*
 * A race that must not lose the event: the completion comes before the request
 */
TEST_ARMING(arm_after_complete)
{
	struct source s = source(6);

	complete(&s, 0);
	drv_arm(s.cq, false);
	check_event(&s, true);
	complete(&s, 1);
	check_event(&s, false);
}

TEST_ARMING(arm_with_index_behind_entries)
{
	struct source s = source(6);

	complete(&s, 0);
	complete(&s, 1);
	/* two were seen, although the record may not say so */
	s.cq->ci += 2;
	drv_arm(s.cq, false);
	check_event(&s, false);
	complete(&s, 2);
	check_event(&s, true);
}

TEST_ARMING(arm_twice_one_event)
{
	struct source s = source(6);

	drv_arm(s.cq, false);
	drv_arm(s.cq, false);
	complete(&s, 0);
	check_event(&s, true);
	check_event(&s, false);
}

TEST_ARMING(arm_error_is_solicited)
{
	struct source s = source(6);

	drv_arm(s.cq, true);
	complete(&s, 0);
	check_event(&s, true);
}

TEST_ARMING(arm_bad_index)
{
	struct source s = source(6);

	s.cq->ci += 0x40000000;
	drv_arm(s.cq, false);
	s.cq->ci -= 0x40000000;
	sim_settle(s.d->sim);
	drv_arm(s.cq, false);
	complete(&s, 0);
	sim_settle(s.d->sim);
	drv_expect(s.cq, 0, IBV_WC_WR_FLUSH_ERR);
	CHECK_EQ(drv_number_cmd(s.d, MYNIC_CMD_NOP, 0), MYNIC_AQ_OK);
}

static void send(struct drv_pair *p, uint64_t wr_id, bool solicited)
{
	struct drv_wr wr = {
		.wr_id = wr_id,
		.opcode = IBV_WR_SEND,
		.flags = solicited ? IBV_SEND_SOLICITED : 0,
	};

	drv_post_recv(p->b.qp, wr_id, NULL, 0);
	drv_post_send(p->a.qp, &wr);
	sim_settle(p->sim);
}

TEST_ARMING(arm_solicited)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct mynic_eqe eqe;

	drv_arm(p.b.recv_cq, true);
	send(&p, 1, false);
	CHECK(!drv_eq_poll(&p.b.d->comp, &eqe));
	send(&p, 2, true);
	drv_expect_event(&p.b.d->comp, MYNIC_EVENT_COMP, p.b.recv_cq->number);
	drv_expect(p.b.recv_cq, 1, IBV_WC_SUCCESS);
	drv_expect(p.b.recv_cq, 2, IBV_WC_SUCCESS);
	/* the solicited one was polled */
	send(&p, 3, false);
	drv_arm(p.b.recv_cq, true);
	sim_settle(p.sim);
	CHECK(!drv_eq_poll(&p.b.d->comp, &eqe));
	/* now one that is not */
	send(&p, 4, true);
	drv_expect_event(&p.b.d->comp, MYNIC_EVENT_COMP, p.b.recv_cq->number);
	/* it was there before the request */
	drv_arm(p.b.recv_cq, true);
	drv_expect_event(&p.b.d->comp, MYNIC_EVENT_COMP, p.b.recv_cq->number);
}

TEST_ARMING(arm_any_wins_over_solicited)
{
	struct drv_pair p = drv_rc_pair(NULL);

	drv_arm(p.b.recv_cq, false);
	drv_arm(p.b.recv_cq, true);
	send(&p, 1, false);
	drv_expect_event(&p.b.d->comp, MYNIC_EVENT_COMP, p.b.recv_cq->number);
}

static struct source watched(void)
{
	drv_features = MYNIC_FEATURE_DB_SUPPRESS;
	return source(11);
}

TEST(arm_without_doorbell)
{
	struct source s = watched();

	for (unsigned int i = 0; i < 5; i++) {
		drv_arm(s.cq, false);
		CHECK(s.cq->rec->taken != s.cq->rec->arm);
		complete(&s, 1);
		CHECK_EQ(s.cq->rec->taken, s.cq->rec->arm);
		check_event(&s, true);
		complete(&s, 2);
		check_event(&s, false);
		drv_expect(s.cq, 1, IBV_WC_WR_FLUSH_ERR);
		drv_expect(s.cq, 2, IBV_WC_WR_FLUSH_ERR);
	}
}

/* Two requests, for the next completion and for the one after it */
static void check_one_event_each(struct source *s)
{
	for (uint64_t i = 1; i <= 2; i++) {
		complete(s, i);
		check_event(s, true);
		check_event(s, false);
	}
}

/*
 * The host has seen the completion before it requests an event for the next one
 */
TEST(arm_again_before_it_is_taken)
{
	struct source s = watched();
	uint32_t next = s.cq->ci;

	drv_request(s.cq, 2, next, false);
	drv_request(s.cq, 3, next + 1, false);
	check_one_event_each(&s);
}

/*
 * A request for an entry that exists is served, although one for the next entry
 * replaces it
 */
TEST(arm_known_request_is_served_first)
{
	struct source s = watched();
	uint32_t next = s.cq->ci;

	drv_request(s.cq, 2, next, false);
	sim_doorbell(s.d->n, s.cq->uarn, MYNIC_UAR_CQ_DB, s.cq->number, next);
	drv_request(s.cq, 3, next + 1, false);
	check_one_event_each(&s);
}

TEST(arm_drops_solicited_in_place)
{
	struct drv_pair p;
	struct drv_cq *cq;
	struct mynic_eqe eqe;

	drv_features = MYNIC_FEATURE_DB_SUPPRESS;
	p = drv_rc_pair(NULL);
	cq = p.b.recv_cq;
	drv_arm(cq, true);
	send(&p, 1, true);
	drv_expect_event(&p.b.d->comp, MYNIC_EVENT_COMP, cq->number);
	drv_expect(cq, 1, IBV_WC_SUCCESS);
	drv_arm(cq, true);
	drv_arm(cq, false);
	CHECK(cq->rec->taken != cq->rec->arm);
	send(&p, 2, false);
	drv_expect_event(&p.b.d->comp, MYNIC_EVENT_COMP, cq->number);
	send(&p, 3, true);
	CHECK(!drv_eq_poll(&p.b.d->comp, &eqe));
}

/* Whether the next event of the CQ goes to this EQ */
static bool event_goes_to(struct source *s, uint8_t vector, struct drv_eq *eq)
{
	struct mynic_eqe eqe;
	bool got;

	s->cq->vector = vector;
	drv_arm(s->cq, false);
	complete(s, vector);
	drv_expect(s->cq, vector, IBV_WC_WR_FLUSH_ERR);
	got = drv_eq_poll(eq, &eqe);
	if (!got)
		return false;
	drv_eq_release(eq);
	return eqe.type == MYNIC_EVENT_COMP && eqe.number == s->cq->number;
}

TEST(arm_names_a_vector)
{
	struct source s = source(6);
	uint64_t *irqs = s.d->n->irqs;
	uint64_t own = irqs[1];
	struct drv_eq other;

	CHECK_EQ(drv_create_eq(s.d, &other, 4, 2, false), 0);
	CHECK(event_goes_to(&s, 2, &other));
	CHECK_EQ(irqs[2], 1);
	CHECK_EQ(irqs[1], own);
	CHECK(event_goes_to(&s, 0, &s.d->comp));
	CHECK_EQ(irqs[1], own + 1);
	CHECK(event_goes_to(&s, 1, &s.d->comp));
	CHECK(event_goes_to(&s, 2, &other));
	CHECK_EQ(irqs[1], own + 2);
	CHECK_EQ(irqs[2], 2);
}

TEST(arm_names_a_vector_of_no_eq)
{
	struct source s = source(6);
	struct drv_eq other, later;

	CHECK(event_goes_to(&s, 2, &s.d->comp));
	CHECK(event_goes_to(&s, MYNIC_MAX_VECTORS - 1, &s.d->comp));
	CHECK_EQ(drv_create_eq(s.d, &other, 4, 2, false), 0);
	CHECK_EQ(drv_create_eq(s.d, &later, 4, 2, false), 0);
	CHECK(event_goes_to(&s, 2, &later));
	CHECK_EQ(drv_number_cmd(s.d, MYNIC_CMD_DESTROY_EQ, later.number), 0);
	CHECK(event_goes_to(&s, 2, &s.d->comp));
}

TEST(arm_names_the_vector_of_the_async_eq)
{
	struct source s = source(6);
	struct drv_eq *async = &s.d->event;
	struct drv_eq other;

	CHECK_EQ(drv_number_cmd(s.d, MYNIC_CMD_DESTROY_EQ, async->number), 0);
	CHECK_EQ(drv_create_eq(s.d, async, 4, 2, true), 0);
	CHECK(event_goes_to(&s, 2, &s.d->comp));
	/* it does not take the vector of another EQ either */
	CHECK_EQ(drv_number_cmd(s.d, MYNIC_CMD_DESTROY_EQ, async->number), 0);
	CHECK_EQ(drv_create_eq(s.d, &other, 4, 2, false), 0);
	CHECK_EQ(drv_create_eq(s.d, async, 4, 2, true), 0);
	CHECK(event_goes_to(&s, 2, &other));
}

TEST(arm_names_a_vector_of_a_full_eq)
{
	struct drv *d = drv_one();
	struct source s[4];
	struct drv_eq small;
	struct mynic_eqe eqe;

	CHECK_EQ(drv_create_eq(d, &small, 1, 2, false), 0);
	for (unsigned int i = 0; i < 4; i++) {
		s[i] = add_source(d, 3);
		s[i].cq->vector = 2;
		drv_arm(s[i].cq, false);
		complete(&s[i], i);
	}
	for (unsigned int i = 0; i < 4; i++) {
		CHECK(drv_eq_poll(i < 2 ? &small : &d->comp, &eqe));
		CHECK_EQ(eqe.number, s[i].cq->number);
		drv_expect(s[i].cq, i, IBV_WC_WR_FLUSH_ERR);
	}
	CHECK(!drv_eq_poll(&small, &eqe));
	CHECK(!drv_eq_poll(&d->comp, &eqe));
	drv_eq_release(&small);
	drv_eq_release(&d->comp);
	sim_settle(d->sim);
	CHECK(event_goes_to(&s[0], 2, &small));
}

/* The device does not watch a CQ for ever that is only polled */
TEST(arm_with_doorbell_after_long_silence)
{
	struct source s = watched();
	uint64_t i;

	for (i = 1; i < 5000 && s.cq->rec->db_suppress; i++) {
		complete(&s, i);
		drv_expect(s.cq, i, IBV_WC_WR_FLUSH_ERR);
	}
	CHECK_EQ(s.cq->rec->db_suppress, 0);
	check_event(&s, false);
	drv_arm(s.cq, false);
	CHECK_EQ(s.cq->rec->db_suppress, 1);
	complete(&s, i);
	check_event(&s, true);
}

/* Neither is a request */
TEST(arm_ignores_garbage)
{
	struct source s = watched();

	s.cq->rec->arm = (s.cq->ci | 2ull << MYNIC_ARM_SEQ_SHIFT);
	complete(&s, 1);
	check_event(&s, false);
	s.cq->rec->arm = s.cq->rec->taken;
	sim_doorbell(s.d->n, s.cq->uarn, MYNIC_UAR_CQ_DB, s.cq->number, 0);
	complete(&s, 2);
	check_event(&s, false);
	CHECK_EQ(drv_number_cmd(s.d, MYNIC_CMD_NOP, 0), MYNIC_AQ_OK);
}

/* Sequence numbers wrap like indexes do */
TEST(arm_sequence_wraps)
{
	struct source s = watched();

	s.cq->rec->arm = MYNIC_ARM_VALID |
			 (uint64_t)MYNIC_ARM_SEQ_MASK << MYNIC_ARM_SEQ_SHIFT |
			 s.cq->ci;
	complete(&s, 1);
	drv_expect(s.cq, 1, IBV_WC_WR_FLUSH_ERR);
	/* one for the missed completion, and one for the new one */
	check_event(&s, true);
	check_event(&s, true);
	check_event(&s, false);
	drv_arm(s.cq, false);
	CHECK_EQ(s.cq->rec->arm >> MYNIC_ARM_SEQ_SHIFT & MYNIC_ARM_SEQ_MASK, 0);
	complete(&s, 2);
	check_event(&s, true);
	check_event(&s, false);
}

TEST(arm_on_a_foreign_page)
{
	struct source s = source(6);

	drv_request(s.cq, 1, 0, false);
	sim_doorbell(s.d->n, s.cq->uarn + 1, MYNIC_UAR_CQ_DB, s.cq->number, 0);
	complete(&s, 0);
	check_event(&s, false);
	CHECK_EQ(s.cq->rec->taken, 0);
	CHECK_EQ(drv_stat(s.d, MYNIC_STAT_BAD_DOORBELL), 1);
	sim_doorbell(s.d->n, 1, MYNIC_UAR_CQ_DB, 0xffffff, 0);
	sim_doorbell(s.d->n, 1, MYNIC_UAR_CQ_DB, s.cq->number + 1, 0);
	CHECK_EQ(drv_stat(s.d, MYNIC_STAT_BAD_DOORBELL), 3);
}

static void make_event(struct source *s)
{
	struct mynic_cqe cqe;

	drv_arm(s->cq, false);
	complete(s, 0);
	CHECK(drv_poll(s->cq, &cqe));
}

TEST(eq_interrupts_who_has_read_all)
{
	struct source s = source(6);
	uint64_t *irqs = &s.d->n->irqs[1];
	struct mynic_eqe eqe;

	make_event(&s);
	CHECK_EQ(*irqs, 1);
	/* a host that has not reported this event as read looks by itself */
	make_event(&s);
	CHECK(drv_eq_poll(&s.d->comp, &eqe));
	make_event(&s);
	CHECK_EQ(*irqs, 1);
	check_event(&s, true);
	check_event(&s, true);
	CHECK_EQ(*irqs, 1);
	make_event(&s);
	CHECK_EQ(*irqs, 2);
	CHECK_EQ(s.d->comp.rec->ring, 0);
}

TEST(eq_interrupts_who_leaves_entries)
{
	struct source s = source(6);
	uint64_t *irqs = &s.d->n->irqs[1];

	make_event(&s);
	make_event(&s);
	check_event(&s, true);
	CHECK_EQ(*irqs, 1);
	drv_eq_ring(&s.d->comp);
	CHECK_EQ(*irqs, 2);
	check_event(&s, true);
	drv_eq_ring(&s.d->comp);
	CHECK_EQ(*irqs, 2);
}

/* More events than an EQ holds: none lost, none overwritten */
TEST(eq_full_keeps_completion_events)
{
	struct drv *d = drv_one();
	struct source s[40];
	struct mynic_eqe eqe;
	bool seen[40] = { false };
	unsigned int total = 0;
	struct drv_eq small;

	CHECK_EQ(drv_create_eq(d, &small, 2, 2, false), 0);
	d->comp = small;
	for (unsigned int i = 0; i < 40; i++) {
		s[i] = add_source(d, 3);
		drv_arm(s[i].cq, false);
		complete(&s[i], i);
	}
	CHECK_EQ(d->n->irqs[2], 1);
	CHECK_EQ(d->comp.rec->ring, 1);
	while (total < 40) {
		unsigned int taken = 0;

		while (drv_eq_poll(&d->comp, &eqe)) {
			unsigned int i;

			taken++;
			CHECK_EQ(eqe.type, MYNIC_EVENT_COMP);
			for (i = 0; i < 40; i++)
				if (s[i].cq->number == eqe.number)
					break;
			CHECK(i < 40);
			CHECK(!seen[i]);
			seen[i] = true;
			total++;
		}
		CHECK(taken > 0 && taken <= 4);
		drv_eq_release(&d->comp);
		sim_settle(d->sim);
		CHECK_EQ(d->n->irqs[2], total < 40 ? total / 4 + 1 : 10);
	}
	CHECK(!drv_eq_poll(&d->comp, &eqe));
	CHECK_EQ(d->comp.rec->ring, 0);
}

TEST(eq_full_keeps_asynchronous_events)
{
	struct sim_nic *n = &sim_new(1)->nics[0];
	struct drv *d = drv_enable(n, 4);
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_QUERY_DEVICE };
	struct source s[20];
	struct mynic_eqe eqe;
	unsigned int overruns = 0;

	CHECK_EQ(drv_admin_out(d, &cmd, &d->attr, sizeof(d->attr)), 0);
	CHECK_EQ(drv_create_eq(d, &d->event, 1, 0, true), 0);
	CHECK_EQ(drv_create_eq(d, &d->comp, 4, 1, false), 0);
	for (unsigned int i = 0; i < 20; i++) {
		s[i] = add_source(d, 1);
		for (unsigned int k = 0; k < 3; k++)
			complete(&s[i], k);
	}
	for (unsigned int rest = 100; rest; rest--) {
		while (drv_eq_poll(&d->event, &eqe))
			overruns += eqe.type == MYNIC_EVENT_CQ_ERROR;
		drv_eq_release(&d->event);
		sim_settle(d->sim);
	}
	CHECK_EQ(overruns, 20);
}

TEST(eq_events_wait_for_an_async_eq)
{
	struct sim_nic *n = &sim_new(1)->nics[0];
	struct drv *d = drv_up(n);

	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_EQ, d->event.number), 0);
	nic_set_link(n->nic, false);
	sim_settle(d->sim);
	CHECK_EQ(drv_create_eq(d, &d->event, 4, 0, true), 0);
	drv_expect_event(&d->event, MYNIC_EVENT_PORT_DOWN, 1);
}

TEST(eq_bad_doorbells)
{
	struct source s = source(6);
	struct drv_eq *eq = &s.d->comp;

	sim_doorbell(s.d->n, 0, MYNIC_UAR_EQ_DB, 63, 0);
	sim_doorbell(s.d->n, 0, MYNIC_UAR_EQ_DB, 0xffffff, 0);
	CHECK_EQ(drv_stat(s.d, MYNIC_STAT_BAD_DOORBELL), 2);
	/* an EQ on another page */
	sim_doorbell(s.d->n, 1, MYNIC_UAR_EQ_DB, eq->number, 0);
	CHECK_EQ(drv_stat(s.d, MYNIC_STAT_BAD_DOORBELL), 3);
	/* a consumer index that was never produced */
	eq->rec->ci = 0x12345678;
	drv_eq_ring(eq);
	CHECK_EQ(drv_stat(s.d, MYNIC_STAT_BAD_INDEX), 1);
	eq->rec->ci = 0;
	drv_arm(s.cq, false);
	complete(&s, 0);
	check_event(&s, true);
}

TEST(eq_phase_wraps)
{
	struct source s = source(6);

	for (uint64_t i = 0; i < 1000; i++) {
		drv_arm(s.cq, false);
		complete(&s, i);
		check_event(&s, true);
		drv_expect(s.cq, i, IBV_WC_WR_FLUSH_ERR);
	}
}

TEST(port_events)
{
	struct sim_nic *n = &sim_new(1)->nics[0];
	struct drv *d = drv_up(n);

	nic_set_link(n->nic, false);
	drv_expect_event(&d->event, MYNIC_EVENT_PORT_DOWN, 1);
	nic_set_link(n->nic, true);
	drv_expect_event(&d->event, MYNIC_EVENT_PORT_UP, 1);
}

/* After its DESTROY, an object's memory belongs to the host again */
TEST(destroyed_objects_write_no_more)
{
	struct source s = source(6);
	uint8_t before[4096];
	struct mynic_eqe eqe;

	drv_arm(s.cq, false);
	for (uint64_t i = 0; i < 10; i++) {
		struct drv_wr wr = { .wr_id = i, .opcode = IBV_WR_SEND };

		drv_write_wqe(s.qp, &wr);
	}
	drv_ring(s.qp);
	CHECK_EQ(drv_number_cmd(s.d, MYNIC_CMD_DESTROY_QP, s.qp->number), 0);
	CHECK_EQ(drv_number_cmd(s.d, MYNIC_CMD_DESTROY_CQ, s.cq->number), 0);
	while (drv_eq_poll(&s.d->comp, &eqe))
		;
	memset(drv_buf_at(&s.cq->buf, 0), 0x77, 4096);
	memset(before, 0x77, sizeof(before));
	drv_ring(s.qp);
	sim_run(s.d->sim, SEC);
	CHECK_MEM(drv_buf_at(&s.cq->buf, 0), before, 4096);
	CHECK(!drv_eq_poll(&s.d->comp, &eqe));
}
