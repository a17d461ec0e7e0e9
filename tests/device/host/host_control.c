// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The control socket, mynic-ctl, and their commands for faults, captures and
 * cables, with RDMA between two NICs of the process.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <poll.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/journal.h"
#include "core/packet/opcode.h"
#include "core/base/psn.h"
#include "core/state/fault_types.h"
#include "harness_driver.h"
#include "harness_vfu.h"
#include "host/log.h"
#include "remote_nic.h"
#include "wire/faults.h"
#include "wire/frame.h"

#define ANSWER_SIZE (1 << 20)

/* Limits of the device model's host/control.h */
#define MAX_CLIENTS 16
#define MAX_LINE 4096

/* More than an unread answer may take, in pages */
#define MAX_GROWTH 2048

static const char *dir;
static char control_path[64];
static pid_t device;

/* Start a device with two NICs, a control socket, and the arguments @more */
static void start(const char *const more[])
{
	const char *args[DEVICE_MAX_ARGS + 1] = {
		"--nic",	   remote_nic_arg(0), "--nic",
		remote_nic_arg(1), "--control",	      control_path,
	};
	int n = 6;

	dir = device_dir();
	snprintf(control_path, sizeof(control_path), "%s/control", dir);
	while (more && *more)
		args[n++] = *more++;
	device = device_spawn(args);
}

static const char *path_in_dir(const char *name)
{
	char *path = tap_alloc(64);

	snprintf(path, 64, "%s/%s", dir, name);
	return path;
}

static int open_control(void)
{
	return vfu_connect_path(control_path);
}

