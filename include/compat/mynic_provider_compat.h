/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The provider is written for rdma-core 65.0. What it uses that older releases
 * lack is here; a build in such a tree includes this before everything else.
 */
#ifndef MYNIC_PROVIDER_COMPAT_H
#define MYNIC_PROVIDER_COMPAT_H

/* Sources that need it say so before their first header: this comes earlier */
#define _GNU_SOURCE
#include <config.h>
#include <infiniband/driver.h>

#if IBVERBS_PABI_VERSION < 65

/* A context gets no file descriptors of its own with it */
#define ibv_cmd_get_context(context, cmd, cmd_size, fd_arr, resp, resp_size) \
	ibv_cmd_get_context(context, cmd, cmd_size, resp, resp_size)

/* A process cannot bring the memory of a CQ */
#define ibv_cmd_create_cq_ex(context, attr, prov_attr, cq, cmd, cmd_size, \
			     resp, resp_size, flags)                      \
	ibv_cmd_create_cq_ex(context, attr, cq, cmd, cmd_size, resp,      \
			     resp_size, flags)

/* Drivers have no attributes of their own in the creation of a QP */
#define ibv_cmd_create_qp_ex2(context, qp, attr, cmd, cmd_size, resp, \
			      resp_size, driver)                      \
	ibv_cmd_create_qp_ex2(context, qp, attr, cmd, cmd_size, resp, resp_size)

#endif

#endif /* MYNIC_PROVIDER_COMPAT_H */
