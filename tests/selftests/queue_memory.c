// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Whom the kernel charges for the memory of queues */
#include <rdma/mynic-hw.h>
#include <sys/wait.h>

#include "cgroup.h"
#include "verbs.h"

#define ENTRIES (1 << 19)

FIXTURE(queue_memory){};

FIXTURE_SETUP(queue_memory)
{
	if (!has_memory_controller())
		SKIP(return, "no memory controller");
	ASSERT_TRUE(make_cgroup());
}

FIXTURE_TEARDOWN(queue_memory)
{
	remove_cgroup();
}

/* Reports when it is ready, when it has a CQ, and when that is gone. */
static int run_owner(int from_parent, int to_parent)
{
	struct ibv_context *ctx;
	struct ibv_cq *cq;

	if (!join_cgroup())
		return 1;
	ctx = open_mynic(0);
	if (!ctx || write(to_parent, "r", 1) != 1 || !next_byte(from_parent))
		return 2;
	cq = ibv_create_cq(ctx, ENTRIES, NULL, NULL, 0);
	if (!cq || write(to_parent, "c", 1) != 1 || !next_byte(from_parent))
		return 3;
	if (ibv_destroy_cq(cq) || write(to_parent, "g", 1) != 1 ||
	    !next_byte(from_parent))
		return 4;
	return ibv_close_device(ctx);
}

TEST_F(queue_memory, owner_is_charged)
{
	const long cost = ENTRIES * sizeof(struct mynic_cqe);
	int to_child[2], to_parent[2], status;
	long before;
	time_t end;
	pid_t pid;

	ASSERT_EQ(pipe(to_child), 0);
	ASSERT_EQ(pipe(to_parent), 0);
	pid = fork();
	ASSERT_GE(pid, 0);
	if (!pid) {
		close(to_child[1]);
		_exit(run_owner(to_child[0], to_parent[1]));
	}
	close(to_parent[1]);
	ASSERT_EQ(next_byte(to_parent[0]), 'r');
	before = kernel_bytes();
	ASSERT_EQ(write(to_child[1], "n", 1), 1);
	ASSERT_EQ(next_byte(to_parent[0]), 'c');
	/* charges become visible some time later */
	for (end = deadline(); kernel_bytes() < before + cost;) {
		ASSERT_LT(time(NULL), end)
		TH_LOG("%ld bytes are charged, not %ld",
		       kernel_bytes() - before, cost);
	}
	ASSERT_EQ(write(to_child[1], "n", 1), 1);
	ASSERT_EQ(next_byte(to_parent[0]), 'g');
	for (end = deadline(); kernel_bytes() > before + cost / 2;) {
		ASSERT_LT(time(NULL), end)
		TH_LOG("%ld bytes are kept", kernel_bytes() - before);
	}
	ASSERT_EQ(write(to_child[1], "n", 1), 1);
	ASSERT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0);
	close(to_child[1]);
	close(to_parent[0]);
}

TEST_HARNESS_MAIN
