/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Wires of a frame a datagram: many of them in one system call */
#ifndef MYNIC_HOST_MMSG_H
#define MYNIC_HOST_MMSG_H

#include <sys/uio.h>

struct wire;

/** mmsg_init() - get memory for the input. Return: 0 or -errno */
int mmsg_init(struct wire *wire);
void mmsg_free(struct wire *wire);

/**
 * mmsg_flush() - send the queue on a connected socket, see &wire_kind.flush
 * @wire: the wire
 * @prefix: goes in front of each frame; its length may be 0
 *
 * A frame that the system has no room for, or that is too long for it, is
 * dropped and counted.
 *
 * Return: 0 or -errno.
 */
int mmsg_flush(struct wire *wire, struct iovec prefix);

/**
 * mmsg_receive() - receive what is there, as far as there is time
 * @wire: the wire
 *
 * What is no frame is counted.
 *
 * Return: how many datagrams came, or -errno; -EAGAIN if there was none.
 */
int mmsg_receive(struct wire *wire);

#endif /* MYNIC_HOST_MMSG_H */
