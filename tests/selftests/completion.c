// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * CQs and SRQs: resizing while they are in use, with its kernel-user ABI;
 * events; overrun; completion vectors
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "context.h"
#include "verbs.h"

FIXTURE(completion)
{
	struct end a, b;
};

FIXTURE_SETUP(completion)
{
	self->a.ctx = open_mynic(0);
	ASSERT_NE(self->a.ctx, NULL);
	self->b.ctx = self->a.ctx;
	ASSERT_TRUE(make_end(&self->a, IBV_QPT_RC));
	ASSERT_TRUE(make_end(&self->b, IBV_QPT_RC));
	ASSERT_EQ(to_rts(&self->a, &self->b), 0);
	ASSERT_EQ(to_rts(&self->b, &self->a), 0);
}

FIXTURE_TEARDOWN(completion)
{
	EXPECT_EQ(free_end(&self->a), 0);
	EXPECT_EQ(free_end(&self->b), 0);
	EXPECT_EQ(ibv_close_device(self->a.ctx), 0);
}

/* Wait for an event of @cq; false if none comes */
static bool wait_event(struct ibv_comp_channel *channel, struct ibv_cq *cq)
{
	struct pollfd fd = { .fd = channel->fd, .events = POLLIN };
	struct ibv_cq *of;
	void *context;

	if (poll(&fd, 1, PATIENCE * 1000) != 1 ||
	    ibv_get_cq_event(channel, &of, &context))
		return false;
	ibv_ack_cq_events(of, 1);
	return of == cq;
}

/* Wait for an asynchronous event of this type, and ignore others */
static bool wait_async(struct ibv_context *ctx, enum ibv_event_type type,
		       struct ibv_async_event *event)
{
	struct pollfd fd = { .fd = ctx->async_fd, .events = POLLIN };

	while (poll(&fd, 1, PATIENCE * 1000) == 1 &&
	       !ibv_get_async_event(ctx, event)) {
		ibv_ack_async_event(event);
		if (event->event_type == type)
			return true;
	}
	return false;
}

/* RESIZE_CQ command of the process */
struct resize_cmd {
	struct ib_uverbs_cmd_hdr hdr;
	struct ib_uverbs_resize_cq cmd;
	struct mynic_resize_cq_req req;
	uint64_t more;
};

struct resize_resp {
	struct ib_uverbs_resize_cq_resp resp;
	struct mynic_resize_resp driver;
	uint8_t more[16];
};

/*
 * RESIZE_CQ with @in bytes of driver data and room for @out bytes of response
 */
static int give_resize(struct ibv_cq *cq, struct resize_cmd *cmd, size_t in,
		       size_t out, struct resize_resp *resp)
{
	size_t len = offsetof(struct resize_cmd, req) + in;

	cmd->hdr.command = IB_USER_VERBS_CMD_RESIZE_CQ;
	cmd->hdr.in_words = len / 4;
	cmd->hdr.out_words = (sizeof(resp->resp) + out) / 4;
	cmd->cmd.response = (uintptr_t)resp;
	cmd->cmd.cq_handle = cq->handle;
	memset(resp, 0xee, sizeof(*resp));
	return write(cq->context->cmd_fd, cmd, len) == (ssize_t)len ? 0 : errno;
}

static int resize(struct ibv_cq *cq, uint32_t cqe, uint64_t key, size_t in,
		  size_t out, struct resize_resp *resp)
{
	struct resize_cmd cmd = {
		.cmd = { .cqe = cqe },
		.req = { .mmap_key = key },
	};

	return give_resize(cq, &cmd, in, out, resp);
}

#define REQ sizeof(struct mynic_resize_cq_req)
#define RESP sizeof(struct mynic_resize_resp)