static void send_text(int fd, const char *text)
{
	CHECK_EQ(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static bool is_end(const char *line)
{
	return !strcmp(line, "ok\n") || !strncmp(line, "error: ", 7);
}

/* Receive an answer up to its last line */
static const char *receive_answer(int fd)
{
	char *answer = tap_alloc(ANSWER_SIZE);
	size_t len = 0, line = 0;

	do {
		line = len;
		do {
			CHECK(len < ANSWER_SIZE - 1);
			if (recv(fd, answer + len, 1, 0) != 1)
				FAIL("no answer: %s", strerror(errno));
		} while (answer[len++] != '\n');
	} while (!is_end(answer + line));
	return answer;
}

static const char *ask(int fd, const char *command)
{
	send_text(fd, command);
	send_text(fd, "\n");
	return receive_answer(fd);
}

static void check_answer(int fd, const char *command, const char *want)
{
	const char *answer = ask(fd, command);

	if (strcmp(answer, want))
		FAIL("%s:\n%s\nnot:\n%s", command, answer, want);
}

static void order(int fd, const char *command)
{
	check_answer(fd, command, "ok\n");
}

static uint64_t stat_of(int fd, const char *port, const char *name)
{
	char command[64], key[96];
	const char *at;

	snprintf(command, sizeof(command), "stats %s", port);
	snprintf(key, sizeof(key), "%s %s ", port, name);
	at = strstr(ask(fd, command), key);
	if (!at)
		FAIL("%s has no %s", port, name);
	return strtoull(at + strlen(key), NULL, 10);
}

TEST(answers)
{
	int fd;

	start(NULL);
	fd = open_control();
	CHECK(strstr(ask(fd, "help"), "\nfault clear"));
	check_answer(fd, "ports",
		     "nic1 nic up 02:6d:79:6e:69:01\n"
		     "nic2 nic up 02:6d:79:6e:69:02\nok\n");
	check_answer(fd, "fault list", "ok\n");
	check_answer(fd, "fault add nic1,kind=drop,rate=0.5,seed=3",
		     "1 nic1,kind=drop,rate=0.5,seed=3 matched 0 applied 0\n"
		     "ok\n");
	check_answer(fd, "fault add nic2,kind=delay,time=1ms,seed=4",
		     "2 nic2,kind=delay,time=1ms,seed=4 matched 0 applied 0\n"
		     "ok\n");
	order(fd, "fault delete 1");
	check_answer(fd, "fault list",
		     "2 nic2,kind=delay,time=1ms,seed=4 matched 0 applied 0\n"
		     "ok\n");
	order(fd, "link nic1 down");
	order(fd, "link nic1 down");
	check_answer(fd, "ports",
		     "nic1 nic pulled 02:6d:79:6e:69:01\n"
		     "nic2 nic up 02:6d:79:6e:69:02\nok\n");
	check_answer(fd, "fault list",
		     "3 nic1,kind=down matched 0 applied 0\n"
		     "2 nic2,kind=delay,time=1ms,seed=4 matched 0 applied 0\n"
		     "ok\n");
	order(fd, "  link   nic1 up  ");
	order(fd, "link nic1 up");
	order(fd, "fault clear\r");
	check_answer(fd, "fault list", "ok\n");
	check_answer(fd, "ports",
		     "nic1 nic up 02:6d:79:6e:69:01\n"
		     "nic2 nic up 02:6d:79:6e:69:02\nok\n");
	order(fd, "log on");
	order(fd, "log off");
	CHECK(strstr(ask(fd, "stats"), "nic2 rx_packets 0\n"));
	CHECK(!strstr(ask(fd, "stats nic1"), "nic2"));
}

/* Answers show each rule with the seed that was chosen for it. */
TEST(seeds_are_chosen_and_shown)
{
	char first[256], second[256];
	int fd;

	start(NULL);
	fd = open_control();
	snprintf(first, sizeof(first), "%s",
		 ask(fd, "fault add nic1,kind=drop"));
	CHECK(!strncmp(first, "1 nic1,kind=drop,seed=", 22));
	snprintf(second, sizeof(second), "%s",
		 ask(fd, "fault add nic1,kind=drop"));
	CHECK(strcmp(first + 1, second + 1));
	CHECK(strstr(ask(fd, "fault list"), strtok(first, " ")));
}

#define ALL_KINDS                                                \
	"drop, duplicate, reorder, corrupt, delay, rate, mark, " \
	"down, completion, qp-error, rnr, command-error, "       \
	"command-delay, irq-lose, irq-delay, revoke, flap, "     \
	"fatal or vanish"

TEST(wrong_commands)
{
	static const char *const cases[][2] = {
		{ "", "there is no command \"\"; try help" },
		{ "frobnicate",
		  "there is no command \"frobnicate\"; try help" },
		{ "fault", "there is no command \"fault\"; try help" },
		{ "fault frob",
		  "there is no command \"fault frob\"; try help" },
		{ "help me", "what is \"me\"?" },
		{ "journal", "there is no command \"journal\"; try help" },
		{ "journal on", "there is no port \"\"" },
		{ "journal on nic9", "there is no port \"nic9\"" },
		{ "journal show nic1 nic2", "what is \"nic2\"?" },
		{ "ports nic1", "what is \"nic1\"?" },
		{ "stats nic9", "there is no port \"nic9\"" },
		{ "stats nic1 nic2", "what is \"nic2\"?" },
		{ "fault add", "there is no port \"\"" },
		{ "fault add nic1",
		  "a rule is PORT,kind=KIND or PORT,preset=NAME, with PORT nic1 here" },
		{ "fault add nic1,kind=foo,rate=1",
		  "kind: \"foo\" is not " ALL_KINDS },
		{ "fault add nic1,kind=", "kind: \"\" is not " ALL_KINDS },
		{ "fault add nic,kind=drop", "there is no port \"nic\"" },
		{ "fault add nic11,kind=drop", "there is no port \"nic11\"" },
		{ "fault add nic1,kind=drop,rate=2",
		  "rate: \"2\" is not a number from 0 to 1 with at most 9 decimals" },
		{ "fault add nic1,kind=drop nic2,kind=drop",
		  "what is \"nic2,kind=drop\"?" },
		{ "fault add wire1,kind=fatal", "there is no port \"wire1\"" },
		{ "fault add nic1,kind=fatal,qp=1",
		  "qp is not for kind=fatal,on=now" },
		{ "fault add nic1,preset=", "there is no preset \"\"" },
		{ "fault add nic1,preset=fla", "there is no preset \"fla\"" },
		{ "fault add nic1,preset=flap,kind=fatal",
		  "a preset can have seed=N, but not \"kind=fatal\"" },
		{ "fault add nic1,preset=flap,seed=x",
		  "seed: \"x\" is not a number up to 18446744073709551611" },
		{ "fault add nic9,preset=flap", "there is no port \"nic9\"" },
		{ "fault delete", "\"\" is not the number of a rule" },
		{ "fault delete x", "\"x\" is not the number of a rule" },
		{ "fault delete 1x", "\"1x\" is not the number of a rule" },
		{ "fault delete +3", "\"+3\" is not the number of a rule" },
		{ "fault delete -1", "\"-1\" is not the number of a rule" },
		{ "fault delete 7", "there is no rule 7" },
		{ "qp nic1 +3", "\"+3\" is no number of a QP" },
		{ "qp nic1 -1", "\"-1\" is no number of a QP" },
		{ "qp nic1 4294967296", "\"4294967296\" is no number of a QP" },
		{ "fault delete 99999999999",
		  "\"99999999999\" is not the number of a rule" },
		{ "fault list 1", "what is \"1\"?" },
		{ "fault clear 1", "what is \"1\"?" },
		{ "link", "there is no port \"\"" },
		{ "link nic1", "\"\" is neither up nor down" },
		{ "link nic1 sideways", "\"sideways\" is neither up nor down" },
		{ "link nic1 up down", "what is \"down\"?" },
		{ "capture", "a port and a file are needed" },
		{ "capture nic1 ", "a port and a file are needed" },
		{ "capture nic9 /tmp/x", "there is no port \"nic9\"" },
		{ "capture nic1 /dev/null",
		  "/dev/null: neither a file nor a FIFO" },
		{ "capture nic1 /tmp", "/tmp: neither a file nor a FIFO" },
		{ "capture nic1 /nonexistent/x",
		  "/nonexistent/x: No such file or directory" },
		{ "capture-beside nic1", "a port and a file are needed" },
		{ "capture-beside nic9 x", "there is no port \"nic9\"" },
		{ "capture-beside nic1 ../x",
		  "../x: not in the directory of the control socket" },
		{ "capture-beside nic1 ./a//..",
		  "./a//..: not in the directory of the control socket" },
		{ "log", "\"\" is neither on nor off" },
		{ "log on off", "what is \"off\"?" },
	};
	char want[256];
	int fd;

	start(NULL);
	fd = open_control();
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		snprintf(want, sizeof(want), "error: %s\n", cases[i][1]);
		check_answer(fd, cases[i][0], want);
	}
	check_answer(fd, "fault list", "ok\n");
}

TEST(number_of_rules_is_bounded)
{
	int fd;

	start(NULL);
	fd = open_control();
	for (int i = 0; i < FAULTS_MAX_RULES; i++)
		CHECK(strstr(ask(fd, "fault add nic1,kind=drop"), "\nok\n"));
	check_answer(fd, "fault add nic1,kind=drop",
		     "error: there are 64 rules already\n");
	CHECK(strstr(ask(fd, "fault add nic2,kind=drop"), "\nok\n"));
}

/* A line that is too long is one error, whatever its contents. */
TEST(long_lines)
{
	static char line[5 * MAX_LINE];
	int fd;

	start(NULL);
	fd = open_control();
	memset(line, 'x', sizeof(line));
	line[MAX_LINE - 1] = '\0';
	CHECK(strstr(ask(fd, line), "there is no command \"xxxx"));
	line[MAX_LINE - 1] = 'x';
	line[MAX_LINE] = '\0';
	check_answer(fd, line, "error: the line is too long\n");
	line[MAX_LINE] = 'x';
	line[sizeof(line) - 1] = '\0';
	check_answer(fd, line, "error: the line is too long\n");
	order(fd, "fault list");
	/* Bytes that are not text */
	for (unsigned int i = 0; i < 256; i++)
		line[i] = i == '\n' ? '\r' : i;
	line[256] = '\n';
	CHECK_EQ(send(fd, line, 257, MSG_NOSIGNAL), 257);
	CHECK(strstr(receive_answer(fd), "error: "));
	order(fd, "fault list");
}

/* Commands may come before earlier answers, and in pieces. */
TEST(commands_in_any_pieces)
{
	const char *text = "fault list\nlog off\nfault clear\n";
	int fd;

	start(NULL);
	fd = open_control();
	send_text(fd, text);
	for (int i = 0; i < 3; i++)
		CHECK(!strcmp(receive_answer(fd), "ok\n"));
	for (; *text; text++)
		CHECK_EQ(send(fd, text, 1, MSG_NOSIGNAL), 1);
	for (int i = 0; i < 3; i++)
		CHECK(!strcmp(receive_answer(fd), "ok\n"));
}

/* A client that has shut down its sending side still gets the answers. */
TEST(half_closed)
{
	char byte;
	int fd;

	start(NULL);
	fd = open_control();
	send_text(fd, "log off\nhelp\nports\nfau");
	CHECK_EQ(shutdown(fd, SHUT_WR), 0);
	CHECK(!strcmp(receive_answer(fd), "ok\n"));
	CHECK(strstr(receive_answer(fd), "fault clear"));
	CHECK(strstr(receive_answer(fd), "nic1"));
	CHECK_EQ(recv(fd, &byte, 1, 0), 0);
}

/* Whether the connection was accepted. If not, it may be closed already. */
static bool is_served(int fd)
{
	send(fd, "fault list\n", 11, MSG_NOSIGNAL);
	return !strcmp(receive_answer(fd), "ok\n");
}

TEST(many_clients)
{
	int fds[MAX_CLIENTS], fd;
	char byte;

	start(NULL);
	for (int i = 0; i < MAX_CLIENTS; i++) {
		fds[i] = open_control();
		order(fds[i], "fault list");
	}
	for (int i = 0; i < 3; i++) {
		fd = open_control();
		CHECK(!strcmp(receive_answer(fd),
			      "error: there are too many clients\n"));
		CHECK_EQ(recv(fd, &byte, 1, 0), 0);
		close(fd);
	}
	for (int i = 0; i < MAX_CLIENTS; i++)
		order(fds[i], "fault list");
	close(fds[5]);
	/* The device may not have seen the end of the others yet. */
	do
		fd = open_control();
	while (!is_served(fd));
	order(fds[6], "fault list");
}

static long memory_of_device(void)
{
	char path[64];
	long pages;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/statm", device);
	file = fopen(path, "r");
	CHECK(file);
	CHECK_EQ(fscanf(file, "%*d %ld", &pages), 1);
	fclose(file);
	return pages;
}

/*
 * The device does not read from a client that never reads, so that client
 * blocks itself.
 */
TEST(client_that_never_reads)
{
	long before;
	int fd, other;

	start(NULL);
	other = open_control();
	order(other, "fault list");
	before = memory_of_device();
	fd = open_control();
	while (send(fd, "stats\nhelp\n", 11, MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
		;
	CHECK_EQ(errno, EAGAIN);
	order(other, "fault list");
	/* After that, nothing more is accepted. */
	while (send(fd, "stats\nhelp\n", 11, MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
		;
	order(other, "fault list");
	CHECK(memory_of_device() - before < MAX_GROWTH);
	close(fd);
	order(other, "fault list");
}

TEST(clients_that_go_away)
{
	int other;

	start(NULL);
	other = open_control();
	for (int i = 0; i < 200; i++) {
		int fd = open_control();
		const char *text = "";

		switch (i % 4) {
		case 0:
			break;
		case 1:
			text = "stats\nstats\nstats\nhelp\nstats\n";
			break;
		case 2:
			text = "fault li";
			break;
		case 3:
			text = "stats\n";
			shutdown(fd, SHUT_RD);
			break;
		}
		/*
		 * The device may not have seen the end of all earlier clients.
		 */
		send(fd, text, strlen(text), MSG_NOSIGNAL);
		close(fd);
		order(other, "fault list");
	}
}

/* Run mynic-ctl. Return: its exit status; @out: its output */
static int run_ctl(const char *const args[], char *out, size_t size)
{
	const char *program = getenv("MYNIC_CTL");
	const char *argv[16] = { program };
	size_t len = 0;
	int fds[2];
	ssize_t n;
	int status;
	pid_t pid;

	CHECK(program);
	for (int i = 0; args[i]; i++)
		argv[i + 1] = args[i];
	CHECK_EQ(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		dup2(fds[1], STDOUT_FILENO);
		dup2(fds[1], STDERR_FILENO);
		close(fds[0]);
		close(fds[1]);
		execv(program, (char **)argv);
		_exit(127);
	}
	close(fds[1]);
	while ((n = read(fds[0], out + len, size - 1 - len)) > 0)
		len += n;
	out[len] = '\0';
	close(fds[0]);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status));
	return WEXITSTATUS(status);
}

#define CTL(out, ...) \
	run_ctl((const char *const[]){ __VA_ARGS__, NULL }, out, sizeof(out))

TEST(client_program)
{
	char out[8192];

	start(NULL);
	CHECK_EQ(CTL(out, control_path, "ports"), 0);
	CHECK(!strcmp(out, "nic1 nic up 02:6d:79:6e:69:01\n"
			   "nic2 nic up 02:6d:79:6e:69:02\n"));
	CHECK_EQ(CTL(out, control_path, "fault", "add",
		     "nic1,kind=drop,seed=1"),
		 0);
	CHECK(!strcmp(out, "1 nic1,kind=drop,seed=1 matched 0 applied 0\n"));
	CHECK_EQ(CTL(out, control_path, "fault", "delete", "1"), 0);
	CHECK(!strcmp(out, ""));
	CHECK_EQ(CTL(out, control_path, "fault", "delete", "1"), 1);
	CHECK(!strcmp(out, "mynic-ctl: there is no rule 1\n"));
	CHECK_EQ(CTL(out, control_path, "stats"), 0);
	CHECK(strstr(out, "nic2 bad_dma 0\n"));
	CHECK_EQ(CTL(out, control_path, "help"), 0);
	CHECK(strstr(out, "capture"));
	CHECK_EQ(CTL(out, control_path, "log", "-on"), 1);
	/* Wrong usage */
	CHECK_EQ(CTL(out, control_path), 2);
	CHECK_EQ(CTL(out, "--frobnicate"), 2);
	CHECK_EQ(CTL(out, control_path, "ports\nports"), 2);
	CHECK_EQ(run_ctl((const char *const[]){ NULL }, out, sizeof(out)), 2);
	CHECK_EQ(CTL(out, "--help"), 0);
	CHECK(strstr(out, "Usage: mynic-ctl"));
	CHECK_EQ(CTL(out, "--version"), 0);
	/* No device is there */
	CHECK_EQ(CTL(out, "/nonexistent/socket", "ports"), 1);
	CHECK(strstr(out, "No such file"));
}

/* A pair of which one side waits for the other, whose cable is pulled */
static struct drv_pair waiting_pair(int fd)
{
	struct drv_pair p = drv_rc_pair(&(struct drv_path){
		.mtu = IBV_MTU_1024, .timeout = 31, .retry_cnt = 7 });
	struct drv_wr wr = {
		.wr_id = 9,
		.opcode = IBV_WR_SEND,
		.flags = IBV_SEND_SIGNALED,
	};

	order(fd, "link nic2 down");
	drv_post_recv(p.b.qp, 8, NULL, 0);
	drv_post_send(p.a.qp, &wr);
	while (!stat_of(fd, "nic2", "fault_1_applied"))
		sim_run(p.sim, MSEC);
	return p;
}

TEST(queue_pairs)
{
	char line[128], command[32];
	struct drv_pair p;
	const char *out;
	int fd;

	start(NULL);
	fd = open_control();
	check_answer(fd, "qps", "ok\n");
	p = waiting_pair(fd);
	snprintf(line, sizeof(line),
		 "nic1 0x%x RC RTS peer=0x%x posted=1 sent=1 waits=ack\n",
		 p.a.qp->number, p.b.qp->number);
	CHECK(strstr(ask(fd, "qps"), line));
	CHECK(strstr(ask(fd, "qps nic1"), line));
	CHECK(!strstr(ask(fd, "qps nic2"), line));
	snprintf(command, sizeof(command), "qp nic1 0x%x", p.a.qp->number);
	out = ask(fd, command);
	CHECK(strstr(out, "state             RTS\n"));
	CHECK(strstr(out, "send requests     1 posted, 1 of them sent; "
			  "the oldest: SEND\n"));
	CHECK(strstr(out, "waits for         an acknowledgment of the peer"));
	check_answer(fd, "qp nic1 0xffff", "error: nic1 has no QP 0xffff\n");
	check_answer(fd, "qp nic1 x", "error: \"x\" is no number of a QP\n");
	check_answer(fd, "qp nic1", "error: \"\" is no number of a QP\n");
	check_answer(fd, "qp nic3 1", "error: there is no port \"nic3\"\n");
	check_answer(fd, "qps nic1 2", "error: what is \"2\"?\n");
}

TEST(client_program_top)
{
	struct drv_pair p;
	char out[8192], line[64];
	int fd;

	start(NULL);
	fd = open_control();
	p = waiting_pair(fd);
	CHECK_EQ(CTL(out, control_path, "top", "--views", "2", "--interval",
		     "0.1"),
		 0);
	CHECK(strstr(out, "\nnic1       up "));
	CHECK(strstr(out, "\nnic2       pulled "));
	CHECK(strstr(out, "\nQueue pairs: "));
	snprintf(line, sizeof(line),
		 "\nnic1       0x%-6x RC         RTS   0x%x ", p.a.qp->number,
		 p.b.qp->number);
	CHECK(strstr(out, line));
	/* Two views */
	CHECK(strstr(strstr(out, line) + 1, line));
	CHECK_EQ(CTL(out, control_path, "top", "--views"), 2);
	CHECK_EQ(CTL(out, control_path, "top", "--views", "0"), 2);
	CHECK_EQ(CTL(out, control_path, "top", "--interval", "x"), 2);
	CHECK_EQ(CTL(out, control_path, "top", "now"), 2);
}

/* What appears on a terminal is added to @out, until @text does */
static void read_terminal(int fd, char *out, size_t size, const char *text)
{
	while (!strstr(out, text)) {
		size_t len = strlen(out);
		ssize_t n = read(fd, out + len, size - 1 - len);

		if (n <= 0)
			FAIL("no %s in: %s", text, out);
		out[len + n] = '\0';
	}
}

/* The screen that is left takes all with it but what is said afterwards. */
TEST(client_program_top_on_a_terminal)
{
	static char out[1 << 20];
	const struct winsize size = { .ws_row = 24, .ws_col = 120 };
	const char *program = getenv("MYNIC_CTL");
	int status, fd;
	pid_t pid;

	start(NULL);
	pid = forkpty(&fd, NULL, NULL, &size);
	CHECK(pid >= 0);
	if (!pid) {
		execl(program, program, control_path, "top", "--interval",
		      "0.1", NULL);
		_exit(127);
	}
	read_terminal(fd, out, sizeof(out), "Queue pairs: ");
	CHECK(strstr(out, "\033[?1049h"));
	out[0] = '\0';
	CHECK_EQ(kill(device, SIGTERM), 0);
	read_terminal(fd, out, sizeof(out), "\033[?1049l");
	read_terminal(fd, out, sizeof(out), "mynic-device has ended");
	CHECK(strstr(out, "mynic-device has ended") >
	      strstr(out, "\033[?1049l"));
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	CHECK_EQ(waitpid(device, &status, 0), device);
	close(fd);
}

/* Text of the metric with this name, type and labels, in the output */
static void check_metric(const char *out, const char *text)
{
	if (!strstr(out, text))
		FAIL("no %s in:\n%s", text, out);
}

TEST(client_program_metrics)
{
	static char out[65536];
	struct drv_pair p;
	int fd;

	start(NULL);
	fd = open_control();
	p = waiting_pair(fd);
	(void)p;
	CHECK_EQ(CTL(out, control_path, "metrics"), 0);
	check_metric(out, "\n# TYPE mynic_port_up gauge\n"
			  "mynic_port_up{port=\"nic1\",kind=\"nic\"} 1\n"
			  "mynic_port_up{port=\"nic2\",kind=\"nic\"} 0\n");
	check_metric(out, "\n# TYPE mynic_bad_dma_total counter\n"
			  "mynic_bad_dma_total{port=\"nic1\"} 0\n"
			  "mynic_bad_dma_total{port=\"nic2\"} 0\n");
	check_metric(out,
		     "\n# TYPE mynic_fault_applied_total counter\n"
		     "mynic_fault_applied_total{port=\"nic2\",rule=\"1\"} ");
	check_metric(out, "\n# TYPE mynic_memory_bytes gauge\n");
	check_metric(
		out,
		"\nmynic_qps{port=\"nic1\",type=\"RC\",state=\"RTS\"} 1\n");
	CHECK_EQ(CTL(out, control_path, "metrics", "now"), 2);
}

/* As inetd runs it */
static void ask_http(const char *request, const char *status)
{
	static char out[65536];
	char *path = (char *)path_in_dir("request");
	int saved = dup(STDIN_FILENO);
	FILE *file = fopen(path, "w");
	int fd;

	fputs(request, file);
	fclose(file);
	fd = open(path, O_RDONLY);
	CHECK_EQ(dup2(fd, STDIN_FILENO), STDIN_FILENO);
	close(fd);
	CHECK_EQ(CTL(out, control_path, "metrics", "--http"), 0);
	dup2(saved, STDIN_FILENO);
	close(saved);
	CHECK_EQ(unlink(path), 0);
	if (strncmp(out, status, strlen(status)))
		FAIL("%s: %s", request, out);
	CHECK(strstr(out, "\r\n\r\n"));
	CHECK_EQ(!!strstr(out, "\r\n\r\n# HELP mynic_port_up "),
		 !!strstr(status, "200"));
}

TEST(client_program_http)
{
	start(NULL);
	ask_http("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n",
		 "HTTP/1.0 200 OK\r\n");
	ask_http("GET /metrics?x=1&y HTTP/1.1\r\n\r\n", "HTTP/1.0 200 OK\r\n");
	ask_http("GET /metrics2 HTTP/1.1\r\n\r\n",
		 "HTTP/1.0 404 Not Found\r\n");
	ask_http("GET / HTTP/1.1\r\n\r\n", "HTTP/1.0 404 Not Found\r\n");
	ask_http("POST /metrics HTTP/1.1\r\n\r\n",
		 "HTTP/1.0 405 Method Not Allowed\r\n");
	ask_http("nonsense\n", "HTTP/1.0 400 Bad Request\r\n");
	ask_http("", "HTTP/1.0 400 Bad Request\r\n");
	ask_http("GET\r\n/metrics HTTP/1.1\r\n\r\n",
		 "HTTP/1.0 400 Bad Request\r\n");
}

/* A request with @num fields of 1000 bytes */
static const char *long_request(unsigned int num)
{
	char *request = tap_alloc(100 + num * 1000);
	char *end = request + sprintf(request, "GET /metrics HTTP/1.1\r\n");

	for (unsigned int i = 0; i < num; i++) {
		memset(end, 'x', 998);
		memcpy(end + 998, "\r\n", 3);
		end += 1000;
	}
	strcpy(end, "\r\n");
	return request;
}

TEST(client_program_http_with_a_long_request)
{
	char *line = tap_alloc(70000);

	memset(line, 'x', 69999);
	memcpy(line, "GET /metrics?", 13);
	strcpy(line + 69990, "\r\n\r\n");
	start(NULL);
	ask_http(long_request(60), "HTTP/1.0 200 OK\r\n");
	ask_http(long_request(70),
		 "HTTP/1.0 431 Request Header Fields Too Large\r\n");
	ask_http(line, "HTTP/1.0 431 Request Header Fields Too Large\r\n");
}

/* Starts one. Returns its PID when it has read the beginning of a request */
static pid_t idle_http_client(void)
{
	const char *program = getenv("MYNIC_CTL");
	int fds[2], left;
	pid_t pid;

	CHECK_EQ(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		dup2(fds[0], STDIN_FILENO);
		execl(program, program, control_path, "metrics", "--http",
		      NULL);
		_exit(127);
	}
	CHECK_EQ(write(fds[1], "G", 1), 1);
	do {
		sched_yield();
		CHECK_EQ(ioctl(fds[0], FIONREAD, &left), 0);
	} while (left);
	close(fds[0]);
	return pid;
}

TEST(http_clients_without_a_request_keep_nobody_out)
{
	pid_t pids[MAX_CLIENTS];

	start(NULL);
	for (unsigned int i = 0; i < MAX_CLIENTS; i++)
		pids[i] = idle_http_client();
	order(open_control(), "fault list");
	for (unsigned int i = 0; i < MAX_CLIENTS; i++) {
		CHECK_EQ(kill(pids[i], SIGKILL), 0);
		CHECK_EQ(waitpid(pids[i], NULL, 0), pids[i]);
	}
}

TEST(client_program_without_answer)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	char out[8192], byte;
	int listener;
	pid_t pid;

	dir = device_dir();
	snprintf(control_path, sizeof(control_path), "%s/control", dir);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	strcpy(addr.sun_path, control_path);
	CHECK_EQ(bind(listener, (struct sockaddr *)&addr, sizeof(addr)), 0);
	CHECK_EQ(listen(listener, 1), 0);
	pid = fork();
	if (!pid) {
		int fd = accept(listener, NULL, NULL);

		/* A part of an answer without its end */
		while (recv(fd, &byte, 1, 0) == 1 && byte != '\n')
			;
		send(fd, "nic1 nic\nnic", 12, MSG_NOSIGNAL);
		_exit(0);
	}
	CHECK_EQ(CTL(out, control_path, "ports"), 1);
	CHECK(!strncmp(out, "nic1 nic\nnic\n", 13));
	CHECK(strstr(out, "has ended the connection"));
	CHECK_EQ(waitpid(pid, NULL, 0), pid);
	unlink(control_path);
}

TEST(options)
{
	static char file[80];
	static const char *const args[] = {
		"--fault",   "nic1,kind=drop,seed=9",
		"--fault",   "nic2,kind=down",
		"--capture", file,
		NULL
	};
	int fd;

	dir = device_dir();
	snprintf(file, sizeof(file), "nic2=%s/capture", dir);
	start(args);
	fd = open_control();
	check_answer(fd, "fault list",
		     "1 nic1,kind=drop,seed=9 matched 0 applied 0\n"
		     "2 nic2,kind=down matched 0 applied 0\nok\n");
	CHECK(strstr(ask(fd, "ports"), "nic2 nic pulled"));
	CHECK_EQ(stat_of(fd, "nic2", "capture_packets"), 0);
	CHECK_EQ(unlink(strchr(file, '/')), 0);
}

static void check_refused(const char *option, const char *value, int status,
			  const char *want)
{
	const char *const args[] = { "--nic", "socket=/tmp/x", option, value,
				     NULL };
	const char *text = device_fail(args, status);

	if (!strstr(text, want))
		FAIL("%s %s:\n%s", option, value, text);
}

TEST(wrong_options)
{
	check_refused("--fault", "nic2,kind=drop", 2,
		      "--fault nic2,kind=drop: there is no port \"nic2\"\n");
	check_refused("--fault", "nic1,kind=dropp", 2,
		      "kind: \"dropp\" is not ");
	check_refused("--capture", "nic1", 2, "--capture nic1 has no file\n");
	check_refused("--capture", "nic1=", 2, "--capture nic1 has no file\n");
	check_refused("--capture", "nic9=/tmp/x", 2,
		      "--capture nic9: there is no port \"nic9\"\n");
	check_refused("--capture", "nic1=/nonexistent/x", 1,
		      "/nonexistent/x: No such file or directory\n");
	check_refused("--capture", "nic1=fd:x", 2,
		      "\"fd:x\" is not the number of a file\n");
	check_refused("--capture", "nic1=fd:99", 1, "No such file");
	check_refused("--control", "/nonexistent/x", 1,
		      "--control /nonexistent/x: No such file");
}

static void transfer(struct drv_pair *p, enum ibv_wr_opcode opcode,
		     uint32_t len)
{
	struct drv_wr wr = {
		.wr_id = 7,
		.opcode = opcode,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { drv_sge(p->a.mr, 0, len) },
		.remote_addr = p->b.mr->addr,
		.rkey = p->b.mr->key,
	};

	drv_fill(p->a.mr->ptr, len, len + 1);
	drv_fill(p->b.mr->ptr, len, len + 2);
	drv_post_send(p->a.qp, &wr);
	drv_expect(p->a.cq, 7, IBV_WC_SUCCESS);
	CHECK_MEM(p->a.mr->ptr, p->b.mr->ptr, len);
}

/* All operations, with a check of the data */
static void transfer_all(struct drv_pair *p, unsigned int rounds)
{
	for (unsigned int i = 0; i < rounds; i++) {
		drv_send_recv(&p->a, &p->b, 20000 + i);
		transfer(p, IBV_WR_RDMA_WRITE, 50000 + i);
		transfer(p, IBV_WR_RDMA_READ, 50000 + i);
	}
}

static struct drv_pair connect_pair(void)
{
	static const struct drv_path path = {
		.mtu = IBV_MTU_1024,
		.timeout = 19,
		.retry_cnt = 7,
		.max_rd_atomic = 8,
	};

	return drv_rc_pair(&path);
}

TEST(data_survives_faults)
{
	static const char *const rules[] = {
		"fault add nic1,kind=drop,rate=0.02,seed=1",
		"fault add nic2,kind=duplicate,rate=0.02,seed=2",
		"fault add nic2,kind=reorder,rate=0.02,seed=3",
		"fault add nic1,kind=corrupt,rate=0.02,bits=3,seed=4",
		"fault add nic1,kind=delay,rate=0.1,time=300us,seed=5,dir=rx",
		"fault add nic2,kind=reorder,rate=0.02,time=1ms,seed=6",
		"fault add nic1,kind=rate,bandwidth=1Gbit,queue=1000000",
		"fault add nic2,kind=mark,rate=0.1,seed=8",
	};
	struct drv_pair p;
	char name[32];
	int fd;

	start(NULL);
	fd = open_control();
	p = connect_pair();
	for (unsigned int i = 0; i < ARRAY_SIZE(rules); i++)
		CHECK(strstr(ask(fd, rules[i]), "\nok\n"));
	transfer_all(&p, 10);
	for (unsigned int i = 1; i < ARRAY_SIZE(rules); i++) {
		snprintf(name, sizeof(name), "fault_%u_applied", i);
		CHECK(stat_of(fd,
			      i == 1 || i == 4 || i == 5 || i == 7 ? "nic1" :
								     "nic2",
			      name) > 0);
	}
	CHECK(stat_of(fd, "nic1", "retransmit") > 0);
	CHECK(stat_of(fd, "nic1", "rx_drop_icrc") +
		      stat_of(fd, "nic2", "rx_drop_icrc") >
	      0);
	order(fd, "fault clear");
	transfer_all(&p, 2);
}

/* A fault of exactly one packet, selected by its opcode */
TEST(exact_fault)
{
	struct drv_pair p;
	int fd;

	start(NULL);
	fd = open_control();
	p = connect_pair();
	ask(fd,
	    "fault add nic1,kind=drop,dir=tx,opcode=rc-send-middle,after=3,count=1");
	drv_send_recv(&p.a, &p.b, 20000);
	CHECK_EQ(stat_of(fd, "nic1", "fault_1_applied"), 1);
	CHECK_EQ(stat_of(fd, "nic2", "out_of_sequence") > 0, 1);
	CHECK(stat_of(fd, "nic1", "fault_1_matched") > 18);
}

/* What would happen now, and cannot, is an error instead of a rule for nothing. */
TEST(faults_without_a_target)
{
	struct drv_pair p;
	int fd;

	start(NULL);
	fd = open_control();
	/* Nobody knows what the driver will make. */
	check_answer(
		fd, "fault add nic1,kind=revoke,key=7,seed=1",
		"1 nic1,kind=revoke,key=7,seed=1 matched 0 applied 0\nok\n");
	order(fd, "fault clear");
	p = connect_pair();
	check_answer(fd, "fault add nic1,kind=revoke,key=0x7",
		     "error: nic1 has no memory region with the key 0x7\n");
	check_answer(fd, "fault add nic1,kind=qp-error,on=now,qp=0xfff",
		     "error: nic1 has no QP 0xfff, or it is in RESET\n");
	check_answer(fd, "fault list", "ok\n");
	/* Another occasion can find one later, or none. */
	ask(fd, "fault add nic1,kind=revoke,on=completion,key=7,seed=1");
	drv_send_recv(&p.a, &p.b, 1);
	check_answer(
		fd, "fault list",
		"2 nic1,kind=revoke,on=completion,key=7,seed=1 matched 1 applied 0\nok\n");
	order(fd, "fault clear");
	ask(fd,
	    tap_print("fault add nic1,kind=revoke,key=%u,seed=1", p.a.mr->key));
	while (!strstr(ask(fd, "fault list"), "applied 1"))
		;
}

TEST(presets)
{
	int fd;

	start(NULL);
	fd = open_control();
	check_answer(
		fd, "fault add nic1,preset=flap,seed=9",
		"1 nic1,kind=flap,every=2s,time=100ms,seed=9 matched 0 applied 0\nok\n");
	check_answer(
		fd, "fault add nic2,preset=rnr-storm,seed=0x10",
		"2 nic2,kind=rnr,rate=0.5,seed=16 matched 0 applied 0\nok\n");
	check_answer(
		fd, "fault add nic1,preset=half-open,seed=1",
		"3 nic1,kind=drop,dir=rx,proto=roce,seed=1 matched 0 applied 0\nok\n");
	check_answer(
		fd, "fault add nic2,preset=slow-cq,seed=1",
		"5 nic2,kind=delay,dir=rx,opcode=rc-ack,time=2ms,seed=2 matched 0 applied 0\n4 nic2,kind=irq-delay,time=5ms,seed=1 matched 0 applied 0\nok\n");
	ask(fd, "fault add nic1,preset=dying-nic");
	CHECK(strstr(ask(fd, "fault list"),
		     "9 nic1,kind=fatal,every=10s,count=1,seed="));
	order(fd, "fault delete 4");
	order(fd, "fault clear");
	check_answer(fd, "fault list", "ok\n");
}

/* A preset of which only a part has room adds nothing */
TEST(presets_are_added_as_a_whole)
{
	int fd;

	start(NULL);
	fd = open_control();
	for (unsigned int i = 1; i < NIC_FAULT_MAX; i++)
		CHECK(strstr(ask(fd, "fault add nic1,kind=rnr"), "\nok\n"));
	check_answer(fd, "fault add nic1,preset=dying-nic",
		     "error: there are 64 rules, or no memory\n");
	CHECK(!strstr(ask(fd, "fault list"), "kind=command-delay"));
	CHECK(!strncmp(ask(fd, "fault add nic1,kind=rnr"), "64 ", 3));
}

TEST(nic_faults_while_it_runs)
{
	static const char rule[] =
		"fault add nic1,kind=completion,status=RETRY_EXC_ERR,after=1,count=1,seed=3";
	struct drv_pair p;
	struct drv_wr wr;
	int fd;

	start(NULL);
	fd = open_control();
	p = connect_pair();
	order(fd, "journal on nic1");
	CHECK(strstr(ask(fd, rule), "\nok\n"));
	drv_send_recv(&p.a, &p.b, 100);
	wr = drv_send_wr(&p.a, 100);
	drv_post_recv(p.b.qp, 1, &(struct mynic_sge){ 0 }, 0);
	wr.num_sge = 0;
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, wr.wr_id, IBV_WC_RETRY_EXC_ERR);
	CHECK_EQ(stat_of(fd, "nic1", "fault_1_matched"), 2);
	CHECK_EQ(stat_of(fd, "nic1", "fault_1_applied"), 1);
	CHECK(strstr(ask(fd, "journal show nic1"),
		     tap_print(" fault 1 completion qp=0x%x\n",
			       p.a.qp->number)));
	CHECK(strstr(ask(fd, "fault list"), ",seed=3 matched 2 applied 1\n"));
}

#define CONFIG VFIO_PCI_CONFIG_REGION_INDEX

static void wait_for_config(int nic, unsigned int offset, uint32_t value)
{
	while (vfu_get(nic, CONFIG, offset, 4) != value)
		sched_yield();
}

static void read_config(int nic, uint32_t config[64])
{
	for (unsigned int i = 0; i < 64; i++)
		config[i] = vfu_get(nic, CONFIG, 4 * i, 4);
}

TEST(a_nic_vanishes_from_its_bus)
{
	const uint32_t id = MYNIC_PCI_DEVICE_ID << 16 | MYNIC_PCI_VENDOR_ID;
	uint32_t before[64], after[64];
	struct drv_pair p;
	int fd, nic;

	start(NULL);
	fd = open_control();
	p = connect_pair();
	nic = remote_nic_fd(p.a.d->n->nic);
	/* Values that are not those after a reset of the function */
	vfu_put(nic, CONFIG, PCI_BASE_ADDRESS_0, 0xfe000000, 4);
	vfu_put(nic, CONFIG, PCI_INTERRUPT_LINE, 11, 1);
	read_config(nic, before);
	CHECK(before[PCI_COMMAND / 4] & PCI_COMMAND_MASTER);
	ask(fd, "fault add nic1,kind=vanish,seed=1");
	wait_for_config(nic, PCI_VENDOR_ID, UINT32_MAX);
	CHECK_EQ(sim_read32(p.a.d->n, MYNIC_REG_STATUS), UINT32_MAX);
	vfu_put(nic, CONFIG, PCI_COMMAND, 0, 2);
	order(fd, "fault clear");
	wait_for_config(nic, PCI_VENDOR_ID, id);
	while (sim_read32(p.a.d->n, MYNIC_REG_STATUS) != MYNIC_STATUS_READY)
		sched_yield();
	read_config(nic, after);
	CHECK_MEM(after, before, sizeof(before));
	/* The NIC may still access memory, and raise interrupts */
	p.a.d = drv_up(p.a.d->n);
	CHECK_EQ(drv_number_cmd(p.a.d, MYNIC_CMD_NOP, 0), MYNIC_AQ_OK);
}

TEST(pulled_cable)
{
	struct drv_wr wr = {
		.wr_id = 9,
		.opcode = IBV_WR_SEND,
		.flags = IBV_SEND_SIGNALED,
	};
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_QUERY_PORT };
	struct mynic_port_attr attr;
	struct drv_pair p;
	int fd;

	start(NULL);
	fd = open_control();
	p = connect_pair();
	order(fd, "link nic2 down");
	drv_expect_event(&p.b.d->event, MYNIC_EVENT_PORT_DOWN, 1);
	CHECK_EQ(drv_admin_out(p.b.d, &cmd, &attr, sizeof(attr)), MYNIC_AQ_OK);
	CHECK_EQ(attr.link_up, 0);
	drv_post_recv(p.b.qp, 8, NULL, 0);
	drv_post_send(p.a.qp, &wr);
	while (!stat_of(fd, "nic2", "fault_1_applied"))
		sim_run(p.sim, MSEC);
	order(fd, "link nic2 up");
	drv_expect_event(&p.b.d->event, MYNIC_EVENT_PORT_UP, 1);
	drv_expect(p.a.cq, 9, IBV_WC_SUCCESS);
	drv_expect(p.b.recv_cq, 8, IBV_WC_SUCCESS);
	transfer_all(&p, 1);
}

