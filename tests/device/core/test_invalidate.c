// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * SEND_WITH_INV at both ends, and the order of LOCAL_INV, BIND_MW and REG_MR
 * among other requests of a queue.
 */
#include "harness_mock_peer.h"

#define MTU MOCK_MTU
#define REMOTE_ALL                                          \
	(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
	 IBV_ACCESS_REMOTE_ATOMIC)

#define OK IBV_WC_SUCCESS
#define DENIED IBV_WC_REM_ACCESS_ERR

static uint64_t next_id = 100;

/* Allocate a window of type 2 of @e, without binding it */
static uint32_t alloc_mw(struct drv_end *e, uint32_t pdn)
{
	struct mynic_create_mkey body = { .pdn = pdn };
	uint32_t key;

	CHECK_EQ(drv_create_mkey(e->d, &body, MYNIC_MKEY_MW2, &key),
		 MYNIC_AQ_OK);
	return key;
}

static struct drv_mr *bindable(struct drv_end *e)
{
	return drv_reg_mr(e->d, e->pdn, 65536, ACCESS_ALL | IBV_ACCESS_MW_BIND);
}

static struct drv_wr bind_wr(const struct drv_mr *mr, uint32_t key)
{
	return (struct drv_wr){
		.wr_id = next_id++,
		.opcode = IBV_WR_BIND_MW,
		.flags = IBV_SEND_SIGNALED,
		.rkey = key,
		.bind = {
			.addr = mr->addr,
			.length = mr->len,
			.lkey = mr->key,
			.new_rkey = key,
			.access = REMOTE_ALL,
		},
	};
}

static struct drv_wr rdma_wr(struct drv_end *e, enum ibv_wr_opcode opcode,
			     uint64_t addr, uint32_t rkey, uint32_t len)
{
	return (struct drv_wr){
		.wr_id = next_id++,
		.opcode = opcode,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { drv_sge(e->mr, 0, len) },
		.remote_addr = addr,
		.rkey = rkey,
	};
}

static void post(struct drv_end *e, const struct drv_wr *wr,
		 enum ibv_wc_status status)
{
	drv_post_send(e->qp, wr);
	drv_expect(e->cq, wr->wr_id, status);
}

static void send_inv(struct drv_pair *p, uint32_t key, uint32_t len, bool inl)
{
	struct mynic_sge sge = drv_sge(p->b.mr, 0, len);
	struct drv_wr wr = rdma_wr(&p->a, IBV_WR_SEND_WITH_INV, 0, 0, len);
	struct mynic_cqe cqe;

	memset(p->b.mr->ptr, 0, len + 1);
	drv_fill(p->a.mr->ptr, len, len);
	wr.imm = key;
	if (inl) {
		wr.flags |= IBV_SEND_INLINE;
		wr.inline_data = p->a.mr->ptr;
		wr.inline_len = len;
	}
	drv_post_recv(p->b.qp, 7, &sge, 1);
	drv_post_send(p->a.qp, &wr);
	cqe = drv_expect(p->a.cq, wr.wr_id, OK);
	CHECK_EQ(cqe.opcode, IBV_WC_SEND);
	cqe = drv_expect(p->b.recv_cq, 7, OK);
	CHECK_EQ(cqe.opcode, IBV_WC_RECV);
	CHECK_EQ(cqe.byte_len, len);
	CHECK_EQ(cqe.wc_flags, IBV_WC_WITH_INV);
	CHECK_EQ(cqe.invalidated_rkey, key);
	CHECK_MEM(p->b.mr->ptr, p->a.mr->ptr, len);
	CHECK_EQ(p->b.mr->ptr[len], 0);
}

