// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requester of Documentation/transport-rules.rst, "Requester (RC)". The name of
 * a test begins with that of its rule, if there is one. The test makes the
 * responses.
 */
#include "core/packet/opcode.h"
#include "harness_driver.h"

#define MTU 1024
#define PSN 0xfffffe /* the number space wraps in each test */
#define LOG_MAX 1024

#define ACK 0x1f
#define ACK_CREDITS 0x00
#define RNR_NAK 0x20
#define RESERVED 0x40
#define NAK 0x60

/**
 * struct log - packets that a has sent; those of b are lost
 * @hdr: headers
 * @len: payload
 * @time: when
 * @num: number of packets
 * @both: packets of b are not lost
 */
struct log {
	struct roce_hdr hdr[LOG_MAX];
	uint32_t len[LOG_MAX];
	uint64_t time[LOG_MAX];
	unsigned int num;
	bool both;
};

static enum sim_verdict record(struct sim *sim, struct sim_nic *from,
			       struct packet *pkt)
{
	struct log *log = sim->filter_arg;

	if (from->index)
		return log->both ? SIM_PASS : SIM_DROP;
	CHECK(log->num < LOG_MAX);
	log->hdr[log->num] = pkt->roce;
	log->time[log->num] = sim->now;
	log->len[log->num++] = pkt->payload_len;
	return SIM_PASS;
}

static struct drv_pair pair_with(struct log **log, struct drv_path path)
{
	struct drv_pair p;

	path.sq_psn = PSN;
	path.timeout = path.timeout ? path.timeout : 20;
	p = drv_rc_pair(&path);
	*log = tap_alloc(sizeof(**log));
	p.sim->filter = record;
	p.sim->filter_arg = *log;
	return p;
}

static struct drv_pair pair(struct log **log)
{
	return pair_with(log, (struct drv_path){ 0 });
}

static void post(struct drv_pair *p, uint64_t wr_id, enum ibv_wr_opcode opcode,
		 uint32_t len)
{
	struct drv_wr wr = {
		.wr_id = wr_id,
		.opcode = opcode,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { drv_sge(p->a.mr, 0, len) },
		.remote_addr = p->b.mr->addr,
		.rkey = p->b.mr->key,
	};

	drv_post_send(p->a.qp, &wr);
	sim_settle(p->sim);
}

static void recvs(struct drv_pair *p, unsigned int num)
{
	struct mynic_sge sge = drv_sge(p->b.mr, 0, 16 * MTU);

	while (num--)
		drv_post_recv(p->b.qp, 0, &sge, 1);
}

static void inject(struct drv_pair *p, uint8_t opcode, uint32_t offset,
		   uint8_t syndrome, uint32_t len)
{
	static uint8_t data[4096];
	struct packet pkt = {
		.kind = PACKET_ROCE,
		.vlan = PACKET_NO_VLAN,
		.payload_len = len,
		.niov = len ? 1 : 0,
		.iov = { { data, len } },
		.roce = {
			.hop_limit = 64,
			.udp_sport = 0xc001,
			.opcode = opcode,
			.pkey = 0xffff,
			.pad = -len & 3,
			.dest_qpn = p->a.qp->number,
			.psn = (PSN + offset) & 0xffffff,
			.aeth = (uint32_t)syndrome << 24,
		},
	};

	memcpy(pkt.dmac, nic_mac(p->a.d->n->nic), 6);
	memcpy(pkt.smac, nic_mac(p->b.d->n->nic), 6);
	drv_gid(1, DRV_GID_IPV6, pkt.roce.sgid);
	drv_gid(0, DRV_GID_IPV6, pkt.roce.dgid);
	sim_inject(p->a.d->n, &pkt);
	sim_settle(p->sim);
}

/* @offset: distance of the PSN from the first one of the connection */
static void ack(struct drv_pair *p, uint32_t offset, uint8_t syndrome)
{
	inject(p, BTH_RC_ACK, offset, syndrome, 0);
}

static uint64_t stat_a(struct drv_pair *p, enum mynic_stat stat)
{
	return drv_stat(p->a.d, stat);
}

static void success(struct drv_pair *p, uint64_t wr_id)
{
	drv_expect(p->a.cq, wr_id, IBV_WC_SUCCESS);
}

static void nothing_yet(struct drv_pair *p)
{
	drv_expect_none(p->a.cq, 0);
}

static uint32_t sent_psn(const struct log *log, unsigned int i)
{
	CHECK(i < log->num);
	return (log->hdr[i].psn - PSN) & 0xffffff;
}

TEST(coalesced_ack)
{
	struct log *log;
	struct drv_pair p = pair(&log);

	for (unsigned int i = 0; i < 5; i++)
		post(&p, i, IBV_WR_RDMA_WRITE, 8);
	ack(&p, 2, ACK);
	for (unsigned int i = 0; i < 3; i++)
		success(&p, i);
	nothing_yet(&p);
	ack(&p, 4, ACK);
	success(&p, 3);
	success(&p, 4);
	CHECK_EQ(stat_a(&p, MYNIC_STAT_GHOST), 0);
}

