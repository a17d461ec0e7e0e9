// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Rate limits of queue pairs, and static rates of paths */
#include "core/engine/qp_info.h"
#include "harness_eth.h"

#define MTU 4096
#define HEADERS 78
#define LEN (64 * MTU)
/* 2.5 Gbit/s, the smallest of enum ibv_rate */
#define STATIC_RATE 2
#define STATIC_KBPS 2500000

static uint8_t set_limit(struct drv_end *end, uint32_t kbps)
{
	return drv_modify_qp(end->qp, &(struct mynic_qp_attr){
					      .attr_mask = IBV_QP_RATE_LIMIT,
					      .rate_limit = kbps,
				      });
}

/* Return: how long a request of @len bytes takes, ns */
static uint64_t duration(struct drv_pair *p, enum ibv_wr_opcode opcode,
			 uint32_t len)
{
	uint64_t begin = p->sim->now;
	struct drv_wr wr = {
		.wr_id = 1,
		.opcode = opcode,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { drv_sge(p->a.mr, 0, len) },
		.remote_addr = p->b.mr->addr,
		.rkey = p->b.mr->key,
	};

	drv_post_send(p->a.qp, &wr);
	drv_expect(p->a.cq, 1, IBV_WC_SUCCESS);
	return p->sim->now - begin;
}

/* Return: time for @num packets with @len bytes in all at a rate, ns */
static uint64_t at_rate(uint32_t kbps, uint32_t num, uint32_t len)
{
	return (len + (uint64_t)num * HEADERS) * 8000000 / kbps;
}

/*
 * Check a duration. The last packet, packets after a delay of the device, and
 * fractions of a nanosecond do not count.
 */
static void check_paced(uint64_t took, uint32_t kbps, uint32_t num,
			uint32_t len)
{
	uint64_t due = at_rate(kbps, num, len);
	uint64_t packet = at_rate(kbps, 1, MTU);

	CHECK(took + packet + 50000 + num >= due);
	CHECK(took <= due + due / 10 + 1000000);
}

static struct drv_pair rc_pair(void)
{
	return drv_rc_pair(
		&(struct drv_path){ .mtu = IBV_MTU_4096, .timeout = 18 });
}

TEST(rate_is_offered)
{
	struct drv_pair p = rc_pair();

	CHECK_EQ(p.a.d->attr.max_rate_kbps, 100000000);
}

TEST(rate_limits_rc)
{
	static const uint32_t rates[] = { 20000, 1000000, 3000000 };

	for (unsigned int i = 0; i < ARRAY_SIZE(rates); i++) {
		struct drv_pair p = rc_pair();

		CHECK_EQ(set_limit(&p.a, rates[i]), MYNIC_AQ_OK);
		CHECK_EQ(drv_query_qp(p.a.qp).rate_limit, rates[i]);
		check_paced(duration(&p, IBV_WR_RDMA_WRITE, LEN), rates[i],
			    LEN / MTU, LEN);
		CHECK(drv_stat(p.a.d, MYNIC_STAT_RATE_LIMITED));
		CHECK_EQ(drv_stat(p.b.d, MYNIC_STAT_RATE_LIMITED), 0);
		CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_RETRANSMIT), 0);
	}
}

TEST(rate_limits_responses)
{
	struct drv_pair p = rc_pair();

	CHECK_EQ(set_limit(&p.b, 100000), MYNIC_AQ_OK);
	check_paced(duration(&p, IBV_WR_RDMA_READ, LEN), 100000, LEN / MTU,
		    LEN);
	/* The other direction is not limited */
	CHECK(duration(&p, IBV_WR_RDMA_WRITE, LEN) <
	      at_rate(100000, 1, LEN) / 10);
}

TEST(rate_limit_changes)
{
	struct drv_pair p = rc_pair();
	uint64_t free = duration(&p, IBV_WR_RDMA_WRITE, LEN);

	CHECK_EQ(set_limit(&p.a, 50000), MYNIC_AQ_OK);
	check_paced(duration(&p, IBV_WR_RDMA_WRITE, LEN), 50000, LEN / MTU,
		    LEN);
	CHECK_EQ(set_limit(&p.a, 200000), MYNIC_AQ_OK);
	check_paced(duration(&p, IBV_WR_RDMA_WRITE, LEN), 200000, LEN / MTU,
		    LEN);
	CHECK_EQ(set_limit(&p.a, 0), MYNIC_AQ_OK);
	CHECK(duration(&p, IBV_WR_RDMA_WRITE, LEN) <= free + 50000);
}

