// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Queue pair states, attributes, doorbells and their records */
#include "harness_driver.h"

static struct drv_qp *new_qp(struct drv *d, enum mynic_qp_type type)
{
	struct drv_cq *cq = drv_create_cq(d, 6);
	struct drv_qp_init init = {
		.type = type,
		.pdn = drv_alloc_pd(d),
		.send_cq = cq,
		.recv_cq = cq,
	};

	return drv_create_qp(d, &init);
}

/* Attributes that are valid in all transitions */
static struct mynic_qp_attr full_attr(struct drv *d)
{
	return (struct mynic_qp_attr){
		.path_mtu = IBV_MTU_1024,
		.qkey = 0x1234,
		.rq_psn = 1,
		.sq_psn = 2,
		.dest_qpn = 0x11,
		.access_flags = ACCESS_ALL,
		.max_rd_atomic = 2,
		.max_dest_rd_atomic = 2,
		.min_rnr_timer = 12,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.port_num = 1,
		.av = drv_av(d, 0, DRV_GID_IPV6),
	};
}

#define M(x) IBV_QP_##x

/* IBTA volume 1, 11.2.5.2, for the transitions that need attributes */
struct transition {
	enum mynic_qp_type type;
	enum ibv_qp_state from, to;
	uint32_t required, optional;
};

static const struct transition transitions[] = {
	{ MYNIC_QP_RC, IBV_QPS_RESET, IBV_QPS_INIT,
	  M(PKEY_INDEX) | M(PORT) | M(ACCESS_FLAGS), 0 },
	{ MYNIC_QP_RC, IBV_QPS_INIT, IBV_QPS_INIT, 0,
	  M(PKEY_INDEX) | M(PORT) | M(ACCESS_FLAGS) },
	{ MYNIC_QP_RC, IBV_QPS_INIT, IBV_QPS_RTR,
	  M(AV) | M(PATH_MTU) | M(DEST_QPN) | M(RQ_PSN) |
		  M(MAX_DEST_RD_ATOMIC) | M(MIN_RNR_TIMER),
	  M(ACCESS_FLAGS) | M(PKEY_INDEX) },
	{ MYNIC_QP_RC, IBV_QPS_RTR, IBV_QPS_RTS,
	  M(TIMEOUT) | M(RETRY_CNT) | M(RNR_RETRY) | M(SQ_PSN) |
		  M(MAX_QP_RD_ATOMIC),
	  M(CUR_STATE) | M(ACCESS_FLAGS) | M(MIN_RNR_TIMER) },
	{ MYNIC_QP_RC, IBV_QPS_RTS, IBV_QPS_RTS, 0,
	  M(CUR_STATE) | M(ACCESS_FLAGS) | M(MIN_RNR_TIMER) },
	{ MYNIC_QP_RC, IBV_QPS_RTS, IBV_QPS_SQD, 0, M(EN_SQD_ASYNC_NOTIFY) },
	{ MYNIC_QP_UC, IBV_QPS_RESET, IBV_QPS_INIT,
	  M(PKEY_INDEX) | M(PORT) | M(ACCESS_FLAGS), 0 },
	{ MYNIC_QP_UC, IBV_QPS_INIT, IBV_QPS_INIT, 0,
	  M(PKEY_INDEX) | M(PORT) | M(ACCESS_FLAGS) },
	{ MYNIC_QP_UC, IBV_QPS_INIT, IBV_QPS_RTR,
	  M(AV) | M(PATH_MTU) | M(DEST_QPN) | M(RQ_PSN),
	  M(ACCESS_FLAGS) | M(PKEY_INDEX) },
	{ MYNIC_QP_UC, IBV_QPS_RTR, IBV_QPS_RTS, M(SQ_PSN),
	  M(CUR_STATE) | M(ACCESS_FLAGS) },
	{ MYNIC_QP_UC, IBV_QPS_RTS, IBV_QPS_RTS, 0,
	  M(CUR_STATE) | M(ACCESS_FLAGS) },
	{ MYNIC_QP_UC, IBV_QPS_RTS, IBV_QPS_SQD, 0, M(EN_SQD_ASYNC_NOTIFY) },
	{ MYNIC_QP_UD, IBV_QPS_RESET, IBV_QPS_INIT,
	  M(PKEY_INDEX) | M(PORT) | M(QKEY), 0 },
	{ MYNIC_QP_UD, IBV_QPS_INIT, IBV_QPS_INIT, 0,
	  M(PKEY_INDEX) | M(PORT) | M(QKEY) },
	{ MYNIC_QP_UD, IBV_QPS_INIT, IBV_QPS_RTR, 0, M(PKEY_INDEX) | M(QKEY) },
	{ MYNIC_QP_UD, IBV_QPS_RTR, IBV_QPS_RTS, M(SQ_PSN),
	  M(CUR_STATE) | M(QKEY) },
	{ MYNIC_QP_UD, IBV_QPS_RTS, IBV_QPS_RTS, 0, M(CUR_STATE) | M(QKEY) },
	{ MYNIC_QP_UD, IBV_QPS_RTS, IBV_QPS_SQD, 0, M(EN_SQD_ASYNC_NOTIFY) },
};

