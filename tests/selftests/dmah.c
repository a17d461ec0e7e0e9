// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * DMA handles, below libibverbs: valid fields, regions with a handle, and
 * lifetime.
 */
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <sched.h>
#include <sys/mman.h>

#include "dmabuf.h"
#include "ioctl.h"
#include "reasons.h"
#include "verbs.h"

/* of a dma-buf, too, which has whole pages */
#define LEN (2 * (size_t)sysconf(_SC_PAGESIZE))
#define IOVA 0x10000
#define ALL                                                 \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
	 IBV_ACCESS_REMOTE_READ)

enum { CPU = 1, MEM = 2, PH = 4 };

/*
 * struct hints - requested properties of a handle
 * @given: bits of the members that are given
 */
struct hints {
	unsigned int given;
	uint32_t cpu;
	uint8_t mem;
	uint8_t ph;
};

static int alloc_dmah(int fd, struct hints hints, uint32_t *handle)
{
	struct call call =
		make_call(UVERBS_OBJECT_DMAH, UVERBS_METHOD_DMAH_ALLOC);
	struct ib_uverbs_attr *out =
		add(&call, UVERBS_ATTR_ALLOC_DMAH_HANDLE, 0, 0);
	int err;

	if (hints.given & CPU)
		add(&call, UVERBS_ATTR_ALLOC_DMAH_CPU_ID, 4, hints.cpu);
	if (hints.given & MEM)
		add(&call, UVERBS_ATTR_ALLOC_DMAH_TPH_MEM_TYPE, 0, 0)
			->attr_data.enum_data.elem_id = hints.mem;
	if (hints.given & PH)
		add(&call, UVERBS_ATTR_ALLOC_DMAH_PH, 1, hints.ph);
	err = execute(fd, &call);
	*handle = out->data;
	return err;
}

static int free_dmah(int fd, uint32_t handle)
{
	struct call call =
		make_call(UVERBS_OBJECT_DMAH, UVERBS_METHOD_DMAH_FREE);

	add(&call, UVERBS_ATTR_FREE_DMA_HANDLE, 0, handle);
	return execute(fd, &call);
}

/*
 * struct region - a memory region without libibverbs
 * @dmah: handle of its DMA handle
 * @fd: the dma-buf, or -1
 * @mem: its mapping
 */
struct region {
	uint32_t dmah;
	int access;
	int fd;
	uint8_t *mem;
	uint32_t handle;
	uint32_t lkey;
	uint32_t rkey;
};

static int reg_mr(const struct ibv_pd *pd, struct region *region)
{
	struct call call = make_call(UVERBS_OBJECT_MR, UVERBS_METHOD_REG_MR);
	struct ib_uverbs_attr *out =
		add(&call, UVERBS_ATTR_REG_MR_HANDLE, 0, 0);
	int err;

	add(&call, UVERBS_ATTR_REG_MR_PD_HANDLE, 0, pd->handle);
	add(&call, UVERBS_ATTR_REG_MR_DMA_HANDLE, 0, region->dmah);
	add(&call, UVERBS_ATTR_REG_MR_IOVA, 8, IOVA);
	add(&call, UVERBS_ATTR_REG_MR_LENGTH, 8, LEN);
	add(&call, UVERBS_ATTR_REG_MR_ACCESS_FLAGS, 4, region->access);
	if (region->fd >= 0) {
		add(&call, UVERBS_ATTR_REG_MR_FD, 0, region->fd);
		add(&call, UVERBS_ATTR_REG_MR_FD_OFFSET, 8, 0);
	} else {
		add(&call, UVERBS_ATTR_REG_MR_ADDR, 8, (uintptr_t)region->mem);
	}
	add(&call, UVERBS_ATTR_REG_MR_RESP_LKEY, 4, (uintptr_t)&region->lkey);
	add(&call, UVERBS_ATTR_REG_MR_RESP_RKEY, 4, (uintptr_t)&region->rkey);
	err = execute(pd->context->cmd_fd, &call);
	region->handle = out->data;
	return err;
}

static int dereg_mr(int fd, uint32_t handle)
{
	struct call call =
		make_call(UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY);

	add(&call, UVERBS_ATTR_DESTROY_MR_HANDLE, 0, handle);
	return execute(fd, &call);
}

static const struct hints hint_only = { .given = PH, .ph = 1 };

FIXTURE(dmah)
{
	struct end e;
	int fd;
	uint32_t dmah;
	struct region region;
};

/* On an older kernel, check that it knows no such object, in all tests */
static bool refused(struct __test_metadata *_metadata, int fd)
{
	uint32_t handle;

	if (kernel_since(6, 17))
		return false;
	EXPECT_EQ(alloc_dmah(fd, hint_only, &handle), EPROTONOSUPPORT);
	return true;
}

/* Creates and frees a handle. Return: 0 or errno */
static int make_dmah(int fd, struct hints hints)
{
	uint32_t handle;
	int err = alloc_dmah(fd, hints, &handle);

	return err ? err : free_dmah(fd, handle);
}

