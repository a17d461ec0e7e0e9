/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A peer whose packets are made by the test. The answers of the NIC are
 * recorded and reach nobody. Tests of the rules in
 * Documentation/transport-rules.rst use it.
 */
#ifndef MYNIC_HARNESS_MOCK_PEER_H
#define MYNIC_HARNESS_MOCK_PEER_H

#include "core/packet/opcode.h"
#include "harness_driver.h"

#define MOCK_MTU 256
#define MOCK_PSN 1000 /* first PSN that the NIC expects */
#define MOCK_QKEY 0x11111111
#define MOCK_MAX_ANSWERS 64

/* AETH syndromes */
#define AETH_RNR 0x20
#define AETH_NAK_SEQ 0x60
#define AETH_NAK_INVALID 0x61
#define AETH_NAK_ACCESS 0x62
#define AETH_NAK_OPERATION 0x63

struct answer {
	struct roce_hdr hdr;
	uint32_t len;
	uint8_t payload[4096];
};

/*
 * struct mock_peer - a NIC with a QP that is connected to the mock peer
 * @b: the NIC under test, its QP and memory; @b.mr is also @end's remote memory
 * @a: another NIC, which lends the mock peer its addresses and does nothing
 * @srqn: XRC: SRQ that request packets name
 * @payload: payload of packets
 * @answers: packets that the NIC has sent
 * @num: number of @answers
 * @next: first of @answers that the test has not seen
 */
struct mock_peer {
	struct sim *sim;
	struct drv_end a;
	struct drv_end b;
	uint32_t srqn;
	uint8_t payload[16384];
	struct answer answers[MOCK_MAX_ANSWERS];
	unsigned int num;
	unsigned int next;
};

/** mock_new() - make a mock peer for a pair whose b is to be tested */
struct mock_peer *mock_new(const struct drv_pair *pair);

/** mock_rc(), mock_uc(), mock_ud() - make a mock peer and a QP in RTS */
struct mock_peer *mock_rc(void);
struct mock_peer *mock_uc(void);
struct mock_peer *mock_ud(void);

/*
 * mock_packet() - make a valid packet from the peer
 * @psn: relative to MOCK_PSN
 * @len: bytes of payload, taken from @p->payload; for a READ, bytes of the
 * response
 *
 * RETH and AtomicETH name the start of @b.mr; the length in the RETH is @len.
 */
struct packet mock_packet(struct mock_peer *p, uint8_t opcode, int32_t psn,
			  uint32_t len);

/** mock_payload() - change length and place of the payload */
void mock_payload(struct mock_peer *p, struct packet *pkt, uint32_t offset,
		  uint32_t len);

/** mock_send() - deliver a packet to the NIC, and give it time to answer */
void mock_send(struct mock_peer *p, const struct packet *pkt);

/** mock_send_opcode() - mock_packet() and mock_send() */
void mock_send_opcode(struct mock_peer *p, uint8_t opcode, int32_t psn,
		      uint32_t len);

/** mock_recv() - post a receive request for @len bytes at @offset of @b.mr */
void mock_recv(struct mock_peer *p, uint64_t wr_id, uint32_t offset,
	       uint32_t len);

/** mock_expect() - return the next answer; fails if there is none */
const struct answer *mock_expect(struct mock_peer *p, uint8_t opcode,
				 int32_t psn);

/*
 * mock_expect_ack() - check that the next answer is this ACK or NAK; returns
 * its MSN
 */
uint32_t mock_expect_ack(struct mock_peer *p, uint8_t syndrome, int32_t psn);

/** mock_expect_nothing() - check that there are no more answers */
void mock_expect_nothing(struct mock_peer *p);

/*
 * mock_state(), mock_stat(), mock_epsn() - state of the QP, counter of
 * the NIC, and PSN that the QP expects
 */
enum ibv_qp_state mock_state(struct mock_peer *p);
uint64_t mock_stat(struct mock_peer *p, enum mynic_stat stat);
int32_t mock_epsn(struct mock_peer *p);

/** mock_set_access() - set what the QP allows its peer */
void mock_set_access(struct mock_peer *p, uint32_t access);

/** mock_no_event() - check that there is no asynchronous event */
void mock_no_event(struct mock_peer *p);

#endif /* MYNIC_HARNESS_MOCK_PEER_H */