TEST_F(completion, resize_driver_data)
{
	struct resize_cmd more = { .cmd = { .cqe = 64 }, .more = 1 };
	struct ibv_cq *cq = self->a.cq;
	struct resize_resp r;

	/* too short; longer, with zeros and with unknown data */
	EXPECT_EQ(resize(cq, 64, 0, 0, RESP, &r), EINVAL);
	EXPECT_EQ(resize(cq, 64, 0, 4, RESP, &r), EINVAL);
	EXPECT_EQ(resize(cq, 64, 0, REQ + 8, RESP, &r), 0);
	EXPECT_EQ(give_resize(cq, &more, REQ + 8, RESP, &r), EOPNOTSUPP);
	/* no response, a short one, a long one */
	EXPECT_EQ(resize(cq, 64, 0, REQ, 0, &r), 0);
	EXPECT_EQ(r.driver.mmap_key, 0xeeeeeeeeeeeeeeee);
	EXPECT_EQ(resize(cq, 64, 0, REQ, 8, &r), 0);
	EXPECT_NE(r.driver.mmap_key, 0xeeeeeeeeeeeeeeee);
	EXPECT_EQ(r.driver.mmap_size, 0xeeeeeeee);
	EXPECT_EQ(resize(cq, 64, 0, REQ, RESP + 8, &r), 0);
	EXPECT_EQ(r.driver.log_size, 6);
	EXPECT_EQ(r.more[8], 0xee);
	/* The CQ is unchanged */
	EXPECT_EQ(r.resp.cqe, cq->cqe);
	EXPECT_EQ(check_write(&self->a, &self->b, 100), 0);
}

TEST_F(completion, resize_keys_and_sizes)
{
	struct ibv_cq *cq = self->a.cq;
	struct ibv_device_attr attr;
	struct resize_resp first, r;
	void *p;

	ASSERT_EQ(ibv_query_device(self->a.ctx, &attr), 0);
	EXPECT_EQ(resize(cq, 0, 0, REQ, RESP, &r), EINVAL);
	EXPECT_EQ(resize(cq, attr.max_cqe + 1, 0, REQ, RESP, &r), EINVAL);
	EXPECT_EQ(resize(cq, UINT32_MAX, 0, REQ, RESP, &r), EINVAL);
	/* No memory has been allocated */
	EXPECT_EQ(resize(cq, 64, 4096, REQ, RESP, &r), EINVAL);
	EXPECT_EQ(resize(cq, 64, ~0ULL, REQ, RESP, &r), EINVAL);

	ASSERT_EQ(resize(cq, 64, 0, REQ, RESP, &first), 0);
	ASSERT_EQ(resize(cq, 100, 0, REQ, RESP, &r), 0);
	/*
	 * The second memory has replaced the first one; another size is refused
	 */
	if (first.driver.mmap_key != r.driver.mmap_key)
		EXPECT_EQ(resize(cq, 64, first.driver.mmap_key, REQ, RESP,
				 &first),
			  EINVAL);
	EXPECT_EQ(resize(cq, 64, r.driver.mmap_key, REQ, RESP, &first), EINVAL);
	p = mmap(NULL, r.driver.mmap_size, PROT_READ | PROT_WRITE, MAP_SHARED,
		 self->a.ctx->cmd_fd, r.driver.mmap_key);
	ASSERT_NE(p, MAP_FAILED);
	EXPECT_EQ(check_write(&self->a, &self->b, 100), 0);
	/* The library's own resize replaces that memory */
	EXPECT_EQ(ibv_resize_cq(cq, 20), 0);
	EXPECT_EQ(cq->cqe, 32);
	memset(p, 0xff, r.driver.mmap_size);
	EXPECT_EQ(check_write(&self->a, &self->b, 100), 0);
	EXPECT_EQ(munmap(p, r.driver.mmap_size), 0);
	/* Memory to which the CQ never moves is freed with the CQ */
	ASSERT_EQ(resize(cq, 100, 0, REQ, RESP, &r), 0);
}

TEST_F(completion, resize_that_does_not_fit)
{
	struct ibv_wc wc;

	for (int i = 0; i < 5; i++) {
		ASSERT_EQ(ibv_req_notify_cq(self->a.cq, 0), 0);
		ASSERT_EQ(post(&self->a, IBV_WR_RDMA_WRITE, i, 0, 8, &self->b),
			  0);
		ASSERT_TRUE(wait_event(self->a.channel, self->a.cq));
	}
	EXPECT_EQ(ibv_resize_cq(self->a.cq, 4), EINVAL);
	EXPECT_EQ(ibv_resize_cq(self->a.cq, 1), EINVAL);
	for (uint64_t i = 0; i < 5; i++) {
		ASSERT_TRUE(wait_wc(self->a.cq, &wc));
		EXPECT_EQ(wc.wr_id, i);
	}
	EXPECT_EQ(ibv_resize_cq(self->a.cq, 0), EINVAL);
	EXPECT_EQ(ibv_resize_cq(self->a.cq, -1), EINVAL);
	EXPECT_EQ(ibv_resize_cq(self->a.cq, 1), 0);
	EXPECT_EQ(check_write(&self->a, &self->b, 100), 0);
}

