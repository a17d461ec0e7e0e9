// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The length of a NIC's turns. Work that fans out and long commands are done in
 * pieces. In this file, a turn is over after four reads of the clock.
 */
#include "base/turn.h"
#include "harness_eth.h"

#define TICK (NIC_TURN_NS / 4)
#define QKEY 0x11111111
#define TCP 6

/* Generous limit of the work of a kind in one turn */
#define MOST 300

static const uint8_t group[16] = { 0xff, 0x0e, [15] = 0x42 };

static unsigned int count(struct drv_cq *cq)
{
	struct mynic_cqe cqe;
	unsigned int num = 0;

	while (drv_poll(cq, &cqe)) {
		CHECK_EQ(cqe.status, IBV_WC_SUCCESS);
		num++;
	}
	return num;
}

/* Check that work is done only in this call. Return: nic_run() */
static bool run(struct drv *d)
{
	bool more;

	d->sim->tick = TICK;
	more = nic_run(d->n->nic);
	d->sim->tick = 0;
	return more;
}

/* Post a request of @num segments of one byte */
static void post_tso(struct drv_end *end, uint32_t num)
{
	struct drv_wr wr = {
		.wr_id = 1,
		.opcode = IBV_WR_TSO,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { drv_sge(end->mr, 0, num) },
	};
	struct mynic_send_wqe *wqe;
	struct eth_buf header;
	uint8_t *data;

	eth_begin(&header, ETH_GROUP, 0x0800);
	eth_put_ipv4(&header, 0x0a000001, 0x0a000002, TCP, 20);
	eth_put_tcp(&header, 80, 1234, 0, 0x10);
	wqe = drv_write_wqe(end->qp, &wr);
	wqe->mss = 1;
	wqe->hdr_len = header.len;
	data = (uint8_t *)wqe + MYNIC_WQE_DATA_EXT;
	memmove(data + (header.len + 15) / 16 * 16, data, sizeof(wr.sge[0]));
	memcpy(data, header.data, header.len);
	drv_ring(end->qp);
}

TEST(turn_of_tso)
{
	struct drv_pair p = eth_raw_pair();
	uint64_t before = p.a.d->n->sent;
	unsigned int turns = 1;

	post_tso(&p.a, 1024);
	while (run(p.a.d)) {
		uint64_t sent = p.a.d->n->sent;

		CHECK(sent - before <= MOST);
		before = sent;
		turns++;
	}
	CHECK(turns >= 4);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_TX_ETH_PACKETS), 1024);
	CHECK_EQ(drv_expect(p.a.cq, 1, 0).opcode, IBV_WC_TSO);
}

/* If the clock stands still, a turn ends by count */
TEST(turn_of_tso_in_pieces)
{
	struct drv_pair p = eth_raw_pair();

	for (unsigned int i = 0; i < 3; i++)
		post_tso(&p.a, 1024);
	nic_run(p.a.d->n->nic);
	CHECK(count(p.a.cq) <= 1);
	sim_settle(p.sim);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_TX_ETH_PACKETS), 3 * 1024);
}

/* SQD waits only for a request that has begun */
TEST(turn_of_tso_drained)
{
	struct drv_pair p = eth_raw_pair();
	struct mynic_qp_attr attr = {
		.attr_mask = IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY,
		.qp_state = IBV_QPS_SQD,
		.sq_drained_event = 1,
	};
	struct mynic_cqe cqe;

	post_tso(&p.a, 1000);
	post_tso(&p.a, 1000);
	run(p.a.d);
	CHECK(!drv_poll(p.a.cq, &cqe));
	CHECK_EQ(drv_modify_qp(p.a.qp, &attr), 0);
	drv_expect_event(&p.a.d->event, MYNIC_EVENT_SQ_DRAINED, p.a.qp->number);
	drv_expect(p.a.cq, 1, 0);
	drv_expect_none(p.a.cq, SEC);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_TX_ETH_PACKETS), 1000);
	CHECK_EQ(drv_set_state(p.a.qp, IBV_QPS_RTS), 0);
	drv_expect(p.a.cq, 1, 0);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_TX_ETH_PACKETS), 2000);
}

