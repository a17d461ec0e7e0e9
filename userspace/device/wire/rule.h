/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A rule for wire faults, and the packets that it selects */
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

/* Bits of &struct rule.proto: 1 << enum packet_kind */
#define RULE_PROTO_ETH 1
#define RULE_PROTO_ROCE 2
#define RULE_PROTO_ALL 3

/* Bits of &struct rule.dirs: 1 << enum fault_dir */
#define RULE_DIR_BOTH 3

#define RULE_MAX_BITS 64

/**
 * struct rule - a parsed rule
 * @given: keys that the text has, one bit for each; the enum is in rule.c
 * @kind: kind of the wire fault
 * @rate: probability, in units of 1 / RULE_VALUE_RATE_ONE
 * @dirs: selects directions
 * @proto: selects kinds of packets
 * @qpn: selects a destination QP; -1: any
 * @opcode: selects an opcode; -1: any
 * @psn_first: first PSN that is selected
 * @psn_num: number of PSNs that are selected; 0: all
 * @after: number of selected packets to skip first
 * @count: upper bound for the number of times that it is applied
 * @seed: seed of its random numbers
 * @time: RULE_DELAY, RULE_REORDER: time in ns; RULE_REORDER: 0: until the next
 *	packet has overtaken it
 * @bits: RULE_CORRUPT: number of bits, 1 to RULE_MAX_BITS
 * @bandwidth: RULE_RATE: bits per second
 * @queue: RULE_RATE: upper bound of the queue, bytes
 * @ecn: RULE_RATE: length of the queue above which packets are marked, bytes
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

/* The name of a kind of rules */
const char *rule_kind_name(enum rule_kind kind);

/**
 * rule_parse() - parse a rule
 * @rule: result
 * @text: the part behind "PORT," in the grammar
 * @seed: seed for a text without one
 * @error: out: on failure, a description of the error
 *
 * Return: 0 or -EINVAL.
 */
int rule_parse(struct rule *rule, const char *text, uint64_t seed,
	       char error[FAULTS_ERROR_SIZE]);

/* Whether the text of the rule has a seed. */
bool rule_has_seed(const struct rule *rule);

/* Whether the rule selects a packet. */
bool rule_selects(const struct rule *rule, enum fault_dir dir,
		  const struct packet *pkt);

#endif /* MYNIC_WIRE_RULE_H */
