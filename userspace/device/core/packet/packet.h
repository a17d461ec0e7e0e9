/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A packet on its way through the process. Headers are in host byte order. The
 * payload is a scatter list that points into the sender's guest memory. Only a
 * wire that leaves the process builds the bytes of the frame (wire/frame.h). A
 * packet from such a wire points to the bytes that arrived.
 */
#ifndef MYNIC_PACKET_H
#define MYNIC_PACKET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#define PACKET_NO_VLAN 0xffff

/*
 * Packets that a QP sends in one turn, so that other QPs need not wait; also
 * the limit of a train (&packet.train_mtu)
 */
#define PACKET_QUANTUM 64

/*
 * Pieces of 4 KiB of payload in 4 KiB guest pages, if each of 31 SGEs crosses a
 * page
 */
#define PACKET_MAX_IOV 128

/* ECN (RFC 3168) in bits 1:0 of the traffic class */
#define ECN_MASK 3
#define ECN_ECT 2
#define ECN_CE 3

enum packet_kind {
	PACKET_ETH, /* payload: all behind the Ethernet header and VLAN tag */
	PACKET_ROCE, /* payload: what is between the headers and the ICRC */
};

/**
 * enum packet_defect - why a NIC must not trust the contents of a packet
 * @PACKET_SOUND: there is no defect
 * @PACKET_BAD_HEADER: RoCEv2 that is malformed below the BTH, or too short
 * @PACKET_BAD_ICRC: RoCEv2 that was changed on its way
 *
 * In a packet with a defect, only the Ethernet header, @frame and @frame_len
 * are valid. A switch forwards it. A NIC counts and drops it.
 */
enum packet_defect {
	PACKET_SOUND,
	PACKET_BAD_HEADER,
	PACKET_BAD_ICRC,
};

/**
 * struct roce_hdr - the headers of a RoCEv2 packet (IBTA A17, 9.2, 9.3)
 * @sgid: source, an IPv4 address as ::ffff:a.b.c.d
 * @dgid: destination, likewise
 * @traffic_class: IPv6 traffic class or IPv4 TOS, ECN in bits 1:0
 * @hop_limit: hop limit or TTL
 * @flow_label: IPv6 flow label, 20 bits
 * @udp_sport: UDP source port
 * @opcode: BTH opcode
 * @solicited: BTH SE
 * @mig_req: BTH M
 * @fecn: BTH FECN
 * @becn: BTH BECN; set in a CNP
 * @ack_req: BTH A
 * @pad: BTH PadCnt, 0 to 3
 * @pkey: BTH P_Key
 * @dest_qpn: BTH destination QP, 24 bits
 * @psn: BTH PSN, 24 bits
 * @srqn: XRCETH, 24 bits
 * @qkey: DETH
 * @src_qpn: DETH, 24 bits
 * @feth: FETH: selectivity in 5:4, placement in 3:0
 * @remote_addr: RETH, AtomicETH
 * @rkey: RETH, AtomicETH
 * @dma_len: RETH
 * @swap_add: AtomicETH
 * @compare: AtomicETH
 * @aeth: AETH: syndrome in 31:24, MSN in 23:0
 * @atomic_orig: AtomicAckETH
 * @imm: ImmDt, as it is on the wire (big-endian), or IETH in host order
 *
 * The opcode decides which of the extended headers are valid.
 */
struct roce_hdr {
	uint8_t sgid[16];
	uint8_t dgid[16];
	uint8_t traffic_class;
	uint8_t hop_limit;
	uint32_t flow_label;
	uint16_t udp_sport;
	uint8_t opcode;
	bool solicited;
	bool mig_req;
	bool fecn;
	bool becn;
	bool ack_req;
	uint8_t pad;
	uint16_t pkey;
	uint32_t dest_qpn;
	uint32_t psn;
	uint32_t srqn;
	uint32_t qkey;
	uint32_t src_qpn;
	uint32_t feth;
	uint64_t remote_addr;
	uint32_t rkey;
	uint32_t dma_len;
	uint64_t swap_add;
	uint64_t compare;
	uint32_t aeth;
	uint64_t atomic_orig;
	uint32_t imm;
};

/**
 * struct packet - a packet or a train
 * @kind: which headers are valid
 * @dmac: destination MAC
 * @smac: source MAC
 * @vlan: TCI, or PACKET_NO_VLAN
 * @ethertype: valid for PACKET_ETH
 * @roce: valid for PACKET_ROCE
 * @defect: what the wire found when the packet arrived
 * @frame: the whole frame without FCS, if it came from a wire outside of the
 *	process; otherwise NULL. It lives as long as @iov
 * @frame_len: bytes of @frame
 * @train_mtu: 0: one packet. Otherwise this is a train: consecutive RoCEv2
 *	packets of one message. Each has so much payload; the last may have
 *	less. The PSN is that of the first packet. The position in the message
 *	is that of the whole train. Other headers are those of each packet that
 *	has them
 * @payload_len: bytes in @iov, without padding
 * @niov: elements of @iov
 * @iov: the payload, readable until the function that was given the packet
 *	returns
 */
struct packet {
	enum packet_kind kind;
	uint8_t dmac[6];
	uint8_t smac[6];
	uint16_t vlan;
	uint16_t ethertype;
	struct roce_hdr roce;
	enum packet_defect defect;
	const uint8_t *frame;
	uint32_t frame_len;
	uint32_t train_mtu;
	uint32_t payload_len;
	uint32_t niov;
	struct iovec iov[PACKET_MAX_IOV];
};

/* Whether the packet has met congestion. */
static inline bool roce_is_marked(const struct roce_hdr *hdr)
{
	return (hdr->traffic_class & ECN_MASK) == ECN_CE;
}

/* Bytes of the Ethernet header, including a VLAN tag. */
unsigned int packet_eth_len(const struct packet *pkt);

/* Number of packets in a train; 1 for a single packet. */
static inline uint32_t packet_count(const struct packet *pkt)
{
	return pkt->train_mtu ? (pkt->payload_len - 1) / pkt->train_mtu + 1 : 1;
}

/* Bytes of the frame without FCS; for a train, the sum of all frames. */
uint32_t packet_len(const struct packet *pkt);

/* Upper bound for the bytes of the longest frame in a train. */
uint32_t packet_longest(const struct packet *pkt);

#endif /* MYNIC_PACKET_H */
