// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Rules of the IBTA for requester and responder, seen on the wire */
#include "core/packet/opcode.h"
#include "harness_driver.h"

#define MTU 1024
#define LOG_MAX 4096

/**
 * struct log - packets of the NICs, as the filter saw them
 * @entry: the packets
 * @num: number of packets
 * @drop: decides whether a packet is lost; NULL: none is
 * @arg: argument of @drop
 */
struct log {
	struct entry {
		unsigned int from;
		uint64_t time;
		struct roce_hdr hdr;
		uint32_t payload_len;
	} entry[LOG_MAX];
	unsigned int num;
	bool (*drop)(struct log *log, const struct entry *entry);
	uint64_t arg;
};

static enum sim_verdict record(struct sim *sim, struct sim_nic *from,
			       struct packet *pkt)
{
	struct log *log = sim->filter_arg;
	struct entry entry = { from->index, sim->now, pkt->roce,
			       pkt->payload_len };

	CHECK(log->num < LOG_MAX);
	log->entry[log->num++] = entry;
	return log->drop && log->drop(log, &entry) ? SIM_DROP : SIM_PASS;
}

static struct log *start_log(struct drv_pair *p)
{
	struct log *log = tap_alloc(sizeof(*log));

	p->sim->filter = record;
	p->sim->filter_arg = log;
	return log;
}

static unsigned int count(const struct log *log, unsigned int from,
			  enum opcode_class class)
{
	unsigned int num = 0;

	for (unsigned int i = 0; i < log->num; i++)
		num += log->entry[i].from == from &&
		       opcode_info(log->entry[i].hdr.opcode)->class == class;
	return num;
}

/* Find the @nth packet of a class that a NIC sent */
static const struct entry *find(const struct log *log, unsigned int from,
				enum opcode_class class, unsigned int nth)
{
	for (unsigned int i = 0; i < log->num; i++) {
		const struct entry *entry = &log->entry[i];

		if (entry->from == from &&
		    opcode_info(entry->hdr.opcode)->class == class && !nth--)
			return entry;
	}
	FAIL("there is no such packet");
}

static bool drop_nth_of_b(struct log *log, const struct entry *entry)
{
	return entry->from == 1 && log->arg-- == 0;
}

/* IBTA 9.7.5.1.9, 9.7.6.1.2: data that has arrived is not requested again */
TEST(read_goes_on_where_it_stopped)
{
	struct drv_pair p = drv_rc_pair(&(struct drv_path){ .sq_psn = 100 });
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_READ, 10 * MTU);
	struct log *log = start_log(&p);
	const struct entry *again;

	log->drop = drop_nth_of_b;
	log->arg = 4;
	drv_fill(p.b.mr->ptr, 10 * MTU, 1);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	CHECK_MEM(p.a.mr->ptr, p.b.mr->ptr, 10 * MTU);
	CHECK_EQ(count(log, 0, OPCODE_READ), 2);
	again = find(log, 0, OPCODE_READ, 1);
	CHECK_EQ(again->hdr.psn, 104);
	CHECK_EQ(again->hdr.remote_addr, p.b.mr->addr + 4 * MTU);
	CHECK_EQ(again->hdr.dma_len, 6 * MTU);
	/* a later response revealed the loss, not the timer */
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_TIMEOUT), 0);
	/* the response to the second request is separate */
	CHECK_EQ(count(log, 1, OPCODE_READ_RESPONSE), 16);
	/* it acknowledges the request, so there is no ACK */
	CHECK_EQ(count(log, 1, OPCODE_ACK), 0);
	CHECK_EQ(find(log, 1, OPCODE_READ_RESPONSE, 10)->hdr.opcode,
		 BTH_RC_READ_RESPONSE_FIRST);
	CHECK_EQ(find(log, 1, OPCODE_READ_RESPONSE, 10)->hdr.psn, 104);
}

