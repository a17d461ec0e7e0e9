// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Threads that change and query the state of a QP at the same time. Posting
 * depends on the last transition in the kernel.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fixture.h"

static struct ibv_qp *the_qp;

static struct ibv_qp *new_qp(struct fixture *f)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = f->cq,
		.recv_cq = f->cq,
		.cap = { .max_send_wr = 64, .max_recv_wr = 64 },
		.qp_type = IBV_QPT_RC,
	};

	the_qp = ibv_create_qp(f->pd, &attr);
	CHECK(the_qp);
	return the_qp;
}

static int post_send(struct ibv_qp *qp)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;

	return ibv_post_send(qp, &wr, &bad);
}

static int post_recv(struct ibv_qp *qp)
{
	struct ibv_recv_wr wr = {}, *bad;

	return ibv_post_recv(qp, &wr, &bad);
}

static void to_reset(void)
{
	fixture_set_state(the_qp, IBV_QPS_RESET);
}

static void to_rtr(void)
{
	fixture_set_state(the_qp, IBV_QPS_RTR);
}

static void to_rts(void)
{
	fixture_set_state(the_qp, IBV_QPS_RTS);
}

/* A query whose answer is older than @meanwhile, and which returns after it */
static void query(enum ibv_qp_state state, void (*meanwhile)(void))
{
	struct ibv_qp_init_attr init_attr;
	struct ibv_qp_attr attr;

	fake.qp_state = state;
	fake.meanwhile = meanwhile;
	CHECK_EQ(ibv_query_qp(the_qp, &attr, IBV_QP_STATE, &init_attr), 0);
	CHECK_EQ(attr.qp_state, state);
}

TEST(query_from_before_rts)
{
	struct ibv_qp *qp = new_qp(fixture_open(8));

	to_rtr();
	query(IBV_QPS_RTR, to_rts);
	CHECK_EQ(post_send(qp), 0);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
}

TEST(query_from_before_reset)
{
	static const enum ibv_qp_state states[] = { IBV_QPS_RTS, IBV_QPS_SQD,
						    IBV_QPS_SQE, IBV_QPS_ERR };
	struct ibv_qp *qp = new_qp(fixture_open(8));

	for (int i = 0; i < ARRAY_SIZE(states); i++) {
		to_rts();
		CHECK_EQ(post_send(qp), 0);
		CHECK_EQ(post_recv(qp), 0);
		query(states[i], to_reset);
		CHECK_EQ(post_send(qp), EINVAL);
		CHECK_EQ(post_recv(qp), EINVAL);
	}
	CHECK_EQ(ibv_destroy_qp(qp), 0);
}

static void query_err(void)
{
	query(IBV_QPS_ERR, NULL);
}

/* Two queries, the later of which returns first */
TEST(query_from_before_an_error)
{
	struct ibv_qp *qp = new_qp(fixture_open(8));

	to_rtr();
	CHECK_EQ(post_send(qp), EINVAL);
	query(IBV_QPS_RTR, query_err);
	CHECK_EQ(post_send(qp), 0);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
}

/* ibv_set_ece() and rate limits also depend on the state. */
TEST(attributes_of_a_state)
{
	struct ibv_qp *qp = new_qp(fixture_open(8));
	struct ibv_qp_rate_limit_attr rate = { .rate_limit = 1000 };
	struct ibv_ece ece = {};

	CHECK_EQ(ibv_query_ece(qp, &ece), 0);
	CHECK_EQ(ibv_set_ece(qp, &ece), 0);
	CHECK_EQ(ibv_modify_qp_rate_limit(qp, &rate), EINVAL);
	query(IBV_QPS_INIT, to_rtr);
	CHECK_EQ(ibv_set_ece(qp, &ece), EINVAL);
	query(IBV_QPS_RTR, to_rts);
	CHECK_EQ(ibv_modify_qp_rate_limit(qp, &rate), 0);
	query(IBV_QPS_RTS, to_reset);
	CHECK_EQ(ibv_modify_qp_rate_limit(qp, &rate), EINVAL);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
}

/**
 * struct other - another thread, with a transition
 * @move: the transition
 * @thread: ...
 * @tid: its number, or 0 as long as it is not known
 * @done: it has returned
 */
static struct other {
	void (*move)(void);
	pthread_t thread;
	atomic_int tid;
	atomic_bool done;
} other;

static void *move(void *arg)
{
	atomic_store(&other.tid, syscall(SYS_gettid));
	other.move();
	atomic_store(&other.done, true);
	return NULL;
}

static bool is_asleep(int tid)
{
	char name[64], text[256], *state;
	FILE *file;
	size_t n;

	snprintf(name, sizeof(name), "/proc/self/task/%d/stat", tid);
	file = fopen(name, "r");
	if (!file)
		return false;
	n = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[n] = '\0';
	state = strrchr(text, ')');
	return state && state[1] && state[2] == 'S';
}

/* Wait until another thread has finished its transition, or is blocked. */
static void let_other_move(void)
{
	CHECK_EQ(pthread_create(&other.thread, NULL, move, NULL), 0);
	while (!atomic_load(&other.tid))
		sched_yield();
	while (!atomic_load(&other.done) && !is_asleep(other.tid))
		sched_yield();
}

/*
 * Another transition takes place before the command of the first one returns.
 */
TEST(transitions_in_the_kernels_order)
{
	struct ibv_qp *qp = new_qp(fixture_open(8));

	other.move = to_rts;
	fake.meanwhile = let_other_move;
	to_rtr();
	pthread_join(other.thread, NULL);
	CHECK_EQ(post_send(qp), 0);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
}

static struct ibv_wq *the_wq;

static void set_wq_state(enum ibv_wq_state state)
{
	struct ibv_wq_attr attr = {
		.attr_mask = IBV_WQ_ATTR_STATE,
		.wq_state = state,
	};

	CHECK_EQ(ibv_modify_wq(the_wq, &attr), 0);
}

static void to_ready(void)
{
	set_wq_state(IBV_WQS_RDY);
}

TEST(transitions_of_a_wq)
{
	struct fixture *f = fixture_open(8);
	struct ibv_wq_init_attr attr = {
		.wq_type = IBV_WQT_RQ,
		.max_wr = 4,
		.max_sge = 1,
		.pd = f->pd,
		.cq = f->cq,
	};
	struct ibv_recv_wr wr = {}, *bad;

	the_wq = ibv_create_wq(f->context, &attr);
	CHECK(the_wq);
	other.move = to_ready;
	fake.meanwhile = let_other_move;
	set_wq_state(IBV_WQS_RESET);
	pthread_join(other.thread, NULL);
	CHECK_EQ(ibv_post_wq_recv(the_wq, &wr, &bad), 0);
	CHECK_EQ(ibv_destroy_wq(the_wq), 0);
}