#define WRITES 2000
#define WINDOW 32

/*
 * struct traffic - writes whose completions several threads poll
 * @taken: number of polled completions
 * @wrong: wrong completions
 * @hurry: resize without waiting for completions
 * @times: number of times that each completion was polled
 */
struct traffic {
	struct end *e;
	atomic_int taken;
	atomic_int wrong;
	atomic_bool stop;
	atomic_int resized;
	atomic_bool hurry;
	atomic_uchar times[WRITES];
};

static void *take(void *arg)
{
	struct traffic *t = arg;
	struct ibv_wc wc[4];
	int64_t last = -1;

	while (atomic_load(&t->taken) < WRITES && !atomic_load(&t->stop)) {
		int n = ibv_poll_cq(t->e->cq, 4, wc);

		for (int i = 0; i < n; i++) {
			/* each thread sees completions in order */
			if (wc[i].status || (int64_t)wc[i].wr_id <= last ||
			    wc[i].wr_id >= WRITES)
				atomic_fetch_add(&t->wrong, 1);
			else
				atomic_fetch_add(&t->times[wc[i].wr_id], 1);
			last = wc[i].wr_id;
		}
		if (n < 0)
			atomic_fetch_add(&t->wrong, 1);
		else
			atomic_fetch_add(&t->taken, n);
		if (!n)
			sched_yield();
	}
	return NULL;
}

/* Wait until @num more are polled; false if the traffic has ended */
static bool wait_taken(struct traffic *t, int num)
{
	int until = atomic_load(&t->taken) + num;

	while (atomic_load(&t->taken) < until && !atomic_load(&t->stop) &&
	       !atomic_load(&t->hurry))
		sched_yield();
	return !atomic_load(&t->stop);
}

static void *resize_again(void *arg)
{
	struct traffic *t = arg;
	unsigned int seed = (uintptr_t)&seed;

	while (wait_taken(t, rand_r(&seed) % 16)) {
		if (ibv_resize_cq(t->e->cq, WINDOW << rand_r(&seed) % 5))
			atomic_fetch_add(&t->wrong, 1);
		atomic_fetch_add(&t->resized, 1);
	}
	return NULL;
}

static void *arm_again(void *arg)
{
	struct traffic *t = arg;

	while (wait_taken(t, 1))
		if (ibv_req_notify_cq(t->e->cq, 0))
			atomic_fetch_add(&t->wrong, 1);
	return NULL;
}

/* Wait for some resizes, even on a slow machine */
static void wait_resized(struct traffic *t, int num, time_t end)
{
	atomic_store(&t->hurry, true);
	while (atomic_load(&t->resized) < num && time(NULL) < end)
		sched_yield();
	atomic_store(&t->hurry, false);
}

/* No completion is lost, seen twice or out of order in any of it */
TEST_F(completion, resize_under_traffic)
{
	void *(*const work[])(void *) = { take, take, resize_again,
					  resize_again, arm_again };
	pthread_t threads[ARRAY_SIZE(work)];
	struct traffic *t = calloc(1, sizeof(*t));
	time_t end;

	ASSERT_NE(t, NULL);
	t->e = &self->a;
	for (unsigned int i = 0; i < ARRAY_SIZE(work); i++) {
		ASSERT_EQ(pthread_create(&threads[i], NULL, work[i], t), 0);
	}
	end = deadline() + PATIENCE;
	for (int i = 0; i < WRITES && time(NULL) < end; i++) {
		while (i - atomic_load(&t->taken) >= WINDOW && time(NULL) < end)
			sched_yield();
		EXPECT_EQ(post(&self->a, IBV_WR_RDMA_WRITE, i, 0, 8, &self->b),
			  0);
		if (i % (WRITES / 4) == 0)
			wait_resized(t, 1 + i / (WRITES / 4), end);
	}
	while (atomic_load(&t->taken) < WRITES && time(NULL) < end)
		sched_yield();
	atomic_store(&t->stop, true);
	for (unsigned int i = 0; i < ARRAY_SIZE(work); i++)
		pthread_join(threads[i], NULL);
	TH_LOG("%d completions in %d rings", atomic_load(&t->taken),
	       atomic_load(&t->resized));
	ASSERT_EQ(atomic_load(&t->taken), WRITES);
	EXPECT_EQ(atomic_load(&t->wrong), 0);
	for (int i = 0; i < WRITES; i++) {
		ASSERT_EQ(atomic_load(&t->times[i]), 1)
		TH_LOG("completion %d", i);
	}
	EXPECT_GT(atomic_load(&t->resized), 2);
	free(t);
}

