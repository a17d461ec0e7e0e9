/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Real time and a NIC in another process, below the unit tests' driver. */
#ifndef MYNIC_WIRE_WORLD_H
#define MYNIC_WIRE_WORLD_H

#include "harness_driver.h"

/**
 * world_open() - connect to a NIC as its machine
 * @socket: of the NIC, vfio-user
 *
 * Return: the NIC with memory and bus mastering; drv_up() may follow.
 */
struct sim_nic *world_open(const char *socket);

/**
 * world_map_page() - add a page of DRV_PAGE bytes to the machine's memory
 * @n: from world_open()
 *
 * Return: its DMA address.
 */
uint64_t world_map_page(struct sim_nic *n);

/** world_unmap_page() - take a page of world_map_page() away again */
void world_unmap_page(uint64_t iova);

#endif /* MYNIC_WIRE_WORLD_H */
