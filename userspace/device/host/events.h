/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MYNIC_HOST_EVENTS_H
#define MYNIC_HOST_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "log.h"

#define EVENTS_FOREVER UINT64_MAX

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
 * @spare: a file that is given up when there can be no other one
 * @log: messages
 * @refused: the last connection was refused, and this has been said
 */
struct events {
	int epoll;
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
 * @timeout: ns, 0 not to wait at all, or EVENTS_FOREVER
 */
void events_wait(struct events *events, uint64_t timeout);

#endif /* MYNIC_HOST_EVENTS_H */