TEST(coalesced_ack_in_a_message)
{
	struct log *log;
	struct drv_pair p = pair(&log);

	post(&p, 1, IBV_WR_RDMA_WRITE, 4 * MTU);
	ack(&p, 2, ACK);
	nothing_yet(&p);
	/* only the rest is sent again */
	ack(&p, 3, NAK);
	CHECK_EQ(log->num, 5);
	CHECK_EQ(sent_psn(log, 4), 3);
	CHECK_EQ(log->hdr[4].opcode, BTH_RC_WRITE_LAST);
	ack(&p, 3, ACK);
	success(&p, 1);
}

TEST(ghost)
{
	static const uint8_t syndromes[] = { ACK,     NAK + 0, NAK + 1,
					     NAK + 2, NAK + 3, RNR_NAK };
	struct log *log;
	struct drv_pair p = pair(&log);

	post(&p, 1, IBV_WR_RDMA_WRITE, 8);
	post(&p, 2, IBV_WR_RDMA_WRITE, 8);
	ack(&p, 0, ACK);
	success(&p, 1);
	for (unsigned int i = 0; i < ARRAY_SIZE(syndromes); i++)
		ack(&p, 0, syndromes[i]);
	ack(&p, -0x700000, ACK);
	inject(&p, BTH_RC_READ_RESPONSE_ONLY, 0, ACK, 8);
	CHECK_EQ(stat_a(&p, MYNIC_STAT_GHOST), ARRAY_SIZE(syndromes) + 2);
	CHECK_EQ(log->num, 2);
	nothing_yet(&p);
	ack(&p, 1, ACK);
	success(&p, 2);
}

TEST(ghost_of_what_was_not_sent)
{
	struct log *log;
	struct drv_pair p = pair(&log);

	post(&p, 1, IBV_WR_RDMA_WRITE, 8);
	ack(&p, 1, ACK);
	ack(&p, 2, NAK + 1);
	ack(&p, 0x7ffff0, ACK);
	CHECK_EQ(stat_a(&p, MYNIC_STAT_GHOST), 3);
	nothing_yet(&p);
	ack(&p, 0, ACK);
	success(&p, 1);
}

TEST(implied_nak)
{
	struct log *log;
	struct drv_pair p = pair(&log);

	post(&p, 1, IBV_WR_RDMA_WRITE, 8);
	post(&p, 2, IBV_WR_RDMA_READ, 8);
	post(&p, 3, IBV_WR_RDMA_WRITE, 8);
	ack(&p, 2, ACK);
	success(&p, 1);
	nothing_yet(&p);
	CHECK_EQ(stat_a(&p, MYNIC_STAT_IMPLIED_NAK), 1);
	CHECK_EQ(log->num, 5);
	CHECK_EQ(sent_psn(log, 3), 1);
	CHECK_EQ(sent_psn(log, 4), 2);
	inject(&p, BTH_RC_READ_RESPONSE_ONLY, 1, ACK, 8);
	success(&p, 2);
	ack(&p, 2, ACK);
	success(&p, 3);
}

/* An ACK of a READ or atomic does not answer it, so its response is missing */
TEST(implied_nak_by_an_ack_of_the_read)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_RDMA_READ,
		IBV_WR_ATOMIC_FETCH_AND_ADD,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(opcodes); i++) {
		struct log *log;
		struct drv_pair p = pair(&log);

		post(&p, 1, opcodes[i], 8);
		ack(&p, 0, ACK);
		nothing_yet(&p);
		CHECK_EQ(stat_a(&p, MYNIC_STAT_IMPLIED_NAK), 1);
		CHECK_EQ(log->num, 2);
	}
}

TEST(read_response_lost)
{
	struct log *log;
	struct drv_pair p = pair(&log);

	post(&p, 1, IBV_WR_RDMA_READ, 4 * MTU);
	inject(&p, BTH_RC_READ_RESPONSE_FIRST, 0, ACK, MTU);
	inject(&p, BTH_RC_READ_RESPONSE_MIDDLE, 2, ACK, MTU);
	CHECK_EQ(stat_a(&p, MYNIC_STAT_IMPLIED_NAK), 1);
	CHECK_EQ(log->num, 2);
	CHECK_EQ(sent_psn(log, 1), 1);
	CHECK_EQ(log->hdr[1].dma_len, 3 * MTU);
	/* one loss, which each later packet reveals */
	inject(&p, BTH_RC_READ_RESPONSE_LAST, 3, ACK, MTU);
	CHECK_EQ(log->num, 2);
	inject(&p, BTH_RC_READ_RESPONSE_FIRST, 1, ACK, MTU);
	inject(&p, BTH_RC_READ_RESPONSE_MIDDLE, 2, ACK, MTU);
	inject(&p, BTH_RC_READ_RESPONSE_LAST, 3, ACK, MTU);
	success(&p, 1);
}

