// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Shared receive queues */
#include "harness_driver.h"

/* Two connections whose receivers at b share an SRQ */
struct shared {
	struct drv_pair p;
	struct drv_srq *srq;
	struct drv_qp *from[2];
	struct drv_qp *to[2];
};

static struct shared make_shared(uint8_t log_size)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_RC };
	struct shared s = { .p = drv_pair_unconnected(&init) };
	struct drv_qp_init at_a = {
		.type = MYNIC_QP_RC,
		.pdn = s.p.a.pdn,
		.send_cq = s.p.a.cq,
		.recv_cq = s.p.a.recv_cq,
	};
	struct drv_qp_init at_b = {
		.type = MYNIC_QP_RC,
		.pdn = s.p.b.pdn,
		.send_cq = s.p.b.cq,
		.recv_cq = s.p.b.recv_cq,
	};

	s.srq = drv_create_srq(s.p.b.d, s.p.b.pdn, log_size);
	at_b.srq = s.srq;
	for (unsigned int i = 0; i < 2; i++) {
		s.from[i] = drv_create_qp(s.p.a.d, &at_a);
		s.to[i] = drv_create_qp(s.p.b.d, &at_b);
		drv_connect(s.from[i], s.to[i], &(struct drv_path){ 0 });
	}
	return s;
}

static void post_recvs(struct shared *s, uint64_t first, unsigned int num)
{
	for (unsigned int i = 0; i < num; i++) {
		struct mynic_sge sge =
			drv_sge(s->p.b.mr, 1024 * (first + i), 1024);

		drv_post_srq_recv(s->srq, first + i, &sge, 1);
	}
}

static void send(struct shared *s, unsigned int which, uint32_t len)
{
	struct drv_wr wr = {
		.wr_id = which,
		.opcode = IBV_WR_SEND,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { drv_sge(s->p.a.mr, 0, len) },
	};

	drv_post_send(s->from[which], &wr);
}

TEST(srq_entries_are_taken_in_order)
{
	struct shared s = make_shared(4);

	drv_fill(s.p.a.mr->ptr, 1024, 1);
	for (uint64_t round = 0; round < 40; round++) {
		post_recvs(&s, 16 * (round % 2), 16);
		for (uint64_t i = 0; i < 16; i++) {
			unsigned int which = (i >> 1) & 1;
			struct mynic_cqe cqe;

			send(&s, which, 1000);
			cqe = drv_expect(s.p.b.recv_cq, 16 * (round % 2) + i,
					 0);
			CHECK_EQ(cqe.qp_num, s.to[which]->number);
			CHECK_EQ(cqe.byte_len, 1000);
			CHECK_MEM(s.p.b.mr->ptr + 1024 * cqe.wr_id,
				  s.p.a.mr->ptr, 1000);
			/* a slot is free as soon as its entry is taken */
			CHECK_EQ(s.srq->rec->ci, round * 16 + i + 1);
			drv_expect(s.p.a.cq, which, IBV_WC_SUCCESS);
		}
	}
}

TEST(srq_empty_is_rnr)
{
	struct shared s = make_shared(4);

	send(&s, 0, 10);
	send(&s, 1, 10);
	drv_expect_none(s.p.a.cq, 100 * MSEC);
	CHECK(drv_stat(s.p.b.d, MYNIC_STAT_TX_NAK_RNR) > 0);
	post_recvs(&s, 0, 2);
	SIM_WAIT(s.p.sim, s.srq->rec->ci == 2);
}

