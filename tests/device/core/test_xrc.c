// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Extended reliable connections: objects, requests between two NICs, and rules
 * of Documentation/transport-rules.rst. Tests of rules have the names of the
 * rules.
 */
#include "harness_mock_peer.h"

#define MTU MOCK_MTU
#define FLAGS_ALL                                           \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
	 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

/* An SRQ with its own protection domain, memory and CQ */
struct place {
	uint32_t pdn;
	struct drv_cq *cq;
	struct drv_srq *srq;
	struct drv_mr *mr;
};

/* A connection from NIC 0 to NIC 1, with two SRQs in the domain there */
struct xrc {
	struct drv_pair p;
	uint32_t xrcdn;
	struct place at[2];
};

static struct place make_place(struct drv *d, uint32_t xrcdn)
{
	struct place at = { .pdn = drv_alloc_pd(d) };

	at.cq = drv_create_cq(d, 6);
	at.srq = drv_create_xrc_srq(d, at.pdn, xrcdn, at.cq, 5);
	at.mr = drv_reg_mr(d, at.pdn, 1 << 16, FLAGS_ALL);
	return at;
}

static struct xrc make_xrc(const struct drv_path *path)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_XRC_INI };
	struct xrc x = { .p = drv_pair_unconnected(&init) };

	x.xrcdn = drv_alloc_xrcd(x.p.b.d);
	x.at[0] = make_place(x.p.b.d, x.xrcdn);
	x.at[1] = make_place(x.p.b.d, x.xrcdn);
	x.p.b.qp = drv_create_target(x.p.b.d, x.xrcdn);
	x.p.b.mr = x.at[0].mr;
	drv_connect(x.p.a.qp, x.p.b.qp, path);
	return x;
}

static void post_recv(struct place *at, uint64_t wr_id, uint32_t len)
{
	struct mynic_sge sge = drv_sge(at->mr, 0, len);

	drv_post_srq_recv(at->srq, wr_id, &sge, 1);
}

static struct drv_wr make_wr(struct xrc *x, struct place *at,
			     enum ibv_wr_opcode opcode, uint32_t len)
{
	return (struct drv_wr){
		.wr_id = DRV_WR_ID,
		.opcode = opcode,
		.flags = IBV_SEND_SIGNALED,
		.imm = 0x12345678,
		.num_sge = 1,
		.sge = { drv_sge(x->p.a.mr, 0, len) },
		.remote_addr = at->mr->addr,
		.rkey = at->mr->key,
		.compare_add = 5,
		.swap = 9,
		.remote_srqn = at->srq->number,
	};
}

static void post(struct xrc *x, struct place *at, enum ibv_wr_opcode opcode,
		 uint32_t len, enum ibv_wc_status status)
{
	struct drv_wr wr = make_wr(x, at, opcode, len);

	drv_post_send(x->p.a.qp, &wr);
	drv_expect(x->p.a.cq, DRV_WR_ID, status);
}

static void check_received(struct xrc *x, struct place *at, uint64_t wr_id,
			   enum ibv_wc_opcode opcode, bool imm, uint32_t len)
{
	struct mynic_cqe cqe = drv_expect(at->cq, wr_id, IBV_WC_SUCCESS);

	CHECK_EQ(cqe.qp_num, x->p.b.qp->number);
	CHECK_EQ(cqe.opcode, opcode);
	CHECK_EQ(cqe.byte_len, len);
	CHECK_EQ(cqe.wc_flags, imm ? IBV_WC_WITH_IMM : 0);
	CHECK_EQ(cqe.imm_data, imm ? 0x12345678 : 0);
}

