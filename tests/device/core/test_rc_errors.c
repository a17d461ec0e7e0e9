// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Reliable connections: malformed requests, NAKs, retries, hostile peers */
#include "harness_driver.h"

/* BTH opcodes, IBTA 9.2.1 */
enum {
	RC_SEND_FIRST = 0x00,
	RC_SEND_MIDDLE = 0x01,
	RC_SEND_LAST = 0x02,
	RC_SEND_ONLY = 0x04,
	RC_WRITE_FIRST = 0x06,
	RC_WRITE_MIDDLE = 0x07,
	RC_WRITE_LAST = 0x08,
	RC_WRITE_ONLY = 0x0a,
	RC_READ_REQUEST = 0x0c,
	RC_READ_FIRST = 0x0d,
	RC_READ_MIDDLE = 0x0e,
	RC_READ_LAST = 0x0f,
	RC_READ_ONLY = 0x10,
	RC_ACK = 0x11,
	RC_ATOMIC_ACK = 0x12,
	RC_CMP_SWP = 0x13,
	RC_FETCH_ADD = 0x14,
	UD_SEND_ONLY = 0x64,
};

/*
 * Check that a request fails without a packet, later ones are flushed, and the
 * QP is in ERR
 */
static void check_local_error(struct drv_pair *p, enum ibv_wc_status status,
			      enum mynic_syndrome syndrome)
{
	struct drv_wr next = drv_pair_wr(p, IBV_WR_RDMA_WRITE, 8);
	uint64_t sent = p->a.d->n->sent;
	uint64_t bad = drv_stat(p->a.d, MYNIC_STAT_BAD_WQE);
	struct mynic_cqe cqe;

	next.wr_id = 0x88;
	next.flags = 0;
	drv_post_send(p->a.qp, &next);
	cqe = drv_expect(p->a.cq, DRV_WR_ID, status);
	CHECK_EQ(cqe.vendor_err, syndrome);
	CHECK_EQ(cqe.qp_num, p->a.qp->number);
	drv_expect(p->a.cq, 0x88, IBV_WC_WR_FLUSH_ERR);
	CHECK_EQ(drv_query_qp(p->a.qp).qp_state, IBV_QPS_ERR);
	CHECK_EQ(p->a.d->n->sent, sent);
	CHECK_EQ(drv_stat(p->a.d, MYNIC_STAT_BAD_WQE), bad + 1);
	drv_reconnect(p);
}

TEST(wqe_unknown_opcodes)
{
	struct drv_pair p = drv_rc_pair(NULL);

	for (unsigned int op = 10; op < 256; op += op < 33 ? 1 : 47) {
		struct drv_wr wr = drv_pair_wr(&p, op, 8);

		if (op == IBV_WR_FLUSH || op == IBV_WR_ATOMIC_WRITE)
			continue;
		drv_write_wqe(p.a.qp, &wr);
		check_local_error(&p, IBV_WC_LOC_QP_OP_ERR,
				  MYNIC_SYN_BAD_OPCODE);
	}
}

TEST(wqe_unknown_flags)
{
	struct drv_pair p = drv_rc_pair(NULL);

	for (unsigned int bit = 5; bit < 24; bit++) {
		struct drv_wr wr = drv_pair_wr(&p, IBV_WR_SEND, 8);

		wr.flags |= 1u << bit;
		drv_write_wqe(p.a.qp, &wr);
		check_local_error(&p, IBV_WC_LOC_QP_OP_ERR,
				  MYNIC_SYN_BAD_FLAGS);
	}
}

TEST(wqe_inline_where_it_is_not_allowed)
{
	struct drv_pair p = drv_rc_pair(NULL);
	static const enum ibv_wr_opcode op[] = { IBV_WR_RDMA_READ,
						 IBV_WR_ATOMIC_CMP_AND_SWP,
						 IBV_WR_ATOMIC_FETCH_AND_ADD };

	for (unsigned int i = 0; i < ARRAY_SIZE(op); i++) {
		struct drv_wr wr = drv_pair_wr(&p, op[i], 8);

		wr.flags |= IBV_SEND_INLINE;
		wr.inline_data = "12345678";
		wr.inline_len = 8;
		drv_write_wqe(p.a.qp, &wr);
		check_local_error(&p, IBV_WC_LOC_QP_OP_ERR,
				  MYNIC_SYN_BAD_FLAGS);
	}
}

