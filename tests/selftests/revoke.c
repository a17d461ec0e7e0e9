// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Regions on a dma-buf that its exporter revokes: under traffic, during
 * registration and deregistration, from a killed process, and over a reset. The
 * exporter is a module of these tests. It can only be unloaded if nothing holds
 * a buffer, which is checked after each test.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "module.h"
#include "modules/exporter.h"
#include "verbs.h"

#define LEN (1 << 20)
#define PAGES (LEN / sysconf(_SC_PAGESIZE))
#define IOVA 0x10000000
#define DEPTH 16 /* requests in a queue */
#define PATTERN 0x5a
#define ALL                                                 \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
	 IBV_ACCESS_REMOTE_READ)

#define EXPORTER "dmabuf_exporter"

static int open_exporter(void)
{
	time_t end = deadline();
	int fd;

	do {
		fd = open("/dev/" EXPORTER_DEVICE, O_RDWR | O_CLOEXEC);
	} while (fd < 0 && errno == ENOENT && time(NULL) < end);
	return fd;
}

/*
 * struct buffer - a dma-buf
 * @fd: its descriptor
 * @mem: all of it, mapped
 */
struct buffer {
	int fd;
	uint8_t *mem;
};

static bool make_buffer(int exporter, struct buffer *buf)
{
	__u32 pages = PAGES;

	buf->fd = ioctl(exporter, EXPORTER_MAKE, &pages);
	if (buf->fd < 0)
		return false;
	buf->mem =
		mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, buf->fd, 0);
	return buf->mem != MAP_FAILED;
}

static void free_buffer(struct buffer *buf)
{
	munmap(buf->mem, LEN);
	close(buf->fd);
}

/*
 * Revoke a buffer. Return: number of importers that still have it mapped, or -1
 */
static int take_back(int exporter, const struct buffer *buf)
{
	return ioctl(exporter, EXPORTER_REVOKE, &buf->fd);
}

static bool is_filled(const uint8_t *mem, uint8_t value)
{
	return mem[0] == value && !memcmp(mem, mem + 1, LEN - 1);
}

static struct ibv_mr *reg(const struct end *e, const struct buffer *buf)
{
	return ibv_reg_dmabuf_mr(e->pd, 0, LEN, IOVA, buf->fd, ALL);
}

/* Replace the buffer and the region */
static bool renew(int exporter, const struct end *e, struct buffer *buf,
		  struct ibv_mr **mr)
{
	if (*mr && ibv_dereg_mr(*mr))
		return false;
	*mr = NULL;
	free_buffer(buf);
	if (!make_buffer(exporter, buf))
		return false;
	*mr = reg(e, buf);
	return *mr;
}

/* Two connected queue pairs with one CQ */
FIXTURE(revoke)
{
	struct end e;
	struct end peer;
	int exporter;
	struct buffer buf;
	struct ibv_mr *mr;
};

/* Connect two queue pairs, also again */
static int connect_both(struct end *e, struct end *peer)
{
	return to_reset(e) || to_reset(peer) || to_rts(e, peer) ||
	       to_rts(peer, e);
}

FIXTURE_SETUP(revoke)
{
	ASSERT_EQ(load_module(EXPORTER, ""), 0);
	self->exporter = open_exporter();
	ASSERT_GE(self->exporter, 0);
	self->e.ctx = open_mynic(0);
	ASSERT_NE(self->e.ctx, NULL);
	ASSERT_TRUE(make_end(&self->e, IBV_QPT_RC));
	self->peer = self->e;
	self->peer.qp = make_qp(&self->e, IBV_QPT_RC);
	ASSERT_NE(self->peer.qp, NULL);
	ASSERT_EQ(connect_both(&self->e, &self->peer), 0);
	ASSERT_TRUE(make_buffer(self->exporter, &self->buf));
	self->mr = reg(&self->e, &self->buf);
	ASSERT_NE(self->mr, NULL);
}

FIXTURE_TEARDOWN(revoke)
{
	if (self->mr)
		EXPECT_EQ(ibv_dereg_mr(self->mr), 0);
	EXPECT_EQ(ibv_destroy_qp(self->peer.qp), 0);
	EXPECT_EQ(free_end(&self->e), 0);
	EXPECT_EQ(ibv_close_device(self->e.ctx), 0);
	free_buffer(&self->buf);
	close(self->exporter);
	EXPECT_EQ(unload_module(EXPORTER), 0);
}

/*
 * struct way - a use of the buffer
 * @into: data is written to the buffer; else it is read
 * @remote: the buffer belongs to the peer
 * @status: status of a request after the revocation
 */
struct way {
	const char *name;
	enum ibv_wr_opcode opcode;
	bool into;
	bool remote;
	enum ibv_wc_status status;
};

