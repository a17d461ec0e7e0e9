// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* ibv_wr_*(): builders and setters, chosen when a QP is created. */
#include <config.h>

#include "sq.h"

/* Of several errors, ibv_wr_complete() returns the first. */
static inline ALWAYS_INLINE void mynic_wr_fail(struct mynic_sq *sq, int err)
{
	if (!sq->wr_err)
		sq->wr_err = err;
}

/* Both log why a setter is refused, and fail the batch. */
static __attribute__((cold, noinline)) void
mynic_wr_reject_sges(struct ibv_qp_ex *ibqp, size_t num_sge, uint32_t max)
{
	struct mynic_sq *sq = &to_mqp_ex(ibqp)->sq;

	mynic_wr_fail(sq, mynic_sq_refuse_sges(sq, num_sge, max));
}

static __attribute__((cold, noinline)) void
mynic_wr_reject_inline(struct ibv_qp_ex *ibqp)
{
	struct mynic_sq *sq = &to_mqp_ex(ibqp)->sq;
	const struct mynic_send_wqe *wqe = sq->last;
	uint32_t opcode = le32toh(wqe->ctrl) & MYNIC_WQE_OPCODE_MASK;

	mynic_wr_fail(sq, mynic_sq_refuse_inline(sq, opcode));
}

/*
 * Return the slot for the next request, filled in as far as it does not depend
 * on the operation, or NULL. The request has no data until a setter is called.
 */
static inline ALWAYS_INLINE struct mynic_send_wqe *
mynic_wr_begin(struct ibv_qp_ex *ibqp, enum ibv_wr_opcode opcode)
{
	struct mynic_sq *sq = &to_mqp_ex(ibqp)->sq;
	struct mynic_send_wqe *wqe;

	if (unlikely(sq->wr_pi == sq->end)) {
		sq->end +=
			mynic_ring_room(&sq->dbrec->sq_ci, sq->end, sq->limit);
		if (sq->wr_pi == sq->end) {
			mynic_wr_fail(sq, sq->limit ? ENOMEM : EINVAL);
			sq->last = NULL;
		}
	}
	if (unlikely(!sq->last))
		return NULL;
	wqe = mynic_sq_next(sq, sq->last);
	sq->last = wqe;
	sq->wr_pi++;

	wqe->wr_id = htole64(ibqp->wr_id);
	wqe->ctrl = mynic_sq_ctrl(opcode, ibqp->wr_flags & ~IBV_SEND_INLINE);
	wqe->len = 0;
	return wqe;
}

static inline ALWAYS_INLINE struct mynic_send_wqe *
mynic_wr_begin_remote(struct ibv_qp_ex *ibqp, enum ibv_wr_opcode opcode,
		      uint32_t rkey, uint64_t remote_addr)
{
	struct mynic_send_wqe *wqe = mynic_wr_begin(ibqp, opcode);

	if (likely(wqe)) {
		wqe->remote_addr = htole64(remote_addr);
		wqe->rkey = htole32(rkey);
	}
	return wqe;
}

static void mynic_wr_send(struct ibv_qp_ex *ibqp)
{
	mynic_wr_begin(ibqp, IBV_WR_SEND);
}

static void mynic_wr_send_imm(struct ibv_qp_ex *ibqp, __be32 imm_data)
{
	struct mynic_send_wqe *wqe = mynic_wr_begin(ibqp, IBV_WR_SEND_WITH_IMM);

	if (likely(wqe))
		wqe->imm_data = imm_data;
}

static void mynic_wr_rdma_read(struct ibv_qp_ex *ibqp, uint32_t rkey,
			       uint64_t remote_addr)
{
	mynic_wr_begin_remote(ibqp, IBV_WR_RDMA_READ, rkey, remote_addr);
}

static void mynic_wr_rdma_write(struct ibv_qp_ex *ibqp, uint32_t rkey,
				uint64_t remote_addr)
{
	mynic_wr_begin_remote(ibqp, IBV_WR_RDMA_WRITE, rkey, remote_addr);
}

