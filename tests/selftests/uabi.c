// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The kernel-user ABI below libibverbs: response lengths, mmap, fork, and a verb
 * that Debian's libibverbs does not have
 */
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <rdma/mynic-hw.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "clock.h"
#include "context.h"
#include "ioctl.h"
#include "verbs.h"

FIXTURE(uabi)
{
	struct end e;
	int fd;
};

FIXTURE_SETUP(uabi)
{
	self->fd = -1;
	self->e.ctx = open_mynic(0);
	ASSERT_NE(self->e.ctx, NULL);
	ASSERT_TRUE(make_end(&self->e, IBV_QPT_RC));
	self->fd = open_file(self->e.ctx);
	ASSERT_GE(self->fd, 0);
}

FIXTURE_TEARDOWN(uabi)
{
	close(self->fd);
	EXPECT_EQ(free_end(&self->e), 0);
	EXPECT_EQ(ibv_close_device(self->e.ctx), 0);
}

TEST_F(uabi, response)
{
	struct context_resp r;

	ASSERT_EQ(get_context(self->fd, 0, 0, DRIVER_RESP, &r), 0);
	EXPECT_GE(r.driver.uar_mmap_size, 4096);
	EXPECT_LE(r.driver.uar_offset + 4096, r.driver.uar_mmap_size);
	EXPECT_EQ(r.more[0], 0xee);
	close(r.resp.async_fd);
}

/* The buffer of an older library: nothing is written behind its end */
TEST_F(uabi, short_response)
{
	struct context_resp r;

	ASSERT_EQ(get_context(self->fd, 0, 0, 8, &r), 0);
	EXPECT_NE(r.driver.uar_mmap_key, 0xeeeeeeeeeeeeeeee);
	EXPECT_EQ(r.driver.uar_mmap_size, 0xeeeeeeee);
	close(r.resp.async_fd);
}

TEST_F(uabi, no_response)
{
	struct context_resp r;

	ASSERT_EQ(get_context(self->fd, 0, 0, 0, &r), 0);
	EXPECT_EQ(r.driver.uar_mmap_key, 0xeeeeeeeeeeeeeeee);
	close(r.resp.async_fd);
}

/* The buffer of a newer library: unknown bytes stay or are zeroed */
TEST_F(uabi, long_response)
{
	struct context_resp r;

	ASSERT_EQ(get_context(self->fd, 0, 0, DRIVER_RESP + 16, &r), 0);
	EXPECT_NE(r.driver.uar_mmap_key, 0xeeeeeeeeeeeeeeee);
	close(r.resp.async_fd);
}

/* Requests have no driver data yet, so it must be zero */
TEST_F(uabi, driver_data)
{
	struct context_resp r;
	int err;

	err = get_context(self->fd, 8, 0x100, DRIVER_RESP, &r);
	EXPECT_TRUE(err == EINVAL || err == EOPNOTSUPP)
	TH_LOG("errno %d", err);
	ASSERT_EQ(get_context(self->fd, 8, 0, DRIVER_RESP, &r), 0);
	close(r.resp.async_fd);
}

#define EXPECT_NO_MAP(fd, offset, len, prot, flags, error)             \
	do {                                                           \
		errno = 0;                                             \
		EXPECT_EQ(mmap(NULL, len, prot, flags, fd, offset),    \
			  MAP_FAILED);                                 \
		EXPECT_EQ(errno, error)                                \
		TH_LOG("offset 0x%llx", (unsigned long long)(offset)); \
	} while (0)

#define RW (PROT_READ | PROT_WRITE)

TEST_F(uabi, mmap_arguments)
{
	const off_t page = sysconf(_SC_PAGESIZE);
	struct context_resp r;
	off_t key;
	void *uar;

	ASSERT_EQ(get_context(self->fd, 0, 0, DRIVER_RESP, &r), 0);
	key = r.driver.uar_mmap_key;
	/* offsets that were not given to a process */
	for (off_t i = 1; i < 100; i++)
		if (key + i * page != r.driver.clock_mmap_key &&
		    key + i * page != r.driver.gid_mmap_key)
			EXPECT_NO_MAP(self->fd, key + i * page, page, RW,
				      MAP_SHARED, EINVAL);
	EXPECT_NO_MAP(self->fd, 1ll << 50, page, RW, MAP_SHARED, EINVAL);
	/* more bytes or other access than was given */
	EXPECT_NO_MAP(self->fd, key, 2 * page, RW, MAP_SHARED, EINVAL);
	EXPECT_NO_MAP(self->fd, key, page, RW, MAP_PRIVATE, EINVAL);
	uar = mmap(NULL, page, RW, MAP_SHARED, self->fd, key);
	ASSERT_NE(uar, MAP_FAILED);
	/* it cannot grow */
	EXPECT_EQ(mremap(uar, page, 2 * page, MREMAP_MAYMOVE), MAP_FAILED);
	EXPECT_EQ(munmap(uar, page), 0);
	close(r.resp.async_fd);
}

