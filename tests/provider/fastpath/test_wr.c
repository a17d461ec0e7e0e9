// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* ibv_wr_*(): builders, setters, batches. */
#include "fixture.h"
#include "sq.h"

#define RADDR 0x1122334455667788ULL
#define RKEY 0xa1b2c3d4U
#define IMM htobe32(0x01020304)

static void check_head(uint32_t index, uint64_t wr_id,
		       enum ibv_wr_opcode opcode, unsigned int flags,
		       uint32_t len)
{
	struct mynic_send_wqe *wqe = fixture_sq_slot(index);

	CHECK_EQ(le64toh(wqe->wr_id), wr_id);
	CHECK_EQ(le32toh(wqe->ctrl), opcode | flags << 8);
	CHECK_EQ(le32toh(wqe->len), len);
	if (opcode != IBV_WR_SEND && opcode != IBV_WR_SEND_WITH_IMM) {
		CHECK_EQ(le64toh(wqe->remote_addr), RADDR);
		CHECK_EQ(le32toh(wqe->rkey), RKEY);
	}
	if (opcode == IBV_WR_SEND_WITH_IMM ||
	    opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		CHECK_EQ(wqe->imm_data, IMM);
}

static void check_sge(const struct mynic_sge *sge, uint64_t addr,
		      uint32_t length, uint32_t lkey)
{
	CHECK_EQ(le64toh(sge->addr), addr);
	CHECK_EQ(le32toh(sge->length), length);
	CHECK_EQ(le32toh(sge->lkey), lkey);
}

/* UC has the first UC_OPCODES of them */
static const enum ibv_wr_opcode order[] = {
	IBV_WR_SEND,
	IBV_WR_SEND_WITH_IMM,
	IBV_WR_RDMA_WRITE,
	IBV_WR_RDMA_WRITE_WITH_IMM,
	IBV_WR_RDMA_READ,
	IBV_WR_ATOMIC_CMP_AND_SWP,
	IBV_WR_ATOMIC_FETCH_AND_ADD,
};

#define UC_OPCODES 4

static void check_builders(enum ibv_qp_type type, int opcodes)
{
	struct fixture *f = fixture_open(16);
	struct ibv_qp *qp = fixture_qp(f, type, 16, 2);
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);

	CHECK(qpx);
	memset(fake_qp.sq, 0xee, 16 * 64);
	ibv_wr_start(qpx);
	for (int i = 0; i < opcodes; i++) {
		qpx->wr_id = 1000 + i;
		qpx->wr_flags = i & 1 ? IBV_SEND_SIGNALED :
					IBV_SEND_FENCE | IBV_SEND_SOLICITED;
		switch (order[i]) {
		case IBV_WR_SEND:
			ibv_wr_send(qpx);
			break;
		case IBV_WR_SEND_WITH_IMM:
			ibv_wr_send_imm(qpx, IMM);
			break;
		case IBV_WR_RDMA_WRITE:
			ibv_wr_rdma_write(qpx, RKEY, RADDR);
			break;
		case IBV_WR_RDMA_WRITE_WITH_IMM:
			ibv_wr_rdma_write_imm(qpx, RKEY, RADDR, IMM);
			break;
		case IBV_WR_RDMA_READ:
			ibv_wr_rdma_read(qpx, RKEY, RADDR);
			break;
		case IBV_WR_ATOMIC_CMP_AND_SWP:
			ibv_wr_atomic_cmp_swp(qpx, RKEY, RADDR, 0x1234567890ULL,
					      0x0987654321ULL);
			break;
		default:
			ibv_wr_atomic_fetch_add(qpx, RKEY, RADDR,
						0xabcdef0123ULL);
		}
		ibv_wr_set_sge(qpx, 0x80000000 + i, 0x7f0000000000ULL + i,
			       0x40000000 + i);
	}
	fixture_check_not_rung(0);
	CHECK_EQ(ibv_wr_complete(qpx), 0);
	fixture_check_doorbell(qp, opcodes);

	for (int i = 0; i < opcodes; i++) {
		check_head(i, 1000 + i, order[i],
			   i & 1 ? IBV_SEND_SIGNALED :
				   IBV_SEND_FENCE | IBV_SEND_SOLICITED,
			   1);
		check_sge((void *)fixture_sq_slot(i) + MYNIC_WQE_DATA_RC,
			  0x7f0000000000ULL + i, 0x40000000 + i,
			  0x80000000 + i);
	}
}

