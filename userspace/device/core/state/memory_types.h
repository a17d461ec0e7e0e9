/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Guest memory, device memory and the keys to them, as memory/ has them. */
#ifndef MYNIC_MEMORY_TYPES_H
#define MYNIC_MEMORY_TYPES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "mynic_regs.h"

struct dm;
struct mkey;
struct pd;
struct qp;

/**
 * struct dma_map - a range of DMA addresses with memory behind it
 * @iova: DMA address of the first byte
 * @len: bytes
 * @ptr: the first byte in this process
 * @writable: the NIC may write to it
 */
struct dma_map {
	uint64_t iova;
	uint64_t len;
	uint8_t *ptr;
	bool writable;
};

/**
 * struct dma - all guest memory of a NIC
 * @maps: maps, sorted by address, without overlap
 * @num: elements in @maps
 * @room: elements that there is memory for
 * @last: map that the last look-up has found
 * @generation: changes when pointers into guest memory may become invalid
 * @bus_master: the bus master bit of the PCI command register
 */
struct dma {
	struct dma_map *maps;
	unsigned int num;
	unsigned int room;
	unsigned int last;
	uint64_t generation;
	bool bus_master;
};

/**
 * struct buf - a struct mynic_buf after checks, in host byte order
 * @addr: see &struct mynic_buf
 * @offset: offset of the memory in its first page; less than a page if there
 *	are pages
 * @levels: levels of page lists, 0 to 2
 * @log_page_size: 12 to 31; not used if @levels is 0
 * @log_list_size: 12 to 22; only used if @levels is 2
 */
struct buf {
	uint64_t addr;
	uint32_t offset;
	uint8_t levels;
	uint8_t log_page_size;
	uint8_t log_list_size;
};

/**
 * struct buf_window - translation of the part of a buf that was last accessed
 * @start: offset of the first byte in the buf
 * @end: offset behind the last byte
 * @ptr: host address of the first byte
 * @generation: &dma.generation for which @ptr is valid
 * @writable: the NIC may write to it
 *
 * A window of zeroes is empty. A window moves to what is accessed. It grows if
 * that follows it both in the buf and in host memory, so it has only pages that
 * were accessed. A window keeps the addresses that the lists had when they were
 * read. Changes of lists that are in use may have no effect. Each part of a buf
 * with a locality of its own (a ring, a record, a region) has a window of its
 * own.
 */
struct buf_window {
	uint64_t start;
	uint64_t end;
	uint8_t *ptr;
	uint64_t generation;
	bool writable;
};

/**
 * struct ring - a ring of slots in a buf
 * @buf: the memory; must outlive the ring
 * @window: translation of the last slots that were accessed
 * @offset: offset of the ring in the buf, aligned to the stride
 * @log_size: log2 of the number of slots, at most 22
 * @log_stride: log2 of the bytes in a slot, at most 9
 */
struct ring {
	const struct buf *buf;
	struct buf_window window;
	uint32_t offset;
	uint8_t log_size;
	uint8_t log_stride;
};

/**
 * enum mkey_kind - kind of a memory key
 * @MKEY_REGION: memory region
 * @MKEY_FAST_REG: memory region that gets its memory by REG_MR requests
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
 * struct mkey - a memory region or a memory window
 * @next: next one of its bucket in &struct mkey_table
 * @link: link in &mkey_table.regions or &mkey_table.others
 * @key: index in 31:8, key byte in 7:0
 * @kind: region or window, and which
 * @valid: it gives access to memory. Always set for MKEY_REGION; for windows:
 *	bound
 * @access: enum ibv_access_flags
 * @pd: protection domain; NULL for the NIC's dma_lkey
 * @iova: address of the first byte in requests
 * @length: bytes; @iova + @length does not wrap
 * @all_dma: the region is the whole DMA address space, or @null; @buf is not
 *	used
 * @null: reads return zeroes, and writes are discarded
 * @dm: device memory of the region, which begins at @buf.addr; NULL: host
 *	memory
 * @paged: the pages come and go (ODP); @buf is from page_table_parse()
 * @buf: the pages of the region
 * @window: translation of the pages that were last accessed
 * @num_windows: of a region: windows that are bound to it
 * @max_pages: MKEY_FAST_REG: upper bound for its pages
 * @region: of a bound window: its region; otherwise NULL
 * @offset: of a bound window: offset of its first byte in @region
 * @qp: of a bound MKEY_MW2: the only QP that can use it; otherwise NULL
 * @qp_link: link in &qp.windows if @qp is set
 */
struct mkey {
	struct mkey *next;
	LIST_ENTRY(mkey) link;
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

/**
 * struct mkey_table - memory keys by index
 * @buckets: lists of keys, by the low bits of their indexes
 * @regions: regions with memory, but not MKEY_FAST_REG; the first one got it last
 * @others: all other keys
 * @used: how many there are
 * @limit: upper bound of @used
 * @windows: how many of them are memory windows
 * @tries: how many indexes have had their turn
 * @secret: what the order of indexes and the key bytes are derived from
 */
struct mkey_table {
	struct mkey **buckets;
	struct mkey_list regions;
	struct mkey_list others;
	uint32_t used;
	uint32_t limit;
	uint32_t windows;
	uint64_t tries;
	uint64_t secret;
};

/**
 * struct page_fault - an access to a missing page
 * @key: key of the region
 * @addr: address as in requests
 * @len: bytes from @addr on that will be accessed, at least 1
 * @write: the page must be writable
 */
struct page_fault {
	uint32_t key;
	uint64_t addr;
	uint32_t len;
	bool write;
};

/*
 * Bytes of device memory of a NIC. It is small, because CPUs access it slowly
 */
#define DM_SIZE (1ULL << 20)
#define DM_PAGES (DM_SIZE / MYNIC_DM_GRANULE)

/**
 * struct dm_pool - the device memory of a NIC
 * @mem: DM_SIZE bytes
 * @owner: owner of each page; NULL: free
 */
struct dm_pool {
	uint8_t *mem;
	struct dm *owner[DM_PAGES];
};

#endif /* MYNIC_MEMORY_TYPES_H */
