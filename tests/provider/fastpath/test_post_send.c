// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* ibv_post_send(): entries in the ring, and refusals. */
#include <pthread.h>

#include "fixture.h"
#include "sq.h"

#define RADDR 0x1122334455667788ULL
#define RKEY 0xa1b2c3d4U
#define WR_ID 0xfedcba9876543210ULL
#define IMM htobe32(0x01020304)

/* The device takes all posted requests. */
static void consume(void)
{
	fake_qp.dbrec->sq_ci = fake_qp.dbrec->sq_pi;
}

static int post(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad = NULL;
	int err = ibv_post_send(qp, wr, &bad);

	CHECK_EQ(!!bad, !!err);
	if (err)
		CHECK_EQ((uintptr_t)bad, (uintptr_t)wr);
	return err;
}

/* UC has the first UC_OPCODES of them */
static const enum ibv_wr_opcode rc_opcodes[] = {
	IBV_WR_SEND,
	IBV_WR_SEND_WITH_IMM,
	IBV_WR_RDMA_WRITE,
	IBV_WR_RDMA_WRITE_WITH_IMM,
	IBV_WR_RDMA_READ,
	IBV_WR_ATOMIC_CMP_AND_SWP,
	IBV_WR_ATOMIC_FETCH_AND_ADD,
};

#define UC_OPCODES 4

