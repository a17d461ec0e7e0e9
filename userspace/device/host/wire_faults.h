/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Wire faults of all ports of a switch */
#ifndef MYNIC_HOST_WIRE_FAULTS_H
#define MYNIC_HOST_WIRE_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "fault_log.h"
#include "switch.h"
#include "wire/faults.h"

/* Bytes for the description of an error, with the name of a port */
#define WIRE_FAULTS_ERROR_SIZE (FAULTS_ERROR_SIZE + 128)

/**
 * struct fault_site - a port with wire faults
 * @all: all sites
 * @port: the port
 */
struct fault_site {
	struct wire_faults *all;
	struct switch_port *port;
};

/**
 * struct wire_faults - wire faults of all ports
 * @sw: the switch; its ports must not change
 * @last_number: number of the newest rule
 * @log: log of applied rules
 * @sites: sites by index in &net_switch.ports
 */
struct wire_faults {
	struct net_switch *sw;
	unsigned int last_number;
	struct fault_log log;
	struct fault_site sites[SWITCH_MAX_PORTS];
};

/* There are no rules yet; @all must not move afterwards. */
void wire_faults_init(struct wire_faults *all, struct net_switch *sw);

/* Removes all rules. Held packets are lost. */
void wire_faults_release(struct wire_faults *all);

/**
 * wire_faults_add() - add a rule
 * @all: wire faults of all ports
 * @rule: "PORT,..."
 * @error: out: on failure, a description of the error
 *
 * Return: number of the rule; 0: failure.
 */
unsigned int wire_faults_add(struct wire_faults *all, const char *rule,
			     char error[WIRE_FAULTS_ERROR_SIZE]);

/* Chooses the seed of a rule that has none. Returns false if that is impossible. */
bool wire_faults_random_seed(uint64_t *seed);

/* Removes a rule. Returns false if there is none. */
bool wire_faults_delete(struct wire_faults *all, unsigned int number);

void wire_faults_clear(struct wire_faults *all);

/* Whether a port has held packets until @now */
static inline bool wire_faults_are_due(const struct switch_port *port,
				       uint64_t now)
{
	return port->faults && faults_next_event(port->faults) <= now;
}

/**
 * wire_faults_run() - deliver packets that were held until now
 * @port: a port with such packets
 *
 * It stops after NIC_TURN_NS.
 *
 * Return: true if packets may be left.
 */
bool wire_faults_run(struct switch_port *port);

/**
 * wire_faults_set_link() - pull a port's cable, or put it back
 * @all: wire faults of all ports
 * @port: the port
 * @up: remove all rules that hold the link down; false: add such a rule if
 *	there is none
 * @error: out: on failure, a description of the error
 *
 * Return: true for success.
 */
bool wire_faults_set_link(struct wire_faults *all, struct switch_port *port,
			  bool up, char error[WIRE_FAULTS_ERROR_SIZE]);

#endif /* MYNIC_HOST_WIRE_FAULTS_H */
