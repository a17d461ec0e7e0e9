/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The thread that waits for clients and wires, runs the NICs, and carries
 * packets between them. It looks at the clients at least once in NIC_TURN_NS
 * and the turn of one NIC, for any number of busy NICs.
 */
#ifndef MYNIC_HOST_LOOP_H
#define MYNIC_HOST_LOOP_H

#include <stdbool.h>

struct events;
struct net_switch;
struct wire;

/**
 * struct loop - objects of the event loop
 * @events: event sources of clients, wires and all else
 * @sw: the switch; its ports must not change
 * @wires: all wires of @sw
 * @num_wires: number of @wires
 */
struct loop {
	struct events *events;
	struct net_switch *sw;
	struct wire *wires;
	unsigned int num_wires;
};

/**
 * loop_run() - run NICs and wires until @stop
 * @loop: objects of the event loop
 * @stop: becomes true when a handler of &loop.events sets it
 */
void loop_run(const struct loop *loop, const bool *stop);

#endif /* MYNIC_HOST_LOOP_H */
