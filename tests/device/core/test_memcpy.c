// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* DRIVER QPs: copies within the host, refused requests, and states */
#include "harness_driver.h"

#define DST (DRV_PAIR_MEM / 2)

static void to_state(struct drv_qp *qp, enum ibv_qp_state state)
{
	for (int next = IBV_QPS_INIT; next <= (int)state; next++)
		CHECK_EQ(drv_set_state(qp, next), MYNIC_AQ_OK);
}

static struct drv_pair copy_pair(uint8_t flags)
{
	struct drv_qp_init init = { .type = MYNIC_QP_DRIVER, .flags = flags };
	struct drv_pair p = drv_pair_unconnected(&init);

	to_state(p.a.qp, IBV_QPS_RTS);
	return p;
}

/* A copy of @len bytes from the first half of a's memory to the second */
static struct drv_wr copy_wr(struct drv_pair *p, uint32_t len)
{
	return (struct drv_wr){
		.wr_id = DRV_WR_ID,
		.opcode = IBV_WR_DRIVER1,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { drv_sge(p->a.mr, 0, len) },
		.remote_addr = p->a.mr->addr + DST,
		.rkey = p->a.mr->key,
	};
}

static void clear_dst(struct drv_pair *p, uint32_t len)
{
	memset(p->a.mr->ptr + DST - 64, 0xee, len + 128);
}

/* Check that the destination has @len bytes, and nothing else has changed */
static void check_dst(struct drv_pair *p, const void *expected, uint32_t len)
{
	const uint8_t *dst = p->a.mr->ptr + DST;

	CHECK(!memcmp(dst, expected, len));
	for (unsigned int i = 0; i < 64; i++) {
		CHECK_EQ(dst[-1 - (int)i], 0xee);
		CHECK_EQ(dst[len + i], 0xee);
	}
}

