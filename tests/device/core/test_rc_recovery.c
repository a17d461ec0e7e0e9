// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Losses on the wire: their detection, recovery, and cost */
#include "core/packet/opcode.h"
#include "core/base/psn.h"
#include "harness_driver.h"

/* Bytes of a packet that are not payload: Ethernet, IPv6, UDP, BTH, ICRC */
#define OVERHEAD (14 + 40 + 8 + 12 + 4)

#define MTU 4096

/* ACK timeout of connections in this file. Recovery must not need it */
#define TIMEOUT 18
#define TIMEOUT_NS (4096ull << TIMEOUT)

/**
 * struct link - a full duplex line between two NICs
 * @rtt: propagation, both ways, ns
 * @rate: bytes per us
 * @loss: packets lost, of 10000
 * @free_at: time when the line is free for another packet, by direction
 * @from: NIC whose packets may be lost
 * @opcode: opcode of these packets, or ANY
 * @skip: number of these that pass first
 * @drop: number of these that are then lost
 * @lost: number that has been lost
 * @num: number of packets, by NIC
 * @first: time of the first packet of a NIC
 * @last: time of the last one
 */
struct link {
	uint64_t rtt;
	uint64_t rate;
	unsigned int loss;
	uint64_t free_at[2];
	unsigned int from;
	unsigned int opcode;
	unsigned int skip;
	unsigned int drop;
	unsigned int lost;
	unsigned int num[2];
	uint64_t first[2];
	uint64_t last[2];
};

#define ANY 256
#define ALL (~0u)

static bool is_lost(struct link *link, struct sim *sim, struct sim_nic *from,
		    const struct packet *pkt)
{
	if (link->loss)
		return sim_random(sim, 10000) < link->loss;
	if (from->index != link->from || link->lost == link->drop ||
	    (link->opcode != ANY && pkt->roce.opcode != link->opcode))
		return false;
	if (link->skip) {
		link->skip--;
		return false;
	}
	link->lost++;
	return true;
}

static enum sim_verdict pass(struct sim *sim, struct sim_nic *from,
			     struct packet *pkt)
{
	struct link *link = sim->filter_arg;
	uint64_t *free_at = &link->free_at[from->index];
	uint64_t start = *free_at > sim->now ? *free_at : sim->now;

	if (!link->num[from->index]++)
		link->first[from->index] = sim->now;
	link->last[from->index] = sim->now;
	*free_at = start + (pkt->payload_len + OVERHEAD) * 1000 / link->rate;
	if (is_lost(link, sim, from, pkt))
		return SIM_DROP;
	sim->delay = *free_at + link->rtt / 2 - sim->now;
	return SIM_DELAY;
}

static void attach(struct drv_pair *p, struct link *link)
{
	*link = (struct link){ .rtt = 50 * USEC, .rate = 1000 };
	p->sim->filter = pass;
	p->sim->filter_arg = link;
}

static struct drv_wr a_wr(struct drv_pair *p, enum ibv_wr_opcode opcode,
			  uint32_t len)
{
	return (struct drv_wr){
		.wr_id = 1,
		.opcode = opcode,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { drv_sge(p->a.mr, 0, len) },
		.remote_addr = p->b.mr->addr,
		.rkey = p->b.mr->key,
		.compare_add = 1,
	};
}

/* A connection that has measured round trips */
static struct drv_pair warm_pair(struct link *link)
{
	struct drv_pair p = drv_rc_pair(
		&(struct drv_path){ .mtu = IBV_MTU_4096, .timeout = TIMEOUT });
	struct drv_wr wr = a_wr(&p, IBV_WR_RDMA_WRITE, 8);

	attach(&p, link);
	for (int i = 0; i < 10; i++) {
		drv_post_send(p.a.qp, &wr);
		drv_expect(p.a.cq, 1, IBV_WC_SUCCESS);
	}
	*link = (struct link){ .rtt = link->rtt, .rate = link->rate };
	return p;
}

/*
 * Of the packets from NIC @from with @lost_opcode, the first @skip pass and the
 * next @drop are lost. Check that the request completes well before the ACK
 * timeout.
 */
