// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Errors of verbs with illegal arguments, and the order of destruction */
#include <sys/mman.h>

#include "verbs.h"

FIXTURE(mynic)
{
	struct end e;
};

FIXTURE_SETUP(mynic)
{
	self->e.ctx = open_mynic(0);
	ASSERT_NE(self->e.ctx, NULL);
	ASSERT_TRUE(make_end(&self->e, IBV_QPT_RC));
}

FIXTURE_TEARDOWN(mynic)
{
	EXPECT_EQ(free_end(&self->e), 0);
	EXPECT_EQ(ibv_close_device(self->e.ctx), 0);
}

/* NULL with this errno */
#define EXPECT_FAILS(call, error)        \
	do {                             \
		errno = 0;               \
		EXPECT_EQ(call, NULL);   \
		EXPECT_EQ(errno, error); \
	} while (0)

TEST_F(mynic, reg_mr)
{
	struct end *e = &self->e;
	void *hole =
		mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *readonly =
		mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct ibv_mr *mr;

	/* remote writing without local writing */
	EXPECT_FAILS(ibv_reg_mr(e->pd, e->buf, 64, IBV_ACCESS_REMOTE_WRITE),
		     EINVAL);
	EXPECT_FAILS(ibv_reg_mr(e->pd, e->buf, 64, IBV_ACCESS_REMOTE_ATOMIC),
		     EINVAL);
	EXPECT_FAILS(ibv_reg_mr(e->pd, hole, 64, 0), EFAULT);
	EXPECT_FAILS(ibv_reg_mr(e->pd, readonly, 64, IBV_ACCESS_LOCAL_WRITE),
		     EFAULT);
	EXPECT_FAILS(ibv_reg_mr(e->pd, (void *)-4096ul, 8192, 0), EINVAL);
	mr = ibv_reg_mr(e->pd, readonly, 64, IBV_ACCESS_REMOTE_READ);
	ASSERT_NE(mr, NULL);
	EXPECT_EQ(ibv_dereg_mr(mr), 0);
	munmap(hole, 8192);
	munmap(readonly, 4096);
}

TEST_F(mynic, create_cq)
{
	struct ibv_device_attr attr;
	struct end *e = &self->e;

	ASSERT_EQ(ibv_query_device(e->ctx, &attr), 0);
	EXPECT_FAILS(ibv_create_cq(e->ctx, attr.max_cqe + 1, NULL, NULL, 0),
		     EINVAL);
	EXPECT_FAILS(ibv_create_cq(e->ctx, 0, NULL, NULL, 0), EINVAL);
	EXPECT_FAILS(ibv_create_cq(e->ctx, -1, NULL, NULL, 0), EINVAL);
	EXPECT_FAILS(ibv_create_cq(e->ctx, 1, NULL, NULL,
				   e->ctx->num_comp_vectors),
		     EINVAL);
	EXPECT_FAILS(ibv_create_cq(e->ctx, 1, NULL, NULL, -1), EINVAL);
}

TEST_F(mynic, create_qp)
{
	struct ibv_qp_cap good = { 1, 1, 1, 1, 0 }, bad;
	struct ibv_device_attr attr;
	struct end *e = &self->e;

	ASSERT_EQ(ibv_query_device(e->ctx, &attr), 0);
#define TRY(field, value)                                                     \
	do {                                                                  \
		bad = good;                                                   \
		bad.field = value;                                            \
		EXPECT_FAILS(make_qp_with(e, IBV_QPT_RC, NULL, bad), EINVAL); \
		EXPECT_FAILS(make_qp_with(e, IBV_QPT_UC, NULL, bad), EINVAL); \
		EXPECT_FAILS(make_qp_with(e, IBV_QPT_UD, NULL, bad), EINVAL); \
	} while (0)
	TRY(max_send_wr, attr.max_qp_wr + 1);
	TRY(max_recv_wr, attr.max_qp_wr + 1);
	TRY(max_send_wr, 0xffffffff);
	TRY(max_send_sge, attr.max_sge + 100);
	TRY(max_recv_sge, attr.max_sge + 100);
	TRY(max_inline_data, 100000);
	TRY(max_inline_data, 0xffffffff);
#undef TRY
	EXPECT_FAILS(make_qp_with(e, 200, NULL, good), EOPNOTSUPP);
}

