// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Host memory for the device: lists of pages, the memory of queues and their
 * slots, and pages that all processes share with it.
 */
#include <linux/dma-mapping.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>

#include "mynic.h"

#define MYNIC_LIST_MAX_LOG_SIZE 22

/*
 * Choose the smallest list size at which the list of lists fits into one list.
 * A larger size would only need more contiguous memory.
 */
static unsigned int mynic_log_list_size(u64 num_pages)
{
	unsigned int log_size = PAGE_SHIFT;
	u64 lists;

	for (;;) {
		lists = DIV_ROUND_UP_ULL(num_pages * sizeof(__le64),
					 1ULL << log_size);
		if (lists == 1 || lists * sizeof(__le64) <= 1ULL << log_size)
			return log_size;
		log_size++;
	}
}

/* With two levels, one more list holds the addresses of the others. */
static unsigned int mynic_num_lists(const struct mynic_page_list *pl)
{
	return pl->num_lists > 1 ? pl->num_lists + 1 : pl->num_lists;
}

static size_t mynic_list_bytes(const struct mynic_page_list *pl, unsigned int i)
{
	u64 entries = pl->num_lists;

	if (i < pl->num_lists)
		entries = min(pl->num_pages, BIT_ULL(pl->log_entries));
	return entries * sizeof(__le64);
}

/**
 * mynic_page_list_init() - allocate the lists for a number of pages
 * @pl: page list
 * @num_pages: pages, at least 1
 * @log_page_size: log2 of the bytes in a page
 * @offset: byte of the first page at which the memory begins
 *
 * User space chooses the number of pages, so the lists are accounted to the
 * caller. After an error, the caller frees @pl with mynic_page_list_free().
 *
 * Return: 0, -EINVAL if there are too many pages, or -ENOMEM.
 */
int mynic_page_list_init(struct mynic_page_list *pl, u64 num_pages,
			 unsigned int log_page_size, u32 offset)
{
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_NOWARN;
	unsigned int log_size, i;

	memset(pl, 0, sizeof(*pl));
	pl->buf.offset = cpu_to_le32(offset);
	if (num_pages == 1)
		return 0;

	log_size = mynic_log_list_size(num_pages);
	if (log_size > MYNIC_LIST_MAX_LOG_SIZE)
		return -EINVAL;
	pl->num_pages = num_pages;
	pl->log_entries = log_size - ilog2(sizeof(__le64));
	pl->num_lists = DIV_ROUND_UP_ULL(num_pages, BIT(pl->log_entries));
	pl->buf.log_page_size = log_page_size;
	pl->buf.levels = pl->num_lists > 1 ? 2 : 1;
	pl->buf.log_list_size = pl->num_lists > 1 ? log_size : 0;

	pl->lists = kvzalloc_objs(*pl->lists, mynic_num_lists(pl),
				  GFP_KERNEL_ACCOUNT);
	if (!pl->lists)
		return -ENOMEM;
	for (i = 0; i < mynic_num_lists(pl); i++) {
		pl->lists[i].va = kzalloc(mynic_list_bytes(pl, i), gfp);
		if (!pl->lists[i].va)
			return -ENOMEM;
	}
	return 0;
}

void mynic_page_list_set(struct mynic_page_list *pl, u64 index, dma_addr_t addr)
{
	u64 in_list = index & (BIT_ULL(pl->log_entries) - 1);

	if (!pl->lists)
		pl->buf.addr = cpu_to_le64(addr);
	else
		pl->lists[index >> pl->log_entries].va[in_list] =
			cpu_to_le64(addr);
}

/*
 * Make the lists visible to the device, after which they do not change.
 * Coherent memory is not needed, and would cost whole pages, each zeroed twice.
 */
int mynic_page_list_map(struct mynic_dev *mdev, struct mynic_page_list *pl)
{
	struct device *dev = &mdev->pdev->dev;
	struct mynic_list *list;
	unsigned int i;
	size_t bytes;

	for (i = 0; i < mynic_num_lists(pl); i++) {
		list = &pl->lists[i];
		bytes = mynic_list_bytes(pl, i);
		list->dma = dma_map_single(dev, list->va, bytes, DMA_TO_DEVICE);
		if (dma_mapping_error(dev, list->dma))
			return -ENOMEM;
		pl->num_mapped++;
		pl->buf.addr = cpu_to_le64(list->dma);
		if (pl->num_lists > 1 && i < pl->num_lists)
			pl->lists[pl->num_lists].va[i] = pl->buf.addr;
	}
	return 0;
}

