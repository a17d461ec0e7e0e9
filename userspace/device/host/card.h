/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
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

/* As many pieces as the core asks for at once */
#define CARD_PERSIST_IOV 64

/**
 * struct persist_job - memory that is being made persistent
 * @job: the helper's
 * @card: whose
 * @iov: where it is
 * @num: of @iov
 * @err: what came of it
 */
struct persist_job {
	struct helper_job job;
	struct card *card;
	struct iovec iov[CARD_PERSIST_IOV];
	unsigned int num;
	int err;
};

/**
 * struct card - one NIC of the process and all that is around it
 * @log: messages
 * @helper: does what may take long
 * @nic: the NIC
 * @pci: the NIC as a PCI function
 * @maps: memory of the guest
 * @persist: memory that @nic wants persistent
 * @port: what it is plugged into
 * @server: serves @pci to a virtual machine
 * @told: when the log last had the end of the journal, ns; 0: never
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
 * struct card_config - what a card is to be
 * @name: for people
 * @mac: permanent MAC
 * @path: of the socket
 * @mode: permissions of the socket
 * @max_maps: how many pieces of memory a client may map
 * @disk: it may map files on a disk
 * @memory: bytes that its objects may take; 0: NIC_MEMORY
 * @trusted: it may have the MAC of another NIC, and send from it
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
 * card_open() - power a NIC on, plug it in and offer it to a client
 * @card: zeroed; must not move afterwards
 * @config: needed only during the call, but for the strings
 * @events: event loop
 * @sw: switch
 *
 * Return: 0, -ENOSPC if the switch is full, -ENOMEM, or why vfu_listen()
 * failed.
 */
int card_open(struct card *card, const struct card_config *config,
	      struct events *events, struct net_switch *sw);

/** card_start() - start its helper. Return: 0 or -errno */
int card_start(struct card *card);

void card_close(struct card *card);

#endif /* MYNIC_HOST_CARD_H */
