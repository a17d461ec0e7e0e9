// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Wire faults of all ports: numbers of rules, their seeds, and pulled cables.
 * Rules are applied in wire/faults.c.
 */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "fault_board.h"
#include "log.h"

static void fault_board_site_deliver(void *ctx, enum fault_dir dir,
				     const struct packet *pkt)
{
	struct fault_site *site = ctx;

	switch_pass(site->port, dir, pkt);
}

static void fault_board_site_applied(void *ctx, const struct fault_event *event)
{
	struct fault_site *site = ctx;

	fault_log(&site->board->log, site->port->name, event);
}

static const struct faults_ops site_ops = {
	.deliver = fault_board_site_deliver,
	.applied = fault_board_site_applied,
};

void fault_board_init(struct fault_board *board, struct net_switch *sw)
{
	*board = (struct fault_board){ .sw = sw };
}

void fault_board_release(struct fault_board *board)
{
	for (unsigned int i = 0; i < board->sw->num; i++) {
		struct switch_port *port = board->sw->ports[i];

		faults_destroy(port->faults);
		port->faults = NULL;
	}
}

/* Must be called after a change of the rules. */
static void fault_board_update_port(struct switch_port *port)
{
	bool down = faults_down(port->faults);

	if (down != port->cut)
		switch_set_cut(port, down);
	/*
	 * A port without rules and without held packets skips wire faults
	 * altogether.
	 */
	if (faults_num_rules(port->faults) ||
	    faults_next_event(port->faults) != UINT64_MAX)
		return;
	faults_destroy(port->faults);
	port->faults = NULL;
}

static bool fault_board_make_faults(struct fault_board *board, unsigned int i)
{
	struct switch_port *port = board->sw->ports[i];

	board->sites[i] = (struct fault_site){ board, port };
	if (!port->faults)
		port->faults = faults_create(&site_ops, &board->sites[i]);
	return port->faults;
}

static bool fault_board_random_seed(uint64_t *seed)
{
	uint32_t value;

	/* 32 bits are enough for a seed, and easier to write down. */
	if (getrandom(&value, sizeof(value), 0) != sizeof(value))
		return false;
	*seed = value;
	return true;
}

static const char *fault_board_newest_rule(const struct faults *faults)
{
	return faults_stats(faults, faults_num_rules(faults) - 1).text;
}

static unsigned int fault_board_add_to_port(struct fault_board *board,
					    unsigned int i, const char *rule,
					    char *error)
{
	struct switch_port *port = board->sw->ports[i];
	unsigned int number = board->last_number + 1;
	uint64_t seed;
	int err;

	if (!fault_board_random_seed(&seed) ||
	    !fault_board_make_faults(board, i)) {
		snprintf(error, FAULT_BOARD_ERROR_SIZE, "no memory");
		return 0;
	}
	err = faults_add(port->faults, number, rule, seed, error);
	if (!err) {
		board->last_number = number;
		log_line(port->log, "fault %u: %s", number,
			 fault_board_newest_rule(port->faults));
	}
	fault_board_update_port(port);
	return err ? 0 : number;
}

unsigned int fault_board_add(struct fault_board *board, const char *rule,
			     char error[FAULT_BOARD_ERROR_SIZE])
{
	const char *comma = strchrnul(rule, ',');
	int len = comma - rule;

	for (unsigned int i = 0; i < board->sw->num; i++) {
		const char *name = board->sw->ports[i]->name;

		if (!strncmp(rule, name, len) && !name[len])
			return fault_board_add_to_port(
				board, i, *comma ? comma + 1 : "", error);
	}
	snprintf(error, FAULT_BOARD_ERROR_SIZE, "there is no port \"%.*s\"",
		 len < 32 ? len : 32, rule);
	return 0;
}

bool fault_board_delete(struct fault_board *board, unsigned int number)
{
	for (unsigned int i = 0; i < board->sw->num; i++) {
		struct switch_port *port = board->sw->ports[i];

		if (!port->faults || !faults_delete(port->faults, number))
			continue;
		fault_board_update_port(port);
		return true;
	}
	return false;
}

void fault_board_clear(struct fault_board *board)
{
	for (unsigned int i = 0; i < board->sw->num; i++) {
		struct switch_port *port = board->sw->ports[i];

		while (port->faults && faults_num_rules(port->faults))
			fault_board_delete(
				board, faults_stats(port->faults, 0).number);
	}
}

static void fault_board_put_cable_back(struct fault_board *board,
				       struct switch_port *port)
{
	unsigned int i = 0;

	while (port->faults && i < faults_num_rules(port->faults)) {
		struct fault_stats stats = faults_stats(port->faults, i);

		if (stats.down)
			fault_board_delete(board, stats.number);
		else
			i++;
	}
}

bool fault_board_set_link(struct fault_board *board, struct switch_port *port,
			  bool up, char error[FAULT_BOARD_ERROR_SIZE])
{
	char rule[FAULTS_RULE_SIZE];

	if (up) {
		fault_board_put_cable_back(board, port);
		return true;
	}
	if (port->cut)
		return true;
	snprintf(rule, sizeof(rule), "%s,kind=down", port->name);
	return fault_board_add(board, rule, error);
}
