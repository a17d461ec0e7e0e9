// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Transitions of queue pairs: legal ones succeed, and all others fail */
#include "verbs.h"

FIXTURE(qp)
{
	struct end e;
};

FIXTURE_VARIANT(qp)
{
	enum ibv_qp_type type;
};

FIXTURE_VARIANT_ADD(qp, rc){
	.type = IBV_QPT_RC,
};

FIXTURE_VARIANT_ADD(qp, uc){
	.type = IBV_QPT_UC,
};

FIXTURE_VARIANT_ADD(qp, ud){
	.type = IBV_QPT_UD,
};

FIXTURE_SETUP(qp)
{
	self->e.ctx = open_mynic(0);
	ASSERT_NE(self->e.ctx, NULL);
	ASSERT_TRUE(make_end(&self->e, variant->type));
}

FIXTURE_TEARDOWN(qp)
{
	EXPECT_EQ(free_end(&self->e), 0);
	EXPECT_EQ(ibv_close_device(self->e.ctx), 0);
}

static const int states[] = { IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR,
			      IBV_QPS_RTS,   IBV_QPS_SQD,  IBV_QPS_ERR };

/* Required attributes of a transition, or -1 if it is illegal */
static int required(enum ibv_qp_type type, int from, int to)
{
	/*
	 * the IBTA allows all transitions to ERR, but the RDMA core none from
	 * RESET
	 */
	if (to == IBV_QPS_RESET || (to == IBV_QPS_ERR && from != IBV_QPS_RESET))
		return IBV_QP_STATE;
	if (from == IBV_QPS_RESET && to == IBV_QPS_INIT)
		return init_mask(type);
	if (from == IBV_QPS_INIT && to == IBV_QPS_INIT)
		return IBV_QP_STATE;
	if (from == IBV_QPS_INIT && to == IBV_QPS_RTR)
		return rtr_mask(type);
	if (from == IBV_QPS_RTR && to == IBV_QPS_RTS)
		return rts_mask(type);
	if (from == IBV_QPS_RTS && (to == IBV_QPS_RTS || to == IBV_QPS_SQD))
		return IBV_QP_STATE;
	if (from == IBV_QPS_SQD && (to == IBV_QPS_RTS || to == IBV_QPS_SQD))
		return IBV_QP_STATE;
	return -1;
}

static int move(struct end *e, int to, int mask)
{
	struct ibv_qp_attr attr = rc_attr(e, e);

	attr.qp_state = to;
	return ibv_modify_qp(e->qp, &attr, mask);
}

static int state_of(struct end *e)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (ibv_query_qp(e->qp, &attr, IBV_QP_STATE, &init))
		return -1;
	return attr.qp_state;
}

static int go_to(struct end *e, int state)
{
	static const int way[] = { IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR,
				   IBV_QPS_RTS, IBV_QPS_SQD };
	int err = move(e, IBV_QPS_RESET, IBV_QP_STATE);

	if (state == IBV_QPS_ERR) {
		err = err ? err : go_to(e, IBV_QPS_INIT);
		return err ? err : move(e, IBV_QPS_ERR, IBV_QP_STATE);
	}
	for (int i = 0; !err && way[i] != state; i++)
		err = move(e, way[i + 1],
			   required(e->qp->qp_type, way[i], way[i + 1]));
	return err;
}

TEST_F(qp, transitions)
{
	struct end *e = &self->e;

	for (unsigned int i = 0; i < ARRAY_SIZE(states); i++)
		for (unsigned int k = 0; k < ARRAY_SIZE(states); k++) {
			int from = states[i], to = states[k];
			int mask = required(variant->type, from, to);

			ASSERT_EQ(go_to(e, from), 0)
			TH_LOG("on the way to %d", from);
			EXPECT_EQ(move(e, to, mask < 0 ? IBV_QP_STATE : mask),
				  mask < 0 ? EINVAL : 0)
			TH_LOG("from %d to %d", from, to);
			EXPECT_EQ(state_of(e), mask < 0 ? from : to)
			TH_LOG("from %d to %d", from, to);
		}
}

/* A transition without one of the attributes that it needs */
TEST_F(qp, missing_attributes)
{
	struct end *e = &self->e;

	for (unsigned int i = 0; i < ARRAY_SIZE(states) - 1; i++) {
		int mask = required(variant->type, states[i], states[i + 1]);

		if (mask < 0)
			continue;
		for (int bit = 1; bit < 26; bit++) {
			if (!(mask & 1 << bit))
				continue;
			ASSERT_EQ(go_to(e, states[i]), 0);
			EXPECT_EQ(move(e, states[i + 1], mask & ~(1 << bit)),
				  EINVAL)
			TH_LOG("from %d without bit %d", states[i], bit);
			EXPECT_EQ(state_of(e), states[i]);
		}
	}
}

TEST_F(qp, current_state)
{
	struct ibv_qp_attr attr = rc_attr(&self->e, &self->e);
	int mask = IBV_QP_STATE | IBV_QP_CUR_STATE;

	ASSERT_EQ(go_to(&self->e, IBV_QPS_RTS), 0);
	attr.qp_state = IBV_QPS_RTS;
	attr.cur_qp_state = IBV_QPS_SQD;
	EXPECT_EQ(ibv_modify_qp(self->e.qp, &attr, mask), EINVAL);
	attr.cur_qp_state = IBV_QPS_RTS;
	EXPECT_EQ(ibv_modify_qp(self->e.qp, &attr, mask), 0);
}

