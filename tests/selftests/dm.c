// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Device memory: errors, lifetime, and access by RDMA */
#include <signal.h>
#include <sys/wait.h>

#include "verbs.h"

#define PIECE 8192
#define ACCESS                                              \
	(IBV_ACCESS_ZERO_BASED | IBV_ACCESS_LOCAL_WRITE |   \
	 IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
	 IBV_ACCESS_REMOTE_ATOMIC)

FIXTURE(dm)
{
	struct end a;
	struct end b;
	uint64_t max;
};

FIXTURE_SETUP(dm)
{
	struct ibv_device_attr_ex attr;

	self->a.ctx = open_mynic(0);
	self->b.ctx = open_mynic(0);
	ASSERT_NE(self->a.ctx, NULL);
	ASSERT_NE(self->b.ctx, NULL);
	ASSERT_TRUE(make_end(&self->a, IBV_QPT_RC));
	ASSERT_TRUE(make_end(&self->b, IBV_QPT_RC));
	ASSERT_EQ(ibv_query_device_ex(self->a.ctx, NULL, &attr), 0);
	self->max = attr.max_dm_size;
	ASSERT_GE(self->max, 1 << 20);
}

FIXTURE_TEARDOWN(dm)
{
	EXPECT_EQ(free_end(&self->a), 0);
	EXPECT_EQ(free_end(&self->b), 0);
	EXPECT_EQ(ibv_close_device(self->a.ctx), 0);
	EXPECT_EQ(ibv_close_device(self->b.ctx), 0);
}

static struct ibv_dm *alloc_dm(struct ibv_context *ctx, size_t length,
			       uint32_t log_align)
{
	struct ibv_alloc_dm_attr attr = {
		.length = length,
		.log_align_req = log_align,
	};

	errno = 0;
	return ibv_alloc_dm(ctx, &attr);
}

TEST_F(dm, bad_arguments)
{
	struct ibv_context *ctx = self->a.ctx;
	struct ibv_dm *dm;

	EXPECT_EQ(alloc_dm(ctx, 0, 0), NULL);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(alloc_dm(ctx, 1, 64), NULL);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(alloc_dm(ctx, 1, UINT32_MAX), NULL);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(alloc_dm(ctx, 1, 63), NULL);
	EXPECT_EQ(errno, ENOMEM);
	EXPECT_EQ(alloc_dm(ctx, self->max + 1, 0), NULL);
	EXPECT_EQ(errno, ENOMEM);
	EXPECT_EQ(alloc_dm(ctx, SIZE_MAX, 0), NULL);
	EXPECT_EQ(errno, ENOMEM);

	dm = alloc_dm(ctx, PIECE, 16);
	ASSERT_NE(dm, NULL);
	errno = 0;
	EXPECT_EQ(ibv_reg_dm_mr(self->a.pd, dm, 4, PIECE, ACCESS), NULL);
	EXPECT_EQ(errno, EINVAL);
	errno = 0;
	EXPECT_EQ(ibv_reg_dm_mr(self->a.pd, dm, PIECE + 4, 0, ACCESS), NULL);
	EXPECT_EQ(errno, EINVAL);
	errno = 0;
	EXPECT_EQ(ibv_reg_dm_mr(self->a.pd, dm, 0, PIECE,
				IBV_ACCESS_LOCAL_WRITE),
		  NULL);
	EXPECT_EQ(errno, EINVAL);
	errno = 0;
	EXPECT_EQ(ibv_reg_dm_mr(self->a.pd, dm, 0, PIECE,
				IBV_ACCESS_ZERO_BASED |
					IBV_ACCESS_REMOTE_WRITE),
		  NULL);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(ibv_free_dm(dm), 0);
}

TEST_F(dm, busy_while_registered)
{
	struct ibv_dm *dm = alloc_dm(self->a.ctx, PIECE, 0);
	struct ibv_mr *mr;

	ASSERT_NE(dm, NULL);
	mr = ibv_reg_dm_mr(self->a.pd, dm, 0, PIECE, ACCESS);
	ASSERT_NE(mr, NULL);
	EXPECT_EQ(ibv_free_dm(dm), EBUSY);
	EXPECT_EQ(ibv_dereg_mr(mr), 0);
	EXPECT_EQ(ibv_free_dm(dm), 0);
}

static bool is_zero(struct ibv_dm *dm)
{
	char buf[PIECE];

	if (ibv_memcpy_from_dm(buf, dm, 0, PIECE))
		return false;
	for (size_t i = 0; i < PIECE; i++)
		if (buf[i])
			return false;
	return true;
}

