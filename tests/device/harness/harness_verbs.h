/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Numbers of libibverbs that tests need, and that the device does not define */
#ifndef MYNIC_HARNESS_VERBS_H
#define MYNIC_HARNESS_VERBS_H

#include <stdint.h>

#include "base/verbs.h"

#define IBV_ACCESS_RELAXED_ORDERING IBV_ACCESS_OPTIONAL_FIRST
#define ACCESS_ALL                                           \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |  \
	 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | \
	 IBV_ACCESS_FLUSH_GLOBAL | IBV_ACCESS_FLUSH_PERSISTENT)

struct ibv_tmh {
	uint8_t opcode;
	uint8_t reserved[3];
	uint32_t app_ctx;
	uint64_t tag;
};

struct ibv_rvh {
	uint64_t va;
	uint32_t rkey;
	uint32_t len;
};

#endif /* MYNIC_HARNESS_VERBS_H */
