/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the surroundings of a NIC can see of a queue pair: a copy of its state,
 * for people to look at. nic.h has the function that makes it.
 */
#ifndef MYNIC_QP_INFO_H
#define MYNIC_QP_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/verbs.h"
#include "mynic_regs.h"

/**
 * enum qp_wait - bits of &qp_info.waits: what a queue pair waits for
 * @QP_WAIT_ACK: an acknowledgment or a response of the peer
 * @QP_WAIT_RNR: the end of the pause that the peer's RNR NAK has asked for
 * @QP_WAIT_CREDIT: a receive request of the peer
 * @QP_WAIT_RATE: its rate limit, or the rate that congestion allows
 * @QP_WAIT_PAGE: a missing page, for its requests; followed by the bits of the
 *	other stages, in the order of enum mynic_page_stage
 * @QP_WAIT_FLUSH: memory that is made persistent
 * @QP_WAIT_ROOM: room where its next packet would go
 * @QP_WAIT_TURN: its turn among the QPs that have work
 */
enum qp_wait {
	QP_WAIT_ACK = 1 << 0,
	QP_WAIT_RNR = 1 << 1,
	QP_WAIT_CREDIT = 1 << 2,
	QP_WAIT_RATE = 1 << 3,
	QP_WAIT_PAGE = 1 << 4,
	QP_WAIT_FLUSH = QP_WAIT_PAGE << MYNIC_PAGE_STAGES,
	QP_WAIT_ROOM = QP_WAIT_FLUSH << 1,
	QP_WAIT_TURN = QP_WAIT_ROOM << 1,
};

#define QP_NUM_WAITS 10

/**
 * struct qp_info - a queue pair, or a work queue
 * @number: QPN
 * @type: enum mynic_qp_type; 0: a work queue
 * @state: state
 * @connected: @dest_qpn to @path_mtu are valid
 * @has_sq: @posted to @oldest are valid
 * @has_rq: @received is valid
 * @dest_qpn: QPN of the peer
 * @dgid: address of the peer
 * @path_mtu: bytes
 * @posted: send requests that the NIC knows of and that have not completed
 * @sent: of these, those that were sent, in whole or in part
 * @oldest: with @sent: enum ibv_wr_opcode of the oldest
 * @psn: PSN of the next packet
 * @reliable: @una to @pause are valid
 * @una: oldest PSN that is not acknowledged
 * @retries: retries that are left
 * @rnr_retries: likewise, after RNR NAKs; 7: no limit
 * @window: packets that may be on their way
 * @rtt: smoothed round-trip time in ns; 0: unknown
 * @silent: QP_WAIT_ACK: ns since the last sign of the peer
 * @retry_in: QP_WAIT_ACK: ns to the ACK timeout; ~0: there is none
 * @pause: QP_WAIT_RNR: ns that are left of it
 * @epsn: PSN that it expects
 * @messages: messages received, modulo 2^24
 * @answers: responses that it owes the peer
 * @received: receive requests that it has taken from its own queue
 * @srqn: its SRQ, or MYNIC_NO_SRQ
 * @send_cqn: its CQ for send completions; 0: none
 * @recv_cqn: its CQ for receive completions; 0: none
 * @rate: bit/s that congestion and limits allow now; 0: no limit
 * @waits: enum qp_wait
 * @page: QP_WAIT_PAGE: the page, by enum mynic_page_stage
 *
 * PSNs have 24 bits.
 */
struct qp_info {
	uint32_t number;
	uint8_t type;
	enum ibv_qp_state state;
	bool connected;
	bool has_sq;
	bool has_rq;
	uint32_t dest_qpn;
	uint8_t dgid[16];
	uint32_t path_mtu;
	uint32_t posted;
	uint32_t sent;
	uint8_t oldest;
	uint32_t psn;
	bool reliable;
	uint32_t una;
	uint8_t retries;
	uint8_t rnr_retries;
	uint32_t window;
	uint64_t rtt;
	uint64_t silent;
	uint64_t retry_in;
	uint64_t pause;
	uint32_t epsn;
	uint32_t messages;
	uint32_t answers;
	uint32_t received;
	uint32_t srqn;
	uint32_t send_cqn;
	uint32_t recv_cqn;
	uint64_t rate;
	uint32_t waits;
	struct {
		uint32_t key;
		uint64_t addr;
	} page[MYNIC_PAGE_STAGES];
};

#endif /* MYNIC_QP_INFO_H */
