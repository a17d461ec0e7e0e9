// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* XRC domains */
#include <rdma/uverbs_ioctl.h>

#include "cmd.h"

/**
 * mynic_alloc_xrcd() - &ib_device_ops.alloc_xrcd
 * @ibxrcd: XRC domain
 * @udata: nothing in it
 *
 * Return: 0 or an errno.
 */
int mynic_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	int ret;

	ret = ib_no_udata_io(udata);
	if (ret)
		return ret;
	return mynic_cmd_alloc_xrcd(to_mdev(ibxrcd->device),
				    &to_mxrcd(ibxrcd)->xrcdn);
}

/**
 * mynic_dealloc_xrcd() - &ib_device_ops.dealloc_xrcd
 * @ibxrcd: XRC domain
 * @udata: nothing in it
 *
 * Return: 0, or an errno for bad @udata.
 */
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