TEST(rc_builders)
{
	struct mynic_atomic_operands *operands;

	check_builders(IBV_QPT_RC, ARRAY_SIZE(order));
	operands = (void *)fixture_sq_slot(5) + MYNIC_WQE_DATA_RC +
		   MYNIC_WQE_ATOMIC;
	CHECK_EQ(le64toh(operands->compare_add), 0x1234567890ULL);
	CHECK_EQ(le64toh(operands->swap), 0x0987654321ULL);
	operands = (void *)fixture_sq_slot(6) + MYNIC_WQE_DATA_RC +
		   MYNIC_WQE_ATOMIC;
	CHECK_EQ(le64toh(operands->compare_add), 0xabcdef0123ULL);
}

TEST(uc_builders)
{
	check_builders(IBV_QPT_UC, UC_OPCODES);
}

TEST(ud_builders)
{
	struct fixture *f = fixture_open(16);
	struct ibv_qp *qp = fixture_qp(f, IBV_QPT_UD, 16, 4);
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);
	struct ibv_ah *ah = fixture_ah(f);

	ibv_wr_start(qpx);
	qpx->wr_id = 1;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(qpx);
	ibv_wr_set_ud_addr(qpx, ah, 0x123456, 0x80010000);
	ibv_wr_set_sge(qpx, 5, 6, 7);
	qpx->wr_id = 2;
	ibv_wr_send_imm(qpx, IMM);
	/* setters come in any order */
	ibv_wr_set_sge(qpx, 8, 9, 10);
	ibv_wr_set_ud_addr(qpx, ah, 0xfffffe, 11);
	CHECK_EQ(ibv_wr_complete(qpx), 0);
	fixture_check_doorbell(qp, 2);

	check_head(0, 1, IBV_WR_SEND, IBV_SEND_SIGNALED, 1);
	check_head(1, 2, IBV_WR_SEND_WITH_IMM, IBV_SEND_SIGNALED, 1);
	CHECK_EQ(le32toh(fixture_sq_slot(0)->remote_qpn), 0x123456);
	CHECK_EQ(le32toh(fixture_sq_slot(0)->remote_qkey), 0x80010000);
	CHECK_EQ(le32toh(fixture_sq_slot(1)->remote_qpn), 0xfffffe);
	CHECK_EQ(le32toh(fixture_sq_slot(1)->remote_qkey), 11);
	for (int i = 0; i < 2; i++)
		fixture_check_av((void *)fixture_sq_slot(i) + MYNIC_WQE_EXT);
	check_sge((void *)fixture_sq_slot(0) + MYNIC_WQE_DATA_EXT, 6, 7, 5);
	check_sge((void *)fixture_sq_slot(1) + MYNIC_WQE_DATA_EXT, 9, 10, 8);
}

static void check_sge_lists(enum ibv_qp_type type, uint32_t data)
{
	struct fixture *f = fixture_open(16);
	struct ibv_qp *qp = fixture_qp(f, type, 32, 28);
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);
	struct ibv_sge sge[28];

	for (int i = 0; i < 28; i++)
		sge[i] = (struct ibv_sge){ .addr = i,
					   .length = 100 + i,
					   .lkey = 200 + i };
	ibv_wr_start(qpx);
	for (int n = 0; n <= 28; n++) {
		ibv_wr_send(qpx);
		ibv_wr_set_sge_list(qpx, n, sge);
	}
	CHECK_EQ(ibv_wr_complete(qpx), 0);
	fixture_check_doorbell(qp, 29);
	for (int n = 0; n <= 28; n++) {
		CHECK_EQ(le32toh(fixture_sq_slot(n)->len), n);
		for (int i = 0; i < n; i++)
			check_sge((void *)fixture_sq_slot(n) + data + 16 * i, i,
				  100 + i, 200 + i);
	}
}

TEST(sge_lists_rc)
{
	check_sge_lists(IBV_QPT_RC, MYNIC_WQE_DATA_RC);
}

TEST(sge_lists_uc)
{
	check_sge_lists(IBV_QPT_UC, MYNIC_WQE_DATA_RC);
}

