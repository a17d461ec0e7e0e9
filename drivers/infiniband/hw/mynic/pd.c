// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Protection domains, and their lookup by processes that share a file
 * descriptor
 */
#include <rdma/mynic-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "cmd.h"

#define UVERBS_MODULE_NAME mynic
#include <rdma/uverbs_named_ioctl.h>

int mynic_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	int ret;

	ret = ib_no_udata_io(udata);
	if (ret)
		return ret;
	return mynic_cmd_alloc_pd(to_mdev(ibpd->device), &to_mpd(ibpd)->pdn);
}

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
 * A process that received a file descriptor from another one may use its
 * protection domains. Looking up the handle is all that this needs to do.
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
