// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "opcode.h"

#include "mynic_regs.h"

#define RC (1 << MYNIC_QP_RC)
#define UD (1 << MYNIC_QP_UD | 1 << MYNIC_QP_GSI)
#define NONE 0 /* known, so that it can be parsed, but not executed */

#define FIRST (OPCODE_FIRST | OPCODE_PAYLOAD)
#define MIDDLE OPCODE_PAYLOAD
#define LAST (OPCODE_LAST | OPCODE_PAYLOAD)
#define ONLY (OPCODE_ONLY | OPCODE_PAYLOAD)
#define RESPONSE OPCODE_RESPONSE

static const struct opcode_info table[256] = {
	[BTH_RC_SEND_FIRST] = { OPCODE_SEND, RC, FIRST },
	[BTH_RC_SEND_MIDDLE] = { OPCODE_SEND, RC, MIDDLE },
	[BTH_RC_SEND_LAST] = { OPCODE_SEND, RC, LAST },
	[BTH_RC_SEND_LAST_IMM] = { OPCODE_SEND, RC, LAST | OPCODE_IMM },
	[BTH_RC_SEND_ONLY] = { OPCODE_SEND, RC, ONLY },
	[BTH_RC_SEND_ONLY_IMM] = { OPCODE_SEND, RC, ONLY | OPCODE_IMM },
	[BTH_RC_SEND_LAST_INV] = { OPCODE_SEND, NONE, LAST | OPCODE_IETH },
	[BTH_RC_SEND_ONLY_INV] = { OPCODE_SEND, NONE, ONLY | OPCODE_IETH },
	[BTH_RC_WRITE_FIRST] = { OPCODE_WRITE, RC, FIRST | OPCODE_RETH },
	[BTH_RC_WRITE_MIDDLE] = { OPCODE_WRITE, RC, MIDDLE },
	[BTH_RC_WRITE_LAST] = { OPCODE_WRITE, RC, LAST },
	[BTH_RC_WRITE_LAST_IMM] = { OPCODE_WRITE, RC, LAST | OPCODE_IMM },
	[BTH_RC_WRITE_ONLY] = { OPCODE_WRITE, RC, ONLY | OPCODE_RETH },
	[BTH_RC_WRITE_ONLY_IMM] = { OPCODE_WRITE, RC,
				    ONLY | OPCODE_RETH | OPCODE_IMM },
	[BTH_RC_READ_REQUEST] = { OPCODE_READ, RC, OPCODE_ONLY | OPCODE_RETH },
	[BTH_RC_READ_RESPONSE_FIRST] = { OPCODE_READ_RESPONSE, RC,
					 RESPONSE | FIRST | OPCODE_AETH },
	[BTH_RC_READ_RESPONSE_MIDDLE] = { OPCODE_READ_RESPONSE, RC,
					  RESPONSE | MIDDLE },
	[BTH_RC_READ_RESPONSE_LAST] = { OPCODE_READ_RESPONSE, RC,
					RESPONSE | LAST | OPCODE_AETH },
	[BTH_RC_READ_RESPONSE_ONLY] = { OPCODE_READ_RESPONSE, RC,
					RESPONSE | ONLY | OPCODE_AETH },
	[BTH_RC_ACK] = { OPCODE_ACK, RC,
			 RESPONSE | OPCODE_ONLY | OPCODE_AETH },
	[BTH_RC_ATOMIC_ACK] = { OPCODE_ATOMIC_ACK, RC,
				RESPONSE | OPCODE_ONLY | OPCODE_AETH |
					OPCODE_ATOMICACKETH },
	[BTH_RC_CMP_SWAP] = { OPCODE_ATOMIC, RC,
			      OPCODE_ONLY | OPCODE_ATOMICETH },
	[BTH_RC_FETCH_ADD] = { OPCODE_ATOMIC, RC,
			       OPCODE_ONLY | OPCODE_ATOMICETH },
	[BTH_UD_SEND_ONLY] = { OPCODE_SEND, UD, ONLY | OPCODE_DETH },
	[BTH_UD_SEND_ONLY_IMM] = { OPCODE_SEND, UD,
				   ONLY | OPCODE_DETH | OPCODE_IMM },
	/* 16 reserved bytes, which are all the payload there is */
	[BTH_CNP] = { OPCODE_CNP, RC, ONLY },
};

const struct opcode_info *opcode_info(uint8_t opcode)
{
	return &table[opcode];
}

unsigned int opcode_headers_len(const struct opcode_info *info)
{
	unsigned int len = BTH_LEN;

	if (info->flags & OPCODE_DETH)
		len += DETH_LEN;
	if (info->flags & OPCODE_RETH)
		len += RETH_LEN;
	if (info->flags & OPCODE_ATOMICETH)
		len += ATOMICETH_LEN;
	if (info->flags & OPCODE_AETH)
		len += AETH_LEN;
	if (info->flags & OPCODE_ATOMICACKETH)
		len += ATOMICACKETH_LEN;
	if (info->flags & OPCODE_IMM)
		len += IMM_LEN;
	if (info->flags & OPCODE_IETH)
		len += IETH_LEN;
	return len;
}