struct pcap_header {
	uint32_t magic;
	uint16_t major;
	uint16_t minor;
	uint32_t reserved[2];
	uint32_t max_len;
	uint32_t link_type;
};

struct pcap_record {
	uint32_t sec;
	uint32_t nsec;
	uint32_t captured_len;
	uint32_t len;
};

static void read_all(int fd, void *data, size_t len)
{
	uint8_t *at = data;

	while (len) {
		ssize_t n = read(fd, at, len);

		CHECK(n > 0);
		at += n;
		len -= n;
	}
}

static void read_header(int fd)
{
	struct pcap_header header;

	read_all(fd, &header, sizeof(header));
	CHECK_EQ(header.magic, 0xa1b23c4d);
	CHECK_EQ(header.major, 2);
	CHECK_EQ(header.minor, 4);
	CHECK(header.max_len >= FRAME_MAX_LEN);
	CHECK_EQ(header.link_type, 1);
}

/* The next packet, valid until the next call */
static struct packet read_packet(int fd)
{
	static uint8_t data[FRAME_MAX_LEN];
	static uint64_t last;
	struct pcap_record record;
	struct packet pkt;
	uint64_t at;

	read_all(fd, &record, sizeof(record));
	CHECK_EQ(record.captured_len, record.len);
	CHECK(record.len <= sizeof(data));
	CHECK(record.nsec < SEC);
	at = record.sec * SEC + record.nsec;
	CHECK(at >= last);
	last = at;
	read_all(fd, data, record.len);
	CHECK(frame_parse(data, record.len, &pkt));
	return pkt;
}