/* An ACK for a request behind a READ reveals the loss of the response */
TEST(ack_of_a_later_request_is_an_implied_nak)
{
	struct drv_pair p = drv_rc_pair(&(struct drv_path){ .timeout = 20 });
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_READ, 100);
	struct log *log = start_log(&p);

	log->drop = drop_nth_of_b;
	drv_write_wqe(p.a.qp, &wr);
	wr.opcode = IBV_WR_RDMA_WRITE;
	wr.wr_id = 2;
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	drv_expect(p.a.cq, 2, IBV_WC_SUCCESS);
	CHECK_EQ(count(log, 0, OPCODE_READ), 2);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_TIMEOUT), 0);
}

TEST(acks_are_coalesced)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_WRITE, 8);
	struct log *log = start_log(&p);

	for (int i = 0; i < 32; i++)
		drv_write_wqe(p.a.qp, &wr);
	drv_ring(p.a.qp);
	for (int i = 0; i < 32; i++)
		drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	CHECK_EQ(count(log, 0, OPCODE_WRITE), 32);
	CHECK(count(log, 1, OPCODE_ACK) < 8);
	/* the last one is for all; MSN counts messages, and there are no credits */
	CHECK_EQ(find(log, 1, OPCODE_ACK, count(log, 1, OPCODE_ACK) - 1)
			 ->hdr.aeth,
		 0x00000020);
}

static bool drop_all_of_b(struct log *log, const struct entry *entry)
{
	(void)log;
	return entry->from == 1;
}

/* The requester sends only a part of a long message before the first ACK */
TEST(unacknowledged_packets_are_bounded)
{
	struct drv_pair p = drv_rc_pair(
		&(struct drv_path){ .mtu = IBV_MTU_256, .timeout = 20 });
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_WRITE, 500000);
	struct log *log = start_log(&p);
	bool asked = false;

	log->drop = drop_all_of_b;
	drv_post_send(p.a.qp, &wr);
	sim_run(p.sim, MSEC);
	CHECK(log->num < 1000);
	for (unsigned int i = 0; i < log->num; i++)
		asked |= log->entry[i].hdr.ack_req;
	CHECK(asked);
	log->drop = NULL;
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
}

/* Copy a packet of a, to be sent to b by the test */
static struct packet copy_of(struct drv_pair *p, const struct entry *entry)
{
	struct packet pkt = {
		.kind = PACKET_ROCE,
		.vlan = PACKET_NO_VLAN,
		.roce = entry->hdr,
	};

	memcpy(pkt.dmac, nic_mac(p->b.d->n->nic), 6);
	memcpy(pkt.smac, nic_mac(p->a.d->n->nic), 6);
	return pkt;
}

#define LONG_READ 900000
#define LONG_PACKETS ((LONG_READ + 255) / 256)

/*
 * Make a READ whose response has been sent in part, on a direct wire. Return:
 * the request, to be sent again.
 */
static struct packet read_in_part(struct drv_pair *p)
{
	struct drv_wr wr = drv_pair_wr(p, IBV_WR_RDMA_READ, 8);
	struct log *log = start_log(p);
	struct packet again;