/* Late responses are accepted, although they have been requested again */
TEST(read_response_late)
{
	struct log *log;
	struct drv_pair p = pair(&log);

	post(&p, 1, IBV_WR_RDMA_READ, 4 * MTU);
	inject(&p, BTH_RC_READ_RESPONSE_FIRST, 0, ACK, MTU);
	inject(&p, BTH_RC_READ_RESPONSE_MIDDLE, 2, ACK, MTU);
	CHECK_EQ(log->num, 2);
	inject(&p, BTH_RC_READ_RESPONSE_MIDDLE, 1, ACK, MTU);
	inject(&p, BTH_RC_READ_RESPONSE_MIDDLE, 2, ACK, MTU);
	inject(&p, BTH_RC_READ_RESPONSE_LAST, 3, ACK, MTU);
	success(&p, 1);
	/* responses to the first request are ghosts now */
	inject(&p, BTH_RC_READ_RESPONSE_FIRST, 1, ACK, MTU);
	CHECK_EQ(stat_a(&p, MYNIC_STAT_GHOST), 1);
	nothing_yet(&p);
}

TEST(nak_sequence)
{
	struct log *log;
	struct drv_pair p = pair(&log);

	for (unsigned int i = 0; i < 4; i++)
		post(&p, i, IBV_WR_RDMA_WRITE, 8);
	ack(&p, 2, NAK);
	success(&p, 0);
	success(&p, 1);
	nothing_yet(&p);
	CHECK_EQ(stat_a(&p, MYNIC_STAT_RX_NAK_SEQ), 1);
	CHECK_EQ(log->num, 6);
	CHECK_EQ(sent_psn(log, 4), 2);
	CHECK_EQ(sent_psn(log, 5), 3);
	/* said twice: the requester has gone back already */
	ack(&p, 2, NAK);
	CHECK_EQ(log->num, 6);
	ack(&p, 3, ACK);
	success(&p, 2);
	success(&p, 3);
}

TEST(nak_sequence_is_a_retry)
{
	struct log *log;
	struct drv_pair p =
		pair_with(&log, (struct drv_path){ .no_retry = true });

	post(&p, 1, IBV_WR_RDMA_WRITE, 8);
	post(&p, 2, IBV_WR_RDMA_WRITE, 8);
	ack(&p, 0, NAK);
	drv_expect(p.a.cq, 1, IBV_WC_RETRY_EXC_ERR);
	drv_expect(p.a.cq, 2, IBV_WC_WR_FLUSH_ERR);
}

TEST(nak_status_and_nak_reserved)
{
	static const struct {
		uint8_t code;
		enum ibv_wc_status status;
		enum mynic_stat stat;
	} table[] = {
		{ 1, IBV_WC_REM_INV_REQ_ERR, MYNIC_STAT_RX_NAK_INVALID },
		{ 2, IBV_WC_REM_ACCESS_ERR, MYNIC_STAT_RX_NAK_ACCESS },
		{ 3, IBV_WC_REM_OP_ERR, MYNIC_STAT_RX_NAK_OPERATION },
		{ 4, IBV_WC_BAD_RESP_ERR, MYNIC_STAT_RX_DROP_HEADER },
		{ 5, IBV_WC_BAD_RESP_ERR, MYNIC_STAT_RX_DROP_HEADER },
		{ 31, IBV_WC_BAD_RESP_ERR, MYNIC_STAT_RX_DROP_HEADER },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		struct log *log;
		struct drv_pair p = pair(&log);

		for (unsigned int j = 0; j < 4; j++)
			post(&p, j, IBV_WR_RDMA_WRITE, 8);
		ack(&p, 2, NAK + table[i].code);
		success(&p, 0);
		success(&p, 1);
		drv_expect(p.a.cq, 2, table[i].status);
		drv_expect(p.a.cq, 3, IBV_WC_WR_FLUSH_ERR);
		CHECK_EQ(stat_a(&p, table[i].stat), 1);
		CHECK_EQ(drv_query_qp(p.a.qp).qp_state, IBV_QPS_ERR);
		/* no event, because there is a completion */
		CHECK(!drv_eq_poll(&p.a.d->event, &(struct mynic_eqe){ 0 }));
	}
}

/* A NAK of a later request counts only after the response */
TEST(implied_nak_by_a_nak)
{
	struct log *log;
	struct drv_pair p = pair(&log);

	post(&p, 1, IBV_WR_RDMA_READ, 8);
	post(&p, 2, IBV_WR_RDMA_WRITE, 8);
	ack(&p, 1, NAK + 2);
	nothing_yet(&p);
	CHECK_EQ(stat_a(&p, MYNIC_STAT_IMPLIED_NAK), 1);
	CHECK_EQ(log->num, 4);
	inject(&p, BTH_RC_READ_RESPONSE_ONLY, 0, ACK, 8);
	success(&p, 1);
	ack(&p, 1, NAK + 2);
	drv_expect(p.a.cq, 2, IBV_WC_REM_ACCESS_ERR);
}