TEST_F(mynic, create_srq)
{
	struct ibv_srq_init_attr init = { .attr = { 16, 1, 0 } };
	struct ibv_srq_attr limit = { .srq_limit = 17 };
	struct ibv_device_attr attr;
	struct end *e = &self->e;
	struct ibv_srq *srq;

	ASSERT_EQ(ibv_query_device(e->ctx, &attr), 0);
	init.attr.max_wr = attr.max_srq_wr + 1;
	EXPECT_FAILS(ibv_create_srq(e->pd, &init), EINVAL);
	init.attr.max_wr = 16;
	init.attr.max_sge = attr.max_srq_sge + 100;
	EXPECT_FAILS(ibv_create_srq(e->pd, &init), EINVAL);
	init.attr.max_sge = 1;
	srq = ibv_create_srq(e->pd, &init);
	ASSERT_NE(srq, NULL);
	EXPECT_GE(init.attr.max_wr, 16);
	limit.srq_limit = init.attr.max_wr + 1;
	EXPECT_EQ(ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT), EINVAL);
	limit.srq_limit = 8;
	EXPECT_EQ(ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT), 0);
	EXPECT_EQ(ibv_destroy_srq(srq), 0);
}

TEST_F(mynic, create_ah)
{
	struct ibv_ah_attr attr = rc_attr(&self->e, &self->e).ah_attr;
	struct ibv_ah *ah;

	/* error of the RDMA core for an empty entry */
	attr.grh.sgid_index = 250;
	EXPECT_FAILS(ibv_create_ah(self->e.pd, &attr), ENODATA);
	attr = rc_attr(&self->e, &self->e).ah_attr;
	attr.port_num = 2;
	EXPECT_FAILS(ibv_create_ah(self->e.pd, &attr), EINVAL);
	attr.port_num = 1;
	/* RoCE has no addresses without a GRH */
	attr.is_global = 0;
	EXPECT_FAILS(ibv_create_ah(self->e.pd, &attr), EINVAL);
	attr.is_global = 1;
	ah = ibv_create_ah(self->e.pd, &attr);
	ASSERT_NE(ah, NULL);
	EXPECT_EQ(ibv_destroy_ah(ah), 0);
}

TEST_F(mynic, query)
{
	struct ibv_port_attr port;
	union ibv_gid gid;
	__be16 pkey;

	EXPECT_NE(ibv_query_port(self->e.ctx, 0, &port), 0);
	EXPECT_NE(ibv_query_port(self->e.ctx, 2, &port), 0);
	ASSERT_EQ(ibv_query_port(self->e.ctx, 1, &port), 0);
	EXPECT_EQ(port.link_layer, IBV_LINK_LAYER_ETHERNET);
	EXPECT_NE(ibv_query_gid(self->e.ctx, 1, port.gid_tbl_len, &gid), 0);
	EXPECT_EQ(ibv_query_pkey(self->e.ctx, 1, 0, &pkey), 0);
	EXPECT_EQ(pkey, 0xffff);
	EXPECT_NE(ibv_query_pkey(self->e.ctx, 1, 1, &pkey), 0);
}

