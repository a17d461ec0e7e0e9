// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The admin queue, and the checks that all commands have in common */
#include "harness_driver.h"

TEST(admin_nop)
{
	struct drv *d = drv_one();

	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_NOP, 0), MYNIC_AQ_OK);
	CHECK_EQ(drv_stat(d, MYNIC_STAT_BAD_COMMAND), 0);
}

/* A NOP tells the time, so that a host need not read a register for that */
TEST(admin_nop_tells_the_time)
{
	struct drv *d = drv_one();
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_NOP };
	struct mynic_admin_cpl cpl;
	uint64_t before = d->n->sim->now;

	CHECK_EQ(drv_admin(d, &cmd, &cpl), MYNIC_AQ_OK);
	CHECK(le64toh(cpl.nop.clock) >= before);
	CHECK(le64toh(cpl.nop.clock) <= d->n->sim->now);
}

static void arm(struct drv *d, uint32_t ci)
{
	sim_write32(d->n, MYNIC_REG_AQ_ARM, ci);
	CHECK_EQ(sim_read32(d->n, MYNIC_REG_AQ_ARM), ci);
	sim_settle(d->sim);
}

TEST(admin_interrupts_on_vector_0)
{
	struct drv *d = drv_one();
	uint64_t irqs = d->n->irqs[0];

	/* There is an interrupt only if it was requested, and only one */
	drv_number_cmd(d, MYNIC_CMD_NOP, 0);
	CHECK_EQ(d->n->irqs[0], irqs);
	arm(d, d->aq_ci);
	CHECK_EQ(d->n->irqs[0], irqs);
	drv_number_cmd(d, MYNIC_CMD_NOP, 0);
	CHECK_EQ(d->n->irqs[0], ++irqs);
	drv_number_cmd(d, MYNIC_CMD_NOP, 0);
	CHECK_EQ(d->n->irqs[0], irqs);
	/* A completion is there already */
	arm(d, d->aq_ci - 1);
	CHECK_EQ(d->n->irqs[0], ++irqs);
	drv_number_cmd(d, MYNIC_CMD_NOP, 0);
	CHECK_EQ(d->n->irqs[0], irqs);
	/* The last write counts */
	arm(d, d->aq_ci);
	arm(d, d->aq_ci);
	drv_number_cmd(d, MYNIC_CMD_NOP, 0);
	CHECK_EQ(d->n->irqs[0], ++irqs);
	drv_number_cmd(d, MYNIC_CMD_NOP, 0);
	CHECK_EQ(d->n->irqs[0], irqs);
	for (unsigned int i = 1; i < MYNIC_MAX_VECTORS; i++)
		CHECK_EQ(d->n->irqs[i], 0);
}

TEST(admin_interrupt_is_not_kept_in_a_reset)
{
	struct drv *d = drv_one();
	struct sim_nic *n = d->n;
	uint64_t irqs;

	arm(d, d->aq_ci);
	d = drv_up(n);
	irqs = n->irqs[0];
	CHECK_EQ(sim_read32(n, MYNIC_REG_AQ_ARM), 0);
	drv_number_cmd(d, MYNIC_CMD_NOP, 0);
	CHECK_EQ(n->irqs[0], irqs);

	drv_reset(n);
	sim_write32(n, MYNIC_REG_AQ_ARM, 1);
	CHECK_EQ(sim_read32(n, MYNIC_REG_AQ_ARM), 0);
	CHECK_EQ(n->irqs[0], irqs);
}

TEST(admin_unknown_opcodes)
{
	struct drv *d = drv_one();
	static const uint8_t known[] = {
		0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x10, 0x11,
		0x18, 0x19, 0x1a, 0x1b, 0x20, 0x21, 0x22, 0x23, 0x24,
		0x25, 0x26, 0x27, 0x28, 0x29, 0x2a, 0x2b, 0x2c, 0x30,
		0x31, 0x32, 0x33, 0x34, 0x38, 0x39, 0x3a, 0x3b, 0x40,
		0x41, 0x48, 0x49, 0x4c, 0x4d, 0x4f, 0x50, 0x51, 0x58,
		0x59, 0x5a, 0x5b, 0x5c, 0x5d, 0x5e, 0x5f,
	};
	uint64_t count = 0;

	for (unsigned int op = 0; op < 256; op++) {
		if (memchr(known, op, sizeof(known)))
			continue;
		CHECK_EQ(drv_number_cmd(d, op, 0), MYNIC_AQ_BAD_OPCODE);
		count++;
	}
	CHECK_EQ(drv_stat(d, MYNIC_STAT_BAD_COMMAND), count);
}

TEST(admin_many_in_flight)
{
	struct drv *d = drv_one();
	unsigned int slots = 1u << d->aq_log_size;
	struct mynic_admin_cpl cpl;
	uint64_t seen;

	for (int lap = 0; lap < 5; lap++) {
		uint32_t first = d->aq_pi;

		for (unsigned int i = 0; i < slots; i++) {
			struct mynic_admin_cmd cmd = {
				.opcode = i % 2 ? 0xff : MYNIC_CMD_NOP,
			};

			drv_admin_post(d, &cmd);
		}
		drv_admin_ring(d);
		sim_settle(d->sim);
		seen = 0;
		for (unsigned int i = 0; i < slots; i++) {
			unsigned int which;

			CHECK(drv_admin_poll(d, &cpl));
			which = (cpl.id ^ 0x4000) - first;
			CHECK(which < slots);
			CHECK(!(seen & 1ull << which));
			seen |= 1ull << which;
			CHECK_EQ(cpl.opcode, which % 2 ? 0xff : 1);
			CHECK_EQ(cpl.status,
				 which % 2 ? MYNIC_AQ_BAD_OPCODE : 0);
		}
		CHECK(!drv_admin_poll(d, &cpl));
	}
}

