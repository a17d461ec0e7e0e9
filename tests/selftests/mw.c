// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory windows: their lifetime and that of regions, domains and processes */
#include <sys/wait.h>

#include "verbs.h"

#define MW_ACCESS (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)
#define LEN 4096

/*
 * struct place - memory of @b that windows can be bound to
 * @a: reaches it
 */
FIXTURE(mw)
{
	struct end a;
	struct end b;
	uint8_t *buf;
	struct ibv_mr *mr;
};

FIXTURE_SETUP(mw)
{
	self->a.ctx = open_mynic(0);
	self->b.ctx = open_mynic(1);
	if (!self->b.ctx)
		self->b.ctx = open_mynic(0);
	ASSERT_NE(self->a.ctx, NULL);
	ASSERT_TRUE(make_end(&self->a, IBV_QPT_RC));
	ASSERT_TRUE(make_end(&self->b, IBV_QPT_RC));
	ASSERT_EQ(to_rts(&self->a, &self->b), 0);
	ASSERT_EQ(to_rts(&self->b, &self->a), 0);
	self->buf = self->b.buf + LEN;
	self->mr = ibv_reg_mr(self->b.pd, self->buf, LEN,
			      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	ASSERT_NE(self->mr, NULL);
}

FIXTURE_TEARDOWN(mw)
{
	if (self->mr)
		EXPECT_EQ(ibv_dereg_mr(self->mr), 0);
	EXPECT_EQ(free_end(&self->a), 0);
	EXPECT_EQ(free_end(&self->b), 0);
	EXPECT_EQ(ibv_close_device(self->a.ctx), 0);
	EXPECT_EQ(ibv_close_device(self->b.ctx), 0);
}

static int complete(struct end *e, enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc;

	if (!wait_wc(e->cq, &wc))
		return -1;
	if (wc.status)
		return wc.status;
	return wc.opcode == opcode ? 0 : -2;
}

static int bind1(struct end *e, struct ibv_mw *mw, struct ibv_mr *mr,
		 uint64_t length)
{
	struct ibv_mw_bind bind = {
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = { .mr = mr,
			       .addr = (uintptr_t)mr->addr,
			       .length = length,
			       .mw_access_flags = length ? MW_ACCESS : 0 },
	};
	int err = ibv_bind_mw(e->qp, mw, &bind);

	return err ? -err : complete(e, IBV_WC_BIND_MW);
}

static int bind2(struct end *e, struct ibv_mw *mw, struct ibv_mr *mr)
{
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = { .mw = mw,
			     .rkey = ibv_inc_rkey(mw->rkey),
			     .bind_info = { .mr = mr,
					    .addr = (uintptr_t)mr->addr,
					    .length = LEN,
					    .mw_access_flags = MW_ACCESS } },
	};
	int err = ibv_post_send(e->qp, &wr, &bad);

	err = err ? -err : complete(e, IBV_WC_BIND_MW);
	if (!err)
		mw->rkey = wr.bind_mw.rkey;
	return err;
}

static int invalidate(struct end *e, uint32_t key)
{
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_LOCAL_INV,
		.send_flags = IBV_SEND_SIGNALED,
		.invalidate_rkey = key,
	};
	int err = ibv_post_send(e->qp, &wr, &bad);

	return err ? -err : complete(e, IBV_WC_LOCAL_INV);
}

/* An RDMA WRITE of @a to the window; the status that it sees */
static int reach(struct end *a, uint8_t *buf, uint32_t rkey)
{
	struct ibv_sge sge = { (uintptr_t)a->buf, LEN, a->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.rdma = { .remote_addr = (uintptr_t)buf, .rkey = rkey },
	};

	memset(a->buf, rkey | 1, LEN);
	if (ibv_post_send(a->qp, &wr, &bad))
		return -1;
	return complete(a, IBV_WC_RDMA_WRITE);
}

TEST_F(mw, capabilities)
{
	struct ibv_device_attr attr;

	ASSERT_EQ(ibv_query_device(self->b.ctx, &attr), 0);
	EXPECT_GT(attr.max_mw, 0);
	EXPECT_TRUE(attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW);
	EXPECT_TRUE(attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2A);
	EXPECT_TRUE(attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2B);
	EXPECT_TRUE(attr.device_cap_flags & IBV_DEVICE_MEM_MGT_EXTENSIONS);
}

