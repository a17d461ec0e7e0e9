// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * On-demand paging and the kernel: accounting of memory, and pages that never
 * come
 */
#include <linux/fuse.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "cgroup.h"
#include "verbs.h"

#define MIB (1ul << 20)
#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

/* A QP that is connected to itself */
static bool make_loop(struct end *e)
{
	e->ctx = open_mynic(0);
	return e->ctx && make_end(e, IBV_QPT_RC) && !to_rts(e, e);
}

static int post_read(struct end *e, const struct ibv_mr *mr, const void *addr)
{
	struct ibv_sge sge = { (uintptr_t)e->buf, 1, e->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_READ,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)addr, mr->rkey },
	};

	return ibv_post_send(e->qp, &wr, &bad);
}

/* Wait for the end of the child. Return: its status, or -1 */
static int wait_gone(pid_t pid)
{
	time_t end = deadline();
	int status;

	while (time(NULL) < end)
		if (waitpid(pid, &status, WNOHANG) == pid)
			return status;
	return -1;
}

/* Accounting of memory */

/* Entries of a list, which is a page: pages of a chunk, or chunks */
#define ENTRIES 512
/*
 * Memory that needs a page of its own for its list of pages, and 4 KiB for the
 * kernel's data
 */
#define CHUNK (ENTRIES * PAGE)
#define CHUNK_COST (PAGE + 4096)
#define CHUNKS 256

FIXTURE(cgroup){};

/*
 * struct variant - how far chunks that are touched are from each other
 * @stride: chunks
 * @lists: lists of chunks that each of them needs, and has alone
 */
FIXTURE_VARIANT(cgroup)
{
	unsigned int stride;
	unsigned int lists;
};

FIXTURE_VARIANT_ADD(cgroup, neighbours){
	.stride = 1,
};

/* The list of each chunk is empty without it. */
FIXTURE_VARIANT_ADD(cgroup, far_apart){
	.stride = ENTRIES,
	.lists = 1,
};

FIXTURE_SETUP(cgroup)
{
	if (!has_memory_controller())
		SKIP(return, "no memory controller");
	ASSERT_TRUE(make_cgroup());
}

FIXTURE_TEARDOWN(cgroup)
{
	remove_cgroup();
}

/* Touches a byte in each chunk by RDMA, reports that, and frees all */
static int run_owner(size_t stride, int from_parent, int to_parent)
{
	const size_t size = CHUNKS * stride;
	struct end e = {};
	struct ibv_mr *mr;
	struct ibv_wc wc;
	uint8_t *mem;
	char byte;

	if (!join_cgroup() || !make_loop(&e))
		return 1;
	mem = mmap(NULL, size, PROT_READ,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (mem == MAP_FAILED || madvise(mem, size, MADV_NOHUGEPAGE))
		return 2;
	mr = ibv_reg_mr(e.pd, mem, size,
			IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ON_DEMAND);
	if (!mr || write(to_parent, "r", 1) != 1 ||
	    read(from_parent, &byte, 1) != 1)
		return 3;
	for (unsigned int i = 0; i < CHUNKS; i++)
		if (post_read(&e, mr, mem + i * stride) ||
		    !wait_wc(e.cq, &wc) || wc.status)
			return 4;
	if (write(to_parent, "t", 1) != 1 || read(from_parent, &byte, 1) != 1)
		return 5;
	if (munmap(mem, size) || write(to_parent, "g", 1) != 1 ||
	    read(from_parent, &byte, 1) != 1)
		return 6;
	return 0;
}

/*
 * A peer's accesses make the kernel allocate memory: the owner of the region is
 * charged for it, and it is freed with the pages.
 */
TEST_F(cgroup, owner_is_charged)
{
	const long cost = CHUNKS * (CHUNK_COST + variant->lists * PAGE);
	int to_child[2], to_parent[2], status;
	long before, full;
	time_t end;
	pid_t pid;

	ASSERT_EQ(pipe(to_child), 0);
	ASSERT_EQ(pipe(to_parent), 0);
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid) {
		close(to_child[1]);
		_exit(run_owner(variant->stride * CHUNK, to_child[0],
				to_parent[1]));
	}
	close(to_parent[1]);
	ASSERT_EQ(next_byte(to_parent[0]), 'r');
	before = kernel_bytes();
	ASSERT_EQ(write(to_child[1], "", 1), 1);
	ASSERT_EQ(next_byte(to_parent[0]), 't');
	/* charges become visible some time later */
	for (end = deadline(); (full = kernel_bytes()) < before + cost;) {
		ASSERT_LT(time(NULL), end)
		TH_LOG("%ld bytes are charged, not %ld", full - before, cost);
	}
	ASSERT_EQ(write(to_child[1], "", 1), 1);
	ASSERT_EQ(next_byte(to_parent[0]), 'g');
	/* Three quarters are more than the chunks without their lists. */
	for (end = deadline(); kernel_bytes() > full - cost * 3 / 4;) {
		ASSERT_LT(time(NULL), end)
		TH_LOG("%ld bytes are kept", kernel_bytes() - before);
	}
	ASSERT_EQ(write(to_child[1], "", 1), 1);
	ASSERT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
	close(to_child[1]);
	close(to_parent[0]);
}