static void do_all(struct xrc *x, struct place *at, uint32_t len)
{
	struct drv_mr *local = x->p.a.mr;
	uint64_t *counter = (uint64_t *)at->mr->ptr;

	drv_fill(local->ptr, len, len);
	for (unsigned int imm = 0; imm < 2; imm++) {
		memset(at->mr->ptr, 0, len);
		post_recv(at, 1, 8192);
		post(x, at, imm ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND, len, 0);
		check_received(x, at, 1, IBV_WC_RECV, imm, len);
		CHECK_MEM(at->mr->ptr, local->ptr, len);
	}
	memset(at->mr->ptr, 0, len);
	post(x, at, IBV_WR_RDMA_WRITE, len, 0);
	CHECK_MEM(at->mr->ptr, local->ptr, len);
	memset(at->mr->ptr, 0, len);
	post_recv(at, 2, 0);
	post(x, at, IBV_WR_RDMA_WRITE_WITH_IMM, len, 0);
	check_received(x, at, 2, IBV_WC_RECV_RDMA_WITH_IMM, true, len);
	CHECK_MEM(at->mr->ptr, local->ptr, len);
	drv_fill(at->mr->ptr, len, 1);
	post(x, at, IBV_WR_RDMA_READ, len, 0);
	CHECK_MEM(local->ptr, at->mr->ptr, len);
	*counter = 5;
	post(x, at, IBV_WR_ATOMIC_CMP_AND_SWP, 8, 0);
	CHECK_EQ(*counter, 9);
	CHECK_EQ(*(uint64_t *)local->ptr, 5);
	post(x, at, IBV_WR_ATOMIC_FETCH_AND_ADD, 8, 0);
	CHECK_EQ(*counter, 14);
	CHECK_EQ(*(uint64_t *)local->ptr, 9);
	drv_expect_none(at->cq, 0);
}

TEST(xrc_all_operations)
{
	struct xrc x = make_xrc(&(struct drv_path){ 0 });

	for (unsigned int frames = 0; frames < 2; frames++) {
		x.p.sim->frames = frames;
		do_all(&x, &x.at[0], 100);
		do_all(&x, &x.at[1], 5000);
	}
	CHECK_EQ(drv_query_qp(x.p.b.qp).qp_state, IBV_QPS_RTS);
}

/* Requests of a queue alternate between SRQs, and none waits */
TEST(xrc_alternates)
{
	struct xrc x = make_xrc(&(struct drv_path){ 0 });

	for (uint64_t i = 0; i < 20; i++)
		post_recv(&x.at[i & 1], i, 4096);
	for (uint64_t i = 0; i < 20; i++) {
		struct drv_wr wr =
			make_wr(&x, &x.at[i & 1], IBV_WR_SEND, 100 * i);

		drv_write_wqe(x.p.a.qp, &wr);
	}
	drv_ring(x.p.a.qp);
	for (uint64_t i = 0; i < 20; i++) {
		drv_expect(x.p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
		check_received(&x, &x.at[i & 1], i, IBV_WC_RECV, false,
			       100 * i);
	}
}

TEST(xrc_loss)
{
	struct xrc x = make_xrc(&(struct drv_path){ 0 });

	x.p.sim->drop = 100;
	x.p.sim->frames = true;
	for (unsigned int i = 0; i < 20; i++)
		do_all(&x, &x.at[i & 1], 1 + 400 * i);
	CHECK(drv_stat(x.p.a.d, MYNIC_STAT_RETRANSMIT) > 0);
}

/* An empty SRQ makes the sender wait, even if the other one has requests */
TEST(xrc_rnr)
{
	struct xrc x = make_xrc(&(struct drv_path){ 0 });
	struct drv_wr wr = make_wr(&x, &x.at[0], IBV_WR_SEND, 100);

	post_recv(&x.at[1], 1, 4096);
	drv_post_send(x.p.a.qp, &wr);
	drv_expect_none(x.p.a.cq, 100 * MSEC);
	CHECK(drv_stat(x.p.b.d, MYNIC_STAT_TX_NAK_RNR) > 0);
	post_recv(&x.at[0], 2, 4096);
	drv_expect(x.p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	check_received(&x, &x.at[0], 2, IBV_WC_RECV, false, 100);
	drv_expect_none(x.at[1].cq, 0);
}

/* Flags and opcodes that RC refuses fail, and the rest is flushed */
TEST(xrc_bad_send)
{
	struct xrc x = make_xrc(&(struct drv_path){ 0 });
	struct drv_wr wr = make_wr(&x, &x.at[0], IBV_WR_TSO, 8);

	drv_post_send(x.p.a.qp, &wr);
	CHECK_EQ(
		drv_expect(x.p.a.cq, DRV_WR_ID, IBV_WC_LOC_QP_OP_ERR).vendor_err,
		MYNIC_SYN_BAD_OPCODE);
	CHECK_EQ(drv_query_qp(x.p.a.qp).qp_state, IBV_QPS_ERR);
	post(&x, &x.at[0], IBV_WR_SEND, 8, IBV_WC_WR_FLUSH_ERR);
	CHECK_EQ(drv_query_qp(x.p.b.qp).qp_state, IBV_QPS_RTS);
}

/* Keys belong to the protection domain of the SRQ that is named */
TEST(xrc_protection_domain)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_READ,
		IBV_WR_ATOMIC_FETCH_AND_ADD,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(opcodes); i++) {
		struct xrc x = make_xrc(&(struct drv_path){ 0 });
		struct drv_wr wr = make_wr(&x, &x.at[0], opcodes[i], 8);

		drv_fill(x.at[0].mr->ptr, 8, 1);
		drv_post_send(x.p.a.qp, &wr);
		drv_expect(x.p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
		wr.remote_srqn = x.at[1].srq->number;
		drv_fill(x.at[0].mr->ptr, 8, 2);
		drv_fill(x.p.a.mr->ptr, 8, 3);
		drv_post_send(x.p.a.qp, &wr);
		drv_expect(x.p.a.cq, DRV_WR_ID, IBV_WC_REM_ACCESS_ERR);
		drv_expect_event(&x.p.b.d->event, MYNIC_EVENT_QP_ACCESS_ERROR,
				 x.p.b.qp->number);
		CHECK_EQ(drv_query_qp(x.p.b.qp).qp_state, IBV_QPS_ERR);
		sim_free(x.p.sim);
	}
}

/* The rules, with a mock peer */

struct strings {
	struct xrc x;
	struct mock_peer *p;
};

static struct strings pull(void)
{
	static const struct drv_path path = {
		.mtu = IBV_MTU_256,
		.traffic_class = 2, /* ECT */
		.sq_psn = MOCK_PSN,
	};
	struct strings s = { .x = make_xrc(&path) };

	s.p = mock_new(&s.x.p);
	s.p->srqn = s.x.at[0].srq->number;
	return s;
}

static void hears_ack(struct mock_peer *p, uint8_t syndrome, int32_t psn)
{
	const struct answer *answer = mock_expect(p, BTH_XRC_ACK, psn);

	CHECK_EQ(answer->hdr.aeth >> 24, syndrome);
}

static void check_invalid(struct mock_peer *p, int32_t psn)
{
	hears_ack(p, AETH_NAK_INVALID, psn);
	mock_expect_nothing(p);
	drv_expect_event(&p->b.d->event, MYNIC_EVENT_QP_REQ_ERROR,
			 p->b.qp->number);
	CHECK_EQ(mock_state(p), IBV_QPS_ERR);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_TX_NAK_INVALID), 1);
}

