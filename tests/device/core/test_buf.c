// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Access to host memory through page lists */

#include "core/base/iov.h"
#include "core/memory/buf.h"
#include "core/nic.h"
#include "core/state/nic_types.h"
#include "harness_sim.h"

#define PAGE 4096u
#define NUM_PAGES 600u
#define PER_LIST 512u
#define MAX_IOV 40u

/* A DMA address without memory */
#define NOWHERE (1ull << 50)

/**
 * struct world - a NIC and a buf of NUM_PAGES pages
 * @n: the NIC
 * @mem: the pages, at first in this order
 * @entry: the list; with two levels, both lists in succession
 * @top: with two levels, the list of lists
 * @spare: DMA address of two read-only pages in a separate map
 * @buf: the buf
 * @window: window of the last accesses
 * @iov: result of the last access
 * @niov: elements in @iov
 */
struct world {
	struct sim_nic *n;
	uint8_t *mem;
	uint64_t *entry;
	uint64_t *top;
	uint64_t spare;
	struct buf buf;
	struct buf_window window;
	struct iovec iov[MAX_IOV];
	unsigned int niov;
};

static struct world new_world(unsigned int levels, uint32_t offset)
{
	struct world w = { .n = &sim_new(1)->nics[0] };
	uint8_t *spare = tap_alloc(2 * PAGE);
	struct mynic_buf desc = {
		.levels = levels,
		.log_page_size = 12,
		.log_list_size = levels == 2 ? 12 : 0,
		.offset = offset,
	};

	w.mem = sim_alloc(w.n, NUM_PAGES * PAGE, PAGE);
	w.entry = sim_alloc(w.n, 2 * PAGE, PAGE);
	w.top = sim_alloc(w.n, 16, 16);
	w.top[0] = sim_iova(w.n, w.entry);
	w.top[1] = sim_iova(w.n, w.entry + PER_LIST);
	desc.addr = sim_iova(w.n, levels == 2 ? w.top : w.entry);
	CHECK_EQ(buf_parse(&w.buf, &desc), MYNIC_AQ_OK);
	for (unsigned int i = 0; i < NUM_PAGES; i++)
		w.entry[i] = sim_iova(w.n, w.mem + i * PAGE);
	w.spare = w.n->iova + SIM_MEM_SIZE;
	CHECK_EQ(nic_dma_map(w.n->nic, w.spare, 2 * PAGE, spare, false), 0);
	return w;
}

static void scatter(struct world *w)
{
	for (unsigned int i = 0; i < NUM_PAGES; i++)
		w->entry[i] = sim_iova(w->n, w->mem + i * 7 % NUM_PAGES * PAGE);
}

static uint64_t bad_dma(const struct world *w)
{
	return w->n->nic->stats[MYNIC_STAT_BAD_DMA];
}

static enum outcome try_access(struct world *w, uint64_t offset, uint64_t len,
			       bool write)
{
	struct iov_list list = {
		.iov = w->iov,
		.max = MAX_IOV,
		.write = write,
	};
	enum outcome outcome;

	outcome = buf_iov(w->n->nic, &w->buf, &w->window, offset, len, &list);
	w->niov = list.num;
	return outcome;
}

/* Where the list currently says that a byte of the buf is */
static uint8_t *byte_at(const struct world *w, uint64_t offset)
{
	uint64_t at = w->buf.offset + offset;
	uint64_t addr = w->entry[at / PAGE] + at % PAGE;

	return w->n->mem + (addr - w->n->iova);
}

static void check_window(struct world *w, uint64_t offset, uint64_t len)
{
	const struct dma *dma = &w->n->nic->dma;
	uint8_t *ptr = buf_window_ptr(dma, &w->window, offset, len, true);

	for (uint64_t i = 0; ptr && i < len; i++)
		CHECK(ptr + i == byte_at(w, offset + i));
	CHECK(ptr);
}

static bool is_in_window(const struct world *w, uint64_t offset)
{
	return buf_window_ptr(&w->n->nic->dma, &w->window, offset, 1, false);
}