static void check_send_inv(struct drv_pair p, bool frames)
{
	static const uint32_t lens[] = { 0, 1, 100, 1024, 1025, 70000 };
	struct drv_mr *mr = bindable(&p.b);
	uint32_t key = alloc_mw(&p.b, p.b.pdn);

	p.sim->frames = frames;
	for (unsigned int i = 0; i < ARRAY_SIZE(lens); i++) {
		struct drv_wr wr = bind_wr(mr, ++key);

		post(&p.b, &wr, OK);
		wr = rdma_wr(&p.a, IBV_WR_RDMA_WRITE, mr->addr, key, 100);
		post(&p.a, &wr, OK);
		send_inv(&p, key, lens[i], lens[i] && lens[i] <= 100);
	}
	CHECK_EQ(drv_number_cmd(p.b.d, MYNIC_CMD_DESTROY_MKEY, mr->key >> 8),
		 MYNIC_AQ_OK);
	CHECK_EQ(drv_query_qp(p.b.qp).qp_state, IBV_QPS_RTS);
}

TEST(send_inv_rc)
{
	check_send_inv(drv_rc_pair(NULL), false);
}

TEST(send_inv_rc_frames)
{
	check_send_inv(drv_rc_pair(NULL), true);
}

TEST(send_inv_uc)
{
	check_send_inv(drv_uc_pair(NULL), false);
}

TEST(send_inv_uc_frames)
{
	check_send_inv(drv_uc_pair(NULL), true);
}

/* The key is invalid when the receive request completes */
TEST(send_inv_takes_the_key)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_mr *mr = bindable(&p.b);
	uint32_t key = alloc_mw(&p.b, p.b.pdn);
	struct drv_wr wr = bind_wr(mr, key);

	post(&p.b, &wr, OK);
	send_inv(&p, key, 2000, false);
	wr = rdma_wr(&p.a, IBV_WR_RDMA_WRITE, mr->addr, key, 100);
	post(&p.a, &wr, DENIED);
}

TEST(send_inv_fast_reg)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct mynic_create_mkey body = { .pdn = p.b.pdn, .length = 1 };
	struct drv_qp_init init = { .type = MYNIC_QP_RC,
				    .flags = MYNIC_QP_KERNEL,
				    .pdn = p.b.pdn,
				    .send_cq = p.b.cq,
				    .recv_cq = p.b.recv_cq };
	struct drv_wr wr = {
		.wr_id = 1,
		.opcode = MYNIC_WR_REG_MR,
		.flags = IBV_SEND_SIGNALED,
		.remote_addr = 0x1000,
		.reg_mr = {
			.buf.addr = sim_iova(p.b.d->n, p.b.mr->ptr),
			.length = 4096,
			.access = ACCESS_ALL,
		},
	};

	CHECK_EQ(drv_create_mkey(p.b.d, &body, MYNIC_MKEY_FAST_REG, &wr.rkey),
		 MYNIC_AQ_OK);
	p.b.qp = drv_create_qp(p.b.d, &init);
	drv_reconnect(&p);
	post(&p.b, &wr, OK);
	send_inv(&p, wr.rkey, 100, false);
	/* so that it can be registered again */
	wr.rkey++;
	post(&p.b, &wr, OK);
	send_inv(&p, wr.rkey, 100, false);
}

/*
 * SEND_WITH_INV of a key that cannot be invalidated. It has taken a receive
 * request
 */
static void check_refused(struct drv_pair *p, uint32_t key)
{
	struct mynic_sge sge = drv_sge(p->b.mr, 0, 4096);
	struct drv_wr wr = rdma_wr(&p->a, IBV_WR_SEND_WITH_INV, 0, 0, 2000);

	wr.imm = key;
	drv_post_recv(p->b.qp, 7, &sge, 1);
	post(&p->a, &wr, DENIED);
	CHECK_EQ(drv_expect(p->b.recv_cq, 7, IBV_WC_LOC_ACCESS_ERR).vendor_err,
		 MYNIC_SYN_RQ_ACCESS);
	drv_expect_event(&p->b.d->event, MYNIC_EVENT_QP_ACCESS_ERROR,
			 p->b.qp->number);
	CHECK_EQ(drv_query_qp(p->b.qp).qp_state, IBV_QPS_ERR);
	drv_reconnect(p);
}