	drv_post_send(p->a.qp, &wr);
	drv_expect(p->a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	again = copy_of(p, find(log, 0, OPCODE_READ, 0));
	again.roce.psn++;
	again.roce.dma_len = LONG_READ;
	p->sim->filter = NULL;
	p->sim->direct = true;
	drv_fill(p->b.mr->ptr, LONG_READ, 7);
	p->b.d->n->sent = 0;
	wr = drv_pair_wr(p, IBV_WR_RDMA_READ, LONG_READ);
	drv_post_send(p->a.qp, &wr);
	nic_run(p->a.d->n->nic);
	nic_run(p->b.d->n->nic);
	CHECK(p->b.d->n->sent > 100 && p->b.d->n->sent < LONG_PACKETS);
	return again;
}

static void read_arrives(struct drv_pair *p)
{
	drv_expect(p->a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	CHECK_MEM(p->a.mr->ptr, p->b.mr->ptr, LONG_READ);
	CHECK_EQ(drv_stat(p->a.d, MYNIC_STAT_TIMEOUT), 0);
	drv_send_recv(&p->a, &p->b, 5000);
}

/* A response in progress starts again when the requester asks */
TEST(read_is_requested_again_while_it_is_answered)
{
	struct drv_pair p = drv_rc_pair(
		&(struct drv_path){ .mtu = IBV_MTU_256, .timeout = 20 });
	struct packet again = read_in_part(&p);
	uint64_t sent = p.b.d->n->sent;

	sim_inject(p.b.d->n, &again);
	sim_settle(p.sim);
	CHECK_EQ(p.b.d->n->sent, sent + LONG_PACKETS);
	read_arrives(&p);
}

TEST(read_is_requested_again_in_part)
{
	struct drv_pair p = drv_rc_pair(
		&(struct drv_path){ .mtu = IBV_MTU_256, .timeout = 20 });
	struct packet again = read_in_part(&p);
	uint64_t sent = p.b.d->n->sent;

	again.roce.psn += 100;
	again.roce.remote_addr += 100 * 256;
	again.roce.dma_len -= 100 * 256;
	sim_inject(p.b.d->n, &again);
	sim_settle(p.sim);
	CHECK_EQ(p.b.d->n->sent, sent + LONG_PACKETS - 100);
	read_arrives(&p);
}

/* A response that has not begun is not sent twice */
TEST(read_is_requested_again_before_it_is_answered)
{
	struct drv_pair p = drv_rc_pair(
		&(struct drv_path){ .mtu = IBV_MTU_256, .timeout = 20 });
	struct packet again = read_in_part(&p);
	uint32_t skip = p.b.d->n->sent + 100;

	again.roce.psn += skip;
	again.roce.remote_addr += skip * 256;
	again.roce.dma_len -= skip * 256;
	sim_inject(p.b.d->n, &again);
	sim_settle(p.sim);
	CHECK_EQ(p.b.d->n->sent, LONG_PACKETS);
	read_arrives(&p);
}

/* A duplicate that covers more than the request is not a duplicate */
TEST(read_that_claims_to_be_a_duplicate)
{
	struct drv_pair p = drv_rc_pair(
		&(struct drv_path){ .mtu = IBV_MTU_256, .timeout = 20 });
	struct packet again = read_in_part(&p);

	again.roce.dma_len += 256;
	sim_inject(p.b.d->n, &again);
	again.roce.dma_len = 100;
	again.roce.rkey ^= 1;
	sim_inject(p.b.d->n, &again);
	sim_settle(p.sim);
	CHECK_EQ(p.b.d->n->sent, LONG_PACKETS);
	read_arrives(&p);
}

TEST(key_destroyed_while_a_read_is_answered)
{
	struct drv_pair p = drv_rc_pair(
		&(struct drv_path){ .mtu = IBV_MTU_256, .timeout = 20 });

	read_in_part(&p);
	CHECK_EQ(drv_number_cmd(p.b.d, MYNIC_CMD_DESTROY_MKEY,
				p.b.mr->key >> 8),
		 0);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_REM_ACCESS_ERR);
	drv_expect_event(&p.b.d->event, MYNIC_EVENT_QP_ACCESS_ERROR,
			 p.b.qp->number);
}

static void post_modify(struct drv_qp *qp, const struct mynic_qp_attr *attr)
{
	void *mbox = sim_alloc(qp->d->n, sizeof(*attr), 8);
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_MODIFY_QP,
		.number = qp->number,
		.mbox_addr = sim_iova(qp->d->n, mbox),
		.mbox_len = sizeof(*attr),
	};

	memcpy(mbox, attr, sizeof(*attr));
	drv_admin_post(qp->d, &cmd);
}