TEST_F(mw, life)
{
	for (int type = IBV_MW_TYPE_1; type <= IBV_MW_TYPE_2; type++) {
		struct ibv_pd *pd = ibv_alloc_pd(self->b.ctx);
		struct ibv_mw *mw[100];

		ASSERT_NE(pd, NULL);
		for (int i = 0; i < 100; i++) {
			mw[i] = ibv_alloc_mw(pd, type);
			ASSERT_NE(mw[i], NULL);
			EXPECT_NE(mw[i]->rkey, 0);
			EXPECT_EQ(mw[i]->type, type);
		}
		EXPECT_EQ(ibv_dealloc_pd(pd), EBUSY);
		for (int i = 0; i < 100; i++)
			EXPECT_EQ(ibv_dealloc_mw(mw[i]), 0);
		EXPECT_EQ(ibv_dealloc_pd(pd), 0);
	}
}

TEST_F(mw, no_such_type)
{
	errno = 0;
	EXPECT_EQ(ibv_alloc_mw(self->b.pd, 3), NULL);
	EXPECT_EQ(errno, EINVAL);
	errno = 0;
	EXPECT_EQ(ibv_alloc_mw(self->b.pd, 0), NULL);
	EXPECT_EQ(errno, EINVAL);
}

TEST_F(mw, region_is_busy_type1)
{
	struct ibv_mw *mw = ibv_alloc_mw(self->b.pd, IBV_MW_TYPE_1);

	ASSERT_NE(mw, NULL);
	ASSERT_EQ(bind1(&self->b, mw, self->mr, LEN), 0);
	EXPECT_EQ(reach(&self->a, self->buf, mw->rkey), 0);
	EXPECT_EQ(memcmp(self->buf, self->a.buf, LEN), 0);
	EXPECT_EQ(ibv_dereg_mr(self->mr), EBUSY);
	EXPECT_EQ(reach(&self->a, self->buf, mw->rkey), 0);
	ASSERT_EQ(bind1(&self->b, mw, self->mr, 0), 0);
	EXPECT_EQ(ibv_dereg_mr(self->mr), 0);
	self->mr = NULL;
	EXPECT_EQ(reach(&self->a, self->buf, mw->rkey), IBV_WC_REM_ACCESS_ERR);
	EXPECT_EQ(ibv_dealloc_mw(mw), 0);
}

TEST_F(mw, region_is_busy_type2)
{
	struct ibv_mw *mw = ibv_alloc_mw(self->b.pd, IBV_MW_TYPE_2);

	ASSERT_NE(mw, NULL);
	for (int i = 0; i < 300; i++) {
		ASSERT_EQ(bind2(&self->b, mw, self->mr), 0);
		ASSERT_EQ(reach(&self->a, self->buf, mw->rkey), 0);
		ASSERT_EQ(invalidate(&self->b, mw->rkey), 0);
	}
	ASSERT_EQ(bind2(&self->b, mw, self->mr), 0);
	EXPECT_EQ(ibv_dereg_mr(self->mr), EBUSY);
	/* a window that is bound can go */
	EXPECT_EQ(ibv_dealloc_mw(mw), 0);
	EXPECT_EQ(ibv_dereg_mr(self->mr), 0);
	self->mr = NULL;
}

TEST_F(mw, qp_goes_first)
{
	struct ibv_mw *mw = ibv_alloc_mw(self->b.pd, IBV_MW_TYPE_2);

	ASSERT_NE(mw, NULL);
	ASSERT_EQ(bind2(&self->b, mw, self->mr), 0);
	EXPECT_EQ(ibv_destroy_qp(self->b.qp), 0);
	self->b.qp = NULL;
	EXPECT_EQ(ibv_dereg_mr(self->mr), 0);
	self->mr = NULL;
	EXPECT_EQ(ibv_dealloc_mw(mw), 0);
}

TEST_F(mw, region_without_mw_bind)
{
	struct ibv_mw *mw = ibv_alloc_mw(self->b.pd, IBV_MW_TYPE_2);

	ASSERT_NE(mw, NULL);
	EXPECT_EQ(bind2(&self->b, mw, self->b.mr), -EINVAL);
	EXPECT_EQ(ibv_dealloc_mw(mw), 0);
}

