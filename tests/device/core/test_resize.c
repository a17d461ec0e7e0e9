// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Completion queues and shared receive queues that move to another ring */
#include "harness_driver.h"

struct source {
	struct drv *d;
	struct drv_cq *cq;
	struct drv_qp *qp;
	uint64_t sent;
	uint64_t seen;
};

static struct source source(struct drv *d, uint8_t log_cq)
{
	struct drv_cq *cq = drv_create_cq(d, log_cq);

	return (struct source){
		.d = d,
		.cq = cq,
		.qp = drv_create_flushing_qp(d, cq),
	};
}

static void complete(struct source *s, unsigned int num)
{
	while (num--) {
		struct drv_wr wr = { .wr_id = s->sent++,
				     .opcode = IBV_WR_SEND };

		drv_post_send(s->qp, &wr);
		sim_settle(s->d->sim);
	}
}

static void take(struct source *s, unsigned int num)
{
	while (num--)
		drv_expect(s->cq, s->seen++, IBV_WC_WR_FLUSH_ERR);
}

/* The command alone, without moving entries */
static uint8_t resize_cmd(struct drv_cq *cq, struct drv_buf *buf,
			  uint8_t log_size)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_RESIZE_CQ,
		.number = cq->number,
	};

	size_t ring = drv_cq_ring_bytes(log_size);

	drv_buf_init(cq->d, buf, ring + sizeof(*cq->rec));
	cmd.resize.buf = buf->desc;
	cmd.resize.dbrec_offset = ring;
	cmd.resize.log_size = log_size;
	return drv_admin(cq->d, &cmd, NULL);
}

static uint8_t resize(struct drv_cq *cq, uint8_t log_size)
{
	struct drv_buf *buf = tap_alloc(sizeof(*buf));
	uint32_t ci = cq->ci, num = 0;
	struct mynic_cqe cqe, *slot;
	struct mynic_cq_dbrec *rec;
	uint8_t status;

	status = resize_cmd(cq, buf, log_size);
	if (status)
		return status;
	rec = drv_buf_at(buf, drv_cq_ring_bytes(log_size));
	CHECK_EQ(rec->ci, ci);
	CHECK_EQ(rec->taken, cq->rec->taken);
	CHECK_EQ(rec->db_suppress, cq->rec->db_suppress);
	rec->arm = cq->rec->arm;
	for (; num < 1u << cq->log_size && drv_peek(cq, &cqe); cq->ci++) {
		slot = drv_buf_at(buf, num++ * sizeof(*slot));
		cqe.phase = 1;
		*slot = cqe;
	}
	cq->ci = ci;
	cq->base = ci;
	cq->buf = *buf;
	cq->log_size = log_size;
	cq->rec = rec;
	return MYNIC_AQ_OK;
}

TEST(cq_grows_and_shrinks_with_entries_in_it)
{
	struct source s = source(drv_one(), 2);

	for (unsigned int before = 0; before < 20; before++) {
		complete(&s, 3);
		CHECK_EQ(resize(s.cq, 4), MYNIC_AQ_OK);
		/* as many as the ring holds now */
		complete(&s, 13);
		take(&s, 13);
		CHECK_EQ(resize(s.cq, 2), MYNIC_AQ_OK);
		complete(&s, 1);
		take(&s, 4);
		/* at another place in the ring each time */
		complete(&s, 1);
		take(&s, 1);
	}
	drv_expect_none(s.cq, 0);
	CHECK_EQ(drv_stat(s.d, MYNIC_STAT_CQ_OVERRUN), 0);
}