/* READs that wait for their response survive a larger limit */
TEST(read_limit_is_raised)
{
	struct drv_pair p = drv_rc_pair(&(struct drv_path){
		.mtu = IBV_MTU_256, .timeout = 20, .max_rd_atomic = 1 });
	struct packet more = read_in_part(&p);
	struct mynic_qp_attr attr = {
		.attr_mask = IBV_QP_STATE,
		.qp_state = IBV_QPS_SQD,
	};
	struct mynic_admin_cpl cpl;

	post_modify(p.b.qp, &attr);
	attr.attr_mask |= IBV_QP_MAX_DEST_RD_ATOMIC;
	attr.max_dest_rd_atomic = 3;
	post_modify(p.b.qp, &attr);
	drv_admin_ring(p.b.d);
	nic_run(p.b.d->n->nic);
	for (int i = 0; i < 2; i++) {
		CHECK(drv_admin_poll(p.b.d, &cpl));
		CHECK_EQ(cpl.status, 0);
	}
	CHECK(p.b.d->n->sent < LONG_PACKETS);
	more.roce.psn += LONG_PACKETS;
	more.roce.dma_len = 8;
	sim_inject(p.b.d->n, &more);
	sim_settle(p.sim);
	CHECK_EQ(p.b.d->n->sent, LONG_PACKETS + 1);
	CHECK_EQ(drv_stat(p.b.d, MYNIC_STAT_TX_NAK_INVALID), 0);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	CHECK_MEM(p.a.mr->ptr, p.b.mr->ptr, LONG_READ);
}

/* A duplicate made by the wire takes a place, without fault of the requester */
TEST(duplicate_read_does_not_exceed_the_limit)
{
	struct drv_pair p = drv_rc_pair(&(struct drv_path){
		.mtu = IBV_MTU_256, .timeout = 20, .max_rd_atomic = 1 });
	struct packet again = read_in_part(&p);

	sim_inject(p.b.d->n, &again);
	again.roce.psn += LONG_PACKETS;
	again.roce.dma_len = 8;
	sim_inject(p.b.d->n, &again);
	sim_settle(p.sim);
	CHECK_EQ(drv_stat(p.b.d, MYNIC_STAT_TX_NAK_INVALID), 0);
	read_arrives(&p);
}

/* A responder refuses more READs than it allows */
TEST(reads_beyond_what_the_responder_allows)
{
	struct drv_pair p =
		drv_rc_pair(&(struct drv_path){ .max_rd_atomic = 2 });
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_READ, 100);
	struct log *log = start_log(&p);
	struct packet pkt;

	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	pkt = copy_of(&p, find(log, 0, OPCODE_READ, 0));
	for (int i = 0; i < 3; i++) {
		pkt.roce.psn++;
		sim_inject(p.b.d->n, &pkt);
	}
	sim_run(p.sim, MSEC);
	CHECK_EQ(drv_stat(p.b.d, MYNIC_STAT_TX_NAK_INVALID), 1);
	/* those before are answered first */
	CHECK_EQ(count(log, 1, OPCODE_READ_RESPONSE), 3);
	CHECK_EQ(find(log, 1, OPCODE_ACK, 0)->hdr.aeth >> 24, 0x61);
	CHECK_EQ(find(log, 1, OPCODE_ACK, 0)->hdr.psn, pkt.roce.psn);
	drv_expect_event(&p.b.d->event, MYNIC_EVENT_QP_REQ_ERROR,
			 p.b.qp->number);
}

