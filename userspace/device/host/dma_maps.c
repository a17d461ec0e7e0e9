// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "core/nic.h"
#include "dma_maps.h"

static uint64_t last_byte(const struct dma_region *region)
{
	return region->iova + (region->len - 1);
}

/* The first region that ends at or behind @iova; @num if there is none */
static size_t find(const struct dma_maps *maps, uint64_t iova)
{
	size_t low = 0, high = maps->num;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (last_byte(&maps->regions[mid]) < iova)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int make_room(struct dma_maps *maps)
{
	struct dma_region *regions;
	size_t room;

	if (maps->num == DMA_MAPS_MAX)
		return -ENOSPC;
	if (maps->num < maps->room)
		return 0;
	room = maps->room ? 2 * maps->room : 16;
	regions = realloc(maps->regions, room * sizeof(*regions));
	if (!regions)
		return -ENOMEM;
	maps->regions = regions;
	maps->room = room;
	return 0;
}

/* A page behind the end of a file can be mapped, but not touched. */
static bool inside_file(int fd, uint64_t offset, uint64_t len)
{
	struct stat st;

	if (fstat(fd, &st))
		return false;
	if (!S_ISREG(st.st_mode))
		return true;
	return len <= (uint64_t)st.st_size &&
	       offset <= (uint64_t)st.st_size - len;
}

static int map_file(struct dma_region *region, int fd, uint64_t offset,
		    int prot)
{
	void *ptr;

	if (!inside_file(fd, offset, region->len))
		return -EINVAL;
	ptr = mmap(NULL, region->len, prot, MAP_SHARED, fd, offset);
	if (ptr == MAP_FAILED)
		return -errno;
	region->ptr = ptr;
	return 0;
}

int dma_maps_add(struct dma_maps *maps, uint64_t iova, uint64_t len, int fd,
		 uint64_t offset, int prot)
{
	struct dma_region region = { .iova = iova, .len = len };
	size_t at = find(maps, iova);
	int err;

	if (!len || iova + (len - 1) < iova)
		return -EINVAL;
	if (at < maps->num && maps->regions[at].iova <= last_byte(&region))
		return -EEXIST;
	err = make_room(maps);
	if (err)
		return err;
	if (fd >= 0) {
		err = map_file(&region, fd, offset, prot);
		if (err)
			return err;
		err = nic_dma_map(maps->nic, iova, len, region.ptr,
				  prot & PROT_WRITE);
		if (err) {
			munmap(region.ptr, len);
			return err;
		}
	}
	memmove(&maps->regions[at + 1], &maps->regions[at],
		(maps->num - at) * sizeof(region));
	maps->regions[at] = region;
	maps->num++;
	return 0;
}

/* Unmap regions @first to @end - 1 */
static void drop(struct dma_maps *maps, size_t first, size_t end)
{
	if (first == end)
		return;
	for (size_t i = first; i < end; i++) {
		const struct dma_region *region = &maps->regions[i];

		if (!region->ptr)
			continue;
		nic_dma_unmap(maps->nic, region->iova, region->len);
		munmap(region->ptr, region->len);
	}
	memmove(&maps->regions[first], &maps->regions[end],
		(maps->num - end) * sizeof(*maps->regions));
	maps->num -= end - first;
}

int dma_maps_remove(struct dma_maps *maps, uint64_t iova, uint64_t len)
{
	uint64_t last = iova + (len - 1);
	size_t first, end;

	if (!len || last < iova)
		return -EINVAL;
	first = find(maps, iova);
	for (end = first; end < maps->num; end++) {
		const struct dma_region *region = &maps->regions[end];

		if (region->iova > last)
			break;
		if (region->iova < iova || last_byte(region) > last)
			return -EINVAL;
	}
	drop(maps, first, end);
	return 0;
}

void dma_maps_clear(struct dma_maps *maps)
{
	drop(maps, 0, maps->num);
	free(maps->regions);
	maps->regions = NULL;
	maps->room = 0;
}
