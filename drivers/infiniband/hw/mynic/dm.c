// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Device memory: allocation, and mapping by processes. Regions of it are in
 * mr.c.
 */
#include <linux/slab.h>
#include <rdma/mynic-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "cmd.h"

#define UVERBS_MODULE_NAME mynic
#include <rdma/uverbs_named_ioctl.h>

/* Allocations are whole pages, as processes map pages. The memory is zeroed. */
struct ib_dm *mynic_alloc_dm(struct ib_device *ibdev,
			     struct ib_ucontext *ibucontext,
			     struct ib_dm_alloc_attr *attr,
			     struct uverbs_attr_bundle *attrs)
{
	struct mynic_dev *mdev = to_mdev(ibdev);
	struct mynic_alloc_dm_resp resp = {};
	struct mynic_dm *dm;
	size_t size;
	int ret;

	if (!attr->length || attr->alignment > 63) {
		ibdev_dbg(ibdev, "%llu bytes of device memory at 2^%u\n",
			  attr->length, attr->alignment);
		return ERR_PTR(-EINVAL);
	}
	if (attr->length > mdev->caps.dm_size) {
		ibdev_dbg(ibdev,
			  "%llu bytes of device memory: there are %llu\n",
			  attr->length, mdev->caps.dm_size);
		return ERR_PTR(-ENOMEM);
	}
	mynic_dm_flush(mdev);
	dm = kzalloc_obj(*dm, GFP_KERNEL_ACCOUNT);
	if (!dm)
		return ERR_PTR(-ENOMEM);
	dm->mmap.type = MYNIC_MMAP_DM;
	size = PAGE_ALIGN(attr->length);
	ret = mynic_cmd_alloc_dm(mdev, size,
				 max_t(u32, attr->alignment, PAGE_SHIFT),
				 &dm->number, &dm->offset);
	if (ret)
		goto err_free;
	ret = rdma_user_mmap_entry_insert(ibucontext, &dm->mmap.rdma_entry,
					  size);
	if (ret)
		goto err_cmd;
	resp.mmap_key = rdma_user_mmap_get_offset(&dm->mmap.rdma_entry);
	resp.mmap_size = size;
	ret = uverbs_copy_to_struct_or_zero(attrs, MYNIC_ATTR_ALLOC_DM_RESP,
					    &resp, sizeof(resp));
	if (ret) {
		rdma_user_mmap_entry_remove(&dm->mmap.rdma_entry);
		return ERR_PTR(ret);
	}
	return &dm->ibdm;

err_cmd:
	mynic_cmd_free_dm(mdev, dm->number);
err_free:
	kfree(dm);
	return ERR_PTR(ret);
}

/* The device gets the memory back when nobody maps it any more. */
int mynic_dealloc_dm(struct ib_dm *ibdm, struct uverbs_attr_bundle *attrs)
{
	rdma_user_mmap_entry_remove(&to_mdm(ibdm)->mmap.rdma_entry);
	return 0;
}

static void mynic_dm_work(struct work_struct *work)
{
	struct mynic_dev *mdev = container_of(work, struct mynic_dev, dm_work);
	struct mynic_dm *dm, *next;

	llist_for_each_entry_safe(dm, next, llist_del_all(&mdev->unused_dms),
				  unused) {
		mynic_cmd_free_dm(mdev, dm->number);
		kfree(dm);
	}
}

void mynic_dm_init(struct mynic_dev *mdev)
{
	init_llist_head(&mdev->unused_dms);
	INIT_WORK(&mdev->dm_work, mynic_dm_work);
}

/* Wait until the device has taken back all unused memory. */
void mynic_dm_flush(struct mynic_dev *mdev)
{
	flush_work(&mdev->dm_work);
}

/*
 * The last reference is often a mapping, and munmap() holds the process's mmap
 * lock. That is no place to wait for the device, so leave it to a work item.
 */
void mynic_dm_free(struct mynic_dev *mdev, struct mynic_dm *dm)
{
	llist_add(&dm->unused, &mdev->unused_dms);
	queue_work(system_long_wq, &mdev->dm_work);
}

#define MYNIC_ALLOC_DM_RESP \
	UVERBS_ATTR_STRUCT(struct mynic_alloc_dm_resp, mmap_size)

ADD_UVERBS_ATTRIBUTES_SIMPLE(mynic_dm, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC,
			     UVERBS_ATTR_PTR_OUT(MYNIC_ATTR_ALLOC_DM_RESP,
						 MYNIC_ALLOC_DM_RESP,
						 UA_MANDATORY));

/*
 * A process that received the file descriptor from another one uses this to map
 * device memory which the other one allocated.
 */
static int
UVERBS_HANDLER(MYNIC_METHOD_DM_QUERY)(struct uverbs_attr_bundle *attrs)
{
	struct ib_dm *ibdm =
		uverbs_attr_get_obj(attrs, MYNIC_ATTR_QUERY_DM_HANDLE);
	struct rdma_user_mmap_entry *entry = &to_mdm(ibdm)->mmap.rdma_entry;
	struct mynic_query_dm_resp resp = {
		.mmap_key = rdma_user_mmap_get_offset(entry),
		.length = ibdm->length,
		.mmap_size = entry->npages << PAGE_SHIFT,
	};

	return uverbs_copy_to_struct_or_zero(attrs, MYNIC_ATTR_QUERY_DM_RESP,
					     &resp, sizeof(resp));
}

#define MYNIC_QUERY_DM_RESP \
	UVERBS_ATTR_STRUCT(struct mynic_query_dm_resp, mmap_size)

DECLARE_UVERBS_NAMED_METHOD(MYNIC_METHOD_DM_QUERY,
			    UVERBS_ATTR_IDR(MYNIC_ATTR_QUERY_DM_HANDLE,
					    UVERBS_OBJECT_DM,
					    UVERBS_ACCESS_READ, UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(MYNIC_ATTR_QUERY_DM_RESP,
						MYNIC_QUERY_DM_RESP,
						UA_MANDATORY));

ADD_UVERBS_METHODS(mynic_dm_query, UVERBS_OBJECT_DM,
		   &UVERBS_METHOD(MYNIC_METHOD_DM_QUERY));

const struct uapi_definition mynic_dm_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DM, &mynic_dm),
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DM, &mynic_dm_query),
	{},
};
