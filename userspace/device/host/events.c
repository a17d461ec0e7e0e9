// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "events.h"

#define EVENTS_AT_ONCE 32

static int spare_file(void)
{
	return eventfd(0, EFD_CLOEXEC);
}

int events_init(struct events *events)
{
	int err;

	*events = (struct events){ .log.name = "connections" };
	events->spare = spare_file();
	if (events->spare < 0)
		return -errno;
	events->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (events->epoll >= 0)
		return 0;
	err = -errno;
	close(events->spare);
	return err;
}

void events_release(struct events *events)
{
	close(events->epoll);
	close(events->spare);
}

static int control(struct events *events, int op, struct event_source *source,
		   int fd, uint32_t mask)
{
	struct epoll_event event = { .events = mask, .data.ptr = source };

	return epoll_ctl(events->epoll, op, fd, &event) ? -errno : 0;
}

int events_add(struct events *events, struct event_source *source, int fd,
	       uint32_t mask)
{
	return control(events, EPOLL_CTL_ADD, source, fd, mask);
}

int events_change(struct events *events, struct event_source *source, int fd,
		  uint32_t mask)
{
	return control(events, EPOLL_CTL_MOD, source, fd, mask);
}

void events_remove(struct events *events, int fd)
{
	epoll_ctl(events->epoll, EPOLL_CTL_DEL, fd, NULL);
}

static int accept_one(int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

int events_accept(struct events *events, int listener)
{
	int fd = accept_one(listener);
	int refused;

	if (fd >= 0)
		events->refused = false;
	if (fd != -EMFILE && fd != -ENFILE)
		return fd;
	close(events->spare);
	refused = accept_one(listener);
	if (refused >= 0)
		close(refused);
	events->spare = spare_file();
	if (!events->refused)
		log_line(&events->log, "refused: %s", strerror(-fd));
	events->refused = true;
	return fd;
}

void events_wait(struct events *events, uint64_t timeout)
{
	struct epoll_event ready[EVENTS_AT_ONCE];
	struct timespec ts = {
		.tv_sec = timeout / NSEC_PER_SEC,
		.tv_nsec = timeout % NSEC_PER_SEC,
	};
	int n;

	n = epoll_pwait2(events->epoll, ready, EVENTS_AT_ONCE,
			 timeout == EVENTS_FOREVER ? NULL : &ts, NULL);
	for (int i = 0; i < n; i++) {
		struct event_source *source = ready[i].data.ptr;

		source->ready(source->owner, ready[i].events);
	}
}