TEST(send_inv_refused)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_mr *mr = bindable(&p.b);
	uint32_t bound = alloc_mw(&p.b, p.b.pdn);
	struct mynic_create_mkey body = { .pdn = p.b.pdn };
	struct drv_qp_init init = { .type = MYNIC_QP_RC,
				    .pdn = p.b.pdn,
				    .send_cq = p.b.cq,
				    .recv_cq = p.b.recv_cq };
	struct drv_wr wr = bind_wr(mr, bound);
	uint32_t type1;

	post(&p.b, &wr, OK);
	check_refused(&p, 0);
	check_refused(&p, 0xffffffff);
	check_refused(&p, mr->key);
	check_refused(&p, p.b.d->attr.dma_lkey);
	check_refused(&p, bound ^ 1);
	check_refused(&p, bound + 0x100);
	check_refused(&p, alloc_mw(&p.b, p.b.pdn));
	check_refused(&p, alloc_mw(&p.b, drv_alloc_pd(p.b.d)));
	CHECK_EQ(drv_create_mkey(p.b.d, &body, MYNIC_MKEY_MW1, &type1),
		 MYNIC_AQ_OK);
	wr = bind_wr(mr, type1);
	post(&p.b, &wr, OK);
	check_refused(&p, type1);
	/* a window of another QP */
	p.b.qp = drv_create_qp(p.b.d, &init);
	drv_reconnect(&p);
	check_refused(&p, bound);
	CHECK_EQ(drv_stat(p.b.d, MYNIC_STAT_TX_NAK_ACCESS), 10);
}

/* UC: the message is dropped, and the receive request is for the next one */
TEST(send_inv_refused_uc)
{
	struct drv_pair p = drv_uc_pair(NULL);
	struct mynic_sge sge = drv_sge(p.b.mr, 0, 4096);
	struct drv_wr wr = rdma_wr(&p.a, IBV_WR_SEND_WITH_INV, 0, 0, 2000);

	wr.imm = p.b.mr->key;
	drv_post_recv(p.b.qp, 7, &sge, 1);
	post(&p.a, &wr, OK);
	drv_expect_none(p.b.recv_cq, MSEC);
	CHECK_EQ(drv_stat(p.b.d, MYNIC_STAT_RX_DROP_KEY), 1);
	wr = rdma_wr(&p.a, IBV_WR_SEND, 0, 0, 100);
	post(&p.a, &wr, OK);
	CHECK_EQ(drv_expect(p.b.recv_cq, 7, OK).byte_len, 100);
}

/*
 * XRC: keys belong to the protection domain of the SRQ that the message names
 */
TEST(send_inv_xrc)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_XRC_INI };
	struct drv_pair p = drv_pair_unconnected(&init);
	uint32_t xrcdn = drv_alloc_xrcd(p.b.d);
	uint32_t pdn = drv_alloc_pd(p.b.d);
	struct drv_srq *srq =
		drv_create_xrc_srq(p.b.d, pdn, xrcdn, p.b.recv_cq, 5);
	struct drv_mr *mr = drv_reg_mr(p.b.d, pdn, 65536, ACCESS_ALL);
	struct mynic_sge sge = drv_sge(mr, 0, 65536);
	struct drv_qp_init kernel = { .type = MYNIC_QP_RC,
				      .flags = MYNIC_QP_KERNEL,
				      .pdn = pdn,
				      .send_cq = p.b.cq,
				      .recv_cq = p.b.recv_cq };
	struct mynic_create_mkey body = { .pdn = pdn, .length = 1 };
	struct drv_end k = p.b;
	struct mynic_cqe cqe;
	struct drv_wr wr = {
		.wr_id = 1,
		.opcode = MYNIC_WR_REG_MR,
		.flags = IBV_SEND_SIGNALED,
		.remote_addr = 0x1000,
		.reg_mr = {
			.buf.addr = sim_iova(p.b.d->n, mr->ptr),
			.length = 4096,
			.access = ACCESS_ALL,
		},
	};

	CHECK_EQ(drv_create_mkey(p.b.d, &body, MYNIC_MKEY_FAST_REG, &wr.rkey),
		 MYNIC_AQ_OK);
	k.qp = drv_create_qp(p.b.d, &kernel);
	drv_connect_to(k.qp, 0, 0x999, &(struct drv_path){ 0 }, IBV_QPS_RTS);
	post(&k, &wr, OK);
	p.b.qp = drv_create_target(p.b.d, xrcdn);
	drv_connect(p.a.qp, p.b.qp, &(struct drv_path){ 0 });
	p.sim->frames = true;
	for (unsigned int i = 0; i < 2; i++) {
		struct drv_wr send = rdma_wr(&p.a, IBV_WR_SEND_WITH_INV, 0, 0,
					     i ? 100 : 5000);

		send.imm = wr.rkey;
		send.remote_srqn = srq->number;
		drv_post_srq_recv(srq, i, &sge, 1);
		post(&p.a, &send, i ? DENIED : OK);
		cqe = drv_expect(p.b.recv_cq, i,
				 i ? IBV_WC_LOC_ACCESS_ERR : OK);
		if (i)
			break;
		CHECK_EQ(cqe.wc_flags, IBV_WC_WITH_INV);
		CHECK_EQ(cqe.invalidated_rkey, wr.rkey);
	}
}

