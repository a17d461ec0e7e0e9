// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Multicast groups: attachments that the RDMA core counts, and the device does
 * not. The driver must not give the device up for that. What groups deliver is
 * in tests/device/core/test_ud.c.
 */
#include <sys/wait.h>

#include "verbs.h"

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
