// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Posting to receive queues, receive work queues and shared receive queues. */
#include <config.h>

#include <errno.h>

#include <util/mmio.h>

#include "mynic.h"

/*
 * In the error state, the device waits for a doorbell to flush new requests.
 * The record stays unchanged, so this does not need the lock of the SQ. The
 * caller may hold that within wr_start and wr_complete.
 */
static __attribute__((noinline)) int mynic_rq_ask_flush(struct ibv_qp *qp,
							int err)
{
	struct mynic_sq *sq = &to_mqp(qp)->sq;
	uint64_t doorbell = sq->db_number | mynic_observe(&sq->dbrec->sq_pi);

	/* The device must see the index in the record before the doorbell. */
	udma_to_device_barrier();
	mmio_write64_le(sq->doorbell, htole64(doorbell));
	return err;
}

/*
 * Finish posting: the requests before @next are new, and @room slots are left.
 */
static inline ALWAYS_INLINE int
mynic_rq_finish(struct mynic_rq *rq, struct mynic_recv_wqe *next, uint32_t room,
		struct ibv_qp *qp, int err, bool locked)
{
	__le32 *record = rq->pi_record;
	struct mynic_qp_dbrec *dbrec;

	rq->next = next;
	rq->room = room;
	mynic_publish(record, rq->end - room);
	if (locked)
		mynic_unlock(&rq->lock);
	if (!qp)
		return err;
	dbrec = container_of(record, struct mynic_qp_dbrec, rq_pi);
	udma_to_device_barrier();
	if (unlikely(dbrec->rq_ring))
		return mynic_rq_ask_flush(qp, err);
	return err;
}

/*
 * Log why a request was refused, if libibverbs logs for debugging. A full ring
 * is not logged, because programs post until it is full.
 */
static __attribute__((cold, noinline)) void
mynic_recv_explain(struct ibv_context *context, const char *queue,
		   uint32_t number, const struct mynic_rq *rq, int num_sge)
{
	if (!rq->limit)
		verbs_debug(verbs_get_ctx(context),
			    "%s 0x%x: in RESET, or without an RQ\n", queue,
			    number);
	else
		verbs_debug(verbs_get_ctx(context),
			    "%s 0x%x: %d SGEs, at most %u\n", queue, number,
			    num_sge, rq->max_sge);
}

/*
 * The same after an erroneous request, out of line. The parameters are those
 * that posting has in registers anyway. Releasing a lock that was not taken
 * changes nothing.
 */
static __attribute__((noinline)) int
mynic_rq_stop_qp(struct ibv_qp *qp, struct ibv_recv_wr *wr,
		 struct ibv_recv_wr **bad_wr, struct mynic_recv_wqe *next,
		 uint32_t room, int err)
{
	struct mynic_rq *rq = &to_mqp(qp)->rq;

	if (err == EINVAL)
		mynic_recv_explain(qp->context, "QP or WQ", qp->qp_num, rq,
				   wr->num_sge);
	*bad_wr = wr;
	return mynic_rq_finish(rq, next, room, qp, err, true);
}

static __attribute__((noinline)) int
mynic_rq_stop_srq(struct mynic_rq *rq, struct ibv_recv_wr *wr,
		  struct ibv_recv_wr **bad_wr, struct mynic_recv_wqe *next,
		  uint32_t room, int err)
{
	struct mynic_srq *srq = container_of(rq, struct mynic_srq, rq);

	if (err == EINVAL)
		mynic_recv_explain(srq->vsrq.srq.context, "SRQ", srq->srqn, rq,
				   wr->num_sge);
	*bad_wr = wr;
	return mynic_rq_finish(rq, next, room, NULL, err, true);
}

/* @qp is NULL for an SRQ. @locked, whether to take the lock, is a constant. */
static inline ALWAYS_INLINE int mynic_rq_post(struct mynic_rq *rq,
					      struct ibv_recv_wr *wr,
					      struct ibv_recv_wr **bad_wr,
					      struct ibv_qp *qp, bool locked)
{
	struct mynic_recv_wqe *wqe;
	struct mynic_sge *sges;
	uint32_t num_sge, room;
	int err;

	if (locked)
		mynic_lock(&rq->lock);
	room = rq->room;
	wqe = rq->next;