TEST(srq_limit)
{
	struct shared s = make_shared(4);
	struct mynic_eqe eqe;

	post_recvs(&s, 0, 10);
	CHECK_EQ(drv_modify_srq(s.srq, 8), MYNIC_AQ_OK);
	CHECK_EQ(drv_srq_limit(s.srq), 8);
	for (uint64_t i = 0; i < 2; i++) {
		send(&s, 0, 10);
		drv_expect(s.p.b.recv_cq, i, IBV_WC_SUCCESS);
	}
	/* 8 are left: not fewer than 8 */
	CHECK(!drv_eq_poll(&s.p.b.d->event, &eqe));
	send(&s, 1, 10);
	drv_expect(s.p.b.recv_cq, 2, IBV_WC_SUCCESS);
	drv_expect_event(&s.p.b.d->event, MYNIC_EVENT_SRQ_LIMIT, s.srq->number);
	CHECK_EQ(drv_srq_limit(s.srq), 0);
	/* once only */
	send(&s, 1, 10);
	drv_expect(s.p.b.recv_cq, 3, IBV_WC_SUCCESS);
	CHECK(!drv_eq_poll(&s.p.b.d->event, &eqe));
	/* there are fewer than the limit already, so the event comes at once */
	CHECK_EQ(drv_modify_srq(s.srq, 7), MYNIC_AQ_OK);
	drv_expect_event(&s.p.b.d->event, MYNIC_EVENT_SRQ_LIMIT, s.srq->number);
	CHECK_EQ(drv_modify_srq(s.srq, 17), MYNIC_AQ_BAD_PARAM);
}

TEST(srq_last_wqe)
{
	struct shared s = make_shared(4);
	struct mynic_eqe eqe;

	post_recvs(&s, 0, 4);
	CHECK_EQ(drv_set_state(s.to[0], IBV_QPS_ERR), MYNIC_AQ_OK);
	drv_expect_event(&s.p.b.d->event, MYNIC_EVENT_LAST_WQE,
			 s.to[0]->number);
	drv_expect_none(s.p.b.recv_cq, SEC);
	CHECK(!drv_eq_poll(&s.p.b.d->event, &eqe));
	/* the other QP has the entries */
	send(&s, 1, 10);
	drv_expect(s.p.b.recv_cq, 0, IBV_WC_SUCCESS);
}

/* A QP goes to ERR during a message, whose entry is flushed first */
TEST(srq_last_wqe_after_flush)
{
	struct shared s = make_shared(4);
	struct mynic_sge sge = drv_sge(s.p.b.mr, 0, DRV_PAIR_MEM);

	s.p.sim->direct = true;
	drv_post_srq_recv(s.srq, 1, &sge, 1);
	send(&s, 0, DRV_PAIR_MEM);
	while (s.srq->rec->ci == 0)
		nic_run(s.p.a.d->n->nic);
	CHECK_EQ(drv_set_state(s.to[0], IBV_QPS_ERR), MYNIC_AQ_OK);
	drv_expect(s.p.b.recv_cq, 1, IBV_WC_WR_FLUSH_ERR);
	drv_expect_event(&s.p.b.d->event, MYNIC_EVENT_LAST_WQE,
			 s.to[0]->number);
}

/* A QP goes to RESET or is destroyed during a message, and returns its entry */
TEST(srq_entry_is_returned)
{
	for (unsigned int destroyed = 0; destroyed < 2; destroyed++) {
		struct shared s = make_shared(4);
		struct mynic_sge sge = drv_sge(s.p.b.mr, 0, DRV_PAIR_MEM);

		s.p.sim->direct = true;
		drv_post_srq_recv(s.srq, 1, &sge, 1);
		drv_post_srq_recv(s.srq, 2, &sge, 1);
		send(&s, 0, DRV_PAIR_MEM);
		while (s.srq->rec->ci == 0)
			nic_run(s.p.a.d->n->nic);
		if (destroyed)
			CHECK_EQ(drv_number_cmd(s.p.b.d, MYNIC_CMD_DESTROY_QP,
						s.to[0]->number),
				 MYNIC_AQ_OK);
		else
			CHECK_EQ(drv_set_state(s.to[0], IBV_QPS_RESET),
				 MYNIC_AQ_OK);
		drv_expect(s.p.b.recv_cq, 1, IBV_WC_WR_FLUSH_ERR);
		CHECK_EQ(s.srq->rec->ci, 1);
		/* The other QP gets the remaining entries */
		send(&s, 1, 10);
		drv_expect(s.p.b.recv_cq, 2, IBV_WC_SUCCESS);
		sim_free(s.p.sim);
	}
}