TEST(cq_resize_at_any_time)
{
	struct source s = source(drv_one(), 3);
	uint8_t log_size = 3;

	for (unsigned int i = 0; i < 2000; i++) {
		uint32_t room = (1u << log_size) - (s.sent - s.seen);

		complete(&s, sim_random(s.d->sim, room + 1));
		take(&s, sim_random(s.d->sim, s.sent - s.seen + 1));
		if (i % 3)
			continue;
		log_size = 1 + sim_random(s.d->sim, 6);
		if (s.sent - s.seen <= 1u << log_size) {
			CHECK_EQ(resize(s.cq, log_size), MYNIC_AQ_OK);
		} else {
			CHECK_EQ(resize(s.cq, log_size), MYNIC_AQ_BAD_STATE);
			log_size = s.cq->log_size;
		}
	}
	take(&s, s.sent - s.seen);
	drv_expect_none(s.cq, 0);
	CHECK_EQ(drv_stat(s.d, MYNIC_STAT_CQ_OVERRUN), 0);
	CHECK_EQ(drv_stat(s.d, MYNIC_STAT_BAD_INDEX), 0);
}

/* A failed resize changes nothing */
TEST(cq_too_small_stays_as_it_is)
{
	struct source s = source(drv_one(), 4);

	complete(&s, 3);
	CHECK_EQ(resize(s.cq, 1), MYNIC_AQ_BAD_STATE);
	complete(&s, 13);
	CHECK_EQ(resize(s.cq, 3), MYNIC_AQ_BAD_STATE);
	take(&s, 8);
	CHECK_EQ(resize(s.cq, 3), MYNIC_AQ_OK);
	take(&s, 8);
	drv_expect_none(s.cq, 0);
}

/* A doorbell before the command counts, even if the device handles it late */
TEST(cq_resize_behind_doorbells)
{
	struct source s = source(drv_one(), 3);
	struct drv_buf buf;

	while (s.sent < 6) {
		struct drv_wr wr = { .wr_id = s.sent++, .opcode = IBV_WR_SEND };

		drv_post_send(s.qp, &wr);
	}
	CHECK_EQ(resize_cmd(s.cq, &buf, 2), MYNIC_AQ_BAD_STATE);
	take(&s, 6);
}

TEST(cq_overruns_its_new_ring)
{
	struct source s = source(drv_one(), 4);

	complete(&s, 3);
	CHECK_EQ(resize(s.cq, 2), MYNIC_AQ_OK);
	complete(&s, 1);
	CHECK_EQ(drv_stat(s.d, MYNIC_STAT_CQ_OVERRUN), 0);
	complete(&s, 1);
	CHECK_EQ(drv_stat(s.d, MYNIC_STAT_CQ_OVERRUN), 1);
	take(&s, 4);
	CHECK_EQ(resize(s.cq, 5), MYNIC_AQ_BAD_STATE);
}

TEST(cq_armed_stays_armed)
{
	struct source s = source(drv_one(), 4);
	struct mynic_eqe eqe;

	complete(&s, 5);
	take(&s, 4);
	s.cq->ci++;
	drv_arm(s.cq, false);
	s.cq->ci--;
	CHECK_EQ(resize(s.cq, 1), MYNIC_AQ_OK);
	sim_settle(s.d->sim);
	CHECK(!drv_eq_poll(&s.d->comp, &eqe));
	complete(&s, 1);
	drv_expect_event(&s.d->comp, MYNIC_EVENT_COMP, s.cq->number);
	take(&s, 2);
	/* Indexes continue: a request with an old index has its usual effect */
	drv_arm(s.cq, false);
	sim_settle(s.d->sim);
	CHECK(!drv_eq_poll(&s.d->comp, &eqe));
	CHECK_EQ(resize(s.cq, 3), MYNIC_AQ_OK);
	complete(&s, 1);
	drv_expect_event(&s.d->comp, MYNIC_EVENT_COMP, s.cq->number);
	drv_arm(s.cq, false);
	drv_expect_event(&s.d->comp, MYNIC_EVENT_COMP, s.cq->number);
}

