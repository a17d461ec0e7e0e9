// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory regions: of processes, of dma-bufs, of device memory, and of all DMA
 * addresses. ODP regions are in odp.c, fast registration is in fast_reg.c.
 */
#include <linux/dma-mapping.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>
#include <rdma/iter.h>
#include <rdma/uverbs_ioctl.h>

#include "cmd.h"

static void mynic_mr_release(struct mynic_parked *parked)
{
	struct mynic_mr *mr = container_of(parked, struct mynic_mr, parked);
	struct ib_device *ibdev = mr->ibmr.device;
	struct mynic_dev *mdev = mr->mdev;

	if (mr->fast_reg.lists)
		dma_free_coherent(&mdev->pdev->dev,
				  2 * mynic_fast_reg_bytes(&mr->fast_reg),
				  mr->fast_reg.lists, mr->fast_reg.dma);
	mynic_page_list_free(mdev, &mr->list);
	ib_umem_release(mr->umem);
	kfree(mr);
	put_device(&ibdev->dev);
}

/*
 * A live device must have forgotten the region. A dead one may use it until it
 * is reset, so @ibdev may be unregistered before the memory is freed.
 */
void mynic_mr_free(struct ib_device *ibdev, struct mynic_mr *mr)
{
	mr->mdev = to_mdev(ibdev);
	mr->ibmr.device = ibdev;
	get_device(&ibdev->dev);
	mynic_park(mr->mdev, &mr->parked, mynic_mr_release);
}

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

static int mynic_mr_list(struct mynic_dev *mdev, struct ib_umem *umem,
			 struct mynic_page_list *list)
{
	struct ib_block_iter biter;
	unsigned long page_size;
	u64 i = 0;
	int ret;

	/*
	 * The device adds the offset in the first page itself. The iova is
	 * irrelevant, as pages need not be aligned to it.
	 */
	page_size = ib_umem_find_best_pgsz(umem, mdev->caps.page_size_cap,
					   umem->address);
	if (!page_size)
		return -EINVAL;
	ret = mynic_page_list_init(list,
				   ib_umem_num_dma_blocks(umem, page_size),
				   __ffs(page_size),
				   umem->address & (page_size - 1));
	if (ret)
		goto err;
	rdma_umem_for_each_dma_block(umem, &biter, page_size)
		mynic_page_list_set(list, i++,
				    rdma_block_iter_dma_address(&biter));
	ret = mynic_page_list_map(mdev, list);
	if (ret)
		goto err;
	return 0;

err:
	mynic_page_list_free(mdev, list);
	return ret;
}

static int mynic_mr_check(struct ib_device *ibdev, u64 length, int access)
{
	u64 max = to_mdev(ibdev)->caps.max_mr_size;

	if (access & ~(MYNIC_MR_ACCESS | IB_ZERO_BASED | IB_ACCESS_OPTIONAL)) {
		ibdev_dbg(ibdev, "access flags %#x\n", access);
		return -EOPNOTSUPP;
	}
	if (length > max) {
		ibdev_dbg(ibdev, "a region of %llu bytes: at most %llu\n",
			  length, max);
		return -EINVAL;
	}
	return 0;
}

static void mynic_mr_set_access(struct mynic_mr *mr, int access, u64 iova)
{
	mr->access = access;
	mr->ibmr.iova = iova;
	mr->body.access = cpu_to_le32(access & MYNIC_MR_ACCESS);
	mr->body.iova = access & IB_ZERO_BASED ? 0 : cpu_to_le64(iova);
}

/* Allocate a region that the device does not know yet. */
static struct mynic_mr *mynic_mr_alloc(struct ib_umem *umem)
{
	struct mynic_mr *mr;

	mr = kzalloc_obj(*mr, GFP_KERNEL_ACCOUNT);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->umem = umem;
	return mr;
}

/* On error, the caller frees @mr. */
static int mynic_mr_create(struct ib_pd *ibpd, struct mynic_mr *mr, u64 iova,
			   int access)
{
	struct mynic_dev *mdev = to_mdev(ibpd->device);
	u32 key;
	int ret;

	ret = mynic_mr_list(mdev, mr->umem, &mr->list);
	if (ret)
		return ret;
	mr->body.buf = mr->list.buf;
	mr->body.length = cpu_to_le64(mr->umem->length);
	mr->ibmr.length = mr->umem->length;
	mr->body.pdn = cpu_to_le32(to_mpd(ibpd)->pdn);
	mynic_mr_set_access(mr, access, iova);
	ret = mynic_cmd_create_mkey(mdev, 0, &mr->body, &key);
	if (ret)
		return ret;
	mr->ibmr.lkey = key;
	mr->ibmr.rkey = key;
	return 0;
}

