// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "clock.h"
#include "events.h"

#define EVENTS_AT_ONCE 32

int events_init(struct events *events)
{
	events->epoll = epoll_create1(EPOLL_CLOEXEC);
	return events->epoll < 0 ? -errno : 0;
}

void events_release(struct events *events)
{
	close(events->epoll);
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