/* An event that was asked for comes, whichever ring the entry is in */
TEST_F(completion, resize_armed)
{
	struct ibv_cq *cq = self->a.cq;
	struct ibv_wc wc;

	for (int i = 0; i < 100; i++) {
		ASSERT_EQ(ibv_req_notify_cq(cq, 0), 0);
		if (i & 1) {
			ASSERT_EQ(ibv_resize_cq(cq, 4 << i % 7), 0);
		}
		ASSERT_EQ(post(&self->a, IBV_WR_RDMA_WRITE, i, 0, 8, &self->b),
			  0);
		if (i & 2) {
			ASSERT_EQ(ibv_resize_cq(cq, 4 << i % 5), 0);
		}
		ASSERT_TRUE(wait_event(self->a.channel, cq))
		TH_LOG("round %d", i);
		ASSERT_EQ(ibv_poll_cq(cq, 1, &wc), 1);
		ASSERT_EQ(wc.wr_id, i);
	}
}

TEST_F(completion, moderation)
{
	struct ibv_modify_cq_attr attr = {
		.attr_mask = IBV_CQ_ATTR_MODERATE,
		.moderate = { .cq_count = 4, .cq_period = 65535 },
	};
	struct ibv_device_attr_ex dev;
	struct ibv_wc wc;

	ASSERT_EQ(ibv_query_device_ex(self->a.ctx, NULL, &dev), 0);
	EXPECT_EQ(dev.cq_mod_caps.max_cq_count, 65535);
	EXPECT_EQ(dev.cq_mod_caps.max_cq_period, 65535);
	ASSERT_EQ(ibv_modify_cq(self->a.cq, &attr), 0);
	ASSERT_EQ(ibv_req_notify_cq(self->a.cq, 0), 0);
	for (int i = 0; i < 4; i++) {
		ASSERT_EQ(post(&self->a, IBV_WR_RDMA_WRITE, i, 0, 8, &self->b),
			  0);
	}
	EXPECT_TRUE(wait_event(self->a.channel, self->a.cq));
	for (int i = 0; i < 4; i++) {
		ASSERT_TRUE(wait_wc(self->a.cq, &wc));
	}
	/* One alone waits, but not for ever */
	ASSERT_EQ(ibv_req_notify_cq(self->a.cq, 0), 0);
	EXPECT_EQ(check_write(&self->a, &self->b, 100), 0);
	EXPECT_TRUE(wait_event(self->a.channel, self->a.cq));
	attr.attr_mask = 0;
	EXPECT_NE(ibv_modify_cq(self->a.cq, &attr), 0);
	attr.attr_mask = 2;
	EXPECT_NE(ibv_modify_cq(self->a.cq, &attr), 0);
}

static struct ibv_cq *small_cq(struct ibv_context *ctx, uint32_t flags)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 4,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = flags,
	};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(ctx, &attr);

	return cq ? ibv_cq_ex_to_cq(cq) : NULL;
}

/* @e on a CQ of 4 entries, which gets 5 completions */
static int overrun(struct end *e, struct end *peer, uint32_t flags)
{
	struct ibv_cq *cq = small_cq(e->ctx, flags);

	if (!cq || ibv_destroy_qp(e->qp) || ibv_destroy_cq(e->cq))
		return -1;
	e->cq = cq;
	e->qp = make_qp(e, IBV_QPT_RC);
	if (!e->qp || ibv_destroy_qp(peer->qp))
		return -1;
	peer->qp = make_qp(peer, IBV_QPT_RC);
	if (!peer->qp || to_rts(e, peer) || to_rts(peer, e))
		return -1;
	memset(peer->buf, 0, 5);
	memset(e->buf, 1, 5);
	for (int i = 0; i < 5; i++)
		if (post(e, IBV_WR_RDMA_WRITE, i, i, 1, peer))
			return -1;
	return 0;
}

