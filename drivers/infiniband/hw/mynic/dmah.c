// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * DMA handles: hints for the accesses to a memory region. The device accesses
 * memory with loads and stores, which carry none, so there is nothing to be
 * told to it. The core keeps the handle with the region.
 */
#include "mynic.h"

/**
 * mynic_alloc_dmah() - &ib_device_ops.alloc_dmah
 * @ibdmah: new handle, whose fields the core has checked one by one
 * @attrs: nothing in it
 *
 * As for a PCIe requester with steering tags: the processor and the kind of
 * memory select a tag together, and a tag goes with a processing hint only.
 *
 * Return: 0 or -EINVAL.
 */
int mynic_alloc_dmah(struct ib_dmah *ibdmah, struct uverbs_attr_bundle *attrs)
{
	const u8 tag = BIT(IB_DMAH_CPU_ID_EXISTS) |
		       BIT(IB_DMAH_MEM_TYPE_EXISTS);
	u8 given = ibdmah->valid_fields;

	if (!(given & BIT(IB_DMAH_PH_EXISTS)))
		return -EINVAL;
	return given & tag && (given & tag) != tag ? -EINVAL : 0;
}

/**
 * mynic_dealloc_dmah() - &ib_device_ops.dealloc_dmah
 * @ibdmah: handle that no region uses
 * @attrs: nothing in it
 *
 * Return: 0.
 */
int mynic_dealloc_dmah(struct ib_dmah *ibdmah, struct uverbs_attr_bundle *attrs)
{
	return 0;
}

const struct ib_device_ops mynic_dmah_ops = {
	.alloc_dmah = mynic_alloc_dmah,
	.dealloc_dmah = mynic_dealloc_dmah,

	.size_ib_dmah = sizeof(struct ib_dmah),
};