	for (; wr; wr = wr->next) {
		if (unlikely(!room)) {
			room = mynic_ring_room(rq->ci_record, rq->end,
					       rq->limit);
			rq->end += room;
			err = rq->limit ? ENOMEM : EINVAL;
			if (!room)
				goto err;
		}

		sges = (struct mynic_sge *)(wqe + 1);
		num_sge = wr->num_sge;
		if (likely(num_sge == 1)) {
			mynic_set_sge(sges, wr->sg_list);
		} else if (likely(num_sge <= rq->max_sge)) {
			mynic_set_sges(sges, wr->sg_list, num_sge);
		} else {
			err = EINVAL;
			goto err;
		}
		wqe->wr_id = htole64(wr->wr_id);
		/*
		 * reserved_0c is zero from the beginning, and nothing else is
		 * stored there.
		 */
		wqe->num_sge = htole32(num_sge);

		wqe = (void *)wqe + rq->stride;
		if (unlikely(wqe == rq->ring_end))
			wqe = rq->ring;
		room--;
	}
	return mynic_rq_finish(rq, wqe, room, qp, 0, locked);

err:
	if (qp)
		return mynic_rq_stop_qp(qp, wr, bad_wr, wqe, room, err);
	return mynic_rq_stop_srq(rq, wr, bad_wr, wqe, room, err);
}

/*
 * EINVAL: too many SGEs, or the QP has no RQ or is in RESET. ENOMEM: the RQ is
 * full.
 */
int mynic_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
		    struct ibv_recv_wr **bad_wr)
{
	return mynic_rq_post(&to_mqp(ibqp)->rq, wr, bad_wr, ibqp, true);
}

/* EINVAL: too many SGEs, or the WQ is in RESET. ENOMEM: the WQ is full. */
int mynic_post_wq_recv(struct ibv_wq *ibwq, struct ibv_recv_wr *wr,
		       struct ibv_recv_wr **bad_wr)
{
	struct mynic_qp *qp = &to_mrwq(ibwq)->qp;

	return mynic_rq_post(&qp->rq, wr, bad_wr, &qp->vqp.qp, true);
}

/* ibv_post_wq_recv(3) for a WQ that one thread at a time uses. */
int mynic_post_wq_recv_single(struct ibv_wq *ibwq, struct ibv_recv_wr *wr,
			      struct ibv_recv_wr **bad_wr)
{
	struct mynic_qp *qp = &to_mrwq(ibwq)->qp;

	return mynic_rq_post(&qp->rq, wr, bad_wr, &qp->vqp.qp, false);
}

static int mynic_post_recv_single(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
				  struct ibv_recv_wr **bad_wr)
{
	return mynic_rq_post(&to_mqp(ibqp)->rq, wr, bad_wr, ibqp, false);
}

static int mynic_post_recv_any(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
			       struct ibv_recv_wr **bad_wr)
{
	struct mynic_rq *rq = &to_mqp(ibqp)->rq;

	/* Inline: a call would cost as much as this test. */
	if (!rq->single_threaded)
		return mynic_rq_post(rq, wr, bad_wr, ibqp, true);
	return mynic_rq_post(rq, wr, bad_wr, ibqp, false);
}

const struct verbs_context_ops mynic_recv_forms[MYNIC_BOTH + 1] = {
	[MYNIC_MANY_THREADS] = { .post_recv = mynic_post_recv },
	[MYNIC_SINGLE_THREADS] = { .post_recv = mynic_post_recv_single },
	[MYNIC_BOTH] = { .post_recv = mynic_post_recv_any },
};

/* EINVAL: too many SGEs. ENOMEM: the SRQ is full. */
int mynic_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr,
			struct ibv_recv_wr **bad_wr)
{
	return mynic_rq_post(&to_msrq(ibsrq)->rq, wr, bad_wr, NULL, true);
}

static int mynic_post_srq_recv_single(struct ibv_srq *ibsrq,
				      struct ibv_recv_wr *wr,
				      struct ibv_recv_wr **bad_wr)
{
	return mynic_rq_post(&to_msrq(ibsrq)->rq, wr, bad_wr, NULL, false);
}

static int mynic_post_srq_recv_any(struct ibv_srq *ibsrq,
				   struct ibv_recv_wr *wr,
				   struct ibv_recv_wr **bad_wr)
{
	struct mynic_rq *rq = &to_msrq(ibsrq)->rq;

	if (!rq->single_threaded)
		return mynic_rq_post(rq, wr, bad_wr, NULL, true);
	return mynic_rq_post(rq, wr, bad_wr, NULL, false);
}

const struct verbs_context_ops mynic_srq_recv_forms[MYNIC_BOTH + 1] = {
	[MYNIC_MANY_THREADS] = { .post_srq_recv = mynic_post_srq_recv },
	[MYNIC_SINGLE_THREADS] = {
		.post_srq_recv = mynic_post_srq_recv_single,
	},
	[MYNIC_BOTH] = { .post_srq_recv = mynic_post_srq_recv_any },
};
