/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a running device model can be told and asked, as lines of text
 * (Documentation/faults.rst).
 */
#ifndef MYNIC_HOST_COMMANDS_H
#define MYNIC_HOST_COMMANDS_H

#include <stdio.h>

#include "capture.h"
#include "fault_board.h"
#include "switch.h"

/* Room for what is said about a wrong command */
#define COMMANDS_ERROR_SIZE 512

/**
 * struct commands - what commands are about
 * @sw: the switch; its ports stay
 * @events: event loop
 * @board: faults
 * @captures: by place in &net_switch.ports
 */
struct commands {
	struct net_switch *sw;
	struct events *events;
	struct fault_board board;
	struct capture captures[SWITCH_MAX_PORTS];
};

/** commands_init() - @commands must not move afterwards */
void commands_init(struct commands *commands, struct net_switch *sw,
		   struct events *events);

/**
 * commands_capture() - record the packets of a port, or end that
 * @commands: what it is about
 * @port: name of the port
 * @file: where they are recorded, or "off"
 * @error: says on failure what is wrong
 *
 * Return: whether it was done.
 */
bool commands_capture(struct commands *commands, const char *port,
		      const char *file, char error[COMMANDS_ERROR_SIZE]);

/**
 * commands_capture_fd() - record the packets of a port in an open file
 * @commands: what it is about
 * @port: name of the port
 * @fd: the file, which the process was started with
 * @error: says on failure what is wrong
 *
 * Return: whether it was done.
 */
bool commands_capture_fd(struct commands *commands, const char *port, int fd,
			 char error[COMMANDS_ERROR_SIZE]);

/** commands_release() - end all faults and captures */
void commands_release(struct commands *commands);

/**
 * commands_run() - do what a line says
 * @commands: what it is about
 * @line: without its end; changed
 * @out: takes the answer: lines, the last of which is "ok" or "error: ..."
 */
void commands_run(struct commands *commands, char *line, FILE *out);

#endif /* MYNIC_HOST_COMMANDS_H */