/* A request that the device has not seen yet, and one that comes too late */
TEST(cq_request_goes_along)
{
	struct drv_buf *buf = tap_alloc(sizeof(*buf));
	struct mynic_cq_dbrec *rec;
	struct mynic_eqe eqe;
	struct source s;

	drv_features = MYNIC_FEATURE_DB_SUPPRESS;
	s = source(drv_one(), 4);
	drv_arm(s.cq, false);
	CHECK_EQ(s.cq->rec->db_suppress, 1);
	complete(&s, 1);
	drv_expect_event(&s.d->comp, MYNIC_EVENT_COMP, s.cq->number);
	take(&s, 1);

	drv_arm(s.cq, false);
	CHECK_EQ(resize(s.cq, 3), MYNIC_AQ_OK);
	CHECK_EQ(s.cq->rec->taken, s.cq->rec->arm);
	complete(&s, 1);
	drv_expect_event(&s.d->comp, MYNIC_EVENT_COMP, s.cq->number);
	take(&s, 1);

	CHECK_EQ(resize_cmd(s.cq, buf, 5), MYNIC_AQ_OK);
	drv_arm(s.cq, false);
	complete(&s, 1);
	CHECK(!drv_eq_poll(&s.d->comp, &eqe));
	rec = drv_buf_at(buf, drv_cq_ring_bytes(5));
	CHECK(rec->taken != s.cq->rec->arm);
	rec->arm = s.cq->rec->arm;
	sim_doorbell(s.d->n, s.cq->uarn, MYNIC_UAR_CQ_DB, s.cq->number, 0);
	CHECK_EQ(rec->taken, rec->arm);
	drv_expect_event(&s.d->comp, MYNIC_EVENT_COMP, s.cq->number);
	CHECK(!drv_eq_poll(&s.d->comp, &eqe));
}

TEST(cq_old_ring_is_left_alone)
{
	struct source s = source(drv_one(), 3);
	struct drv_buf old = s.cq->buf;
	uint8_t before[4096];

	complete(&s, 6);
	CHECK_EQ(resize(s.cq, 5), MYNIC_AQ_OK);
	memset(drv_buf_at(&old, 0), 0x77, 8 * 64 + 64);
	memcpy(before, drv_buf_at(&old, 0), 4096);
	complete(&s, 20);
	take(&s, 26);
	CHECK_MEM(drv_buf_at(&old, 0), before, 4096);
}