/* The lists may be partly initialised. The device no longer uses them. */
void mynic_page_list_free(struct mynic_dev *mdev, struct mynic_page_list *pl)
{
	unsigned int i;

	if (!pl->lists)
		return;
	for (i = 0; i < pl->num_mapped; i++)
		dma_unmap_single(&mdev->pdev->dev, pl->lists[i].dma,
				 mynic_list_bytes(pl, i), DMA_TO_DEVICE);
	for (i = 0; i < mynic_num_lists(pl); i++)
		kfree(pl->lists[i].va);
	kvfree(pl->lists);
	pl->lists = NULL;
}

static void mynic_mem_release(struct mynic_parked *parked)
{
	struct mynic_mem *mem = container_of(parked, struct mynic_mem, parked);
	struct device *dev = &mem->mdev->pdev->dev;
	unsigned int i;

	for (i = 0; i < mem->num_pages; i++) {
		if (mem->va) {
			dma_free_coherent(dev, PAGE_SIZE, mem->va[i],
					  mem->dma[i]);
			continue;
		}
		dma_unmap_page_attrs(dev, mem->dma[i], PAGE_SIZE,
				     DMA_BIDIRECTIONAL, MYNIC_SHARED_DMA_ATTRS);
		put_page(mem->pages[i]);
	}
	mynic_page_list_free(mem->mdev, &mem->list);
	kvfree(mem->dma);
	kvfree(mem->va);
	kvfree(mem->pages);
	kfree(mem);
}

/* Allocate single pages, so that fragmented memory does not limit queues. */
#define MYNIC_MEM_GFP (GFP_KERNEL_ACCOUNT | __GFP_NOWARN)

static int mynic_mem_add_kernel(struct mynic_mem *mem, unsigned int i)
{
	mem->va[i] = dma_alloc_coherent(&mem->mdev->pdev->dev, PAGE_SIZE,
					&mem->dma[i], MYNIC_MEM_GFP);
	return mem->va[i] ? 0 : -ENOMEM;
}

/*
 * Processes map ordinary pages, and hold references to those that they map. The
 * DMA attributes refuse bounce buffers and incoherent caches, as process and
 * device share each page for good.
 */
static int mynic_mem_add_user(struct mynic_mem *mem, unsigned int i)
{
	struct device *dev = &mem->mdev->pdev->dev;
	struct page *page;

	page = alloc_page(MYNIC_MEM_GFP | __GFP_ZERO);
	if (!page)
		return -ENOMEM;
	mem->dma[i] = dma_map_page_attrs(dev, page, 0, PAGE_SIZE,
					 DMA_BIDIRECTIONAL,
					 MYNIC_SHARED_DMA_ATTRS);
	if (dma_mapping_error(dev, mem->dma[i])) {
		__free_page(page);
		return -ENOMEM;
	}
	mem->pages[i] = page;
	return 0;
}

/**
 * mynic_mem_alloc() - allocate zeroed memory for a queue
 * @mdev: device
 * @size: bytes
 * @kernel: whether the queue is the kernel's
 *
 * The memory is accounted to the caller.
 *
 * Return: the memory, or ERR_PTR(-ENOMEM).
 */
struct mynic_mem *mynic_mem_alloc(struct mynic_dev *mdev, size_t size,
				  bool kernel)
{
	struct mynic_mem *mem;
	unsigned int i, num;
	int ret;

	mem = kzalloc_obj(*mem, GFP_KERNEL_ACCOUNT);
	if (!mem)
		return ERR_PTR(-ENOMEM);
	mem->mmap.type = MYNIC_MMAP_MEM;
	mem->mdev = mdev;
	num = DIV_ROUND_UP(size, PAGE_SIZE);
	if (kernel)
		mem->va = kvzalloc_objs(*mem->va, num, GFP_KERNEL_ACCOUNT);
	else
		mem->pages =
			kvzalloc_objs(*mem->pages, num, GFP_KERNEL_ACCOUNT);
	mem->dma = kvzalloc_objs(*mem->dma, num, GFP_KERNEL_ACCOUNT);
	if ((!mem->va && !mem->pages) || !mem->dma)
		goto err;
	if (mynic_page_list_init(&mem->list, num, PAGE_SHIFT, 0))
		goto err;
	for (i = 0; i < num; i++) {
		ret = kernel ? mynic_mem_add_kernel(mem, i) :
			       mynic_mem_add_user(mem, i);
		if (ret)
			goto err;
		mem->num_pages++;
		mynic_page_list_set(&mem->list, i, mem->dma[i]);
	}
	if (mynic_page_list_map(mdev, &mem->list))
		goto err;
	return mem;

err:
	mynic_mem_release(&mem->parked);
	return ERR_PTR(-ENOMEM);
}

