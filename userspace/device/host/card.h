/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MYNIC_HOST_CARD_H
#define MYNIC_HOST_CARD_H

#include <stdint.h>

#include "dma_maps.h"
#include "log.h"
#include "pci.h"
#include "switch.h"
#include "vfio_user.h"

/**
 * struct card - one NIC of the process and all that is around it
 * @log: messages
 * @nic: the NIC
 * @pci: the NIC as a PCI function
 * @maps: memory of the guest
 * @port: what it is plugged into
 * @server: serves @pci to a virtual machine
 */
struct card {
	struct log log;
	struct nic *nic;
	struct pci_function pci;
	struct dma_maps maps;
	struct switch_port port;
	struct vfu_server server;
};

/**
 * card_open() - power a NIC on, plug it in and offer it to a client
 * @card: zeroed; must not move afterwards
 * @name: for people; kept
 * @mac: permanent MAC
 * @path: of the socket; kept
 * @events: event loop
 * @sw: switch
 *
 * Return: 0, -ENOSPC if the switch is full, -ENOMEM, or why vfu_listen()
 * failed.
 */
int card_open(struct card *card, const char *name, const uint8_t mac[6],
	      const char *path, struct events *events, struct net_switch *sw);

void card_close(struct card *card);

#endif /* MYNIC_HOST_CARD_H */
