// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * On-demand paging: regions whose pages are mapped when the device needs them,
 * and unmapped when the kernel takes them back.
 *
 * A region is cut into chunks, each as large as one list of the device's last
 * level. A chunk is created when one of its pages is needed first, and freed
 * when the device has none of its pages. So a region costs memory for used
 * pages only, and an implicit region (the whole address space) is no special
 * case.
 *
 * A page fault may take for ever, for example if a process has to provide the
 * page. So only unbinding the driver waits for page faults under way. They hold
 * references to what they need, and their result is dropped if nobody needs it
 * any more. Each address space has few at a time, so that one whose pages never
 * come does not hold up the others.
 *
 * A dead device cannot be told to forget pages, and keeps those it has until it
 * has been reset. Nobody else gets these pages, and the process that gives them
 * up does not wait.
 */
#include <linux/dma-mapping.h>
#include <linux/hmm.h>
#include <linux/kref.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/refcount.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>

#include "cmd.h"
#include "trace.h"

#define MYNIC_ODP_LOG_LIST_SIZE 12
#define MYNIC_ODP_LIST_SIZE BIT(MYNIC_ODP_LOG_LIST_SIZE)
#define MYNIC_ODP_LOG_ENTRIES (MYNIC_ODP_LOG_LIST_SIZE - 3)
#define MYNIC_ODP_ENTRIES BIT(MYNIC_ODP_LOG_ENTRIES)
#define MYNIC_ODP_LEVELS 4
#define MYNIC_ODP_LOG_MAX_PAGES 36
#define MYNIC_ODP_MAX_PAGES BIT_ULL(MYNIC_ODP_LOG_MAX_PAGES)

/* Most bytes that one page fault maps */
#define MYNIC_ODP_FAULT_BYTES SZ_4M

/* Page faults of one address space that are handled at a time */
#define MYNIC_PAGER_WORKERS 4

/* Access rights that an ODP region may have */
#define MYNIC_ODP_ACCESS                                   \
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |  \
	 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC | \
	 IB_ACCESS_FLUSH_GLOBAL | IB_ACCESS_FLUSH_PERSISTENT)

/* Mark in &mynic_odp.chunks: the chunk may have no pages */
#define MYNIC_ODP_EMPTY XA_MARK_0

/**
 * struct mynic_odp_list - list of addresses for the device
 * @parked: keeps it while a dead device may use it
 * @mdev: device
 * @va: MYNIC_ODP_ENTRIES entries
 * @dma: DMA address of the list
 * @used: above the last level: number of used entries
 * @unlinked: likewise: in a list of those that the device must forget
 */
struct mynic_odp_list {
	struct mynic_parked parked;
	struct mynic_dev *mdev;
	__le64 *va;
	dma_addr_t dma;
	unsigned int used;
	struct list_head unlinked;
};

/**
 * struct mynic_pager_worker - handles one page fault at a time
 * @pager: whose page faults
 * @idle: has nothing to do; protected by &mynic_dev.pager_lock
 * @work: handles page faults until none is left
 */
struct mynic_pager_worker {
	struct mynic_pager *pager;
	bool idle;
	struct work_struct work;
};

/**
 * struct mynic_pager - the page faults on an address space
 * @refs: one for each ODP region, one for each worker that is not idle; the last
 *	is dropped under &mynic_dev.pager_lock
 * @mdev: device
 * @mm: the address space
 * @entry: in &mynic_dev.pagers
 * @waiting: page faults for which there is no worker yet, the oldest first;
 *	protected by &mynic_dev.pager_lock
 * @workers: handle the page faults
 *
 * There is one for each address space, and not one for each context, as a
 * process can open as many contexts as it likes.
 */
struct mynic_pager {
	refcount_t refs;
	struct mynic_dev *mdev;
	struct mm_struct *mm;
	struct list_head entry;
	struct list_head waiting;
	struct mynic_pager_worker workers[MYNIC_PAGER_WORKERS];
};

/**
 * struct mynic_odp - ODP region
 * @refs: one for the memory region, one for each page fault or advice under way
 * @mdev: device
 * @pd: protection domain
 * @pager: handles its page faults
 * @mm: address space of the owner, which @pager holds
 * @key: key in the device
 * @gone: the region has been destroyed
 * @start: address of the first page in @mm
 * @num_pages: number of pages
 * @iova: address of the first byte in requests
 * @offset: offset of that byte in the first page
 * @length: bytes
 * @writable: the device may write
 * @lock: protects the lists above the last level, @chunks, and their users.
 *	Notifiers must not take it, because memory is allocated under it. The
 *	mmap lock must not be taken under it.
 * @lists: lists by level (from 1 on) and number of the first chunk below
 * @chunks: chunks by number
 * @reap_work: frees chunks without pages
 */
struct mynic_odp {
	struct kref refs;
	struct mynic_dev *mdev;
	struct ib_pd *pd;
	struct mynic_pager *pager;
	struct mm_struct *mm;
	u32 key;
	bool gone;
	unsigned long start;
	u64 num_pages;
	u64 iova;
	u32 offset;
	u64 length;
	bool writable;
	struct mutex lock; /* lists, chunks, their users */
	struct xarray lists[MYNIC_ODP_LEVELS];
	struct xarray chunks;
	struct work_struct reap_work;
};

/**
 * struct mynic_odp_chunk - pages of an ODP region
 * @notifier: called when pages are taken back
 * @odp: the region
 * @index: number in the region
 * @start: address of the first page
 * @num_pages: number of pages
 * @users: threads that may add pages; protected by the region's lock
 * @unlinked: in a list of those that the device must forget
 * @lock: protects all that follows. The notifier takes it, so nothing may be
 *	allocated under it.
 * @list: the device's list of the pages
 * @pages: pages of the device, by number. If the device is dead, pages that
 *	have been taken back stay here, but are not present.
 * @num_present: number of present pages
 * @dir: direction of accesses to the pages
 */
struct mynic_odp_chunk {
	struct mmu_interval_notifier notifier;
	struct mynic_odp *odp;
	u64 index;
	unsigned long start;
	unsigned int num_pages;
	unsigned int users;
	struct list_head unlinked;
	struct mutex lock; /* list, pages, num_present */
	struct mynic_odp_list list;
	struct page **pages;
	unsigned int num_present;
	enum dma_data_direction dir;
};

