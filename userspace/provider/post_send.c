// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* ibv_post_send(), in a form for each kind of QP. ibv_wr_*() is in wr.c. */
#include <config.h>

#include "sq.h"

/* Fill in the part of an entry that does not depend on the operation. */
static inline ALWAYS_INLINE void
mynic_wqe_set_head(struct mynic_send_wqe *wqe, const struct ibv_send_wr *wr,
		   enum ibv_qp_type type)
{
	wqe->wr_id = htole64(wr->wr_id);
	wqe->ctrl = mynic_sq_ctrl(wr->opcode, wr->send_flags);
	wqe->imm_data = wr->imm_data;
	if (type == IBV_QPT_UD) {
		wqe->remote_qpn = htole32(wr->wr.ud.remote_qpn);
		wqe->remote_qkey = htole32(wr->wr.ud.remote_qkey);
		*mynic_sq_av(wqe) = to_mah(wr->wr.ud.ah)->av;
	} else if (type != IBV_QPT_RAW_PACKET) {
		wqe->remote_addr = htole64(wr->wr.rdma.remote_addr);
		wqe->rkey = htole32(wr->wr.rdma.rkey);
	}
	if (type == IBV_QPT_XRC_SEND)
		mynic_sq_xrc(wqe)->remote_srqn =
			htole32(wr->qp_type.xrc.remote_srqn);
}

/*
 * Return: false if there are too many bytes, or the operation takes no inline
 * data.
 */
static bool mynic_wqe_set_inline(struct mynic_send_wqe *wqe,
				 const struct ibv_send_wr *wr,
				 uint32_t max_inline, bool ext)
{
	void *data = mynic_sq_data(wqe, ext);
	uint32_t total = 0;
	int i;

	if (!mynic_op_inline(wr->opcode))
		return false;
	for (i = 0; i < wr->num_sge; i++) {
		const struct ibv_sge *sge = &wr->sg_list[i];

		if (sge->length > max_inline - total)
			return false;
		mynic_copy_inline(data + total, (void *)(uintptr_t)sge->addr,
				  sge->length);
		total += sge->length;
	}
	wqe->len = htole32(total);
	return true;
}

/*
 * Fill in operands of an operation beyond its data, which is in @wqe already.
 * Return: 0 or a positive errno, whose reason is logged.
 */
static __attribute__((noinline)) int
mynic_wqe_set_operands(const struct mynic_sq *sq, struct mynic_send_wqe *wqe,
		       const struct ibv_send_wr *wr)
{
	void *data = mynic_sq_data_of(sq, wqe);
	int err;

	switch (wr->opcode) {
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		wqe->rkey = htole32(wr->wr.atomic.rkey);
		mynic_sq_set_atomic(data, wr->wr.atomic.compare_add,
				    wr->wr.atomic.swap);
		return 0;
	case IBV_WR_SEND_WITH_INV:
		wqe->invalidate_rkey = htole32(wr->invalidate_rkey);
		return 0;
	case IBV_WR_LOCAL_INV:
		wqe->invalidate_rkey = htole32(wr->invalidate_rkey);
		wqe->len = 0;
		return 0;
	case IBV_WR_BIND_MW:
		return mynic_sq_set_bind(sq, wqe, wr->bind_mw.mw,
					 wr->bind_mw.rkey,
					 &wr->bind_mw.bind_info);
	case IBV_WR_TSO:
		err = mynic_sq_set_tso(sq, wqe, wr->tso.hdr, wr->tso.hdr_sz,
				       wr->tso.mss);
		if (!err)
			mynic_set_sges(data + mynic_tso_sges(wr->tso.hdr_sz),
				       wr->sg_list, wr->num_sge);
		return err;
	default:
		return 0;
	}
}

/*
 * Log why a request was refused. Illegal operands have been logged by the
 * function that found them.
 */
static __attribute__((cold, noinline)) void
mynic_post_explain(struct ibv_qp *qp, const struct ibv_send_wr *wr, int err)
{
	const struct mynic_sq *sq = &to_mqp(qp)->sq;

	if (err == ENOMEM)
		return;
	if (!sq->limit)
		mynic_sq_refuse_state(sq);
	else if (!mynic_op_on(wr->opcode, qp->qp_type) ||
		 !mynic_ops[wr->opcode].post)
		verbs_debug(verbs_get_ctx(qp->context),
			    "QP 0x%x: opcode %d on a QP of type %d\n",
			    qp->qp_num, wr->opcode, qp->qp_type);
	else if ((uint32_t)wr->num_sge > sq->max_sge)
		mynic_sq_refuse_sges(sq, (uint32_t)wr->num_sge, sq->max_sge);
	else if (wr->send_flags & IBV_SEND_INLINE)
		mynic_sq_refuse_inline(sq, wr->opcode);
}

/* Return: 0 or a positive errno. */
static inline ALWAYS_INLINE int mynic_post_one(struct mynic_sq *sq,
					       const struct ibv_send_wr *wr,
					       enum ibv_qp_type type)
{
	bool ext = mynic_sq_has_ext(type);
	uint32_t num_sge = wr->num_sge;
	struct mynic_send_wqe *wqe;
	int err;