static void mynic_wr_rdma_write_imm(struct ibv_qp_ex *ibqp, uint32_t rkey,
				    uint64_t remote_addr, __be32 imm_data)
{
	struct mynic_send_wqe *wqe;

	wqe = mynic_wr_begin_remote(ibqp, IBV_WR_RDMA_WRITE_WITH_IMM, rkey,
				    remote_addr);
	if (likely(wqe))
		wqe->imm_data = imm_data;
}

static void mynic_wr_send_inv(struct ibv_qp_ex *ibqp, uint32_t rkey)
{
	struct mynic_send_wqe *wqe = mynic_wr_begin(ibqp, IBV_WR_SEND_WITH_INV);

	if (likely(wqe))
		wqe->invalidate_rkey = htole32(rkey);
}

static void mynic_wr_local_inv(struct ibv_qp_ex *ibqp, uint32_t rkey)
{
	struct mynic_send_wqe *wqe = mynic_wr_begin(ibqp, IBV_WR_LOCAL_INV);

	if (likely(wqe))
		wqe->invalidate_rkey = htole32(rkey);
}

static inline ALWAYS_INLINE void
mynic_wr_atomic(struct ibv_qp_ex *ibqp, enum ibv_wr_opcode opcode,
		uint32_t rkey, uint64_t remote_addr, uint64_t compare_add,
		uint64_t swap)
{
	struct mynic_sq *sq = &to_mqp_ex(ibqp)->sq;
	struct mynic_send_wqe *wqe;

	wqe = mynic_wr_begin_remote(ibqp, opcode, rkey, remote_addr);
	if (likely(wqe))
		mynic_sq_set_atomic(mynic_sq_data_of(sq, wqe), compare_add,
				    swap);
}

static void mynic_wr_atomic_cmp_swp(struct ibv_qp_ex *ibqp, uint32_t rkey,
				    uint64_t remote_addr, uint64_t compare,
				    uint64_t swap)
{
	mynic_wr_atomic(ibqp, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, remote_addr,
			compare, swap);
}

static void mynic_wr_atomic_fetch_add(struct ibv_qp_ex *ibqp, uint32_t rkey,
				      uint64_t remote_addr, uint64_t add)
{
	mynic_wr_atomic(ibqp, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, remote_addr,
			add, 0);
}

static void mynic_wr_atomic_write(struct ibv_qp_ex *ibqp, uint32_t rkey,
				  uint64_t remote_addr, const void *value)
{
	struct mynic_sq *sq = &to_mqp_ex(ibqp)->sq;
	struct mynic_send_wqe *wqe;

	wqe = mynic_wr_begin_remote(ibqp, IBV_WR_ATOMIC_WRITE, rkey,
				    remote_addr);
	if (unlikely(!wqe))
		return;
	memcpy(mynic_sq_data_of(sq, wqe), value, sizeof(uint64_t));
	wqe->ctrl |= mynic_sq_ctrl(0, IBV_SEND_INLINE);
	wqe->len = htole32(sizeof(uint64_t));
}

static void mynic_wr_flush(struct ibv_qp_ex *ibqp, uint32_t rkey,
			   uint64_t remote_addr, size_t len, uint8_t type,
			   uint8_t level)
{
	struct mynic_sq *sq = &to_mqp_ex(ibqp)->sq;
	struct mynic_flush_operands *operands;
	struct mynic_send_wqe *wqe;

	wqe = mynic_wr_begin_remote(ibqp, IBV_WR_FLUSH, rkey, remote_addr);
	if (unlikely(!wqe))
		return;
	operands = mynic_sq_data_of(sq, wqe);
	operands->length = htole64(len);
	operands->placement = htole32(type);
	operands->selectivity = htole32(level);
}

