/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Frames as bytes, for wires that leave the process. RoCEv2 packets (IBTA annex
 * A17) get headers, padding and ICRC, and lose them again.
 */
#ifndef MYNIC_WIRE_FRAME_H
#define MYNIC_WIRE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "core/packet/packet.h"

/*
 * Bytes of Ethernet with a VLAN tag, IPv6, UDP, BTH and the longest extended
 * headers
 */
#define FRAME_MAX_HEADER 128
/* Bytes of padding and ICRC */
#define FRAME_MAX_TRAILER 8
/* Bytes of the largest MTU with an Ethernet header and a VLAN tag */
#define FRAME_MAX_LEN (9216 + 18)

/**
 * struct frame - the bytes of a packet
 * @header: bytes before the payload
 * @trailer: bytes behind the payload
 * @iov: the whole frame: @header, the packet's own payload, @trailer; or the
 *	bytes that the packet has already
 * @niov: elements of @iov
 * @len: bytes of @iov, without FCS and without padding to Ethernet's minimum
 * @has_icrc: the frame ends with an ICRC, for which @trailer has only room
 * @icrc: that of the headers
 */
struct frame {
	uint8_t header[FRAME_MAX_HEADER];
	uint8_t trailer[FRAME_MAX_TRAILER];
	struct iovec iov[PACKET_MAX_IOV + 2];
	unsigned int niov;
	uint32_t len;
	bool has_icrc;
	uint32_t icrc;
};

/**
 * frame_build() - build the bytes of a packet
 * @frame: result; it has pointers to itself and to @pkt, so it must not be
 *	moved
 * @pkt: any packet; if it has a frame, the result is that frame, with any
 *	defect
 */
void frame_build(struct frame *frame, const struct packet *pkt);

/*
 * Copies the bytes of a frame to @buf, which has room for @frame->len. The ICRC is
 * right there even if the payload changes meanwhile.
 */
void frame_copy(const struct frame *frame, uint8_t *buf);

/**
 * frame_parse() - parse a frame
 * @data: the frame, without FCS; it may have padding
 * @len: bytes, at most FRAME_MAX_LEN
 * @pkt: result, with pointers into @data; &packet.defect is set for RoCEv2 that
 *	is malformed or has a wrong ICRC
 *
 * A frame is RoCEv2 if it is UDP to port 4791, in IPv4 without fragmentation or
 * in IPv6 without extension headers. All others are PACKET_ETH.
 *
 * Return: false if the length is less than an Ethernet header, or too large.
 */
bool frame_parse(const uint8_t *data, size_t len, struct packet *pkt);

#endif /* MYNIC_WIRE_FRAME_H */
