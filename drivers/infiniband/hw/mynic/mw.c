// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory windows: their keys. Processes bind windows by requests to their QPs,
 * which the driver does not see.
 */
#include <rdma/uverbs_ioctl.h>

#include "cmd.h"

/* The RDMA core has checked the type. */
int mynic_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct mynic_create_mkey body = {
		.pdn = cpu_to_le32(to_mpd(ibmw->pd)->pdn),
	};
	u8 flags = MYNIC_MKEY_MW2;
	int ret;

	ret = ib_no_udata_io(udata);
	if (ret)
		return ret;
	if (ibmw->type == IB_MW_TYPE_1)
		flags = MYNIC_MKEY_MW1;
	return mynic_cmd_create_mkey(to_mdev(ibmw->device), flags, &body,
				     &ibmw->rkey);
}

int mynic_dealloc_mw(struct ib_mw *ibmw)
{
	mynic_cmd_destroy_mkey(to_mdev(ibmw->device), ibmw->rkey);
	return 0;
}
