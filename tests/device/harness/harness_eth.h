/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Ethernet for tests: RAW_PACKET QPs, and frames that are built byte by byte
 * with an independent computation of checksums.
 */
#ifndef MYNIC_HARNESS_ETH_H
#define MYNIC_HARNESS_ETH_H

#include "harness_driver.h"

#define ETH_GROUP "\x01\x50\x56\x19\x20\xa7"
#define ETH_SENDER "\x24\x8a\x07\xa5\x28\xc8"

/** struct eth_buf - a frame that is being built */
struct eth_buf {
	uint8_t data[9300];
	uint32_t len;
};

/*
 * eth_put() - append bytes; eth_put16(), eth_put32(): append big-endian numbers
 */
uint8_t *eth_put(struct eth_buf *buf, const void *bytes, uint32_t len);
void eth_put16(struct eth_buf *buf, uint16_t value);
void eth_put32(struct eth_buf *buf, uint32_t value);

/** eth_begin() - begin a frame with its Ethernet header */
void eth_begin(struct eth_buf *buf, const void *dmac, uint16_t ethertype);

/*
 * Append IP headers and transport headers for a payload of @len bytes. Their
 * checksums are 0 until eth_fix().
 */
void eth_put_ipv4(struct eth_buf *buf, uint32_t saddr, uint32_t daddr,
		  uint8_t proto, uint16_t len);
void eth_put_ipv6(struct eth_buf *buf, const void *saddr, const void *daddr,
		  uint8_t proto, uint16_t len);
void eth_put_udp(struct eth_buf *buf, uint16_t sport, uint16_t dport,
		 uint16_t len);
void eth_put_tcp(struct eth_buf *buf, uint16_t sport, uint16_t dport,
		 uint32_t seq, uint8_t flags);
/** eth_put_data() - append @len bytes that depend on @seed */
void eth_put_data(struct eth_buf *buf, uint32_t len, unsigned int seed);

/*
 * eth_csum() - compute the internet checksum (RFC 1071)
 * @ip: offset of the IP header
 * @l4: offset of the TCP or UDP header, or 0 for the IPv4 header itself
 *
 * Return: 0xffff if the frame's checksum is right.
 */
uint16_t eth_csum(const struct eth_buf *buf, uint32_t ip, uint32_t l4);

/** eth_fix() - fill in the checksums of IPv4, and of TCP or UDP at @l4 */
void eth_fix(struct eth_buf *buf, uint32_t ip, uint32_t l4);

/** eth_insert_tag() - insert a VLAN tag (0x8100) behind the source address */
void eth_insert_tag(struct eth_buf *buf, uint16_t tci);

/** eth_raw_up() - move a RAW_PACKET QP to RTS */
void eth_raw_up(struct drv_qp *qp);

/*
 * eth_raw_pair() - make two NICs with a RAW_PACKET QP each, without receive
 * rules
 */
struct drv_pair eth_raw_pair(void);

/*
 * eth_send_frame() - send a frame from the memory of @end, and wait for the
 * completion
 */
void eth_send_frame(struct drv_end *end, const struct eth_buf *buf,
		    unsigned int flags);

/*
 * eth_post() - post a receive request; 50 successive ones have separate buffers
 */
void eth_post(struct drv_end *end, uint64_t wr_id);

/** eth_expect() - wait for a frame at @end, and compare it */
struct mynic_cqe eth_expect(struct drv_end *end, uint64_t wr_id,
			    const struct eth_buf *buf);

/*
 * eth_flow() - CREATE_FLOW; stores the number of the rule if @number is not
 * NULL
 */
uint8_t eth_flow(struct drv_qp *qp, struct mynic_create_flow body,
		 const struct mynic_flow_spec *specs, uint32_t *number);

#endif /* MYNIC_HARNESS_ETH_H */