TEST(nak_of_a_read)
{
	struct log *log;
	struct drv_pair p = pair(&log);

	post(&p, 1, IBV_WR_RDMA_READ, 4 * MTU);
	inject(&p, BTH_RC_READ_RESPONSE_FIRST, 0, ACK, MTU);
	ack(&p, 1, NAK + 2);
	drv_expect(p.a.cq, 1, IBV_WC_REM_ACCESS_ERR);
}

TEST(syndrome_reserved)
{
	struct log *log;
	struct drv_pair p = pair(&log);

	post(&p, 1, IBV_WR_RDMA_WRITE, 8);
	ack(&p, 0, RESERVED);
	ack(&p, 0, RESERVED + 31);
	ack(&p, 0, 0x80);
	ack(&p, 0, 0xe0);
	nothing_yet(&p);
	CHECK_EQ(stat_a(&p, MYNIC_STAT_RX_DROP_HEADER), 4);
	CHECK_EQ(log->num, 1);
}

TEST(rnr_timer_and_rnr_acknowledges)
{
	struct log *log;
	struct drv_pair p = pair(&log);

	post(&p, 1, IBV_WR_RDMA_WRITE, 8);
	post(&p, 2, IBV_WR_SEND, 8);
	post(&p, 3, IBV_WR_RDMA_WRITE, 8);
	ack(&p, 1, RNR_NAK + 14); /* 1.28 ms */
	success(&p, 1);
	post(&p, 4, IBV_WR_RDMA_WRITE, 8);
	sim_run(p.sim, 1279 * USEC);
	CHECK_EQ(log->num, 3);
	sim_run(p.sim, 2 * USEC);
	CHECK_EQ(log->num, 6);
	CHECK_EQ(sent_psn(log, 3), 1);
	ack(&p, 3, ACK);
	for (unsigned int i = 2; i <= 4; i++)
		success(&p, i);
}

/* NAKs of packets in flight do not shorten the wait */
TEST(rnr_timer_is_not_shortened)
{
	struct log *log;
	struct drv_pair p = pair(&log);

	post(&p, 1, IBV_WR_SEND, 8);
	post(&p, 2, IBV_WR_SEND, 8);
	ack(&p, 0, RNR_NAK + 14);
	ack(&p, 0, NAK);
	ack(&p, 0, RNR_NAK + 31);
	sim_run(p.sim, 1279 * USEC);
	CHECK_EQ(log->num, 2);
	sim_run(p.sim, 2 * USEC);
	CHECK_EQ(log->num, 4);
}

TEST(bad_response)
{
	static const struct {
		uint32_t before;
		uint8_t opcode;
		uint32_t len;
	} table[] = {
		/* of four packets, some of which have arrived */
		{ 0, BTH_RC_READ_RESPONSE_MIDDLE, MTU },
		{ 0, BTH_RC_READ_RESPONSE_LAST, MTU },
		{ 0, BTH_RC_READ_RESPONSE_ONLY, MTU },
		{ 1, BTH_RC_READ_RESPONSE_FIRST, MTU },
		{ 1, BTH_RC_READ_RESPONSE_LAST, MTU },
		{ 1, BTH_RC_READ_RESPONSE_ONLY, MTU },
		{ 3, BTH_RC_READ_RESPONSE_FIRST, MTU },
		{ 3, BTH_RC_READ_RESPONSE_MIDDLE, MTU },
		{ 3, BTH_RC_READ_RESPONSE_ONLY, MTU },
		/* lengths */
		{ 0, BTH_RC_READ_RESPONSE_FIRST, MTU - 4 },
		{ 0, BTH_RC_READ_RESPONSE_FIRST, MTU + 4 },
		{ 1, BTH_RC_READ_RESPONSE_MIDDLE, 0 },
		{ 1, BTH_RC_READ_RESPONSE_MIDDLE, MTU - 1 },
		{ 3, BTH_RC_READ_RESPONSE_LAST, MTU - 4 },
		{ 3, BTH_RC_READ_RESPONSE_LAST, 0 },
		/* other kinds */
		{ 0, BTH_RC_ATOMIC_ACK, 0 },
		{ 2, BTH_RC_ATOMIC_ACK, 0 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		struct log *log;
		struct drv_pair p = pair(&log);

		post(&p, 1, IBV_WR_RDMA_READ, 4 * MTU);
		post(&p, 2, IBV_WR_RDMA_READ, 8);
		for (unsigned int j = 0; j < table[i].before; j++)
			inject(&p,
			       j ? BTH_RC_READ_RESPONSE_MIDDLE :
				   BTH_RC_READ_RESPONSE_FIRST,
			       j, ACK, MTU);
		inject(&p, table[i].opcode, table[i].before, ACK, table[i].len);
		CHECK_EQ(drv_expect(p.a.cq, 1, IBV_WC_BAD_RESP_ERR).vendor_err,
			 MYNIC_SYN_BAD_RESPONSE);
		drv_expect(p.a.cq, 2, IBV_WC_WR_FLUSH_ERR);
	}
}

TEST(bad_response_to_another_request)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_RDMA_WRITE,
		IBV_WR_SEND,
		IBV_WR_ATOMIC_FETCH_AND_ADD,
		IBV_WR_ATOMIC_CMP_AND_SWP,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(opcodes); i++) {
		struct log *log;
		struct drv_pair p = pair(&log);

		memset(p.a.mr->ptr, 0x42, 8);
		post(&p, 1, opcodes[i], 8);
		inject(&p, BTH_RC_READ_RESPONSE_ONLY, 0, ACK, 8);
		drv_expect(p.a.cq, 1, IBV_WC_BAD_RESP_ERR);
		CHECK_EQ(p.a.mr->ptr[0], 0x42);
	}
}

