/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a queue pair waits for outside the NIC: missing pages, memory that is made
 * persistent, and room where its packets go.
 */
#ifndef MYNIC_WAITS_TYPES_H
#define MYNIC_WAITS_TYPES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "mynic_regs.h"
#include "state/memory_types.h"

struct held_packet;
struct qp;

/**
 * struct odp_wait - wait of one stage of a QP
 * @since: when it began
 * @token: token of the last event
 * @fault: the access that the event is about
 */
struct odp_wait {
	uint64_t since;
	uint32_t token;
	struct page_fault fault;
};

STAILQ_HEAD(held_packets, held_packet);

/**
 * struct odp - all waits of a QP
 * @waiting: bit 1 << enum mynic_page_stage: the stage waits for RESUME
 * @failed: likewise: RESUME has said that the page is not available
 * @held_bytes: costs of @held, see packet_copy_cost()
 * @held: packets that have arrived since MYNIC_PAGE_RECV waits; the first one
 *	has caused the wait
 * @waits: details by enum mynic_page_stage
 */
struct odp {
	uint8_t waiting;
	uint8_t failed;
	uint32_t held_bytes;
	struct held_packets held;
	struct odp_wait waits[MYNIC_PAGE_STAGES];
};

/**
 * struct room - wait of a QP for room where its next packet goes
 * @link: link in &way.waiting, if @waits
 * @waits: it waits
 * @refused: there was no room in this turn
 * @way: if @waits: number of the way
 */
struct room {
	TAILQ_ENTRY(qp) link;
	bool waits;
	bool refused;
	uint8_t way;
};

/**
 * enum flush_state - progress of a QP with a piece of a FLUSH
 * @FLUSH_IDLE: no piece is under way
 * @FLUSH_QUEUED: it waits for the piece of another QP
 * @FLUSH_NEXT: it is the first of those that wait, and may begin
 * @FLUSH_BUSY: its piece is under way
 * @FLUSH_DONE: its piece is complete
 */
enum flush_state {
	FLUSH_IDLE,
	FLUSH_QUEUED,
	FLUSH_NEXT,
	FLUSH_BUSY,
	FLUSH_DONE,
};

/**
 * struct flush - persistence work of a QP
 * @state: progress of the current piece
 * @len: FLUSH_BUSY, FLUSH_DONE: bytes of the piece
 * @err: FLUSH_DONE: the result
 * @link: link in &flushes.waiting for FLUSH_QUEUED and FLUSH_NEXT
 */
struct flush {
	enum flush_state state;
	uint32_t len;
	int err;
	TAILQ_ENTRY(qp) link;
};

/**
 * struct flushes - persistence work of a NIC
 * @busy: a piece is under way
 * @owner: QP of the piece; NULL: the QP was reset or destroyed
 * @waiting: QPs that wait, in order
 */
struct flushes {
	bool busy;
	struct qp *owner;
	TAILQ_HEAD(flush_queue, qp) waiting;
};

#endif /* MYNIC_WAITS_TYPES_H */