static bool has_imm(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_SEND_WITH_IMM ||
	       opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static bool is_send(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_SEND || opcode == IBV_WR_SEND_WITH_IMM;
}

static void check_sge(const struct mynic_sge *sge, const struct ibv_sge *want)
{
	CHECK_EQ(le64toh(sge->addr), want->addr);
	CHECK_EQ(le32toh(sge->length), want->length);
	CHECK_EQ(le32toh(sge->lkey), want->lkey);
}

static void fill_sges(struct ibv_sge *sges, int n)
{
	for (int i = 0; i < n; i++)
		sges[i] = (struct ibv_sge){
			.addr = 0x7000111122220000ULL + 0x1001 * i,
			.length = 0x40000001 + i,
			.lkey = 0x80000100 + i,
		};
}

static struct ibv_send_wr make_wr(enum ibv_wr_opcode opcode)
{
	struct ibv_send_wr wr = {
		.wr_id = WR_ID,
		.opcode = opcode,
		.imm_data = IMM,
	};

	if (fixture_is_atomic(opcode)) {
		wr.wr.atomic.remote_addr = RADDR;
		wr.wr.atomic.rkey = RKEY;
		wr.wr.atomic.compare_add = 0x0123456789abcdefULL;
		wr.wr.atomic.swap = 0x1032547698badcfeULL;
	} else {
		wr.wr.rdma.remote_addr = RADDR;
		wr.wr.rdma.rkey = RKEY;
	}
	return wr;
}

/* A single SGE has a code path of its own. */
static void check_opcodes_and_flags(enum ibv_qp_type type, int opcodes,
				    int num_sge)
{
	static const unsigned int flags[] = {
		0,
		IBV_SEND_FENCE,
		IBV_SEND_SIGNALED,
		IBV_SEND_SOLICITED,
		IBV_SEND_IP_CSUM,
		IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED,
	};
	struct fixture *f = fixture_open(16);
	struct ibv_qp *qp = fixture_qp(f, type, 8, 2);
	struct ibv_sge sge[2];
	uint32_t pi = 0;

	fill_sges(sge, 2);
	for (int o = 0; o < opcodes; o++) {
		for (int i = 0; i < ARRAY_SIZE(flags); i++, pi++) {
			struct ibv_send_wr wr = make_wr(rc_opcodes[o]);
			struct mynic_send_wqe *wqe = fixture_sq_slot(pi);
			struct mynic_sge *got = (void *)wqe + MYNIC_WQE_DATA_RC;
			struct mynic_atomic_operands *operands =
				(void *)got + MYNIC_WQE_ATOMIC;

			memset(wqe, 0xee, 64);
			wr.send_flags = flags[i];
			wr.sg_list = sge;
			wr.num_sge = fixture_is_atomic(wr.opcode) ? 1 : num_sge;
			CHECK_EQ(post(qp, &wr), 0);
			fixture_check_doorbell(qp, pi + 1);
			consume();

			CHECK_EQ(le64toh(wqe->wr_id), WR_ID);
			CHECK_EQ(le32toh(wqe->ctrl),
				 rc_opcodes[o] | flags[i] << 8);
			CHECK_EQ(le32toh(wqe->len), wr.num_sge);
			for (int j = 0; j < wr.num_sge; j++)
				check_sge(&got[j], &sge[j]);
			if (has_imm(rc_opcodes[o]))
				CHECK_EQ(wqe->imm_data, IMM);
			if (!is_send(rc_opcodes[o])) {
				CHECK_EQ(le64toh(wqe->remote_addr), RADDR);
				CHECK_EQ(le32toh(wqe->rkey), RKEY);
			}
			if (fixture_is_atomic(rc_opcodes[o])) {
				CHECK_EQ(le64toh(operands->compare_add),
					 0x0123456789abcdefULL);
				CHECK_EQ(le64toh(operands->swap),
					 0x1032547698badcfeULL);
			}
		}
	}
}

TEST(rc_opcodes_and_flags)
{
	check_opcodes_and_flags(IBV_QPT_RC, ARRAY_SIZE(rc_opcodes), 1);
}

TEST(rc_opcodes_and_flags_two_sges)
{
	check_opcodes_and_flags(IBV_QPT_RC, ARRAY_SIZE(rc_opcodes), 2);
}

TEST(uc_opcodes_and_flags)
{
	check_opcodes_and_flags(IBV_QPT_UC, UC_OPCODES, 1);
}

TEST(uc_opcodes_and_flags_two_sges)
{
	check_opcodes_and_flags(IBV_QPT_UC, UC_OPCODES, 2);
}

TEST(ud_opcodes)
{
	static const enum ibv_wr_opcode opcodes[] = { IBV_WR_SEND,
						      IBV_WR_SEND_WITH_IMM };
	struct fixture *f = fixture_open(16);
	struct ibv_qp *qp = fixture_qp(f, IBV_QPT_UD, 8, 4);
	struct ibv_ah *ah = fixture_ah(f);
	struct ibv_sge sge[4];

	fill_sges(sge, 4);
	for (int i = 0; i < ARRAY_SIZE(opcodes); i++) {
		struct mynic_send_wqe *wqe = fixture_sq_slot(i);
		struct ibv_send_wr wr = {
			.wr_id = WR_ID,
			.opcode = opcodes[i],
			.send_flags = IBV_SEND_SIGNALED,
			.imm_data = IMM,
			.sg_list = sge,
			.num_sge = 4,
			.wr.ud = {
				.ah = ah,
				.remote_qpn = 0x123456,
				.remote_qkey = 0x80010000,
			},
		};

		CHECK_EQ(post(qp, &wr), 0);
		fixture_check_doorbell(qp, i + 1);
		CHECK_EQ(le64toh(wqe->wr_id), WR_ID);
		CHECK_EQ(le32toh(wqe->ctrl),
			 opcodes[i] | IBV_SEND_SIGNALED << 8);
		CHECK_EQ(le32toh(wqe->len), 4);
		CHECK_EQ(le32toh(wqe->remote_qpn), 0x123456);
		CHECK_EQ(le32toh(wqe->remote_qkey), 0x80010000);
		if (has_imm(opcodes[i]))
			CHECK_EQ(wqe->imm_data, IMM);
		fixture_check_av((void *)wqe + MYNIC_WQE_EXT);
		for (int j = 0; j < 4; j++)
			check_sge((void *)wqe + MYNIC_WQE_DATA_EXT + 16 * j,
				  &sge[j]);
	}
}

TEST(sge_lists)
{
	struct fixture *f = fixture_open(16);
	struct ibv_qp *qp = fixture_qp(f, IBV_QPT_RC, 4, 30);
	uint32_t max = 30;
	struct ibv_sge sge[30];
	struct ibv_send_wr wr = make_wr(IBV_WR_SEND);

	fill_sges(sge, max);
	wr.sg_list = sge;
	for (uint32_t n = 0; n <= max; n++) {
		struct mynic_send_wqe *wqe = fixture_sq_slot(n);

		memset(wqe, 0xee, 512);
		wr.num_sge = n;
		CHECK_EQ(post(qp, &wr), 0);
		consume();
		CHECK_EQ(le32toh(wqe->len), n);
		for (uint32_t i = 0; i < n; i++)
			check_sge((void *)wqe + MYNIC_WQE_DATA_RC + 16 * i,
				  &sge[i]);
		for (uint32_t i = MYNIC_WQE_DATA_RC + 16 * n; i < 512; i++)
			CHECK_EQ(((uint8_t *)wqe)[i], 0xee);
	}
}

/* All lengths, from memory that ends where the data ends */
static void check_inline(enum ibv_qp_type type, uint32_t data_offset)
{
	struct fixture *f = fixture_open(16);
	struct ibv_qp *qp = fixture_qp(f, type, 4, 28);
	uint32_t max = 512 - data_offset;
	struct ibv_ah *ah = fixture_ah(f);

	for (uint32_t len = 0; len <= max; len++) {
		struct mynic_send_wqe *wqe = fixture_sq_slot(len);
		uint8_t *data = fixture_page_end(len);
		struct ibv_sge sge = { .addr = (uintptr_t)data, .length = len };
		struct ibv_send_wr wr = make_wr(IBV_WR_SEND);

		wr.send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED;
		wr.sg_list = &sge;
		wr.num_sge = 1;
		if (type == IBV_QPT_UD)
			wr.wr.ud.ah = ah;
		for (uint32_t i = 0; i < len; i++)
			data[i] = i * 7 + 1;
		memset(wqe, 0xee, 512);
		CHECK_EQ(post(qp, &wr), 0);
		consume();
		CHECK_EQ(le32toh(wqe->ctrl),
			 IBV_WR_SEND | (IBV_SEND_INLINE | IBV_SEND_SIGNALED)
					       << 8);
		CHECK_EQ(le32toh(wqe->len), len);
		CHECK_MEM((void *)wqe + data_offset, data, len);
		for (uint32_t i = data_offset + len; i < 512; i++)
			CHECK_EQ(((uint8_t *)wqe)[i], 0xee);
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

TEST(inline_gathered)
{
	static const uint32_t lens[] = { 1, 0, 31, 16, 3, 8, 100, 321 };
	struct fixture *f = fixture_open(16);
	struct ibv_qp *qp = fixture_qp(f, IBV_QPT_RC, 4, 28);
	struct ibv_sge sge[ARRAY_SIZE(lens)];
	struct ibv_send_wr wr = make_wr(IBV_WR_RDMA_WRITE_WITH_IMM);
	uint8_t data[480];
	uint32_t at = 0;

	for (int i = 0; i < ARRAY_SIZE(data); i++)
		data[i] = i * 11;
	for (int i = 0; i < ARRAY_SIZE(lens); i++) {
		sge[i] = (struct ibv_sge){ .addr = (uintptr_t)data + at,
					   .length = lens[i] };
		at += lens[i];
	}
	CHECK_EQ(at, 480);
	wr.send_flags = IBV_SEND_INLINE;
	wr.sg_list = sge;
	wr.num_sge = ARRAY_SIZE(lens);
	CHECK_EQ(post(qp, &wr), 0);
	CHECK_EQ(le32toh(fixture_sq_slot(0)->len), 480);
	CHECK_MEM((void *)fixture_sq_slot(0) + MYNIC_WQE_DATA_RC, data, 480);
	CHECK_EQ(le64toh(fixture_sq_slot(0)->remote_addr), RADDR);
	CHECK_EQ(le32toh(fixture_sq_slot(0)->rkey), RKEY);
	CHECK_EQ(fixture_sq_slot(0)->imm_data, IMM);

	/* one byte too many, in the last element and by a sum beyond 2^32 */
	sge[ARRAY_SIZE(lens) - 1].length++;
	CHECK_EQ(post(qp, &wr), EINVAL);
	sge[ARRAY_SIZE(lens) - 1].length = 0xffffffff;
	CHECK_EQ(post(qp, &wr), EINVAL);
	CHECK_EQ(le32toh(fake_qp.dbrec->sq_pi), 1);
}

TEST(bad_requests)
{
	static const int bad_opcodes[] = {
		13, 31, 32, 34, 0x7fffffff, -1,
	};
	struct fixture *f = fixture_open(16);
	struct ibv_qp *qp = fixture_qp(f, IBV_QPT_RC, 8, 2);
	struct ibv_send_wr wr = make_wr(IBV_WR_SEND);
	struct ibv_sge sge[3];

	fill_sges(sge, 3);
	wr.sg_list = sge;
	for (int i = 0; i < ARRAY_SIZE(bad_opcodes); i++) {
		wr.opcode = bad_opcodes[i];
		CHECK_EQ(post(qp, &wr), EINVAL);
	}
	wr.opcode = IBV_WR_SEND;
	wr.num_sge = 3;
	CHECK_EQ(post(qp, &wr), EINVAL);
	wr.num_sge = -1;
	CHECK_EQ(post(qp, &wr), EINVAL);
	wr.num_sge = 1;
	wr.send_flags = IBV_SEND_INLINE;
	for (int i = 0; i < ARRAY_SIZE(rc_opcodes); i++) {
		enum ibv_wr_opcode opcode = rc_opcodes[i];

		if (opcode != IBV_WR_RDMA_READ && !fixture_is_atomic(opcode))
			continue;
		wr.opcode = opcode;
		sge[0].length = 8;
		CHECK_EQ(post(qp, &wr), EINVAL);
	}
	fixture_check_not_rung(0);
}

TEST(chain_stops_at_first_bad)
{
	struct fixture *f = fixture_open(16);
	struct ibv_qp *qp = fixture_qp(f, IBV_QPT_RC, 8, 2);
	struct ibv_send_wr wr[4], *bad = NULL;

	for (int i = 0; i < 4; i++) {
		wr[i] = make_wr(IBV_WR_RDMA_WRITE);
		wr[i].wr_id = i;
		wr[i].next = i < 3 ? &wr[i + 1] : NULL;
	}
	wr[2].num_sge = 100;
	CHECK_EQ(ibv_post_send(qp, wr, &bad), EINVAL);
	CHECK_EQ(bad - wr, 2);
	fixture_check_doorbell(qp, 2);
	CHECK_EQ(le64toh(fixture_sq_slot(0)->wr_id), 0);
	CHECK_EQ(le64toh(fixture_sq_slot(1)->wr_id), 1);

	/* the next request takes the slot of the failed one */
	wr[2].num_sge = 0;
	CHECK_EQ(ibv_post_send(qp, &wr[2], &bad), 0);
	fixture_check_doorbell(qp, 4);
	CHECK_EQ(le64toh(fixture_sq_slot(2)->wr_id), 2);
	CHECK_EQ(le64toh(fixture_sq_slot(3)->wr_id), 3);
}

/* Requests of all kinds in one list keep their order. */
TEST(mixed_chain)
{
	struct fixture *f = fixture_open(16);
	struct ibv_qp *qp = fixture_qp(f, IBV_QPT_RC, 16, 2);
	struct ibv_send_wr wr[12], *bad;
	uint8_t byte = 0x5a;
	struct ibv_sge sge[2];

	fill_sges(sge, 2);
	for (int i = 0; i < ARRAY_SIZE(wr); i++) {
		wr[i] = make_wr(IBV_WR_RDMA_WRITE);
		wr[i].wr_id = i;
		wr[i].next = i < ARRAY_SIZE(wr) - 1 ? &wr[i + 1] : NULL;
		wr[i].sg_list = sge;
		wr[i].num_sge = 1;
	}
	for (int i = 1; i < ARRAY_SIZE(wr); i += 6) {
		wr[i].num_sge = 2;
		wr[i + 2].num_sge = 0;
		wr[i + 3] = make_wr(IBV_WR_ATOMIC_FETCH_AND_ADD);
		wr[i + 3].wr_id = i + 3;
		wr[i + 3].next = &wr[i + 4];
	}
	wr[6].send_flags = IBV_SEND_INLINE;
	sge[1].length = 1;
	sge[1].addr = (uintptr_t)&byte;
	wr[6].sg_list = &sge[1];

	CHECK_EQ(ibv_post_send(qp, wr, &bad), 0);
	fixture_check_doorbell(qp, ARRAY_SIZE(wr));
	for (int i = 0; i < ARRAY_SIZE(wr); i++) {
		struct mynic_send_wqe *wqe = fixture_sq_slot(i);

		CHECK_EQ(le64toh(wqe->wr_id), i);
		CHECK_EQ(le32toh(wqe->ctrl),
			 wr[i].opcode | wr[i].send_flags << 8);
		if (i != 6)
			CHECK_EQ(le32toh(wqe->len), wr[i].num_sge);
	}
	CHECK_EQ(le32toh(fixture_sq_slot(6)->len), 1);
	CHECK_EQ(*((uint8_t *)fixture_sq_slot(6) + MYNIC_WQE_DATA_RC), 0x5a);
}

TEST(empty_list)
{
	struct fixture *f = fixture_open(16);
	struct ibv_qp *qp = fixture_qp(f, IBV_QPT_RC, 8, 2);
	struct ibv_send_wr *bad;

	CHECK_EQ(ibv_post_send(qp, NULL, &bad), 0);
	fixture_check_not_rung(0);
}

TEST(full)
{
	struct fixture *f = fixture_open(16);
	struct ibv_qp *qp = fixture_qp(f, IBV_QPT_RC, 8, 2);
	struct ibv_send_wr wr[10], *bad = NULL;

	for (int i = 0; i < 10; i++) {
		wr[i] = make_wr(IBV_WR_SEND);
		wr[i].wr_id = i;
		wr[i].next = i < 9 ? &wr[i + 1] : NULL;
	}
	CHECK_EQ(ibv_post_send(qp, wr, &bad), ENOMEM);
	CHECK_EQ(bad - wr, 8);
	fixture_check_doorbell(qp, 8);

	/* three slots are free again */
	fake_qp.dbrec->sq_ci = htole32(3);
	CHECK_EQ(ibv_post_send(qp, &wr[5], &bad), ENOMEM);
	CHECK_EQ(bad - wr, 8);
	fixture_check_doorbell(qp, 11);
	CHECK_EQ(le64toh(fixture_sq_slot(10)->wr_id), 7);

	/*
	 * an index ahead of the posted requests, and one far behind, are
	 * impossible
	 */
	fake_qp.dbrec->sq_ci = htole32(12);
	CHECK_EQ(post(qp, &wr[9]), ENOMEM);
	fake_qp.dbrec->sq_ci = htole32(2);
	CHECK_EQ(post(qp, &wr[9]), ENOMEM);
	fake_qp.dbrec->sq_ci = htole32(0x80000000);
	CHECK_EQ(post(qp, &wr[9]), ENOMEM);
	fixture_check_not_rung(11);
	fake_qp.dbrec->sq_ci = htole32(4);
	CHECK_EQ(post(qp, &wr[9]), 0);
	CHECK_EQ(post(qp, &wr[9]), ENOMEM);
}

TEST(index_wraps)
{
	struct fixture *f = fixture_open(16);
	struct ibv_qp *qp = fixture_qp(f, IBV_QPT_RC, 8, 2);
	struct mynic_sq *sq = &to_mqp(qp)->sq;
	struct ibv_send_wr wr[3], *bad;
	uint32_t pi = 0xfffffff1;

	/* as after 2^32 - 15 requests */
	mynic_sq_seek(sq, pi);
	sq->end = pi;
	fake_qp.dbrec->sq_ci = htole32(pi);
	for (int i = 0; i < 3; i++) {
		wr[i] = make_wr(IBV_WR_SEND);
		wr[i].next = i < 2 ? &wr[i + 1] : NULL;
	}
	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < 3; i++)
			wr[i].wr_id = round * 10 + i;
		CHECK_EQ(ibv_post_send(qp, wr, &bad), 0);
		for (int i = 0; i < 3; i++)
			CHECK_EQ(le64toh(fixture_sq_slot(pi + i)->wr_id),
				 round * 10 + i);
		pi += 3;
		fixture_check_doorbell(qp, pi);
		/* the device is always two behind */
		fake_qp.dbrec->sq_ci = htole32(pi - 2);
	}
	CHECK_EQ(pi, 15);
}

TEST(states)
{
	static const struct {
		enum ibv_qp_state state;
		int err;
	} states[] = {
		{ IBV_QPS_INIT, EINVAL },  { IBV_QPS_RTR, EINVAL },
		{ IBV_QPS_RTS, 0 },	   { IBV_QPS_SQD, 0 },
		{ IBV_QPS_SQE, 0 },	   { IBV_QPS_ERR, 0 },
		{ IBV_QPS_RESET, EINVAL }, { IBV_QPS_INIT, EINVAL },
		{ IBV_QPS_RTR, EINVAL },   { IBV_QPS_RTS, 0 },
		{ IBV_QPS_ERR, 0 },
	};
	struct fixture *f = fixture_open(16);
	struct ibv_qp *qp = fixture_qp(f, IBV_QPT_RC, 32, 2);
	struct ibv_send_wr wr = make_wr(IBV_WR_SEND);
	struct ibv_qp_init_attr init_attr;
	struct ibv_qp_attr attr;

	fixture_set_state(qp, IBV_QPS_RESET);
	CHECK_EQ(post(qp, &wr), EINVAL);
	for (int i = 0; i < ARRAY_SIZE(states); i++) {
		fixture_set_state(qp, states[i].state);
		CHECK_EQ(post(qp, &wr), states[i].err);
	}

	/* a transition that fails changes nothing */
	attr.qp_state = IBV_QPS_RESET;
	fake.fail = EINVAL;
	CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE), EINVAL);
	CHECK_EQ(post(qp, &wr), 0);

	/* by a query, the provider learns of a transition of the device */
	fixture_set_state(qp, IBV_QPS_RESET);
	fixture_set_state(qp, IBV_QPS_INIT);
	fixture_set_state(qp, IBV_QPS_RTR);
	CHECK_EQ(post(qp, &wr), EINVAL);
	fake.qp_state = IBV_QPS_ERR;
	CHECK_EQ(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init_attr), 0);
	CHECK_EQ(attr.qp_state, IBV_QPS_ERR);
	CHECK_EQ(post(qp, &wr), 0);
}

