/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Parts of rdma-core 65.0 that the provider uses and older releases lack. A
 * build in such a tree includes this before everything else.
 */
#ifndef MYNIC_PROVIDER_COMPAT_H
#define MYNIC_PROVIDER_COMPAT_H

/* Sources define it before their first header, but this file comes earlier. */
#define _GNU_SOURCE
#include <config.h>
#include <infiniband/driver.h>

#if IBVERBS_PABI_VERSION < 65

/* Creating a context takes no file descriptors of the caller. */
#define ibv_cmd_get_context(context, cmd, cmd_size, fd_arr, resp, resp_size) \
	ibv_cmd_get_context(context, cmd, cmd_size, resp, resp_size)

/* A CQ cannot use memory of the process. */
#define ibv_cmd_create_cq_ex(context, attr, prov_attr, cq, cmd, cmd_size, \
			     resp, resp_size, flags)                      \
	ibv_cmd_create_cq_ex(context, attr, cq, cmd, cmd_size, resp,      \
			     resp_size, flags)

/* Creating a QP takes no attributes of drivers. */
#define ibv_cmd_create_qp_ex2(context, qp, attr, cmd, cmd_size, resp, \
			      resp_size, driver)                      \
	ibv_cmd_create_qp_ex2(context, qp, attr, cmd, cmd_size, resp, resp_size)

#endif

#endif /* MYNIC_PROVIDER_COMPAT_H */
