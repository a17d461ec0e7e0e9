/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A NIC of the process with all that belongs to it alone, and its way into the
 * switch and out of it. The switch and the loop serve all NICs.
 */
#ifndef MYNIC_HOST_CARD_H
#define MYNIC_HOST_CARD_H

#include <stdint.h>
#include <sys/uio.h>

#include "dma_maps.h"
#include "helper.h"
#include "log.h"
#include "pci.h"
#include "switch.h"
#include "vfio_user.h"

/* Upper bound of the pieces that the core asks for at once */
#define CARD_PERSIST_IOV 64

/**
 * struct persist_job - guest memory that is being made persistent
 * @job: job of the helper
 * @card: the NIC that has asked for it
 * @iov: pieces of the memory
 * @num: number of pieces in @iov
 * @err: result: 0 or -errno
 */
struct persist_job {
	struct helper_job job;
	struct card *card;
	struct iovec iov[CARD_PERSIST_IOV];
	unsigned int num;
	int err;
};

/**
 * struct card - one NIC of the process with its surroundings
 * @log: messages
 * @helper: thread for work that may block
 * @nic: the NIC
 * @pci: the NIC as a PCI function
 * @maps: guest memory
 * @persist: guest memory that is being made persistent
 * @port: port of the switch
 * @server: vfio-user server, which gives @pci to a virtual machine
 * @told: time when the last entries of the journal were last logged, ns; 0:
 * never
 */
struct card {
	struct log log;
	struct helper helper;
	struct nic *nic;
	struct pci_function pci;
	struct dma_maps maps;
	struct persist_job persist;
	struct switch_port port;
	struct vfu_server server;
	uint64_t told;
};

/**
 * struct card_config - properties of a new card
 * @name: name in messages and commands
 * @mac: permanent MAC address
 * @path: path of the vfio-user socket
 * @mode: permissions of that socket
 * @max_maps: upper bound for the DMA maps of the client
 * @disk: the client may share memory that is a file on a disk
 * @memory: upper bound for the bytes of the NIC's objects; 0: NIC_MEMORY
 * @trusted: the NIC may use the MAC of another NIC, and send from it
 */
struct card_config {
	const char *name;
	uint8_t mac[6];
	const char *path;
	unsigned int mode;
	size_t max_maps;
	bool disk;
	uint64_t memory;
	bool trusted;
};

/**
 * card_open() - power a NIC on, connect it to the switch, and offer it to a
 * client
 * @card: zeroed; must not move afterwards
 * @config: properties; only their strings must stay valid
 * @events: event loop
 * @sw: switch
 *
 * Return: 0; -ENOSPC: the switch is full; -ENOMEM; or an error of vfu_listen().
 */
int card_open(struct card *card, const struct card_config *config,
	      struct events *events, struct net_switch *sw);

/** card_start() - start the helper. Return: 0 or -errno */
int card_start(struct card *card);

void card_close(struct card *card);

#endif /* MYNIC_HOST_CARD_H */