static const struct way ways[] = {
	{ "WRITE into", IBV_WR_RDMA_WRITE, true, true, IBV_WC_REM_ACCESS_ERR },
	{ "WRITE out of", IBV_WR_RDMA_WRITE, false, false,
	  IBV_WC_LOC_PROT_ERR },
	{ "READ into", IBV_WR_RDMA_READ, true, false, IBV_WC_LOC_PROT_ERR },
	{ "READ out of", IBV_WR_RDMA_READ, false, true, IBV_WC_REM_ACCESS_ERR },
	{ "SEND into", IBV_WR_SEND, true, true, IBV_WC_REM_OP_ERR },
	{ "SEND out of", IBV_WR_SEND, false, false, IBV_WC_LOC_PROT_ERR },
};

#define NUM_WAYS (sizeof(ways) / sizeof(*ways))
#define RECV (1ULL << 32) /* in a wr_id */

/* Post a request for all of the buffer, and a receive request if needed */
static int post_one(struct end *e, struct end *peer, const struct way *way,
		    const struct ibv_mr *mr, uint64_t id)
{
	struct ibv_sge at_buf = { IOVA, LEN, mr->lkey };
	struct ibv_sge at_mem = { (uintptr_t)e->buf, LEN, e->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.wr_id = id,
		.sg_list = way->remote ? &at_mem : &at_buf,
		.num_sge = 1,
		.opcode = way->opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = way->remote ? IOVA : at_mem.addr,
			     .rkey = way->remote ? mr->rkey : e->mr->rkey },
	};
	struct ibv_recv_wr *bad_recv, recv = {
		.wr_id = id | RECV,
		.sg_list = way->remote ? &at_buf : &at_mem,
		.num_sge = 1,
	};

	if (way->opcode == IBV_WR_SEND) {
		int err = ibv_post_recv(peer->qp, &recv, &bad_recv);

		if (err)
			return err;
	}
	return ibv_post_send(e->qp, &wr, &bad);
}

/*
 * struct revoker - a thread that revokes a buffer
 * @go: it may begin
 * @left: result of take_back()
 */
struct revoker {
	pthread_t thread;
	pthread_barrier_t go;
	int exporter;
	const struct buffer *buf;
	int left;
};

/*
 * Revoke the buffer, and then fill it. Outstanding requests must not change it
 */
static void *run_revoker(void *arg)
{
	struct revoker *r = arg;

	pthread_barrier_wait(&r->go);
	r->left = take_back(r->exporter, r->buf);
	memset(r->buf->mem, PATTERN, LEN);
	return NULL;
}

static bool start_revoker(struct revoker *r)
{
	return !pthread_barrier_init(&r->go, NULL, 2) &&
	       !pthread_create(&r->thread, NULL, run_revoker, r);
}

/* Return: 0, or the error */
static int join_revoker(struct revoker *r)
{
	if (pthread_join(r->thread, NULL))
		return -1;
	pthread_barrier_destroy(&r->go);
	return r->left;
}

/*
 * struct stream - requests of one kind, and their results
 * @posted: number of requests
 * @done: number of completed requests
 * @received: the same for receive requests
 * @failed: status of the first request that failed
 * @recv_failed: the same for receive requests
 * @disorder: completions are out of order, or one after @failed is not flushed
 */
struct stream {
	const struct way *way;
	unsigned int posted;
	unsigned int done;
	unsigned int received;
	enum ibv_wc_status failed;
	enum ibv_wc_status recv_failed;
	bool disorder;
};

static void account(struct stream *s, const struct ibv_wc *wc)
{
	bool recv = wc->wr_id & RECV;
	unsigned int *count = recv ? &s->received : &s->done;
	enum ibv_wc_status *failed = recv ? &s->recv_failed : &s->failed;

	if ((wc->wr_id & ~RECV) != *count)
		s->disorder = true;
	++*count;
	if (!*failed)
		*failed = wc->status;
	else if (wc->status != IBV_WC_WR_FLUSH_ERR)
		s->disorder = true;
}

static bool collect_one(struct end *e, struct stream *s)
{
	struct ibv_wc wc;

	if (!wait_wc(e->cq, &wc))
		return false;
	account(s, &wc);
	return true;
}

static bool collect_all(struct end *e, struct stream *s)
{
	while (s->done != s->posted ||
	       (s->way->opcode == IBV_WR_SEND && s->received != s->posted))
		if (!collect_one(e, s))
			return false;
	return true;
}

