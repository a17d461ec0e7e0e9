/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Wire faults of all ports of a switch */
#ifndef MYNIC_HOST_FAULT_BOARD_H
#define MYNIC_HOST_FAULT_BOARD_H

#include <stdbool.h>

#include "fault_log.h"
#include "switch.h"
#include "wire/faults.h"

/* Bytes for the description of an error, with the name of a port */
#define FAULT_BOARD_ERROR_SIZE (FAULTS_ERROR_SIZE + 64)

/**
 * struct fault_site - a port with wire faults
 * @board: board of the port
 * @port: the port
 */
struct fault_site {
	struct fault_board *board;
	struct switch_port *port;
};

/**
 * struct fault_board - wire faults of all ports
 * @sw: the switch; its ports must not change
 * @last_number: number of the newest rule
 * @log: log of applied rules
 * @sites: sites by index in &net_switch.ports
 */
struct fault_board {
	struct net_switch *sw;
	unsigned int last_number;
	struct fault_log log;
	struct fault_site sites[SWITCH_MAX_PORTS];
};

/* There are no rules yet; @board must not move afterwards. */
void fault_board_init(struct fault_board *board, struct net_switch *sw);

/* Removes all rules. Held packets are lost. */
void fault_board_release(struct fault_board *board);

/**
 * fault_board_add() - add a rule
 * @board: the board
 * @rule: "PORT,..."
 * @error: out: on failure, a description of the error
 *
 * Return: number of the rule; 0: failure.
 */
unsigned int fault_board_add(struct fault_board *board, const char *rule,
			     char error[FAULT_BOARD_ERROR_SIZE]);

/* Removes a rule. Returns false if there is none. */
bool fault_board_delete(struct fault_board *board, unsigned int number);

void fault_board_clear(struct fault_board *board);

/**
 * fault_board_set_link() - pull a port's cable, or put it back
 * @board: the board
 * @port: the port
 * @up: remove all rules that hold the link down; false: add such a rule if
 *	there is none
 * @error: out: on failure, a description of the error
 *
 * Return: true for success.
 */
bool fault_board_set_link(struct fault_board *board, struct switch_port *port,
			  bool up, char error[FAULT_BOARD_ERROR_SIZE]);

#endif /* MYNIC_HOST_FAULT_BOARD_H */
