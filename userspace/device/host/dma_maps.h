/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Guest memory that the client shares, mapped into this process. Where it makes
 * a file shorter that it has shared, or there is no memory for it, an access is
 * a SIGBUS: then what is missing becomes zeros, of nobody, and the maps are spoilt.
 */
#ifndef MYNIC_HOST_DMA_MAPS_H
#define MYNIC_HOST_DMA_MAPS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct helper;
struct nic;

/*
 * For all functions of the process together: what the kernel allows
 * (vm.max_map_count), but for what the process needs for itself. Each function
 * has its share for sure.
 */
#define DMA_MAPS_TOTAL 61440

/**
 * struct dma_region - one map
 * @iova: DMA address of the first byte
 * @len: bytes, not 0
 * @ptr: where it is here; NULL if the client gave no file descriptor. That is
 *	so with ROMs and other devices' registers; the NIC cannot reach them.
 * @mapped: bytes at @ptr: whole pages, whatever their size
 * @block: bytes that are replaced at a time if the client takes them away
 */
struct dma_region {
	uint64_t iova;
	uint64_t len;
	void *ptr;
	size_t mapped;
	size_t block;
};

/**
 * struct dma_maps - all maps of a function
 * @nic: told of each
 * @helper: unmaps them
 * @max: of regions, those included that are still to be unmapped
 * @disk: files on a disk are good, too
 * @spoilt: a region has lost its memory; the client has to go
 * @unmapping: regions that @helper has yet to unmap
 * @regions: in the order of their addresses, none overlapping another
 * @num: of regions
 * @room: for regions
 */
struct dma_maps {
	struct nic *nic;
	struct helper *helper;
	size_t max;
	bool disk;
	atomic_bool spoilt;
	size_t unmapping;
	struct dma_region *regions;
	size_t num;
	size_t room;
};

/**
 * dma_maps_init() - have a SIGBUS in the maps of a function contained
 * @maps: with @nic, @helper, @max and @disk set; must not move afterwards
 *
 * Sets @spoilt and wakes the helper when there is one.
 */
void dma_maps_init(struct dma_maps *maps);

/**
 * dma_maps_add() - map guest memory
 * @maps: maps of the function
 * @iova: DMA address of the first byte
 * @len: bytes
 * @fd: file; stays the caller's. -1: memory that is out of reach
 * @offset: of the memory in @fd, a multiple of the page size
 * @prot: PROT_READ, or PROT_READ | PROT_WRITE
 *
 * Return: 0, -EEXIST if the range overlaps a mapped one, -EINVAL if it is
 * empty, wraps, is not aligned or lies beyond the end of the file, or @fd is not
 * of a kind that is allowed, -ENOSPC above @maps' maximum, or what mmap() failed
 * with.
 */
int dma_maps_add(struct dma_maps *maps, uint64_t iova, uint64_t len, int fd,
		 uint64_t offset, int prot);

/**
 * dma_maps_remove() - unmap all regions inside a range
 * @maps: maps of the function
 * @iova: DMA address of the first byte
 * @len: bytes
 *
 * With an IOMMU in the guest the client also unmaps what was never mapped.
 *
 * Return: 0, or -EINVAL if the range is empty, wraps or cuts a region in two;
 * then nothing is unmapped.
 */
int dma_maps_remove(struct dma_maps *maps, uint64_t iova, uint64_t len);

/** dma_maps_clear() - unmap everything */
void dma_maps_clear(struct dma_maps *maps);

#endif /* MYNIC_HOST_DMA_MAPS_H */