static void check_loss(enum ibv_wr_opcode opcode, uint32_t len,
		       unsigned int from, unsigned int lost_opcode,
		       unsigned int skip, unsigned int drop)
{
	struct link link;
	struct drv_pair p = warm_pair(&link);
	struct drv_wr wr = a_wr(&p, opcode, len);
	uint64_t *word = (uint64_t *)p.b.mr->ptr;
	uint64_t start = p.sim->now;
	struct mynic_sge sge = drv_sge(p.b.mr, 0, len);

	link.from = from;
	link.opcode = lost_opcode;
	link.skip = skip;
	link.drop = drop;
	drv_fill(p.a.mr->ptr, len, 1);
	drv_fill(p.b.mr->ptr, len, 2);
	*word = 10;
	drv_post_recv(p.b.qp, 2, &sge, 1);
	drv_post_recv(p.b.qp, 3, &sge, 1);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, 1, IBV_WC_SUCCESS);
	CHECK_EQ(link.lost, drop);
	CHECK(p.sim->now - start < TIMEOUT_NS / 2);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_TIMEOUT), 0);
	if (opcode == IBV_WR_SEND) {
		drv_expect(p.b.recv_cq, 2, IBV_WC_SUCCESS);
		drv_expect_none(p.b.recv_cq, SEC);
	}
	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		CHECK_EQ(*word, 11);
		CHECK_EQ(*(uint64_t *)p.a.mr->ptr, 10);
	} else {
		CHECK_MEM(p.b.mr->ptr, p.a.mr->ptr, len);
	}
	/* afterwards the connection works as before */
	drv_expect_none(p.a.cq, SEC);
	drv_send_recv(&p.b, &p.a, 10000);
}

TEST(lost_only_packet)
{
	check_loss(IBV_WR_SEND, 100, 0, ANY, 0, 1);
}

TEST(lost_last_packet)
{
	check_loss(IBV_WR_SEND, 10 * MTU, 0, BTH_RC_SEND_LAST, 0, 1);
}

TEST(lost_several_packets_at_the_end)
{
	check_loss(IBV_WR_RDMA_WRITE, 20 * MTU, 0, ANY, 5, 15);
}

TEST(lost_ack)
{
	check_loss(IBV_WR_SEND, 10 * MTU, 1, BTH_RC_ACK, 0, 1);
}

TEST(lost_acks)
{
	check_loss(IBV_WR_SEND, 10 * MTU, 1, BTH_RC_ACK, 0, 4);
}

/* A NAK for a gap is sent only once, and is lost */
TEST(lost_nak)
{
	struct link link;
	struct drv_pair p = warm_pair(&link);
	struct drv_wr wr = a_wr(&p, IBV_WR_RDMA_WRITE, 20 * MTU);
	uint64_t start = p.sim->now;

	link.opcode = BTH_RC_WRITE_FIRST;
	link.drop = 1;
	drv_post_send(p.a.qp, &wr);
	SIM_WAIT(p.sim, link.lost == 1);
	link.from = 1;
	link.opcode = BTH_RC_ACK;
	link.drop = 2;
	drv_expect(p.a.cq, 1, IBV_WC_SUCCESS);
	CHECK_EQ(drv_stat(p.b.d, MYNIC_STAT_TX_NAK_SEQ), 1);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_RX_NAK_SEQ), 0);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_TIMEOUT), 0);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_PROBE), 1);
	CHECK(p.sim->now - start < TIMEOUT_NS / 2);
}

TEST(lost_retransmission)
{
	for (unsigned int i = 2; i <= 5; i++)
		check_loss(IBV_WR_RDMA_WRITE, 20 * MTU, 0, BTH_RC_WRITE_FIRST,
			   0, i);
}

TEST(lost_read_request)
{
	for (unsigned int i = 1; i <= 3; i++)
		check_loss(IBV_WR_RDMA_READ, 20 * MTU, 0, BTH_RC_READ_REQUEST,
			   0, i);
}

TEST(lost_read_response_first)
{
	check_loss(IBV_WR_RDMA_READ, 20 * MTU, 1, BTH_RC_READ_RESPONSE_FIRST, 0,
		   1);
}

TEST(lost_read_response_middle)
{
	for (unsigned int i = 0; i < 18; i++)
		check_loss(IBV_WR_RDMA_READ, 20 * MTU, 1,
			   BTH_RC_READ_RESPONSE_MIDDLE, i, 1);
}

