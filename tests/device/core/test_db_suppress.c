// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests without doorbells, which the NIC finds while it watches the record
 */
#include "harness_mock_peer.h"

/* More QPs than a NIC watches */
#define MANY 100

static const struct drv_wr wr = {
	.wr_id = 1,
	.opcode = IBV_WR_RDMA_WRITE,
	.flags = IBV_SEND_SIGNALED,
};

static struct drv_pair pair(void)
{
	drv_features = MYNIC_FEATURE_DB_SUPPRESS;
	return drv_rc_pair(NULL);
}

/* Store the index in the record, without a doorbell. */
static void post_silently(struct drv_qp *qp)
{
	drv_write_wqe(qp, &wr);
	qp->rec->sq_pi = qp->sq_pi;
}

/* Post a request with a doorbell, after which the NIC watches the QP. */
static void wake(struct drv_pair *p)
{
	struct mynic_cqe cqe;

	CHECK_EQ(p->a.qp->rec->sq_db_suppress, 0);
	drv_post_send(p->a.qp, &wr);
	sim_settle(p->sim);
	CHECK_EQ(p->a.qp->rec->sq_db_suppress, 1);
	CHECK(drv_poll(p->a.cq, &cqe));
}

TEST(watches_after_a_doorbell)
{
	struct drv_pair p = pair();
	struct mynic_cqe cqe;

	wake(&p);
	for (int i = 0; i < 10; i++) {
		post_silently(p.a.qp);
		sim_settle(p.sim);
		CHECK(drv_poll(p.a.cq, &cqe));
		CHECK_EQ(cqe.status, IBV_WC_SUCCESS);
		CHECK_EQ(p.a.qp->rec->sq_db_suppress, 1);
	}
	/* A host may still ring the doorbell. */
	drv_write_wqe(p.a.qp, &wr);
	p.a.qp->rec->sq_pi = p.a.qp->sq_pi;
	sim_doorbell(p.a.d->n, p.a.qp->create.uarn, MYNIC_UAR_QP_DB,
		     p.a.qp->number, p.a.qp->sq_pi);
	drv_expect(p.a.cq, 1, IBV_WC_SUCCESS);
}

TEST(sleeps)
{
	struct drv_pair p = pair();

	wake(&p);
	sim_run(p.sim, MSEC);
	CHECK_EQ(p.a.qp->rec->sq_db_suppress, 0);
	post_silently(p.a.qp);
	drv_expect_none(p.a.cq, 1000 * MSEC);
	drv_ring(p.a.qp);
	drv_expect(p.a.cq, 1, IBV_WC_SUCCESS);
}

TEST(looks_once_more)
{
	struct drv_pair p = pair();
	struct nic *nic = p.a.d->n->nic;
	struct mynic_cqe cqe;

	wake(&p);
	post_silently(p.a.qp);
	CHECK(nic_stop_watching(nic));
	CHECK_EQ(p.a.qp->rec->sq_db_suppress, 0);
	CHECK(!nic_stop_watching(nic));
	sim_settle(p.sim);
	CHECK(drv_poll(p.a.cq, &cqe));
	CHECK_EQ(cqe.status, IBV_WC_SUCCESS);
}

/* The NIC also sees new requests while it works for the QP */
TEST(looks_once_more_while_busy)
{
	struct drv_pair p = pair();
	struct nic *nic = p.a.d->n->nic;
	struct mynic_cqe cqe;

	wake(&p);
	post_silently(p.a.qp);
	CHECK(nic_watch(nic));
	post_silently(p.a.qp);
	CHECK(nic_stop_watching(nic));
	sim_settle(p.sim);
	CHECK(drv_poll(p.a.cq, &cqe));
	CHECK(drv_poll(p.a.cq, &cqe));
}

/* Create MANY QPs, each connected to itself */
static void create_many(const struct drv_end *end, struct drv_qp **qps)
{
	struct drv_qp_init init = {
		.type = MYNIC_QP_RC,
		.pdn = end->pdn,
		.send_cq = end->cq,
		.recv_cq = end->recv_cq,
	};

	for (int i = 0; i < MANY; i++) {
		qps[i] = drv_create_qp(end->d, &init);
		drv_connect_to(qps[i], end->d->n->index, qps[i]->number,
			       &(struct drv_path){}, IBV_QPS_RTS);
	}
}

static unsigned int num_watched(struct drv_qp *const *qps)
{
	unsigned int num = 0;

	for (int i = 0; i < MANY; i++)
		num += qps[i]->rec->sq_db_suppress;
	return num;
}

TEST(watches_a_few)
{
	struct drv_pair p = pair();
	struct drv_qp *qps[MANY];
	unsigned int watched;

	create_many(&p.a, qps);
	for (int i = 0; i < MANY; i++) {
		drv_post_send(qps[i], &wr);
		/*
		 * The NIC stops watching some QPs that have such a request.
		 */
		post_silently(qps[i]);
	}
	sim_settle(p.sim);
	watched = num_watched(qps);
	CHECK(watched > 0 && watched < MANY);
	for (int i = 0; i < 2 * MANY; i++)
		drv_expect(p.a.cq, 1, IBV_WC_SUCCESS);
}

/* b sends with a doorbell. A millisecond later the NIC does not watch it. */
static void answer_once(struct drv_pair *p)
{
	drv_post_send(p->b.qp, &wr);
	drv_expect(p->b.cq, 1, IBV_WC_SUCCESS);
	sim_run(p->sim, MSEC);
	CHECK_EQ(p->b.qp->rec->sq_db_suppress, 0);
}

