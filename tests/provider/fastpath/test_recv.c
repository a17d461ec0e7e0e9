// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* ibv_post_recv() and ibv_post_srq_recv() */
#include "fixture.h"
#include "mynic.h"

/* Differences between a QP and an SRQ */
struct target {
	struct ibv_qp *qp;
	struct ibv_srq *srq;
	struct mynic_rq *rq;
	void *ring;
	__le32 *pi;
	__le32 *ci;
	uint32_t log_stride;
	uint32_t mask;
};

static struct target qp_target(uint32_t max_wr, uint32_t max_sge)
{
	struct fixture *f = fixture_open(16);
	struct ibv_qp *qp = fixture_qp(f, IBV_QPT_RC, max_wr, max_sge);

	return (struct target){
		.qp = qp,
		.rq = &to_mqp(qp)->rq,
		.ring = fake_qp.rq,
		.pi = &fake_qp.dbrec->rq_pi,
		.ci = &fake_qp.dbrec->rq_ci,
		.log_stride = fake_qp.resp.log_rq_stride,
		.mask = (1U << fake_qp.resp.log_rq_size) - 1,
	};
}

static void close_srq(void *srq)
{
	CHECK_EQ(ibv_destroy_srq(srq), 0);
}

static struct target srq_target(uint32_t max_wr, uint32_t max_sge)
{
	struct fixture *f = fixture_open(16);
	struct ibv_srq_init_attr attr = {
		.attr = { .max_wr = max_wr, .max_sge = max_sge },
	};
	struct ibv_srq *srq = ibv_create_srq(f->pd, &attr);

	CHECK(srq);
	tap_at_end(close_srq, srq);
	return (struct target){
		.srq = srq,
		.rq = &to_msrq(srq)->rq,
		.ring = fake_srq.ring,
		.pi = &fake_srq.dbrec->pi,
		.ci = &fake_srq.dbrec->ci,
		.log_stride = fake_srq.resp.log_stride,
		.mask = (1U << fake_srq.resp.log_size) - 1,
	};
}

static int post_list(struct target *t, struct ibv_recv_wr *wr,
		     struct ibv_recv_wr **bad)
{
	if (t->qp)
		return ibv_post_recv(t->qp, wr, bad);
	return ibv_post_srq_recv(t->srq, wr, bad);
}

static int post(struct target *t, struct ibv_recv_wr *wr)
{
	struct ibv_recv_wr *bad = NULL;
	int err = post_list(t, wr, &bad);

	CHECK_EQ((uintptr_t)bad, err ? (uintptr_t)wr : 0);
	return err;
}

static struct mynic_recv_wqe *slot(struct target *t, uint32_t index)
{
	return t->ring + ((size_t)(index & t->mask) << t->log_stride);
}

static void check_slots(struct target t, uint32_t max)
{
	struct ibv_sge sge[30];
	uint32_t stride = 1U << t.log_stride;

	for (int i = 0; i < 30; i++)
		sge[i] = (struct ibv_sge){
			.addr = 0x7000111122220000ULL + i,
			.length = 0x40000001 + i,
			.lkey = 0x80000100 + i,
		};
	for (uint32_t n = 0; n <= max; n++) {
		struct ibv_recv_wr wr = {
			.wr_id = ~(uint64_t)n,
			.sg_list = sge,
			.num_sge = n,
		};
		struct mynic_recv_wqe *wqe = slot(&t, n);
		struct mynic_sge *got = (void *)(wqe + 1);

		memset(wqe, 0xee, stride);
		wqe->reserved_0c = 0;
		CHECK_EQ(post(&t, &wr), 0);
		CHECK_EQ(le32toh(*t.pi), n + 1);
		*t.ci = *t.pi;
		CHECK_EQ(le64toh(wqe->wr_id), ~(uint64_t)n);
		CHECK_EQ(le32toh(wqe->num_sge), n);
		CHECK_EQ(le32toh(wqe->reserved_0c), 0);
		for (uint32_t i = 0; i < n; i++) {
			CHECK_EQ(le64toh(got[i].addr), sge[i].addr);
			CHECK_EQ(le32toh(got[i].length), sge[i].length);
			CHECK_EQ(le32toh(got[i].lkey), sge[i].lkey);
		}
		for (uint32_t i = 16 + 16 * n; i < stride; i++)
			CHECK_EQ(((uint8_t *)wqe)[i], 0xee);
	}
}

TEST(slots_qp)
{
	check_slots(qp_target(4, 30), 30);
}

TEST(slots_srq)
{
	check_slots(srq_target(4, 30), 30);
}

TEST(slots_small)
{
	check_slots(qp_target(4, 1), 1);
}

