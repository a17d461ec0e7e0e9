// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Rules of wire faults: their grammar, and which packets they select. They are
 * applied in faults.c.
 */

#include "rule.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/packet/packet.h"
#include "core/base/psn.h"
#include "core/base/util.h"
#include "opcode_name.h"
#include "rule_value.h"

/* Usual buffer of a small switch for one port */
#define DEFAULT_QUEUE (1 << 20)

#define MAX_QPN 0xffffff
#define MAX_BANDWIDTH 1000000000000ULL

enum {
	KEY_KIND,
	KEY_RATE,
	KEY_DIR,
	KEY_QP,
	KEY_OPCODE,
	KEY_PSN,
	KEY_PROTO,
	KEY_COUNT,
	KEY_AFTER,
	KEY_SEED,
	KEY_TIME,
	KEY_BITS,
	KEY_BANDWIDTH,
	KEY_QUEUE,
	KEY_ECN,
};

#define ROCE_KEYS (1 << KEY_QP | 1 << KEY_OPCODE | 1 << KEY_PSN)

#define KINDS "drop, duplicate, reorder, corrupt, delay, rate, mark or down"

static const char *const kinds[] = {
	[RULE_DROP] = "drop",	    [RULE_DUPLICATE] = "duplicate",
	[RULE_REORDER] = "reorder", [RULE_CORRUPT] = "corrupt",
	[RULE_DELAY] = "delay",	    [RULE_RATE] = "rate",
	[RULE_MARK] = "mark",	    [RULE_DOWN] = "down",
};

const char *rule_kind_name(enum rule_kind kind)
{
	return kinds[kind];
}

static bool rule_parse_kind(struct rule *rule, const char *value)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(value, kinds[i])) {
			rule->kind = i;
			return true;
		}
	}
	return false;
}

static bool rule_parse_rate(struct rule *rule, const char *value)
{
	return rule_value_rate(value, &rule->rate);
}

static bool rule_parse_dir(struct rule *rule, const char *value)
{
	if (!strcmp(value, "tx"))
		rule->dirs = 1 << FAULT_TX;
	else if (!strcmp(value, "rx"))
		rule->dirs = 1 << FAULT_RX;
	else
		return false;
	return true;
}

static bool rule_parse_qp(struct rule *rule, const char *value)
{
	uint64_t qpn;

	if (!rule_value_number(value, 0, MAX_QPN, &qpn))
		return false;
	rule->qpn = qpn;
	return true;
}

static bool rule_parse_opcode(struct rule *rule, const char *value)
{
	uint8_t opcode;

	if (!opcode_by_name(value, &opcode))
		return false;
	rule->opcode = opcode;
	return true;
}

static bool rule_parse_psn(struct rule *rule, const char *value)
{
	uint64_t first, last;
	const char *end = rule_value_digits(value, &first);

	if (!end)
		return false;
	last = first;
	if (*end == '-')
		end = rule_value_digits(end + 1, &last);
	if (!end || *end || first > PSN_MASK || last > PSN_MASK)
		return false;
	rule->psn_first = first;
	rule->psn_num = ((last - first) & PSN_MASK) + 1;
	return true;
}

static bool rule_parse_proto(struct rule *rule, const char *value)
{
	if (!strcmp(value, "roce"))
		rule->proto = RULE_PROTO_ROCE;
	else if (!strcmp(value, "eth"))
		rule->proto = RULE_PROTO_ETH;
	else if (!strcmp(value, "all"))
		rule->proto = RULE_PROTO_ALL;
	else
		return false;
	return true;
}

static bool rule_parse_count(struct rule *rule, const char *value)
{
	return rule_value_number(value, 1, UINT64_MAX, &rule->count);
}

static bool rule_parse_after(struct rule *rule, const char *value)
{
	return rule_value_number(value, 0, UINT64_MAX, &rule->after);
}

static bool rule_parse_seed(struct rule *rule, const char *value)
{
	return rule_value_number(value, 0, UINT64_MAX, &rule->seed);
}

static bool rule_parse_time(struct rule *rule, const char *value)
{
	return rule_value_time(value, &rule->time);
}

