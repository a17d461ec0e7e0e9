/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Names of BTH opcodes, for rules and messages */
#ifndef MYNIC_WIRE_OPCODE_NAME_H
#define MYNIC_WIRE_OPCODE_NAME_H

#include <stdbool.h>
#include <stdint.h>

#define OPCODE_NAME_SIZE 32

/**
 * opcode_name() - the name of an opcode, such as "rc-rdma-write-only"
 * @opcode: any
 * @name: result; "0xNN" if the opcode is reserved
 */
void opcode_name(uint8_t opcode, char name[OPCODE_NAME_SIZE]);

/**
 * opcode_by_name() - find an opcode
 * @name: name of an opcode, or any opcode as "0xNN"
 * @opcode: result
 *
 * Return: true if there is such an opcode.
 */
bool opcode_by_name(const char *name, uint8_t *opcode);

#endif /* MYNIC_WIRE_OPCODE_NAME_H */
