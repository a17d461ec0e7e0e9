// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory keys: their commands, look-up, access checks, and translation of
 * ranges. Windows, REG_MR and paged regions have files of their own for the
 * rest.
 */

#include "memory/mkey.h"

#include <endian.h>
#include <sys/queue.h>

#include "base/iov.h"
#include "base/journal.h"
#include "base/mem.h"
#include "base/table.h"
#include "memory/buf.h"
#include "memory/dm.h"
#include "memory/dma.h"
#include "memory/fast_reg.h"
#include "memory/mkey_table.h"
#include "memory/mw.h"
#include "memory/page_table.h"
#include "memory/pd.h"
#include "mynic_regs.h"
#include "state/nic_types.h"

static struct mkey *mkey_find(struct nic *nic, const struct pd *pd,
			      uint32_t key)
{
	struct mkey *mkey = mkey_table_lookup(&nic->mkeys, mkey_index(key));

	return mkey && mkey->key == key && mkey->pd == pd ? mkey : NULL;
}

/*
 * @qp: it has received the request; NULL: its own host has made it. Out of line:
 * what is allowed does not pay for it.
 */
static __attribute__((cold, noinline)) enum outcome
mkey_refuse(struct nic *nic, const struct qp *qp, enum journal_key_fault why,
	    uint32_t key, uint64_t addr, uint64_t len)
{
	const struct journal_entry entry = {
		.kind = JOURNAL_KEY,
		.code = why,
		.number = qp ? qp->number : 0,
		.key = key,
		.addr = addr,
		.length = len,
	};

	nic_note(nic, &entry);
	if (qp)
		return OUTCOME_RKEY;
	return why == JOURNAL_NO_RANGE ? OUTCOME_LKEY_BOUNDS : OUTCOME_LKEY;
}

static enum outcome mkey_check_range(struct nic *nic, const struct qp *qp,
				     const struct mkey *mkey,
				     const struct mkey_range *range)
{
	uint64_t offset = range->addr - mkey->iova;

	if (range->access & ~mkey->access)
		return mkey_refuse(nic, qp, JOURNAL_NO_RIGHT, mkey->key,
				   range->addr, range->len);
	if (offset > mkey->length || range->len > mkey->length - offset)
		return mkey_refuse(nic, qp, JOURNAL_NO_RANGE, mkey->key,
				   range->addr, range->len);
	return OUTCOME_OK;
}

enum outcome mkey_check_local(struct nic *nic, const struct pd *pd,
			      bool kernel_qp, const struct mkey_range *range,
			      struct mkey **mkey)
{
	if (kernel_qp && range->key == NIC_DMA_LKEY)
		*mkey = &nic->dma_mkey;
	else
		*mkey = mkey_find(nic, pd, range->key);
	if (!*mkey && range->key == NIC_NULL_LKEY)
		*mkey = &nic->null_mkey;
	if (!*mkey || !(*mkey)->valid || mkey_is_window(*mkey))
		return mkey_refuse(nic, NULL, JOURNAL_NO_KEY, range->key,
				   range->addr, range->len);
	return mkey_check_range(nic, NULL, *mkey, range);
}

static struct mkey *mkey_find_remote(const struct qp *qp, const struct pd *pd,
				     uint32_t key)
{
	struct mkey *mkey = mkey_find(qp->nic, pd, key);

	if (!mkey || !mkey->valid || (mkey->qp && mkey->qp != qp))
		return NULL;
	return mkey;
}

enum outcome mkey_check_remote(const struct qp *qp, const struct pd *pd,
			       const struct mkey_range *range,
			       struct mkey **mkey)
{
	*mkey = mkey_find_remote(qp, pd, range->key);
	if (!*mkey)
		return mkey_refuse(qp->nic, qp, JOURNAL_NO_KEY, range->key,
				   range->addr, range->len);
	return mkey_check_range(qp->nic, qp, *mkey, range);
}