static void check_limits(struct target t)
{
	struct ibv_recv_wr wr[10], *bad = NULL;

	for (int i = 0; i < 10; i++)
		wr[i] = (struct ibv_recv_wr){
			.wr_id = i,
			.next = i < 9 ? &wr[i + 1] : NULL,
		};
	CHECK_EQ(post_list(&t, NULL, &bad), 0);
	CHECK_EQ(le32toh(*t.pi), 0);

	/* the first bad one ends it; those before are posted */
	wr[2].num_sge = 4;
	CHECK_EQ(post_list(&t, wr, &bad), EINVAL);
	CHECK_EQ(bad - wr, 2);
	CHECK_EQ(le32toh(*t.pi), 2);
	wr[2].num_sge = -1;
	CHECK_EQ(post(&t, &wr[2]), EINVAL);
	wr[2].num_sge = 0;
	CHECK_EQ(le32toh(*t.pi), 2);

	CHECK_EQ(post_list(&t, wr, &bad), ENOMEM);
	CHECK_EQ(bad - wr, 6);
	CHECK_EQ(le32toh(*t.pi), 8);
	*t.ci = htole32(1);
	CHECK_EQ(post(&t, &wr[9]), 0);
	CHECK_EQ(le64toh(slot(&t, 8)->wr_id), 9);
	CHECK_EQ(post(&t, &wr[9]), ENOMEM);

	/* impossible indexes */
	*t.ci = htole32(10);
	CHECK_EQ(post(&t, &wr[9]), ENOMEM);
	*t.ci = htole32(0xffffffff);
	CHECK_EQ(post(&t, &wr[9]), ENOMEM);
	CHECK_EQ(le32toh(*t.pi), 9);
}

TEST(limits_qp)
{
	check_limits(qp_target(8, 3));
}

TEST(limits_srq)
{
	check_limits(srq_target(8, 3));
}

static void check_wrap(struct target t)
{
	uint32_t pi = 0xfffffff5;

	t.rq->next = t.rq->ring + ((void *)slot(&t, pi) - t.ring);
	t.rq->room = 0;
	t.rq->end = pi;
	*t.ci = htole32(pi);
	for (int i = 0; i < 40; i++) {
		struct ibv_recv_wr wr = { .wr_id = 1000 + i };

		CHECK_EQ(post(&t, &wr), 0);
		CHECK_EQ(le64toh(slot(&t, pi)->wr_id), 1000 + i);
		pi++;
		CHECK_EQ(le32toh(*t.pi), pi);
		*t.ci = htole32(pi - 3);
	}
}

TEST(index_wraps_qp)
{
	check_wrap(qp_target(4, 3));
}

TEST(index_wraps_srq)
{
	check_wrap(srq_target(4, 3));
}

TEST(states)
{
	static const enum ibv_qp_state states[] = {
		IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS,
		IBV_QPS_SQD,  IBV_QPS_SQE, IBV_QPS_ERR,
	};
	struct target t = qp_target(16, 1);
	struct ibv_recv_wr wr = {};

	CHECK_EQ(post(&t, &wr), 0);
	fixture_set_state(t.qp, IBV_QPS_RESET);
	CHECK_EQ(le32toh(*t.pi), 0);
	CHECK_EQ(post(&t, &wr), EINVAL);
	for (int i = 0; i < ARRAY_SIZE(states); i++) {
		fixture_set_state(t.qp, states[i]);
		CHECK_EQ(post(&t, &wr), 0);
		CHECK_EQ(le32toh(*t.pi), i + 1);
	}
}

/* In the error state the device asks for a doorbell in the record. */
TEST(doorbell_if_the_device_asks)
{
	struct target t = qp_target(16, 1);
	uint64_t *doorbell = fake_uar(MYNIC_UAR_QP_DB);
	struct ibv_recv_wr wr = {};

	CHECK_EQ(post(&t, &wr), 0);
	CHECK_EQ(le64toh(*doorbell), 0);
	fake_qp.dbrec->sq_pi = htole32(77);
	fake_qp.dbrec->rq_ring = htole32(1);
	CHECK_EQ(post(&t, &wr), 0);
	CHECK_EQ(le32toh(*t.pi), 2);
	CHECK_EQ(le64toh(*doorbell), (uint64_t)t.qp->qp_num << 32 | 77);
	CHECK_EQ(le32toh(fake_qp.dbrec->sq_pi), 77);
}

/* A QP with an SRQ has no receive queue. */
TEST(qp_with_srq)
{
	struct fixture *f = fixture_open(16);
	struct ibv_srq_init_attr srq_attr = {
		.attr = { .max_wr = 4, .max_sge = 1 },
	};
	struct ibv_srq *srq = ibv_create_srq(f->pd, &srq_attr);
	struct ibv_qp_init_attr attr = {
		.send_cq = f->cq,
		.recv_cq = f->cq,
		.srq = srq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 8, },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_recv_wr wr = {}, *bad = NULL;
	struct ibv_qp *qp;

	CHECK(srq);
	qp = ibv_create_qp(f->pd, &attr);
	CHECK(qp);
	fixture_set_state(qp, IBV_QPS_INIT);
	CHECK_EQ(ibv_post_recv(qp, &wr, &bad), EINVAL);
	CHECK_EQ((uintptr_t)bad, (uintptr_t)&wr);
	CHECK_EQ(ibv_post_srq_recv(srq, &wr, &bad), 0);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	CHECK_EQ(ibv_destroy_srq(srq), 0);
}
