/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Diagnostics on stderr. The number of lines of a NIC in an interval is
 * limited, so that a client cannot fill a disk. Writing never blocks. If there
 * is no room, the line is dropped, and the next one says so.
 */
#ifndef MYNIC_HOST_LOG_H
#define MYNIC_HOST_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"

/*
 * Upper bound of a line with its end; a pipe takes this many bytes at once or
 * not at all
 */
#define LOG_LINE_SIZE 640

/* Time that limits count lines for, ns */
#define LOG_INTERVAL (5 * NSEC_PER_SEC)

/* Must be called once, before other threads exist. */
void log_init(void);

/**
 * log_write() - write text to stderr
 * @text: whole lines
 * @len: bytes of @text, at most LOG_LINE_SIZE
 *
 * Return: true if there was room for it.
 */
bool log_write(const char *text, size_t len);

/**
 * struct log - messages of a NIC
 * @name: prefix of each line
 * @since: start of the current interval, ns
 * @lines: messages in this interval, including dropped ones
 */
struct log {
	const char *name;
	uint64_t since;
	unsigned int lines;
};

/* Writes a line, unless the limit is exceeded. */
void log_line(struct log *log, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Writes a line that the caller limits itself. */
void log_line_always(const struct log *log, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* MYNIC_HOST_LOG_H */