static void request(struct drv_pair *p)
{
	struct mynic_cqe cqe;

	drv_post_send(p->a.qp, &wr);
	sim_settle(p->sim);
	CHECK(drv_poll(p->a.cq, &cqe));
}

TEST(watches_who_may_answer)
{
	struct drv_pair p = pair();
	struct mynic_cqe cqe;

	answer_once(&p);
	for (int i = 0; i < 10; i++) {
		request(&p);
		CHECK_EQ(p.b.qp->rec->sq_db_suppress, 1);
		post_silently(p.b.qp);
		sim_settle(p.sim);
		CHECK(drv_poll(p.b.cq, &cqe));
		CHECK_EQ(cqe.status, IBV_WC_SUCCESS);
		sim_run(p.sim, MSEC);
		CHECK_EQ(p.b.qp->rec->sq_db_suppress, 0);
	}
}

TEST(leaves_alone_who_does_not_answer)
{
	struct drv_pair p = pair();

	request(&p);
	CHECK_EQ(p.b.qp->rec->sq_db_suppress, 0);
	answer_once(&p);
	request(&p);
	sim_run(p.sim, MSEC);
	request(&p);
	CHECK_EQ(p.b.qp->rec->sq_db_suppress, 0);
}

/* answer_once() of a QP whose peer is a mock */
static void mock_answered(struct mock_peer *p, const struct drv_wr *answer)
{
	drv_post_send(p->b.qp, answer);
	sim_run(p->sim, MSEC);
	CHECK_EQ(p->b.qp->rec->sq_db_suppress, 0);
}

static void check_watched(struct mock_peer *p, const struct packet *pkt,
			  bool is)
{
	mock_send(p, pkt);
	CHECK_EQ(p->b.qp->rec->sq_db_suppress, is);
}

TEST(packets_that_are_not_its_own)
{
	struct packet pkt, bad;
	struct mock_peer *p;

	drv_features = MYNIC_FEATURE_DB_SUPPRESS;
	p = mock_rc();
	mock_answered(p, &wr);
	pkt = mock_packet(p, BTH_RC_WRITE_ONLY, 0, 8);
	bad = pkt;
	bad.roce.sgid[15] ^= 1;
	check_watched(p, &bad, false);
	bad = pkt;
	drv_gid(1, DRV_GID_IPV4, bad.roce.dgid);
	check_watched(p, &bad, false);
	bad = mock_packet(p, BTH_CNP, 0, 0);
	check_watched(p, &bad, false);
	check_watched(p, &pkt, true);
}

TEST(datagrams_that_are_dropped)
{
	struct drv_wr answer = { .opcode = IBV_WR_SEND };
	struct packet pkt, bad;
	struct mock_peer *p;

	drv_features = MYNIC_FEATURE_DB_SUPPRESS;
	p = mock_ud();
	answer.remote_qpn = p->a.qp->number;
	answer.av = drv_av(p->b.d, 0, DRV_GID_IPV6);
	mock_answered(p, &answer);
	pkt = mock_packet(p, BTH_UD_SEND_ONLY, 0, 8);
	/* there is no receive request */
	check_watched(p, &pkt, false);
	mock_recv(p, 1, 0, 48);
	bad = pkt;
	bad.roce.qkey ^= 1;
	check_watched(p, &bad, false);
	bad = mock_packet(p, BTH_UD_SEND_ONLY, 0, 9);
	check_watched(p, &bad, false);
	check_watched(p, &pkt, true);
}

/*
 * The NIC watches QPs that have sent. A QP that only receives may never send
 * again.
 */
TEST(forgets_nobody_for_an_answer)
{
	struct drv_pair p = pair();
	struct drv_qp *qps[MANY];
	unsigned int watched;

	answer_once(&p);
	create_many(&p.b, qps);
	for (int i = 0; i < MANY; i++)
		drv_post_send(qps[i], &wr);
	sim_settle(p.sim);
	watched = num_watched(qps);
	request(&p);
	CHECK_EQ(p.b.qp->rec->sq_db_suppress, 0);
	CHECK_EQ(num_watched(qps), watched);
}

TEST(error)
{
	struct drv_pair p = pair();

	wake(&p);
	post_silently(p.a.qp);
	CHECK_EQ(drv_set_state(p.a.qp, IBV_QPS_ERR), MYNIC_AQ_OK);
	drv_expect(p.a.cq, 1, IBV_WC_WR_FLUSH_ERR);
	sim_run(p.sim, MSEC);
	CHECK_EQ(p.a.qp->rec->sq_db_suppress, 0);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, 1, IBV_WC_WR_FLUSH_ERR);
}

TEST(destroyed_with_news)
{
	struct drv_pair p = pair();

	wake(&p);
	post_silently(p.a.qp);
	CHECK_EQ(drv_number_cmd(p.a.d, MYNIC_CMD_DESTROY_QP, p.a.qp->number),
		 MYNIC_AQ_OK);
	sim_run(p.sim, MSEC);
}

TEST(without_the_feature)
{
	struct drv_pair p = drv_rc_pair(NULL);

	drv_post_send(p.a.qp, &wr);
	sim_settle(p.sim);
	CHECK_EQ(p.a.qp->rec->sq_db_suppress, 0);
	drv_expect(p.a.cq, 1, IBV_WC_SUCCESS);
}
