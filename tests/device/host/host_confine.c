// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Confinement: what the device model has given up when it reports that it is
 * ready
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#undef NDEBUG
#include <assert.h>

#include "harness_tap.h"
#include "harness_vfu.h"
#include "host/confine.h"
#include "host/log.h"

/* The value of a field of a file of the form of proc_pid_status(5) */
static const char *field(const char *path, const char *name)
{
	char *line = tap_alloc(256);
	FILE *file = fopen(path, "r");

	CHECK(file);
	while (fgets(line, 256, file)) {
		if (strncmp(line, name, strlen(name)) ||
		    line[strlen(name)] != ':')
			continue;
		fclose(file);
		line[strcspn(line, "\n")] = '\0';
		line += strlen(name) + 1;
		return line + strspn(line, "\t ");
	}
	FAIL("%s has no %s", path, name);
}

static void check_field(const char *path, const char *name, const char *want)
{
	const char *got = field(path, name);

	if (strcmp(got, want))
		FAIL("%s of %s is %s, not %s", name, path, got, want);
}

static void check_thread(const char *path)
{
	static const char none[] = "0000000000000000";

	check_field(path, "CapInh", none);
	check_field(path, "CapPrm", none);
	check_field(path, "CapEff", none);
	check_field(path, "CapAmb", none);
	/* Only a process with CAP_SETPCAP can give these up. */
	if (strtoull(field("/proc/self/status", "CapEff"), NULL, 16) & 1 << 8)
		check_field(path, "CapBnd", none);
	check_field(path, "NoNewPrivs", "1");
	check_field(path, "Seccomp", CONFINE_SYSTEM_CALLS ? "2" : "0");
}

TEST(every_thread)
{
	struct device *dev = device_start();
	const char *path = tap_print("/proc/%d/task", dev->pid);
	DIR *tasks = opendir(path);
	unsigned int threads = 0;
	struct dirent *task;

	CHECK(tasks);
	while ((task = readdir(tasks))) {
		if (task->d_name[0] == '.')
			continue;
		check_thread(tap_print("%s/%s/status", path, task->d_name));
		threads++;
	}
	closedir(tasks);
	/* The helper threads of the NICs, too */
	CHECK_EQ(threads, 1 + VFU_TEST_NICS);
}

TEST(limits)
{
	struct device *dev = device_start();
	struct rlimit limit;

	CHECK_EQ(prlimit(dev->pid, RLIMIT_DATA, NULL, &limit), 0);
	CHECK(limit.rlim_max != RLIM_INFINITY);
	CHECK_EQ(limit.rlim_cur, limit.rlim_max);
	CHECK_EQ(prlimit(dev->pid, RLIMIT_NOFILE, NULL, &limit), 0);
	CHECK(limit.rlim_max <= VFU_TEST_NICS * 2000);
	CHECK_EQ(prlimit(dev->pid, RLIMIT_MEMLOCK, NULL, &limit), 0);
	CHECK_EQ(limit.rlim_max, 0);
}

static void run_program(void)
{
	execl("/bin/true", "true", NULL);
}

static void start_process(void)
{
	syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static void open_packet_socket(void)
{
	socket(AF_PACKET, SOCK_RAW, 0);
}

static void map_code(void)
{
	mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
	     0);
}

static void trace_parent(void)
{
	syscall(SYS_ptrace, 16, getppid(), 0, 0);
}

static void kill_parent(void)
{
	syscall(SYS_tgkill, getppid(), getppid(), SIGCONT);
}

static void end_at_once(void)
{
}

/* Run @fn in a confined process. Return: its wait status; @text: its stderr */
static int confined(void (*fn)(void), char *text, size_t size)
{
	size_t len = 0;
	int fds[2];
	int status;
	ssize_t n;
	pid_t pid;

	CHECK_EQ(pipe(fds), 0);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		const struct rlimit no_core = {};

		dup2(fds[1], STDERR_FILENO);
		setrlimit(RLIMIT_CORE, &no_core);
		log_init();
		if (confine_privileges() || confine_system_calls())
			_exit(1);
		fn();
		_exit(0);
	}
	close(fds[1]);
	while ((n = read(fds[0], text + len, size - 1 - len)) > 0)
		len += n;
	text[len] = '\0';
	close(fds[0]);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	return status;
}

TEST(a_violation_is_the_end)
{
	static void (*const violations[])(void) = {
		run_program, start_process, open_packet_socket,
		map_code,    trace_parent,  kill_parent,
	};
	char text[256];

	if (!CONFINE_SYSTEM_CALLS)
		tap_skip("sanitizers make system calls of their own");
	CHECK_EQ(confined(end_at_once, text, sizeof(text)), 0);
	CHECK_EQ(text[0], '\0');
	for (size_t i = 0; i < ARRAY_SIZE(violations); i++) {
		int status = confined(violations[i], text, sizeof(text));

		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS)
			FAIL("violation %zu: wait status 0x%x", i, status);
		CHECK(!strncmp(text, "mynic-device: system call ", 26));
		CHECK(strstr(text, " is not allowed: ending\n"));
	}
}

static void fail_assertion(void)
{
	assert(getpid() == -1);
}

static void free_twice(void)
{
	/* volatile hides the double free from the compiler */
	void *volatile ptr = malloc(100000);

	free(malloc(100000));
	free(ptr);
	free(ptr);
}

static void free_nonsense(void)
{
	static uint64_t none[16];
	void *volatile ptr = none + 3;

	free(ptr);
}

/* abort() still ends the process as such, after the message of libc. */
TEST(abort_is_abort)
{
	static const struct {
		void (*fn)(void);
		const char *says;
	} mistakes[] = {
		{ abort, "" },
		{ fail_assertion, "Assertion `getpid() == -1' failed" },
		{ free_twice, "double free" },
		{ free_nonsense, "free()" },
	};
	char text[256];

	if (!CONFINE_SYSTEM_CALLS)
		tap_skip("sanitizers make system calls of their own");
	for (size_t i = 0; i < ARRAY_SIZE(mistakes); i++) {
		int status = confined(mistakes[i].fn, text, sizeof(text));

		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT ||
		    !strstr(text, mistakes[i].says))
			FAIL("mistake %zu: wait status 0x%x: %s", i, status,
			     text);
	}
}
