/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A rule for faults: what it says, and which packets it is meant for */
#ifndef MYNIC_WIRE_RULE_H
#define MYNIC_WIRE_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "faults.h"

enum rule_kind {
	RULE_DROP,
	RULE_DUPLICATE,
	RULE_REORDER,
	RULE_CORRUPT,
	RULE_DELAY,
	RULE_RATE,
	RULE_MARK,
	RULE_DOWN,
};

/* &struct rule.proto: bit 1 << enum packet_kind */
#define RULE_PROTO_ETH 1
#define RULE_PROTO_ROCE 2
#define RULE_PROTO_ALL 3

/* &struct rule.dirs: bit 1 << enum fault_dir */
#define RULE_DIR_BOTH 3

/* &struct rule.rate: always */
#define RULE_RATE_ONE 1000000000

#define RULE_MAX_BITS 64

/**
 * struct rule - a rule
 * @given: keys that the text has, bit 1 << enum of rule.c
 * @kind: what to do
 * @rate: how often, in parts of RULE_RATE_ONE
 * @dirs: to packets of these directions
 * @proto: of these kinds
 * @qpn: for this QP, or -1 for any
 * @opcode: with this opcode, or -1 for any
 * @psn_first: with a PSN from this one ...
 * @psn_num: ... on, so many; 0 for any PSN
 * @after: not to the first of them
 * @count: at most so often
 * @seed: of the rule's random numbers
 * @time: RULE_DELAY, RULE_REORDER: how long, ns; RULE_REORDER: 0 until the
 *	next packet has overtaken it
 * @bits: RULE_CORRUPT: how many, 1 to RULE_MAX_BITS
 * @bandwidth: RULE_RATE: bits per second
 * @queue: RULE_RATE: bytes that may wait
 * @ecn: RULE_RATE: bytes that may wait without a mark
 */
struct rule {
	uint32_t given;
	enum rule_kind kind;
	uint32_t rate;
	uint8_t dirs;
	uint8_t proto;
	int32_t qpn;
	int16_t opcode;
	uint32_t psn_first;
	uint32_t psn_num;
	uint64_t after;
	uint64_t count;
	uint64_t seed;
	uint64_t time;
	uint32_t bits;
	uint64_t bandwidth;
	uint64_t queue;
	uint64_t ecn;
};

/**
 * rule_parse() - what a rule says
 * @rule: result
 * @text: what follows "PORT," in the grammar
 * @seed: if @text has none
 * @error: says on failure what is wrong with @text
 *
 * Return: 0 or -EINVAL.
 */
int rule_parse(struct rule *rule, const char *text, uint64_t seed,
	       char error[FAULTS_ERROR_SIZE]);

/** rule_has_seed() - whether the text of the rule had a seed */
bool rule_has_seed(const struct rule *rule);

/** rule_selects() - whether a packet is of those that the rule is meant for */
bool rule_selects(const struct rule *rule, enum fault_dir dir,
		  const struct packet *pkt);

#endif /* MYNIC_WIRE_RULE_H */