TEST(cq_resize_bad)
{
	struct source s = source(drv_one(), 3);
	struct drv_buf *buf = tap_alloc(sizeof(*buf));
	struct mynic_admin_cmd good = {
		.opcode = MYNIC_CMD_RESIZE_CQ,
		.number = s.cq->number,
	}, bad;

	drv_buf_init(s.d, buf, 8192);
	good.resize.buf = buf->desc;
	good.resize.dbrec_offset = 4096;
	good.resize.log_size = 4;
#define TRY(field, value, status)                                        \
	do {                                                             \
		bad = good;                                              \
		bad.field = value;                                       \
		CHECK_EQ(drv_admin(s.d, &bad, NULL), MYNIC_AQ_##status); \
	} while (0)
	TRY(number, 0, BAD_NUMBER);
	TRY(number, s.cq->number + 1, BAD_NUMBER);
	TRY(number, 0xffffffff, BAD_NUMBER);
	TRY(resize.log_size, 0, BAD_PARAM);
	TRY(resize.log_size, 23, BAD_PARAM);
	TRY(resize.log_size, 255, BAD_PARAM);
	TRY(resize.ring_offset, 32, BAD_PARAM);
	TRY(resize.dbrec_offset, 4096 + 32, BAD_PARAM);
	TRY(resize.buf.levels, 3, BAD_PARAM);
	TRY(resize.buf.reserved_0b, 1, BAD_PARAM);
	TRY(resize.buf.addr, good.resize.buf.addr + 4, BAD_PARAM);
	TRY(resize.reserved_19[14], 1, BAD_PARAM);
	TRY(flags, 1, NOT_SUPPORTED);
	bad = good;
	bad.resize.buf = (struct mynic_buf){ .addr = 1ull << 50 };
	CHECK_EQ(drv_admin(s.d, &bad, NULL), MYNIC_AQ_BAD_DMA);
#undef TRY
	/* An impossible consumer index: nothing happens either */
	s.cq->rec->ci = 1000;
	CHECK_EQ(drv_admin(s.d, &good, NULL), MYNIC_AQ_BAD_STATE);
	s.cq->rec->ci = 0;
	complete(&s, 8);
	take(&s, 8);
	CHECK_EQ(resize(s.cq, 4), MYNIC_AQ_OK);
	complete(&s, 16);
	take(&s, 16);
}

TEST(cq_ignores_overrun_if_told)
{
	struct source s = source(drv_one(), 3);
	struct drv_cq *cq = s.cq;
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_CREATE_CQ,
		.flags = MYNIC_CQ_IGNORE_OVERRUN,
	};
	struct mynic_admin_cpl cpl;
	struct mynic_cqe cqe;
	struct mynic_eqe eqe;

	/* The same memory for another CQ and its QP */
	cmd.create_cq.buf = cq->buf.desc;
	cmd.create_cq.dbrec_offset = sizeof(cqe) << 3;
	cmd.create_cq.uarn = 1;
	cmd.create_cq.eqn = s.d->comp.number;
	cmd.create_cq.log_size = 3;
	CHECK_EQ(drv_admin(s.d, &cmd, &cpl), MYNIC_AQ_OK);
	cq->number = cpl.number;
	s.qp = drv_create_qp(s.d, &(struct drv_qp_init){
					  .type = MYNIC_QP_RC,
					  .pdn = drv_alloc_pd(s.d),
					  .send_cq = cq,
					  .recv_cq = cq,
				  });
	CHECK_EQ(drv_set_state(s.qp, IBV_QPS_ERR), MYNIC_AQ_OK);

	/* Two laps and 3 entries more; the record does not matter */
	cq->rec->ci = 0x5555;
	complete(&s, 19);
	CHECK_EQ(drv_stat(s.d, MYNIC_STAT_CQ_OVERRUN), 0);
	CHECK_EQ(drv_stat(s.d, MYNIC_STAT_BAD_INDEX), 0);
	CHECK(!drv_eq_poll(&s.d->event, &eqe));
	for (uint64_t i = 11; i < 19; i++) {
		cq->ci = i;
		CHECK(drv_peek(cq, &cqe));
		CHECK_EQ(cqe.wr_id, i);
	}
	cmd.flags = 0x80;
	CHECK_EQ(drv_admin(s.d, &cmd, NULL), MYNIC_AQ_NOT_SUPPORTED);
}

static void modify(struct source *s, uint16_t count, uint16_t period)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_MODIFY_CQ,
		.number = s->cq->number,
		.modify_cq = { .count = count, .period = period },
	};

	CHECK_EQ(drv_admin(s->d, &cmd, NULL), MYNIC_AQ_OK);
}

static bool event(struct source *s)
{
	struct mynic_eqe eqe;

	sim_settle(s->d->sim);
	if (!drv_eq_poll(&s->d->comp, &eqe))
		return false;
	CHECK_EQ(eqe.type, MYNIC_EVENT_COMP);
	CHECK_EQ(eqe.number, s->cq->number);
	drv_eq_release(&s->d->comp);
	return true;
}

TEST(cq_event_waits_for_entries)
{
	struct source s = source(drv_one(), 6);

	modify(&s, 4, 1000);
	for (unsigned int i = 0; i < 3; i++) {
		drv_arm(s.cq, false);
		complete(&s, 3);
		CHECK(!event(&s));
		complete(&s, 1);
		CHECK(event(&s));
		/* one event for one request */
		complete(&s, 5);
		CHECK(!event(&s));
		take(&s, 9);
	}
	/* Nothing happens later, because the timer has stopped */
	sim_run(s.d->sim, 10 * MSEC);
	CHECK(!event(&s));
}