	err = mynic_sq_make_room(sq);
	if (err)
		return err;
	if (!mynic_op_on(wr->opcode, type) || !mynic_ops[wr->opcode].post ||
	    num_sge > sq->max_sge)
		return EINVAL;

	wqe = mynic_sq_next(sq, sq->last);
	mynic_wqe_set_head(wqe, wr, type);
	if (wr->send_flags & IBV_SEND_INLINE) {
		if (!mynic_wqe_set_inline(wqe, wr, sq->max_inline, ext))
			return EINVAL;
	} else {
		wqe->len = htole32(num_sge);
		mynic_set_sges(mynic_sq_data(wqe, ext), wr->sg_list, num_sge);
	}
	if (wr->opcode >= IBV_WR_ATOMIC_CMP_AND_SWP) {
		err = mynic_wqe_set_operands(sq, wqe, wr);
		if (err)
			return err;
	}
	sq->last = wqe;
	sq->pi++;
	return 0;
}

/* Publish the new requests, if there are any. */
static inline ALWAYS_INLINE void mynic_post_send_end(struct mynic_sq *sq,
						     bool db_suppress)
{
	if (likely(sq->dbrec->sq_pi != htole32(sq->pi)))
		mynic_sq_ring(sq, sq->pi, db_suppress);
}

/*
 * Post a list, and release the lock. If the lock was not taken because there is
 * only one thread, releasing it changes nothing. @type is a constant, here and
 * below.
 */
static inline ALWAYS_INLINE int mynic_post_list(struct ibv_qp *ibqp,
						struct ibv_send_wr *wr,
						struct ibv_send_wr **bad_wr,
						enum ibv_qp_type type)
{
	struct mynic_sq *sq = &to_mqp(ibqp)->sq;
	int err = 0;

	for (; wr; wr = wr->next) {
		err = mynic_post_one(sq, wr, type);
		if (err) {
			mynic_post_explain(ibqp, wr, err);
			*bad_wr = wr;
			break;
		}
	}
	mynic_post_send_end(sq, sq->db_suppress);
	mynic_unlock(&sq->lock);
	return err;
}

/*
 * The forms of ibv_post_send()
 *
 * Some properties are the same for all requests of a QP. They are its type,
 * whether it needs a lock, and whether the device may need no doorbell. Posting
 * does not test them. There is a function for each combination, and the QP has a
 * pointer to its own. A row below defines one. It calls the general function
 * with constants, and the compiler removes what they make unnecessary.
 * mynic_post_send_setup() chooses:
 *
 * - mynic_post_rest_TYPE posts any requests, without taking the lock;
 * - mynic_post_send_TYPE takes the lock;
 * - _single is for a QP of one thread, which needs no lock;
 * - _watched is for a device that suppresses doorbells.
 */
