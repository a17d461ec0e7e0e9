// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Dispatch of requests that concern only the sender's own keys. They are
 * executed in memory/, by fast_reg.c, mw.c and mkey.c.
 */

#include "queue/local.h"

#include "base/verbs.h"
#include "memory/fast_reg.h"
#include "memory/mkey.h"
#include "memory/mw.h"
#include "mynic_regs.h"
#include "state/queue_types.h"

enum outcome local_run(struct qp *qp, const struct send_req *req)
{
	switch (req->opcode) {
	case IBV_WR_BIND_MW:
		return mw_bind(qp, req);
	case MYNIC_WR_REG_MR:
		return fast_reg_run(qp, req);
	case IBV_WR_LOCAL_INV:
		return mkey_invalidate_local(qp, req->imm);
	default:
		return OUTCOME_BAD_OPCODE;
	}
}
