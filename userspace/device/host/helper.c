// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The helper thread of a NIC, which does work that may block. */

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "clock.h"
#include "helper.h"

/* The thread calls little besides the kernel. */
#define STACK_SIZE (256 << 10)

/*
 * Number of files above which the helper is behind; the rest is room for those
 * of one client
 */
#define FILES_BEHIND (HELPER_MAX_FILES / 4)

/* How long the end of the process waits for a helper that is blocked */
#define END_SECONDS 1

void helper_wake(struct helper *helper)
{
	static const uint64_t one = 1;

	/* If the counter is full, the thread wakes up anyway. */
	if (write(helper->fd, &one, sizeof(one)) < 0)
		return;
}

static void helper_close_files(struct helper *helper)
{
	int files[HELPER_MAX_FILES];
	unsigned int num = helper->num_files;

	memcpy(files, helper->files, num * sizeof(*files));
	pthread_mutex_unlock(&helper->lock);
	for (unsigned int i = 0; i < num; i++)
		close(files[i]);
	pthread_mutex_lock(&helper->lock);
	helper->num_files -= num;
	memmove(helper->files, helper->files + num,
		helper->num_files * sizeof(*files));
}

static void helper_do_job(struct helper *helper)
{
	struct helper_job *job = STAILQ_FIRST(&helper->todo);

	STAILQ_REMOVE_HEAD(&helper->todo, link);
	pthread_mutex_unlock(&helper->lock);
	job->work(job);
	pthread_mutex_lock(&helper->lock);
	STAILQ_INSERT_TAIL(&helper->finished, job, link);
}

static bool helper_has_work(const struct helper *helper)
{
	return helper->num_files || !STAILQ_EMPTY(&helper->todo);
}

static void *helper_run(void *arg)
{
	struct helper *helper = arg;

	pthread_mutex_lock(&helper->lock);
	while (!helper->stop) {
		if (!helper_has_work(helper)) {
			pthread_cond_wait(&helper->wake, &helper->lock);
			continue;
		}
		helper->busy = true;
		if (!STAILQ_EMPTY(&helper->todo))
			helper_do_job(helper);
		else
			helper_close_files(helper);
		helper->busy = false;
		helper_wake(helper);
	}
	pthread_mutex_unlock(&helper->lock);
	return NULL;
}

static void helper_done(void *owner, uint32_t events)
{
	struct helper_jobs finished = STAILQ_HEAD_INITIALIZER(finished);
	struct helper *helper = owner;
	struct helper_job *job;
	uint64_t times;

	(void)events;
	if (read(helper->fd, &times, sizeof(times)) < 0)
		return;
	pthread_mutex_lock(&helper->lock);
	STAILQ_CONCAT(&finished, &helper->finished);
	pthread_mutex_unlock(&helper->lock);
	while ((job = STAILQ_FIRST(&finished))) {
		STAILQ_REMOVE_HEAD(&finished, link);
		job->done(job);
	}
	helper->ready(helper->owner);
}

int helper_init(struct helper *helper)
{
	int err;

	STAILQ_INIT(&helper->todo);
	STAILQ_INIT(&helper->finished);
	pthread_mutex_init(&helper->lock, NULL);
	pthread_cond_init(&helper->wake, NULL);
	helper->source = (struct event_source){ helper_done, helper };
	helper->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (helper->fd < 0)
		return -errno;
	err = events_add(helper->events, &helper->source, helper->fd, EPOLLIN);
	if (err)
		close(helper->fd);
	return err;
}

int helper_start(struct helper *helper)
{
	pthread_attr_t attr;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	err = pthread_create(&helper->thread, &attr, helper_run, helper);
	pthread_attr_destroy(&attr);
	helper->started = !err;
	return -err;
}

static bool helper_end_thread(struct helper *helper)
{
	struct timespec limit;

	if (!helper->started)
		return true;
	pthread_mutex_lock(&helper->lock);
	helper->stop = true;
	pthread_cond_signal(&helper->wake);
	pthread_mutex_unlock(&helper->lock);
	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += END_SECONDS;
	return !pthread_timedjoin_np(helper->thread, NULL, &limit);
}

void helper_release(struct helper *helper)
{
	struct helper_job *job;

	/* A helper that waits for a client or a disk ends with the process. */
	if (!helper_end_thread(helper))
		return;
	STAILQ_CONCAT(&helper->finished, &helper->todo);
	while ((job = STAILQ_FIRST(&helper->finished))) {
		STAILQ_REMOVE_HEAD(&helper->finished, link);
		job->done(job);
	}
	events_remove(helper->events, helper->fd);
	close(helper->fd);
}

void helper_submit(struct helper *helper, struct helper_job *job)
{
	pthread_mutex_lock(&helper->lock);
	STAILQ_INSERT_TAIL(&helper->todo, job, link);
	pthread_cond_signal(&helper->wake);
	pthread_mutex_unlock(&helper->lock);
}

void helper_close(struct helper *helper, int fd)
{
	pthread_mutex_lock(&helper->lock);
	if (helper->num_files < HELPER_MAX_FILES) {
		helper->files[helper->num_files++] = fd;
		fd = -1;
	}
	pthread_cond_signal(&helper->wake);
	pthread_mutex_unlock(&helper->lock);
	if (fd >= 0)
		close(fd);
}

bool helper_is_behind(struct helper *helper)
{
	bool behind;

	pthread_mutex_lock(&helper->lock);
	behind = helper->num_files > FILES_BEHIND;
	pthread_mutex_unlock(&helper->lock);
	return behind;
}

bool helper_is_idle(struct helper *helper)
{
	bool idle;

	pthread_mutex_lock(&helper->lock);
	idle = !helper->busy && !helper_has_work(helper) &&
	       STAILQ_EMPTY(&helper->finished);
	pthread_mutex_unlock(&helper->lock);
	return idle;
}
