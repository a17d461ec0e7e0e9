// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A process that is killed during traffic leaves nothing behind */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "verbs.h"

FIXTURE(victim)
{
	struct end e;
};

FIXTURE_SETUP(victim)
{
	self->e.ctx = open_mynic(0);
	ASSERT_NE(self->e.ctx, NULL);
	ASSERT_TRUE(make_end(&self->e, IBV_QPT_RC));
	ASSERT_EQ(to_rts(&self->e, &self->e), 0);
}

FIXTURE_TEARDOWN(victim)
{
	EXPECT_EQ(free_end(&self->e), 0);
	EXPECT_EQ(ibv_close_device(self->e.ctx), 0);
}

/*
 * Keeps the queues full until it is killed; writes a byte to @ready when they
 * are
 */
static void run_victim(int ready)
{
	struct end e = { .ctx = open_mynic(0) };
	struct ibv_wc wc[16];
	unsigned long posted = 0, done = 0;

	if (!e.ctx || !make_end(&e, IBV_QPT_RC) || to_rts(&e, &e))
		_exit(1);
	for (;;) {
		while (posted - done < 32) {
			enum ibv_wr_opcode op = posted % 2 ? IBV_WR_RDMA_READ :
							     IBV_WR_RDMA_WRITE;

			if (post(&e, op, posted, 0, 100000, &e))
				_exit(1);
			posted++;
		}
		done += ibv_poll_cq(e.cq, 16, wc);
		if (done > 64 && ready >= 0) {
			if (write(ready, "", 1) != 1)
				_exit(1);
			close(ready);
			ready = -1;
		}
	}
}

/* The kernel's numbers of the device's objects */
static void resources(char *text, size_t size)
{
	FILE *pipe = popen("rdma resource show", "r");
	size_t len = pipe ? fread(text, 1, size - 1, pipe) : 0;

	text[len] = 0;
	if (pipe)
		pclose(pipe);
}

TEST_F(victim, killed)
{
	char before[4096], after[4096];
	time_t end;

	resources(before, sizeof(before));
	for (int i = 0; i < 5; i++) {
		int ready[2], status;
		char byte;
		pid_t pid;

		ASSERT_EQ(pipe(ready), 0);
		pid = fork();
		ASSERT_GE(pid, 0);
		if (pid == 0) {
			close(ready[0]);
			run_victim(ready[1]);
		}
		close(ready[1]);
		EXPECT_EQ(read(ready[0], &byte, 1), 1);
		close(ready[0]);
		ASSERT_EQ(kill(pid, SIGKILL), 0);
		ASSERT_EQ(waitpid(pid, &status, 0), pid);
		EXPECT_TRUE(WIFSIGNALED(status));
		EXPECT_EQ(check_write(&self->e, &self->e, 10000), 0);
	}
	end = deadline();
	do {
		resources(after, sizeof(after));
	} while (strcmp(before, after) && time(NULL) < end);
	EXPECT_STREQ(before, after);
}

TEST_HARNESS_MAIN
