// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Translation of DMA addresses to pointers. The maps are made outside the core,
 * by host/dma_maps.c.
 */

#include "memory/dma.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nic.h"
#include "state/memory_types.h"
#include "state/nic_types.h"

static unsigned int dma_find_above(const struct dma *dma, uint64_t iova)
{
	unsigned int low = 0, high = dma->num;

	while (low < high) {
		unsigned int mid = low + (high - low) / 2;
		const struct dma_map *map = &dma->maps[mid];

		if (map->iova + (map->len - 1) < iova)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

const struct dma_map *dma_search(struct nic *nic, uint64_t iova)
{
	struct dma *dma = &nic->dma;
	const struct dma_map *map;

	dma->last = dma_find_above(dma, iova);
	if (dma->last == dma->num)
		return NULL;
	map = &dma->maps[dma->last];
	return iova >= map->iova ? map : NULL;
}

void *dma_extent(struct nic *nic, uint64_t iova, uint64_t *len, bool *writable)
{
	const struct dma_map *map = dma_find(nic, iova);
	uint64_t offset;

	if (!map) {
		nic_count(nic, MYNIC_STAT_BAD_DMA);
		return NULL;
	}
	offset = iova - map->iova;
	if (*len > map->len - offset)
		*len = map->len - offset;
	*writable = map->writable;
	return map->ptr + offset;
}

void *dma_ptr(struct nic *nic, uint64_t iova, uint64_t len, bool write)
{
	uint64_t present = len;
	bool writable;
	void *ptr;

	ptr = dma_extent(nic, iova, &present, &writable);
	if (!ptr)
		return NULL;
	if (present < len || (write && !writable)) {
		nic_count(nic, MYNIC_STAT_BAD_DMA);
		return NULL;
	}
	return ptr;
}

static int dma_make_room(struct dma *dma)
{
	unsigned int room = dma->room ? 2 * dma->room : 16;
	struct dma_map *maps;

	if (dma->num < dma->room)
		return 0;
	maps = realloc(dma->maps, room * sizeof(*maps));
	if (!maps)
		return -ENOMEM;
	dma->maps = maps;
	dma->room = room;
	return 0;
}

int nic_dma_map(struct nic *nic, uint64_t iova, uint64_t len, void *ptr,
		bool writable)
{
	struct dma *dma = &nic->dma;
	unsigned int pos;
	int err;

	if (!len || iova + (len - 1) < iova)
		return -EINVAL;
	pos = dma_find_above(dma, iova);
	if (pos < dma->num && dma->maps[pos].iova <= iova + (len - 1))
		return -EEXIST;
	err = dma_make_room(dma);
	if (err)
		return err;
	memmove(&dma->maps[pos + 1], &dma->maps[pos],
		(dma->num - pos) * sizeof(*dma->maps));
	dma->maps[pos] = (struct dma_map){ iova, len, ptr, writable };
	dma->num++;
	return 0;
}

int nic_dma_unmap(struct nic *nic, uint64_t iova, uint64_t len)
{
	struct dma *dma = &nic->dma;
	unsigned int first, end;
	uint64_t last;

	if (!len)
		return 0;
	last = iova + (len - 1);
	if (last < iova)
		last = UINT64_MAX;
	first = dma_find_above(dma, iova);
	for (end = first; end < dma->num; end++) {
		const struct dma_map *map = &dma->maps[end];

		if (map->iova > last)
			break;
		if (map->iova < iova || map->iova + (map->len - 1) > last)
			return -EINVAL;
	}
	if (first == end)
		return 0;
	memmove(&dma->maps[first], &dma->maps[end],
		(dma->num - end) * sizeof(*dma->maps));
	dma->num -= end - first;
	dma->generation++;
	return 0;
}

void nic_set_bus_master(struct nic *nic, bool on)
{
	nic->dma.bus_master = on;
	nic->dma.generation++;
}

void dma_free(struct dma *dma)
{
	free(dma->maps);
}