static struct packet read_sound_packet(int fd)
{
	struct packet pkt = read_packet(fd);

	CHECK_EQ(pkt.kind, PACKET_ROCE);
	CHECK_EQ(pkt.defect, PACKET_SOUND);
	return pkt;
}

/*
 * Check that the capture has the packets of a SEND from PSN @psn on. Others may
 * precede them.
 */
static void check_send(int fd, const uint8_t *data, uint32_t len, uint32_t *psn)
{
	for (uint32_t at = 0; at < len;) {
		struct packet pkt = read_sound_packet(fd);

		if (pkt.roce.opcode == BTH_RC_ACK ||
		    psn_diff(pkt.roce.psn, *psn) < 0)
			continue;
		CHECK_EQ(pkt.roce.psn, *psn);
		CHECK_MEM(pkt.iov[0].iov_base, data + at, pkt.payload_len);
		at += pkt.payload_len;
		++*psn;
	}
}

TEST(capture_to_file)
{
	char command[128];
	struct drv_pair p;
	const char *path;
	uint64_t packets;
	uint32_t psn = 0;
	struct stat st;
	int fd, file;

	start(NULL);
	fd = open_control();
	p = connect_pair();
	path = path_in_dir("a b.pcap");
	snprintf(command, sizeof(command), "capture nic1 %s", path);
	order(fd, command);
	file = open(path, O_RDONLY);
	CHECK(file >= 0);
	/* The header is there before any packet. */
	read_header(file);
	psn = drv_query_qp(p.a.qp).sq_psn & 0xffffff;
	drv_send_recv(&p.a, &p.b, 20000);
	drv_send_recv(&p.a, &p.b, 20000);
	order(fd, "capture nic1 off");
	packets = stat_of(fd, "nic1", "tx_packets");
	check_send(file, p.a.mr->ptr, 20000, &psn);
	check_send(file, p.a.mr->ptr, 20000, &psn);
	CHECK(packets >= 40);
	/* Nothing is recorded after the end. */
	drv_send_recv(&p.a, &p.b, 20000);
	while (lseek(file, 0, SEEK_CUR) < (fstat(file, &st), st.st_size)) {
		struct packet pkt = read_sound_packet(file);

		CHECK(pkt.roce.opcode == BTH_RC_ACK ||
		      psn_diff(pkt.roce.psn, psn) < 0);
	}
	/* The second capture overwrites the file. */
	order(fd, command);
	CHECK_EQ(fstat(file, &st), 0);
	CHECK_EQ(st.st_size, sizeof(struct pcap_header));
	drv_send_recv(&p.a, &p.b, 1);
	CHECK(stat_of(fd, "nic1", "capture_packets") >= 1);
	CHECK_EQ(stat_of(fd, "nic1", "capture_dropped"), 0);
	unlink(path);
}

