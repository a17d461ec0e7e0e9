// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Copies of packets in one piece of memory, for queues that outlive a call. */

#include "packet/packet_copy.h"

#include <stdint.h>
#include <string.h>

#include "packet/packet.h"

/* The part of struct packet that is stored; the scatter list is rebuilt */
#define HEADER_SIZE offsetof(struct packet, iov)

/*
 * Layout of a copy. The bytes are those of the frame if there is one, and the
 * payload otherwise.
 */
struct copy {
	uint8_t header[HEADER_SIZE];
	uint32_t payload_at;
	uint8_t bytes[];
};

size_t packet_copy_size(const struct packet *pkt)
{
	size_t len = pkt->frame ? pkt->frame_len : pkt->payload_len;
	size_t align = _Alignof(struct packet);

	return (sizeof(struct copy) + len + align - 1) / align * align;
}

void packet_copy(void *buf, const struct packet *pkt)
{
	struct copy *copy = buf;
	uint8_t *at = copy->bytes;

	memcpy(copy->header, pkt, HEADER_SIZE);
	copy->payload_at = 0;
	if (pkt->frame) {
		memcpy(at, pkt->frame, pkt->frame_len);
		if (pkt->niov)
			copy->payload_at =
				(uint8_t *)pkt->iov[0].iov_base - pkt->frame;
		return;
	}
	for (uint32_t i = 0; i < pkt->niov; i++) {
		memcpy(at, pkt->iov[i].iov_base, pkt->iov[i].iov_len);
		at += pkt->iov[i].iov_len;
	}
}

size_t packet_load(const void *buf, struct packet *pkt)
{
	const struct copy *copy = buf;

	memcpy(pkt, copy->header, HEADER_SIZE);
	if (pkt->frame)
		pkt->frame = copy->bytes;
	pkt->niov = pkt->payload_len ? 1 : 0;
	pkt->iov[0].iov_base = (void *)(copy->bytes + copy->payload_at);
	pkt->iov[0].iov_len = pkt->payload_len;
	return packet_copy_size(pkt);
}
