/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The event loop: epoll with one timer. All event sources are level-triggered.
 */
#ifndef MYNIC_HOST_EVENTS_H
#define MYNIC_HOST_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "log.h"

#define EVENTS_FOREVER UINT64_MAX
#define EVENTS_NOT_AT_ALL 0

/**
 * struct event_source - a file descriptor in the event loop
 * @ready: called with @owner and the EPOLL* bits. It may be called once more
 *	after events_remove(), so it has to check whether its file is still open
 * @owner: object that contains the event source
 */
struct event_source {
	void (*ready)(void *owner, uint32_t events);
	void *owner;
};

/**
 * struct events - the event loop
 * @epoll: epoll file descriptor
 * @alarm: timerfd that ends events_wait()
 * @alarm_source: event source of @alarm
 * @alarm_due: due time of @alarm in ns of clock_ns(), or EVENTS_FOREVER
 * @spare: file descriptor that listener_accept() releases when no others are
 *	available; -1: a connection that was refused has taken it
 * @log: messages
 * @refused: the last connection was refused, and the log says so
 */
struct events {
	int epoll;
	int alarm;
	struct event_source alarm_source;
	uint64_t alarm_due;
	int spare;
	struct log log;
	bool refused;
};

/* Returns 0 or -errno. */
int events_init(struct events *events);
void events_release(struct events *events);

/* Waits for the events in @mask (EPOLL*), level-triggered. */
int events_add(struct events *events, struct event_source *source, int fd,
	       uint32_t mask);
int events_change(struct events *events, struct event_source *source, int fd,
		  uint32_t mask);
void events_remove(struct events *events, int fd);

/**
 * events_wait() - wait once and call what is ready
 * @events: what to wait for
 * @until: time limit in ns of clock_ns(), or EVENTS_NOT_AT_ALL, or
 *	EVENTS_FOREVER
 *
 * It may return early without an event, once for each @until, because an
 * earlier @until may still be set in the timer. Setting the timer is an exit of
 * a virtual machine and takes 10 us. It would be needed twice for each wait,
 * and timeouts of a transport are mostly postponed before they expire.
 */
void events_wait(struct events *events, uint64_t until);

#endif /* MYNIC_HOST_EVENTS_H */