/*
 * A repeated packet invalidates only once, because the key may be in use again
 */
TEST(send_inv_duplicate)
{
	struct mock_peer *p = mock_rc();
	struct drv_mr *mr = bindable(&p->b);
	uint32_t key = alloc_mw(&p->b, p->b.pdn);
	struct drv_wr wr = bind_wr(mr, key);
	struct packet pkt;

	post(&p->b, &wr, OK);
	mock_recv(p, 1, 0, 4096);
	mock_recv(p, 2, 0, 4096);
	pkt = mock_packet(p, BTH_RC_SEND_ONLY_INV, 0, 100);
	pkt.roce.imm = key;
	mock_send(p, &pkt);
	mock_expect_ack(p, 1, 0); /* with a credit */
	drv_expect(p->b.recv_cq, 1, OK);
	wr = bind_wr(mr, key);
	post(&p->b, &wr, OK);
	mock_send(p, &pkt);
	mock_expect_ack(p, 1, 0);
	drv_expect_none(p->b.recv_cq, 0);
	CHECK_EQ(drv_number_cmd(p->b.d, MYNIC_CMD_DESTROY_MKEY, mr->key >> 8),
		 MYNIC_AQ_BUSY);
}

/* The last packet invalidates, and only if there is a receive request */
TEST(send_inv_at_the_end)
{
	struct mock_peer *p = mock_rc();
	struct drv_mr *mr = bindable(&p->b);
	uint32_t key = alloc_mw(&p->b, p->b.pdn);
	struct drv_wr wr = bind_wr(mr, key);
	struct packet write = mock_packet(p, BTH_RC_WRITE_ONLY, 0, 10);
	struct packet last;

	post(&p->b, &wr, OK);
	last = mock_packet(p, BTH_RC_SEND_ONLY_INV, 0, 100);
	last.roce.imm = key;
	mock_send(p, &last);
	CHECK_EQ(mock_expect(p, BTH_RC_ACK, 0)->hdr.aeth >> 29, 1);
	write.roce.rkey = key;
	write.roce.remote_addr = mr->addr;
	mock_send(p, &write);
	mock_expect_ack(p, 0, 0);
	mock_recv(p, 1, 0, 4096);
	mock_send_opcode(p, BTH_RC_SEND_FIRST, 1, MTU);
	p->next = p->num;
	last = mock_packet(p, BTH_RC_SEND_LAST_INV, 2, 100);
	last.roce.imm = key;
	mock_send(p, &last);
	mock_expect_ack(p, 0, 2);
	CHECK_EQ(drv_expect(p->b.recv_cq, 1, OK).byte_len, MTU + 100);
	write.roce.psn = (MOCK_PSN + 3) & 0xffffff;
	mock_send(p, &write);
	mock_expect_ack(p, AETH_NAK_ACCESS, 3);
}

/*
 * A LOCAL_INV waits for earlier requests that may need the key, here as the
 * target of a READ
 */