/* A QP that waits for long stops waiting when the limit is lifted */
TEST(rate_limit_is_lifted)
{
	struct drv_pair p = drv_rc_pair(
		&(struct drv_path){ .mtu = IBV_MTU_4096, .no_retry = true });
	struct drv_wr wr = {
		.wr_id = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { drv_sge(p.a.mr, 0, LEN) },
		.remote_addr = p.b.mr->addr,
		.rkey = p.b.mr->key,
	};
	uint64_t begin;

	CHECK_EQ(set_limit(&p.a, 1), MYNIC_AQ_OK);
	drv_post_send(p.a.qp, &wr);
	drv_expect_none(p.a.cq, 1000000);
	begin = p.sim->now;
	CHECK_EQ(set_limit(&p.a, 0), MYNIC_AQ_OK);
	drv_expect(p.a.cq, 1, IBV_WC_SUCCESS);
	CHECK(p.sim->now - begin < 10000000);
}

TEST(rate_limits_uc)
{
	struct drv_pair p =
		drv_uc_pair(&(struct drv_path){ .mtu = IBV_MTU_4096 });

	CHECK_EQ(set_limit(&p.a, 100000), MYNIC_AQ_OK);
	check_paced(duration(&p, IBV_WR_RDMA_WRITE, LEN), 100000, LEN / MTU,
		    LEN);
}

static uint64_t datagrams(struct drv_pair *p, unsigned int num,
			  uint8_t static_rate)
{
	uint64_t begin = p->sim->now;
	struct drv_wr wr = {
		.opcode = IBV_WR_SEND,
		.num_sge = 1,
		.sge = { drv_sge(p->a.mr, 0, 1024) },
		.remote_qpn = p->b.qp->number,
		.remote_qkey = 0x11111111,
		.av = drv_av(p->a.d, 1, DRV_GID_IPV6),
	};

	wr.av.static_rate = static_rate;
	for (unsigned int i = 0; i < num; i++) {
		wr.wr_id = i;
		wr.flags = i == num - 1 ? IBV_SEND_SIGNALED : 0;
		drv_post_send(p->a.qp, &wr);
	}
	drv_expect(p->a.cq, num - 1, IBV_WC_SUCCESS);
	return p->sim->now - begin;
}

TEST(rate_limits_ud)
{
	struct drv_pair p = drv_ud_pair();

	CHECK_EQ(set_limit(&p.a, 10000), MYNIC_AQ_OK);
	check_paced(datagrams(&p, 50, 0), 10000, 50, 50 * 1024);
	CHECK_EQ(set_limit(&p.a, 0), MYNIC_AQ_OK);
	CHECK(datagrams(&p, 50, 0) < 1000000);
}

TEST(static_rate_of_each_datagram)
{
	struct drv_pair p = drv_ud_pair();

	check_paced(datagrams(&p, 60, STATIC_RATE), STATIC_KBPS, 60, 60 * 1024);
	CHECK(drv_stat(p.a.d, MYNIC_STAT_RATE_LIMITED));
}

TEST(static_rate_of_a_connection)
{
	struct drv_pair p = rc_pair();
	struct mynic_qp_attr attr = {
		.attr_mask = IBV_QP_AV,
		.av = drv_av(p.a.d, 1, DRV_GID_IPV6),
	};

	attr.av.static_rate = STATIC_RATE;
	CHECK_EQ(drv_set_state(p.a.qp, IBV_QPS_SQD), MYNIC_AQ_OK);
	CHECK_EQ(drv_modify_qp(p.a.qp, &attr), MYNIC_AQ_OK);
	CHECK_EQ(drv_set_state(p.a.qp, IBV_QPS_RTS), MYNIC_AQ_OK);
	check_paced(duration(&p, IBV_WR_RDMA_WRITE, LEN), STATIC_KBPS,
		    LEN / MTU, LEN);
	/* The lower of the two */
	CHECK_EQ(set_limit(&p.a, 100000), MYNIC_AQ_OK);
	check_paced(duration(&p, IBV_WR_RDMA_WRITE, LEN), 100000, LEN / MTU,
		    LEN);
	CHECK_EQ(set_limit(&p.a, 90000000), MYNIC_AQ_OK);
	check_paced(duration(&p, IBV_WR_RDMA_WRITE, LEN), STATIC_KBPS,
		    LEN / MTU, LEN);
}

