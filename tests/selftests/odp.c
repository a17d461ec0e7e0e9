// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * On-demand paging: traffic on memory that is unmapped, moved and mapped
 * meanwhile
 */
#include <sys/mman.h>
#include <sys/wait.h>

#include "verbs.h"

#define PAGE ((size_t)sysconf(_SC_PAGESIZE))
#define MAX_PAGE (1 << 16)
#define PAGES 64
#define LEN (PAGES * PAGE)
#define ROUNDS 40
#define ACCESS                                              \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
	 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

/*
 * struct side - an end with paged memory
 * @mem: LEN bytes
 */
struct side {
	struct end e;
	uint8_t *mem;
	struct ibv_mr *mr;
};

static uint8_t *map(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

static bool make_side(struct side *s, bool implicit)
{
	s->e.ctx = open_mynic(0);
	if (!s->e.ctx || !make_end(&s->e, IBV_QPT_RC))
		return false;
	s->mem = map(LEN);
	if (!s->mem)
		return false;
	if (implicit)
		s->mr = ibv_reg_mr(s->e.pd, NULL, SIZE_MAX,
				   ACCESS | IBV_ACCESS_ON_DEMAND);
	else
		s->mr = ibv_reg_mr(s->e.pd, s->mem, LEN,
				   ACCESS | IBV_ACCESS_ON_DEMAND);
	return s->mr;
}

/* Like to_rts(), with a long timeout: pages take time on a busy machine */
static int connect_side(struct side *s, struct side *peer)
{
	struct ibv_qp_attr attr = rc_attr(&s->e, &peer->e);
	int err;

	attr.timeout = 20; /* 4.3 s */
	attr.qp_state = IBV_QPS_INIT;
	err = ibv_modify_qp(s->e.qp, &attr, init_mask(IBV_QPT_RC));
	if (err)
		return err;
	attr.qp_state = IBV_QPS_RTR;
	err = ibv_modify_qp(s->e.qp, &attr, rtr_mask(IBV_QPT_RC));
	if (err)
		return err;
	attr.qp_state = IBV_QPS_RTS;
	return ibv_modify_qp(s->e.qp, &attr, rts_mask(IBV_QPT_RC));
}

static int free_side(struct side *s)
{
	int err = 0;

	if (s->mr)
		err = ibv_dereg_mr(s->mr);
	if (s->mem)
		munmap(s->mem, LEN);
	err |= free_end(&s->e);
	return err | ibv_close_device(s->e.ctx);
}

FIXTURE(odp)
{
	struct side a;
	struct side b;
};

FIXTURE_VARIANT(odp)
{
	bool implicit;
};

FIXTURE_VARIANT_ADD(odp, range){
	.implicit = false,
};

FIXTURE_VARIANT_ADD(odp, all){
	.implicit = true,
};

FIXTURE_SETUP(odp)
{
	ASSERT_TRUE(make_side(&self->a, variant->implicit));
	ASSERT_TRUE(make_side(&self->b, variant->implicit));
	ASSERT_EQ(connect_side(&self->a, &self->b), 0);
	ASSERT_EQ(connect_side(&self->b, &self->a), 0);
}

FIXTURE_TEARDOWN(odp)
{
	EXPECT_EQ(free_side(&self->a), 0);
	EXPECT_EQ(free_side(&self->b), 0);
}

/* One request of @a for the first @len bytes. Return: its status, or -1 */
static int run(struct side *a, struct side *b, enum ibv_wr_opcode opcode,
	       uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)a->mem, len, a->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)b->mem, b->mr->rkey },
	};
	struct ibv_wc wc;

	if (ibv_post_send(a->e.qp, &wr, &bad) || !wait_wc(a->e.cq, &wc))
		return -1;
	return wc.status;
}

static void fill(uint8_t *mem, unsigned int seed)
{
	for (unsigned int i = 0; i < LEN; i++)
		mem[i] = i * 13 + i / PAGE + seed;
}