TEST(sge_lists_ud)
{
	check_sge_lists(IBV_QPT_UD, MYNIC_WQE_DATA_EXT);
}

static void check_inline(enum ibv_qp_type type, uint32_t data_offset)
{
	struct fixture *f = fixture_open(16);
	struct ibv_qp *qp = fixture_qp(f, type, 4, 28);
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);
	uint32_t max = 512 - data_offset;

	for (uint32_t len = 0; len <= max; len++) {
		uint32_t at = len * 2;
		uint8_t *bytes = fixture_page_end(len);
		struct ibv_data_buf bufs[3] = {
			{ .addr = bytes, .length = len / 3 },
			{ .addr = bytes + len / 3, .length = len / 2 },
			{ .addr = bytes + len / 3 + len / 2,
			  .length = len - len / 3 - len / 2 },
		};

		memset(fixture_sq_slot(at), 0xee, 512);
		memset(fixture_sq_slot(at + 1), 0xee, 512);
		for (uint32_t i = 0; i < len; i++)
			bytes[i] = i * 7 + 1;
		ibv_wr_start(qpx);
		qpx->wr_flags = IBV_SEND_SIGNALED;
		qpx->wr_id = len;
		ibv_wr_send(qpx);
		ibv_wr_set_inline_data(qpx, bytes, len);
		ibv_wr_send(qpx);
		ibv_wr_set_inline_data_list(qpx, 3, bufs);
		CHECK_EQ(ibv_wr_complete(qpx), 0);
		fixture_check_doorbell(qp, at + 2);
		fake_qp.dbrec->sq_ci = fake_qp.dbrec->sq_pi;
		for (int i = 0; i < 2; i++) {
			uint8_t *slot = (void *)fixture_sq_slot(at + i);

			check_head(at + i, len, IBV_WR_SEND,
				   IBV_SEND_SIGNALED | IBV_SEND_INLINE, len);
			CHECK_MEM(slot + data_offset, bytes, len);
			for (uint32_t j = data_offset + len; j < 512; j++)
				CHECK_EQ(slot[j], 0xee);
		}
	}
}

TEST(inline_rc)
{
	check_inline(IBV_QPT_RC, MYNIC_WQE_DATA_RC);
}

TEST(inline_uc)
{
	check_inline(IBV_QPT_UC, MYNIC_WQE_DATA_RC);
}

TEST(inline_ud)
{
	check_inline(IBV_QPT_UD, MYNIC_WQE_DATA_EXT);
}

/* Setters set IBV_SEND_INLINE, not the caller. */
TEST(inline_flag_by_hand)
{
	struct fixture *f = fixture_open(16);
	struct ibv_qp *qp = fixture_qp(f, IBV_QPT_RC, 4, 2);
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);

	ibv_wr_start(qpx);
	qpx->wr_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED;
	qpx->wr_id = 3;
	ibv_wr_send(qpx);
	ibv_wr_set_sge(qpx, 1, 2, 3);
	CHECK_EQ(ibv_wr_complete(qpx), 0);
	check_head(0, 3, IBV_WR_SEND, IBV_SEND_SIGNALED, 1);
}

/* A request without a data setter is empty, whatever was in the slot. */
TEST(no_setter)
{
	struct fixture *f = fixture_open(16);
	struct ibv_qp *qp = fixture_qp(f, IBV_QPT_RC, 4, 2);
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);

	memset(fake_qp.sq, 0xee, 64);
	ibv_wr_start(qpx);
	qpx->wr_id = 3;
	qpx->wr_flags = 0;
	ibv_wr_rdma_write(qpx, RKEY, RADDR);
	CHECK_EQ(ibv_wr_complete(qpx), 0);
	check_head(0, 3, IBV_WR_RDMA_WRITE, 0, 0);
}

static void good(struct ibv_qp_ex *qpx, uint64_t wr_id)
{
	qpx->wr_id = wr_id;
	qpx->wr_flags = 0;
	ibv_wr_send(qpx);
	ibv_wr_set_sge(qpx, 1, 2, 3);
}

