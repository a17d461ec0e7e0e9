// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* XRC: domains, and receiving queue pairs that several processes share */
#include <signal.h>
#include <sys/wait.h>

#include "verbs.h"

#define LEN 5000
#define WR_ID 0x77
#define NO_SRQ 0xffffff

/*
 * struct node - objects of a process of a node
 * @e: buffers and CQ; its QP is the sending one, if there is one
 * @tgt: the receiving QP
 */
struct node {
	struct end e;
	struct ibv_xrcd *xrcd;
	struct ibv_srq *srq;
	struct ibv_qp *tgt;
	uint32_t srqn;
};

/* All but the receiving QP; the domain is that of @fd */
static bool make_node(struct node *n, int fd)
{
	n->e.ctx = open_mynic(0);
	if (!n->e.ctx || !make_end(&n->e, IBV_QPT_XRC_SEND))
		return false;
	n->xrcd = open_xrcd(n->e.ctx, fd, O_CREAT);
	if (!n->xrcd)
		return false;
	n->srq = make_srq_in(&n->e, n->xrcd);
	return n->srq && !ibv_get_srq_num(n->srq, &n->srqn);
}

static bool make_tgt(struct node *n)
{
	n->tgt = make_tgt_in(&n->e, n->xrcd);
	return n->tgt;
}

static bool open_tgt(struct node *n, uint32_t qpn)
{
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD |
			     IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = qpn,
		.xrcd = n->xrcd,
		.qp_type = IBV_QPT_XRC_RECV,
	};

	n->tgt = ibv_open_qp(n->e.ctx, &attr);
	return n->tgt && n->tgt->qp_num == qpn;
}

static int free_node(struct node *n)
{
	int err = 0;

	if (n->tgt)
		err = ibv_destroy_qp(n->tgt);
	if (!err && n->srq)
		err = ibv_destroy_srq(n->srq);
	if (!err && n->xrcd)
		err = ibv_close_xrcd(n->xrcd);
	if (!err)
		err = free_end(&n->e);
	return err ? err : ibv_close_device(n->e.ctx);
}

/* Connect the sending QP to @tgt, and that to the sending QP, on one device */
static int connect_node(struct node *n)
{
	struct end tgt = n->e;
	struct ibv_qp_attr send, recv;
	int err;

	tgt.qp = n->tgt;
	send = rc_attr(&n->e, &tgt);
	send.retry_cnt = 1;
	send.timeout = 12;
	recv = rc_attr(&tgt, &n->e);
	for (int state = IBV_QPS_INIT; state <= IBV_QPS_RTS; state++) {
		int mask = state == IBV_QPS_INIT ? init_mask(IBV_QPT_RC) :
			   state == IBV_QPS_RTR	 ? rtr_mask(IBV_QPT_RC) :
						   rts_mask(IBV_QPT_RC);
		const int no_tgt = IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				   IBV_QP_MAX_QP_RD_ATOMIC;
		const int no_send = IBV_QP_MAX_DEST_RD_ATOMIC |
				    IBV_QP_MIN_RNR_TIMER;

		send.qp_state = state;
		recv.qp_state = state;
		err = ibv_modify_qp(n->tgt, &recv, mask & ~no_tgt);
		if (!err)
			err = ibv_modify_qp(n->e.qp, &send, mask & ~no_send);
		if (err)
			return err;
	}
	return 0;
}

static int recv_into(struct node *n)
{
	struct ibv_sge sge = { (uintptr_t)n->e.buf, LEN, n->e.mr->lkey };
	struct ibv_recv_wr *bad, wr = {
		.wr_id = WR_ID,
		.sg_list = &sge,
		.num_sge = 1,
	};

	memset(n->e.buf, 0, LEN);
	return ibv_post_srq_recv(n->srq, &wr, &bad);
}

static int post_to(struct node *n, uint32_t srqn)
{
	struct ibv_sge sge = { (uintptr_t)n->e.buf + LEN, LEN, n->e.mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.wr_id = 1,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
		.qp_type.xrc.remote_srqn = srqn,
	};

	for (int i = 0; i < LEN; i++)
		n->e.buf[LEN + i] = i * 7;
	return ibv_post_send(n->e.qp, &wr, &bad);
}