static void check_access(struct world *w, uint64_t offset, uint64_t len)
{
	uint64_t last, at = offset;

	CHECK_EQ(try_access(w, offset, len, true), 0);
	for (unsigned int i = 0; i < w->niov; i++)
		for (size_t k = 0; k < w->iov[i].iov_len; k++)
			CHECK((uint8_t *)w->iov[i].iov_base + k ==
			      byte_at(w, at++));
	CHECK_EQ(at, offset + len);
	last = w->iov[w->niov - 1].iov_len;
	check_window(w, offset + len - last, last);
}

/*
 * The access is refused and counted once. One to the bytes before it succeeds
 */
static void check_refused(struct world *w, unsigned int page, bool write)
{
	uint64_t before = bad_dma(w);

	check_access(w, 0, (uint64_t)page * PAGE);
	CHECK_EQ(bad_dma(w), before);
	CHECK(!is_in_window(w, (uint64_t)page * PAGE));
	for (unsigned int i = 0; i <= page; i++) {
		CHECK_EQ(try_access(w, i * PAGE, (page - i) * PAGE + 1, write),
			 OUTCOME_DMA);
		CHECK_EQ(bad_dma(w), ++before);
	}
	CHECK(!is_in_window(w, (uint64_t)page * PAGE));
	CHECK(!buf_find(w->n->nic, &w->buf, &w->window, page * PAGE, 1, write));
	CHECK_EQ(bad_dma(w), before + 1);
}

TEST(pages_in_a_row_are_one_piece)
{
	struct world w = new_world(1, 100);

	check_access(&w, 10, 16 * PAGE);
	CHECK_EQ(w.niov, 1);
	/*
	 * to the end of the last page, but not before the access
	 */
	check_window(&w, 10, 17 * PAGE - 110);
	CHECK(!is_in_window(&w, 17 * PAGE - 100));
}

TEST(scattered_pages_are_pieces)
{
	struct world w = new_world(1, 100);

	scatter(&w);
	check_access(&w, 10, 16 * PAGE);
	CHECK_EQ(w.niov, 17);
	check_window(&w, 16 * PAGE - 100, PAGE);
	CHECK(!is_in_window(&w, 16 * PAGE - 101));
	CHECK(!is_in_window(&w, 17 * PAGE - 100));
}

TEST(any_part_of_a_list)
{
	for (unsigned int levels = 1; levels <= 2; levels++) {
		struct world w = new_world(levels, 1234);

		scatter(&w);
		for (unsigned int i = 0; i < NUM_PAGES; i += 1 + i % 3)
			w.entry[i] = w.entry[0] + i * PAGE;
		for (int i = 0; i < 300; i++) {
			uint64_t len = 1 + sim_random(w.n->sim, 30 * PAGE);
			uint64_t size = NUM_PAGES * PAGE - 1234;
			uint64_t offset = sim_random(w.n->sim, size - len + 1);

			check_access(&w, offset, len);
		}
		sim_free(w.n->sim);
	}
}

TEST(window_grows)
{
	struct world w = new_world(1, 0);

	w.entry[10] = sim_iova(w.n, w.mem + 100 * PAGE);
	for (unsigned int i = 0; i < 10; i++)
		check_access(&w, i * PAGE + 100 * !i, 100);
	check_window(&w, 100, 10 * PAGE - 100);
	/* the window is used without another look-up */
	w.entry[3] = NOWHERE;
	CHECK_EQ(bad_dma(&w), 0);
	CHECK(buf_ptr(w.n->nic, &w.buf, &w.window, 3 * PAGE, PAGE, true));
	/* another place in host memory, ... */
	check_access(&w, 10 * PAGE, 100);
	CHECK(!is_in_window(&w, 10 * PAGE - 1));
	/* ... in the buf, ... */
	w.entry[12] = w.entry[10] + PAGE;
	check_access(&w, 12 * PAGE, 100);
	CHECK(!is_in_window(&w, 11 * PAGE));
	/* ... or right before it */
	w.entry[11] = w.entry[12] - PAGE;
	check_access(&w, 11 * PAGE, 100);
	CHECK(!is_in_window(&w, 12 * PAGE));
}

