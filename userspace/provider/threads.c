// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Functions of a context for posting to receive queues and for polling.
 * libibverbs calls one function for all queues of a context, so it is chosen by
 * the queues that the context has had.
 */
#include <config.h>

#include "mynic.h"

/* Kinds of queues that a context has had */
enum mynic_users {
	MYNIC_MANY_THREADS = 1 << 0,
	MYNIC_SINGLE_THREADS = 1 << 1,
};

#define MYNIC_BOTH (MYNIC_MANY_THREADS | MYNIC_SINGLE_THREADS)

/* Only the functions for both kinds test the kind of a queue. */
static const struct verbs_context_ops mynic_queue_ops[][MYNIC_BOTH + 1] = {
	[MYNIC_QUEUE_RQ] = {
		[MYNIC_MANY_THREADS] = { .post_recv = mynic_post_recv },
		[MYNIC_SINGLE_THREADS] = { .post_recv = mynic_post_recv_single },
		[MYNIC_BOTH] = { .post_recv = mynic_post_recv_any },
	},
	[MYNIC_QUEUE_SRQ] = {
		[MYNIC_MANY_THREADS] = { .post_srq_recv = mynic_post_srq_recv },
		[MYNIC_SINGLE_THREADS] = {
			.post_srq_recv = mynic_post_srq_recv_single,
		},
		[MYNIC_BOTH] = { .post_srq_recv = mynic_post_srq_recv_any },
	},
	[MYNIC_QUEUE_CQ] = {
		[MYNIC_MANY_THREADS] = { .poll_cq = mynic_poll_cq },
		[MYNIC_SINGLE_THREADS] = { .poll_cq = mynic_poll_cq_single },
		[MYNIC_BOTH] = { .poll_cq = mynic_poll_cq_any },
	},
};

/*
 * Choose the functions of a context before a new queue is used. The previous
 * function stays correct for older queues, so threads may still be in it, or
 * about to call it.
 */
void mynic_add_queue(struct ibv_context *context, enum mynic_queue queue,
		     bool single_threaded)
{
	struct mynic_context *ctx = to_mctx(context);
	uint8_t users = single_threaded ? MYNIC_SINGLE_THREADS :
					  MYNIC_MANY_THREADS;

	pthread_mutex_lock(&ctx->queue_lock);
	if (!(ctx->queue_users[queue] & users)) {
		ctx->queue_users[queue] |= users;
		verbs_set_ops(&ctx->ibv_ctx,
			      &mynic_queue_ops[queue][ctx->queue_users[queue]]);
	}
	pthread_mutex_unlock(&ctx->queue_lock);
}