static void check_bad_len(struct drv_pair *p, enum ibv_wr_opcode op,
			  unsigned int flags, uint32_t len,
			  enum ibv_wc_status status)
{
	struct drv_wr wr = drv_pair_wr(p, op, 8);
	struct mynic_send_wqe *wqe;

	wqe = drv_write_wqe(p->a.qp, &wr);
	wqe->ctrl |= flags << MYNIC_WQE_FLAGS_SHIFT;
	wqe->len = len;
	check_local_error(p, status, MYNIC_SYN_BAD_LEN);
}

#define OP_ERR IBV_WC_LOC_QP_OP_ERR
#define LEN_ERR IBV_WC_LOC_LEN_ERR

TEST(wqe_bad_len)
{
	struct drv_pair p = drv_rc_pair(NULL);

	/* stride 256: 224 bytes, 14 SGEs */
	check_bad_len(&p, IBV_WR_SEND, 0, 15, OP_ERR);
	check_bad_len(&p, IBV_WR_RDMA_WRITE, 0, 0x10000000, OP_ERR);
	check_bad_len(&p, IBV_WR_RDMA_READ, 0, 0xffffffff, OP_ERR);
	check_bad_len(&p, IBV_WR_SEND, IBV_SEND_INLINE, 225, OP_ERR);
	check_bad_len(&p, IBV_WR_RDMA_WRITE, IBV_SEND_INLINE, -1, OP_ERR);
	check_bad_len(&p, IBV_WR_ATOMIC_CMP_AND_SWP, 0, 0, LEN_ERR);
	check_bad_len(&p, IBV_WR_ATOMIC_CMP_AND_SWP, 0, 2, LEN_ERR);
	check_bad_len(&p, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 14, LEN_ERR);
}

TEST(wqe_atomic_of_other_than_8_bytes)
{
	struct drv_pair p = drv_rc_pair(NULL);
	static const uint32_t len[] = { 0, 4, 7, 9, 16, 0x80000000 };

	for (unsigned int i = 0; i < ARRAY_SIZE(len); i++) {
		struct drv_wr wr =
			drv_pair_wr(&p, IBV_WR_ATOMIC_FETCH_AND_ADD, len[i]);

		drv_write_wqe(p.a.qp, &wr);
		check_local_error(&p, LEN_ERR, MYNIC_SYN_BAD_LEN);
	}
}

TEST(wqe_smallest_stride)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_RC,
						 .log_sq_stride = 6,
						 .log_rq_stride = 5 };
	struct drv_pair p = drv_pair_unconnected(&init);
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_SEND, 100);
	struct mynic_sge sge = drv_sge(p.b.mr, 0, 200);

	drv_connect(p.a.qp, p.b.qp, &(struct drv_path){ 0 });
	wr.num_sge = 2;
	wr.sge[1] = drv_sge(p.a.mr, 500, 100);
	drv_post_recv(p.b.qp, 1, &sge, 1);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	/* an atomic fits exactly */
	wr = drv_pair_wr(&p, IBV_WR_ATOMIC_FETCH_AND_ADD, 8);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	check_bad_len(&p, IBV_WR_SEND, 0, 3, OP_ERR);
	check_bad_len(&p, IBV_WR_SEND, IBV_SEND_INLINE, 33, OP_ERR);
}

/* A bad receive entry fails when a message takes it */
TEST(wqe_bad_receive)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct mynic_sge sge = drv_sge(p.b.mr, 0, 64);
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_SEND, 8);
	struct mynic_recv_wqe *wqe;
	static const uint32_t num[] = { 16, 0x10000000, 0xffffffff };

	for (unsigned int i = 0; i < ARRAY_SIZE(num); i++) {
		struct mynic_cqe cqe;

		drv_post_recv(p.b.qp, 5, &sge, 1);
		wqe = drv_buf_at(&p.b.qp->buf, p.b.qp->create.rq_offset);
		/* stride 256: 15 SGEs */
		wqe->num_sge = num[i];
		drv_post_send(p.a.qp, &wr);
		SIM_WAIT(p.sim, drv_poll(p.b.recv_cq, &cqe));
		CHECK_EQ(cqe.wr_id, 5);
		CHECK_EQ(cqe.status, IBV_WC_LOC_QP_OP_ERR);
		drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_REM_OP_ERR);
		CHECK_EQ(drv_stat(p.b.d, MYNIC_STAT_BAD_WQE), i + 1);
		drv_reconnect(&p);
	}
}