/* IBTA 9.7.5.2.8: the RNR NAK timer field, in us */
TEST(rnr_timer_values)
{
	static const uint32_t times[32] = {
		655360, 10,    20,    30,     40,     60,     80,     120,
		160,	240,   320,   480,    640,    960,    1280,   1920,
		2560,	3840,  5120,  7680,   10240,  15360,  20480,  30720,
		40960,	61440, 81920, 122880, 163840, 245760, 327680, 491520,
	};

	for (unsigned int i = 0; i < 32; i++) {
		struct drv_pair p = drv_rc_pair(&(struct drv_path){
			.min_rnr_timer = 1, .timeout = 31 });
		struct mynic_qp_attr attr = {
			.attr_mask = IBV_QP_MIN_RNR_TIMER,
			.min_rnr_timer = i,
		};
		struct drv_wr wr = drv_pair_wr(&p, IBV_WR_SEND, 8);
		struct log *log = start_log(&p);
		uint64_t waited;

		CHECK_EQ(drv_modify_qp(p.b.qp, &attr), 0);
		drv_post_send(p.a.qp, &wr);
		SIM_WAIT_FOR(p.sim, count(log, 0, OPCODE_SEND) == 2, SEC);
		CHECK_EQ(find(log, 1, OPCODE_ACK, 0)->hdr.aeth >> 24, 0x20 | i);
		waited = find(log, 0, OPCODE_SEND, 1)->time -
			 find(log, 1, OPCODE_ACK, 0)->time;
		CHECK(waited >= times[i] * USEC);
		CHECK(waited <= 2 * times[i] * USEC);
	}
}

/* IBTA 9.7.6.1.3: at least the time that was set, at most four times that */
TEST(ack_timeout_values)
{
	for (unsigned int i = 1; i < 32; i++) {
		struct drv_pair p = drv_rc_pair(
			&(struct drv_path){ .timeout = i, .retry_cnt = 1 });
		struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_WRITE, 8);
		struct log *log = start_log(&p);
		uint64_t waited;

		log->drop = drop_all_of_b;
		drv_post_send(p.a.qp, &wr);
		SIM_WAIT_FOR(p.sim, log->num >= 3, 1ull << 48);
		waited = find(log, 0, OPCODE_WRITE, 1)->time -
			 find(log, 0, OPCODE_WRITE, 0)->time;
		CHECK(waited >= 4096ull << i);
		CHECK(waited <= 4 * (4096ull << i));
	}
}

static bool drop_most(struct log *log, const struct entry *entry)
{
	return entry->from == 0 && log->arg++ % 4 != 3;
}

/* Progress resets the retry counter, which is not for the life of the QP */
TEST(retry_counter_is_filled_again)
{
	struct drv_pair p =
		drv_rc_pair(&(struct drv_path){ .timeout = 5, .retry_cnt = 3 });
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_WRITE, 8);
	struct log *log = start_log(&p);

	log->drop = drop_most;
	for (int i = 0; i < 10; i++) {
		drv_post_send(p.a.qp, &wr);
		drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	}
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_TIMEOUT), 30);
}

TEST(sqd_finishes_what_has_begun)
{
	struct drv_pair p = drv_rc_pair(
		&(struct drv_path){ .mtu = IBV_MTU_256, .timeout = 8 });
	struct mynic_qp_attr attr = {
		.attr_mask = IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY,
		.qp_state = IBV_QPS_SQD,
		.sq_drained_event = 1,
	};
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_WRITE, 400000);
	struct mynic_eqe eqe;

	p.sim->drop = 20;
	drv_fill(p.a.mr->ptr, 400000, 3);
	drv_write_wqe(p.a.qp, &wr);
	wr.wr_id = 2;
	drv_post_send(p.a.qp, &wr);
	nic_run(p.a.d->n->nic);
	CHECK_EQ(drv_modify_qp(p.a.qp, &attr), 0);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	CHECK_MEM(p.b.mr->ptr, p.a.mr->ptr, 400000);
	drv_expect_event(&p.a.d->event, MYNIC_EVENT_SQ_DRAINED, p.a.qp->number);
	CHECK_EQ(drv_query_qp(p.a.qp).sq_drained_event, 0);
	drv_expect_none(p.a.cq, SEC);
	CHECK(!drv_eq_poll(&p.a.d->event, &eqe));
	CHECK_EQ(drv_set_state(p.a.qp, IBV_QPS_RTS), 0);
	drv_expect(p.a.cq, 2, IBV_WC_SUCCESS);
}