/* DMA handles are refused for ODP regions. */
struct ib_mr *mynic_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length,
				u64 iova, int access, struct ib_dmah *dmah,
				struct ib_udata *udata)
{
	struct ib_umem *umem;
	struct mynic_mr *mr;
	int ret;

	ret = ib_no_udata_io(udata);
	if (ret)
		return ERR_PTR(ret);
	if (access & IB_ACCESS_ON_DEMAND && dmah) {
		ibdev_dbg(ibpd->device,
			  "DMA handles are not for paged regions\n");
		return ERR_PTR(-EOPNOTSUPP);
	}
	if (access & IB_ACCESS_ON_DEMAND)
		return mynic_reg_odp_mr(ibpd, start, length, iova, access);
	ret = mynic_mr_check(ibpd->device, length, access);
	if (ret)
		return ERR_PTR(ret);
	umem = ib_umem_get_va(ibpd->device, start, length, access);
	if (IS_ERR(umem))
		return ERR_CAST(umem);
	mr = mynic_mr_alloc(umem);
	if (IS_ERR(mr)) {
		ib_umem_release(umem);
		return ERR_CAST(mr);
	}
	ret = mynic_mr_create(ibpd, mr, iova, access);
	if (ret) {
		mynic_mr_free(ibpd->device, mr);
		return ERR_PTR(ret);
	}
	return &mr->ibmr;
}

static int mynic_mr_modify(struct mynic_mr *mr,
			   const struct mynic_create_mkey *body)
{
	return mynic_cmd_modify_mkey(to_mdev(mr->ibmr.device), mr->ibmr.lkey,
				     body);
}

/*
 * Called when the exporter takes the memory back. Afterwards the device cannot
 * access it: the key still exists, but for a region of length 0.
 */
static void mynic_mr_revoke(void *priv)
{
	struct mynic_mr *mr = priv;
	struct mynic_dev *mdev = to_mdev(mr->ibmr.device);

	mr->body.length = 0;
	memset(&mr->body.buf, 0, sizeof(mr->body.buf));
	if (!mynic_mr_modify(mr, &mr->body))
		return;
	mynic_fail_device(mdev, "it did not give up a memory region");
	mynic_wait_quiet(mdev);
}

/* The region is pinned, but the exporter may revoke the buffer at any time. */
struct ib_mr *mynic_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset,
				       u64 length, u64 iova, int fd, int access,
				       struct ib_dmah *dmah,
				       struct uverbs_attr_bundle *attrs)
{
	struct ib_device *ibdev = ibpd->device;
	struct ib_umem_dmabuf *dmabuf;
	struct mynic_mr *mr;
	int ret;

	ret = mynic_mr_check(ibdev, length, access);
	if (ret)
		return ERR_PTR(ret);
	dmabuf = ib_umem_dmabuf_get_pinned_revocable_and_lock(
		ibdev, offset, length, fd, access);
	if (IS_ERR(dmabuf))
		return ERR_CAST(dmabuf);
	mr = mynic_mr_alloc(&dmabuf->umem);
	if (IS_ERR(mr)) {
		ib_umem_dmabuf_revoke_unlock(dmabuf);
		ib_umem_release(&dmabuf->umem);
		return ERR_CAST(mr);
	}
	ret = mynic_mr_create(ibpd, mr, iova, access);
	if (!ret) {
		mr->ibmr.device = ibdev;
		ib_umem_dmabuf_set_revoke_locked(dmabuf, mynic_mr_revoke, mr);
	}
	ib_umem_dmabuf_revoke_unlock(dmabuf);
	if (ret) {
		mynic_mr_free(ibdev, mr);
		return ERR_PTR(ret);
	}
	return &mr->ibmr;
}

/*
 * One command changes all attributes, so that the region is never half changed.
 */
static int mynic_mr_rereg_in_place(struct mynic_mr *mr,
				   const struct mynic_mr *new)
{
	int ret;

	ret = mynic_mr_modify(mr, &new->body);
	if (ret)
		return ret;
	mr->access = new->access;
	mr->ibmr.iova = new->ibmr.iova;
	mr->ibmr.length = new->ibmr.length;
	mr->body = new->body;
	return 0;
}