TEST(admin_queue_sizes)
{
	struct sim *sim = sim_new(1);

	for (uint8_t log = 1; log <= MYNIC_AQ_MAX_LOG_SIZE; log++) {
		struct drv *d = drv_enable(&sim->nics[0], log);

		for (int i = 0; i < 3 << log; i++)
			CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_NOP, 0), 0);
	}
}

TEST(admin_index_wraps)
{
	struct drv *d = drv_one();

	/* More than 2^16: ids repeat, phases continue */
	for (int i = 0; i < 70000; i++)
		CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_NOP, 0), 0);
}

/* A valid command of each kind */
struct sample {
	const char *name;
	struct mynic_admin_cmd cmd;
	uint8_t mbox[256];
	uint32_t in;
	uint32_t out;
	uint32_t body;
	uint8_t flags; /* that the command accepts */
};

#define NUM_SAMPLES 64 /* upper bound for their number */

static uint32_t alloc_dm(struct drv *d)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_ALLOC_DM,
		.alloc_dm.length = 4096,
	};
	struct mynic_admin_cpl cpl;

	CHECK_EQ(drv_admin(d, &cmd, &cpl), MYNIC_AQ_OK);
	return cpl.number;
}

static uint32_t create_comp_cntr(struct drv *d, const void *values)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_CREATE_COMP_CNTR,
		.create_comp_cntr.addr = sim_iova(d->n, values),
	};
	struct mynic_admin_cpl cpl;

	CHECK_EQ(drv_admin(d, &cmd, &cpl), MYNIC_AQ_OK);
	return cpl.number;
}

/* One object of each type, and what is needed to make another one */
struct objects {
	struct drv *d;
	struct drv_buf buf;
	struct drv_qp *qp;
	struct drv_qp *idle; /* in RESET */
	struct drv_qp spare;
	struct drv_srq *srq;
	struct drv_cq *cq;
	struct drv_cq *unused;
	struct drv_mr *mr;
	uint32_t pdn;
	uint32_t set;
	uint32_t comp_cntr;
	uint32_t unused_comp_cntr;
	struct mynic_create_srq create_srq;
	struct mynic_qp_attr attr;
};

static struct objects *make_objects(struct drv *d)
{
	struct objects *o = tap_alloc(sizeof(*o));
	struct drv_qp_init init = { .type = MYNIC_QP_UD };

	o->d = d;
	o->pdn = drv_alloc_pd(d);
	o->cq = drv_create_cq(d, 4);
	o->unused = drv_create_cq(d, 4);
	o->mr = drv_reg_mr(d, o->pdn, 4096, 0);
	o->set = drv_create_counters(d);
	init.pdn = o->pdn;
	init.send_cq = o->cq;
	init.recv_cq = o->cq;
	o->qp = drv_create_qp(d, &init);
	o->idle = drv_create_qp(d, &init);
	drv_ud_up(o->qp, 1, IBV_QPS_RTS);
	o->attr.attr_mask = IBV_QP_STATE | IBV_QP_QKEY;
	o->attr.qp_state = IBV_QPS_RTS;
	o->attr.qkey = 2;
	drv_qp_layout(d, &o->spare, &init);
	o->srq = drv_create_srq(d, o->pdn, 4);
	drv_buf_init(d, &o->buf, 8192);
	o->comp_cntr = create_comp_cntr(d, o->buf.page[0]);
	o->unused_comp_cntr = create_comp_cntr(d, o->buf.page[0]);
	o->create_srq = (struct mynic_create_srq){
		.buf = o->buf.desc,
		.pdn = o->pdn,
		.dbrec_offset = 4096,
		.log_size = 2,
		.log_stride = 6,
	};
	return o;
}

