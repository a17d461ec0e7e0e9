// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Congestion control: notifications, and their effects on a QP and on others */
#include "core/packet/opcode.h"
#include "harness_driver.h"

#define MTU 4096
#define LEN 65536
#define PACKETS (LEN / MTU)
#define LINE_MBPS 100000
#define HEADERS 78

/**
 * struct wire - a wire with congestion, and the packets that passed
 * @mark: bit 1 << index for each NIC whose packets are marked
 * @opcode: if not 0, only such packets are marked
 * @num: number of packets, by NIC
 * @cnps: number of CNPs, by NIC
 * @cnp: the last one
 * @cnp_payload: its payload
 */
struct wire {
	unsigned int mark;
	uint8_t opcode;
	unsigned int num[2];
	unsigned int cnps[2];
	struct packet cnp;
	uint8_t cnp_payload[16];
};

static enum sim_verdict pass(struct sim *sim, struct sim_nic *from,
			     struct packet *pkt)
{
	struct wire *wire = sim->filter_arg;

	wire->num[from->index]++;
	if (pkt->roce.opcode == BTH_CNP) {
		wire->cnps[from->index]++;
		wire->cnp = *pkt;
		CHECK_EQ(pkt->payload_len, sizeof(wire->cnp_payload));
		memcpy(wire->cnp_payload, pkt->iov[0].iov_base,
		       sizeof(wire->cnp_payload));
		return SIM_PASS;
	}
	if (wire->mark & 1 << from->index &&
	    (!wire->opcode || wire->opcode == pkt->roce.opcode))
		pkt->roce.traffic_class |= 3;
	return SIM_PASS;
}

static struct wire *watch(struct drv_pair *p)
{
	struct wire *wire = tap_alloc(sizeof(*wire));

	p->sim->filter = pass;
	p->sim->filter_arg = wire;
	return wire;
}

/* The traffic class of packets that may be marked */
#define ECT 2

static struct drv_pair pair(void)
{
	return drv_rc_pair(&(struct drv_path){
		.mtu = IBV_MTU_4096, .traffic_class = ECT, .timeout = 18 });
}

/* Deliver a CNP from the peer of @to */
static void notify(struct drv_end *to, struct drv_end *from)
{
	static uint8_t zeroes[16];
	struct packet pkt = {
		.kind = PACKET_ROCE,
		.vlan = PACKET_NO_VLAN,
		.payload_len = sizeof(zeroes),
		.niov = 1,
		.iov = { { zeroes, sizeof(zeroes) } },
		.roce = {
			.hop_limit = 64,
			.udp_sport = 0xc001,
			.opcode = BTH_CNP,
			.becn = true,
			.pkey = 0xffff,
			.dest_qpn = to->qp->number,
		},
	};

	memcpy(pkt.dmac, nic_mac(to->d->n->nic), 6);
	memcpy(pkt.smac, nic_mac(from->d->n->nic), 6);
	drv_gid(from->d->n->index, DRV_GID_IPV6, pkt.roce.sgid);
	drv_gid(to->d->n->index, DRV_GID_IPV6, pkt.roce.dgid);
	sim_inject(to->d->n, &pkt);
}

/* Return: how long a request of @len bytes takes, ns */
static uint64_t duration(struct drv_pair *p, enum ibv_wr_opcode opcode,
			 uint32_t len)
{
	struct drv_wr wr = drv_pair_wr(p, opcode, len);
	uint64_t start = p->sim->now;

	drv_post_send(p->a.qp, &wr);
	drv_expect(p->a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	return p->sim->now - start;
}

/* Return: time for @num packets of an MTU at a rate, without the last one */
static uint64_t line_time(unsigned int num, uint64_t mbps)
{
	return (num - 1) * ((MTU + HEADERS) * 8000ull / mbps);
}

TEST(cnp_is_sent_for_a_marked_packet)
{
	struct drv_pair p = pair();
	struct wire *wire = watch(&p);
	static const uint8_t zeroes[16];

	wire->mark = 1;
	duration(&p, IBV_WR_RDMA_WRITE, LEN);
	CHECK_EQ(wire->cnps[1], 1);
	CHECK_EQ(wire->cnps[0], 0);
	CHECK_EQ(drv_stat(p.b.d, MYNIC_STAT_TX_CNP), 1);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_RX_CNP), 1);
	CHECK_EQ(drv_stat(p.b.d, MYNIC_STAT_RX_ECN), PACKETS);
	CHECK_EQ(wire->cnp.roce.dest_qpn, p.a.qp->number);
	CHECK_EQ(wire->cnp.roce.psn, 0);
	CHECK_EQ(wire->cnp.roce.becn, 1);
	CHECK_EQ(wire->cnp.roce.traffic_class & 3, 0);
	CHECK_MEM(wire->cnp_payload, zeroes, sizeof(zeroes));
}

