// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Host memory for the device: lists of pages, and the memory of queues */
#include <linux/dma-mapping.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <rdma/uverbs_ioctl.h>

#include "mynic.h"

#define MYNIC_LIST_MAX_LOG_SIZE 22

/*
 * The smallest lists whose own list is not larger than they are: there is no
 * need for more contiguous memory than that.
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

/**
 * mynic_page_list_init() - allocate the lists for a number of pages
 * @mdev: device
 * @pl: page list
 * @num_pages: pages, at least 1
 * @log_page_size: log2 of the bytes in a page
 * @offset: where in the first page the memory begins
 *
 * The memory is accounted to the caller, as how much it is comes from user
 * space.
 *
 * Return: 0, -EINVAL if there are too many pages, or -ENOMEM.
 */
int mynic_page_list_init(struct mynic_dev *mdev, struct mynic_page_list *pl,
			 u64 num_pages, unsigned int log_page_size, u32 offset)
{
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_NOWARN;
	struct device *dev = &mdev->pdev->dev;
	unsigned int log_size, total, i;

	memset(pl, 0, sizeof(*pl));
	pl->buf.offset = cpu_to_le32(offset);
	if (num_pages == 1)
		return 0;

	log_size = mynic_log_list_size(num_pages);
	if (log_size > MYNIC_LIST_MAX_LOG_SIZE)
		return -EINVAL;
	pl->list_size = 1UL << log_size;
	pl->num_lists =
		DIV_ROUND_UP_ULL(num_pages * sizeof(__le64), pl->list_size);
	total = pl->num_lists > 1 ? pl->num_lists + 1 : 1;
	pl->lists = kvzalloc_objs(*pl->lists, total, GFP_KERNEL_ACCOUNT);
	if (!pl->lists)
		return -ENOMEM;
	for (i = 0; i < total; i++) {
		pl->lists[i].va = dma_alloc_coherent(dev, pl->list_size,
						     &pl->lists[i].dma, gfp);
		if (!pl->lists[i].va) {
			mynic_page_list_free(mdev, pl);
			return -ENOMEM;
		}
	}

	pl->buf.log_page_size = log_page_size;
	pl->buf.levels = 1;
	pl->buf.addr = cpu_to_le64(pl->lists[total - 1].dma);
	if (total > 1) {
		pl->buf.levels = 2;
		pl->buf.log_list_size = log_size;
		for (i = 0; i < pl->num_lists; i++)
			pl->lists[pl->num_lists].va[i] =
				cpu_to_le64(pl->lists[i].dma);
	}
	return 0;
}

/**
 * mynic_page_list_set() - set the address of a page
 * @pl: page list
 * @index: page, less than the number given to mynic_page_list_init()
 * @addr: its DMA address
 *
 * All are to be set before the device is told of the list.
 */
void mynic_page_list_set(struct mynic_page_list *pl, u64 index, dma_addr_t addr)
{
	unsigned int per_list = pl->list_size / sizeof(__le64);

	if (!pl->lists)
		pl->buf.addr = cpu_to_le64(addr);
	else
		pl->lists[index / per_list].va[index % per_list] =
			cpu_to_le64(addr);
}

/**
 * mynic_page_list_free() - free the lists
 * @mdev: device, which no longer uses them
 * @pl: page list
 */
void mynic_page_list_free(struct mynic_dev *mdev, struct mynic_page_list *pl)
{
	unsigned int total = pl->num_lists > 1 ? pl->num_lists + 1 : 1;
	unsigned int i;

	if (!pl->lists)
		return;
	for (i = 0; i < total && pl->lists[i].va; i++)
		dma_free_coherent(&mdev->pdev->dev, pl->list_size,
				  pl->lists[i].va, pl->lists[i].dma);
	kvfree(pl->lists);
	pl->lists = NULL;
}

/**
 * mynic_mem_alloc() - allocate zeroed memory for a queue
 * @mdev: device
 * @size: bytes
 * @kernel: map it into the kernel
 *
 * Pages of the smallest order are enough, so that large queues are to be had
 * however fragmented memory is. They are such as the device reaches directly,
 * and are accounted to the caller.
 *
 * Return: the memory, or ERR_PTR(-ENOMEM).
 */
struct mynic_mem *mynic_mem_alloc(struct mynic_dev *mdev, size_t size,
				  bool kernel)
{
	const gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_NOWARN;
	struct device *dev = &mdev->pdev->dev;
	struct mynic_mem *mem;
	unsigned int i;

	mem = kzalloc_obj(*mem, GFP_KERNEL_ACCOUNT);
	if (!mem)
		return ERR_PTR(-ENOMEM);
	mem->mmap.type = MYNIC_MMAP_MEM;
	mem->mdev = mdev;
	mem->num_pages = DIV_ROUND_UP(size, PAGE_SIZE);
	mem->pages =
		kvzalloc_objs(*mem->pages, mem->num_pages, GFP_KERNEL_ACCOUNT);
	mem->dma = kvzalloc_objs(*mem->dma, mem->num_pages, GFP_KERNEL_ACCOUNT);
	if (!mem->pages || !mem->dma)
		goto err;
	if (mynic_page_list_init(mdev, &mem->list, mem->num_pages, PAGE_SHIFT,
				 0))
		goto err;
	for (i = 0; i < mem->num_pages; i++) {
		mem->pages[i] = dma_alloc_pages(dev, PAGE_SIZE, &mem->dma[i],
						DMA_BIDIRECTIONAL, gfp);
		if (!mem->pages[i])
			goto err;
		mynic_page_list_set(&mem->list, i, mem->dma[i]);
	}
	if (kernel) {
		mem->va = vmap(mem->pages, mem->num_pages, VM_MAP, PAGE_KERNEL);
		if (!mem->va)
			goto err;
	}
	return mem;

err:
	mynic_mem_free(mem);
	return ERR_PTR(-ENOMEM);
}

/**
 * mynic_mem_free() - free memory of a queue
 * @mem: memory that the device no longer uses. Pages that are still mapped
 *	into a process live until it unmaps them.
 */
void mynic_mem_free(struct mynic_mem *mem)
{
	unsigned int i;

	if (mem->va)
		vunmap(mem->va);
	for (i = 0; mem->pages && i < mem->num_pages && mem->pages[i]; i++)
		dma_free_pages(&mem->mdev->pdev->dev, PAGE_SIZE, mem->pages[i],
			       mem->dma[i], DMA_BIDIRECTIONAL);
	mynic_page_list_free(mem->mdev, &mem->list);
	kvfree(mem->dma);
	kvfree(mem->pages);
	kfree(mem);
}

/**
 * mynic_mem_expose() - let a process map the memory of a queue
 * @mem: memory
 * @udata: driver data of the call that creates the queue
 *
 * Return: 0 or an errno.
 */
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

/**
 * mynic_mem_put() - give up the memory of a queue
 * @mem: memory that the device no longer uses
 *
 * If user space can map it, it is freed when no mmap() is under way.
 */
void mynic_mem_put(struct mynic_mem *mem)
{
	if (mem->user)
		rdma_user_mmap_entry_remove(&mem->mmap.rdma_entry);
	else
		mynic_mem_free(mem);
}
