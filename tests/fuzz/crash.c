// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Tells in which call the process has crashed */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "runner.h"

static _Thread_local const struct line *being_made;

/** crash_in() - say which call the thread makes now, or NULL */
void crash_in(const struct line *line)
{
	being_made = line;
}

/* Returns to where it crashed, to crash again: the status tells of the signal. */
static void tell(int sig)
{
	const struct line *line = being_made;
	char text[256];
	int len;

	if (!line)
		return;
	/* Without what may allocate memory: no message is translated. */
	len = snprintf(text, sizeof(text), "MISMATCH line %lu%s%s: %s %s: %s\n",
		       line->number, program->name ? " of " : "",
		       program->name ? program->name : "", line->verb,
		       line->target, sigdescr_np(sig));
	if (len >= (int)sizeof(text))
		len = sizeof(text) - 1;
	if (write(STDOUT_FILENO, text, len) != len)
		_exit(1);
}

/** crash_watch() - tell of crashes from now on */
void crash_watch(void)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE,
				       SIGABRT };
	const struct sigaction action = { .sa_handler = tell,
					  .sa_flags = SA_RESETHAND };

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &action, NULL);
}
