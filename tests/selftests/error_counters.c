// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Error counters: each error is counted, in the right counter and in no other */
#include "verbs.h"

/*
 * Counters that change only after errors. On a slow machine, a request may be
 * repeated before its answer arrives, so duplicates, ghosts and retransmissions
 * are not among them.
 */
static const char *const names[] = {
	"rx_drop_qp",	    "rx_drop_key",	  "rx_drop_header",
	"rx_drop_icrc",	    "rx_drop_overrun",	  "rx_drop_wqe",
	"rx_drop_sequence", "out_of_sequence",	  "implied_nak",
	"rx_nak_seq",	    "rx_nak_rnr",	  "rx_nak_invalid",
	"rx_nak_access",    "rx_nak_operation",	  "tx_nak_seq",
	"tx_nak_rnr",	    "tx_nak_invalid",	  "tx_nak_access",
	"tx_nak_operation", "rx_ecn_marked",	  "retry_exceeded",
	"send_errors",	    "recv_errors",	  "cq_overrun",
	"bad_doorbell",	    "bad_index",	  "bad_wqe",
	"bad_dma",	    "rnr_retry_exceeded",
};

/* Both ends are on one device, so its counters include both sides */
struct counted_ends {
	struct end a;
	struct end b;
	long long before[ARRAY_SIZE(names)];
	char moved[1024];
};

static bool make_counted_ends(struct counted_ends *e, enum ibv_qp_type type)
{
	e->a.ctx = open_mynic(0);
	e->b.ctx = e->a.ctx;
	if (!e->a.ctx || !make_end(&e->a, type) || !make_end(&e->b, type) ||
	    to_rts(&e->a, &e->b) || to_rts(&e->b, &e->a))
		return false;
	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		e->before[i] = counter(e->a.ctx, names[i]);
		if (e->before[i] < 0)
			return false;
	}
	return true;
}

static int free_counted_ends(struct counted_ends *e)
{
	int err = free_end(&e->a);

	err = err ? err : free_end(&e->b);
	return err ? err : ibv_close_device(e->a.ctx);
}

FIXTURE(rc)
{
	struct counted_ends ends;
};

FIXTURE_SETUP(rc)
{
	ASSERT_TRUE(make_counted_ends(&self->ends, IBV_QPT_RC));
}

FIXTURE_TEARDOWN(rc)
{
	EXPECT_EQ(free_counted_ends(&self->ends), 0);
}

FIXTURE(uc)
{
	struct counted_ends ends;
};

FIXTURE_SETUP(uc)
{
	ASSERT_TRUE(make_counted_ends(&self->ends, IBV_QPT_UC));
}

FIXTURE_TEARDOWN(uc)
{
	EXPECT_EQ(free_counted_ends(&self->ends), 0);
}

FIXTURE(ud)
{
	struct counted_ends ends;
};

FIXTURE_SETUP(ud)
{
	ASSERT_TRUE(make_counted_ends(&self->ends, IBV_QPT_UD));
}

FIXTURE_TEARDOWN(ud)
{
	EXPECT_EQ(free_counted_ends(&self->ends), 0);
}

FIXTURE(any)
{
	struct counted_ends ends;
};

FIXTURE_VARIANT(any)
{
	enum ibv_qp_type type;
};

FIXTURE_VARIANT_ADD(any, rc){
	.type = IBV_QPT_RC,
};

FIXTURE_VARIANT_ADD(any, uc){
	.type = IBV_QPT_UC,
};

FIXTURE_VARIANT_ADD(any, ud){
	.type = IBV_QPT_UD,
};

FIXTURE_SETUP(any)
{
	ASSERT_TRUE(make_counted_ends(&self->ends, variant->type));
}

FIXTURE_TEARDOWN(any)
{
	EXPECT_EQ(free_counted_ends(&self->ends), 0);
}

