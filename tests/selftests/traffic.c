// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Traffic between two ends, on two devices if there are two. It covers what the
 * programs of rdma-core and perftest leave out.
 */
#include <fcntl.h>

#include "verbs.h"

struct ends {
	struct end a;
	struct end b;
};

static bool make_ends(struct ends *ends, enum ibv_qp_type type)
{
	ends->b.ctx = open_mynic(1);
	if (!ends->b.ctx)
		ends->b.ctx = open_mynic(0);
	return ends->b.ctx && make_end(&ends->a, type) &&
	       make_end(&ends->b, type) && !to_rts(&ends->a, &ends->b) &&
	       !to_rts(&ends->b, &ends->a);
}

static int free_ends(struct ends *ends)
{
	int err = free_end(&ends->a);

	err = err ? err : free_end(&ends->b);
	err = err ? err : ibv_close_device(ends->a.ctx);
	return err ? err : ibv_close_device(ends->b.ctx);
}

/* Tests of RC only */
FIXTURE(rc)
{
	struct ends ends;
};

FIXTURE_SETUP(rc)
{
	self->ends.a.ctx = open_mynic(0);
	ASSERT_NE(self->ends.a.ctx, NULL);
	ASSERT_TRUE(make_ends(&self->ends, IBV_QPT_RC));
}

FIXTURE_TEARDOWN(rc)
{
	EXPECT_EQ(free_ends(&self->ends), 0);
}

/* UC: the sender does not learn whether a message has arrived */
FIXTURE(uc)
{
	struct ends ends;
};

FIXTURE_SETUP(uc)
{
	self->ends.a.ctx = open_mynic(0);
	ASSERT_NE(self->ends.a.ctx, NULL);
	ASSERT_TRUE(make_ends(&self->ends, IBV_QPT_UC));
}

FIXTURE_TEARDOWN(uc)
{
	EXPECT_EQ(free_ends(&self->ends), 0);
}

/* Tests of all types */
FIXTURE(any)
{
	struct ends ends;
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
	self->ends.a.ctx = open_mynic(0);
	ASSERT_NE(self->ends.a.ctx, NULL);
	ASSERT_TRUE(make_ends(&self->ends, variant->type));
}

FIXTURE_TEARDOWN(any)
{
	EXPECT_EQ(free_ends(&self->ends), 0);
}

TEST_F(rc, write_sizes)
{
	for (uint32_t len = 0; len <= BUF_SIZE; len = len * 3 + 1) {
		EXPECT_EQ(check_write(&self->ends.a, &self->ends.b, len), 0)
		TH_LOG("%u bytes", len);
	}
}

TEST_F(rc, read)
{
	struct ibv_wc wc;

	for (uint32_t i = 0; i < 100000; i++)
		self->ends.b.buf[i] = i * 3;
	ASSERT_EQ(post(&self->ends.a, IBV_WR_RDMA_READ, 5, 0, 100000,
		       &self->ends.b),
		  0);
	ASSERT_TRUE(wait_wc(self->ends.a.cq, &wc));
	EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
	EXPECT_EQ(wc.opcode, IBV_WC_RDMA_READ);
	EXPECT_EQ(memcmp(self->ends.a.buf, self->ends.b.buf, 100000), 0);
}

TEST_F(rc, fetch_and_add)
{
	uint64_t *counter = (uint64_t *)self->ends.b.buf;
	uint64_t *result = (uint64_t *)self->ends.a.buf;
	struct ibv_sge sge = { (uintptr_t)result, 8, self->ends.a.mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.atomic = { .remote_addr = (uintptr_t)counter,
			       .compare_add = 3,
			       .rkey = self->ends.b.mr->rkey },
	};
	struct ibv_wc wc;

	for (uint64_t i = 0; i < 100; i++) {
		ASSERT_EQ(ibv_post_send(self->ends.a.qp, &wr, &bad), 0);
		ASSERT_TRUE(wait_wc(self->ends.a.cq, &wc));
		EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
		EXPECT_EQ(*result, 3 * i);
	}
	EXPECT_EQ(*counter, 300);
}

