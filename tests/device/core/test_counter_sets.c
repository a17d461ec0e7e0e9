// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Sets of counters, which count a part of what the port counts */
#include "harness_driver.h"

static uint64_t unbound(struct drv *d, enum mynic_stat stat)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_QUERY_STATS,
		.flags = MYNIC_STATS_UNBOUND,
	};
	uint64_t values[MYNIC_NUM_STATS];

	CHECK_EQ(drv_admin_out(d, &cmd, values, sizeof(values)), MYNIC_AQ_OK);
	return values[stat];
}

static uint32_t bound_set(struct drv_end *end)
{
	uint32_t set = drv_create_counters(end->d);

	CHECK_EQ(drv_bind_counters(end->qp, set), MYNIC_AQ_OK);
	return set;
}

/* Check a set whose QP has all of the port's RoCEv2 packets */
static void check_traffic(struct drv *d, uint32_t set)
{
	static const enum mynic_stat stats[] = {
		MYNIC_STAT_RX_RDMA_PACKETS,
		MYNIC_STAT_TX_RDMA_PACKETS,
		MYNIC_STAT_RX_RDMA_BYTES,
		MYNIC_STAT_TX_RDMA_BYTES,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(stats); i++) {
		CHECK_EQ(drv_counter(d, set, stats[i]), drv_stat(d, stats[i]));
		CHECK_EQ(unbound(d, stats[i]), 0);
	}
}

TEST(set_counts_rc)
{
	struct drv_pair pair = drv_rc_pair(NULL);
	uint32_t a = bound_set(&pair.a), b = bound_set(&pair.b);

	drv_send_recv(&pair.a, &pair.b, 10000);
	drv_send_recv(&pair.b, &pair.a, 100);
	sim_settle(pair.sim);
	check_traffic(pair.a.d, a);
	check_traffic(pair.b.d, b);
	CHECK_EQ(drv_counter(pair.a.d, a, MYNIC_STAT_TX_RDMA_BYTES), 10000);
	CHECK_EQ(drv_counter(pair.b.d, b, MYNIC_STAT_TX_RDMA_BYTES), 100);
	CHECK(drv_stat(pair.a.d, MYNIC_STAT_TX_PACKETS));
	CHECK_EQ(drv_counter(pair.a.d, a, MYNIC_STAT_TX_PACKETS), 0);
}

TEST(set_counts_uc)
{
	struct drv_pair pair = drv_uc_pair(NULL);
	uint32_t a = bound_set(&pair.a), b = bound_set(&pair.b);

	drv_send_recv(&pair.a, &pair.b, 10000);
	check_traffic(pair.a.d, a);
	check_traffic(pair.b.d, b);
	CHECK_EQ(drv_counter(pair.b.d, b, MYNIC_STAT_RX_RDMA_BYTES), 10000);
}

TEST(set_counts_ud)
{
	struct drv_pair pair = drv_ud_pair();
	uint32_t a = bound_set(&pair.a), b = bound_set(&pair.b);
	struct mynic_sge sge = drv_sge(pair.b.mr, 0, 140);
	struct drv_wr wr = {
		.wr_id = 1,
		.opcode = IBV_WR_SEND,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { drv_sge(pair.a.mr, 0, 100) },
		.remote_qpn = pair.b.qp->number,
		.remote_qkey = 0x11111111,
		.av = drv_av(pair.a.d, 1, DRV_GID_IPV6),
	};

	drv_post_recv(pair.b.qp, 2, &sge, 1);
	drv_post_send(pair.a.qp, &wr);
	drv_expect(pair.a.cq, 1, IBV_WC_SUCCESS);
	sim_settle(pair.sim);
	check_traffic(pair.a.d, a);
	check_traffic(pair.b.d, b);
	/*
	 * The set counts packets that the QP accepts, and those that it drops
	 */
	CHECK_EQ(drv_counter(pair.b.d, b, MYNIC_STAT_RX_RDMA_PACKETS), 1);
}

TEST(set_counts_errors)
{
	struct drv_path path = { .timeout = 8, .retry_cnt = 2 };
	struct drv_pair pair = drv_rc_pair(&path);
	struct drv_wr wr = {
		.wr_id = 1,
		.opcode = IBV_WR_SEND,
		.num_sge = 1,
		.sge = { drv_sge(pair.a.mr, 0, 100) },
	};
	uint32_t set = bound_set(&pair.a);
	static const enum mynic_stat stats[] = {
		MYNIC_STAT_RETRANSMIT,
		MYNIC_STAT_TIMEOUT,
		MYNIC_STAT_RETRY_EXCEEDED,
		MYNIC_STAT_SEND_ERRORS,
	};

	drv_reset_qp(pair.b.qp);
	drv_post_send(pair.a.qp, &wr);
	drv_expect(pair.a.cq, 1, IBV_WC_RETRY_EXC_ERR);
	for (unsigned int i = 0; i < ARRAY_SIZE(stats); i++) {
		CHECK(drv_counter(pair.a.d, set, stats[i]));
		CHECK_EQ(drv_counter(pair.a.d, set, stats[i]),
			 drv_stat(pair.a.d, stats[i]));
		CHECK_EQ(unbound(pair.a.d, stats[i]), 0);
	}
	CHECK_EQ(drv_stat(pair.b.d, MYNIC_STAT_RX_DROP_QP),
		 drv_stat(pair.b.d, MYNIC_STAT_RX_RDMA_PACKETS));
}