#define SAMPLE(s, op, ...)            \
	(*(*(s))++ = (struct sample){ \
		 .name = #op, .cmd.opcode = op, __VA_ARGS__ })

static void make_device_samples(struct objects *o, struct sample **s)
{
	SAMPLE(s, MYNIC_CMD_NOP);
	SAMPLE(s, MYNIC_CMD_QUERY_DEVICE, .out = sizeof(o->d->attr));
	SAMPLE(s, MYNIC_CMD_QUERY_PORT, .out = sizeof(struct mynic_port_attr));
	SAMPLE(s, MYNIC_CMD_MODIFY_PORT, .body = 12,
	       .cmd.modify_port = {
		       .up = 1, .mac = { 2, 0, 0, 0, 0, 9 }, .mtu = 1500 });
	SAMPLE(s, MYNIC_CMD_QUERY_STATS, .out = 8 * MYNIC_STAT_BAD_DMA,
	       .flags = MYNIC_STATS_UNBOUND);
	SAMPLE(s, MYNIC_CMD_SET_GID, .body = 24, .cmd.number = 5,
	       .cmd.set_gid = { .gid = { 0xfe, 0x80, [15] = 7 },
				.vlan = MYNIC_NO_VLAN });
	SAMPLE(s, MYNIC_CMD_CREATE_EQ, .body = 24,
	       .cmd.create_eq = { .buf = o->buf.desc,
				  .vector = 2,
				  .log_size = 4,
				  .dbrec_offset = 1024 });
	SAMPLE(s, MYNIC_CMD_ALLOC_PD);
	SAMPLE(s, MYNIC_CMD_CREATE_MKEY, .body = 40,
	       .flags = MYNIC_MKEY_DMA | MYNIC_MKEY_FAST_REG | MYNIC_MKEY_MW1 |
			MYNIC_MKEY_MW2 | MYNIC_MKEY_ODP | MYNIC_MKEY_DM,
	       .cmd.create_mkey = { .buf = o->buf.desc,
				    .iova = 0x1000,
				    .length = 4096,
				    .pdn = o->pdn });
	SAMPLE(s, MYNIC_CMD_ALLOC_DM, .body = 9,
	       .cmd.alloc_dm = { .length = 1 });
	SAMPLE(s, MYNIC_CMD_QUERY_MKEY, .out = sizeof(struct mynic_query_mkey),
	       .cmd.number = o->mr->key >> 8);
}

static void make_queue_samples(struct objects *o, struct sample **s)
{
	SAMPLE(s, MYNIC_CMD_CREATE_CQ, .body = 31,
	       .flags = MYNIC_CQ_IGNORE_OVERRUN,
	       .cmd.create_cq = { .buf = o->buf.desc,
				  .dbrec_offset = 4096,
				  .uarn = 1,
				  .eqn = o->d->comp.number,
				  .log_size = 4 });
	SAMPLE(s, MYNIC_CMD_MODIFY_CQ, .body = 4,
	       .cmd.number = o->unused->number,
	       .cmd.modify_cq = { .count = 2, .period = 10 });
	SAMPLE(s, MYNIC_CMD_RESIZE_CQ, .body = 25,
	       .cmd.number = o->unused->number,
	       .cmd.resize = { .buf = o->buf.desc,
			       .dbrec_offset = 4096,
			       .log_size = 3 });
	SAMPLE(s, MYNIC_CMD_QUERY_CQ, .out = sizeof(struct mynic_query_cq),
	       .cmd.number = o->cq->number);
	SAMPLE(s, MYNIC_CMD_CREATE_SRQ, .in = sizeof(o->create_srq));
	memcpy((*s)[-1].mbox, &o->create_srq, sizeof(o->create_srq));
	SAMPLE(s, MYNIC_CMD_MODIFY_SRQ, .body = 4,
	       .cmd.number = o->srq->number);
	SAMPLE(s, MYNIC_CMD_QUERY_SRQ, .cmd.number = o->srq->number);
	SAMPLE(s, MYNIC_CMD_RESIZE_SRQ, .body = 25,
	       .cmd.number = o->srq->number,
	       .cmd.resize = { .buf = o->buf.desc,
			       .dbrec_offset = 4096,
			       .log_size = 3 });
}

static void make_qp_samples(struct objects *o, struct sample **s)
{
	SAMPLE(s, MYNIC_CMD_CREATE_QP, .in = sizeof(o->spare.create));
	memcpy((*s)[-1].mbox, &o->spare.create, sizeof(o->spare.create));
	SAMPLE(s, MYNIC_CMD_MODIFY_QP, .in = sizeof(o->attr),
	       .cmd.number = o->qp->number);
	memcpy((*s)[-1].mbox, &o->attr, sizeof(o->attr));
	SAMPLE(s, MYNIC_CMD_QUERY_QP, .out = sizeof(o->attr),
	       .cmd.number = o->qp->number);
	SAMPLE(s, MYNIC_CMD_ATTACH_MCAST, .body = 16,
	       .cmd.number = o->qp->number,
	       .cmd.mcast = { .gid = { 0xff, 0x0e, [15] = 1 } });
	SAMPLE(s, MYNIC_CMD_DETACH_MCAST, .body = 16,
	       .cmd.number = o->qp->number,
	       .cmd.mcast = { .gid = { 0xff, 0x0e, [15] = 1 } });
	SAMPLE(s, MYNIC_CMD_CREATE_COUNTERS);
	SAMPLE(s, MYNIC_CMD_BIND_COUNTERS, .body = 4,
	       .cmd.number = o->qp->number,
	       .cmd.bind_counters = { .counters = o->set });
	SAMPLE(s, MYNIC_CMD_CREATE_COMP_CNTR, .body = 8,
	       .cmd.create_comp_cntr = {
		       .addr = sim_iova(o->d->n, o->buf.page[0]) });
	SAMPLE(s, MYNIC_CMD_MODIFY_COMP_CNTR, .body = 10,
	       .cmd.number = o->comp_cntr, .cmd.modify_comp_cntr.value = 1);
	SAMPLE(s, MYNIC_CMD_ATTACH_COMP_CNTR, .body = 8,
	       .cmd.number = o->idle->number,
	       .cmd.attach_comp_cntr = { .comp_cntr = o->comp_cntr,
					 .operations = MYNIC_COMP_CNTR_SEND });
	SAMPLE(s, MYNIC_CMD_QUERY_COUNTERS, .out = 8 * MYNIC_STAT_BAD_DMA,
	       .cmd.number = o->set);
}

static void make_destroy_samples(struct objects *o, struct sample **s)
{
	SAMPLE(s, MYNIC_CMD_DESTROY_MKEY, .cmd.number = o->mr->key >> 8);
	SAMPLE(s, MYNIC_CMD_FREE_DM, .cmd.number = alloc_dm(o->d));
	SAMPLE(s, MYNIC_CMD_DESTROY_QP, .cmd.number = o->qp->number);
	SAMPLE(s, MYNIC_CMD_DESTROY_COUNTERS, .cmd.number = o->set);
	SAMPLE(s, MYNIC_CMD_DESTROY_COMP_CNTR,
	       .cmd.number = o->unused_comp_cntr);
	SAMPLE(s, MYNIC_CMD_DESTROY_SRQ, .cmd.number = o->srq->number);
	SAMPLE(s, MYNIC_CMD_DESTROY_CQ, .cmd.number = o->unused->number);
}

#undef SAMPLE

/* Commands for one object of each type, or for similar ones */
static void make_samples(struct drv *d, struct sample *s)
{
	struct objects *o = make_objects(d);

	make_device_samples(o, &s);
	make_queue_samples(o, &s);
	make_qp_samples(o, &s);
	/* They destroy the objects, so they come last */
	make_destroy_samples(o, &s);
}

static uint8_t run_sample(struct drv *d, const struct sample *s)
{
	struct mynic_admin_cmd cmd = s->cmd;
	uint8_t mbox[MYNIC_MBOX_SIZE];

	if (s->in)
		return drv_admin_in(d, &cmd, NULL, s->mbox, s->in);
	if (s->out)
		return drv_admin_out(d, &cmd, mbox, s->out);
	return drv_admin(d, &cmd, NULL);
}

static struct sample *samples(struct drv *d)
{
	struct sample *s = tap_alloc(NUM_SAMPLES * sizeof(*s));

	make_samples(d, s);
	return s;
}

TEST(admin_samples_are_valid)
{
	struct drv *d = drv_one();

	for (struct sample *s = samples(d); s->name; s++) {
		uint8_t status = run_sample(d, s);

		if (status)
			FAIL("%s: status %u", s->name, status);
	}
	CHECK_EQ(drv_stat(d, MYNIC_STAT_BAD_COMMAND), 0);
}

static void expect_status(struct drv *d, const struct sample *s, uint8_t want,
			  const char *what, unsigned int at)
{
	uint8_t status = run_sample(d, s);

	if (status != want)
		FAIL("%s, %s %u: status %u, not %u", s->name, what, at, status,
		     want);
}

TEST(admin_reserved_bytes_are_checked)
{
	struct drv *d = drv_one();
	uint64_t count = 0;

	for (struct sample *s = samples(d); s->name; s++) {
		for (unsigned int i = 0; i < 4; i++) {
			struct sample bad = *s;

			bad.cmd.reserved_14[i] = 0x10;
			expect_status(d, &bad, MYNIC_AQ_BAD_PARAM,
				      "reserved byte", i);
			count++;
		}
		for (unsigned int i = s->body; i < 40; i++) {
			struct sample bad = *s;

			bad.cmd.body[i] = 1;
			expect_status(d, &bad, MYNIC_AQ_BAD_PARAM, "body byte",
				      i);
			count++;
		}
	}
	CHECK_EQ(drv_stat(d, MYNIC_STAT_BAD_COMMAND), count);
}

TEST(admin_unknown_flags_are_refused)
{
	struct drv *d = drv_one();

	for (struct sample *s = samples(d); s->name; s++)
		for (unsigned int bit = 0; bit < 8; bit++) {
			struct sample bad = *s;

			if (s->flags & 1u << bit)
				continue;
			bad.cmd.flags = 1u << bit;
			expect_status(d, &bad, MYNIC_AQ_NOT_SUPPORTED, "flag",
				      bit);
		}
}

TEST(admin_unused_number_must_be_zero)
{
	struct drv *d = drv_one();

	for (struct sample *s = samples(d); s->name; s++) {
		struct sample bad = *s;

		if (s->cmd.number || s->cmd.opcode == MYNIC_CMD_NOP)
			continue;
		bad.cmd.number = 1;
		expect_status(d, &bad, MYNIC_AQ_BAD_PARAM, "number", 1);
	}
}

TEST(admin_unknown_numbers)
{
	struct drv *d = drv_one();
	static const uint32_t unknown[] = { 0xffffffff, 0x00ffffff, 0x12345,
					    0x80000000 };

	for (struct sample *s = samples(d); s->name; s++)
		for (unsigned int i = 0; i < ARRAY_SIZE(unknown); i++) {
			struct sample bad = *s;

			if (!s->cmd.number ||
			    s->cmd.opcode == MYNIC_CMD_SET_GID)
				continue;
			bad.cmd.number = unknown[i];
			expect_status(d, &bad, MYNIC_AQ_BAD_NUMBER, "number",
				      unknown[i]);
		}
}

TEST(admin_mailbox_address)
{
	struct drv *d = drv_one();

	for (struct sample *s = samples(d); s->name; s++) {
		struct mynic_admin_cmd cmd = s->cmd;

		if (!s->in && !s->out)
			continue;
		cmd.mbox_len = s->in + s->out;
		cmd.mbox_addr = 0x1000;
		CHECK_EQ(drv_admin(d, &cmd, NULL), MYNIC_AQ_BAD_DMA);
		cmd.mbox_addr = d->n->iova + SIM_MEM_SIZE - 8;
		CHECK_EQ(drv_admin(d, &cmd, NULL), MYNIC_AQ_BAD_DMA);
		cmd.mbox_addr = ~7ull;
		CHECK_EQ(drv_admin(d, &cmd, NULL), MYNIC_AQ_BAD_DMA);
		cmd.mbox_addr = sim_iova(d->n, d->mbox) + 4;
		CHECK_EQ(drv_admin(d, &cmd, NULL), MYNIC_AQ_BAD_PARAM);
		cmd.mbox_addr = sim_iova(d->n, d->mbox);
		cmd.mbox_len = MYNIC_MBOX_SIZE + 1;
		CHECK_EQ(drv_admin(d, &cmd, NULL), MYNIC_AQ_BAD_PARAM);
		cmd.mbox_len = 0xffffffff;
		CHECK_EQ(drv_admin(d, &cmd, NULL), MYNIC_AQ_BAD_PARAM);
	}
}

TEST(admin_unwanted_mailbox)
{
	struct drv *d = drv_one();

	for (struct sample *s = samples(d); s->name; s++) {
		struct mynic_admin_cmd cmd = s->cmd;

		if (s->in || s->out)
			continue;
		/* as one that is longer than the struct */
		CHECK_EQ(drv_admin_in(d, &cmd, NULL, "\0\0\0\1", 4),
			 MYNIC_AQ_NOT_SUPPORTED);
		CHECK_EQ(drv_admin_in(d, &cmd, NULL, "\0\0\0", 4), MYNIC_AQ_OK);
	}
}

/* The mailbox of a newer driver has bytes that this device does not know */
TEST(admin_mailbox_grows)
{
	struct drv *d = drv_one();

	for (struct sample *s = samples(d); s->name; s++) {
		struct mynic_admin_cmd cmd = s->cmd;
		uint8_t mbox[MYNIC_MBOX_SIZE] = { 0 };

		if (s->in) {
			memcpy(mbox, s->mbox, s->in);
			mbox[MYNIC_MBOX_SIZE - 1] = 1;
			CHECK_EQ(drv_admin_in(d, &cmd, NULL, mbox,
					      sizeof(mbox)),
				 MYNIC_AQ_NOT_SUPPORTED);
			mbox[MYNIC_MBOX_SIZE - 1] = 0;
			mbox[s->in] = 1;
			CHECK_EQ(drv_admin_in(d, &cmd, NULL, mbox, s->in + 1),
				 MYNIC_AQ_NOT_SUPPORTED);
			mbox[s->in] = 0;
			CHECK_EQ(drv_admin_in(d, &cmd, NULL, mbox,
					      sizeof(mbox)),
				 MYNIC_AQ_OK);
		} else if (s->out) {
			CHECK_EQ(drv_admin_out(d, &cmd, mbox, sizeof(mbox)),
				 MYNIC_AQ_OK);
			for (unsigned int i = MYNIC_NUM_STATS * 8;
			     i < sizeof(mbox); i++)
				CHECK_EQ(mbox[i], 0);
		}
	}
}

/*
 * The mailbox of an older driver is shorter; the device must not write behind
 * its end
 */
TEST(admin_mailbox_shrinks)
{
	struct drv *d = drv_one();

	for (struct sample *s = samples(d); s->name; s++) {
		struct mynic_admin_cmd cmd = s->cmd;
		uint8_t full[MYNIC_MBOX_SIZE], part[MYNIC_MBOX_SIZE];

		if (!s->out || s->cmd.opcode == MYNIC_CMD_QUERY_STATS)
			continue;
		CHECK_EQ(drv_admin_out(d, &cmd, full, s->out), 0);
		for (unsigned int len = 0; len <= s->out; len += 8) {
			cmd = s->cmd;
			CHECK_EQ(drv_admin_out(d, &cmd, part, len), 0);
			CHECK_MEM(part, full, len);
			CHECK_EQ(d->mbox[len], 0xa5);
		}
	}
}

/* Fields that a short mailbox leaves out read as zero: here, port 0 */
TEST(admin_mailbox_in_short)
{
	struct drv *d = drv_one();
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_MODIFY_QP };
	struct drv_cq *cq = drv_create_cq(d, 4);
	struct drv_qp_init init = {
		.type = MYNIC_QP_UD,
		.pdn = drv_alloc_pd(d),
		.send_cq = cq,
		.recv_cq = cq,
	};
	struct mynic_qp_attr attr = {
		.attr_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			     IBV_QP_QKEY,
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
	};

	cmd.number = drv_create_qp(d, &init)->number;
	CHECK_EQ(drv_admin_in(d, &cmd, NULL, &attr,
			      offsetof(struct mynic_qp_attr, port_num)),
		 MYNIC_AQ_BAD_PARAM);
	CHECK_EQ(drv_admin_in(d, &cmd, NULL, &attr,
			      offsetof(struct mynic_qp_attr, port_num) + 1),
		 MYNIC_AQ_OK);
}

TEST(admin_device_attributes)
{
	struct drv *d = drv_one();
	const struct mynic_device_attr *a = &d->attr;

	CHECK(a->node_guid);
	CHECK(a->max_mr_size >= 1ull << 40);
	CHECK(a->page_size_cap & 4096);
	CHECK(!(a->page_size_cap & 4095));
	CHECK(a->max_qp >= 65536);
	CHECK(a->max_qp_wr >= 32768);
	CHECK(a->max_cq >= 65536);
	CHECK(a->max_cqe >= 4194304);
	CHECK(a->max_mkey >= 1u << 20);
	CHECK(a->max_pd >= 65536);
	CHECK(a->max_srq >= 65536);
	CHECK(a->max_srq_wr >= 32768);
	CHECK_EQ(a->max_eq, 64);
	CHECK(a->max_rd_atomic >= 16);
	CHECK_EQ(a->max_mcast_grp, 4096);
	CHECK_EQ(a->max_mcast_qp_attach, 64);
	CHECK_EQ(a->max_gid, 256);
	CHECK_EQ(a->num_uar, 8192);
	CHECK(a->dma_lkey);
	CHECK_EQ(a->max_tags, 1024);
	CHECK_EQ(a->max_tag_ops, 256);
	CHECK_EQ(a->max_rndv_hdr, 256);
	for (unsigned int i = 0; i < sizeof(a->reserved_ac); i++)
		CHECK_EQ(a->reserved_ac[i], 0);
}

TEST(admin_port_attributes)
{
	struct drv *d = drv_one();
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_QUERY_PORT };
	struct mynic_port_attr a;

	CHECK_EQ(drv_admin_out(d, &cmd, &a, sizeof(a)), 0);
	CHECK_MEM(a.mac, "\x02\x6d\x79\x6e\x69\x01", 6);
	CHECK_EQ(a.link_up, 1);
	CHECK(a.speed_mbps);
	CHECK_EQ(a.max_mtu, 9216);
	nic_set_link(d->n->nic, false);
	sim_settle(d->sim);
	CHECK_EQ(drv_admin_out(d, &cmd, &a, sizeof(a)), 0);
	CHECK_EQ(a.link_up, 0);
}