TEST(window_begins_with_its_buf)
{
	struct world w = new_world(1, 0);
	struct buf_window other = { 0 };
	struct iov_list list = {
		.iov = w.iov,
		.max = MAX_IOV,
		.num = 1,
		.write = true,
	};

	check_access(&w, 0, PAGE);
	/* joins an element that is there already */
	CHECK_EQ(buf_iov(w.n->nic, &w.buf, &other, PAGE, PAGE, &list), 0);
	CHECK_EQ(list.num, 1);
	CHECK_EQ(w.iov[0].iov_len, 2 * PAGE);
	CHECK(!buf_window_ptr(&w.n->nic->dma, &other, PAGE - 1, 1, true));
	CHECK(buf_window_ptr(&w.n->nic->dma, &other, PAGE, PAGE, true) ==
	      w.mem + PAGE);
}

TEST(list_of_elements_is_full)
{
	struct world w = new_world(1, 0);

	scatter(&w);
	check_access(&w, 0, MAX_IOV * PAGE);
	CHECK_EQ(w.niov, MAX_IOV);
	CHECK_EQ(try_access(&w, 0, MAX_IOV * PAGE + 1, true),
		 OUTCOME_SCATTERED);
	w.entry[MAX_IOV] = w.entry[MAX_IOV - 1] + PAGE;
	check_access(&w, 0, MAX_IOV * PAGE + 1);
	CHECK_EQ(bad_dma(&w), 0);
}

static void check_entry(uint64_t entry, bool scattered)
{
	for (unsigned int levels = 1; levels <= 2; levels++) {
		struct world w = new_world(levels, 0);

		if (scattered)
			scatter(&w);
		w.entry[7] = entry;
		check_refused(&w, 7, false);
		sim_free(w.n->sim);
	}
}

TEST(entry_is_nowhere)
{
	check_entry(NOWHERE, false);
	check_entry(NOWHERE, true);
	check_entry(~0ull - PAGE + 1, false);
}

TEST(entry_is_misaligned)
{
	struct world w = new_world(1, 0);

	check_entry(sim_iova(w.n, w.mem + 7 * PAGE + 8), false);
	check_entry(sim_iova(w.n, w.mem + 7 * PAGE) | 1, true);
}

TEST(entry_is_read_only)
{
	struct world w = new_world(1, 0);

	w.entry[7] = w.spare;
	check_refused(&w, 7, true);
	CHECK_EQ(try_access(&w, 0, 9 * PAGE, false), 0);
	CHECK_EQ(w.niov, 3);
	/* its map has one more page, and nothing follows */
	w.entry[8] = w.spare + PAGE;
	CHECK_EQ(try_access(&w, 7 * PAGE, 2 * PAGE, false), 0);
	CHECK_EQ(w.niov, 1);
	CHECK(is_in_window(&w, 8 * PAGE));
	CHECK(!buf_window_ptr(&w.n->nic->dma, &w.window, 7 * PAGE, 1, true));
	w.entry[9] = w.spare + 2 * PAGE;
	CHECK_EQ(try_access(&w, 7 * PAGE, 3 * PAGE, false), OUTCOME_DMA);
}

/*
 * Map one page; its neighbours in the buf are its neighbours in all address
 * spaces
 */
static void map_page(struct world *w, unsigned int page, bool writable)
{
	w->entry[page] = (1ull << 45) + page * PAGE;
	CHECK_EQ(nic_dma_map(w->n->nic, w->entry[page], PAGE,
			     w->mem + page * PAGE, writable),
		 0);
}