FIXTURE_SETUP(dmah)
{
	self->e.ctx = open_mynic(0);
	ASSERT_NE(self->e.ctx, NULL);
	ASSERT_TRUE(make_end(&self->e, IBV_QPT_RC));
	self->fd = self->e.ctx->cmd_fd;
	self->region = (struct region){ .fd = -1, .access = ALL };
	self->region.mem = mmap(NULL, LEN, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(self->region.mem, MAP_FAILED);
	if (kernel_since(6, 17)) {
		ASSERT_EQ(alloc_dmah(self->fd, hint_only, &self->dmah), 0);
		self->region.dmah = self->dmah;
	}
}

/* Remaining objects are freed with the context */
FIXTURE_TEARDOWN(dmah)
{
	EXPECT_EQ(free_end(&self->e), 0);
	EXPECT_EQ(ibv_close_device(self->e.ctx), 0);
	munmap(self->region.mem, LEN);
}

/*
 * A processor and a kind of memory must come together, and with a hint. The
 * driver says which were given.
 */
TEST_F(dmah, fields)
{
	bool explained;

	if (refused(_metadata, self->fd))
		return;
	explained = reasons_wanted(true);
	for (unsigned int given = 0; given <= (CPU | MEM | PH); given++) {
		struct hints hints = { given, sched_getcpu(), 0, 2 };
		bool good = given == PH || given == (CPU | MEM | PH);
		int log = reasons_open();

		EXPECT_EQ(make_dmah(self->fd, hints), good ? 0 : EINVAL)
		TH_LOG("fields %u", given);
		EXPECT_EQ(reasons_count(log, "a DMA handle with fields "),
			  !good && explained)
		TH_LOG("fields %u", given);
	}
	reasons_wanted(false);
}

TEST_F(dmah, values)
{
	int cpu = sched_getcpu();
	const struct {
		struct hints hints;
		int err;
	} rows[] = {
		{ { CPU | MEM | PH, cpu, 0, 0 }, 0 },
		{ { CPU | MEM | PH, cpu, 1, 3 }, 0 },
		{ { CPU | MEM | PH, cpu, 2, 0 }, EOPNOTSUPP },
		{ { CPU | MEM | PH, cpu, 0xfe, 0 }, EOPNOTSUPP },
		{ { CPU | MEM | PH, cpu, 0, 4 }, EINVAL },
		{ { CPU | MEM | PH, 0xffff, 0, 0 }, EINVAL },
		{ { CPU | MEM | PH, 0xffffffff, 0, 0 }, EINVAL },
		{ { PH, 0, 0, 0 }, 0 },
		{ { PH, 0, 0, 3 }, 0 },
		{ { PH, 0, 0, 4 }, EINVAL },
		{ { PH, 0, 0, 0xff }, EINVAL },
	};

	if (refused(_metadata, self->fd))
		return;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		EXPECT_EQ(make_dmah(self->fd, rows[i].hints), rows[i].err)
		TH_LOG("row %u", i);
	}
}

/* A processor that the process may not run on */
TEST_F(dmah, foreign_cpu)
{
	struct hints hints = { .given = CPU | MEM | PH };
	cpu_set_t old, one;

	if (refused(_metadata, self->fd))
		return;
	ASSERT_EQ(sched_getaffinity(0, sizeof(old), &old), 0);
	hints.cpu = sched_getcpu();
	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &old) && cpu != (int)hints.cpu)
			CPU_SET(cpu, &one);
	ASSERT_GT(CPU_COUNT(&one), 0);
	ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
	EXPECT_EQ(make_dmah(self->fd, hints), EPERM);
	ASSERT_EQ(sched_setaffinity(0, sizeof(old), &old), 0);
	EXPECT_EQ(make_dmah(self->fd, hints), 0);
}

/* An RDMA WRITE into the region, and one back out of it */
static int use(struct end *e, const struct region *region)
{
	struct ibv_sge sge = { (uintptr_t)e->buf, LEN, e->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = IOVA, .rkey = region->rkey },
	};
	struct ibv_wc wc;

	for (int i = 0; i < LEN; i++)
		e->buf[i] = i * 3 + i / 256;
	if (ibv_post_send(e->qp, &wr, &bad) || !wait_wc(e->cq, &wc))
		return -1;
	if (wc.status)
		return wc.status;
	if (memcmp(e->buf, region->mem, LEN))
		return -2;
	sge.addr = IOVA;
	sge.lkey = region->lkey;
	wr.wr.rdma.remote_addr = (uintptr_t)e->buf + LEN;
	wr.wr.rdma.rkey = e->mr->rkey;
	if (ibv_post_send(e->qp, &wr, &bad) || !wait_wc(e->cq, &wc))
		return -3;
	if (wc.status)
		return wc.status;
	return memcmp(e->buf + LEN, region->mem, LEN) ? -4 : 0;
}

