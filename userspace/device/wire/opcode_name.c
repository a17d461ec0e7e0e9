// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Names of BTH opcodes. */

#include "opcode_name.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "core/packet/opcode.h"
#include "core/base/util.h"

/* Names by opcode bits 7:5 and 4:0 (IBTA table 38) */
static const char *const services[] = { "rc", "uc", "rd", "ud", NULL, "xrc" };

static const char *const operations[] = {
	"send-first",
	"send-middle",
	"send-last",
	"send-last-imm",
	"send-only",
	"send-only-imm",
	"rdma-write-first",
	"rdma-write-middle",
	"rdma-write-last",
	"rdma-write-last-imm",
	"rdma-write-only",
	"rdma-write-only-imm",
	"rdma-read-request",
	"rdma-read-response-first",
	"rdma-read-response-middle",
	"rdma-read-response-last",
	"rdma-read-response-only",
	"ack",
	"atomic-ack",
	"cmp-swap",
	"fetch-add",
	NULL,
	"send-last-inv",
	"send-only-inv",
	[BTH_RC_FLUSH] = "flush",
	"atomic-write",
};

void opcode_name(uint8_t opcode, char name[OPCODE_NAME_SIZE])
{
	unsigned int service = opcode >> BTH_SERVICE_SHIFT;
	unsigned int operation = opcode & BTH_OPERATION_MASK;

	if (opcode == BTH_CNP)
		snprintf(name, OPCODE_NAME_SIZE, "cnp");
	else if (opcode_info(opcode)->class == OPCODE_RESERVED ||
		 service >= ARRAY_SIZE(services) || !services[service] ||
		 operation >= ARRAY_SIZE(operations) || !operations[operation])
		snprintf(name, OPCODE_NAME_SIZE, "0x%02x", opcode);
	else
		snprintf(name, OPCODE_NAME_SIZE, "%s-%s", services[service],
			 operations[operation]);
}

bool opcode_by_name(const char *name, uint8_t *opcode)
{
	char known[OPCODE_NAME_SIZE];
	int len = 0;

	if (sscanf(name, "0x%2hhx%n", opcode, &len) == 1 && !name[len] &&
	    isxdigit((unsigned char)name[2]))
		return true;
	for (unsigned int i = 0; i <= UINT8_MAX; i++) {
		opcode_name(i, known);
		if (!strcmp(name, known)) {
			*opcode = i;
			return true;
		}
	}
	return false;
}