/*
 * A live device must have forgotten the memory. Pages that a process still maps
 * live until it unmaps them.
 */
void mynic_mem_free(struct mynic_mem *mem)
{
	mynic_park(mem->mdev, &mem->parked, mynic_mem_release);
}

int mynic_mem_expose(struct mynic_mem *mem, struct ib_udata *udata)
{
	struct mynic_ucontext *ucontext;
	int ret;

	ucontext = rdma_udata_to_drv_context(udata, struct mynic_ucontext,
					     ibucontext);
	ret = rdma_user_mmap_entry_insert(&ucontext->ibucontext,
					  &mem->mmap.rdma_entry,
					  (size_t)mem->num_pages * PAGE_SIZE);
	mem->user = !ret;
	return ret;
}

/* If user space can map the memory, it is freed once no mmap() is under way. */
void mynic_mem_put(struct mynic_mem *mem)
{
	if (mem->user)
		rdma_user_mmap_entry_remove(&mem->mmap.rdma_entry);
	else
		mynic_mem_free(mem);
}

/**
 * mynic_rq_layout() - choose the slots of an RQ or SRQ
 * @ibdev: RDMA device
 * @rq: queue whose log_size, log_stride and max_sge are set
 * @max_wr: requests, not 0
 * @max_sge: SGEs in each
 *
 * Return: 0, or -EINVAL if there are too many SGEs.
 */
int mynic_rq_layout(const struct ib_device *ibdev, struct mynic_queue *rq,
		    u32 max_wr, u32 max_sge)
{
	size_t bytes, room;

	if (max_sge > MYNIC_MAX_SGE) {
		ibdev_dbg(ibdev, "%u SGEs to receive: at most %zu\n", max_sge,
			  MYNIC_MAX_SGE);
		return -EINVAL;
	}
	bytes = sizeof(struct mynic_recv_wqe) +
		max_sge * sizeof(struct mynic_sge);
	rq->log_size = order_base_2(max_wr);
	rq->log_stride =
		order_base_2(max_t(size_t, bytes, MYNIC_RQ_MIN_STRIDE));
	room = BIT(rq->log_stride) - sizeof(struct mynic_recv_wqe);
	rq->max_sge = min(room / sizeof(struct mynic_sge), MYNIC_MAX_SGE);
	return 0;
}

/*
 * Let a user context map a page that all contexts share. The caller removes the
 * entry when the context is destroyed.
 */
struct mynic_mmap_entry *mynic_page_open(struct mynic_ucontext *ucontext,
					 enum mynic_mmap_type type)
{
	struct mynic_mmap_entry *mmap;
	int ret;

	mmap = kzalloc_obj(*mmap, GFP_KERNEL_ACCOUNT);
	if (!mmap)
		return ERR_PTR(-ENOMEM);
	mmap->type = type;
	ret = rdma_user_mmap_entry_insert(&ucontext->ibucontext,
					  &mmap->rdma_entry, PAGE_SIZE);
	if (!ret)
		return mmap;
	kfree(mmap);
	return ERR_PTR(ret);
}

/*
 * Map a page that processes only read. The mapping holds a reference to the
 * page, and a fork() does not copy it.
 */
int mynic_page_mmap(const struct ib_device *ibdev, struct vm_area_struct *vma,
		    struct page *page)
{
	if (vma->vm_flags & VM_WRITE) {
		ibdev_dbg(ibdev, "offset %#lx is mapped for reading only\n",
			  vma->vm_pgoff << PAGE_SHIFT);
		return -EPERM;
	}
	vm_flags_mod(vma, VM_DONTCOPY | VM_DONTEXPAND, VM_MAYWRITE);
	return vm_map_pages_zero(vma, &page, 1);
}