/* Endless prefetching */

FIXTURE(advice)
{
	pid_t pid;
};

FIXTURE_SETUP(advice)
{
}

FIXTURE_TEARDOWN(advice)
{
	if (self->pid > 0)
		kill(self->pid, SIGKILL);
}

static int run_advice(void)
{
	static struct ibv_sge sge[4095];
	struct end e = {};
	struct ibv_mr *mr;
	void *mem;

	mem = mmap(NULL, 4096 * MIB, PROT_READ,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (mem == MAP_FAILED || madvise(mem, 4096 * MIB, MADV_NOHUGEPAGE) ||
	    !make_loop(&e))
		return 1;
	mr = ibv_reg_mr(e.pd, mem, 4096 * MIB, IBV_ACCESS_ON_DEMAND);
	if (!mr)
		return 2;
	for (unsigned int i = 0; i < ARRAY_SIZE(sge); i++)
		sge[i] = (struct ibv_sge){ (uintptr_t)mem, UINT32_MAX,
					   mr->lkey };
	ibv_advise_mr(e.pd, IBV_ADVISE_MR_ADVICE_PREFETCH,
		      IBV_ADVISE_MR_FLAG_FLUSH, sge, ARRAY_SIZE(sge));
	return 3;
}

TEST_F(advice, can_be_killed)
{
	time_t end = deadline();
	char path[64];
	int status;

	self->pid = fork();
	ASSERT_GE(self->pid, 0);
	if (!self->pid)
		_exit(run_advice());
	/* the size of page tables shows the progress, in KiB */
	snprintf(path, sizeof(path), "/proc/%d/status", self->pid);
	while (number_in(path, "VmPTE") < 512 && time(NULL) < end)
		usleep(1000);
	ASSERT_LT(time(NULL), end);
	ASSERT_EQ(kill(self->pid, SIGKILL), 0);
	status = wait_gone(self->pid);
	ASSERT_NE(status, -1);
	EXPECT_TRUE(WIFSIGNALED(status));
	self->pid = 0;
}

/* A file whose contents never come */

#define FILE_SIZE (8 * MIB)

/*
 * struct fuse - a file system that is one file
 * @fd: connection to the kernel
 * @asked: written to when a read arrives
 */
struct fuse {
	char path[32];
	int fd;
	int asked[2];
};

static bool mount_file(struct fuse *f, int fd)
{
	char options[128];

	f->fd = fd;
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=100644,user_id=0,group_id=0", fd);
	return !mount("mynic-selftest", f->path, "fuse", MS_NOSUID | MS_NODEV,
		      options);
}

static void reply(struct fuse *f, const struct fuse_in_header *in, int error,
		  const void *data, size_t len)
{
	struct {
		struct fuse_out_header header;
		uint8_t data[256];
	} out = {
		.header = { .len = sizeof(out.header) + len,
			    .error = error,
			    .unique = in->unique },
	};

	if (len)
		memcpy(out.data, data, len);
	if (write(f->fd, &out, out.header.len) < 0)
		return;
}

/* Answers all requests except reads */
static void *serve(void *arg)
{
	static union {
		struct fuse_in_header in;
		uint8_t bytes[1 << 16];
	} request;
	const struct fuse_in_header *in = &request.in;
	const struct fuse_init_in *init = (const void *)(in + 1);
	struct fuse_init_out init_out = { .max_write = 4096 };
	struct fuse_attr_out attr = {
		.attr = { .ino = 1,
			  .size = FILE_SIZE,
			  .blocks = FILE_SIZE / 512,
			  .mode = S_IFREG | 0644,
			  .nlink = 1,
			  .blksize = 4096 },
		.attr_valid = 3600,
	};
	struct fuse_open_out open_out = {};
	struct fuse *f = arg;

	for (;;) {
		ssize_t n = read(f->fd, &request, sizeof(request));

		if (n < 0 && errno == ENODEV)
			return NULL;
		if (n < (ssize_t)sizeof(*in))
			continue;
		switch (in->opcode) {
		case FUSE_INIT:
			init_out.major = FUSE_KERNEL_VERSION;
			init_out.minor = init->minor;
			reply(f, in, 0, &init_out, sizeof(init_out));
			break;
		case FUSE_GETATTR:
			reply(f, in, 0, &attr, sizeof(attr));
			break;
		case FUSE_OPEN:
			reply(f, in, 0, &open_out, sizeof(open_out));
			break;
		case FUSE_READ:
			if (write(f->asked[1], "", 1) != 1)
				return NULL;
			break;
		case FUSE_INTERRUPT:
		case FUSE_FORGET:
			break;
		default:
			reply(f, in, in->opcode == FUSE_FLUSH ? 0 : -EOPNOTSUPP,
			      NULL, 0);
		}
	}
}

static bool make_file(struct fuse *f)
{
	int fd;

	strcpy(f->path, "/tmp/mynic-XXXXXX");
	fd = mkstemp(f->path);
	if (fd < 0)
		return false;
	close(fd);
	return !pipe(f->asked);
}

/* Ends the wait of others */
static void remove_file(const struct fuse *f)
{
	umount2(f->path, MNT_FORCE | MNT_DETACH);
	unlink(f->path);
}

FIXTURE(late)
{
	struct fuse fuse;
	pid_t pid;
};

/*
 * @own: the waiting process is the one that would have to answer
 * @first: it has opened the file system before the device, and files are closed
 * in order
 */
FIXTURE_VARIANT(late)
{
	bool own;
	bool first;
};

FIXTURE_VARIANT_ADD(late, another_process){
	.own = false,
};

FIXTURE_VARIANT_ADD(late, itself_opened_first){
	.own = true,
	.first = true,
};

FIXTURE_VARIANT_ADD(late, itself_opened_last){
	.own = true,
	.first = false,
};

FIXTURE_SETUP(late)
{
	if (access("/dev/fuse", R_OK | W_OK))
		SKIP(return, "no FUSE");
	ASSERT_TRUE(make_file(&self->fuse));
}

FIXTURE_TEARDOWN(late)
{
	if (self->pid > 0)
		kill(self->pid, SIGKILL);
	remove_file(&self->fuse);
}

static bool start_server(struct fuse *f, int fd)
{
	pthread_t thread;

	return mount_file(f, fd) && !pthread_create(&thread, NULL, serve, f);
}

static void *map_file(const struct fuse *f)
{
	int fd = open(f->path, O_RDONLY | O_CLOEXEC);
	struct stat attr;
	void *mem;

	if (fd < 0 || fstat(fd, &attr) || attr.st_size != FILE_SIZE)
		return NULL;
	mem = mmap(NULL, FILE_SIZE, PROT_READ, MAP_SHARED, fd, 0);
	/* closing asks the server, which must be alive */
	return mem == MAP_FAILED || close(fd) ? NULL : mem;
}

/*
 * Makes the device read data that never comes, in another thread than the
 * server's
 */
static int run_reader(struct fuse *f, bool own, bool first)
{
	struct end e = {};
	struct ibv_mr *mr;
	int fd = -1;
	void *mem;

	if (own && first)
		fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (!make_loop(&e))
		return 1;
	if (own && !first)
		fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (own && !start_server(f, fd))
		return 2;
	mem = map_file(f);
	if (!mem)
		return 3;
	mr = ibv_reg_mr(e.pd, mem, FILE_SIZE,
			IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ON_DEMAND);
	if (!mr || post_read(&e, mr, mem))
		return 4;
	pause();
	return 5;
}

/*
 * The end of a process does not wait for pages that the device is waiting for.
 */
TEST_F(late, end_of_process)
{
	struct fuse *f = &self->fuse;
	struct pollfd asked = { .fd = f->asked[0], .events = POLLIN };
	int status;

	if (!variant->own) {
		ASSERT_TRUE(
			start_server(f, open("/dev/fuse", O_RDWR | O_CLOEXEC)));
	}
	self->pid = fork();
	ASSERT_GE(self->pid, 0);
	if (!self->pid)
		_exit(run_reader(f, variant->own, variant->first));
	ASSERT_EQ(poll(&asked, 1, PATIENCE * 1000), 1);
	ASSERT_EQ(kill(self->pid, SIGKILL), 0);
	status = wait_gone(self->pid);
	ASSERT_NE(status, -1);
	EXPECT_TRUE(WIFSIGNALED(status));
	self->pid = 0;
}

/* More than the default limit of any kernel's workqueues, which is 1024 */
#define CROWD 1200
/* Pages of its own that another process needs meanwhile */
#define OTHERS 64

/*
 * Makes many queue pairs read data that never comes, and reports that. While
 * one waits, the process cannot map memory.
 */
static int run_crowd(const struct fuse *f, int to_parent)
{
	static struct ibv_qp *qps[CROWD];
	struct end e = {};
	struct ibv_mr *mr;
	uint8_t *mem;

	mem = map_file(f);
	if (!mem || madvise(mem, FILE_SIZE, MADV_RANDOM) || !make_loop(&e))
		return 1;
	mr = ibv_reg_mr(e.pd, mem, FILE_SIZE,
			IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ON_DEMAND);
	if (!mr)
		return 2;
	for (unsigned int i = 0; i < CROWD; i++) {
		e.qp = make_qp(&e, IBV_QPT_RC);
		if (!e.qp || to_rts(&e, &e))
			return 3;
		qps[i] = e.qp;
	}
	for (unsigned int i = 0; i < CROWD; i++) {
		e.qp = qps[i];
		if (post_read(&e, mr, mem + i * PAGE))
			return 4;
	}
	if (write(to_parent, "", 1) != 1)
		return 5;
	pause();
	return 6;
}

FIXTURE(crowd)
{
	struct fuse fuse;
	pid_t pid;
};

FIXTURE_SETUP(crowd)
{
	if (access("/dev/fuse", R_OK | W_OK))
		SKIP(return, "no FUSE");
	ASSERT_TRUE(make_file(&self->fuse));
}

FIXTURE_TEARDOWN(crowd)
{
	if (self->pid > 0)
		kill(self->pid, SIGKILL);
	remove_file(&self->fuse);
}

/* Page faults of a process without end do not hold up those of another. */
TEST_F(crowd, others_go_on)
{
	struct fuse *f = &self->fuse;
	struct end e = {};
	int posted[2], status;
	struct ibv_mr *mr;
	struct ibv_wc wc;
	uint8_t *mem;

	ASSERT_TRUE(start_server(f, open("/dev/fuse", O_RDWR | O_CLOEXEC)));
	ASSERT_EQ(pipe(posted), 0);
	self->pid = fork();
	ASSERT_GE(self->pid, 0);
	if (!self->pid)
		_exit(run_crowd(f, posted[1]));
	close(posted[1]);
	ASSERT_TRUE(make_loop(&e));
	mem = mmap(NULL, OTHERS * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
		   -1, 0);
	ASSERT_NE(mem, MAP_FAILED);
	mr = ibv_reg_mr(e.pd, mem, OTHERS * PAGE,
			IBV_ACCESS_REMOTE_READ | IBV_ACCESS_ON_DEMAND);
	ASSERT_NE(mr, NULL);
	ASSERT_EQ(read(posted[0], &status, 1), 1);
	for (unsigned int i = 0; i < OTHERS; i++) {
		ASSERT_EQ(post_read(&e, mr, mem + i * PAGE), 0);
		ASSERT_TRUE(wait_wc(e.cq, &wc));
		ASSERT_EQ(wc.status, IBV_WC_SUCCESS);
	}
	EXPECT_EQ(kill(self->pid, SIGKILL), 0);
	EXPECT_NE(wait_gone(self->pid), -1);
	self->pid = 0;
	EXPECT_EQ(ibv_dereg_mr(mr), 0);
	EXPECT_EQ(free_end(&e), 0);
	EXPECT_EQ(ibv_close_device(e.ctx), 0);
	close(posted[0]);
}

TEST_HARNESS_MAIN
