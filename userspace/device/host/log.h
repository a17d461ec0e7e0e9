/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Diagnostics on stderr. What a client does wrong must not fill a disk, so
 * each NIC may say only so much in a while. Nobody waits for who reads them: if
 * there is no room for a line it is left out, and the next one says so.
 */
#ifndef MYNIC_HOST_LOG_H
#define MYNIC_HOST_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A line, with its end; a pipe takes that as a whole or not at all */
#define LOG_LINE_SIZE 640

/** log_init() - to be called once, before other threads are there */
void log_init(void);

/**
 * log_write() - write text to stderr
 * @text: whole lines
 * @len: bytes of @text, LOG_LINE_SIZE at most
 *
 * Return: whether there was room for it.
 */
bool log_write(const char *text, size_t len);

/**
 * struct log - a NIC's allowance
 * @name: begins each line
 * @since: start of the current interval, ns
 * @lines: messages in this interval, printed or not
 */
struct log {
	const char *name;
	uint64_t since;
	unsigned int lines;
};

/** log_line() - one line on stderr, if the allowance is not used up */
void log_line(struct log *log, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif /* MYNIC_HOST_LOG_H */