/**
 * struct mynic_page_fault - page fault of a QP
 * @faults: all page faults of the QP
 * @stage: enum mynic_page_stage
 * @entry: in &mynic_pager.waiting
 * @missing: the device's last description of it; protected, as @entry, by
 *	&mynic_dev.pager_lock
 */
struct mynic_page_fault {
	struct mynic_page_faults *faults;
	u8 stage;
	struct list_head entry;
	struct mynic_missing_pages missing;
};

/**
 * struct mynic_page_faults - page faults of a QP
 * @refs: one for the QP, one for each page fault that waits or is handled
 * @mdev: device
 * @qpn: number of the QP
 * @lock: protects @gone; held during RESUME
 * @gone: the QP no longer exists
 * @stages: page faults by stage, as the device has at most one in each
 */
struct mynic_page_faults {
	struct kref refs;
	struct mynic_dev *mdev;
	u32 qpn;
	struct mutex lock; /* gone */
	bool gone;
	struct mynic_page_fault stages[MYNIC_PAGE_STAGES];
};

static_assert(MYNIC_ODP_LOG_MAX_PAGES ==
	      MYNIC_ODP_LEVELS * MYNIC_ODP_LOG_ENTRIES);

static int mynic_odp_list_alloc(struct mynic_odp *odp,
				struct mynic_odp_list *list)
{
	list->mdev = odp->mdev;
	list->va = dma_alloc_coherent(&odp->mdev->pdev->dev,
				      MYNIC_ODP_LIST_SIZE, &list->dma,
				      GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	return list->va ? 0 : -ENOMEM;
}

static void mynic_odp_list_release(struct mynic_odp_list *list)
{
	dma_free_coherent(&list->mdev->pdev->dev, MYNIC_ODP_LIST_SIZE, list->va,
			  list->dma);
}

static void mynic_odp_list_unpark(struct mynic_parked *parked)
{
	struct mynic_odp_list *list =
		container_of(parked, struct mynic_odp_list, parked);

	mynic_odp_list_release(list);
	kfree(list);
}

/* Free a list above the last level, which the device does not know. */
static void mynic_odp_list_free(struct mynic_odp_list *list)
{
	mynic_park(list->mdev, &list->parked, mynic_odp_list_unpark);
}

static bool mynic_odp_present(const struct mynic_odp_chunk *chunk,
			      unsigned int i)
{
	return le64_to_cpu(chunk->list.va[i]) & MYNIC_PAGE_PRESENT;
}

/*
 * The device may have written to the page, which its owner still maps. An owner
 * that has cleaned and unmapped a page does not expect it to become dirty.
 */
static void mynic_odp_page_dirty(struct mynic_odp_chunk *chunk, unsigned int i)
{
	u64 entry = le64_to_cpu(chunk->list.va[i]);

	if (!(entry & MYNIC_PAGE_WRITABLE))
		return;
	folio_mark_dirty(page_folio(chunk->pages[i]));
	WRITE_ONCE(chunk->list.va[i],
		   cpu_to_le64(entry & ~(u64)MYNIC_PAGE_WRITABLE));
}

/* The device no longer accesses the page. */
static void mynic_odp_page_free(struct mynic_odp_chunk *chunk, unsigned int i)
{
	u64 entry = le64_to_cpu(chunk->list.va[i]);

	dma_unmap_page_attrs(&chunk->list.mdev->pdev->dev, entry & PAGE_MASK,
			     PAGE_SIZE, chunk->dir, MYNIC_SHARED_DMA_ATTRS);
	put_page(chunk->pages[i]);
	chunk->list.va[i] = 0;
	chunk->pages[i] = NULL;
}

/*
 * Take pages back. Afterwards the device no longer accesses them, or it is
 * dead. Pages that a dead device may still access belong to nobody else until
 * it has been reset.
 */
static void mynic_odp_drop(struct mynic_odp_chunk *chunk, unsigned int first,
			   unsigned int end)
{
	struct mynic_odp *odp = chunk->odp;
	unsigned int i, num = 0;
	bool dead;
	u64 old;

	lockdep_assert_held(&chunk->lock);
	for (i = first; i < end; i++) {
		if (!mynic_odp_present(chunk, i))
			continue;
		get_page(chunk->pages[i]);
		old = le64_to_cpu(chunk->list.va[i]);
		/* Keep the address, which is needed for unmapping. */
		WRITE_ONCE(chunk->list.va[i],
			   cpu_to_le64(old & ~(u64)MYNIC_PAGE_PRESENT));
		num++;
	}
	if (!num)
		return;
	if (!READ_ONCE(odp->gone))
		mynic_cmd_sync_mkey(odp->mdev, odp->key);
	/* A dead device has not forgotten them. */
	dead = mynic_dead(odp->mdev);
	for (i = first; i < end; i++) {
		if (!chunk->pages[i])
			continue;
		mynic_odp_page_dirty(chunk, i);
		if (!dead)
			mynic_odp_page_free(chunk, i);
	}
	WRITE_ONCE(chunk->num_present, chunk->num_present - num);
}

/* A chunk has, or may have, no pages: check it when nobody uses it. */
static void mynic_odp_empty(struct mynic_odp_chunk *chunk)
{
	struct mynic_odp *odp = chunk->odp;

	xa_set_mark(&odp->chunks, chunk->index, MYNIC_ODP_EMPTY);
	queue_work(system_long_wq, &odp->reap_work);
}

static bool mynic_odp_invalidate(struct mmu_interval_notifier *notifier,
				 const struct mmu_notifier_range *range,
				 unsigned long seq)
{
	struct mynic_odp_chunk *chunk =
		container_of(notifier, struct mynic_odp_chunk, notifier);
	unsigned long start, end;

	/* Asking the device sleeps. */
	if (!mmu_notifier_range_blockable(range))
		return false;
	mutex_lock(&chunk->lock);
	mmu_interval_set_seq(notifier, seq);
	start = max(range->start, chunk->start);
	end = min(range->end, chunk->start + chunk->num_pages * PAGE_SIZE);
	mynic_odp_drop(chunk, (start - chunk->start) >> PAGE_SHIFT,
		       (end - chunk->start + PAGE_SIZE - 1) >> PAGE_SHIFT);
	if (!chunk->num_present)
		mynic_odp_empty(chunk);
	mutex_unlock(&chunk->lock);
	return true;
}

static const struct mmu_interval_notifier_ops mynic_odp_notifier_ops = {
	.invalidate = mynic_odp_invalidate,
};

/* Let the device find the list or chunk below a list. */
static void mynic_odp_link(struct mynic_odp_list *above, u64 number,
			   const struct mynic_odp_list *list)
{
	/* The device must not see the entry before the list behind it. */
	dma_wmb();
	WRITE_ONCE(above->va[number % MYNIC_ODP_ENTRIES],
		   cpu_to_le64(list->dma | MYNIC_PAGE_PRESENT));
	above->used++;
}

/*
 * Hide a chunk from the device, with those lists that have no other entry. They
 * are put into @unlinked, and must stay until the device has forgotten them.
 */
static void mynic_odp_unlink(struct mynic_odp *odp, u64 index,
			     struct list_head *unlinked)
{
	struct mynic_odp_list *list;
	unsigned int level;
	u64 number = index;

