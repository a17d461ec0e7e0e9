// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* File descriptors of a context that another process has received */
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "context.h"
#include "verbs.h"

#define NUM_FDS 3

/*
 * Passes files to the process at the other end of @sock (unix(7), SCM_RIGHTS)
 */
static bool send_fds(int sock, const int fds[NUM_FDS])
{
	union {
		struct cmsghdr hdr;
		char room[CMSG_SPACE(NUM_FDS * sizeof(int))];
	} control = {};
	char byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };

	control.hdr.cmsg_level = SOL_SOCKET;
	control.hdr.cmsg_type = SCM_RIGHTS;
	control.hdr.cmsg_len = CMSG_LEN(NUM_FDS * sizeof(int));
	memcpy(CMSG_DATA(&control.hdr), fds, NUM_FDS * sizeof(int));
	return sendmsg(sock, &msg, 0) == 1;
}

static bool receive_fds(int sock, int fds[NUM_FDS])
{
	union {
		struct cmsghdr hdr;
		char room[CMSG_SPACE(NUM_FDS * sizeof(int))];
	} control;
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };

	if (recvmsg(sock, &msg, MSG_CMSG_CLOEXEC) != 1 ||
	    control.hdr.cmsg_len != CMSG_LEN(NUM_FDS * sizeof(int)))
		return false;
	memcpy(fds, CMSG_DATA(&control.hdr), NUM_FDS * sizeof(int));
	return true;
}

/* Create a PD through the command file @fd. Return: 0 or errno */
static int alloc_pd(int fd)
{
	struct ib_uverbs_alloc_pd cmd = { .response = (uintptr_t)reply };

	return command(fd, IB_USER_VERBS_CMD_ALLOC_PD, &cmd, sizeof(cmd), NULL,
		       0);
}

/*
 * The receiver, which has the files but none of the memory. Its exit status
 * names the step that failed.
 */
static int receiver(int sock)
{
	struct pollfd channel;
	int fds[NUM_FDS];
	uint64_t event;
	char byte = 1;

	signal(SIGPIPE, SIG_IGN);
	if (!receive_fds(sock, fds))
		return 1;
	/*
	 * Only the process that has opened the file may use write()
	 * (ib_safe_file_access()).
	 */
	if (alloc_pd(fds[0]) != EACCES)
		return 2;
	/* These offsets are not valid for a file without queues. */
	if (mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fds[0],
		 1LL << 50) != MAP_FAILED)
		return 3;
	/* Wait for the event of a completion, which the owner now requests */
	if (write(sock, &byte, 1) != 1)
		return 4;
	channel = (struct pollfd){ .fd = fds[1], .events = POLLIN };
	if (poll(&channel, 1, PATIENCE * 1000) != 1)
		return 5;
	if (read(fds[1], &event, sizeof(event)) != sizeof(event))
		return 6;
	return 0;
}

FIXTURE(passed)
{
	struct end e;
	int sock[2];
};

FIXTURE_SETUP(passed)
{
	self->e.ctx = open_mynic(0);
	ASSERT_NE(self->e.ctx, NULL);
	ASSERT_TRUE(make_end(&self->e, IBV_QPT_RC));
	ASSERT_EQ(to_rts(&self->e, &self->e), 0);
	ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
			     self->sock),
		  0);
}

FIXTURE_TEARDOWN(passed)
{
	close(self->sock[0]);
	close(self->sock[1]);
	EXPECT_EQ(free_end(&self->e), 0);
	EXPECT_EQ(ibv_close_device(self->e.ctx), 0);
}

TEST_F(passed, used_by_another_process)
{
	struct end *e = &self->e;
	const int fds[NUM_FDS] = { e->ctx->cmd_fd, e->channel->fd,
				   e->ctx->async_fd };
	int status;
	char byte;
	pid_t pid;

	pid = fork();
	ASSERT_GE(pid, 0);
	if (pid == 0) {
		/* Only the passed files may be needed. */
		close(e->ctx->cmd_fd);
		close(e->channel->fd);
		close(e->ctx->async_fd);
		close(self->sock[0]);
		_exit(receiver(self->sock[1]));
	}
	/* Reading ends when the receiver closes its end. */
	close(self->sock[1]);
	self->sock[1] = -1;
	ASSERT_TRUE(send_fds(self->sock[0], fds));
	ASSERT_EQ(read(self->sock[0], &byte, 1), 1);
	ASSERT_EQ(ibv_req_notify_cq(e->cq, 0), 0);
	EXPECT_EQ(check_write(e, e, 1000), 0);
	ASSERT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_EQ(status, 0)
	TH_LOG("step %d of the receiver", WEXITSTATUS(status));
	/* libibverbs waits for this before it destroys the CQ. */
	ibv_ack_cq_events(e->cq, 1);
	/* The end of the receiver has destroyed nothing. */
	EXPECT_EQ(check_write(e, e, 2000), 0);
}

/* The owner is killed during traffic, and the files stay open. */
TEST_F(passed, kept_when_the_owner_dies)
{
	int fds[NUM_FDS], status;
	struct end peer = { .ctx = self->e.ctx };
	pid_t pid;

	pid = fork();
	ASSERT_GE(pid, 0);
	if (pid == 0) {
		struct end e = { .ctx = open_mynic(0) };

		if (!e.ctx || !make_end(&e, IBV_QPT_RC) || to_rts(&e, &e))
			_exit(1);
		fds[0] = e.ctx->cmd_fd;
		fds[1] = e.channel->fd;
		fds[2] = e.ctx->async_fd;
		if (!send_fds(self->sock[1], fds))
			_exit(2);
		for (;;)
			check_write(&e, &e, BUF_SIZE);
	}
	ASSERT_TRUE(receive_fds(self->sock[0], fds));
	ASSERT_EQ(kill(pid, SIGKILL), 0);
	ASSERT_EQ(waitpid(pid, &status, 0), pid);
	EXPECT_TRUE(WIFSIGNALED(status));
	EXPECT_EQ(alloc_pd(fds[0]), EACCES);
	for (int i = 0; i < NUM_FDS; i++)
		EXPECT_EQ(close(fds[i]), 0);
	/*
	 * With the last file, all of its objects are gone, and other contexts
	 * work.
	 */
	ASSERT_TRUE(make_end(&peer, IBV_QPT_RC));
	EXPECT_EQ(free_end(&peer), 0);
	EXPECT_EQ(check_write(&self->e, &self->e, 3000), 0);
}

TEST_HARNESS_MAIN
