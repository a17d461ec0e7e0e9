// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * peer: runs a command in the other guest. One program is both ends.
 *
 *   peer COMMAND [ARG...]	in the first guest
 *   peer --serve		in the peer, for as long as that lives
 *   peer --on CONSOLE PORT NUMBER COMMAND [ARG...]
 *   peer --serve CONSOLE PORT NUMBER
 *
 * The last two do the same over NUMBER ports from PORT of a console, in guests
 * that have more than one other. The other end of such a cable may be on another
 * host, and comes and goes.
 *
 * Between the guests there are cables, each from a port of the one's virtio
 * console to a port of the other's. A port can be open once, so whoever has it
 * open has the cable to himself. The other guest cannot see that a port was
 * closed. Therefore a child in a separate session does the work. It notices the
 * end of its parent, and tells the other guest.
 *
 * On a cable go frames. Each is written at once, which the driver either does
 * as a whole or not at all.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PORT "/dev/vport%dp%d"
/* Those of two guests */
#define FIRST_PORT 5
#define PORTS 16
#define ALL_CGROUPS "/sys/fs/cgroup"
#define CGROUP ALL_CGROUPS "/peer"

/* Status of peer if it could not do its work, as of scripts/vm */
#define CANNOT 125

/*
 * Milliseconds for which a client waits for another end of its cable, and after
 * which it and a server look again. And those that the other end has to answer
 * when the client is to end.
 */
#define JOIN_LIMIT 10000
#define END_LIMIT 60000
#define JOIN_STEP 100
#define LOST_STEP 1000

/* Payload of a frame; with its header it must fit into 32 KiB. */
#define PAYLOAD 16384
/* Input that the server may have to keep, for a command that does not read */
#define WINDOW 65536

/*
 * OPEN begins a session and ends one that may have been there: first the
 * nonce, then the words, each with its NUL. The server answers with the nonce
 * outside of a frame, so that the client knows where its frames begin.
 */
enum type {
	/* From the client */
	OPEN = 1,
	INPUT, /* empty: the end */
	SIGNAL, /* one byte; SIGKILL goes to all that the command has begun */
	/* From the server */
	OUTPUT,
	ERRORS,
	TAKEN, /* so many bytes of input, 4 bytes */
	EXITED, /* one byte: the status */
};

struct nonce {
	uint8_t byte[16];
};

struct header {
	uint32_t length;
	uint32_t type;
};

struct frame {
	struct header header;
	uint8_t payload[PAYLOAD];
};

/* An end of a cable and what has been read from it and not been used */
struct cable {
	int fd;
	size_t have;
	uint8_t buf[2 * sizeof(struct frame)];
};

static void peer_fail(const char *what)
{
	fprintf(stderr, "peer: %s: %s\n", what, strerror(errno));
	exit(CANNOT);
}

/* Returns what there is, beside these events POLLHUP. */
static short peer_wait_fd(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	while (poll(&p, 1, -1) < 0)
		if (errno != EINTR)
			peer_fail("poll");
	return p.revents;
}

/* The server goes on, because others use it, too. */
static bool serving;

/* What cannot reach the other end, which has gone, is lost with the session. */
static void peer_send_bytes(struct cable *cable, const void *data, size_t size)
{
	while (write(cable->fd, data, size) != (ssize_t)size) {
		if (errno != EAGAIN && errno != EINTR)
			peer_fail("cable");
		if (!(peer_wait_fd(cable->fd, POLLOUT) & POLLHUP))
			continue;
		errno = EPIPE;
		if (!serving)
			peer_fail("cable");
		return;
	}
}

static void peer_send_frame(struct cable *cable, enum type type,
			    const void *payload, size_t length)
{
	struct frame frame = { .header = { .length = length, .type = type } };

	if (length)
		memcpy(frame.payload, payload, length);
	peer_send_bytes(cable, &frame, sizeof(frame.header) + length);
}

/* Takes what the cable has now. */
static void peer_fill(struct cable *cable)
{
	ssize_t n = read(cable->fd, cable->buf + cable->have,
			 sizeof(cable->buf) - cable->have);

	if (n > 0) {
		cable->have += n;
		return;
	}
	if (n == 0)
		errno = EPIPE; /* the other QEMU has gone */
	if (errno != EAGAIN && errno != EINTR && !(serving && errno == EPIPE))
		peer_fail("cable");
}

