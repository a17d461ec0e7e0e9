/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A thread for work of one NIC that may block for as long as its client or a
 * disk likes. It closes files that the client has passed, unmaps their memory,
 * signals eventfds that are slow, and makes memory persistent. The thread of
 * the NICs never waits for it.
 */
#ifndef MYNIC_HOST_HELPER_H
#define MYNIC_HOST_HELPER_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "events.h"

/* Upper bound of the files that wait to be closed, for which each NIC has room */
#define HELPER_MAX_FILES 512

/**
 * struct helper_job - work for a helper
 * @work: runs in the thread of the helper; must not call malloc()
 * @done: runs afterwards in the thread of the event loop; may free the job
 * @link: link in a list of the helper
 */
struct helper_job {
	void (*work)(struct helper_job *job);
	void (*done)(struct helper_job *job);
	STAILQ_ENTRY(helper_job) link;
};

STAILQ_HEAD(helper_jobs, helper_job);

/**
 * struct helper - a helper thread
 * @events: event loop
 * @ready: called from the event loop after jobs or files are finished, and
 *	after helper_wake()
 * @owner: argument of @ready
 * @source: event source of @fd
 * @fd: eventfd
 * @thread: the thread, if @started
 * @started: helper_start() was called
 * @lock: protects the members below
 * @wake: there is work
 * @stop: the thread has to end
 * @busy: the thread is working
 * @todo: waiting jobs, in their order
 * @finished: jobs whose done() is still to be called
 * @files: files to be closed, after the jobs that were submitted before them
 * @num_files: number of @files
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
 * helper_init() - initialize a helper
 * @helper: helper with @events, @ready and @owner set; must not move afterwards
 *
 * Return: 0 or -errno.
 */
int helper_init(struct helper *helper);

/* Starts the thread. Returns 0 or -errno. */
int helper_start(struct helper *helper);

/* Ends the thread. Work that has not begun is done by the caller or dropped. */
void helper_release(struct helper *helper);

/* Submits a job. Jobs are done in order. */
void helper_submit(struct helper *helper, struct helper_job *job);

/* Has a file closed by the thread. */
void helper_close(struct helper *helper, int fd);

/* Whether too many files are waiting to be closed. */
bool helper_is_behind(struct helper *helper);

/* Whether all work is done. */
bool helper_is_idle(struct helper *helper);

/* Has @ready called; can be used in a signal handler. */
void helper_wake(struct helper *helper);

#endif /* MYNIC_HOST_HELPER_H */
