// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Choice of a context's functions for posting to receive queues and for
 * polling. libibverbs calls one function for all queues of a context, but only
 * queues of several threads need a lock. Each function therefore has three
 * forms, which are beside each other in cq.c and recv.c:
 *
 * - the plain form takes the lock of the queue, and suits all queues;
 * - _single takes no lock, for contexts whose queues have one thread each;
 * - _any tests the queue, for contexts that have had both kinds of queues.
 */
#include <config.h>

#include "mynic.h"

/*
 * Choose the functions of a context before a new queue is used. The previous
 * function stays correct for older queues, so threads may still be in it, or
 * about to call it. @forms is indexed by enum mynic_users.
 */
void mynic_choose_queue_ops(struct ibv_context *context, enum mynic_queue queue,
			    const struct verbs_context_ops *forms,
			    bool single_threaded)
{
	struct mynic_context *ctx = to_mctx(context);
	uint8_t users = single_threaded ? MYNIC_SINGLE_THREADS :
					  MYNIC_MANY_THREADS;

	pthread_mutex_lock(&ctx->queue_lock);
	if (!(ctx->queue_users[queue] & users)) {
		ctx->queue_users[queue] |= users;
		verbs_set_ops(&ctx->ibv_ctx, &forms[ctx->queue_users[queue]]);
	}
	pthread_mutex_unlock(&ctx->queue_lock);
}