TEST(syndrome_reserved_in_responses)
{
	struct log *log;
	struct drv_pair p = pair(&log);

	post(&p, 1, IBV_WR_RDMA_READ, 8);
	inject(&p, BTH_RC_READ_RESPONSE_ONLY, 0, NAK + 1, 8);
	inject(&p, BTH_RC_READ_RESPONSE_ONLY, 0, RNR_NAK, 8);
	CHECK_EQ(stat_a(&p, MYNIC_STAT_RX_DROP_HEADER), 2);
	nothing_yet(&p);
	inject(&p, BTH_RC_READ_RESPONSE_ONLY, 0, ACK, 8);
	success(&p, 1);
}

/* A response acknowledges earlier requests */
TEST(response_acknowledges)
{
	struct log *log;
	struct drv_pair p = pair(&log);

	post(&p, 1, IBV_WR_RDMA_WRITE, 8);
	post(&p, 2, IBV_WR_SEND, 8);
	post(&p, 3, IBV_WR_RDMA_READ, 8);
	inject(&p, BTH_RC_READ_RESPONSE_ONLY, 2, ACK, 8);
	for (unsigned int i = 1; i <= 3; i++)
		success(&p, i);
}

TEST(ack_request_in_long_messages)
{
	struct log *log;
	struct drv_pair p = pair(&log);
	unsigned int asked = 0;

	post(&p, 1, IBV_WR_RDMA_WRITE, 200 * MTU);
	CHECK_EQ(log->num, 200);
	for (unsigned int i = 0; i < 200; i++)
		asked += log->hdr[i].ack_req;
	CHECK(log->hdr[199].ack_req);
	/* not for each packet, and not for the last one only */
	CHECK(asked >= 3 && asked <= 20);
}

TEST(reads_limited)
{
	struct log *log;
	struct drv_pair p =
		pair_with(&log, (struct drv_path){ .max_rd_atomic = 3 });

	for (unsigned int i = 0; i < 5; i++)
		post(&p, i,
		     i % 2 ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_RDMA_READ, 8);
	CHECK_EQ(log->num, 3);
	inject(&p, BTH_RC_READ_RESPONSE_ONLY, 0, ACK, 8);
	success(&p, 0);
	CHECK_EQ(log->num, 4);
	inject(&p, BTH_RC_ATOMIC_ACK, 1, ACK, 0);
	success(&p, 1);
	CHECK_EQ(log->num, 5);
}

static void post_fenced(struct drv_pair *p, uint64_t wr_id)
{
	struct drv_wr wr = {
		.wr_id = wr_id,
		.opcode = IBV_WR_RDMA_WRITE,
		.flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE,
		.num_sge = 1,
		.sge = { drv_sge(p->a.mr, 0, 2 * MTU) },
		.remote_addr = p->b.mr->addr,
		.rkey = p->b.mr->key,
	};

	drv_post_send(p->a.qp, &wr);
	sim_settle(p->sim);
}

TEST(fence)
{
	struct log *log;
	struct drv_pair p = pair(&log);

	post(&p, 1, IBV_WR_RDMA_READ, 2 * MTU);
	post(&p, 2, IBV_WR_ATOMIC_FETCH_AND_ADD, 8);
	post(&p, 3, IBV_WR_RDMA_WRITE, 8);
	post_fenced(&p, 4);
	post(&p, 5, IBV_WR_RDMA_WRITE, 8);
	CHECK_EQ(log->num, 3);
	inject(&p, BTH_RC_READ_RESPONSE_FIRST, 0, ACK, MTU);
	inject(&p, BTH_RC_READ_RESPONSE_LAST, 1, ACK, MTU);
	CHECK_EQ(log->num, 3);
	/* WRITEs before need not be acknowledged */
	inject(&p, BTH_RC_ATOMIC_ACK, 2, ACK, 0);
	CHECK_EQ(log->num, 6);
	ack(&p, 6, ACK);
	for (unsigned int i = 1; i <= 5; i++)
		success(&p, i);
}

