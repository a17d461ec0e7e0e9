// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * User contexts: their UAR page, what they are told of the device, and what
 * they may map
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <rdma/mynic-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "mynic.h"

#define UVERBS_MODULE_NAME mynic
#include <rdma/uverbs_named_ioctl.h>

#define MYNIC_UARS_PER_PAGE (PAGE_SIZE / MYNIC_UAR_SIZE)

static struct mynic_uar *mynic_uar_alloc(struct ib_ucontext *ibucontext)
{
	struct mynic_dev *mdev = to_mdev(ibucontext->device);
	struct mynic_uar *uar;
	unsigned int pages;
	int ret;

	pages = mdev->caps.num_uar / MYNIC_UARS_PER_PAGE;
	if (pages < 2)
		return ERR_PTR(-ENOSPC);
	uar = kzalloc_obj(*uar, GFP_KERNEL_ACCOUNT);
	if (!uar)
		return ERR_PTR(-ENOMEM);
	uar->mmap.type = MYNIC_MMAP_UAR;
	ret = ida_alloc_range(&mdev->uars, 1, pages - 1, GFP_KERNEL);
	if (ret < 0)
		goto err_free;
	uar->index = ret;
	ret = rdma_user_mmap_entry_insert(ibucontext, &uar->mmap.rdma_entry,
					  PAGE_SIZE);
	if (ret)
		goto err_ida;
	return uar;

err_ida:
	ida_free(&mdev->uars, uar->index);
err_free:
	kfree(uar);
	return ERR_PTR(ret);
}

static struct mynic_alloc_ucontext_resp
mynic_ucontext_resp(struct mynic_ucontext *ucontext)
{
	struct mynic_uar *uar = ucontext->uar;
	struct mynic_dev *mdev = to_mdev(ucontext->ibucontext.device);
	struct mynic_caps *caps = &mdev->caps;
	struct mynic_alloc_ucontext_resp resp = {
		.uar_mmap_key =
			rdma_user_mmap_get_offset(&uar->mmap.rdma_entry),
		.uar_mmap_size = PAGE_SIZE,
		.max_tso = caps->max_tso,
		.ece_options = mynic_ece_options(mdev),
		.rate_limit_max = caps->max_rate_kbps,
		.null_lkey = caps->null_lkey,
		.log_max_sq_stride = ilog2(MYNIC_SQ_MAX_STRIDE),
		.log_max_rq_stride = ilog2(MYNIC_RQ_MAX_STRIDE),
		.gid_mmap_size = PAGE_SIZE,
		.flags = mdev->features & MYNIC_FEATURE_DB_SUPPRESS ?
				 MYNIC_UCONTEXT_DB_SUPPRESS :
				 0,
		.gid_mmap_key =
			rdma_user_mmap_get_offset(&ucontext->gids->rdma_entry),
	};

	if (caps->caps & MYNIC_CAP_DRIVER_QP) {
		resp.driver_qp_types = BIT(MYNIC_DRIVER_QP_MEMCPY);
		resp.log_max_memcpy = ilog2(MYNIC_MAX_MSG_SIZE);
	}
	if (resp.max_tso)
		resp.tso_qp_types = BIT(IB_QPT_UD) | BIT(IB_QPT_RAW_PACKET);
	if (resp.rate_limit_max)
		resp.rate_limit_qpts = MYNIC_RATE_LIMIT_QPTS;
	if (caps->max_wq) {
		resp.rx_hash_fields = MYNIC_RX_HASH_FIELDS;
		resp.rx_hash_functions = MYNIC_RX_HASH_FUNCTIONS;
	}
	if (ucontext->clock) {
		resp.clock_mmap_size = PAGE_SIZE;
		resp.clock_mmap_key =
			rdma_user_mmap_get_offset(&ucontext->clock->rdma_entry);
	}
	return resp;
}

