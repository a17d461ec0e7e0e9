/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The NIC as a PCI Express function: configuration space (PM, Express endpoint
 * with FLR, MSI-X) and BARs. They are accessed like VFIO's regions of a PCI
 * device.
 */
#ifndef MYNIC_HOST_PCI_H
#define MYNIC_HOST_PCI_H

#include <stddef.h>
#include <stdint.h>

#include "irq.h"

struct helper;
struct nic;

/*
 * Configuration space is zero from here on: there are no extended capabilities.
 */
#define PCI_CONFIG_USED 256

/**
 * struct pci_function - a PCI function
 * @nic: NIC behind the BARs
 * @irq: interrupts of the function
 * @config: configuration space
 * @writable: bits of @config that can be written
 */
struct pci_function {
	struct nic *nic;
	struct irq_vectors irq;
	uint8_t config[PCI_CONFIG_USED];
	uint8_t writable[PCI_CONFIG_USED];
};

/*
 * Makes a function in the state after power-on. @helper closes its eventfds,
 * and signals slow ones. Returns 0 or -errno.
 */
int pci_init(struct pci_function *pci, struct nic *nic, struct helper *helper);

/**
 * pci_reset() - FLR or conventional reset
 * @pci: the function
 *
 * Eventfds and guest memory stay, because they belong to the client.
 */
void pci_reset(struct pci_function *pci);

/**
 * pci_region_size() - size of a region
 * @region: VFIO_PCI_*_REGION_INDEX
 *
 * Return: bytes; 0 if the function has no such region.
 */
uint64_t pci_region_size(unsigned int region);

/**
 * pci_read() - handle a read of the host
 * @pci: the function
 * @region: VFIO_PCI_*_REGION_INDEX
 * @offset: offset in the region, any value
 * @data: @len bytes, little-endian
 * @len: for a BAR 1 to 8, otherwise any value
 *
 * Return: 0; -EINVAL for bytes outside of the region, and for other lengths.
 */
int pci_read(struct pci_function *pci, unsigned int region, uint64_t offset,
	     void *data, size_t len);

/* Handles a write of the host, like pci_read(). */
int pci_write(struct pci_function *pci, unsigned int region, uint64_t offset,
	      const void *data, size_t len);

#endif /* MYNIC_HOST_PCI_H */