TEST(cnp_not_more_often_than_in_50_us)
{
	struct drv_pair p = pair();
	struct wire *wire = watch(&p);
	uint64_t start = p.sim->now;

	wire->mark = 1;
	for (int i = 0; i < 20; i++)
		duration(&p, IBV_WR_RDMA_WRITE, LEN);
	CHECK(wire->cnps[1] >= 2);
	CHECK(wire->cnps[1] <= (p.sim->now - start) / (50 * USEC) + 1);
	start = wire->cnps[1];
	sim_run(p.sim, 50 * USEC);
	duration(&p, IBV_WR_RDMA_WRITE, 8);
	CHECK_EQ(wire->cnps[1], start + 1);
}

TEST(cnp_of_a_stranger_changes_nothing)
{
	struct drv_pair p = pair();
	struct drv_end stranger = p.b;

	/* not the GID that the QP is connected to */
	stranger.d = p.a.d;
	notify(&p.a, &stranger);
	sim_settle(p.sim);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_RX_CNP), 0);
	CHECK_EQ(duration(&p, IBV_WR_RDMA_WRITE, LEN), 0);
}

/* Packets without ECN cannot be marked, so such a CNP is forged */
TEST(cnp_without_ecn_changes_nothing)
{
	struct drv_pair p =
		drv_rc_pair(&(struct drv_path){ .mtu = IBV_MTU_4096 });

	for (unsigned int i = 0; i < 10; i++)
		notify(&p.a, &p.b);
	sim_settle(p.sim);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_RX_CNP), 10);
	CHECK_EQ(duration(&p, IBV_WR_RDMA_WRITE, LEN), 0);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_RATE_LIMITED), 0);
}

/* Each CNP halves the rate at first: alpha is 1 */
TEST(requests_are_paced)
{
	for (unsigned int cnps = 1; cnps <= 5; cnps++) {
		struct drv_pair p = pair();
		uint64_t time;

		CHECK_EQ(duration(&p, IBV_WR_RDMA_WRITE, LEN), 0);
		for (unsigned int i = 0; i < cnps; i++)
			notify(&p.a, &p.b);
		CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_RX_CNP), cnps);
		time = duration(&p, IBV_WR_RDMA_WRITE, LEN / 4);
		CHECK(time >= line_time(PACKETS / 4, LINE_MBPS >> cnps));
		CHECK(time <= line_time(PACKETS / 4, LINE_MBPS >> cnps) + 10);
		CHECK(drv_stat(p.a.d, MYNIC_STAT_RATE_LIMITED) > 0);
		CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_RETRANSMIT), 0);
	}
}

TEST(read_responses_are_paced)
{
	struct drv_pair p = pair();
	uint64_t time;

	CHECK_EQ(duration(&p, IBV_WR_RDMA_READ, LEN), 0);
	for (unsigned int i = 0; i < 4; i++)
		notify(&p.b, &p.a);
	drv_fill(p.b.mr->ptr, LEN, 3);
	time = duration(&p, IBV_WR_RDMA_READ, LEN / 4);
	CHECK(time >= line_time(PACKETS / 4, LINE_MBPS >> 4));
	CHECK(drv_stat(p.b.d, MYNIC_STAT_RATE_LIMITED) > 0);
	CHECK_MEM(p.a.mr->ptr, p.b.mr->ptr, LEN / 4);
}