/* -ENOSPC: all UAR pages are taken. */
int mynic_alloc_ucontext(struct ib_ucontext *ibucontext, struct ib_udata *udata)
{
	struct mynic_ucontext *ucontext = to_mucontext(ibucontext);
	struct mynic_alloc_ucontext_resp resp;
	struct mynic_uar *uar;
	int ret;

	ret = ib_is_udata_in_empty(udata);
	if (ret)
		return ret;
	uar = mynic_uar_alloc(ibucontext);
	if (IS_ERR(uar))
		return PTR_ERR(uar);
	ucontext->uar = uar;
	ret = mynic_clock_open(ucontext);
	if (ret)
		goto err_uar;
	ucontext->gids = mynic_page_open(ucontext, MYNIC_MMAP_GIDS);
	if (IS_ERR(ucontext->gids)) {
		ret = PTR_ERR(ucontext->gids);
		goto err_clock;
	}
	resp = mynic_ucontext_resp(ucontext);
	ret = ib_respond_udata(udata, resp);
	if (ret)
		goto err_gids;
	return 0;

err_gids:
	rdma_user_mmap_entry_remove(&ucontext->gids->rdma_entry);
err_clock:
	mynic_clock_close(ucontext);
err_uar:
	rdma_user_mmap_entry_remove(&uar->mmap.rdma_entry);
	return ret;
}

/*
 * A process that received the file descriptor from another one learns here what
 * the other one was told. Both share the UAR page.
 */
int mynic_query_ucontext(struct ib_ucontext *ibucontext,
			 struct uverbs_attr_bundle *attrs)
{
	struct mynic_alloc_ucontext_resp resp =
		mynic_ucontext_resp(to_mucontext(ibucontext));

	return uverbs_copy_to_struct_or_zero(
		attrs, MYNIC_ATTR_QUERY_CONTEXT_RESP_UCTX, &resp, sizeof(resp));
}

ADD_UVERBS_ATTRIBUTES_SIMPLE(
	mynic_query_context, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT,
	UVERBS_ATTR_PTR_OUT(MYNIC_ATTR_QUERY_CONTEXT_RESP_UCTX,
			    UVERBS_ATTR_STRUCT(struct mynic_alloc_ucontext_resp,
					       null_lkey),
			    UA_MANDATORY));

const struct uapi_definition mynic_ucontext_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DEVICE, &mynic_query_context),
	{}
};

void mynic_dealloc_ucontext(struct ib_ucontext *ibucontext)
{
	struct mynic_ucontext *ucontext = to_mucontext(ibucontext);

	rdma_user_mmap_entry_remove(&ucontext->gids->rdma_entry);
	mynic_clock_close(ucontext);
	rdma_user_mmap_entry_remove(&ucontext->uar->mmap.rdma_entry);
}

/*
 * The RDMA core unmaps the UAR page and destroys all objects. Pages of queues
 * that are still mapped are ordinary memory by then.
 */
void mynic_disassociate_ucontext(struct ib_ucontext *ibucontext)
{
}

/*
 * Return the number of the UAR page of the calling process, or the kernel's for
 * NULL.
 */
u32 mynic_udata_uarn(struct ib_udata *udata)
{
	struct mynic_ucontext *ucontext;

	ucontext = rdma_udata_to_drv_context(udata, struct mynic_ucontext,
					     ibucontext);
	return ucontext ? ucontext->uar->index * MYNIC_UARS_PER_PAGE : 0;
}

static int mynic_mmap_uar(struct ib_ucontext *ibucontext,
			  struct vm_area_struct *vma, struct mynic_uar *uar)
{
	struct mynic_dev *mdev = to_mdev(ibucontext->device);
	phys_addr_t bar = pci_resource_start(mdev->pdev, MYNIC_BAR_UAR);

	return rdma_user_mmap_io(ibucontext, vma, PHYS_PFN(bar) + uar->index,
				 PAGE_SIZE, pgprot_device(vma->vm_page_prot),
				 &uar->mmap.rdma_entry);
}

