/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Guest memory that a NIC can access. */
#ifndef MYNIC_DMA_H
#define MYNIC_DMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mynic_regs.h"
#include "state/memory_types.h"
#include "state/nic_types.h"

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
 * Return: the pointer; NULL, counted as BAD_DMA, if the NIC is not a bus
 * master, or no map has the whole range with the right that @write asks for.
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

/**
 * dma_find() - find the map of a DMA address
 * @nic: the NIC
 * @iova: DMA address
 *
 * Return: the map, valid as long as a pointer of dma_ptr(). NULL, which is not
 * counted, if there is no map or the NIC is not a bus master.
 */
static inline const struct dma_map *dma_find(struct nic *nic, uint64_t iova)
{
	const struct dma *dma = &nic->dma;

	if (!dma->bus_master || !(nic->regs.status & MYNIC_STATUS_READY))
		return NULL;
	if (dma->last < dma->num) {
		const struct dma_map *map = &dma->maps[dma->last];

		if (iova - map->iova < map->len)
			return map;
	}
	return dma_search(nic, iova);
}

#endif /* MYNIC_DMA_H */