static const struct transition *find(enum mynic_qp_type type, int from, int to)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(transitions); i++)
		if (transitions[i].type == type &&
		    transitions[i].from == (enum ibv_qp_state)from &&
		    transitions[i].to == (enum ibv_qp_state)to)
			return &transitions[i];
	return NULL;
}

static uint8_t move(struct drv_qp *qp, enum ibv_qp_state from,
		    enum ibv_qp_state to, uint32_t mask)
{
	struct mynic_qp_attr attr = full_attr(qp->d);

	attr.attr_mask = mask | IBV_QP_STATE;
	attr.qp_state = to;
	attr.cur_qp_state = from;
	return drv_modify_qp(qp, &attr);
}

/* Move to RESET, and then directly to @state, which is not SQE */
static void go_to(struct drv_qp *qp, enum ibv_qp_state state)
{
	static const enum ibv_qp_state way[] = {
		IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR,
		IBV_QPS_RTS,   IBV_QPS_SQD,
	};
	enum mynic_qp_type type = qp->create.type;

	drv_reset_qp(qp);
	if (state == IBV_QPS_ERR) {
		CHECK_EQ(drv_set_state(qp, IBV_QPS_ERR), MYNIC_AQ_OK);
		return;
	}
	for (unsigned int i = 0; way[i] != state; i++)
		CHECK_EQ(move(qp, way[i], way[i + 1],
			      find(type, way[i], way[i + 1])->required),
			 MYNIC_AQ_OK);
	CHECK_EQ(drv_query_qp(qp).qp_state, state);
}

static bool legal(int from, int to)
{
	if (to == IBV_QPS_RESET || to == IBV_QPS_ERR)
		return true;
	if (from == IBV_QPS_SQD)
		return to == IBV_QPS_SQD || to == IBV_QPS_RTS;
	return find(MYNIC_QP_RC, from, to);
}

static void check_all_transitions(enum mynic_qp_type type)
{
	struct drv_qp *qp = new_qp(drv_one(), type);
	static const int states[] = { IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR,
				      IBV_QPS_RTS,   IBV_QPS_SQD,  IBV_QPS_ERR };

	for (unsigned int i = 0; i < ARRAY_SIZE(states); i++)
		for (int to = IBV_QPS_RESET; to <= IBV_QPS_ERR + 1; to++) {
			const struct transition *t = find(type, states[i], to);
			uint8_t status;

			go_to(qp, states[i]);
			status = move(qp, states[i], to, t ? t->required : 0);
			if (to > IBV_QPS_ERR) {
				CHECK_EQ(status, MYNIC_AQ_BAD_PARAM);
			} else if (legal(states[i], to)) {
				if (status)
					FAIL("%d to %d refused with %u",
					     states[i], to, status);
				CHECK_EQ(drv_query_qp(qp).qp_state, to);
			} else {
				if (status != MYNIC_AQ_BAD_STATE)
					FAIL("%d to %d: status %u", states[i],
					     to, status);
				CHECK_EQ(drv_query_qp(qp).qp_state, states[i]);
			}
		}
}

TEST(qp_transitions_rc)
{
	check_all_transitions(MYNIC_QP_RC);
}

TEST(qp_transitions_uc)
{
	check_all_transitions(MYNIC_QP_UC);
}

TEST(qp_transitions_ud)
{
	check_all_transitions(MYNIC_QP_UD);
}

/*
 * Leave out each required attribute, and add each optional and each other one
 */