static void check_copy(struct drv_pair *p, uint32_t len)
{
	struct drv_wr wr = copy_wr(p, len);
	struct mynic_cqe cqe;

	drv_fill(p->a.mr->ptr, len, len);
	clear_dst(p, len);
	drv_post_send(p->a.qp, &wr);
	cqe = drv_expect(p->a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	CHECK_EQ(cqe.opcode, IBV_WC_DRIVER1);
	CHECK_EQ(cqe.byte_len, len);
	CHECK_EQ(cqe.qp_num, p->a.qp->number);
	check_dst(p, p->a.mr->ptr, len);
}

TEST(memcpy_lengths)
{
	static const uint32_t lens[] = { 0,	 1,	 2,	  63,	 4095,
					 4096,	 4097,	 8192,	  65537, 262143,
					 262144, 262145, DST - 64 };
	struct drv_pair p = copy_pair(0);

	for (unsigned int i = 0; i < ARRAY_SIZE(lens); i++)
		check_copy(&p, lens[i]);
	CHECK_EQ(p.a.d->n->sent, 0);
}

TEST(memcpy_gathers)
{
	struct drv_pair p = copy_pair(0);
	struct drv_wr wr = copy_wr(&p, 0);
	static uint8_t expected[65536];
	uint32_t len = 0;

	drv_fill(p.a.mr->ptr, DST, 3);
	clear_dst(&p, sizeof(expected));
	/* the default stride holds 12 */
	for (wr.num_sge = 0; wr.num_sge < 12; wr.num_sge++) {
		uint32_t i = wr.num_sge;
		uint32_t n = i == 3 ? 0 : 977 * i + 1;
		uint32_t from = 20000 * i + 17;

		wr.sge[i] = drv_sge(p.a.mr, from, n);
		memcpy(expected + len, p.a.mr->ptr + from, n);
		len += n;
	}
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	check_dst(&p, expected, len);
}

TEST(memcpy_inline)
{
	static uint8_t data[MYNIC_SQ_MAX_STRIDE];
	struct drv_pair p = copy_pair(0);
	uint32_t room = 256 - MYNIC_WQE_DATA_EXT;

	drv_fill(data, sizeof(data), 5);
	for (uint32_t len = 0; len <= room; len++) {
		struct drv_wr wr = copy_wr(&p, 0);

		wr.flags |= IBV_SEND_INLINE;
		wr.inline_data = data;
		wr.inline_len = len;
		clear_dst(&p, len);
		drv_post_send(p.a.qp, &wr);
		drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
		check_dst(&p, data, len);
	}
}

TEST(memcpy_unsignaled)
{
	struct drv_pair p = copy_pair(0);
	struct drv_wr wr = copy_wr(&p, 100);

	drv_fill(p.a.mr->ptr, 100, 9);
	clear_dst(&p, 100);
	wr.flags = 0;
	drv_post_send(p.a.qp, &wr);
	SIM_WAIT(p.sim, p.a.qp->rec->sq_ci == 1);
	drv_expect_none(p.a.cq, SEC);
	check_dst(&p, p.a.mr->ptr, 100);
}

/* The ring wraps many times, and is filled at once */
TEST(memcpy_many)
{
	struct drv_pair p = copy_pair(MYNIC_QP_SIG_ALL);
	struct drv_wr wr = copy_wr(&p, 5000);

	wr.flags = 0;
	for (unsigned int i = 0; i < 10; i++) {
		for (unsigned int k = 0; k < 64; k++) {
			wr.wr_id = k;
			drv_write_wqe(p.a.qp, &wr);
		}
		drv_ring(p.a.qp);
		for (unsigned int k = 0; k < 64; k++)
			drv_expect(p.a.cq, k, IBV_WC_SUCCESS);
	}
}

/* Others do not wait until a long copy has ended */
TEST(memcpy_takes_turns)
{
	struct drv_pair p = copy_pair(0);
	struct drv_qp_init init = { .type = MYNIC_QP_DRIVER,
				    .pdn = p.a.pdn,
				    .send_cq = p.a.cq,
				    .recv_cq = p.a.cq };
	struct drv_qp *other = drv_create_qp(p.a.d, &init);
	struct drv_wr long_wr = copy_wr(&p, DST);
	struct drv_wr short_wr = copy_wr(&p, 64);

	to_state(other, IBV_QPS_RTS);
	short_wr.wr_id = 0x88;
	drv_post_send(p.a.qp, &long_wr);
	drv_post_send(other, &short_wr);
	drv_expect(p.a.cq, 0x88, IBV_WC_SUCCESS);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
}

/* The request fails, the next one is flushed, and the QP can be used again */
static void check_error(struct drv_pair *p, const struct drv_wr *wr,
			enum ibv_wc_status status, enum mynic_syndrome syndrome)
{
	struct drv_wr next = copy_wr(p, 1);
	struct mynic_cqe cqe;

	next.wr_id = 0x99;
	drv_write_wqe(p->a.qp, wr);
	drv_write_wqe(p->a.qp, &next);
	drv_ring(p->a.qp);
	cqe = drv_expect(p->a.cq, wr->wr_id, status);
	CHECK_EQ(cqe.vendor_err, syndrome);
	drv_expect(p->a.cq, 0x99, IBV_WC_WR_FLUSH_ERR);
	CHECK_EQ(drv_query_qp(p->a.qp).qp_state, IBV_QPS_SQE);
	CHECK_EQ(drv_set_state(p->a.qp, IBV_QPS_RTS), MYNIC_AQ_OK);
	check_copy(p, 100);
}

TEST(memcpy_bad_keys)
{
	struct drv_pair p = copy_pair(0);
	struct drv_mr *ro = drv_reg_mr(p.a.d, p.a.pdn, 4096, 0);
	struct drv_mr *foreign = drv_reg_mr(p.a.d, drv_alloc_pd(p.a.d), 4096,
					    IBV_ACCESS_LOCAL_WRITE);
	struct drv_wr wr = copy_wr(&p, 4096);

	wr.rkey ^= 0xff;
	check_error(&p, &wr, IBV_WC_LOC_PROT_ERR, MYNIC_SYN_BAD_LKEY);

	wr = copy_wr(&p, 4096);
	wr.rkey = ro->key;
	wr.remote_addr = ro->addr;
	check_error(&p, &wr, IBV_WC_LOC_PROT_ERR, MYNIC_SYN_BAD_LKEY);

	wr.rkey = foreign->key;
	wr.remote_addr = foreign->addr;
	check_error(&p, &wr, IBV_WC_LOC_PROT_ERR, MYNIC_SYN_BAD_LKEY);

	wr = copy_wr(&p, 4096);
	wr.sge[0] = drv_sge(foreign, 0, 4096);
	check_error(&p, &wr, IBV_WC_LOC_PROT_ERR, MYNIC_SYN_BAD_LKEY);

	/* memory that is only read need not be writable */
	wr = copy_wr(&p, 4096);
	wr.sge[0] = drv_sge(ro, 0, 4096);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
}

TEST(memcpy_bad_bounds)
{
	struct drv_pair p = copy_pair(0);
	struct drv_wr wr = copy_wr(&p, 8193);

	/* nothing is written unless everything can be */
	clear_dst(&p, 0);
	wr.remote_addr = p.a.mr->addr + DRV_PAIR_MEM - 8192;
	memset(p.a.mr->ptr + DRV_PAIR_MEM - 8192, 0xee, 8192);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_LOC_PROT_ERR);
	for (unsigned int i = 1; i <= 8192; i++)
		CHECK_EQ(p.a.mr->ptr[DRV_PAIR_MEM - i], 0xee);
	CHECK_EQ(drv_set_state(p.a.qp, IBV_QPS_RTS), MYNIC_AQ_OK);
	check_error(&p, &wr, IBV_WC_LOC_PROT_ERR, MYNIC_SYN_LKEY_BOUNDS);

	wr.remote_addr = p.a.mr->addr - 1;
	check_error(&p, &wr, IBV_WC_LOC_PROT_ERR, MYNIC_SYN_LKEY_BOUNDS);
	wr.remote_addr = UINT64_MAX;
	check_error(&p, &wr, IBV_WC_LOC_PROT_ERR, MYNIC_SYN_LKEY_BOUNDS);

	wr = copy_wr(&p, DRV_PAIR_MEM);
	wr.sge[0].addr++;
	wr.remote_addr = p.a.mr->addr;
	check_error(&p, &wr, IBV_WC_LOC_PROT_ERR, MYNIC_SYN_LKEY_BOUNDS);

	wr = copy_wr(&p, 0x80000000);
	check_error(&p, &wr, IBV_WC_LOC_PROT_ERR, MYNIC_SYN_LKEY_BOUNDS);
	wr.num_sge = 2;
	wr.sge[1] = drv_sge(p.a.mr, 0, 1);
	check_error(&p, &wr, IBV_WC_LOC_LEN_ERR, MYNIC_SYN_BAD_LEN);
}