/*
 * Captures on both sides of a fault: that of nic1 has packets that nic2's
 * lacks.
 */
TEST(capture_sees_what_passes)
{
	char command[128];
	struct drv_pair p;
	const char *path;
	unsigned int bad = 0, sound = 0, total;
	int fd, file;

	start(NULL);
	fd = open_control();
	p = connect_pair();
	path = path_in_dir("capture");
	snprintf(command, sizeof(command), "capture nic2 %s", path);
	order(fd, command);
	ask(fd,
	    "fault add nic2,kind=corrupt,count=3,dir=rx,seed=4,opcode=rc-send-middle");
	ask(fd,
	    "fault add nic2,kind=drop,count=2,dir=rx,opcode=rc-send-middle");
	drv_send_recv(&p.a, &p.b, 20000);
	order(fd, "capture nic2 off");
	file = open(path, O_RDONLY);
	read_header(file);
	total = stat_of(fd, "nic2", "rx_packets");
	while (bad + sound < total) {
		struct packet pkt = read_packet(file);

		/* A packet whose protocol has changed is corrupted, too. */
		if (pkt.kind != PACKET_ROCE || pkt.defect != PACKET_SOUND)
			bad++;
		else if (!memcmp(pkt.dmac, "\2myni\2", 6))
			sound++;
	}
	CHECK_EQ(bad, 3);
	unlink(path);
}

