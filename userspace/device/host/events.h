/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MYNIC_HOST_EVENTS_H
#define MYNIC_HOST_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "log.h"

#define EVENTS_FOREVER UINT64_MAX
#define EVENTS_NOT_AT_ALL 0

/**
 * struct event_source - one file descriptor that is waited for
 * @ready: called with @owner and the EPOLL* bits. It may come once more after
 *	events_remove(), so it has to know itself that its file is gone.
 * @owner: whom it belongs to; it is a part of that
 */
struct event_source {
	void (*ready)(void *owner, uint32_t events);
	void *owner;
};

/**
 * struct events - all file descriptors that are waited for
 * @epoll: has them
 * @alarm: a timerfd that ends events_wait()
 * @alarm_source: @alarm is one of the files
 * @alarm_due: when it does, as clock_ns(), or EVENTS_FOREVER
 * @spare: a file that is given up when there can be no other one
 * @log: messages
 * @refused: the last connection was refused, and this has been said
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

/** events_init() - Return: 0 or -errno */
int events_init(struct events *events);
void events_release(struct events *events);

/** events_add(), events_change() - wait for @mask (EPOLL*), level-triggered */
int events_add(struct events *events, struct event_source *source, int fd,
	       uint32_t mask);
int events_change(struct events *events, struct event_source *source, int fd,
		  uint32_t mask);
void events_remove(struct events *events, int fd);

/**
 * events_accept() - accept a connection
 * @events: event loop
 * @listener: a non-blocking socket that it has found ready
 *
 * If the process can have no more files, the connection is closed. Otherwise
 * the listener would stay ready, and nobody could sleep.
 *
 * Return: file descriptor, non-blocking and closed on exec, or -errno.
 */
int events_accept(struct events *events, int listener);

/**
 * events_wait() - wait once and call what is ready
 * @events: what to wait for
 * @until: how long, as clock_ns(); or EVENTS_NOT_AT_ALL, or EVENTS_FOREVER
 *
 * It may return earlier with nothing, once for each @until: one that was given
 * before and has become later still counts. To program the processor's timer is
 * an exit in a virtual machine, 10 us, and would be due at the beginning and the
 * end of each wait; times of a transport are mostly put off before they come.
 */
void events_wait(struct events *events, uint64_t until);

#endif /* MYNIC_HOST_EVENTS_H */