	lockdep_assert_held(&odp->lock);
	for (level = 1; level < MYNIC_ODP_LEVELS; level++) {
		list = xa_load(&odp->lists[level],
			       number >> MYNIC_ODP_LOG_ENTRIES);
		WRITE_ONCE(list->va[number % MYNIC_ODP_ENTRIES], 0);
		if (--list->used || level == MYNIC_ODP_LEVELS - 1)
			return;
		number >>= MYNIC_ODP_LOG_ENTRIES;
		xa_erase(&odp->lists[level], number);
		list_add(&list->unlinked, unlinked);
	}
}

/*
 * Find or create the list of @level with the entry for chunk @index, and all
 * above it.
 */
static struct mynic_odp_list *mynic_odp_list_get(struct mynic_odp *odp,
						 unsigned int level, u64 index)
{
	unsigned int shift = level * MYNIC_ODP_LOG_ENTRIES;
	unsigned long number = index >> shift;
	struct mynic_odp_list *list, *above;
	int ret;

	list = xa_load(&odp->lists[level], number);
	if (list)
		return list;
	list = kzalloc_obj(*list, GFP_KERNEL_ACCOUNT);
	if (!list)
		return ERR_PTR(-ENOMEM);
	ret = mynic_odp_list_alloc(odp, list);
	if (ret)
		goto err_free;
	if (level + 1 < MYNIC_ODP_LEVELS) {
		above = mynic_odp_list_get(odp, level + 1, index);
		ret = PTR_ERR_OR_ZERO(above);
		if (ret)
			goto err_list;
	}
	ret = xa_insert(&odp->lists[level], number, list, GFP_KERNEL_ACCOUNT);
	if (ret)
		goto err_list;
	if (level + 1 < MYNIC_ODP_LEVELS)
		mynic_odp_link(above, number, list);
	return list;

err_list:
	mynic_odp_list_release(list);
err_free:
	kfree(list);
	return ERR_PTR(ret);
}

static struct mynic_odp_chunk *mynic_odp_chunk_alloc(struct mynic_odp *odp,
						     u64 index)
{
	u64 first = index * MYNIC_ODP_ENTRIES;
	struct mynic_odp_chunk *chunk;
	int ret = -ENOMEM;

	chunk = kzalloc_obj(*chunk, GFP_KERNEL_ACCOUNT);
	if (!chunk)
		return ERR_PTR(-ENOMEM);
	chunk->odp = odp;
	chunk->index = index;
	chunk->start = odp->start + first * PAGE_SIZE;
	chunk->num_pages =
		min_t(u64, odp->num_pages - first, MYNIC_ODP_ENTRIES);
	chunk->dir = odp->writable ? DMA_BIDIRECTIONAL : DMA_TO_DEVICE;
	chunk->pages = kzalloc_objs(*chunk->pages, chunk->num_pages,
				    GFP_KERNEL_ACCOUNT);
	if (!chunk->pages)
		goto err_chunk;
	ret = mynic_odp_list_alloc(odp, &chunk->list);
	if (ret)
		goto err_pages;
	mutex_init(&chunk->lock);
	ret = mmu_interval_notifier_insert(&chunk->notifier, odp->mm,
					   chunk->start,
					   chunk->num_pages * PAGE_SIZE,
					   &mynic_odp_notifier_ops);
	if (ret)
		goto err_list;
	return chunk;

err_list:
	mutex_destroy(&chunk->lock);
	mynic_odp_list_release(&chunk->list);
err_pages:
	kfree(chunk->pages);
err_chunk:
	kfree(chunk);
	return ERR_PTR(ret);
}

static void mynic_odp_chunk_unpark(struct mynic_parked *parked)
{
	struct mynic_odp_chunk *chunk =
		container_of(parked, struct mynic_odp_chunk, list.parked);
	unsigned int i;

	for (i = 0; i < chunk->num_pages; i++)
		if (chunk->pages[i])
			mynic_odp_page_free(chunk, i);
	mynic_odp_list_release(&chunk->list);
	kfree(chunk->pages);
	kfree(chunk);
}

/* The device has none of the chunk's pages, and does not know the chunk. */
static void mynic_odp_chunk_free(struct mynic_odp_chunk *chunk)
{
	mmu_interval_notifier_remove(&chunk->notifier);
	mutex_destroy(&chunk->lock);
	mynic_park(chunk->list.mdev, &chunk->list.parked,
		   mynic_odp_chunk_unpark);
}

static int mynic_odp_chunk_add(struct mynic_odp_chunk *chunk)
{
	struct mynic_odp *odp = chunk->odp;
	struct mynic_odp_list *above;
	int ret;

	lockdep_assert_held(&odp->lock);
	if (odp->gone)
		return -ENOENT;
	above = mynic_odp_list_get(odp, 1, chunk->index);
	if (IS_ERR(above))
		return PTR_ERR(above);
	ret = xa_insert(&odp->chunks, chunk->index, chunk, GFP_KERNEL_ACCOUNT);
	if (!ret)
		mynic_odp_link(above, chunk->index, &chunk->list);
	return ret;
}

/*
 * A new chunk is allocated without the lock, so another thread may add it
 * first.
 */
static struct mynic_odp_chunk *mynic_odp_chunk_get(struct mynic_odp *odp,
						   u64 index)
{
	struct mynic_odp_chunk *chunk, *new = NULL;
	int ret = 0;

	mutex_lock(&odp->lock);
	chunk = xa_load(&odp->chunks, index);
	if (!chunk) {
		mutex_unlock(&odp->lock);
		new = mynic_odp_chunk_alloc(odp, index);
		if (IS_ERR(new))
			return new;
		mutex_lock(&odp->lock);
		chunk = xa_load(&odp->chunks, index);
	}
	if (!chunk) {
		ret = mynic_odp_chunk_add(new);
		chunk = new;
	}
	if (!ret)
		chunk->users++;
	mutex_unlock(&odp->lock);
	if (new && (ret || chunk != new))
		mynic_odp_chunk_free(new);
	return ret ? ERR_PTR(ret) : chunk;
}

static void mynic_odp_chunk_put(struct mynic_odp_chunk *chunk)
{
	struct mynic_odp *odp = chunk->odp;

	mutex_lock(&odp->lock);
	if (!--chunk->users && !READ_ONCE(chunk->num_present))
		mynic_odp_empty(chunk);
	mutex_unlock(&odp->lock);
}

static void mynic_odp_reap_work(struct work_struct *work)
{
	struct mynic_odp *odp = container_of(work, struct mynic_odp, reap_work);
	struct mynic_odp_chunk *chunk, *next_chunk;
	struct mynic_odp_list *list, *next_list;
	LIST_HEAD(chunks);
	LIST_HEAD(lists);
	unsigned long index;

	mutex_lock(&odp->lock);
	xa_for_each_marked(&odp->chunks, index, chunk, MYNIC_ODP_EMPTY) {
		xa_clear_mark(&odp->chunks, index, MYNIC_ODP_EMPTY);
		if (chunk->users || READ_ONCE(chunk->num_present))
			continue;
		xa_erase(&odp->chunks, index);
		mynic_odp_unlink(odp, index, &lists);
		list_add(&chunk->unlinked, &chunks);
	}
	mutex_unlock(&odp->lock);
	if (list_empty(&chunks))
		return;
	if (!READ_ONCE(odp->gone))
		mynic_cmd_sync_mkey(odp->mdev, odp->key);
	list_for_each_entry_safe(chunk, next_chunk, &chunks, unlinked)
		mynic_odp_chunk_free(chunk);
	list_for_each_entry_safe(list, next_list, &lists, unlinked)
		mynic_odp_list_free(list);
}

static int mynic_odp_set(struct mynic_odp_chunk *chunk, unsigned int i,
			 unsigned long pfn)
{
	struct mynic_odp *odp = chunk->odp;
	struct page *page = hmm_pfn_to_page(pfn);
	struct device *dev = &odp->mdev->pdev->dev;
	u64 entry;

	/* If the page had changed, the notifier would have removed it. */
	if (chunk->pages[i]) {
		entry = le64_to_cpu(chunk->list.va[i]);
	} else {
		entry = dma_map_page_attrs(dev, page, 0, PAGE_SIZE, chunk->dir,
					   MYNIC_SHARED_DMA_ATTRS);
		if (dma_mapping_error(dev, entry))
			return -ENOMEM;
		entry |= MYNIC_PAGE_PRESENT;
		WRITE_ONCE(chunk->num_present, chunk->num_present + 1);
	}
	if (pfn & HMM_PFN_WRITE && odp->writable)
		entry |= MYNIC_PAGE_WRITABLE;
	chunk->pages[i] = page;
	/* The device must not see the entry before the contents of the page. */
	dma_wmb();
	WRITE_ONCE(chunk->list.va[i], cpu_to_le64(entry));
	return 0;
}

/* Whether the device may get a page: 0 or an errno */
static int mynic_odp_check(const struct mynic_odp *odp)
{
	if (READ_ONCE(odp->gone))
		return -ENOENT;
	return mynic_dead(odp->mdev) ? -EIO : 0;
}

/* Fault pages in, and lock the chunk while they and the region are valid. */
static int mynic_odp_find(struct mynic_odp_chunk *chunk,
			  struct hmm_range *range)
{
	unsigned long timeout =
		jiffies + msecs_to_jiffies(HMM_RANGE_DEFAULT_TIMEOUT);
	struct mm_struct *mm = chunk->odp->mm;
	int ret;

