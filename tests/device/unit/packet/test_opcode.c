// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Opcodes and the lengths of their headers */
#include "core/packet/opcode.h"
#include "harness_tap.h"

/* IBTA 9.2, lengths of the headers from the BTH to the payload */
TEST(opcode_header_lengths)
{
	static const struct {
		uint8_t opcode;
		unsigned int len;
	} table[] = {
		{ 0x00, 12 }, { 0x01, 12 }, { 0x02, 12 }, { 0x03, 16 },
		{ 0x04, 12 }, { 0x05, 16 }, { 0x06, 28 }, { 0x07, 12 },
		{ 0x08, 12 }, { 0x09, 16 }, { 0x0a, 28 }, { 0x0b, 32 },
		{ 0x0c, 28 }, { 0x0d, 16 }, { 0x0e, 12 }, { 0x0f, 16 },
		{ 0x10, 16 }, { 0x11, 16 }, { 0x12, 24 }, { 0x13, 40 },
		{ 0x14, 40 }, { 0x16, 16 }, { 0x17, 16 }, { 0x20, 12 },
		{ 0x21, 12 }, { 0x22, 12 }, { 0x23, 16 }, { 0x24, 12 },
		{ 0x25, 16 }, { 0x26, 28 }, { 0x27, 12 }, { 0x28, 12 },
		{ 0x29, 16 }, { 0x2a, 28 }, { 0x2b, 32 }, { 0x64, 20 },
		{ 0x65, 24 }, { 0x81, 12 }, { 0xa0, 16 }, { 0xa1, 16 },
		{ 0xa2, 16 }, { 0xa3, 20 }, { 0xa4, 16 }, { 0xa5, 20 },
		{ 0xa6, 32 }, { 0xa7, 16 }, { 0xa8, 16 }, { 0xa9, 20 },
		{ 0xaa, 32 }, { 0xab, 36 }, { 0xac, 32 }, { 0xad, 16 },
		{ 0xae, 12 }, { 0xaf, 16 }, { 0xb0, 16 }, { 0xb1, 16 },
		{ 0xb2, 24 }, { 0xb3, 44 }, { 0xb4, 44 }, { 0xb6, 20 },
		{ 0xb7, 20 }, { 0x36, 16 }, { 0x37, 16 }, { 0x1c, 32 },
		{ 0x1d, 28 }, { 0xbc, 36 }, { 0xbd, 32 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(table); i++) {
		const struct opcode_info *info = opcode_info(table[i].opcode);

		CHECK(info->class != OPCODE_RESERVED);
		CHECK_EQ(opcode_headers_len(info), table[i].len);
	}
	for (unsigned int opcode = 0; opcode < 256; opcode++) {
		bool known = false;

		for (unsigned int i = 0; i < ARRAY_SIZE(table); i++)
			known |= table[i].opcode == opcode;
		CHECK_EQ(opcode_info(opcode)->class != OPCODE_RESERVED, known);
	}
}