TEST(rc_message_longer_than_receive)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct mynic_sge sge = drv_sge(p.b.mr, 0, 2999);
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_SEND, 3000);

	p.b.mr->ptr[2999] = 0x42;
	drv_post_recv(p.b.qp, 5, &sge, 1);
	drv_post_recv(p.b.qp, 6, &sge, 1);
	drv_post_send(p.a.qp, &wr);
	CHECK_EQ(drv_expect(p.b.recv_cq, 5, IBV_WC_LOC_LEN_ERR).vendor_err,
		 MYNIC_SYN_RQ_LEN);
	drv_expect(p.b.recv_cq, 6, IBV_WC_WR_FLUSH_ERR);
	CHECK_EQ(
		drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_REM_INV_REQ_ERR).vendor_err,
		MYNIC_SYN_REMOTE_INVALID);
	CHECK_EQ(p.b.mr->ptr[2999], 0x42);
	CHECK_EQ(drv_query_qp(p.b.qp).qp_state, IBV_QPS_ERR);
	CHECK_EQ(drv_query_qp(p.a.qp).qp_state, IBV_QPS_ERR);
}

TEST(rc_remote_access_error)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_READ, 100);

	wr.rkey ^= 0x100;
	drv_post_recv(p.b.qp, 5, NULL, 0);
	drv_post_send(p.a.qp, &wr);
	CHECK_EQ(
		drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_REM_ACCESS_ERR).vendor_err,
		MYNIC_SYN_REMOTE_ACCESS);
	drv_expect_event(&p.b.d->event, MYNIC_EVENT_QP_ACCESS_ERROR,
			 p.b.qp->number);
	drv_expect(p.b.recv_cq, 5, IBV_WC_WR_FLUSH_ERR);
	CHECK_EQ(drv_stat(p.b.d, MYNIC_STAT_TX_NAK_ACCESS), 1);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_RX_NAK_ACCESS), 1);
}

TEST(rc_atomic_not_aligned)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_ATOMIC_FETCH_AND_ADD, 8);

	wr.remote_addr += 4;
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_REM_INV_REQ_ERR);
}

TEST(rc_read_without_local_write)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_mr *mr = drv_reg_mr(p.a.d, p.a.pdn, 4096, 0);
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_READ, 100);

	wr.sge[0] = drv_sge(mr, 0, 100);
	drv_fill(p.b.mr->ptr, 100, 1);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_LOC_PROT_ERR);
	CHECK_EQ(mr->ptr[5], 0);
}

TEST(rc_errors_come_in_order)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_WRITE, 5000);

	for (int i = 0; i < 10; i++) {
		wr.wr_id = i;
		wr.rkey = p.b.mr->key ^ (i == 5);
		drv_write_wqe(p.a.qp, &wr);
	}
	drv_ring(p.a.qp);
	for (int i = 0; i < 5; i++)
		drv_expect(p.a.cq, i, IBV_WC_SUCCESS);
	drv_expect(p.a.cq, 5, IBV_WC_REM_ACCESS_ERR);
	for (int i = 6; i < 10; i++)
		drv_expect(p.a.cq, i, IBV_WC_WR_FLUSH_ERR);
	drv_expect_none(p.a.cq, SEC);
}

/* 4.096 us * 2^timeout, retried retry_cnt times; IBTA allows up to 4 times */
TEST(rc_retries_are_exhausted)
{
	struct drv_pair p = drv_rc_pair(
		&(struct drv_path){ .timeout = 10, .retry_cnt = 3 });
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_WRITE, 8);
	uint64_t begin = p.sim->now, timeout = 4096ull << 10;

	p.sim->filter = sim_drop_all;
	drv_post_send(p.a.qp, &wr);
	CHECK_EQ(drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_RETRY_EXC_ERR).vendor_err,
		 MYNIC_SYN_RETRY);
	CHECK(p.sim->now - begin >= 4 * timeout);
	CHECK(p.sim->now - begin <= 16 * timeout);
	CHECK_EQ(p.a.d->n->sent, 4);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_RETRY_EXCEEDED), 1);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_TIMEOUT), 4);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_RETRANSMIT), 3);
	CHECK_EQ(drv_query_qp(p.a.qp).qp_state, IBV_QPS_ERR);
}