	while (time_before(jiffies, timeout)) {
		range->notifier_seq = mmu_interval_read_begin(range->notifier);
		if (mmap_read_lock_killable(mm))
			return -EINTR;
		ret = hmm_range_fault(range);
		mmap_read_unlock(mm);
		if (ret == -EBUSY)
			continue;
		if (ret)
			return ret;
		mutex_lock(&chunk->lock);
		ret = mynic_odp_check(chunk->odp);
		if (!ret && !mmu_interval_read_retry(range->notifier,
						     range->notifier_seq))
			return 0;
		mutex_unlock(&chunk->lock);
		if (ret)
			return ret;
	}
	return -EBUSY;
}

static int mynic_odp_map_chunk(struct mynic_odp_chunk *chunk,
			       unsigned int first, unsigned int num,
			       unsigned long flags)
{
	struct hmm_range range = {
		.notifier = &chunk->notifier,
		.start = chunk->start + first * PAGE_SIZE,
		.end = chunk->start + (first + num) * PAGE_SIZE,
		.default_flags = flags,
	};
	unsigned int i;
	int ret;

	range.hmm_pfns = kcalloc(num, sizeof(*range.hmm_pfns), GFP_KERNEL);
	if (!range.hmm_pfns)
		return -ENOMEM;
	ret = mynic_odp_find(chunk, &range);
	if (ret)
		goto out;
	for (i = 0; i < num && !ret; i++)
		if (range.hmm_pfns[i] & HMM_PFN_VALID)
			ret = mynic_odp_set(chunk, first + i,
					    range.hmm_pfns[i]);
	mutex_unlock(&chunk->lock);
out:
	kfree(range.hmm_pfns);
	return ret;
}

/*
 * Whether the process has memory there: 0 or an errno. Peers can cause page
 * faults, and must not make us create chunks for all possible addresses.
 */
static int mynic_odp_check_memory(struct mynic_odp *odp, u64 first, u64 num)
{
	unsigned long start = odp->start + first * PAGE_SIZE;
	struct vm_area_struct *vma;
	bool found;

	if (mmap_read_lock_killable(odp->mm))
		return -EINTR;
	vma = find_vma(odp->mm, start);
	found = vma && vma->vm_start < start + num * PAGE_SIZE &&
		vma->vm_flags & VM_READ;
	mmap_read_unlock(odp->mm);
	return found ? 0 : -EFAULT;
}

/* Map pages of one chunk. The caller holds a reference to the address space. */
static int mynic_odp_map_some(struct mynic_odp *odp, u64 first,
			      unsigned int num, unsigned long flags)
{
	struct mynic_odp_chunk *chunk;
	int ret;

	ret = mynic_odp_check_memory(odp, first, num);
	if (ret)
		return ret;
	chunk = mynic_odp_chunk_get(odp, first / MYNIC_ODP_ENTRIES);
	if (IS_ERR(chunk))
		return PTR_ERR(chunk);
	ret = mynic_odp_map_chunk(chunk, first % MYNIC_ODP_ENTRIES, num, flags);
	mynic_odp_chunk_put(chunk);
	return ret;
}

/*
 * Map pages of the region for the device; with @flags of 0 only those in
 * memory. The allocations are charged to the owner of the region, like the
 * pages, whoever needs them.
 */
static int mynic_odp_map(struct mynic_odp *odp, u64 first, u64 num,
			 unsigned long flags)
{
	struct mem_cgroup *memcg, *old_memcg;
	unsigned int n;
	int ret = 0;

	if (!mmget_not_zero(odp->mm))
		return -EFAULT;
	memcg = get_mem_cgroup_from_mm(odp->mm);
	old_memcg = set_active_memcg(memcg);
	while (num && !ret) {
		n = min_t(u64, num,
			  MYNIC_ODP_ENTRIES - first % MYNIC_ODP_ENTRIES);
		ret = mynic_odp_map_some(odp, first, n, flags);
		first += n;
		num -= n;
		if (fatal_signal_pending(current))
			ret = -EINTR;
		cond_resched();
	}
	set_active_memcg(old_memcg);
	mem_cgroup_put(memcg);
	mmput(odp->mm);
	return ret;
}

/* Find the pages of a range. Return false if it is not inside the region. */
static bool mynic_odp_range(const struct mynic_odp *odp, u64 addr, u64 length,
			    u64 *first, u64 *num)
{
	u64 begin = addr - odp->iova, end;

	if (begin > odp->length || length > odp->length - begin)
		return false;
	begin += odp->offset;
	end = begin + length;
	*first = begin >> PAGE_SHIFT;
	*num = length ? ((end - 1) >> PAGE_SHIFT) - *first + 1 : 0;
	return true;
}

static void mynic_pager_free(struct mynic_pager *pager)
{
	mmdrop(pager->mm);
	kfree(pager);
}

static void mynic_pager_put(struct mynic_pager *pager)
{
	bool last;

	spin_lock(&pager->mdev->pager_lock);
	last = refcount_dec_and_test(&pager->refs);
	if (last)
		list_del(&pager->entry);
	spin_unlock(&pager->mdev->pager_lock);
	if (last)
		mynic_pager_free(pager);
}

/*
 * The last reference may be dropped long after the memory region has been
 * destroyed.
 */
static void mynic_odp_release(struct kref *refs)
{
	struct mynic_odp *odp = container_of(refs, struct mynic_odp, refs);
	struct mynic_odp_chunk *chunk;
	struct mynic_odp_list *list;
	unsigned long index;
	unsigned int level;

	disable_work_sync(&odp->reap_work);
	xa_for_each(&odp->chunks, index, chunk)
		mynic_odp_chunk_free(chunk);
	xa_destroy(&odp->chunks);
	for (level = 1; level < MYNIC_ODP_LEVELS; level++) {
		xa_for_each(&odp->lists[level], index, list)
			mynic_odp_list_free(list);
		xa_destroy(&odp->lists[level]);
	}
	mutex_destroy(&odp->lock);
	mynic_pager_put(odp->pager);
	kfree(odp);
}

static void mynic_odp_put(struct mynic_odp *odp)
{
	kref_put(&odp->refs, mynic_odp_release);
}

static struct mynic_odp *mynic_odp_get(struct mynic_dev *mdev, u32 key)
{
	struct mynic_odp *odp;