static uint8_t modify_port(struct drv *d, uint8_t up, uint32_t mtu,
			   uint8_t mac5)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_MODIFY_PORT,
		.modify_port = { .up = up,
				 .mac = { 2, 0, 0, 0, 0, mac5 },
				 .mtu = mtu },
	};

	return drv_admin(d, &cmd, NULL);
}

TEST(admin_modify_port)
{
	struct drv *d = drv_one();
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_MODIFY_PORT };

	CHECK_EQ(modify_port(d, 1, 67, 1), MYNIC_AQ_BAD_PARAM);
	CHECK_EQ(modify_port(d, 1, 9217, 1), MYNIC_AQ_BAD_PARAM);
	CHECK_EQ(modify_port(d, 2, 1500, 1), MYNIC_AQ_BAD_PARAM);
	CHECK_EQ(modify_port(d, 1, 68, 7), MYNIC_AQ_OK);
	CHECK_MEM(nic_mac(d->n->nic), "\x02\0\0\0\0\x07", 6);
	CHECK_EQ(modify_port(d, 0, 9216, 8), MYNIC_AQ_OK);
	/* a port cannot have a group address */
	cmd.modify_port.up = 1;
	cmd.modify_port.mtu = 1500;
	cmd.modify_port.mac[0] = 1;
	CHECK_EQ(drv_admin(d, &cmd, NULL), MYNIC_AQ_BAD_PARAM);
	cmd.modify_port.mac[0] = 0;
	CHECK_EQ(drv_admin(d, &cmd, NULL), MYNIC_AQ_BAD_PARAM);
	cmd.modify_port.mac[0] = 2;
	cmd.modify_port.reserved_01 = 1;
	CHECK_EQ(drv_admin(d, &cmd, NULL), MYNIC_AQ_BAD_PARAM);
}

