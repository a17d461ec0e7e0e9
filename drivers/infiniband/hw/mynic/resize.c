// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory for a resized queue: what CQs and SRQs have in common. The process
 * first asks for memory and maps it, then asks for the queue to move there.
 */
#include <rdma/mynic-abi.h>

#include "mynic.h"

void mynic_move_init(struct mynic_move *move)
{
	mutex_init(&move->lock);
	move->mem = NULL;
}

static void mynic_move_drop(struct mynic_move *move)
{
	if (move->mem)
		mynic_mem_put(move->mem);
	move->mem = NULL;
}

/*
 * Free memory to which the queue has not moved. The device no longer knows the
 * queue.
 */
void mynic_move_fini(struct mynic_move *move)
{
	mynic_move_drop(move);
	mutex_destroy(&move->lock);
}

/**
 * mynic_move_make() - allocate memory that a queue can move to
 * @move: the queue's; memory of an earlier call is freed
 * @mdev: device
 * @dbrec_size: bytes of the doorbell record, which follows the ring
 * @udata: driver data of the call
 * @resp: response for the process; in: its dbrec_offset, which is the bytes of
 *	the ring, and its log_size
 *
 * Context: @move is locked.
 * Return: 0 or an errno.
 */
int mynic_move_make(struct mynic_move *move, struct mynic_dev *mdev,
		    size_t dbrec_size, struct ib_udata *udata,
		    struct mynic_resize_resp *resp)
{
	struct mynic_mem *mem;
	int ret;

	lockdep_assert_held(&move->lock);
	mynic_move_drop(move);
	mem = mynic_mem_alloc(mdev, resp->dbrec_offset + dbrec_size, false);
	if (IS_ERR(mem))
		return PTR_ERR(mem);
	ret = mynic_mem_expose(mem, udata);
	if (ret) {
		mynic_mem_free(mem);
		return ret;
	}
	move->mem = mem;
	move->dbrec_offset = resp->dbrec_offset;
	move->log_size = resp->log_size;
	resp->mmap_key = rdma_user_mmap_get_offset(&mem->mmap.rdma_entry);
	resp->mmap_size = mem->num_pages * PAGE_SIZE;
	return 0;
}

/*
 * Whether the process asks for the memory that was allocated last, with the
 * same size. Called with @move locked.
 */
bool mynic_move_matches(const struct mynic_move *move, u64 mmap_key,
			u8 log_size)
{
	lockdep_assert_held(&move->lock);
	return move->mem && log_size == move->log_size &&
	       mmap_key ==
		       rdma_user_mmap_get_offset(&move->mem->mmap.rdma_entry);
}

/* Called with @move locked. */
struct mynic_resize mynic_move_body(const struct mynic_move *move)
{
	lockdep_assert_held(&move->lock);
	return (struct mynic_resize){
		.buf = move->mem->list.buf,
		.dbrec_offset = cpu_to_le32(move->dbrec_offset),
		.log_size = move->log_size,
	};
}

/*
 * The device has moved the queue: free its old memory. Called with @move
 * locked.
 */
void mynic_move_done(struct mynic_move *move, struct mynic_mem **mem)
{
	lockdep_assert_held(&move->lock);
	swap(*mem, move->mem);
	mynic_move_drop(move);
}