/*
 * The destination's key must not be the kernel's key of all memory, even in a
 * queue of the kernel
 */
TEST(memcpy_dma_lkey)
{
	struct drv_pair p = copy_pair(MYNIC_QP_KERNEL);
	struct drv_wr wr = copy_wr(&p, 64);

	wr.rkey = p.a.d->attr.dma_lkey;
	check_error(&p, &wr, IBV_WC_LOC_PROT_ERR, MYNIC_SYN_BAD_LKEY);
}

TEST(memcpy_bad_requests)
{
	struct drv_pair p = copy_pair(0);
	struct drv_wr wr = copy_wr(&p, 64);

	for (unsigned int opcode = 0; opcode < 256; opcode++) {
		if (opcode == IBV_WR_DRIVER1)
			continue;
		wr.opcode = opcode;
		check_error(&p, &wr, IBV_WC_LOC_QP_OP_ERR,
			    MYNIC_SYN_BAD_OPCODE);
	}
	wr = copy_wr(&p, 64);
	wr.flags |= 1 << 4;
	check_error(&p, &wr, IBV_WC_LOC_QP_OP_ERR, MYNIC_SYN_BAD_FLAGS);
	wr = copy_wr(&p, 1);
	wr.num_sge = 13;
	check_error(&p, &wr, IBV_WC_LOC_QP_OP_ERR, MYNIC_SYN_BAD_LEN);
}

/* Only DRIVER QPs copy */
TEST(memcpy_other_types)
{
	struct drv_pair p = drv_uc_pair(NULL);
	struct drv_wr wr = copy_wr(&p, 64);

	drv_post_send(p.a.qp, &wr);
	CHECK_EQ(drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_LOC_QP_OP_ERR).vendor_err,
		 MYNIC_SYN_BAD_OPCODE);
}

TEST(memcpy_create)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_DRIVER };
	struct drv_pair p = drv_pair_unconnected(&init);
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_CREATE_QP };
	struct mynic_create_qp create = p.a.qp->create;

	create.log_rq_size = 1;
	create.log_rq_stride = 5;
	create.rq_offset = 0;
	CHECK_EQ(drv_admin_in(p.a.d, &cmd, NULL, &create, sizeof(create)),
		 MYNIC_AQ_BAD_PARAM);
	create = p.a.qp->create;
	create.srqn = drv_create_srq(p.a.d, p.a.pdn, 2)->number;
	CHECK_EQ(drv_admin_in(p.a.d, &cmd, NULL, &create, sizeof(create)),
		 MYNIC_AQ_BAD_PARAM);
	create = p.a.qp->create;
	create.xrcdn = drv_alloc_xrcd(p.a.d);
	CHECK_EQ(drv_admin_in(p.a.d, &cmd, NULL, &create, sizeof(create)),
		 MYNIC_AQ_BAD_PARAM);
	create = p.a.qp->create;
	create.type++;
	CHECK_EQ(drv_admin_in(p.a.d, &cmd, NULL, &create, sizeof(create)),
		 MYNIC_AQ_NOT_SUPPORTED);
}

