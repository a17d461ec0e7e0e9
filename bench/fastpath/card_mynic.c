// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* mynic, with the kernel and the device of the provider's tests */
#include <endian.h>

#include "../../tests/provider/fastpath/fake.h"
#include "bench.h"

static void card_mynic_complete(enum ibv_wc_opcode opcode, __le64 wr_id)
{
	struct mynic_cqe cqe = {
		.wr_id = wr_id,
		.opcode = htole32(opcode),
		.byte_len = htole32(PAYLOAD_LEN),
		.qp_num = htole32(fake_qp.qpn),
	};

	fake_complete(&fake_cq, &cqe);
}

static void card_mynic_carry_out_sends(void)
{
	uint32_t mask = (1U << fake_qp.resp.log_sq_size) - 1;
	uint64_t doorbell = le64toh(*fake_uar(MYNIC_UAR_QP_DB));
	uint32_t pi = le32toh(fake_qp.dbrec->sq_pi);
	uint32_t ci = le32toh(fake_qp.dbrec->sq_ci);
	struct mynic_send_wqe *wqe;

	if (!fake_qp.dbrec->sq_db_suppress)
		CHECK_EQ(doorbell,
			 (uint64_t)fake_qp.qpn << MYNIC_DB_NUMBER_SHIFT | pi);
	fake_qp.dbrec->sq_db_suppress = htole32(fake.db_suppress);
	for (; ci != pi; ci++) {
		wqe = fake_qp.sq +
		      ((size_t)(ci & mask) << fake_qp.resp.log_sq_stride);
		card_mynic_complete((uint8_t)le32toh(wqe->ctrl) ==
						    IBV_WR_RDMA_WRITE ?
					    IBV_WC_RDMA_WRITE :
					    IBV_WC_SEND,
				    wqe->wr_id);
	}
	fake_qp.dbrec->sq_ci = htole32(ci);
}

static void card_mynic_carry_out_recvs(void)
{
	uint32_t mask = (1U << fake_qp.resp.log_rq_size) - 1;
	uint32_t pi = le32toh(fake_qp.dbrec->rq_pi);
	uint32_t ci = le32toh(fake_qp.dbrec->rq_ci);
	struct mynic_recv_wqe *wqe;

	for (; ci != pi; ci++) {
		wqe = fake_qp.rq +
		      ((size_t)(ci & mask) << fake_qp.resp.log_rq_stride);
		card_mynic_complete(IBV_WC_RECV, wqe->wr_id);
	}
	fake_qp.dbrec->rq_ci = htole32(ci);
}

static void card_mynic_watch(void)
{
	fake.db_suppress = true;
}

const struct card card = {
	.watch = card_mynic_watch,
	.open = fake_open,
	.send = card_mynic_carry_out_sends,
	.recv = card_mynic_carry_out_recvs,
};