static void mynic_wr_bind_mw(struct ibv_qp_ex *ibqp, struct ibv_mw *mw,
			     uint32_t rkey, const struct ibv_mw_bind_info *info)
{
	struct mynic_sq *sq = &to_mqp_ex(ibqp)->sq;
	struct mynic_send_wqe *wqe = mynic_wr_begin(ibqp, IBV_WR_BIND_MW);
	int err;

	if (unlikely(!wqe))
		return;
	err = mynic_sq_set_bind(sq, wqe, mw, rkey, info);
	if (err)
		mynic_wr_fail(sq, err);
}

static void mynic_wr_send_tso(struct ibv_qp_ex *ibqp, void *hdr,
			      uint16_t hdr_len, uint16_t mss)
{
	struct mynic_sq *sq = &to_mqp_ex(ibqp)->sq;
	struct mynic_send_wqe *wqe = mynic_wr_begin(ibqp, IBV_WR_TSO);
	int err;

	if (unlikely(!wqe))
		return;
	err = mynic_sq_set_tso(sq, wqe, hdr, hdr_len, mss);
	if (err)
		mynic_wr_fail(sq, err);
}

/* For a builder or setter that the QP type lacks: discard the batch. */
static void mynic_wr_refuse(struct ibv_qp_ex *ibqp)
{
	struct mynic_sq *sq = &to_mqp_ex(ibqp)->sq;
	struct ibv_qp *qp = &ibqp->qp_base;

	verbs_debug(
		verbs_get_ctx(qp->context),
		"QP 0x%x: type %d, or its send_ops_flags, lacks a builder or setter\n",
		qp->qp_num, qp->qp_type);
	mynic_wr_fail(sq, EINVAL);
	sq->last = NULL;
}

/*
 * Begin a DRIVER1 request that copies to @addr. A setter then names the source.
 * On QPs of other types the batch fails with EINVAL.
 */
void mynic_wr_driver1(struct ibv_qp_ex *ibqp, uint32_t lkey, uint64_t addr)
{
	if (mynic_op_on(IBV_WR_DRIVER1, ibqp->qp_base.qp_type))
		mynic_wr_begin_remote(ibqp, IBV_WR_DRIVER1, lkey, addr);
	else
		mynic_wr_refuse(ibqp);
}

static void mynic_wr_set_xrc_srqn(struct ibv_qp_ex *ibqp, uint32_t remote_srqn)
{
	struct mynic_send_wqe *wqe = to_mqp_ex(ibqp)->sq.last;

	if (likely(wqe))
		mynic_sq_xrc(wqe)->remote_srqn = htole32(remote_srqn);
}

static void mynic_wr_set_ud_addr(struct ibv_qp_ex *ibqp, struct ibv_ah *ah,
				 uint32_t remote_qpn, uint32_t remote_qkey)
{
	struct mynic_send_wqe *wqe = to_mqp_ex(ibqp)->sq.last;

	if (unlikely(!wqe))
		return;
	wqe->remote_qpn = htole32(remote_qpn);
	wqe->remote_qkey = htole32(remote_qkey);
	*mynic_sq_av(wqe) = to_mah(ah)->av;
}

static inline ALWAYS_INLINE void mynic_wr_set_sge(struct ibv_qp_ex *ibqp,
						  uint32_t lkey, uint64_t addr,
						  uint32_t length, bool ext)
{
	struct mynic_send_wqe *wqe = to_mqp_ex(ibqp)->sq.last;
	struct mynic_sge *sge;

	if (unlikely(!wqe))
		return;
	sge = mynic_sq_data(wqe, ext);
	sge->addr = htole64(addr);
	sge->length = htole32(length);
	sge->lkey = htole32(lkey);
	wqe->len = htole32(1);
}

static inline ALWAYS_INLINE void
mynic_wr_set_sge_list(struct ibv_qp_ex *ibqp, size_t num_sge,
		      const struct ibv_sge *sg_list, bool ext)
{
	struct mynic_sq *sq = &to_mqp_ex(ibqp)->sq;
	struct mynic_send_wqe *wqe = sq->last;

	if (unlikely(!wqe))
		return;
	if (unlikely(num_sge > sq->max_sge)) {
		mynic_wr_reject_sges(ibqp, num_sge, sq->max_sge);
		return;
	}
	mynic_set_sges(mynic_sq_data(wqe, ext), sg_list, num_sge);
	wqe->len = htole32(num_sge);
}