TEST(read_only_does_not_become_writable)
{
	struct world w = new_world(1, 0);

	for (unsigned int i = 0; i < 3; i++)
		map_page(&w, i, i == 1);
	CHECK_EQ(try_access(&w, 0, 2 * PAGE, false), 0);
	CHECK_EQ(w.niov, 1);
	CHECK(is_in_window(&w, 0));
	CHECK(!buf_window_ptr(&w.n->nic->dma, &w.window, 0, 1, true));
	CHECK_EQ(try_access(&w, PAGE, PAGE, true), 0);
	CHECK(buf_window_ptr(&w.n->nic->dma, &w.window, PAGE, PAGE, true));
	CHECK(!is_in_window(&w, 0));
	CHECK_EQ(try_access(&w, 2 * PAGE, PAGE, false), 0);
	CHECK(is_in_window(&w, 2 * PAGE));
	CHECK(!buf_window_ptr(&w.n->nic->dma, &w.window, 2 * PAGE, 1, true));
	CHECK_EQ(bad_dma(&w), 0);
	CHECK_EQ(try_access(&w, 0, 1, true), OUTCOME_DMA);
	CHECK_EQ(try_access(&w, PAGE, PAGE + 1, true), OUTCOME_DMA);
	CHECK_EQ(bad_dma(&w), 2);
}

TEST(lists_of_two_levels)
{
	const uint64_t start = (PER_LIST - 9) * PAGE, len = 17 * PAGE;
	struct world w = new_world(2, 0);

	/* the second list is elsewhere, and other pages follow the first one */
	w.top[1] = sim_iova(w.n, sim_alloc(w.n, PAGE, PAGE));
	memcpy(w.n->mem + (w.top[1] - w.n->iova), w.entry + PER_LIST,
	       (NUM_PAGES - PER_LIST) * sizeof(*w.entry));
	w.entry[PER_LIST] = w.entry[1];
	CHECK_EQ(try_access(&w, start, len, true), 0);
	CHECK_EQ(w.niov, 1);
	CHECK(w.iov[0].iov_base == w.mem + start);
	CHECK_EQ(w.iov[0].iov_len, len);
	w.top[1] = NOWHERE;
	CHECK_EQ(try_access(&w, start, len, true), OUTCOME_DMA);
	CHECK_EQ(bad_dma(&w), 1);
	CHECK_EQ(try_access(&w, start, 9 * PAGE, true), 0);
	CHECK_EQ(bad_dma(&w), 1);
}

TEST(list_is_misaligned)
{
	struct world w = new_world(2, 0);
	uint64_t iova = 1ull << 45;

	/* misaligned entries would lead to memory, too */
	CHECK_EQ(nic_dma_map(w.n->nic, iova, PAGE, w.mem, true), 0);
	CHECK_EQ(nic_dma_map(w.n->nic, iova >> 32, PAGE, w.mem, true), 0);
	w.entry[0] = iova;
	w.entry[1] = iova;
	CHECK_EQ(try_access(&w, 0, PAGE, true), 0);
	w.top[0] |= 4;
	CHECK_EQ(try_access(&w, 0, PAGE, true), OUTCOME_DMA);
	CHECK_EQ(bad_dma(&w), 1);
}

/* Map the list up to its 8th page, and @len bytes of the rest elsewhere */
static void map_list(struct world *w, uint64_t iova, uint64_t len)
{
	uint8_t *list = tap_alloc(64), *rest = tap_alloc(64);

	memcpy(list, w->entry, 64);
	memcpy(rest, w->entry + 8, 64);
	CHECK_EQ(nic_dma_map(w->n->nic, iova, 64, list, true), 0);
	if (len)
		CHECK_EQ(nic_dma_map(w->n->nic, iova + 64, len, rest, true), 0);
	w->buf.addr = iova;
}

TEST(list_at_the_end_of_a_map)
{
	struct world w = new_world(1, 0);

	map_list(&w, 1ull << 45, 0);
	check_refused(&w, 8, false);
	/* half of an entry is not an entry */
	w = new_world(1, 0);
	map_list(&w, 1ull << 45, 4);
	check_refused(&w, 8, false);
	/* the rest is in the next map */
	w = new_world(1, 0);
	scatter(&w);
	map_list(&w, 1ull << 45, 64);
	check_access(&w, 100, 12 * PAGE);
	check_refused(&w, 16, false);
	/* the first address does not follow the last one */
	w = new_world(1, 0);
	map_list(&w, ~0ull - 63, 64);
	check_refused(&w, 8, false);
}