TEST(set_counts_while_bound)
{
	struct drv_pair pair = drv_rc_pair(NULL);
	struct drv *d = pair.a.d;
	uint32_t first = bound_set(&pair.a), second;
	uint64_t packets;

	drv_send_recv(&pair.a, &pair.b, 100);
	second = bound_set(&pair.a);
	drv_send_recv(&pair.a, &pair.b, 20);
	CHECK_EQ(drv_bind_counters(pair.a.qp, 0), MYNIC_AQ_OK);
	drv_send_recv(&pair.a, &pair.b, 3);
	CHECK_EQ(drv_counter(d, first, MYNIC_STAT_TX_RDMA_BYTES), 100);
	CHECK_EQ(drv_counter(d, second, MYNIC_STAT_TX_RDMA_BYTES), 20);
	CHECK_EQ(unbound(d, MYNIC_STAT_TX_RDMA_BYTES), 3);
	CHECK_EQ(drv_stat(d, MYNIC_STAT_TX_RDMA_BYTES), 123);

	/* The port's counters keep the counts of a set that was destroyed */
	packets = unbound(d, MYNIC_STAT_TX_RDMA_PACKETS);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_COUNTERS, first),
		 MYNIC_AQ_OK);
	CHECK_EQ(unbound(d, MYNIC_STAT_TX_RDMA_PACKETS), packets);
}

TEST(set_is_shared)
{
	struct drv_pair pair = drv_rc_pair(NULL);
	struct drv_qp_init init = {
		.type = MYNIC_QP_RC,
		.pdn = pair.a.pdn,
		.send_cq = pair.a.cq,
		.recv_cq = pair.a.cq,
	};
	struct drv *d = pair.a.d;
	struct drv_qp *other = drv_create_qp(d, &init);
	uint32_t set = bound_set(&pair.a);

	CHECK_EQ(drv_bind_counters(other, set), MYNIC_AQ_OK);
	CHECK_EQ(drv_bind_counters(other, set), MYNIC_AQ_OK);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_QP, pair.a.qp->number),
		 MYNIC_AQ_OK);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_COUNTERS, set),
		 MYNIC_AQ_BUSY);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_QP, other->number),
		 MYNIC_AQ_OK);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_COUNTERS, set),
		 MYNIC_AQ_OK);
}

TEST(set_numbers)
{
	static const uint32_t numbers[] = { 0xffff, 0xffffff, 0xffffffff };
	struct drv_pair pair = drv_rc_pair(NULL);
	uint32_t set = bound_set(&pair.a);
	struct drv *d = pair.a.d;
	struct drv_qp nobody = { .d = d, .number = 0xffffff };

	for (unsigned int i = 0; i < ARRAY_SIZE(numbers); i++) {
		CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_COUNTERS,
					numbers[i]),
			 MYNIC_AQ_BAD_NUMBER);
		CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_QUERY_COUNTERS,
					numbers[i]),
			 MYNIC_AQ_BAD_NUMBER);
		CHECK_EQ(drv_bind_counters(pair.a.qp, numbers[i]),
			 MYNIC_AQ_BAD_NUMBER);
	}
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_COUNTERS, 0),
		 MYNIC_AQ_BAD_NUMBER);
	CHECK_EQ(drv_bind_counters(&nobody, set), MYNIC_AQ_BAD_NUMBER);
	/* The failed command had no effect */
	drv_send_recv(&pair.a, &pair.b, 10);
	CHECK_EQ(drv_counter(d, set, MYNIC_STAT_TX_RDMA_BYTES), 10);
}

TEST(set_limit)
{
	struct drv *d = drv_one();
	uint32_t set = 0;

	for (uint32_t i = 0; i < d->attr.max_counters; i++)
		set = drv_create_counters(d);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_CREATE_COUNTERS, 0),
		 MYNIC_AQ_NO_RESOURCE);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_COUNTERS, set),
		 MYNIC_AQ_OK);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_CREATE_COUNTERS, 0), MYNIC_AQ_OK);
}