/* Two owners do not see each other's data, even after it is freed. */
TEST_F(dm, is_zeroed_and_private)
{
	struct ibv_dm *one = alloc_dm(self->a.ctx, PIECE, 0);
	struct ibv_dm *two = alloc_dm(self->b.ctx, PIECE, 0);
	char buf[PIECE];

	ASSERT_NE(one, NULL);
	ASSERT_NE(two, NULL);
	EXPECT_TRUE(is_zero(one));
	EXPECT_TRUE(is_zero(two));
	memset(buf, 0x5a, PIECE);
	EXPECT_EQ(ibv_memcpy_to_dm(one, 0, buf, PIECE), 0);
	EXPECT_FALSE(is_zero(one));
	EXPECT_TRUE(is_zero(two));
	EXPECT_EQ(ibv_free_dm(one), 0);
	one = alloc_dm(self->b.ctx, PIECE, 0);
	ASSERT_NE(one, NULL);
	EXPECT_TRUE(is_zero(one));
	EXPECT_EQ(ibv_free_dm(one), 0);
	EXPECT_EQ(ibv_free_dm(two), 0);
}

/* One RDMA request of @a on @mr at @addr. Return: its status, or -1 */
static int run(struct end *a, enum ibv_wr_opcode opcode, uint32_t at,
	       uint32_t len, struct ibv_mr *mr, uint64_t addr)
{
	struct ibv_sge sge = { (uintptr_t)a->buf + at, len, a->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_wc wc;

	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = addr;
		wr.wr.atomic.compare_add = 3;
		wr.wr.atomic.rkey = mr->rkey;
	} else {
		wr.wr.rdma.remote_addr = addr;
		wr.wr.rdma.rkey = mr->rkey;
	}
	if (ibv_post_send(a->qp, &wr, &bad) || !wait_wc(a->cq, &wc))
		return -1;
	return wc.status;
}

TEST_F(dm, remote_access)
{
	struct ibv_dm *dm = alloc_dm(self->b.ctx, PIECE, 0);
	uint8_t *buf = self->a.buf;
	uint64_t word, sum;
	struct ibv_mr *mr;

	ASSERT_NE(dm, NULL);
	ASSERT_EQ(to_rts(&self->a, &self->b), 0);
	ASSERT_EQ(to_rts(&self->b, &self->a), 0);
	mr = ibv_reg_dm_mr(self->b.pd, dm, 8, PIECE - 8, ACCESS);
	ASSERT_NE(mr, NULL);
	for (unsigned int i = 0; i < PIECE; i++)
		buf[i] = i * 11 + 1;
	EXPECT_EQ(run(&self->a, IBV_WR_RDMA_WRITE, 0, PIECE - 8, mr, 0), 0);
	EXPECT_EQ(ibv_memcpy_from_dm(buf + PIECE, dm, 8, PIECE - 8), 0);
	EXPECT_EQ(memcmp(buf, buf + PIECE, PIECE - 8), 0);

	memset(buf + PIECE, 0x77, 64);
	EXPECT_EQ(ibv_memcpy_to_dm(dm, 72, buf + PIECE, 64), 0);
	memcpy(buf + 64, buf + PIECE, 64);
	EXPECT_EQ(run(&self->a, IBV_WR_RDMA_READ, PIECE, PIECE - 8, mr, 0), 0);
	EXPECT_EQ(memcmp(buf, buf + PIECE, PIECE - 8), 0);

	EXPECT_EQ(run(&self->a, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 8, mr, 64), 0);
	memcpy(&word, buf, 8);
	EXPECT_EQ(word, 0x7777777777777777);
	EXPECT_EQ(ibv_memcpy_from_dm(&sum, dm, 72, 8), 0);
	EXPECT_EQ(sum, word + 3);

	EXPECT_EQ(run(&self->a, IBV_WR_RDMA_WRITE, 0, 8, mr, PIECE - 12),
		  IBV_WC_REM_ACCESS_ERR);
	EXPECT_EQ(ibv_dereg_mr(mr), 0);
	EXPECT_EQ(ibv_free_dm(dm), 0);
}

/* Device memory of a killed process is free again. */
TEST_F(dm, killed_process)
{
	int status, pipefd[2];
	struct ibv_dm *dm;
	char ready;
	pid_t pid;

	ASSERT_EQ(pipe(pipefd), 0);
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid) {
		struct ibv_context *ctx = open_mynic(0);
		struct ibv_pd *pd = ctx ? ibv_alloc_pd(ctx) : NULL;

		dm = pd ? alloc_dm(ctx, self->max, 0) : NULL;
		ready = dm && ibv_reg_dm_mr(pd, dm, 0, self->max, ACCESS);
		if (write(pipefd[1], &ready, 1) == 1)
			pause();
		_exit(1);
	}
	EXPECT_EQ(read(pipefd[0], &ready, 1), 1);
	EXPECT_EQ(ready, 1);
	EXPECT_EQ(alloc_dm(self->a.ctx, 1, 0), NULL);
	EXPECT_EQ(errno, ENOMEM);
	EXPECT_EQ(kill(pid, SIGKILL), 0);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	dm = alloc_dm(self->a.ctx, self->max, 0);
	ASSERT_NE(dm, NULL);
	EXPECT_EQ(ibv_free_dm(dm), 0);
	close(pipefd[0]);
	close(pipefd[1]);
}

TEST_HARNESS_MAIN
