/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A peer whose packets are made by the test. The answers of the NIC are
 * recorded and reach nobody. Tests of the rules in
 * Documentation/transport-rules.rst use it.
 */
#ifndef MYNIC_HARNESS_PUPPET_H
#define MYNIC_HARNESS_PUPPET_H

#include "core/packet/opcode.h"
#include "harness_driver.h"

#define PUPPET_MTU 256
#define PUPPET_PSN 1000 /* first PSN that the NIC expects */
#define PUPPET_QKEY 0x11111111
#define PUPPET_MAX_ANSWERS 64

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
 * struct puppet - a NIC with a QP that is connected to the puppet
 * @b: the NIC under test, its QP and memory; @b.mr is also @end's remote memory
 * @a: another NIC, which lends the puppet its addresses and does nothing
 * @srqn: XRC: SRQ that request packets name
 * @payload: payload of packets
 * @answers: packets that the NIC has sent
 * @num: number of @answers
 * @next: first of @answers that the test has not seen
 */
struct puppet {
	struct sim *sim;
	struct drv_end a;
	struct drv_end b;
	uint32_t srqn;
	uint8_t payload[16384];
	struct answer answers[PUPPET_MAX_ANSWERS];
	unsigned int num;
	unsigned int next;
};

/** puppet_new() - make a puppet for a pair whose b is to be tested */
struct puppet *puppet_new(const struct drv_pair *pair);

/** puppet_rc(), puppet_uc(), puppet_ud() - make a puppet and a QP in RTS */
struct puppet *puppet_rc(void);
struct puppet *puppet_uc(void);
struct puppet *puppet_ud(void);

/*
 * puppet_packet() - make a valid packet from the peer
 * @psn: relative to PUPPET_PSN
 * @len: bytes of payload, taken from @p->payload; for a READ, bytes of the
 * response
 *
 * RETH and AtomicETH name the start of @b.mr; the length in the RETH is @len.
 */
struct packet puppet_packet(struct puppet *p, uint8_t opcode, int32_t psn,
			    uint32_t len);

/** puppet_payload() - change length and place of the payload */
void puppet_payload(struct puppet *p, struct packet *pkt, uint32_t offset,
		    uint32_t len);

/** puppet_send() - deliver a packet to the NIC, and give it time to answer */
void puppet_send(struct puppet *p, const struct packet *pkt);

/** puppet_say() - puppet_packet() and puppet_send() */
void puppet_say(struct puppet *p, uint8_t opcode, int32_t psn, uint32_t len);

/** puppet_recv() - post a receive request for @len bytes at @offset of @b.mr */
void puppet_recv(struct puppet *p, uint64_t wr_id, uint32_t offset,
		 uint32_t len);

/** puppet_hears() - return the next answer; fails if there is none */
const struct answer *puppet_hears(struct puppet *p, uint8_t opcode,
				  int32_t psn);

/*
 * puppet_hears_ack() - check that the next answer is this ACK or NAK; returns
 * its MSN
 */
uint32_t puppet_hears_ack(struct puppet *p, uint8_t syndrome, int32_t psn);

/** puppet_hears_nothing() - check that there are no more answers */
void puppet_hears_nothing(struct puppet *p);

/*
 * puppet_state(), puppet_stat(), puppet_epsn() - state of the QP, counter of
 * the NIC, and PSN that the QP expects
 */
enum ibv_qp_state puppet_state(struct puppet *p);
uint64_t puppet_stat(struct puppet *p, enum mynic_stat stat);
int32_t puppet_epsn(struct puppet *p);

/** puppet_no_event() - check that there is no asynchronous event */
void puppet_no_event(struct puppet *p);

#endif /* MYNIC_HARNESS_PUPPET_H */