TEST_F(completion, overrun_is_told_and_contained)
{
	struct end other = { .ctx = self->a.ctx }, last = { .ctx = other.ctx };
	struct ibv_qp_init_attr init;
	struct ibv_async_event event;
	struct ibv_qp_attr attr;
	struct ibv_wc wc;

	ASSERT_TRUE(make_end(&other, IBV_QPT_RC));
	ASSERT_TRUE(make_end(&last, IBV_QPT_RC));
	ASSERT_EQ(to_rts(&other, &last), 0);
	ASSERT_EQ(to_rts(&last, &other), 0);
	ASSERT_EQ(overrun(&self->a, &self->b, 0), 0);
	ASSERT_TRUE(wait_async(self->a.ctx, IBV_EVENT_CQ_ERR, &event));
	EXPECT_EQ(event.element.cq, self->a.cq);
	ASSERT_TRUE(wait_async(self->a.ctx, IBV_EVENT_QP_FATAL, &event));
	EXPECT_EQ(event.element.qp, self->a.qp);
	ASSERT_EQ(ibv_query_qp(self->a.qp, &attr, IBV_QP_STATE, &init), 0);
	EXPECT_EQ(attr.qp_state, IBV_QPS_ERR);
	/* Earlier entries can be read, and others do not notice */
	for (uint64_t i = 0; i < 4; i++) {
		ASSERT_TRUE(wait_wc(self->a.cq, &wc));
		EXPECT_EQ(wc.wr_id, i);
		EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
	}
	EXPECT_EQ(ibv_resize_cq(self->a.cq, 64), EINVAL);
	EXPECT_EQ(check_write(&other, &last, 1000), 0);
	EXPECT_EQ(free_end(&other), 0);
	EXPECT_EQ(free_end(&last), 0);
}

TEST_F(completion, overrun_is_ignored_if_asked_for)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	volatile uint8_t *last = self->b.buf + 4;

	ASSERT_EQ(overrun(&self->a, &self->b,
			  IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN),
		  0);
	for (time_t end = deadline(); time(NULL) < end && !*last;)
		;
	EXPECT_EQ(*last, 1);
	ASSERT_EQ(ibv_query_qp(self->a.qp, &attr, IBV_QP_STATE, &init), 0);
	EXPECT_EQ(attr.qp_state, IBV_QPS_RTS);
}

/* Number of interrupts of an MSI-X vector on a processor, or -1 */
static long long raised(struct ibv_context *ctx, int vector, int cpu)
{
	char path[IBV_SYSFS_PATH_MAX + 16], pci[4096], name[64], line[4096];
	long long count = -1;
	ssize_t len;
	FILE *file;

	snprintf(path, sizeof(path), "%s/device", ctx->device->ibdev_path);
	len = readlink(path, pci, sizeof(pci) - 1);
	file = fopen("/proc/interrupts", "r");
	if (len < 0 || !file)
		return -1;
	pci[len] = '\0';
	snprintf(name, sizeof(name), "mynic-comp%d@pci:%s", vector,
		 strrchr(pci, '/') + 1);
	while (fgets(line, sizeof(line), file)) {
		char *at = strchr(line, ':'), *end;

		line[strcspn(line, "\n")] = '\0';
		if (!at || strlen(line) < strlen(name) ||
		    strcmp(line + strlen(line) - strlen(name), name))
			continue;
		end = at + 1;
		for (int i = 0; i <= cpu; i++)
			count = strtoll(end, &end, 10);
	}
	fclose(file);
	return count;
}

/* Give @a a CQ with this completion vector */
static bool use_vector(struct end *a, struct end *b, int vector)
{
	struct ibv_cq *cq = ibv_create_cq(a->ctx, 16, NULL, a->channel, vector);

	if (!cq || ibv_destroy_qp(a->qp) || ibv_destroy_cq(a->cq) ||
	    ibv_destroy_qp(b->qp))
		return false;
	a->cq = cq;
	a->qp = make_qp(a, IBV_QPT_RC);
	b->qp = make_qp(b, IBV_QPT_RC);
	return a->qp && b->qp && !to_rts(a, b) && !to_rts(b, a);
}

static bool take_event(struct end *a, struct end *b)
{
	return !ibv_req_notify_cq(a->cq, 0) && !check_write(a, b, 100) &&
	       wait_event(a->channel, a->cq);
}

