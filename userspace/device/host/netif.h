/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Wires over a network interface of the host: whether it is up */
#ifndef MYNIC_HOST_NETIF_H
#define MYNIC_HOST_NETIF_H

#include <stdbool.h>

struct wire;

/**
 * netif_watch() - have &wire_kind.try called when an interface changes
 * @wire: the wire; uses &wire.other
 *
 * Return: 0 or -errno, which has been reported.
 */
int netif_watch(struct wire *wire);
void netif_unwatch(struct wire *wire);

/**
 * netif_running() - whether the wire's interface is up and has a carrier
 * @wire: the wire
 * @why: says why not
 *
 * Return: its index, or 0.
 */
unsigned int netif_running(const struct wire *wire, const char **why);

/** netif_drop() - the wire has gone down, see &wire_kind.drop */
void netif_drop(struct wire *wire);

/** netif_name() - copy the interface's name. Return: 0, or -ENAMETOOLONG */
int netif_name(const struct wire *wire, char *name);

#endif /* MYNIC_HOST_NETIF_H */
