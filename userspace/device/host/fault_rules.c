// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Rules of all faults: to which of the two kinds a rule belongs, and the rules
 * of presets. Wire faults are in wire_faults.c, and NIC faults in the core.
 */

#include "fault_rules.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/base/util.h"
#include "core/nic_faults.h"
#include "log.h"
#include "nic_rule.h"
#include "switch.h"
#include "wire/rule.h"
#include "wire/rule_value.h"

#define PRESET_KEY "preset="
#define SEED_KEY "seed="

/* Those of wires and NICs */
#define NUM_KINDS (RULE_DOWN + 1 + NIC_FAULT_VANISH + 1)

/* Upper bound for the rules of a preset */
#define PRESET_RULES 4

/**
 * struct preset - a name for some rules
 * @name: the name
 * @rules: the rules, without port and seed
 */
struct preset {
	const char *name;
	const char *rules[PRESET_RULES];
};

static const struct preset presets[] = {
	{ "flap", { "kind=flap,every=2s,time=100ms" } },
	{ "rnr-storm", { "kind=rnr,rate=0.5" } },
	{ "half-open", { "kind=drop,dir=rx,proto=roce" } },
	{ "slow-cq",
	  { "kind=irq-delay,time=5ms",
	    "kind=delay,dir=rx,opcode=rc-ack,time=2ms" } },
	{ "dying-nic",
	  { "kind=command-delay,time=50ms,rate=0.2", "kind=irq-lose,rate=0.05",
	    "kind=completion,status=LOC_QP_OP_ERR,rate=0.001",
	    "kind=fatal,every=10s,count=1" } },
};

static unsigned int __attribute__((format(printf, 2, 3)))
fault_rules_fail(char error[WIRE_FAULTS_ERROR_SIZE], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error, WIRE_FAULTS_ERROR_SIZE, format, args);
	va_end(args);
	return 0;
}

/* The port that a rule begins with, or NULL. @text: out: the part behind it */
static struct switch_port *fault_rules_port(const struct net_switch *sw,
					    const char *rule, const char **text)
{
	size_t len = strcspn(rule, ",");

	*text = rule[len] ? rule + len + 1 : "";
	for (unsigned int i = 0; i < sw->num; i++) {
		const char *name = sw->ports[i]->name;

		if (!strncmp(rule, name, len) && !name[len])
			return sw->ports[i];
	}
	return NULL;
}

/* Those of wires, and then those of NICs, which have both */
static const char *fault_rules_kind_name(unsigned int i)
{
	return i <= RULE_DOWN ? rule_kind_name(i) :
				nic_rule_kind_name(i - RULE_DOWN - 1);
}

static bool fault_rules_knows_kind(const char *kind, size_t len)
{
	for (unsigned int i = 0; i < NUM_KINDS; i++) {
		const char *name = fault_rules_kind_name(i);

		if (!strncmp(name, kind, len) && !name[len])
			return true;
	}
	return false;
}

static unsigned int fault_rules_no_kind(const char *kind, size_t len,
					char error[WIRE_FAULTS_ERROR_SIZE])
{
	char names[WIRE_FAULTS_ERROR_SIZE] = "";
	size_t used = 0;

	for (unsigned int i = 0; i < NUM_KINDS && used < sizeof(names); i++)
		used += snprintf(names + used, sizeof(names) - used, "%s%s",
				 !i		    ? "" :
				 i == NUM_KINDS - 1 ? " or " :
						      ", ",
				 fault_rules_kind_name(i));
	return fault_rules_fail(error, "kind: \"%.*s\" is not %s",
				(int)(len < 32 ? len : 32), kind, names);
}

/* A rule that takes effect now, and would have none */
static unsigned int fault_rules_no_target(const struct switch_port *port,
					  const struct nic_fault *rule,
					  char *error)
{
	if (rule->kind == NIC_FAULT_QP_ERROR)
		return fault_rules_fail(
			error, "%.32s has no QP 0x%x, or it is in RESET",
			port->name, (unsigned int)rule->qpn);
	if (rule->key < 0)
		return fault_rules_fail(
			error, "%.32s has no memory region with memory",
			port->name);
	return fault_rules_fail(error,
				"%.32s has no memory region with the key 0x%x",
				port->name, (unsigned int)rule->key);
}

static unsigned int fault_rules_add_to_nic(struct wire_faults *all,
					   struct switch_port *port,
					   const char *text, char *error)
{
	struct nic_fault rule;
	uint64_t seed;

	if (!port->nic)
		return fault_rules_fail(error, "%.32s is a wire, not a NIC",
					port->name);
	if (!wire_faults_random_seed(&seed))
		return fault_rules_fail(error, "no random numbers");
	if (!nic_rule_parse(&rule, text, seed, error))
		return 0;
	if (!nic_fault_has_target(port->nic, &rule))
		return fault_rules_no_target(port, &rule, error);
	rule.number = all->last_number + 1;
	if (nic_fault_add(port->nic, &rule))
		return fault_rules_fail(error,
					"there are %u rules, or no memory",
					nic_fault_num(port->nic));
	log_line(port->log, "fault %u: %s", rule.number, rule.text);
	return ++all->last_number;
}

