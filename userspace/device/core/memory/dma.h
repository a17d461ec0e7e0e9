/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The guest memory that a NIC may reach. */
#ifndef MYNIC_DMA_H
#define MYNIC_DMA_H

#include <stdbool.h>
#include <stdint.h>

struct nic;

/**
 * struct dma_map - a range of DMA addresses that is present
 * @iova: DMA address of the first byte
 * @len: bytes
 * @ptr: where this process has it
 * @writable: whether the NIC may write there
 */
struct dma_map {
	uint64_t iova;
	uint64_t len;
	uint8_t *ptr;
	bool writable;
};

/**
 * struct dma - all that a NIC may reach
 * @maps: sorted by address, without overlap
 * @num: elements in @maps
 * @last: the map that the last look-up found
 * @generation: changes whenever a pointer into guest memory may go stale
 * @bus_master: PCI lets the NIC access memory
 */
struct dma {
	struct dma_map *maps;
	unsigned int num;
	unsigned int last;
	uint64_t generation;
	bool bus_master;
};

/** dma_search() - dma_find() for what &dma.last does not have */
const struct dma_map *dma_search(struct nic *nic, uint64_t iova);

/**
 * dma_ptr() - host pointer to guest memory
 * @nic: the NIC
 * @iova: DMA address
 * @len: bytes, at least 1
 * @write: the NIC is going to write there
 *
 * Pointers are valid until &dma.generation changes, which it never does
 * inside a call into the core but those that say so in nic.h.
 *
 * Return: the pointer; NULL, counted as BAD_DMA, if the range is not present
 * in one piece, read-only though @write, or the NIC is no bus master.
 */
void *dma_ptr(struct nic *nic, uint64_t iova, uint64_t len, bool write);

/**
 * dma_extent() - host pointer to as much guest memory as lies in one piece
 * @nic: the NIC
 * @iova: DMA address
 * @len: in: bytes wanted, at least 1; out: bytes present, at least 1
 * @writable: out: whether the NIC may write there
 *
 * Return: the pointer, or NULL (counted) if nothing is present at @iova.
 */
void *dma_extent(struct nic *nic, uint64_t iova, uint64_t *len, bool *writable);

void dma_free(struct dma *dma);

#endif /* MYNIC_DMA_H */
