// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* ibv_wr_*() */
#include <config.h>

#include "sq.h"

/*
 * The slot for the next request, with what all operations have. The request
 * has no data until a setter says so.
 *
 * Return: the slot, or NULL if there is none.
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
			sq->wr_err = sq->limit ? ENOMEM : EINVAL;
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

static inline ALWAYS_INLINE void
mynic_wr_atomic(struct ibv_qp_ex *ibqp, enum ibv_wr_opcode opcode,
		uint32_t rkey, uint64_t remote_addr, uint64_t compare_add,
		uint64_t swap, bool ext)
{
	struct mynic_send_wqe *wqe;

	wqe = mynic_wr_begin_remote(ibqp, opcode, rkey, remote_addr);
	if (likely(wqe))
		mynic_sq_set_atomic(wqe, compare_add, swap, ext);
}

static void mynic_wr_cmp_swp_rc(struct ibv_qp_ex *ibqp, uint32_t rkey,
				uint64_t remote_addr, uint64_t compare,
				uint64_t swap)
{
	mynic_wr_atomic(ibqp, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, remote_addr,
			compare, swap, false);
}

static void mynic_wr_fetch_add_rc(struct ibv_qp_ex *ibqp, uint32_t rkey,
				  uint64_t remote_addr, uint64_t add)
{
	mynic_wr_atomic(ibqp, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, remote_addr,
			add, 0, false);
}

static void mynic_wr_cmp_swp_xrc(struct ibv_qp_ex *ibqp, uint32_t rkey,
				 uint64_t remote_addr, uint64_t compare,
				 uint64_t swap)
{
	mynic_wr_atomic(ibqp, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, remote_addr,
			compare, swap, true);
}

static void mynic_wr_fetch_add_xrc(struct ibv_qp_ex *ibqp, uint32_t rkey,
				   uint64_t remote_addr, uint64_t add)
{
	mynic_wr_atomic(ibqp, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, remote_addr,
			add, 0, true);
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
		sq->wr_err = EINVAL;
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
	size_t total = 0;
	uint32_t ctrl;
	void *data;
	size_t i;

	if (unlikely(!wqe))
		return;
	data = mynic_sq_data(wqe, ext);
	ctrl = le32toh(wqe->ctrl);
	if (unlikely(!mynic_opcode_in(MYNIC_INLINE_OPCODES,
				      ctrl & MYNIC_WQE_OPCODE_MASK)))
		goto err;
	for (i = 0; i < num_buf; i++) {
		if (unlikely(bufs[i].length > sq->max_inline - total))
			goto err;
		mynic_copy_inline(data + total, bufs[i].addr, bufs[i].length);
		total += bufs[i].length;
	}
	wqe->ctrl = htole32(ctrl | IBV_SEND_INLINE << MYNIC_WQE_FLAGS_SHIFT);
	wqe->len = htole32(total);
	return;

err:
	sq->wr_err = EINVAL;
}

static inline ALWAYS_INLINE void
mynic_wr_set_inline(struct ibv_qp_ex *ibqp, void *addr, size_t length, bool ext)
{
	const struct ibv_data_buf buf = { .addr = addr, .length = length };

	mynic_wr_set_inline_list(ibqp, 1, &buf, ext);
}

/* Where the data goes depends on the type of QP. */
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

static void mynic_wr_start(struct ibv_qp_ex *ibqp)
{
	struct mynic_sq *sq = &to_mqp_ex(ibqp)->sq;

	mynic_lock(&sq->lock);
	sq->wr_pi = sq->pi;
	sq->wr_err = 0;
}

static void mynic_wr_abort(struct ibv_qp_ex *ibqp)
{
	struct mynic_sq *sq = &to_mqp_ex(ibqp)->sq;

	mynic_sq_seek(sq, sq->pi);
	mynic_unlock(&sq->lock);
}

static int mynic_wr_complete(struct ibv_qp_ex *ibqp)
{
	struct mynic_sq *sq = &to_mqp_ex(ibqp)->sq;
	int err = sq->wr_err;

	if (unlikely(err)) {
		mynic_wr_abort(ibqp);
		return err;
	}
	if (likely(sq->pi != sq->wr_pi)) {
		sq->pi = sq->wr_pi;
		mynic_sq_ring(sq);
	}
	mynic_unlock(&sq->lock);
	return 0;
}