TEST(lost_read_response_last)
{
	check_loss(IBV_WR_RDMA_READ, 20 * MTU, 1, BTH_RC_READ_RESPONSE_LAST, 0,
		   1);
}

TEST(lost_read_response_only)
{
	check_loss(IBV_WR_RDMA_READ, 100, 1, ANY, 0, 2);
}

/**
 * struct forgetful - a responder that cannot go back in a READ, as rxe
 * @link: line to it
 * @asked: it has received a READ request
 * @psn: first PSN of the last part that was requested
 * @ignored: number of requests for earlier parts, which it does not answer
 */
struct forgetful {
	struct link link;
	bool asked;
	uint32_t psn;
	unsigned int ignored;
};

static enum sim_verdict pass_forgetful(struct sim *sim, struct sim_nic *from,
				       struct packet *pkt)
{
	struct forgetful *f = sim->filter_arg;
	enum sim_verdict verdict;

	sim->filter_arg = &f->link;
	verdict = pass(sim, from, pkt);
	sim->filter_arg = f;
	if (verdict == SIM_DROP || pkt->roce.opcode != BTH_RC_READ_REQUEST)
		return verdict;
	if (f->asked && psn_diff(pkt->roce.psn, f->psn) < 0) {
		f->ignored++;
		return SIM_DROP;
	}
	f->asked = true;
	f->psn = pkt->roce.psn;
	return verdict;
}

TEST(read_of_a_forgetful_responder)
{
	for (int i = 0; i < 20; i++) {
		struct forgetful f = { 0 };
		struct drv_pair p = warm_pair(&f.link);
		struct drv_wr wr = a_wr(&p, IBV_WR_RDMA_READ, 200 * MTU);

		p.sim->filter = pass_forgetful;
		p.sim->filter_arg = &f;
		f.link.loss = 300;
		drv_fill(p.b.mr->ptr, 200 * MTU, i);
		drv_post_send(p.a.qp, &wr);
		drv_expect(p.a.cq, 1, IBV_WC_SUCCESS);
		CHECK_EQ(f.ignored, 0);
		CHECK_MEM(p.b.mr->ptr, p.a.mr->ptr, 200 * MTU);
	}
}

TEST(lost_atomic)
{
	check_loss(IBV_WR_ATOMIC_FETCH_AND_ADD, 8, 0, ANY, 0, 1);
}

TEST(lost_atomic_ack)
{
	for (unsigned int i = 1; i <= 3; i++)
		check_loss(IBV_WR_ATOMIC_FETCH_AND_ADD, 8, 1, BTH_RC_ATOMIC_ACK,
			   0, i);
}

/* The first loss on a connection, before anything has been acknowledged */
TEST(lost_first_packet_of_many)
{
	struct link link;
	struct drv_pair p = drv_rc_pair(
		&(struct drv_path){ .mtu = IBV_MTU_4096, .timeout = TIMEOUT });
	struct drv_wr wr = a_wr(&p, IBV_WR_RDMA_WRITE, 100 * MTU);
	uint64_t start = p.sim->now;

	attach(&p, &link);
	link.opcode = BTH_RC_WRITE_FIRST;
	link.drop = 3;
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, 1, IBV_WC_SUCCESS);
	CHECK(p.sim->now - start < TIMEOUT_NS / 2);
}

static struct mynic_qp_attr sqd_attr(uint32_t mask)
{
	return (struct mynic_qp_attr){
		.attr_mask = IBV_QP_STATE | mask,
		.qp_state = IBV_QPS_SQD,
	};
}

static void modify(struct drv_qp *qp, const struct mynic_qp_attr *attr)
{
	CHECK_EQ(drv_set_state(qp, IBV_QPS_SQD), 0);
	CHECK_EQ(drv_modify_qp(qp, attr), 0);
	CHECK_EQ(drv_set_state(qp, IBV_QPS_RTS), 0);
}

/*
 * Probes of a vanished peer become ever less frequent, and do not count as
 * retries
 */
