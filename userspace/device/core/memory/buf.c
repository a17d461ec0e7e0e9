// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Walks over page lists in guest memory. The lists may change at any time, so
 * each entry is read once, and its address is checked with each access.
 */

#include "memory/buf.h"

#include <sys/uio.h>

#include "base/iov.h"
#include "base/util.h"
#include "memory/dma.h"
#include "state/memory_types.h"
#include "state/nic_types.h"

#define LOG_ENTRY_SIZE 3
#define ENTRY_SIZE (1u << LOG_ENTRY_SIZE)

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

/**
 * struct entries - consecutive entries of a page list
 * @next: the first entry, in guest memory, where it may change at any time
 * @num: number of entries; 0: @next has to be looked up
 */
struct entries {
	const __le64 *next;
	uint64_t num;
};

static uint64_t buf_read_entry(const __le64 *entry)
{
	return le64toh(__atomic_load_n(entry, __ATOMIC_RELAXED));
}

/*
 * The entries of a list from @index to the end of its page; empty if they
 * cannot be reached
 */
static struct entries buf_find_entries(struct nic *nic, uint64_t list,
				       uint64_t index)
{
	struct entries entries = { 0 };
	const struct dma_map *map;

	if (list % ENTRY_SIZE ||
	    __builtin_add_overflow(list, index * ENTRY_SIZE, &list))
		return entries;
	map = dma_find(nic, list);
	if (!map)
		return entries;
	list -= map->iova;
	entries.next = (const __le64 *)(map->ptr + list);
	entries.num = (map->len - list) / ENTRY_SIZE;
	return entries;
}

/* The entries from that of page @index on */
static struct entries buf_find_page(struct nic *nic, const struct buf *buf,
				    uint64_t index)
{
	struct entries entries;
	uint64_t num;

	if (buf->levels == 1)
		return buf_find_entries(nic, buf->addr, index);
	num = 1ULL << (buf->log_list_size - LOG_ENTRY_SIZE);
	entries = buf_find_entries(nic, buf->addr, index / num);
	if (!entries.num)
		return entries;
	index %= num;
	entries = buf_find_entries(nic, buf_read_entry(entries.next), index);
	if (entries.num > num - index)
		entries.num = num - index;
	return entries;
}

/**
 * struct walk - state of one access to a buf
 * @nic: the NIC
 * @buf: the memory
 * @place: offset up to which memory has been found, counted like &buf.offset;
 *	may be beyond @end
 * @end: offset where the access ends
 * @entries: if @place is at the beginning of a page: known entries from that
 *	page on
 * @map: map of the last piece
 * @writable: all pieces so far may be written
 * @list: memory up to @place, but not beyond @end
 */
struct walk {
	struct nic *nic;
	const struct buf *buf;
	uint64_t place;
	uint64_t end;
	struct entries entries;
	const struct dma_map *map;
	bool writable;
	struct iov_list *list;
};

/* Finds the DMA address of @place, and how many bytes follow in its page */
static bool buf_locate(struct walk *walk, uint64_t *addr, uint64_t *left)
{
	const struct buf *buf = walk->buf;
	uint64_t page_size = 1ULL << buf->log_page_size;
	uint64_t in_page = walk->place & (page_size - 1);

	if (!buf->levels) {
		*left = UINT64_MAX - walk->place;
		return !__builtin_add_overflow(buf->addr, walk->place, addr);
	}
	walk->entries = buf_find_page(walk->nic, buf,
				      walk->place >> buf->log_page_size);
	if (!walk->entries.num)
		return false;
	*addr = buf_read_entry(walk->entries.next);
	if (*addr & (page_size - 1))
		return false;
	*addr += in_page;
	*left = page_size - in_page;
	walk->entries.next++;
	walk->entries.num--;
	return true;
}

/* Adds what lies in one page and in one map */
static enum outcome buf_add_piece(struct walk *walk)
{
	uint64_t addr, left, len = walk->end - walk->place;
	const struct dma_map *map;

	if (!buf_locate(walk, &addr, &left))
		return OUTCOME_DMA;
	map = dma_find(walk->nic, addr);
	if (!map || (walk->list->write && !map->writable))
		return OUTCOME_DMA;
	walk->map = map;
	walk->writable &= map->writable;
	addr -= map->iova;
	if (left > map->len - addr) {
		left = map->len - addr;
		walk->entries.num = 0;
	}
	len = min_u64(len, left);
	walk->place += left;
	if (!iov_add(walk->list, map->ptr + addr, len))
		return OUTCOME_SCATTERED;
	return OUTCOME_OK;
}

