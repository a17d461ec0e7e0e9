// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Device memory: allocation, sharing, and copies to and from it. */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mynic.h"
#include "mynic-abi.h"

/* The device memory is accessed in whole words. */
#define WORD sizeof(uint32_t)

static bool mynic_dm_copy_is_valid(const struct mynic_dm *dm, uint64_t offset,
				   size_t length)
{
	return !(offset % WORD) && !(length % WORD) && offset <= dm->length &&
	       length <= dm->length - offset;
}

static int mynic_dm_copy_refuse(const struct mynic_dm *dm, uint64_t offset,
				size_t length)
{
	verbs_debug(verbs_get_ctx(dm->vdm.dm.context),
		    "device memory: %zu of %zu bytes at %llu\n", length,
		    (size_t)dm->length, (unsigned long long)offset);
	return EINVAL;
}

/*
 * The device takes accesses of a limited size. Atomic accesses keep the
 * compiler from joining or splitting them.
 */
static void mynic_dm_store32(void *dst, const void *src)
{
	uint32_t value;

	memcpy(&value, src, sizeof(value));
	atomic_store_explicit((_Atomic(uint32_t) *)dst, value,
			      memory_order_relaxed);
}

static void mynic_dm_store64(void *dst, const void *src)
{
	uint64_t value;

	memcpy(&value, src, sizeof(value));
	atomic_store_explicit((_Atomic(uint64_t) *)dst, value,
			      memory_order_relaxed);
}

static void mynic_dm_load32(void *dst, const void *src)
{
	uint32_t value = atomic_load_explicit((_Atomic(uint32_t) *)src,
					      memory_order_relaxed);

	memcpy(dst, &value, sizeof(value));
}

static void mynic_dm_load64(void *dst, const void *src)
{
	uint64_t value = atomic_load_explicit((_Atomic(uint64_t) *)src,
					      memory_order_relaxed);

	memcpy(dst, &value, sizeof(value));
}

/* Size of the next access, when @left bytes are left to copy */
static size_t mynic_dm_access_size(const void *device, size_t left)
{
	return left >= 8 && !((uintptr_t)device % 8) ? 8 : WORD;
}

static int mynic_memcpy_to_dm(struct ibv_dm *ibdm, uint64_t offset,
			      const void *host_addr, size_t length)
{
	struct mynic_dm *dm = to_mdm(ibdm);
	const char *src = host_addr;
	char *dst = dm->map.addr + offset;
	uint32_t last;
	size_t size;

	if (!mynic_dm_copy_is_valid(dm, offset, length))
		return mynic_dm_copy_refuse(dm, offset, length);
	if (!length)
		return 0;
	while (length) {
		size = mynic_dm_access_size(dst, length);
		if (size == WORD)
			mynic_dm_store32(dst, src);
		else
			mynic_dm_store64(dst, src);
		src += size;
		dst += size;
		length -= size;
	}
	/*
	 * Stores to the device are posted, so a request in host memory could
	 * overtake them. A load waits for them.
	 */
	mmio_flush_writes();
	mynic_dm_load32(&last, dst - WORD);
	return 0;
}

static int mynic_memcpy_from_dm(void *host_addr, struct ibv_dm *ibdm,
				uint64_t offset, size_t length)
{
	struct mynic_dm *dm = to_mdm(ibdm);
	const char *src = dm->map.addr + offset;
	char *dst = host_addr;
	size_t size;

	if (!mynic_dm_copy_is_valid(dm, offset, length))
		return mynic_dm_copy_refuse(dm, offset, length);
	while (length) {
		size = mynic_dm_access_size(src, length);
		if (size == WORD)
			mynic_dm_load32(dst, src);
		else
			mynic_dm_load64(dst, src);
		src += size;
		dst += size;
		length -= size;
	}
	return 0;
}

