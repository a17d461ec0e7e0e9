// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Mapping of guest memory into this process, and containment of its loss.
 * Translation for the NIC is in core/memory/dma.c.
 */

#include <errno.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "client_file.h"
#include "core/nic.h"
#include "dma_maps.h"
#include "helper.h"
#include "switch.h"

/*
 * Freeing the pages of a large guest takes some 40 ms for a GiB. No thread can
 * change the process's memory meanwhile, or touch a new page of it, so it is
 * done in pieces.
 */
#define PIECE (4 << 20)

/* Bytes that are replaced at a time in lost memory, if its pages are smaller */
#define BLOCK (2 << 20)

/**
 * struct unmap_job - memory to be unmapped
 * @job: the helper's
 * @maps: maps that they belonged to
 * @num: number of @regions
 * @regions: the regions
 */
struct unmap_job {
	struct helper_job job;
	struct dma_maps *maps;
	size_t num;
	struct dma_region regions[];
};

/* The maps of all functions, for the signal handler */
static struct dma_maps *all_maps[SWITCH_MAX_PORTS];
static unsigned int num_maps;

static bool dma_maps_is_inside(const struct dma_region *region,
			       const void *addr)
{
	const uint8_t *start = region->ptr;

	return start && (const uint8_t *)addr >= start &&
	       (const uint8_t *)addr < start + region->mapped;
}

/*
 * Replaces the block at an address with zeroes. The rest of the region stays,
 * because without overcommitment it would need as much memory again.
 */
static bool dma_maps_replace_block(const struct dma_region *region,
				   const void *addr)
{
	size_t at = ((const uint8_t *)addr - (uint8_t *)region->ptr) /
		    region->block * region->block;
	size_t len = region->mapped - at;

	if (len > region->block)
		len = region->block;
	return mmap((uint8_t *)region->ptr + at, len, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
		    0) != MAP_FAILED;
}

/*
 * The access is repeated and reads zeroes. Returns false if the address is in
 * no region
 */
static bool dma_maps_replace(struct dma_maps *maps, const void *addr)
{
	for (size_t i = 0; i < maps->num; i++) {
		const struct dma_region *region = &maps->regions[i];

		if (!dma_maps_is_inside(region, addr))
			continue;
		maps->spoilt = true;
		helper_wake(maps->helper);
		return dma_maps_replace_block(region, addr);
	}
	return false;
}

/*
 * Only the thread of the NICs accesses guest memory, and never while it changes
 * the table.
 */
static void dma_maps_memory_lost(int number, siginfo_t *info, void *context)
{
	int err = errno;

	(void)context;
	for (unsigned int i = 0; i < num_maps; i++) {
		if (dma_maps_replace(all_maps[i], info->si_addr)) {
			errno = err;
			return;
		}
	}
	signal(number, SIG_DFL);
}

void dma_maps_init(struct dma_maps *maps)
{
	struct sigaction action = {
		.sa_sigaction = dma_maps_memory_lost,
		.sa_flags = SA_SIGINFO,
	};

	all_maps[num_maps++] = maps;
	sigaction(SIGBUS, &action, NULL);
}

static uint64_t dma_maps_last_byte(const struct dma_region *region)
{
	return region->iova + (region->len - 1);
}

/* Index of the first region that ends at or behind @iova, or @num */
static size_t dma_maps_find(const struct dma_maps *maps, uint64_t iova)
{
	size_t low = 0, high = maps->num;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (dma_maps_last_byte(&maps->regions[mid]) < iova)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int dma_maps_make_room(struct dma_maps *maps)
{
	struct dma_region *regions;
	size_t room;

	if (maps->num + maps->unmapping >= maps->max)
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

static bool dma_maps_is_allowed(const struct dma_maps *maps, int fd)
{
	return client_file_is_memory(fd) ||
	       (maps->disk && client_file_is_on_disk(fd));
}

/* Pages behind the end of a file can be mapped, but an access is a SIGBUS. */
static bool dma_maps_inside_file(int fd, uint64_t offset, uint64_t len)
{
	struct stat st;

	return !fstat(fd, &st) && len <= (uint64_t)st.st_size &&
	       offset <= (uint64_t)st.st_size - len;
}

/* Bytes of a huge page, to which mmap() rounds lengths; 1 for other files */
static size_t dma_maps_huge_page(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) || fs.f_type != HUGETLBFS_MAGIC)
		return 1;
	return fs.f_bsize;
}

