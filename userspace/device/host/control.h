/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The control socket: clients send commands, a line each, and get answers. A
 * client may do what it likes with the device, but cannot crash it, keep it
 * from its work, or make it grow.
 */
#ifndef MYNIC_HOST_CONTROL_H
#define MYNIC_HOST_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#include "commands.h"
#include "events.h"

#define CONTROL_MAX_CLIENTS 16

/* The longest line, with its end */
#define CONTROL_LINE_SIZE 4096

/**
 * struct control_client - a connection
 * @control: the server
 * @source: event source of @fd
 * @fd: the connection, or -1: there is none
 * @line: what has come and was not looked at yet
 * @used: bytes of @line
 * @skip: what comes up to the next line's end belongs to a line too long
 * @eof: nothing will come any more
 * @answer: to the last command, or NULL: it has been sent
 * @answer_len: bytes of @answer
 * @sent: bytes of these that are behind
 */
struct control_client {
	struct control *control;
	struct event_source source;
	int fd;
	char line[CONTROL_LINE_SIZE];
	size_t used;
	bool skip;
	bool eof;
	char *answer;
	size_t answer_len;
	size_t sent;
};

/**
 * struct control - the server
 * @events: event loop
 * @commands: what clients can say
 * @path: of the socket
 * @source: event source of @fd
 * @fd: listens
 * @clients: connections
 */
struct control {
	struct events *events;
	struct commands *commands;
	const char *path;
	struct event_source source;
	int fd;
	struct control_client clients[CONTROL_MAX_CLIENTS];
};

/**
 * control_open() - listen for clients
 * @control: must not move afterwards
 * @path: of the socket; kept
 * @mode: its permissions
 * @commands: what clients can say
 * @events: event loop
 *
 * Return: 0 or -errno.
 */
int control_open(struct control *control, const char *path, unsigned int mode,
		 struct commands *commands, struct events *events);

/** control_close() - end all connections and remove the socket */
void control_close(struct control *control);

#endif /* MYNIC_HOST_CONTROL_H */