static bool rule_parse_bits(struct rule *rule, const char *value)
{
	uint64_t bits;

	if (!rule_value_number(value, 1, RULE_MAX_BITS, &bits))
		return false;
	rule->bits = bits;
	return true;
}

static bool rule_parse_bandwidth(struct rule *rule, const char *value)
{
	static const struct rule_unit units[] = {
		{ "bit", 1 },
		{ "kbit", 1000 },
		{ "Mbit", 1000000 },
		{ "Gbit", 1000000000 },
	};

	return rule_value_with_unit(value, units, ARRAY_SIZE(units),
				    MAX_BANDWIDTH, &rule->bandwidth);
}

static bool rule_parse_queue(struct rule *rule, const char *value)
{
	return rule_value_number(value, 0, FAULTS_MAX_HELD, &rule->queue);
}

static bool rule_parse_ecn(struct rule *rule, const char *value)
{
	return rule_value_number(value, 0, FAULTS_MAX_HELD, &rule->ecn);
}

/* All kinds except those that select no packets */
#define FOR_ALL (~(1u << RULE_DOWN))
#define FOR(kind) (1u << (kind))

/**
 * struct key - a key of a rule
 * @name: name in the text
 * @kinds: kinds of rules that have the key; bit 1 << enum rule_kind
 * @expected: description of valid values, for error messages
 * @parse: parses the value
 */
struct key {
	const char *name;
	uint32_t kinds;
	const char *expected;
	bool (*parse)(struct rule *rule, const char *value);
};

static const struct key keys[] = {
	[KEY_KIND] = { "kind", ~0u, KINDS, rule_parse_kind },
	[KEY_RATE] = { "rate", FOR_ALL,
		       "a number from 0 to 1 with at most 9 decimals",
		       rule_parse_rate },
	[KEY_DIR] = { "dir", FOR_ALL, "tx or rx", rule_parse_dir },
	[KEY_QP] = { "qp", FOR_ALL, "a QP number from 0 to 0xffffff",
		     rule_parse_qp },
	[KEY_OPCODE] = { "opcode", FOR_ALL,
			 "an opcode such as rc-send-only or 0x04",
			 rule_parse_opcode },
	[KEY_PSN] = { "psn", FOR_ALL,
		      "a PSN or a range of them, A-B, from 0 to 0xffffff",
		      rule_parse_psn },
	[KEY_PROTO] = { "proto", FOR_ALL, "roce, eth or all",
			rule_parse_proto },
	[KEY_COUNT] = { "count", FOR_ALL, "a number from 1", rule_parse_count },
	[KEY_AFTER] = { "after", FOR_ALL, "a number from 0", rule_parse_after },
	[KEY_SEED] = { "seed", FOR_ALL, "a number of 64 bits",
		       rule_parse_seed },
	[KEY_TIME] = { "time", FOR(RULE_DELAY) | FOR(RULE_REORDER),
		       "a time up to 60s such as 50us or 2ms",
		       rule_parse_time },
	[KEY_BITS] = { "bits", FOR(RULE_CORRUPT), "a number from 1 to 64",
		       rule_parse_bits },
	[KEY_BANDWIDTH] = { "bandwidth", FOR(RULE_RATE),
			    "bits per second such as 100Mbit or 1Gbit",
			    rule_parse_bandwidth },
	[KEY_QUEUE] = { "queue", FOR(RULE_RATE),
			"a number of bytes up to 67108864", rule_parse_queue },
	[KEY_ECN] = { "ecn", FOR(RULE_RATE), "a number of bytes up to 67108864",
		      rule_parse_ecn },
};

static int __attribute__((format(printf, 2, 3)))
rule_wrong(char error[FAULTS_ERROR_SIZE], const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(error, FAULTS_ERROR_SIZE, format, args);
	va_end(args);
	return -EINVAL;
}

