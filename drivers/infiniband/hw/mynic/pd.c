// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Protection domains */
#include <rdma/mynic-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "cmd.h"

#define UVERBS_MODULE_NAME mynic
#include <rdma/uverbs_named_ioctl.h>

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

/*
 * A process that was given a file descriptor may use the protection domains
 * that belong to it. To find the one of the handle is all that there is to do.
 */
static int
UVERBS_HANDLER(MYNIC_METHOD_PD_QUERY)(struct uverbs_attr_bundle *attrs)
{
	return 0;
}

DECLARE_UVERBS_NAMED_METHOD(MYNIC_METHOD_PD_QUERY,
			    UVERBS_ATTR_IDR(MYNIC_ATTR_QUERY_PD_HANDLE,
					    UVERBS_OBJECT_PD,
					    UVERBS_ACCESS_READ, UA_MANDATORY));

ADD_UVERBS_METHODS(mynic_pd, UVERBS_OBJECT_PD,
		   &UVERBS_METHOD(MYNIC_METHOD_PD_QUERY));

const struct uapi_definition mynic_pd_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_PD, &mynic_pd),
	{}
};
