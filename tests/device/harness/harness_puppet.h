/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A peer on strings: packets to a NIC are made by hand, and what it answers is
 * recorded and goes nowhere. For the rules of Documentation/transport-rules.rst.
 */
#ifndef MYNIC_HARNESS_PUPPET_H
#define MYNIC_HARNESS_PUPPET_H

#include "core/packet/opcode.h"
#include "harness_driver.h"

#define PUPPET_MTU 256
#define PUPPET_PSN 1000 /* the first one that the NIC expects */
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
 * @a: the other NIC, which has the puppet's addresses and does nothing
 * @srqn: XRC: what request packets name
 * @payload: what packets carry
 * @answers: what the NIC has sent
 * @num: how many
 * @next: the first that has not been looked at
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

/** puppet_new() - take the strings of a pair whose b is to be tested */
struct puppet *puppet_new(const struct drv_pair *pair);

/** puppet_rc(), puppet_uc(), puppet_ud() - with a QP in RTS */
struct puppet *puppet_rc(void);
struct puppet *puppet_uc(void);
struct puppet *puppet_ud(void);

/*
 * puppet_packet() - a packet from the peer, with all that it has to have
 * @psn: relative to PUPPET_PSN
 * @len: bytes of payload, from @p->payload; of a READ, of the response
 *
 * RETH and AtomicETH name the beginning of @b.mr; the RETH's length is @len.
 */
struct packet puppet_packet(struct puppet *p, uint8_t opcode, int32_t psn,
			    uint32_t len);

/** puppet_payload() - another length and place in @p->payload */
void puppet_payload(struct puppet *p, struct packet *pkt, uint32_t offset,
		    uint32_t len);

/** puppet_send() - give the NIC a packet, and time to answer */
void puppet_send(struct puppet *p, const struct packet *pkt);

/** puppet_say() - puppet_packet() and puppet_send() */
void puppet_say(struct puppet *p, uint8_t opcode, int32_t psn, uint32_t len);

/** puppet_recv() - post a receive request for @len bytes at @offset of @b.mr */
void puppet_recv(struct puppet *p, uint64_t wr_id, uint32_t offset,
		 uint32_t len);

/** puppet_hears() - the next answer; fails if there is none */
const struct answer *puppet_hears(struct puppet *p, uint8_t opcode,
				  int32_t psn);

/** puppet_hears_ack() - the next answer is an ACK or NAK; gives its MSN */
uint32_t puppet_hears_ack(struct puppet *p, uint8_t syndrome, int32_t psn);

/** puppet_hears_nothing() - there is no other answer */
void puppet_hears_nothing(struct puppet *p);

/** puppet_state(), puppet_stat(), puppet_epsn() - of the NIC's QP, and NIC */
enum ibv_qp_state puppet_state(struct puppet *p);
uint64_t puppet_stat(struct puppet *p, enum mynic_stat stat);
int32_t puppet_epsn(struct puppet *p);

/** puppet_no_event() - there is no asynchronous event */
void puppet_no_event(struct puppet *p);

#endif /* MYNIC_HARNESS_PUPPET_H */