static int rule_parse_key(struct rule *rule, char *text, char *error)
{
	const char *name = strsep(&text, "=");

	for (unsigned int i = 0; i < ARRAY_SIZE(keys); i++) {
		const struct key *key = &keys[i];

		if (strcmp(name, key->name))
			continue;
		if (rule->given & 1u << i)
			return rule_wrong(error, "%s is given twice", name);
		rule->given |= 1u << i;
		if (!text)
			return rule_wrong(error,
					  "%s has no value; it has to be %s",
					  name, key->expected);
		if (!key->parse(rule, text))
			return rule_wrong(error, "%s: \"%.32s\" is not %s",
					  name, text, key->expected);
		return 0;
	}
	return rule_wrong(error, "there is no key \"%.32s\"", name);
}

static bool rule_has(const struct rule *rule, unsigned int key)
{
	return rule->given & 1u << key;
}

static int rule_check_keys(const struct rule *rule, char *error)
{
	const char *kind = kinds[rule->kind];

	if (!rule_has(rule, KEY_KIND))
		return rule_wrong(error, "kind is missing; it has to be %s",
				  keys[KEY_KIND].expected);
	for (unsigned int i = 0; i < ARRAY_SIZE(keys); i++)
		if (rule_has(rule, i) && !(keys[i].kinds & 1u << rule->kind))
			return rule_wrong(error, "%s is not for kind=%s",
					  keys[i].name, kind);
	if (rule->kind == RULE_DELAY && !rule_has(rule, KEY_TIME))
		return rule_wrong(error, "kind=delay needs time, %s",
				  keys[KEY_TIME].expected);
	if (rule->kind == RULE_RATE && !rule_has(rule, KEY_BANDWIDTH))
		return rule_wrong(error, "kind=rate needs bandwidth, %s",
				  keys[KEY_BANDWIDTH].expected);
	if (rule_has(rule, KEY_ECN) && rule->ecn >= rule->queue)
		return rule_wrong(error, "ecn has to be less than queue, %llu",
				  (unsigned long long)rule->queue);
	if (rule->given & ROCE_KEYS && rule->proto != RULE_PROTO_ROCE)
		return rule_wrong(
			error, "with qp, opcode or psn proto has to be roce");
	return 0;
}

int rule_parse(struct rule *rule, const char *text, uint64_t seed,
	       char error[FAULTS_ERROR_SIZE])
{
	char copy[FAULTS_RULE_SIZE];
	size_t len = strlen(text);
	char *rest = copy;
	char *item;

	if (len >= sizeof(copy))
		return rule_wrong(error, "a rule has at most %zu characters",
				  sizeof(copy) - 1);
	memcpy(copy, text, len + 1);
	*rule = (struct rule){
		.rate = RULE_VALUE_RATE_ONE,
		.dirs = RULE_DIR_BOTH,
		.proto = RULE_PROTO_ALL,
		.qpn = -1,
		.opcode = -1,
		.count = UINT64_MAX,
		.seed = seed,
		.bits = 1,
		.queue = DEFAULT_QUEUE,
		.ecn = UINT64_MAX,
	};
	while ((item = strsep(&rest, ","))) {
		int err = rule_parse_key(rule, item, error);

		if (err)
			return err;
	}
	if (rule->given & ROCE_KEYS && !rule_has(rule, KEY_PROTO))
		rule->proto = RULE_PROTO_ROCE;
	return rule_check_keys(rule, error);
}

bool rule_has_seed(const struct rule *rule)
{
	return rule_has(rule, KEY_SEED);
}

bool rule_selects(const struct rule *rule, enum fault_dir dir,
		  const struct packet *pkt)
{
	if (!(rule->dirs & 1 << dir) || !(rule->proto & 1 << pkt->kind))
		return false;
	if (!(rule->given & ROCE_KEYS))
		return true;
	/* The fields of a packet with a defect are not valid. */
	if (pkt->defect != PACKET_SOUND)
		return false;
	return (rule->qpn < 0 || pkt->roce.dest_qpn == (uint32_t)rule->qpn) &&
	       (rule->opcode < 0 || pkt->roce.opcode == rule->opcode) &&
	       (!rule->psn_num ||
		((pkt->roce.psn - rule->psn_first) & PSN_MASK) < rule->psn_num);
}
