// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Configuration space and BARs of the PCI function. Registers of the NIC are in
 * core/.
 */

#include <errno.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <string.h>

#include "core/base/util.h"
#include "core/nic.h"
#include "core/nic_faults.h"
#include "pci.h"

#define CONFIG_SIZE 4096 /* for a PCI Express function */

/* Offsets of capabilities in configuration space */
#define CAP_PM 0x40
#define CAP_EXP 0x50
#define CAP_MSIX 0xa0

/* BAR4 has the MSI-X structures */
#define MSIX_BAR_SIZE 4096
#define MSIX_TABLE 0x000
#define MSIX_PBA 0x800

#define UAR_BAR_SIZE (64 << 20) /* UAR pages and device memory */

#define MAX_PAYLOAD_256B 1 /* PCI_EXP_DEVCAP_PAYLOAD */

#define BAR_64 PCI_BASE_ADDRESS_MEM_TYPE_64
#define BAR_64_PREF (BAR_64 | PCI_BASE_ADDRESS_MEM_PREFETCH)

/* A link of 8 GT/s with 16 lanes, for programs that show or check it */
#define LINK (PCI_EXP_LNKCAP_SLS_8_0GB | 16 << 4)

/**
 * struct field - a register in configuration space
 * @offset: in configuration space
 * @size: 1, 2 or 4 bytes
 * @value: value after reset
 * @writable: bits that can be written
 *
 * All that is not in the table is zero and read-only.
 */
struct field {
	uint8_t offset;
	uint8_t size;
	uint32_t value;
	uint32_t writable;
};