TEST(probes_back_off)
{
	struct link link;
	struct drv_pair p = warm_pair(&link);
	struct drv_wr wr = a_wr(&p, IBV_WR_RDMA_WRITE, 8);
	struct mynic_qp_attr attr = sqd_attr(IBV_QP_TIMEOUT);
	uint64_t probes;

	attr.timeout = 0; /* no timeout: the peer may be away for ever */
	modify(p.a.qp, &attr);
	link.opcode = ANY;
	link.drop = ALL;
	drv_post_send(p.a.qp, &wr);
	sim_run(p.sim, 10 * SEC);
	probes = drv_stat(p.a.d, MYNIC_STAT_PROBE);
	CHECK(probes > 10);
	CHECK(probes < 30);
	CHECK_EQ(link.num[0], probes + 1);
	sim_run(p.sim, 1000 * SEC);
	CHECK(drv_stat(p.a.d, MYNIC_STAT_PROBE) - probes <= 1000);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_TIMEOUT), 0);
	CHECK_EQ(drv_query_qp(p.a.qp).qp_state, IBV_QPS_RTS);
	link.drop = 0;
	link.lost = 0;
	drv_expect(p.a.cq, 1, IBV_WC_SUCCESS);
}

TEST(no_probes_without_a_round_trip)
{
	struct link link;
	struct drv_pair p = drv_rc_pair(&(struct drv_path){ .timeout = 14 });
	struct drv_wr wr = a_wr(&p, IBV_WR_RDMA_WRITE, 8);

	attach(&p, &link);
	link.opcode = ANY;
	link.drop = ALL;
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, 1, IBV_WC_RETRY_EXC_ERR);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_PROBE), 0);
	CHECK_EQ(link.num[0], 8);
}

TEST(no_probes_while_nothing_is_outstanding)
{
	struct link link;
	struct drv_pair p = warm_pair(&link);

	sim_run(p.sim, 100 * SEC);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_PROBE), 0);
	CHECK_EQ(link.num[0], 0);
}

/* An unnecessary probe repeats at most the packets in flight, once */
TEST(probe_of_a_slow_peer)
{
	struct link link;
	struct drv_pair p = warm_pair(&link);
	struct drv_wr wr = a_wr(&p, IBV_WR_RDMA_WRITE, 8);

	link.rtt = 2 * MSEC;
	for (int i = 0; i < 50; i++)
		drv_write_wqe(p.a.qp, &wr);
	drv_ring(p.a.qp);
	for (int i = 0; i < 50; i++)
		drv_expect(p.a.cq, 1, IBV_WC_SUCCESS);
	CHECK(drv_stat(p.a.d, MYNIC_STAT_PROBE) > 0);
	CHECK(drv_stat(p.a.d, MYNIC_STAT_RETRANSMIT) <=
	      50 + drv_stat(p.a.d, MYNIC_STAT_PROBE));
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_TIMEOUT), 0);
	drv_expect_none(p.a.cq, SEC);
	/* the longer round trip has been measured now */
	link.num[0] = 0;
	for (int i = 0; i < 50; i++) {
		drv_post_send(p.a.qp, &wr);
		drv_expect(p.a.cq, 1, IBV_WC_SUCCESS);
	}
	link.num[0] = 0;
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, 1, IBV_WC_SUCCESS);
	CHECK_EQ(link.num[0], 1);
}

/* Check that attempts and the times between them are those of MODIFY_QP */
static void check_attempts(struct drv_pair *p, struct link *link,
			   unsigned int retry_cnt, unsigned int timeout)
{
	uint64_t least = 4096ull << timeout;
	uint64_t probes, start;
	struct drv_wr wr = a_wr(p, IBV_WR_RDMA_WRITE, 8);
	struct mynic_qp_attr attr = sqd_attr(IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT);

	attr.timeout = timeout;
	attr.retry_cnt = retry_cnt;
	modify(p->a.qp, &attr);
	link->opcode = ANY;
	link->drop = ALL;
	start = p->sim->now;
	drv_post_send(p->a.qp, &wr);
	for (unsigned int i = 1; i <= retry_cnt; i++) {
		SIM_WAIT(p->sim, drv_stat(p->a.d, MYNIC_STAT_TIMEOUT) == i);
		CHECK(p->sim->now - start >= least);
		CHECK(p->sim->now - start <= 4 * least);
		CHECK_EQ(link->last[0], p->sim->now);
		start = p->sim->now;
	}
	CHECK_EQ(drv_expect(p->a.cq, 1, IBV_WC_RETRY_EXC_ERR).vendor_err,
		 MYNIC_SYN_RETRY);
	CHECK(p->sim->now - start >= least);
	CHECK(p->sim->now - start <= 4 * least);
	probes = drv_stat(p->a.d, MYNIC_STAT_PROBE);
	CHECK_EQ(link->num[0], retry_cnt + 1 + probes);
	CHECK_EQ(drv_stat(p->a.d, MYNIC_STAT_TIMEOUT), retry_cnt + 1);
	CHECK_EQ(drv_stat(p->a.d, MYNIC_STAT_RETRY_EXCEEDED), 1);
}