/* Function that the QP is not set up for: invalid request, class C */
TEST(access_that_the_qp_does_not_allow)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_READ,
		IBV_WR_ATOMIC_FETCH_AND_ADD,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(opcodes); i++) {
		struct drv_pair p =
			drv_rc_pair(&(struct drv_path){ .no_access = true });
		struct drv_wr wr = drv_pair_wr(&p, opcodes[i], 8);

		drv_post_send(p.a.qp, &wr);
		drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_REM_INV_REQ_ERR);
		drv_expect_event(&p.b.d->event, MYNIC_EVENT_QP_REQ_ERROR,
				 p.b.qp->number);
		CHECK_EQ(drv_query_qp(p.b.qp).qp_state, IBV_QPS_ERR);
	}
}

/* Packets of a flow have the same port, and not all flows have the same */
TEST(udp_source_port)
{
	uint16_t ports[8];
	unsigned int same = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(ports); i++) {
		struct drv_qp_init init = { .type = MYNIC_QP_RC };
		struct drv_pair p = drv_pair_unconnected(&init);
		struct log *log;

		init.pdn = p.a.pdn;
		init.send_cq = p.a.cq;
		init.recv_cq = p.a.cq;
		for (unsigned int j = 0; j < i; j++)
			p.a.qp = drv_create_qp(p.a.d, &init);
		drv_connect(p.a.qp, p.b.qp, &(struct drv_path){ 0 });
		log = start_log(&p);
		drv_send_recv(&p.a, &p.b, 5000);
		ports[i] = log->entry[0].hdr.udp_sport;
		CHECK(ports[i] >= 0xc000);
		for (unsigned int j = 0; j < log->num; j++)
			if (log->entry[j].from == 0)
				CHECK_EQ(log->entry[j].hdr.udp_sport, ports[i]);
		for (unsigned int j = 0; j < i; j++)
			same += ports[j] == ports[i];
	}
	CHECK(same < 3);
}

/* A delayed or forged ACK changes nothing */
TEST(ghost_acks)
{
	struct drv_pair p = drv_rc_pair(&(struct drv_path){ .timeout = 20 });
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_WRITE, 8);
	struct log *log = start_log(&p);
	struct packet ack = { .kind = PACKET_ROCE, .vlan = PACKET_NO_VLAN };
	static const int32_t psns[] = { -1, -2, -0x800000, 2, 3, 0x7fffff };
	static const uint8_t syndromes[] = {
		0x1f, 0x60, 0x61, 0x62, 0x63, 0x21
	};

	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	ack.roce = find(log, 1, OPCODE_ACK, 0)->hdr;
	memcpy(ack.dmac, nic_mac(p.a.d->n->nic), 6);
	log->drop = drop_all_of_b;
	drv_post_send(p.a.qp, &wr);
	sim_settle(p.sim);
	for (unsigned int i = 0; i < ARRAY_SIZE(psns); i++) {
		for (unsigned int j = 0; j < ARRAY_SIZE(syndromes); j++) {
			struct packet ghost = ack;

			/* 0 was acknowledged, 1 is outstanding */
			ghost.roce.psn = (ack.roce.psn + psns[i]) & 0xffffff;
			ghost.roce.aeth = (uint32_t)syndromes[j] << 24;
			sim_inject(p.a.d->n, &ghost);
			drv_expect_none(p.a.cq, 0);
		}
	}
	log->drop = NULL;
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	CHECK_EQ(drv_query_qp(p.a.qp).qp_state, IBV_QPS_RTS);
}