/* A fence also holds when the request is sent again */
TEST(fence_after_going_back)
{
	struct log *log;
	struct drv_pair p = pair(&log);

	post(&p, 1, IBV_WR_RDMA_WRITE, 8);
	post(&p, 2, IBV_WR_RDMA_READ, 8);
	post_fenced(&p, 3);
	CHECK_EQ(log->num, 2);
	ack(&p, 0, NAK);
	CHECK_EQ(log->num, 4);
	inject(&p, BTH_RC_READ_RESPONSE_ONLY, 1, ACK, 8);
	CHECK_EQ(log->num, 6);
	ack(&p, 3, ACK);
	for (unsigned int i = 1; i <= 3; i++)
		success(&p, i);
}

TEST(completions_in_order_when_flushed)
{
	struct log *log;
	struct drv_pair p = pair(&log);

	for (unsigned int i = 0; i < 40; i++)
		post(&p, i, i % 3 ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ, 8);
	inject(&p, BTH_RC_READ_RESPONSE_ONLY, 0, ACK, 8);
	ack(&p, 1, ACK);
	success(&p, 0);
	success(&p, 1);
	CHECK_EQ(drv_set_state(p.a.qp, IBV_QPS_ERR), 0);
	for (unsigned int i = 2; i < 40; i++)
		drv_expect(p.a.cq, i, IBV_WC_WR_FLUSH_ERR);
	/* a response in the error state changes nothing */
	ack(&p, 5, ACK);
	nothing_yet(&p);
}

TEST(sqd_drains)
{
	struct log *log;
	struct drv_pair p =
		pair_with(&log, (struct drv_path){ .max_rd_atomic = 1 });

	post(&p, 1, IBV_WR_RDMA_READ, 2 * MTU);
	post(&p, 2, IBV_WR_RDMA_READ, 8);
	CHECK_EQ(log->num, 1);
	CHECK_EQ(drv_set_state(p.a.qp, IBV_QPS_SQD), 0);
	CHECK_EQ(drv_query_qp(p.a.qp).sq_drained_event, 1);
	/* retries are a part of it */
	inject(&p, BTH_RC_READ_RESPONSE_LAST, 1, ACK, MTU);
	CHECK_EQ(log->num, 2);
	inject(&p, BTH_RC_READ_RESPONSE_FIRST, 0, ACK, MTU);
	inject(&p, BTH_RC_READ_RESPONSE_LAST, 1, ACK, MTU);
	success(&p, 1);
	CHECK_EQ(drv_query_qp(p.a.qp).sq_drained_event, 0);
	CHECK_EQ(log->num, 2);
	CHECK_EQ(drv_set_state(p.a.qp, IBV_QPS_RTS), 0);
	sim_settle(p.sim);
	CHECK_EQ(log->num, 3);
}

TEST(credits_honoured_where_there_are_some)
{
	struct log *log;
	struct drv_pair p = pair(&log);

	post(&p, 0, IBV_WR_RDMA_WRITE, 8);
	ack(&p, 0, ACK_CREDITS + 3);
	success(&p, 0);
	for (unsigned int i = 1; i <= 6; i++)
		post(&p, i, IBV_WR_SEND, 8);
	CHECK_EQ(log->num, 4);
	/* credits count from what is acknowledged */
	ack(&p, 2, ACK_CREDITS + 2);
	CHECK_EQ(log->num, 5);
	ack(&p, 4, ACK_CREDITS + 10);
	CHECK_EQ(log->num, 7);
	ack(&p, 6, ACK);
	for (unsigned int i = 1; i <= 6; i++)
		success(&p, i);
}

TEST(credit_codes)
{
	static const uint32_t credits[] = {
		0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
	};

	for (unsigned int i = 1; i < ARRAY_SIZE(credits); i++) {
		struct drv_qp_init init = {
			.type = MYNIC_QP_RC,
			.log_sq_size = 8,
		};
		struct drv_pair p = drv_pair_unconnected(&init);
		struct log *log = tap_alloc(sizeof(*log));

		drv_connect(p.a.qp, p.b.qp,
			    &(struct drv_path){ .sq_psn = PSN, .timeout = 20 });
		p.sim->filter = record;
		p.sim->filter_arg = log;
		post(&p, 0, IBV_WR_RDMA_WRITE, 8);
		ack(&p, 0, ACK_CREDITS + i);
		for (unsigned int j = 0; j < 200; j++)
			post(&p, 1, IBV_WR_SEND, 8);
		CHECK_EQ(log->num, 1 + credits[i]);
	}
}

/* Requests that take no receive request do not need a credit */
TEST(credits_do_not_limit_others)
{
	struct log *log;
	struct drv_pair p = pair(&log);

	post(&p, 0, IBV_WR_RDMA_WRITE, 8);
	ack(&p, 0, ACK_CREDITS + 1);
	post(&p, 1, IBV_WR_RDMA_WRITE, 8);
	post(&p, 2, IBV_WR_RDMA_WRITE, 8);
	post(&p, 3, IBV_WR_RDMA_READ, 8);
	post(&p, 4, IBV_WR_SEND, 4 * MTU);
	CHECK_EQ(log->num, 8);
	post(&p, 5, IBV_WR_RDMA_WRITE_WITH_IMM, 8);
	CHECK_EQ(log->num, 8);
}