TEST(admin_set_gid)
{
	struct drv *d = drv_one();
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_SET_GID };

	cmd.set_gid.gid[0] = 0xfe;
	cmd.set_gid.vlan = MYNIC_NO_VLAN;
	cmd.number = 255;
	CHECK_EQ(drv_admin(d, &cmd, NULL), MYNIC_AQ_OK);
	cmd.number = 256;
	CHECK_EQ(drv_admin(d, &cmd, NULL), MYNIC_AQ_BAD_NUMBER);
	cmd.number = 3;
	cmd.set_gid.vlan = 4095;
	CHECK_EQ(drv_admin(d, &cmd, NULL), MYNIC_AQ_BAD_PARAM);
	cmd.set_gid.vlan = 4094;
	CHECK_EQ(drv_admin(d, &cmd, NULL), MYNIC_AQ_OK);
}

TEST(admin_pd_life)
{
	struct drv *d = drv_one();
	uint32_t pdn = drv_alloc_pd(d), other = drv_alloc_pd(d);
	struct drv_mr *mr;

	CHECK(pdn != other);
	mr = drv_reg_mr(d, pdn, 64, 0);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DEALLOC_PD, pdn), MYNIC_AQ_BUSY);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DEALLOC_PD, other), MYNIC_AQ_OK);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DEALLOC_PD, other),
		 MYNIC_AQ_BAD_NUMBER);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_MKEY, mr->key >> 8),
		 MYNIC_AQ_OK);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DEALLOC_PD, pdn), MYNIC_AQ_OK);
}