TEST(local_inv_waits)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_mr *mr = bindable(&p.a);
	uint32_t key = alloc_mw(&p.a, p.a.pdn);
	struct drv_wr wr[3] = {
		bind_wr(mr, key),
		rdma_wr(&p.a, IBV_WR_RDMA_READ, p.b.mr->addr, p.b.mr->key,
			50000),
		drv_inv_wr(next_id++, key),
	};
	struct mynic_cqe cqe;

	for (unsigned int i = 0; i < ARRAY_SIZE(wr); i++)
		drv_write_wqe(p.a.qp, &wr[i]);
	drv_ring(p.a.qp);
	/* until the READ has been requested */
	for (unsigned int i = 0; i < 20; i++)
		nic_run(p.a.d->n->nic);
	CHECK(drv_poll(p.a.cq, &cqe));
	CHECK_EQ(cqe.wr_id, wr[0].wr_id);
	CHECK(!drv_poll(p.a.cq, &cqe));
	CHECK_EQ(drv_number_cmd(p.a.d, MYNIC_CMD_DESTROY_MKEY, mr->key >> 8),
		 MYNIC_AQ_BUSY);
	drv_expect(p.a.cq, wr[1].wr_id, OK);
	drv_expect(p.a.cq, wr[2].wr_id, OK);
	CHECK_EQ(drv_number_cmd(p.a.d, MYNIC_CMD_DESTROY_MKEY, mr->key >> 8),
		 MYNIC_AQ_OK);
}

/*
 * A BIND_MW is executed when the requests before it have been sent, or, with
 * FENCE, when READs have been answered. It completes after them.
 */
TEST(bind_in_the_middle)
{
	for (unsigned int fence = 0; fence < 2; fence++) {
		struct drv_pair p = drv_rc_pair(NULL);
		struct drv_mr *mr = bindable(&p.a);
		uint32_t key = alloc_mw(&p.a, p.a.pdn);
		struct drv_wr wr[3] = {
			rdma_wr(&p.a, IBV_WR_RDMA_READ, p.b.mr->addr,
				p.b.mr->key, 5000),
			bind_wr(mr, key),
			rdma_wr(&p.a, IBV_WR_RDMA_WRITE, p.b.mr->addr,
				p.b.mr->key, 5000),
		};

		if (fence)
			wr[1].flags |= IBV_SEND_FENCE;
		for (unsigned int i = 0; i < ARRAY_SIZE(wr); i++)
			drv_write_wqe(p.a.qp, &wr[i]);
		p.sim->filter = sim_drop_all;
		drv_ring(p.a.qp);
		sim_settle(p.sim);
		CHECK_EQ(drv_number_cmd(p.a.d, MYNIC_CMD_DESTROY_MKEY,
					mr->key >> 8),
			 fence ? MYNIC_AQ_OK : MYNIC_AQ_BUSY);
		if (!fence) {
			drv_expect_none(p.a.cq, 0);
			p.sim->filter = NULL;
			for (unsigned int i = 0; i < ARRAY_SIZE(wr); i++)
				drv_expect(p.a.cq, wr[i].wr_id, OK);
		}
		sim_free(p.sim);
	}
}

/*
 * In SQD, local requests that have not begun wait, and those that were executed
 * are not repeated
 */
TEST(local_requests_in_sqd)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_mr *mr = bindable(&p.a);
	uint32_t key = alloc_mw(&p.a, p.a.pdn);
	struct drv_wr wr[4] = {
		rdma_wr(&p.a, IBV_WR_RDMA_WRITE, p.b.mr->addr, p.b.mr->key,
			5000),
		bind_wr(mr, key),
		rdma_wr(&p.a, IBV_WR_RDMA_WRITE, p.b.mr->addr, p.b.mr->key,
			5000),
		drv_inv_wr(next_id++, key),
	};
	struct mynic_qp_attr attr = {
		.attr_mask = IBV_QP_STATE | IBV_QP_CUR_STATE,
		.cur_qp_state = IBV_QPS_SQD,
		.qp_state = IBV_QPS_RTS,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(wr); i++)
		drv_write_wqe(p.a.qp, &wr[i]);
	p.sim->filter = sim_drop_all;
	drv_ring(p.a.qp);
	sim_settle(p.sim);
	CHECK_EQ(drv_set_state(p.a.qp, IBV_QPS_SQD), MYNIC_AQ_OK);
	p.sim->filter = NULL;
	for (unsigned int i = 0; i < 3; i++)
		drv_expect(p.a.cq, wr[i].wr_id, OK);
	drv_expect_none(p.a.cq, SEC);
	CHECK_EQ(drv_query_qp(p.a.qp).sq_drained_event, 0);
	CHECK_EQ(drv_modify_qp(p.a.qp, &attr), MYNIC_AQ_OK);
	drv_expect(p.a.cq, wr[3].wr_id, OK);
}