/* A wrong key ends the connection at both ends, with the reason */
TEST_F(rc, bad_rkey)
{
	struct ibv_async_event event;
	struct pollfd fd;
	struct ibv_wc wc;

	self->ends.b.mr->rkey ^= 1;
	ASSERT_EQ(post_recv(&self->ends.b, 9, 0, 64), 0);
	ASSERT_EQ(post(&self->ends.a, IBV_WR_RDMA_WRITE, 5, 0, 64,
		       &self->ends.b),
		  0);
	ASSERT_TRUE(wait_wc(self->ends.a.cq, &wc));
	EXPECT_EQ(wc.status, IBV_WC_REM_ACCESS_ERR);
	ASSERT_TRUE(wait_wc(self->ends.b.cq, &wc));
	EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
	fd = (struct pollfd){ .fd = self->ends.b.ctx->async_fd,
			      .events = POLLIN };
	ASSERT_EQ(poll(&fd, 1, PATIENCE * 1000), 1);
	ASSERT_EQ(ibv_get_async_event(self->ends.b.ctx, &event), 0);
	EXPECT_EQ(event.event_type, IBV_EVENT_QP_ACCESS_ERR);
	EXPECT_EQ(event.element.qp, self->ends.b.qp);
	ibv_ack_async_event(&event);
	self->ends.b.mr->rkey ^= 1;
}

/* One message from @a to @b, whose data shows its arrival */
static int check_message(struct ends *ends, enum ibv_wr_opcode opcode,
			 uint32_t len)
{
	bool write = opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	struct end *a = &ends->a, *b = &ends->b;
	struct ibv_wc wc;

	for (uint32_t i = 0; i < len; i++)
		a->buf[i] = i * 11 + len;
	memset(b->buf, 0, len);
	if (post_recv(b, 8, 0, write ? 0 : BUF_SIZE) ||
	    post(a, opcode, 7, 0, len, write ? b : NULL))
		return -1;
	if (!wait_wc(a->cq, &wc) || wc.wr_id != 7)
		return -2;
	if (wc.status)
		return wc.status;
	if (!wait_wc(b->cq, &wc) || wc.wr_id != 8 || wc.byte_len != len)
		return -3;
	if (wc.status)
		return wc.status;
	return memcmp(a->buf, b->buf, len) ? -4 : 0;
}

TEST_F(uc, sizes)
{
	for (uint32_t len = 0; len <= BUF_SIZE; len = len * 3 + 1) {
		EXPECT_EQ(check_message(&self->ends, IBV_WR_SEND, len), 0)
		TH_LOG("SEND of %u bytes", len);
		EXPECT_EQ(check_message(&self->ends, IBV_WR_RDMA_WRITE_WITH_IMM,
					len),
			  0)
		TH_LOG("WRITE of %u bytes", len);
	}
}

TEST_F(uc, no_reads_or_atomics)
{
	struct end *a = &self->ends.a, *b = &self->ends.b;

	EXPECT_EQ(post(a, IBV_WR_RDMA_READ, 1, 0, 8, b), EINVAL);
	EXPECT_EQ(post(a, IBV_WR_ATOMIC_CMP_AND_SWP, 1, 0, 8, b), EINVAL);
	EXPECT_EQ(post(a, IBV_WR_ATOMIC_FETCH_AND_ADD, 1, 0, 8, b), EINVAL);
	EXPECT_EQ(check_message(&self->ends, IBV_WR_SEND, 5000), 0);
}

/* A message that finds no receive request is lost */
TEST_F(uc, losses)
{
	struct end *a = &self->ends.a, *b = &self->ends.b;
	struct ibv_wc wc;

	ASSERT_EQ(post(a, IBV_WR_SEND, 1, 0, 5000, NULL), 0);
	ASSERT_TRUE(wait_wc(a->cq, &wc));
	EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
	EXPECT_EQ(check_message(&self->ends, IBV_WR_SEND, 5000), 0);
	EXPECT_EQ(ibv_poll_cq(b->cq, 1, &wc), 0);
}

/* Send from a to b; the GRH's 40 bytes come first on UD */
static int send(struct end *a, struct end *b, struct ibv_ah *ah, uint64_t wr_id,
		unsigned int flags)
{
	struct ibv_sge sge = { (uintptr_t)a->buf, 64, a->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = flags,
	};

	if (ah) {
		wr.wr.ud.ah = ah;
		wr.wr.ud.remote_qpn = b->qp->qp_num;
		wr.wr.ud.remote_qkey = 0x11111111;
	}
	return ibv_post_send(a->qp, &wr, &bad);
}

static struct ibv_ah *make_ah(struct end *a, struct end *b)
{
	struct ibv_ah_attr attr = rc_attr(a, b).ah_attr;

	return a->qp->qp_type == IBV_QPT_UD ? ibv_create_ah(a->pd, &attr) :
					      NULL;
}