TEST(errors_are_sticky)
{
	struct fixture *f = fixture_open(16);
	struct ibv_qp *qp = fixture_qp(f, IBV_QPT_RC, 8, 2);
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);
	struct ibv_sge sges[3] = {};
	uint8_t bytes[64] = {};
	struct ibv_data_buf bufs[2] = {
		{ .addr = bytes, .length = 20 },
		{ .addr = bytes, .length = 13 },
	};

	for (int kind = 0; kind < 6; kind++) {
		ibv_wr_start(qpx);
		good(qpx, 1);
		switch (kind) {
		case 0:
			ibv_wr_send(qpx);
			ibv_wr_set_sge_list(qpx, 3, sges);
			break;
		case 1:
			ibv_wr_send(qpx);
			ibv_wr_set_inline_data(qpx, bytes, 33);
			break;
		case 2:
			ibv_wr_send(qpx);
			ibv_wr_set_inline_data_list(qpx, 2, bufs);
			break;
		case 3:
			ibv_wr_rdma_read(qpx, RKEY, RADDR);
			ibv_wr_set_inline_data(qpx, bytes, 8);
			break;
		case 4:
			ibv_wr_atomic_fetch_add(qpx, RKEY, RADDR, 1);
			ibv_wr_set_inline_data(qpx, bytes, 8);
			break;
		case 5:
			ibv_wr_send(qpx);
			ibv_wr_set_inline_data(qpx, bytes, SIZE_MAX);
			break;
		}
		good(qpx, 2);
		CHECK_EQ(ibv_wr_complete(qpx), EINVAL);
		fixture_check_not_rung(0);
	}

	ibv_wr_start(qpx);
	good(qpx, 3);
	CHECK_EQ(ibv_wr_complete(qpx), 0);
	fixture_check_doorbell(qp, 1);
	check_head(0, 3, IBV_WR_SEND, 0, 1);
}

TEST(full)
{
	struct fixture *f = fixture_open(16);
	struct ibv_qp *qp = fixture_qp(f, IBV_QPT_RC, 4, 2);
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);
	uint8_t bytes[8] = {};
	struct ibv_sge sge = {};

	ibv_wr_start(qpx);
	for (int i = 0; i < 5; i++)
		good(qpx, i);
	ibv_wr_set_sge_list(qpx, 1, &sge);
	ibv_wr_set_inline_data(qpx, bytes, 8);
	CHECK_EQ(ibv_wr_complete(qpx), ENOMEM);
	fixture_check_not_rung(0);

	ibv_wr_start(qpx);
	for (int i = 0; i < 4; i++)
		good(qpx, 10 + i);
	CHECK_EQ(ibv_wr_complete(qpx), 0);
	fixture_check_doorbell(qp, 4);
	check_head(0, 10, IBV_WR_SEND, 0, 1);

	ibv_wr_start(qpx);
	good(qpx, 20);
	CHECK_EQ(ibv_wr_complete(qpx), ENOMEM);
	fake_qp.dbrec->sq_ci = htole32(1);
	ibv_wr_start(qpx);
	good(qpx, 30);
	CHECK_EQ(ibv_wr_complete(qpx), 0);
	fixture_check_doorbell(qp, 5);
	check_head(4, 30, IBV_WR_SEND, 0, 1);
}

TEST(first_of_two_errors)
{
	struct fixture *f = fixture_open(16);
	struct ibv_qp *qp = fixture_qp(f, IBV_QPT_RC, 4, 2);
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);
	struct ibv_sge sges[3] = {};

	ibv_wr_start(qpx);
	good(qpx, 0);
	ibv_wr_set_sge_list(qpx, 3, sges);
	for (int i = 1; i < 5; i++)
		good(qpx, i);
	CHECK_EQ(ibv_wr_complete(qpx), EINVAL);
	fixture_check_not_rung(0);

	ibv_wr_start(qpx);
	for (int i = 0; i < 5; i++)
		good(qpx, i);
	/* RC has no such setter */
	ibv_wr_set_xrc_srqn(qpx, 1);
	CHECK_EQ(ibv_wr_complete(qpx), ENOMEM);
	fixture_check_not_rung(0);
}

TEST(full_ud)
{
	struct fixture *f = fixture_open(16);
	struct ibv_qp *qp = fixture_qp(f, IBV_QPT_UD, 2, 1);
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);
	struct ibv_ah *ah = fixture_ah(f);

	ibv_wr_start(qpx);
	for (int i = 0; i < 3; i++) {
		ibv_wr_send(qpx);
		ibv_wr_set_ud_addr(qpx, ah, 1, 2);
		ibv_wr_set_sge(qpx, 1, 2, 3);
	}
	CHECK_EQ(ibv_wr_complete(qpx), ENOMEM);
	fixture_check_not_rung(0);
}