TEST(rc_no_timeout_waits_for_ever)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct mynic_qp_attr attr;
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_WRITE, 8);

	drv_reset_qp(p.a.qp);
	drv_connect_to(p.a.qp, 1, p.b.qp->number, &(struct drv_path){ 0 },
		       IBV_QPS_RTR);
	attr = (struct mynic_qp_attr){
		.attr_mask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			     IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
			     IBV_QP_MAX_QP_RD_ATOMIC,
		.qp_state = IBV_QPS_RTS,
	};
	CHECK_EQ(drv_modify_qp(p.a.qp, &attr), MYNIC_AQ_OK);
	p.sim->filter = sim_drop_all;
	drv_post_send(p.a.qp, &wr);
	drv_expect_none(p.a.cq, 1000 * SEC);
	CHECK_EQ(p.a.d->n->sent, 1);
}

TEST(rc_rnr_is_waited_for)
{
	struct drv_pair p = drv_rc_pair(
		&(struct drv_path){ .min_rnr_timer = 14 /* 1.28 ms */ });
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_SEND, 8);
	struct mynic_sge sge = drv_sge(p.b.mr, 0, 8);
	uint64_t sent;

	drv_post_send(p.a.qp, &wr);
	sim_run(p.sim, MSEC);
	sent = p.a.d->n->sent;
	CHECK_EQ(sent, 1);
	sim_run(p.sim, SEC);
	/* not more often than the peer allows */
	CHECK(p.a.d->n->sent > sent);
	CHECK(p.a.d->n->sent - sent <= (SEC + MSEC) / (1280 * USEC));
	CHECK(drv_stat(p.a.d, MYNIC_STAT_RX_NAK_RNR) > 0);
	CHECK(drv_stat(p.b.d, MYNIC_STAT_TX_NAK_RNR) > 0);
	drv_post_recv(p.b.qp, 5, &sge, 1);
	drv_expect(p.b.recv_cq, 5, IBV_WC_SUCCESS);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	drv_send_recv(&p.a, &p.b, 5000);
}

TEST(rc_rnr_retries_are_exhausted)
{
	struct drv_pair p = drv_rc_pair(&(struct drv_path){ .rnr_retry = 2 });
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_SEND, 8);

	drv_post_send(p.a.qp, &wr);
	CHECK_EQ(drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_RNR_RETRY_EXC_ERR)
			 .vendor_err,
		 MYNIC_SYN_RNR_RETRY);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_RNR_RETRY_EXCEEDED), 1);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_RX_NAK_RNR), 3);
}

TEST(rc_no_retry_at_all)
{
	struct drv_pair p = drv_rc_pair(
		&(struct drv_path){ .no_retry = true, .timeout = 5 });
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_SEND, 8);

	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_RNR_RETRY_EXC_ERR);
}

/* Drop only the packet with number filter_arg */
static enum sim_verdict drop_nth(struct sim *sim, struct sim_nic *from,
				 struct packet *pkt)
{
	int *left = sim->filter_arg;

	(void)from;
	(void)pkt;
	return (*left)-- == 0 ? SIM_DROP : SIM_PASS;
}

static enum sim_verdict duplicate_nth(struct sim *sim, struct sim_nic *from,
				      struct packet *pkt)
{
	return drop_nth(sim, from, pkt) == SIM_DROP ? SIM_DUPLICATE : SIM_PASS;
}

static enum sim_verdict delay_nth(struct sim *sim, struct sim_nic *from,
				  struct packet *pkt)
{
	return drop_nth(sim, from, pkt) == SIM_DROP ? SIM_DELAY : SIM_PASS;
}