TEST(static_rates_without_a_limit)
{
	/* IBV_RATE_MAX, 100 and 1200 Gbit/s, and nothing */
	static const uint8_t rates[] = { 0, 16, 24, 1, 25, 255 };
	struct drv_pair p = drv_ud_pair();

	for (unsigned int i = 0; i < ARRAY_SIZE(rates); i++)
		datagrams(&p, 60, rates[i]);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_RATE_LIMITED), 0);
}

/*
 * Send two requests like @good, and one that is refused. It has no length of
 * its own, but its place in the device's memory had one like @good before.
 */
static void check_refused(struct drv_pair *p, struct drv_wr good)
{
	struct drv_wr refused = { .wr_id = 3, .opcode = IBV_WR_RDMA_READ };
	uint64_t one = at_rate(1000, 1, good.sge[0].length);
	uint64_t begin, limited;

	for (good.wr_id = 100; good.wr_id < 116; good.wr_id++) {
		drv_post_send(p->a.qp, &good);
		drv_expect(p->a.cq, good.wr_id, IBV_WC_SUCCESS);
	}
	CHECK_EQ(set_limit(&p->a, 1000), MYNIC_AQ_OK);
	limited = drv_stat(p->a.d, MYNIC_STAT_RATE_LIMITED);
	for (good.wr_id = 1; good.wr_id <= 2; good.wr_id++)
		drv_post_send(p->a.qp, &good);
	drv_post_send(p->a.qp, &refused);
	drv_expect(p->a.cq, 1, IBV_WC_SUCCESS);
	drv_expect(p->a.cq, 2, IBV_WC_SUCCESS);
	begin = p->sim->now;
	drv_expect(p->a.cq, 3, IBV_WC_LOC_QP_OP_ERR);
	CHECK(p->sim->now - begin < one / 10);
	CHECK_EQ(drv_stat(p->a.d, MYNIC_STAT_RATE_LIMITED), limited + 1);
	/* The next one waits only for the second */
	CHECK_EQ(drv_set_state(p->a.qp, IBV_QPS_RTS), MYNIC_AQ_OK);
	good.wr_id = 4;
	drv_post_send(p->a.qp, &good);
	drv_expect(p->a.cq, 4, IBV_WC_SUCCESS);
	CHECK(p->sim->now - begin < one + one / 10);
}

static struct drv_wr datagram(struct drv_pair *p, uint32_t len)
{
	struct drv_wr wr = drv_send_wr(&p->a, len);

	wr.remote_qpn = p->b.qp->number;
	wr.remote_qkey = 0x11111111;
	wr.av = drv_av(p->a.d, 1, DRV_GID_IPV6);
	return wr;
}

TEST(rate_does_not_delay_refused_ud)
{
	struct drv_pair p = drv_ud_pair();

	check_refused(&p, datagram(&p, MTU));
}

TEST(rate_does_not_delay_refused_raw)
{
	struct drv_pair p = eth_raw_pair();

	check_refused(&p, drv_send_wr(&p.a, MTU));
}

TEST(rate_does_not_delay_refused_uc)
{
	struct drv_pair p =
		drv_uc_pair(&(struct drv_path){ .mtu = IBV_MTU_4096 });

	check_refused(&p, drv_send_wr(&p.a, MTU));
}

