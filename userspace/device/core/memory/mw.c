// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory windows: creation, binding by BIND_MW requests, and unbinding. Access
 * through a window is checked in mkey.c.
 */

#include "memory/mw.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>
#include <sys/queue.h>

#include "base/verbs.h"
#include "memory/mkey.h"
#include "memory/mkey_table.h"
#include "mynic_regs.h"
#include "state/nic_types.h"

#define REMOTE_CHANGE (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)

/* LOCAL_WRITE is accepted for windows, but has no meaning for peers */
#define WINDOW_ACCESS                                                      \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | REMOTE_CHANGE | \
	 IBV_ACCESS_ZERO_BASED | MKEY_OPTIONAL_ACCESS)

int mw_init(struct mkey *mkey, enum mkey_kind kind,
	    const struct mynic_create_mkey *cmd)
{
	const struct mynic_create_mkey empty = { .pdn = cmd->pdn };

	if (memcmp(cmd, &empty, sizeof(empty)))
		return MYNIC_AQ_BAD_PARAM;
	mkey->kind = kind;
	return MYNIC_AQ_OK;
}

void mw_unbind(struct mkey *mw)
{
	if (!mw->valid)
		return;
	mw->valid = false;
	mw->region->num_windows--;
	mw->region = NULL;
	if (mw->qp)
		LIST_REMOVE(mw, qp_link);
	mw->qp = NULL;
}

bool mw_unbind_some(struct qp *qp)
{
	while (!LIST_EMPTY(&qp->windows)) {
		if (nic_turn_is_over(qp->nic))
			return true;
		nic_charge(qp->nic, 1);
		mw_unbind(LIST_FIRST(&qp->windows));
	}
	return false;
}

static struct mkey *mw_find_window(const struct qp *qp, uint32_t key)
{
	struct mkey *mw = mkey_table_lookup(&qp->nic->mkeys, mkey_index(key));

	if (!mw || !mkey_is_window(mw) || mw->pd != qp->pd)
		return NULL;
	/*
	 * A bound window of type 2 must be invalidated before it is bound again
	 */
	return mw->kind == MKEY_MW2 && mw->valid ? NULL : mw;
}

static struct mkey *mw_find_region(const struct qp *qp, uint32_t lkey)
{
	struct mkey *region =
		mkey_table_lookup(&qp->nic->mkeys, mkey_index(lkey));

	if (!region || region->key != lkey || region->pd != qp->pd ||
	    !region->valid || mkey_is_window(region))
		return NULL;
	return region;
}

/* A window has no rights that its region does not allow (IBTA 10.6.7.2) */
static bool mw_allows(const struct mkey *region, uint32_t access)
{
	if (!(region->access & IBV_ACCESS_MW_BIND) || access & ~WINDOW_ACCESS)
		return false;
	return !(access & REMOTE_CHANGE) ||
	       region->access & IBV_ACCESS_LOCAL_WRITE;
}

static void mw_bind_one(struct qp *qp, struct mkey *mw, struct mkey *region,
			const struct mynic_bind_operands *op)
{
	uint64_t addr = le64toh(op->addr);

	mw_unbind(mw);
	mw->access = le32toh(op->access);
	mw->iova = mw->access & IBV_ACCESS_ZERO_BASED ? 0 : addr;
	mw->length = le64toh(op->length);
	mw->offset = addr - region->iova;
	mw->region = region;
	mw->valid = true;
	region->num_windows++;
	if (mw->kind == MKEY_MW1)
		return;
	mw->qp = qp;
	LIST_INSERT_HEAD(&qp->windows, mw, qp_link);
}

enum outcome mw_bind(struct qp *qp, const struct send_req *req)
{
	const struct mynic_bind_operands *op = &req->bind;
	struct mkey *mw = mw_find_window(qp, req->rkey);
	uint64_t length = le64toh(op->length);
	struct mkey *region;
	uint64_t offset;

	if (!mw)
		return OUTCOME_MKEY;
	if (!length && mw->kind == MKEY_MW1) {
		mw_unbind(mw);
		mkey_set_byte(mw, le32toh(op->new_rkey));
		return OUTCOME_OK;
	}
	region = mw_find_region(qp, le32toh(op->lkey));
	if (!region)
		return OUTCOME_MKEY;
	if (!mw_allows(region, le32toh(op->access)))
		return OUTCOME_MKEY_ACCESS;
	offset = le64toh(op->addr) - region->iova;
	if (!length || offset > region->length ||
	    length > region->length - offset)
		return OUTCOME_MKEY_BOUNDS;
	mw_bind_one(qp, mw, region, op);
	mkey_set_byte(mw, le32toh(op->new_rkey));
	return OUTCOME_OK;
}
