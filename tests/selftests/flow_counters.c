// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Counters of flow rules */
#include "verbs.h"

#define NUM 10
#define LEN 100
#define ETHERTYPE 0x88b5 /* for local experiments (IEEE 802) */

/* A group without other members */
static const uint8_t group[6] = { 0x03, 0x11, 0x22, 0x33, 0x44, 0x55 };

struct rule {
	struct ibv_flow_attr attr;
	struct ibv_flow_spec_eth eth;
	struct ibv_flow_spec_action_drop drop;
	struct ibv_flow_spec_counter_action count;
} __attribute__((packed));

FIXTURE(counters)
{
	struct end a;
	struct end b;
	struct ibv_counters *counters;
	struct ibv_flow *flow;
};

FIXTURE_SETUP(counters)
{
	self->a.ctx = open_mynic(0);
	self->b.ctx = open_mynic(1);
	if (!self->b.ctx)
		SKIP(return, "only one mynic device");
	ASSERT_TRUE(make_end(&self->a, IBV_QPT_RAW_PACKET));
	ASSERT_TRUE(make_end(&self->b, IBV_QPT_RAW_PACKET));
	ASSERT_EQ(raw_to_rts(self->a.qp), 0);
	ASSERT_EQ(raw_to_rts(self->b.qp), 0);
	self->counters = ibv_create_counters(
		self->b.ctx, &(struct ibv_counters_init_attr){ 0 });
	ASSERT_NE(self->counters, NULL);
}

FIXTURE_TEARDOWN(counters)
{
	if (self->flow)
		EXPECT_EQ(ibv_destroy_flow(self->flow), 0);
	if (self->counters)
		EXPECT_EQ(ibv_destroy_counters(self->counters), 0);
	EXPECT_EQ(free_end(&self->a), 0);
	EXPECT_EQ(free_end(&self->b), 0);
	ibv_close_device(self->a.ctx);
	if (self->b.ctx)
		ibv_close_device(self->b.ctx);
}

static int attach(struct ibv_counters *counters,
		  enum ibv_counter_description what, uint32_t index)
{
	struct ibv_counter_attach_attr attr = {
		.counter_desc = what,
		.index = index,
	};

	return ibv_attach_counters_point_flow(counters, &attr, NULL);
}

/* Frames to the group are counted, and dropped */
static struct ibv_flow *count(struct ibv_qp *qp, struct ibv_counters *counters)
{
	struct rule rule = {
		.attr = { .type = IBV_FLOW_ATTR_NORMAL,
			  .size = sizeof(rule),
			  .num_of_specs = 3,
			  .port = 1 },
		.eth = { .type = IBV_FLOW_SPEC_ETH, .size = sizeof(rule.eth) },
		.drop = { .type = IBV_FLOW_SPEC_ACTION_DROP,
			  .size = sizeof(rule.drop) },
		.count = { .type = IBV_FLOW_SPEC_ACTION_COUNT,
			   .size = sizeof(rule.count),
			   .counters = counters },
	};

	memcpy(rule.eth.val.dst_mac, group, sizeof(group));
	memset(rule.eth.mask.dst_mac, 0xff, sizeof(group));
	return ibv_create_flow(qp, (void *)&rule);
}

TEST_F(counters, packets_and_bytes)
{
	struct end *a = &self->a;
	uint64_t values[4];
	struct ibv_wc wc;

	ASSERT_EQ(attach(self->counters, IBV_COUNTER_BYTES, 0), 0);
	ASSERT_EQ(attach(self->counters, IBV_COUNTER_PACKETS, 2), 0);
	self->flow = count(self->b.qp, self->counters);
	ASSERT_NE(self->flow, NULL);
	EXPECT_EQ(ibv_destroy_counters(self->counters), EBUSY);
	EXPECT_EQ(attach(self->counters, IBV_COUNTER_BYTES, 1), EBUSY);

	memcpy(a->buf, group, sizeof(group));
	memcpy(a->buf + 6, "\x02\0\0\0\0\x01", 6);
	a->buf[12] = ETHERTYPE >> 8;
	a->buf[13] = ETHERTYPE & 0xff;
	for (int i = 0; i < NUM; i++) {
		ASSERT_EQ(post(a, IBV_WR_SEND, i, 0, LEN, NULL), 0);
		ASSERT_TRUE(wait_wc(a->cq, &wc));
		ASSERT_EQ(wc.status, IBV_WC_SUCCESS);
	}
	for (time_t end = deadline(); time(NULL) < end;) {
		memset(values, 0xff, sizeof(values));
		ASSERT_EQ(ibv_read_counters(self->counters, values, 4, 0), 0);
		if (values[2] == NUM)
			break;
	}
	EXPECT_EQ(values[0], NUM * LEN);
	EXPECT_EQ(values[1], 0);
	EXPECT_EQ(values[2], NUM);
	EXPECT_EQ(values[3], 0);
	EXPECT_EQ(ibv_read_counters(self->counters, values, 3,
				    IBV_READ_COUNTERS_ATTR_PREFER_CACHED),
		  0);
	/* No room for the one at place 2 */
	EXPECT_EQ(ibv_read_counters(self->counters, values, 2, 0), EINVAL);
	/* Without a rule that counts, nothing can be read */
	ASSERT_EQ(ibv_destroy_flow(self->flow), 0);
	self->flow = NULL;
	EXPECT_EQ(ibv_read_counters(self->counters, values, 4, 0), EINVAL);
	EXPECT_EQ(attach(self->counters, IBV_COUNTER_BYTES, 1), 0);
}

TEST_F(counters, bad)
{
	struct ibv_counter_attach_attr attr = { .comp_mask = 1 };
	struct ibv_counters_init_attr init = { .comp_mask = 1 };
	uint64_t values[2];

	EXPECT_EQ(attach(self->counters, 2, 0), EOPNOTSUPP);
	EXPECT_EQ(ibv_attach_counters_point_flow(self->counters, &attr, NULL),
		  EOPNOTSUPP);
	EXPECT_EQ(ibv_create_counters(self->b.ctx, &init), NULL);
	/* No rule has these counters */
	EXPECT_EQ(ibv_read_counters(self->counters, values, 2, 0), EINVAL);
	/* Counters of another device */
	errno = 0;
	self->flow = count(self->a.qp, self->counters);
	EXPECT_EQ(self->flow, NULL);
	EXPECT_NE(errno, 0);
}

TEST_HARNESS_MAIN
