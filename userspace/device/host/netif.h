/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Wires over a network interface of the host: whether it is up */
#ifndef MYNIC_HOST_NETIF_H
#define MYNIC_HOST_NETIF_H

#include <stdbool.h>

struct wire;

/**
 * netif_open() - have &wire_kind.try called, now and when an interface changes
 * @wire: the wire; uses &wire.other
 * @fd: reaches the wire's interface; closed on failure
 *
 * Return: 0 or -errno, which has been reported.
 */
int netif_open(struct wire *wire, int fd);
void netif_close(struct wire *wire);

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
