// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Diagnostics on stderr, with a limit for each NIC. They never block. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"

#define LOG_LINES 10

/* stderr, opened again without blocking if it is a pipe */
static int output = STDERR_FILENO;
static bool is_socket;

/* Lines dropped since the last one that was written */
static unsigned int lost;

/*
 * Other processes share stderr and may need it to block. A pipe that is opened
 * again has flags of its own. A file would get its own position, and does not
 * block anyway.
 */
void log_init(void)
{
	struct stat st;
	int fd;

	if (fstat(STDERR_FILENO, &st))
		return;
	is_socket = S_ISSOCK(st.st_mode);
	if (!S_ISFIFO(st.st_mode) && !isatty(STDERR_FILENO))
		return;
	fd = open("/proc/self/fd/2",
		  O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0)
		output = fd;
}

static bool log_has_room(void)
{
	struct pollfd pfd = { .fd = output, .events = POLLOUT };

	return poll(&pfd, 1, 0) == 1 && pfd.revents & POLLOUT;
}

bool log_write(const char *text, size_t len)
{
	if (is_socket)
		return send(output, text, len, MSG_DONTWAIT | MSG_NOSIGNAL) > 0;
	return log_has_room() && write(output, text, len) > 0;
}

/* Writes a line behind the number of lost lines */
static void log_write_line(const char *line, size_t len)
{
	char text[64];
	int n;

	if (lost) {
		n = snprintf(text, sizeof(text),
			     "mynic-device: %u lines lost\n", lost);
		if (!log_write(text, n)) {
			lost++;
			return;
		}
		lost = 0;
	}
	if (!log_write(line, len))
		lost++;
}

static void __attribute__((format(printf, 2, 0)))
log_say(const struct log *log, const char *format, va_list args)
{
	char line[LOG_LINE_SIZE];
	int len;

	len = snprintf(line, sizeof(line), "mynic-device: %s: ", log->name);
	len += vsnprintf(line + len, sizeof(line) - len, format, args);
	if (len > LOG_LINE_SIZE - 2)
		len = LOG_LINE_SIZE - 2;
	line[len++] = '\n';
	log_write_line(line, len);
}

void log_line_always(const struct log *log, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_say(log, format, args);
	va_end(args);
}

void log_line(struct log *log, const char *format, ...)
{
	uint64_t now = clock_ns();
	va_list args;

	if (now - log->since >= LOG_INTERVAL) {
		if (log->lines > LOG_LINES)
			log_line_always(log, "%u lines not shown",
					log->lines - LOG_LINES);
		log->since = now;
		log->lines = 0;
	}
	if (log->lines++ >= LOG_LINES)
		return;
	va_start(args, format);
	log_say(log, format, args);
	va_end(args);
}