static void check_dropped(struct mock_peer *p, uint64_t num)
{
	mock_expect_nothing(p);
	mock_no_event(p);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_RX_DROP_QP), num);
	CHECK_EQ(mock_state(p), IBV_QPS_RTS);
}

TEST(xrc_srq_named)
{
	enum { NONE, BASIC, OTHER_DOMAIN, HUGE_NUMBER, CASES };

	for (int i = 0; i < CASES; i++) {
		struct strings s = pull();
		struct drv *d = s.x.p.b.d;
		struct place other = make_place(d, drv_alloc_xrcd(d));
		struct drv_srq *basic = drv_create_srq(d, other.pdn, 4);
		const uint32_t numbers[] = {
			[NONE] = 0,
			[BASIC] = basic->number,
			[OTHER_DOMAIN] = other.srq->number,
			[HUGE_NUMBER] = 0xffffff,
		};

		post_recv(&other, 1, 4096);
		post_recv(&s.x.at[0], 1, 4096);
		s.p->srqn = numbers[i];
		mock_send_opcode(s.p, BTH_XRC_SEND_ONLY, 0, 10);
		check_invalid(s.p, 0);
		drv_expect_none(other.cq, 0);
		drv_expect_none(s.x.at[0].cq, 0);
		sim_free(s.x.p.sim);
	}
}

/* The SRQ is checked in all requests, before keys */
TEST(xrc_srq_named_in_all)
{
	static const uint8_t opcodes[] = {
		BTH_XRC_WRITE_ONLY,
		BTH_XRC_READ_REQUEST,
		BTH_XRC_CMP_SWAP,
		BTH_XRC_FETCH_ADD,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(opcodes); i++) {
		struct strings s = pull();

		s.p->srqn = 0x123456;
		mock_send_opcode(s.p, opcodes[i], 0, 8);
		check_invalid(s.p, 0);
		sim_free(s.x.p.sim);
	}
}