/*
 * Whether the CQ's events interrupt this processor through this MSI-X vector. The
 * kernel moves an interrupt when it comes, so the first one does not count. An
 * event that comes while the last one is handled has no interrupt of its own.
 */
static bool interrupts(struct end *a, struct end *b, int vector, int cpu)
{
	long long before;

	if (!take_event(a, b))
		return false;
	before = raised(a->ctx, vector, cpu);
	for (time_t end = deadline(); before >= 0 && time(NULL) < end;) {
		if (!take_event(a, b))
			return false;
		if (raised(a->ctx, vector, cpu) > before)
			return true;
	}
	return false;
}

TEST_F(completion, vectors)
{
	struct ibv_context *ctx = self->a.ctx;
	int num = ctx->num_comp_vectors;

	ASSERT_GE(num, 2);
	for (int i = 1; i < num; i++) {
		ASSERT_TRUE(use_vector(&self->a, &self->b, i));
		EXPECT_TRUE(interrupts(&self->a, &self->b, i, i - 1))
		TH_LOG("vector %d", i);
	}
	errno = 0;
	EXPECT_EQ(ibv_create_cq(ctx, 16, NULL, NULL, num), NULL);
	EXPECT_EQ(errno, EINVAL);
	errno = 0;
	EXPECT_EQ(ibv_create_cq(ctx, 16, NULL, NULL, -1), NULL);
	EXPECT_EQ(errno, EINVAL);
}

/* Vector 0: the interrupt goes to the processor that has requested the event */
TEST_F(completion, vector_of_processor)
{
	int num = self->a.ctx->num_comp_vectors - 1;
	cpu_set_t all, one;

	ASSERT_TRUE(use_vector(&self->a, &self->b, 0));
	ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
	for (int cpu = 0; cpu < num; cpu++) {
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
		EXPECT_TRUE(interrupts(&self->a, &self->b, cpu + 1, cpu))
		TH_LOG("processor %d", cpu);
	}
	EXPECT_EQ(sched_setaffinity(0, sizeof(all), &all), 0);
}

static bool raw_clock(struct ibv_context *ctx, uint64_t *cycles)
{
	struct ibv_values_ex values = {
		.comp_mask = IBV_VALUES_MASK_RAW_CLOCK,
	};

	if (ibv_query_rt_values_ex(ctx, &values) ||
	    values.comp_mask != IBV_VALUES_MASK_RAW_CLOCK)
		return false;
	*cycles = values.raw_clock.tv_nsec;
	return true;
}

