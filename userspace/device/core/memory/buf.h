/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Host memory of objects: struct mynic_buf, and the rings and doorbell records
 * in it. Page lists stay in guest memory. They are read when a page is
 * accessed, so the cost of an object does not depend on the size of its memory.
 */
#ifndef MYNIC_BUF_H
#define MYNIC_BUF_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/outcome.h"
#include "mynic_regs.h"
#include "state/memory_types.h"
#include "state/nic_types.h"

struct iov_list;

#define BUF_MIN_LOG_PAGE_SIZE MYNIC_MIN_LOG_PAGE_SIZE
#define BUF_MAX_LOG_PAGE_SIZE MYNIC_MAX_LOG_PAGE_SIZE
#define BUF_MAX_LOG_LIST_SIZE 22

/**
 * buf_window_ptr() - look up a range in a window
 * @dma: the guest memory of the NIC
 * @window: the window
 * @offset: offset in the buf
 * @len: bytes
 * @write: the access is a write
 *
 * Return: the pointer; NULL if the window does not have the whole range.
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
 * buf_parse() - check a struct mynic_buf without looking at its memory
 * @buf: result
 * @src: a copy of what the guest has sent
 *
 * Return: enum mynic_aq_status.
 */
int buf_parse(struct buf *buf, const struct mynic_buf *src);

/* buf_ptr() for ranges that the window does not have. */
void *buf_find(struct nic *nic, const struct buf *buf,
	       struct buf_window *window, uint64_t offset, uint32_t len,
	       bool write);

/**
 * buf_check() - check that a range of a buf can be used
 * @nic: the NIC
 * @buf: the memory
 * @offset: offset in the buf; @offset + @len does not wrap
 * @len: bytes, at least 1; only the first and the last byte are looked up
 * @align: power of two up to 4 KiB; parts of that size and alignment are then
 *	contiguous in host memory
 * @write: the NIC is going to write to it
 *
 * Return: enum mynic_aq_status.
 */
int buf_check(struct nic *nic, const struct buf *buf, uint64_t offset,
	      uint64_t len, uint32_t align, bool write);

/**
 * buf_iov() - append the host pointers of a range to a scatter list
 * @nic: the NIC
 * @buf: the memory
 * @window: the caller's window on it
 * @offset: offset in the buf
 * @len: bytes; @offset + @len is at most MKEY_MAX_LENGTH
 * @list: the list
 *
 * Return: OUTCOME_OK; OUTCOME_DMA: a page is not mapped (counted as BAD_DMA);
 * OUTCOME_SCATTERED: @list is full. @list is of use only with OUTCOME_OK.
 */
enum outcome buf_iov(struct nic *nic, const struct buf *buf,
		     struct buf_window *window, uint64_t offset, uint64_t len,
		     struct iov_list *list);

/**
 * ring_check() - check that a ring can be used
 * @nic: the NIC
 * @ring: the ring, with an empty window
 * @write: the NIC is going to write to it
 *
 * Return: enum mynic_aq_status.
 */
int ring_check(struct nic *nic, const struct ring *ring, bool write);

static inline uint32_t ring_size(const struct ring *ring)
{
	return 1u << ring->log_size;
}

/* Phase of the entry with free-running index @index. */
static inline uint8_t ring_phase(const struct ring *ring, uint32_t index)
{
	return ~(index >> ring->log_size) & 1;
}

/**
 * buf_publish() - write an entry that ends with its phase byte
 * @slot: the slot, in guest memory
 * @entry: the complete entry
 * @size: bytes of the entry, a multiple of 8
 *
 * The last 8 bytes, which hold the phase, become visible after all others.
 */
static inline void buf_publish(void *slot, const void *entry, size_t size)
{
	uint64_t last;

	size -= sizeof(last);
	memcpy(slot, entry, size);
	memcpy(&last, (const uint8_t *)entry + size, sizeof(last));
	__atomic_store_n((uint64_t *)((uint8_t *)slot + size), last,
			 __ATOMIC_RELEASE);
}

/* The index is read before the entries that it announces */
static inline uint32_t buf_load_index(const __le32 *index)
{
	return le32toh(__atomic_load_n(index, __ATOMIC_ACQUIRE));
}

/* The index is written after the last access to the slots that it releases */
static inline void buf_store_index(__le32 *index, uint32_t value)
{
	__atomic_store_n(index, htole32(value), __ATOMIC_RELEASE);
}

/**
 * buf_ptr() - translate a range of a buf
 * @nic: the NIC
 * @buf: the memory
 * @window: translation that the caller keeps
 * @offset: offset in the buf
 * @len: bytes, at least 1
 * @write: the access is a write
 *
 * buf_check() says which ranges are contiguous.
 *
 * Return: the pointer; NULL, counted as BAD_DMA, if it is not there.
 */
static inline void *buf_ptr(struct nic *nic, const struct buf *buf,
			    struct buf_window *window, uint64_t offset,
			    uint32_t len, bool write)
{
	void *ptr = buf_window_ptr(&nic->dma, window, offset, len, write);

	return ptr ? ptr : buf_find(nic, buf, window, offset, len, write);
}

/**
 * ring_slot() - translate a slot of a ring
 * @nic: the NIC
 * @ring: the ring
 * @index: free-running index of the slot
 * @write: the access is a write
 *
 * Return: the pointer; NULL, counted as BAD_DMA, if it is not there.
 */
static inline void *ring_slot(struct nic *nic, struct ring *ring,
			      uint32_t index, bool write)
{
	uint64_t slot = index & (ring_size(ring) - 1);

	return buf_ptr(nic, ring->buf, &ring->window,
		       ring->offset + (slot << ring->log_stride),
		       1u << ring->log_stride, write);
}

#endif /* MYNIC_BUF_H */
