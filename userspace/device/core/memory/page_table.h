/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The page table of a region whose pages come and go (ODP). */
#ifndef MYNIC_PAGE_TABLE_H
#define MYNIC_PAGE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/outcome.h"

struct buf;
struct mkey;
struct mynic_buf;
struct nic;

/* Checks the lists of a paged region, as buf_parse() does for other regions. */
int page_table_parse(struct buf *buf, const struct mynic_buf *src,
		     uint64_t length);

/**
 * page_table_extent() - translate as much of a paged region as is contiguous
 * @nic: the NIC
 * @mkey: the region
 * @offset: offset in the region, inside it
 * @len: in: bytes wanted, at least 1; out: bytes that lie in one piece
 * @write: the access is a write
 * @ptr: out: the pointer
 *
 * Return: OUTCOME_OK; OUTCOME_NO_PAGE: the page is missing, or must not be
 * written; OUTCOME_DMA: the address of the page or of a list is invalid (counted
 * as BAD_DMA).
 */
enum outcome page_table_extent(struct nic *nic, struct mkey *mkey,
			       uint64_t offset, uint64_t *len, bool write,
			       uint8_t **ptr);

#endif /* MYNIC_PAGE_TABLE_H */
