// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What only the host of a device can do to it: a command of the host does it */
#define _GNU_SOURCE
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "runner.h"

extern char **environ;

/* A child that shares no memory: it would copy all that is registered. */
static int run_command(const char *text)
{
	char *const argv[] = { "sh", "-c", (char *)text, NULL };
	int status;
	pid_t pid;

	if (posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ) ||
	    waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* In do=, colons stand between the words. */
bool host_call(const struct line *line)
{
	char *text;
	int len, ret;

	if (strcmp(line->verb, "host"))
		return false;
	if (!host_command) {
		fprintf(stderr, "line %lu: there is no -x\n", line->number);
		exit(2);
	}
	len = asprintf(&text, "%s %s %s", host_command, line->target,
		       must(line, "do"));
	if (len < 0)
		fail(line, "no memory");
	for (char *colon = text + strlen(host_command);
	     (colon = strchr(colon, ':'));)
		*colon = ' ';
	ret = run_command(text);
	free(text);
	expect_returned(line, ret);
	return true;
}