static inline ALWAYS_INLINE void
mynic_wr_set_inline_list(struct ibv_qp_ex *ibqp, size_t num_buf,
			 const struct ibv_data_buf *bufs, bool ext)
{
	struct mynic_sq *sq = &to_mqp_ex(ibqp)->sq;
	struct mynic_send_wqe *wqe = sq->last;
	uint32_t opcode, ctrl;
	size_t total = 0;
	void *data;
	size_t i;

	if (unlikely(!wqe))
		return;
	data = mynic_sq_data(wqe, ext);
	ctrl = le32toh(wqe->ctrl);
	/* Opcodes up to this one are common, and all take inline data. */
	opcode = ctrl & MYNIC_WQE_OPCODE_MASK;
	if (unlikely(opcode > IBV_WR_SEND_WITH_IMM &&
		     !mynic_op_inline(opcode))) {
		mynic_wr_reject_inline(ibqp);
		return;
	}
	for (i = 0; i < num_buf; i++) {
		if (unlikely(bufs[i].length > sq->max_inline - total)) {
			mynic_wr_reject_inline(ibqp);
			return;
		}
		mynic_copy_inline(data + total, bufs[i].addr, bufs[i].length);
		total += bufs[i].length;
	}
	wqe->ctrl = htole32(ctrl | IBV_SEND_INLINE << MYNIC_WQE_FLAGS_SHIFT);
	wqe->len = htole32(total);
}

static inline ALWAYS_INLINE void
mynic_wr_set_inline(struct ibv_qp_ex *ibqp, void *addr, size_t length, bool ext)
{
	const struct ibv_data_buf buf = { .addr = addr, .length = length };

	mynic_wr_set_inline_list(ibqp, 1, &buf, ext);
}

/* The offset of the data area depends on the type of QP. */
static void mynic_wr_set_sge_rc(struct ibv_qp_ex *qp, uint32_t lkey,
				uint64_t addr, uint32_t length)
{
	mynic_wr_set_sge(qp, lkey, addr, length, false);
}

static void mynic_wr_set_sge_list_rc(struct ibv_qp_ex *qp, size_t num_sge,
				     const struct ibv_sge *sg_list)
{
	mynic_wr_set_sge_list(qp, num_sge, sg_list, false);
}

static void mynic_wr_set_inline_rc(struct ibv_qp_ex *qp, void *addr,
				   size_t length)
{
	mynic_wr_set_inline(qp, addr, length, false);
}

static void mynic_wr_set_inline_list_rc(struct ibv_qp_ex *qp, size_t num_buf,
					const struct ibv_data_buf *bufs)
{
	mynic_wr_set_inline_list(qp, num_buf, bufs, false);
}

static void mynic_wr_set_sge_ext(struct ibv_qp_ex *qp, uint32_t lkey,
				 uint64_t addr, uint32_t length)
{
	mynic_wr_set_sge(qp, lkey, addr, length, true);
}

static void mynic_wr_set_sge_list_ext(struct ibv_qp_ex *qp, size_t num_sge,
				      const struct ibv_sge *sg_list)
{
	mynic_wr_set_sge_list(qp, num_sge, sg_list, true);
}

static void mynic_wr_set_inline_ext(struct ibv_qp_ex *qp, void *addr,
				    size_t length)
{
	mynic_wr_set_inline(qp, addr, length, true);
}

static void mynic_wr_set_inline_list_ext(struct ibv_qp_ex *qp, size_t num_buf,
					 const struct ibv_data_buf *bufs)
{
	mynic_wr_set_inline_list(qp, num_buf, bufs, true);
}

/*
 * Setters for QPs with operations whose data is not at the start of the data
 * area.
 */

