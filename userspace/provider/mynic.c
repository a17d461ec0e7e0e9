// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Matching of devices, and their contexts with all functions of libibverbs. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include <infiniband/cmd_ioctl.h>

#include "mynic.h"
#include "mynic-abi.h"
#include "mynicdv.h"

/* QEMU's range for experimental devices */
#define MYNIC_PCI_VENDOR 0x1af4
#define MYNIC_PCI_DEVICE 0x10f0

static void mynic_free_context(struct ibv_context *context);

static const struct verbs_context_ops mynic_context_ops = {
	.advise_mr = ibv_cmd_advise_mr,
	.alloc_dm = mynic_alloc_dm,
	.alloc_mw = mynic_alloc_mw,
	.alloc_null_mr = mynic_alloc_null_mr,
	.alloc_parent_domain = mynic_alloc_parent_domain,
	.alloc_pd = mynic_alloc_pd,
	.alloc_td = mynic_alloc_td,
	.attach_counters_point_flow = mynic_attach_counters_point_flow,
	.attach_mcast = ibv_cmd_attach_mcast,
	.bind_mw = mynic_bind_mw,
	.close_xrcd = mynic_close_xrcd,
	.create_ah = mynic_create_ah,
	.create_counters = mynic_create_counters,
	.create_cq = mynic_create_cq,
	.create_cq_ex = mynic_create_cq_ex,
	.create_flow = mynic_create_flow,
	.create_qp = mynic_create_qp,
	.create_qp_ex = mynic_create_qp_ex,
	.create_rwq_ind_table = mynic_create_rwq_ind_table,
	.create_srq = mynic_create_srq,
	.create_srq_ex = mynic_create_srq_ex,
	.create_wq = mynic_create_wq,
	.dealloc_mw = mynic_dealloc_mw,
	.dealloc_pd = mynic_dealloc_pd,
	.dealloc_td = mynic_dealloc_td,
	.dereg_mr = mynic_dereg_mr,
	.destroy_ah = mynic_destroy_ah,
	.destroy_counters = mynic_destroy_counters,
	.destroy_cq = mynic_destroy_cq,
	.destroy_flow = mynic_destroy_flow,
	.destroy_qp = mynic_destroy_qp,
	.destroy_rwq_ind_table = mynic_destroy_rwq_ind_table,
	.destroy_srq = mynic_destroy_srq,
	.destroy_wq = mynic_destroy_wq,
	.detach_mcast = ibv_cmd_detach_mcast,
	.free_context = mynic_free_context,
	.free_dm = mynic_free_dm,
	.get_srq_num = mynic_get_srq_num,
	.import_dm = mynic_import_dm,
	.import_mr = mynic_import_mr,
	.import_pd = mynic_import_pd,
	.modify_cq = mynic_modify_cq,
	.modify_qp = mynic_modify_qp,
	.modify_qp_rate_limit = mynic_modify_qp_rate_limit,
	.modify_srq = mynic_modify_srq,
	.modify_wq = mynic_modify_wq,
	.open_qp = mynic_open_qp,
	.open_xrcd = mynic_open_xrcd,
	.poll_cq = mynic_poll_cq,
	.post_recv = mynic_post_recv,
	.post_send = mynic_post_send,
	.post_srq_ops = mynic_post_srq_ops,
	.post_srq_recv = mynic_post_srq_recv,
	.query_device_ex = mynic_query_device_ex,
	.query_ece = mynic_query_ece,
	.query_port = mynic_query_port,
	.query_qp = mynic_query_qp,
	.query_rt_values = mynic_query_rt_values,
	.query_srq = mynic_query_srq,
	.reg_dmabuf_mr = mynic_reg_dmabuf_mr,
	.reg_dm_mr = mynic_reg_dm_mr,
	.read_counters = mynic_read_counters,
	.reg_mr = mynic_reg_mr,
	.req_notify_cq = mynic_req_notify_cq,
	.rereg_mr = mynic_rereg_mr,
	.resize_cq = mynic_resize_cq,
	.set_ece = mynic_set_ece,
	.unimport_dm = mynic_unimport_dm,
	.unimport_mr = mynic_unimport_mr,
	.unimport_pd = mynic_unimport_pd,
};

/* Limit of kernels that do not report one */
#define MYNIC_OLD_LOG_STRIDE 9
#define MYNIC_OLD_LOG_MEMCPY 31

static uint32_t mynic_limit(uint8_t log, uint8_t old_log)
{
	return 1U << ((log ? log : old_log) & 31);
}