TEST(admin_pd_limit)
{
	struct drv *d = drv_one();
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_ALLOC_PD };
	struct mynic_admin_cpl cpl;

	for (uint32_t i = 0; i < d->attr.max_pd; i++)
		drv_alloc_pd(d);
	CHECK_EQ(drv_admin(d, &cmd, &cpl), MYNIC_AQ_NO_RESOURCE);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DEALLOC_PD, 0x77), MYNIC_AQ_OK);
	drv_alloc_pd(d);
}

TEST(admin_destroy_order)
{
	struct drv *d = drv_one();
	uint32_t pdn = drv_alloc_pd(d);
	struct drv_cq *scq = drv_create_cq(d, 4), *rcq = drv_create_cq(d, 4);
	struct drv_srq *srq = drv_create_srq(d, pdn, 4);
	struct drv_qp_init init = {
		.type = MYNIC_QP_RC,
		.pdn = pdn,
		.send_cq = scq,
		.recv_cq = rcq,
		.srq = srq,
	};
	struct drv_qp *qp = drv_create_qp(d, &init);

#define TRY(op, number, status) \
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_##op, number), MYNIC_AQ_##status)
	TRY(DEALLOC_PD, pdn, BUSY);
	TRY(DESTROY_CQ, scq->number, BUSY);
	TRY(DESTROY_CQ, rcq->number, BUSY);
	TRY(DESTROY_SRQ, srq->number, BUSY);
	TRY(DESTROY_EQ, d->comp.number, BUSY);
	TRY(DESTROY_QP, qp->number, OK);
	TRY(DESTROY_QP, qp->number, BAD_NUMBER);
	TRY(DESTROY_CQ, scq->number, OK);
	TRY(DESTROY_CQ, scq->number, BAD_NUMBER);
	TRY(DESTROY_CQ, rcq->number, OK);
	TRY(DEALLOC_PD, pdn, BUSY);
	TRY(DESTROY_SRQ, srq->number, OK);
	TRY(DESTROY_SRQ, srq->number, BAD_NUMBER);
	TRY(DEALLOC_PD, pdn, OK);
	TRY(DESTROY_EQ, d->comp.number, OK);
	TRY(DESTROY_EQ, d->comp.number, BAD_NUMBER);
#undef TRY
}