TEST(cq_event_waits_no_longer_than_told)
{
	struct source s = source(drv_one(), 6);

	modify(&s, 4, 1000);
	drv_arm(s.cq, false);
	sim_run(s.d->sim, 5 * MSEC);
	complete(&s, 1);
	sim_run(s.d->sim, 900 * USEC);
	complete(&s, 1);
	CHECK(!event(&s));
	sim_run(s.d->sim, 99 * USEC);
	CHECK(!event(&s));
	sim_run(s.d->sim, 2 * USEC);
	CHECK(event(&s));
	take(&s, 2);
	/* The next event waits as long */
	drv_arm(s.cq, false);
	complete(&s, 1);
	sim_run(s.d->sim, 990 * USEC);
	CHECK(!event(&s));
	sim_run(s.d->sim, 11 * USEC);
	CHECK(event(&s));
}

TEST(cq_event_for_entries_that_are_there)
{
	struct source s = source(drv_one(), 6);

	modify(&s, 4, 1000);
	complete(&s, 3);
	drv_arm(s.cq, false);
	CHECK(!event(&s));
	complete(&s, 1);
	CHECK(event(&s));
	drv_arm(s.cq, false);
	CHECK(event(&s));
	/* A request for later completions replaces the one that waits */
	take(&s, 2);
	drv_arm(s.cq, false);
	CHECK(!event(&s));
	take(&s, 2);
	drv_arm(s.cq, false);
	sim_run(s.d->sim, 10 * MSEC);
	CHECK(!event(&s));
	complete(&s, 4);
	CHECK(event(&s));
}

TEST(cq_moderation_ends)
{
	struct source s = source(drv_one(), 6);

	modify(&s, 10, 60000);
	drv_arm(s.cq, false);
	complete(&s, 3);
	CHECK(!event(&s));
	modify(&s, 4, 60000);
	CHECK(!event(&s));
	modify(&s, 3, 60000);
	CHECK(event(&s));
	take(&s, 3);
	drv_arm(s.cq, false);
	complete(&s, 1);
	CHECK(!event(&s));
	modify(&s, 10, 0);
	CHECK(event(&s));
	/* With a zero in either there is no moderation */
	modify(&s, 0, 100);
	drv_arm(s.cq, false);
	CHECK(event(&s));
}

TEST(cq_goes_while_its_event_waits)
{
	struct source s = source(drv_one(), 2);
	struct source other = source(s.d, 2);
	struct mynic_eqe eqe;

	modify(&s, 10, 1000);
	modify(&other, 10, 1000);
	drv_arm(s.cq, false);
	drv_arm(other.cq, false);
	complete(&s, 2);
	complete(&other, 5);
	/* The second CQ has overrun, which sends no completion event */
	CHECK_EQ(drv_number_cmd(s.d, MYNIC_CMD_DESTROY_QP, s.qp->number), 0);
	CHECK_EQ(drv_number_cmd(s.d, MYNIC_CMD_DESTROY_CQ, s.cq->number), 0);
	sim_run(s.d->sim, 10 * MSEC);
	CHECK(!drv_eq_poll(&s.d->comp, &eqe));
}

TEST(cq_moderation_bad)
{
	struct source s = source(drv_one(), 2);
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_MODIFY_CQ,
		.number = s.cq->number + 1,
	};

	CHECK_EQ(drv_admin(s.d, &cmd, NULL), MYNIC_AQ_BAD_NUMBER);
	cmd.number = s.cq->number;
	cmd.modify_cq.reserved_04[0] = 1;
	CHECK_EQ(drv_admin(s.d, &cmd, NULL), MYNIC_AQ_BAD_PARAM);
	modify(&s, 65535, 65535);
	drv_arm(s.cq, false);
	complete(&s, 1);
	sim_run(s.d->sim, 65534 * USEC);
	CHECK(!event(&s));
	sim_run(s.d->sim, 2 * USEC);
	CHECK(event(&s));
}