/* Make rules that all compare 16 headers, and pass the frame to the next one */
static void make_rules(struct drv_end *end, unsigned int num, uint32_t *numbers)
{
	struct mynic_flow_spec specs[MYNIC_FLOW_MAX_SPECS] = { 0 };
	struct mynic_create_flow body = {
		.type = MYNIC_FLOW_NORMAL,
		.flags = MYNIC_FLOW_DONT_TRAP,
		.priority = 1,
		.num_specs = MYNIC_FLOW_MAX_SPECS,
	};

	for (unsigned int i = 0; i < MYNIC_FLOW_MAX_SPECS; i++)
		specs[i].type = MYNIC_FLOW_ETH;
	for (unsigned int i = 0; i < num; i++)
		CHECK_EQ(eth_flow(end->qp, body, specs, &numbers[i]), 0);
}

static void send_frame(struct drv_pair *p, uint8_t byte)
{
	struct eth_buf buf;

	eth_begin(&buf, ETH_GROUP, 0x88b5);
	eth_put_data(&buf, 50, byte);
	eth_send_frame(&p->a, &buf, 0);
}

/* Deliver a frame without a turn of any NIC */
static void receive_frame(struct drv_pair *p, uint32_t len)
{
	struct packet pkt = {
		.kind = PACKET_ETH,
		.dmac = { 1 },
		.vlan = PACKET_NO_VLAN,
		.payload_len = len,
		.niov = 1,
		.iov = { { p->a.mr->ptr, len } },
	};

	nic_receive(p->b.d->n->nic, &pkt);
}

TEST(turn_of_rules)
{
	struct drv_pair p = eth_raw_pair();
	struct sim_nic *b = p.b.d->n;
	uint32_t rules[512];
	uint64_t got = 0;
	unsigned int turns = 0;

	make_rules(&p.b, ARRAY_SIZE(rules), rules);
	send_frame(&p, 1);
	/*
	 * each rule matches, and its QP has no receive request, which is
	 * counted
	 */
	while (nic_next_event(b->nic) <= p.sim->now) {
		uint64_t before = got;

		run(p.b.d);
		got = nic_stat(b->nic, MYNIC_STAT_RX_ETH_DROPPED);
		CHECK(got - before <= MOST / 4);
		CHECK(++turns < 100);
	}
	sim_settle(p.sim);
	CHECK_EQ(nic_stat(b->nic, MYNIC_STAT_RX_ETH_DROPPED), 512 + 1);
}

/* Frames keep their order, whether they wait for a turn or not */
TEST(turn_of_rules_in_order)
{
	struct drv_pair p = eth_raw_pair();
	uint32_t rules[20], number;
	struct eth_buf buf;

	make_rules(&p.b, ARRAY_SIZE(rules), rules);
	CHECK_EQ(eth_flow(p.b.qp,
			  (struct mynic_create_flow){
				  .type = MYNIC_FLOW_ALL_DEFAULT },
			  NULL, &number),
		 0);
	for (unsigned int i = 0; i < 4; i++) {
		for (unsigned int j = 0; j < ARRAY_SIZE(rules) + 1; j++)
			eth_post(&p.b, i);
		send_frame(&p, i);
	}
	for (unsigned int i = 0; i < 4; i++) {
		eth_begin(&buf, ETH_GROUP, 0x88b5);
		eth_put_data(&buf, 50, i);
		for (unsigned int j = 0; j < ARRAY_SIZE(rules) + 1; j++)
			drv_expect(p.b.recv_cq, i, 0);
	}
}

/* Rules are destroyed while a frame is half way through them */
TEST(turn_of_rules_that_go)
{
	struct drv_pair p = eth_raw_pair();
	struct mynic_admin_cmd cmd = { 0 };
	struct sim_nic *b = p.b.d->n;
	struct mynic_admin_cpl cpl;
	uint32_t rules[512];

	make_rules(&p.b, ARRAY_SIZE(rules), rules);
	receive_frame(&p, 1400);
	run(p.b.d);
	for (unsigned int i = 0; i < 10; i++) {
		uint64_t next = nic_stat(b->nic, MYNIC_STAT_RX_ETH_DROPPED);

		/* the rule that would be next */
		CHECK(next < ARRAY_SIZE(rules));
		cmd.opcode = MYNIC_CMD_DESTROY_FLOW;
		cmd.number = rules[next + i];
		drv_admin_post(p.b.d, &cmd);
		drv_admin_ring(p.b.d);
		run(p.b.d);
		CHECK(drv_admin_poll(p.b.d, &cpl));
		CHECK_EQ(cpl.status, 0);
	}
	sim_settle(p.sim);
	CHECK_EQ(nic_stat(b->nic, MYNIC_STAT_RX_ETH_DROPPED), 512 - 10 + 1);
}