/* Marked responses slow down their sender */
TEST(marked_read_responses)
{
	struct drv_pair p = pair();
	struct wire *wire = watch(&p);

	wire->mark = 2;
	duration(&p, IBV_WR_RDMA_READ, LEN);
	duration(&p, IBV_WR_RDMA_READ, LEN);
	CHECK_EQ(wire->cnps[1], 0);
	CHECK(wire->cnps[0] > 0);
	CHECK(drv_stat(p.b.d, MYNIC_STAT_RATE_LIMITED) > 0);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_RATE_LIMITED), 0);
}

/* After the last CNP, the rate of the line is reached again, and timers stop */
TEST(rate_recovers)
{
	struct drv_pair p = pair();
	uint64_t limited;

	for (unsigned int i = 0; i < 4; i++)
		notify(&p.a, &p.b);
	CHECK(duration(&p, IBV_WR_RDMA_WRITE, LEN) > 0);
	/*
	 * fast recovery: after five periods, most of the last reduction is made
	 * up
	 */
	sim_run(p.sim, 5 * 55 * USEC);
	CHECK(duration(&p, IBV_WR_RDMA_WRITE, LEN / 4) <=
	      line_time(PACKETS / 4, (LINE_MBPS >> 3) * 95 / 100) + 10);
	sim_run(p.sim, 300 * MSEC);
	limited = drv_stat(p.a.d, MYNIC_STAT_RATE_LIMITED);
	CHECK_EQ(duration(&p, IBV_WR_RDMA_WRITE, LEN), 0);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_RATE_LIMITED), limited);
	/* no timer is left */
	CHECK(!sim_step(p.sim, p.sim->now + 1000 * SEC) ||
	      !sim_step(p.sim, p.sim->now + 1000 * SEC));
}

/* Long congestion makes alpha grow, and a short one then costs much */
TEST(recovery_under_load)
{
	struct drv_pair p = pair();
	unsigned int i = 0;

	for (i = 0; i < 5; i++)
		notify(&p.a, &p.b);
	for (i = 0; duration(&p, IBV_WR_RDMA_WRITE, LEN); i++)
		CHECK(i < 100000);
	/* hyper increase needs bytes too */
	CHECK(i > 10);
	tap_note("recovered after %u MB", i / 16);
}

/* Even with any number of CNPs, packets are sent, and no timeout expires */
TEST(rate_has_a_minimum)
{
	struct drv_pair p = pair();
	uint64_t time;

	for (unsigned int i = 0; i < 1000; i++)
		notify(&p.a, &p.b);
	time = duration(&p, IBV_WR_RDMA_WRITE, 2 * MTU);
	CHECK(time >= line_time(2, 10));
	CHECK(time <= line_time(2, 10) + USEC);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_TIMEOUT), 0);
}

static enum sim_verdict slow(struct sim *sim, struct sim_nic *from,
			     struct packet *pkt)
{
	(void)from;
	sim->delay = 10 * USEC + pkt->payload_len;
	return SIM_DELAY;
}

/* A QP that is told of congestion does not delay another one */
static uint64_t other_qps_time(bool congested)
{
	struct drv_qp_init init = { .type = MYNIC_QP_RC };
	struct drv_pair p = pair();
	struct drv_end a2 = p.a, b2 = p.b;
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_WRITE, LEN);
	uint64_t start;

	init.pdn = p.a.pdn;
	a2.cq = drv_create_cq(p.a.d, 6);
	init.send_cq = a2.cq;
	init.recv_cq = a2.cq;
	a2.qp = drv_create_qp(p.a.d, &init);
	init.pdn = p.b.pdn;
	init.send_cq = p.b.cq;
	init.recv_cq = p.b.cq;
	b2.qp = drv_create_qp(p.b.d, &init);
	drv_connect(a2.qp, b2.qp, &(struct drv_path){ .mtu = IBV_MTU_4096 });
	p.sim->filter = slow;
	for (unsigned int i = 0; congested && i < 10; i++)
		notify(&p.a, &p.b);
	drv_post_send(p.a.qp, &wr);
	start = p.sim->now;
	for (unsigned int i = 0; i < 50; i++) {
		wr.wr_id = 7;
		drv_post_send(a2.qp, &wr);
		drv_expect(a2.cq, 7, IBV_WC_SUCCESS);
	}
	start = p.sim->now - start;
	CHECK(start > 0);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_RATE_LIMITED) > 0, congested);
	return start;
}