static void mynic_wr_set_sge_list_any(struct ibv_qp_ex *ibqp, size_t num_sge,
				      const struct ibv_sge *sg_list)
{
	struct mynic_sq *sq = &to_mqp_ex(ibqp)->sq;
	struct mynic_send_wqe *wqe = sq->last;
	uint32_t offset = 0;

	if (unlikely(!wqe))
		return;
	switch (mynic_ops[le32toh(wqe->ctrl) & MYNIC_WQE_OPCODE_MASK].data) {
	case MYNIC_DATA_FIXED:
		return;
	case MYNIC_DATA_NONE:
		mynic_wr_reject_sges(ibqp, num_sge, 0);
		return;
	case MYNIC_DATA_TSO:
		offset = mynic_tso_sges(le16toh(wqe->hdr_len));
		break;
	}
	if (unlikely(num_sge > sq->max_sge)) {
		mynic_wr_reject_sges(ibqp, num_sge, sq->max_sge);
		return;
	}
	mynic_set_sges(mynic_sq_data_of(sq, wqe) + offset, sg_list, num_sge);
	wqe->len = htole32(num_sge);
}

static void mynic_wr_set_sge_any(struct ibv_qp_ex *qp, uint32_t lkey,
				 uint64_t addr, uint32_t length)
{
	const struct ibv_sge sge = { addr, length, lkey };

	mynic_wr_set_sge_list_any(qp, 1, &sge);
}

static void mynic_wr_set_inline_list_any(struct ibv_qp_ex *ibqp, size_t num_buf,
					 const struct ibv_data_buf *bufs)
{
	struct mynic_send_wqe *wqe = to_mqp_ex(ibqp)->sq.last;

	if (likely(wqe) &&
	    mynic_ops[le32toh(wqe->ctrl) & MYNIC_WQE_OPCODE_MASK].data ==
		    MYNIC_DATA_FIXED)
		return;
	mynic_wr_set_inline_list(ibqp, num_buf, bufs,
				 mynic_sq_has_ext(ibqp->qp_base.qp_type));
}

static void mynic_wr_set_inline_any(struct ibv_qp_ex *qp, void *addr,
				    size_t length)
{
	const struct ibv_data_buf buf = { .addr = addr, .length = length };

	mynic_wr_set_inline_list_any(qp, 1, &buf);
}

static inline ALWAYS_INLINE void mynic_wr_open(struct mynic_sq *sq)
{
	sq->wr_pi = sq->pi;
	sq->wr_err = 0;
}

static inline ALWAYS_INLINE void mynic_wr_discard(struct mynic_sq *sq)
{
	mynic_sq_seek(sq, sq->pi);
}

/*
 * End a batch of which nothing is posted, out of line. Log it if the QP has no
 * slots, which builders do not. A full ring is not logged. Releasing a lock
 * that was not taken changes nothing. Return: the error.
 */
static __attribute__((cold, noinline)) int
mynic_wr_end_failed(struct ibv_qp_ex *ibqp)
{
	struct mynic_sq *sq = &to_mqp_ex(ibqp)->sq;
	int err = sq->wr_err;

	if (!sq->limit)
		mynic_sq_refuse_state(sq);
	mynic_wr_discard(sq);
	mynic_unlock(&sq->lock);
	return err;
}

/* Return: 0, or the error because of which nothing was posted. */
static inline ALWAYS_INLINE int mynic_wr_close(struct ibv_qp_ex *ibqp,
					       bool db_suppress, bool locked)
{
	struct mynic_sq *sq = &to_mqp_ex(ibqp)->sq;
	uint32_t pi = sq->wr_pi;

	if (unlikely(sq->wr_err))
		return mynic_wr_end_failed(ibqp);
	if (likely(sq->pi != pi)) {
		sq->pi = pi;
		mynic_sq_ring(sq, pi, db_suppress);
	}
	if (locked)
		mynic_unlock(&sq->lock);
	return 0;
}

static void mynic_wr_start(struct ibv_qp_ex *ibqp)
{
	struct mynic_sq *sq = &to_mqp_ex(ibqp)->sq;

	mynic_lock(&sq->lock);
	mynic_wr_open(sq);
}