/* Rules before the next one come and go, but none is tried twice or left out */
TEST(turn_of_rules_that_move)
{
	struct drv_pair p = eth_raw_pair();
	struct sim_nic *b = p.b.d->n;
	struct mynic_admin_cpl cpl;
	uint32_t rules[512];

	make_rules(&p.b, ARRAY_SIZE(rules), rules);
	receive_frame(&p, 1400);
	run(p.b.d);
	for (unsigned int i = 0; i < 10; i++) {
		struct mynic_admin_cmd cmd = {
			.opcode = MYNIC_CMD_CREATE_FLOW,
			.create_flow = { .qpn = p.b.qp->number,
					 .flags = MYNIC_FLOW_DONT_TRAP },
		};

		if (i % 3 == 0)
			cmd = (struct mynic_admin_cmd){
				.opcode = MYNIC_CMD_DESTROY_FLOW,
				.number = rules[i],
			};
		CHECK(nic_stat(b->nic, MYNIC_STAT_RX_ETH_DROPPED) > i);
		drv_admin_post(p.b.d, &cmd);
		drv_admin_ring(p.b.d);
		run(p.b.d);
		CHECK(drv_admin_poll(p.b.d, &cpl));
		CHECK_EQ(cpl.status, 0);
	}
	CHECK(nic_stat(b->nic, MYNIC_STAT_RX_ETH_DROPPED) < ARRAY_SIZE(rules));
	sim_settle(p.sim);
	CHECK_EQ(nic_stat(b->nic, MYNIC_STAT_RX_ETH_DROPPED), 512 + 1);
}

/* The number of waiting frames is bounded, and a reset frees them at once */
TEST(turn_of_frames_without_end)
{
	struct drv_pair p = eth_raw_pair();
	struct sim_nic *b = p.b.d->n;
	uint32_t rules[20];

	make_rules(&p.b, ARRAY_SIZE(rules), rules);
	for (unsigned int i = 0; i < 2000; i++)
		receive_frame(&p, 60);
	CHECK(nic_stat(b->nic, MYNIC_STAT_RX_DROP_OVERRUN) >= 2000 - 512);
	CHECK_EQ(nic_stat(b->nic, MYNIC_STAT_RX_ETH_DROPPED), 0);
	nic_reset(b->nic);
	CHECK(nic_next_event(b->nic) == ~0ull);
}

/* Make members of a's group, each with @each receive requests */
static void make_members(struct drv_end *end, unsigned int num,
			 unsigned int each)
{
	struct drv_qp_init init = {
		.type = MYNIC_QP_UD,
		.pdn = end->pdn,
		.send_cq = end->cq,
		.recv_cq = end->recv_cq,
	};
	struct mynic_sge sge = drv_sge(end->mr, 0, 200);

	for (unsigned int i = 0; i < num; i++) {
		struct drv_qp *qp = drv_create_qp(end->d, &init);

		drv_ud_up(qp, QKEY, IBV_QPS_RTR);
		CHECK_EQ(drv_mcast(qp, MYNIC_CMD_ATTACH_MCAST, group), 0);
		for (unsigned int j = 0; j < each; j++)
			drv_post_recv(qp, i, &sge, 1);
	}
}

TEST(turn_of_group)
{
	struct drv_pair p = drv_ud_pair();
	struct drv_wr wr = {
		.opcode = IBV_WR_SEND,
		.num_sge = 1,
		.sge = { drv_sge(p.a.mr, 0, 64) },
		.remote_qpn = 0xffffff,
		.remote_qkey = QKEY,
		.av = drv_av(p.a.d, 1, DRV_GID_IPV6),
	};
	struct drv_cq *cq = drv_create_cq(p.a.d, 12);
	struct drv_end end = p.a;
	unsigned int got = 0;

	memcpy(wr.av.dgid, group, 16);
	memcpy(wr.av.dmac, "\x33\x33\x00\x00\x00\x42", 6);
	end.recv_cq = cq;
	make_members(&end, 64, 30);
	for (unsigned int i = 0; i < 30; i++)
		drv_write_wqe(p.a.qp, &wr);
	drv_ring(p.a.qp);
	while (run(p.a.d)) {
		unsigned int num = count(cq);

		CHECK(num <= MOST);
		got += num;
	}
	CHECK_EQ(got + count(cq), 64 * 30);
}