/*
 * Extends the last piece by pages that follow it. It stops before a page that
 * needs more care. That is at the end of the list or of the map, on an error,
 * or if there is no room. Most of a long message is added here.
 */
static void buf_add_pages(struct walk *walk)
{
	const unsigned int log_page_size = walk->buf->log_page_size;
	const uint64_t page_size = 1ULL << log_page_size;
	const struct iovec *full = walk->list->iov + walk->list->max;
	struct iovec *iov = walk->list->iov + walk->list->num;
	uint8_t *tail = (uint8_t *)iov[-1].iov_base + iov[-1].iov_len;
	const __le64 *entry = walk->entries.next;
	const struct dma_map map = *walk->map;
	uint64_t num;

	num = ((walk->end - walk->place - 1) >> log_page_size) + 1;
	if (num > walk->entries.num)
		num = walk->entries.num;
	if (map.len < page_size)
		num = 0;
	for (; num; num--, entry++) {
		uint64_t addr = buf_read_entry(entry);
		uint8_t *ptr;

		if (addr & (page_size - 1) ||
		    addr - map.iova > map.len - page_size)
			break;
		ptr = map.ptr + (addr - map.iova);
		if (ptr == tail)
			iov[-1].iov_len += page_size;
		else if (iov != full)
			*iov++ = (struct iovec){ ptr, page_size };
		else
			break;
		tail = ptr + page_size;
	}
	walk->place += (uint64_t)(entry - walk->entries.next) << log_page_size;
	walk->list->num = iov - walk->list->iov;
	if (walk->place > walk->end)
		iov[-1].iov_len -= walk->place - walk->end;
}

/*
 * Moves the window to the last element of a walk, of which up to @len bytes
 * belong to the buf. If that follows the old window in host memory, too, the
 * window grows.
 */
static void buf_move_window(struct buf_window *window, const struct walk *walk,
			    uint64_t len)
{
	const struct iovec *last = &walk->list->iov[walk->list->num - 1];
	uint8_t *ptr = (uint8_t *)last->iov_base + last->iov_len;
	uint64_t start = walk->end;

	if (len > last->iov_len)
		len = last->iov_len;
	ptr -= len;
	start -= walk->buf->offset + len;
	if (window->generation != walk->nic->dma.generation ||
	    window->end != start || window->writable != walk->writable ||
	    window->ptr + (window->end - window->start) != ptr)
		*window = (struct buf_window){
			.start = start,
			.ptr = ptr,
			.generation = walk->nic->dma.generation,
			.writable = walk->writable,
		};
	window->end = walk->place - walk->buf->offset;
}

enum outcome buf_iov(struct nic *nic, const struct buf *buf,
		     struct buf_window *window, uint64_t offset, uint64_t len,
		     struct iov_list *list)
{
	struct walk walk = {
		.nic = nic,
		.buf = buf,
		.place = buf->offset + offset,
		.end = buf->offset + offset + len,
		.writable = true,
		.list = list,
	};

	if (!len)
		return OUTCOME_OK;
	while (walk.place < walk.end) {
		enum outcome outcome = buf_add_piece(&walk);

		if (outcome == OUTCOME_DMA)
			nic_count(nic, MYNIC_STAT_BAD_DMA);
		if (outcome)
			return outcome;
		if (walk.place < walk.end)
			buf_add_pages(&walk);
	}
	buf_move_window(window, &walk, len);
	return OUTCOME_OK;
}

void *buf_find(struct nic *nic, const struct buf *buf,
	       struct buf_window *window, uint64_t offset, uint32_t len,
	       bool write)
{
	struct iovec iov;
	struct iov_list list = { .iov = &iov, .max = 1, .write = write };
	enum outcome outcome;

	outcome = buf_iov(nic, buf, window, offset, len, &list);
	if (outcome == OUTCOME_SCATTERED)
		nic_count(nic, MYNIC_STAT_BAD_DMA);
	return outcome ? NULL : iov.iov_base;
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

int ring_check(struct nic *nic, const struct ring *ring, bool write)
{
	return buf_check(nic, ring->buf, ring->offset,
			 1ULL << (ring->log_size + ring->log_stride),
			 1u << ring->log_stride, write);
}
