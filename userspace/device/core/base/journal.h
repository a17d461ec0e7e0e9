/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The journal: recent events of a NIC, for finding out why something happened.
 * It is off, and has no memory, until somebody asks for it.
 * Documentation/faults.rst, "The journal", explains its lines.
 */
#ifndef MYNIC_JOURNAL_H
#define MYNIC_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

/* Number of entries that are kept; a power of two */
#define JOURNAL_SIZE 1024

/**
 * enum journal_kind - kind of an entry, and the fields that it uses
 * @JOURNAL_RESET: the NIC is reset
 * @JOURNAL_ENABLED: the driver has enabled it
 * @JOURNAL_FATAL: code = enum mynic_fatal
 * @JOURNAL_COMMAND: number, code = enum mynic_aq_opcode, status = enum
 *	mynic_aq_status, key = number of the new object
 * @JOURNAL_EVENT: number, code = enum mynic_event
 * @JOURNAL_MODIFIED: MODIFY_QP; number = QP, from and to = its states
 * @JOURNAL_MOVED: the NIC has changed a state; like JOURNAL_MODIFIED, and code
 *	= the event that follows, or 0
 * @JOURNAL_SEND_ERROR: number = QP, code = enum ibv_wr_opcode, status =
 *	enum ibv_wc_status, from = enum mynic_syndrome, psn = its oldest PSN
 *	that is not acknowledged
 * @JOURNAL_RECV_ERROR: like JOURNAL_SEND_ERROR without code; psn = expected PSN
 * @JOURNAL_COUNT: code = enum mynic_stat; for a QP number, psn = its oldest PSN
 *	that is not acknowledged, expected = the PSN that it expects
 * @JOURNAL_DROP: a packet; number = destination QP, code = enum mynic_stat,
 *	from = opcode, psn
 * @JOURNAL_REFUSED: the request in a packet; number = QP, code = enum aeth_nak,
 *	from = opcode, psn; and key, addr, length of an RETH or AtomicETH
 * @JOURNAL_KEY: an access; number = QP of a remote access, otherwise 0; key,
 *	addr, length, code = enum journal_key_fault
 * @JOURNAL_PAGE: a QP needs a missing page; number, code = enum
 *	mynic_page_stage, key, addr, length, status = not 0 for a write
 * @JOURNAL_FAULT: a rule of NIC faults was applied; key = number of the rule,
 *	code = enum nic_fault_kind, number = QP, or 0
 * @JOURNAL_DOORBELL: traffic: number = QP
 * @JOURNAL_SENT: traffic: code = enum packet_kind, length = bytes of all
 *	frames, expected = number of packets. With PACKET_ROCE, of the first
 *	packet: number = destination QP, from = opcode, psn
 * @JOURNAL_RECEIVED: likewise; a packet with a defect is PACKET_ETH
 * @JOURNAL_COMPLETION: traffic: number = QP, key = CQ, addr = wr_id, status =
 *	enum ibv_wc_status; if that is 0: code = not 0 for a receive request,
 *	length
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
	JOURNAL_FAULT,
	JOURNAL_DOORBELL,
	JOURNAL_SENT,
	JOURNAL_RECEIVED,
	JOURNAL_COMPLETION,
};

/**
 * enum journal_key_fault - why an access is refused
 * @JOURNAL_NO_KEY: the key is unknown, of another PD, or not for this use
 * @JOURNAL_NO_RIGHT: the region does not allow the access
 * @JOURNAL_NO_RANGE: the range is not inside the region
 */
enum journal_key_fault {
	JOURNAL_NO_KEY,
	JOURNAL_NO_RIGHT,
	JOURNAL_NO_RANGE,
};

/**
 * struct journal_entry - one event
 * @time: time in ns on the NIC's clock
 * @addr: see &enum journal_kind, as for all members below
 * @length: bytes
 * @number: number of an object
 * @key: memory key
 * @psn: packet sequence number, 24 bits
 * @expected: another PSN
 * @kind: enum journal_kind
 * @code: subject
 * @status: result
 * @from: previous state
 * @to: new state
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
 * @entries: JOURNAL_SIZE entries; NULL while the journal is off
 * @num: number of entries ever added, also to earlier journals of the NIC, so
 *	that no two of its entries have the same number
 * @start: what @num was when this journal began
 * @traffic: it is on, and has what is normal, too
 */
struct journal {
	struct journal_entry *entries;
	uint64_t num;
	uint64_t start;
	bool traffic;
};

/* Starts with an empty journal. Returns false without memory. */
bool journal_begin(struct journal *journal);

/* Frees the journal. */
void journal_end(struct journal *journal);

/* The journal must be on. */
void journal_add(struct journal *journal, uint64_t time,
		 const struct journal_entry *entry);

/* Number of the oldest entry that is kept. */
uint64_t journal_first(const struct journal *journal);

/* The entry with @number, which is kept and below &journal.num. */
const struct journal_entry *journal_at(const struct journal *journal,
				       uint64_t number);

#endif /* MYNIC_JOURNAL_H */