TEST_F(mynic, destroy_order)
{
	struct end *e = &self->e;
	struct ibv_srq_init_attr srq_init = { .attr = { 16, 1, 0 } };
	struct ibv_qp_init_attr init = {
		.send_cq = e->cq,
		.recv_cq = e->cq,
		.cap = { 1, 1, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_srq *srq = ibv_create_srq(e->pd, &srq_init);
	struct ibv_qp *qp;

	ASSERT_NE(srq, NULL);
	init.srq = srq;
	qp = ibv_create_qp(e->pd, &init);
	ASSERT_NE(qp, NULL);
	EXPECT_EQ(ibv_dealloc_pd(e->pd), EBUSY);
	EXPECT_EQ(ibv_destroy_cq(e->cq), EBUSY);
	EXPECT_EQ(ibv_destroy_srq(srq), EBUSY);
	EXPECT_EQ(ibv_destroy_comp_channel(e->channel), EBUSY);
	EXPECT_EQ(ibv_destroy_qp(qp), 0);
	EXPECT_EQ(ibv_destroy_srq(srq), 0);
	/* all of it still works */
	EXPECT_EQ(to_rts(e, e), 0);
	EXPECT_EQ(check_write(e, e, 5000), 0);
}

TEST_F(mynic, post_send)
{
	struct end *e = &self->e;
	struct ibv_sge sge[64] = { 0 };
	struct ibv_send_wr *bad, wr[2] = {
		{ .next = &wr[1],
		  .opcode = IBV_WR_RDMA_WRITE,
		  .send_flags = IBV_SEND_SIGNALED },
		{ .opcode = IBV_WR_RDMA_WRITE,
		  .sg_list = sge,
		  .send_flags = IBV_SEND_SIGNALED },
	};
	struct ibv_wc wc;

	/* not before RTS */
	EXPECT_EQ(ibv_post_send(e->qp, &wr[1], &bad), EINVAL);
	EXPECT_EQ(bad, &wr[1]);
	ASSERT_EQ(to_rts(e, e), 0);
	/* a chain stops at the bad request, and those before it are executed */
	wr[1].num_sge = 64;
	EXPECT_EQ(ibv_post_send(e->qp, wr, &bad), EINVAL);
	EXPECT_EQ(bad, &wr[1]);
	ASSERT_TRUE(wait_wc(e->cq, &wc));
	EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
	wr[1].num_sge = 0;
	wr[1].opcode = IBV_WR_TSO;
	EXPECT_EQ(ibv_post_send(e->qp, &wr[1], &bad), EINVAL);
	wr[1].opcode = 77;
	EXPECT_EQ(ibv_post_send(e->qp, &wr[1], &bad), EINVAL);
	wr[1].opcode = IBV_WR_RDMA_WRITE;
	wr[1].send_flags |= IBV_SEND_INLINE;
	wr[1].num_sge = 1;
	sge[0] = (struct ibv_sge){ (uintptr_t)e->buf, 60000, 0 };
	EXPECT_EQ(ibv_post_send(e->qp, &wr[1], &bad), EINVAL);
	EXPECT_EQ(ibv_poll_cq(e->cq, 1, &wc), 0);
}

TEST_F(mynic, post_until_full)
{
	struct end *e = &self->e;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct ibv_wc wc;
	unsigned int sent = 0, posted = 0;
	int err;

	ASSERT_EQ(to_rts(e, e), 0);
	ASSERT_EQ(ibv_query_qp(e->qp, &attr, IBV_QP_CAP, &init), 0);
	while (!(err = post_recv(e, posted, 0, 64)) && posted < 100000)
		posted++;
	EXPECT_EQ(err, ENOMEM);
	EXPECT_GE(posted, init.cap.max_recv_wr);
	/* in SQD, so that nothing completes meanwhile */
	attr.qp_state = IBV_QPS_SQD;
	ASSERT_EQ(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE), 0);
	while (!(err = post(e, IBV_WR_RDMA_WRITE, sent, 0, 8, e)) &&
	       sent < 100000)
		sent++;
	EXPECT_EQ(err, ENOMEM);
	EXPECT_GE(sent, init.cap.max_send_wr);
	attr.qp_state = IBV_QPS_RTS;
	ASSERT_EQ(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE), 0);
	for (unsigned int i = 0; i < sent; i++) {
		ASSERT_TRUE(wait_wc(e->cq, &wc));
		EXPECT_EQ(wc.wr_id, i);
		EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
	}
}

TEST_F(mynic, mcast)
{
	union ibv_gid group = { .raw = { 0xff, 0x0e, [15] = 1 } };
	union ibv_gid unicast = { .raw = { 0xfe, 0x80, [15] = 1 } };
	struct ibv_qp *ud = make_qp(&self->e, IBV_QPT_UD);
	struct end ud_end = self->e;

	ASSERT_NE(ud, NULL);
	ud_end.qp = ud;
	ASSERT_EQ(to_rts(&ud_end, &ud_end), 0);
	EXPECT_EQ(ibv_attach_mcast(self->e.qp, &group, 0), EINVAL);
	EXPECT_EQ(ibv_attach_mcast(ud, &unicast, 0), EINVAL);
	EXPECT_EQ(ibv_detach_mcast(ud, &group, 0), EINVAL);
	EXPECT_EQ(ibv_attach_mcast(ud, &group, 0), 0);
	EXPECT_EQ(ibv_detach_mcast(ud, &group, 0), 0);
	EXPECT_EQ(ibv_destroy_qp(ud), 0);
}

TEST_HARNESS_MAIN
