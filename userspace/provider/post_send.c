// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* ibv_post_send() */
#include <config.h>

#include "sq.h"

/*
 * Return: the number of bytes copied to @data, or a negative errno.
 */
static inline ALWAYS_INLINE int mynic_gather_inline(void *data,
					     const struct ibv_send_wr *wr,
					     uint32_t max_inline)
{
	uint32_t total = 0;
	int i;

	if (!mynic_opcode_in(MYNIC_INLINE_OPCODES, wr->opcode))
		return -EINVAL;
	for (i = 0; i < wr->num_sge; i++) {
		const struct ibv_sge *sge = &wr->sg_list[i];

		if (unlikely(sge->length > max_inline - total))
			return -EINVAL;
		mynic_copy_inline(data + total, (void *)(uintptr_t)sge->addr,
				  sge->length);
		total += sge->length;
	}
	return total;
}

static inline ALWAYS_INLINE void mynic_gather_sges(struct mynic_sge *dst,
					    const struct ibv_send_wr *wr)
{
	int i;

	if (likely(wr->num_sge == 1)) {
		mynic_set_sge(dst, wr->sg_list);
		return;
	}
	for (i = 0; i < wr->num_sge; i++)
		mynic_set_sge(&dst[i], &wr->sg_list[i]);
}

/*
 * The body of all forms; @ud and @locked are constants. What the loop needs of
 * the SQ is read before it, since the compiler must assume that stores to
 * entries change it.
 */
static inline ALWAYS_INLINE int mynic_post_send_body(struct ibv_qp *ibqp,
					      struct ibv_send_wr *wr,
					      struct ibv_send_wr **bad_wr,
					      bool ud, bool locked)
{
	struct mynic_sq *sq = &to_mqp(ibqp)->sq;
	uint32_t offset_mask, offset, pi, end;
	struct mynic_send_wqe *wqe;
	void *ring, *data;
	int err = 0;
	int len;

	if (locked)
		mynic_lock(&sq->lock);
	pi = sq->pi;
	end = sq->end;
	ring = sq->ring;
	offset_mask = sq->offset_mask;
	offset = (pi * sq->stride) & offset_mask;

	for (; wr; wr = wr->next) {
		uint32_t opcode = wr->opcode;

		if (unlikely(pi == end)) {
			end = mynic_ring_end(&sq->dbrec->sq_ci, pi, sq->limit);
			sq->end = end;
			if (pi == end) {
				err = sq->limit ? ENOMEM : EINVAL;
				break;
			}
		}
		if (unlikely(!mynic_opcode_in(ud ? MYNIC_UD_OPCODES :
						   MYNIC_RC_OPCODES,
					      opcode) ||
			     (uint32_t)wr->num_sge > sq->max_sge)) {
			err = EINVAL;
			break;
		}

		wqe = ring + offset;
		data = mynic_sq_data(wqe, ud);
		wqe->wr_id = htole64(wr->wr_id);
		wqe->ctrl = mynic_sq_ctrl(opcode, wr->send_flags);
		wqe->imm_data = wr->imm_data;
		if (ud) {
			wqe->remote_qpn = htole32(wr->wr.ud.remote_qpn);
			wqe->remote_qkey = htole32(wr->wr.ud.remote_qkey);
			*mynic_sq_av(wqe) = to_mah(wr->wr.ud.ah)->av;
		} else {
			wqe->remote_addr = htole64(wr->wr.rdma.remote_addr);
			wqe->rkey = htole32(wr->wr.rdma.rkey);
		}

		if (wr->send_flags & IBV_SEND_INLINE) {
			len = mynic_gather_inline(data, wr, sq->max_inline);
			if (unlikely(len < 0)) {
				err = -len;
				break;
			}
		} else {
			len = wr->num_sge;
			mynic_gather_sges(data, wr);
			if (!ud && opcode >= IBV_WR_ATOMIC_CMP_AND_SWP) {
				wqe->rkey = htole32(wr->wr.atomic.rkey);
				mynic_sq_set_atomic(wqe,
						    wr->wr.atomic.compare_add,
						    wr->wr.atomic.swap);
			}
		}
		wqe->len = htole32(len);

		offset = (offset + sq->stride) & offset_mask;
		pi++;
	}

	if (likely(pi != sq->pi))
		mynic_sq_ring(sq, pi);
	if (locked)
		mynic_unlock(&sq->lock);
	if (unlikely(err))
		*bad_wr = wr;
	return err;
}

static int mynic_post_send_rc(struct ibv_qp *qp, struct ibv_send_wr *wr,
			      struct ibv_send_wr **bad_wr)
{
	return mynic_post_send_body(qp, wr, bad_wr, false, true);
}

static int mynic_post_send_ud(struct ibv_qp *qp, struct ibv_send_wr *wr,
			      struct ibv_send_wr **bad_wr)
{
	return mynic_post_send_body(qp, wr, bad_wr, true, true);
}

/**
 * mynic_post_send() - ibv_post_send(3)
 * @qp: the QP
 * @wr: list of requests
 * @bad_wr: the first request that was not posted
 *
 * Return: 0; EINVAL for an operation that the type of QP does not have, too
 * many SGEs or inline bytes, inline data for an operation that has none, or a
 * QP before RTS; ENOMEM if the SQ is full.
 */
int mynic_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		    struct ibv_send_wr **bad_wr)
{
	return to_mqp(qp)->post_send(qp, wr, bad_wr);
}

/**
 * mynic_post_send_setup() - choose the form of ibv_post_send() for a new QP
 * @qp: the QP
 */
void mynic_post_send_setup(struct mynic_qp *qp)
{
	qp->post_send = qp->vqp.qp.qp_type == IBV_QPT_UD ? mynic_post_send_ud :
							   mynic_post_send_rc;
}