/* Offsets are small, and so is what is mapped at them */
#define MAX_OFFSETS 64
#define MAX_PAGES 32

/* How many pages can be read at offset @key of @fd's context; 0: none */
static unsigned int num_pages(int fd, off_t key)
{
	for (size_t num = 1; num <= MAX_PAGES; num++) {
		size_t len = num * sysconf(_SC_PAGESIZE);
		void *ptr = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, key);

		if (ptr == MAP_FAILED)
			continue;
		munmap(ptr, len);
		return num;
	}
	return 0;
}

/*
 * Offsets are valid only in their own context. Those of queues and of device
 * memory give nothing in another one. That of a doorbell page gives the other's
 * own.
 */
TEST_F(uabi, mmap_of_another_context)
{
	struct ibv_alloc_dm_attr dm_attr = { .length = 4096 };
	const off_t page = sysconf(_SC_PAGESIZE);
	struct end *e = &self->e;
	volatile uint64_t *uar;
	unsigned int num = 0;
	struct context_resp r;
	struct ibv_dm *dm;
	long long before;

	dm = ibv_alloc_dm(e->ctx, &dm_attr);
	ASSERT_NE(dm, NULL);
	ASSERT_EQ(get_context(self->fd, 0, 0, DRIVER_RESP, &r), 0);
	for (off_t key = 0; key < MAX_OFFSETS * page; key += page) {
		bool own = key == r.driver.uar_mmap_key ||
			   key == r.driver.clock_mmap_key ||
			   key == r.driver.gid_mmap_key;

		num += !own && num_pages(e->ctx->cmd_fd, key);
		EXPECT_EQ(num_pages(self->fd, key), own)
		TH_LOG("key 0x%llx", (unsigned long long)key);
	}
	/* QP, CQ, device memory */
	EXPECT_GE(num, 3);
	EXPECT_EQ(num_pages(e->ctx->cmd_fd, r.driver.uar_mmap_key), 1);

	before = counter(e->ctx, "bad_doorbell");
	ASSERT_GE(before, 0);
	uar = mmap(NULL, r.driver.uar_mmap_size, RW, MAP_SHARED, self->fd,
		   r.driver.uar_mmap_key);
	ASSERT_NE((void *)uar, MAP_FAILED);
	uar[(r.driver.uar_offset + MYNIC_UAR_QP_DB) / 8] =
		(uint64_t)e->qp->qp_num << MYNIC_DB_NUMBER_SHIFT;
	EXPECT_TRUE(wait_counter(e->ctx, "bad_doorbell", before + 1));
	EXPECT_EQ(munmap((void *)uar, r.driver.uar_mmap_size), 0);
	EXPECT_EQ(ibv_free_dm(dm), 0);
	close(r.resp.async_fd);
}

/* A child does not inherit queue memory */
TEST_F(uabi, fork_does_not_inherit_queues)
{
	struct end *e = &self->e;
	struct ibv_wc wc;
	int status;
	pid_t pid;

	ASSERT_EQ(to_rts(e, e), 0);
	pid = fork();
	ASSERT_GE(pid, 0);
	if (pid == 0) {
		signal(SIGSEGV, SIG_DFL);
		ibv_poll_cq(e->cq, 1, &wc);
		_exit(0);
	}
	ASSERT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
	EXPECT_EQ(check_write(e, e, 1000), 0);
}

/* The exit of a child with the file has no effect */
TEST_F(uabi, fork_inherits_the_file)
{
	const off_t page = sysconf(_SC_PAGESIZE);
	struct end *e = &self->e;
	int status;
	pid_t pid;

	ASSERT_EQ(to_rts(e, e), 0);
	pid = fork();
	ASSERT_GE(pid, 0);
	if (pid == 0) {
		/* it cannot map queues of the parent */
		for (off_t i = 0; i < 64; i++)
			mmap(NULL, page, RW, MAP_SHARED, e->ctx->cmd_fd,
			     i * page);
		close(e->ctx->cmd_fd);
		_exit(0);
	}
	ASSERT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
	EXPECT_EQ(check_write(e, e, 1000), 0);
}

