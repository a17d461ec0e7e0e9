/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Wires with one frame in each datagram: many datagrams in one system call */
#ifndef MYNIC_HOST_MMSG_H
#define MYNIC_HOST_MMSG_H

#include <sys/uio.h>

struct wire;

/* Allocates memory for the input. Returns 0 or -errno. */
int mmsg_init(struct wire *wire);
void mmsg_free(struct wire *wire);

/**
 * mmsg_flush() - send the queue on a connected socket, see &wire_kind.flush
 * @wire: the wire
 * @prefix: bytes in front of each frame; the length may be 0
 *
 * A frame is dropped and counted if the system has no room for it, or if it is
 * too long.
 *
 * Return: 0 or -errno.
 */
int mmsg_flush(struct wire *wire, struct iovec prefix);

/**
 * mmsg_receive() - receive datagrams, as far as there is time
 * @wire: the wire
 *
 * It counts what is not a frame.
 *
 * Return: number of datagrams, or -errno; -EAGAIN if there was none.
 */
int mmsg_receive(struct wire *wire);

#endif /* MYNIC_HOST_MMSG_H */