#define MYNIC_POST_REST(name, type)                                         \
	static __attribute__((noinline)) int name(struct ibv_qp *qp,        \
						  struct ibv_send_wr *wr,   \
						  struct ibv_send_wr **bad) \
	{                                                                   \
		return mynic_post_list(qp, wr, bad, IBV_QPT_##type);        \
	}

MYNIC_POST_REST(mynic_post_rest_rc, RC)
MYNIC_POST_REST(mynic_post_rest_uc, UC)
MYNIC_POST_REST(mynic_post_rest_xrc, XRC_SEND)
MYNIC_POST_REST(mynic_post_rest_ud, UD)
MYNIC_POST_REST(mynic_post_rest_raw, RAW_PACKET)
MYNIC_POST_REST(mynic_post_rest_driver, DRIVER)

/*
 * Post the requests of a list to an RC or UC QP as long as they are of common
 * kinds. These are SEND, WRITE and READ with one SGE, for which every slot has
 * room, or with one piece of inline data.
 *
 * At the first other request, or if the ring looks full, another function
 * takes over with the lock held. This saves the common requests tests and
 * registers for rare requests and errors.
 *
 * @locked (whether to take the lock) and @db_suppress (whether the device may
 * need no doorbell) are constants.
 */
static inline ALWAYS_INLINE int mynic_post_common(struct ibv_qp *ibqp,
						  struct ibv_send_wr *wr,
						  struct ibv_send_wr **bad_wr,
						  enum ibv_qp_type type,
						  bool locked, bool db_suppress)
{
	uint32_t max_opcode = type == IBV_QPT_RC ? IBV_WR_RDMA_READ :
						   IBV_WR_SEND_WITH_IMM;
	struct mynic_sq *sq = &to_mqp(ibqp)->sq;
	struct mynic_send_wqe *wqe;
	uint32_t pi;

	if (unlikely(!wr))
		return 0;
	if (locked)
		mynic_lock(&sq->lock);
	pi = sq->pi;
	wqe = sq->last;

	do {
		const struct ibv_sge *sge = wr->sg_list;

		if (unlikely(pi == sq->end || wr->opcode > max_opcode ||
			     wr->num_sge != 1))
			goto rest;
		wqe = mynic_sq_next(sq, wqe);
		mynic_wqe_set_head(wqe, wr, type);
		if (wr->send_flags & IBV_SEND_INLINE) {
			if (unlikely(wr->opcode == IBV_WR_RDMA_READ ||
				     sge->length > sq->max_inline))
				goto rest;
			mynic_copy_inline(mynic_sq_data(wqe, false),
					  (void *)(uintptr_t)sge->addr,
					  sge->length);
			wqe->len = htole32(sge->length);
		} else {
			mynic_set_sge(mynic_sq_data(wqe, false), sge);
			wqe->len = htole32(1);
		}
		pi++;
		wr = wr->next;
	} while (wr);
	sq->last = wqe;
	sq->pi = pi;
	mynic_sq_ring(sq, pi, db_suppress);
	if (locked)
		mynic_unlock(&sq->lock);
	return 0;

rest:
	mynic_sq_seek(sq, pi);
	return type == IBV_QPT_RC ? mynic_post_rest_rc(ibqp, wr, bad_wr) :
				    mynic_post_rest_uc(ibqp, wr, bad_wr);
}

#define MYNIC_POST_COMMON(name, type, locked, db_suppress)                    \
	static int name(struct ibv_qp *qp, struct ibv_send_wr *wr,            \
			struct ibv_send_wr **bad)                             \
	{                                                                     \
		return mynic_post_common(qp, wr, bad, IBV_QPT_##type, locked, \
					 db_suppress);                        \
	}

MYNIC_POST_COMMON(mynic_post_send_rc, RC, true, false)
MYNIC_POST_COMMON(mynic_post_send_rc_watched, RC, true, true)
MYNIC_POST_COMMON(mynic_post_send_rc_single, RC, false, false)
MYNIC_POST_COMMON(mynic_post_send_rc_single_watched, RC, false, true)
MYNIC_POST_COMMON(mynic_post_send_uc, UC, true, false)
MYNIC_POST_COMMON(mynic_post_send_uc_watched, UC, true, true)
MYNIC_POST_COMMON(mynic_post_send_uc_single, UC, false, false)
MYNIC_POST_COMMON(mynic_post_send_uc_single_watched, UC, false, true)

/* All requests of the other types are posted by the general function. */
#define MYNIC_POST_LOCKED(type)                                     \
	static int mynic_post_send_##type(struct ibv_qp *qp,        \
					  struct ibv_send_wr *wr,   \
					  struct ibv_send_wr **bad) \
	{                                                           \
		mynic_lock(&to_mqp(qp)->sq.lock);                   \
		return mynic_post_rest_##type(qp, wr, bad);         \
	}

MYNIC_POST_LOCKED(xrc)
MYNIC_POST_LOCKED(ud)
MYNIC_POST_LOCKED(raw)
MYNIC_POST_LOCKED(driver)

/*
 * EINVAL: the QP is in RESET or INIT, its type lacks the operation, or its
 * operands, SGEs or inline data are illegal. ENOMEM: the SQ is full. For
 * BIND_MW see mynic_sq_set_bind().
 */
int mynic_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr,
		    struct ibv_send_wr **bad_wr)
{
	return to_mqp(qp)->sq.post_send(qp, wr, bad_wr);
}

typedef int (*mynic_post_fn)(struct ibv_qp *qp, struct ibv_send_wr *wr,
			     struct ibv_send_wr **bad_wr);

void mynic_post_send_setup(struct mynic_qp *qp)
{
	static const mynic_post_fn rc[2][2] = {
		{ mynic_post_send_rc, mynic_post_send_rc_single },
		{ mynic_post_send_rc_watched,
		  mynic_post_send_rc_single_watched },
	};
	static const mynic_post_fn uc[2][2] = {
		{ mynic_post_send_uc, mynic_post_send_uc_single },
		{ mynic_post_send_uc_watched,
		  mynic_post_send_uc_single_watched },
	};
	struct mynic_sq *sq = &qp->sq;
	bool single = sq->single_threaded;

	switch (qp->vqp.qp.qp_type) {
	case IBV_QPT_RC:
		sq->post_send = rc[sq->db_suppress][single];
		break;
	case IBV_QPT_UC:
		sq->post_send = uc[sq->db_suppress][single];
		break;
	case IBV_QPT_XRC_SEND:
		sq->post_send = single ? mynic_post_rest_xrc :
					 mynic_post_send_xrc;
		break;
	case IBV_QPT_RAW_PACKET:
		sq->post_send = single ? mynic_post_rest_raw :
					 mynic_post_send_raw;
		break;
	case IBV_QPT_DRIVER:
		sq->post_send = single ? mynic_post_rest_driver :
					 mynic_post_send_driver;
		break;
	default:
		sq->post_send = single ? mynic_post_rest_ud :
					 mynic_post_send_ud;
		break;
	}
}