/* Return: 0 or a positive errno. */
static int mynic_dm_map(struct ibv_context *context, struct mynic_dm *dm,
			uint64_t mmap_key, uint32_t mmap_size, uint64_t length)
{
	int err = mynic_mmap(context, &dm->map, mmap_key, mmap_size);

	if (err)
		return err;
	dm->length = length;
	dm->vdm.dm.memcpy_to_dm = mynic_memcpy_to_dm;
	dm->vdm.dm.memcpy_from_dm = mynic_memcpy_from_dm;
	return 0;
}

struct ibv_dm *mynic_alloc_dm(struct ibv_context *context,
			      struct ibv_alloc_dm_attr *attr)
{
	DECLARE_COMMAND_BUFFER(cmd, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC,
			       1);
	struct mynic_alloc_dm_resp resp = {};
	struct mynic_dm *dm;
	int err;

	if (attr->comp_mask) {
		verbs_debug(verbs_get_ctx(context),
			    "device memory: comp_mask 0x%x\n", attr->comp_mask);
		errno = EINVAL;
		return NULL;
	}
	dm = calloc(1, sizeof(*dm));
	if (!dm)
		return NULL;
	fill_attr_out_ptr(cmd, MYNIC_ATTR_ALLOC_DM_RESP, &resp);
	err = ibv_cmd_alloc_dm(context, attr, &dm->vdm, cmd);
	if (err)
		goto err_free;
	err = mynic_dm_map(context, dm, resp.mmap_key, resp.mmap_size,
			   attr->length);
	if (err)
		goto err_cmd;
	return &dm->vdm.dm;

err_cmd:
	ibv_cmd_free_dm(&dm->vdm);
err_free:
	free(dm);
	errno = err;
	return NULL;
}

int mynic_free_dm(struct ibv_dm *ibdm)
{
	struct mynic_dm *dm = to_mdm(ibdm);
	int err;

	err = ibv_cmd_free_dm(&dm->vdm);
	if (err)
		return err;
	mynic_munmap(&dm->map);
	free(dm);
	return 0;
}

/* @handle names memory that was allocated through the same file descriptor. */
struct ibv_dm *mynic_import_dm(struct ibv_context *context, uint32_t handle)
{
	DECLARE_COMMAND_BUFFER(cmd, UVERBS_OBJECT_DM, MYNIC_METHOD_DM_QUERY, 2);
	struct mynic_query_dm_resp resp = {};
	struct mynic_dm *dm;
	int err;

	dm = calloc(1, sizeof(*dm));
	if (!dm)
		return NULL;
	fill_attr_in_obj(cmd, MYNIC_ATTR_QUERY_DM_HANDLE, handle);
	fill_attr_out_ptr(cmd, MYNIC_ATTR_QUERY_DM_RESP, &resp);
	err = execute_ioctl(context, cmd);
	if (!err)
		err = mynic_dm_map(context, dm, resp.mmap_key, resp.mmap_size,
				   resp.length);
	if (err) {
		free(dm);
		errno = err;
		return NULL;
	}
	dm->vdm.dm.context = context;
	dm->vdm.dm.handle = handle;
	dm->vdm.handle = handle;
	return &dm->vdm.dm;
}

/* The kernel keeps the memory. */
void mynic_unimport_dm(struct ibv_dm *ibdm)
{
	struct mynic_dm *dm = to_mdm(ibdm);

	mynic_munmap(&dm->map);
	free(dm);
}

struct ibv_mr *mynic_reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *ibdm,
			       uint64_t offset, size_t length,
			       unsigned int access)
{
	struct verbs_mr *vmr;
	int err;

	vmr = mynic_new_mr(pd, access);
	if (!vmr)
		return NULL;
	err = ibv_cmd_reg_dm_mr(pd, &to_mdm(ibdm)->vdm, offset, length, access,
				vmr, NULL);
	if (err) {
		mynic_free_mr(vmr);
		errno = err;
		return NULL;
	}
	return &vmr->ibv_mr;
}
