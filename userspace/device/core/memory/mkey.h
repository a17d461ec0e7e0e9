/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory keys: the memory that requests and packets can reach. */
#ifndef MYNIC_MKEY_H
#define MYNIC_MKEY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/outcome.h"
#include "base/verbs.h"
#include "state/memory_types.h"

struct admin_call;
struct iov_list;
struct nic;
struct pd;
struct qp;

#define MKEY_INDEX_SHIFT 8

/* Upper bound for the bytes of a region */
#define MKEY_MAX_LENGTH (1ULL << 40)

/* Rights that a region can have */
#define MKEY_REGION_ACCESS                                   \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |  \
	 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | \
	 IBV_ACCESS_MW_BIND | IBV_ACCESS_FLUSH_GLOBAL |      \
	 IBV_ACCESS_FLUSH_PERSISTENT)

/* Rights that may be requested, but need not be known */
#define MKEY_OPTIONAL_ACCESS \
	((MYNIC_ACCESS_OPTIONAL_LAST << 1) - IBV_ACCESS_OPTIONAL_FIRST)

/* The part of a key that is its index in &nic.mkeys. */
static inline uint32_t mkey_index(uint32_t key)
{
	return key >> MKEY_INDEX_SHIFT;
}

/* Replaces the key byte by that of @key. */
static inline void mkey_set_byte(struct mkey *mkey, uint32_t key)
{
	mkey->key = (mkey->key & ~0xffu) | (key & 0xff);
}

static inline bool mkey_is_window(const struct mkey *mkey)
{
	return mkey->kind == MKEY_MW1 || mkey->kind == MKEY_MW2;
}

/**
 * struct mkey_range - memory that a request names
 * @key: lkey or rkey, any value
 * @access: enum ibv_access_flags, all of which are required; 0 for local reads
 * @addr: address, any value
 * @len: bytes, at least 1 (a range of 0 bytes needs no check)
 */
struct mkey_range {
	uint32_t key;
	uint32_t access;
	uint64_t addr;
	uint64_t len;
};

/**
 * mkey_check_local() - check memory that the QP's own host names
 * @nic: the NIC
 * @pd: PD of the QP or SRQ that the request was posted to
 * @kernel_qp: dma_lkey is allowed
 * @range: the memory; null_lkey is always allowed
 * @mkey: out: if it returns OUTCOME_OK, the key for mkey_iov()
 *
 * Return: OUTCOME_OK; OUTCOME_LKEY: the key is unknown, not valid, a window, of
 * another PD, or without the rights; OUTCOME_LKEY_BOUNDS: the range is not
 * inside the region.
 */
enum outcome mkey_check_local(struct nic *nic, const struct pd *pd,
			      bool kernel_qp, const struct mkey_range *range,
			      struct mkey **mkey);

/**
 * mkey_check_remote() - check memory that a peer names
 * @qp: QP that has received the request
 * @pd: PD that the key must have: that of the QP, or for XRC that of the SRQ
 * @range: the memory; at least one right is required
 * @mkey: out: if it returns OUTCOME_OK, the key for mkey_iov()
 *
 * Windows are allowed; those of type 2 only if they were bound through @qp.
 *
 * Return: OUTCOME_OK; OUTCOME_RKEY: the key is unknown, not valid, of another
 * PD, or without the rights, or the range is not inside the region.
 */
enum outcome mkey_check_remote(const struct qp *qp, const struct pd *pd,
			       const struct mkey_range *range,
			       struct mkey **mkey);

/**
 * mkey_range_remote() - find all that a peer may reach with a key
 * @qp: QP that has received the request
 * @pd: PD that the key must have: that of the QP, or for XRC that of the SRQ
 * @key: rkey, any value
 * @access: enum ibv_access_flags, all of which are required; at least one
 * @addr: out: address of the first byte
 * @len: out: bytes
 *
 * Return: OUTCOME_OK; OUTCOME_RKEY: the key is unknown, of another PD, or
 * without the rights.
 */
enum outcome mkey_range_remote(const struct qp *qp, const struct pd *pd,
			       uint32_t key, uint32_t access, uint64_t *addr,
			       uint64_t *len);

/**
 * mkey_iov() - append the host pointers of a range to a scatter list
 * @nic: the NIC
 * @mkey: the memory key
 * @addr: address, inside the region
 * @len: bytes, inside the region; may be 0
 * @list: the list
 * @fault: out: if it returns OUTCOME_NO_PAGE, the access to the missing page
 *
 * Return: OUTCOME_OK; OUTCOME_DMA: a page is not mapped (counted as BAD_DMA);
 * OUTCOME_NO_PAGE: a page of a paged region is missing, see odp_wait();
 * OUTCOME_RKEY: the region of a window has lost its memory; OUTCOME_SCATTERED:
 * @list is full.
 */
enum outcome mkey_iov(struct nic *nic, struct mkey *mkey, uint64_t addr,
		      uint32_t len, struct iov_list *list,
		      struct page_fault *fault);

/**
 * mkey_invalidate_local() - execute a LOCAL_INV
 * @qp: QP that the request was posted to
 * @key: key, any value
 *
 * It succeeds if the key is invalid already.
 *
 * Return: OUTCOME_OK; OUTCOME_MKEY: the key is unknown, of another PD, of a kind
 * that cannot be invalidated, a window of another QP, or a region with windows.
 */
enum outcome mkey_invalidate_local(struct qp *qp, uint32_t key);

/**
 * mkey_invalidate_remote() - invalidate the key that a SEND_WITH_INV names
 * @qp: QP that has received the message
 * @key: key, any value
 *
 * Return: OUTCOME_OK; OUTCOME_RKEY: like OUTCOME_MKEY of
 * mkey_invalidate_local(), or the key is invalid already.
 */
enum outcome mkey_invalidate_remote(struct qp *qp, uint32_t key);

/*
 * Part of a reset: frees the next key from @number on. Returns false if there
 * is none.
 */
bool mkeys_free_one(struct nic *nic, uint32_t *number);

/* Whether mkey_revoke() finds a region that has memory. */
bool mkey_is_revocable(const struct nic *nic, int64_t key);

/**
 * mkey_revoke() - take a region's memory away, as MODIFY_MKEY can
 * @nic: the NIC
 * @key: memory key; -1: that of the region that got its memory last
 *
 * Nothing happens if there is no such region.
 */
void mkey_revoke(struct nic *nic, int64_t key);

/* Commands of the host; see admin.h */
int admin_create_mkey(struct nic *nic, struct admin_call *call);
int admin_destroy_mkey(struct nic *nic, struct admin_call *call);
int admin_modify_mkey(struct nic *nic, struct admin_call *call);
int admin_query_mkey(struct nic *nic, struct admin_call *call);
int admin_sync_mkey(struct nic *nic, struct admin_call *call);

#endif /* MYNIC_MKEY_H */