static void peer_consume(struct cable *cable, size_t size)
{
	cable->have -= size;
	memmove(cable->buf, cable->buf + size, cable->have);
}

/* There is no telling where the next frame begins. */
static void peer_take_garbage(struct cable *cable)
{
	errno = EPROTO;
	if (!serving)
		peer_fail("cable");
	cable->have = 0;
}

/* The next frame that is there as a whole; it is used up. */
static bool peer_next_frame(struct cable *cable, struct frame *frame)
{
	if (cable->have < sizeof(frame->header))
		return false;
	memcpy(&frame->header, cable->buf, sizeof(frame->header));
	if (frame->header.length > PAYLOAD) {
		peer_take_garbage(cable);
		return false;
	}
	if (cable->have < sizeof(frame->header) + frame->header.length)
		return false;
	memcpy(frame->payload, cable->buf + sizeof(frame->header),
	       frame->header.length);
	peer_consume(cable, sizeof(frame->header) + frame->header.length);
	return true;
}

/* Returns false if the reader has gone. */
static bool peer_write_all(int fd, const uint8_t *data, size_t length)
{
	while (length) {
		ssize_t n = write(fd, data, length);

		if (n > 0) {
			data += n;
			length -= n;
		} else if (errno == EAGAIN) {
			peer_wait_fd(fd, POLLOUT);
		} else if (errno != EINTR) {
			return false;
		}
	}
	return true;
}

static void peer_write_file(const char *dir, const char *name, const char *text)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		peer_fail(path);
	close(fd);
}

/*
 * The client
 */

static int console;
static int first_port = FIRST_PORT;
static int ports = PORTS;
static struct cable cable;

/* Whether the cable has another end. */
static bool peer_is_joined(void)
{
	struct pollfd p = { .fd = cable.fd };

	return poll(&p, 1, 0) == 0;
}

static void peer_pause(int ms)
{
	poll(NULL, 0, ms);
}

static bool peer_open_cable(int port)
{
	char name[sizeof(PORT) + 20];

	snprintf(name, sizeof(name), PORT, console, port);
	cable.fd = open(name, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	cable.have = 0;
	return cable.fd >= 0;
}

/* Another host may have begun just now. */
static void peer_find_free_cable(void)
{
	bool waits = true;

	for (int ms = 0; waits && ms <= JOIN_LIMIT; ms += JOIN_STEP) {
		waits = false;
		for (int k = 0; k < ports; k++) {
			if (peer_open_cable(first_port + k)) {
				if (peer_is_joined())
					return;
				close(cable.fd);
				waits = true;
			} else if (errno != EBUSY) {
				peer_fail("there is no peer");
			}
		}
		if (waits)
			peer_pause(JOIN_STEP);
	}
	if (waits)
		fprintf(stderr, "peer: the other host does not answer\n");
	else
		fprintf(stderr, "peer: %d commands are running already\n",
			ports);
	exit(CANNOT);
}

static void peer_send_open(char **words, const struct nonce *nonce)
{
	uint8_t payload[PAYLOAD];
	size_t length = sizeof(*nonce);

	memcpy(payload, nonce, length);
	for (; *words; words++) {
		size_t size = strlen(*words) + 1;

		if (size > sizeof(payload) - length) {
			errno = E2BIG;
			peer_fail(*words);
		}
		memcpy(payload + length, *words, size);
		length += size;
	}
	peer_send_frame(&cable, OPEN, payload, length);
}

/*
 * Whether the server has answered. Drops what an earlier session, whose client was
 * killed, has left.
 */
static bool peer_find_nonce(const struct nonce *nonce)
{
	while (cable.have >= sizeof(*nonce)) {
		if (!memcmp(cable.buf, nonce, sizeof(*nonce))) {
			peer_consume(&cable, sizeof(*nonce));
			return true;
		}
		peer_consume(&cable, 1);
	}
	return false;
}

static void peer_send_signal(uint8_t number)
{
	peer_send_frame(&cable, SIGNAL, &number, sizeof(number));
}

/* How much of the input may be on its way */
static size_t window = WINDOW;
static bool input_open = true;
/* What to exit with, if a reader of ours has gone */
static int broken;

static void peer_take_input(void)
{
	uint8_t data[PAYLOAD];
	size_t most = window < sizeof(data) ? window : sizeof(data);
	ssize_t n = read(STDIN_FILENO, data, most);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		n = 0;
		input_open = false;
	}
	peer_send_frame(&cable, INPUT, data, n);
	window -= n;
}