/* A reader sees packets at once, even if no others follow. */
TEST(capture_is_live)
{
	char command[128];
	struct drv_pair p;
	const char *path;
	uint32_t psn;
	int fd, file;

	start(NULL);
	fd = open_control();
	p = connect_pair();
	path = path_in_dir("fifo");
	CHECK_EQ(mkfifo(path, 0600), 0);
	snprintf(command, sizeof(command), "capture nic1 %s", path);
	order(fd, command);
	for (int i = 0; i < 3; i++) {
		uint64_t dropped = stat_of(fd, "nic1", "capture_dropped");

		/* Without a reader, nothing is kept. */
		do
			drv_send_recv(&p.a, &p.b, 20000);
		while (stat_of(fd, "nic1", "capture_dropped") < dropped + 20);
		file = open(path, O_RDONLY | O_NONBLOCK);
		CHECK_EQ(fcntl(file, F_SETFL, 0), 0);
		/* The device finds the reader after a while. */
		while (poll(&(struct pollfd){ file, POLLIN, 0 }, 1, 0) != 1)
			drv_send_recv(&p.a, &p.b, 1);
		/* Each reader gets a header */
		read_header(file);
		psn = drv_query_qp(p.a.qp).sq_psn & 0xffffff;
		drv_send_recv(&p.a, &p.b, 20000);
		check_send(file, p.a.mr->ptr, 20000, &psn);
		close(file);
	}
	order(fd, "capture nic1 off");
	unlink(path);
}

/* Only a reader that stops reading loses packets. */
TEST(capture_without_room)
{
	char command[128];
	uint64_t dropped = 0;
	struct drv_pair p;
	const char *path;
	int fd, file;

	start(NULL);
	fd = open_control();
	p = connect_pair();
	path = path_in_dir("fifo");
	CHECK_EQ(mkfifo(path, 0600), 0);
	file = open(path, O_RDONLY | O_NONBLOCK);
	snprintf(command, sizeof(command), "capture nic1 %s", path);
	order(fd, command);
	while (!dropped) {
		transfer(&p, IBV_WR_RDMA_WRITE, DRV_PAIR_MEM);
		dropped = stat_of(fd, "nic1", "capture_dropped");
	}
	CHECK(stat_of(fd, "nic1", "capture_packets") > 3000);
	/* All records are whole */
	CHECK_EQ(fcntl(file, F_SETFL, 0), 0);
	read_header(file);
	for (int i = 0; i < 3000; i++)
		read_sound_packet(file);
	close(file);
	transfer_all(&p, 1);
	order(fd, "capture nic1 off");
	unlink(path);
}

/* As on a full disk: only the capture ends */
TEST(capture_that_cannot_be_written)
{
	struct rlimit limit = { 500000, 500000 };
	char command[128];
	struct drv_pair p;
	const char *path;
	uint64_t packets;
	struct stat st;
	int fd, file;

	start(NULL);
	CHECK_EQ(prlimit(device, RLIMIT_FSIZE, &limit, NULL), 0);
	fd = open_control();
	p = connect_pair();
	path = path_in_dir("capture");
	snprintf(command, sizeof(command), "capture nic1 %s", path);
	order(fd, command);
	while (!stat_of(fd, "nic1", "capture_dropped"))
		transfer(&p, IBV_WR_RDMA_WRITE, 100000);
	/* The file has all recorded packets, and no partial one. */
	file = open(path, O_RDONLY);
	CHECK_EQ(fstat(file, &st), 0);
	CHECK(st.st_size <= 500000 && st.st_size > 400000);
	read_header(file);
	packets = stat_of(fd, "nic1", "capture_packets");
	while (packets--)
		read_sound_packet(file);
	CHECK_EQ(lseek(file, 0, SEEK_CUR), st.st_size);
	transfer_all(&p, 1);
	order(fd, "capture nic1 off");
	unlink(path);
}

/* A capture neither follows links nor overwrites other files */
TEST(captures_spare_other_files)
{
	static const char text[] = "important";
	const char *file, *link, *fifo_link, *fifo, *empty;
	char found[sizeof(text)];
	struct stat st;
	int fd, data;

	start(NULL);
	fd = open_control();
	file = path_in_dir("file");
	link = path_in_dir("link");
	fifo = path_in_dir("fifo");
	fifo_link = path_in_dir("fifo-link");
	empty = path_in_dir("empty");
	data = open(file, O_RDWR | O_CREAT, 0644);
	CHECK_EQ(write(data, text, sizeof(text)), sizeof(text));
	CHECK_EQ(symlink(empty, link), 0);
	CHECK_EQ(mkfifo(fifo, 0600), 0);
	CHECK_EQ(symlink(fifo, fifo_link), 0);
	check_answer(fd, tap_print("capture nic1 %s", file),
		     tap_print("error: %s: it is there, and no capture\n",
			       file));
	check_answer(fd, tap_print("capture nic1 %s", link),
		     tap_print("error: %s: a link\n", link));
	check_answer(fd, tap_print("capture nic1 %s", fifo_link),
		     tap_print("error: %s: a link\n", fifo_link));
	check_answer(fd, "capture nic1 /dev/null",
		     "error: /dev/null: neither a file nor a FIFO\n");
	CHECK_EQ(pread(data, found, sizeof(found), 0), sizeof(found));
	CHECK_MEM(found, text, sizeof(text));
	CHECK_EQ(access(empty, F_OK), -1);
	/* A new file, an empty one, and an old capture */
	order(fd, tap_print("capture nic1 %s", empty));
	order(fd, "capture nic1 off");
	CHECK_EQ(stat(empty, &st), 0);
	CHECK_EQ(st.st_mode & 0777, 0600);
	CHECK_EQ(ftruncate(data, 0), 0);
	order(fd, tap_print("capture nic1 %s", file));
	order(fd, tap_print("capture nic1 %s", empty));
	order(fd, "capture nic1 off");
	unlink(file);
	unlink(link);
	unlink(fifo);
	unlink(fifo_link);
	unlink(empty);
}

TEST(two_captures_do_not_share_a_file)
{
	const char *path, *busy;
	struct drv_pair p;
	struct stat st;
	int fd, file;

	start(NULL);
	fd = open_control();
	p = connect_pair();
	path = path_in_dir("capture");
	busy = tap_print("error: %s: another capture goes there\n", path);
	order(fd, tap_print("capture nic1 %s", path));
	file = open(path, O_RDONLY);
	do {
		drv_send_recv(&p.a, &p.b, 1);
		CHECK_EQ(fstat(file, &st), 0);
	} while (st.st_size <= (off_t)sizeof(struct pcap_header));
	check_answer(fd, tap_print("capture nic2 %s", path), busy);
	/* It has changed nothing */
	read_header(file);
	read_sound_packet(file);
	close(file);
	/* A port may begin its own anew */
	order(fd, tap_print("capture nic1 %s", path));
	order(fd, "capture nic1 off");
	order(fd, tap_print("capture nic2 %s", path));
	order(fd, "capture nic2 off");
	/* One of another process */
	file = open(path, O_RDONLY);
	CHECK_EQ(flock(file, LOCK_EX), 0);
	check_answer(fd, tap_print("capture nic1 %s", path), busy);
	close(file);
	order(fd, tap_print("capture nic1 %s", path));
	unlink(path);
}

