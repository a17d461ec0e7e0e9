// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Each allocation of the kernel fails once, in each verb that creates, changes
 * or destroys something. The verb then succeeds, or reports a lack of memory
 * and leaves nothing behind. Needs CONFIG_FAULT_INJECTION_DEBUG_FS,
 * CONFIG_FAILSLAB and CONFIG_FAIL_PAGE_ALLOC.
 */
#include <stdio.h>

#include "fail_nth.h"
#include "world.h"

/* More allocations than any verb makes */
#define LIMIT 5000

static void *connect_or_reset(struct world *w)
{
	void *object = connect_qp(w);
	int err = errno;

	/* The next attempt must not start in between. */
	if (!object) {
		fail_none();
		reset_qp(w, w);
		errno = err;
	}
	return object;
}

#define LINE 256

/*
 * The kernel's numbers of all objects of a device; false: it cannot report them
 */
static bool summary(struct ibv_context *ctx, char *line)
{
	char command[LINE];
	FILE *pipe;
	bool ok;

	snprintf(command, sizeof(command), "rdma resource show %s",
		 ibv_get_device_name(ctx->device));
	pipe = popen(command, "r");
	ok = pipe && fgets(line, LINE, pipe);
	if (pipe)
		pclose(pipe);
	return ok;
}

/* The kernel may free objects a moment later. */
static bool wait_summary(struct ibv_context *ctx, const char *line)
{
	time_t end = deadline();
	char now[LINE];

	while (summary(ctx, now) && time(NULL) < end)
		if (!strcmp(now, line))
			return true;
	return false;
}

FIXTURE(fail_nth)
{
	struct world w;
	char before[LINE];
};

/*
 * A verb
 * @make: the verb. Return: not NULL on success; NULL with errno set
 * @unmake: undoes it. Return: 0 or an error number. NULL: there is nothing to
 * undo
 * @errors: errors other than ENOMEM that other parts of the kernel return
 */
FIXTURE_VARIANT(fail_nth)
{
	void *(*make)(struct world *w);
	int (*unmake)(struct world *w, void *object);
	int errors[2];
};

static bool expected(const FIXTURE_VARIANT(fail_nth) * variant, int err)
{
	return err == ENOMEM || (err && (err == variant->errors[0] ||
					 err == variant->errors[1]));
}

#define KINDS fail_nth
#include "kinds.h"

/*
 * Kinds that only this test makes, or with errors. An XRC target QP is not among
 * them: if an allocation of its own fails, the RDMA core does not give up the domain
 * (create_xrc_qp_user()).
 */
FIXTURE_VARIANT_ADD(fail_nth, context){
	.make = make_context,
	.unmake = unmake_context,
	/* libibverbs, which looks for the device; rdma_user_mmap_io() */
	.errors = { ENOENT, EAGAIN },
};

FIXTURE_VARIANT_ADD(fail_nth, big_region){
	.make = make_big_mr,
	.unmake = unmake_mr,
};

FIXTURE_VARIANT_ADD(fail_nth, region_of_all_memory){
	.make = make_implicit_mr,
	.unmake = unmake_mr,
};

FIXTURE_VARIANT_ADD(fail_nth, device_memory){
	.make = make_dm,
	.unmake = unmake_dm,
	/* rdma_user_mmap_io() */
	.errors = { EAGAIN },
};

FIXTURE_VARIANT_ADD(fail_nth, modify_qp){
	.make = connect_or_reset,
	.unmake = reset_qp,
	/* The route to the peer */
	.errors = { ENOBUFS },
};

FIXTURE_VARIANT_ADD(fail_nth, query_qp){
	.make = query_qp,
};

FIXTURE_VARIANT_ADD(fail_nth, query_device){
	.make = query_device,
};

FIXTURE_VARIANT_ADD(fail_nth, query_port){
	.make = query_port,
};

FIXTURE_VARIANT_ADD(fail_nth, address_handle){
	.make = make_ah,
	.unmake = unmake_ah,
	/* The route to the peer */
	.errors = { ENOBUFS },
};

FIXTURE_VARIANT_ADD(fail_nth, modify_wq){
	.make = modify_wq,
};

FIXTURE_VARIANT_ADD(fail_nth, table){
	.make = make_table,
	.unmake = unmake_table,
	/* ib_is_buffer_cleared(), which needs memory to look */
	.errors = { EOPNOTSUPP },
};

FIXTURE_VARIANT_ADD(fail_nth, counters){
	.make = make_counters,
	.unmake = unmake_counters,
};

/* Before main(), once for all */
static __attribute__((constructor)) void skip_without_faults(void)
{
	if (!fail_setup()) {
		ksft_print_header();
		ksft_exit_skip("this kernel has no fault injection\n");
	}
}

FIXTURE_SETUP(fail_nth)
{
	ASSERT_TRUE(fail_setup());
	ASSERT_TRUE(make_world(&self->w));
	/* First call, which includes allocations of its first use */
	if (variant->unmake)
		variant->unmake(&self->w, variant->make(&self->w));
	ASSERT_TRUE(summary(self->w.e.ctx, self->before));
}

FIXTURE_TEARDOWN(fail_nth)
{
	if (!self->before[0])
		return;
	EXPECT_TRUE(wait_summary(self->w.e.ctx, self->before));
	EXPECT_EQ(free_world(&self->w), 0);
}

/* The first allocation fails, then the second one, and so on to the last. */
TEST_F(fail_nth, make)
{
	struct world *w = &self->w;
	bool failed = true;
	void *object;
	int err;

	for (int n = 1; failed; n++) {
		ASSERT_LT(n, LIMIT);
		fail_nth(n);
		object = variant->make(w);
		err = errno;
		failed = fail_none();
		if (object && variant->unmake)
			EXPECT_EQ(variant->unmake(w, object), 0);
		if (object)
			continue;
		EXPECT_TRUE(failed);
		EXPECT_TRUE(expected(variant, err))
		TH_LOG("allocation %d: error %d", n, err);
	}
	EXPECT_NE(object, NULL);
}

/*
 * An object that could not be destroyed still exists, and can be destroyed
 * again.
 */
TEST_F(fail_nth, unmake)
{
	struct world *w = &self->w;
	bool failed = variant->unmake;
	void *object;
	int err;

	for (int n = 1; failed; n++) {
		ASSERT_LT(n, LIMIT);
		object = variant->make(w);
		ASSERT_NE(object, NULL);
		fail_nth(n);
		err = variant->unmake(w, object);
		failed = fail_none();
		if (!err)
			continue;
		EXPECT_TRUE(failed);
		EXPECT_EQ(err, ENOMEM)
		TH_LOG("allocation %d", n);
		EXPECT_EQ(variant->unmake(w, object), 0);
	}
}

TEST_HARNESS_MAIN
