/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Guest memory that the client shares, mapped into this process. If the client
 * shortens a shared file, or the machine has no memory for it, an access is a
 * SIGBUS. The missing memory is then replaced with private zeroes, and the
 * session ends.
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
 * Limit for all functions of the process together: vm.max_map_count, without
 * what the process needs itself. Each function has a guaranteed share.
 */
#define DMA_MAPS_TOTAL 61440

/**
 * struct dma_region - a map
 * @iova: DMA address of the first byte
 * @len: bytes, not 0
 * @ptr: first byte in this process. NULL if the client has passed no file, as
 *	for ROMs and registers of other devices; the NIC cannot reach these
 * @mapped: bytes at @ptr, in whole pages of any size
 * @block: bytes that are replaced at a time if the memory is lost
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
 * @nic: NIC that is told about each map
 * @helper: thread that unmaps memory
 * @max: upper bound of regions, including those that are still to be unmapped
 * @disk: files on a disk are allowed
 * @spoilt: a region has lost its memory; the session has to end
 * @unmapping: regions that @helper still has to unmap
 * @regions: regions in the order of their addresses, without overlap
 * @num: number of @regions
 * @room: capacity of @regions
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
 * dma_maps_init() - handle SIGBUS in the maps of a function
 * @maps: maps with @nic, @helper, @max and @disk set; must not move afterwards
 *
 * A SIGBUS sets @spoilt and wakes the helper.
 */
void dma_maps_init(struct dma_maps *maps);

/**
 * dma_maps_add() - map guest memory
 * @maps: maps of the function
 * @iova: DMA address of the first byte
 * @len: bytes
 * @fd: the file, which the caller still owns; -1: memory that the NIC cannot
 *	reach
 * @offset: offset in @fd, a multiple of the page size
 * @prot: PROT_READ, or PROT_READ | PROT_WRITE
 *
 * Return: 0; -EEXIST: the range overlaps another map; -EINVAL: the range is
 * empty, wraps, is not aligned or lies beyond the end of the file, or @fd is
 * not of an allowed type; -ENOSPC: there are too many maps; or an error of
 * mmap().
 */
int dma_maps_add(struct dma_maps *maps, uint64_t iova, uint64_t len, int fd,
		 uint64_t offset, int prot);

/**
 * dma_maps_remove() - unmap all regions inside a range
 * @maps: maps of the function
 * @iova: DMA address of the first byte
 * @len: bytes
 *
 * With an IOMMU in the guest, the client also unmaps ranges that were never
 * mapped.
 *
 * Return: 0; -EINVAL: the range is empty, wraps or has only a part of a region.
 * Nothing is unmapped then.
 */
int dma_maps_remove(struct dma_maps *maps, uint64_t iova, uint64_t len);

void dma_maps_clear(struct dma_maps *maps);

#endif /* MYNIC_HOST_DMA_MAPS_H */