/* Changes of all counters: "NAME CHANGE NAME CHANGE ..." */
static const char *moved(struct counted_ends *e)
{
	size_t len = 0;

	e->moved[0] = 0;
	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		long long times = counter(e->a.ctx, names[i]) - e->before[i];

		if (times && len < sizeof(e->moved))
			len += snprintf(e->moved + len, sizeof(e->moved) - len,
					"%s %lld ", names[i], times);
	}
	return e->moved;
}

/* sysfs may be some milliseconds late, so wait for the expected changes */
static const char *wait_moved(struct counted_ends *e, const char *expected)
{
	time_t end = deadline();

	while (strcmp(moved(e), expected) && time(NULL) < end)
		;
	return e->moved;
}

#define EXPECT_MOVED(expected) \
	EXPECT_STREQ(wait_moved(&self->ends, expected), expected)

/* Send a UD message; -1 selects the valid value */
static int send_ud(const struct end *a, const struct end *b, int qpn, int qkey)
{
	struct ibv_ah_attr attr = rc_attr(a, b).ah_attr;
	struct ibv_ah *ah = ibv_create_ah(a->pd, &attr);
	struct ibv_sge sge = { (uintptr_t)a->buf, 64, a->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.ud = { .ah = ah,
			   .remote_qpn = qpn < 0 ? b->qp->qp_num : qpn,
			   .remote_qkey = qkey < 0 ? 0x11111111 : qkey },
	};
	int err;

	if (!ah)
		return errno;
	err = ibv_post_send(a->qp, &wr, &bad);
	return err ? err : ibv_destroy_ah(ah);
}

/* A message of @len bytes by the QP's type */
static int send_any(struct counted_ends *e, uint32_t len)
{
	if (e->a.qp->qp_type == IBV_QPT_UD)
		return send_ud(&e->a, &e->b, -1, -1);
	return post(&e->a, IBV_WR_SEND, 1, 0, len, NULL);
}

/* Return: the status of the request, or -1 */
static int status_of(const struct end *e)
{
	struct ibv_wc wc;

	return wait_wc(e->cq, &wc) ? (int)wc.status : -1;
}

static bool check_good(struct counted_ends *e)
{
	for (int i = 0; i < 20; i++)
		if (post_recv(&e->b, i, 0, BUF_SIZE) || send_any(e, 10000) ||
		    status_of(&e->a) || status_of(&e->b))
			return false;
	return true;
}

TEST_F(any, nothing_wrong)
{
	EXPECT_TRUE(check_good(&self->ends));
	EXPECT_MOVED("");
}

TEST_F(rc, access)
{
	struct end *a = &self->ends.a, *b = &self->ends.b;

	b->mr->rkey ^= 1;
	ASSERT_EQ(post(a, IBV_WR_RDMA_WRITE, 1, 0, 64, b), 0);
	b->mr->rkey ^= 1;
	EXPECT_EQ(status_of(a), IBV_WC_REM_ACCESS_ERR);
	EXPECT_MOVED("rx_nak_access 1 tx_nak_access 1 send_errors 1 ");
}

TEST_F(uc, access)
{
	struct end *a = &self->ends.a, *b = &self->ends.b;

	b->mr->rkey ^= 1;
	ASSERT_EQ(post(a, IBV_WR_RDMA_WRITE, 1, 0, 64, b), 0);
	b->mr->rkey ^= 1;
	EXPECT_EQ(status_of(a), IBV_WC_SUCCESS);
	EXPECT_MOVED("rx_drop_key 1 ");
}

/* The receive request is too short */
TEST_F(rc, invalid)
{
	struct end *a = &self->ends.a, *b = &self->ends.b;

	ASSERT_EQ(post_recv(b, 1, 0, 10), 0);
	ASSERT_EQ(post(a, IBV_WR_SEND, 1, 0, 64, NULL), 0);
	EXPECT_EQ(status_of(a), IBV_WC_REM_INV_REQ_ERR);
	EXPECT_EQ(status_of(b), IBV_WC_LOC_LEN_ERR);
	EXPECT_MOVED(
		"rx_nak_invalid 1 tx_nak_invalid 1 send_errors 1 recv_errors 1 ");
}