/* Memory that was not touched before it is registered and used */
TEST_F(odp, untouched_memory)
{
	EXPECT_EQ(run(&self->a, &self->b, IBV_WR_RDMA_READ, LEN), 0);
	fill(self->a.mem, 1);
	EXPECT_EQ(run(&self->a, &self->b, IBV_WR_RDMA_WRITE, LEN), 0);
	EXPECT_EQ(memcmp(self->a.mem, self->b.mem, LEN), 0);
}

TEST_F(odp, memory_is_given_back)
{
	fill(self->a.mem, 2);
	fill(self->b.mem, 3);
	EXPECT_EQ(run(&self->a, &self->b, IBV_WR_RDMA_READ, LEN), 0);
	EXPECT_EQ(memcmp(self->a.mem, self->b.mem, LEN), 0);
	/* the device reads new, empty pages, and not the old ones */
	ASSERT_EQ(madvise(self->b.mem, LEN, MADV_DONTNEED), 0);
	EXPECT_EQ(run(&self->a, &self->b, IBV_WR_RDMA_READ, LEN), 0);
	for (unsigned int i = 0; i < LEN; i++) {
		ASSERT_EQ(self->a.mem[i], 0);
	}
}

TEST_F(odp, no_memory_is_an_error)
{
	ASSERT_EQ(munmap(self->b.mem + LEN / 2, LEN / 2), 0);
	EXPECT_EQ(run(&self->a, &self->b, IBV_WR_RDMA_WRITE, LEN / 2), 0);
	EXPECT_EQ(run(&self->a, &self->b, IBV_WR_RDMA_WRITE, LEN),
		  IBV_WC_REM_OP_ERR);
}

TEST_F(odp, read_only_memory)
{
	fill(self->b.mem, 4);
	ASSERT_EQ(mprotect(self->b.mem, LEN, PROT_READ), 0);
	EXPECT_EQ(run(&self->a, &self->b, IBV_WR_RDMA_READ, LEN), 0);
	EXPECT_EQ(memcmp(self->a.mem, self->b.mem, LEN), 0);
	EXPECT_EQ(run(&self->a, &self->b, IBV_WR_RDMA_WRITE, LEN),
		  IBV_WC_REM_OP_ERR);
	EXPECT_EQ(memcmp(self->a.mem, self->b.mem, LEN), 0);
}

/*
 * The device writes to the parent's memory, and the child's copy does not
 * change
 */
TEST_F(odp, fork)
{
	int pipefd[2], status;
	char c;
	pid_t pid;

	fill(self->b.mem, 5);
	EXPECT_EQ(run(&self->a, &self->b, IBV_WR_RDMA_READ, LEN), 0);
	ASSERT_EQ(pipe(pipefd), 0);
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid) {
		if (read(pipefd[0], &c, 1) != 1)
			_exit(2);
		for (unsigned int i = 0; i < LEN; i++)
			if (self->b.mem[i] != (uint8_t)(i * 13 + i / PAGE + 5))
				_exit(1);
		_exit(0);
	}
	fill(self->a.mem, 6);
	EXPECT_EQ(run(&self->a, &self->b, IBV_WR_RDMA_WRITE, LEN), 0);
	EXPECT_EQ(memcmp(self->a.mem, self->b.mem, LEN), 0);
	EXPECT_EQ(write(pipefd[1], "x", 1), 1);
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_TRUE(WIFEXITED(status) && !WEXITSTATUS(status));
	close(pipefd[0]);
	close(pipefd[1]);
}

/* Change the pages of @side, but not their contents */
static void disturb(struct side *side, unsigned int i)
{
	uint8_t *page = side->mem + i % PAGES * PAGE;
	int status;
	pid_t pid;

	switch (i % 3) {
	case 0:
		pid = fork();
		if (!pid)
			_exit(0);
		if (pid > 0)
			waitpid(pid, &status, 0);
		break;
	case 1:
		/* cuts the mapping in pieces, and joins them */
		mprotect(page, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
		mprotect(page, PAGE, PROT_READ | PROT_WRITE);
		break;
	default:
		madvise(page, PAGE, MADV_PAGEOUT);
	}
}

static int post_whole(struct side *a, struct side *b, enum ibv_wr_opcode opcode)
{
	struct ibv_sge sge = { (uintptr_t)a->mem, LEN, a->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)b->mem, b->mr->rkey },
	};

	return ibv_post_send(a->e.qp, &wr, &bad);
}

