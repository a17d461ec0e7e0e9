/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A thread that does for one NIC what may take long, as long as its client or a
 * disk likes: close a file that the client gave, unmap its memory, make memory
 * persistent. The thread that runs all NICs never waits for it.
 */
#ifndef MYNIC_HOST_HELPER_H
#define MYNIC_HOST_HELPER_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "events.h"

/* Files that can wait to be closed */
#define HELPER_MAX_FILES 1024

/**
 * struct helper_job - something to do
 * @work: does it, in the helper's thread; uses no malloc()
 * @done: called afterwards, in the thread of the event loop; may free the job
 * @link: in one of the helper's lists
 */
struct helper_job {
	void (*work)(struct helper_job *job);
	void (*done)(struct helper_job *job);
	STAILQ_ENTRY(helper_job) link;
};

STAILQ_HEAD(helper_jobs, helper_job);

/**
 * struct helper - such a thread
 * @events: event loop
 * @ready: called from the event loop when jobs or files are done with, and
 *	after helper_wake()
 * @owner: passed to @ready
 * @source: event source of @fd
 * @fd: eventfd
 * @thread: the thread, once it is @started
 * @started: helper_start() was called
 * @lock: of what follows
 * @wake: there is something to do
 * @stop: the thread is to end
 * @busy: it is doing something
 * @todo: jobs, in their order
 * @finished: jobs whose done() has not been called
 * @files: to be closed, behind the jobs that came before them or earlier
 * @num_files: of @files
 */
struct helper {
	struct events *events;
	void (*ready)(void *owner);
	void *owner;
	struct event_source source;
	int fd;
	pthread_t thread;
	bool started;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool stop;
	bool busy;
	struct helper_jobs todo;
	struct helper_jobs finished;
	int files[HELPER_MAX_FILES];
	unsigned int num_files;
};

/**
 * helper_init() - prepare a helper
 * @helper: with @events, @ready and @owner set; must not move afterwards
 *
 * Return: 0 or -errno.
 */
int helper_init(struct helper *helper);

/** helper_start() - start its thread. Return: 0 or -errno */
int helper_start(struct helper *helper);

/** helper_release() - end it; what it has not begun is done or forgotten */
void helper_release(struct helper *helper);

/** helper_submit() - have a job done, behind those that came before */
void helper_submit(struct helper *helper, struct helper_job *job);

/** helper_close() - have a file closed */
void helper_close(struct helper *helper, int fd);

/** helper_is_behind() - no more files should come in that must be closed */
bool helper_is_behind(struct helper *helper);

/** helper_is_idle() - all is done */
bool helper_is_idle(struct helper *helper);

/** helper_wake() - have @ready called; may be called by a signal handler */
void helper_wake(struct helper *helper);

#endif /* MYNIC_HOST_HELPER_H */