TEST(xrc_one_srq_in_a_message)
{
	struct strings s = pull();
	struct mynic_cqe cqe;

	post_recv(&s.x.at[0], 1, 4096);
	post_recv(&s.x.at[1], 2, 4096);
	mock_send_opcode(s.p, BTH_XRC_SEND_FIRST, 0, MTU);
	hears_ack(s.p, 31, 0);
	s.p->srqn = s.x.at[1].srq->number;
	mock_send_opcode(s.p, BTH_XRC_SEND_LAST, 1, 10);
	cqe = drv_expect(s.x.at[0].cq, 1, IBV_WC_LOC_QP_OP_ERR);
	CHECK_EQ(cqe.vendor_err, MYNIC_SYN_RQ_INVALID);
	check_invalid(s.p, 1);
	drv_expect_none(s.x.at[1].cq, 0);
}

/* Each half of a connection has its own opcodes, and RC is another service */
TEST(xrc_roles)
{
	struct strings s = pull();
	struct mock_peer *p = s.p;

	for (unsigned int opcode = BTH_XRC_READ_RESPONSE_FIRST;
	     opcode <= BTH_XRC_ATOMIC_ACK; opcode++)
		mock_send_opcode(p, opcode, 0, 0);
	mock_send_opcode(p, BTH_RC_SEND_ONLY, 0, 10);
	mock_send_opcode(p, BTH_RC_READ_REQUEST, 0, 10);
	mock_send_opcode(p, BTH_RC_ACK, 0, 0);
	check_dropped(p, 9);

	/* the same for the sending half */
	p->b.qp = drv_create_qp(p->b.d, &(struct drv_qp_init){
						.type = MYNIC_QP_XRC_INI,
						.pdn = s.x.at[0].pdn,
						.send_cq = s.x.at[0].cq,
						.recv_cq = s.x.at[0].cq,
					});
	drv_connect_to(p->b.qp, 0, p->a.qp->number,
		       &(struct drv_path){ .rq_psn = MOCK_PSN }, IBV_QPS_RTS);
	for (unsigned int opcode = BTH_XRC_SEND_FIRST;
	     opcode <= BTH_XRC_READ_REQUEST; opcode++)
		mock_send_opcode(p, opcode, 0, 0);
	mock_send_opcode(p, BTH_XRC_FETCH_ADD, 0, 0);
	mock_send_opcode(p, 0xbf, 0, 0);
	check_dropped(p, 9 + 15);
}

TEST(xrc_reserved_opcode)
{
	static const uint8_t opcodes[] = { 0xb5, 0xb8, 0xbf };

	for (unsigned int i = 0; i < ARRAY_SIZE(opcodes); i++) {
		struct strings s = pull();

		mock_send_opcode(s.p, opcodes[i], 0, 0);
		check_invalid(s.p, 0);
		sim_free(s.x.p.sim);
	}
}

/* As with other SRQs, entries are not promised, so the credits are 31 */
TEST(xrc_responses)
{
	struct strings s = pull();
	const struct answer *answer;

	post_recv(&s.x.at[0], 1, 4096);
	mock_send_opcode(s.p, BTH_XRC_SEND_ONLY, 0, 10);
	hears_ack(s.p, 31, 0);
	drv_fill(s.x.at[0].mr->ptr, 1024, 1);
	mock_send_opcode(s.p, BTH_XRC_READ_REQUEST, 1, 2 * MTU + 5);
	mock_expect(s.p, BTH_XRC_READ_RESPONSE_FIRST, 1);
	mock_expect(s.p, BTH_XRC_READ_RESPONSE_MIDDLE, 2);
	answer = mock_expect(s.p, BTH_XRC_READ_RESPONSE_LAST, 3);
	CHECK_MEM(answer->payload, s.x.at[0].mr->ptr + 2 * MTU, 5);
	mock_send_opcode(s.p, BTH_XRC_FETCH_ADD, 4, 0);
	mock_expect(s.p, BTH_XRC_ATOMIC_ACK, 4);
	mock_expect_nothing(s.p);
}