TEST_F(qp, bad_values)
{
	struct end *e = &self->e;
	struct ibv_qp_attr attr;

#define TRY(state, field, value) TRY_ERRNO(state, field, value, EINVAL)
#define TRY_ERRNO(state, field, value, error)                                \
	do {                                                                 \
		ASSERT_EQ(go_to(e, (state) - 1), 0);                         \
		attr = rc_attr(e, e);                                        \
		attr.qp_state = state;                                       \
		attr.field = value;                                          \
		EXPECT_EQ(ibv_modify_qp(e->qp, &attr,                        \
					required(variant->type, (state) - 1, \
						 state)),                    \
			  error);                                            \
		EXPECT_EQ(state_of(e), (state) - 1);                         \
	} while (0)
	TRY(IBV_QPS_INIT, port_num, 2);
	TRY(IBV_QPS_INIT, port_num, 0);
	TRY(IBV_QPS_INIT, pkey_index, 1);
	if (variant->type != IBV_QPT_UD) {
		TRY(IBV_QPS_RTR, path_mtu, 0);
		TRY(IBV_QPS_RTR, path_mtu, 6);
		/* error of the RDMA core for an empty entry */
		TRY_ERRNO(IBV_QPS_RTR, ah_attr.grh.sgid_index, 250, ENODATA);
		TRY(IBV_QPS_RTR, ah_attr.port_num, 2);
	}
	if (variant->type == IBV_QPT_RC) {
		TRY(IBV_QPS_RTR, max_dest_rd_atomic, 255);
		TRY(IBV_QPS_RTR, min_rnr_timer, 32);
		TRY(IBV_QPS_RTS, timeout, 32);
		TRY(IBV_QPS_RTS, retry_cnt, 8);
		TRY(IBV_QPS_RTS, rnr_retry, 8);
		TRY(IBV_QPS_RTS, max_rd_atomic, 255);
	}
#undef TRY
}

TEST_F(qp, error_flushes)
{
	struct end *e = &self->e;
	struct ibv_wc wc;

	ASSERT_EQ(go_to(e, IBV_QPS_RTS), 0);
	for (int i = 0; i < 10; i++) {
		ASSERT_EQ(post_recv(e, i, 0, 64), 0);
	}
	ASSERT_EQ(move(e, IBV_QPS_ERR, IBV_QP_STATE), 0);
	/* posted afterwards: flushed, too */
	for (int i = 10; i < 20; i++) {
		ASSERT_EQ(post_recv(e, i, 0, 64), 0);
	}
	for (int i = 0; i < 20; i++) {
		ASSERT_TRUE(wait_wc(e->cq, &wc));
		EXPECT_EQ(wc.wr_id, i);
		EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
	}
	/* RESET removes what has not been polled */
	ASSERT_EQ(go_to(e, IBV_QPS_RTS), 0);
	ASSERT_EQ(post_recv(e, 99, 0, 64), 0);
	ASSERT_EQ(move(e, IBV_QPS_ERR, IBV_QP_STATE), 0);
	ASSERT_EQ(move(e, IBV_QPS_RESET, IBV_QP_STATE), 0);
	EXPECT_EQ(ibv_poll_cq(e->cq, 1, &wc), 0);
}

TEST_F(qp, query)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	ASSERT_EQ(go_to(&self->e, IBV_QPS_RTS), 0);
	ASSERT_EQ(ibv_query_qp(self->e.qp, &attr, IBV_QP_STATE, &init), 0);
	EXPECT_EQ(attr.qp_state, IBV_QPS_RTS);
	EXPECT_EQ(attr.cur_qp_state, IBV_QPS_RTS);
	EXPECT_EQ(init.qp_type, variant->type);
	EXPECT_GE(init.cap.max_send_wr, 64);
	EXPECT_GE(init.cap.max_inline_data, 64);
	EXPECT_EQ(init.send_cq, self->e.cq);
	if (variant->type == IBV_QPT_UD) {
		EXPECT_EQ(attr.qkey, 0x11111111);
		return;
	}
	EXPECT_EQ(attr.path_mtu, IBV_MTU_1024);
	EXPECT_EQ(attr.sq_psn, 100);
	EXPECT_EQ(attr.rq_psn, 100);
	EXPECT_EQ(attr.dest_qp_num, self->e.qp->qp_num);
	EXPECT_EQ(attr.ah_attr.is_global, 1);
	EXPECT_EQ(attr.ah_attr.grh.sgid_index, self->e.gid_index);
	if (variant->type == IBV_QPT_UC)
		return;
	EXPECT_EQ(attr.timeout, 14);
	EXPECT_EQ(attr.retry_cnt, 7);
	EXPECT_EQ(attr.rnr_retry, 7);
	EXPECT_EQ(attr.min_rnr_timer, 12);
	EXPECT_EQ(attr.max_rd_atomic, 4);
	EXPECT_EQ(attr.max_dest_rd_atomic, 4);
}

TEST_HARNESS_MAIN