/* The driver relies on this when it destroys such a region. */
TEST_F(mw, paged_region)
{
	struct ibv_mw *mw = ibv_alloc_mw(self->b.pd, IBV_MW_TYPE_2);
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND;
	uint32_t lkey = self->mr->lkey;
	struct ibv_mr *mr;

	EXPECT_EQ(ibv_reg_mr(self->b.pd, self->buf, LEN,
			     access | IBV_ACCESS_MW_BIND),
		  NULL);
	EXPECT_EQ(errno, EOPNOTSUPP);
	mr = ibv_reg_mr(self->b.pd, self->buf, LEN, access);
	ASSERT_NE(mr, NULL);
	ASSERT_NE(mw, NULL);
	/* The provider would refuse it, and must not be asked. */
	self->mr->lkey = mr->lkey;
	EXPECT_EQ(bind2(&self->b, mw, self->mr), IBV_WC_MW_BIND_ERR);
	self->mr->lkey = lkey;
	EXPECT_EQ(ibv_dealloc_mw(mw), 0);
	EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST_F(mw, region_registered_again)
{
	struct ibv_mw *mw = ibv_alloc_mw(self->b.pd, IBV_MW_TYPE_1);
	int access = IBV_ACCESS_LOCAL_WRITE;

	ASSERT_NE(mw, NULL);
	ASSERT_EQ(ibv_rereg_mr(self->mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL,
			       0, access),
		  0);
	EXPECT_EQ(bind1(&self->b, mw, self->mr, LEN), -EINVAL);
	ASSERT_EQ(ibv_rereg_mr(self->mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL,
			       0, access | IBV_ACCESS_MW_BIND),
		  0);
	EXPECT_EQ(bind1(&self->b, mw, self->mr, LEN), 0);
	EXPECT_EQ(reach(&self->a, self->buf, mw->rkey), 0);
	EXPECT_EQ(memcmp(self->buf, self->a.buf, LEN), 0);
	EXPECT_EQ(ibv_dealloc_mw(mw), 0);
}

TEST_F(mw, bound_twice)
{
	struct ibv_mw *mw = ibv_alloc_mw(self->b.pd, IBV_MW_TYPE_2);

	ASSERT_NE(mw, NULL);
	EXPECT_EQ(bind2(&self->b, mw, self->mr), 0);
	EXPECT_EQ(bind2(&self->b, mw, self->mr), IBV_WC_MW_BIND_ERR);
	EXPECT_EQ(ibv_dealloc_mw(mw), 0);
}

TEST_F(mw, send_with_inv)
{
	struct ibv_mw *mw = ibv_alloc_mw(self->b.pd, IBV_MW_TYPE_2);
	struct ibv_sge sge = { (uintptr_t)self->a.buf, 100, self->a.mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.opcode = IBV_WR_SEND_WITH_INV,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
	};
	struct ibv_wc wc;

	ASSERT_NE(mw, NULL);
	ASSERT_EQ(bind2(&self->b, mw, self->mr), 0);
	ASSERT_EQ(reach(&self->a, self->buf, mw->rkey), 0);
	wr.invalidate_rkey = mw->rkey;
	ASSERT_EQ(post_recv(&self->b, 5, 0, 1000), 0);
	ASSERT_EQ(ibv_post_send(self->a.qp, &wr, &bad), 0);
	EXPECT_EQ(complete(&self->a, IBV_WC_SEND), 0);
	ASSERT_TRUE(wait_wc(self->b.cq, &wc));
	EXPECT_EQ(wc.status, 0);
	EXPECT_EQ(wc.opcode, IBV_WC_RECV);
	EXPECT_EQ(wc.byte_len, 100);
	EXPECT_EQ(wc.wc_flags, IBV_WC_WITH_INV);
	EXPECT_EQ(wc.invalidated_rkey, mw->rkey);
	EXPECT_EQ(ibv_dereg_mr(self->mr), 0);
	self->mr = NULL;
	EXPECT_EQ(reach(&self->a, self->buf, mw->rkey), IBV_WC_REM_ACCESS_ERR);
	EXPECT_EQ(ibv_dealloc_mw(mw), 0);
}

/* The region may come first when the kernel cleans up */
TEST_F(mw, process_ends_with_windows_bound)
{
	pid_t pid = fork();
	int status;

	ASSERT_GE(pid, 0);
	if (!pid) {
		struct end a = { .ctx = open_mynic(0) }, b = a;
		struct ibv_mw *mw[2];
		struct ibv_mr *mr;

		b.ctx = open_mynic(0);
		if (!a.ctx || !b.ctx || !make_end(&a, IBV_QPT_RC) ||
		    !make_end(&b, IBV_QPT_RC) || to_rts(&a, &b) ||
		    to_rts(&b, &a))
			_exit(1);
		mr = ibv_reg_mr(b.pd, b.buf, LEN,
				IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
		mw[0] = ibv_alloc_mw(b.pd, IBV_MW_TYPE_1);
		mw[1] = ibv_alloc_mw(b.pd, IBV_MW_TYPE_2);
		if (!mr || !mw[0] || !mw[1] || bind1(&b, mw[0], mr, LEN) ||
		    bind2(&b, mw[1], mr))
			_exit(2);
		_exit(0);
	}
	ASSERT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
}

TEST_HARNESS_MAIN