TEST(reset_starts_again)
{
	struct fixture *f = fixture_open(16);
	struct ibv_qp *qp = fixture_qp(f, IBV_QPT_RC, 8, 2);
	struct ibv_send_wr wr = make_wr(IBV_WR_SEND);

	for (int i = 0; i < 5; i++)
		CHECK_EQ(post(qp, &wr), 0);
	fake_qp.dbrec->sq_ci = htole32(3);
	fake_qp.dbrec->rq_ci = htole32(1);
	fixture_set_state(qp, IBV_QPS_RESET);
	for (int i = 0; i < sizeof(*fake_qp.dbrec); i++)
		CHECK_EQ(((uint8_t *)fake_qp.dbrec)[i], 0);

	fixture_set_state(qp, IBV_QPS_INIT);
	fixture_set_state(qp, IBV_QPS_RTR);
	fixture_set_state(qp, IBV_QPS_RTS);
	for (int i = 0; i < 8; i++) {
		wr.wr_id = 100 + i;
		CHECK_EQ(post(qp, &wr), 0);
		fixture_check_doorbell(qp, i + 1);
		CHECK_EQ(le64toh(fixture_sq_slot(i)->wr_id), 100 + i);
	}
	CHECK_EQ(post(qp, &wr), ENOMEM);
}

