// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The device model as a process: command line, sockets, signals */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/version.h"
#include "harness_tap.h"
#include "harness_vfu.h"
#include "mynic_regs.h"

#define RUN(...) device_run((const char *const[]){ __VA_ARGS__, NULL })

static const char *temporary_dir(void)
{
	char *dir = tap_alloc(32);

	strcpy(dir, "/tmp/mynic-test-XXXXXX");
	CHECK(mkdtemp(dir));
	return dir;
}

static void bind_socket(const char *path)
{
	struct sockaddr_un addr = device_address(path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK_EQ(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	close(fd);
}

TEST(help_and_version)
{
	CHECK_EQ(RUN("--help"), 0);
	CHECK_EQ(RUN("--version"), 0);
}

TEST(version_of_the_release)
{
	char command[PATH_MAX + 16], line[64], expected[64];
	FILE *out;

	snprintf(command, sizeof(command), "%s --version",
		 getenv("MYNIC_DEVICE"));
	snprintf(expected, sizeof(expected), "mynic-device %d.%d.%d\n",
		 VERSION_MAJOR, VERSION_MINOR, VERSION_PATCH);
	out = popen(command, "r");
	CHECK(out && fgets(line, sizeof(line), out));
	CHECK(!strcmp(line, expected));
	pclose(out);
}

TEST(wrong_usage)
{
	CHECK_EQ(RUN("--frobnicate"), 2);
	CHECK_EQ(RUN("--exit-with-parent"), 2);
	CHECK_EQ(RUN("--nic"), 2);
	CHECK_EQ(RUN("--nic", ""), 2);
	CHECK_EQ(RUN("--nic", "socket"), 2);
	CHECK_EQ(RUN("--nic", "socket="), 2);
	CHECK_EQ(RUN("--nic", "mac=02:00:00:00:00:01"), 2);
	CHECK_EQ(RUN("--nic", "socket=x,memory=0"), 2);
	CHECK_EQ(RUN("--nic", "socket=x,memory=1G"), 2);
	CHECK_EQ(RUN("--nic", "socket=x,spoofchk=no"), 2);
	CHECK_EQ(RUN("--nic", "socket=/tmp/x,colour=red"), 2);
	CHECK_EQ(RUN("--nic", "socket=/tmp/x", "word"), 2);
	CHECK_EQ(RUN("--nic", "socket=/tmp/x,mac"), 2);
	CHECK_EQ(RUN("--nic", "socket=/tmp/x,mac=01:00:00:00:00:01"), 2);
	CHECK_EQ(RUN("--nic", "socket=/tmp/x,mac=00:00:00:00:00:00"), 2);
	CHECK_EQ(RUN("--nic", "socket=/tmp/x,mac=02:00:00:00:01"), 2);
	CHECK_EQ(RUN("--nic", "socket=/tmp/x,mac=02:00:00:00:00:01:02"), 2);
	CHECK_EQ(RUN("--nic", "socket=/tmp/x,mac=2:0:0:0:0:1"), 2);
	CHECK_EQ(RUN("--nic", "socket=/tmp/x", "--nic",
		     "socket=/tmp/y,mac=02:6d:79:6e:69:01"),
		 2);
}

/* Many NICs need more files than the usual soft limit. */
TEST(file_limit_is_raised_with_privilege)
{
	const struct rlimit few = { 1024, 1024 }, more = { 1024, 2048 };

	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
	if (setrlimit(RLIMIT_NOFILE, &more))
		tap_skip("needs CAP_SYS_RESOURCE");
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
	device_start();
}

/* A limit on files that clients could reach is an error at the start. */
TEST(file_limit_too_low)
{
	const struct rlimit few = { 1024, 1024 };
	const char *const args[] = { "--nic", "socket=/tmp/mynic-test-x",
				     NULL };
	const char *text;

	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
	/* Without the privilege to raise it, which root has */
	CHECK_EQ(prctl(PR_CAPBSET_DROP, CAP_SYS_RESOURCE, 0, 0, 0), 0);
	text = device_fail(args, 1);
	CHECK(strstr(text, "1 NICs and 0 wires need up to "));
	CHECK(strstr(text, " open files, and the hard limit is 1024\n"));
}

TEST(socket_path_too_long)
{
	char arg[256] = "socket=/tmp/";

	memset(arg + strlen(arg), 'x', 200);
	CHECK_EQ(RUN("--nic", arg), 1);
}

TEST(other_files_are_left_alone)
{
	const char *dir = temporary_dir();
	char path[64], arg[96];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/file", dir);
	snprintf(arg, sizeof(arg), "socket=%s", path);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	CHECK_EQ(write(fd, "x", 1), 1);
	close(fd);
	CHECK_EQ(RUN("--nic", arg), 1);
	CHECK_EQ(stat(path, &st), 0);
	CHECK_EQ(st.st_size, 1);
	unlink(path);
	rmdir(dir);
}

/* Number of times that it was woken up */
static unsigned long wakeups(pid_t pid)
{
	char path[32], line[128];
	unsigned long count;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "r");
	CHECK(file);
	do
		CHECK(fgets(line, sizeof(line), file));
	while (sscanf(line, "voluntary_ctxt_switches: %lu", &count) != 1);
	fclose(file);
	return count;
}

TEST(nothing_to_do_wakes_nobody)
{
	struct device *dev = device_start();
	unsigned long before;

	for (unsigned int i = 0; i < VFU_TEST_NICS; i++)
		vfu_open(dev, i);
	device_wait_idle(dev->pid);
	before = wakeups(dev->pid);
	sleep(2);
	CHECK_EQ(wakeups(dev->pid), before);
}

/* Number that its next file will get */
static unsigned long next_file(pid_t pid)
{
	unsigned long number = 0;
	struct stat st;

	while (!lstat(tap_print("/proc/%d/fd/%lu", pid, number), &st))
		number++;
	return number;
}

static void connect_in_vain(const char *path)
{
	for (int i = 0; i < 3; i++)
		vfu_wait_end(vfu_connect_path(path));
}

TEST(clients_are_refused_without_a_file_for_them)
{
	const char *dir = device_dir();
	const char *nic = tap_print("%s/nic", dir);
	const char *wire = tap_print("%s/wire", dir);
	const char *control = tap_print("%s/control", dir);
	const char *const args[] = {
		"--nic",     tap_print("socket=%s", nic),
		"--wire",    tap_print("stream,listen=%s", wire),
		"--control", control,
		NULL,
	};
	pid_t pid = device_spawn(args);
	struct rlimit before, limit;
	char byte;
	int fd;

	CHECK_EQ(prlimit(pid, RLIMIT_NOFILE, NULL, &before), 0);
	limit = before;
	limit.rlim_cur = next_file(pid);
	CHECK_EQ(prlimit(pid, RLIMIT_NOFILE, &limit, NULL), 0);
	connect_in_vain(nic);
	connect_in_vain(wire);
	connect_in_vain(control);
	device_wait_idle(pid);
	CHECK_EQ(prlimit(pid, RLIMIT_NOFILE, &before, NULL), 0);
	CHECK_EQ(vfu_get(vfu_open_path(nic), MYNIC_BAR_REGS, MYNIC_REG_MAGIC,
			 4),
		 MYNIC_MAGIC);
	fd = vfu_connect_path(control);
	CHECK_EQ(send(fd, "ports\n", 6, MSG_NOSIGNAL), 6);
	CHECK_EQ(recv(fd, &byte, 1, 0), 1);
}

static unsigned int permissions(const char *path)
{
	struct stat st;

	CHECK_EQ(lstat(path, &st), 0);
	return st.st_mode & 0777;
}

static void check_permissions(const char *option, const char *value,
			      unsigned int mode)
{
	const char *dir = device_dir();
	const char *nic = tap_print("%s/nic", dir);
	const char *stream = tap_print("%s/stream", dir);
	const char *dgram = tap_print("%s/dgram", dir);
	const char *control = tap_print("%s/control", dir);
	const char *const args[] = {
		"--nic",     tap_print("socket=%s", nic),
		"--wire",    tap_print("stream,listen=%s", stream),
		"--wire",    tap_print("dgram,local=%s,remote=/x", dgram),
		"--control", control,
		option,	     value,
		NULL,
	};

	device_spawn(args);
	CHECK_EQ(permissions(nic), mode);
	CHECK_EQ(permissions(stream), mode);
	CHECK_EQ(permissions(dgram), mode);
	CHECK_EQ(permissions(control), mode);
}

/* Permissions do not depend on the umask */
TEST(permissions_of_sockets)
{
	umask(0);
	check_permissions(NULL, NULL, 0600);
	umask(0077);
	check_permissions("--socket-mode", "0660", 0660);
	umask(022);
	CHECK_EQ(RUN("--nic", "socket=/tmp/x", "--socket-mode", "rw"), 2);
	CHECK_EQ(RUN("--nic", "socket=/tmp/x", "--socket-mode", "1777"), 2);
	CHECK_EQ(RUN("--nic", "socket=/tmp/x", "--socket-mode", "0608"), 2);
}

/* The device still works if nobody reads its messages about a client. */
TEST(messages_wait_for_nobody)
{
	const char *dir = device_dir();
	const char *path = tap_print("%s/nic", dir);
	const char *const args[] = { "--nic", tap_print("socket=%s", path),
				     NULL };
	char fill[4096] = {};
	int fds[2];
	int fd;

	CHECK_EQ(pipe(fds), 0);
	fcntl(fds[1], F_SETFL, O_NONBLOCK);
	while (write(fds[1], fill, sizeof(fill)) > 0)
		;
	fcntl(fds[1], F_SETFL, 0);
	CHECK_EQ(dup2(fds[1], STDERR_FILENO), STDERR_FILENO);
	close(fds[1]);
	device_spawn(args);
	fd = vfu_open_path(path);
	for (int i = 0; i < 100; i++)
		vfu_post(fd, VFU_DMA_MAP, "", 1);
	CHECK_EQ(vfu_get(fd, MYNIC_BAR_REGS, MYNIC_REG_MAGIC, 4), MYNIC_MAGIC);
	/* Processes that share stderr may need it to block. */
	CHECK_EQ(fcntl(STDERR_FILENO, F_GETFL) & O_NONBLOCK, 0);
}

static bool connects(const char *path)
{
	struct sockaddr_un addr = device_address(path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int err;

	err = connect(fd, (struct sockaddr *)&addr, sizeof(addr));
	close(fd);
	return !err;
}

/* stdio would use a system call on such an output that is not allowed */
TEST(output_is_a_device)
{
	const char *path = tap_print("%s/nic", device_dir());
	const char *const args[] = { "--nic", tap_print("socket=%s", path),
				     NULL };
	int null = open("/dev/null", O_WRONLY);

	CHECK_EQ(dup2(null, STDOUT_FILENO), STDOUT_FILENO);
	device_spawn_unheard(args);
	while (!connects(path))
		usleep(1000);
	CHECK_EQ(vfu_get(vfu_open_path(path), MYNIC_BAR_REGS, MYNIC_REG_MAGIC,
			 4),
		 MYNIC_MAGIC);
}

TEST(other_servers_are_left_alone)
{
	struct device *dev = device_start();
	char arg[96];

	snprintf(arg, sizeof(arg), "socket=%s", dev->path[0]);
	CHECK_EQ(RUN("--nic", arg), 1);
	CHECK_EQ(vfu_get(vfu_open(dev, 0), MYNIC_BAR_REGS, MYNIC_REG_MAGIC, 4),
		 MYNIC_MAGIC);
}

/*
 * The socket of the first NIC is removed if the second one cannot be created.
 */
TEST(all_or_nothing)
{
	const char *dir = temporary_dir();
	char good[64];

	snprintf(good, sizeof(good), "socket=%s/good", dir);
	CHECK_EQ(RUN("--nic", good, "--nic", "socket=/nonexistent/bad"), 1);
	CHECK_EQ(rmdir(dir), 0);
}

TEST(stale_socket_is_replaced)
{
	const char *dir = temporary_dir();
	char path[64], arg[96];
	char ready[16] = "";
	int out[2];
	int status;
	pid_t pid;

	snprintf(path, sizeof(path), "%s/stale", dir);
	snprintf(arg, sizeof(arg), "socket=%s", path);
	bind_socket(path);
	CHECK_EQ(pipe(out), 0);
	pid = fork();
	if (!pid) {
		dup2(out[1], STDOUT_FILENO);
		execl(getenv("MYNIC_DEVICE"), "mynic-device", "--nic", arg,
		      "--exit-with-parent", NULL);
		_exit(127);
	}
	CHECK(read(out[0], ready, sizeof(ready)) > 0);
	CHECK(!strcmp(ready, "ready\n"));
	kill(pid, SIGINT);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	CHECK_EQ(rmdir(dir), 0);
}

TEST(ends_with_its_parent)
{
	const char *dir = temporary_dir();
	char ready[16] = "";
	char arg[64];
	int out[2];
	pid_t pid;

	snprintf(arg, sizeof(arg), "socket=%s/s", dir);
	CHECK_EQ(pipe(out), 0);
	pid = fork();
	if (!pid) {
		if (!fork()) {
			dup2(out[1], STDOUT_FILENO);
			close(out[0]);
			close(out[1]);
			execl(getenv("MYNIC_DEVICE"), "mynic-device", "--nic",
			      arg, "--exit-with-parent", NULL);
			_exit(127);
		}
		close(out[1]);
		CHECK(read(out[0], ready, sizeof(ready)) > 0);
		kill(getpid(), SIGKILL);
	}
	close(out[1]);
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
	/* At the end of the file, the last writer is gone. */
	while (read(out[0], ready, sizeof(ready)) > 0)
		;
	CHECK_EQ(rmdir(dir), 0);
}

/* An idle device sleeps for good, and uses no processor time. */
TEST(idle_takes_no_time)
{
	struct device *dev = device_start();
	int fd = vfu_open(dev, 0);

	CHECK_EQ(vfu_get(fd, MYNIC_BAR_REGS, MYNIC_REG_MAGIC, 4), MYNIC_MAGIC);
	device_wait_idle(dev->pid);
}
