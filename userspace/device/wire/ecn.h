/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Explicit congestion notification (RFC 3168) in IP packets, RoCEv2 included */
#ifndef MYNIC_WIRE_ECN_H
#define MYNIC_WIRE_ECN_H

#include <stdbool.h>
#include <stdint.h>

struct packet;

/* Whether a packet may be marked: it is IP and ECN-capable. */
bool ecn_capable(const struct packet *pkt);

/**
 * ecn_set_ce() - mark a packet and update its checksum
 * @ip: IP header, at least IPV4_LEN bytes
 */
void ecn_set_ce(uint8_t *ip);

#endif /* MYNIC_WIRE_ECN_H */