TEST(attempts_to_a_peer_that_never_answers)
{
	for (unsigned int i = 0; i <= 7; i++) {
		struct link link;
		struct drv_pair p = drv_rc_pair(NULL);

		attach(&p, &link);
		check_attempts(&p, &link, i, 10 + i);
		CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_PROBE), 0);
	}
}

TEST(attempts_to_a_peer_that_has_answered)
{
	for (unsigned int i = 0; i <= 7; i++) {
		struct link link;
		struct drv_pair p = warm_pair(&link);

		check_attempts(&p, &link, i, 10 + i);
		CHECK(drv_stat(p.a.d, MYNIC_STAT_PROBE) > 0);
	}
}

TEST(no_ack_timeout_at_all)
{
	struct link link;
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_wr wr = a_wr(&p, IBV_WR_RDMA_WRITE, 8);
	struct mynic_qp_attr attr = sqd_attr(IBV_QP_TIMEOUT);

	attach(&p, &link);
	modify(p.a.qp, &attr);
	link.opcode = ANY;
	link.drop = ALL;
	drv_post_send(p.a.qp, &wr);
	sim_run(p.sim, 100000 * SEC);
	CHECK_EQ(link.num[0], 1);
	drv_expect_none(p.a.cq, 0);
}

TEST(rnr_attempts)
{
	for (unsigned int i = 0; i <= 7; i++) {
		struct link link;
		struct drv_pair p =
			drv_rc_pair(&(struct drv_path){ .min_rnr_timer = 1 });
		struct drv_wr wr = a_wr(&p, IBV_WR_SEND, 8);
		struct mynic_qp_attr attr = sqd_attr(IBV_QP_RNR_RETRY);

		attach(&p, &link);
		attr.rnr_retry = i;
		modify(p.a.qp, &attr);
		drv_post_send(p.a.qp, &wr);
		if (i == 7) { /* 7: without a limit */
			sim_run(p.sim, SEC);
			CHECK(link.num[0] > 1000);
			CHECK_EQ(drv_query_qp(p.a.qp).qp_state, IBV_QPS_RTS);
			continue;
		}
		drv_expect(p.a.cq, 1, IBV_WC_RNR_RETRY_EXC_ERR);
		CHECK_EQ(link.num[0], i + 1);
		CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_RX_NAK_RNR), i + 1);
		CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_RNR_RETRY_EXCEEDED), 1);
	}
}

/* RNR NAKs do not use up retries, and timeouts do not use up RNR retries */
TEST(retry_and_rnr_counters_are_independent)
{
	struct link link;
	struct drv_pair p = drv_rc_pair(
		&(struct drv_path){ .min_rnr_timer = 1, .timeout = 10 });
	struct drv_wr wr = a_wr(&p, IBV_WR_SEND, 8);
	struct mynic_qp_attr attr =
		sqd_attr(IBV_QP_RNR_RETRY | IBV_QP_RETRY_CNT);

	attach(&p, &link);
	attr.rnr_retry = 3;
	attr.retry_cnt = 2;
	modify(p.a.qp, &attr);
	link.opcode = ANY;
	link.drop = 2;
	drv_post_send(p.a.qp, &wr);
	/* two are lost, and four more are needed for enough RNR NAKs */
	drv_expect(p.a.cq, 1, IBV_WC_RNR_RETRY_EXC_ERR);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_TIMEOUT), 2);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_RX_NAK_RNR), 4);
}