/* The NIC continues a command by itself, and the host sees one completion */
static struct drv_mr *bind_windows(struct drv_end *end, unsigned int num)
{
	struct drv_mr *mr = drv_reg_mr(end->d, end->pdn, 4096,
				       ACCESS_ALL | IBV_ACCESS_MW_BIND);
	struct mynic_create_mkey body = { .pdn = end->pdn };
	struct drv_wr wr = {
		.opcode = IBV_WR_BIND_MW,
		.flags = IBV_SEND_SIGNALED,
		.bind = { .addr = mr->addr, .length = 4096, .lkey = mr->key },
	};

	for (unsigned int i = 0; i < num; i++) {
		CHECK_EQ(drv_create_mkey(end->d, &body, MYNIC_MKEY_MW2,
					 &wr.rkey),
			 0);
		drv_post_send(end->qp, &wr);
		drv_expect(end->cq, 0, 0);
	}
	return mr;
}

TEST(turn_of_destroy)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_DESTROY_QP };
	struct mynic_admin_cpl cpl;
	struct drv_mr *mr = bind_windows(&p.a, 1000);
	unsigned int turns = 0;

	cmd.number = p.a.qp->number;
	drv_admin_post(p.a.d, &cmd);
	drv_admin_ring(p.a.d);
	while (!drv_admin_poll(p.a.d, &cpl)) {
		CHECK(run(p.a.d) || turns);
		CHECK(++turns < 1000);
	}
	CHECK_EQ(cpl.status, MYNIC_AQ_OK);
	CHECK(turns > 3);
	/* no window is bound any more, so the region can be destroyed */
	CHECK_EQ(drv_number_cmd(p.a.d, MYNIC_CMD_DESTROY_MKEY, mr->key >> 8),
		 0);
}

static unsigned int count_events(struct drv *d, enum mynic_event type)
{
	struct mynic_eqe eqe;
	unsigned int num = 0;

	while (drv_eq_poll(&d->event, &eqe))
		num += eqe.type == type;
	drv_eq_release(&d->event);
	return num;
}

/* All QPs of a failed CQ go to ERR, in many turns */
TEST(turn_of_failed_cq)
{
	static const struct drv_qp_init none = { .type = MYNIC_QP_UD };
	struct drv_pair p = drv_pair_unconnected(&none);
	struct drv_cq *cq = drv_create_cq(p.a.d, 1);
	struct drv_qp_init init = {
		.type = MYNIC_QP_UD,
		.pdn = p.a.pdn,
		.send_cq = cq,
		.recv_cq = cq,
	};
	struct drv_qp *qps[MOST];
	unsigned int told = 0, turns = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(qps); i++) {
		qps[i] = drv_create_qp(p.a.d, &init);
		drv_ud_up(qps[i], QKEY, IBV_QPS_RTS);
	}
	for (unsigned int i = 0; i < 4; i++)
		drv_post_send(qps[i], &(struct drv_wr){
					      .opcode = IBV_WR_SEND,
					      .flags = IBV_SEND_SIGNALED,
					      .remote_qpn = 0x123456,
					      .av = drv_av(p.a.d, 1, 0),
				      });
	while (told < ARRAY_SIZE(qps)) {
		unsigned int num;

		run(p.a.d);
		num = count_events(p.a.d, MYNIC_EVENT_QP_FATAL);
		CHECK(num <= MOST / 4);
		told += num;
		CHECK(++turns < 1000);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(qps); i++)
		CHECK_EQ(drv_query_qp(qps[i]).qp_state, IBV_QPS_ERR);
	CHECK_EQ(drv_number_cmd(p.a.d, MYNIC_CMD_DESTROY_CQ, cq->number),
		 MYNIC_AQ_BUSY);
	for (unsigned int i = 0; i < ARRAY_SIZE(qps); i++)
		CHECK_EQ(drv_number_cmd(p.a.d, MYNIC_CMD_DESTROY_QP,
					qps[i]->number),
			 0);
	CHECK_EQ(drv_number_cmd(p.a.d, MYNIC_CMD_DESTROY_CQ, cq->number), 0);
}

#define NUM_TAGS 1024

static struct drv_srq *make_tag_list(struct drv_end *end, unsigned int num)
{
	struct drv_cq *cq = drv_create_cq(end->d, 8);
	struct drv_srq *srq =
		drv_create_tm_srq(end->d, end->pdn, cq, 5, NUM_TAGS);

	for (unsigned int i = 0; i < num; i++) {
		struct mynic_tag_wqe wqe = { .ctrl = IBV_WR_TAG_ADD,
					     .handle = i,
					     .tag = 1,
					     .mask = ~0ull };

		drv_post_tag(srq, &wqe);
		SIM_WAIT(end->d->sim, srq->tag_rec->ci == srq->tag_pi);
	}
	return srq;
}