/* The reader gets the packets of one, and nothing in between */
TEST(two_captures_do_not_share_a_fifo)
{
	struct drv_pair p;
	const char *path;
	int fd, file;

	start(NULL);
	fd = open_control();
	p = connect_pair();
	path = path_in_dir("fifo");
	CHECK_EQ(mkfifo(path, 0600), 0);
	file = open(path, O_RDONLY | O_NONBLOCK);
	order(fd, tap_print("capture nic1 %s", path));
	order(fd, tap_print("capture nic2 %s", path));
	while (!stat_of(fd, "nic2", "capture_dropped"))
		drv_send_recv(&p.a, &p.b, 1);
	CHECK_EQ(fcntl(file, F_SETFL, 0), 0);
	read_header(file);
	for (unsigned int i = 0; i < 20; i++) {
		drv_send_recv(&p.a, &p.b, 1);
		read_sound_packet(file);
	}
	CHECK_EQ(stat_of(fd, "nic2", "capture_packets"), 0);
	unlink(path);
}

/* A client may have another working directory than the device. */
TEST(capture_beside_the_socket)
{
	const char *path;
	char out[256];
	int fd;

	start(NULL);
	fd = open_control();
	path = path_in_dir("a b.pcap");
	order(fd, "capture-beside nic1 a b.pcap");
	order(fd, "capture nic1 off");
	CHECK_EQ(unlink(path), 0);
	CHECK_EQ(chdir(dir), 0);
	CHECK_EQ(CTL(out, control_path, "capture", "nic1", "a b.pcap"), 0);
	CHECK(!strcmp(out, ""));
	CHECK_EQ(unlink(path), 0);
	CHECK_EQ(CTL(out, "control", "capture", "nic1", "off"), 0);
	CHECK_EQ(access(path_in_dir("off"), F_OK), -1);
	CHECK_EQ(CTL(out, "control", "capture", "nic1", "  c"), 0);
	CHECK(!strcmp(out, ""));
	CHECK_EQ(unlink(path_in_dir("  c")), 0);
	order(fd, "capture-beside nic1 ..d..");
	CHECK_EQ(unlink(path_in_dir("..d..")), 0);
	CHECK_EQ(CTL(out, "control", "capture", "nic1", "none/x"), 1);
	CHECK(!strcmp(out, "mynic-ctl: none/x: No such file or directory\n"));
}

/* A stand-in for the device, which may see other files than this process */
static int listen_in_dir(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	dir = device_dir();
	snprintf(control_path, sizeof(control_path), "%s/control", dir);
	strcpy(addr.sun_path, control_path);
	CHECK_EQ(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	CHECK_EQ(listen(fd, 1), 0);
	return fd;
}

/* As a capture does. A file that is seen by both then has another time. */
static void make_capture(const char *file)
{
	struct stat st;

	if (lstat(file, &st) || S_ISREG(st.st_mode))
		close(open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600));
}

/*
 * Check what mynic-ctl sends for a capture in @file, and prints. Without a
 * @note, the file is seen by both. An empty one is that nothing is printed.
 */
static void check_sent(int listener, const char *file, const char *want,
		       const char *note)
{
	char out[512], line[256] = "";
	int status, fd;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		fd = accept(listener, NULL, NULL);
		if (recv(fd, line, sizeof(line) - 1, 0) < 0)
			_exit(2);
		if (!note)
			make_capture(file);
		if (send(fd, "ok\n", 3, 0) != 3)
			_exit(2);
		if (strcmp(line, want))
			printf("# %snot %s", line, want);
		fflush(stdout);
		_exit(strcmp(line, want) != 0);
	}
	CHECK_EQ(CTL(out, control_path, "capture", "nic1", file), 0);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	CHECK(note && *note ? !!strstr(out, note) : !*out);
}

TEST(client_names_captures_for_the_device)
{
	static const char note[] = "is in mynic-device's file system, not here";
	int listener = listen_in_dir();
	const char *path = path_in_dir("x.pcap");
	int file = open(path, O_WRONLY | O_CREAT, 0600);

	CHECK(file >= 0);
	CHECK_EQ(mkdir(path_in_dir("below"), 0700), 0);
	check_sent(listener, path, "capture-beside nic1 ./x.pcap\n", NULL);
	check_sent(listener, path_in_dir("below/y"),
		   "capture-beside nic1 ./below/y\n", note);
	check_sent(listener, path_in_dir("off"), "capture-beside nic1 ./off\n",
		   note);
	check_sent(listener, path_in_dir("  z"), "capture-beside nic1 ./  z\n",
		   note);
	check_sent(listener, "/none/x.pcap", "capture nic1 /none/x.pcap\n",
		   note);
	CHECK_EQ(chdir("/dev"), 0);
	check_sent(listener, "null", "capture nic1 /dev/null\n", NULL);
	CHECK_EQ(chdir(path_in_dir("below")), 0);
	check_sent(listener, "../x.pcap", "capture-beside nic1 ./x.pcap\n",
		   NULL);
	/* A link to the socket is in a directory that may be seen here only. */
	CHECK_EQ(symlink("../control", path_in_dir("below/link")), 0);
	strcpy(control_path, path_in_dir("below/link"));
	check_sent(listener, path, "capture-beside nic1 ./x.pcap\n", NULL);
	check_sent(listener, "y", "capture-beside nic1 ./below/y\n",
		   tap_print("Files in %s are seen by both", dir));
	unlink(control_path);
	unlink(path);
	rmdir(path_in_dir("below"));
	unlink(path_in_dir("control"));
}

/* What is there under the name of a capture may be another file than it. */
TEST(client_tells_of_files_that_are_not_the_capture)
{
	static const struct timespec old[] = { { .tv_sec = 1 },
					       { .tv_sec = 1 } };
	static const char want[] = "capture-beside nic1 ./x.pcap\n";
	static const char note[] = "is in mynic-device's file system, not here";
	struct timespec soon[2] = {};
	int listener = listen_in_dir();
	const char *path = path_in_dir("x.pcap");
	int file = open(path, O_WRONLY | O_CREAT, 0600);

	CHECK(file >= 0);
	CHECK_EQ(futimens(file, old), 0);
	check_sent(listener, path, want, note);
	check_sent(listener, path, want, NULL);
	/*
	 * Two captures in a row may begin at the same time of the file, which
	 * must be recent whenever mynic-ctl looks.
	 */
	soon[0].tv_sec = time(NULL) + 3600;
	soon[1] = soon[0];
	CHECK_EQ(futimens(file, soon), 0);
	check_sent(listener, path, want, "");
	CHECK_EQ(unlink(path), 0);
	check_sent(listener, path, want, NULL);
	CHECK_EQ(unlink(path), 0);
	/* A FIFO has no other time before something was written. */
	CHECK_EQ(mkfifo(path, 0600), 0);
	check_sent(listener, path, want, NULL);
	CHECK_EQ(unlink(path), 0);
	/* Whether it is here is not known. */
	close(open(path, O_WRONLY | O_CREAT, 0600));
	check_sent(listener, path_in_dir("x.pcap/y"),
		   tap_print("capture nic1 %s/y\n", path),
		   tap_print("%s/y: Not a directory\n", path));
	CHECK_EQ(unlink(path), 0);
	unlink(control_path);
}

TEST(capture_in_an_open_file)
{
	char option[32];
	const char *const args[] = { "--capture", option, NULL };
	int file = memfd_create("capture", 0);

	CHECK(file >= 0);
	snprintf(option, sizeof(option), "nic1=fd:%d", file);
	start(args);
	order(open_control(), "capture nic1 off");
	read_header(file);
}

/* tcpdump reads a capture. */
TEST(tcpdump_reads_captures)
{
	char command[160], line[256];
	struct drv_pair p;
	const char *path;
	FILE *out;
	int lines = 0;
	int fd;

	if (system("command -v tcpdump >/dev/null"))
		tap_skip("tcpdump is not installed");
	start(NULL);
	fd = open_control();
	p = connect_pair();
	path = path_in_dir("capture");
	snprintf(command, sizeof(command), "capture nic1 %s", path);
	order(fd, command);
	drv_send_recv(&p.a, &p.b, 20000);
	order(fd, "capture nic1 off");
	snprintf(command, sizeof(command), "tcpdump -n -r %s 2>/dev/null",
		 path);
	out = popen(command, "r");
	CHECK(out);
	while (fgets(line, sizeof(line), out))
		lines += strstr(line, "fe80::1") && strstr(line, ".4791: UDP");
	CHECK_EQ(pclose(out), 0);
	CHECK(lines >= 20);
	unlink(path);
}

/* Reads until @what has appeared */
static void read_until(int fd, char *text, size_t size, const char *what)
{
	size_t len = strlen(text);

	while (!strstr(text, what)) {
		ssize_t n = read(fd, text + len, size - 1 - len);

		CHECK(n > 0);
		len += n;
		text[len] = '\0';
	}
}

/* Start a device. Return: file from which its messages can be read */
static int start_with_messages(void)
{
	int fds[2];

	CHECK_EQ(pipe(fds), 0);
	CHECK_EQ(dup2(fds[1], STDERR_FILENO), STDERR_FILENO);
	close(fds[1]);
	start(NULL);
	return fds[0];
}

TEST(log_tells_of_faults)
{
	int messages = start_with_messages();
	char text[8192] = "", want[128];
	struct drv_pair p;
	int fd;

	fd = open_control();
	p = connect_pair();
	ask(fd, "fault add nic1,kind=drop,dir=tx,count=1,opcode=rc-send-last");
	order(fd, "log on");
	drv_send_recv(&p.a, &p.b, 20000);
	read_until(messages, text, sizeof(text), "psn");
	snprintf(want, sizeof(want),
		 "fault 1: drop tx rc-send-last qp 0x%06x psn ",
		 p.b.qp->number);
	CHECK(strstr(text, want));
}

