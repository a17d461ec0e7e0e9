/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The IP header of a RoCEv2 packet (IBTA A17.3.1), on wires and in a GRH. */
#ifndef MYNIC_IP_H
#define MYNIC_IP_H

#include <stdint.h>

struct roce_hdr;

#define IPV4_LEN 20
#define IPV6_LEN 40
#define UDP_LEN 8

/**
 * ip_build() - build the IP header of a RoCEv2 packet
 * @buf: result; room for IPV6_LEN bytes, or for IPV4 of IPV4_LEN
 * @hdr: addresses and the other fields
 * @len: bytes behind the IP header, including the UDP header
 *
 * An IPv4 header has no options and forbids fragmentation, so its
 * identification is 0 (RFC 6864).
 *
 * Return: bytes written: IPV4_LEN or IPV6_LEN.
 */
unsigned int ip_build(uint8_t *buf, const struct roce_hdr *hdr, uint32_t len);

/**
 * ip_checksum() - checksum of an IPv4 header without options
 * @header: the header
 *
 * Return: with a checksum field of 0, the value for it in host byte order;
 * otherwise 0 if the field is correct.
 */
uint16_t ip_checksum(const uint8_t header[IPV4_LEN]);

#endif /* MYNIC_IP_H */