static int mynic_mr_rereg_memory(struct mynic_mr *mr, struct mynic_mr *new,
				 u64 start, u64 length)
{
	struct ib_device *ibdev = mr->ibmr.device;
	struct mynic_dev *mdev = to_mdev(ibdev);
	struct ib_umem *umem;
	int ret;

	umem = ib_umem_get_va(ibdev, start, length, new->access);
	if (IS_ERR(umem))
		return PTR_ERR(umem);
	new->umem = umem;
	ret = mynic_mr_list(mdev, umem, &new->list);
	if (ret)
		return ret;
	new->body.buf = new->list.buf;
	new->body.length = cpu_to_le64(length);
	new->ibmr.length = length;
	ret = mynic_mr_rereg_in_place(mr, new);
	if (ret)
		return ret;
	swap(mr->umem, new->umem);
	swap(mr->list, new->list);
	return 0;
}

/*
 * The region keeps its keys. On error it is unchanged. On success the result is
 * NULL, as it is still the same region.
 */
struct ib_mr *mynic_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start,
				  u64 length, u64 iova, int access,
				  struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct mynic_mr *mr = to_mmr(ibmr);
	struct mynic_mr *new;
	int ret;

	ret = ib_no_udata_io(udata);
	if (ret)
		return ERR_PTR(ret);
	if (flags & ~IB_MR_REREG_SUPPORTED || mr->odp) {
		ibdev_dbg(ibmr->device,
			  "region %#x, %s, cannot change by %#x\n", ibmr->lkey,
			  mr->odp ? "paged" : "not paged", flags);
		return ERR_PTR(-EOPNOTSUPP);
	}
	new = mynic_mr_alloc(NULL);
	if (IS_ERR(new))
		return ERR_CAST(new);
	new->access = mr->access;
	new->ibmr.iova = mr->ibmr.iova;
	new->ibmr.length = mr->ibmr.length;
	new->body = mr->body;
	if (flags & IB_MR_REREG_ACCESS)
		new->access = access;
	if (flags & IB_MR_REREG_TRANS)
		new->ibmr.iova = iova;
	else
		length = le64_to_cpu(mr->body.length);
	if (flags & IB_MR_REREG_PD)
		new->body.pdn = cpu_to_le32(to_mpd(ibpd)->pdn);
	ret = mynic_mr_check(ibmr->device, length, new->access);
	if (ret)
		goto out;
	ret = ib_umem_check_rereg(mr->umem, flags, access);
	if (ret)
		goto out;
	mynic_mr_set_access(new, new->access, new->ibmr.iova);
	if (flags & IB_MR_REREG_TRANS)
		ret = mynic_mr_rereg_memory(mr, new, start, length);
	else
		ret = mynic_mr_rereg_in_place(mr, new);
out:
	/* On success @new holds the old memory, on error the new memory. */
	mynic_mr_free(ibmr->device, new);
	return ERR_PTR(ret);
}

/* Addresses of the region begin at 0. The RDMA core has checked the range. */
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

	ret = mynic_mr_check(ibpd->device, attr->length, attr->access_flags);
	if (ret)
		return ERR_PTR(ret);
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
	mr->ibmr.length = attr->length;
	return &mr->ibmr;
}

/* -EBUSY: memory windows are bound to the region. */
int mynic_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct mynic_dev *mdev = to_mdev(ibmr->device);
	struct mynic_mr *mr = to_mmr(ibmr);
	struct ib_umem_dmabuf *dmabuf = NULL;
	int ret;

	ret = ib_no_udata_io(udata);
	if (ret)
		return ret;
	if (mr->umem && mr->umem->is_dmabuf) {
		dmabuf = to_ib_umem_dmabuf(mr->umem);
		ib_umem_dmabuf_revoke_lock(dmabuf);
	}
	ret = mynic_cmd_destroy_region(mdev, ibmr->lkey);
	/* Other memory is kept until the device has been reset. */
	if (!mr->umem || dmabuf)
		mynic_wait_quiet(mdev);
	if (dmabuf) {
		/*
		 * The key no longer exists, so mynic_mr_revoke() must not
		 * modify it.
		 */
		if (!ret)
			ib_umem_dmabuf_set_revoke_locked(dmabuf, NULL, NULL);
		ib_umem_dmabuf_revoke_unlock(dmabuf);
	}
	if (ret)
		return ret;
	if (mr->odp)
		mynic_odp_gone(mr->odp);
	mynic_mr_free(ibmr->device, mr);
	return 0;
}
