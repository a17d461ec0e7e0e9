// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Requests without doorbells while the device watches the record. */
#include <pthread.h>
#include <stdatomic.h>

#include "fixture.h"
#include "mynic.h"

/* The last doorbell, and the one for a QP's requests up to @index */
static uint64_t rung(void)
{
	return le64toh(*fake_uar(MYNIC_UAR_QP_DB));
}

static uint64_t doorbell(uint32_t index)
{
	return (uint64_t)fake_qp.qpn << MYNIC_DB_NUMBER_SHIFT | index;
}

static struct fixture *open_with_feature(void)
{
	fake.db_suppress = true;
	return fixture_open(8);
}

typedef void (*post_fn)(struct ibv_qp *qp);

static void post_wr(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
	struct ibv_sge sge = { .addr = 0x1000, .length = 8, .lkey = 1 };
	struct ibv_send_wr *bad;

	wr->sg_list = &sge;
	wr->num_sge = 1;
	CHECK_EQ(ibv_post_send(qp, wr, &bad), 0);
}

static void post_send(struct ibv_qp *qp)
{
	post_wr(qp, &(struct ibv_send_wr){ .opcode = IBV_WR_SEND });
}

/* Not one of the common ones */
static void post_atomic(struct ibv_qp *qp)
{
	post_wr(qp,
		&(struct ibv_send_wr){ .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD });
}

static void wr_send(struct ibv_qp *qp)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);

	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_sge(qpx, 1, 0x1000, 8);
	CHECK_EQ(ibv_wr_complete(qpx), 0);
}

/* Check that posting rings if and only if the device does not watch */
static void check_post(struct ibv_qp *qp, post_fn post)
{
	struct mynic_qp_dbrec *dbrec = fake_qp.dbrec;
	uint32_t pi = le32toh(dbrec->sq_pi);
	uint64_t before;

	dbrec->sq_db_suppress = 0;
	post(qp);
	CHECK_EQ(le32toh(dbrec->sq_pi), pi + 1);
	CHECK_EQ(rung(), doorbell(pi + 1));

	before = rung();
	dbrec->sq_db_suppress = htole32(1);
	post(qp);
	CHECK_EQ(le32toh(dbrec->sq_pi), pi + 2);
	CHECK_EQ(rung(), before);

	dbrec->sq_db_suppress = 0;
	post(qp);
	CHECK_EQ(rung(), doorbell(pi + 3));
}

static void check_qp(struct ibv_qp *qp, bool atomics)
{
	check_post(qp, post_send);
	check_post(qp, wr_send);
	if (atomics)
		check_post(qp, post_atomic);
}

TEST(looks_at_the_record)
{
	struct fixture *f = open_with_feature();

	check_qp(fixture_qp(f, IBV_QPT_RC, 16, 1), true);
	check_qp(fixture_qp(f, IBV_QPT_UC, 16, 1), false);
}

static void close_td(void *td)
{
	CHECK_EQ(ibv_dealloc_td(td), 0);
}

static void close_parent(void *pd)
{
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
}

TEST(thread_domain)
{
	struct fixture *f = open_with_feature();
	struct ibv_td_init_attr td_attr = {};
	struct ibv_td *td = ibv_alloc_td(f->context, &td_attr);
	struct ibv_parent_domain_init_attr attr = { .pd = f->pd, .td = td };
	struct fixture single = *f;

	CHECK(td);
	tap_at_end(close_td, td);
	single.pd = ibv_alloc_parent_domain(f->context, &attr);
	CHECK(single.pd);
	tap_at_end(close_parent, single.pd);
	check_qp(fixture_qp(&single, IBV_QPT_RC, 16, 1), true);
	check_qp(fixture_qp(&single, IBV_QPT_UC, 16, 1), false);
}

TEST(without_the_feature)
{
	struct ibv_qp *qp = fixture_qp(fixture_open(8), IBV_QPT_RC, 16, 1);

	fake_qp.dbrec->sq_db_suppress = htole32(1);
	post_send(qp);
	CHECK_EQ(rung(), doorbell(1));
	wr_send(qp);
	CHECK_EQ(rung(), doorbell(2));
	post_atomic(qp);
	CHECK_EQ(rung(), doorbell(3));
}

/* Return: whether the doorbell of the CQ was rung */
static bool arm(struct fixture *f)
{
	uint64_t *rung = fake_uar(MYNIC_UAR_CQ_DB);
	bool did;

	CHECK_EQ(ibv_req_notify_cq(f->cq, 0), 0);
	did = *rung;
	*rung = 0;
	f->fake_cq.dbrec->taken = f->fake_cq.dbrec->arm;
	return did;
}

TEST(cq_looks_at_the_record)
{
	struct fixture *f = open_with_feature();

	CHECK(arm(f));
	f->fake_cq.dbrec->db_suppress = htole32(1);
	CHECK(!arm(f));
	f->fake_cq.dbrec->db_suppress = 0;
	CHECK(arm(f));
}

TEST(cq_without_the_feature)
{
	struct fixture *f = fixture_open(8);

	f->fake_cq.dbrec->db_suppress = htole32(1);
	CHECK(arm(f));
}

#define RACES 20000

/**
 * struct race - a device that completes while the host asks for an event
 * @f: the shared fixture
 * @begun: rounds that the device may run
 * @ended: rounds that it has run
 * @saw: the device has found a request for the completion of the round
 */
struct race {
	struct fixture *f;
	atomic_uint begun;
	atomic_uint ended;
	bool saw;
};

static void *complete_and_look(void *arg)
{
	struct mynic_cqe cqe = { .status = htole32(IBV_WC_WR_FLUSH_ERR) };
	struct race *race = arg;
	struct fake_cq *cq = &race->f->fake_cq;

	for (unsigned int i = 0; i < RACES; i++) {
		uint64_t request;

		while (atomic_load(&race->begun) == i)
			;
		/* now a little earlier, now a little later */
		for (volatile unsigned int n = i % 64; n; n--)
			;
		fake_complete(cq, &cqe);
		atomic_thread_fence(memory_order_seq_cst);
		request = le64toh(*(volatile __le64 *)&cq->dbrec->arm);
		race->saw = request & MYNIC_ARM_VALID && (uint32_t)request == i;
		atomic_store(&race->ended, i + 1);
	}
	return NULL;
}

/* Either the device sees the request, or the host the completion */
TEST(cq_races_with_the_device)
{
	struct race race = { .f = open_with_feature() };
	struct mynic_cq_dbrec *dbrec = race.f->fake_cq.dbrec;
	uint64_t *rung = fake_uar(MYNIC_UAR_CQ_DB);
	unsigned int seen = 0, told = 0;
	pthread_t device;
	struct ibv_wc wc;

	dbrec->db_suppress = htole32(1);
	CHECK_EQ(pthread_create(&device, NULL, complete_and_look, &race), 0);
	for (unsigned int i = 0; i < RACES; i++) {
		atomic_store(&race.begun, i + 1);
		CHECK_EQ(ibv_req_notify_cq(race.f->cq, 0), 0);
		while (atomic_load(&race.ended) == i)
			;
		/* unless it asked for the next one */
		if ((uint32_t)le64toh(dbrec->arm) == i)
			CHECK(race.saw || *rung);
		seen += race.saw;
		told += !!*rung;
		*rung = 0;
		CHECK_EQ(ibv_poll_cq(race.f->cq, 1, &wc), 1);
		dbrec->taken = dbrec->arm;
	}
	pthread_join(device, NULL);
	printf("# %u requests seen, %u rung\n", seen, told);
}
