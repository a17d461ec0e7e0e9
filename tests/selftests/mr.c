// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory regions: registered again, null regions, on dma-bufs, and imported */
#include <sys/mman.h>
#include <sys/wait.h>

#include "context.h"
#include "dmabuf.h"
#include "verbs.h"

/* of a dma-buf, too, which has whole pages */
#define LEN (2 * (size_t)sysconf(_SC_PAGESIZE))
#define ALL                                                 \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
	 IBV_ACCESS_REMOTE_READ)

#define TRANS IBV_REREG_MR_CHANGE_TRANSLATION
#define PD IBV_REREG_MR_CHANGE_PD
#define ACCESS IBV_REREG_MR_CHANGE_ACCESS

/*
 * A queue pair and its peer in one protection domain, and a region that one
 * accesses through the other
 */
FIXTURE(region)
{
	struct end e;
	struct end peer;
	struct ibv_pd *other_pd;
	struct ibv_mr *mr;
	uint8_t *mem, *other;
};

static uint8_t *get_memory(void)
{
	return mmap(NULL, LEN, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

FIXTURE_SETUP(region)
{
	self->e.ctx = open_mynic(0);
	ASSERT_NE(self->e.ctx, NULL);
	ASSERT_TRUE(make_end(&self->e, IBV_QPT_RC));
	self->peer = self->e;
	self->peer.qp = make_qp(&self->e, IBV_QPT_RC);
	ASSERT_NE(self->peer.qp, NULL);
	ASSERT_EQ(to_rts(&self->e, &self->peer), 0);
	ASSERT_EQ(to_rts(&self->peer, &self->e), 0);
	self->other_pd = ibv_alloc_pd(self->e.ctx);
	ASSERT_NE(self->other_pd, NULL);
	self->mem = get_memory();
	self->other = get_memory();
	ASSERT_NE(self->mem, MAP_FAILED);
	ASSERT_NE(self->other, MAP_FAILED);
	self->mr = ibv_reg_mr(self->e.pd, self->mem, LEN, ALL);
	ASSERT_NE(self->mr, NULL);
}

FIXTURE_TEARDOWN(region)
{
	if (self->mr)
		EXPECT_EQ(ibv_dereg_mr(self->mr), 0);
	EXPECT_EQ(ibv_dealloc_pd(self->other_pd), 0);
	EXPECT_EQ(ibv_destroy_qp(self->peer.qp), 0);
	EXPECT_EQ(free_end(&self->e), 0);
	EXPECT_EQ(ibv_close_device(self->e.ctx), 0);
	munmap(self->mem, LEN);
	munmap(self->other, LEN);
}

/* One request. After a failure, the queue pairs are connected again */
static int request(struct end *e, struct end *peer, enum ibv_wr_opcode opcode,
		   struct ibv_sge sge, uint64_t addr, uint32_t rkey)
{
	struct ibv_send_wr *bad, wr = {
		.wr_id = 7,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = addr, .rkey = rkey },
	};
	struct ibv_wc wc;

	if (ibv_post_send(e->qp, &wr, &bad) || !wait_wc(e->cq, &wc) ||
	    wc.wr_id != 7)
		return -1;
	if (wc.status && (to_reset(e) || to_reset(peer) || to_rts(e, peer) ||
			  to_rts(peer, e)))
		return -2;
	return wc.status;
}

/* An RDMA WRITE of LEN bytes, with different data each time */
static int write_to(struct end *e, struct end *peer, uint64_t addr,
		    uint32_t rkey)
{
	static uint8_t seed;
	struct ibv_sge sge = { (uintptr_t)e->buf, LEN, e->mr->lkey };

	memset(e->buf, ++seed, LEN);
	return request(e, peer, IBV_WR_RDMA_WRITE, sge, addr, rkey);
}

static int read_from(struct end *e, struct end *peer, uint64_t addr,
		     uint32_t rkey)
{
	struct ibv_sge sge = { (uintptr_t)e->buf, LEN, e->mr->lkey };

	return request(e, peer, IBV_WR_RDMA_READ, sge, addr, rkey);
}

#define CHECK_WRITE(addr, mem)                                               \
	do {                                                                 \
		EXPECT_EQ(write_to(&self->e, &self->peer, (uintptr_t)(addr), \
				   self->mr->rkey),                          \
			  IBV_WC_SUCCESS);                                   \
		EXPECT_EQ(memcmp(self->e.buf, mem, LEN), 0);                 \
	} while (0)
#define CHECK_REFUSED(addr)                                          \
	EXPECT_EQ(write_to(&self->e, &self->peer, (uintptr_t)(addr), \
			   self->mr->rkey),                          \
		  IBV_WC_REM_ACCESS_ERR)

TEST_F(region, rereg_translation)
{
	uint32_t key = self->mr->rkey;

	CHECK_WRITE(self->mem, self->mem);
	ASSERT_EQ(ibv_rereg_mr(self->mr, TRANS, NULL, self->other, LEN, 0), 0);
	EXPECT_EQ(self->mr->rkey, key);
	EXPECT_EQ(self->mr->lkey, key);
	CHECK_WRITE(self->other, self->other);
	memset(self->mem, 0xee, LEN);
	CHECK_REFUSED(self->mem);
	EXPECT_EQ(self->mem[0], 0xee);
	/* Nothing of the old memory is kept */
	munmap(self->mem, LEN);
	self->mem = get_memory();
	ASSERT_EQ(ibv_rereg_mr(self->mr, TRANS, NULL, self->mem, LEN, 0), 0);
	CHECK_WRITE(self->mem, self->mem);
}

TEST_F(region, rereg_access)
{
	ASSERT_EQ(ibv_rereg_mr(self->mr, ACCESS, NULL, NULL, 0,
			       IBV_ACCESS_REMOTE_READ),
		  0);
	CHECK_REFUSED(self->mem);
	EXPECT_EQ(read_from(&self->e, &self->peer, (uintptr_t)self->mem,
			    self->mr->rkey),
		  0);
	ASSERT_EQ(ibv_rereg_mr(self->mr, ACCESS, NULL, NULL, 0, ALL), 0);
	CHECK_WRITE(self->mem, self->mem);
}

TEST_F(region, rereg_pd)
{
	ASSERT_EQ(ibv_rereg_mr(self->mr, PD, self->other_pd, NULL, 0, 0), 0);
	CHECK_REFUSED(self->mem);
	EXPECT_EQ(ibv_dealloc_pd(self->other_pd), EBUSY);
	ASSERT_EQ(ibv_rereg_mr(self->mr, PD, self->e.pd, NULL, 0, 0), 0);
	CHECK_WRITE(self->mem, self->mem);
}

TEST_F(region, rereg_all)
{
	ASSERT_EQ(ibv_rereg_mr(self->mr, TRANS | PD | ACCESS, self->other_pd,
			       self->other, LEN, IBV_ACCESS_REMOTE_READ),
		  0);
	CHECK_REFUSED(self->other);
	ASSERT_EQ(ibv_rereg_mr(self->mr, PD | ACCESS, self->e.pd, NULL, 0, ALL),
		  IBV_REREG_MR_ERR_CMD);
	EXPECT_EQ(errno, EACCES);
	ASSERT_EQ(ibv_rereg_mr(self->mr, TRANS | PD | ACCESS, self->e.pd,
			       self->other, LEN, ALL),
		  0);
	CHECK_WRITE(self->other, self->other);
}

/* Arguments of a command that libibverbs would not send. */
struct rereg {
	uint32_t flags;
	uint64_t start, length, hca_va;
	uint32_t access, pd;
	uint64_t data;
};

/* Return: 0 or errno */
static int rereg(struct ibv_mr *mr, const struct rereg *args)
{
	struct ib_uverbs_rereg_mr cmd = {
		.response = (uintptr_t)reply,
		.mr_handle = mr->handle,
		.flags = args->flags,
		.start = args->start,
		.length = args->length,
		.hca_va = args->hca_va,
		.pd_handle = args->pd,
		.access_flags = args->access,
	};

	return command(mr->context->cmd_fd, IB_USER_VERBS_CMD_REREG_MR, &cmd,
		       sizeof(cmd), &args->data, sizeof(args->data));
}

/* Failed calls change nothing */
TEST_F(region, rereg_bad)
{
	uint64_t good = (uintptr_t)self->other;
	uint32_t pd = self->e.pd->handle;
	struct {
		struct rereg args;
		int err;
	} bad[] = {
		{ { 0, good, LEN, good, ALL, pd, 0 }, EINVAL },
		{ { 8, good, LEN, good, ALL, pd, 0 }, EOPNOTSUPP },
		{ { TRANS | 8, good, LEN, good, ALL, pd, 0 }, EOPNOTSUPP },
		{ { TRANS, good, LEN, good + 1, ALL, pd, 0 }, EINVAL },
		{ { TRANS, good, 0, good, ALL, pd, 0 }, EINVAL },
		{ { TRANS, good, 1ull << 50, good, ALL, pd, 0 }, EINVAL },
		{ { TRANS, 4096, LEN, 4096, ALL, pd, 0 }, EFAULT },
		{ { TRANS, good, LEN, -4096ull, ALL, pd, 0 }, EINVAL },
		{ { ACCESS, 0, 0, 0, IBV_ACCESS_REMOTE_WRITE, pd, 0 }, EINVAL },
		{ { ACCESS, 0, 0, 0, 1 << 19, pd, 0 }, EINVAL },
		{ { PD, 0, 0, 0, 0, 0xffffff, 0 }, ENOENT },
		{ { ACCESS, 0, 0, 0, ALL, pd, 1 }, EOPNOTSUPP },
		{ { TRANS, good, LEN, good, ALL, pd, 1 }, EOPNOTSUPP },
	};

	for (unsigned int i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		int err = rereg(self->mr, &bad[i].args);

		EXPECT_EQ(err, bad[i].err)
		{
			TH_LOG("row %u", i);
		}
	}
	CHECK_WRITE(self->mem, self->mem);
	CHECK_REFUSED(self->other);
}

TEST_F(region, zero_based)
{
	struct ibv_mr *mr = ibv_reg_mr(self->e.pd, self->other, LEN,
				       ALL | IBV_ACCESS_ZERO_BASED);

	ASSERT_NE(mr, NULL);
	EXPECT_EQ(write_to(&self->e, &self->peer, 0, mr->rkey), IBV_WC_SUCCESS);
	EXPECT_EQ(memcmp(self->e.buf, self->other, LEN), 0);
	EXPECT_EQ(write_to(&self->e, &self->peer, 1, mr->rkey),
		  IBV_WC_REM_ACCESS_ERR);
	EXPECT_EQ(write_to(&self->e, &self->peer, (uintptr_t)self->other,
			   mr->rkey),
		  IBV_WC_REM_ACCESS_ERR);
	/* Back to addresses of the process, and to offsets again */
	ASSERT_EQ(ibv_rereg_mr(mr, ACCESS, NULL, NULL, 0, ALL), 0);
	EXPECT_EQ(write_to(&self->e, &self->peer, (uintptr_t)self->other,
			   mr->rkey),
		  IBV_WC_SUCCESS);
	ASSERT_EQ(ibv_rereg_mr(mr, ACCESS, NULL, NULL, 0,
			       ALL | IBV_ACCESS_ZERO_BASED),
		  0);
	EXPECT_EQ(write_to(&self->e, &self->peer, 0, mr->rkey), IBV_WC_SUCCESS);
	EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST_F(region, null)
{
	struct ibv_mr *null = ibv_alloc_null_mr(self->e.pd);
	struct ibv_sge sge = { .addr = 0x1234567, .length = LEN };

	ASSERT_NE(null, NULL);
	sge.lkey = null->lkey;
	memset(self->mem, 0xee, LEN);
	EXPECT_EQ(request(&self->e, &self->peer, IBV_WR_RDMA_READ, sge,
			  (uintptr_t)self->mem, self->mr->rkey),
		  IBV_WC_SUCCESS);
	EXPECT_EQ(request(&self->e, &self->peer, IBV_WR_RDMA_WRITE, sge,
			  (uintptr_t)self->mem, self->mr->rkey),
		  IBV_WC_SUCCESS);
	for (int i = 0; i < LEN; i++) {
		ASSERT_EQ(self->mem[i], 0);
	}
	/* Peers cannot use its key */
	EXPECT_EQ(write_to(&self->e, &self->peer, 0, null->lkey),
		  IBV_WC_REM_ACCESS_ERR);
	EXPECT_EQ(ibv_dereg_mr(null), 0);
}

TEST_F(region, capabilities)
{
	struct ibv_device_attr_ex attr;
	uint64_t want = IB_UVERBS_DEVICE_FLUSH_GLOBAL |
			IB_UVERBS_DEVICE_FLUSH_PERSISTENT |
			IB_UVERBS_DEVICE_ATOMIC_WRITE;

	ASSERT_EQ(ibv_query_device_ex(self->e.ctx, NULL, &attr), 0);
	EXPECT_EQ(attr.device_cap_flags_ex & want, want);
}

TEST_F(region, dmabuf)
{
	const struct rereg changes[] = {
		{ .flags = ACCESS, .access = ALL, .pd = self->e.pd->handle },
		{ .flags = PD, .pd = self->other_pd->handle },
		{ .flags = TRANS,
		  .start = (uintptr_t)self->other,
		  .length = LEN,
		  .hca_va = 0x20000 },
	};
	struct ibv_mr *mr;
	uint8_t *mem;
	int fd;

	fd = make_dmabuf(LEN, &mem);
	ASSERT_GE(fd, 0);
	EXPECT_EQ(ibv_reg_dmabuf_mr(self->e.pd, 0, LEN + 1, 0, fd, ALL), NULL);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(ibv_reg_dmabuf_mr(self->e.pd, 0, LEN, 0, self->e.ctx->cmd_fd,
				    ALL),
		  NULL);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(ibv_reg_dmabuf_mr(self->e.pd, 0, LEN, 0, -1, ALL), NULL);
	EXPECT_EQ(errno, EBADF);
	/* A part that neither begins nor ends at a page */
	mr = ibv_reg_dmabuf_mr(self->e.pd, 100, LEN - 200, 0x10064, fd, ALL);
	ASSERT_NE(mr, NULL);
	EXPECT_EQ(write_to(&self->e, &self->peer, 0x10064, mr->rkey),
		  IBV_WC_REM_ACCESS_ERR);
	EXPECT_EQ(ibv_dereg_mr(mr), 0);

	mr = ibv_reg_dmabuf_mr(self->e.pd, 0, LEN, 0x10000, fd, ALL);
	ASSERT_NE(mr, NULL);
	/* The region holds the buffer */
	close(fd);
	EXPECT_EQ(write_to(&self->e, &self->peer, 0x10000, mr->rkey),
		  IBV_WC_SUCCESS);
	EXPECT_EQ(memcmp(self->e.buf, mem, LEN), 0);
	/* It cannot be changed until it is destroyed */
	for (unsigned int i = 0; i < sizeof(changes) / sizeof(*changes); i++)
		EXPECT_EQ(rereg(mr, &changes[i]), EOPNOTSUPP);
	EXPECT_EQ(write_to(&self->e, &self->peer, 0x10000, mr->rkey),
		  IBV_WC_SUCCESS);
	EXPECT_EQ(memcmp(self->e.buf, mem, LEN), 0);
	EXPECT_EQ(ibv_dereg_mr(mr), 0);
	munmap(mem, LEN);
}

/* A second context on the same file, with its own queues and shared regions */
TEST_F(region, import)
{
	struct end e = { .gid_index = self->e.gid_index };
	struct ibv_mr *mr;
	int fd = dup(self->e.ctx->cmd_fd);

	ASSERT_GE(fd, 0);
	e.ctx = ibv_import_device(fd);
	ASSERT_NE(e.ctx, NULL);
	EXPECT_EQ(ibv_import_pd(e.ctx, 0xffffff), NULL);
	e.pd = ibv_import_pd(e.ctx, self->e.pd->handle);
	ASSERT_NE(e.pd, NULL);
	EXPECT_EQ(ibv_import_mr(e.pd, 0xffffff), NULL);
	mr = ibv_import_mr(e.pd, self->mr->handle);
	ASSERT_NE(mr, NULL);
	EXPECT_EQ(mr->lkey, self->mr->lkey);
	EXPECT_EQ(mr->rkey, self->mr->rkey);
	EXPECT_EQ(mr->length, LEN);
	e.cq = ibv_create_cq(e.ctx, 16, NULL, NULL, 0);
	ASSERT_NE(e.cq, NULL);
	e.qp = make_qp(&e, IBV_QPT_RC);
	ASSERT_NE(e.qp, NULL);
	ASSERT_EQ(to_rts(&e, &e), 0);
	/* In use by a queue pair of the other context */
	EXPECT_EQ(ibv_dealloc_pd(self->e.pd), EBUSY);
	e.buf = self->e.buf;
	e.mr = self->e.mr;
	EXPECT_EQ(write_to(&e, &e, (uintptr_t)self->mem, mr->rkey), 0);
	EXPECT_EQ(memcmp(self->mem, e.buf, LEN), 0);
	/* Two contexts share a page of doorbells */
	CHECK_WRITE(self->mem, self->mem);
	EXPECT_EQ(write_to(&e, &e, (uintptr_t)self->mem, mr->rkey), 0);
	EXPECT_EQ(ibv_destroy_qp(e.qp), 0);
	EXPECT_EQ(ibv_destroy_cq(e.cq), 0);
	ibv_unimport_mr(mr);
	ibv_unimport_pd(e.pd);
	EXPECT_EQ(ibv_close_device(e.ctx), 0);
	CHECK_WRITE(self->mem, self->mem);
}

/* The importing process. Its exit status names the step that failed */
static int importer(int fd, const struct ibv_pd *his_pd,
		    const struct ibv_mr *his_mr)
{
	struct ibv_context *ctx = ibv_import_device(fd);
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_cq *cq;

	if (!ctx)
		return 1;
	if (ibv_import_pd(ctx, 0xffffff))
		return 2;
	pd = ibv_import_pd(ctx, his_pd->handle);
	if (!pd)
		return 3;
	mr = ibv_import_mr(pd, his_mr->handle);
	if (!mr || mr->lkey != his_mr->lkey || mr->rkey != his_mr->rkey ||
	    mr->length != LEN)
		return 4;
	cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	if (!cq)
		return 5;
	if (ibv_destroy_cq(cq))
		return 6;
	ibv_unimport_mr(mr);
	ibv_unimport_pd(pd);
	return ibv_close_device(ctx) ? 7 : 0;
}

TEST_F(region, import_by_another_process)
{
	int status;
	pid_t pid;

	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid)
		_exit(importer(dup(self->e.ctx->cmd_fd), self->e.pd, self->mr));
	ASSERT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_TRUE(WIFEXITED(status));
	EXPECT_EQ(WEXITSTATUS(status), 0);
	CHECK_WRITE(self->mem, self->mem);
}

TEST_HARNESS_MAIN
