/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Flow rules: which RAW_PACKET QP receives which Ethernet frames. */
#ifndef MYNIC_FLOW_H
#define MYNIC_FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"

struct eth_frame;
struct flow;
struct mem;
struct nic;
struct spread_place;

#define FLOW_MAX_RULES 4096

/**
 * struct flow_list - rules of one stage
 * @flows: rules in the order of their priorities; among equals, older ones first
 * @num: number of rules
 *
 * This is an array, in which a rule is found by its priority and age. No command
 * has to walk through thousands of rules.
 */
struct flow_list {
	struct flow *flows[FLOW_MAX_RULES];
	uint32_t num;
};

/**
 * struct flows - all flow rules of a NIC
 * @sniffers: rules that get a copy of each frame
 * @rules: NORMAL rules, which come before the port's own receiver
 * @defaults: ALL_DEFAULT and MC_DEFAULT, which come after it
 * @numbers: all rules by number
 * @num_made: number of rules ever created
 */
struct flows {
	struct flow_list sniffers;
	struct flow_list rules;
	struct flow_list defaults;
	struct table numbers;
	uint64_t num_made;
};

/* Returns 0 or -ENOMEM. */
int flows_init(struct flows *flows, struct mem *mem);

/**
 * enum flow_result - what flow rules have done with a frame
 * @FLOW_PASSED: later receivers may have it
 * @FLOW_TAKEN: a rule has taken or dropped it
 * @FLOW_STOPPED: the turn ended before all rules were asked
 */
enum flow_result {
	FLOW_PASSED,
	FLOW_TAKEN,
	FLOW_STOPPED,
};

/**
 * flow_steer() - ask the rules that come before the port's receiver
 * @nic: the NIC
 * @frame: the frame
 * @place: in and out: where to continue
 *
 * Return: the result.
 */
enum flow_result flow_steer(struct nic *nic, const struct eth_frame *frame,
			    struct spread_place *place);

/* Asks the rules for frames that the port's receiver does not take. */
enum flow_result flow_steer_rest(struct nic *nic, const struct eth_frame *frame,
				 struct spread_place *place);

/* Part of a reset: frees a rule. Returns false if there is none. */
bool flows_free_one(struct nic *nic, uint32_t *number);

#endif /* MYNIC_FLOW_H */