static void peer_take_frame(const struct frame *frame)
{
	uint32_t taken;
	int fd;

	switch (frame->header.type) {
	case OUTPUT:
	case ERRORS:
		fd = frame->header.type == OUTPUT ? STDOUT_FILENO :
						    STDERR_FILENO;
		if (!broken &&
		    !peer_write_all(fd, frame->payload, frame->header.length)) {
			broken = 128 + SIGPIPE;
			peer_send_signal(SIGKILL);
		}
		break;
	case TAKEN:
		if (frame->header.length != sizeof(taken))
			peer_take_garbage(&cable);
		memcpy(&taken, frame->payload, sizeof(taken));
		if (taken > WINDOW - window)
			peer_take_garbage(&cable);
		window += taken;
		break;
	case EXITED:
		if (frame->header.length != 1)
			peer_take_garbage(&cable);
		exit(broken ? broken : frame->payload[0]);
	}
}

/*
 * Numbers of signals come from the parent, and the end if it dies. The other end
 * may say nothing any more, which must not keep the worker.
 */
static void peer_relay(int parent, const struct nonce *nonce)
{
	enum { PARENT, CABLE, INPUT_FD };
	struct pollfd fds[] = {
		[PARENT] = { .fd = parent, .events = POLLIN },
		[CABLE] = { .fd = cable.fd, .events = POLLIN },
		[INPUT_FD] = { .events = POLLIN },
	};
	static struct frame frame;
	bool answered = false;
	int limit = -1;
	uint8_t number;

	for (;;) {
		if (!answered && peer_find_nonce(nonce)) {
			answered = true;
			limit = fds[PARENT].fd < 0 ? END_LIMIT : -1;
		}
		while (answered && peer_next_frame(&cable, &frame))
			peer_take_frame(&frame);
		fds[INPUT_FD].fd =
			answered && input_open && window ? STDIN_FILENO : -1;
		switch (poll(fds, 3, limit)) {
		case -1:
			peer_fail("poll");
			break;
		case 0:
			errno = ETIMEDOUT;
			peer_fail("cable");
		}
		if (fds[PARENT].revents) {
			if (!answered)
				limit = END_LIMIT;
			if (read(parent, &number, 1) == 1) {
				peer_send_signal(number);
			} else {
				peer_send_signal(SIGKILL);
				fds[PARENT].fd = -1;
				limit = END_LIMIT;
			}
		}
		if (fds[CABLE].revents)
			peer_fill(&cable);
		if (fds[INPUT_FD].revents)
			peer_take_input();
	}
}

static int to_worker;

static void peer_pass_on(int number)
{
	uint8_t byte = number;

	if (write(to_worker, &byte, 1) < 0)
		_exit(CANNOT);
}

/* Where the caller has closed one of the first three, no cable must land. */
static void peer_fill_standard_fds(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd < 0)
		peer_fail("/dev/null");
	close(fd);
}

static void peer_handle_signals(void (*handler)(int))
{
	static const int signals[] = { SIGHUP,	SIGINT,	 SIGQUIT,
				       SIGTERM, SIGUSR1, SIGUSR2 };
	struct sigaction action = { .sa_handler = handler };

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &action, NULL);
}