TEST(qp_transition_attributes)
{
	struct drv *d = drv_one();

	for (unsigned int i = 0; i < ARRAY_SIZE(transitions); i++) {
		const struct transition *t = &transitions[i];
		struct drv_qp *qp = new_qp(d, t->type);

		for (unsigned int bit = 1; bit <= 20; bit++) {
			uint32_t mask = t->required ^ 1u << bit;
			bool required = t->required & 1u << bit;
			bool optional = t->optional & 1u << bit;
			uint8_t status;

			/* alternate paths and CAP are not supported */
			if (bit == 14 || bit == 18 || bit == 19)
				continue;
			go_to(qp, t->from);
			status = move(qp, t->from, t->to, mask);
			if (optional && status)
				FAIL("type %u, %u to %u: optional bit %u refused with %u",
				     t->type, t->from, t->to, bit, status);
			if (required && !status)
				FAIL("type %u, %u to %u: without required bit %u",
				     t->type, t->from, t->to, bit);
			/* the verbs layer allows CUR_STATE in more places */
			if (!optional && !required && bit != 1 && !status)
				FAIL("type %u, %u to %u: with bit %u", t->type,
				     t->from, t->to, bit);
			CHECK_EQ(drv_query_qp(qp).qp_state,
				 status ? t->from : t->to);
		}
	}
}

TEST(qp_unknown_attribute_bits)
{
	struct drv_qp *qp = new_qp(drv_one(), MYNIC_QP_RC);

	/* MYNIC_QP_ATTR_ECE is the last one */
	for (unsigned int bit = 26; bit < 31; bit++)
		CHECK_EQ(move(qp, IBV_QPS_RESET, IBV_QPS_INIT,
			      transitions[0].required | 1u << bit),
			 MYNIC_AQ_NOT_SUPPORTED);
}

TEST(qp_current_state)
{
	struct drv_qp *qp = new_qp(drv_one(), MYNIC_QP_RC);

	go_to(qp, IBV_QPS_RTS);
	CHECK_EQ(move(qp, IBV_QPS_SQD, IBV_QPS_RTS, IBV_QP_CUR_STATE),
		 MYNIC_AQ_BAD_STATE);
	CHECK_EQ(move(qp, IBV_QPS_RTS, IBV_QPS_RTS, IBV_QP_CUR_STATE),
		 MYNIC_AQ_OK);
}