/* A duplicate READ uses the domain of its SRQ. Other duplicates need no SRQ */
TEST(xrc_duplicates)
{
	struct strings s = pull();

	mock_send_opcode(s.p, BTH_XRC_READ_REQUEST, 0, 8);
	mock_expect(s.p, BTH_XRC_READ_RESPONSE_ONLY, 0);
	mock_send_opcode(s.p, BTH_XRC_READ_REQUEST, 0, 8);
	mock_expect(s.p, BTH_XRC_READ_RESPONSE_ONLY, 0);
	mock_send_opcode(s.p, BTH_XRC_FETCH_ADD, 1, 0);
	mock_expect(s.p, BTH_XRC_ATOMIC_ACK, 1);
	s.p->srqn = s.x.at[1].srq->number;
	mock_send_opcode(s.p, BTH_XRC_READ_REQUEST, 0, 8);
	s.p->srqn = 0x123456;
	mock_send_opcode(s.p, BTH_XRC_READ_REQUEST, 0, 8);
	mock_expect_nothing(s.p);
	mock_send_opcode(s.p, BTH_XRC_FETCH_ADD, 1, 0);
	mock_expect(s.p, BTH_XRC_ATOMIC_ACK, 1);
	mock_expect_nothing(s.p);
	CHECK_EQ(mock_state(s.p), IBV_QPS_RTS);
}

/* Objects and their lifetime */

static uint8_t destroy_srq(struct drv_srq *srq)
{
	return drv_number_cmd(srq->d, MYNIC_CMD_DESTROY_SRQ, srq->number);
}

TEST(xrc_srq_gone_in_a_message)
{
	struct strings s = pull();

	post_recv(&s.x.at[0], 1, 4096);
	mock_send_opcode(s.p, BTH_XRC_SEND_FIRST, 0, MTU);
	hears_ack(s.p, 31, 0);
	CHECK_EQ(destroy_srq(s.x.at[0].srq), MYNIC_AQ_OK);
	CHECK_EQ(drv_number_cmd(s.x.p.b.d, MYNIC_CMD_DESTROY_CQ,
				s.x.at[0].cq->number),
		 MYNIC_AQ_OK);
	mock_send_opcode(s.p, BTH_XRC_SEND_LAST, 1, 10);
	check_invalid(s.p, 1);
	drv_expect_event(&s.x.p.b.d->event, MYNIC_EVENT_LAST_WQE,
			 s.p->b.qp->number);
}

/* An SRQ is destroyed while a READ is being answered slowly */
TEST(xrc_srq_gone_in_a_read)
{
	struct strings s = pull();
	struct packet cnp = mock_packet(s.p, BTH_CNP, 0, 16);
	const struct answer *last;

	cnp.roce.becn = true;
	mock_send(s.p, &cnp);
	mock_send_opcode(s.p, BTH_XRC_READ_REQUEST, 0, 60 * MTU);
	CHECK(s.p->num < 60);
	CHECK_EQ(destroy_srq(s.x.at[0].srq), MYNIC_AQ_OK);
	sim_run(s.x.p.sim, SEC);
	CHECK(s.p->num < 60);
	last = &s.p->answers[s.p->num - 1];
	CHECK_EQ(last->hdr.opcode, BTH_XRC_ACK);
	CHECK_EQ(last->hdr.aeth >> 24, AETH_NAK_ACCESS);
	CHECK_EQ(last->hdr.psn, MOCK_PSN + s.p->num - 1);
	drv_expect_event(&s.x.p.b.d->event, MYNIC_EVENT_QP_ACCESS_ERROR,
			 s.p->b.qp->number);
}

TEST(xrc_error_state)
{
	struct strings s = pull();

	post_recv(&s.x.at[0], 1, 4096);
	post_recv(&s.x.at[0], 2, 4096);
	mock_send_opcode(s.p, BTH_XRC_SEND_FIRST, 0, MTU);
	hears_ack(s.p, 31, 0);
	CHECK_EQ(drv_set_state(s.p->b.qp, IBV_QPS_ERR), MYNIC_AQ_OK);
	drv_expect(s.x.at[0].cq, 1, IBV_WC_WR_FLUSH_ERR);
	drv_expect_event(&s.x.p.b.d->event, MYNIC_EVENT_LAST_WQE,
			 s.p->b.qp->number);
	drv_expect_none(s.x.at[0].cq, SEC);
	CHECK_EQ(s.x.at[0].srq->rec->ci, 1);
}

