/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Commands and queries for a running device model, as lines of text
 * (Documentation/faults.rst).
 */
#ifndef MYNIC_HOST_COMMANDS_H
#define MYNIC_HOST_COMMANDS_H

#include <stdio.h>

#include "capture.h"
#include "wire_faults.h"
#include "switch.h"

/* Bytes for the description of an error */
#define COMMANDS_ERROR_SIZE 512

/**
 * struct commands - objects of commands
 * @sw: the switch; its ports must not change
 * @events: event loop
 * @control: path of the control socket; NULL: there is none
 * @wire_faults: of all ports
 * @captures: captures by index in &net_switch.ports
 */
struct commands {
	struct net_switch *sw;
	struct events *events;
	const char *control;
	struct wire_faults wire_faults;
	struct capture captures[SWITCH_MAX_PORTS];
};

/**
 * struct commands_rest - the part of an answer that is still to be made
 * @step: writes the next piece; returns false after the last. NULL: there is
 *	no rest
 * @sw: the switch
 * @journal: the journal that is shown
 * @port: the port that is shown; NULL: all
 * @qpn: the next QP
 * @rule: the last rule of a port that was shown
 * @begun: a part of the next port was shown
 * @next: the next port or entry
 * @end: where the journal ended when it was asked for
 */
struct commands_rest {
	bool (*step)(struct commands_rest *rest, FILE *out);
	const struct net_switch *sw;
	const struct journal *journal;
	const struct switch_port *port;
	uint32_t qpn;
	unsigned int rule;
	bool begun;
	uint64_t next;
	uint64_t end;
};

/* @commands must not move afterwards. */
void commands_init(struct commands *commands, struct net_switch *sw,
		   struct events *events);

bool commands_has_port(const struct commands *commands, const char *name);

/**
 * commands_capture() - start or end a capture
 * @commands: objects of the command
 * @port: name of the port
 * @file: path of the capture, or "off"
 * @error: out: on failure, a description of the error
 *
 * Return: true for success.
 */
bool commands_capture(struct commands *commands, const char *port,
		      const char *file, char error[COMMANDS_ERROR_SIZE]);

/**
 * commands_capture_fd() - start a capture in an open file
 * @commands: objects of the command
 * @port: name of the port
 * @fd: a file that the process has inherited
 * @error: out: on failure, a description of the error
 *
 * Return: true for success.
 */
bool commands_capture_fd(struct commands *commands, const char *port, int fd,
			 char error[COMMANDS_ERROR_SIZE]);

/* Ends all wire faults and captures. */
void commands_release(struct commands *commands);

/**
 * commands_run() - execute a line
 * @commands: objects of the command
 * @line: the line without its end; it is modified
 * @out: stream for the answer; its last line is "ok" or "error: ..."
 * @rest: out: what of the answer is still to be made
 */
void commands_run(struct commands *commands, char *line, FILE *out,
		  struct commands_rest *rest);

/* Writes the next piece of an answer. A piece takes less than a turn. */
void commands_go_on(struct commands_rest *rest, FILE *out);

#endif /* MYNIC_HOST_COMMANDS_H */
