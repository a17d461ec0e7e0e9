// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The pool of device memory: allocation, and access through BAR2. */

#include "memory/dm.h"

#include <endian.h>
#include <string.h>

#include "base/mem.h"
#include "base/table.h"
#include "mynic_regs.h"
#include "state/memory_types.h"
#include "state/nic_types.h"

#define POOL_OFFSET ((uint64_t)NIC_NUM_UAR * MYNIC_UAR_SIZE)

struct dm *dm_find(const struct nic *nic, uint64_t offset, uint64_t len)
{
	struct dm *dm;
	uint64_t size;

	offset -= POOL_OFFSET;
	if (offset >= DM_SIZE)
		return NULL;
	dm = nic->dm.owner[offset / MYNIC_DM_GRANULE];
	if (!dm)
		return NULL;
	offset -= (uint64_t)dm->page * MYNIC_DM_GRANULE;
	size = (uint64_t)dm->num_pages * MYNIC_DM_GRANULE;
	return len <= size - offset ? dm : NULL;
}

uint8_t *dm_ptr(const struct nic *nic, uint64_t offset)
{
	return nic->dm.mem + (offset - POOL_OFFSET);
}

bool dm_bar_read(const struct nic *nic, uint64_t offset, void *data, size_t len)
{
	if (!dm_find(nic, offset, len))
		return false;
	memcpy(data, dm_ptr(nic, offset), len);
	return true;
}

bool dm_bar_write(const struct nic *nic, uint64_t offset, const void *data,
		  size_t len)
{
	if (!dm_find(nic, offset, len))
		return false;
	memcpy(dm_ptr(nic, offset), data, len);
	return true;
}

static struct dm *dm_first_owner(const struct dm_pool *pool, uint64_t page,
				 uint64_t num)
{
	for (uint64_t i = 0; i < num; i++) {
		if (pool->owner[page + i])
			return pool->owner[page + i];
	}
	return NULL;
}

/* First fit; @align is a power of two. Returns DM_PAGES if there is no room */
static uint64_t dm_find_place(const struct dm_pool *pool, uint64_t num,
			      uint64_t align)
{
	uint64_t page = 0;

	while (page + num <= DM_PAGES) {
		const struct dm *dm = dm_first_owner(pool, page, num);

		if (!dm)
			return page;
		page = dm->page + dm->num_pages;
		page = (page + align - 1) & -align;
	}
	return DM_PAGES;
}

static void dm_set_owner(struct nic *nic, const struct dm *dm, struct dm *owner)
{
	for (uint32_t i = 0; i < dm->num_pages; i++)
		nic->dm.owner[dm->page + i] = owner;
}

static int dm_init(struct nic *nic, struct dm *dm,
		   const struct mynic_alloc_dm *cmd)
{
	uint64_t length = le64toh(cmd->length);
	uint64_t align, place;

	if (!length || cmd->log_align >= 64)
		return MYNIC_AQ_BAD_PARAM;
	if (length > DM_SIZE || 1ULL << cmd->log_align > DM_SIZE)
		return MYNIC_AQ_NO_RESOURCE;
	/*
	 * BAR2 is aligned to its own size, so aligned offsets have aligned
	 * addresses
	 */
	align = (1ULL << cmd->log_align) / MYNIC_DM_GRANULE;
	dm->num_pages = (length + MYNIC_DM_GRANULE - 1) / MYNIC_DM_GRANULE;
	place = dm_find_place(&nic->dm, dm->num_pages, align ? align : 1);
	if (place == DM_PAGES || table_add(&nic->dms, dm, &dm->number))
		return MYNIC_AQ_NO_RESOURCE;
	dm->page = place;
	dm_set_owner(nic, dm, dm);
	return MYNIC_AQ_OK;
}

int admin_alloc_dm(struct nic *nic, struct admin_call *call)
{
	struct dm *dm = mem_alloc(&nic->mem, sizeof(*dm));
	uint64_t start;
	int status;

	if (!dm)
		return MYNIC_AQ_NO_RESOURCE;
	status = dm_init(nic, dm, &call->cmd.alloc_dm);
	if (status) {
		mem_free(&nic->mem, dm);
		return status;
	}
	/* The new owner must not see what the last one has left there */
	start = (uint64_t)dm->page * MYNIC_DM_GRANULE;
	memset(nic->dm.mem + start, 0,
	       (size_t)dm->num_pages * MYNIC_DM_GRANULE);
	call->cpl.number = htole32(dm->number);
	call->cpl.dm_place.offset = htole64(POOL_OFFSET + start);
	return MYNIC_AQ_OK;
}

static void dm_destroy(struct nic *nic, struct dm *dm)
{
	dm_set_owner(nic, dm, NULL);
	table_remove(&nic->dms, dm->number);
	mem_free(&nic->mem, dm);
}

int admin_free_dm(struct nic *nic, struct admin_call *call)
{
	struct dm *dm = table_lookup(&nic->dms, le32toh(call->cmd.number));

	if (!dm)
		return MYNIC_AQ_BAD_NUMBER;
	if (dm->users)
		return MYNIC_AQ_BUSY;
	dm_destroy(nic, dm);
	return MYNIC_AQ_OK;
}

bool dms_free_one(struct nic *nic, uint32_t *number)
{
	struct dm *dm = table_next(&nic->dms, number);

	if (!dm)
		return false;
	dm_destroy(nic, dm);
	return true;
}
