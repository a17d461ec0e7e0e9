// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The table of operations, as the manual pages have it */
#include <stdio.h>

#include "matrix.h"

#define RC (1 << TYPE_RC)
#define UC (1 << TYPE_UC)
#define UD (1 << TYPE_UD)
#define XRC (1 << TYPE_XRC)
#define RAW (1 << TYPE_RAW)
#define DRIVER (1 << TYPE_DRIVER)

const struct op ops[] = {
	{ .name = "SEND",
	  .opcode = IBV_WR_SEND,
	  .create = IBV_QP_EX_WITH_SEND,
	  .types = RC | UC | UD | XRC | RAW,
	  .data = DATA_OUT,
	  .completion = IBV_WC_SEND,
	  .receives = true },
	{ .name = "SEND_WITH_IMM",
	  .opcode = IBV_WR_SEND_WITH_IMM,
	  .create = IBV_QP_EX_WITH_SEND_WITH_IMM,
	  .types = RC | UC | UD | XRC,
	  .data = DATA_OUT,
	  .completion = IBV_WC_SEND,
	  .receives = true },
	{ .name = "SEND_WITH_INV",
	  .opcode = IBV_WR_SEND_WITH_INV,
	  .create = IBV_QP_EX_WITH_SEND_WITH_INV,
	  .types = RC | UC | XRC,
	  .data = DATA_OUT,
	  .completion = IBV_WC_SEND,
	  .receives = true },
	{ .name = "RDMA_WRITE",
	  .opcode = IBV_WR_RDMA_WRITE,
	  .create = IBV_QP_EX_WITH_RDMA_WRITE,
	  .types = RC | UC | XRC,
	  .data = DATA_OUT,
	  .completion = IBV_WC_RDMA_WRITE,
	  .remote = true },
	{ .name = "RDMA_WRITE_WITH_IMM",
	  .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
	  .create = IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM,
	  .types = RC | UC | XRC,
	  .data = DATA_OUT,
	  .completion = IBV_WC_RDMA_WRITE,
	  .receives = true,
	  .remote = true },
	{ .name = "RDMA_READ",
	  .opcode = IBV_WR_RDMA_READ,
	  .create = IBV_QP_EX_WITH_RDMA_READ,
	  .types = RC | XRC,
	  .data = DATA_IN,
	  .completion = IBV_WC_RDMA_READ,
	  .remote = true },
	{ .name = "ATOMIC_CMP_AND_SWP",
	  .opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
	  .create = IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP,
	  .types = RC | XRC,
	  .data = DATA_FETCH,
	  .completion = IBV_WC_COMP_SWAP,
	  .remote = true },
	{ .name = "ATOMIC_FETCH_AND_ADD",
	  .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
	  .create = IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
	  .types = RC | XRC,
	  .data = DATA_FETCH,
	  .completion = IBV_WC_FETCH_ADD,
	  .remote = true },
	{ .name = "ATOMIC_WRITE",
	  .opcode = IBV_WR_ATOMIC_WRITE,
	  .create = IBV_QP_EX_WITH_ATOMIC_WRITE,
	  .types = RC | XRC,
	  .data = DATA_OUT_8,
	  .completion = IBV_WC_ATOMIC_WRITE,
	  .remote = true },
	{ .name = "FLUSH",
	  .opcode = IBV_WR_FLUSH,
	  .create = IBV_QP_EX_WITH_FLUSH,
	  .types = RC | XRC,
	  .data = DATA_NONE,
	  .completion = IBV_WC_FLUSH,
	  .remote = true,
	  .wr_only = true },
	{ .name = "BIND_MW",
	  .opcode = IBV_WR_BIND_MW,
	  .create = IBV_QP_EX_WITH_BIND_MW,
	  .types = RC | UC | XRC,
	  .data = DATA_NONE,
	  .completion = IBV_WC_BIND_MW },
	{ .name = "LOCAL_INV",
	  .opcode = IBV_WR_LOCAL_INV,
	  .create = IBV_QP_EX_WITH_LOCAL_INV,
	  .types = RC | UC | XRC,
	  .data = DATA_NONE,
	  .completion = IBV_WC_LOCAL_INV },
	{ .name = "TSO",
	  .opcode = IBV_WR_TSO,
	  .create = IBV_QP_EX_WITH_TSO,
	  .types = UD | RAW,
	  .data = DATA_TSO,
	  .completion = IBV_WC_TSO,
	  .receives = true },
	{ .name = "DRIVER1",
	  .opcode = IBV_WR_DRIVER1,
	  .create = CREATE_DRIVER1,
	  .types = DRIVER,
	  .data = DATA_OUT,
	  .completion = IBV_WC_DRIVER1,
	  .remote = true },
};

const unsigned int num_ops = sizeof(ops) / sizeof(*ops);

const struct op *find_op(enum ibv_wr_opcode opcode)
{
	const struct op *op = ops;

	while (op->opcode != opcode)
		op++;
	return op;
}

const struct op *plain_op(enum type type)
{
	return find_op(type == TYPE_DRIVER ? IBV_WR_DRIVER1 : IBV_WR_SEND);
}

const char *type_name(enum type type)
{
	static const char *const names[] = {
		"RC", "UC", "UD", "XRC_SEND", "RAW_PACKET", "DRIVER"
	};

	return names[type];
}

const char *api_name(enum wr_api api)
{
	return api == API_WR ? "wr" : "post_send";
}

const char *setter_name(enum setter setter)
{
	static const char *const names[] = { "sge", "sge_list", "inline",
					     "inline_list", "none" };

	return names[setter];
}

bool op_on_type(const struct op *op, enum type type)
{
	return op->types & 1 << type;
}

bool op_through(const struct op *op, enum wr_api api)
{
	return api == API_WR || !op->wr_only;
}

bool op_with_setter(const struct op *op, enum wr_api api, enum setter setter)
{
	switch (op->data) {
	case DATA_NONE:
		return setter == SETTER_NONE;
	case DATA_OUT:
		return setter != SETTER_NONE;
	case DATA_OUT_8:
		return (setter == SETTER_NONE) == (api == API_WR);
	default:
		return setter == SETTER_SGE || setter == SETTER_SGE_LIST;
	}
}

unsigned int op_flags(enum type type)
{
	unsigned int flags = IBV_SEND_FENCE | IBV_SEND_SIGNALED |
			     IBV_SEND_SOLICITED;

	if (type == TYPE_RAW)
		flags |= IBV_SEND_IP_CSUM;
	return flags;
}