	xa_lock_irq(&mdev->odps);
	odp = xa_load(&mdev->odps, key);
	if (odp)
		kref_get(&odp->refs);
	xa_unlock_irq(&mdev->odps);
	return odp;
}

/*
 * Only the first page has to be mapped. The others may not exist, and cause
 * another page fault if they are needed.
 */
static int mynic_odp_fault(struct mynic_dev *mdev,
			   const struct mynic_missing_pages *fault)
{
	unsigned long flags = HMM_PFN_REQ_FAULT;
	struct mynic_odp *odp;
	u64 first, num;
	int ret = -EFAULT;

	odp = mynic_odp_get(mdev, fault->key);
	if (!odp)
		return -ENOENT;
	if (fault->write)
		flags |= HMM_PFN_REQ_WRITE;
	/* Unbinding must not wait for those that have not begun. */
	if (mynic_dead(mdev)) {
		ret = -EIO;
	} else if (mynic_odp_range(odp, fault->addr,
				   min_t(u32, fault->length,
					 MYNIC_ODP_FAULT_BYTES),
				   &first, &num)) {
		ret = mynic_odp_map(odp, first, num, flags);
		if (ret && num > 1)
			ret = mynic_odp_map(odp, first, 1, flags);
	}
	mynic_odp_put(odp);
	return ret;
}

static void mynic_page_faults_release(struct kref *refs)
{
	struct mynic_page_faults *faults =
		container_of(refs, struct mynic_page_faults, refs);

	mutex_destroy(&faults->lock);
	kfree(faults);
}

static void mynic_page_faults_put(struct mynic_page_faults *faults)
{
	kref_put(&faults->refs, mynic_page_faults_release);
}

/* Tell the device that the pages are there, or that they cannot be. */
static void mynic_page_fault_done(struct mynic_page_fault *fault,
				  const struct mynic_missing_pages *missing,
				  int ret)
{
	struct mynic_page_faults *faults = fault->faults;

	trace_mynic_page_fault(faults->mdev, faults->qpn, fault->stage, missing,
			       ret);
	/* If the page is taken back all the time, try again. */
	if (ret == -EBUSY)
		ret = 0;
	mutex_lock(&faults->lock);
	if (!faults->gone)
		mynic_cmd_resume(faults->mdev, faults->qpn, fault->stage,
				 missing->token, ret);
	mutex_unlock(&faults->lock);
}

/* Take over the oldest page fault with its reference, or become idle. */
static struct mynic_page_fault *
mynic_pager_next(struct mynic_pager_worker *worker,
		 struct mynic_missing_pages *missing)
{
	struct mynic_pager *pager = worker->pager;
	struct mynic_page_fault *fault;

