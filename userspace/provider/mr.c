// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory regions, except those of device memory (dm.c) and with DMA handles
 * (dmah.c).
 */
#include <config.h>

#include <errno.h>
#include <stdlib.h>

#include "mynic.h"

/**
 * mynic_new_mr() - allocate a memory region
 * @pd: protection domain
 * @access: enum ibv_access_flags for the kernel; 0: not known
 *
 * Sets what libibverbs' commands leave out or do not know.
 *
 * Return: the memory region, or NULL with errno set.
 */
struct verbs_mr *mynic_new_mr(struct ibv_pd *pd, int access)
{
	struct mynic_mr *mr;

	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return NULL;
	mr->pd_handle = pd->handle;
	mr->vmr.access = access;
	return &mr->vmr;
}

void mynic_free_mr(struct verbs_mr *vmr)
{
	free(to_mmr(&vmr->ibv_mr));
}

struct ibv_mr *mynic_reg_mr(struct ibv_pd *pd, void *addr, size_t length,
			    uint64_t hca_va, int access)
{
	struct ib_uverbs_reg_mr_resp resp;
	struct ibv_reg_mr cmd;
	struct verbs_mr *vmr;
	int err;

	vmr = mynic_new_mr(pd, access);
	if (!vmr)
		return NULL;
	err = ibv_cmd_reg_mr(pd, addr, length, hca_va, access, vmr, &cmd,
			     sizeof(cmd), &resp, sizeof(resp));
	if (err) {
		mynic_free_mr(vmr);
		errno = err;
		return NULL;
	}
	return &vmr->ibv_mr;
}

int mynic_dereg_mr(struct verbs_mr *vmr)
{
	int err;

	/* The kernel does not know a null region. */
	if (vmr->mr_type != IBV_MR_TYPE_NULL_MR) {
		err = ibv_cmd_dereg_mr(vmr);
		if (err)
			return err;
	}
	mynic_free_mr(vmr);
	return 0;
}

int mynic_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd,
		   void *addr, size_t length, int access)
{
	struct ib_uverbs_rereg_mr_resp resp;
	struct ibv_rereg_mr cmd;
	int err;

	err = ibv_cmd_rereg_mr(vmr, flags, addr, length, (uintptr_t)addr,
			       access, pd, &cmd, sizeof(cmd), &resp,
			       sizeof(resp));
	if (err)
		return err;
	if (flags & IBV_REREG_MR_CHANGE_ACCESS)
		vmr->access = access;
	if (flags & IBV_REREG_MR_CHANGE_PD)
		to_mmr(&vmr->ibv_mr)->pd_handle = pd->handle;
	return 0;
}

struct ibv_mr *mynic_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset,
				   size_t length, uint64_t iova, int fd,
				   int access)
{
	struct verbs_mr *vmr;
	int err;

	vmr = mynic_new_mr(pd, access);
	if (!vmr)
		return NULL;
	err = ibv_cmd_reg_dmabuf_mr(pd, offset, length, iova, fd, access, vmr,
				    NULL);
	if (err) {
		mynic_free_mr(vmr);
		errno = err;
		return NULL;
	}
	return &vmr->ibv_mr;
}

struct ibv_mr *mynic_alloc_null_mr(struct ibv_pd *pd)
{
	struct mynic_context *ctx = to_mctx(pd->context);
	struct verbs_mr *vmr;

	if (!ctx->null_lkey) {
		verbs_debug(&ctx->ibv_ctx, "the device has no null region\n");
		errno = EOPNOTSUPP;
		return NULL;
	}
	vmr = mynic_new_mr(pd, 0);
	if (!vmr)
		return NULL;
	vmr->mr_type = IBV_MR_TYPE_NULL_MR;
	vmr->ibv_mr = (struct ibv_mr){
		.context = pd->context,
		.pd = pd,
		.length = SIZE_MAX,
		.lkey = ctx->null_lkey,
	};
	return &vmr->ibv_mr;
}

/* @handle names a memory region of the file descriptor of @pd's context. */
struct ibv_mr *mynic_import_mr(struct ibv_pd *pd, uint32_t handle)
{
	struct verbs_mr *vmr;
	int err;

	vmr = mynic_new_mr(pd, 0);
	if (!vmr)
		return NULL;
	err = ibv_cmd_query_mr(pd, vmr, handle);
	if (err) {
		mynic_free_mr(vmr);
		errno = err;
		return NULL;
	}
	return &vmr->ibv_mr;
}

/* The kernel keeps the region. */
void mynic_unimport_mr(struct ibv_mr *mr)
{
	mynic_free_mr(verbs_get_mr(mr));
}