/* Keeps the queues full until @num requests are complete, or one has failed */
static bool run_stream(struct end *e, struct end *peer, struct stream *s,
		       const struct ibv_mr *mr, unsigned int num)
{
	unsigned int *last = s->way->opcode == IBV_WR_SEND ? &s->received :
							     &s->done;

	while (s->done < num && !s->failed) {
		while (s->posted - s->done < DEPTH &&
		       s->posted - *last < DEPTH) {
			if (post_one(e, peer, s->way, mr, s->posted))
				return false;
			s->posted++;
		}
		if (!collect_one(e, s))
			return false;
	}
	return true;
}

/*
 * Move the receiver's queue pair to ERR, which does not fail with the sender's
 */
static int make_error(struct end *e)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	return ibv_modify_qp(e->qp, &attr, IBV_QP_STATE);
}

/*
 * During requests: they end with the right status, and afterwards no request
 * changes the buffer.
 */
TEST_F(revoke, traffic)
{
	struct end *e = &self->e, *peer = &self->peer;

	for (unsigned int round = 0; round < 3 * NUM_WAYS; round++) {
		const struct way *way = &ways[round % NUM_WAYS];
		struct stream s = { .way = way }, again = { .way = way };
		struct revoker r = { .exporter = self->exporter,
				     .buf = &self->buf };

		memset(e->buf, round + 1, LEN);
		ASSERT_TRUE(start_revoker(&r));
		ASSERT_TRUE(run_stream(e, peer, &s, self->mr, 10));
		ASSERT_EQ(s.failed, 0);
		pthread_barrier_wait(&r.go);
		ASSERT_TRUE(run_stream(e, peer, &s, self->mr, -1));
		ASSERT_EQ(join_revoker(&r), 0);
		ASSERT_EQ(make_error(peer), 0);
		ASSERT_TRUE(collect_all(e, &s));

		EXPECT_FALSE(s.disorder);
		EXPECT_EQ(s.failed, way->status)
		TH_LOG("%s, after %u", way->name, s.done);
		if (way->status == IBV_WC_REM_OP_ERR)
			EXPECT_EQ(s.recv_failed, IBV_WC_LOC_PROT_ERR);
		EXPECT_TRUE(is_filled(self->buf.mem, PATTERN))
		TH_LOG("%s", way->name);

		/* A request for a buffer that was revoked before */
		ASSERT_EQ(connect_both(e, peer), 0);
		ASSERT_TRUE(run_stream(e, peer, &again, self->mr, 1));
		ASSERT_EQ(make_error(peer), 0);
		ASSERT_TRUE(collect_all(e, &again));
		EXPECT_EQ(again.failed, way->status);
		EXPECT_TRUE(is_filled(self->buf.mem, PATTERN));
		EXPECT_EQ(take_back(self->exporter, &self->buf), 0);
		EXPECT_EQ(reg(e, &self->buf), NULL);
		EXPECT_EQ(errno, ENODEV);

		ASSERT_EQ(connect_both(e, peer), 0);
		ASSERT_TRUE(renew(self->exporter, e, &self->buf, &self->mr));
	}
}

/* All regions on a buffer end at once, in all contexts; others do not */
TEST_F(revoke, many_regions)
{
	struct ibv_context *ctx = open_mynic(0);
	struct end foreign = { .ctx = ctx };
	struct ibv_mr *mrs[32];
	struct buffer other;
	struct ibv_mr *mr;
	struct ibv_wc wc;

	ASSERT_NE(ctx, NULL);
	foreign.pd = ibv_alloc_pd(ctx);
	ASSERT_NE(foreign.pd, NULL);
	ASSERT_TRUE(make_buffer(self->exporter, &other));
	mr = reg(&self->e, &other);
	ASSERT_NE(mr, NULL);
	for (int i = 0; i < 32; i++) {
		mrs[i] = reg(i % 2 ? &self->e : &foreign, &self->buf);
		ASSERT_NE(mrs[i], NULL);
	}
	EXPECT_EQ(take_back(self->exporter, &self->buf), 0);
	for (int i = 0; i < 32; i++)
		EXPECT_EQ(ibv_dereg_mr(mrs[i]), 0);
	memset(self->e.buf, PATTERN, LEN);
	ASSERT_EQ(post_one(&self->e, &self->peer, &ways[0], mr, 0), 0);
	ASSERT_TRUE(wait_wc(self->e.cq, &wc));
	EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
	EXPECT_TRUE(is_filled(other.mem, PATTERN));
	EXPECT_EQ(ibv_dereg_mr(mr), 0);
	free_buffer(&other);
	EXPECT_EQ(ibv_dealloc_pd(foreign.pd), 0);
	EXPECT_EQ(ibv_close_device(ctx), 0);
}