/* Pages of 8 KiB, one of which has its halves in different maps */
TEST(page_of_two_maps)
{
	struct world w = new_world(1, 0);
	uint8_t *second = w.mem + 9 * PAGE;
	uint64_t iova = 1ull << 45;

	CHECK_EQ(nic_dma_map(w.n->nic, iova, 3 * PAGE, w.mem, true), 0);
	CHECK_EQ(nic_dma_map(w.n->nic, iova + 3 * PAGE, PAGE, second, true), 0);
	w.buf.log_page_size = 13;
	w.entry[0] = iova;
	w.entry[1] = iova + 2 * PAGE;
	w.entry[2] = iova;
	CHECK_EQ(try_access(&w, 0, 6 * PAGE, true), 0);
	CHECK_EQ(w.niov, 3);
	CHECK(w.iov[0].iov_base == w.mem && w.iov[0].iov_len == 3 * PAGE);
	CHECK(w.iov[1].iov_base == second && w.iov[1].iov_len == PAGE);
	CHECK(w.iov[2].iov_base == w.mem && w.iov[2].iov_len == 2 * PAGE);
	/* in the middle of a page */
	CHECK_EQ(try_access(&w, 2 * PAGE, PAGE + 5, true), 0);
	CHECK(w.window.ptr == second);
	CHECK(is_in_window(&w, 4 * PAGE - 1));
	CHECK(!is_in_window(&w, 4 * PAGE));
	CHECK_EQ(bad_dma(&w), 0);
	/* from a map that is less than a page */
	w.entry[2] = NOWHERE & ~(2ull * PAGE - 1);
	CHECK_EQ(try_access(&w, 3 * PAGE, 3 * PAGE, true), OUTCOME_DMA);
	CHECK_EQ(bad_dma(&w), 1);
	/* a page that ends behind its map */
	CHECK_EQ(nic_dma_unmap(w.n->nic, iova + 3 * PAGE, PAGE), 0);
	CHECK_EQ(try_access(&w, 0, 4 * PAGE, true), OUTCOME_DMA);
	CHECK_EQ(bad_dma(&w), 2);
}

TEST(window_ends_with_one_of_its_maps)
{
	struct world w = new_world(1, 0);

	for (unsigned int i = 0; i < 4; i++)
		map_page(&w, i, true);
	CHECK_EQ(try_access(&w, 0, 4 * PAGE, true), 0);
	CHECK_EQ(w.niov, 1);
	CHECK(is_in_window(&w, 0) && is_in_window(&w, 4 * PAGE - 1));
	CHECK_EQ(nic_dma_unmap(w.n->nic, w.entry[3], PAGE), 0);
	CHECK(!is_in_window(&w, 0));
	CHECK_EQ(try_access(&w, 0, 4 * PAGE, true), OUTCOME_DMA);
	CHECK_EQ(try_access(&w, 0, 3 * PAGE, true), 0);
	/* an old window does not grow */
	nic_set_bus_master(w.n->nic, false);
	CHECK_EQ(try_access(&w, 0, 1, true), OUTCOME_DMA);
	nic_set_bus_master(w.n->nic, true);
	map_page(&w, 3, true);
	CHECK_EQ(try_access(&w, 3 * PAGE, 1, true), 0);
	CHECK(is_in_window(&w, 3 * PAGE));
	CHECK(!is_in_window(&w, 0));
}

TEST(slots_are_in_one_piece)
{
	struct world w = new_world(1, 0);
	struct nic *nic = w.n->nic;

	CHECK(buf_find(nic, &w.buf, &w.window, 10 * PAGE, PAGE, true) ==
	      w.mem + 10 * PAGE);
	CHECK_EQ(bad_dma(&w), 0);
	scatter(&w);
	w.window = (struct buf_window){ 0 };
	CHECK(!buf_find(nic, &w.buf, &w.window, 10 * PAGE - 8, 16, true));
	CHECK_EQ(bad_dma(&w), 1);
	w.entry[10] = w.spare;
	CHECK(!buf_find(nic, &w.buf, &w.window, 10 * PAGE, 1, true));
	CHECK_EQ(bad_dma(&w), 2);
	CHECK(buf_find(nic, &w.buf, &w.window, 10 * PAGE, 1, false));
	CHECK_EQ(bad_dma(&w), 2);
}
