// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Protection domains */
#include <rdma/uverbs_ioctl.h>

#include "cmd.h"

/**
 * mynic_alloc_pd() - &ib_device_ops.alloc_pd
 * @ibpd: protection domain
 * @udata: nothing in it
 *
 * Return: 0 or an errno.
 */
int mynic_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	int ret;

	ret = ib_no_udata_io(udata);
	if (ret)
		return ret;
	return mynic_cmd_alloc_pd(to_mdev(ibpd->device), &to_mpd(ibpd)->pdn);
}

/**
 * mynic_dealloc_pd() - &ib_device_ops.dealloc_pd
 * @ibpd: protection domain
 * @udata: nothing in it
 *
 * Return: 0, or an errno for bad @udata.
 */
int mynic_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	int ret;

	ret = ib_no_udata_io(udata);
	if (ret)
		return ret;
	mynic_cmd_dealloc_pd(to_mdev(ibpd->device), to_mpd(ibpd)->pdn);
	return 0;
}