TEST(xrc_cq_overrun)
{
	struct xrc x = make_xrc(&(struct drv_path){ 0 });
	struct drv *d = x.p.b.d;
	struct place small = {
		.pdn = x.at[0].pdn,
		.cq = drv_create_cq(d, 1),
		.mr = x.at[0].mr,
	};

	small.srq = drv_create_xrc_srq(d, small.pdn, x.xrcdn, small.cq, 4);
	for (unsigned int i = 0; i < 4; i++)
		post_recv(&small, i, 4096);
	for (unsigned int i = 0; i < 3; i++)
		post(&x, &small, IBV_WR_SEND, 10, IBV_WC_SUCCESS);
	drv_expect_event(&d->event, MYNIC_EVENT_CQ_ERROR, small.cq->number);
	drv_expect_event(&d->event, MYNIC_EVENT_SRQ_ERROR, small.srq->number);
	/* the connection and other SRQs still work */
	do_all(&x, &x.at[1], 1000);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_CQ, small.cq->number),
		 MYNIC_AQ_BUSY);
	CHECK_EQ(destroy_srq(small.srq), MYNIC_AQ_OK);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_CQ, small.cq->number),
		 MYNIC_AQ_OK);
}

TEST(xrc_in_use)
{
	struct xrc x = make_xrc(&(struct drv_path){ 0 });
	struct drv *d = x.p.b.d;

	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DEALLOC_XRCD, x.xrcdn + 1),
		 MYNIC_AQ_BAD_NUMBER);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DEALLOC_XRCD, x.xrcdn),
		 MYNIC_AQ_BUSY);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_CQ, x.at[0].cq->number),
		 MYNIC_AQ_BUSY);
	CHECK_EQ(destroy_srq(x.at[0].srq), MYNIC_AQ_OK);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_QP, x.p.b.qp->number),
		 MYNIC_AQ_OK);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DEALLOC_XRCD, x.xrcdn),
		 MYNIC_AQ_BUSY);
	CHECK_EQ(destroy_srq(x.at[1].srq), MYNIC_AQ_OK);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DEALLOC_XRCD, x.xrcdn),
		 MYNIC_AQ_OK);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DEALLOC_XRCD, x.xrcdn),
		 MYNIC_AQ_BAD_NUMBER);
}

TEST(xrc_create_bad)
{
	struct xrc x = make_xrc(&(struct drv_path){ 0 });
	struct drv *d = x.p.b.d;
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_CREATE_QP };
	struct mynic_create_qp good = x.p.b.qp->create, bad;
	struct drv_qp qp;

#define TRY(field, value, status)                                        \
	do {                                                             \
		bad = good;                                              \
		bad.field = value;                                       \
		CHECK_EQ(drv_admin_in(d, &cmd, NULL, &bad, sizeof(bad)), \
			 MYNIC_AQ_##status);                             \
	} while (0)
	TRY(xrcdn, 0, BAD_NUMBER);
	TRY(xrcdn, x.xrcdn + 1, BAD_NUMBER);
	TRY(srqn, x.at[0].srq->number, BAD_PARAM);
	TRY(srqn, 0, BAD_PARAM);
	TRY(pdn, x.at[0].pdn, BAD_PARAM);
	TRY(send_cqn, x.at[0].cq->number, BAD_PARAM);
	TRY(flags, MYNIC_QP_KERNEL, BAD_PARAM);
	TRY(uarn, 1, BAD_PARAM);
	TRY(log_sq_stride, 6, BAD_PARAM);
	TRY(log_rq_stride, 6, BAD_PARAM);
	TRY(buf.addr, 4096, BAD_PARAM);
	TRY(type, MYNIC_QP_RC, BAD_PARAM);

	drv_qp_layout(d, &qp,
		      &(struct drv_qp_init){
			      .type = MYNIC_QP_XRC_INI,
			      .pdn = x.at[0].pdn,
			      .send_cq = x.at[0].cq,
			      .recv_cq = x.at[0].cq,
		      });
	good = qp.create;
	TRY(xrcdn, x.xrcdn, BAD_PARAM);
	TRY(srqn, x.at[0].srq->number, BAD_PARAM);
	TRY(log_rq_stride, 6, BAD_PARAM);
	TRY(type, 9, NOT_SUPPORTED);
#undef TRY
	CHECK_EQ(drv_admin_in(d, &cmd, NULL, &good, sizeof(good)), MYNIC_AQ_OK);
}

