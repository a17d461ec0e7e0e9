/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Diagnostics on stderr. What a client does wrong must not fill a disk, so
 * each NIC may say only so much in a while.
 */
#ifndef MYNIC_HOST_LOG_H
#define MYNIC_HOST_LOG_H

#include <stdint.h>

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
