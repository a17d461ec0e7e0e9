// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Table of send operations: the QP types that have them, and the form of their
 * data.
 */
#include <config.h>

#include "sq.h"

#define CONNECTED (MYNIC_SQ_RC | MYNIC_SQ_UC | MYNIC_SQ_XRC)
#define RELIABLE (MYNIC_SQ_RC | MYNIC_SQ_XRC)
#define DATAGRAM (MYNIC_SQ_UD | MYNIC_SQ_RAW)

#define OP(name, types_, data_, post_)         \
	[IBV_WR_##name] = {                    \
		.types = (types_),             \
		.data = MYNIC_DATA_##data_,    \
		.post = (post_),               \
		.flag = IBV_QP_EX_WITH_##name, \
	}

const struct mynic_op mynic_ops[MYNIC_NUM_OPS] = {
	OP(RDMA_WRITE, CONNECTED, ANY, true),
	OP(RDMA_WRITE_WITH_IMM, CONNECTED, ANY, true),
	OP(SEND, CONNECTED | DATAGRAM, ANY, true),
	OP(SEND_WITH_IMM, CONNECTED | MYNIC_SQ_UD, ANY, true),
	OP(RDMA_READ, RELIABLE, SGES, true),
	OP(ATOMIC_CMP_AND_SWP, RELIABLE, SGES, true),
	OP(ATOMIC_FETCH_AND_ADD, RELIABLE, SGES, true),
	OP(LOCAL_INV, CONNECTED, NONE, true),
	OP(BIND_MW, CONNECTED, NONE, true),
	OP(SEND_WITH_INV, CONNECTED, ANY, true),
	OP(TSO, DATAGRAM, TSO, true),
	/* struct ibv_send_wr has no fields for FLUSH. */
	OP(FLUSH, RELIABLE, FIXED, false),
	OP(ATOMIC_WRITE, RELIABLE, FIXED, true),
	/* libibverbs has no flag for DRIVER1. */
	[IBV_WR_DRIVER1] = {
		.types = MYNIC_SQ_DRIVER,
		.data = MYNIC_DATA_ANY,
		.post = true,
	},
};

bool mynic_ops_supported(enum ibv_qp_type type, uint64_t ops)
{
	for (int i = 0; i < MYNIC_NUM_OPS; i++)
		if (mynic_op_on(i, type))
			ops &= ~(uint64_t)mynic_ops[i].flag;
	return !ops;
}