TEST(xrc_create_srq_bad)
{
	struct xrc x = make_xrc(&(struct drv_path){ 0 });
	struct drv *d = x.p.b.d;
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_CREATE_SRQ };
	struct mynic_create_srq good = {
		.pdn = x.at[0].pdn,
		.log_size = 4,
		.log_stride = 6,
		.type = MYNIC_SRQ_XRC,
		.xrcdn = x.xrcdn,
		.cqn = x.at[0].cq->number,
	}, bad;
	struct drv_buf *buf = tap_alloc(sizeof(*buf));

	drv_buf_init(d, buf, 8192);
	good.buf = buf->desc;
	good.dbrec_offset = 4096;
#define TRY(field, value, status)                                        \
	do {                                                             \
		bad = good;                                              \
		bad.field = value;                                       \
		CHECK_EQ(drv_admin_in(d, &cmd, NULL, &bad, sizeof(bad)), \
			 MYNIC_AQ_##status);                             \
	} while (0)
	TRY(xrcdn, 0, BAD_NUMBER);
	TRY(xrcdn, 0xffffffff, BAD_NUMBER);
	TRY(cqn, 0, BAD_NUMBER);
	TRY(cqn, 0xffffffff, BAD_NUMBER);
	TRY(pdn, 0, BAD_NUMBER);
	TRY(type, MYNIC_SRQ_BASIC, BAD_PARAM);
#undef TRY
	CHECK_EQ(drv_admin_in(d, &cmd, NULL, &good, sizeof(good)), MYNIC_AQ_OK);
}

/*
 * Transitions of the two halves that differ from RC in the tables of the IBTA
 */
TEST(xrc_transitions)
{
	static const struct {
		enum mynic_qp_type type;
		enum ibv_qp_state from;
		uint32_t mask;
		uint8_t status;
	} table[] = {
		{ MYNIC_QP_XRC_INI, IBV_QPS_INIT,
		  IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
		  MYNIC_AQ_OK },
		{ MYNIC_QP_XRC_INI, IBV_QPS_INIT,
		  IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			  IBV_QP_RQ_PSN | IBV_QP_MIN_RNR_TIMER,
		  MYNIC_AQ_BAD_STATE },
		{ MYNIC_QP_XRC_TGT, IBV_QPS_INIT,
		  IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
		  MYNIC_AQ_BAD_STATE },
		{ MYNIC_QP_XRC_INI, IBV_QPS_RTR, IBV_QP_TIMEOUT | IBV_QP_SQ_PSN,
		  MYNIC_AQ_BAD_STATE },
		{ MYNIC_QP_XRC_TGT, IBV_QPS_RTR, IBV_QP_TIMEOUT | IBV_QP_SQ_PSN,
		  MYNIC_AQ_OK },
		{ MYNIC_QP_XRC_TGT, IBV_QPS_RTR,
		  IBV_QP_TIMEOUT | IBV_QP_SQ_PSN | IBV_QP_RETRY_CNT,
		  MYNIC_AQ_BAD_STATE },
		{ MYNIC_QP_XRC_INI, IBV_QPS_RTS, IBV_QP_MIN_RNR_TIMER,
		  MYNIC_AQ_BAD_STATE },
		{ MYNIC_QP_XRC_TGT, IBV_QPS_RTS, IBV_QP_MIN_RNR_TIMER,
		  MYNIC_AQ_OK },
	};
	struct xrc x = make_xrc(&(struct drv_path){ 0 });

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		enum ibv_qp_state from = table[i].from;
		bool target = table[i].type == MYNIC_QP_XRC_TGT;
		struct drv_qp *qp = target ? x.p.b.qp : x.p.a.qp;
		struct mynic_qp_attr attr = {
			.attr_mask = IBV_QP_STATE | table[i].mask,
			.qp_state = from == IBV_QPS_RTS ? from : from + 1,
			.path_mtu = IBV_MTU_1024,
			.av = drv_av(qp->d, target ? 0 : 1, 0),
		};

		CHECK_EQ(drv_set_state(qp, IBV_QPS_RESET), MYNIC_AQ_OK);
		drv_connect_to(qp, target ? 0 : 1, 17, &(struct drv_path){ 0 },
			       from);
		CHECK_EQ(drv_modify_qp(qp, &attr), table[i].status);
	}
}