/* A SEND to an SRQ of another process; its status, or -1 */
static int send_to(struct node *n, uint32_t srqn)
{
	struct ibv_wc wc;

	if (post_to(n, srqn) || !wait_wc(n->e.cq, &wc) || wc.wr_id != 1)
		return -1;
	return wc.status;
}

/* Whether the message of send_to() has arrived in the node */
static bool has_received(struct node *n)
{
	struct ibv_wc wc;

	if (!wait_wc(n->e.cq, &wc) || wc.status || wc.wr_id != WR_ID ||
	    wc.opcode != IBV_WC_RECV || wc.byte_len != LEN ||
	    wc.qp_num != n->tgt->qp_num)
		return false;
	for (int i = 0; i < LEN; i++)
		if (n->e.buf[i] != (uint8_t)(i * 7))
			return false;
	return true;
}

static int temp_file(void)
{
	char name[] = "/tmp/xrcXXXXXX";
	int fd = mkstemp(name);

	unlink(name);
	return fd;
}

TEST(domains)
{
	struct ibv_context *ctx = open_mynic(0);
	struct ibv_xrcd *xrcd, *same, *none;
	struct node n = { 0 };
	int fd = temp_file();

	ASSERT_NE(ctx, NULL);
	ASSERT_GE(fd, 0);
	EXPECT_EQ(open_xrcd(ctx, fd, 0), NULL);
	xrcd = open_xrcd(ctx, fd, O_CREAT);
	ASSERT_NE(xrcd, NULL);
	EXPECT_EQ(open_xrcd(ctx, fd, O_CREAT | O_EXCL), NULL);
	same = open_xrcd(ctx, fd, 0);
	ASSERT_NE(same, NULL);
	none = open_xrcd(ctx, -1, O_CREAT);
	ASSERT_NE(none, NULL);
	EXPECT_EQ(ibv_close_xrcd(none), 0);
	EXPECT_EQ(ibv_close_xrcd(xrcd), 0);
	EXPECT_EQ(ibv_close_xrcd(same), 0);
	EXPECT_EQ(open_xrcd(ctx, fd, 0), NULL);
	EXPECT_EQ(ibv_close_device(ctx), 0);

	ASSERT_TRUE(make_node(&n, fd));
	EXPECT_EQ(ibv_close_xrcd(n.xrcd), EBUSY);
	EXPECT_EQ(free_node(&n), 0);
}

/* Both halves in one process, and both completions in one CQ */
TEST(one_process)
{
	struct node n = { 0 };
	struct ibv_wc wc;

	ASSERT_TRUE(make_node(&n, -1));
	ASSERT_TRUE(make_tgt(&n));
	ASSERT_EQ(connect_node(&n), 0);
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(recv_into(&n), 0);
		ASSERT_EQ(post_to(&n, n.srqn), 0);
		for (int j = 0; j < 2; j++) {
			ASSERT_TRUE(wait_wc(n.e.cq, &wc));
			EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
			EXPECT_EQ(wc.qp_num, wc.wr_id == WR_ID ?
						     n.tgt->qp_num :
						     n.e.qp->qp_num);
		}
		EXPECT_EQ(memcmp(n.e.buf, n.e.buf + LEN, LEN), 0);
	}
	EXPECT_EQ(free_node(&n), 0);
}

TEST(unknown_srq)
{
	struct ibv_async_event event;
	struct node n = { 0 };
	struct pollfd fd;

	ASSERT_TRUE(make_node(&n, -1));
	ASSERT_TRUE(make_tgt(&n));
	ASSERT_EQ(connect_node(&n), 0);
	EXPECT_EQ(send_to(&n, NO_SRQ), IBV_WC_REM_INV_REQ_ERR);
	fd = (struct pollfd){ .fd = n.e.ctx->async_fd, .events = POLLIN };
	ASSERT_EQ(poll(&fd, 1, PATIENCE * 1000), 1);
	ASSERT_EQ(ibv_get_async_event(n.e.ctx, &event), 0);
	EXPECT_EQ(event.event_type, IBV_EVENT_QP_REQ_ERR);
	EXPECT_EQ(event.element.qp, n.tgt);
	ibv_ack_async_event(&event);
	EXPECT_EQ(free_node(&n), 0);
}

