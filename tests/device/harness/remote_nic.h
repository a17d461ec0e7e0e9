/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * NICs of device processes behind the interface of the NIC core (core/nic.h).
 * harness_sim.h and harness_driver.h use that interface, so they drive such
 * NICs like the core. Their world has real time, and its NICs are not joined by
 * its own wire. Programs that are linked with this do not contain the NIC core.
 */
#ifndef MYNIC_REMOTE_NIC_H
#define MYNIC_REMOTE_NIC_H

struct drv;
struct nic;

/**
 * remote_nic() - choose a NIC of the next world
 * @index: index in &sim.nics
 * @path: socket of the NIC, which must exist when sim_new() is called. Its MAC
 * must be that of sim_new(), 02:6d:79:6e:69:(@index + 1)
 */
void remote_nic(unsigned int index, const char *path);

/**
 * remote_nic_arg() - remote_nic() with a new path
 * @index: index in &sim.nics
 *
 * Return: argument of --nic for the process.
 */
const char *remote_nic_arg(unsigned int index);

/**
 * remote_nic_file() - use a file as memory of a machine of the next world
 * @index: index in &sim.nics
 * @dir: directory of the file, which has no name
 */
void remote_nic_file(unsigned int index, const char *dir);

/** remote_nic_fd() - connection to the process of a NIC */
int remote_nic_fd(struct nic *nic);

/** remote_nic_remap() - unmap the machine's memory, and map it again */
void remote_nic_remap(struct nic *nic);

/** remote_wait_link() - wait until a NIC has a link */
void remote_wait_link(struct drv *d);

#endif /* MYNIC_REMOTE_NIC_H */
