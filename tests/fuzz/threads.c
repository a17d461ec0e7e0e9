// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Lines that threads of one program run at the same time. Each begins with @
 * and the number of its thread. They begin when the first line without comes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

#define MAX_THREADS 8
#define MAX_LINES 4096

/**
 * struct worker - a thread
 * @thread: it, once it runs
 * @program: that it works for
 * @start: where all wait for each other
 * @texts: its lines
 * @numbers: of these
 * @n: how many there are
 */
struct worker {
	pthread_t thread;
	struct program *program;
	pthread_barrier_t *start;
	char *texts[MAX_LINES];
	unsigned long numbers[MAX_LINES];
	unsigned int n;
};

static _Thread_local struct worker *workers;

/**
 * threads_add() - keep a line for a thread
 * @number: of the line
 * @text: of the line
 *
 * Return: whether it is a thread's.
 */
bool threads_add(unsigned long number, const char *text)
{
	struct worker *worker;
	unsigned long thread;
	char *rest;

	if (text[0] != '@')
		return false;
	thread = strtoul(text + 1, &rest, 10);
	if (!workers)
		workers = calloc(MAX_THREADS, sizeof(*workers));
	if (!workers || thread >= MAX_THREADS ||
	    workers[thread].n == MAX_LINES) {
		fprintf(stderr, "line %lu is too much\n", number);
		exit(2);
	}
	worker = &workers[thread];
	worker->numbers[worker->n] = number;
	worker->texts[worker->n++] = strdup(rest);
	return true;
}

static void *work(void *arg)
{
	struct worker *worker = arg;

	program = worker->program;
	pthread_barrier_wait(worker->start);
	for (unsigned int i = 0; i < worker->n; i++) {
		run_line(worker->numbers[i], worker->texts[i]);
		free(worker->texts[i]);
	}
	worker->n = 0;
	return NULL;
}

/** threads_run() - run the lines that were kept; returns how many there were */
unsigned long threads_run(void)
{
	unsigned long calls = 0;
	pthread_barrier_t start;
	unsigned int n = 0;

	for (unsigned int i = 0; workers && i < MAX_THREADS; i++) {
		calls += workers[i].n;
		n += workers[i].n != 0;
	}
	if (!n)
		return 0;
	pthread_barrier_init(&start, NULL, n);
	for (unsigned int i = 0; i < MAX_THREADS; i++) {
		struct worker *worker = &workers[i];

		worker->program = program;
		worker->start = &start;
		if (worker->n &&
		    pthread_create(&worker->thread, NULL, work, worker)) {
			fprintf(stderr, "there can be no more threads\n");
			exit(2);
		}
	}
	for (unsigned int i = 0; i < MAX_THREADS; i++)
		if (workers[i].thread)
			pthread_join(workers[i].thread, NULL);
	for (unsigned int i = 0; i < MAX_THREADS; i++)
		workers[i].thread = 0;
	pthread_barrier_destroy(&start);
	return calls;
}
