/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Flow rules: which RAW_PACKET QP receives which Ethernet frames. */
#ifndef MYNIC_FLOW_H
#define MYNIC_FLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "table.h"

struct eth_frame;
struct flow;
struct nic;

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
int flows_init(struct flows *flows);

/**
 * flow_steer() - give a frame to those who come before the port's receiver
 * @nic: the NIC
 * @frame: the frame
 *
 * Return: whether that was all: a rule has taken or dropped it.
 */
bool flow_steer(struct nic *nic, const struct eth_frame *frame);

/**
 * flow_steer_rest() - likewise, with what the port's receiver does not want
 * @nic: the NIC
 * @frame: the frame
 *
 * Return: whether a rule has taken it.
 */
bool flow_steer_rest(struct nic *nic, const struct eth_frame *frame);

void flows_free(struct nic *nic);

#endif /* MYNIC_FLOW_H */
