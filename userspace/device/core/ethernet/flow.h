/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Flow rules: which RAW_PACKET QP receives which Ethernet frames. */
#ifndef MYNIC_FLOW_H
#define MYNIC_FLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/table.h"

struct eth_frame;
struct flow;
struct mem;
struct nic;
struct spread_place;

/*
 * Rules that are asked at the same time, in the order of their priorities, and
 * among equals of their age
 */
TAILQ_HEAD(flow_list, flow);

/**
 * struct flows - flow rules
 * @sniffers: get a copy of all frames
 * @rules: NORMAL: before the port's own receiver
 * @defaults: ALL_DEFAULT and MC_DEFAULT: behind it
 * @numbers: all of them by number
 */
struct flows {
	struct flow_list sniffers;
	struct flow_list rules;
	struct flow_list defaults;
	struct table numbers;
};

/** flows_init() - no rules. Return: 0 or -ENOMEM. */
int flows_init(struct flows *flows, struct mem *mem);

/**
 * enum flow_result - what the rules say of a frame
 * @FLOW_PASSED: none keeps it from those behind
 * @FLOW_TAKEN: one has taken or dropped it
 * @FLOW_STOPPED: the turn is over, and not all have been asked
 */
enum flow_result {
	FLOW_PASSED,
	FLOW_TAKEN,
	FLOW_STOPPED,
};

/**
 * flow_steer() - give a frame to those who come before the port's receiver
 * @nic: the NIC
 * @frame: the frame
 * @place: where to go on; how far it came
 *
 * Return: what came of it.
 */
enum flow_result flow_steer(struct nic *nic, const struct eth_frame *frame,
			    struct spread_place *place);

/** flow_steer_rest() - likewise, with what the port's receiver does not want */
enum flow_result flow_steer_rest(struct nic *nic, const struct eth_frame *frame,
				 struct spread_place *place);

/** flows_free_one() - in a reset: the next from @number on; false: no more */
bool flows_free_one(struct nic *nic, uint32_t *number);

#endif /* MYNIC_FLOW_H */
