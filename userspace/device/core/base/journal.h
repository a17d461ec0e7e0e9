/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The journal: what happened to a NIC last, for whoever asks why. It is off, and
 * has no memory, until somebody wants it. Documentation/faults.rst, "The journal",
 * tells what its lines say.
 */
#ifndef MYNIC_JOURNAL_H
#define MYNIC_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

/* Entries that are kept, a power of two */
#define JOURNAL_SIZE 1024

/**
 * enum journal_kind - what an entry tells
 * @JOURNAL_RESET: the NIC is reset
 * @JOURNAL_ENABLED: the driver has enabled it
 * @JOURNAL_FATAL: @code: enum mynic_fatal
 * @JOURNAL_COMMAND: @number, @code: enum mynic_aq_opcode, @status: enum
 *	mynic_aq_status, @key: the number that it has made
 * @JOURNAL_EVENT: @number, @code: enum mynic_event
 * @JOURNAL_MODIFIED: @number: QP, @from, @to: its states; by MODIFY_QP
 * @JOURNAL_MOVED: likewise, by the NIC; @code: the event that it brings, or 0
 * @JOURNAL_SEND_ERROR: @number: QP, @code: enum ib_wr_opcode, @status: enum
 *	ib_wc_status; enum mynic_syndrome in @from; @psn: its oldest that is not
 *	acknowledged
 * @JOURNAL_RECV_ERROR: likewise; @psn: the one that is expected; no @code
 * @JOURNAL_COUNT: @code: enum mynic_stat; of a QP: @number, @psn: its oldest that
 *	is not acknowledged, @expected: that which it expects
 * @JOURNAL_DROP: a packet; @number: to which QP, @code: enum mynic_stat; its
 *	opcode in @from; @psn
 * @JOURNAL_REFUSED: the request in a packet; @number: QP, @code: enum aeth_nak;
 *	its opcode in @from; @psn, and if it has them @key, @addr, @length
 * @JOURNAL_KEY: an access; @number: QP of a remote one, else 0; @key, @addr,
 *	@length, @code: enum journal_key_fault
 * @JOURNAL_PAGE: a QP asks for a page; @number, @code: enum mynic_page_stage,
 *	@key, @addr, @length, @status: whether it is to be written
 */
enum journal_kind {
	JOURNAL_RESET,
	JOURNAL_ENABLED,
	JOURNAL_FATAL,
	JOURNAL_COMMAND,
	JOURNAL_EVENT,
	JOURNAL_MODIFIED,
	JOURNAL_MOVED,
	JOURNAL_SEND_ERROR,
	JOURNAL_RECV_ERROR,
	JOURNAL_COUNT,
	JOURNAL_DROP,
	JOURNAL_REFUSED,
	JOURNAL_KEY,
	JOURNAL_PAGE,
};

/**
 * enum journal_key_fault - why a range of a region cannot be used
 * @JOURNAL_NO_KEY: no such key, or not in this PD, or not for this
 * @JOURNAL_NO_RIGHT: the region does not allow it
 * @JOURNAL_NO_RANGE: not in the region
 */
enum journal_key_fault {
	JOURNAL_NO_KEY,
	JOURNAL_NO_RIGHT,
	JOURNAL_NO_RANGE,
};

/**
 * struct journal_entry - one thing that happened
 * @time: when, on the NIC's clock, ns
 * @addr: see &enum journal_kind, as for the rest
 * @length: bytes
 * @number: of a queue pair or another object
 * @key: memory key
 * @psn: packet sequence number, 24 bits
 * @expected: another one
 * @kind: enum journal_kind
 * @code: what it is about
 * @status: how it ended
 * @from: state before
 * @to: state behind
 */
struct journal_entry {
	uint64_t time;
	uint64_t addr;
	uint64_t length;
	uint32_t number;
	uint32_t key;
	uint32_t psn;
	uint32_t expected;
	uint8_t kind;
	uint8_t code;
	uint8_t status;
	uint8_t from;
	uint8_t to;
};

/**
 * struct journal - the journal of a NIC
 * @entries: JOURNAL_SIZE of them, or NULL while it is off
 * @num: how many there have been
 */
struct journal {
	struct journal_entry *entries;
	uint64_t num;
};

/** journal_begin() - have an empty journal. Return: false: no memory */
bool journal_begin(struct journal *journal);

/** journal_end() - have none */
void journal_end(struct journal *journal);

/** journal_add() - add an entry to a journal that is on */
void journal_add(struct journal *journal, uint64_t time,
		 const struct journal_entry *entry);

/** journal_first() - the number of the oldest entry that is kept */
uint64_t journal_first(const struct journal *journal);

/** journal_at() - the entry with a number from journal_first() to before @num */
const struct journal_entry *journal_at(const struct journal *journal,
				       uint64_t number);

#endif /* MYNIC_JOURNAL_H */
