/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Ethernet for tests: RAW_PACKET QPs, and frames that are written byte by byte,
 * with checksums of their own.
 */
#ifndef MYNIC_HARNESS_ETH_H
#define MYNIC_HARNESS_ETH_H

#include "harness_driver.h"

#define ETH_GROUP "\x01\x50\x56\x19\x20\xa7"
#define ETH_SENDER "\x24\x8a\x07\xa5\x28\xc8"

/** struct eth_buf - a frame that is being written */
struct eth_buf {
	uint8_t data[9300];
	uint32_t len;
};

/** eth_put() - add bytes; eth_put16(), eth_put32(): big-endian numbers */
uint8_t *eth_put(struct eth_buf *buf, const void *bytes, uint32_t len);
void eth_put16(struct eth_buf *buf, uint16_t value);
void eth_put32(struct eth_buf *buf, uint32_t value);

/** eth_begin() - an empty frame but for its Ethernet header */
void eth_begin(struct eth_buf *buf, const void *dmac, uint16_t ethertype);

/*
 * IP headers and those behind them, for @len bytes that are still to come. The
 * checksums are 0: eth_fix() fills them in.
 */
void eth_put_ipv4(struct eth_buf *buf, uint32_t saddr, uint32_t daddr,
		  uint8_t proto, uint16_t len);
void eth_put_ipv6(struct eth_buf *buf, const void *saddr, const void *daddr,
		  uint8_t proto, uint16_t len);
void eth_put_udp(struct eth_buf *buf, uint16_t sport, uint16_t dport,
		 uint16_t len);
void eth_put_tcp(struct eth_buf *buf, uint16_t sport, uint16_t dport,
		 uint32_t seq, uint8_t flags);
/** eth_put_data() - @len bytes that depend on @seed */
void eth_put_data(struct eth_buf *buf, uint32_t len, unsigned int seed);

/*
 * eth_csum() - the sum that a checksum is made of (RFC 1071)
 * @ip: offset of the IP header
 * @l4: offset of the TCP or UDP header, or 0 for the IPv4 header itself
 *
 * Return: 0xffff if all is right.
 */
uint16_t eth_csum(const struct eth_buf *buf, uint32_t ip, uint32_t l4);

/** eth_fix() - fill in the checksums of IPv4 and, at @l4, TCP or UDP */
void eth_fix(struct eth_buf *buf, uint32_t ip, uint32_t l4);

/** eth_raw_up() - a RAW_PACKET QP to RTS */
void eth_raw_up(struct drv_qp *qp);

/** eth_raw_pair() - two NICs with such a QP each, that receive nothing yet */
struct drv_pair eth_raw_pair(void);

/** eth_send_frame() - from the memory of @end, signaled, and wait for it */
void eth_send_frame(struct drv_end *end, const struct eth_buf *buf,
		    unsigned int flags);

/** eth_post() - a receive request; 50 in turn have memory of their own */
void eth_post(struct drv_end *end, uint64_t wr_id);

/** eth_expect() - @end receives this frame */
struct mynic_cqe eth_expect(struct drv_end *end, uint64_t wr_id,
			    const struct eth_buf *buf);

/** eth_flow() - CREATE_FLOW; gives back the number if @number is not NULL */
uint8_t eth_flow(struct drv_qp *qp, struct mynic_create_flow body,
		 const struct mynic_flow_spec *specs, uint32_t *number);

#endif /* MYNIC_HARNESS_ETH_H */