/* The receive request's key is bad */
TEST_F(rc, operation)
{
	struct end *a = &self->ends.a, *b = &self->ends.b;

	b->mr->lkey ^= 1;
	ASSERT_EQ(post_recv(b, 1, 0, 64), 0);
	b->mr->lkey ^= 1;
	ASSERT_EQ(post(a, IBV_WR_SEND, 1, 0, 64, NULL), 0);
	EXPECT_EQ(status_of(a), IBV_WC_REM_OP_ERR);
	EXPECT_EQ(status_of(b), IBV_WC_LOC_PROT_ERR);
	EXPECT_MOVED(
		"rx_nak_operation 1 tx_nak_operation 1 send_errors 1 recv_errors 1 ");
}

/* Connect again with other attributes than those of rc_attr() */
static int reconnect(const struct end *e, const struct end *peer,
		     struct ibv_qp_attr attr)
{
	int err = to_reset(e);

	attr.qp_state = IBV_QPS_INIT;
	err = err ? err : ibv_modify_qp(e->qp, &attr, init_mask(IBV_QPT_RC));
	attr.qp_state = IBV_QPS_RTR;
	err = err ? err : ibv_modify_qp(e->qp, &attr, rtr_mask(IBV_QPT_RC));
	attr.qp_state = IBV_QPS_RTS;
	return err ? err : ibv_modify_qp(e->qp, &attr, rts_mask(IBV_QPT_RC));
}

TEST_F(rc, receiver_not_ready)
{
	struct end *a = &self->ends.a, *b = &self->ends.b;
	struct ibv_qp_attr attr = rc_attr(a, b);

	attr.rnr_retry = 2;
	ASSERT_EQ(reconnect(a, b, attr), 0);
	ASSERT_EQ(post(a, IBV_WR_SEND, 1, 0, 64, NULL), 0);
	EXPECT_EQ(status_of(a), IBV_WC_RNR_RETRY_EXC_ERR);
	EXPECT_MOVED(
		"rx_nak_rnr 3 tx_nak_rnr 3 send_errors 1 rnr_retry_exceeded 1 ");
}

/* The peer does not exist */
TEST_F(rc, no_answer)
{
	struct end *a = &self->ends.a, *b = &self->ends.b;
	struct ibv_qp_attr attr = rc_attr(a, b);
	long long timeouts = counter(a->ctx, "ack_timeout");
	long long retransmits = counter(a->ctx, "retransmit");
	const char *text;

	attr.dest_qp_num = 0xfffff0;
	attr.timeout = 10;
	attr.retry_cnt = 2;
	ASSERT_EQ(reconnect(a, b, attr), 0);
	ASSERT_EQ(post(a, IBV_WR_RDMA_WRITE, 1, 0, 64, b), 0);
	EXPECT_EQ(status_of(a), IBV_WC_RETRY_EXC_ERR);
	EXPECT_TRUE(wait_counter(a->ctx, "ack_timeout", timeouts + 3));
	EXPECT_GE(counter(a->ctx, "retransmit"), retransmits + 2);
	/* no transmission finds a QP, probes included */
	text = moved(&self->ends);
	EXPECT_EQ(strncmp(text, "rx_drop_qp ", 11), 0)
	TH_LOG("%s", text);
	EXPECT_NE(strstr(text, " retry_exceeded 1 send_errors 1 "), NULL)
	TH_LOG("%s", text);
}

/* On UC, the rest of a message is dropped with its first packet */
TEST_F(uc, no_receive_request)
{
	ASSERT_EQ(send_any(&self->ends, 5 * 1024), 0);
	EXPECT_EQ(status_of(&self->ends.a), IBV_WC_SUCCESS);
	EXPECT_MOVED("rx_drop_wqe 1 rx_drop_sequence 4 ");
}

