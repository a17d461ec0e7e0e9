// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * wake SUBJECT: measures the time in which a process wakes up another one, by
 * half a round trip of a byte through two pipes. It is the lower bound for a
 * message with completion events. Prints the median as a sample.
 */
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 4000

enum { READ_END, WRITE_END };

static uint64_t wake_now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ull + time.tv_nsec;
}

static void wake_take(const int pipe[2])
{
	char byte;

	if (read(pipe[READ_END], &byte, 1) != 1)
		err(1, "read");
}

static void wake_give(const int pipe[2])
{
	if (write(pipe[WRITE_END], "", 1) != 1)
		err(1, "write");
}

static int wake_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	static uint64_t times[ROUNDS];
	int there[2], back[2], status;
	pid_t child;

	if (argc != 2)
		errx(2, "usage: wake SUBJECT");
	if (pipe(there) || pipe(back))
		err(1, "pipe");
	child = fork();
	if (child < 0)
		err(1, "fork");
	for (unsigned int i = 0; i < ROUNDS; i++) {
		uint64_t begin = wake_now();

		if (child)
			wake_give(there);
		wake_take(child ? back : there);
		if (!child)
			wake_give(back);
		times[i] = wake_now() - begin;
	}
	if (!child)
		return 0;
	if (wait(&status) < 0 || status)
		errx(1, "the other process failed");
	qsort(times, ROUNDS, sizeof(*times), wake_compare);
	printf("wake-up\tpipes\t\t%s\t%.6g\tus\n", argv[1],
	       times[ROUNDS / 2] / 2e3);
	return 0;
}