static uint64_t time_of_day(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* Far more than the clocks may differ, far less than if one were wrong */
#define SLACK 10000000000ULL

TEST_F(completion, clocks)
{
	struct ibv_cq_init_attr_ex init = {
		.cqe = 16,
		.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
			    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK,
	};
	struct ibv_context *ctx = self->a.ctx;
	struct ibv_cq_ex *cq = ibv_create_cq_ex(ctx, &init);
	struct ibv_poll_cq_attr attr = {};
	struct ibv_device_attr_ex dev;
	uint64_t before, after, ts, wall, from;
	time_t end = deadline();

	ASSERT_NE(cq, NULL);
	ASSERT_EQ(ibv_query_device_ex(ctx, NULL, &dev), 0);
	EXPECT_NE(dev.hca_core_clock, 0);
	EXPECT_EQ(dev.completion_timestamp_mask, UINT64_MAX);
	ASSERT_EQ(ibv_destroy_qp(self->a.qp), 0);
	ASSERT_EQ(ibv_destroy_cq(self->a.cq), 0);
	self->a.cq = ibv_cq_ex_to_cq(cq);
	self->a.qp = make_qp(&self->a, IBV_QPT_RC);
	ASSERT_NE(self->a.qp, NULL);
	ASSERT_EQ(ibv_destroy_qp(self->b.qp), 0);
	self->b.qp = make_qp(&self->b, IBV_QPT_RC);
	ASSERT_NE(self->b.qp, NULL);
	ASSERT_EQ(to_rts(&self->a, &self->b), 0);
	ASSERT_EQ(to_rts(&self->b, &self->a), 0);

	from = time_of_day();
	ASSERT_TRUE(raw_clock(ctx, &before));
	ASSERT_EQ(post(&self->a, IBV_WR_RDMA_WRITE, 1, 0, 8, &self->b), 0);
	while (ibv_start_poll(cq, &attr)) {
		ASSERT_LT(time(NULL), end);
	}
	ASSERT_TRUE(raw_clock(ctx, &after));
	ts = ibv_wc_read_completion_ts(cq);
	wall = ibv_wc_read_completion_wallclock_ns(cq);
	ibv_end_poll(cq);
	EXPECT_LE(before, ts);
	EXPECT_LE(ts, after);
	EXPECT_GT(wall + SLACK, from);
	EXPECT_LT(wall, time_of_day() + SLACK);
	TH_LOG("%lld ns after it was posted by the time of day, %llu by the device's",
	       (long long)(wall - from),
	       (unsigned long long)((ts - before) * 1000000 /
				    dev.hca_core_clock));
}

/* MODIFY_SRQ command of the process, with @in bytes of @req and @more */
static int modify_srq(struct ibv_srq *srq, uint32_t mask, uint32_t max_wr,
		      struct mynic_modify_srq_req req, uint64_t more, size_t in)
{
	struct ib_uverbs_modify_srq cmd = {
		.srq_handle = srq->handle,
		.attr_mask = mask,
		.max_wr = max_wr,
	};
	struct {
		struct mynic_modify_srq_req req;
		uint64_t more;
	} driver = { req, more };

	return command(srq->context->cmd_fd, IB_USER_VERBS_CMD_MODIFY_SRQ, &cmd,
		       sizeof(cmd), &driver, in);
}

TEST_F(completion, srq_driver_data)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = 16, .max_sge = 1 },
	};
	struct ibv_srq *srq = ibv_create_srq(self->a.pd, &init);
	struct mynic_resize_resp r = {};
	struct mynic_modify_srq_req req = { .resp = (uintptr_t)&r };
	const size_t size = sizeof(req);
	struct ibv_srq_attr attr;

	ASSERT_NE(srq, NULL);
	EXPECT_EQ(modify_srq(srq, IBV_SRQ_MAX_WR, 32, req, 0, 0), EINVAL);
	EXPECT_EQ(modify_srq(srq, IBV_SRQ_MAX_WR, 32, req, 0, 8), EINVAL);
	EXPECT_EQ(modify_srq(srq, IBV_SRQ_MAX_WR, 32, req, 1, size + 8),
		  EOPNOTSUPP);
	EXPECT_EQ(modify_srq(srq, IBV_SRQ_MAX_WR, 0, req, 0, size), EINVAL);
	EXPECT_EQ(modify_srq(srq, IBV_SRQ_MAX_WR, UINT32_MAX, req, 0, size),
		  EINVAL);
	/*
	 * A command that allocates memory sets neither a limit nor unknown
	 * attributes
	 */
	EXPECT_EQ(modify_srq(srq, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT, 32, req, 0,
			     size),
		  EINVAL);
	EXPECT_EQ(modify_srq(srq, 1 << 7, 32, req, 0, size), EOPNOTSUPP);
	/* A response that cannot be written */
	req.resp = 8;
	EXPECT_EQ(modify_srq(srq, IBV_SRQ_MAX_WR, 32, req, 0, size), EFAULT);
	req.resp = (uintptr_t)&r;
	ASSERT_EQ(modify_srq(srq, IBV_SRQ_MAX_WR, 32, req, 0, size + 8), 0);
	EXPECT_EQ(r.log_size, 5);
	/* Another size than was allocated, and other memory */
	req.mmap_key = r.mmap_key;
	EXPECT_EQ(modify_srq(srq, IBV_SRQ_MAX_WR, 64, req, 0, size), EINVAL);
	req.mmap_key ^= 4096;
	EXPECT_EQ(modify_srq(srq, IBV_SRQ_MAX_WR, 32, req, 0, size), EINVAL);
	ASSERT_EQ(ibv_query_srq(srq, &attr), 0);
	EXPECT_EQ(attr.max_wr, 16);
	EXPECT_EQ(ibv_destroy_srq(srq), 0);
}

/* Posting and taking go on while the SRQ is resized */
static void *resize_srq_again(void *arg)
{
	struct traffic *t = arg;
	unsigned int seed = (uintptr_t)&seed;

	while (!atomic_load(&t->stop)) {
		struct ibv_srq_attr attr = {
			.max_wr = WINDOW << rand_r(&seed) % 4,
		};

		if (ibv_modify_srq(t->e->qp->srq, &attr, IBV_SRQ_MAX_WR))
			atomic_fetch_add(&t->wrong, 1);
		atomic_fetch_add(&t->resized, 1);
	}
	return NULL;
}