TEST(admin_create_cq_bad)
{
	struct drv *d = drv_one();
	struct drv_buf *buf = tap_alloc(sizeof(*buf));
	struct mynic_admin_cmd good = { .opcode = MYNIC_CMD_CREATE_CQ }, bad;

	drv_buf_init(d, buf, 8192);
	good.create_cq.buf = buf->desc;
	good.create_cq.dbrec_offset = 4096;
	good.create_cq.uarn = 1;
	good.create_cq.eqn = d->comp.number;
	good.create_cq.log_size = 4;
#define TRY(field, value, status)                                      \
	do {                                                           \
		bad = good;                                            \
		bad.create_cq.field = value;                           \
		CHECK_EQ(drv_admin(d, &bad, NULL), MYNIC_AQ_##status); \
	} while (0)
	TRY(log_size, 0, BAD_PARAM);
	TRY(log_size, 23, BAD_PARAM);
	TRY(log_size, 255, BAD_PARAM);
	TRY(uarn, 8192, BAD_PARAM);
	TRY(uarn, 0xffffffff, BAD_PARAM);
	TRY(eqn, 63, BAD_NUMBER);
	TRY(eqn, 0xffff, BAD_NUMBER);
	TRY(ring_offset, 32, BAD_PARAM);
	TRY(dbrec_offset, 4096 + 32, BAD_PARAM);
	TRY(buf.levels, 3, BAD_PARAM);
	TRY(buf.levels, 255, BAD_PARAM);
	TRY(buf.log_page_size, 11, BAD_PARAM);
	TRY(buf.log_page_size, 32, BAD_PARAM);
	TRY(buf.reserved_0b, 1, BAD_PARAM);
	TRY(buf.addr, good.create_cq.buf.addr + 4, BAD_PARAM);
	TRY(buf.log_list_size, 12, BAD_PARAM);
	TRY(buf.offset, 8, BAD_PARAM);
#undef TRY
	CHECK_EQ(drv_admin(d, &good, NULL), MYNIC_AQ_OK);
}

TEST(admin_create_qp_bad)
{
	struct drv *d = drv_one();
	struct drv_cq *cq = drv_create_cq(d, 4);
	struct drv_qp_init init = {
		.type = MYNIC_QP_RC,
		.pdn = drv_alloc_pd(d),
		.send_cq = cq,
		.recv_cq = cq,
	};
	struct drv_qp *qp = tap_alloc(sizeof(*qp));
	struct mynic_create_qp bad;

	drv_qp_layout(d, qp, &init);
#define TRY(field, value, status)                                             \
	do {                                                                  \
		struct mynic_admin_cmd cmd = { .opcode =                      \
						       MYNIC_CMD_CREATE_QP }; \
		bad = qp->create;                                             \
		bad.field = value;                                            \
		CHECK_EQ(drv_admin_in(d, &cmd, NULL, &bad, sizeof(bad)),      \
			 MYNIC_AQ_##status);                                  \
	} while (0)
	TRY(type, 0, NOT_SUPPORTED);
	TRY(type, 9, NOT_SUPPORTED);
	TRY(type, 255, NOT_SUPPORTED);
	TRY(flags, 0x80, NOT_SUPPORTED);
	TRY(log_sq_size, 16, BAD_PARAM);
	TRY(log_sq_stride, 5, BAD_PARAM);
	TRY(log_sq_stride, 10, BAD_PARAM);
	TRY(log_rq_size, 16, BAD_PARAM);
	TRY(log_rq_stride, 4, BAD_PARAM);
	TRY(log_rq_stride, 10, BAD_PARAM);
	TRY(uarn, 8192, BAD_PARAM);
	TRY(pdn, 999, BAD_NUMBER);
	TRY(pdn, 0xffffffff, BAD_NUMBER);
	TRY(send_cqn, 0xabcdef, BAD_NUMBER);
	TRY(recv_cqn, 0xffffffff, BAD_NUMBER);
	TRY(srqn, 0x777, BAD_NUMBER);
	TRY(sq_offset, 8, BAD_PARAM);
	TRY(rq_offset, qp->create.rq_offset + 8, BAD_PARAM);
	TRY(dbrec_offset, qp->create.dbrec_offset + 128, BAD_PARAM);
	TRY(reserved_3b, 1, BAD_PARAM);
	TRY(reserved_6c[19], 1, BAD_PARAM);
	TRY(buf.levels, 3, BAD_PARAM);
#undef TRY
	CHECK_EQ(drv_stat(d, MYNIC_STAT_BAD_COMMAND), 22);
	drv_create_qp(d, &init);
}

TEST(admin_create_srq_bad)
{
	struct drv *d = drv_one();
	struct drv_buf *buf = tap_alloc(sizeof(*buf));
	struct mynic_create_srq good = { .pdn = drv_alloc_pd(d) }, bad;
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_CREATE_SRQ };

	drv_buf_init(d, buf, 8192);
	good.buf = buf->desc;
	good.dbrec_offset = 4096;
	good.log_size = 4;
	good.log_stride = 6;
#define TRY(field, value, status)                                        \
	do {                                                             \
		bad = good;                                              \
		bad.field = value;                                       \
		CHECK_EQ(drv_admin_in(d, &cmd, NULL, &bad, sizeof(bad)), \
			 MYNIC_AQ_##status);                             \
	} while (0)
	TRY(pdn, 77, BAD_NUMBER);
	TRY(log_size, 16, BAD_PARAM);
	TRY(log_stride, 4, BAD_PARAM);
	TRY(log_stride, 10, BAD_PARAM);
	TRY(type, MYNIC_SRQ_TM, BAD_PARAM);
	TRY(type, 3, NOT_SUPPORTED);
	TRY(type, 200, NOT_SUPPORTED);
	TRY(ring_offset, 32, BAD_PARAM);
	TRY(dbrec_offset, 4096 + 64, BAD_PARAM);
	TRY(log_tag_size, 1, BAD_PARAM);
	TRY(max_tags, 1, BAD_PARAM);
	TRY(xrcdn, 1, BAD_PARAM);
	TRY(cqn, 1, BAD_PARAM);
	TRY(tag_buf.addr, 1, BAD_PARAM);
	TRY(tag_buf.offset, 1, BAD_PARAM);
	TRY(limit, 17, BAD_PARAM);
#undef TRY
	CHECK_EQ(drv_admin_in(d, &cmd, NULL, &good, sizeof(good)), 0);
}

TEST(admin_create_eq_bad)
{
	struct drv *d = drv_one();
	struct drv_buf *buf = tap_alloc(sizeof(*buf));
	struct mynic_admin_cmd good = { .opcode = MYNIC_CMD_CREATE_EQ }, bad;

	drv_buf_init(d, buf, 4096);
	good.create_eq.buf = buf->desc;
	good.create_eq.vector = 3;
	good.create_eq.log_size = 4;
	good.create_eq.dbrec_offset = 512;
#define TRY(field, value, status)                                      \
	do {                                                           \
		bad = good;                                            \
		bad.create_eq.field = value;                           \
		CHECK_EQ(drv_admin(d, &bad, NULL), MYNIC_AQ_##status); \
	} while (0)
	TRY(vector, MYNIC_MAX_VECTORS, BAD_PARAM);
	TRY(vector, 0xffff, BAD_PARAM);
	TRY(log_size, 0, BAD_PARAM);
	TRY(log_size, 21, BAD_PARAM);
	TRY(async, 2, BAD_PARAM);
	TRY(async, 1, BUSY);
	TRY(buf.offset, 16, BAD_PARAM);
	TRY(dbrec_offset, 512 + 64, BAD_PARAM);
	TRY(dbrec_offset, 0x80000000, BAD_DMA);
#undef TRY
	CHECK_EQ(drv_admin(d, &good, NULL), MYNIC_AQ_OK);
}

TEST(admin_eq_limit)
{
	struct drv *d = drv_one();
	struct drv_eq *eq = tap_alloc(sizeof(*eq));

	for (uint32_t i = 2; i < d->attr.max_eq; i++)
		CHECK_EQ(drv_create_eq(d, eq, 1, i % 32, false), 0);
	CHECK_EQ(drv_create_eq(d, eq, 1, 0, false), MYNIC_AQ_NO_RESOURCE);
}

TEST(admin_numbers_are_not_reused_soon)
{
	struct drv *d = drv_one();
	struct drv_cq *cq = drv_create_cq(d, 4), *second;
	struct drv_qp_init init = {
		.type = MYNIC_QP_RC,
		.pdn = drv_alloc_pd(d),
		.send_cq = cq,
		.recv_cq = cq,
	};
	struct drv_qp *qp = drv_create_qp(d, &init);
	uint32_t old = qp->number;

	CHECK(old >= 0x10);
	CHECK(old < 1u << 24);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_QP, old), 0);
	qp = drv_create_qp(d, &init);
	CHECK(qp->number != old);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_QP, qp->number), 0);
	old = cq->number;
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_CQ, old), 0);
	second = drv_create_cq(d, 4);
	CHECK(second->number != old);
}

TEST(admin_one_gsi)
{
	struct drv *d = drv_one();
	struct drv_cq *cq = drv_create_cq(d, 4);
	struct drv_qp_init init = {
		.type = MYNIC_QP_GSI,
		.pdn = drv_alloc_pd(d),
		.send_cq = cq,
		.recv_cq = cq,
		.flags = MYNIC_QP_KERNEL,
	};
	struct drv_qp *qp = drv_create_qp(d, &init);
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_CREATE_QP };

	CHECK_EQ(qp->number, 1);
	CHECK_EQ(drv_admin_in(d, &cmd, NULL, &qp->create, sizeof(qp->create)),
		 MYNIC_AQ_BUSY);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_QP, 1), 0);
	CHECK_EQ(drv_create_qp(d, &init)->number, 1);
}