	spin_lock(&pager->mdev->pager_lock);
	fault = list_first_entry_or_null(&pager->waiting,
					 struct mynic_page_fault, entry);
	if (fault) {
		list_del_init(&fault->entry);
		*missing = fault->missing;
	} else {
		worker->idle = true;
	}
	spin_unlock(&pager->mdev->pager_lock);
	return fault;
}

static void mynic_pager_work(struct work_struct *work)
{
	struct mynic_pager_worker *worker =
		container_of(work, struct mynic_pager_worker, work);
	struct mynic_pager *pager = worker->pager;
	struct mynic_missing_pages missing;
	struct mynic_page_fault *fault;

	while ((fault = mynic_pager_next(worker, &missing))) {
		mynic_page_fault_done(fault, &missing,
				      mynic_odp_fault(pager->mdev, &missing));
		mynic_page_faults_put(fault->faults);
	}
	mynic_pager_put(pager);
}

static void mynic_pager_wake(struct mynic_pager *pager)
{
	struct mynic_pager_worker *worker;
	unsigned int i;

	lockdep_assert_held(&pager->mdev->pager_lock);
	for (i = 0; i < MYNIC_PAGER_WORKERS; i++) {
		worker = &pager->workers[i];
		if (!worker->idle)
			continue;
		worker->idle = false;
		refcount_inc(&pager->refs);
		queue_work(pager->mdev->fault_wq, &worker->work);
		return;
	}
}

static struct mynic_pager *mynic_pager_alloc(struct mynic_dev *mdev,
					     struct mm_struct *mm)
{
	struct mynic_pager *pager = kzalloc_obj(*pager, GFP_KERNEL_ACCOUNT);
	unsigned int i;

	if (!pager)
		return NULL;
	refcount_set(&pager->refs, 1);
	pager->mdev = mdev;
	pager->mm = mm;
	mmgrab(mm);
	INIT_LIST_HEAD(&pager->waiting);
	for (i = 0; i < MYNIC_PAGER_WORKERS; i++) {
		pager->workers[i].pager = pager;
		pager->workers[i].idle = true;
		INIT_WORK(&pager->workers[i].work, mynic_pager_work);
	}
	return pager;
}

static bool mynic_pager_invalidate(struct mmu_interval_notifier *notifier,
				   const struct mmu_notifier_range *range,
				   unsigned long seq)
{
	return true;
}

static const struct mmu_interval_notifier_ops mynic_pager_notifier_ops = {
	.invalidate = mynic_pager_invalidate,
};

/*
 * The first interval notifier of an address space locks it for writing. A
 * worker must not do that, because another may have locked it for as long as
 * its page does not come. A process that ends would then wait, too.
 */
static int mynic_pager_prepare(struct mm_struct *mm)
{
	struct mmu_interval_notifier first;
	int ret;

	ret = mmu_interval_notifier_insert(&first, mm, 0, PAGE_SIZE,
					   &mynic_pager_notifier_ops);
	if (!ret)
		mmu_interval_notifier_remove(&first);
	return ret;
}

/* The pager of an address space, which has one as long as it has regions */
static struct mynic_pager *mynic_pager_get(struct mynic_dev *mdev,
					   struct mm_struct *mm)
{
	struct mynic_pager *pager, *new;

	if (mynic_pager_prepare(mm))
		return NULL;
	new = mynic_pager_alloc(mdev, mm);
	if (!new)
		return NULL;
	spin_lock(&mdev->pager_lock);
	list_for_each_entry(pager, &mdev->pagers, entry) {
		if (pager->mm != mm)
			continue;
		refcount_inc(&pager->refs);
		spin_unlock(&mdev->pager_lock);
		mynic_pager_free(new);
		return pager;
	}
	list_add(&new->entry, &mdev->pagers);
	spin_unlock(&mdev->pager_lock);
	return new;
}

/* The pager of a region, or NULL if there is no such region */
static struct mynic_pager *mynic_pager_of(struct mynic_dev *mdev, u32 key)
{
	struct mynic_pager *pager = NULL;
	struct mynic_odp *odp;

