// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdarg.h>
#include <stdio.h>

#include "clock.h"
#include "log.h"

#define LOG_INTERVAL (5 * NSEC_PER_SEC)
#define LOG_LINES 10

void log_line(struct log *log, const char *format, ...)
{
	uint64_t now = clock_ns();
	char text[512];
	va_list args;

	if (now - log->since >= LOG_INTERVAL) {
		if (log->lines > LOG_LINES)
			fprintf(stderr,
				"mynic-device: %s: %u lines not shown\n",
				log->name, log->lines - LOG_LINES);
		log->since = now;
		log->lines = 0;
	}
	if (log->lines++ >= LOG_LINES)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fprintf(stderr, "mynic-device: %s: %s\n", log->name, text);
}
