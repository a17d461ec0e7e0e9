/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Properties of each BTH opcode, in one table for all that build or parse
 * packets.
 */
#ifndef MYNIC_OPCODE_H
#define MYNIC_OPCODE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * BTH opcodes under the names of the IBTA (9.2; CNP: annex A17; FLUSH and
 * ATOMIC WRITE: annex A19). The IBTA has no SEND with invalidate for UC. Ours
 * has the UC service bits and the operation of RC.
 */
enum bth_opcode {
	BTH_RC_SEND_FIRST = 0x00,
	BTH_RC_SEND_MIDDLE = 0x01,
	BTH_RC_SEND_LAST = 0x02,
	BTH_RC_SEND_LAST_IMM = 0x03,
	BTH_RC_SEND_ONLY = 0x04,
	BTH_RC_SEND_ONLY_IMM = 0x05,
	BTH_RC_WRITE_FIRST = 0x06,
	BTH_RC_WRITE_MIDDLE = 0x07,
	BTH_RC_WRITE_LAST = 0x08,
	BTH_RC_WRITE_LAST_IMM = 0x09,
	BTH_RC_WRITE_ONLY = 0x0a,
	BTH_RC_WRITE_ONLY_IMM = 0x0b,
	BTH_RC_READ_REQUEST = 0x0c,
	BTH_RC_READ_RESPONSE_FIRST = 0x0d,
	BTH_RC_READ_RESPONSE_MIDDLE = 0x0e,
	BTH_RC_READ_RESPONSE_LAST = 0x0f,
	BTH_RC_READ_RESPONSE_ONLY = 0x10,
	BTH_RC_ACK = 0x11,
	BTH_RC_ATOMIC_ACK = 0x12,
	BTH_RC_CMP_SWAP = 0x13,
	BTH_RC_FETCH_ADD = 0x14,
	BTH_RC_SEND_LAST_INV = 0x16,
	BTH_RC_SEND_ONLY_INV = 0x17,
	BTH_RC_FLUSH = 0x1c,
	BTH_RC_ATOMIC_WRITE = 0x1d,
	BTH_UC_SEND_FIRST = 0x20,
	BTH_UC_SEND_MIDDLE = 0x21,
	BTH_UC_SEND_LAST = 0x22,
	BTH_UC_SEND_LAST_IMM = 0x23,
	BTH_UC_SEND_ONLY = 0x24,
	BTH_UC_SEND_ONLY_IMM = 0x25,
	BTH_UC_WRITE_FIRST = 0x26,
	BTH_UC_WRITE_MIDDLE = 0x27,
	BTH_UC_WRITE_LAST = 0x28,
	BTH_UC_WRITE_LAST_IMM = 0x29,
	BTH_UC_WRITE_ONLY = 0x2a,
	BTH_UC_WRITE_ONLY_IMM = 0x2b,
	BTH_UC_SEND_LAST_INV = 0x36,
	BTH_UC_SEND_ONLY_INV = 0x37,
	BTH_UD_SEND_ONLY = 0x64,
	BTH_UD_SEND_ONLY_IMM = 0x65,
	BTH_CNP = 0x81,
	BTH_XRC_SEND_FIRST = 0xa0,
	BTH_XRC_SEND_MIDDLE = 0xa1,
	BTH_XRC_SEND_LAST = 0xa2,
	BTH_XRC_SEND_LAST_IMM = 0xa3,
	BTH_XRC_SEND_ONLY = 0xa4,
	BTH_XRC_SEND_ONLY_IMM = 0xa5,
	BTH_XRC_WRITE_FIRST = 0xa6,
	BTH_XRC_WRITE_MIDDLE = 0xa7,
	BTH_XRC_WRITE_LAST = 0xa8,
	BTH_XRC_WRITE_LAST_IMM = 0xa9,
	BTH_XRC_WRITE_ONLY = 0xaa,
	BTH_XRC_WRITE_ONLY_IMM = 0xab,
	BTH_XRC_READ_REQUEST = 0xac,
	BTH_XRC_READ_RESPONSE_FIRST = 0xad,
	BTH_XRC_READ_RESPONSE_MIDDLE = 0xae,
	BTH_XRC_READ_RESPONSE_LAST = 0xaf,
	BTH_XRC_READ_RESPONSE_ONLY = 0xb0,
	BTH_XRC_ACK = 0xb1,
	BTH_XRC_ATOMIC_ACK = 0xb2,
	BTH_XRC_CMP_SWAP = 0xb3,
	BTH_XRC_FETCH_ADD = 0xb4,
	BTH_XRC_SEND_LAST_INV = 0xb6,
	BTH_XRC_SEND_ONLY_INV = 0xb7,
	BTH_XRC_FLUSH = 0xbc,
	BTH_XRC_ATOMIC_WRITE = 0xbd,
};