/* Whether a child of fork() has no memory at @addr */
static bool child_has_none(const volatile void *addr)
{
	int status;
	pid_t pid;

	pid = fork();
	if (pid == 0) {
		signal(SIGSEGV, SIG_DFL);
		(void)*(const volatile char *)addr;
		_exit(0);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid &&
	       WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

/* Check that a page can be read at @info, and never written */
#define EXPECT_READ_ONLY(fd, key, size, info)                                 \
	do {                                                                  \
		EXPECT_NO_MAP(fd, key, size, RW, MAP_SHARED, EPERM);          \
		EXPECT_NO_MAP(fd, key, size, PROT_READ, MAP_PRIVATE, EINVAL); \
		EXPECT_NO_MAP(fd, key, (size) * 2, PROT_READ, MAP_SHARED,     \
			      EINVAL);                                        \
		EXPECT_EQ(mprotect((void *)(info), size, RW), -1);            \
		EXPECT_EQ(errno, EACCES);                                     \
		EXPECT_TRUE(child_has_none(info));                            \
	} while (0)

TEST_F(uabi, clock_page)
{
	const struct mynic_clock_info *info;
	struct context_resp r;
	uint64_t key;
	size_t size;

	ASSERT_EQ(get_context(self->fd, 0, 0, DRIVER_RESP, &r), 0);
	key = r.driver.clock_mmap_key;
	size = r.driver.clock_mmap_size;
	ASSERT_GE(size, sizeof(*info));
	info = mmap(NULL, size, PROT_READ, MAP_SHARED, self->fd, key);
	ASSERT_NE((void *)info, MAP_FAILED);
	ASSERT_TRUE(wait_clock(info));
	EXPECT_NE(info->mult, 0);
	EXPECT_NE(info->cycles, 0);
	EXPECT_NE(info->nsec, 0);
	EXPECT_READ_ONLY(self->fd, key, size, info);
	EXPECT_EQ(munmap((void *)info, size), 0);
	close(r.resp.async_fd);
}

/* The page agrees with the verbs about the table. */
TEST_F(uabi, gid_page)
{
	const volatile struct mynic_gid_info *info;
	struct ibv_gid_entry entry;
	struct context_resp r;
	uint64_t key;
	size_t size;

	ASSERT_EQ(get_context(self->fd, 0, 0, DRIVER_RESP, &r), 0);
	key = r.driver.gid_mmap_key;
	size = r.driver.gid_mmap_size;
	ASSERT_GE(size, sizeof(*info));
	info = mmap(NULL, size, PROT_READ, MAP_SHARED, self->fd, key);
	ASSERT_NE((void *)info, MAP_FAILED);
	for (int i = 0; i < MYNIC_GID_INFO_ENTRIES; i++)
		EXPECT_EQ(info->valid[i],
			  !ibv_query_gid_ex(self->e.ctx, 1, i, &entry, 0));
	EXPECT_EQ(info->valid[self->e.gid_index], 1);
	EXPECT_READ_ONLY(self->fd, key, size, info);
	EXPECT_EQ(munmap((void *)info, size), 0);
	close(r.resp.async_fd);
}

/* In Mbit/s; 0 if nothing tells it */
static unsigned long interface_speed(const struct ibv_context *ctx)
{
	unsigned long speed = 0;
	char pattern[PATH_MAX];
	glob_t found;
	FILE *file;

	snprintf(pattern, sizeof(pattern), "%s/device/net/*/speed",
		 ctx->device->ibdev_path);
	if (glob(pattern, 0, NULL, &found))
		return 0;
	file = fopen(found.gl_pathv[0], "r");
	if (file) {
		if (fscanf(file, "%lu", &speed) != 1)
			speed = 0;
		fclose(file);
	}
	globfree(&found);
	return speed;
}

static int query_port_speed(int fd, uint32_t port, uint64_t *speed)
{
	struct call call =
		make_call(UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT_SPEED);

	add(&call, UVERBS_ATTR_QUERY_PORT_SPEED_PORT_NUM, 8, port);
	add(&call, UVERBS_ATTR_QUERY_PORT_SPEED_RESP, sizeof(*speed),
	    (uintptr_t)speed);
	return execute(fd, &call);
}

TEST_F(uabi, port_speed)
{
	uint64_t speed = 0;
	int err;

	err = query_port_speed(self->e.ctx->cmd_fd, 1, &speed);
	if (!kernel_since(7, 0)) {
		EXPECT_EQ(err, EPROTONOSUPPORT);
		SKIP(return, "this kernel has no ibv_query_port_speed()");
	}
	ASSERT_EQ(err, 0);
	EXPECT_GT(speed, 0);
	EXPECT_EQ(speed * 100, interface_speed(self->e.ctx));
	EXPECT_EQ(query_port_speed(self->e.ctx->cmd_fd, 0, &speed), EINVAL);
	EXPECT_EQ(query_port_speed(self->e.ctx->cmd_fd, 2, &speed), EINVAL);
}

TEST_HARNESS_MAIN