/* Only the transition to SQD takes an attribute */
TEST(memcpy_attributes)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_DRIVER };
	struct drv_pair p = drv_pair_unconnected(&init);

	for (int state = IBV_QPS_INIT; state <= IBV_QPS_RTS; state++) {
		for (unsigned int bit = 1; bit <= 20; bit++) {
			struct mynic_qp_attr attr = {
				.attr_mask = IBV_QP_STATE | 1 << bit,
				.qp_state = state,
				.cur_qp_state = state - 1,
				.port_num = 1,
				.path_mtu = 3,
				.av = drv_av(p.a.d, 1, DRV_GID_IPV6),
			};

			CHECK(drv_modify_qp(p.a.qp, &attr));
		}
		CHECK_EQ(drv_set_state(p.a.qp, state), MYNIC_AQ_OK);
	}
	check_copy(&p, 1000);
}

TEST(memcpy_states)
{
	struct drv_pair p = copy_pair(0);
	struct drv_wr wr = copy_wr(&p, 100);
	struct mynic_qp_attr sqd = {
		.attr_mask = IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY,
		.qp_state = IBV_QPS_SQD,
		.sq_drained_event = 1,
	};

	CHECK_EQ(drv_modify_qp(p.a.qp, &sqd), MYNIC_AQ_OK);
	drv_expect_event(&p.a.d->event, MYNIC_EVENT_SQ_DRAINED, p.a.qp->number);
	drv_post_send(p.a.qp, &wr);
	drv_expect_none(p.a.cq, SEC);
	CHECK_EQ(drv_set_state(p.a.qp, IBV_QPS_RTS), MYNIC_AQ_OK);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);

	CHECK_EQ(drv_set_state(p.a.qp, IBV_QPS_ERR), MYNIC_AQ_OK);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_WR_FLUSH_ERR);
	drv_reset_qp(p.a.qp);
	to_state(p.a.qp, IBV_QPS_RTS);
	check_copy(&p, 5000);
}

/* A request that has begun ends before the send queue is drained */
TEST(memcpy_drains)
{
	struct drv_pair p = copy_pair(0);
	struct drv_wr wr = copy_wr(&p, DST);
	struct mynic_qp_attr sqd = {
		.attr_mask = IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY,
		.qp_state = IBV_QPS_SQD,
		.sq_drained_event = 1,
	};

	drv_post_send(p.a.qp, &wr);
	CHECK_EQ(drv_modify_qp(p.a.qp, &sqd), MYNIC_AQ_OK);
	drv_expect_event(&p.a.d->event, MYNIC_EVENT_SQ_DRAINED, p.a.qp->number);
	if (p.a.qp->rec->sq_ci)
		drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	CHECK_EQ(drv_set_state(p.a.qp, IBV_QPS_RTS), MYNIC_AQ_OK);
}

/* Packets to the QP are dropped */
TEST(memcpy_qp_receives_nothing)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_qp_init init = { .type = MYNIC_QP_DRIVER,
				    .pdn = p.b.pdn,
				    .send_cq = p.b.cq,
				    .recv_cq = p.b.cq };
	struct drv_qp *copier = drv_create_qp(p.b.d, &init);
	struct drv_path path = { .timeout = 14, .retry_cnt = 1 };
	struct drv_wr wr = copy_wr(&p, 64);
	uint64_t before = drv_stat(p.b.d, MYNIC_STAT_RX_DROP_QP);

	to_state(copier, IBV_QPS_RTS);
	drv_reset_qp(p.a.qp);
	drv_connect_to(p.a.qp, 1, copier->number, &path, IBV_QPS_RTS);
	wr.opcode = IBV_WR_SEND;
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_RETRY_EXC_ERR);
	CHECK(drv_stat(p.b.d, MYNIC_STAT_RX_DROP_QP) > before);
}