/* Two connections whose receivers at b share an SRQ */
struct shared {
	struct drv_pair p;
	struct drv_srq *srq;
	struct drv_qp *from;
	uint64_t posted;
	uint64_t taken;
};

static struct shared make_shared(uint8_t log_size)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_RC };
	struct shared s = { .p = drv_pair_unconnected(&init) };
	struct drv_qp_init at_a = {
		.type = MYNIC_QP_RC,
		.pdn = s.p.a.pdn,
		.send_cq = s.p.a.cq,
		.recv_cq = s.p.a.recv_cq,
	};
	struct drv_qp_init at_b = {
		.type = MYNIC_QP_RC,
		.pdn = s.p.b.pdn,
		.send_cq = s.p.b.cq,
		.recv_cq = s.p.b.recv_cq,
	};

	s.srq = drv_create_srq(s.p.b.d, s.p.b.pdn, log_size);
	at_b.srq = s.srq;
	s.from = drv_create_qp(s.p.a.d, &at_a);
	drv_connect(s.from, drv_create_qp(s.p.b.d, &at_b),
		    &(struct drv_path){ 0 });
	return s;
}

static void post(struct shared *s, unsigned int num)
{
	struct mynic_sge sge = drv_sge(s->p.b.mr, 0, 64);

	while (num--)
		drv_post_srq_recv(s->srq, s->posted++, &sge, 1);
}

static void consume(struct shared *s, unsigned int num)
{
	struct drv_wr wr = {
		.opcode = IBV_WR_SEND,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { drv_sge(s->p.a.mr, 0, 16) },
	};

	while (num--) {
		drv_post_send(s->from, &wr);
		drv_expect(s->p.a.cq, 0, IBV_WC_SUCCESS);
		drv_expect(s->p.b.recv_cq, s->taken++, IBV_WC_SUCCESS);
	}
}

static uint8_t resize_srq(struct drv_srq *srq, uint8_t log_size)
{
	uint32_t stride = 1u << srq->log_stride;
	uint32_t size = 1u << srq->log_size, new_size = 1u << log_size;
	size_t ring = (size_t)stride << log_size;
	struct drv_buf *buf = tap_alloc(sizeof(*buf));
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_RESIZE_SRQ,
		.number = srq->number,
	};
	struct mynic_srq_dbrec *rec;
	uint8_t status;

	if (ring % sizeof(*rec))
		ring += sizeof(*rec) - ring % sizeof(*rec);
	drv_buf_init(srq->d, buf, ring + sizeof(*rec));
	rec = drv_buf_at(buf, ring);
	for (uint32_t i = srq->rec->ci; i != srq->pi; i++)
		memcpy(drv_buf_at(buf, (i & (new_size - 1)) * stride),
		       drv_buf_at(&srq->buf, (i & (size - 1)) * stride),
		       stride);
	rec->pi = srq->pi;
	cmd.resize.buf = buf->desc;
	cmd.resize.dbrec_offset = ring;
	cmd.resize.log_size = log_size;
	status = drv_admin(srq->d, &cmd, NULL);
	if (status)
		return status;
	CHECK_EQ(rec->ci, srq->rec->ci);
	srq->buf = *buf;
	srq->rec = rec;
	srq->log_size = log_size;
	return MYNIC_AQ_OK;
}

TEST(srq_resize_at_any_time)
{
	struct shared s = make_shared(3);
	uint8_t log_size = 3;

	for (unsigned int i = 0; i < 200; i++) {
		uint32_t room = (1u << log_size) - (s.posted - s.taken);

		post(&s, sim_random(s.p.sim, room + 1));
		consume(&s, sim_random(s.p.sim, s.posted - s.taken + 1));
		log_size = sim_random(s.p.sim, 6);
		if (s.posted - s.taken <= 1u << log_size) {
			CHECK_EQ(resize_srq(s.srq, log_size), MYNIC_AQ_OK);
		} else {
			CHECK_EQ(resize_srq(s.srq, log_size),
				 MYNIC_AQ_BAD_STATE);
			log_size = s.srq->log_size;
		}
	}
	consume(&s, s.posted - s.taken);
	CHECK_EQ(drv_stat(s.p.b.d, MYNIC_STAT_BAD_INDEX), 0);
}

