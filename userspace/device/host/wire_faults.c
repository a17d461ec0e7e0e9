// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Wire faults of all ports: numbers of rules, their seeds, and pulled cables.
 * Rules are applied in wire/faults.c.
 */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "clock.h"
#include "core/base/turn.h"
#include "core/nic.h"
#include "wire_faults.h"
#include "log.h"

static void wire_faults_site_deliver(void *ctx, enum fault_dir dir,
				     const struct packet *pkt)
{
	struct fault_site *site = ctx;

	/* A packet that brings others along has been counted only once */
	site->port->sw->units++;
	switch_pass(site->port, dir, pkt);
}

static void wire_faults_site_applied(void *ctx, const struct fault_event *event)
{
	struct fault_site *site = ctx;

	fault_log(&site->all->log, site->port->name, event);
}

static const struct faults_ops site_ops = {
	.deliver = wire_faults_site_deliver,
	.applied = wire_faults_site_applied,
};

void wire_faults_init(struct wire_faults *all, struct net_switch *sw)
{
	*all = (struct wire_faults){ .sw = sw };
}

void wire_faults_release(struct wire_faults *all)
{
	for (unsigned int i = 0; i < all->sw->num; i++) {
		struct switch_port *port = all->sw->ports[i];

		faults_destroy(port->faults);
		port->faults = NULL;
	}
}

/* Must be called after a change of the rules. */
static void wire_faults_update_port(struct switch_port *port)
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

static bool wire_faults_make_faults(struct wire_faults *all, unsigned int i)
{
	struct switch_port *port = all->sw->ports[i];

	all->sites[i] = (struct fault_site){ all, port };
	if (!port->faults)
		port->faults = faults_create(&site_ops, &all->sites[i]);
	return port->faults;
}

bool wire_faults_random_seed(uint64_t *seed)
{
	uint32_t value;

	/* 32 bits are enough for a seed, and easier to write down. */
	if (getrandom(&value, sizeof(value), 0) != sizeof(value))
		return false;
	*seed = value;
	return true;
}

static const char *wire_faults_newest_rule(const struct faults *faults)
{
	return faults_stats(faults, faults_num_rules(faults) - 1).text;
}

static unsigned int wire_faults_add_to_port(struct wire_faults *all,
					    unsigned int i, const char *rule,
					    char *error)
{
	struct switch_port *port = all->sw->ports[i];
	unsigned int number = all->last_number + 1;
	uint64_t seed;
	int err;

	if (!wire_faults_random_seed(&seed) ||
	    !wire_faults_make_faults(all, i)) {
		snprintf(error, WIRE_FAULTS_ERROR_SIZE, "no memory");
		return 0;
	}
	err = faults_add(port->faults, number, rule, seed, error);
	if (!err) {
		all->last_number = number;
		log_line(port->log, "fault %u: %s", number,
			 wire_faults_newest_rule(port->faults));
	}
	wire_faults_update_port(port);
	return err ? 0 : number;
}

unsigned int wire_faults_add(struct wire_faults *all, const char *rule,
			     char error[WIRE_FAULTS_ERROR_SIZE])
{
	const char *comma = strchrnul(rule, ',');
	int len = comma - rule;

	for (unsigned int i = 0; i < all->sw->num; i++) {
		const char *name = all->sw->ports[i]->name;

		if (!strncmp(rule, name, len) && !name[len])
			return wire_faults_add_to_port(
				all, i, *comma ? comma + 1 : "", error);
	}
	snprintf(error, WIRE_FAULTS_ERROR_SIZE, "there is no port \"%.*s\"",
		 len < 32 ? len : 32, rule);
	return 0;
}

bool wire_faults_delete(struct wire_faults *all, unsigned int number)
{
	for (unsigned int i = 0; i < all->sw->num; i++) {
		struct switch_port *port = all->sw->ports[i];

		if (!port->faults || !faults_delete(port->faults, number))
			continue;
		wire_faults_update_port(port);
		return true;
	}
	return false;
}

void wire_faults_clear(struct wire_faults *all)
{
	for (unsigned int i = 0; i < all->sw->num; i++) {
		struct switch_port *port = all->sw->ports[i];

		if (!port->faults)
			continue;
		faults_clear(port->faults, false);
		wire_faults_update_port(port);
	}
}

bool wire_faults_run(struct switch_port *port)
{
	const struct net_switch *sw = port->sw;
	uint64_t now = clock_ns();
	uint64_t end = now + NIC_TURN_NS;
	uint64_t work = sw->units;
	unsigned int steps = 0;

	while (faults_step(port->faults, now)) {
		steps++;
		if (sw->units - work + steps < TURN_LOOK)
			continue;
		if (clock_ns() >= end)
			return true;
		work = sw->units;
		steps = 0;
	}
	return false;
}

bool wire_faults_set_link(struct wire_faults *all, struct switch_port *port,
			  bool up, char error[WIRE_FAULTS_ERROR_SIZE])
{
	char rule[FAULTS_RULE_SIZE];

	if (up != port->cut)
		return true;
	if (up) {
		faults_clear(port->faults, true);
		wire_faults_update_port(port);
		return true;
	}
	snprintf(rule, sizeof(rule), "%s,kind=down", port->name);
	return wire_faults_add(all, rule, error);
}