static void mynic_wr_abort(struct ibv_qp_ex *ibqp)
{
	struct mynic_sq *sq = &to_mqp_ex(ibqp)->sq;

	mynic_wr_discard(sq);
	mynic_unlock(&sq->lock);
}

static int mynic_wr_complete(struct ibv_qp_ex *ibqp)
{
	return mynic_wr_close(ibqp, false, true);
}

static int mynic_wr_complete_watched(struct ibv_qp_ex *ibqp)
{
	return mynic_wr_close(ibqp, true, true);
}

static void mynic_wr_start_single(struct ibv_qp_ex *ibqp)
{
	mynic_wr_open(&to_mqp_ex(ibqp)->sq);
}

static void mynic_wr_abort_single(struct ibv_qp_ex *ibqp)
{
	mynic_wr_discard(&to_mqp_ex(ibqp)->sq);
}

static int mynic_wr_complete_single(struct ibv_qp_ex *ibqp)
{
	return mynic_wr_close(ibqp, false, false);
}

static int mynic_wr_complete_single_watched(struct ibv_qp_ex *ibqp)
{
	return mynic_wr_close(ibqp, true, false);
}

/*
 * Stubs for builders and setters that a QP lacks. libibverbs calls them through
 * the pointers of struct ibv_qp_ex without a test. With NULL, a program that
 * uses an operation that the QP lacks would crash. With a stub,
 * ibv_wr_complete() returns an error. There is one for each list of parameters.
 */

static void mynic_no_imm(struct ibv_qp_ex *qp, __be32 imm_data)
{
	mynic_wr_refuse(qp);
}

static void mynic_no_inv(struct ibv_qp_ex *qp, uint32_t rkey)
{
	mynic_wr_refuse(qp);
}

static void mynic_no_rdma(struct ibv_qp_ex *qp, uint32_t rkey,
			  uint64_t remote_addr)
{
	mynic_wr_refuse(qp);
}

static void mynic_no_write_imm(struct ibv_qp_ex *qp, uint32_t rkey,
			       uint64_t remote_addr, __be32 imm_data)
{
	mynic_wr_refuse(qp);
}

static void mynic_no_cmp_swp(struct ibv_qp_ex *qp, uint32_t rkey,
			     uint64_t remote_addr, uint64_t compare,
			     uint64_t swap)
{
	mynic_wr_refuse(qp);
}

static void mynic_no_fetch_add(struct ibv_qp_ex *qp, uint32_t rkey,
			       uint64_t remote_addr, uint64_t add)
{
	mynic_wr_refuse(qp);
}

static void mynic_no_atomic_write(struct ibv_qp_ex *qp, uint32_t rkey,
				  uint64_t remote_addr, const void *value)
{
	mynic_wr_refuse(qp);
}

static void mynic_no_flush(struct ibv_qp_ex *qp, uint32_t rkey,
			   uint64_t remote_addr, size_t len, uint8_t type,
			   uint8_t level)
{
	mynic_wr_refuse(qp);
}

static void mynic_no_bind_mw(struct ibv_qp_ex *qp, struct ibv_mw *mw,
			     uint32_t rkey, const struct ibv_mw_bind_info *info)
{
	mynic_wr_refuse(qp);
}

static void mynic_no_tso(struct ibv_qp_ex *qp, void *hdr, uint16_t hdr_len,
			 uint16_t mss)
{
	mynic_wr_refuse(qp);
}

static void mynic_no_ud_addr(struct ibv_qp_ex *qp, struct ibv_ah *ah,
			     uint32_t remote_qpn, uint32_t remote_qkey)
{
	mynic_wr_refuse(qp);
}

