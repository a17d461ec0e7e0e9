/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The one thread: it waits for clients, runs the NICs and carries packets
 * between them.
 */
#ifndef MYNIC_HOST_LOOP_H
#define MYNIC_HOST_LOOP_H

#include <stdbool.h>

struct events;
struct net_switch;

/**
 * loop_run() - run the NICs of a switch until told to stop
 * @events: clients and whatever else is waited for
 * @sw: NICs may not come or go meanwhile
 * @stop: set by what @events calls
 */
void loop_run(struct events *events, struct net_switch *sw, const bool *stop);

#endif /* MYNIC_HOST_LOOP_H */
