/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Packets that outlive the call that brought them: a copy in one piece, for
 * queues.
 */
#ifndef MYNIC_PACKET_COPY_H
#define MYNIC_PACKET_COPY_H

#include <stddef.h>

#include "packet/packet.h"

/**
 * packet_copy_size() - bytes that a copy takes
 * @pkt: the packet
 *
 * Return: a multiple of the alignment of struct packet.
 */
size_t packet_copy_size(const struct packet *pkt);

/**
 * packet_copy() - copy a packet with its payload, or its frame
 * @buf: packet_copy_size(@pkt) bytes, aligned for struct packet
 * @pkt: the packet. If it has a frame, its payload is a part of that.
 */
void packet_copy(void *buf, const struct packet *pkt);

/**
 * packet_load() - have a copy as a packet again
 * @buf: the copy
 * @pkt: result; points into @buf
 *
 * Return: packet_copy_size(@pkt).
 */
size_t packet_load(const void *buf, struct packet *pkt);

#endif /* MYNIC_PACKET_COPY_H */
