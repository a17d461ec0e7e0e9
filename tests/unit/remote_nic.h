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

/**
 * remote_nic() - say which NIC a world has
 * @index: of &sim.nics, for the next sim_new()
 * @path: the socket of the NIC, which has the MAC that sim_new() gives to its
 *	NIC number @index: 02:6d:79:6e:69:(@index + 1)
 */
void remote_nic(unsigned int index, const char *path);

#endif /* MYNIC_REMOTE_NIC_H */