TEST(qp_attribute_ranges)
{
	struct drv_qp *qp = new_qp(drv_one(), MYNIC_QP_RC);
	struct mynic_qp_attr good, bad;

#define TRY(state, field, value, status)                               \
	do {                                                           \
		good = full_attr(qp->d);                               \
		good.qp_state = state;                                 \
		good.attr_mask =                                       \
			IBV_QP_STATE |                                 \
			find(MYNIC_QP_RC, state - 1, state)->required; \
		bad = good;                                            \
		bad.field = value;                                     \
		go_to(qp, state - 1);                                  \
		CHECK_EQ(drv_modify_qp(qp, &bad), MYNIC_AQ_##status);  \
	} while (0)
	TRY(IBV_QPS_INIT, port_num, 0, BAD_PARAM);
	TRY(IBV_QPS_INIT, port_num, 2, BAD_PARAM);
	TRY(IBV_QPS_INIT, pkey_index, 1, BAD_PARAM);
	TRY(IBV_QPS_INIT, access_flags, 1 << 30, OK);
	TRY(IBV_QPS_RTR, path_mtu, 0, BAD_PARAM);
	TRY(IBV_QPS_RTR, path_mtu, 6, BAD_PARAM);
	TRY(IBV_QPS_RTR, dest_qpn, 1 << 24, BAD_PARAM);
	TRY(IBV_QPS_RTR, rq_psn, 1 << 24, BAD_PARAM);
	TRY(IBV_QPS_RTR, max_dest_rd_atomic, 255, BAD_PARAM);
	TRY(IBV_QPS_RTR, min_rnr_timer, 32, BAD_PARAM);
	TRY(IBV_QPS_RTR, av.sgid_index, 300, BAD_PARAM);
	TRY(IBV_QPS_RTS, timeout, 32, BAD_PARAM);
	TRY(IBV_QPS_RTS, retry_cnt, 8, BAD_PARAM);
	TRY(IBV_QPS_RTS, rnr_retry, 8, BAD_PARAM);
	TRY(IBV_QPS_RTS, sq_psn, 1 << 24, BAD_PARAM);
	TRY(IBV_QPS_RTS, max_rd_atomic, 255, BAD_PARAM);
	TRY(IBV_QPS_RTS, timeout, 0, OK);
	TRY(IBV_QPS_RTS, timeout, 31, OK);
	/* reserved bytes */
	TRY(IBV_QPS_RTS, reserved_25[0], 1, BAD_PARAM);
	TRY(IBV_QPS_RTS, reserved_50[47], 1, BAD_PARAM);
#undef TRY
}

TEST(qp_query_returns_what_was_set)
{
	struct drv_pair p = drv_rc_pair(&(struct drv_path){
		.mtu = IBV_MTU_2048,
		.rq_psn = 0x123456,
		.sq_psn = 0x654321,
		.timeout = 9,
		.retry_cnt = 3,
		.rnr_retry = 5,
		.min_rnr_timer = 21,
		.max_rd_atomic = 3,
	});
	struct mynic_qp_attr a = drv_query_qp(p.a.qp);
	struct mynic_av av = drv_av(p.a.d, 1, DRV_GID_IPV6);

	CHECK_EQ(a.qp_state, IBV_QPS_RTS);
	CHECK_EQ(a.path_mtu, IBV_MTU_2048);
	CHECK_EQ(a.rq_psn, 0x123456);
	CHECK_EQ(a.sq_psn, 0x654321);
	CHECK_EQ(a.dest_qpn, p.b.qp->number);
	CHECK_EQ(a.access_flags, ACCESS_ALL);
	CHECK_EQ(a.max_rd_atomic, 3);
	CHECK_EQ(a.max_dest_rd_atomic, 3);
	CHECK_EQ(a.min_rnr_timer, 21);
	CHECK_EQ(a.timeout, 9);
	CHECK_EQ(a.retry_cnt, 3);
	CHECK_EQ(a.rnr_retry, 5);
	CHECK_EQ(a.port_num, 1);
	CHECK_MEM(&a.av, &av, sizeof(av));
	drv_send_recv(&p.a, &p.b, 5000);
	/* 3 packets went out; 3 came in at b */
	CHECK_EQ(drv_query_qp(p.a.qp).sq_psn, 0x654324);
	CHECK_EQ(drv_query_qp(p.b.qp).rq_psn, 0x654324);
}

TEST(qp_reset_begins_anew)
{
	struct drv_pair p = drv_rc_pair(NULL);

	for (int i = 0; i < 5; i++) {
		drv_send_recv(&p.a, &p.b, 3000);
		drv_send_recv(&p.b, &p.a, 3000);
		drv_reset_qp(p.a.qp);
		drv_reset_qp(p.b.qp);
		CHECK_EQ(drv_query_qp(p.a.qp).qp_state, IBV_QPS_RESET);
		drv_connect(p.a.qp, p.b.qp,
			    &(struct drv_path){ .sq_psn = 77 * i,
						.rq_psn = 0xffffff - i });
	}
}

/* Completions of a QP end with the completion of its MODIFY_QP to RESET */
TEST(qp_reset_drops_work)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_wr wr = {
		.opcode = IBV_WR_SEND,
		.flags = IBV_SEND_SIGNALED,
	};

	/* no receive is posted: these stay outstanding */
	for (int i = 0; i < 10; i++)
		drv_post_send(p.a.qp, &wr);
	drv_reset_qp(p.a.qp);
	drv_expect_none(p.a.cq, 10 * SEC);
}

/* Move b from INIT to RTR, as drv_connect_to() does */
static uint8_t to_rtr(struct drv_pair *p)
{
	struct mynic_qp_attr attr = full_attr(p->b.d);

	attr.attr_mask = IBV_QP_STATE |
			 find(MYNIC_QP_RC, IBV_QPS_INIT, IBV_QPS_RTR)->required;
	attr.qp_state = IBV_QPS_RTR;
	attr.rq_psn = 0;
	attr.dest_qpn = p->a.qp->number;
	attr.av = drv_av(p->b.d, 0, DRV_GID_IPV6);
	return drv_modify_qp(p->b.qp, &attr);
}

