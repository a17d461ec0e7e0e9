/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Accepting of connections, also without a free file descriptor. The sockets that
 * listen are in unix_socket.c and wire_stream.c.
 */
#ifndef MYNIC_HOST_LISTENER_H
#define MYNIC_HOST_LISTENER_H

struct events;
struct helper;

/**
 * listener_accept() - accept a connection
 * @events: event loop
 * @listener: a non-blocking socket that is ready
 * @helper: thread that closes what is refused, because that may take long if
 *	files were passed; NULL: this thread does
 *
 * Without a free file descriptor the connection is closed. Otherwise the
 * listener would stay ready, and the loop could never sleep.
 *
 * Return: non-blocking file descriptor with close-on-exec, or -errno.
 */
int listener_accept(struct events *events, int listener, struct helper *helper);

#endif /* MYNIC_HOST_LISTENER_H */