#define MYNIC_UD_OPS (IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM)
#define MYNIC_UC_OPS                                \
	(MYNIC_UD_OPS | IBV_QP_EX_WITH_RDMA_WRITE | \
	 IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
#define MYNIC_RC_OPS                               \
	(MYNIC_UC_OPS | IBV_QP_EX_WITH_RDMA_READ | \
	 IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |       \
	 IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)

static uint64_t mynic_wr_ops_of(enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_RC:
	case IBV_QPT_XRC_SEND:
		return MYNIC_RC_OPS;
	case IBV_QPT_UC:
		return MYNIC_UC_OPS;
	default:
		return MYNIC_UD_OPS;
	}
}

/**
 * mynic_wr_supported() - whether a type of QP has all these operations
 * @type: the type
 * @ops: enum ibv_qp_create_send_ops_flags
 *
 * Return: true if so.
 */
bool mynic_wr_supported(enum ibv_qp_type type, uint64_t ops)
{
	return check_comp_mask(ops, mynic_wr_ops_of(type));
}

/**
 * mynic_wr_setup() - fill in the functions of a new QP
 * @qp: the QP
 */
void mynic_wr_setup(struct mynic_qp *qp)
{
	struct ibv_qp_ex *qpx = &qp->vqp.qp_ex;

	qp->vqp.comp_mask |= VERBS_QP_EX;

	qpx->wr_start = mynic_wr_start;
	qpx->wr_complete = mynic_wr_complete;
	qpx->wr_abort = mynic_wr_abort;
	qpx->wr_send = mynic_wr_send;
	qpx->wr_send_imm = mynic_wr_send_imm;

	switch (qp->vqp.qp.qp_type) {
	case IBV_QPT_RC:
		qpx->wr_rdma_read = mynic_wr_rdma_read;
		qpx->wr_atomic_cmp_swp = mynic_wr_cmp_swp_rc;
		qpx->wr_atomic_fetch_add = mynic_wr_fetch_add_rc;
		SWITCH_FALLTHROUGH;
	case IBV_QPT_UC:
		qpx->wr_set_sge = mynic_wr_set_sge_rc;
		qpx->wr_set_sge_list = mynic_wr_set_sge_list_rc;
		qpx->wr_set_inline_data = mynic_wr_set_inline_rc;
		qpx->wr_set_inline_data_list = mynic_wr_set_inline_list_rc;
		qpx->wr_rdma_write = mynic_wr_rdma_write;
		qpx->wr_rdma_write_imm = mynic_wr_rdma_write_imm;
		break;
	case IBV_QPT_XRC_SEND:
		qpx->wr_set_xrc_srqn = mynic_wr_set_xrc_srqn;
		qpx->wr_rdma_read = mynic_wr_rdma_read;
		qpx->wr_atomic_cmp_swp = mynic_wr_cmp_swp_xrc;
		qpx->wr_atomic_fetch_add = mynic_wr_fetch_add_xrc;
		qpx->wr_set_sge = mynic_wr_set_sge_ext;
		qpx->wr_set_sge_list = mynic_wr_set_sge_list_ext;
		qpx->wr_set_inline_data = mynic_wr_set_inline_ext;
		qpx->wr_set_inline_data_list = mynic_wr_set_inline_list_ext;
		qpx->wr_rdma_write = mynic_wr_rdma_write;
		qpx->wr_rdma_write_imm = mynic_wr_rdma_write_imm;
		break;
	default:
		qpx->wr_set_ud_addr = mynic_wr_set_ud_addr;
		qpx->wr_set_sge = mynic_wr_set_sge_ext;
		qpx->wr_set_sge_list = mynic_wr_set_sge_list_ext;
		qpx->wr_set_inline_data = mynic_wr_set_inline_ext;
		qpx->wr_set_inline_data_list = mynic_wr_set_inline_list_ext;
		break;
	}
}
