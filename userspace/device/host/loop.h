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
 * struct loop - what the thread has to do with
 * @events: clients, wires and whatever else is waited for
 * @sw: what is joined; NICs and wires may not come or go meanwhile
 * @wires: all wires of @sw
 * @num_wires: of @wires
 */
struct loop {
	struct events *events;
	struct net_switch *sw;
	struct wire *wires;
	unsigned int num_wires;
};

/**
 * loop_run() - run all until told to stop
 * @loop: see there
 * @stop: set by what &loop.events calls
 */
void loop_run(const struct loop *loop, const bool *stop);

#endif /* MYNIC_HOST_LOOP_H */
