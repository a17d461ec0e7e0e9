/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory keys: what work requests and the wire may reach. */
#ifndef MYNIC_MKEY_H
#define MYNIC_MKEY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "buf.h"

/** The longest region, in bytes */
#define MKEY_MAX_LENGTH (1ULL << 40)

struct dm;
struct nic;
struct pd;
struct qp;

/**
 * struct mkey - memory region
 * @key: index in 31:8, key byte in 7:0
 * @access: enum ib_access_flags
 * @pd: protection domain; NULL: the NIC's dma_lkey
 * @iova: address of the first byte as requests name it
 * @length: bytes; @iova + @length does not wrap
 * @all_dma: the region is DMA space itself; @buf is not used
 * @dm: device memory that the region lies in, at @buf.addr; NULL: host memory
 * @buf: the pages
 * @window: the pages last touched
 */
struct mkey {
	uint32_t key;
	uint32_t access;
	struct pd *pd;
	uint64_t iova;
	uint64_t length;
	bool all_dma;
	struct dm *dm;
	struct buf buf;
	struct buf_window window;
};

/**
 * mkey_check_local() - may a scatter/gather element of the host use a range?
 * @nic: the NIC
 * @pd: PD of the QP or SRQ whose element it is
 * @kernel_qp: dma_lkey may be used
 * @key: lkey, any value
 * @addr: address, any value
 * @len: bytes, at least 1 (a range of 0 bytes is not to be checked)
 * @access: enum ib_access_flags, all needed; 0 for reads
 * @mkey: out: if 0 is returned, what to give to mkey_iov()
 *
 * Return: 0; -EACCES: no such key, other PD or no such right; -ERANGE: the
 * range is not inside the region.
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
 * Return: as mkey_check_local().
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
 * Return: 0; -EFAULT: a page is not mapped (counted as BAD_DMA); -ENOBUFS:
 * @iov is full.
 */
int mkey_iov(struct nic *nic, struct mkey *mkey, uint64_t addr, uint32_t len,
	     bool write, struct iovec *iov, unsigned int max,
	     unsigned int *niov);

void mkeys_free(struct nic *nic);

#endif /* MYNIC_MKEY_H */
