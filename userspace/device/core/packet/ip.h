/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The IP header below RoCEv2 (IBTA A17.3.1): on wires, and in a GRH. */
#ifndef MYNIC_IP_H
#define MYNIC_IP_H

#include <stdint.h>

struct roce_hdr;

#define IPV4_LEN 20
#define IPV6_LEN 40
#define UDP_LEN 8

/**
 * ip_build() - the IP header of a RoCEv2 packet
 * @buf: result; has room for IPV6_LEN or, for IPv4, IPV4_LEN bytes
 * @hdr: addresses and the header's other fields
 * @len: bytes behind the header, UDP's included
 *
 * IPv4 goes without options and must not be fragmented, so its identification
 * is 0 (RFC 6864).
 *
 * Return: bytes written: IPV4_LEN or IPV6_LEN.
 */
unsigned int ip_build(uint8_t *buf, const struct roce_hdr *hdr, uint32_t len);

/**
 * ip_checksum() - the checksum of an IPv4 header without options
 * @header: the header
 *
 * Return: what the checksum field has to hold, host byte order, if it is 0
 * now; 0 if it holds the right value.
 */
uint16_t ip_checksum(const uint8_t header[IPV4_LEN]);

#endif /* MYNIC_IP_H */
