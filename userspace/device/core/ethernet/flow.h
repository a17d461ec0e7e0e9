/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Flow rules: which RAW_PACKET QP receives which Ethernet frames. */
#ifndef MYNIC_FLOW_H
#define MYNIC_FLOW_H

#include <stdbool.h>
#include <stdint.h>

struct admin_call;
struct eth_frame;
struct flows;
struct mem;
struct nic;
struct spread_place;

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

/* Commands of the host; see admin.h */
int admin_create_flow(struct nic *nic, struct admin_call *call);
int admin_destroy_flow(struct nic *nic, struct admin_call *call);

#endif /* MYNIC_FLOW_H */
