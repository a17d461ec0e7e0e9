// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Fast registration: checks of REG_MR, and what it changes in a memory key. */

#include "memory/fast_reg.h"

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "memory/buf.h"
#include "memory/mkey.h"
#include "memory/mkey_table.h"
#include "mynic_regs.h"
#include "state/memory_types.h"
#include "state/nic_types.h"
#include "state/qp_types.h"
#include "state/queue_types.h"

int fast_reg_init(struct mkey *mkey, const struct mynic_create_mkey *cmd)
{
	const struct mynic_create_mkey empty = {
		.pdn = cmd->pdn,
		.length = cmd->length,
	};

	mkey->kind = MKEY_FAST_REG;
	mkey->max_pages = le64toh(cmd->length);
	if (memcmp(cmd, &empty, sizeof(empty)) || !mkey->max_pages ||
	    mkey->max_pages > FAST_REG_MAX_PAGES)
		return MYNIC_AQ_BAD_PARAM;
	return MYNIC_AQ_OK;
}

static bool fast_reg_is_in_bounds(const struct mkey *mkey,
				  const struct buf *buf, uint64_t iova,
				  uint64_t length)
{
	uint64_t last = buf->offset + length - 1;

	if (!length || length > MKEY_MAX_LENGTH || iova + length < iova)
		return false;
	return !buf->levels || last >> buf->log_page_size < mkey->max_pages;
}

enum outcome fast_reg_run(struct qp *qp, const struct send_req *req)
{
	const struct mynic_reg_mr_operands *op = &req->reg_mr;
	struct mkey *mkey =
		mkey_table_lookup(&qp->nic->mkeys, mkey_index(req->rkey));
	uint32_t access = le32toh(op->access);
	uint64_t length = le64toh(op->length);
	struct buf buf;

	if (!mkey || mkey->kind != MKEY_FAST_REG || mkey->pd != qp->pd ||
	    mkey->valid)
		return OUTCOME_MKEY;
	if (access & ~(MKEY_REGION_ACCESS | MKEY_OPTIONAL_ACCESS))
		return OUTCOME_MKEY_ACCESS;
	if (buf_parse(&buf, &op->buf) ||
	    !fast_reg_is_in_bounds(mkey, &buf, req->remote_addr, length))
		return OUTCOME_MKEY_BOUNDS;
	mkey->buf = buf;
	mkey->window = (struct buf_window){ 0 };
	mkey->access = access;
	mkey->iova = req->remote_addr;
	mkey->length = length;
	mkey->valid = true;
	mkey_set_byte(mkey, req->rkey);
	return OUTCOME_OK;
}
