/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Device memory: memory of the NIC's own, behind the UAR pages of BAR2, that
 * the host takes in pieces, maps, and reaches with memory keys.
 */
#ifndef MYNIC_DM_H
#define MYNIC_DM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mynic_regs.h"

struct nic;

/** Bytes of device memory that a NIC has: each access of a CPU to it is slow */
#define DM_SIZE (1ULL << 20)
#define DM_PAGES (DM_SIZE / MYNIC_DM_GRANULE)

/**
 * struct dm - a piece of device memory in use
 * @number: what FREE_DM calls it
 * @users: memory keys
 * @page: the first page of the pool
 * @num_pages: how many
 */
struct dm {
	uint32_t number;
	uint32_t users;
	uint32_t page;
	uint32_t num_pages;
};

/**
 * struct dm_pool - all of a NIC's device memory
 * @mem: DM_SIZE bytes
 * @owner: by page; NULL: free
 */
struct dm_pool {
	uint8_t *mem;
	struct dm *owner[DM_PAGES];
};

/**
 * dm_find() - the piece that a range lies in
 * @nic: the NIC
 * @offset: in BAR2, any value
 * @len: bytes, any value
 *
 * Return: the piece; NULL: the range is not inside one.
 */
struct dm *dm_find(const struct nic *nic, uint64_t offset, uint64_t len);

/** dm_ptr() - device memory at an offset in BAR2 that dm_find() has found */
uint8_t *dm_ptr(const struct nic *nic, uint64_t offset);

/*
 * The host reads or writes @len bytes at @offset in BAR2. False if that is not
 * device memory in use: nothing has been done then.
 */
bool dm_bar_read(const struct nic *nic, uint64_t offset, void *data,
		 size_t len);
bool dm_bar_write(const struct nic *nic, uint64_t offset, const void *data,
		  size_t len);

/** dms_free_one() - in a reset: the next from @number on; false: no more */
bool dms_free_one(struct nic *nic, uint32_t *number);

#endif /* MYNIC_DM_H */