static unsigned int num_matches(const char *text, const char *what)
{
	unsigned int num = 0;

	for (; (text = strstr(text, what)); text++)
		num++;
	return num;
}

/* Number of lines of the journal of @nic, without "ok" */
static unsigned int num_lines(int fd, const char *nic)
{
	char command[64];

	snprintf(command, sizeof(command), "journal show %s", nic);
	return num_matches(ask(fd, command), "\n") - 1;
}

TEST(journal_on_and_off)
{
	struct drv_pair p;
	char want[128];
	int fd;

	start(NULL);
	fd = open_control();
	check_answer(fd, "journal show nic1", "error: nic1 keeps no journal\n");
	order(fd, "journal on nic1");
	CHECK_EQ(num_lines(fd, "nic1"), 0);
	p = connect_pair();
	snprintf(want, sizeof(want), " state qp=0x%x RTR to RTS by MODIFY_QP\n",
		 p.a.qp->number);
	CHECK(strstr(ask(fd, "journal show nic1"), want));
	check_answer(fd, "journal show nic2", "error: nic2 keeps no journal\n");
	/* The journal starts again */
	order(fd, "journal on nic1");
	CHECK_EQ(num_lines(fd, "nic1"), 0);
	drv_send_recv(&p.a, &p.b, 20000);
	CHECK_EQ(num_lines(fd, "nic1"), 0);
	order(fd, "journal off nic1");
	order(fd, "journal off nic1");
	check_answer(fd, "journal show nic1", "error: nic1 keeps no journal\n");
}

/* The answer is so long that it is made in pieces; other commands wait */
TEST(whole_journal)
{
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_DESTROY_CQ };
	const char *at, *answer;
	struct drv_pair p;
	char want[32];
	int fd;

	start(NULL);
	fd = open_control();
	p = connect_pair();
	order(fd, "journal on nic1");
	for (unsigned int i = 1; i <= JOURNAL_SIZE + 100; i++) {
		cmd.number = 0x10000 + i;
		CHECK_EQ(drv_admin(p.a.d, &cmd, NULL), MYNIC_AQ_BAD_NUMBER);
	}
	send_text(fd, "journal show nic1\njournal off nic1\nports\n");
	answer = receive_answer(fd);
	at = answer;
	for (unsigned int i = 101; i <= JOURNAL_SIZE + 100; i++) {
		snprintf(want, sizeof(want), " number=0x%x ", 0x10000 + i);
		CHECK((at = strstr(at, want)));
	}
	CHECK_EQ(num_matches(answer, "\n"), JOURNAL_SIZE + 1);
	CHECK_EQ(strcmp(receive_answer(fd), "ok\n"), 0);
	CHECK_EQ(num_matches(receive_answer(fd), "\n"), 3);
	check_answer(fd, "journal show nic1", "error: nic1 keeps no journal\n");
}

static void fail_nic(struct drv *d)
{
	sim_write32(d->n, MYNIC_REG_AQ_DOORBELL, 0x12345678);
}

/*
 * Reads all messages of the device up to the line of a fault, which comes last
 */
static void read_messages(int messages, int fd, struct drv_end *end, char *text,
			  size_t size)
{
	struct drv_wr wr = { .opcode = IBV_WR_SEND };

	ask(fd, "fault add nic2,kind=drop,dir=tx");
	order(fd, "log on");
	drv_post_send(end->qp, &wr);
	read_until(messages, text, size, "fault 1: drop tx");
}

/*
 * The last entries of the journal of a failed NIC are on stderr, even after
 * many other messages about the client
 */
TEST(journal_of_a_nic_that_fails)
{
	int messages = start_with_messages();
	char text[16384] = "";
	struct drv_pair p;
	int fd;

	fd = open_control();
	p = connect_pair();
	order(fd, "journal on nic1");
	for (unsigned int i = 0; i < 20; i++)
		vfu_post(remote_nic_fd(p.a.d->n->nic), 0x7fff, "", 0);
	drv_reset_qp(p.a.qp);
	fail_nic(p.a.d);
	read_messages(messages, fd, &p.b, text, sizeof(text));
	CHECK(strstr(text, "posted command 32767 from the client failed"));
	CHECK(strstr(text, " fatal 2\n"));
	CHECK(strstr(text, " RTS to RESET by MODIFY_QP\n"));
}

/* Entries are not logged for each failure, but if they are, then completely */
TEST(journal_of_a_nic_that_fails_often)
{
	static const char entry[] = "\nmynic-device: nic1: ";
	unsigned int entries = 0, failures;
	int messages = start_with_messages();
	char text[16384] = "\n";
	struct drv_pair p;
	const char *at;
	uint64_t begin;
	int fd;

	fd = open_control();
	p = connect_pair();
	order(fd, "journal on nic1");
	begin = clock_ns();
	for (unsigned int i = 0; i < 3; i++) {
		struct sim_nic *n = p.a.d->n;

		/* More entries than are logged */
		for (unsigned int j = 0; j < 20; j++)
			drv_alloc_pd(p.a.d);
		fail_nic(p.a.d);
		sim_write32(n, MYNIC_REG_CONTROL, MYNIC_CONTROL_RESET);
		SIM_WAIT(n->sim,
			 sim_read32(n, MYNIC_REG_STATUS) == MYNIC_STATUS_READY);
		p.a.d = drv_up(n);
	}
	read_messages(messages, fd, &p.b, text, sizeof(text));
	for (at = text; (at = strstr(at, entry)); at += strlen(entry))
		entries += isdigit(at[strlen(entry)]) != 0;
	failures = num_matches(text, " fatal 2\n");
	CHECK(failures);
	CHECK(failures <= 1 + (clock_ns() - begin) / LOG_INTERVAL);
	CHECK_EQ(entries, 8 * failures);
}

/* The device still works if nobody reads its messages. */
TEST(log_waits_for_nobody)
{
	struct drv_pair p;
	int fd;

	start_with_messages();
	fd = open_control();
	p = connect_pair();
	ask(fd, "fault add nic1,kind=delay,time=1us");
	order(fd, "log on");
	while (stat_of(fd, "nic1", "fault_1_applied") < 5000)
		transfer(&p, IBV_WR_RDMA_WRITE, DRV_PAIR_MEM);
	order(fd, "log off");
	transfer_all(&p, 1);
}

#define FRAME_LEN 60

/* Send a frame with QEMU's framing: its length (big-endian) precedes it */
static void send_frame(int fd, uint8_t last)
{
	uint8_t data[4 + FRAME_LEN] = { 0, 0, 0, FRAME_LEN };

	memset(data + 4, 0xff, 6);
	data[10] = 2;
	data[15] = 9;
	data[sizeof(data) - 1] = last;
	CHECK_EQ(send(fd, data, sizeof(data), MSG_NOSIGNAL), sizeof(data));
}

static void expect_frame(int fd, uint8_t last)
{
	uint8_t data[4 + FRAME_LEN];

	read_all(fd, data, sizeof(data));
	CHECK_EQ(data[3], FRAME_LEN);
	CHECK_EQ(data[sizeof(data) - 1], last);
}

/* Between two wires, frames are lost on the way in, on the way out, or both */
TEST(faults_of_wires)
{
	char wires[2][160], paths[2][64], command[128];
	const char *const args[] = { "--wire", wires[0], "--wire", wires[1],
				     NULL };
	const char *capture;
	int fd, file, a, b;

	dir = device_dir();
	for (int i = 0; i < 2; i++) {
		snprintf(paths[i], sizeof(paths[i]), "%s/wire%d", dir, i);
		snprintf(wires[i], sizeof(wires[i]), "stream,listen=%s",
			 paths[i]);
	}
	capture = path_in_dir("capture");
	start(args);
	fd = open_control();
	CHECK(strstr(ask(fd, "ports"), "nic1 nic up"));
	CHECK(strstr(ask(fd, "ports"), "wire1 wire down\nwire2 wire down\n"));
	a = vfu_connect_path(paths[0]);
	b = vfu_connect_path(paths[1]);
	while (!strstr(ask(fd, "ports"), "wire1 wire up\nwire2 wire up\n"))
		;
	snprintf(command, sizeof(command), "capture wire2 %s", capture);
	order(fd, command);
	ask(fd, "fault add wire1,kind=drop,dir=rx,after=1,count=1");
	ask(fd, "fault add wire2,kind=drop,dir=tx,after=2,count=1");
	ask(fd, "fault add wire2,kind=drop,dir=rx,proto=eth");
	for (int i = 0; i < 6; i++)
		send_frame(a, i);
	expect_frame(b, 0);
	expect_frame(b, 2);
	expect_frame(b, 4);
	expect_frame(b, 5);
	CHECK_EQ(stat_of(fd, "wire1", "rx_packets"), 6);
	CHECK_EQ(stat_of(fd, "wire2", "tx_packets"), 4);
	CHECK_EQ(stat_of(fd, "wire2", "fault_2_matched"), 5);
	order(fd, "capture wire2 off");
	file = open(capture, O_RDONLY);
	read_header(file);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(read_packet(file).kind, PACKET_ETH);
	unlink(capture);
	/* NICs keep their link while another wire is up. */
	order(fd, "link wire2 down");
	CHECK(strstr(ask(fd, "ports"), "wire2 wire pulled"));
	CHECK(strstr(ask(fd, "ports"), "nic1 nic up"));
	send_frame(a, 6);
	while (stat_of(fd, "wire1", "rx_packets") < 7)
		;
	order(fd, "link wire2 up");
	send_frame(a, 7);
	expect_frame(b, 7);
	close(a);
	close(b);
}
