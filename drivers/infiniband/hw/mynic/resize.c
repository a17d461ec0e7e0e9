// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What resizing a CQ and resizing an SRQ have in common */
#include <rdma/mynic-abi.h>

#include "mynic.h"

/**
 * mynic_move_init() - at the queue's creation
 * @move: the queue's
 */
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

/**
 * mynic_move_fini() - give up the memory that a queue did not move to
 * @move: of a queue that the device no longer knows
 */
void mynic_move_fini(struct mynic_move *move)
{
	mynic_move_drop(move);
	mutex_destroy(&move->lock);
}

/**
 * mynic_move_make() - make memory that a queue can move to
 * @move: the queue's; what was made before is given up
 * @mdev: device
 * @dbrec_offset: bytes of the ring, up to the doorbell record
 * @dbrec_size: bytes of that
 * @log_size: log2 of the number of slots
 * @udata: of the call
 * @resp: what the process is to know
 *
 * Context: @move is locked.
 * Return: 0 or an errno.
 */
int mynic_move_make(struct mynic_move *move, struct mynic_dev *mdev,
		    u32 dbrec_offset, size_t dbrec_size, u8 log_size,
		    struct ib_udata *udata, struct mynic_resize_resp *resp)
{
	struct mynic_mem *mem;
	int ret;

	lockdep_assert_held(&move->lock);
	mynic_move_drop(move);
	mem = mynic_mem_alloc(mdev, dbrec_offset + dbrec_size, false);
	if (IS_ERR(mem))
		return PTR_ERR(mem);
	ret = mynic_mem_expose(mem, udata);
	if (ret) {
		mynic_mem_free(mem);
		return ret;
	}
	move->mem = mem;
	move->dbrec_offset = dbrec_offset;
	move->log_size = log_size;
	*resp = (struct mynic_resize_resp){
		.mmap_key = rdma_user_mmap_get_offset(&mem->mmap.rdma_entry),
		.mmap_size = mem->num_pages * PAGE_SIZE,
		.dbrec_offset = dbrec_offset,
		.log_size = log_size,
	};
	return 0;
}

/**
 * mynic_move_is() - whether this is the memory that was made last
 * @move: the queue's
 * @mmap_key: what the process calls it
 * @log_size: log2 of the number of slots that the process asks for
 *
 * Context: @move is locked.
 * Return: whether it is.
 */
bool mynic_move_is(const struct mynic_move *move, u64 mmap_key, u8 log_size)
{
	lockdep_assert_held(&move->lock);
	return move->mem && log_size == move->log_size &&
	       mmap_key ==
		       rdma_user_mmap_get_offset(&move->mem->mmap.rdma_entry);
}

/**
 * mynic_move_body() - the command that moves a queue
 * @move: the queue's, with memory
 *
 * Context: @move is locked.
 * Return: its body.
 */
struct mynic_resize mynic_move_body(const struct mynic_move *move)
{
	lockdep_assert_held(&move->lock);
	return (struct mynic_resize){
		.buf = move->mem->list.buf,
		.dbrec_offset = cpu_to_le32(move->dbrec_offset),
		.log_size = move->log_size,
	};
}

/**
 * mynic_move_done() - the device has moved the queue
 * @move: the queue's
 * @mem: the queue's memory; the old one is given up
 *
 * Context: @move is locked.
 */
void mynic_move_done(struct mynic_move *move, struct mynic_mem **mem)
{
	lockdep_assert_held(&move->lock);
	swap(*mem, move->mem);
	mynic_move_drop(move);
}
