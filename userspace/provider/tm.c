// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Tag matching: posting to the tag ring of an SRQ. */
#include <config.h>

#include <errno.h>

#include <util/mmio.h>

#include "mynic.h"

static_assert(MYNIC_TAG_FLAGS_SHIFT == 8 && IBV_WR_TAG_SYNC == 2,
	      "opcode and flags are as in struct ibv_ops_wr");

/*
 * Map the tag ring, which has room for @max_tags tags. Return: 0 or a positive
 * errno.
 */
int mynic_tags_open(struct mynic_srq *srq,
		    const struct mynic_create_srq_resp *resp, uint32_t max_tags)
{
	struct ibv_context *context = srq->vsrq.srq.context;
	struct mynic_tags *tags = &srq->tags;
	int err;

	err = mynic_mmap(context, &tags->map, resp->tag_mmap_key,
			 resp->tag_mmap_size);
	if (err)
		return err;
	tags->ring = tags->map.addr;
	tags->dbrec = tags->map.addr + resp->tag_dbrec_offset;
	tags->doorbell = to_mctx(context)->uar + MYNIC_UAR_TAG_DB;
	tags->size = 1U << resp->log_tag_size;
	tags->max_tags = max_tags;
	return 0;
}

/* Unmap the tag ring, if there is one. The SRQ has been destroyed. */
void mynic_tags_close(struct mynic_srq *srq)
{
	if (srq->tags.ring)
		mynic_munmap(&srq->tags.map);
}

static void mynic_set_tag(struct mynic_tag_wqe *wqe,
			  const struct ibv_ops_wr *wr)
{
	int num_sge = wr->tm.add.num_sge;

	wqe->num_sge = htole32(num_sge);
	wqe->recv_wr_id = htole64(wr->tm.add.recv_wr_id);
	wqe->tag = htole64(wr->tm.add.tag);
	wqe->mask = htole64(wr->tm.add.mask);
	if (num_sge)
		mynic_set_sge(&wqe->sge, wr->tm.add.sg_list);
}

static __attribute__((cold, noinline)) void
mynic_tags_explain(const struct mynic_srq *srq, const struct ibv_ops_wr *wr)
{
	verbs_debug(verbs_get_ctx(srq->vsrq.srq.context),
		    "SRQ 0x%x: operation %d, flags 0x%x, %d SGEs\n", srq->srqn,
		    wr->opcode, wr->flags,
		    wr->opcode == IBV_WR_TAG_ADD ? wr->tm.add.num_sge : 0);
}

static int mynic_tags_post_one(struct mynic_tags *tags, struct ibv_ops_wr *wr)
{
	struct mynic_tag_wqe *wqe = &tags->ring[tags->pi & (tags->size - 1)];
	bool add = wr->opcode == IBV_WR_TAG_ADD;

	if (wr->opcode > IBV_WR_TAG_SYNC ||
	    wr->flags & ~(IBV_OPS_SIGNALED | IBV_OPS_TM_SYNC) ||
	    (add && (unsigned int)wr->tm.add.num_sge > 1))
		return EINVAL;
	if (!mynic_ring_room(&tags->dbrec->ci, tags->pi, tags->size) ||
	    (add &&
	     !mynic_ring_room(&tags->dbrec->done, tags->added, tags->max_tags)))
		return ENOMEM;

	wqe->wr_id = htole64(wr->wr_id);
	wqe->ctrl = htole32(wr->opcode | wr->flags << MYNIC_TAG_FLAGS_SHIFT);
	wqe->unexpected_cnt = htole32(wr->tm.unexpected_cnt);
	if (add) {
		wr->tm.handle = tags->added++;
		mynic_set_tag(wqe, wr);
	}
	wqe->handle = htole32(wr->tm.handle);
	tags->pi++;
	return 0;
}

/*
 * Operations that add a tag get a handle. EINVAL: the SRQ has no tag ring, or
 * an operation is illegal. ENOMEM: the ring or the list of tags is full.
 */
int mynic_post_srq_ops(struct ibv_srq *ibsrq, struct ibv_ops_wr *wr,
		       struct ibv_ops_wr **bad_wr)
{
	struct mynic_srq *srq = to_msrq(ibsrq);
	struct mynic_tags *tags = &srq->tags;
	bool locked = !srq->rq.single_threaded;
	uint64_t doorbell;
	int err = 0;

	if (!tags->ring) {
		*bad_wr = wr;
		verbs_debug(verbs_get_ctx(ibsrq->context),
			    "SRQ 0x%x: no tag matching\n", srq->srqn);
		return EINVAL;
	}

	if (locked)
		mynic_lock(&tags->lock);
	for (; wr; wr = wr->next) {
		err = mynic_tags_post_one(tags, wr);
		if (err) {
			if (err == EINVAL)
				mynic_tags_explain(srq, wr);
			*bad_wr = wr;
			break;
		}
	}
	mynic_publish(&tags->dbrec->pi, tags->pi);
	doorbell = (uint64_t)srq->srqn << MYNIC_DB_NUMBER_SHIFT | tags->pi;
	/* The device must see the index in the record before the doorbell. */
	udma_to_device_barrier();
	mmio_write64_le(tags->doorbell, htole64(doorbell));
	if (locked)
		mynic_unlock(&tags->lock);
	return err;
}