TEST(other_qps_are_not_delayed)
{
	CHECK_EQ(other_qps_time(true), other_qps_time(false));
}

/* A peer that reads all the time does not keep the QP from sending */
TEST(requests_and_responses_take_turns)
{
	struct drv_pair p = pair();
	struct drv_wr read = {
		.wr_id = 2,
		.opcode = IBV_WR_RDMA_READ,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { drv_sge(p.b.mr, 0, 8 * LEN) },
		.remote_addr = p.a.mr->addr,
		.rkey = p.a.mr->key,
	};
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_WRITE, LEN);
	struct mynic_cqe cqe;

	for (unsigned int i = 0; i < 6; i++)
		notify(&p.a, &p.b);
	drv_post_send(p.b.qp, &read);
	drv_post_send(p.b.qp, &read);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	/* the reads are 16 times as long */
	CHECK(!drv_poll(p.b.cq, &cqe));
	drv_expect(p.b.cq, 2, IBV_WC_SUCCESS);
	drv_expect(p.b.cq, 2, IBV_WC_SUCCESS);
}

TEST(reset_forgets_congestion)
{
	struct drv_pair p = pair();
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_WRITE, LEN);

	for (unsigned int i = 0; i < 100; i++)
		notify(&p.a, &p.b);
	drv_post_send(p.a.qp, &wr);
	sim_run(p.sim, USEC);
	drv_reset_qp(p.a.qp);
	drv_reset_qp(p.b.qp);
	drv_connect(p.a.qp, p.b.qp, &(struct drv_path){ .mtu = IBV_MTU_4096 });
	CHECK_EQ(duration(&p, IBV_WR_RDMA_WRITE, LEN), 0);
}

TEST(destroy_while_paced)
{
	struct drv_pair p = pair();
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_WRITE, LEN);

	for (unsigned int i = 0; i < 100; i++)
		notify(&p.a, &p.b);
	drv_post_send(p.a.qp, &wr);
	sim_run(p.sim, USEC);
	CHECK_EQ(drv_number_cmd(p.a.d, MYNIC_CMD_DESTROY_QP, p.a.qp->number),
		 0);
	sim_run(p.sim, SEC);
}

/* Requests that have begun are paced to their end in SQD */
TEST(sqd_while_paced)
{
	struct drv_pair p = pair();
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_WRITE, LEN);

	for (unsigned int i = 0; i < 8; i++)
		notify(&p.a, &p.b);
	drv_post_send(p.a.qp, &wr);
	sim_run(p.sim, USEC);
	CHECK_EQ(drv_set_state(p.a.qp, IBV_QPS_SQD), 0);
	CHECK_EQ(drv_query_qp(p.a.qp).sq_drained_event, 1);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	CHECK_EQ(drv_query_qp(p.a.qp).sq_drained_event, 0);
}

TEST(uc_is_paced)
{
	struct drv_qp_init init = { .type = MYNIC_QP_UC };
	struct drv_pair p = drv_pair_unconnected(&init);
	struct wire *wire = watch(&p);

	drv_connect(p.a.qp, p.b.qp,
		    &(struct drv_path){ .mtu = IBV_MTU_4096,
					.traffic_class = ECT });
	wire->mark = 1;
	CHECK_EQ(duration(&p, IBV_WR_RDMA_WRITE, LEN), 0);
	sim_settle(p.sim);
	CHECK_EQ(wire->cnps[1], 1);
	wire->mark = 0;
	CHECK(duration(&p, IBV_WR_RDMA_WRITE, LEN) >=
	      line_time(PACKETS, LINE_MBPS / 2));
}
