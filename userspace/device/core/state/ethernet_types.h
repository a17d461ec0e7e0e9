/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The receive filter and the flow rules, as ethernet/ has them. */
#ifndef MYNIC_ETHERNET_TYPES_H
#define MYNIC_ETHERNET_TYPES_H

#include <stdint.h>

#include "base/table.h"
#include "mynic_regs.h"

struct flow;
struct qp;

/**
 * struct eth - receive filter
 * @qp: receiver of the port's frames; NULL if there is none
 * @flags: MYNIC_RX_*
 * @num_macs: elements of @macs
 * @macs: MACs that are received besides the port's own and broadcast
 */
struct eth {
	struct qp *qp;
	uint32_t flags;
	uint32_t num_macs;
	uint8_t macs[MYNIC_RX_MAX_MACS][6];
};

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

#endif /* MYNIC_ETHERNET_TYPES_H */