TEST_F(odp, pages_change_under_traffic)
{
	unsigned int n = 0;
	struct ibv_wc wc;
	time_t end;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		struct side *from = i % 2 ? &self->b : &self->a;

		fill(from->mem, i);
		/* so that pages are missing in each round */
		if (i % 4 == 0)
			madvise(self->b.mem, LEN, MADV_DONTNEED);
		ASSERT_EQ(post_whole(&self->a, &self->b,
				     i % 2 ? IBV_WR_RDMA_READ :
					     IBV_WR_RDMA_WRITE),
			  0);
		end = deadline();
		while (!ibv_poll_cq(self->a.e.cq, 1, &wc)) {
			ASSERT_LT(time(NULL), end);
			disturb(&self->a, n);
			disturb(&self->b, n++);
		}
		ASSERT_EQ(wc.status, 0);
		ASSERT_EQ(memcmp(self->a.mem, self->b.mem, LEN), 0);
	}
}

/* After munmap() has returned, the device does not write to the memory. */
TEST_F(odp, gone_is_gone)
{
	static uint8_t before[PAGES * MAX_PAGE];
	uint8_t *file, *mem = self->b.mem;
	struct ibv_wc wc;
	int fd;

	fd = memfd_create("odp", MFD_CLOEXEC);
	ASSERT_GE(fd, 0);
	ASSERT_EQ(ftruncate(fd, LEN), 0);
	file = mmap(NULL, LEN, PROT_READ, MAP_SHARED, fd, 0);
	ASSERT_NE(file, MAP_FAILED);
	for (unsigned int i = 0; i < 20; i++) {
		struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

		ASSERT_EQ(mmap(mem, LEN, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_FIXED, fd, 0),
			  mem);
		fill(self->a.mem, i + 1);
		ASSERT_EQ(post_whole(&self->a, &self->b, IBV_WR_RDMA_WRITE), 0);
		/* after a while, when a part may have been written */
		for (unsigned int k = 0; k < i * 20; k++) {
			ASSERT_GE(counter(self->a.e.ctx, "rx_packets"), -1);
		}
		ASSERT_EQ(munmap(mem, LEN), 0);
		memcpy(before, file, LEN);
		ASSERT_TRUE(wait_wc(self->a.e.cq, &wc));
		ASSERT_EQ(memcmp(before, file, LEN), 0);
		/* the request may have completed in time or not */
		if (wc.status) {
			ASSERT_EQ(wc.status, IBV_WC_REM_OP_ERR);
		}
		ASSERT_EQ(ibv_modify_qp(self->a.e.qp, &attr, IBV_QP_STATE), 0);
		ASSERT_EQ(ibv_modify_qp(self->b.e.qp, &attr, IBV_QP_STATE), 0);
		ASSERT_EQ(connect_side(&self->a, &self->b), 0);
		ASSERT_EQ(connect_side(&self->b, &self->a), 0);
	}
	munmap(file, LEN);
	close(fd);
	ASSERT_EQ(mmap(mem, LEN, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
		  mem);
}

static unsigned int resident(void *mem)
{
	unsigned char vec[PAGES] = { 0 };
	unsigned int n = 0;

	if (mincore(mem, LEN, vec))
		return 0;
	for (unsigned int i = 0; i < PAGES; i++)
		n += vec[i] & 1;
	return n;
}

/* The process reads all pages, and does not write to them. */
static void touch(const uint8_t *mem)
{
	for (unsigned int i = 0; i < LEN; i += PAGE)
		(void)*(volatile const uint8_t *)&mem[i];
}

/*
 * A page of tmpfs that was only read is writable, but not dirty. When memory is
 * scarce, the kernel frees such a page, unless the driver says that the device
 * may have written to it.
 */
TEST_F(odp, what_is_written_survives_reclaim)
{
	uint8_t *mem = self->b.mem;
	int fd;

	fd = memfd_create("odp", MFD_CLOEXEC);
	ASSERT_GE(fd, 0);
	ASSERT_EQ(ftruncate(fd, LEN), 0);
	ASSERT_EQ(mmap(mem, LEN, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		       fd, 0),
		  mem);
	touch(mem);
	ASSERT_EQ(madvise(mem, LEN, MADV_PAGEOUT), 0);
	if (resident(mem) > PAGES / 2)
		SKIP(return, "the kernel does not reclaim these pages");
	touch(mem);
	EXPECT_EQ(run(&self->a, &self->b, IBV_WR_RDMA_READ, LEN), 0);
	fill(self->a.mem, 7);
	EXPECT_EQ(run(&self->a, &self->b, IBV_WR_RDMA_WRITE, LEN), 0);
	ASSERT_EQ(madvise(mem, LEN, MADV_PAGEOUT), 0);
	EXPECT_EQ(memcmp(self->a.mem, mem, LEN), 0);
	close(fd);
}

TEST_F(odp, advice)
{
	struct side *a = &self->a;
	uint32_t key = a->mr->lkey;
	struct ibv_mr *ro;

	EXPECT_EQ(advise(a->e.pd, IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT,
			 a->mem, LEN, key),
		  0);
	EXPECT_EQ(resident(a->mem), 0);
	EXPECT_EQ(advise(a->e.pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, a->mem,
			 LEN, key),
		  0);
	EXPECT_EQ(resident(a->mem), PAGES);
	EXPECT_EQ(advise(a->e.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, a->mem, LEN,
			 key),
		  0);
	EXPECT_EQ(advise(a->e.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, a->mem, LEN,
			 a->e.mr->lkey),
		  ENOENT);
	EXPECT_EQ(advise(a->e.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, a->mem, LEN,
			 ~key),
		  ENOENT);
	ro = ibv_reg_mr(a->e.pd, a->mem, LEN, IBV_ACCESS_ON_DEMAND);
	ASSERT_NE(ro, NULL);
	EXPECT_EQ(advise(a->e.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, a->mem, LEN,
			 ro->lkey),
		  0);
	EXPECT_EQ(advise(a->e.pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, a->mem,
			 LEN, ro->lkey),
		  EPERM);
	EXPECT_EQ(advise(a->e.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, a->mem,
			 LEN + 1, ro->lkey),
		  EFAULT);
	EXPECT_EQ(ibv_dereg_mr(ro), 0);
	ASSERT_EQ(munmap(a->mem + PAGE, PAGE), 0);
	EXPECT_EQ(advise(a->e.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, a->mem, LEN,
			 key),
		  EFAULT);
}

/* Bits of the kernel that not all versions of libibverbs have names for */
#define SUPPORT_FLUSH (1 << 6)
#define SUPPORT_ATOMIC_WRITE (1 << 7)

TEST_F(odp, capabilities)
{
	const uint32_t want = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV |
			      IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ |
			      IBV_ODP_SUPPORT_ATOMIC |
			      IBV_ODP_SUPPORT_SRQ_RECV | SUPPORT_FLUSH |
			      SUPPORT_ATOMIC_WRITE;
	struct ibv_device_attr_ex attr;

	ASSERT_EQ(ibv_query_device_ex(self->a.e.ctx, NULL, &attr), 0);
	EXPECT_EQ(attr.odp_caps.per_transport_caps.rc_odp_caps, want);
	EXPECT_EQ(attr.xrc_odp_caps, want);
}

static struct ibv_qp *make_qp_ex(struct end *e)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_RC,
		.send_cq = e->cq,
		.recv_cq = e->cq,
		.pd = e->pd,
		.cap = { .max_send_wr = 16,
			 .max_recv_wr = 16,
			 .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_FLUSH |
				  IBV_QP_EX_WITH_ATOMIC_WRITE,
	};

	return ibv_create_qp_ex(e->ctx, &init);
}