TEST_F(ud, no_receive_request)
{
	ASSERT_EQ(send_any(&self->ends, 64), 0);
	EXPECT_EQ(status_of(&self->ends.a), IBV_WC_SUCCESS);
	EXPECT_MOVED("rx_drop_wqe 1 ");
}

TEST_F(ud, no_such_qp)
{
	ASSERT_EQ(send_ud(&self->ends.a, &self->ends.b, 0xfffff0, -1), 0);
	EXPECT_EQ(status_of(&self->ends.a), IBV_WC_SUCCESS);
	EXPECT_MOVED("rx_drop_qp 1 ");
}

TEST_F(ud, bad_qkey)
{
	ASSERT_EQ(post_recv(&self->ends.b, 1, 0, 128), 0);
	ASSERT_EQ(send_ud(&self->ends.a, &self->ends.b, -1, 0x22222222), 0);
	EXPECT_EQ(status_of(&self->ends.a), IBV_WC_SUCCESS);
	EXPECT_MOVED("rx_drop_key 1 ");
}

/* A bad local key; later requests are flushed */
TEST_F(any, local_key)
{
	self->ends.a.mr->lkey ^= 1;
	ASSERT_EQ(send_any(&self->ends, 64), 0);
	self->ends.a.mr->lkey ^= 1;
	EXPECT_EQ(status_of(&self->ends.a), IBV_WC_LOC_PROT_ERR);
	EXPECT_MOVED("send_errors 1 ");
	ASSERT_EQ(send_any(&self->ends, 64), 0);
	EXPECT_EQ(status_of(&self->ends.a), IBV_WC_WR_FLUSH_ERR);
	EXPECT_MOVED("send_errors 2 ");
}

/* A flag that the operation does not have */
TEST_F(rc, malformed_request)
{
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_IP_CSUM,
	};

	ASSERT_EQ(ibv_post_send(self->ends.a.qp, &wr, &bad), 0);
	EXPECT_EQ(status_of(&self->ends.a), IBV_WC_LOC_QP_OP_ERR);
	EXPECT_MOVED("send_errors 1 bad_wqe 1 ");
}

/* More completions than there is room for */
TEST_F(rc, cq_overrun)
{
	struct end *a = &self->ends.a, *b = &self->ends.b, c = *a;
	long long before = counter(a->ctx, "cq_overrun");
	struct pollfd fd = { .fd = a->ctx->async_fd, .events = POLLIN };
	bool cq_err = false, qp_fatal = false;
	struct ibv_async_event event;

	c.cq = ibv_create_cq(a->ctx, 4, NULL, NULL, 0);
	ASSERT_NE(c.cq, NULL);
	c.qp = make_qp(&c, IBV_QPT_RC);
	ASSERT_NE(c.qp, NULL);
	ASSERT_EQ(to_rts(&c, b), 0);
	ASSERT_EQ(to_reset(b), 0);
	ASSERT_EQ(to_rts(b, &c), 0);
	for (int i = 0; i < 40; i++) {
		ASSERT_EQ(post(&c, IBV_WR_RDMA_WRITE, i, 0, 8, b), 0);
	}
	while (!cq_err || !qp_fatal) {
		ASSERT_EQ(poll(&fd, 1, PATIENCE * 1000), 1);
		ASSERT_EQ(ibv_get_async_event(a->ctx, &event), 0);
		cq_err |= event.event_type == IBV_EVENT_CQ_ERR;
		qp_fatal |= event.event_type == IBV_EVENT_QP_FATAL;
		ibv_ack_async_event(&event);
	}
	EXPECT_TRUE(wait_counter(a->ctx, "cq_overrun", before + 1));
	EXPECT_EQ(ibv_destroy_qp(c.qp), 0);
	EXPECT_EQ(ibv_destroy_cq(c.cq), 0);
}

TEST_HARNESS_MAIN