TEST(every_builder_when_full)
{
	struct fixture *f = fixture_open(16);
	struct ibv_qp *qp = fixture_qp(f, IBV_QPT_RC, 1, 2);
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);

	ibv_wr_start(qpx);
	good(qpx, 1);
	CHECK_EQ(ibv_wr_complete(qpx), 0);
	fixture_check_doorbell(qp, 1);
	for (int i = 0; i < 7; i++) {
		ibv_wr_start(qpx);
		switch (i) {
		case 0:
			ibv_wr_send(qpx);
			break;
		case 1:
			ibv_wr_send_imm(qpx, IMM);
			break;
		case 2:
			ibv_wr_rdma_write(qpx, RKEY, RADDR);
			break;
		case 3:
			ibv_wr_rdma_write_imm(qpx, RKEY, RADDR, IMM);
			break;
		case 4:
			ibv_wr_rdma_read(qpx, RKEY, RADDR);
			break;
		case 5:
			ibv_wr_atomic_cmp_swp(qpx, RKEY, RADDR, 1, 2);
			break;
		case 6:
			ibv_wr_atomic_fetch_add(qpx, RKEY, RADDR, 1);
			break;
		}
		CHECK_EQ(ibv_wr_complete(qpx), ENOMEM);
	}
	fixture_check_not_rung(1);
	check_head(0, 1, IBV_WR_SEND, 0, 1);
}

TEST(abort_posts_nothing)
{
	struct fixture *f = fixture_open(16);
	struct ibv_qp *qp = fixture_qp(f, IBV_QPT_RC, 4, 2);
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);

	ibv_wr_start(qpx);
	good(qpx, 1);
	good(qpx, 2);
	ibv_wr_abort(qpx);
	fixture_check_not_rung(0);

	ibv_wr_start(qpx);
	CHECK_EQ(ibv_wr_complete(qpx), 0);
	fixture_check_not_rung(0);

	ibv_wr_start(qpx);
	good(qpx, 3);
	CHECK_EQ(ibv_wr_complete(qpx), 0);
	fixture_check_doorbell(qp, 1);
	check_head(0, 3, IBV_WR_SEND, 0, 1);
}

TEST(state_does_not_allow)
{
	struct fixture *f = fixture_open(16);
	struct ibv_qp *qp = fixture_qp(f, IBV_QPT_RC, 4, 2);
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);

	fixture_set_state(qp, IBV_QPS_RESET);
	fixture_set_state(qp, IBV_QPS_INIT);
	ibv_wr_start(qpx);
	good(qpx, 1);
	CHECK_EQ(ibv_wr_complete(qpx), EINVAL);
	fixture_check_not_rung(0);
}

TEST(both_interfaces_and_wrap)
{
	struct fixture *f = fixture_open(16);
	struct ibv_qp *qp = fixture_qp(f, IBV_QPT_RC, 8, 2);
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);
	struct mynic_sq *sq = &to_mqp(qp)->sq;
	uint32_t pi = 0xfffffff0;

	mynic_sq_seek(sq, pi);
	sq->end = pi;
	fake_qp.dbrec->sq_ci = htole32(pi);
	for (int round = 0; round < 12; round++) {
		struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;

		wr.wr_id = 100 + round;
		CHECK_EQ(ibv_post_send(qp, &wr, &bad), 0);
		fixture_check_doorbell(qp, pi + 1);
		ibv_wr_start(qpx);
		good(qpx, 200 + round);
		good(qpx, 300 + round);
		CHECK_EQ(ibv_wr_complete(qpx), 0);
		fixture_check_doorbell(qp, pi + 3);
		check_head(pi, 100 + round, IBV_WR_SEND, 0, 0);
		check_head(pi + 1, 200 + round, IBV_WR_SEND, 0, 1);
		check_head(pi + 2, 300 + round, IBV_WR_SEND, 0, 1);
		pi += 3;
		fake_qp.dbrec->sq_ci = htole32(pi - 1);
	}
}
