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

#endif /* MYNIC_WIRE_WORLD_H */