/* Requests of all kinds, which must succeed whatever happens to one packet */
static void mixed_traffic(struct drv_pair *p)
{
	struct mynic_sge sge = drv_sge(p->b.mr, 100000, 3000);
	uint64_t *word = (uint64_t *)(p->b.mr->ptr + 200000);
	struct drv_wr wr;

	drv_fill(p->a.mr->ptr, 50000, 1);
	drv_fill(p->b.mr->ptr + 300000, 50000, 2);
	memset(p->a.mr->ptr + 300000, 0, 50000);
	memset(p->b.mr->ptr, 0, 50000);
	*word = 1000;
	drv_post_recv(p->b.qp, 21, &sge, 1);
	drv_post_recv(p->b.qp, 22, NULL, 0);

	wr = drv_pair_wr(p, IBV_WR_RDMA_WRITE, 2500);
	wr.wr_id = 1;
	drv_write_wqe(p->a.qp, &wr);
	wr = drv_pair_wr(p, IBV_WR_SEND, 2700);
	wr.wr_id = 2;
	drv_write_wqe(p->a.qp, &wr);
	wr = drv_pair_wr(p, IBV_WR_RDMA_READ, 0);
	wr.wr_id = 3;
	wr.sge[0] = drv_sge(p->a.mr, 300000, 3500);
	wr.remote_addr += 300000;
	drv_write_wqe(p->a.qp, &wr);
	wr = drv_pair_wr(p, IBV_WR_ATOMIC_FETCH_AND_ADD, 0);
	wr.wr_id = 4;
	wr.sge[0] = drv_sge(p->a.mr, 400000, 8);
	wr.remote_addr += 200000;
	wr.compare_add = 1;
	drv_write_wqe(p->a.qp, &wr);
	wr.wr_id = 5;
	wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	wr.sge[0] = drv_sge(p->a.mr, 400008, 8);
	wr.compare_add = 1001;
	wr.swap = 5;
	drv_write_wqe(p->a.qp, &wr);
	wr = drv_pair_wr(p, IBV_WR_RDMA_WRITE_WITH_IMM, 1025);
	wr.wr_id = 6;
	wr.remote_addr += 10000;
	drv_write_wqe(p->a.qp, &wr);
	drv_ring(p->a.qp);

	for (uint64_t id = 1; id <= 6; id++)
		drv_expect(p->a.cq, id, IBV_WC_SUCCESS);
	CHECK_EQ(drv_expect(p->b.recv_cq, 21, 0).byte_len, 2700);
	CHECK_EQ(drv_expect(p->b.recv_cq, 22, 0).byte_len, 1025);
	CHECK_MEM(p->b.mr->ptr, p->a.mr->ptr, 2500);
	CHECK_MEM(p->b.mr->ptr + 100000, p->a.mr->ptr, 2700);
	CHECK_MEM(p->a.mr->ptr + 300000, p->b.mr->ptr + 300000, 3500);
	CHECK_MEM(p->b.mr->ptr + 10000, p->a.mr->ptr, 1025);
	CHECK_EQ(*(uint64_t *)(p->a.mr->ptr + 400000), 1000);
	CHECK_EQ(*(uint64_t *)(p->a.mr->ptr + 400008), 1001);
	CHECK_EQ(*word, 5);
	drv_expect_none(p->a.cq, 0);
	drv_expect_none(p->b.recv_cq, 0);
}

static void check_each_packet(enum sim_verdict (*fault)(struct sim *,
							struct sim_nic *,
							struct packet *),
			      uint64_t delay)
{
	for (int nth = 0;; nth++) {
		struct drv_pair p = drv_rc_pair(
			&(struct drv_path){ .sq_psn = 0xfffffe, .timeout = 8 });
		int left = nth;

		p.sim->filter = fault;
		p.sim->filter_arg = &left;
		p.sim->delay = delay;
		mixed_traffic(&p);
		mixed_traffic(&p);
		CHECK(nth < 1000);
		if (left >= 0)
			break;
	}
}

TEST(rc_each_packet_lost)
{
	check_each_packet(drop_nth, 0);
}

TEST(rc_each_packet_twice)
{
	check_each_packet(duplicate_nth, 0);
}

TEST(rc_each_packet_late)
{
	check_each_packet(delay_nth, 1);
}

TEST(rc_each_packet_very_late)
{
	/* after the timeout: the old packet meets its own retransmission */
	check_each_packet(delay_nth, 5 * MSEC);
}

/* A lost atomic response: the operation must not be done twice */
TEST(rc_atomic_is_replayed)
{
	struct drv_pair p = drv_rc_pair(&(struct drv_path){ .timeout = 8 });
	uint64_t *word = (uint64_t *)p.b.mr->ptr;
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_ATOMIC_FETCH_AND_ADD, 8);
	int left = 1;

	*word = 10;
	wr.compare_add = 1;
	p.sim->filter = drop_nth;
	p.sim->filter_arg = &left;
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	CHECK_EQ(*word, 11);
	CHECK_EQ(*(uint64_t *)p.a.mr->ptr, 10);
	CHECK_EQ(drv_stat(p.b.d, MYNIC_STAT_DUPLICATE), 1);
}

TEST(rc_send_is_delivered_once)
{
	struct drv_pair p = drv_rc_pair(&(struct drv_path){ .timeout = 8 });
	struct mynic_sge sge = drv_sge(p.b.mr, 0, 64);
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_SEND, 64);
	int left = 1;

	p.sim->filter = drop_nth;
	p.sim->filter_arg = &left;
	drv_post_recv(p.b.qp, 1, &sge, 1);
	drv_post_recv(p.b.qp, 2, &sge, 1);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	drv_expect(p.b.recv_cq, 1, IBV_WC_SUCCESS);
	drv_expect_none(p.b.recv_cq, SEC);
}