static unsigned int fault_rules_add_one(struct wire_faults *all,
					const char *rule, char *error)
{
	const char *text, *kind;
	struct switch_port *port = fault_rules_port(all->sw, rule, &text);
	size_t len;

	if (port && nic_rule_is_one(text))
		return fault_rules_add_to_nic(all, port, text, error);
	kind = nic_rule_kind_of(text, &len);
	if (port && port->nic && kind && !fault_rules_knows_kind(kind, len))
		return fault_rules_no_kind(kind, len, error);
	return wire_faults_add(all, rule, error);
}

static const struct preset *fault_rules_find_preset(const char *name,
						    size_t len)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(presets); i++) {
		if (!strncmp(presets[i].name, name, len) &&
		    !presets[i].name[len])
			return &presets[i];
	}
	return NULL;
}

/* All rules of a preset, or none */
static unsigned int fault_rules_add_all(struct wire_faults *all,
					const char *port,
					const struct preset *preset,
					uint64_t seed, char *error)
{
	unsigned int first = all->last_number + 1;
	char rule[FAULTS_RULE_SIZE];

	for (unsigned int i = 0; i < PRESET_RULES && preset->rules[i]; i++) {
		snprintf(rule, sizeof(rule), "%.64s,%s,seed=%" PRIu64, port,
			 preset->rules[i], seed + i);
		if (fault_rules_add_one(all, rule, error))
			continue;
		for (; all->last_number >= first; all->last_number--)
			fault_rules_delete(all, all->last_number);
		return 0;
	}
	return first;
}

/* What follows the name of a preset */
static bool fault_rules_preset_seed(const char *text, uint64_t *seed,
				    char *error)
{
	const char *value = text + strlen(SEED_KEY);

	if (strncmp(text, SEED_KEY, strlen(SEED_KEY)))
		return fault_rules_fail(
			error, "a preset can have seed=N, but not \"%.32s\"",
			text);
	return rule_value_number(value, 0, UINT64_MAX - PRESET_RULES, seed) ||
	       fault_rules_fail(
		       error, "seed: \"%.32s\" is not a number up to %" PRIu64,
		       value, UINT64_MAX - PRESET_RULES);
}

static unsigned int fault_rules_add_preset(struct wire_faults *all,
					   const struct switch_port *port,
					   const char *text, char *error)
{
	size_t len = strcspn(text, ",");
	const struct preset *preset = fault_rules_find_preset(text, len);
	const char *rest = text + len;
	uint64_t seed;

	if (!preset)
		return fault_rules_fail(error, "there is no preset \"%.*s\"",
					(int)(len < 32 ? len : 32), text);
	if (!port->nic)
		return fault_rules_fail(error, "%.32s is a wire, not a NIC",
					port->name);
	if (!*rest && !wire_faults_random_seed(&seed))
		return fault_rules_fail(error, "no random numbers");
	if (*rest && !fault_rules_preset_seed(rest + 1, &seed, error))
		return 0;
	return fault_rules_add_all(all, port->name, preset, seed, error);
}

unsigned int fault_rules_add(struct wire_faults *all, const char *rule,
			     char error[WIRE_FAULTS_ERROR_SIZE])
{
	const char *text;
	struct switch_port *port = fault_rules_port(all->sw, rule, &text);

	if (port && !*text)
		return fault_rules_fail(
			error,
			"a rule is PORT,kind=KIND or PORT,preset=NAME, with PORT %.32s here",
			port->name);
	if (port && !strncmp(text, PRESET_KEY, strlen(PRESET_KEY)))
		return fault_rules_add_preset(all, port,
					      text + strlen(PRESET_KEY), error);
	return fault_rules_add_one(all, rule, error);
}

bool fault_rules_delete(struct wire_faults *all, unsigned int number)
{
	const struct net_switch *sw = all->sw;

	for (unsigned int i = 0; i < sw->num; i++) {
		if (sw->ports[i]->nic &&
		    nic_fault_delete(sw->ports[i]->nic, number))
			return true;
	}
	return wire_faults_delete(all, number);
}

void fault_rules_clear(struct wire_faults *all)
{
	const struct net_switch *sw = all->sw;

	for (unsigned int i = 0; i < sw->num; i++) {
		struct nic *nic = sw->ports[i]->nic;

		while (nic && nic_fault_num(nic))
			nic_fault_delete(nic, nic_fault_at(nic, 0)->number);
	}
	wire_faults_clear(all);
}