/* Requests with a bad length fail at once, and those behind them do not wait */
static void check_bad_lengths(struct drv_pair *p, struct drv_wr wr,
			      const uint32_t *len, unsigned int num)
{
	uint64_t begin;

	CHECK_EQ(set_limit(&p->a, 1000), MYNIC_AQ_OK);
	begin = p->sim->now;
	for (unsigned int i = 0; i < num; i++) {
		wr.sge[0].length = len[i];
		drv_post_send(p->a.qp, &wr);
		drv_expect(p->a.cq, DRV_WR_ID, IBV_WC_LOC_LEN_ERR);
		CHECK_EQ(drv_set_state(p->a.qp, IBV_QPS_RTS), MYNIC_AQ_OK);
	}
	wr.sge[0].length = 14;
	drv_post_send(p->a.qp, &wr);
	drv_expect(p->a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	CHECK(p->sim->now - begin < MSEC);
}

TEST(rate_does_not_count_bad_lengths)
{
	static const uint32_t raw[] = { 0x80000000, 9234 - 3, 13 };
	static const uint32_t ud[] = { 0x80000000, MTU + 1 };
	struct drv_pair p = eth_raw_pair();
	struct drv_wr wr = drv_send_wr(&p.a, 0);

	wr.vlan = 5;
	check_bad_lengths(&p, wr, raw, ARRAY_SIZE(raw));
	p = drv_ud_pair();
	check_bad_lengths(&p, datagram(&p, 0), ud, ARRAY_SIZE(ud));
}

/* Frames of 14 bytes, and of 18 with a tag. The last of them delays nothing */
TEST(rate_counts_inserted_tags)
{
	struct drv_pair p = eth_raw_pair();
	struct drv_wr wr = drv_send_wr(&p.a, 14);
	uint64_t begin;

	CHECK_EQ(set_limit(&p.a, 100), MYNIC_AQ_OK);
	for (unsigned int k = 0; k < 2; k++) {
		uint64_t due = 10 * (14 + 4 * k) * 8000000ull / 100;

		drv_post_send(p.a.qp, &wr);
		drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
		sim_run(p.sim, 10 * MSEC);
		wr.vlan = 5 * k;
		begin = p.sim->now;
		for (unsigned int i = 0; i < 11; i++)
			drv_post_send(p.a.qp, &wr);
		for (unsigned int i = 0; i < 11; i++)
			drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
		CHECK(p.sim->now - begin + 50 * USEC >= due);
		CHECK(p.sim->now - begin < due + MSEC);
	}
}

/*
 * A refused datagram has no path, but its place in the device's memory had one
 * with a static rate before
 */
TEST(refused_datagram_has_no_static_rate)
{
	struct drv_pair p = drv_ud_pair();
	struct drv_wr refused = { .wr_id = 2, .opcode = IBV_WR_RDMA_READ };
	struct drv_wr wr = datagram(&p, 1024);
	uint32_t number = p.a.qp->number;
	struct qp_info info;

	datagrams(&p, 16, STATIC_RATE);
	drv_post_send(p.a.qp, &wr);
	drv_post_send(p.a.qp, &refused);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	drv_expect(p.a.cq, 2, IBV_WC_LOC_QP_OP_ERR);
	CHECK(nic_next_qp(p.a.d->n->nic, &number, &info));
	CHECK_EQ(info.rate, 0);
}

TEST(rate_limit_bad)
{
	struct drv_pair p = rc_pair();

	CHECK_EQ(set_limit(&p.a, 100000001), MYNIC_AQ_BAD_PARAM);
	CHECK_EQ(set_limit(&p.a, UINT32_MAX), MYNIC_AQ_BAD_PARAM);
	CHECK_EQ(set_limit(&p.a, 100000000), MYNIC_AQ_OK);
	CHECK_EQ(drv_set_state(p.a.qp, IBV_QPS_SQD), MYNIC_AQ_OK);
	CHECK_EQ(set_limit(&p.a, 1000), MYNIC_AQ_BAD_STATE);
	CHECK_EQ(drv_query_qp(p.a.qp).rate_limit, 100000000);
	drv_reset_qp(p.a.qp);
	CHECK_EQ(drv_query_qp(p.a.qp).rate_limit, 0);
	CHECK_EQ(set_limit(&p.a, 1000), MYNIC_AQ_BAD_STATE);
}