/* A gap brings one NAK, and the sender continues at once, without a timeout */
TEST(rc_gap_brings_a_nak)
{
	struct drv_pair p = drv_rc_pair(&(struct drv_path){ .timeout = 20 });
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_WRITE, 10240);
	int left = 2;

	p.sim->filter = drop_nth;
	p.sim->filter_arg = &left;
	drv_fill(p.a.mr->ptr, 10240, 1);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	CHECK_MEM(p.b.mr->ptr, p.a.mr->ptr, 10240);
	CHECK_EQ(drv_stat(p.b.d, MYNIC_STAT_TX_NAK_SEQ), 1);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_RX_NAK_SEQ), 1);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_TIMEOUT), 0);
	CHECK(drv_stat(p.a.d, MYNIC_STAT_RETRANSMIT) > 0);
}

/* Make a packet for b, as if from a */
static struct packet from_a(struct drv_pair *p, uint8_t opcode, uint32_t psn)
{
	static uint8_t zeroes[8192];
	struct packet pkt = {
		.kind = PACKET_ROCE,
		.vlan = PACKET_NO_VLAN,
		.niov = 1,
		.iov = { { zeroes, 0 } },
		.roce = {
			.hop_limit = 64,
			.udp_sport = 0xc001,
			.opcode = opcode,
			.ack_req = true,
			.pkey = 0xffff,
			.dest_qpn = p->b.qp->number,
			.psn = psn & 0xffffff,
			.remote_addr = p->b.mr->addr,
			.rkey = p->b.mr->key,
		},
	};

	memcpy(pkt.dmac, nic_mac(p->b.d->n->nic), 6);
	memcpy(pkt.smac, nic_mac(p->a.d->n->nic), 6);
	drv_gid(0, DRV_GID_IPV6, pkt.roce.sgid);
	drv_gid(1, DRV_GID_IPV6, pkt.roce.dgid);
	return pkt;
}

static void set_payload(struct packet *pkt, uint32_t len)
{
	pkt->payload_len = len;
	pkt->iov[0].iov_len = len;
	pkt->niov = len ? 1 : 0;
	pkt->roce.pad = -len & 3;
}

/* Invalid requests end the connection, and nothing else */
static void check_invalid_request(uint8_t opcode, uint32_t dma_len,
				  uint32_t payload)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct mynic_sge sge = drv_sge(p.b.mr, 0, 4096);
	struct packet pkt = from_a(&p, opcode, 0);

	drv_post_recv(p.b.qp, 1, &sge, 1);
	pkt.roce.dma_len = dma_len;
	set_payload(&pkt, payload);
	memset(p.b.mr->ptr, 0x42, 16384);
	sim_inject(p.b.d->n, &pkt);
	SIM_WAIT(p.sim, drv_query_qp(p.b.qp).qp_state == IBV_QPS_ERR);
	CHECK_EQ(drv_stat(p.b.d, MYNIC_STAT_TX_NAK_INVALID), 1);
	CHECK_EQ(p.b.mr->ptr[8192], 0x42);
	CHECK_EQ(drv_number_cmd(p.b.d, MYNIC_CMD_NOP, 0), 0);
}

TEST(hostile_middle_without_first)
{
	check_invalid_request(RC_SEND_MIDDLE, 0, 1024);
}

TEST(hostile_last_without_first)
{
	check_invalid_request(RC_WRITE_LAST, 0, 8);
}

TEST(hostile_first_that_is_short)
{
	check_invalid_request(RC_SEND_FIRST, 0, 1000);
}

TEST(hostile_first_that_is_long)
{
	check_invalid_request(RC_WRITE_FIRST, 4096, 2048);
}

TEST(hostile_only_that_is_long)
{
	check_invalid_request(RC_SEND_ONLY, 0, 1028);
}

TEST(hostile_write_longer_than_announced)
{
	check_invalid_request(RC_WRITE_ONLY, 100, 1000);
}

TEST(hostile_write_shorter_than_announced)
{
	check_invalid_request(RC_WRITE_ONLY, 1000, 100);
}

TEST(hostile_write_first_of_a_short_message)
{
	check_invalid_request(RC_WRITE_FIRST, 1024, 1024);
}

TEST(hostile_write_of_4_gigabytes)
{
	check_invalid_request(RC_WRITE_FIRST, 0xffffffff, 1024);
}

TEST(hostile_read_of_4_gigabytes)
{
	check_invalid_request(RC_READ_REQUEST, 0xffffffff, 0);
}

