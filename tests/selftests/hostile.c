// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A process without privileges does with its own objects what makes the device
 * refuse a command, in several threads: the device must not be given up for it.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "verbs.h"

#define NOBODY 65534
#define LEN 4096
#define ROUNDS 50
/* Keys of windows that do not exist yet are sought among those that come next */
#define GUESSES 2
/* How long the thread that makes windows is kept from running */
#define HOLD_NS 20000000
/* A command takes less than this; it is to be interrupted somewhere in between */
#define COMMAND_NS 200000

/**
 * struct attack - a window is bound before the call that makes it has returned
 * @e: the end whose queue binds
 * @mw: the window, or NULL
 * @go: a window is wanted
 * @done: @mw is there
 * @bound: it has been bound, and its region destroyed or not
 * @stop: none is wanted any more
 */
struct attack {
	struct end e;
	struct ibv_mw *mw;
	atomic_bool go;
	atomic_bool done;
	atomic_bool bound;
	atomic_bool stop;
};

static int run_on(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	return sched_setaffinity(0, sizeof(cpus), &cpus);
}

/* It gets the processor when nobody else wants it, however long that takes */
static void *make_windows(void *arg)
{
	struct sched_param param = {};
	struct attack *attack = arg;

	if (run_on(0) ||
	    pthread_setschedparam(pthread_self(), SCHED_IDLE, &param))
		return (void *)1L;
	while (!atomic_load(&attack->stop)) {
		if (!atomic_exchange(&attack->go, false)) {
			sched_yield();
			continue;
		}
		attack->mw = ibv_alloc_mw(attack->e.pd, IBV_MW_TYPE_1);
		atomic_store(&attack->done, true);
	}
	return NULL;
}

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

/* It takes the processor from the other one, at another point each time */
static void *disturb(void *arg)
{
	struct timespec pause = {};
	struct attack *attack = arg;
	unsigned int seed = 1;

	if (run_on(0) || prctl(PR_SET_TIMERSLACK, 1UL))
		return (void *)1L;
	while (!atomic_load(&attack->stop)) {
		int64_t end;

		pause.tv_nsec = rand_r(&seed) % COMMAND_NS;
		nanosleep(&pause, NULL);
		end = now_ns() + HOLD_NS;
		while (!atomic_load(&attack->done) &&
		       !atomic_load(&attack->bound) && now_ns() < end)
			;
	}
	return NULL;
}

/* True if there is such a window; a queue pair that finds none fails */
static bool bind_guess(struct end *e, struct ibv_mr *mr, uint32_t key)
{
	struct ibv_mw mw = {
		.context = e->ctx,
		.pd = e->pd,
		.rkey = key,
		.type = IBV_MW_TYPE_1,
	};
	struct ibv_mw_bind bind = {
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = { .mr = mr,
			       .addr = (uintptr_t)mr->addr,
			       .length = LEN,
			       .mw_access_flags = IBV_ACCESS_REMOTE_READ },
	};
	struct ibv_wc wc;

	return !ibv_bind_mw(e->qp, &mw, &bind) && wait_wc(e->cq, &wc) &&
	       !wc.status;
}

static int restart(struct end *e)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	int err = ibv_modify_qp(e->qp, &attr, IBV_QP_STATE);

	return err ? err : to_rts(e, e);
}

/*
 * One window is made while its key is guessed, and then its region destroyed at
 * once. Return: 0; EBUSY if that was refused before the window was known; -1 for
 * what should not be.
 */