static const struct field fields[] = {
	{ PCI_VENDOR_ID, 2, MYNIC_PCI_VENDOR_ID, 0 },
	{ PCI_DEVICE_ID, 2, MYNIC_PCI_DEVICE_ID, 0 },
	{ PCI_COMMAND, 2, 0,
	  PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_PARITY |
		  PCI_COMMAND_SERR | PCI_COMMAND_INTX_DISABLE },
	{ PCI_STATUS, 2, PCI_STATUS_CAP_LIST, 0 },
	{ PCI_REVISION_ID, 1, MYNIC_PCI_REVISION, 0 },
	{ PCI_CLASS_DEVICE, 2, 0x0200, 0 }, /* Ethernet controller */
	{ PCI_CACHE_LINE_SIZE, 1, 0, 0xff },
	{ PCI_BASE_ADDRESS_0, 4, BAR_64, ~(MYNIC_BAR_REGS_SIZE - 1U) },
	{ PCI_BASE_ADDRESS_1, 4, 0, ~0U },
	{ PCI_BASE_ADDRESS_2, 4, BAR_64_PREF, ~(UAR_BAR_SIZE - 1U) },
	{ PCI_BASE_ADDRESS_3, 4, 0, ~0U },
	{ PCI_BASE_ADDRESS_4, 4, BAR_64, ~(MSIX_BAR_SIZE - 1U) },
	{ PCI_BASE_ADDRESS_5, 4, 0, ~0U },
	{ PCI_SUBSYSTEM_VENDOR_ID, 2, MYNIC_PCI_VENDOR_ID, 0 },
	{ PCI_SUBSYSTEM_ID, 2, MYNIC_PCI_DEVICE_ID, 0 },
	{ PCI_CAPABILITY_LIST, 1, CAP_PM, 0 },
	{ PCI_INTERRUPT_LINE, 1, 0, 0xff },

	{ CAP_PM, 1, PCI_CAP_ID_PM, 0 },
	{ CAP_PM + PCI_CAP_LIST_NEXT, 1, CAP_EXP, 0 },
	{ CAP_PM + PCI_PM_PMC, 2, 3, 0 }, /* PM 1.2, D0 and D3 */
	{ CAP_PM + PCI_PM_CTRL, 2, PCI_PM_CTRL_NO_SOFT_RESET,
	  PCI_PM_CTRL_STATE_MASK },

	{ CAP_EXP, 1, PCI_CAP_ID_EXP, 0 },
	{ CAP_EXP + PCI_CAP_LIST_NEXT, 1, CAP_MSIX, 0 },
	{ CAP_EXP + PCI_EXP_FLAGS, 2, 2, 0 }, /* endpoint */
	{ CAP_EXP + PCI_EXP_DEVCAP, 4,
	  MAX_PAYLOAD_256B | PCI_EXP_DEVCAP_EXT_TAG | PCI_EXP_DEVCAP_RBER |
		  PCI_EXP_DEVCAP_FLR,
	  0 },
	{ CAP_EXP + PCI_EXP_DEVCTL, 2,
	  PCI_EXP_DEVCTL_RELAX_EN | PCI_EXP_DEVCTL_NOSNOOP_EN |
		  PCI_EXP_DEVCTL_READRQ_512B,
	  PCI_EXP_DEVCTL_CERE | PCI_EXP_DEVCTL_NFERE | PCI_EXP_DEVCTL_FERE |
		  PCI_EXP_DEVCTL_URRE | PCI_EXP_DEVCTL_RELAX_EN |
		  PCI_EXP_DEVCTL_PAYLOAD | PCI_EXP_DEVCTL_EXT_TAG |
		  PCI_EXP_DEVCTL_NOSNOOP_EN | PCI_EXP_DEVCTL_READRQ },
	{ CAP_EXP + PCI_EXP_LNKCAP, 4, LINK, 0 },
	{ CAP_EXP + PCI_EXP_LNKCTL, 2, 0,
	  PCI_EXP_LNKCTL_RCB | PCI_EXP_LNKCTL_CCC | PCI_EXP_LNKCTL_ES },
	{ CAP_EXP + PCI_EXP_LNKSTA, 2, LINK, 0 },
	{ CAP_EXP + PCI_EXP_DEVCAP2, 4, PCI_EXP_DEVCAP2_COMP_TMOUT_DIS, 0 },
	{ CAP_EXP + PCI_EXP_DEVCTL2, 2, 0, PCI_EXP_DEVCTL2_COMP_TMOUT_DIS },
	{ CAP_EXP + PCI_EXP_LNKCAP2, 4,
	  PCI_EXP_LNKCAP2_SLS_2_5GB | PCI_EXP_LNKCAP2_SLS_5_0GB |
		  PCI_EXP_LNKCAP2_SLS_8_0GB,
	  0 },
	{ CAP_EXP + PCI_EXP_LNKCTL2, 2, PCI_EXP_LNKCTL2_TLS_8_0GT, 0 },

	{ CAP_MSIX, 1, PCI_CAP_ID_MSIX, 0 },
	{ CAP_MSIX + PCI_MSIX_FLAGS, 2, MYNIC_MAX_VECTORS - 1,
	  PCI_MSIX_FLAGS_MASKALL | PCI_MSIX_FLAGS_ENABLE },
	{ CAP_MSIX + PCI_MSIX_TABLE, 4, MSIX_TABLE | MYNIC_BAR_MSIX, 0 },
	{ CAP_MSIX + PCI_MSIX_PBA, 4, MSIX_PBA | MYNIC_BAR_MSIX, 0 },
};

static void pci_put(uint8_t *image, const struct field *field, uint32_t value)
{
	for (unsigned int i = 0; i < field->size; i++)
		image[field->offset + i] = value >> (8 * i);
}

static unsigned int pci_get16(const struct pci_function *pci,
			      unsigned int offset)
{
	return pci->config[offset] | pci->config[offset + 1] << 8;
}

/* Applies registers that have an effect */
static void pci_apply(struct pci_function *pci)
{
	unsigned int state = pci_get16(pci, CAP_PM + PCI_PM_CTRL) &
			     PCI_PM_CTRL_STATE_MASK;
	bool master = pci_get16(pci, PCI_COMMAND) & PCI_COMMAND_MASTER;
	bool msix = pci_get16(pci, CAP_MSIX + PCI_MSIX_FLAGS) &
		    PCI_MSIX_FLAGS_ENABLE;

	/*
	 * In D3hot a function starts no transactions (PCI Power Management 5.4)
	 */
	nic_set_bus_master(pci->nic, master && state == 0);
	irq_set_enabled(&pci->irq, msix);
}

void pci_reset(struct pci_function *pci)
{
	memset(pci->config, 0, sizeof(pci->config));
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		pci_put(pci->config, &fields[i], fields[i].value);
	nic_reset(pci->nic);
	irq_set_enabled(&pci->irq, false);
	pci_apply(pci);
}