/* Return: 0 or a positive errno. */
static int mynic_set_context(struct mynic_context *ctx,
			     const struct mynic_alloc_ucontext_resp *resp)
{
	int err;

	err = mynic_mmap(&ctx->ibv_ctx.context, &ctx->uar_map,
			 resp->uar_mmap_key, resp->uar_mmap_size);
	if (err)
		return err;
	ctx->uar = ctx->uar_map.addr + resp->uar_offset;
	ctx->tso_caps.max_tso = resp->max_tso;
	ctx->tso_caps.supported_qpts = resp->tso_qp_types;
	ctx->rx_hash_fields = resp->rx_hash_fields;
	ctx->rx_hash_functions = resp->rx_hash_functions;
	ctx->driver_qp_types = resp->driver_qp_types;
	ctx->max_sq_stride =
		mynic_limit(resp->log_max_sq_stride, MYNIC_OLD_LOG_STRIDE);
	ctx->max_rq_stride =
		mynic_limit(resp->log_max_rq_stride, MYNIC_OLD_LOG_STRIDE);
	ctx->max_memcpy =
		mynic_limit(resp->log_max_memcpy, MYNIC_OLD_LOG_MEMCPY);
	ctx->ece_options = resp->ece_options;
	ctx->pacing_caps.qp_rate_limit_min = resp->rate_limit_max ? 1 : 0;
	ctx->pacing_caps.qp_rate_limit_max = resp->rate_limit_max;
	ctx->pacing_caps.supported_qpts = resp->rate_limit_qpts;
	ctx->null_lkey = resp->null_lkey;
	pthread_mutex_init(&ctx->queue_lock, NULL);
	ctx->db_suppress = resp->flags & MYNIC_UCONTEXT_DB_SUPPRESS;
	mynic_clock_init(ctx, resp);
	mynic_ah_init(ctx, resp);
	verbs_set_ops(&ctx->ibv_ctx, &mynic_context_ops);
	verbs_set_ops(&ctx->ibv_ctx, &mynic_dmah_ops);
	verbs_set_ops(&ctx->ibv_ctx, &mynic_port_ops);
	verbs_set_ops(&ctx->ibv_ctx, &mynic_comp_cntr_ops);
	return 0;
}

static void mynic_uninit_context(struct mynic_context *ctx)
{
	verbs_uninit_context(&ctx->ibv_ctx);
	free(ctx);
}

/*
 * A doorbell is one store of 8 bytes, and the device clock is read by one load.
 * Refuse processors without such accesses: the device would ignore halves of a
 * doorbell.
 */
static struct mynic_context *mynic_new_context(struct ibv_device *device,
					       int cmd_fd)
{
	struct mynic_context *ctx;

	if (sizeof(long) != sizeof(uint64_t)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	ctx = verbs_init_and_alloc_context(device, cmd_fd, ctx, ibv_ctx,
					   RDMA_DRIVER_UNKNOWN);
	return ctx;
}

static struct verbs_context *mynic_alloc_context(struct ibv_device *device,
						 int cmd_fd, void *private_data)
{
	struct umynic_get_context_resp resp = {};
	struct ibv_get_context cmd = {};
	struct mynic_context *ctx;
	int err;

	ctx = mynic_new_context(device, cmd_fd);
	if (!ctx)
		return NULL;

	err = ibv_cmd_get_context(&ctx->ibv_ctx, &cmd, sizeof(cmd), NULL,
				  &resp.ibv_resp, sizeof(resp));
	if (!err)
		err = mynic_set_context(ctx, &resp.drv_payload);
	if (!err)
		return &ctx->ibv_ctx;
	mynic_uninit_context(ctx);
	errno = err;
	return NULL;
}

static struct verbs_context *mynic_import_context(struct ibv_device *device,
						  int cmd_fd)
{
	DECLARE_COMMAND_BUFFER_LINK(driver, UVERBS_OBJECT_DEVICE,
				    UVERBS_METHOD_QUERY_CONTEXT, 1, NULL);
	struct mynic_alloc_ucontext_resp resp = {};
	struct mynic_context *ctx;
	int err;

	ctx = mynic_new_context(device, cmd_fd);
	if (!ctx)
		return NULL;

	fill_attr_out_ptr(driver, MYNIC_ATTR_QUERY_CONTEXT_RESP_UCTX, &resp);
	err = ibv_cmd_query_context(&ctx->ibv_ctx.context, driver);
	if (!err)
		err = mynic_set_context(ctx, &resp);
	if (!err)
		return &ctx->ibv_ctx;
	mynic_uninit_context(ctx);
	errno = err;
	return NULL;
}

static void mynic_free_context(struct ibv_context *context)
{
	struct mynic_context *ctx = to_mctx(context);

	mynic_ah_fini(ctx);
	mynic_clock_fini(ctx);
	pthread_mutex_destroy(&ctx->queue_lock);
	mynic_munmap(&ctx->uar_map);
	mynic_uninit_context(ctx);
}

static struct verbs_device *mynic_alloc_device(struct verbs_sysfs_dev *sysfs)
{
	return calloc(1, sizeof(struct verbs_device));
}

static void mynic_uninit_device(struct verbs_device *device)
{
	free(device);
}

static const struct verbs_match_ent mynic_match[] = {
	VERBS_PCI_MATCH(MYNIC_PCI_VENDOR, MYNIC_PCI_DEVICE, NULL),
	{}
};

static const struct verbs_device_ops mynic_device_ops = {
	.name = "mynic",
	.match_min_abi_version = MYNIC_UVERBS_ABI_VERSION,
	.match_max_abi_version = MYNIC_UVERBS_ABI_VERSION,
	.match_table = mynic_match,
	.alloc_device = mynic_alloc_device,
	.uninit_device = mynic_uninit_device,
	.alloc_context = mynic_alloc_context,
	.import_context = mynic_import_context,
};

bool mynicdv_is_supported(struct ibv_device *device)
{
	return verbs_get_device(device)->ops == &mynic_device_ops;
}

PROVIDER_DRIVER(mynic, mynic_device_ops);
