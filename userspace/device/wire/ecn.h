/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Explicit congestion notification (RFC 3168), of RoCEv2 and any other IP */
#ifndef MYNIC_WIRE_ECN_H
#define MYNIC_WIRE_ECN_H

#include <stdbool.h>
#include <stdint.h>

struct packet;

/* Bits 1:0 of the traffic class */
#define ECN_MASK 3
#define ECN_CE 3

/** ecn_capable() - whether a packet may be marked: it is IP and has an ECT */
bool ecn_capable(const struct packet *pkt);

/**
 * ecn_set_ce() - mark a packet
 * @ip: its IP header, at least IPV4_LEN bytes; the checksum follows
 */
void ecn_set_ce(uint8_t *ip);

#endif /* MYNIC_WIRE_ECN_H */
