/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The syndrome of the ACK extended transport header (IBTA 9.7.5.1, 9.7.5.2). */
#ifndef MYNIC_AETH_H
#define MYNIC_AETH_H

#include <stdint.h>

#define AETH_SYNDROME_SHIFT 24
#define AETH_MSN_MASK 0xffffff

/*
 * The upper three bits are the type; the meaning of the lower five depends on
 * it
 */
#define AETH_TYPE_MASK 0xe0
#define AETH_VALUE_MASK 0x1f

#define AETH_ACK 0x00 /* value: credit code */
#define AETH_RNR_NAK 0x20 /* value: code of the delay */
#define AETH_NAK 0x60 /* value: enum aeth_nak */

#define AETH_NO_CREDITS 0x1f /* the responder does not limit requests */

enum aeth_nak {
	AETH_NAK_SEQUENCE = 0,
	AETH_NAK_INVALID_REQUEST = 1,
	AETH_NAK_REMOTE_ACCESS = 2,
	AETH_NAK_REMOTE_OPERATION = 3,
};

static inline uint8_t aeth_type(uint32_t aeth)
{
	return aeth >> AETH_SYNDROME_SHIFT & AETH_TYPE_MASK;
}

static inline uint8_t aeth_value(uint32_t aeth)
{
	return aeth >> AETH_SYNDROME_SHIFT & AETH_VALUE_MASK;
}

/*
 * Requests that a credit code allows (IBTA 9.7.7.2.2); not for AETH_NO_CREDITS.
 */
static inline uint32_t aeth_credits(unsigned int code)
{
	return code < 2 ? code : (2u | (code & 1)) << (code / 2 - 1);
}

#endif /* MYNIC_AETH_H */