TEST_F(any, completion_events)
{
	struct end *a = &self->ends.a, *b = &self->ends.b;
	struct pollfd fd = { .fd = b->channel->fd, .events = POLLIN };
	struct ibv_ah *ah = make_ah(a, b);
	struct ibv_cq *cq;
	struct ibv_wc wc;
	void *context;

	for (uint64_t i = 0; i < 20; i++) {
		bool solicited_only = i % 2;

		ASSERT_EQ(ibv_req_notify_cq(b->cq, solicited_only), 0);
		ASSERT_EQ(post_recv(b, i, 0, 128), 0);
		ASSERT_EQ(send(a, b, ah, i, IBV_SEND_SIGNALED), 0);
		ASSERT_TRUE(wait_wc(a->cq, &wc));
		if (solicited_only) {
			ASSERT_TRUE(wait_wc(b->cq, &wc));
			EXPECT_EQ(poll(&fd, 1, 0), 0);
			ASSERT_EQ(post_recv(b, i, 0, 128), 0);
			ASSERT_EQ(send(a, b, ah, i,
				       IBV_SEND_SIGNALED | IBV_SEND_SOLICITED),
				  0);
			ASSERT_TRUE(wait_wc(a->cq, &wc));
		}
		ASSERT_EQ(poll(&fd, 1, PATIENCE * 1000), 1);
		ASSERT_EQ(ibv_get_cq_event(b->channel, &cq, &context), 0);
		EXPECT_EQ(cq, b->cq);
		ibv_ack_cq_events(cq, 1);
		ASSERT_TRUE(wait_wc(b->cq, &wc));
		EXPECT_EQ(wc.wr_id, i);
		EXPECT_EQ(wc.byte_len, ah ? 104 : 64);
	}
	if (ah)
		EXPECT_EQ(ibv_destroy_ah(ah), 0);
}

TEST_F(any, shared_receive_queue)
{
	struct end *a = &self->ends.a, *b = &self->ends.b;
	struct ibv_srq_init_attr srq_init = { .attr = { 32, 1, 0 } };
	struct ibv_srq_attr limit = { .srq_limit = 16 };
	struct ibv_qp_init_attr init = {
		.send_cq = b->cq,
		.recv_cq = b->cq,
		.srq = ibv_create_srq(b->pd, &srq_init),
		.cap = { 1, 0, 1, 0, 0 },
		.qp_type = variant->type,
	};
	struct ibv_sge sge = { (uintptr_t)b->buf, 128, b->mr->lkey };
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };
	struct ibv_async_event event;
	struct ibv_ah *ah = make_ah(a, b);
	struct ibv_wc wc;

	ASSERT_NE(init.srq, NULL);
	ASSERT_EQ(ibv_destroy_qp(b->qp), 0);
	b->qp = ibv_create_qp(b->pd, &init);
	ASSERT_NE(b->qp, NULL);
	ASSERT_EQ(ibv_modify_qp(a->qp, &(struct ibv_qp_attr){ 0 },
				IBV_QP_STATE),
		  0);
	ASSERT_EQ(to_rts(a, b), 0);
	ASSERT_EQ(to_rts(b, a), 0);
	for (wr.wr_id = 0; wr.wr_id < 32; wr.wr_id++) {
		ASSERT_EQ(ibv_post_srq_recv(init.srq, &wr, &bad), 0);
	}
	ASSERT_EQ(ibv_modify_srq(init.srq, &limit, IBV_SRQ_LIMIT), 0);
	for (uint64_t i = 0; i < 20; i++) {
		ASSERT_EQ(send(a, b, ah, i, IBV_SEND_SIGNALED), 0);
		ASSERT_TRUE(wait_wc(a->cq, &wc));
		ASSERT_TRUE(wait_wc(b->cq, &wc));
		EXPECT_EQ(wc.wr_id, i);
	}
	ASSERT_EQ(ibv_get_async_event(b->ctx, &event), 0);
	EXPECT_EQ(event.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
	EXPECT_EQ(event.element.srq, init.srq);
	ibv_ack_async_event(&event);
	ASSERT_EQ(ibv_query_srq(init.srq, &limit), 0);
	EXPECT_EQ(limit.srq_limit, 0);
	EXPECT_EQ(ibv_destroy_qp(b->qp), 0);
	b->qp = NULL;
	EXPECT_EQ(ibv_destroy_srq(init.srq), 0);
	if (ah)
		EXPECT_EQ(ibv_destroy_ah(ah), 0);
}

TEST_HARNESS_MAIN