/* 2^31 bytes at an MTU of 256 take as many PSNs as can be told apart */
static void huge(enum ibv_wr_opcode opcode)
{
	struct drv_pair p = drv_rc_pair(&(struct drv_path){
		.mtu = IBV_MTU_256, .timeout = 14, .sq_psn = 0xfffff0 });
	struct drv_wr wr = drv_pair_wr(&p, opcode, 0);
	struct drv_end *ends[] = { &p.a, &p.b };
	uint32_t keys[2];

	for (unsigned int i = 0; i < 2; i++) {
		uint64_t page[16];
		struct mynic_create_mkey body = {
			.length = 1ull << 31,
			.pdn = ends[i]->pdn,
			.access = ACCESS_ALL,
		};
		/* all of it is the same 128 MiB */
		uint8_t *mem = sim_alloc(ends[i]->d->n, 128 << 20, 128 << 20);

		for (unsigned int j = 0; j < ARRAY_SIZE(page); j++)
			page[j] = sim_iova(ends[i]->d->n, mem);
		body.buf = drv_page_list(ends[i]->d, page, ARRAY_SIZE(page), 27,
					 1);
		CHECK_EQ(drv_create_mkey(ends[i]->d, &body, 0, &keys[i]), 0);
	}
	p.sim->direct = true;
	wr.sge[0] = (struct mynic_sge){ .length = 1u << 31, .lkey = keys[0] };
	wr.remote_addr = 0;
	wr.rkey = keys[1];
	drv_write_wqe(p.a.qp, &wr);
	wr.wr_id = 2;
	wr.sge[0].length = 100;
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	drv_expect(p.a.cq, 2, IBV_WC_SUCCESS);
	CHECK_EQ(drv_query_qp(p.a.qp).sq_psn, (0xfffff0 + 0x800001) & 0xffffff);
}

TEST(read_of_half_the_psn_space)
{
	huge(IBV_WR_RDMA_READ);
}

TEST(write_of_half_the_psn_space)
{
	huge(IBV_WR_RDMA_WRITE);
}

/* A region whose second page is taken away */
static struct drv_mr half_a_region(struct drv_end *e)
{
	struct sim_nic *n = e->d->n;
	uint64_t second = n->iova + SIM_MEM_SIZE / 2;
	uint64_t page[2] = { sim_iova(n, sim_alloc(n, 4096, 4096)), second };
	struct drv_mr mr = { .addr = 0x10000, .len = 8192 };
	struct mynic_create_mkey body = {
		.buf = drv_page_list(e->d, page, 2, 12, 1),
		.iova = mr.addr,
		.length = mr.len,
		.pdn = e->pdn,
		.access = ACCESS_ALL,
	};

	CHECK_EQ(drv_create_mkey(e->d, &body, 0, &mr.key), 0);
	CHECK_EQ(nic_dma_unmap(n->nic, second, SIM_MEM_SIZE / 2), 0);
	return mr;
}

TEST(remote_memory_that_is_not_there)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_READ,
		IBV_WR_ATOMIC_FETCH_AND_ADD,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(opcodes); i++) {
		struct drv_pair p =
			drv_rc_pair(&(struct drv_path){ .mtu = IBV_MTU_1024 });
		struct drv_mr mr = half_a_region(&p.b);
		struct drv_wr wr = drv_pair_wr(&p, opcodes[i], 4096);

		if (opcodes[i] == IBV_WR_ATOMIC_FETCH_AND_ADD)
			wr.sge[0].length = 8;
		wr.rkey = mr.key;
		wr.remote_addr = mr.addr;
		drv_post_send(p.a.qp, &wr);
		drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
		wr.remote_addr += 4096;
		drv_post_send(p.a.qp, &wr);
		CHECK_EQ(drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_REM_OP_ERR)
				 .vendor_err,
			 MYNIC_SYN_REMOTE_OP);
		drv_expect_event(&p.b.d->event, MYNIC_EVENT_QP_FATAL,
				 p.b.qp->number);
		CHECK(drv_stat(p.b.d, MYNIC_STAT_BAD_DMA) > 0);
	}
}