static int dma_maps_map_file(const struct dma_maps *maps,
			     struct dma_region *region, int fd, uint64_t offset,
			     int prot)
{
	size_t page = dma_maps_huge_page(fd);
	void *ptr;

	if (!dma_maps_is_allowed(maps, fd) ||
	    !dma_maps_inside_file(fd, offset, region->len))
		return -EINVAL;
	ptr = mmap(NULL, region->len, prot, MAP_SHARED, fd, offset);
	if (ptr == MAP_FAILED)
		return -errno;
	region->ptr = ptr;
	region->mapped = (region->len + page - 1) / page * page;
	region->block = page > BLOCK ? page : BLOCK;
	/* Core dumps must not contain memory of guests. */
	madvise(ptr, region->mapped, MADV_DONTDUMP);
	return 0;
}

int dma_maps_add(struct dma_maps *maps, uint64_t iova, uint64_t len, int fd,
		 uint64_t offset, int prot)
{
	struct dma_region region = { .iova = iova, .len = len };
	size_t at = dma_maps_find(maps, iova);
	int err;

	if (!len || iova + (len - 1) < iova)
		return -EINVAL;
	if (at < maps->num &&
	    maps->regions[at].iova <= dma_maps_last_byte(&region))
		return -EEXIST;
	err = dma_maps_make_room(maps);
	if (err)
		return err;
	if (fd >= 0) {
		err = dma_maps_map_file(maps, &region, fd, offset, prot);
		if (err)
			return err;
		err = nic_dma_map(maps->nic, iova, len, region.ptr,
				  prot & PROT_WRITE);
		if (err) {
			munmap(region.ptr, region.mapped);
			return err;
		}
	}
	memmove(&maps->regions[at + 1], &maps->regions[at],
		(maps->num - at) * sizeof(region));
	maps->regions[at] = region;
	maps->num++;
	return 0;
}

static void dma_maps_unmap_region(const struct dma_region *region)
{
	for (size_t at = 0; at < region->mapped; at += PIECE) {
		size_t len = region->mapped - at;

		madvise((uint8_t *)region->ptr + at, len < PIECE ? len : PIECE,
			MADV_DONTNEED);
	}
	munmap(region->ptr, region->mapped);
}

static void dma_maps_unmap(const struct dma_region *regions, size_t num)
{
	for (size_t i = 0; i < num; i++) {
		if (regions[i].ptr)
			dma_maps_unmap_region(&regions[i]);
	}
}

static void dma_maps_unmap_work(struct helper_job *work)
{
	struct unmap_job *job = (struct unmap_job *)work;

	dma_maps_unmap(job->regions, job->num);
}

static void dma_maps_unmap_done(struct helper_job *work)
{
	struct unmap_job *job = (struct unmap_job *)work;

	job->maps->unmapping -= job->num;
	free(job);
}

/*
 * Small regions are unmapped by the helper, too. The map may be the last
 * reference to a large file. Memory that is being made persistent has to stay
 * until that is complete.
 */
static void dma_maps_unmap_soon(struct dma_maps *maps,
				const struct dma_region *regions, size_t num)
{
	struct unmap_job *job = malloc(sizeof(*job) + num * sizeof(*regions));

	if (!job) {
		dma_maps_unmap(regions, num);
		return;
	}
	job->job = (struct helper_job){ .work = dma_maps_unmap_work,
					.done = dma_maps_unmap_done };
	job->maps = maps;
	job->num = 0;
	/* Regions that are not mapped do not count until the helper is done */
	for (size_t i = 0; i < num; i++) {
		if (regions[i].ptr)
			job->regions[job->num++] = regions[i];
	}
	if (!job->num) {
		free(job);
		return;
	}
	maps->unmapping += job->num;
	helper_submit(maps->helper, &job->job);
}

/* Removes regions @first to @end - 1 from the NIC in one call */
static void dma_maps_take_away(struct dma_maps *maps, size_t first, size_t end)
{
	const struct dma_region *region = &maps->regions[first];

	/* The length of the whole address space would overflow. */
	nic_dma_unmap(maps->nic, region->iova, region->len);
	if (end - first > 1)
		nic_dma_unmap(maps->nic, region[1].iova,
			      dma_maps_last_byte(&maps->regions[end - 1]) -
				      region[1].iova + 1);
}

/* Unmaps regions @first to @end - 1 */
static void dma_maps_drop(struct dma_maps *maps, size_t first, size_t end)
{
	if (first == end)
		return;
	dma_maps_take_away(maps, first, end);
	dma_maps_unmap_soon(maps, &maps->regions[first], end - first);
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
	first = dma_maps_find(maps, iova);
	for (end = first; end < maps->num; end++) {
		const struct dma_region *region = &maps->regions[end];

		if (region->iova > last)
			break;
		if (region->iova < iova || dma_maps_last_byte(region) > last)
			return -EINVAL;
	}
	dma_maps_drop(maps, first, end);
	return 0;
}

void dma_maps_clear(struct dma_maps *maps)
{
	dma_maps_drop(maps, 0, maps->num);
	free(maps->regions);
	maps->regions = NULL;
	maps->room = 0;
}
