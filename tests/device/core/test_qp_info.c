// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* What nic_next_qp() says of queue pairs, and what they wait for */
#include "core/engine/qp_info.h"
#include "harness_driver.h"

static struct qp_info info_of(const struct drv_end *end)
{
	uint32_t number = end->qp->number;
	struct qp_info info;

	CHECK(nic_next_qp(end->d->n->nic, &number, &info));
	CHECK_EQ(info.number, end->qp->number);
	return info;
}

TEST(idle)
{
	struct drv_pair p = drv_rc_pair(&(struct drv_path){
		.mtu = IBV_MTU_2048, .retry_cnt = 5, .rnr_retry = 3 });
	struct qp_info info = info_of(&p.a);

	CHECK_EQ(info.type, MYNIC_QP_RC);
	CHECK_EQ(info.state, IBV_QPS_RTS);
	CHECK(info.connected && info.has_sq && info.has_rq && info.reliable);
	CHECK_EQ(info.dest_qpn, p.b.qp->number);
	CHECK_EQ(info.path_mtu, 2048);
	CHECK_EQ(info.posted, 0);
	CHECK_EQ(info.sent, 0);
	CHECK_EQ(info.retries, 5);
	CHECK_EQ(info.rnr_retries, 3);
	CHECK_EQ(info.srqn, MYNIC_NO_SRQ);
	CHECK_EQ(info.rate, 0);
	CHECK_EQ(info.waits, 0);
	drv_send_recv(&p.a, &p.b, 100);
	sim_settle(p.sim);
	info = info_of(&p.b);
	CHECK_EQ(info.messages, 1);
	CHECK_EQ(info.received, 1);
	CHECK_EQ(info.answers, 0);
	CHECK_EQ(info.waits, 0);
}

TEST(all_in_order)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct nic *nic = p.a.d->n->nic;
	struct qp_info info;
	uint32_t number = 0, num = 0, last = 0;

	for (; nic_next_qp(nic, &number, &info); number++) {
		CHECK(!num || info.number > last);
		last = info.number;
		num++;
	}
	CHECK(num >= 1);
	number = last + 1;
	CHECK(!nic_next_qp(nic, &number, &info));
}

TEST(waits_for_room)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_wr wr = drv_send_wr(&p.a, 8);

	sim_set_room(p.b.d->n, 0);
	drv_post_send(p.a.qp, &wr);
	sim_run(p.sim, MSEC);
	CHECK_EQ(info_of(&p.a).waits, QP_WAIT_ROOM);
	sim_set_room(p.b.d->n, SIM_MUCH_ROOM);
	sim_settle(p.sim);
	CHECK(!(info_of(&p.a).waits & QP_WAIT_ROOM));
}

TEST(waits_for_an_acknowledgment)
{
	struct drv_pair p = drv_rc_pair(
		&(struct drv_path){ .timeout = 18, .retry_cnt = 7 });
	struct drv_wr wr = drv_send_wr(&p.a, 8);
	struct qp_info info;

	p.sim->filter = sim_drop_all;
	drv_post_send(p.a.qp, &wr);
	drv_post_send(p.a.qp, &wr);
	sim_run(p.sim, MSEC);
	info = info_of(&p.a);
	CHECK_EQ(info.waits, QP_WAIT_ACK);
	CHECK_EQ(info.posted, 2);
	CHECK_EQ(info.sent, 2);
	CHECK_EQ(info.oldest, IBV_WR_SEND);
	CHECK_EQ((info.psn - info.una) & 0xffffff, 2);
	CHECK(info.silent >= MSEC && info.silent < 2 * MSEC);
	CHECK(info.retry_in > 0 && info.retry_in != ~0ull);
	CHECK_EQ(info_of(&p.b).waits, 0);
}

TEST(waits_for_the_peer_to_receive)
{
	struct drv_pair p = drv_rc_pair(&(struct drv_path){
		.min_rnr_timer = 26 /* 81.92 ms */, .rnr_retry = 7 });
	struct drv_wr wr = drv_send_wr(&p.a, 8);
	struct qp_info info;

	drv_post_send(p.a.qp, &wr);
	sim_run(p.sim, MSEC);
	info = info_of(&p.a);
	CHECK(info.waits & QP_WAIT_RNR);
	CHECK(info.pause > 70 * MSEC && info.pause <= 82 * MSEC);
	CHECK_EQ(info.posted, 1);
	CHECK_EQ(info.rnr_retries, 7);
}

TEST(waits_for_its_rate)
{
	struct drv_pair p = drv_rc_pair(
		&(struct drv_path){ .mtu = IBV_MTU_4096, .timeout = 18 });
	struct mynic_qp_attr attr = {
		.attr_mask = IBV_QP_STATE | IBV_QP_RATE_LIMIT,
		.qp_state = IBV_QPS_RTS,
		.rate_limit = 8000, /* 1 MB/s */
	};
	struct drv_wr wr = drv_send_wr(&p.a, 60000);
	struct qp_info info;

	wr.opcode = IBV_WR_RDMA_WRITE;
	wr.remote_addr = p.b.mr->addr;
	wr.rkey = p.b.mr->key;
	CHECK_EQ(drv_modify_qp(p.a.qp, &attr), MYNIC_AQ_OK);
	drv_post_send(p.a.qp, &wr);
	sim_run(p.sim, 10 * MSEC);
	info = info_of(&p.a);
	CHECK(info.waits & QP_WAIT_RATE);
	CHECK_EQ(info.rate, 8000000);
}

TEST(in_error)
{
	struct drv_pair p = drv_rc_pair(
		&(struct drv_path){ .timeout = 10, .retry_cnt = 0 });
	struct drv_wr wr = drv_send_wr(&p.a, 8);
	struct qp_info info;

	p.sim->filter = sim_drop_all;
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_RETRY_EXC_ERR);
	info = info_of(&p.a);
	CHECK_EQ(info.state, IBV_QPS_ERR);
	CHECK(!info.connected);
	CHECK_EQ(info.waits, 0);
	CHECK_EQ(info.posted, 0);
}