enum outcome mkey_range_remote(const struct qp *qp, const struct pd *pd,
			       uint32_t key, uint32_t access, uint64_t *addr,
			       uint64_t *len)
{
	const struct mkey *mkey = mkey_find_remote(qp, pd, key);

	if (!mkey)
		return mkey_refuse(qp->nic, qp, JOURNAL_NO_KEY, key, 0, 0);
	if (access & ~mkey->access)
		return mkey_refuse(qp->nic, qp, JOURNAL_NO_RIGHT, key, 0, 0);
	*addr = mkey->iova;
	*len = mkey->length;
	return OUTCOME_OK;
}

/*
 * Memory for a region without memory: zeroes to read, and a scratch area for
 * writes. The latter is never read
 */
static uint8_t *mkey_null_extent(struct nic *nic, uint64_t *len, bool write)
{
	static const uint8_t zeroes[sizeof(nic->sink)];

	if (*len > sizeof(zeroes))
		*len = sizeof(zeroes);
	return write ? nic->sink : (uint8_t *)zeroes;
}

/* Translates a range of a region whose memory buf_iov() does not know */
static enum outcome mkey_extent(struct nic *nic, struct mkey *mkey,
				uint64_t offset, uint64_t *len, bool write,
				uint8_t **ptr)
{
	bool writable;

	if (mkey->paged)
		return page_table_extent(nic, mkey, offset, len, write, ptr);
	if (mkey->dm) {
		*ptr = dm_ptr(nic, mkey->buf.addr) + offset;
		return OUTCOME_OK;
	}
	if (mkey->null) {
		*ptr = mkey_null_extent(nic, len, write);
		return OUTCOME_OK;
	}
	*ptr = dma_extent(nic, offset, len, &writable);
	if (*ptr && write && !writable) {
		nic_count(nic, MYNIC_STAT_BAD_DMA);
		return OUTCOME_DMA;
	}
	return *ptr ? OUTCOME_OK : OUTCOME_DMA;
}

/*
 * mkey_iov() with the offset in the region. It is out of line, so that hits in
 * the window stay fast.
 */
static __attribute__((noinline)) enum outcome
mkey_add_pieces(struct nic *nic, struct mkey *mkey, uint64_t offset,
		uint32_t len, struct iov_list *list, struct page_fault *fault)
{
	if (!mkey->all_dma && !mkey->dm && !mkey->paged)
		return buf_iov(nic, &mkey->buf, &mkey->window, offset, len,
			       list);
	while (len) {
		uint64_t piece = len;
		enum outcome outcome;
		uint8_t *ptr;

		outcome = mkey_extent(nic, mkey, offset, &piece, list->write,
				      &ptr);
		if (outcome == OUTCOME_NO_PAGE)
			*fault = (struct page_fault){
				.key = mkey->key,
				.addr = mkey->iova + offset,
				.len = len,
				.write = list->write,
			};
		if (outcome)
			return outcome;
		if (!iov_add(list, ptr, piece))
			return OUTCOME_SCATTERED;
		offset += piece;
		len -= piece;
	}
	return OUTCOME_OK;
}

enum outcome mkey_iov(struct nic *nic, struct mkey *mkey, uint64_t addr,
		      uint32_t len, struct iov_list *list,
		      struct page_fault *fault)
{
	uint64_t offset = addr - mkey->iova;
	uint8_t *ptr;

	if (mkey->region) {
		const struct mkey *window = mkey;

		offset += mkey->offset;
		mkey = mkey->region;
		/* The region of a window may have lost its memory */
		if (offset > mkey->length || len > mkey->length - offset) {
			mkey_refuse(nic, window->qp, JOURNAL_NO_RANGE,
				    window->key, addr, len);
			return OUTCOME_RKEY;
		}
	}
	ptr = buf_window_ptr(&nic->dma, &mkey->window, offset, len,
			     list->write);
	if (!ptr || !len)
		return mkey_add_pieces(nic, mkey, offset, len, list, fault);
	return iov_add(list, ptr, len) ? OUTCOME_OK : OUTCOME_SCATTERED;
}

