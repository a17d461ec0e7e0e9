// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The event loop: epoll and one timer. */

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "clock.h"
#include "events.h"

#define EVENTS_AT_ONCE 32

static int events_control(struct events *events, int op,
			  struct event_source *source, int fd, uint32_t mask)
{
	struct epoll_event event = { .events = mask, .data.ptr = source };

	return epoll_ctl(events->epoll, op, fd, &event) ? -errno : 0;
}

int events_add(struct events *events, struct event_source *source, int fd,
	       uint32_t mask)
{
	return events_control(events, EPOLL_CTL_ADD, source, fd, mask);
}

int events_change(struct events *events, struct event_source *source, int fd,
		  uint32_t mask)
{
	return events_control(events, EPOLL_CTL_MOD, source, fd, mask);
}

void events_remove(struct events *events, int fd)
{
	epoll_ctl(events->epoll, EPOLL_CTL_DEL, fd, NULL);
}

static void events_alarm_ready(void *owner, uint32_t ready)
{
	struct events *events = owner;
	uint64_t times;

	(void)ready;
	if (read(events->alarm, &times, sizeof(times)) == sizeof(times))
		events->alarm_due = EVENTS_FOREVER;
}

static void events_set_alarm(struct events *events, uint64_t due)
{
	struct itimerspec when = {
		.it_value = {
			.tv_sec = due / NSEC_PER_SEC,
			.tv_nsec = due % NSEC_PER_SEC,
		},
	};

	timerfd_settime(events->alarm, TFD_TIMER_ABSTIME, &when, NULL);
	events->alarm_due = due;
}

int events_init(struct events *events)
{
	int err = 0;

	*events = (struct events){
		.epoll = epoll_create1(EPOLL_CLOEXEC),
		.alarm = timerfd_create(CLOCK_MONOTONIC,
					TFD_CLOEXEC | TFD_NONBLOCK),
		.alarm_source = { events_alarm_ready, events },
		.alarm_due = EVENTS_FOREVER,
		.spare = eventfd(0, EFD_CLOEXEC),
		.log.name = "connections",
	};
	if (events->epoll < 0 || events->alarm < 0 || events->spare < 0)
		err = -errno;
	else
		err = events_add(events, &events->alarm_source, events->alarm,
				 EPOLLIN);
	if (err)
		events_release(events);
	return err;
}

void events_release(struct events *events)
{
	close(events->epoll);
	close(events->alarm);
	if (events->spare >= 0)
		close(events->spare);
}

void events_wait(struct events *events, uint64_t until)
{
	struct epoll_event ready[EVENTS_AT_ONCE];
	int n;

	if (until != EVENTS_NOT_AT_ALL && until < events->alarm_due)
		events_set_alarm(events, until);
	n = epoll_wait(events->epoll, ready, EVENTS_AT_ONCE,
		       until == EVENTS_NOT_AT_ALL ? 0 : -1);
	for (int i = 0; i < n; i++) {
		struct event_source *source = ready[i].data.ptr;

		source->ready(source->owner, ready[i].events);
	}
}