TEST(local_memory_that_is_not_there)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_READ,
		IBV_WR_SEND,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(opcodes); i++) {
		struct drv_pair p = drv_rc_pair(NULL);
		struct drv_mr mr = half_a_region(&p.a);
		struct drv_wr wr = drv_pair_wr(&p, opcodes[i], 8192);

		wr.sge[0].addr = mr.addr;
		wr.sge[0].lkey = mr.key;
		drv_post_recv(p.b.qp, 3, &wr.sge[0], 0);
		drv_post_send(p.a.qp, &wr);
		CHECK_EQ(drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_LOC_PROT_ERR)
				 .vendor_err,
			 MYNIC_SYN_DMA);
	}
}

TEST(source_gid_that_is_gone)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_WRITE, 8);

	for (unsigned int i = 0; i < 2; i++) {
		struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_SET_GID,
					       .number = i };

		CHECK_EQ(drv_admin(p.a.d, &cmd, NULL), 0);
	}
	drv_post_send(p.a.qp, &wr);
	CHECK_EQ(drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_LOC_QP_OP_ERR).vendor_err,
		 MYNIC_SYN_BAD_GID);
}

TEST(reads_where_none_are_allowed)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_READ, 8);
	struct mynic_qp_attr attr = {
		.attr_mask = IBV_QP_STATE | IBV_QP_MAX_QP_RD_ATOMIC,
		.qp_state = IBV_QPS_SQD,
	};

	CHECK_EQ(drv_set_state(p.a.qp, IBV_QPS_SQD), 0);
	CHECK_EQ(drv_modify_qp(p.a.qp, &attr), 0);
	CHECK_EQ(drv_set_state(p.a.qp, IBV_QPS_RTS), 0);
	drv_post_send(p.a.qp, &wr);
	CHECK_EQ(drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_LOC_QP_OP_ERR).vendor_err,
		 MYNIC_SYN_BAD_OPCODE);
}

/* A receive request that is posted just in time, before the RNR NAK is sent */
TEST(rnr_that_is_over_before_it_is_told)
{
	struct drv_pair p = drv_rc_pair(&(struct drv_path){ .timeout = 20 });
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_SEND, 0);
	struct log *log = start_log(&p);
	struct packet again;

	wr.num_sge = 0;
	drv_post_recv(p.b.qp, 1, NULL, 0);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	again = copy_of(&p, find(log, 0, OPCODE_SEND, 0));
	again.roce.psn++;
	p.sim->filter = NULL;
	p.sim->direct = true;
	drv_post_send(p.a.qp, &wr);
	nic_run(p.a.d->n->nic);
	drv_post_recv(p.b.qp, 2, NULL, 0);
	sim_inject(p.b.d->n, &again);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	CHECK_EQ(drv_stat(p.b.d, MYNIC_STAT_TX_NAK_RNR), 0);
}

TEST(ud_limit_follows_the_port)
{
	static const struct {
		uint32_t mtu, max;
	} table[] = {
		{ 300, 256 },	{ 607, 256 },	{ 608, 512 },
		{ 1119, 512 },	{ 1120, 1024 }, { 1500, 1024 },
		{ 4191, 2048 }, { 4192, 4096 }, { 9216, 4096 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		struct drv_pair p = drv_ud_pair();
		struct drv_wr wr = drv_pair_wr(&p, IBV_WR_SEND, table[i].max);
		struct mynic_admin_cmd cmd = {
			.opcode = MYNIC_CMD_MODIFY_PORT,
			.modify_port = { .up = 1, .mtu = table[i].mtu },
		};

		memcpy(cmd.modify_port.mac, nic_mac(p.a.d->n->nic), 6);
		CHECK_EQ(drv_admin(p.a.d, &cmd, NULL), 0);
		wr.av = drv_av(p.a.d, 1, DRV_GID_IPV6);
		wr.remote_qpn = p.b.qp->number;
		drv_post_send(p.a.qp, &wr);
		drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
		wr.sge[0].length++;
		drv_post_send(p.a.qp, &wr);
		CHECK_EQ(drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_LOC_LEN_ERR)
				 .vendor_err,
			 MYNIC_SYN_BAD_LEN);
	}
}
