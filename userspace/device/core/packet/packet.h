/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A packet on its way: headers in host byte order and a scatter list that
 * points at the payload where it already is, in the sender's guest memory.
 * Inside the process it is never serialised; a wire that leaves the process
 * does that (wire/frame.h). What came from such a wire has its bytes with it.
 */
#ifndef MYNIC_PACKET_H
#define MYNIC_PACKET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#define PACKET_NO_VLAN 0xffff

/*
 * Packets that a QP sends in one turn, so that it does not keep the others
 * waiting; and so of a train, see &packet.segment
 */
#define PACKET_QUANTUM 64

/* Of 4 KiB in 4 KiB guest pages, from 31 SGEs that each cross one */
#define PACKET_MAX_IOV 128

enum packet_kind {
	PACKET_ETH, /* payload: all behind the Ethernet header (and VLAN tag) */
	PACKET_ROCE, /* payload: what lies between the headers and the ICRC */
};

/**
 * enum packet_defect - why a NIC must not take a packet for what it says
 * @PACKET_SOUND: it may
 * @PACKET_BAD_HEADER: RoCEv2, but malformed below the BTH, or too short
 * @PACKET_BAD_ICRC: RoCEv2, but changed on its way
 *
 * Of a packet with a defect only the Ethernet header, @frame and @frame_len
 * count: a switch passes it on, a NIC counts and drops it.
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
 * Which of the extended headers count follows from @opcode.
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
 * struct packet - one packet
 * @kind: which headers it has
 * @dmac: destination MAC
 * @smac: source MAC
 * @vlan: TCI, or PACKET_NO_VLAN
 * @ethertype: PACKET_ETH only
 * @roce: PACKET_ROCE only
 * @defect: found where it came in
 * @frame: the whole frame, without FCS, if a wire from outside brought it;
 *	else NULL. As long-lived as @iov
 * @frame_len: bytes of @frame
 * @segment: not 0: this is a train, several RoCEv2 packets of one message one
 *	behind the other, with so much payload each but the last, which may have
 *	less. The PSN is the first packet's, the place in the message that of all
 *	together; other headers are as in each packet that has them
 * @payload_len: bytes in @iov, without padding
 * @niov: elements of @iov
 * @iov: the payload; readable until the function that was given the packet
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
	uint32_t segment;
	uint32_t payload_len;
	uint32_t niov;
	struct iovec iov[PACKET_MAX_IOV];
};

/** roce_is_marked() - the packet met congestion on its way (ECN, RFC 3168) */
static inline bool roce_is_marked(const struct roce_hdr *hdr)
{
	return (hdr->traffic_class & 3) == 3;
}

/** packet_eth_len() - bytes of the Ethernet header, with VLAN tag if any */
unsigned int packet_eth_len(const struct packet *pkt);

/** packet_count() - how many packets it is */
static inline uint32_t packet_count(const struct packet *pkt)
{
	return pkt->segment ? (pkt->payload_len - 1) / pkt->segment + 1 : 1;
}

/** packet_len() - bytes of a packet as a frame, without FCS; of all in a train */
uint32_t packet_len(const struct packet *pkt);

/** packet_longest() - bytes of the longest in a train, or more */
uint32_t packet_longest(const struct packet *pkt);

#endif /* MYNIC_PACKET_H */