/* Requests of all kinds over a bad wire are executed once each, in order */
TEST(local_requests_with_losses)
{
	for (unsigned int seed = 1; seed <= 30; seed++) {
		struct drv_pair p = drv_rc_pair(NULL);
		struct drv_mr *mr = bindable(&p.a);
		uint32_t key[4];
		uint64_t first = next_id;
		uint64_t next = first;

		p.sim->random = seed;
		p.sim->drop = 30;
		p.sim->duplicate = 30;
		p.sim->reorder = 30;
		p.sim->delay = 100 * USEC;
		for (unsigned int i = 0; i < ARRAY_SIZE(key); i++)
			key[i] = alloc_mw(&p.a, p.a.pdn);
		/*
		 * this fails if a window is bound twice, or invalidated too
		 * late
		 */
		for (unsigned int i = 0; i < 60; i++) {
			uint32_t *k = &key[i / 3 % ARRAY_SIZE(key)];
			struct drv_wr wr;

			if (i % 3 == 0)
				wr = bind_wr(mr, ++*k);
			else if (i % 3 == 1)
				wr = rdma_wr(&p.a,
					     i & 1 ? IBV_WR_RDMA_READ :
						     IBV_WR_RDMA_WRITE,
					     p.b.mr->addr, p.b.mr->key, 3000);
			else
				wr = drv_inv_wr(next_id++, *k);
			drv_write_wqe(p.a.qp, &wr);
		}
		drv_ring(p.a.qp);
		for (unsigned int i = 0; i < 60; i++)
			drv_expect(p.a.cq, next++, OK);
		sim_free(p.sim);
	}
}

/* Local requests after one that fails are flushed */
TEST(local_requests_are_flushed)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_mr *mr = bindable(&p.a);
	uint32_t key = alloc_mw(&p.a, p.a.pdn);
	struct drv_wr wr[3] = {
		rdma_wr(&p.a, IBV_WR_RDMA_WRITE, p.b.mr->addr, 0, 5000),
		bind_wr(mr, key),
		drv_inv_wr(next_id++, key),
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(wr); i++)
		drv_write_wqe(p.a.qp, &wr[i]);
	drv_ring(p.a.qp);
	drv_expect(p.a.cq, wr[0].wr_id, DENIED);
	drv_expect(p.a.cq, wr[1].wr_id, IBV_WC_WR_FLUSH_ERR);
	drv_expect(p.a.cq, wr[2].wr_id, IBV_WC_WR_FLUSH_ERR);
}

/* More local requests than a turn of a queue has, without completions */
TEST(local_requests_only)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_mr *mr = bindable(&p.a);
	uint32_t key = alloc_mw(&p.a, p.a.pdn);
	struct drv_wr wr;

	for (unsigned int round = 0; round < 20; round++) {
		for (unsigned int i = 0; i < 60; i++) {
			wr = i & 1 ? drv_inv_wr(next_id++, key) :
				     bind_wr(mr, key);
			if (i < 59)
				wr.flags = 0;
			drv_write_wqe(p.a.qp, &wr);
		}
		drv_ring(p.a.qp);
		drv_expect(p.a.cq, wr.wr_id, OK);
		drv_expect_none(p.a.cq, 0);
		CHECK_EQ(p.a.qp->rec->sq_ci, p.a.qp->sq_pi);
	}
	CHECK_EQ(p.a.d->n->sent, 0);
}
