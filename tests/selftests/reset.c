// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A function level reset under traffic, with contexts open */
#include "verbs.h"

/* Open a new context on the recovered device, with a connection */
static bool make_new(struct end *e)
{
	time_t end = deadline();

	while (time(NULL) < end) {
		*e = (struct end){ .ctx = open_mynic(0) };
		if (e->ctx && make_end(e, IBV_QPT_RC) && !to_rts(e, e))
			return true;
		free_end(e);
		if (e->ctx)
			ibv_close_device(e->ctx);
		usleep(50000);
	}
	return false;
}

TEST(function_level_reset)
{
	struct end e = { .ctx = open_mynic(0) }, new;
	struct ibv_port_attr port;
	struct ibv_wc wc;

	ASSERT_NE(e.ctx, NULL);
	ASSERT_TRUE(make_end(&e, IBV_QPT_RC));
	ASSERT_EQ(to_rts(&e, &e), 0);
	ASSERT_EQ(check_write(&e, &e, 5000), 0);
	for (int i = 0; i < 32; i++) {
		ASSERT_EQ(post(&e, IBV_WR_RDMA_WRITE, i, 0, BUF_SIZE, &e), 0);
	}
	ASSERT_EQ(write_reset(e.ctx), 0);
	EXPECT_TRUE(wait_fatal(e.ctx));
	/* the old context is useless and harmless */
	EXPECT_EQ(ibv_query_port(e.ctx, 1, &port), EIO);
	post(&e, IBV_WR_RDMA_WRITE, 1, 0, 8, &e);
	ibv_req_notify_cq(e.cq, 0);
	ibv_poll_cq(e.cq, 1, &wc);
	ASSERT_TRUE(make_new(&new));
	for (int i = 0; i < 5; i++)
		EXPECT_EQ(check_write(&new, &new, 50000), 0);
	/* libibverbs ignores EIO for objects that are gone */
	EXPECT_EQ(free_end(&e), 0);
	EXPECT_EQ(ibv_close_device(e.ctx), 0);
	EXPECT_EQ(check_write(&new, &new, 5000), 0);
	EXPECT_EQ(free_end(&new), 0);
	EXPECT_EQ(ibv_close_device(new.ctx), 0);
}

TEST(many_resets)
{
	struct end e;

	for (int i = 0; i < 5; i++) {
		ASSERT_TRUE(make_new(&e));
		EXPECT_EQ(check_write(&e, &e, 5000), 0);
		ASSERT_EQ(write_reset(e.ctx), 0);
		EXPECT_TRUE(wait_fatal(e.ctx));
		EXPECT_EQ(free_end(&e), 0);
		EXPECT_EQ(ibv_close_device(e.ctx), 0);
	}
	ASSERT_TRUE(make_new(&e));
	EXPECT_EQ(check_write(&e, &e, 5000), 0);
	EXPECT_EQ(free_end(&e), 0);
	EXPECT_EQ(ibv_close_device(e.ctx), 0);
}

TEST_HARNESS_MAIN