	xa_lock_irq(&mdev->odps);
	odp = xa_load(&mdev->odps, key);
	if (odp) {
		pager = odp->pager;
		refcount_inc(&pager->refs);
	}
	xa_unlock_irq(&mdev->odps);
	return pager;
}

struct mynic_page_faults *mynic_page_faults_alloc(struct mynic_dev *mdev,
						  u32 qpn)
{
	struct mynic_page_faults *faults;
	unsigned int i;

	faults = kzalloc_obj(*faults, GFP_KERNEL_ACCOUNT);
	if (!faults)
		return ERR_PTR(-ENOMEM);
	kref_init(&faults->refs);
	mutex_init(&faults->lock);
	faults->mdev = mdev;
	faults->qpn = qpn;
	for (i = 0; i < MYNIC_PAGE_STAGES; i++) {
		faults->stages[i].faults = faults;
		faults->stages[i].stage = i;
		INIT_LIST_HEAD(&faults->stages[i].entry);
	}
	return faults;
}

/*
 * No new page faults occur. Those under way continue, but do not report to the
 * device.
 */
void mynic_page_faults_free(struct mynic_page_faults *faults)
{
	struct mynic_page_fault *fault;
	unsigned int i;

	mutex_lock(&faults->lock);
	faults->gone = true;
	mutex_unlock(&faults->lock);
	spin_lock(&faults->mdev->pager_lock);
	for (i = 0; i < MYNIC_PAGE_STAGES; i++) {
		fault = &faults->stages[i];
		if (list_empty(&fault->entry))
			continue;
		list_del_init(&fault->entry);
		mynic_page_faults_put(faults);
	}
	spin_unlock(&faults->mdev->pager_lock);
	mynic_page_faults_put(faults);
}

/*
 * Handle a page fault. @missing comes from the device and is not trusted.
 * Called from process context.
 */
void mynic_page_fault(struct mynic_page_faults *faults, unsigned int stage,
		      const struct mynic_missing_pages *missing)
{
	struct mynic_page_fault *fault = &faults->stages[stage];
	struct mynic_dev *mdev = faults->mdev;
	struct mynic_pager *pager;

	pager = mynic_pager_of(mdev, missing->key);
	if (!pager) {
		mynic_page_fault_done(fault, missing, -ENOENT);
		return;
	}
	spin_lock(&mdev->pager_lock);
	fault->missing = *missing;
	/* It waits already if the QP was reset and used again. */
	if (list_empty(&fault->entry))
		kref_get(&faults->refs);
	list_move_tail(&fault->entry, &pager->waiting);
	mynic_pager_wake(pager);
	spin_unlock(&mdev->pager_lock);
	mynic_pager_put(pager);
}

static int mynic_advise_sge(struct mynic_odp *odp, struct ib_pd *ibpd,
			    enum ib_uverbs_advise_mr_advice advice,
			    const struct ib_sge *sge)
{
	unsigned long flags = HMM_PFN_REQ_FAULT;
	u64 first, num;
	int ret;

	if (odp->pd != ibpd ||
	    (advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE &&
	     !odp->writable)) {
		ibdev_dbg(ibpd->device, "region %#x %s\n", sge->lkey,
			  odp->pd != ibpd ? "has another PD" : "is read-only");
		return -EPERM;
	}
	if (advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE)
		flags |= HMM_PFN_REQ_WRITE;
	if (advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT)
		flags = 0;
	ret = -EFAULT;
	if (mynic_odp_range(odp, sge->addr, sge->length, &first, &num))
		ret = mynic_odp_map(odp, first, num, flags);
	if (ret)
		ibdev_dbg(ibpd->device, "region %#x: %u bytes at %#llx: %pe\n",
			  sge->lkey, sge->length, sge->addr, ERR_PTR(ret));
	return ret;
}

/**
 * mynic_advise_mr() - &ib_device_ops.advise_mr
 * @ibpd: protection domain
 * @advice: whether pages are mapped for reading or writing, or only if in
 *	memory
 * @flags: ignored: the pages are always mapped when this returns
 * @sg_list: ranges of ODP regions
 * @num_sge: elements of @sg_list
 * @attrs: unused
 *
 * Return: 0; -ENOENT if a key names no ODP region; -EPERM for another PD or a
 * region without write access; -EFAULT if a range is not inside the region, or
 * the process has no memory there; -EINTR if the caller is killed; or another
 * errno.
 */
int mynic_advise_mr(struct ib_pd *ibpd, enum ib_uverbs_advise_mr_advice advice,
		    u32 flags, struct ib_sge *sg_list, u32 num_sge,
		    struct uverbs_attr_bundle *attrs)
{
	struct mynic_odp *odp;
	int ret = 0;
	u32 i;