/* Fill a ring without a doorbell */
static void fill_tag_ring(struct drv_srq *srq)
{
	struct mynic_tag_wqe wqe = { .ctrl = IBV_WR_TAG_SYNC };

	for (unsigned int i = 0; i < 1u << srq->log_tag_size; i++)
		memcpy(drv_buf_at(&srq->tag_buf, i * sizeof(wqe)), &wqe,
		       sizeof(wqe));
	srq->tag_pi += 1u << srq->log_tag_size;
	srq->tag_rec->pi = srq->tag_pi;
}

/* A doorbell of a tag ring only notes that there is work */
TEST(turn_of_tag_rings)
{
	static const struct drv_qp_init none = { .type = MYNIC_QP_RC };
	struct drv_pair p = drv_pair_unconnected(&none);
	struct drv_srq *srqs[64];
	unsigned int before = 0, turns = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(srqs); i++)
		srqs[i] = make_tag_list(&p.a, 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(srqs); i++) {
		fill_tag_ring(srqs[i]);
		sim_doorbell(p.a.d->n, srqs[i]->uarn, MYNIC_UAR_TAG_DB,
			     srqs[i]->number, srqs[i]->tag_pi);
		CHECK_EQ(srqs[i]->tag_rec->ci, 0);
	}
	while (nic_next_event(p.a.d->n->nic) <= p.sim->now) {
		unsigned int done = 0;

		run(p.a.d);
		for (unsigned int i = 0; i < ARRAY_SIZE(srqs); i++)
			done += srqs[i]->tag_rec->ci;
		CHECK(done - before <= MOST);
		before = done;
		turns++;
	}
	CHECK_EQ(before, ARRAY_SIZE(srqs) << srqs[0]->log_tag_size);
	CHECK(turns >= before / MOST);
}

/* Tag rings that are never empty leave half of each turn to commands */
TEST(turn_of_destroy_beside_tag_rings)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_DESTROY_QP };
	struct mynic_admin_cpl cpl;
	struct drv_srq *srqs[8];
	unsigned int turns = 0;

	bind_windows(&p.a, 1000);
	for (unsigned int i = 0; i < ARRAY_SIZE(srqs); i++)
		srqs[i] = make_tag_list(&p.a, 0);
	cmd.number = p.a.qp->number;
	drv_admin_post(p.a.d, &cmd);
	drv_admin_ring(p.a.d);
	while (!drv_admin_poll(p.a.d, &cpl)) {
		for (unsigned int i = 0; i < ARRAY_SIZE(srqs); i++) {
			srqs[i]->tag_pi = srqs[i]->tag_rec->ci;
			fill_tag_ring(srqs[i]);
			sim_doorbell(p.a.d->n, srqs[i]->uarn, MYNIC_UAR_TAG_DB,
				     srqs[i]->number, srqs[i]->tag_pi);
		}
		run(p.a.d);
		turns++;
	}
	CHECK_EQ(cpl.status, MYNIC_AQ_OK);
	CHECK(turns <= 1000 / (2 * TURN_LOOK) + 1);
	CHECK(srqs[0]->tag_rec->ci);
}

/* A ring that waits for its turn is freed with its SRQ */
TEST(turn_of_tag_ring_that_goes)
{
	static const struct drv_qp_init none = { .type = MYNIC_QP_RC };
	struct drv_pair p = drv_pair_unconnected(&none);
	struct drv_srq *srq = make_tag_list(&p.a, 0);

	fill_tag_ring(srq);
	sim_doorbell(p.a.d->n, srq->uarn, MYNIC_UAR_TAG_DB, srq->number, 0);
	nic_reset(p.a.d->n->nic);
	CHECK(nic_next_event(p.a.d->n->nic) == ~0ull);
	CHECK_EQ(srq->tag_rec->ci, 0);
}

TEST(turn_of_tags_destroyed)
{
	static const struct drv_qp_init none = { .type = MYNIC_QP_RC };
	struct drv_pair p = drv_pair_unconnected(&none);
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_DESTROY_SRQ };
	struct mynic_admin_cpl cpl;
	unsigned int turns = 0;

	cmd.number = make_tag_list(&p.a, NUM_TAGS)->number;
	drv_admin_post(p.a.d, &cmd);
	drv_admin_ring(p.a.d);
	while (!drv_admin_poll(p.a.d, &cpl)) {
		CHECK(run(p.a.d) || turns);
		CHECK(++turns < 1000);
	}
	CHECK_EQ(cpl.status, MYNIC_AQ_OK);
	CHECK(turns > 3);
}

