// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * DMA handles: hints for accesses to a memory region. The device accesses
 * memory with loads and stores, which carry no hints. So handles are only
 * checked here, and the RDMA core keeps them with the region.
 */
#include "mynic.h"

/*
 * The RDMA core has checked each field. The rules are those of a PCIe
 * requester: a processing hint is required, and processor and memory type
 * select a steering tag only together.
 */
int mynic_alloc_dmah(struct ib_dmah *ibdmah, struct uverbs_attr_bundle *attrs)
{
	const u8 tag = BIT(IB_DMAH_CPU_ID_EXISTS) |
		       BIT(IB_DMAH_MEM_TYPE_EXISTS);
	u8 given = ibdmah->valid_fields;

	if (!(given & BIT(IB_DMAH_PH_EXISTS)) ||
	    (given & tag && (given & tag) != tag)) {
		ibdev_dbg(
			ibdmah->device,
			"a DMA handle with fields %#x: PH, and both others or none\n",
			given);
		return -EINVAL;
	}
	return 0;
}

int mynic_dealloc_dmah(struct ib_dmah *ibdmah, struct uverbs_attr_bundle *attrs)
{
	return 0;
}

const struct ib_device_ops mynic_dmah_ops = {
	.alloc_dmah = mynic_alloc_dmah,
	.dealloc_dmah = mynic_dealloc_dmah,

	.size_ib_dmah = sizeof(struct ib_dmah),
};