TEST(srq_bad_index)
{
	struct shared s = make_shared(4);
	struct drv_end *b = &s.p.b;

	s.srq->rec->pi = 17;
	send(&s, 0, 10);
	drv_expect_event(&b->d->event, MYNIC_EVENT_SRQ_ERROR, s.srq->number);
	CHECK(drv_stat(b->d, MYNIC_STAT_BAD_INDEX) > 0);
	/* to its QPs it looks empty, and it can be destroyed */
	drv_expect_none(s.p.a.cq, 100 * MSEC);
	CHECK_EQ(drv_number_cmd(b->d, MYNIC_CMD_DESTROY_QP, s.to[0]->number),
		 0);
	CHECK_EQ(drv_number_cmd(b->d, MYNIC_CMD_DESTROY_QP, s.to[1]->number),
		 0);
	CHECK_EQ(drv_number_cmd(b->d, MYNIC_CMD_DESTROY_SRQ, s.srq->number), 0);
}

/*
 * SGEs in the SRQ belong to the PD of the SRQ, which may differ from the QP's
 */
TEST(srq_protection_domain)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_RC };
	struct drv_pair p = drv_pair_unconnected(&init);
	uint32_t other = drv_alloc_pd(p.b.d);
	struct drv_srq *srq = drv_create_srq(p.b.d, other, 4);
	struct drv_mr *mr = drv_reg_mr(p.b.d, other, 4096, ACCESS_ALL);
	struct drv_qp_init at_b = {
		.type = MYNIC_QP_RC,
		.pdn = p.b.pdn,
		.send_cq = p.b.cq,
		.recv_cq = p.b.recv_cq,
		.srq = srq,
	};
	struct drv_qp *qp = drv_create_qp(p.b.d, &at_b);
	struct mynic_sge good = drv_sge(mr, 0, 100);
	struct mynic_sge bad = drv_sge(p.b.mr, 0, 100);
	struct drv_wr wr = {
		.wr_id = 1,
		.opcode = IBV_WR_SEND,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { drv_sge(p.a.mr, 0, 10) },
	};

	drv_connect(p.a.qp, qp, &(struct drv_path){ 0 });
	drv_post_srq_recv(srq, 5, &good, 1);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.b.recv_cq, 5, IBV_WC_SUCCESS);
	drv_expect(p.a.cq, 1, IBV_WC_SUCCESS);
	drv_post_srq_recv(srq, 6, &bad, 1);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.b.recv_cq, 6, IBV_WC_LOC_PROT_ERR);
	drv_expect(p.a.cq, 1, IBV_WC_REM_OP_ERR);
}

TEST(srq_memory_levels)
{
	for (unsigned int levels = 0; levels <= 2; levels++) {
		struct shared s = make_shared(4);
		struct mynic_cqe cqe;

		s.p.b.d->levels = levels;
		s.srq = drv_create_srq(s.p.b.d, s.p.b.pdn, 10);
		for (unsigned int i = 0; i < 2; i++) {
			struct drv_qp_init at_b = {
				.type = MYNIC_QP_RC,
				.pdn = s.p.b.pdn,
				.send_cq = s.p.b.cq,
				.recv_cq = s.p.b.recv_cq,
				.srq = s.srq,
			};

			s.to[i] = drv_create_qp(s.p.b.d, &at_b);
			drv_reset_qp(s.from[i]);
			drv_connect(s.from[i], s.to[i],
				    &(struct drv_path){ 0 });
		}
		post_recvs(&s, 0, 1000);
		for (unsigned int i = 0; i < 1000; i++) {
			send(&s, i % 2, 8);
			drv_expect(s.p.b.recv_cq, i, IBV_WC_SUCCESS);
			SIM_WAIT(s.p.sim, drv_poll(s.p.a.cq, &cqe));
			CHECK_EQ(cqe.status, 0);
		}
	}
}