/* Opcodes of other services, and unexpected responses, are dropped */
TEST(hostile_opcodes)
{
	struct drv_pair p = drv_rc_pair(NULL);

	for (unsigned int op = 0; op < 256; op++) {
		struct packet pkt = from_a(&p, op, 0x400000);

		/* reserved ones, and all that is not RC */
		if (op < 0x18)
			continue;
		for (uint32_t len = 0; len <= 1024; len += 512) {
			set_payload(&pkt, len);
			sim_inject(p.b.d->n, &pkt);
			sim_settle(p.sim);
		}
	}
	CHECK_EQ(drv_query_qp(p.b.qp).qp_state, IBV_QPS_RTS);
	drv_send_recv(&p.a, &p.b, 3000);
	drv_send_recv(&p.b, &p.a, 3000);
}

TEST(hostile_responses)
{
	struct drv_pair p = drv_rc_pair(NULL);

	for (uint32_t psn = 0; psn < 0x1000000; psn += 0x3ffff)
		for (unsigned int op = RC_READ_FIRST; op <= RC_ATOMIC_ACK; op++)
			for (uint32_t syn = 0; syn < 256; syn += 31) {
				struct packet pkt = from_a(&p, op, psn);

				pkt.roce.aeth = syn << 24;
				set_payload(&pkt,
					    op <= RC_READ_ONLY ? 1024 : 0);
				sim_inject(p.b.d->n, &pkt);
				sim_settle(p.sim);
			}
	CHECK_EQ(drv_query_qp(p.b.qp).qp_state, IBV_QPS_RTS);
	drv_send_recv(&p.a, &p.b, 3000);
	drv_send_recv(&p.b, &p.a, 3000);
}

/*
 * Check that a packet without a receiver is dropped and counted, without a
 * reply
 */
static void check_dropped(struct packet *pkt, struct drv_pair *p,
			  enum mynic_stat stat)
{
	uint64_t sent = p->b.d->n->sent;
	uint64_t count = drv_stat(p->b.d, stat);

	sim_inject(p->b.d->n, pkt);
	sim_settle(p->sim);
	CHECK_EQ(p->b.d->n->sent, sent);
	CHECK_EQ(drv_stat(p->b.d, stat), count + 1);
}

TEST(hostile_addresses)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct packet pkt = from_a(&p, RC_WRITE_ONLY, 0);

	pkt.roce.dest_qpn = 0xabcdef;
	check_dropped(&pkt, &p, MYNIC_STAT_RX_DROP_QP);
	pkt.roce.dest_qpn = 0xffffff;
	check_dropped(&pkt, &p, MYNIC_STAT_RX_DROP_QP);
	pkt.roce.dest_qpn = 0;
	check_dropped(&pkt, &p, MYNIC_STAT_RX_DROP_QP);
	pkt = from_a(&p, RC_WRITE_ONLY, 0);
	pkt.roce.pkey = 0x1234;
	check_dropped(&pkt, &p, MYNIC_STAT_RX_DROP_KEY);
	/* not the peer this QP is connected to */
	pkt = from_a(&p, RC_WRITE_ONLY, 0);
	pkt.roce.sgid[15] ^= 0x40;
	check_dropped(&pkt, &p, MYNIC_STAT_RX_DROP_KEY);
	drv_send_recv(&p.a, &p.b, 3000);
}

TEST(hostile_pad)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct packet pkt = from_a(&p, RC_WRITE_ONLY, 0);

	set_payload(&pkt, 5);
	pkt.roce.dma_len = 5;
	pkt.roce.pad = 2;
	sim_inject(p.b.d->n, &pkt);
	sim_settle(p.sim);
	drv_number_cmd(p.b.d, MYNIC_CMD_NOP, 0);
}

/* The memory of the SQ is unmapped */
TEST(rc_queue_memory_unmapped)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_WRITE, 200000);

	for (int i = 0; i < 5; i++) {
		drv_write_wqe(p.a.qp, &wr);
		drv_ring(p.a.qp);
	}
	nic_run(p.a.d->n->nic);
	sim_unmap(p.a.d->n);
	sim_run(p.sim, SEC);
	sim_map(p.a.d->n);
	sim_run(p.sim, SEC);
	drv_reset(p.a.d->n);
	drv_up(p.a.d->n);
	/* the peer still works */
	CHECK_EQ(drv_number_cmd(p.b.d, MYNIC_CMD_NOP, 0), 0);
	CHECK_EQ(drv_query_qp(p.b.qp).qp_state, IBV_QPS_RTS);
}

