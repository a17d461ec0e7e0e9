// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "buf.h"

#include <string.h>

#include "core.h"

#define ENTRY_SIZE sizeof(__le64)

int buf_parse(struct buf *buf, const struct mynic_buf *src)
{
	*buf = (struct buf){
		.addr = le64toh(src->addr),
		.offset = le32toh(src->offset),
		.levels = src->levels,
		.log_page_size = src->log_page_size,
		.log_list_size = src->log_list_size,
	};
	if (buf->levels > 2 || src->reserved_0b)
		return MYNIC_AQ_BAD_PARAM;
	if (buf->levels < 2 ? buf->log_list_size :
			      (buf->log_list_size < BUF_MIN_LOG_PAGE_SIZE ||
			       buf->log_list_size > BUF_MAX_LOG_LIST_SIZE))
		return MYNIC_AQ_BAD_PARAM;
	if (!buf->levels)
		return buf->log_page_size ? MYNIC_AQ_BAD_PARAM : MYNIC_AQ_OK;
	if (buf->log_page_size < BUF_MIN_LOG_PAGE_SIZE ||
	    buf->log_page_size > BUF_MAX_LOG_PAGE_SIZE ||
	    buf->addr % ENTRY_SIZE || buf->offset >> buf->log_page_size)
		return MYNIC_AQ_BAD_PARAM;
	return MYNIC_AQ_OK;
}

/* Entry of a list in guest memory, where it may change at any time */
static bool read_entry(struct nic *nic, uint64_t list, uint64_t index,
		       uint64_t *entry)
{
	uint64_t addr;
	__le64 *ptr;

	if (__builtin_add_overflow(list, index * ENTRY_SIZE, &addr))
		ptr = NULL;
	else
		ptr = dma_ptr(nic, addr, ENTRY_SIZE, false);
	if (!ptr)
		return false;
	*entry = le64toh(__atomic_load_n(ptr, __ATOMIC_RELAXED));
	return true;
}

/* DMA address of a byte of a buf, and how much follows in its page */
static bool locate(struct nic *nic, const struct buf *buf, uint64_t offset,
		   uint64_t *addr, uint64_t *left)
{
	uint64_t page_size = 1ULL << buf->log_page_size;
	uint64_t index, list = buf->addr;

	if (__builtin_add_overflow(offset, buf->offset, &offset))
		return false;
	if (!buf->levels) {
		*left = UINT64_MAX - offset;
		return !__builtin_add_overflow(buf->addr, offset, addr);
	}
	index = offset >> buf->log_page_size;
	if (buf->levels == 2) {
		uint8_t log_entries = buf->log_list_size - 3;

		if (!read_entry(nic, list, index >> log_entries, &list) ||
		    list % ENTRY_SIZE)
			return false;
		index &= (1ULL << log_entries) - 1;
	}
	if (!read_entry(nic, list, index, addr) || *addr & (page_size - 1))
		return false;
	offset &= page_size - 1;
	*addr += offset;
	*left = page_size - offset;
	return true;
}

static bool move_window(struct nic *nic, const struct buf *buf,
			struct buf_window *window, uint64_t offset)
{
	uint64_t bad_dma = nic->stats[MYNIC_STAT_BAD_DMA];
	uint64_t addr, left;

	window->generation = 0;
	if (!locate(nic, buf, offset, &addr, &left)) {
		/* Once per access, also where no address came of it */
		nic->stats[MYNIC_STAT_BAD_DMA] = bad_dma + 1;
		return false;
	}
	window->ptr = dma_extent(nic, addr, &left, &window->writable);
	if (!window->ptr)
		return false;
	window->start = offset;
	window->end = offset + left;
	window->generation = nic->dma.generation;
	return true;
}

void *buf_extent(struct nic *nic, const struct buf *buf,
		 struct buf_window *window, uint64_t offset, uint64_t *len,
		 bool write)
{
	if ((window->generation != nic->dma.generation ||
	     offset < window->start || offset >= window->end) &&
	    !move_window(nic, buf, window, offset))
		return NULL;
	if (write && !window->writable) {
		nic_count(nic, MYNIC_STAT_BAD_DMA);
		return NULL;
	}
	if (*len > window->end - offset)
		*len = window->end - offset;
	return window->ptr + (offset - window->start);
}

void *buf_find(struct nic *nic, const struct buf *buf,
	       struct buf_window *window, uint64_t offset, uint32_t len,
	       bool write)
{
	uint64_t present = len;
	void *ptr;

	ptr = buf_extent(nic, buf, window, offset, &present, write);
	if (ptr && present < len) {
		nic_count(nic, MYNIC_STAT_BAD_DMA);
		return NULL;
	}
	return ptr;
}

int buf_check(struct nic *nic, const struct buf *buf, uint64_t offset,
	      uint64_t len, uint32_t align, bool write)
{
	struct buf_window window = { 0 };
	uint64_t start = offset + buf->offset;

	if (!buf->levels)
		start += buf->addr;
	if (start % align)
		return MYNIC_AQ_BAD_PARAM;
	if (!buf_ptr(nic, buf, &window, offset, 1, write) ||
	    !buf_ptr(nic, buf, &window, offset + len - 1, 1, write))
		return MYNIC_AQ_BAD_DMA;
	return MYNIC_AQ_OK;
}

int ring_init(struct nic *nic, struct ring *ring, const struct buf *buf,
	      uint32_t offset, uint8_t log_size, uint8_t log_stride, bool write)
{
	*ring = (struct ring){
		.buf = buf,
		.offset = offset,
		.log_size = log_size,
		.log_stride = log_stride,
	};
	return buf_check(nic, buf, offset, 1ULL << (log_size + log_stride),
			 1u << log_stride, write);
}