static int connect_ex(struct side *s, struct side *peer)
{
	struct ibv_qp_attr attr = {
		.qp_access_flags = ACCESS | IBV_ACCESS_FLUSH_GLOBAL |
				   IBV_ACCESS_FLUSH_PERSISTENT,
	};
	int err = connect_side(s, peer);

	return err ? err : ibv_modify_qp(s->e.qp, &attr, IBV_QP_ACCESS_FLAGS);
}

static int complete_ex(struct side *s)
{
	struct ibv_wc wc;

	if (ibv_wr_complete(ibv_qp_to_qp_ex(s->e.qp)) || !wait_wc(s->e.cq, &wc))
		return -1;
	return wc.status;
}

/* Both work on missing pages, and on all pages */
TEST_F(odp, flush_and_atomic_write)
{
	struct side *sides[] = { &self->a, &self->b };
	struct side *a = sides[0], *b = sides[1];
	uint64_t value = 0x1122334455667788;
	struct ibv_qp_ex *qpx;
	struct ibv_mr *mr;

	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(ibv_destroy_qp(sides[i]->e.qp), 0);
		sides[i]->e.qp = make_qp_ex(&sides[i]->e);
		ASSERT_NE(sides[i]->e.qp, NULL);
	}
	ASSERT_EQ(connect_ex(a, b), 0);
	ASSERT_EQ(connect_ex(b, a), 0);
	qpx = ibv_qp_to_qp_ex(a->e.qp);
	mr = ibv_reg_mr(b->e.pd, b->mem, LEN,
			ACCESS | IBV_ACCESS_ON_DEMAND |
				IBV_ACCESS_FLUSH_GLOBAL |
				IBV_ACCESS_FLUSH_PERSISTENT);
	ASSERT_NE(mr, NULL);
	ibv_wr_start(qpx);
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_atomic_write(qpx, mr->rkey, (uintptr_t)b->mem + 8, &value);
	EXPECT_EQ(complete_ex(a), IBV_WC_SUCCESS);
	EXPECT_EQ(memcmp(b->mem + 8, &value, 8), 0);
	ASSERT_EQ(madvise(b->mem + PAGE, LEN - PAGE, MADV_DONTNEED), 0);
	ibv_wr_start(qpx);
	ibv_wr_flush(qpx, mr->rkey, (uintptr_t)b->mem, LEN,
		     IBV_FLUSH_GLOBAL | IBV_FLUSH_PERSISTENT, IBV_FLUSH_RANGE);
	EXPECT_EQ(complete_ex(a), IBV_WC_SUCCESS);
	EXPECT_EQ(memcmp(b->mem + 8, &value, 8), 0);
	EXPECT_EQ(b->mem[LEN - 1], 0);
	ASSERT_EQ(munmap(b->mem + PAGE, PAGE), 0);
	ibv_wr_start(qpx);
	ibv_wr_flush(qpx, mr->rkey, (uintptr_t)b->mem, LEN, IBV_FLUSH_GLOBAL,
		     IBV_FLUSH_RANGE);
	EXPECT_EQ(complete_ex(a), IBV_WC_SUCCESS);
	ibv_wr_start(qpx);
	ibv_wr_flush(qpx, mr->rkey, (uintptr_t)b->mem, LEN,
		     IBV_FLUSH_PERSISTENT, IBV_FLUSH_RANGE);
	EXPECT_EQ(complete_ex(a), IBV_WC_REM_OP_ERR);
	EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST_F(odp, bad_regions)
{
	struct ibv_pd *pd = self->a.e.pd;
	uint8_t *mem = self->a.mem;

	errno = 0;
	EXPECT_EQ(ibv_reg_mr(pd, mem, 0, IBV_ACCESS_ON_DEMAND), NULL);
	EXPECT_EQ(errno, EINVAL);
	errno = 0;
	EXPECT_EQ(ibv_reg_mr(pd, mem, SIZE_MAX, IBV_ACCESS_ON_DEMAND), NULL);
	EXPECT_EQ(errno, EINVAL);
	errno = 0;
	EXPECT_EQ(ibv_reg_mr_iova(pd, NULL, SIZE_MAX, PAGE,
				  IBV_ACCESS_ON_DEMAND),
		  NULL);
	EXPECT_EQ(errno, EINVAL);
	errno = 0;
	EXPECT_EQ(ibv_reg_mr(pd, mem, LEN,
			     IBV_ACCESS_ON_DEMAND | IBV_ACCESS_REMOTE_WRITE),
		  NULL);
	EXPECT_EQ(errno, EINVAL);
}

TEST_HARNESS_MAIN