TEST(qp_receive_from_init)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_RC };
	struct drv_path path = { 0 };
	struct drv_pair p = drv_pair_unconnected(&init);
	struct mynic_sge sge = drv_sge(p.b.mr, 0, 64);
	struct drv_wr wr = {
		.wr_id = 4,
		.opcode = IBV_WR_SEND,
		.flags = IBV_SEND_SIGNALED,
	};

	drv_connect_to(p.b.qp, 0, p.a.qp->number, &path, IBV_QPS_INIT);
	drv_post_recv(p.b.qp, 1, &sge, 1);
	/* a RESET forgets it */
	drv_reset_qp(p.b.qp);
	drv_connect_to(p.b.qp, 0, p.a.qp->number, &path, IBV_QPS_INIT);
	drv_post_recv(p.b.qp, 2, &sge, 1);
	drv_connect_to(p.a.qp, 1, p.b.qp->number, &path, IBV_QPS_RTS);
	CHECK_EQ(to_rtr(&p), MYNIC_AQ_OK);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.b.recv_cq, 2, IBV_WC_SUCCESS);
	drv_expect(p.a.cq, 4, IBV_WC_SUCCESS);
	drv_expect_event(&p.b.d->event, MYNIC_EVENT_COMM_EST, p.b.qp->number);
}

TEST(qp_error_flushes_in_order)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_wr wr = { .opcode = IBV_WR_SEND };
	struct mynic_cqe cqe;

	for (int i = 0; i < 20; i++) {
		wr.wr_id = i;
		drv_post_send(p.a.qp, &wr);
		if (i % 5 == 0)
			sim_settle(p.sim);
		drv_post_recv(p.a.qp, 100 + i, NULL, 0);
	}
	CHECK_EQ(drv_set_state(p.a.qp, IBV_QPS_ERR), MYNIC_AQ_OK);
	for (int i = 20; i < 30; i++) {
		wr.wr_id = i;
		drv_post_send(p.a.qp, &wr);
		drv_post_recv(p.a.qp, 100 + i, NULL, 0);
	}
	for (int i = 0; i < 30; i++) {
		cqe = drv_expect(p.a.cq, i, IBV_WC_WR_FLUSH_ERR);
		CHECK_EQ(cqe.qp_num, p.a.qp->number);
		CHECK_EQ(cqe.vendor_err, MYNIC_SYN_FLUSHED);
		drv_expect(p.a.recv_cq, 100 + i, IBV_WC_WR_FLUSH_ERR);
	}
	drv_expect_none(p.a.cq, SEC);
	drv_expect_none(p.a.recv_cq, 0);
	CHECK_EQ(p.a.qp->rec->sq_ci, p.a.qp->sq_pi);
	CHECK_EQ(p.a.qp->rec->rq_ci, p.a.qp->rq_pi);
}

/* A receive that is posted while the QP goes to ERR is flushed as well */
TEST(qp_error_flushes_late_receives)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_qp *qp = p.a.qp;

	CHECK_EQ(drv_set_state(qp, IBV_QPS_ERR), MYNIC_AQ_OK);
	/* like a host that has not seen rq_ring yet */
	qp->rec->rq_ring = 0;
	drv_post_recv(qp, 7, NULL, 0);
	drv_expect(p.a.recv_cq, 7, IBV_WC_WR_FLUSH_ERR);
}

TEST(qp_error_asks_for_doorbell)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_qp *qp = p.a.qp;

	CHECK_EQ(qp->rec->rq_ring, 0);
	CHECK_EQ(drv_set_state(qp, IBV_QPS_ERR), MYNIC_AQ_OK);
	sim_run(p.sim, SEC);
	CHECK(qp->rec->rq_ring);
	drv_post_recv(qp, 7, NULL, 0);
	drv_expect(p.a.recv_cq, 7, IBV_WC_WR_FLUSH_ERR);
	CHECK_EQ(drv_set_state(qp, IBV_QPS_RESET), MYNIC_AQ_OK);
	CHECK_EQ(qp->rec->rq_ring, 0);
}