/* A remote right to change memory requires the local one (IBTA 10.6.3.1) */
static int mkey_check_access(uint32_t access)
{
	if (access & ~(MKEY_REGION_ACCESS | MKEY_OPTIONAL_ACCESS))
		return MYNIC_AQ_NOT_SUPPORTED;
	if (access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC) &&
	    !(access & IBV_ACCESS_LOCAL_WRITE))
		return MYNIC_AQ_BAD_PARAM;
	return MYNIC_AQ_OK;
}

static int mkey_init_dm(struct nic *nic, struct mkey *mkey)
{
	struct dm *dm;

	if (mkey->buf.levels || mkey->buf.offset)
		return MYNIC_AQ_BAD_PARAM;
	dm = dm_find(nic, mkey->buf.addr, mkey->length);
	if (!dm)
		return MYNIC_AQ_BAD_NUMBER;
	mkey->dm = dm;
	return MYNIC_AQ_OK;
}

static int mkey_init_paged(struct mkey *mkey, const struct mynic_buf *buf)
{
	if (mkey->iova + mkey->length < mkey->iova)
		return MYNIC_AQ_BAD_PARAM;
	mkey->paged = true;
	return page_table_parse(&mkey->buf, buf, mkey->length);
}

static int mkey_init_range(struct nic *nic, struct mkey *mkey,
			   const struct admin_call *call)
{
	const struct mynic_create_mkey *cmd = &call->cmd.create_mkey;
	bool write = mkey->access & IBV_ACCESS_LOCAL_WRITE;
	int status;

	mkey->iova = le64toh(cmd->iova);
	mkey->length = le64toh(cmd->length);
	if (call->cmd.flags == MYNIC_MKEY_ODP)
		return mkey_init_paged(mkey, &cmd->buf);
	if (call->cmd.flags & MYNIC_MKEY_ODP)
		return MYNIC_AQ_BAD_PARAM;
	status = buf_parse(&mkey->buf, &cmd->buf);
	if (status)
		return status;
	if (call->cmd.flags & MYNIC_MKEY_DMA) {
		if (call->cmd.flags & ~MYNIC_MKEY_DMA || mkey->iova ||
		    mkey->length || mkey->buf.levels || mkey->buf.addr ||
		    mkey->buf.offset)
			return MYNIC_AQ_BAD_PARAM;
		mkey->all_dma = true;
		mkey->length = UINT64_MAX;
		return MYNIC_AQ_OK;
	}
	if (mkey->length > MKEY_MAX_LENGTH ||
	    mkey->iova + mkey->length < mkey->iova)
		return MYNIC_AQ_BAD_PARAM;
	if (call->cmd.flags & MYNIC_MKEY_DM)
		return mkey_init_dm(nic, mkey);
	if (!mkey->length)
		return MYNIC_AQ_OK;
	return buf_check(nic, &mkey->buf, 0, mkey->length, 1, write);
}

static int mkey_init_region(struct nic *nic, struct mkey *mkey,
			    const struct admin_call *call)
{
	int status;

	mkey->kind = MKEY_REGION;
	mkey->valid = true;
	mkey->access = le32toh(call->cmd.create_mkey.access);
	status = mkey_check_access(mkey->access);
	if (status)
		return status;
	return mkey_init_range(nic, mkey, call);
}

static int mkey_init_kind(struct nic *nic, struct mkey *mkey,
			  const struct admin_call *call)
{
	switch (call->cmd.flags) {
	case MYNIC_MKEY_FAST_REG:
		return fast_reg_init(mkey, &call->cmd.create_mkey);
	case MYNIC_MKEY_MW1:
		return mw_init(mkey, MKEY_MW1, &call->cmd.create_mkey);
	case MYNIC_MKEY_MW2:
		return mw_init(mkey, MKEY_MW2, &call->cmd.create_mkey);
	default:
		return mkey_init_region(nic, mkey, call);
	}
}