TEST(credits_honoured)
{
	struct log *log;
	struct drv_pair p = pair(&log);

	post(&p, 0, IBV_WR_RDMA_WRITE, 8);
	ack(&p, 0, ACK_CREDITS + 0);
	success(&p, 0);
	post(&p, 1, IBV_WR_SEND, 4 * MTU);
	post(&p, 2, IBV_WR_SEND, 8);
	CHECK_EQ(log->num, 2);
	CHECK_EQ(log->hdr[1].opcode, BTH_RC_SEND_FIRST);
	CHECK(log->hdr[1].ack_req);
	/* it was taken: the rest of its message follows */
	ack(&p, 1, ACK_CREDITS + 0);
	CHECK_EQ(log->num, 5);
	nothing_yet(&p);
	ack(&p, 4, ACK_CREDITS + 0);
	success(&p, 1);
	CHECK_EQ(log->num, 6);
	/* it was not: as ever */
	ack(&p, 5, RNR_NAK + 1);
	sim_run(p.sim, 10 * USEC);
	CHECK_EQ(log->num, 7);
	CHECK_EQ(sent_psn(log, 6), 5);
}

/* Use up the peer's receive requests, and one more than it has */
static void run_out_of_credits(struct drv_pair *p, struct log *log,
			       unsigned int rnr_timer)
{
	post(p, 0, IBV_WR_RDMA_WRITE, 8);
	ack(p, 0, ACK_CREDITS + 0);
	success(p, 0);
	post(p, 1, IBV_WR_SEND, 8);
	CHECK_EQ(log->num, 2);
	ack(p, 1, RNR_NAK + rnr_timer);
	sim_run(p->sim, 641 * USEC);
	CHECK_EQ(log->num, 3);
	ack(p, 1, ACK_CREDITS + 0);
	success(p, 1);
}

#define RNR_640_USEC 12
#define RNR_160_USEC 8

/* After an RNR NAK, the requester waits a moment for new credits */
TEST(credits_waited_for)
{
	struct log *log;
	struct drv_pair p = pair(&log);

	run_out_of_credits(&p, log, RNR_640_USEC);
	post(&p, 2, IBV_WR_SEND, 8);
	CHECK_EQ(log->num, 3);
	ack(&p, 1, ACK_CREDITS + 1);
	CHECK_EQ(log->num, 4);
	ack(&p, 2, ACK_CREDITS + 0);
	success(&p, 2);
	/* 100 us since the last answer, not since it was posted */
	sim_run(p.sim, 60 * USEC);
	post(&p, 3, IBV_WR_SEND, 8);
	sim_run(p.sim, 39 * USEC);
	CHECK_EQ(log->num, 4);
	sim_run(p.sim, 2 * USEC);
	CHECK_EQ(log->num, 5);
	ack(&p, 3, ACK_CREDITS + 0);
	success(&p, 3);
	/* other requests need no credit */
	post(&p, 4, IBV_WR_RDMA_WRITE, 8);
	CHECK_EQ(log->num, 6);
}

TEST(credits_waited_for_less_than_an_rnr_nak_takes)
{
	struct log *log;
	struct drv_pair p = pair(&log);

	run_out_of_credits(&p, log, RNR_160_USEC);
	post(&p, 2, IBV_WR_SEND, 8);
	sim_run(p.sim, 38 * USEC);
	CHECK_EQ(log->num, 3);
	sim_run(p.sim, 4 * USEC);
	CHECK_EQ(log->num, 4);
}

TEST(credits_not_waited_for_without_rnr_naks)
{
	struct log *log;
	struct drv_pair p = pair(&log);

	run_out_of_credits(&p, log, RNR_640_USEC);
	sim_run(p.sim, 21 * MSEC);
	post(&p, 2, IBV_WR_RDMA_WRITE, 8);
	ack(&p, 2, ACK_CREDITS + 0);
	success(&p, 2);
	post(&p, 3, IBV_WR_SEND, 8);
	CHECK_EQ(log->num, 5);
}

/* The timer of the wait is not taken for the one that runs after it */
TEST(credits_waited_for_and_then_answers)
{
	struct log *log;
	struct drv_pair p =
		pair_with(&log, (struct drv_path){ .timeout = 10 /* 4 ms */ });

	run_out_of_credits(&p, log, RNR_640_USEC);
	post(&p, 2, IBV_WR_SEND, 8);
	ack(&p, 1, ACK_CREDITS + 1);
	CHECK_EQ(log->num, 4);
	sim_run(p.sim, 200 * USEC);
	CHECK_EQ(log->num, 4);
	CHECK_EQ(stat_a(&p, MYNIC_STAT_TIMEOUT), 0);
	sim_run(p.sim, 20 * MSEC);
	CHECK(log->num > 4);
	CHECK(stat_a(&p, MYNIC_STAT_TIMEOUT) > 0);
}