TEST(qp_sqd_drains_and_goes_on)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct mynic_qp_attr attr = {
		.attr_mask = IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY,
		.qp_state = IBV_QPS_SQD,
		.sq_drained_event = 1,
	};
	struct drv_wr wr = {
		.wr_id = 1,
		.opcode = IBV_WR_SEND,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { drv_sge(p.a.mr, 0, 64) },
	};
	struct mynic_sge sge = drv_sge(p.b.mr, 0, 64);
	struct mynic_eqe eqe;

	/* it has begun, and gets RNR NAKs until there is a receive request */
	drv_post_send(p.a.qp, &wr);
	sim_settle(p.sim);
	CHECK_EQ(drv_modify_qp(p.a.qp, &attr), MYNIC_AQ_OK);
	sim_run(p.sim, MSEC);
	CHECK_EQ(drv_query_qp(p.a.qp).qp_state, IBV_QPS_SQD);
	CHECK_EQ(drv_query_qp(p.a.qp).sq_drained_event, 1);
	/* posted in SQD: it waits */
	wr.wr_id = 2;
	drv_post_send(p.a.qp, &wr);
	CHECK(!drv_eq_poll(&p.a.d->event, &eqe));
	drv_post_recv(p.b.qp, 11, &sge, 1);
	drv_post_recv(p.b.qp, 12, &sge, 1);
	drv_expect(p.a.cq, 1, IBV_WC_SUCCESS);
	drv_expect_event(&p.a.d->event, MYNIC_EVENT_SQ_DRAINED, p.a.qp->number);
	CHECK_EQ(drv_query_qp(p.a.qp).sq_drained_event, 0);
	drv_expect_none(p.a.cq, SEC);
	CHECK_EQ(drv_set_state(p.a.qp, IBV_QPS_RTS), MYNIC_AQ_OK);
	drv_expect(p.a.cq, 2, IBV_WC_SUCCESS);
}

TEST(qp_sqd_when_idle)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct mynic_qp_attr attr = {
		.attr_mask = IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY,
		.qp_state = IBV_QPS_SQD,
		.sq_drained_event = 1,
	};

	drv_send_recv(&p.a, &p.b, 100);
	CHECK_EQ(drv_modify_qp(p.a.qp, &attr), MYNIC_AQ_OK);
	drv_expect_event(&p.a.d->event, MYNIC_EVENT_SQ_DRAINED, p.a.qp->number);
	CHECK_EQ(drv_set_state(p.a.qp, IBV_QPS_RTS), MYNIC_AQ_OK);
	drv_send_recv(&p.a, &p.b, 100);
	/* the receiving side worked all the time */
	drv_send_recv(&p.b, &p.a, 100);
}

TEST(qp_sqd_event_once_for_each_request)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct mynic_qp_attr attr = {
		.attr_mask = IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY,
		.qp_state = IBV_QPS_SQD,
		.sq_drained_event = 1,
	};
	struct mynic_eqe eqe;

	CHECK_EQ(drv_modify_qp(p.a.qp, &attr), MYNIC_AQ_OK);
	drv_expect_event(&p.a.d->event, MYNIC_EVENT_SQ_DRAINED, p.a.qp->number);
	CHECK_EQ(drv_set_state(p.a.qp, IBV_QPS_RTS), MYNIC_AQ_OK);
	CHECK_EQ(drv_set_state(p.a.qp, IBV_QPS_SQD), MYNIC_AQ_OK);
	sim_run(p.sim, SEC);
	CHECK(!drv_eq_poll(&p.a.d->event, &eqe));
}

TEST(doorbell_on_a_foreign_page)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_qp *qp = p.a.qp;
	struct drv_wr wr = {
		.wr_id = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.flags = IBV_SEND_SIGNALED,
	};

	drv_write_wqe(qp, &wr);
	/* page 2 is another process's, page 0 the kernel's */
	sim_doorbell(p.a.d->n, 2, MYNIC_UAR_QP_DB, qp->number, qp->sq_pi);
	sim_doorbell(p.a.d->n, 0, MYNIC_UAR_QP_DB, qp->number, qp->sq_pi);
	drv_expect_none(p.a.cq, SEC);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_BAD_DOORBELL), 2);
	sim_doorbell(p.a.d->n, 1, MYNIC_UAR_QP_DB, qp->number + 1, 1);
	sim_doorbell(p.a.d->n, 1, MYNIC_UAR_QP_DB, 0xffffff, 1);
	sim_doorbell(p.a.d->n, 1, MYNIC_UAR_QP_DB, 0, 1);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_BAD_DOORBELL), 5);
	drv_ring(qp);
	drv_expect(p.a.cq, 1, IBV_WC_SUCCESS);
}