/* After arbitrary packets and destroyed SRQs, all works as before */

static uint32_t one_of(struct sim *sim, const uint32_t *values,
		       unsigned int num)
{
	return values[sim_random(sim, num)];
}

#define ONE_OF(sim, ...)                               \
	one_of(sim, (const uint32_t[]){ __VA_ARGS__ }, \
	       ARRAY_SIZE(((const uint32_t[]){ __VA_ARGS__ })))

static void say_garbage(struct strings *s)
{
	struct sim *sim = s->x.p.sim;
	struct place *at = s->x.at;
	struct packet pkt;

	pkt = mock_packet(s->p, BTH_XRC_SEND_FIRST + sim_random(sim, 32),
			  mock_epsn(s->p) + ONE_OF(sim, 0, 0, 0, 0, -1, 1), 0);
	mock_payload(s->p, &pkt, 0, ONE_OF(sim, 0, 8, MTU, MTU, MTU + 1));
	pkt.roce.srqn = ONE_OF(sim, at[0].srq->number, at[1].srq->number,
			       s->p->srqn, s->p->srqn, s->p->srqn, 12345);
	pkt.roce.dma_len =
		ONE_OF(sim, pkt.payload_len, 0, 3 * MTU, 60 * MTU, 0x80000001);
	pkt.roce.rkey = ONE_OF(sim, at[0].mr->key, at[1].mr->key, 0);
	mock_send(s->p, &pkt);
}

static void renew_srq(struct strings *s, struct place *at)
{
	struct drv *d = s->x.p.b.d;

	CHECK_EQ(destroy_srq(at->srq), MYNIC_AQ_OK);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_CQ, at->cq->number),
		 MYNIC_AQ_OK);
	at->cq = drv_create_cq(d, 6);
	at->srq = drv_create_xrc_srq(d, at->pdn, s->x.xrcdn, at->cq, 5);
}

TEST(xrc_garbage)
{
	static const struct drv_path path = {
		.mtu = IBV_MTU_256,
		.rq_psn = MOCK_PSN,
	};
	struct strings s = pull();
	struct sim *sim = s.x.p.sim;
	struct mynic_cqe cqe;
	struct mynic_eqe eqe;
	unsigned int errors = 0;

	for (unsigned int i = 0; i < 10000; i++) {
		struct place *at = &s.x.at[sim_random(sim, 2)];

		if (!sim_random(sim, 20))
			renew_srq(&s, at);
		if (!sim_random(sim, 4))
			s.p->srqn = at->srq->number;
		if (at->srq->pi - at->srq->rec->ci < 32)
			post_recv(at, i, ONE_OF(sim, 0, MTU, 8192));
		say_garbage(&s);
		s.p->num = 0;
		while (drv_poll(s.x.at[0].cq, &cqe) ||
		       drv_poll(s.x.at[1].cq, &cqe))
			CHECK_EQ(cqe.qp_num, s.p->b.qp->number);
		while (drv_eq_poll(&s.x.p.b.d->event, &eqe))
			drv_eq_release(&s.x.p.b.d->event);
		if (mock_state(s.p) != IBV_QPS_ERR)
			continue;
		errors++;
		CHECK_EQ(drv_set_state(s.p->b.qp, IBV_QPS_RESET), MYNIC_AQ_OK);
		drv_connect_to(s.p->b.qp, 0, s.p->a.qp->number, &path,
			       IBV_QPS_RTS);
	}
	tap_note("%u times in error", errors);
	CHECK(errors > 100);
	sim->filter = NULL;
	CHECK_EQ(drv_set_state(s.x.p.a.qp, IBV_QPS_RESET), MYNIC_AQ_OK);
	drv_reset_qp(s.x.p.a.qp);
	CHECK_EQ(drv_set_state(s.x.p.b.qp, IBV_QPS_RESET), MYNIC_AQ_OK);
	drv_connect(s.x.p.a.qp, s.x.p.b.qp, &(struct drv_path){ 0 });
	renew_srq(&s, &s.x.at[0]);
	renew_srq(&s, &s.x.at[1]);
	do_all(&s.x, &s.x.at[0], 3000);
	do_all(&s.x, &s.x.at[1], 3000);
}
