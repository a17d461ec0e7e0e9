/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The faults of all ports of a switch */
#ifndef MYNIC_HOST_FAULT_BOARD_H
#define MYNIC_HOST_FAULT_BOARD_H

#include <stdbool.h>

#include "fault_log.h"
#include "switch.h"
#include "wire/faults.h"

/* Room for what fault_board_add() says, with the name of a port */
#define FAULT_BOARD_ERROR_SIZE (FAULTS_ERROR_SIZE + 64)

/**
 * struct fault_site - a port that has faults
 * @board: where it belongs
 * @port: the port
 */
struct fault_site {
	struct fault_board *board;
	struct switch_port *port;
};

/**
 * struct fault_board - the faults of all ports
 * @sw: the switch; its ports stay
 * @last_number: of the newest rule
 * @log: tells of each fault
 * @sites: by place in &net_switch.ports
 */
struct fault_board {
	struct net_switch *sw;
	unsigned int last_number;
	struct fault_log log;
	struct fault_site sites[SWITCH_MAX_PORTS];
};

/** fault_board_init() - there are no faults; @board must not move afterwards */
void fault_board_init(struct fault_board *board, struct net_switch *sw);

/** fault_board_release() - remove all rules; what they hold back is lost */
void fault_board_release(struct fault_board *board);

/**
 * fault_board_add() - add a rule
 * @board: the board
 * @rule: "PORT,..."
 * @error: says on failure what is wrong with it
 *
 * Return: its number, or 0.
 */
unsigned int fault_board_add(struct fault_board *board, const char *rule,
			     char error[FAULT_BOARD_ERROR_SIZE]);

/** fault_board_delete() - remove a rule. Return: whether there was one */
bool fault_board_delete(struct fault_board *board, unsigned int number);

/** fault_board_clear() - remove all rules */
void fault_board_clear(struct fault_board *board);

/**
 * fault_board_set_link() - pull a port's cable, or put it back
 * @board: the board
 * @port: the port
 * @up: put it back: remove the rules that have it pulled; or else add such a
 *	rule if there is none
 * @error: says on failure what is wrong
 *
 * Return: whether it was done.
 */
bool fault_board_set_link(struct fault_board *board, struct switch_port *port,
			  bool up, char error[FAULT_BOARD_ERROR_SIZE]);

#endif /* MYNIC_HOST_FAULT_BOARD_H */