/*
 * Opcode bits 7:5 are the service; bits 4:0 are the operation, numbered as in
 * RC
 */
#define BTH_SERVICE_SHIFT 5
#define BTH_OPERATION_MASK ((1 << BTH_SERVICE_SHIFT) - 1)
#define BTH_SERVICE_RC 0
#define BTH_SERVICE_UC 1
#define BTH_SERVICE_XRC 5

/**
 * enum opcode_class - kind of packet
 * @OPCODE_RESERVED: no such opcode
 * @OPCODE_SEND: SEND
 * @OPCODE_WRITE: RDMA WRITE
 * @OPCODE_READ: RDMA READ request
 * @OPCODE_ATOMIC: atomic request
 * @OPCODE_ATOMIC_WRITE: ATOMIC WRITE
 * @OPCODE_FLUSH: FLUSH
 * @OPCODE_READ_RESPONSE: RDMA READ response
 * @OPCODE_ACK: ACK or NAK
 * @OPCODE_ATOMIC_ACK: atomic response
 * @OPCODE_CNP: congestion notification
 */
enum opcode_class {
	OPCODE_RESERVED,
	OPCODE_SEND,
	OPCODE_WRITE,
	OPCODE_READ,
	OPCODE_ATOMIC,
	OPCODE_ATOMIC_WRITE,
	OPCODE_FLUSH,
	OPCODE_READ_RESPONSE,
	OPCODE_ACK,
	OPCODE_ATOMIC_ACK,
	OPCODE_CNP,
};

/*
 * &struct opcode_info.flags: position in the message; both bits: the only
 * packet
 */
#define OPCODE_FIRST 0x0001
#define OPCODE_LAST 0x0002
#define OPCODE_ONLY (OPCODE_FIRST | OPCODE_LAST)
#define OPCODE_PAYLOAD 0x0004 /* may have a payload */
#define OPCODE_RESPONSE 0x0008 /* goes from responder to requester */
/* Headers behind the BTH, in the order of the bits but for the last two */
#define OPCODE_DETH 0x0010
#define OPCODE_RETH 0x0020
#define OPCODE_ATOMICETH 0x0040
#define OPCODE_AETH 0x0080
#define OPCODE_ATOMICACKETH 0x0100
#define OPCODE_IMM 0x0200
#define OPCODE_IETH 0x0400
#define OPCODE_XRCETH 0x0800 /* comes first */
#define OPCODE_FETH 0x1000 /* behind XRCETH, before RETH */

#define BTH_LEN 12
#define DETH_LEN 8
#define RETH_LEN 16
#define ATOMICETH_LEN 28
#define AETH_LEN 4
#define ATOMICACKETH_LEN 8
#define IMM_LEN 4
#define IETH_LEN 4
#define XRCETH_LEN 4
#define FETH_LEN 4
#define ICRC_LEN 4

/**
 * struct opcode_info - a row of the table
 * @class: kind of packet
 * @types: one bit, 1 << type, for each enum mynic_qp_type that uses the opcode
 * @flags: OPCODE_*
 * @extended_len: bytes of headers between BTH and payload
 */
struct opcode_info {
	enum opcode_class class;
	uint16_t types;
	uint16_t flags;
	uint8_t extended_len;
};

extern const struct opcode_info opcode_table[256];

/* Works for any value; unknown opcodes have rows, too. */
static inline const struct opcode_info *opcode_info(uint8_t opcode)
{
	return &opcode_table[opcode];
}

/* @type: enum mynic_qp_type. */
static inline bool opcode_is_of(const struct opcode_info *info, uint8_t type)
{
	return info->types & 1 << type;
}

/* Whether a request is answered by more than an ACK. */
static inline bool opcode_has_response(const struct opcode_info *info)
{
	return info->class >= OPCODE_READ && info->class <= OPCODE_FLUSH;
}

/* Bytes from the BTH to the payload. */
static inline unsigned int opcode_headers_len(const struct opcode_info *info)
{
	return BTH_LEN + info->extended_len;
}

#endif /* MYNIC_OPCODE_H */
