// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory regions */
#include <linux/slab.h>
#include <rdma/ib_umem.h>
#include <rdma/iter.h>
#include <rdma/uverbs_ioctl.h>

#include "cmd.h"

/**
 * mynic_get_dma_mr() - &ib_device_ops.get_dma_mr
 * @ibpd: protection domain
 * @access: enum ib_access_flags
 *
 * Return: a region with all of DMA space, or ERR_PTR().
 */
struct ib_mr *mynic_get_dma_mr(struct ib_pd *ibpd, int access)
{
	struct mynic_create_mkey body = {
		.pdn = cpu_to_le32(to_mpd(ibpd)->pdn),
		.access = cpu_to_le32(access & MYNIC_MR_ACCESS),
	};
	struct mynic_mr *mr;
	u32 key;
	int ret;

	if (access & ~(MYNIC_MR_ACCESS | IB_ACCESS_OPTIONAL))
		return ERR_PTR(-EOPNOTSUPP);
	mr = kzalloc_obj(*mr);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	ret = mynic_cmd_create_mkey(to_mdev(ibpd->device), MYNIC_MKEY_DMA,
				    &body, &key);
	if (ret) {
		kfree(mr);
		return ERR_PTR(ret);
	}
	mr->ibmr.lkey = key;
	mr->ibmr.rkey = key;
	return &mr->ibmr;
}

static int mynic_mr_list(struct mynic_dev *mdev, struct mynic_mr *mr)
{
	struct ib_block_iter biter;
	unsigned long page_size;
	u64 i = 0;
	int ret;

	/*
	 * The offset in the first page is the device's to add, and has nothing
	 * to do with the iova: the pages need not be aligned to that.
	 */
	page_size = ib_umem_find_best_pgsz(mr->umem, mdev->caps.page_size_cap,
					   mr->umem->address);
	if (!page_size)
		return -EINVAL;
	ret = mynic_page_list_init(mdev, &mr->list,
				   ib_umem_num_dma_blocks(mr->umem, page_size),
				   __ffs(page_size),
				   mr->umem->address & (page_size - 1));
	if (ret)
		return ret;
	rdma_umem_for_each_dma_block(mr->umem, &biter, page_size)
		mynic_page_list_set(&mr->list, i++,
				    rdma_block_iter_dma_address(&biter));
	return 0;
}

/**
 * mynic_reg_user_mr() - &ib_device_ops.reg_user_mr
 * @ibpd: protection domain
 * @start: address in the process
 * @length: bytes
 * @iova: address in work requests
 * @access: enum ib_access_flags
 * @dmah: NULL, as the device has no DMA handles
 * @udata: nothing in it
 *
 * Return: the region, or ERR_PTR().
 */
struct ib_mr *mynic_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length,
				u64 iova, int access, struct ib_dmah *dmah,
				struct ib_udata *udata)
{
	struct mynic_dev *mdev = to_mdev(ibpd->device);
	struct mynic_create_mkey body = {
		.iova = cpu_to_le64(iova),
		.length = cpu_to_le64(length),
		.pdn = cpu_to_le32(to_mpd(ibpd)->pdn),
		.access = cpu_to_le32(access & MYNIC_MR_ACCESS),
	};
	struct mynic_mr *mr;
	u32 key;
	int ret;

	ret = ib_no_udata_io(udata);
	if (ret)
		return ERR_PTR(ret);
	if (access & ~(MYNIC_MR_ACCESS | IB_ZERO_BASED | IB_ACCESS_OPTIONAL))
		return ERR_PTR(-EOPNOTSUPP);
	if (length > mdev->caps.max_mr_size)
		return ERR_PTR(-EINVAL);
	mr = kzalloc_obj(*mr, GFP_KERNEL_ACCOUNT);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->umem = ib_umem_get_va(ibpd->device, start, length, access);
	if (IS_ERR(mr->umem)) {
		ret = PTR_ERR(mr->umem);
		goto err_free;
	}
	ret = mynic_mr_list(mdev, mr);
	if (ret)
		goto err_umem;
	body.buf = mr->list.buf;
	ret = mynic_cmd_create_mkey(mdev, 0, &body, &key);
	if (ret)
		goto err_list;
	mr->ibmr.lkey = key;
	mr->ibmr.rkey = key;
	return &mr->ibmr;

err_list:
	mynic_page_list_free(mdev, &mr->list);
err_umem:
	ib_umem_release(mr->umem);
err_free:
	kfree(mr);
	return ERR_PTR(ret);
}

/**
 * mynic_reg_dm_mr() - &ib_device_ops.reg_dm_mr
 * @ibpd: protection domain
 * @ibdm: device memory
 * @attr: range, which the core has checked, and enum ib_access_flags
 * @attrs: nothing in it
 *
 * Return: a region whose addresses begin at 0, or ERR_PTR().
 */
struct ib_mr *mynic_reg_dm_mr(struct ib_pd *ibpd, struct ib_dm *ibdm,
			      struct ib_dm_mr_attr *attr,
			      struct uverbs_attr_bundle *attrs)
{
	struct mynic_create_mkey body = {
		.buf.addr = cpu_to_le64(to_mdm(ibdm)->offset + attr->offset),
		.length = cpu_to_le64(attr->length),
		.pdn = cpu_to_le32(to_mpd(ibpd)->pdn),
		.access = cpu_to_le32(attr->access_flags & MYNIC_MR_ACCESS),
	};
	struct mynic_mr *mr;
	u32 key;
	int ret;

	if (attr->access_flags &
	    ~(MYNIC_MR_ACCESS | IB_ZERO_BASED | IB_ACCESS_OPTIONAL))
		return ERR_PTR(-EOPNOTSUPP);
	mr = kzalloc_obj(*mr, GFP_KERNEL_ACCOUNT);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	ret = mynic_cmd_create_mkey(to_mdev(ibpd->device), MYNIC_MKEY_DM, &body,
				    &key);
	if (ret) {
		kfree(mr);
		return ERR_PTR(ret);
	}
	mr->ibmr.lkey = key;
	mr->ibmr.rkey = key;
	return &mr->ibmr;
}

/* Only where there are windows may the device say that one is bound */
static int mynic_mr_destroy(struct mynic_dev *mdev, struct ib_mr *ibmr)
{
	if (atomic_read(&to_mpd(ibmr->pd)->num_mws))
		return mynic_cmd_try_destroy_mkey(mdev, ibmr->lkey);
	mynic_cmd_destroy_mkey(mdev, ibmr->lkey);
	return 0;
}

/**
 * mynic_dereg_mr() - &ib_device_ops.dereg_mr
 * @ibmr: memory region
 * @udata: nothing in it
 *
 * Return: 0, -EBUSY if windows are bound to it, or an errno for bad @udata.
 */
int mynic_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct mynic_dev *mdev = to_mdev(ibmr->device);
	struct mynic_mr *mr = to_mmr(ibmr);
	int ret;

	ret = ib_no_udata_io(udata);
	if (ret)
		return ret;
	ret = mynic_mr_destroy(mdev, ibmr);
	if (ret)
		return ret;
	mynic_fast_reg_free(mdev, &mr->fast_reg);
	mynic_page_list_free(mdev, &mr->list);
	ib_umem_release(mr->umem);
	kfree(mr);
	return 0;
}
