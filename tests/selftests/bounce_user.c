// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What processes are refused where the device would work on copies of their
 * memory. bounce.sh runs this.
 */
#include <sys/mman.h>

#include "verbs.h"

#define LEN 8192

FIXTURE(bounce)
{
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	void *mem;
};

FIXTURE_SETUP(bounce)
{
	self->ctx = open_mynic(0);
	ASSERT_NE(self->ctx, NULL);
	self->pd = ibv_alloc_pd(self->ctx);
	ASSERT_NE(self->pd, NULL);
	self->mem = mmap(NULL, LEN, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(self->mem, MAP_FAILED);
}

FIXTURE_TEARDOWN(bounce)
{
	munmap(self->mem, LEN);
	EXPECT_EQ(ibv_dealloc_pd(self->pd), 0);
	EXPECT_EQ(ibv_close_device(self->ctx), 0);
}

TEST_F(bounce, no_queues)
{
	struct ibv_srq_init_attr init = { .attr = { 16, 1, 0 } };

	errno = 0;
	EXPECT_EQ(ibv_create_cq(self->ctx, 16, NULL, NULL, 0), NULL);
	EXPECT_EQ(errno, ENOMEM);
	errno = 0;
	EXPECT_EQ(ibv_create_srq(self->pd, &init), NULL);
	EXPECT_EQ(errno, ENOMEM);
}

TEST_F(bounce, no_regions)
{
	errno = 0;
	EXPECT_EQ(ibv_reg_mr(self->pd, self->mem, LEN, IBV_ACCESS_LOCAL_WRITE),
		  NULL);
	EXPECT_EQ(errno, EIO);
}

/* Such a region has no pages before it is used. */
TEST_F(bounce, no_pages_on_demand)
{
	struct ibv_sge sge = { (uintptr_t)self->mem, LEN, 0 };
	struct ibv_mr *mr;

	mr = ibv_reg_mr(self->pd, self->mem, LEN,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND);
	ASSERT_NE(mr, NULL);
	sge.lkey = mr->lkey;
	EXPECT_EQ(ibv_advise_mr(self->pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE,
				IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1),
		  ENOMEM);
	EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST_HARNESS_MAIN