static void tell(int fd, uint32_t value)
{
	if (write(fd, &value, sizeof(value)) != sizeof(value))
		_exit(100);
}

static uint32_t hear(int fd)
{
	uint32_t value;

	if (read(fd, &value, sizeof(value)) != sizeof(value))
		return 0;
	return value;
}

/*
 * Another process of the node. It reports the number of its SRQ, gets that of
 * the QP and opens it, and receives as often as it is told.
 */
static int other_process(int fd, int in, int out)
{
	struct node n = { 0 };

	if (!make_node(&n, fd))
		return 1;
	tell(out, n.srqn);
	if (!open_tgt(&n, hear(in)))
		return 2;
	while (recv_into(&n) == 0) {
		tell(out, 1);
		if (!has_received(&n))
			return 3;
		tell(out, 2);
		if (hear(in) != 1)
			return free_node(&n) ? 4 : 0;
	}
	return 5;
}

FIXTURE(shared)
{
	struct node n;
	pid_t pid;
	int to;
	int from;
	uint32_t srqn;
};

FIXTURE_SETUP(shared)
{
	int fd = temp_file(), in[2], out[2];

	ASSERT_GE(fd, 0);
	ASSERT_EQ(pipe(in), 0);
	ASSERT_EQ(pipe(out), 0);
	self->pid = fork();
	ASSERT_GE(self->pid, 0);
	if (!self->pid) {
		close(in[1]);
		_exit(other_process(fd, in[0], out[1]));
	}
	close(in[0]);
	close(out[1]);
	self->to = in[1];
	self->from = out[0];
	ASSERT_TRUE(make_node(&self->n, fd));
	ASSERT_TRUE(make_tgt(&self->n));
	ASSERT_EQ(connect_node(&self->n), 0);
	self->srqn = hear(self->from);
	ASSERT_NE(self->srqn, 0);
	tell(self->to, self->n.tgt->qp_num);
	ASSERT_EQ(hear(self->from), 1);
}

FIXTURE_TEARDOWN(shared)
{
	EXPECT_EQ(free_node(&self->n), 0);
}

/* The QP exists as long as a process has it open, even without its creator */
TEST_F(shared, creator_leaves)
{
	int status;

	EXPECT_EQ(send_to(&self->n, self->srqn), IBV_WC_SUCCESS);
	ASSERT_EQ(hear(self->from), 2);
	ASSERT_EQ(ibv_destroy_qp(self->n.tgt), 0);
	self->n.tgt = NULL;
	tell(self->to, 1);
	ASSERT_EQ(hear(self->from), 1);
	EXPECT_EQ(send_to(&self->n, self->srqn), IBV_WC_SUCCESS);
	ASSERT_EQ(hear(self->from), 2);
	tell(self->to, 0);
	ASSERT_EQ(waitpid(self->pid, &status, 0), self->pid);
	EXPECT_EQ(status, 0);
	EXPECT_EQ(send_to(&self->n, self->srqn), IBV_WC_RETRY_EXC_ERR);
}

/* The other process cannot use the SRQ of one that has died */
TEST_F(shared, receiver_is_killed)
{
	int status;

	EXPECT_EQ(send_to(&self->n, self->srqn), IBV_WC_SUCCESS);
	ASSERT_EQ(hear(self->from), 2);
	ASSERT_EQ(kill(self->pid, SIGKILL), 0);
	ASSERT_EQ(waitpid(self->pid, &status, 0), self->pid);
	EXPECT_EQ(send_to(&self->n, self->srqn), IBV_WC_REM_INV_REQ_ERR);
}

TEST_HARNESS_MAIN