TEST(doorbell_index_is_a_hint)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_qp *qp = p.a.qp;
	struct drv_wr wr = {
		.wr_id = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.flags = IBV_SEND_SIGNALED,
	};

	sim_doorbell(p.a.d->n, 1, MYNIC_UAR_QP_DB, qp->number, 1000);
	drv_expect_none(p.a.cq, SEC);
	drv_write_wqe(qp, &wr);
	qp->rec->sq_pi = qp->sq_pi;
	sim_doorbell(p.a.d->n, 1, MYNIC_UAR_QP_DB, qp->number, 0);
	drv_expect(p.a.cq, 1, IBV_WC_SUCCESS);
	CHECK_EQ(drv_query_qp(qp).qp_state, IBV_QPS_RTS);
}

TEST(doorbell_of_a_reset_qp)
{
	struct drv *d = drv_one();
	struct drv_qp *qp = new_qp(d, MYNIC_QP_RC);
	struct drv_wr wr = { .opcode = IBV_WR_SEND };

	drv_post_send(qp, &wr);
	sim_run(d->sim, SEC);
	CHECK_EQ(drv_query_qp(qp).qp_state, IBV_QPS_RESET);
}

static void check_bad_sq_index(uint32_t index)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_qp *qp = p.a.qp;

	drv_send_recv(&p.a, &p.b, 10);
	qp->rec->sq_pi = index;
	sim_doorbell(p.a.d->n, 1, MYNIC_UAR_QP_DB, qp->number, index);
	drv_expect_event(&p.a.d->event, MYNIC_EVENT_QP_FATAL, qp->number);
	CHECK_EQ(drv_query_qp(qp).qp_state, IBV_QPS_ERR);
	CHECK(drv_stat(p.a.d, MYNIC_STAT_BAD_INDEX) > 0);
	CHECK_EQ(drv_number_cmd(p.a.d, MYNIC_CMD_DESTROY_QP, qp->number), 0);
}

TEST(sq_index_too_far)
{
	check_bad_sq_index(66);
}

TEST(sq_index_behind)
{
	check_bad_sq_index(0);
}

TEST(sq_index_far_off)
{
	check_bad_sq_index(0x80000000);
}

TEST(sq_full_is_legal)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.flags = IBV_SEND_SIGNALED,
	};

	for (int lap = 0; lap < 4; lap++) {
		for (int i = 0; i < 64; i++) {
			wr.wr_id = i;
			drv_write_wqe(p.a.qp, &wr);
		}
		drv_ring(p.a.qp);
		for (int i = 0; i < 64; i++)
			drv_expect(p.a.cq, i, IBV_WC_SUCCESS);
		/* all slots are free before the completion is visible */
		CHECK_EQ(p.a.qp->rec->sq_ci, p.a.qp->sq_pi);
	}
}

TEST(rq_index_too_far)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_wr wr = { .opcode = IBV_WR_SEND };

	p.b.qp->rec->rq_pi = 65;
	drv_post_send(p.a.qp, &wr);
	drv_expect_event(&p.b.d->event, MYNIC_EVENT_QP_FATAL, p.b.qp->number);
	CHECK(drv_stat(p.b.d, MYNIC_STAT_BAD_INDEX) > 0);
	CHECK_EQ(drv_query_qp(p.b.qp).qp_state, IBV_QPS_ERR);
}

TEST(qp_memory_levels)
{
	for (unsigned int levels = 0; levels <= 2; levels++) {
		struct drv_pair p = { .sim = sim_new(2) };
		struct drv_qp_init init = { .type = MYNIC_QP_RC,
					    .log_sq_size = 8,
					    .log_sq_stride = 9,
					    .log_rq_size = 9,
					    .log_rq_stride = 7 };
		struct drv_end *end[] = { &p.a, &p.b };

		for (unsigned int i = 0; i < 2; i++) {
			struct drv_end *e = end[i];

			e->d = drv_up(&p.sim->nics[i]);
			e->d->levels = levels;
			e->pdn = drv_alloc_pd(e->d);
			e->cq = drv_create_cq(e->d, 9);
			e->recv_cq = drv_create_cq(e->d, 10);
			e->mr = drv_reg_mr(e->d, e->pdn, 8192, ACCESS_ALL);
			init.pdn = e->pdn;
			init.send_cq = e->cq;
			init.recv_cq = e->recv_cq;
			e->qp = drv_create_qp(e->d, &init);
		}
		drv_connect(p.a.qp, p.b.qp, &(struct drv_path){ 0 });
		for (int i = 0; i < 1500; i++)
			drv_send_recv(&p.a, &p.b, 8 + i);
	}
}