	if (advice != IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH &&
	    advice != IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE &&
	    advice != IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT) {
		ibdev_dbg(ibpd->device, "advice %d\n", advice);
		return -EOPNOTSUPP;
	}
	for (i = 0; i < num_sge && !ret; i++) {
		odp = mynic_odp_get(to_mdev(ibpd->device), sg_list[i].lkey);
		if (!odp) {
			ibdev_dbg(ibpd->device, "no paged region has key %#x\n",
				  sg_list[i].lkey);
			return -ENOENT;
		}
		ret = mynic_advise_sge(odp, ibpd, advice, &sg_list[i]);
		mynic_odp_put(odp);
	}
	return ret;
}

static struct mynic_odp *mynic_odp_alloc(struct ib_pd *ibpd, u64 start,
					 u64 length, u64 iova, int access)
{
	struct mynic_odp *odp;
	unsigned int level;

	odp = kzalloc_obj(*odp, GFP_KERNEL_ACCOUNT);
	if (!odp)
		return NULL;
	odp->pager = mynic_pager_get(to_mdev(ibpd->device), current->mm);
	if (!odp->pager) {
		kfree(odp);
		return NULL;
	}
	kref_init(&odp->refs);
	odp->mdev = to_mdev(ibpd->device);
	odp->pd = ibpd;
	odp->mm = odp->pager->mm;
	odp->start = start & PAGE_MASK;
	odp->offset = offset_in_page(start);
	odp->iova = iova;
	odp->length = length;
	odp->num_pages = DIV_ROUND_UP_ULL(odp->offset + length, PAGE_SIZE);
	odp->writable = access & IB_ACCESS_LOCAL_WRITE;
	mutex_init(&odp->lock);
	INIT_WORK(&odp->reap_work, mynic_odp_reap_work);
	xa_init(&odp->chunks);
	for (level = 1; level < MYNIC_ODP_LEVELS; level++)
		xa_init(&odp->lists[level]);
	return odp;
}

static int mynic_odp_create(struct mynic_odp *odp, int access)
{
	struct mynic_create_mkey body = {
		.buf = {
			.levels = MYNIC_ODP_LEVELS,
			.log_page_size = PAGE_SHIFT,
			.log_list_size = MYNIC_ODP_LOG_LIST_SIZE,
			.offset = cpu_to_le32(odp->offset),
		},
		.iova = cpu_to_le64(odp->iova),
		.length = cpu_to_le64(odp->length),
		.pdn = cpu_to_le32(to_mpd(odp->pd)->pdn),
		.access = cpu_to_le32(access & MYNIC_ODP_ACCESS),
	};
	struct mynic_odp_list *top;
	int ret;

	top = mynic_odp_list_get(odp, MYNIC_ODP_LEVELS - 1, 0);
	if (IS_ERR(top))
		return PTR_ERR(top);
	body.buf.addr = cpu_to_le64(top->dma);
	ret = mynic_cmd_create_mkey(odp->mdev, MYNIC_MKEY_ODP, &body,
				    &odp->key);
	if (ret)
		return ret;
	ret = xa_insert_irq(&odp->mdev->odps, odp->key, odp, GFP_KERNEL);
	/* MYNIC_ODP_ACCESS lets nobody bind a window, even with a guessed key */
	if (ret)
		mynic_cmd_destroy_mkey(odp->mdev, odp->key);
	return ret;
}

/**
 * mynic_reg_odp_mr() - register memory without touching its pages
 * @ibpd: protection domain
 * @start: address in the process
 * @length: bytes; U64_MAX, with @start 0, stands for the whole address space
 * @iova: address in requests
 * @access: enum ib_access_flags, with IB_ACCESS_ON_DEMAND
 *
 * Return: the region, or ERR_PTR().
 */
struct ib_mr *mynic_reg_odp_mr(struct ib_pd *ibpd, u64 start, u64 length,
			       u64 iova, int access)
{
	bool implicit = !start && length == U64_MAX;
	struct mynic_odp *odp;
	struct mynic_mr *mr;
	int ret;

	if (!(to_mdev(ibpd->device)->caps.caps & MYNIC_CAP_ODP) ||
	    access & ~(MYNIC_ODP_ACCESS | IB_ZERO_BASED | IB_ACCESS_OPTIONAL |
		       IB_ACCESS_ON_DEMAND | IB_ACCESS_HUGETLB)) {
		ibdev_dbg(ibpd->device, "paged: access flags %#x\n", access);
		return ERR_PTR(-EOPNOTSUPP);
	}
	if (implicit) {
		if (iova) {
			ibdev_dbg(ibpd->device, "all memory at %#llx, not 0\n",
				  iova);
			return ERR_PTR(-EINVAL);
		}
		length = MYNIC_ODP_MAX_PAGES << PAGE_SHIFT;
	} else if (!length || start + length < start ||
		   start + length > ULONG_MAX - PAGE_SIZE ||
		   offset_in_page(start) + length > MYNIC_ODP_MAX_PAGES
							    << PAGE_SHIFT) {
		ibdev_dbg(ibpd->device, "paged: %llu bytes at %#llx\n", length,
			  start);
		return ERR_PTR(-EINVAL);
	}
	mr = kzalloc_obj(*mr, GFP_KERNEL_ACCOUNT);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	odp = mynic_odp_alloc(ibpd, start, length,
			      access & IB_ZERO_BASED ? 0 : iova, access);
	if (!odp) {
		ret = -ENOMEM;
		goto err_mr;
	}
	ret = mynic_odp_create(odp, access);
	if (ret)
		goto err_odp;
	mr->odp = odp;
	mr->ibmr.lkey = odp->key;
	mr->ibmr.rkey = odp->key;
	mr->ibmr.length = odp->length;
	mr->ibmr.iova = iova;
	return &mr->ibmr;

err_odp:
	mynic_odp_put(odp);
err_mr:
	kfree(mr);
	return ERR_PTR(ret);
}

/* The device has destroyed the region. */
void mynic_odp_gone(struct mynic_odp *odp)
{
	struct mynic_odp_chunk *chunk;
	unsigned long index;

	xa_erase_irq(&odp->mdev->odps, odp->key);
	mutex_lock(&odp->lock);
	WRITE_ONCE(odp->gone, true);
	/* As long as the notifier is registered, the pages stay valid. */
	xa_for_each(&odp->chunks, index, chunk) {
		mutex_lock(&chunk->lock);
		mynic_odp_drop(chunk, 0, chunk->num_pages);
		mutex_unlock(&chunk->lock);
	}
	mutex_unlock(&odp->lock);
	mynic_odp_put(odp);
}

/* Report the operations that work on ODP regions. */
void mynic_odp_caps(const struct mynic_dev *mdev, struct ib_odp_caps *caps)
{
	u32 rc = IB_ODP_SUPPORT_SEND | IB_ODP_SUPPORT_RECV |
		 IB_ODP_SUPPORT_WRITE | IB_ODP_SUPPORT_READ |
		 IB_ODP_SUPPORT_ATOMIC | IB_ODP_SUPPORT_SRQ_RECV;

	if (mdev->caps.caps & MYNIC_CAP_ATOMIC_WRITE)
		rc |= IB_ODP_SUPPORT_ATOMIC_WRITE;
	if (mdev->caps.caps & MYNIC_CAP_FLUSH_GLOBAL)
		rc |= IB_ODP_SUPPORT_FLUSH;
	caps->general_caps = IB_ODP_SUPPORT | IB_ODP_SUPPORT_IMPLICIT;
	caps->per_transport_caps.rc_odp_caps = rc;
	caps->per_transport_caps.xrc_odp_caps = rc;
	caps->per_transport_caps.uc_odp_caps =
		IB_ODP_SUPPORT_SEND | IB_ODP_SUPPORT_RECV |
		IB_ODP_SUPPORT_WRITE | IB_ODP_SUPPORT_SRQ_RECV;
	caps->per_transport_caps.ud_odp_caps = IB_ODP_SUPPORT_SEND |
					       IB_ODP_SUPPORT_RECV |
					       IB_ODP_SUPPORT_SRQ_RECV;
}