static void mynic_wr_set_data(struct ibv_qp_ex *qpx, bool plain, bool ext)
{
	if (!plain) {
		qpx->wr_set_sge = mynic_wr_set_sge_any;
		qpx->wr_set_sge_list = mynic_wr_set_sge_list_any;
		qpx->wr_set_inline_data = mynic_wr_set_inline_any;
		qpx->wr_set_inline_data_list = mynic_wr_set_inline_list_any;
	} else if (ext) {
		qpx->wr_set_sge = mynic_wr_set_sge_ext;
		qpx->wr_set_sge_list = mynic_wr_set_sge_list_ext;
		qpx->wr_set_inline_data = mynic_wr_set_inline_ext;
		qpx->wr_set_inline_data_list = mynic_wr_set_inline_list_ext;
	} else {
		qpx->wr_set_sge = mynic_wr_set_sge_rc;
		qpx->wr_set_sge_list = mynic_wr_set_sge_list_rc;
		qpx->wr_set_inline_data = mynic_wr_set_inline_rc;
		qpx->wr_set_inline_data_list = mynic_wr_set_inline_list_rc;
	}
}

static void mynic_wr_set_section(struct ibv_qp_ex *qpx,
				 const struct mynic_sq *sq)
{
	if (sq->single_threaded) {
		qpx->wr_start = mynic_wr_start_single;
		qpx->wr_complete = sq->db_suppress ?
					   mynic_wr_complete_single_watched :
					   mynic_wr_complete_single;
		qpx->wr_abort = mynic_wr_abort_single;
	} else {
		qpx->wr_start = mynic_wr_start;
		qpx->wr_complete = sq->db_suppress ? mynic_wr_complete_watched :
						     mynic_wr_complete;
		qpx->wr_abort = mynic_wr_abort;
	}
}

/*
 * A QP has all operations of its type, except those that make setters slower.
 * Those must be in @ops, so that they do not slow down other QPs.
 */
void mynic_wr_setup(struct mynic_qp *qp, uint64_t ops)
{
	enum ibv_qp_type type = qp->vqp.qp.qp_type;
	struct ibv_qp_ex *qpx = &qp->vqp.qp_ex;
	bool has[MYNIC_NUM_OPS];
	bool plain = true;

	for (int i = 0; i < MYNIC_NUM_OPS; i++) {
		bool wanted = ops & mynic_ops[i].flag;

		has[i] = mynic_op_on(i, type) && (wanted || mynic_op_plain(i));
		if (wanted && !mynic_op_plain(i))
			plain = false;
	}

	qp->vqp.comp_mask |= VERBS_QP_EX;
	mynic_wr_set_section(qpx, &qp->sq);
	mynic_wr_set_data(qpx, plain, mynic_sq_has_ext(type));
	qpx->wr_set_ud_addr = type == IBV_QPT_UD ? mynic_wr_set_ud_addr :
						   mynic_no_ud_addr;
	qpx->wr_set_xrc_srqn =
		type == IBV_QPT_XRC_SEND ? mynic_wr_set_xrc_srqn : mynic_no_inv;

#define BUILDER(member, opcode, none) \
	(qpx->wr_##member = has[IBV_WR_##opcode] ? mynic_wr_##member : (none))

	BUILDER(send, SEND, mynic_wr_refuse);
	BUILDER(send_imm, SEND_WITH_IMM, mynic_no_imm);
	BUILDER(send_inv, SEND_WITH_INV, mynic_no_inv);
	BUILDER(send_tso, TSO, mynic_no_tso);
	BUILDER(rdma_write, RDMA_WRITE, mynic_no_rdma);
	BUILDER(rdma_write_imm, RDMA_WRITE_WITH_IMM, mynic_no_write_imm);
	BUILDER(rdma_read, RDMA_READ, mynic_no_rdma);
	BUILDER(atomic_cmp_swp, ATOMIC_CMP_AND_SWP, mynic_no_cmp_swp);
	BUILDER(atomic_fetch_add, ATOMIC_FETCH_AND_ADD, mynic_no_fetch_add);
	BUILDER(atomic_write, ATOMIC_WRITE, mynic_no_atomic_write);
	BUILDER(flush, FLUSH, mynic_no_flush);
	BUILDER(local_inv, LOCAL_INV, mynic_no_inv);
	BUILDER(bind_mw, BIND_MW, mynic_no_bind_mw);

#undef BUILDER
}