static int race(struct attack *attack)
{
	struct end *e = &attack->e;
	struct ibv_mr *mr =
		ibv_reg_mr(e->pd, e->buf, LEN,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	bool bound = false, early = false;
	int err = 0;

	if (!mr)
		return -1;
	attack->mw = NULL;
	atomic_store(&attack->bound, false);
	atomic_store(&attack->done, false);
	atomic_store(&attack->go, true);
	while (!bound && !atomic_load(&attack->done)) {
		for (uint32_t i = 1; !bound && i <= GUESSES; i++) {
			bound = bind_guess(e, mr, mr->rkey + (i << 8));
			if (!bound && restart(e))
				return -1;
		}
	}
	if (bound) {
		err = ibv_dereg_mr(mr);
		early = !atomic_load(&attack->done);
		atomic_store(&attack->bound, true);
		if (!err)
			return -1;
	}
	while (!atomic_load(&attack->done))
		sched_yield();
	if (!attack->mw || ibv_dealloc_mw(attack->mw) || ibv_dereg_mr(mr))
		return -1;
	return early ? err : 0;
}

static bool is_alive(struct ibv_context *ctx)
{
	struct pollfd fd = { .fd = ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;
	struct ibv_pd *pd;

	while (poll(&fd, 1, 0) > 0) {
		if (ibv_get_async_event(ctx, &event))
			return false;
		ibv_ack_async_event(&event);
		if (event.event_type == IBV_EVENT_DEVICE_FATAL)
			return false;
	}
	pd = ibv_alloc_pd(ctx);
	return pd && !ibv_dealloc_pd(pd);
}

/* In a process of its own; 0 if the device has survived */
static int attack_windows(void)
{
	struct attack attack = { .e.ctx = open_mynic(0) };
	int status = 0, early = 0;
	pthread_t threads[2];
	void *failed[2];

	/* There may be no other processor: then it takes a little longer */
	run_on(1);
	if (setgid(NOBODY) || setuid(NOBODY))
		return 2;
	if (!attack.e.ctx || !make_end(&attack.e, IBV_QPT_RC) ||
	    to_rts(&attack.e, &attack.e) ||
	    pthread_create(&threads[0], NULL, make_windows, &attack) ||
	    pthread_create(&threads[1], NULL, disturb, &attack))
		return 3;
	for (int i = 0; i < ROUNDS && status >= 0; i++) {
		status = race(&attack);
		early += status == EBUSY;
	}
	atomic_store(&attack.stop, true);
	if (pthread_join(threads[0], &failed[0]) ||
	    pthread_join(threads[1], &failed[1]) || failed[0] || failed[1] ||
	    status < 0)
		return 4;
	if (!is_alive(attack.e.ctx))
		return 5;
	printf("# refused %d times of %d before the window was known\n", early,
	       ROUNDS);
	return free_end(&attack.e) || ibv_close_device(attack.e.ctx) ? 6 : 0;
}

TEST(window_bound_before_it_is_known)
{
	pid_t pid = fork();
	int status;

	ASSERT_GE(pid, 0);
	if (!pid) {
		status = attack_windows();
		fflush(stdout);
		_exit(status);
	}
	ASSERT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
}

/*
 * On Ethernet a group has no LID, but the kernel's core takes two for two
 * attachments, and destroys no queue pair before all are taken back.
 */
static bool attach_twice(struct end *e, const union ibv_gid *group)
{
	return make_end(e, IBV_QPT_UD) &&
	       !ibv_attach_mcast(e->qp, group, 0xc001) &&
	       !ibv_attach_mcast(e->qp, group, 0xc002);
}

static const union ibv_gid some_group = {
	.raw = { 0xff, 0x0e, [15] = 0x77 },
};

TEST(group_with_two_lids)
{
	struct end e = { .ctx = open_mynic(0) };

	ASSERT_NE(e.ctx, NULL);
	ASSERT_TRUE(attach_twice(&e, &some_group));
	EXPECT_EQ(ibv_detach_mcast(e.qp, &some_group, 0xc001), 0);
	EXPECT_EQ(ibv_destroy_qp(e.qp), EBUSY);
	EXPECT_EQ(ibv_detach_mcast(e.qp, &some_group, 0xc002), 0);
	EXPECT_EQ(ibv_detach_mcast(e.qp, &some_group, 0xc002), EINVAL);
	EXPECT_EQ(free_end(&e), 0);
	EXPECT_EQ(ibv_close_device(e.ctx), 0);
}

/* Then the kernel takes them back; dmesg.sh finds out if it cannot */
TEST(process_ends_in_a_group)
{
	pid_t pid = fork();
	int status;

	ASSERT_GE(pid, 0);
	if (!pid) {
		struct end e = { .ctx = open_mynic(0) };

		_exit(!e.ctx || !attach_twice(&e, &some_group));
	}
	ASSERT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
}

TEST_HARNESS_MAIN
