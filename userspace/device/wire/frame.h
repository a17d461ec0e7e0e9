/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Packets as bytes of an Ethernet frame, for wires that leave the process: the
 * headers of RoCEv2 (IBTA annex A17) with padding and ICRC, and back.
 */
#ifndef MYNIC_WIRE_FRAME_H
#define MYNIC_WIRE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "core/packet/packet.h"

/* Ethernet with a VLAN tag, IPv6, UDP, BTH and the longest headers behind it */
#define FRAME_MAX_HEADER 128
/* Padding and ICRC */
#define FRAME_MAX_TRAILER 8
/* The port's largest MTU behind an Ethernet header with a VLAN tag */
#define FRAME_MAX_LEN (9216 + 18)

/**
 * struct frame - a packet as it goes to a wire
 * @header: what precedes the payload
 * @trailer: what follows it
 * @iov: all of the frame: @header, the packet's own payload, @trailer; or, if
 *	the packet has its bytes, these
 * @niov: elements of @iov
 * @len: bytes of @iov; not padded to Ethernet's minimum, and without FCS
 */
struct frame {
	uint8_t header[FRAME_MAX_HEADER];
	uint8_t trailer[FRAME_MAX_TRAILER];
	struct iovec iov[PACKET_MAX_IOV + 2];
	unsigned int niov;
	uint32_t len;
};

/**
 * frame_build() - the bytes of a packet
 * @frame: result; points into @pkt and into itself, so it must not be moved
 * @pkt: any packet. If it has a frame, that is the result, bad or not.
 */
void frame_build(struct frame *frame, const struct packet *pkt);

/** frame_copy() - the bytes of a packet in one piece; @buf has @frame->len */
void frame_copy(const struct frame *frame, uint8_t *buf);

/**
 * frame_parse() - what a frame says
 * @data: the frame, without FCS; may be padded to Ethernet's minimum
 * @len: bytes, at most FRAME_MAX_LEN
 * @pkt: result; points into @data. &packet.defect tells of a RoCEv2 packet that
 *	is malformed or has a wrong ICRC.
 *
 * A frame is RoCEv2 if it is UDP to port 4791 in IPv4 (not a fragment) or
 * IPv6 (without extension headers); everything else is PACKET_ETH.
 *
 * Return: false if it is no frame: shorter than an Ethernet header, or too
 * long.
 */
bool frame_parse(const uint8_t *data, size_t len, struct packet *pkt);

#endif /* MYNIC_WIRE_FRAME_H */