int pci_init(struct pci_function *pci, struct nic *nic, struct helper *helper)
{
	int err;

	*pci = (struct pci_function){ .nic = nic };
	err = irq_init(&pci->irq, helper);
	if (err)
		return err;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		pci_put(pci->writable, &fields[i], fields[i].writable);
	pci_reset(pci);
	return 0;
}

static void pci_config_read(const struct pci_function *pci, uint64_t offset,
			    uint8_t *data, size_t len)
{
	memset(data, nic_fault_is_gone(pci->nic) ? 0xff : 0, len);
	if (nic_fault_is_gone(pci->nic))
		return;
	for (size_t i = 0; i < len && offset + i < PCI_CONFIG_USED; i++)
		data[i] = pci->config[offset + i];
}

static void pci_config_write(struct pci_function *pci, uint64_t offset,
			     const uint8_t *data, size_t len)
{
	const unsigned int flr = CAP_EXP + PCI_EXP_DEVCTL + 1;
	uint8_t *pm = &pci->config[CAP_PM + PCI_PM_CTRL];
	uint8_t old_pm = *pm;

	if (nic_fault_is_gone(pci->nic))
		return;
	if (offset <= flr && flr - offset < len &&
	    data[flr - offset] & (PCI_EXP_DEVCTL_BCR_FLR >> 8)) {
		pci_reset(pci);
		return;
	}
	for (size_t i = 0; i < len && offset + i < PCI_CONFIG_USED; i++) {
		uint8_t *byte = &pci->config[offset + i];
		uint8_t mask = pci->writable[offset + i];

		*byte = (*byte & ~mask) | (data[i] & mask);
	}
	/* Writes of a state that is not supported (D1, D2) have no effect. */
	if ((*pm & PCI_PM_CTRL_STATE_MASK) == 1 ||
	    (*pm & PCI_PM_CTRL_STATE_MASK) == 2)
		*pm = old_pm;
	pci_apply(pci);
}

uint64_t pci_region_size(unsigned int region)
{
	switch (region) {
	case VFIO_PCI_BAR0_REGION_INDEX + MYNIC_BAR_REGS:
		return MYNIC_BAR_REGS_SIZE;
	case VFIO_PCI_BAR0_REGION_INDEX + MYNIC_BAR_UAR:
		return UAR_BAR_SIZE;
	case VFIO_PCI_BAR0_REGION_INDEX + MYNIC_BAR_MSIX:
		return MSIX_BAR_SIZE;
	case VFIO_PCI_CONFIG_REGION_INDEX:
		return CONFIG_SIZE;
	default:
		return 0;
	}
}

static bool pci_inside_region(unsigned int region, uint64_t offset, size_t len)
{
	uint64_t size = pci_region_size(region);

	if (region != VFIO_PCI_CONFIG_REGION_INDEX && len > 8)
		return false;
	return len && len <= size && offset <= size - len;
}

/* The client has an MSI-X table of its own, and never reads this one. */
static void pci_msix_read(const struct pci_function *pci, uint64_t offset,
			  uint8_t *data, size_t len)
{
	memset(data, 0, len);
	for (size_t i = 0; i < len; i++)
		if (offset + i >= MSIX_PBA && offset + i < MSIX_PBA + 4)
			data[i] = pci->irq.pending >>
				  (8 * (offset + i - MSIX_PBA));
}

int pci_read(struct pci_function *pci, unsigned int region, uint64_t offset,
	     void *data, size_t len)
{
	if (!pci_inside_region(region, offset, len))
		return -EINVAL;
	if (region == VFIO_PCI_CONFIG_REGION_INDEX)
		pci_config_read(pci, offset, data, len);
	else if (region == MYNIC_BAR_MSIX)
		pci_msix_read(pci, offset, data, len);
	else
		nic_bar_read(pci->nic, region, offset, data, len);
	return 0;
}

int pci_write(struct pci_function *pci, unsigned int region, uint64_t offset,
	      const void *data, size_t len)
{
	if (!pci_inside_region(region, offset, len))
		return -EINVAL;
	if (region == VFIO_PCI_CONFIG_REGION_INDEX)
		pci_config_write(pci, offset, data, len);
	else if (region != MYNIC_BAR_MSIX)
		nic_bar_write(pci->nic, region, offset, data, len);
	return 0;
}