static void peer_work(char **words, int parent)
{
	struct nonce nonce;

	setsid();
	peer_handle_signals(SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	/*
	 * Where a command from elsewhere has begun this one, its end would kill
	 * the worker before that can tell the other guest.
	 */
	peer_write_file(ALL_CGROUPS, "cgroup.procs", "0");
	if (getrandom(&nonce, sizeof(nonce), 0) != sizeof(nonce))
		peer_fail("getrandom");
	peer_send_open(words, &nonce);
	peer_relay(parent, &nonce);
}

static int peer_client(char **words)
{
	int fds[2], status;
	pid_t worker;

	peer_fill_standard_fds();
	peer_find_free_cable();
	if (pipe2(fds, O_CLOEXEC))
		peer_fail("pipe");
	to_worker = fds[1];
	peer_handle_signals(peer_pass_on);
	worker = fork();
	if (worker < 0)
		peer_fail("fork");
	if (!worker) {
		close(fds[1]);
		peer_work(words, fds[0]);
	}
	/* That nobody but the worker keeps the output open when it is done */
	close(cable.fd);
	close(fds[0]);
	while (waitpid(worker, &status, 0) < 0)
		if (errno != EINTR)
			peer_fail("waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : CANNOT;
}

/*
 * The server: a process for each cable
 */

struct session {
	char cgroup[64];
	int pid;
	int pidfd;
	int in, out, err;
	/* What the command has not read yet */
	uint8_t input[WINDOW];
	size_t have;
	bool input_ended;
};

static void peer_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void peer_run_command(struct session *session, char **words, int in,
			     int out, int err)
{
	setsid();
	signal(SIGPIPE, SIG_DFL);
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	peer_write_file(session->cgroup, "cgroup.procs", "0");
	execvp(words[0], words);
	fprintf(stderr, "peer: %s: %s\n", words[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

static void peer_begin(struct session *session, const struct frame *frame)
{
	static char *words[PAYLOAD + 1];
	char *text = (char *)frame->payload + sizeof(struct nonce);
	char *end = (char *)frame->payload + frame->header.length;
	int in[2], out[2], err[2], started[2];
	size_t n = 0;
	char none;

	for (; text < end; text += strlen(text) + 1)
		words[n++] = text;
	words[n] = NULL;
	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) ||
	    pipe2(err, O_CLOEXEC) || pipe2(started, O_CLOEXEC))
		peer_fail("pipe");
	session->pid = fork();
	if (session->pid < 0)
		peer_fail("fork");
	if (!session->pid)
		peer_run_command(session, words, in[0], out[1], err[1]);
	session->pidfd = syscall(SYS_pidfd_open, session->pid, 0);
	if (session->pidfd < 0)
		peer_fail("pidfd_open");
	close(in[0]);
	close(out[1]);
	close(err[1]);
	/* Signals find it only when it is where it belongs. */
	close(started[1]);
	while (read(started[0], &none, 1) < 0)
		;
	close(started[0]);
	session->in = in[1];
	session->out = out[0];
	session->err = err[0];
	fcntl(session->in, F_SETFL, O_NONBLOCK);
	session->have = 0;
	session->input_ended = false;
	peer_send_bytes(&cable, frame->payload, sizeof(struct nonce));
}

static void peer_kill_all(struct session *session)
{
	peer_write_file(session->cgroup, "cgroup.kill", "1");
}

/* Passes on what the command has written; false at its end. */
static bool peer_pass_output(int fd, enum type type)
{
	uint8_t data[PAYLOAD];
	ssize_t n = read(fd, data, sizeof(data));

	if (n > 0)
		peer_send_frame(&cable, type, data, n);
	return n > 0 || (n < 0 && errno == EINTR);
}

static void peer_feed_command(struct session *session)
{
	ssize_t n = write(session->in, session->input, session->have);
	uint32_t taken;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0) /* it reads no more */
		n = session->have;
	session->have -= n;
	memmove(session->input, session->input + n, session->have);
	taken = n;
	peer_send_frame(&cable, TAKEN, &taken, sizeof(taken));
}

/* The command has ended: so does all that it has begun. */
static void peer_end(struct session *session)
{
	uint8_t status;
	siginfo_t info;

	if (waitid(P_PIDFD, session->pidfd, &info, WEXITED))
		peer_fail("waitid");
	status = info.si_code == CLD_EXITED ? info.si_status :
					      128 + info.si_status;
	peer_kill_all(session);
	while (peer_pass_output(session->out, OUTPUT))
		;
	while (peer_pass_output(session->err, ERRORS))
		;
	peer_close_fd(&session->in);
	peer_close_fd(&session->out);
	peer_close_fd(&session->err);
	peer_close_fd(&session->pidfd);
	peer_send_frame(&cable, EXITED, &status, sizeof(status));
}

/* The other end has gone, and with it the client, if there was one. */
static void peer_lose(struct session *session)
{
	/* What another client sends from now on is for later. */
	while (read(cable.fd, cable.buf, sizeof(cable.buf)) > 0)
		;
	cable.have = 0;
	if (session->pidfd >= 0) {
		peer_kill_all(session);
		peer_end(session);
	}
	/* Nothing can be waited for, as poll() sees the loss again and again. */
	while (!peer_is_joined())
		peer_pause(LOST_STEP);
}

/* Whether there are a nonce and words, the last of which ends. */
static bool peer_is_open(const struct frame *frame)
{
	uint32_t length = frame->header.length;

	return length > sizeof(struct nonce) && !frame->payload[length - 1];
}

/* A client sends no more than the window. */
static void peer_keep_input(struct session *session, const struct frame *frame)
{
	uint32_t length = frame->header.length;

	if (!length)
		session->input_ended = true;
	if (length > WINDOW - session->have)
		return;
	memcpy(session->input + session->have, frame->payload, length);
	session->have += length;
}

/* What no client sends is dropped: others use the server, too. */
static void peer_serve_frame(struct session *session, const struct frame *frame)
{
	bool runs = session->pidfd >= 0;

	if (frame->header.type == OPEN) {
		if (!peer_is_open(frame))
			return;
		if (runs) {
			peer_kill_all(session);
			peer_end(session);
		}
		peer_begin(session, frame);
		return;
	}
	if (!runs) /* sent before the client knew */
		return;
	if (frame->header.type == INPUT)
		peer_keep_input(session, frame);
	if (frame->header.type != SIGNAL || frame->header.length != 1)
		return;
	if (frame->payload[0] == SIGKILL)
		peer_kill_all(session);
	else
		kill(-session->pid, frame->payload[0]);
}

static void peer_serve(int port)
{
	enum { CABLE, COMMAND, IN, OUT, ERR, FDS };
	static struct session session = {
		.pidfd = -1, .in = -1, .out = -1, .err = -1
	};
	static struct frame frame;

	snprintf(session.cgroup, sizeof(session.cgroup), CGROUP "/%d.%d",
		 console, port);
	if (mkdir(session.cgroup, 0755))
		peer_fail(session.cgroup);
	if (!peer_open_cable(port))
		peer_fail("cable");
	for (;;) {
		struct pollfd fds[FDS] = {
			[CABLE] = { cable.fd, POLLIN, 0 },
			[COMMAND] = { session.pidfd, POLLIN, 0 },
			[IN] = { session.have ? session.in : -1, POLLOUT, 0 },
			[OUT] = { session.out, POLLIN, 0 },
			[ERR] = { session.err, POLLIN, 0 },
		};

		if (poll(fds, FDS, -1) < 0)
			peer_fail("poll");
		if (fds[CABLE].revents & POLLHUP) {
			peer_lose(&session);
			continue;
		}
		if (fds[COMMAND].revents) {
			peer_end(&session);
			continue;
		}
		if (fds[IN].revents)
			peer_feed_command(&session);
		if (fds[OUT].revents && !peer_pass_output(session.out, OUTPUT))
			peer_close_fd(&session.out);
		if (fds[ERR].revents && !peer_pass_output(session.err, ERRORS))
			peer_close_fd(&session.err);
		if (fds[CABLE].revents)
			peer_fill(&cable);
		while (peer_next_frame(&cable, &frame))
			peer_serve_frame(&session, &frame);
		if (session.input_ended && !session.have)
			peer_close_fd(&session.in);
	}
}

static int peer_server(void)
{
	if (mkdir(CGROUP, 0755) && errno != EEXIST)
		peer_fail(CGROUP);
	signal(SIGPIPE, SIG_IGN);
	serving = true;
	for (int k = 0; k < ports; k++) {
		pid_t pid = fork();

		if (pid < 0)
			peer_fail("fork");
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			peer_serve(first_port + k);
		}
	}
	/* None of them ends but by an error. */
	wait(NULL);
	return CANNOT;
}

static void peer_take_ports(char **words)
{
	console = atoi(words[0]);
	first_port = atoi(words[1]);
	ports = atoi(words[2]);
}

int main(int argc, char **argv)
{
	bool serves = argc > 1 && !strcmp(argv[1], "--serve");

	/* Where the caller ignores it, the kernel keeps no status of a child. */
	signal(SIGCHLD, SIG_DFL);
	if (serves && argc == 2)
		return peer_server();
	if (serves && argc == 5) {
		peer_take_ports(argv + 2);
		return peer_server();
	}
	if (argc > 5 && !strcmp(argv[1], "--on")) {
		peer_take_ports(argv + 2);
		return peer_client(argv + 5);
	}
	if (argc > 1 && argv[1][0] != '-')
		return peer_client(argv + 1);
	fprintf(stderr, "Usage: peer COMMAND [ARG...]\n");
	return 2;
}