static bool mkey_has_memory(const struct mkey *mkey)
{
	return mkey->kind == MKEY_REGION && !mkey->all_dma && mkey->length;
}

/*
 * Lets the newest region be found without a search. A guest could make that as
 * long as it likes, because it may have a million keys without memory.
 */
static void mkey_list(struct nic *nic, struct mkey *mkey)
{
	struct mkey_table *table = &nic->mkeys;

	LIST_REMOVE(mkey, link);
	LIST_INSERT_HEAD(mkey_has_memory(mkey) ? &table->regions :
						 &table->others,
			 mkey, link);
}

static int mkey_init(struct nic *nic, struct mkey *mkey,
		     const struct admin_call *call)
{
	int status;

	/* A key has one kind only */
	if (call->cmd.flags & (call->cmd.flags - 1))
		return MYNIC_AQ_BAD_PARAM;
	status = mkey_init_kind(nic, mkey, call);
	if (status)
		return status;
	if (mkey_table_add(&nic->mkeys, mkey))
		return MYNIC_AQ_NO_RESOURCE;
	mkey_list(nic, mkey);
	return MYNIC_AQ_OK;
}

int admin_create_mkey(struct nic *nic, struct admin_call *call)
{
	struct mkey *mkey;
	struct pd *pd;
	int status;

	pd = table_lookup(&nic->pds, le32toh(call->cmd.create_mkey.pdn));
	if (!pd)
		return MYNIC_AQ_BAD_NUMBER;
	mkey = mem_alloc(&nic->mem, sizeof(*mkey));
	if (!mkey)
		return MYNIC_AQ_NO_RESOURCE;
	status = mkey_init(nic, mkey, call);
	if (status) {
		mem_free(&nic->mem, mkey);
		return status;
	}
	mkey->pd = pd;
	pd->users++;
	if (mkey->dm)
		mkey->dm->users++;
	call->cpl.number = htole32(mkey->key);
	return MYNIC_AQ_OK;
}

int admin_query_mkey(struct nic *nic, struct admin_call *call)
{
	const struct mkey *mkey;

	mkey = mkey_table_lookup(&nic->mkeys, le32toh(call->cmd.number));
	if (!mkey)
		return MYNIC_AQ_BAD_NUMBER;
	call->query_mkey = (struct mynic_query_mkey){
		.key = htole32(mkey->key),
		.pdn = htole32(mkey->pd->number),
		.access = htole32(mkey->access),
		.flags = mkey->all_dma ? MYNIC_MKEY_DMA : 0,
		.iova = htole64(mkey->iova),
		.length = htole64(mkey->length),
	};
	return MYNIC_AQ_OK;
}

int admin_modify_mkey(struct nic *nic, struct admin_call *call)
{
	struct mkey *mkey =
		mkey_table_lookup(&nic->mkeys, le32toh(call->cmd.number));
	struct mkey new = { 0 };
	struct pd *pd;
	int status;

	pd = table_lookup(&nic->pds, le32toh(call->cmd.create_mkey.pdn));
	if (!mkey || !pd)
		return MYNIC_AQ_BAD_NUMBER;
	if (mkey->kind != MKEY_REGION || mkey->all_dma || mkey->dm ||
	    mkey->paged)
		return MYNIC_AQ_BAD_STATE;
	if (mkey->num_windows && call->cmd.create_mkey.length)
		return MYNIC_AQ_BUSY;
	status = mkey_init_region(nic, &new, call);
	if (status)
		return status;
	new.next = mkey->next;
	new.link = mkey->link;
	new.key = mkey->key;
	new.num_windows = mkey->num_windows;
	new.pd = pd;
	mkey->pd->users--;
	pd->users++;
	*mkey = new;
	mkey_list(nic, mkey);
	return MYNIC_AQ_OK;
}

static void mkey_release(struct nic *nic, struct mkey *mkey)
{
	mkey_table_remove(&nic->mkeys, mkey);
	mkey->pd->users--;
	if (mkey->dm)
		mkey->dm->users--;
	mem_free(&nic->mem, mkey);
}

