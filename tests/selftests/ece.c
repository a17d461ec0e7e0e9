// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Enhanced connection establishment, and rate limits */
#include "verbs.h"

#define ECN 1 /* the option that there is */

FIXTURE(pair)
{
	struct end a;
	struct end b;
};

FIXTURE_VARIANT(pair)
{
	enum ibv_qp_type type;
};

FIXTURE_VARIANT_ADD(pair, rc){
	.type = IBV_QPT_RC,
};

FIXTURE_VARIANT_ADD(pair, uc){
	.type = IBV_QPT_UC,
};

FIXTURE_SETUP(pair)
{
	self->a.ctx = open_mynic(0);
	self->b.ctx = open_mynic(1);
	if (!self->b.ctx)
		SKIP(return, "only one mynic device");
	ASSERT_TRUE(make_end(&self->a, variant->type));
	ASSERT_TRUE(make_end(&self->b, variant->type));
}

FIXTURE_TEARDOWN(pair)
{
	EXPECT_EQ(free_end(&self->a), 0);
	EXPECT_EQ(free_end(&self->b), 0);
	ibv_close_device(self->a.ctx);
	if (self->b.ctx)
		ibv_close_device(self->b.ctx);
}

static uint32_t options(const struct end *e)
{
	struct ibv_ece ece = { .comp_mask = 1 };

	if (ibv_query_ece(e->qp, &ece) || ece.vendor_id != MYNIC_VENDOR_ID ||
	    ece.comp_mask)
		return UINT32_MAX;
	return ece.options;
}

static int agree(const struct end *e, uint32_t what)
{
	struct ibv_ece ece = { .vendor_id = MYNIC_VENDOR_ID, .options = what };
	int err = ibv_set_ece(e->qp, &ece);

	return err ? err : ece.options == (what & ECN) ? 0 : -1;
}

TEST_F(pair, ece_is_agreed_on)
{
	struct end *a = &self->a, *b = &self->b;

	EXPECT_EQ(options(a), ECN);
	/* Unknown ones are cleared */
	ASSERT_EQ(agree(a, UINT32_MAX), 0);
	ASSERT_EQ(agree(b, ECN), 0);
	ASSERT_EQ(to_rts(a, b), 0);
	ASSERT_EQ(to_rts(b, a), 0);
	EXPECT_EQ(options(a), ECN);
	EXPECT_EQ(options(b), ECN);
	EXPECT_EQ(check_write(a, b, 5000), 0);
	/* Too late */
	EXPECT_EQ(agree(a, 0), EINVAL);
	EXPECT_EQ(options(a), ECN);
}

TEST_F(pair, ece_without_agreement)
{
	struct end *a = &self->a, *b = &self->b;
	struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };

	ASSERT_EQ(agree(b, 0), 0);
	ASSERT_EQ(to_rts(a, b), 0);
	ASSERT_EQ(to_rts(b, a), 0);
	EXPECT_EQ(options(a), 0);
	EXPECT_EQ(options(b), 0);
	EXPECT_EQ(check_write(a, b, 5000), 0);
	ASSERT_EQ(ibv_modify_qp(a->qp, &reset, IBV_QP_STATE), 0);
	EXPECT_EQ(options(a), ECN);
}

TEST_F(pair, ece_bad)
{
	struct ibv_ece ece = { .vendor_id = MYNIC_VENDOR_ID + 1 };

	EXPECT_EQ(ibv_set_ece(self->a.qp, &ece), EINVAL);
	ece.vendor_id = MYNIC_VENDOR_ID;
	ece.comp_mask = 1;
	EXPECT_EQ(ibv_set_ece(self->a.qp, &ece), EINVAL);
	EXPECT_EQ(options(&self->a), ECN);
}

static int limit(const struct end *e, uint32_t kbps)
{
	struct ibv_qp_rate_limit_attr attr = { .rate_limit = kbps };

	return ibv_modify_qp_rate_limit(e->qp, &attr);
}

TEST_F(pair, rate_limit)
{
	struct end *a = &self->a, *b = &self->b;
	struct ibv_device_attr_ex attr = { 0 };
	long long before;

	ASSERT_EQ(ibv_query_device_ex(a->ctx, NULL, &attr), 0);
	EXPECT_EQ(attr.packet_pacing_caps.qp_rate_limit_min, 1);
	ASSERT_GT(attr.packet_pacing_caps.qp_rate_limit_max, 1000000);
	EXPECT_TRUE(attr.packet_pacing_caps.supported_qpts &
		    1 << variant->type);
	EXPECT_EQ(limit(a, 100000), EINVAL);
	ASSERT_EQ(to_rts(a, b), 0);
	ASSERT_EQ(to_rts(b, a), 0);
	EXPECT_EQ(check_write(a, b, BUF_SIZE), 0);

	before = counter(a->ctx, "rate_limited");
	ASSERT_EQ(limit(a, 100000), 0);
	EXPECT_EQ(check_write(a, b, BUF_SIZE), 0);
	/* sysfs may be some milliseconds behind */
	for (time_t end = deadline(); time(NULL) < end;)
		if (counter(a->ctx, "rate_limited") > before)
			break;
	EXPECT_GT(counter(a->ctx, "rate_limited"), before);

	EXPECT_EQ(limit(a, attr.packet_pacing_caps.qp_rate_limit_max), 0);
	EXPECT_EQ(limit(a, attr.packet_pacing_caps.qp_rate_limit_max + 1),
		  EINVAL);
	EXPECT_EQ(limit(a, 0), 0);
	EXPECT_EQ(check_write(a, b, BUF_SIZE), 0);
}

TEST_F(pair, rate_limit_bad)
{
	struct ibv_qp_rate_limit_attr bad[] = {
		{ .rate_limit = 1000, .max_burst_sz = 4096 },
		{ .rate_limit = 1000, .typical_pkt_sz = 1024 },
		{ .rate_limit = 1000, .comp_mask = 1 },
	};

	ASSERT_EQ(to_rts(&self->a, &self->b), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		EXPECT_EQ(ibv_modify_qp_rate_limit(self->a.qp, &bad[i]),
			  EINVAL);
}

FIXTURE(ud)
{
	struct end e;
};

FIXTURE_SETUP(ud)
{
	self->e.ctx = open_mynic(0);
	ASSERT_TRUE(make_end(&self->e, IBV_QPT_UD));
}

FIXTURE_TEARDOWN(ud)
{
	EXPECT_EQ(free_end(&self->e), 0);
	ibv_close_device(self->e.ctx);
}

/* Nobody is at the other end to agree with */
TEST_F(ud, no_ece)
{
	struct ibv_ece ece = { .vendor_id = MYNIC_VENDOR_ID };

	EXPECT_EQ(ibv_query_ece(self->e.qp, &ece), EOPNOTSUPP);
	EXPECT_EQ(ibv_set_ece(self->e.qp, &ece), EOPNOTSUPP);
}

TEST_F(ud, rate_limit)
{
	ASSERT_EQ(to_rts(&self->e, &self->e), 0);
	EXPECT_EQ(limit(&self->e, 1000), 0);
	EXPECT_EQ(limit(&self->e, 0), 0);
}

TEST_HARNESS_MAIN
