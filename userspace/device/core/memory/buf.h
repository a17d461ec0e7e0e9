/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Host memory of objects: struct mynic_buf, the rings and doorbell records in
 * it. Page lists stay in guest memory and are read when a page is touched, so
 * an object costs the same however large its memory is.
 */
#ifndef MYNIC_BUF_H
#define MYNIC_BUF_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

#include "memory/dma.h"
#include "mynic_regs.h"

struct nic;

#define BUF_MIN_LOG_PAGE_SIZE MYNIC_MIN_LOG_PAGE_SIZE
#define BUF_MAX_LOG_PAGE_SIZE MYNIC_MAX_LOG_PAGE_SIZE
#define BUF_MAX_LOG_LIST_SIZE 22

/* Work queues: log2 of slots and of the bytes in a slot */
#define WQ_MAX_LOG_SIZE 15
#define WQ_MAX_LOG_STRIDE 9
#define SQ_MIN_LOG_STRIDE 6
#define RQ_MIN_LOG_STRIDE 5

/**
 * struct buf - a checked struct mynic_buf in host byte order
 * @addr: see &struct mynic_buf
 * @offset: where in the first page the memory begins, less than a page if
 *	there are pages
 * @levels: 0, 1 or 2
 * @log_page_size: 12 to 31 if @levels is not 0
 * @log_list_size: 12 to 22 if @levels is 2
 */
struct buf {
	uint64_t addr;
	uint32_t offset;
	uint8_t levels;
	uint8_t log_page_size;
	uint8_t log_list_size;
};

/**
 * struct buf_window - a translated part of a buf, where the last access was
 * @start: offset in the buf of the first byte
 * @end: offset behind the last byte
 * @ptr: host address of the first byte
 * @generation: &dma.generation at which @ptr was right
 * @writable: the NIC may write there
 *
 * All zeroes is a window that holds nothing. A window moves to what is accessed,
 * and grows if that follows it both in the buf and in host memory, so pages that
 * nobody has accessed are never in it. It has addresses that lists had when they
 * were read; a host that changes lists in use may find that it has changed
 * nothing. Each user of a buf that has a locality of its own (a ring, a record, a
 * region) has a window of its own.
 */
struct buf_window {
	uint64_t start;
	uint64_t end;
	uint8_t *ptr;
	uint64_t generation;
	bool writable;
};

/**
 * buf_window_ptr() - what a window has of its buf
 * @dma: the NIC's
 * @window: the window
 * @offset: in the buf
 * @len: bytes
 * @write: the NIC is going to write there
 *
 * Return: the pointer, or NULL if it does not have all of it.
 */
static inline void *buf_window_ptr(const struct dma *dma,
				   const struct buf_window *window,
				   uint64_t offset, uint64_t len, bool write)
{
	if (window->generation != dma->generation || offset < window->start ||
	    offset > window->end || len > window->end - offset ||
	    (write && !window->writable))
		return NULL;
	return window->ptr + (offset - window->start);
}

/**
 * struct ring - a ring of slots in a buf
 * @buf: the memory
 * @window: the last slots touched
 * @offset: of the ring in the buf, aligned to the stride
 * @log_size: log2 of the number of slots
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
 * buf_parse() - check a struct mynic_buf by itself
 * @buf: result
 * @src: from the guest, already copied
 *
 * Return: enum mynic_aq_status.
 */
int buf_parse(struct buf *buf, const struct mynic_buf *src);

/** buf_find() - buf_ptr() for what the window does not have */
void *buf_find(struct nic *nic, const struct buf *buf,
	       struct buf_window *window, uint64_t offset, uint32_t len,
	       bool write);

/**
 * buf_check() - check that an object's part of a buf can be used
 * @nic: the NIC
 * @buf: the memory
 * @offset: in the buf; @offset + @len does not wrap
 * @len: bytes, at least 1; only the first and the last are looked up
 * @align: power of two up to 4 KiB, so that aligned parts of that size are in
 *	one piece
 * @write: the NIC is going to write there
 *
 * Return: enum mynic_aq_status.
 */
int buf_check(struct nic *nic, const struct buf *buf, uint64_t offset,
	      uint64_t len, uint32_t align, bool write);

/**
 * buf_iov() - add the host's pointers to a part of a buf to a list
 * @nic: the NIC
 * @buf: the memory
 * @window: the caller's window on it
 * @offset: in the buf
 * @len: bytes; @offset + @len is at most MKEY_MAX_LENGTH
 * @write: the NIC is going to write there
 * @iov: the list
 * @max: room in @iov
 * @niov: in and out: elements in @iov; neighbours are merged
 *
 * Return: 0; -EFAULT: a page is not mapped (counted as BAD_DMA); -ENOBUFS:
 * @iov is full.
 */
int buf_iov(struct nic *nic, const struct buf *buf, struct buf_window *window,
	    uint64_t offset, uint64_t len, bool write, struct iovec *iov,
	    unsigned int max, unsigned int *niov);

/**
 * ring_init() - check and set up a ring
 * @nic: the NIC
 * @ring: result
 * @buf: the memory; stays where it is as long as the ring
 * @offset: of the ring in @buf
 * @log_size: log2 of the number of slots, at most 22
 * @log_stride: log2 of the bytes in a slot, at most 9
 * @write: the NIC is going to write there
 *
 * Return: enum mynic_aq_status.
 */
int ring_init(struct nic *nic, struct ring *ring, const struct buf *buf,
	      uint32_t offset, uint8_t log_size, uint8_t log_stride,
	      bool write);

static inline uint32_t ring_size(const struct ring *ring)
{
	return 1u << ring->log_size;
}

/** ring_phase() - the phase of the entry with a free-running index */
static inline uint8_t ring_phase(const struct ring *ring, uint32_t index)
{
	return ~(index >> ring->log_size) & 1;
}

/**
 * publish() - write an entry that ends in a phase byte
 * @slot: in guest memory
 * @entry: the entry, complete
 * @size: bytes of the entry, a multiple of 8
 *
 * The phase becomes visible behind all else: with the last 8 bytes.
 */
static inline void publish(void *slot, const void *entry, size_t size)
{
	uint64_t last;

	size -= sizeof(last);
	memcpy(slot, entry, size);
	memcpy(&last, (const uint8_t *)entry + size, sizeof(last));
	__atomic_store_n((uint64_t *)((uint8_t *)slot + size), last,
			 __ATOMIC_RELEASE);
}

/* Producer indexes are read before what they announce ... */
static inline uint32_t load_index(const __le32 *index)
{
	return le32toh(__atomic_load_n(index, __ATOMIC_ACQUIRE));
}

/* ... and consumer indexes written behind the last use of what they release */
static inline void store_index(__le32 *index, uint32_t value)
{
	__atomic_store_n(index, htole32(value), __ATOMIC_RELEASE);
}

#endif /* MYNIC_BUF_H */
