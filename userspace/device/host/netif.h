/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Wires on a network interface of the host: the state of the interface */
#ifndef MYNIC_HOST_NETIF_H
#define MYNIC_HOST_NETIF_H

#include <stdbool.h>

struct wire;

/**
 * netif_open() - have &wire_kind.try called, now and after changes
 * @wire: the wire; uses &wire.other
 * @fd: file that belongs to the interface; closed on failure
 *
 * Return: 0; or -errno, after the error was reported.
 */
int netif_open(struct wire *wire, int fd);
void netif_close(struct wire *wire);

/**
 * netif_running() - check whether the interface is up and has a carrier
 * @wire: the wire
 * @why: out: on failure, the reason
 *
 * Return: index of the interface, or 0.
 */
unsigned int netif_running(const struct wire *wire, const char **why);

/* The wire has gone down, see &wire_kind.drop. */
void netif_drop(struct wire *wire);

/* Copies the interface's name. Returns 0, or -ENAMETOOLONG. */
int netif_name(const struct wire *wire, char *name);

#endif /* MYNIC_HOST_NETIF_H */
