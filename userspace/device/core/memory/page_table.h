/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The page table of a region whose pages come and go. */
#ifndef MYNIC_PAGE_TABLE_H
#define MYNIC_PAGE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct buf_window;
struct mynic_buf;
struct nic;

/** page_table_parse() - buf_parse() for the lists of a paged region */
int page_table_parse(struct buf *buf, const struct mynic_buf *src,
		     uint64_t length);

/**
 * page_table_extent() - buf_extent() for a paged region
 * @nic: the NIC
 * @buf: from page_table_parse()
 * @window: the region's window
 * @offset: in the region, inside it
 * @len: in: bytes wanted, at least 1; out: bytes that lie in one piece
 * @write: the NIC is going to write there
 * @ptr: out: the pointer
 *
 * Return: 0; -EAGAIN: the page is not there, or may not be written; -EFAULT:
 * its address or a list's is none (counted as BAD_DMA).
 */
int page_table_extent(struct nic *nic, const struct buf *buf,
		      struct buf_window *window, uint64_t offset, uint64_t *len,
		      bool write, uint8_t **ptr);

#endif /* MYNIC_PAGE_TABLE_H */
