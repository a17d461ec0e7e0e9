// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Names of values of verbs, for answers and messages. */
#include "verbs_name.h"

#include "core/base/util.h"
#include "core/base/verbs.h"
#include "mynic_names.h"
#include "mynic_regs.h"

/* clang-format off */
static const char *const states[] = {
	MYNIC_QP_STATE_NAMES(MYNIC_NAME_AT, MYNIC_NAME_AT)
};

/* clang-format on */
static const char *const requests[] = {
	[IBV_WR_RDMA_WRITE] = "RDMA_WRITE",
	[IBV_WR_RDMA_WRITE_WITH_IMM] = "RDMA_WRITE_WITH_IMM",
	[IBV_WR_SEND] = "SEND",
	[IBV_WR_SEND_WITH_IMM] = "SEND_WITH_IMM",
	[IBV_WR_RDMA_READ] = "RDMA_READ",
	[IBV_WR_ATOMIC_CMP_AND_SWP] = "ATOMIC_CMP_AND_SWP",
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = "ATOMIC_FETCH_AND_ADD",
	[IBV_WR_LOCAL_INV] = "LOCAL_INV",
	[IBV_WR_BIND_MW] = "BIND_MW",
	[IBV_WR_SEND_WITH_INV] = "SEND_WITH_INV",
	[MYNIC_WR_REG_MR] = "REG_MR",
	[IBV_WR_TSO] = "TSO",
	[IBV_WR_DRIVER1] = "DRIVER1",
	[IBV_WR_FLUSH] = "FLUSH",
	[IBV_WR_ATOMIC_WRITE] = "ATOMIC_WRITE",
};

static const char *const statuses[] = {
	[IBV_WC_LOC_LEN_ERR] = "LOC_LEN_ERR",
	[IBV_WC_LOC_QP_OP_ERR] = "LOC_QP_OP_ERR",
	[IBV_WC_LOC_PROT_ERR] = "LOC_PROT_ERR",
	[IBV_WC_WR_FLUSH_ERR] = "WR_FLUSH_ERR",
	[IBV_WC_MW_BIND_ERR] = "MW_BIND_ERR",
	[IBV_WC_BAD_RESP_ERR] = "BAD_RESP_ERR",
	[IBV_WC_LOC_ACCESS_ERR] = "LOC_ACCESS_ERR",
	[IBV_WC_REM_INV_REQ_ERR] = "REM_INV_REQ_ERR",
	[IBV_WC_REM_ACCESS_ERR] = "REM_ACCESS_ERR",
	[IBV_WC_REM_OP_ERR] = "REM_OP_ERR",
	[IBV_WC_RETRY_EXC_ERR] = "RETRY_EXC_ERR",
	[IBV_WC_RNR_RETRY_EXC_ERR] = "RNR_RETRY_EXC_ERR",
	[IBV_WC_FATAL_ERR] = "FATAL_ERR",
	[IBV_WC_GENERAL_ERR] = "GENERAL_ERR",
	[IBV_WC_TM_ERR] = "TM_ERR",
	[IBV_WC_TM_RNDV_INCOMPLETE] = "TM_RNDV_INCOMPLETE",
};

const char *name_at(const char *const *names, size_t num, unsigned int number)
{
	return number < num && names[number] ? names[number] : "unknown";
}

const char *verbs_request_name(unsigned int opcode)
{
	return NAME_AT(requests, opcode);
}

const char *verbs_state_name(unsigned int state)
{
	return NAME_AT(states, state);
}

const char *verbs_status_name(unsigned int status)
{
	return NAME_AT(statuses, status);
}
