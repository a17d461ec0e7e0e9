// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Walks the page table of a paged region. The host changes the table at any
 * time. Requests that meet a missing page wait in qp/odp.c.
 */

#include "memory/page_table.h"

#include <endian.h>

#include "memory/buf.h"
#include "memory/dma.h"
#include "mynic_regs.h"
#include "state/memory_types.h"
#include "state/nic_types.h"

#define MAX_LEVELS 4
#define LOG_ENTRY_SIZE 3
#define ENTRY_FLAGS (MYNIC_PAGE_PRESENT | MYNIC_PAGE_WRITABLE)

static unsigned int page_table_covered_bits(const struct buf *buf)
{
	unsigned int list_bits = buf->log_list_size - LOG_ENTRY_SIZE;

	return buf->log_page_size + buf->levels * list_bits;
}

int page_table_parse(struct buf *buf, const struct mynic_buf *src,
		     uint64_t length)
{
	uint64_t end;

	*buf = (struct buf){
		.addr = le64toh(src->addr),
		.offset = le32toh(src->offset),
		.levels = src->levels,
		.log_page_size = src->log_page_size,
		.log_list_size = src->log_list_size,
	};
	if (!buf->levels || buf->levels > MAX_LEVELS || src->reserved_0b ||
	    buf->log_page_size < BUF_MIN_LOG_PAGE_SIZE ||
	    buf->log_page_size > BUF_MAX_LOG_PAGE_SIZE ||
	    buf->log_list_size < BUF_MIN_LOG_PAGE_SIZE ||
	    buf->log_list_size > BUF_MAX_LOG_LIST_SIZE ||
	    buf->addr & ((1ULL << buf->log_list_size) - 1) ||
	    buf->offset >> buf->log_page_size)
		return MYNIC_AQ_BAD_PARAM;
	if (__builtin_add_overflow(length, buf->offset, &end) ||
	    (page_table_covered_bits(buf) < 64 &&
	     end > 1ULL << page_table_covered_bits(buf)))
		return MYNIC_AQ_BAD_PARAM;
	return MYNIC_AQ_OK;
}

static enum outcome page_table_bad_dma(struct nic *nic)
{
	nic_count(nic, MYNIC_STAT_BAD_DMA);
	return OUTCOME_DMA;
}

/* Finds the entry of a page, with its flags. It may change at any time */
static enum outcome page_table_walk(struct nic *nic, const struct buf *buf,
				    uint64_t page, uint64_t *entry)
{
	unsigned int bits = buf->log_list_size - LOG_ENTRY_SIZE;
	uint64_t list = buf->addr;

	for (unsigned int level = buf->levels; level--;) {
		uint64_t index = page >> (level * bits) & ((1ULL << bits) - 1);
		const __le64 *ptr;

		ptr = dma_ptr(nic, list + (index << LOG_ENTRY_SIZE),
			      sizeof(*ptr), false);
		if (!ptr)
			return OUTCOME_DMA;
		*entry = le64toh(__atomic_load_n(ptr, __ATOMIC_ACQUIRE));
		if (!(*entry & MYNIC_PAGE_PRESENT))
			return OUTCOME_NO_PAGE;
		list = *entry & ~(uint64_t)ENTRY_FLAGS;
		if (level && list & ((1ULL << buf->log_list_size) - 1))
			return page_table_bad_dma(nic);
	}
	return OUTCOME_OK;
}

static enum outcome page_table_move_window(struct nic *nic, struct mkey *mkey,
					   uint64_t offset, bool write)
{
	struct buf_window *window = &mkey->window;
	const struct buf *buf = &mkey->buf;
	uint64_t page_size = 1ULL << buf->log_page_size;
	uint64_t place = offset + buf->offset;
	uint64_t entry = 0, left;
	enum outcome outcome;

	window->generation = 0;
	outcome =
		page_table_walk(nic, buf, place >> buf->log_page_size, &entry);
	if (outcome)
		return outcome;
	if (write && !(entry & MYNIC_PAGE_WRITABLE))
		return OUTCOME_NO_PAGE;
	if ((entry & (page_size - 1)) & ~(uint64_t)ENTRY_FLAGS)
		return page_table_bad_dma(nic);
	place &= page_size - 1;
	left = page_size - place;
	window->ptr = dma_extent(nic, (entry & ~(page_size - 1)) + place, &left,
				 &window->writable);
	if (!window->ptr)
		return OUTCOME_DMA;
	if (write && !window->writable)
		return page_table_bad_dma(nic);
	window->writable &= !!(entry & MYNIC_PAGE_WRITABLE);
	window->start = offset;
	window->end = offset + left;
	window->generation = nic->dma.generation;
	return OUTCOME_OK;
}

enum outcome page_table_extent(struct nic *nic, struct mkey *mkey,
			       uint64_t offset, uint64_t *len, bool write,
			       uint8_t **ptr)
{
	struct buf_window *window = &mkey->window;
	enum outcome outcome;

	if (window->generation != nic->dma.generation ||
	    offset < window->start || offset >= window->end ||
	    (write && !window->writable)) {
		outcome = page_table_move_window(nic, mkey, offset, write);
		if (outcome)
			return outcome;
	}
	if (*len > window->end - offset)
		*len = window->end - offset;
	*ptr = window->ptr + (offset - window->start);
	return OUTCOME_OK;
}