TEST(rc_peer_memory_unmapped)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_WRITE, 200000);

	drv_post_send(p.a.qp, &wr);
	wr = drv_pair_wr(&p, IBV_WR_RDMA_READ, 200000);
	drv_post_send(p.a.qp, &wr);
	nic_run(p.a.d->n->nic);
	sim_unmap(p.b.d->n);
	sim_run(p.sim, 100 * SEC);
	sim_map(p.b.d->n);
	CHECK(drv_query_qp(p.a.qp).qp_state == IBV_QPS_ERR);
	drv_reset(p.b.d->n);
	drv_up(p.b.d->n);
}

/* A reset at every moment of traffic, in either NIC */
TEST(rc_reset_in_traffic)
{
	for (unsigned int at = 0; at < 40; at++) {
		struct drv_pair p =
			drv_rc_pair(&(struct drv_path){ .timeout = 8 });
		struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_READ, 100000);
		struct sim_nic *victim = at % 2 ? p.a.d->n : p.b.d->n;

		drv_post_send(p.a.qp, &wr);
		wr = drv_pair_wr(&p, IBV_WR_RDMA_WRITE, 100000);
		drv_post_send(p.a.qp, &wr);
		p.sim->direct = true;
		for (unsigned int i = 0; i < at / 2; i++) {
			nic_run(p.a.d->n->nic);
			nic_run(p.b.d->n->nic);
		}
		if (at % 4 < 2)
			nic_reset(victim->nic);
		else
			drv_reset(victim);
		/* requests that had not completed run out of retries */
		for (unsigned int i = 0; at % 2 == 0 && i < 2; i++) {
			struct mynic_cqe cqe;

			SIM_WAIT(p.sim, drv_poll(p.a.cq, &cqe));
			if (cqe.status) {
				CHECK_EQ(cqe.status, IBV_WC_RETRY_EXC_ERR);
				break;
			}
		}
		sim_run(p.sim, 10 * SEC);
		drv_up(victim);
	}
}

TEST(rc_destroy_in_traffic)
{
	for (unsigned int at = 0; at < 40; at++) {
		struct drv_pair p =
			drv_rc_pair(&(struct drv_path){ .timeout = 8 });
		struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_READ, 100000);
		struct drv_qp *victim = at % 2 ? p.a.qp : p.b.qp;

		drv_post_send(p.a.qp, &wr);
		wr = drv_pair_wr(&p, IBV_WR_RDMA_WRITE, 100000);
		drv_post_send(p.a.qp, &wr);
		for (unsigned int i = 0; i < at / 2; i++) {
			nic_run(p.a.d->n->nic);
			nic_run(p.b.d->n->nic);
		}
		CHECK_EQ(drv_number_cmd(victim->d, MYNIC_CMD_DESTROY_QP,
					victim->number),
			 0);
		memset(victim->rec, 0x77, sizeof(*victim->rec));
		sim_run(p.sim, 10 * SEC);
		for (unsigned int i = 0; i < sizeof(*victim->rec); i++)
			CHECK_EQ(((uint8_t *)victim->rec)[i], 0x77);
	}
}

TEST(rc_mkey_destroyed_in_traffic)
{
	for (unsigned int at = 0; at < 40; at++) {
		struct drv_pair p =
			drv_rc_pair(&(struct drv_path){ .timeout = 8 });
		struct drv_wr wr = drv_pair_wr(&p, IBV_WR_RDMA_READ, 100000);
		struct drv_end *victim = at % 2 ? &p.a : &p.b;
		uint32_t sum = 0;

		drv_fill(p.a.mr->ptr, 100000, 1);
		drv_fill(p.b.mr->ptr, 100000, 2);
		drv_post_send(p.a.qp, &wr);
		wr = drv_pair_wr(&p, IBV_WR_RDMA_WRITE, 100000);
		drv_post_send(p.a.qp, &wr);
		for (unsigned int i = 0; i < at / 2; i++) {
			nic_run(p.a.d->n->nic);
			nic_run(p.b.d->n->nic);
		}
		CHECK_EQ(drv_number_cmd(victim->d, MYNIC_CMD_DESTROY_MKEY,
					victim->mr->key >> 8),
			 0);
		/* from now on the memory belongs to the host */
		memset(victim->mr->ptr, 0, 100000);
		sim_run(p.sim, 10 * SEC);
		for (unsigned int i = 0; i < 100000; i++)
			sum += victim->mr->ptr[i];
		CHECK_EQ(sum, 0);
	}
}
