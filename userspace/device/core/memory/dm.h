/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Device memory: memory inside the NIC, behind the UAR pages of BAR2. The host
 * allocates pieces of it, maps them, and reaches them with memory keys.
 */
#ifndef MYNIC_DM_H
#define MYNIC_DM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct admin_call;
struct nic;

/**
 * struct dm - an allocated piece of device memory
 * @number: its number in FREE_DM
 * @users: memory keys that refer to it
 * @page: its first page in the pool
 * @num_pages: pages of MYNIC_DM_GRANULE bytes
 */
struct dm {
	uint32_t number;
	uint32_t users;
	uint32_t page;
	uint32_t num_pages;
};

/**
 * dm_find() - find the piece that contains a range
 * @nic: the NIC
 * @offset: in BAR2, any value
 * @len: bytes, any value
 *
 * Return: the piece; NULL if no piece contains the whole range.
 */
struct dm *dm_find(const struct nic *nic, uint64_t offset, uint64_t len);

/* @offset is in BAR2, in a piece that dm_find() has returned. */
uint8_t *dm_ptr(const struct nic *nic, uint64_t offset);

/*
 * The host reads or writes @len bytes at @offset in BAR2. Both return false,
 * and do nothing, if that is not allocated device memory.
 */
bool dm_bar_read(const struct nic *nic, uint64_t offset, void *data,
		 size_t len);
bool dm_bar_write(const struct nic *nic, uint64_t offset, const void *data,
		  size_t len);

/*
 * Part of a reset: frees the next piece from @number on. Returns false if there
 * is none.
 */
bool dms_free_one(struct nic *nic, uint32_t *number);

/* Commands of the host; see admin.h */
int admin_alloc_dm(struct nic *nic, struct admin_call *call);
int admin_free_dm(struct nic *nic, struct admin_call *call);

#endif /* MYNIC_DM_H */
