/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The NIC as a PCI Express function: configuration space (PM, Express endpoint
 * with FLR, MSI-X) and BARs, as VFIO's regions of a PCI device.
 */
#ifndef MYNIC_HOST_PCI_H
#define MYNIC_HOST_PCI_H

#include <stddef.h>
#include <stdint.h>

#include "irq.h"

struct helper;
struct nic;

/* Configuration space behind these is zero: no extended capabilities. */
#define PCI_CONFIG_USED 256

/**
 * struct pci_function - the function
 * @nic: behind the BARs
 * @irq: its interrupts
 * @config: configuration space
 * @writable: the bits in @config that a write changes
 */
struct pci_function {
	struct nic *nic;
	struct irq_vectors irq;
	uint8_t config[PCI_CONFIG_USED];
	uint8_t writable[PCI_CONFIG_USED];
};

/** pci_init() - a function after power-on; @helper closes its eventfds */
void pci_init(struct pci_function *pci, struct nic *nic, struct helper *helper);

/**
 * pci_reset() - FLR or conventional reset
 * @pci: the function
 *
 * Eventfds and guest memory stay as they are: they are the client's.
 */
void pci_reset(struct pci_function *pci);

/**
 * pci_region_size() - bytes in a region
 * @region: VFIO_PCI_*_REGION_INDEX
 *
 * Return: 0 if the function has no such region.
 */
uint64_t pci_region_size(unsigned int region);

/**
 * pci_read() - read access by the host
 * @pci: the function
 * @region: VFIO_PCI_*_REGION_INDEX
 * @offset: in the region, any value
 * @data: @len bytes, little-endian
 * @len: of a BAR 1 to 8, else any
 *
 * Return: 0, or -EINVAL for bytes outside the region and other sizes.
 */
int pci_read(struct pci_function *pci, unsigned int region, uint64_t offset,
	     void *data, size_t len);

/** pci_write() - write access by the host, as pci_read() */
int pci_write(struct pci_function *pci, unsigned int region, uint64_t offset,
	      const void *data, size_t len);

#endif /* MYNIC_HOST_PCI_H */