/* The sender is charged for the search in a long list of tags */
TEST(turn_of_sender_to_tags)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_RC };
	struct drv_pair p = drv_pair_unconnected(&init);
	struct drv_srq *srq = make_tag_list(&p.b, NUM_TAGS);
	struct drv_qp_init to = {
		.type = MYNIC_QP_RC,
		.pdn = p.b.pdn,
		.send_cq = p.b.cq,
		.recv_cq = p.b.recv_cq,
		.srq = srq,
		.no_sq = true,
	};
	struct ibv_tmh *header = (void *)p.a.mr->ptr;
	struct mynic_sge sge = drv_sge(p.b.mr, 0, 64);
	struct drv_wr wr = {
		.opcode = IBV_WR_SEND,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { drv_sge(p.a.mr, 0, 64) },
	};
	struct drv_qp *qp = drv_create_qp(p.b.d, &to);
	uint64_t before;

	drv_connect(p.a.qp, qp, &(struct drv_path){ 0 });
	drv_post_srq_recv(srq, 0, &sge, 1);
	*header =
		(struct ibv_tmh){ .opcode = IBV_TMH_EAGER, .tag = htobe64(2) };
	before = p.b.d->n->units;
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, 0, 0);
	CHECK(p.b.d->n->units - before >= NUM_TAGS / 100);
}

/* A QP that gets one ACK for many requests is charged for all completions */
TEST(turn_of_acknowledgment)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { drv_sge(p.a.mr, 0, 8) },
		.remote_addr = p.b.mr->addr,
		.rkey = p.b.mr->key,
	};
	uint64_t before = p.a.d->n->units;

	for (unsigned int i = 0; i < 16; i++)
		drv_write_wqe(p.a.qp, &wr);
	drv_ring(p.a.qp);
	for (unsigned int i = 0; i < 16; i++)
		drv_expect(p.a.cq, 0, 0);
	CHECK(p.a.d->n->units - before >= 8);
}

/* Make a QP that is held, with unanswered and with new requests */
static struct drv_pair held_pair(void)
{
	static const struct drv_path path = {
		.mtu = IBV_MTU_1024,
		.timeout = 1,
		.retry_cnt = 1,
	};
	struct drv_pair p = drv_rc_pair(&path);
	struct drv_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { drv_sge(p.a.mr, 0, 64) },
		.remote_addr = p.b.mr->addr,
		.rkey = p.b.mr->key,
	};

	p.sim->drop = 1000;
	drv_post_send(p.a.qp, &wr);
	nic_run(p.a.d->n->nic);
	CHECK_EQ(p.a.d->n->sent, 1);
	p.sim->drop = 0;
	drv_post_send(p.a.qp, &wr);
	sim_set_room(p.b.d->n, 0);
	return p;
}

/* A full wire only stops sending */
TEST(held_qp_beside_commands)
{
	struct drv_pair p = held_pair();
	struct drv_srq *srq = make_tag_list(&p.a, 0);

	fill_tag_ring(srq);
	sim_doorbell(p.a.d->n, srq->uarn, MYNIC_UAR_TAG_DB, srq->number, 0);
	sim_run(p.sim, SEC);
	CHECK_EQ(srq->tag_rec->ci, srq->tag_pi);
	CHECK_EQ(p.a.d->n->sent, 1);
	/* The waiting time causes neither timeouts nor retries */
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_TIMEOUT), 0);
	sim_set_room(p.b.d->n, SIM_MUCH_ROOM);
	drv_expect(p.a.cq, 0, 0);
	drv_expect(p.a.cq, 0, 0);
}

TEST(held_qp_is_reset)
{
	struct drv_pair p = held_pair();

	p.sim->tick = TICK;
	nic_reset(p.a.d->n->nic);
	p.sim->tick = 0;
	CHECK_EQ(sim_read32(p.a.d->n, MYNIC_REG_STATUS), 0);
	CHECK(nic_next_event(p.a.d->n->nic) <= p.sim->now);
	sim_settle(p.sim);
	CHECK_EQ(sim_read32(p.a.d->n, MYNIC_REG_STATUS), MYNIC_STATUS_READY);
	CHECK_EQ(p.a.d->n->sent, 1);
}