TEST(srq_resize_keeps_the_limit)
{
	struct shared s = make_shared(4);
	struct mynic_eqe eqe;

	post(&s, 10);
	CHECK_EQ(drv_modify_srq(s.srq, 8), MYNIC_AQ_OK);
	CHECK_EQ(resize_srq(s.srq, 6), MYNIC_AQ_OK);
	CHECK_EQ(drv_srq_limit(s.srq), 8);
	consume(&s, 2);
	CHECK(!drv_eq_poll(&s.p.b.d->event, &eqe));
	consume(&s, 1);
	drv_expect_event(&s.p.b.d->event, MYNIC_EVENT_SRQ_LIMIT, s.srq->number);
	/* The new size counts for the next limit */
	CHECK_EQ(drv_modify_srq(s.srq, 64), MYNIC_AQ_OK);
	drv_expect_event(&s.p.b.d->event, MYNIC_EVENT_SRQ_LIMIT, s.srq->number);
	CHECK_EQ(drv_modify_srq(s.srq, 65), MYNIC_AQ_BAD_PARAM);
}

TEST(srq_resize_bad)
{
	struct shared s = make_shared(4);
	struct drv_buf *buf = tap_alloc(sizeof(*buf));
	struct mynic_admin_cmd good = {
		.opcode = MYNIC_CMD_RESIZE_SRQ,
		.number = s.srq->number,
	}, bad;
	struct mynic_srq_dbrec *rec;

	drv_buf_init(s.p.b.d, buf, 8192);
	rec = drv_buf_at(buf, 4096);
	good.resize.buf = buf->desc;
	good.resize.dbrec_offset = 4096;
	good.resize.log_size = 4;
#define TRY(field, value, status)                                            \
	do {                                                                 \
		bad = good;                                                  \
		bad.field = value;                                           \
		CHECK_EQ(drv_admin(s.p.b.d, &bad, NULL), MYNIC_AQ_##status); \
	} while (0)
	TRY(number, 0, BAD_NUMBER);
	TRY(number, 0xffffffff, BAD_NUMBER);
	TRY(resize.log_size, 16, BAD_PARAM);
	TRY(resize.log_size, 255, BAD_PARAM);
	TRY(resize.ring_offset, 32, BAD_PARAM);
	TRY(resize.dbrec_offset, 4096 + 64, BAD_PARAM);
	TRY(resize.buf.levels, 3, BAD_PARAM);
	TRY(resize.reserved_19[0], 1, BAD_PARAM);
	bad = good;
	bad.resize.buf = (struct mynic_buf){ .addr = 1ull << 50 };
	CHECK_EQ(drv_admin(s.p.b.d, &bad, NULL), MYNIC_AQ_BAD_DMA);
#undef TRY
	/* An impossible producer index */
	rec->pi = 17;
	CHECK_EQ(drv_admin(s.p.b.d, &good, NULL), MYNIC_AQ_BAD_STATE);
	rec->pi = 0xffffffff;
	CHECK_EQ(drv_admin(s.p.b.d, &good, NULL), MYNIC_AQ_BAD_STATE);
	post(&s, 16);
	consume(&s, 16);
	/* A dead SRQ stays dead */
	s.srq->rec->pi = 1000;
	CHECK_EQ(drv_modify_srq(s.srq, 0), MYNIC_AQ_OK);
	drv_post_send(s.from, &(struct drv_wr){ .opcode = IBV_WR_SEND });
	drv_expect_event(&s.p.b.d->event, MYNIC_EVENT_SRQ_ERROR, s.srq->number);
	rec->pi = 16;
	CHECK_EQ(drv_admin(s.p.b.d, &good, NULL), MYNIC_AQ_BAD_STATE);
}