/* Replace the queue pairs by connected ones, of which @b takes from an SRQ */
static bool connect_to_srq(struct end *a, struct end *b, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = b->cq,
		.recv_cq = b->cq,
		.srq = srq,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	if (ibv_destroy_qp(a->qp) || ibv_destroy_qp(b->qp))
		return false;
	a->qp = make_qp(a, IBV_QPT_RC);
	b->qp = ibv_create_qp(b->pd, &init);
	return a->qp && b->qp && !to_rts(a, b) && !to_rts(b, a);
}

#define MESSAGES 2000

TEST_F(completion, srq_resize_under_traffic)
{
	struct end *a = &self->a, *b = &self->b;
	struct ibv_srq_init_attr srq_init = {
		.attr = { .max_wr = WINDOW, .max_sge = 1 },
	};
	struct ibv_srq *srq = ibv_create_srq(b->pd, &srq_init);
	struct ibv_sge sge = { (uintptr_t)b->buf, 64, b->mr->lkey };
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };
	struct traffic *t = calloc(1, sizeof(*t));
	pthread_t threads[2];
	struct ibv_wc wc;
	time_t end;

	ASSERT_NE(srq, NULL);
	ASSERT_NE(t, NULL);
	ASSERT_TRUE(connect_to_srq(a, b, srq));
	t->e = b;
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(pthread_create(&threads[i], NULL, resize_srq_again,
					 t),
			  0);
	}
	for (int i = 0; i < WINDOW - 1; i++) {
		wr.wr_id = i;
		EXPECT_EQ(ibv_post_srq_recv(srq, &wr, &bad), 0);
	}
	end = deadline() + PATIENCE;
	for (uint64_t i = 0; i < MESSAGES; i++) {
		wr.wr_id = i + WINDOW - 1;
		ASSERT_EQ(ibv_post_srq_recv(srq, &wr, &bad), 0);
		ASSERT_EQ(post(a, IBV_WR_SEND, i, 0, 16, NULL), 0);
		ASSERT_TRUE(wait_wc(a->cq, &wc));
		ASSERT_EQ(wc.status, 0);
		ASSERT_TRUE(wait_wc(b->cq, &wc));
		ASSERT_EQ(wc.status, 0);
		/* In the order in which they were posted */
		ASSERT_EQ(wc.wr_id, i);
		if (i % (MESSAGES / 4) == 0)
			wait_resized(t, 1 + i / (MESSAGES / 4), end);
	}
	atomic_store(&t->stop, true);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	EXPECT_EQ(atomic_load(&t->wrong), 0);
	EXPECT_GT(atomic_load(&t->resized), 2);
	EXPECT_EQ(ibv_destroy_qp(b->qp), 0);
	b->qp = NULL;
	EXPECT_EQ(ibv_destroy_srq(srq), 0);
	free(t);
}

TEST_F(completion, srq_limit_in_another_size)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = 16, .max_sge = 1 },
	};
	struct ibv_srq *srq = ibv_create_srq(self->a.pd, &init);
	struct ibv_srq_attr attr = { .max_wr = 64, .srq_limit = 65 };
	int both = IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT;
	struct ibv_async_event event;

	ASSERT_NE(srq, NULL);
	/* If one is invalid, neither is set */
	EXPECT_EQ(ibv_modify_srq(srq, &attr, both), EINVAL);
	ASSERT_EQ(ibv_query_srq(srq, &attr), 0);
	EXPECT_EQ(attr.max_wr, 16);
	attr = (struct ibv_srq_attr){ .max_wr = 64, .srq_limit = 64 };
	/* There are fewer entries, so the event comes; and again when armed */
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(ibv_modify_srq(srq, &attr, both), 0);
		ASSERT_TRUE(wait_async(self->a.ctx, IBV_EVENT_SRQ_LIMIT_REACHED,
				       &event));
		EXPECT_EQ(event.element.srq, srq);
	}
	ASSERT_EQ(ibv_query_srq(srq, &attr), 0);
	EXPECT_EQ(attr.max_wr, 64);
	EXPECT_EQ(attr.srq_limit, 0);
	EXPECT_EQ(ibv_destroy_srq(srq), 0);
}

TEST_HARNESS_MAIN
