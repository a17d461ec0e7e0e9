/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Guest memory that a NIC can access. */
#ifndef MYNIC_DMA_H
#define MYNIC_DMA_H

#include <stdbool.h>
#include <stdint.h>

struct nic;

/**
 * struct dma_map - a range of DMA addresses with memory behind it
 * @iova: DMA address of the first byte
 * @len: bytes
 * @ptr: the first byte in this process
 * @writable: the NIC may write to it
 */
struct dma_map {
	uint64_t iova;
	uint64_t len;
	uint8_t *ptr;
	bool writable;
};

/**
 * struct dma - all guest memory of a NIC
 * @maps: maps, sorted by address, without overlap
 * @num: elements in @maps
 * @last: map that the last look-up has found
 * @generation: changes when pointers into guest memory may become invalid
 * @bus_master: the bus master bit of the PCI command register
 */
struct dma {
	struct dma_map *maps;
	unsigned int num;
	unsigned int last;
	uint64_t generation;
	bool bus_master;
};

/* dma_find() for addresses that &dma.last does not have. */
const struct dma_map *dma_search(struct nic *nic, uint64_t iova);

/**
 * dma_ptr() - translate a range
 * @nic: the NIC
 * @iova: DMA address
 * @len: bytes, at least 1
 * @write: the access is a write
 *
 * The pointer is valid until &dma.generation changes. That happens only in
 * those calls into the core for which nic.h says so.
 *
 * Return: the pointer. NULL, counted as BAD_DMA, if one map does not have the
 * whole range, if it must not be written though @write is set, or if the NIC is
 * not a bus master.
 */
void *dma_ptr(struct nic *nic, uint64_t iova, uint64_t len, bool write);

/**
 * dma_extent() - translate as much of a range as one map has
 * @nic: the NIC
 * @iova: DMA address
 * @len: in: bytes wanted, at least 1; out: bytes present, at least 1
 * @writable: out: the NIC may write to it
 *
 * Return: the pointer; NULL, counted as BAD_DMA, if there is no memory at
 * @iova.
 */
void *dma_extent(struct nic *nic, uint64_t iova, uint64_t *len, bool *writable);

void dma_free(struct dma *dma);

#endif /* MYNIC_DMA_H */