/* A peer reports new receive requests by repeating its last ACK */
TEST(unsolicited_ack_brings_credits)
{
	struct log *log;
	struct drv_pair p = pair(&log);

	post(&p, 0, IBV_WR_RDMA_WRITE, 8);
	ack(&p, 0, ACK_CREDITS + 1);
	success(&p, 0);
	for (unsigned int i = 1; i <= 4; i++)
		post(&p, i, IBV_WR_SEND, 8);
	CHECK_EQ(log->num, 2);
	ack(&p, 0, ACK_CREDITS + 3);
	CHECK_EQ(log->num, 4);
	CHECK_EQ(stat_a(&p, MYNIC_STAT_GHOST), 0);
	/* 31: it does not report credits any more */
	ack(&p, 0, ACK);
	CHECK_EQ(log->num, 5);
}

TEST(response_brings_credits)
{
	struct log *log;
	struct drv_pair p = pair(&log);

	post(&p, 0, IBV_WR_RDMA_READ, 8);
	inject(&p, BTH_RC_READ_RESPONSE_ONLY, 0, ACK_CREDITS + 2, 8);
	success(&p, 0);
	for (unsigned int i = 1; i <= 4; i++)
		post(&p, i, IBV_WR_SEND, 8);
	CHECK_EQ(log->num, 3);
}

/* A request that is sent again needs a credit as before */
TEST(credits_after_going_back)
{
	struct log *log;
	struct drv_pair p = pair(&log);

	post(&p, 0, IBV_WR_RDMA_WRITE, 8);
	ack(&p, 0, ACK_CREDITS + 2);
	for (unsigned int i = 1; i <= 4; i++)
		post(&p, i, IBV_WR_SEND, 8);
	CHECK_EQ(log->num, 3);
	ack(&p, 1, NAK);
	CHECK_EQ(log->num, 5);
	CHECK_EQ(sent_psn(log, 3), 1);
	CHECK_EQ(sent_psn(log, 4), 2);
}

/*
 * Requester and responder together: receive requests are posted in ones and
 * twos
 */
TEST(credits_of_a_slow_receiver)
{
	struct log *log;
	struct drv_pair p =
		pair_with(&log, (struct drv_path){ .min_rnr_timer = 1 });
	struct mynic_cqe cqe;
	unsigned int done = 0;

	log->both = true;
	for (unsigned int i = 0; i < 40; i++)
		post(&p, i, i % 5 ? IBV_WR_SEND : IBV_WR_RDMA_WRITE, 3 * MTU);
	for (unsigned int i = 0; done < 40; i++) {
		CHECK(i < 1000);
		recvs(&p, i < 32 ? 1 : 0);
		sim_run(p.sim, 20 * USEC);
		while (drv_poll(p.a.cq, &cqe)) {
			CHECK_EQ(cqe.wr_id, done++);
			CHECK_EQ(cqe.status, 0);
		}
	}
	/* all is sent once, except for requests without a credit */
	CHECK(log->num < 40 * 3 + 200);
}

/* With enough receive requests, nothing ever waits for an ACK */
TEST(credits_cost_nothing)
{
	struct log *log;
	struct drv_pair p = pair(&log);

	log->both = true;
	recvs(&p, 60);
	post(&p, 0, IBV_WR_SEND, 8);
	success(&p, 0);
	log->both = false;
	for (unsigned int i = 1; i < 48; i++)
		post(&p, i, IBV_WR_SEND, 8);
	CHECK_EQ(log->num, 48);
}

/* More requests than there are PSNs */
TEST(psn_wraps_and_goes_on)
{
	struct drv_pair p = drv_rc_pair(&(struct drv_path){
		.mtu = IBV_MTU_256, .timeout = 20, .sq_psn = 5 });
	struct drv_wr wr = {
		.wr_id = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.remote_addr = p.b.mr->addr,
		.rkey = p.b.mr->key,
	};
	const uint32_t len = DRV_PAIR_MEM;
	const unsigned int num = (1u << 24) / (len / 256) + 100;

	p.sim->direct = true;
	wr.sge[0] = drv_sge(p.a.mr, 0, len);
	for (unsigned int i = 0; i < num; i++) {
		wr.opcode = i % 2 ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ;
		drv_post_send(p.a.qp, &wr);
		drv_expect(p.a.cq, 1, IBV_WC_SUCCESS);
	}
	CHECK_EQ(drv_query_qp(p.a.qp).sq_psn,
		 (5 + num * (len / 256)) & 0xffffff);
	CHECK_EQ(stat_a(&p, MYNIC_STAT_RETRANSMIT), 0);
	CHECK_EQ(stat_a(&p, MYNIC_STAT_GHOST), 0);
	drv_send_recv(&p.a, &p.b, 5000);
}
