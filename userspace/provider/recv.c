// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Posting to receive queues and shared receive queues. */
#include <config.h>

#include <errno.h>

#include "mynic.h"

static inline ALWAYS_INLINE int mynic_rq_post(struct mynic_rq *rq,
				       struct ibv_recv_wr *wr,
				       struct ibv_recv_wr **bad_wr)
{
	uint32_t offset_mask, stride, max_sge, offset, pi, end;
	struct mynic_recv_wqe *wqe;
	struct mynic_sge *sge;
	int num_sge, i;
	int err = 0;
	void *ring;

	mynic_lock(&rq->lock);
	pi = rq->pi;
	end = rq->end;
	ring = rq->ring;
	stride = rq->stride;
	max_sge = rq->max_sge;
	offset_mask = rq->offset_mask;
	offset = (pi * stride) & offset_mask;

	for (; wr; wr = wr->next) {
		if (unlikely(pi == end)) {
			end = mynic_ring_end(rq->ci_record, pi, rq->limit);
			if (pi == end) {
				err = rq->limit ? ENOMEM : EINVAL;
				break;
			}
		}
		num_sge = wr->num_sge;
		if (unlikely((uint32_t)num_sge > max_sge)) {
			err = EINVAL;
			break;
		}

		wqe = ring + offset;
		wqe->wr_id = htole64(wr->wr_id);
		wqe->num_sge = htole32(num_sge);
		wqe->reserved_0c = 0;
		sge = (struct mynic_sge *)(wqe + 1);
		if (likely(num_sge == 1))
			mynic_set_sge(sge, wr->sg_list);
		else
			for (i = 0; i < num_sge; i++)
				mynic_set_sge(&sge[i], &wr->sg_list[i]);

		offset = (offset + stride) & offset_mask;
		pi++;
	}

	rq->pi = pi;
	rq->end = end;
	mynic_publish(rq->pi_record, pi);
	mynic_unlock(&rq->lock);
	if (unlikely(err))
		*bad_wr = wr;
	return err;
}

/**
 * mynic_post_recv() - ibv_post_recv(3)
 * @ibqp: the QP
 * @wr: list of requests
 * @bad_wr: the first request that was not posted
 *
 * Return: 0; EINVAL for too many SGEs or a QP that has no RQ or is in RESET;
 * ENOMEM if the RQ is full.
 */
int mynic_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
		    struct ibv_recv_wr **bad_wr)
{
	return mynic_rq_post(&to_mqp(ibqp)->rq, wr, bad_wr);
}

/**
 * mynic_post_srq_recv() - ibv_post_srq_recv(3)
 * @ibsrq: the SRQ
 * @wr: list of requests
 * @bad_wr: the first request that was not posted
 *
 * Return: 0; EINVAL for too many SGEs; ENOMEM if the SRQ is full.
 */
int mynic_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr,
			struct ibv_recv_wr **bad_wr)
{
	return mynic_rq_post(&to_msrq(ibsrq)->rq, wr, bad_wr);
}
