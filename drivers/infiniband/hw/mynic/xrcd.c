// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* XRC domains. Their QPs and SRQs are in qp.c and srq.c. */
#include <rdma/uverbs_ioctl.h>

#include "cmd.h"

int mynic_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	int ret;

	ret = ib_no_udata_io(udata);
	if (ret)
		return ret;
	return mynic_cmd_alloc_xrcd(to_mdev(ibxrcd->device),
				    &to_mxrcd(ibxrcd)->xrcdn);
}

int mynic_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	int ret;

	ret = ib_no_udata_io(udata);
	if (ret)
		return ret;
	mynic_cmd_dealloc_xrcd(to_mdev(ibxrcd->device),
			       to_mxrcd(ibxrcd)->xrcdn);
	return 0;
}