TEST(qp_many)
{
	struct drv *d = drv_one();
	struct drv_cq *cq = drv_create_cq(d, 8);
	struct drv_qp_init init = {
		.type = MYNIC_QP_RC,
		.pdn = drv_alloc_pd(d),
		.send_cq = cq,
		.recv_cq = cq,
		.log_sq_size = 1,
		.log_rq_size = 1,
	};
	struct drv_qp *qp = tap_alloc(sizeof(*qp));
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_CREATE_QP };
	struct mynic_admin_cpl cpl;
	uint32_t *number = tap_alloc(d->attr.max_qp * sizeof(*number));

	/* all share the same memory, which is not touched in RESET */
	drv_qp_layout(d, qp, &init);
	for (uint32_t i = 0; i < d->attr.max_qp; i++) {
		CHECK_EQ(drv_admin_in(d, &cmd, &cpl, &qp->create,
				      sizeof(qp->create)),
			 0);
		number[i] = cpl.number;
	}
	CHECK_EQ(drv_admin_in(d, &cmd, &cpl, &qp->create, sizeof(qp->create)),
		 MYNIC_AQ_NO_RESOURCE);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_CQ, cq->number),
		 MYNIC_AQ_BUSY);
	for (uint32_t i = 0; i < d->attr.max_qp; i += 2)
		CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_QP, number[i]), 0);
	for (uint32_t i = 0; i < d->attr.max_qp / 2; i++)
		CHECK_EQ(drv_admin_in(d, &cmd, &cpl, &qp->create,
				      sizeof(qp->create)),
			 0);
}

TEST(qp_many_in_traffic)
{
	enum { NUM = 1000 };
	struct drv_pair p = { .sim = sim_new(2) };
	struct drv *a = drv_up(&p.sim->nics[0]), *b = drv_up(&p.sim->nics[1]);
	struct drv_cq *cq[2] = { drv_create_cq(a, 12), drv_create_cq(b, 12) };
	uint32_t pdn[2] = { drv_alloc_pd(a), drv_alloc_pd(b) };
	struct drv_mr *mr[2] = { drv_reg_mr(a, pdn[0], 8 * NUM, ACCESS_ALL),
				 drv_reg_mr(b, pdn[1], 8 * NUM, ACCESS_ALL) };
	struct drv_qp *qp[NUM];
	struct mynic_cqe cqe;
	bool seen[NUM] = { false };

	for (unsigned int i = 0; i < NUM; i++) {
		struct drv_qp_init init = {
			.type = MYNIC_QP_RC,
			.log_sq_size = 2,
			.log_rq_size = 2,
		};
		struct drv_qp *peer;

		init.pdn = pdn[0];
		init.send_cq = cq[0];
		init.recv_cq = cq[0];
		qp[i] = drv_create_qp(a, &init);
		init.pdn = pdn[1];
		init.send_cq = cq[1];
		init.recv_cq = cq[1];
		peer = drv_create_qp(b, &init);
		drv_connect(qp[i], peer, &(struct drv_path){ 0 });
	}
	drv_fill(mr[0]->ptr, 8 * NUM, 5);
	for (unsigned int i = 0; i < NUM; i++) {
		struct drv_wr wr = {
			.wr_id = i,
			.opcode = IBV_WR_RDMA_WRITE,
			.flags = IBV_SEND_SIGNALED,
			.num_sge = 1,
			.sge = { drv_sge(mr[0], 8 * i, 8) },
			.remote_addr = mr[1]->addr + 8 * i,
			.rkey = mr[1]->key,
		};

		drv_post_send(qp[i], &wr);
	}
	for (unsigned int i = 0; i < NUM; i++) {
		SIM_WAIT(p.sim, drv_poll(cq[0], &cqe));
		CHECK_EQ(cqe.status, 0);
		CHECK(cqe.wr_id < NUM && !seen[cqe.wr_id]);
		CHECK_EQ(cqe.qp_num, qp[cqe.wr_id]->number);
		seen[cqe.wr_id] = true;
	}
	CHECK_MEM(mr[1]->ptr, mr[0]->ptr, 8 * NUM);
}