static void mkey_destroy(struct nic *nic, struct mkey *mkey)
{
	if (mkey_is_window(mkey))
		mw_unbind(mkey);
	mkey_release(nic, mkey);
}

int admin_destroy_mkey(struct nic *nic, struct admin_call *call)
{
	struct mkey *mkey =
		mkey_table_lookup(&nic->mkeys, le32toh(call->cmd.number));

	if (!mkey)
		return MYNIC_AQ_BAD_NUMBER;
	if (mkey->num_windows)
		return MYNIC_AQ_BUSY;
	mkey_destroy(nic, mkey);
	return MYNIC_AQ_OK;
}

int admin_sync_mkey(struct nic *nic, struct admin_call *call)
{
	struct mkey *mkey =
		mkey_table_lookup(&nic->mkeys, le32toh(call->cmd.number));

	if (!mkey || !mkey->paged)
		return MYNIC_AQ_BAD_NUMBER;
	mkey->window.generation = 0;
	return MYNIC_AQ_OK;
}

/* See mkey_revoke(). Returns NULL if there is none */
static struct mkey *mkey_find_revocable(const struct nic *nic, int64_t key)
{
	struct mkey *mkey;

	if (key < 0) {
		mkey = LIST_FIRST(&nic->mkeys.regions);
	} else {
		mkey = mkey_table_lookup(&nic->mkeys, mkey_index(key));
		if (mkey && mkey->key != (uint32_t)key)
			mkey = NULL;
	}
	return mkey && mkey_has_memory(mkey) ? mkey : NULL;
}

bool mkey_is_revocable(const struct nic *nic, int64_t key)
{
	return mkey_find_revocable(nic, key);
}

void mkey_revoke(struct nic *nic, int64_t key)
{
	struct mkey *mkey = mkey_find_revocable(nic, key);

	if (!mkey)
		return;
	mkey->length = 0;
	mkey->window.generation = 0;
	mkey_list(nic, mkey);
}

/* @mkey: NULL if @key is unknown; @qp: see mkey_refuse() */
static bool mkey_invalidate(struct nic *nic, const struct qp *qp,
			    struct mkey *mkey, uint32_t key)
{
	if (!mkey) {
		mkey_refuse(nic, qp, JOURNAL_NO_KEY, key, 0, 0);
		return false;
	}
	if (mkey->kind == MKEY_MW2) {
		mw_unbind(mkey);
		return true;
	}
	if (mkey->kind == MKEY_FAST_REG && !mkey->num_windows) {
		mkey->valid = false;
		return true;
	}
	mkey_refuse(nic, qp, JOURNAL_NO_RIGHT, key, 0, 0);
	return false;
}

enum outcome mkey_invalidate_local(struct qp *qp, uint32_t key)
{
	struct mkey *mkey = mkey_find(qp->nic, qp->pd, key);

	if (mkey && mkey->qp && mkey->qp != qp)
		mkey = NULL;
	return mkey_invalidate(qp->nic, NULL, mkey, key) ? OUTCOME_OK :
							   OUTCOME_MKEY;
}

enum outcome mkey_invalidate_remote(struct qp *qp, uint32_t key)
{
	struct mkey *mkey = mkey_find_remote(qp, qp->pd, key);

	return mkey_invalidate(qp->nic, qp, mkey, key) ? OUTCOME_OK :
							 OUTCOME_RKEY;
}

bool mkeys_free_one(struct nic *nic, uint32_t *number)
{
	struct mkey *mkey = LIST_FIRST(&nic->mkeys.regions);

	(void)number;
	if (!mkey)
		mkey = LIST_FIRST(&nic->mkeys.others);
	if (!mkey)
		return false;
	/*
	 * Windows of type 1 need no unbinding, because a reset frees their
	 * regions, too
	 */
	mkey_release(nic, mkey);
	return true;
}
