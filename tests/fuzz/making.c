// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Which call each thread makes: in which one the process crashes, or does not return */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "runner.h"

#define NS_PER_SEC 1000000000ULL

/**
 * struct making - a call that a thread makes
 * @line: the call
 * @program: that it is of
 * @since: when it began, in nanoseconds
 * @next: another one
 */
struct making {
	const struct line *line;
	struct program *program;
	uint64_t since;
	struct making *next;
};

unsigned int call_patience = 240;

static _Thread_local struct making mine;
static struct making *all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * NS_PER_SEC + time.tv_nsec;
}

/** making_begin() - the thread makes a call */
void making_begin(const struct line *line)
{
	pthread_mutex_lock(&lock);
	mine = (struct making){
		.line = line, .program = program, .since = now(), .next = all
	};
	all = &mine;
	pthread_mutex_unlock(&lock);
}

/** making_end() - it has returned */
void making_end(void)
{
	struct making **at = &all;

	pthread_mutex_lock(&lock);
	while (*at != &mine)
		at = &(*at)->next;
	*at = mine.next;
	mine.line = NULL;
	pthread_mutex_unlock(&lock);
}

/* Without what may allocate memory: no message is translated. */
static void tell(const struct making *making, const char *what)
{
	const char *name = making->program->name;
	char text[256];
	int len;

	len = snprintf(text, sizeof(text), "MISMATCH line %lu%s%s: %s %s: %s\n",
		       making->line->number, name ? " of " : "",
		       name ? name : "", making->line->verb,
		       making->line->target ? making->line->target : "", what);
	if (len >= (int)sizeof(text))
		len = sizeof(text) - 1;
	if (write(STDOUT_FILENO, text, len) != len)
		_exit(1);
}

/* Returns to where it crashed, to crash again: the status tells of the signal. */
static void crashed(int sig)
{
	if (mine.line)
		tell(&mine, sigdescr_np(sig));
}

/* Others may wait for what the oldest one holds. */
static const struct making *oldest(void)
{
	const struct making *found = all;

	for (const struct making *other = all; other; other = other->next)
		if (other->since < found->since)
			found = other;
	return found;
}

static void *watch(void *unused)
{
	const struct making *making;
	char text[64];

	(void)unused;
	snprintf(text, sizeof(text), "does not return in %u seconds",
		 call_patience);
	for (;; sleep(1)) {
		pthread_mutex_lock(&lock);
		making = oldest();
		if (making &&
		    now() - making->since > call_patience * NS_PER_SEC) {
			tell(making, text);
			_exit(1);
		}
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void begin_watch(void)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE,
				       SIGABRT };
	const struct sigaction action = { .sa_handler = crashed,
					  .sa_flags = SA_RESETHAND };
	pthread_t thread;

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &action, NULL);
	if (pthread_create(&thread, NULL, watch, NULL)) {
		fprintf(stderr, "there can be no more threads\n");
		exit(2);
	}
}

/** making_watch() - tell of calls that crash or do not return from now on */
void making_watch(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, begin_watch);
}