static int mynic_mmap_dm(struct ib_ucontext *ibucontext,
			 struct vm_area_struct *vma, struct mynic_dm *dm)
{
	struct mynic_dev *mdev = to_mdev(ibucontext->device);
	phys_addr_t bar = pci_resource_start(mdev->pdev, MYNIC_BAR_UAR);

	return rdma_user_mmap_io(ibucontext, vma, PHYS_PFN(bar + dm->offset),
				 dm->mmap.rdma_entry.npages << PAGE_SHIFT,
				 pgprot_writecombine(vma->vm_page_prot),
				 &dm->mmap.rdma_entry);
}

static int mynic_mmap_mem(struct vm_area_struct *vma, struct mynic_mem *mem)
{
	vm_flags_set(vma, VM_DONTCOPY | VM_DONTEXPAND);
	return vm_map_pages_zero(vma, mem->pages, mem->num_pages);
}

int mynic_mmap(struct ib_ucontext *ibucontext, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *rdma_entry;
	struct mynic_mmap_entry *entry;
	int ret = -EINVAL;

	rdma_entry = rdma_user_mmap_entry_get(ibucontext, vma);
	if (!rdma_entry) {
		ibdev_dbg(ibucontext->device,
			  "%lu bytes at offset %#lx, %s, cannot be mapped\n",
			  vma->vm_end - vma->vm_start,
			  vma->vm_pgoff << PAGE_SHIFT,
			  vma->vm_flags & VM_SHARED ? "shared" : "private");
		return -EINVAL;
	}
	entry = container_of(rdma_entry, struct mynic_mmap_entry, rdma_entry);
	switch (entry->type) {
	case MYNIC_MMAP_UAR:
		ret = mynic_mmap_uar(ibucontext, vma,
				     container_of(entry, struct mynic_uar,
						  mmap));
		break;
	case MYNIC_MMAP_MEM:
		ret = mynic_mmap_mem(vma, container_of(entry, struct mynic_mem,
						       mmap));
		break;
	case MYNIC_MMAP_CLOCK:
		ret = mynic_clock_mmap(to_mucontext(ibucontext), vma);
		break;
	case MYNIC_MMAP_GIDS:
		ret = mynic_page_mmap(ibucontext->device, vma,
				      to_mib(ibucontext->device)->gid_page);
		break;
	case MYNIC_MMAP_COMP_CNTR:
		ret = mynic_page_mmap(
			ibucontext->device, vma,
			container_of(entry, struct mynic_mem, mmap)->pages[0]);
		break;
	case MYNIC_MMAP_DM:
		ret = mynic_mmap_dm(ibucontext, vma,
				    container_of(entry, struct mynic_dm, mmap));
		break;
	}
	rdma_user_mmap_entry_put(rdma_entry);
	return ret;
}

/*
 * Called when the object can no longer be mapped, and, for pages of the BAR, is
 * no longer mapped.
 */
void mynic_mmap_free(struct rdma_user_mmap_entry *rdma_entry)
{
	struct mynic_mmap_entry *entry =
		container_of(rdma_entry, struct mynic_mmap_entry, rdma_entry);
	struct mynic_dev *mdev = to_mdev(rdma_entry->ucontext->device);
	struct mynic_uar *uar;

	switch (entry->type) {
	case MYNIC_MMAP_UAR:
		uar = container_of(entry, struct mynic_uar, mmap);
		ida_free(&mdev->uars, uar->index);
		kfree(uar);
		break;
	case MYNIC_MMAP_MEM:
	case MYNIC_MMAP_COMP_CNTR:
		mynic_mem_free(container_of(entry, struct mynic_mem, mmap));
		break;
	case MYNIC_MMAP_CLOCK:
	case MYNIC_MMAP_GIDS:
		kfree(entry);
		break;
	case MYNIC_MMAP_DM:
		mynic_dm_free(mdev, container_of(entry, struct mynic_dm, mmap));
		break;
	}
}