TEST(progress_fills_the_rnr_counter)
{
	struct link link;
	struct drv_pair p =
		drv_rc_pair(&(struct drv_path){ .min_rnr_timer = 1 });
	struct drv_wr wr = a_wr(&p, IBV_WR_SEND, 8);
	struct mynic_sge sge = drv_sge(p.b.mr, 0, 8);
	struct mynic_qp_attr attr = sqd_attr(IBV_QP_RNR_RETRY);

	attach(&p, &link);
	attr.rnr_retry = 2;
	modify(p.a.qp, &attr);
	for (unsigned int i = 1; i < 5; i++) {
		drv_post_send(p.a.qp, &wr);
		SIM_WAIT(p.sim,
			 drv_stat(p.a.d, MYNIC_STAT_RX_NAK_RNR) == 2 * i);
		drv_post_recv(p.b.qp, 1, &sge, 1);
		drv_expect(p.a.cq, 1, IBV_WC_SUCCESS);
	}
}

/* No probe is sent before the time that an RNR NAK asks for */
TEST(no_probes_while_waiting_for_a_receive_request)
{
	struct link link;
	struct drv_pair p = warm_pair(&link);
	struct drv_wr wr = a_wr(&p, IBV_WR_SEND, 8);
	struct mynic_qp_attr attr = {
		.attr_mask = IBV_QP_MIN_RNR_TIMER,
		.min_rnr_timer = 31, /* 491.52 ms */
	};

	CHECK_EQ(drv_modify_qp(p.b.qp, &attr), 0);
	drv_post_send(p.a.qp, &wr);
	sim_run(p.sim, 491 * MSEC);
	CHECK_EQ(link.num[0], 1);
	sim_run(p.sim, 2 * MSEC);
	CHECK_EQ(link.num[0], 2);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_PROBE), 0);
}

#define SIZE 65536
#define DEPTH 32

static void post_one(struct drv_pair *p, enum ibv_wr_opcode opcode)
{
	struct mynic_sge sge = drv_sge(p->b.mr, 0, SIZE);
	struct drv_wr wr = a_wr(p, opcode, SIZE);

	if (opcode == IBV_WR_SEND)
		drv_post_recv(p->b.qp, 0, &sge, 1);
	drv_post_send(p->a.qp, &wr);
}

/* Return: throughput of a stream of messages, MB/s */
static uint64_t goodput(enum ibv_wr_opcode opcode, uint64_t rtt,
			unsigned int loss, unsigned int num)
{
	struct drv_pair p = drv_rc_pair(
		&(struct drv_path){ .mtu = IBV_MTU_4096, .max_rd_atomic = 16 });
	struct link link;
	unsigned int posted = 0, done = 0;
	struct mynic_cqe cqe;
	uint64_t start;

	attach(&p, &link);
	link.rtt = rtt;
	link.loss = loss;
	p.sim->random = 1 + loss;
	start = p.sim->now;
	while (done < num) {
		while (posted < num && posted - done < DEPTH) {
			post_one(&p, opcode);
			posted++;
		}
		SIM_WAIT(p.sim, drv_poll(p.a.cq, &cqe));
		do {
			CHECK_EQ(cqe.status, 0);
			done++;
		} while (drv_poll(p.a.cq, &cqe));
		while (drv_poll(p.b.recv_cq, &cqe))
			;
	}
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_TIMEOUT), 0);
	return num * (uint64_t)SIZE * 1000 / (p.sim->now - start);
}

static void check_goodput(enum ibv_wr_opcode opcode)
{
	static const uint64_t rtts[] = { 20 * USEC, 50 * USEC, 100 * USEC };

	for (unsigned int i = 0; i < ARRAY_SIZE(rtts); i++) {
		uint64_t clean = goodput(opcode, rtts[i], 0, 500);
		uint64_t some = goodput(opcode, rtts[i], 10, 1000);
		uint64_t more = goodput(opcode, rtts[i], 100, 500);
		uint64_t many = goodput(opcode, rtts[i], 1000, 100);

		tap_note(
			"round trip %llu us: 0, 0.1, 1, 10 %% loss: %llu, %llu, %llu, %llu MB/s",
			(unsigned long long)(rtts[i] / USEC),
			(unsigned long long)clean, (unsigned long long)some,
			(unsigned long long)more, (unsigned long long)many);
		CHECK(some * 5 > clean * 4);
		CHECK(more * 2 > clean);
		CHECK(many * 20 > clean);
	}
}

TEST(goodput_of_writes)
{
	check_goodput(IBV_WR_RDMA_WRITE);
}

TEST(goodput_of_sends)
{
	check_goodput(IBV_WR_SEND);
}

TEST(goodput_of_reads)
{
	check_goodput(IBV_WR_RDMA_READ);
}