/* A region works like others, and keeps its handle in use */
TEST_F(dmah, region)
{
	struct region other = self->region;

	if (refused(_metadata, self->fd))
		return;
	ASSERT_EQ(to_rts(&self->e, &self->e), 0);
	ASSERT_EQ(reg_mr(self->e.pd, &self->region), 0);
	ASSERT_EQ(reg_mr(self->e.pd, &other), 0);
	EXPECT_EQ(use(&self->e, &self->region), 0);
	EXPECT_EQ(use(&self->e, &other), 0);
	EXPECT_EQ(free_dmah(self->fd, self->dmah), EBUSY);
	EXPECT_EQ(dereg_mr(self->fd, other.handle), 0);
	EXPECT_EQ(free_dmah(self->fd, self->dmah), EBUSY);
	EXPECT_EQ(use(&self->e, &self->region), 0);
	EXPECT_EQ(dereg_mr(self->fd, self->region.handle), 0);
	EXPECT_EQ(free_dmah(self->fd, self->dmah), 0);
}

TEST_F(dmah, dmabuf_region)
{
	struct region region = self->region;
	uint8_t *mem;

	if (refused(_metadata, self->fd))
		return;
	region.fd = make_dmabuf(LEN, &mem);
	ASSERT_GE(region.fd, 0);
	region.mem = mem;
	ASSERT_EQ(to_rts(&self->e, &self->e), 0);
	ASSERT_EQ(reg_mr(self->e.pd, &region), 0);
	EXPECT_EQ(use(&self->e, &region), 0);
	EXPECT_EQ(free_dmah(self->fd, self->dmah), EBUSY);
	EXPECT_EQ(dereg_mr(self->fd, region.handle), 0);
	EXPECT_EQ(free_dmah(self->fd, self->dmah), 0);
	close(region.fd);
	munmap(region.mem, LEN);
}

/* Hints are not for memory that is not pinned */
TEST_F(dmah, on_demand)
{
	bool explained;
	int log;

	if (refused(_metadata, self->fd))
		return;
	explained = reasons_wanted(true);
	log = reasons_open();
	self->region.access |= IBV_ACCESS_ON_DEMAND;
	EXPECT_EQ(reg_mr(self->e.pd, &self->region), EOPNOTSUPP);
	EXPECT_EQ(reasons_count(log, "DMA handles are not for paged regions$"),
		  explained);
	reasons_wanted(false);
	EXPECT_EQ(free_dmah(self->fd, self->dmah), 0);
}

/* A failed registration does not keep the handle in use */
TEST_F(dmah, bad_region)
{
	if (refused(_metadata, self->fd))
		return;
	self->region.access = IBV_ACCESS_REMOTE_WRITE;
	EXPECT_EQ(reg_mr(self->e.pd, &self->region), EINVAL);
	munmap(self->region.mem, LEN);
	self->region.access = ALL;
	EXPECT_EQ(reg_mr(self->e.pd, &self->region), EFAULT);
	EXPECT_EQ(free_dmah(self->fd, self->dmah), 0);
}

TEST_F(dmah, wrong_handles)
{
	uint32_t wrong[] = { self->dmah + 1000, 0xffffffff,
			     self->e.pd->handle };
	struct ibv_context *other;
	struct region region = self->region;

	if (refused(_metadata, self->fd))
		return;
	for (unsigned int i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		region.dmah = wrong[i];
		EXPECT_NE(reg_mr(self->e.pd, &region), 0)
		TH_LOG("handle %#x", wrong[i]);
		EXPECT_NE(free_dmah(self->fd, wrong[i]), 0);
	}
	/* A handle is valid only in its own file */
	other = open_mynic(0);
	ASSERT_NE(other, NULL);
	EXPECT_NE(free_dmah(other->cmd_fd, self->dmah), 0);
	EXPECT_EQ(ibv_close_device(other), 0);
	EXPECT_EQ(free_dmah(self->fd, self->dmah), 0);
	EXPECT_NE(free_dmah(self->fd, self->dmah), 0);
	EXPECT_NE(reg_mr(self->e.pd, &self->region), 0);
}

/* Closing the file destroys all objects, in the right order */
TEST_F(dmah, left_behind)
{
	if (refused(_metadata, self->fd))
		return;
	for (int round = 0; round < 10; round++) {
		struct ibv_context *ctx = open_mynic(0);
		struct region region = self->region;
		struct ibv_pd *pd;

		ASSERT_NE(ctx, NULL);
		pd = ibv_alloc_pd(ctx);
		ASSERT_NE(pd, NULL);
		ASSERT_EQ(alloc_dmah(ctx->cmd_fd, hint_only, &region.dmah), 0);
		ASSERT_EQ(reg_mr(pd, &region), 0);
		EXPECT_EQ(ibv_close_device(ctx), 0);
	}
}

TEST_HARNESS_MAIN
