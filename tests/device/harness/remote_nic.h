/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * NICs of device processes behind the interface of the NIC core (core/nic.h),
 * so that harness_sim.h and harness_driver.h, which know that interface, drive
 * them as they drive the core. Their world has real time; only what is between
 * its NICs is not the world's own wire. Programs that are linked with this have
 * no NIC core of their own.
 */
#ifndef MYNIC_REMOTE_NIC_H
#define MYNIC_REMOTE_NIC_H

struct drv;
struct nic;

/**
 * remote_nic() - say which NIC the next world has
 * @index: of &sim.nics
 * @path: the socket of the NIC, which has the MAC that sim_new() gives to its
 *	NIC number @index, 02:6d:79:6e:69:(@index + 1), and is there when
 *	sim_new() is called
 */
void remote_nic(unsigned int index, const char *path);

/**
 * remote_nic_arg() - the same, with a path that nobody else has
 * @index: of &sim.nics
 *
 * Return: what follows --nic on the command line of the NIC's process.
 */
const char *remote_nic_arg(unsigned int index);

/**
 * remote_nic_file() - let the memory of a machine of the next world be a file
 * @index: of &sim.nics
 * @dir: directory in which it is, without a name
 */
void remote_nic_file(unsigned int index, const char *dir);

/** remote_nic_fd() - the connection to a NIC's process */
int remote_nic_fd(struct nic *nic);

/** remote_nic_remap() - unmap the machine's memory, and map it again */
void remote_nic_remap(struct nic *nic);

/** remote_wait_link() - wait until a NIC has a link */
void remote_wait_link(struct drv *d);

#endif /* MYNIC_REMOTE_NIC_H */
