/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory keys: what work requests and the wire may reach. */
#ifndef MYNIC_MKEY_H
#define MYNIC_MKEY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/uio.h>

#include "base/verbs.h"
#include "memory/buf.h"

#define MKEY_INDEX_SHIFT 8

/** The longest region, in bytes */
#define MKEY_MAX_LENGTH (1ULL << 40)

/** Rights that there are for regions ... */
#define MKEY_REGION_ACCESS                                                     \
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |                      \
	 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_MW_BIND | \
	 IB_ACCESS_FLUSH_GLOBAL | IB_ACCESS_FLUSH_PERSISTENT)

/** ... and those that may be asked for and not be there */
#define MKEY_OPTIONAL_ACCESS \
	((IB_ACCESS_OPTIONAL_LAST << 1) - IB_ACCESS_OPTIONAL_FIRST)

struct dm;
struct nic;
struct pd;
struct qp;

/**
 * enum mkey_kind - what a key is for
 * @MKEY_REGION: memory region
 * @MKEY_FAST_REG: memory region that REG_MR requests give its memory
 * @MKEY_MW1: memory window, type 1
 * @MKEY_MW2: memory window, type 2
 */
enum mkey_kind {
	MKEY_REGION,
	MKEY_FAST_REG,
	MKEY_MW1,
	MKEY_MW2,
};

/**
 * struct mkey - memory region or window
 * @key: index in 31:8, key byte in 7:0
 * @kind: what it is for
 * @valid: it gives access to memory; MKEY_REGION: always; windows: it is bound
 * @access: enum ib_access_flags
 * @pd: protection domain; NULL: the NIC's dma_lkey
 * @iova: address of the first byte as requests name it
 * @length: bytes; @iova + @length does not wrap
 * @all_dma: the region is DMA space itself, or @null; @buf is not used
 * @null: what is read is zero, and what is written is lost
 * @dm: device memory that the region lies in, at @buf.addr; NULL: host memory
 * @paged: the pages come and go: @buf is from page_table_parse()
 * @buf: the pages
 * @window: the pages last touched
 * @num_windows: regions: windows that are bound to it
 * @max_pages: MKEY_FAST_REG: pages that it may have
 * @region: windows that are bound: what to; else NULL
 * @offset: windows that are bound: where in @region it begins
 * @qp: MKEY_MW2 that are bound: the QP through which it may be reached; else
 *	NULL
 * @qp_link: in &qp.windows, with @qp
 */
struct mkey {
	uint32_t key;
	enum mkey_kind kind;
	bool valid;
	uint32_t access;
	struct pd *pd;
	uint64_t iova;
	uint64_t length;
	bool all_dma;
	bool null;
	struct dm *dm;
	bool paged;
	struct buf buf;
	struct buf_window window;
	uint32_t num_windows;
	uint64_t max_pages;
	struct mkey *region;
	uint64_t offset;
	struct qp *qp;
	LIST_ENTRY(mkey) qp_link;
};

LIST_HEAD(mkey_list, mkey);

/** mkey_index() - the part of a key by which &nic.mkeys finds it */
static inline uint32_t mkey_index(uint32_t key)
{
	return key >> MKEY_INDEX_SHIFT;
}

/** mkey_set_byte() - change the key byte to that of another key */
static inline void mkey_set_byte(struct mkey *mkey, uint32_t key)
{
	mkey->key = (mkey->key & ~0xffu) | (key & 0xff);
}

/** mkey_is_window() - whether it is no region */
static inline bool mkey_is_window(const struct mkey *mkey)
{
	return mkey->kind == MKEY_MW1 || mkey->kind == MKEY_MW2;
}

/**
 * mkey_check_local() - may a scatter/gather element of the host use a range?
 * @nic: the NIC
 * @pd: PD of the QP or SRQ whose element it is
 * @kernel_qp: dma_lkey may be used
 * @key: lkey, any value; null_lkey may be used by all
 * @addr: address, any value
 * @len: bytes, at least 1 (a range of 0 bytes is not to be checked)
 * @access: enum ib_access_flags, all needed; 0 for reads
 * @mkey: out: if 0 is returned, what to give to mkey_iov()
 *
 * Return: 0; -EACCES: no such key or not a valid one, other PD, a window, or no
 * such right; -ERANGE: the range is not inside the region.
 */
int mkey_check_local(struct nic *nic, const struct pd *pd, bool kernel_qp,
		     uint32_t key, uint64_t addr, uint64_t len, uint32_t access,
		     struct mkey **mkey);

/**
 * mkey_check_remote() - may a peer's request reach a range?
 * @qp: QP that the request came to
 * @pd: PD that the key has to be of: the QP's, or (XRC) that of the SRQ
 * @key: rkey, any value
 * @addr: address, any value
 * @len: bytes, at least 1 (a range of 0 bytes is not to be checked)
 * @access: enum ib_access_flags, all needed, at least one
 * @mkey: out: if 0 is returned, what to give to mkey_iov()
 *
 * Return: as mkey_check_local(), but windows are good, those of type 2 if they
 * were bound through @qp.
 */
int mkey_check_remote(const struct qp *qp, const struct pd *pd, uint32_t key,
		      uint64_t addr, uint64_t len, uint32_t access,
		      struct mkey **mkey);

/**
 * mkey_range_remote() - all that a peer's request may reach by a key
 * @qp: QP that the request came to
 * @pd: PD that the key has to be of: the QP's, or (XRC) that of the SRQ
 * @key: rkey, any value
 * @access: enum ib_access_flags, all needed, at least one
 * @addr: out: address of the first byte
 * @len: out: bytes
 *
 * Return: 0; -EACCES: no such key, other PD or no such right.
 */
int mkey_range_remote(const struct qp *qp, const struct pd *pd, uint32_t key,
		      uint32_t access, uint64_t *addr, uint64_t *len);

/**
 * mkey_iov() - add the host's pointers to a range of a region to a list
 * @nic: the NIC
 * @mkey: the region
 * @addr: address, inside the region
 * @len: bytes, inside the region; may be 0
 * @write: the NIC is going to write there
 * @iov: the list
 * @max: room in @iov
 * @niov: in and out: elements in @iov; neighbours are merged
 *
 * Return: 0; -EFAULT: a page is not mapped (counted as BAD_DMA); -EAGAIN: a
 * page of a paged region is not there, for which see paging_wait(); -ERANGE:
 * the region of a window has lost its memory; -ENOBUFS: @iov is full.
 */
int mkey_iov(struct nic *nic, struct mkey *mkey, uint64_t addr, uint32_t len,
	     bool write, struct iovec *iov, unsigned int max,
	     unsigned int *niov);

/**
 * mkey_invalidate_local() - execute a LOCAL_INV
 * @qp: QP of the request
 * @key: key, any value
 *
 * What is invalid already stays so.
 *
 * Return: 0; -EACCES: no such key, other PD, not of a kind that can be
 * invalidated, a window of another QP, or a region with windows.
 */
int mkey_invalidate_local(struct qp *qp, uint32_t key);

/**
 * mkey_invalidate_remote() - invalidate what a peer's SEND_WITH_INV names
 * @qp: QP that the message came to
 * @key: key, any value
 *
 * Return: as mkey_invalidate_local(), and -EACCES if it is invalid already.
 */
int mkey_invalidate_remote(struct qp *qp, uint32_t key);

/** mkeys_free_one() - in a reset: the next from @number on; false: no more */
bool mkeys_free_one(struct nic *nic, uint32_t *number);

#endif /* MYNIC_MKEY_H */
