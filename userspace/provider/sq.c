// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Send queues: TSO requests, and why a request is refused, for libibverbs' log */
#include <config.h>

#include "sq.h"

static struct ibv_qp *mynic_sq_to_qp(const struct mynic_sq *sq)
{
	return &container_of(sq, struct mynic_qp, sq)->vqp.qp;
}

/* The queue has no slots in this state of the QP, or none at all. */
int mynic_sq_refuse_state(const struct mynic_sq *sq)
{
	struct ibv_qp *qp = mynic_sq_to_qp(sq);

	verbs_debug(verbs_get_ctx(qp->context),
		    "QP 0x%x: not in RTS, or no SQ\n", qp->qp_num);
	return EINVAL;
}

int mynic_sq_refuse_sges(const struct mynic_sq *sq, size_t num_sge,
			 uint32_t max)
{
	struct ibv_qp *qp = mynic_sq_to_qp(sq);

	verbs_debug(verbs_get_ctx(qp->context),
		    "QP 0x%x: %zu SGEs, at most %u\n", qp->qp_num, num_sge,
		    max);
	return EINVAL;
}

int mynic_sq_refuse_inline(const struct mynic_sq *sq, uint32_t opcode)
{
	struct ibv_qp *qp = mynic_sq_to_qp(sq);

	verbs_debug(
		verbs_get_ctx(qp->context),
		"QP 0x%x: inline data with opcode %u, or more than %u bytes\n",
		qp->qp_num, opcode, sq->max_inline);
	return EINVAL;
}

static int mynic_sq_refuse_tso(const struct mynic_sq *sq, uint16_t hdr_len,
			       uint16_t mss)
{
	struct ibv_qp *qp = mynic_sq_to_qp(sq);

	verbs_debug(
		verbs_get_ctx(qp->context),
		"QP 0x%x: TSO needs segments (%u bytes) and a header (%u, at most %u)\n",
		qp->qp_num, mss, hdr_len, sq->max_tso_hdr);
	return EINVAL;
}

/*
 * Make an entry a TSO, with its header but without SGEs. @mss is the payload of
 * each segment. EINVAL: there is no header or no segment, or the header is
 * longer than the QP was created for.
 */
int mynic_sq_set_tso(const struct mynic_sq *sq, struct mynic_send_wqe *wqe,
		     const void *hdr, uint16_t hdr_len, uint16_t mss)
{
	if (!hdr_len || hdr_len > sq->max_tso_hdr || !mss)
		return mynic_sq_refuse_tso(sq, hdr_len, mss);
	wqe->hdr_len = htole16(hdr_len);
	wqe->mss = htole16(mss);
	memcpy(mynic_sq_data_of(sq, wqe), hdr, hdr_len);
	return 0;
}