TEST(no_send_queue)
{
	struct fixture *f = fixture_open(16);
	struct ibv_qp_init_attr attr = {
		.send_cq = f->cq,
		.recv_cq = f->cq,
		.cap = { .max_recv_wr = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp = ibv_create_qp(f->pd, &attr);
	struct ibv_send_wr wr = make_wr(IBV_WR_SEND);

	CHECK(qp);
	fixture_set_state(qp, IBV_QPS_RTS);
	CHECK_EQ(post(qp, &wr), EINVAL);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
}

#define THREADS 4
#define PER_THREAD 5000

struct poster {
	struct ibv_qp *qp;
	uint64_t number;
	pthread_t thread;
};

static void *post_many(void *arg)
{
	struct poster *p = arg;

	for (uint64_t i = 0; i < PER_THREAD;) {
		struct ibv_send_wr wr = make_wr(IBV_WR_RDMA_WRITE), *bad;

		wr.wr_id = p->number << 32 | i;
		wr.wr.rdma.remote_addr = ~wr.wr_id;
		if (!ibv_post_send(p->qp, &wr, &bad))
			i++;
		else
			sched_yield();
	}
	return NULL;
}

TEST(threads)
{
	struct fixture *f = fixture_open(16);
	struct ibv_qp *qp = fixture_qp(f, IBV_QPT_RC, 64, 2);
	uint64_t next[THREADS] = {};
	struct poster posters[THREADS];
	uint32_t ci = 0;

	for (int i = 0; i < THREADS; i++) {
		posters[i] = (struct poster){ .qp = qp, .number = i };
		CHECK_EQ(pthread_create(&posters[i].thread, NULL, post_many,
					&posters[i]),
			 0);
	}
	while (ci < THREADS * PER_THREAD) {
		uint32_t pi = mynic_observe(&fake_qp.dbrec->sq_pi);

		CHECK(pi - ci <= 64);
		if (ci == pi)
			sched_yield();
		for (; ci != pi; ci++) {
			struct mynic_send_wqe *wqe = fixture_sq_slot(ci);
			uint64_t wr_id = le64toh(wqe->wr_id);

			CHECK_EQ(le64toh(wqe->remote_addr), ~wr_id);
			CHECK(wr_id >> 32 < THREADS);
			CHECK_EQ((uint32_t)wr_id, next[wr_id >> 32]++);
		}
		mynic_publish(&fake_qp.dbrec->sq_ci, ci);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(posters[i].thread, NULL);
}