/* During deregistration of the region, or registration of another one */
TEST_F(revoke, beside_registration)
{
	for (int round = 0; round < 100; round++) {
		struct revoker r = { .exporter = self->exporter,
				     .buf = &self->buf };
		struct ibv_mr *mr = NULL;

		ASSERT_TRUE(start_revoker(&r));
		pthread_barrier_wait(&r.go);
		if (round % 2) {
			mr = reg(&self->e, &self->buf);
			if (!mr)
				EXPECT_EQ(errno, ENODEV);
		}
		ASSERT_EQ(ibv_dereg_mr(self->mr), 0);
		self->mr = NULL;
		EXPECT_EQ(join_revoker(&r), 0);
		if (mr)
			EXPECT_EQ(ibv_dereg_mr(mr), 0);
		ASSERT_TRUE(
			renew(self->exporter, &self->e, &self->buf, &self->mr));
	}
}

/* Keeps a queue full until it is killed; writes a byte to @ready when it is */
static void run_victim(const struct buffer *buf, int ready)
{
	struct end e = { .ctx = open_mynic(0) };
	unsigned long posted = 0, done = 0;
	struct ibv_mr *mr;
	struct ibv_wc wc;

	if (!e.ctx || !make_end(&e, IBV_QPT_RC) || to_rts(&e, &e))
		_exit(1);
	mr = reg(&e, buf);
	if (!mr)
		_exit(1);
	memset(e.buf, 0xee, LEN);
	for (;;) {
		/* These may fail after the revocation */
		while (posted - done < DEPTH &&
		       !post_one(&e, &e, &ways[0], mr, 0))
			posted++;
		done += ibv_poll_cq(e.cq, 1, &wc);
		if (done > DEPTH && ready >= 0) {
			if (write(ready, "", 1) != 1)
				_exit(1);
			close(ready);
			ready = -1;
		}
	}
}

/* A process that is killed before, during and after the revocation */
TEST_F(revoke, killed)
{
	for (int round = 0; round < 9; round++) {
		struct revoker r = { .exporter = self->exporter,
				     .buf = &self->buf };
		int ready[2], status;
		pid_t pid;
		char byte;

		ASSERT_EQ(pipe(ready), 0);
		pid = fork();
		ASSERT_GE(pid, 0);
		if (pid == 0)
			run_victim(&self->buf, ready[1]);
		close(ready[1]);
		ASSERT_EQ(read(ready[0], &byte, 1), 1);
		close(ready[0]);

		ASSERT_TRUE(start_revoker(&r));
		if (round % 3 == 0) {
			ASSERT_EQ(kill(pid, SIGKILL), 0);
		}
		pthread_barrier_wait(&r.go);
		if (round % 3 == 1) {
			ASSERT_EQ(kill(pid, SIGKILL), 0);
		}
		EXPECT_EQ(join_revoker(&r), 0);
		if (round % 3 == 2) {
			ASSERT_EQ(kill(pid, SIGKILL), 0);
		}
		ASSERT_EQ(waitpid(pid, &status, 0), pid);
		EXPECT_TRUE(WIFSIGNALED(status));
		EXPECT_TRUE(is_filled(self->buf.mem, PATTERN));
		ASSERT_TRUE(
			renew(self->exporter, &self->e, &self->buf, &self->mr));
	}
}

/* Wait until there is a mynic with an address */
static bool wait_device(void)
{
	time_t end = deadline();

	while (time(NULL) < end) {
		struct ibv_context *ctx = open_mynic(0);
		int gid = ctx ? find_gid(ctx) : -1;

		if (ctx)
			ibv_close_device(ctx);
		if (gid >= 0)
			return true;
		usleep(50000);
	}
	return false;
}

/*
 * The driver releases the buffer when the RDMA device is removed, at any time
 */
TEST_F(revoke, device_reset)
{
	struct revoker r = { .exporter = self->exporter, .buf = &self->buf };
	struct ibv_wc wc;

	for (unsigned int i = 0; i < DEPTH; i++) {
		ASSERT_EQ(post_one(&self->e, &self->peer, &ways[0], self->mr,
				   i),
			  0);
	}
	ASSERT_TRUE(wait_wc(self->e.cq, &wc));
	ASSERT_TRUE(start_revoker(&r));
	pthread_barrier_wait(&r.go);
	ASSERT_EQ(write_reset(self->e.ctx), 0);
	EXPECT_EQ(join_revoker(&r), 0);
	ASSERT_TRUE(wait_device());
	EXPECT_EQ(take_back(self->exporter, &self->buf), 0);
	EXPECT_TRUE(is_filled(self->buf.mem, PATTERN));
}

TEST_F(revoke, after_device_reset)
{
	ASSERT_EQ(write_reset(self->e.ctx), 0);
	ASSERT_TRUE(wait_device());
	/*
	 * No importer has it mapped, although the process still has the region
	 */
	EXPECT_EQ(take_back(self->exporter, &self->buf), 0);
}

TEST_HARNESS_MAIN
