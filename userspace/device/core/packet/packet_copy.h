/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Copies of packets that outlive the call that brought them. A copy is in one
 * piece.
 */
#ifndef MYNIC_PACKET_COPY_H
#define MYNIC_PACKET_COPY_H

#include <stddef.h>

struct packet;

/**
 * packet_copy_size() - size of a packet's copy
 * @pkt: the packet
 *
 * Return: bytes, a multiple of the alignment of struct packet.
 */
size_t packet_copy_size(const struct packet *pkt);

/**
 * packet_copy() - copy a packet with its payload, or its frame
 * @buf: packet_copy_size(@pkt) bytes, aligned for struct packet
 * @pkt: the packet; if it has a frame, its payload must lie in the frame
 */
void packet_copy(void *buf, const struct packet *pkt);

/**
 * packet_load() - make a packet of a copy
 * @buf: the copy
 * @pkt: result, with pointers into @buf
 *
 * Return: packet_copy_size(@pkt).
 */
size_t packet_load(const void *buf, struct packet *pkt);

/**
 * packet_copy_cost() - what a copy that waits counts as
 * @size: bytes that it takes
 *
 * So that few wait, and are soon forgotten.
 *
 * Return: @size, or 2 KiB if that is more.
 */
static inline size_t packet_copy_cost(size_t size)
{
	return size < 2048 ? 2048 : size;
}

#endif /* MYNIC_PACKET_COPY_H */
