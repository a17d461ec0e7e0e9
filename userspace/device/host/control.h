/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The control socket. Clients send commands, one for each line, and get
 * answers. A client has full control of the device. It cannot crash it or make
 * it use more memory, and can block it only by captures.
 */
#ifndef MYNIC_HOST_CONTROL_H
#define MYNIC_HOST_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#include "commands.h"
#include "events.h"

#define CONTROL_MAX_CLIENTS 16

/* Upper bound for the bytes of a line, including its end */
#define CONTROL_LINE_SIZE 4096

/**
 * struct control_client - a connection
 * @control: the server
 * @source: event source of @fd
 * @fd: the connection; -1: none
 * @line: input that has not been executed
 * @used: bytes in @line
 * @skip: the current line is too long, and is discarded up to its end
 * @eof: the client sends nothing more
 * @answer: answer that is being sent, or NULL
 * @answer_len: bytes of @answer
 * @sent: bytes of @answer that have been sent
 * @rest: what follows @answer
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
	struct commands_rest rest;
};

/**
 * struct control - the server of the control socket
 * @events: event loop
 * @commands: objects of commands
 * @path: path of the socket
 * @source: event source of @fd
 * @fd: listening socket
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
 * @path: path of the socket; must stay valid
 * @mode: permissions of the socket
 * @commands: objects of commands
 * @events: event loop
 *
 * Return: 0 or -errno.
 */
int control_open(struct control *control, const char *path, unsigned int mode,
		 struct commands *commands, struct events *events);

/* Closes all connections and removes the socket. */
void control_close(struct control *control);

#endif /* MYNIC_HOST_CONTROL_H */
