// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Completion counters */
#include "harness_eth.h"
#include "harness_mock_peer.h"

#define NUM_OPS 6
#define ALL_OPS ((1u << NUM_OPS) - 1)
#define QKEY 0x11111111

/** struct cntr - a completion counter, and what the device stores for it */
struct cntr {
	struct drv *d;
	struct mynic_comp_cntr_values *values;
	uint32_t number;
};

/** struct cntrs - a counter for each operation of a QP, by bit */
struct cntrs {
	struct cntr of[NUM_OPS];
};

/** struct counts - expected values of a counter */
struct counts {
	uint64_t completions;
	uint64_t errors;
};

static uint8_t create(struct drv *d, uint64_t addr, uint32_t *number)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_CREATE_COMP_CNTR,
		.create_comp_cntr.addr = addr,
	};
	struct mynic_admin_cpl cpl;
	uint8_t status = drv_admin(d, &cmd, &cpl);

	*number = cpl.number;
	return status;
}

static uint8_t destroy(const struct cntr *c)
{
	return drv_number_cmd(c->d, MYNIC_CMD_DESTROY_COMP_CNTR, c->number);
}

static uint8_t attach(struct drv_qp *qp, uint32_t number, uint32_t ops)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_ATTACH_COMP_CNTR,
		.number = qp->number,
		.attach_comp_cntr = { .comp_cntr = number, .operations = ops },
	};

	return drv_admin(qp->d, &cmd, NULL);
}

static uint8_t modify(const struct cntr *c, uint8_t entry, uint8_t op,
		      uint64_t value)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_MODIFY_COMP_CNTR,
		.number = c->number,
		.modify_comp_cntr = { .value = value, .entry = entry, .op = op },
	};

	return drv_admin(c->d, &cmd, NULL);
}

static struct cntr make_cntr(struct drv *d)
{
	struct cntr c = { .d = d };

	c.values = sim_alloc(d->n, sizeof(*c.values), sizeof(*c.values));
	memset(c.values, 0xee, sizeof(*c.values));
	CHECK_EQ(create(d, sim_iova(d->n, c.values), &c.number), MYNIC_AQ_OK);
	return c;
}

/* Count each operation of a QP in RESET or INIT */
static struct cntrs count_all(struct drv_qp *qp)
{
	struct cntrs all;

	for (unsigned int i = 0; i < NUM_OPS; i++) {
		all.of[i] = make_cntr(qp->d);
		CHECK_EQ(attach(qp, all.of[i].number, 1u << i), MYNIC_AQ_OK);
	}
	return all;
}

static void check(const struct cntr *c, uint64_t completions, uint64_t errors)
{
	CHECK_EQ(c->values->completions, completions);
	CHECK_EQ(c->values->errors, errors);
}

static void check_of(const struct cntrs *all, unsigned int op,
		     uint64_t completions, uint64_t errors)
{
	check(&all->of[__builtin_ctz(op)], completions, errors);
}

/* Check that nothing but @ops was counted */
static void check_only(const struct cntrs *all, unsigned int ops)
{
	for (unsigned int i = 0; i < NUM_OPS; i++) {
		if (!(ops & 1u << i))
			check(&all->of[i], 0, 0);
	}
}

/** struct counted - a pair whose requests are counted */
struct counted {
	struct drv_pair p;
	struct cntrs a;
	struct cntrs b;
};

static struct counted count_pair(enum mynic_qp_type type,
				 const struct drv_path *path)
{
	const struct drv_path standard = { 0 };
	const struct drv_qp_init init = { .type = type };
	struct counted c = { .p = drv_pair_unconnected(&init) };

	c.a = count_all(c.p.a.qp);
	c.b = count_all(c.p.b.qp);
	drv_connect(c.p.a.qp, c.p.b.qp, path ? path : &standard);
	return c;
}

static void request(struct drv_pair *p, enum ibv_wr_opcode opcode, uint32_t len)
{
	struct drv_wr wr = drv_pair_wr(p, opcode, len);

	drv_post_send(p->a.qp, &wr);
	drv_expect(p->a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
}

static void request_with_recv(struct drv_pair *p, enum ibv_wr_opcode opcode,
			      uint32_t len)
{
	struct mynic_sge sge = drv_sge(p->b.mr, 0, len);

	drv_post_recv(p->b.qp, 1, &sge, 1);
	request(p, opcode, len);
	drv_expect(p->b.recv_cq, 1, IBV_WC_SUCCESS);
}

static void check_messages(enum mynic_qp_type type, bool direct)
{
	struct counted c = count_pair(type, NULL);
	const uint32_t lens[] = { 0, 1, 1024, 100000 };

	c.p.sim->direct = direct;
	for (unsigned int i = 0; i < ARRAY_SIZE(lens); i++) {
		request_with_recv(&c.p, IBV_WR_SEND, lens[i]);
		request_with_recv(&c.p, IBV_WR_SEND_WITH_IMM, lens[i]);
		request(&c.p, IBV_WR_RDMA_WRITE, lens[i]);
		request_with_recv(&c.p, IBV_WR_RDMA_WRITE_WITH_IMM, lens[i]);
		check_of(&c.a, MYNIC_COMP_CNTR_SEND, 2 * (i + 1), 0);
		check_of(&c.a, MYNIC_COMP_CNTR_WRITE, 2 * (i + 1), 0);
		check_of(&c.b, MYNIC_COMP_CNTR_RECV, 3 * (i + 1), 0);
		check_of(&c.b, MYNIC_COMP_CNTR_REMOTE_WRITE, 2 * (i + 1), 0);
	}
	check_only(&c.a, MYNIC_COMP_CNTR_SEND | MYNIC_COMP_CNTR_WRITE);
	check_only(&c.b, MYNIC_COMP_CNTR_RECV | MYNIC_COMP_CNTR_REMOTE_WRITE);
}

TEST(rc_messages)
{
	check_messages(MYNIC_QP_RC, false);
	check_messages(MYNIC_QP_RC, true);
}

TEST(uc_messages)
{
	check_messages(MYNIC_QP_UC, false);
	check_messages(MYNIC_QP_UC, true);
}

static void check_reads(bool direct)
{
	struct counted c = count_pair(MYNIC_QP_RC, NULL);
	const uint32_t lens[] = { 0, 8, 4096, 1000000 };

	c.p.sim->direct = direct;
	for (unsigned int i = 0; i < ARRAY_SIZE(lens); i++)
		request(&c.p, IBV_WR_RDMA_READ, lens[i]);
	check_of(&c.a, MYNIC_COMP_CNTR_READ, ARRAY_SIZE(lens), 0);
	check_of(&c.b, MYNIC_COMP_CNTR_REMOTE_READ, ARRAY_SIZE(lens), 0);
	check_only(&c.a, MYNIC_COMP_CNTR_READ);
	check_only(&c.b, MYNIC_COMP_CNTR_REMOTE_READ);
}

TEST(rc_reads)
{
	check_reads(false);
	check_reads(true);
}

TEST(not_counted)
{
	struct counted c = count_pair(MYNIC_QP_RC, NULL);

	request(&c.p, IBV_WR_ATOMIC_CMP_AND_SWP, 8);
	request(&c.p, IBV_WR_ATOMIC_FETCH_AND_ADD, 8);
	request(&c.p, IBV_WR_ATOMIC_WRITE, 8);
	check_only(&c.a, 0);
	check_only(&c.b, 0);
}

/* Requests without a completion count, too, even if the CQ has no room */
TEST(unsignaled)
{
	struct counted c = count_pair(MYNIC_QP_RC, NULL);
	struct drv_wr wr = drv_pair_wr(&c.p, IBV_WR_RDMA_WRITE, 100);

	wr.flags = 0;
	for (unsigned int i = 0; i < 40; i++)
		drv_post_send(c.p.a.qp, &wr);
	sim_settle(c.p.sim);
	drv_expect_none(c.p.a.cq, 0);
	check_of(&c.a, MYNIC_COMP_CNTR_WRITE, 40, 0);
	check_of(&c.b, MYNIC_COMP_CNTR_REMOTE_WRITE, 40, 0);
}

TEST(xrc)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_XRC_INI };
	const struct drv_path path = { 0 };
	struct drv_pair p = drv_pair_unconnected(&init);
	uint32_t xrcdn = drv_alloc_xrcd(p.b.d);
	struct drv_srq *srq =
		drv_create_xrc_srq(p.b.d, p.b.pdn, xrcdn, p.b.recv_cq, 4);
	struct mynic_sge sge = drv_sge(p.b.mr, 0, 100);
	struct cntrs a, b;
	struct drv_wr wr;

	p.b.qp = drv_create_target(p.b.d, xrcdn);
	a = count_all(p.a.qp);
	b = count_all(p.b.qp);
	drv_connect(p.a.qp, p.b.qp, &path);
	drv_post_srq_recv(srq, 1, &sge, 1);
	drv_post_srq_recv(srq, 2, &sge, 1);
	wr = drv_pair_wr(&p, IBV_WR_SEND, 100);
	wr.remote_srqn = srq->number;
	drv_post_send(p.a.qp, &wr);
	wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
	drv_post_send(p.a.qp, &wr);
	wr.opcode = IBV_WR_RDMA_READ;
	drv_post_send(p.a.qp, &wr);
	for (unsigned int i = 0; i < 3; i++)
		drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	check_of(&a, MYNIC_COMP_CNTR_SEND, 1, 0);
	check_of(&a, MYNIC_COMP_CNTR_WRITE, 1, 0);
	check_of(&a, MYNIC_COMP_CNTR_READ, 1, 0);
	check_of(&b, MYNIC_COMP_CNTR_RECV, 2, 0);
	check_of(&b, MYNIC_COMP_CNTR_REMOTE_WRITE, 1, 0);
	check_of(&b, MYNIC_COMP_CNTR_REMOTE_READ, 1, 0);
}

TEST(ud)
{
	struct drv_pair p = drv_ud_pair();
	struct mynic_sge sge = drv_sge(p.b.mr, 0, 140);
	struct drv_wr wr = drv_send_wr(&p.a, 100);
	struct cntrs a, b;

	wr.remote_qpn = p.b.qp->number;
	wr.remote_qkey = QKEY;
	wr.av = drv_av(p.a.d, 1, DRV_GID_IPV6);
	drv_reset_qp(p.a.qp);
	drv_reset_qp(p.b.qp);
	a = count_all(p.a.qp);
	b = count_all(p.b.qp);
	drv_ud_up(p.a.qp, QKEY, IBV_QPS_RTS);
	drv_ud_up(p.b.qp, QKEY, IBV_QPS_RTS);
	drv_post_recv(p.b.qp, 1, &sge, 1);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.b.recv_cq, 1, IBV_WC_SUCCESS);
	/* Too long for the MTU: the QP goes to SQE and flushes the next one */
	wr.sge[0].length = 10000;
	drv_post_send(p.a.qp, &wr);
	drv_post_send(p.a.qp, &wr);
	sim_settle(p.sim);
	check_of(&a, MYNIC_COMP_CNTR_SEND, 1, 2);
	check_of(&b, MYNIC_COMP_CNTR_RECV, 1, 0);
	check_only(&a, MYNIC_COMP_CNTR_SEND);
	check_only(&b, MYNIC_COMP_CNTR_RECV);
}

static void put_tcp(struct eth_buf *buf, uint16_t len)
{
	eth_begin(buf, ETH_GROUP, 0x0800);
	eth_put_ipv4(buf, 0x0a000001, 0x0a000002, 6, 20 + len);
	eth_put_tcp(buf, 80, 1234, 0, 0);
}

/* Post a TSO request whose header takes 64 bytes of the slot */
static void post_tso(struct drv_end *end, const struct eth_buf *header,
		     uint32_t len, uint16_t mss)
{
	struct drv_wr wr = drv_send_wr(end, len);
	struct mynic_send_wqe *wqe;
	uint8_t *data;

	wr.opcode = IBV_WR_TSO;
	wqe = drv_write_wqe(end->qp, &wr);
	wqe->mss = mss;
	wqe->hdr_len = header->len;
	data = (uint8_t *)wqe + MYNIC_WQE_DATA_EXT;
	memmove(data + 64, data, sizeof(wr.sge[0]));
	memcpy(data, header->data, header->len);
	drv_ring(end->qp);
	drv_expect(end->cq, DRV_WR_ID, IBV_WC_SUCCESS);
}

TEST(raw_packet)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_RAW_PACKET };
	struct drv_pair p = drv_pair_unconnected(&init);
	struct cntrs a = count_all(p.a.qp), b = count_all(p.b.qp);
	struct mynic_create_flow body = { 0 };
	struct eth_buf buf = { 0 };

	eth_raw_up(p.a.qp);
	eth_raw_up(p.b.qp);
	CHECK_EQ(eth_flow(p.b.qp, body, NULL, NULL), MYNIC_AQ_OK);
	for (unsigned int i = 0; i < 10; i++)
		eth_post(&p.b, i);
	put_tcp(&buf, 0);
	eth_send_frame(&p.a, &buf, 0);
	check_of(&a, MYNIC_COMP_CNTR_SEND, 1, 0);
	check_of(&b, MYNIC_COMP_CNTR_RECV, 1, 0);
	/* A TSO request is one request, and the peer receives five frames */
	memset(&buf, 0, sizeof(buf));
	put_tcp(&buf, 5000);
	post_tso(&p.a, &buf, 5000, 1000);
	sim_settle(p.sim);
	check_of(&a, MYNIC_COMP_CNTR_SEND, 2, 0);
	check_of(&b, MYNIC_COMP_CNTR_RECV, 6, 0);
	check_only(&a, MYNIC_COMP_CNTR_SEND);
	check_only(&b, MYNIC_COMP_CNTR_RECV);
}

/* A copy within the host is none of the operations */
TEST(memcpy_qp)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_DRIVER };
	struct drv_pair p = drv_pair_unconnected(&init);
	struct cntrs a = count_all(p.a.qp);
	struct drv_wr wr = drv_send_wr(&p.a, 100);

	for (int state = IBV_QPS_INIT; state <= IBV_QPS_RTS; state++)
		CHECK_EQ(drv_set_state(p.a.qp, state), MYNIC_AQ_OK);
	wr.opcode = IBV_WR_DRIVER1;
	wr.remote_addr = p.a.mr->addr + 1000;
	wr.rkey = p.a.mr->key;
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	check_only(&a, 0);
}

/* A request that the peer refuses, and one behind it that is flushed */
static void check_refused(enum ibv_wr_opcode opcode, unsigned int op,
			  unsigned int remote)
{
	struct counted c = count_pair(MYNIC_QP_RC, NULL);
	struct drv_wr wr = drv_pair_wr(&c.p, opcode, 10000);

	wr.rkey ^= 0x100;
	drv_write_wqe(c.p.a.qp, &wr);
	wr.opcode = IBV_WR_SEND;
	wr.wr_id = 2;
	drv_post_send(c.p.a.qp, &wr);
	drv_expect(c.p.a.cq, DRV_WR_ID, IBV_WC_REM_ACCESS_ERR);
	drv_expect(c.p.a.cq, 2, IBV_WC_WR_FLUSH_ERR);
	check_of(&c.a, op, 0, 1);
	check_of(&c.a, MYNIC_COMP_CNTR_SEND, 0, 1);
	check_of(&c.b, remote, 0, 1);
	check_only(&c.a, op | MYNIC_COMP_CNTR_SEND);
	check_only(&c.b, remote);
}

TEST(refused)
{
	check_refused(IBV_WR_RDMA_WRITE, MYNIC_COMP_CNTR_WRITE,
		      MYNIC_COMP_CNTR_REMOTE_WRITE);
	check_refused(IBV_WR_RDMA_READ, MYNIC_COMP_CNTR_READ,
		      MYNIC_COMP_CNTR_REMOTE_READ);
}

/* The receive request is too short: an error at both ends, but not of a WRITE */
TEST(recv_error)
{
	struct counted c = count_pair(MYNIC_QP_RC, NULL);
	struct drv_wr wr = drv_pair_wr(&c.p, IBV_WR_SEND, 100);
	struct mynic_sge sge = drv_sge(c.p.b.mr, 0, 99);

	drv_post_recv(c.p.b.qp, 1, &sge, 1);
	drv_post_recv(c.p.b.qp, 2, &sge, 1);
	drv_post_send(c.p.a.qp, &wr);
	drv_expect(c.p.b.recv_cq, 1, IBV_WC_LOC_LEN_ERR);
	drv_expect(c.p.b.recv_cq, 2, IBV_WC_WR_FLUSH_ERR);
	drv_expect(c.p.a.cq, DRV_WR_ID, IBV_WC_REM_INV_REQ_ERR);
	check_of(&c.a, MYNIC_COMP_CNTR_SEND, 0, 1);
	check_of(&c.b, MYNIC_COMP_CNTR_RECV, 0, 2);
	check_only(&c.b, MYNIC_COMP_CNTR_RECV);
}

/* Requests that the device takes up only to flush them count by their opcode */
TEST(flushed)
{
	static const struct {
		enum ibv_wr_opcode opcode;
		unsigned int op;
	} rows[] = {
		{ IBV_WR_SEND, MYNIC_COMP_CNTR_SEND },
		{ IBV_WR_SEND_WITH_IMM, MYNIC_COMP_CNTR_SEND },
		{ IBV_WR_SEND_WITH_INV, MYNIC_COMP_CNTR_SEND },
		{ IBV_WR_RDMA_WRITE, MYNIC_COMP_CNTR_WRITE },
		{ IBV_WR_RDMA_WRITE_WITH_IMM, MYNIC_COMP_CNTR_WRITE },
		{ IBV_WR_RDMA_READ, MYNIC_COMP_CNTR_READ },
		{ IBV_WR_ATOMIC_FETCH_AND_ADD, 0 },
		{ IBV_WR_LOCAL_INV, 0 },
		{ 200, 0 },
	};
	struct counted c = count_pair(MYNIC_QP_RC, NULL);
	struct drv_wr wr = drv_pair_wr(&c.p, IBV_WR_SEND, 0);
	uint64_t errors[NUM_OPS] = { 0 };

	CHECK_EQ(drv_set_state(c.p.a.qp, IBV_QPS_ERR), MYNIC_AQ_OK);
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		wr.opcode = rows[i].opcode;
		drv_post_send(c.p.a.qp, &wr);
		drv_expect(c.p.a.cq, DRV_WR_ID, IBV_WC_WR_FLUSH_ERR);
		if (rows[i].op)
			errors[__builtin_ctz(rows[i].op)]++;
		for (unsigned int j = 0; j < NUM_OPS; j++)
			check(&c.a.of[j], 0, errors[j]);
	}
	drv_post_recv(c.p.a.qp, 3, NULL, 0);
	drv_expect(c.p.a.recv_cq, 3, IBV_WC_WR_FLUSH_ERR);
	check_of(&c.a, MYNIC_COMP_CNTR_RECV, 0, 1);
}

/* An opcode or a flag that the QP does not have */
TEST(bad_entry)
{
	struct counted c = count_pair(MYNIC_QP_UC, NULL);
	struct drv_wr wr = drv_pair_wr(&c.p, IBV_WR_RDMA_READ, 100);

	drv_post_send(c.p.a.qp, &wr);
	drv_expect(c.p.a.cq, DRV_WR_ID, IBV_WC_LOC_QP_OP_ERR);
	check_of(&c.a, MYNIC_COMP_CNTR_READ, 0, 1);
	check_only(&c.a, MYNIC_COMP_CNTR_READ);
}

static struct mock_peer *count_mock(struct cntrs *all)
{
	const struct drv_path path = {
		.mtu = IBV_MTU_256,
		.rq_psn = MOCK_PSN,
	};
	struct mock_peer *p = mock_rc();

	drv_reset_qp(p->b.qp);
	*all = count_all(p->b.qp);
	drv_connect_to(p->b.qp, 0, p->a.qp->number, &path, IBV_QPS_RTS);
	return p;
}

TEST(duplicate_write)
{
	struct cntrs all;
	struct mock_peer *p = count_mock(&all);

	for (unsigned int i = 0; i < 3; i++)
		mock_send_opcode(p, BTH_RC_WRITE_ONLY, 0, 100);
	check_of(&all, MYNIC_COMP_CNTR_REMOTE_WRITE, 1, 0);
	mock_send_opcode(p, BTH_RC_WRITE_ONLY, 1, 100);
	check_of(&all, MYNIC_COMP_CNTR_REMOTE_WRITE, 2, 0);
	check_only(&all, MYNIC_COMP_CNTR_REMOTE_WRITE);
}

TEST(duplicate_read)
{
	struct cntrs all;
	struct mock_peer *p = count_mock(&all);

	for (unsigned int i = 0; i < 3; i++) {
		mock_send_opcode(p, BTH_RC_READ_REQUEST, 0, 1000);
		check_of(&all, MYNIC_COMP_CNTR_REMOTE_READ, 1, 0);
	}
	mock_send_opcode(p, BTH_RC_READ_REQUEST, 4, 300);
	check_of(&all, MYNIC_COMP_CNTR_REMOTE_READ, 2, 0);
	/* Late duplicates, one of a part */
	mock_send_opcode(p, BTH_RC_READ_REQUEST, 0, 1000);
	mock_send_opcode(p, BTH_RC_READ_REQUEST, 5, 44);
	check_of(&all, MYNIC_COMP_CNTR_REMOTE_READ, 2, 0);
	check_only(&all, MYNIC_COMP_CNTR_REMOTE_READ);
}

/* Deliver READs that the NIC cannot answer at once, and duplicates of them */
TEST(replaced_reads)
{
	struct cntrs all;
	struct mock_peer *p = count_mock(&all);
	struct packet reads[] = {
		mock_packet(p, BTH_RC_READ_REQUEST, 0, 512),
		mock_packet(p, BTH_RC_READ_REQUEST, 2, 512),
		mock_packet(p, BTH_RC_READ_REQUEST, 4, 512),
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(reads); i++)
		nic_receive(p->b.d->n->nic, &reads[i]);
	check_of(&all, MYNIC_COMP_CNTR_REMOTE_READ, 0, 0);
	sim_settle(p->sim);
	check_of(&all, MYNIC_COMP_CNTR_REMOTE_READ, 3, 0);

	/* The requester goes back while responses wait, and repeats a part */
	for (unsigned int i = 0; i < ARRAY_SIZE(reads); i++) {
		reads[i].roce.psn += 6;
		nic_receive(p->b.d->n->nic, &reads[i]);
	}
	nic_receive(p->b.d->n->nic, &reads[0]);
	reads[1].roce.psn++;
	reads[1].roce.dma_len = 256;
	nic_receive(p->b.d->n->nic, &reads[1]);
	nic_receive(p->b.d->n->nic, &reads[2]);
	sim_settle(p->sim);
	check_of(&all, MYNIC_COMP_CNTR_REMOTE_READ, 6, 0);
}

/* The key goes away before the whole response is sent */
TEST(read_fails_late)
{
	struct cntrs all;
	struct mock_peer *p = count_mock(&all);
	struct packet pkt =
		mock_packet(p, BTH_RC_READ_REQUEST, 0, DRV_PAIR_MEM);

	p->sim->filter = sim_drop_all;
	nic_receive(p->b.d->n->nic, &pkt);
	CHECK_EQ(drv_number_cmd(p->b.d, MYNIC_CMD_DESTROY_MKEY,
				p->b.mr->key >> 8),
		 MYNIC_AQ_OK);
	sim_settle(p->sim);
	CHECK_EQ(mock_state(p), IBV_QPS_ERR);
	check_of(&all, MYNIC_COMP_CNTR_REMOTE_READ, 0, 1);
}

TEST(invalid_request)
{
	struct cntrs all;
	struct mock_peer *p = count_mock(&all);

	mock_send_opcode(p, BTH_RC_WRITE_LAST, 0, 100);
	CHECK_EQ(mock_state(p), IBV_QPS_ERR);
	check_of(&all, MYNIC_COMP_CNTR_REMOTE_WRITE, 0, 1);
	check_only(&all, MYNIC_COMP_CNTR_REMOTE_WRITE);
}

/* What is lost, repeated or late on the wire counts once */
TEST(lossy_wire)
{
	const struct drv_path path = { .mtu = IBV_MTU_1024, .timeout = 8 };
	struct counted c = count_pair(MYNIC_QP_RC, &path);
	struct drv_pair *p = &c.p;
	uint64_t reads;

	p->sim->random = 7;
	p->sim->drop = 30;
	p->sim->duplicate = 30;
	p->sim->reorder = 30;
	p->sim->delay = 10 * USEC;
	for (unsigned int i = 0; i < 200; i++) {
		request_with_recv(p, IBV_WR_SEND, 3000);
		request(p, IBV_WR_RDMA_WRITE, 5000);
		request_with_recv(p, IBV_WR_RDMA_WRITE_WITH_IMM, 500);
		request(p, IBV_WR_RDMA_READ, 500);
	}
	sim_run(p->sim, SEC);
	CHECK(drv_stat(p->b.d, MYNIC_STAT_DUPLICATE));
	check_of(&c.a, MYNIC_COMP_CNTR_SEND, 200, 0);
	check_of(&c.a, MYNIC_COMP_CNTR_WRITE, 400, 0);
	check_of(&c.a, MYNIC_COMP_CNTR_READ, 200, 0);
	check_of(&c.b, MYNIC_COMP_CNTR_RECV, 400, 0);
	check_of(&c.b, MYNIC_COMP_CNTR_REMOTE_WRITE, 400, 0);
	check_of(&c.b, MYNIC_COMP_CNTR_REMOTE_READ, 200, 0);

	/* The requester may divide a long READ: each part is a request */
	for (unsigned int i = 0; i < 20; i++)
		request(p, IBV_WR_RDMA_READ, 200000);
	sim_run(p->sim, SEC);
	check_of(&c.a, MYNIC_COMP_CNTR_READ, 220, 0);
	reads = c.b.of[__builtin_ctz(MYNIC_COMP_CNTR_REMOTE_READ)]
			.values->completions;
	CHECK(reads >= 220);
}

/* One counter for several operations and QPs */
TEST(shared_counter)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_RC };
	const struct drv_path path = { 0 };
	struct drv_pair p = drv_pair_unconnected(&init);
	struct drv_pair q = drv_pair_on(p.a.d, p.b.d, &init);
	struct cntr c = make_cntr(p.a.d);

	CHECK_EQ(attach(p.a.qp, c.number, ALL_OPS), MYNIC_AQ_OK);
	CHECK_EQ(attach(q.a.qp, c.number, MYNIC_COMP_CNTR_WRITE), MYNIC_AQ_OK);
	drv_connect(p.a.qp, p.b.qp, &path);
	drv_connect(q.a.qp, q.b.qp, &path);
	request(&p, IBV_WR_RDMA_WRITE, 10);
	request(&p, IBV_WR_RDMA_READ, 10);
	request(&q, IBV_WR_RDMA_WRITE, 10);
	request(&q, IBV_WR_RDMA_READ, 10);
	check(&c, 3, 0);
	CHECK_EQ(destroy(&c), MYNIC_AQ_BUSY);
	CHECK_EQ(drv_number_cmd(p.a.d, MYNIC_CMD_DESTROY_QP, p.a.qp->number),
		 MYNIC_AQ_OK);
	CHECK_EQ(destroy(&c), MYNIC_AQ_BUSY);
	CHECK_EQ(drv_number_cmd(p.a.d, MYNIC_CMD_DESTROY_QP, q.a.qp->number),
		 MYNIC_AQ_OK);
	CHECK_EQ(destroy(&c), MYNIC_AQ_OK);
	CHECK_EQ(destroy(&c), MYNIC_AQ_BAD_NUMBER);
	check(&c, 3, 0);
}

TEST(attach_states)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_RC };
	const struct drv_path path = { 0 };
	struct drv_pair p = drv_pair_unconnected(&init);
	struct cntr c = make_cntr(p.a.d);
	struct drv_qp *qp = p.a.qp;

	CHECK_EQ(attach(qp, c.number, MYNIC_COMP_CNTR_SEND), MYNIC_AQ_OK);
	drv_connect_to(qp, 1, p.b.qp->number, &path, IBV_QPS_INIT);
	CHECK_EQ(attach(qp, c.number, MYNIC_COMP_CNTR_RECV), MYNIC_AQ_OK);
	drv_reset_qp(qp);
	drv_connect_to(qp, 1, p.b.qp->number, &path, IBV_QPS_RTR);
	CHECK_EQ(attach(qp, c.number, MYNIC_COMP_CNTR_READ),
		 MYNIC_AQ_BAD_STATE);
	drv_reset_qp(qp);
	drv_connect_to(qp, 1, p.b.qp->number, &path, IBV_QPS_RTS);
	CHECK_EQ(attach(qp, c.number, MYNIC_COMP_CNTR_READ),
		 MYNIC_AQ_BAD_STATE);
	CHECK_EQ(drv_set_state(qp, IBV_QPS_ERR), MYNIC_AQ_OK);
	CHECK_EQ(attach(qp, c.number, MYNIC_COMP_CNTR_READ),
		 MYNIC_AQ_BAD_STATE);
	/* Counters stay through RESET */
	drv_reset_qp(qp);
	CHECK_EQ(attach(qp, c.number, MYNIC_COMP_CNTR_SEND), MYNIC_AQ_BUSY);
	CHECK_EQ(attach(qp, c.number,
			MYNIC_COMP_CNTR_READ | MYNIC_COMP_CNTR_RECV),
		 MYNIC_AQ_BUSY);
	CHECK_EQ(attach(qp, c.number, MYNIC_COMP_CNTR_READ), MYNIC_AQ_OK);
	drv_connect(qp, p.b.qp, &path);
	request_with_recv(&p, IBV_WR_SEND, 100);
	request(&p, IBV_WR_RDMA_READ, 100);
	check(&c, 2, 0);
}

TEST(attach_parameters)
{
	static const uint32_t numbers[] = { 0, 0xffff, 0xffffff, 0xffffffff };
	static const struct drv_qp_init init = { .type = MYNIC_QP_RC };
	struct drv_pair p = drv_pair_unconnected(&init);
	struct cntr c = make_cntr(p.a.d);
	struct drv_qp nobody = { .d = p.a.d };

	for (unsigned int i = 0; i < ARRAY_SIZE(numbers); i++) {
		nobody.number = numbers[i];
		CHECK_EQ(attach(p.a.qp, numbers[i], ALL_OPS),
			 MYNIC_AQ_BAD_NUMBER);
		CHECK_EQ(attach(&nobody, c.number, ALL_OPS),
			 MYNIC_AQ_BAD_NUMBER);
	}
	CHECK_EQ(attach(p.a.qp, c.number, 0), MYNIC_AQ_BAD_PARAM);
	CHECK_EQ(attach(p.a.qp, c.number, ALL_OPS + 1), MYNIC_AQ_NOT_SUPPORTED);
	CHECK_EQ(attach(p.a.qp, c.number, 0xffffffff), MYNIC_AQ_NOT_SUPPORTED);
	CHECK_EQ(destroy(&c), MYNIC_AQ_OK);
}

TEST(modified)
{
	struct drv *d = drv_one();
	struct cntr c = make_cntr(d);

	check(&c, 0, 0);
	CHECK_EQ(modify(&c, MYNIC_COMP_CNTR_COMPLETIONS, MYNIC_COMP_CNTR_SET,
			1000),
		 MYNIC_AQ_OK);
	check(&c, 1000, 0);
	CHECK_EQ(modify(&c, MYNIC_COMP_CNTR_ERRORS, MYNIC_COMP_CNTR_SET, -1),
		 MYNIC_AQ_OK);
	CHECK_EQ(modify(&c, MYNIC_COMP_CNTR_COMPLETIONS, MYNIC_COMP_CNTR_ADD,
			5),
		 MYNIC_AQ_OK);
	check(&c, 1005, -1);
	CHECK_EQ(modify(&c, MYNIC_COMP_CNTR_ERRORS, MYNIC_COMP_CNTR_ADD, 3),
		 MYNIC_AQ_OK);
	check(&c, 1005, 2);
	/* What the host stores counts for nothing */
	c.values->completions = 7;
	CHECK_EQ(modify(&c, MYNIC_COMP_CNTR_COMPLETIONS, MYNIC_COMP_CNTR_ADD,
			1),
		 MYNIC_AQ_OK);
	check(&c, 1006, 2);

	CHECK_EQ(modify(&c, 2, MYNIC_COMP_CNTR_SET, 1), MYNIC_AQ_BAD_PARAM);
	CHECK_EQ(modify(&c, 255, MYNIC_COMP_CNTR_SET, 1), MYNIC_AQ_BAD_PARAM);
	CHECK_EQ(modify(&c, MYNIC_COMP_CNTR_ERRORS, 2, 1), MYNIC_AQ_BAD_PARAM);
	CHECK_EQ(destroy(&c), MYNIC_AQ_OK);
	CHECK_EQ(modify(&c, MYNIC_COMP_CNTR_ERRORS, MYNIC_COMP_CNTR_SET, 1),
		 MYNIC_AQ_BAD_NUMBER);
	check(&c, 1006, 2);
}

TEST(bad_address)
{
	struct drv *d = drv_one();
	uint8_t *mem = sim_alloc(d->n, 64, 64);
	uint64_t iova = sim_iova(d->n, mem);
	uint32_t number;

	for (unsigned int i = 1; i < 16; i++)
		CHECK_EQ(create(d, iova + i, &number), MYNIC_AQ_BAD_PARAM);
	CHECK_EQ(create(d, iova + 16, &number), MYNIC_AQ_OK);
	CHECK_EQ(create(d, iova + 16, &number), MYNIC_AQ_OK);
	CHECK_EQ(create(d, 0, &number), MYNIC_AQ_BAD_DMA);
	CHECK_EQ(create(d, -16ull, &number), MYNIC_AQ_BAD_DMA);
	CHECK_EQ(create(d, d->n->iova + SIM_MEM_SIZE, &number),
		 MYNIC_AQ_BAD_DMA);
	CHECK_EQ(create(d, d->n->iova + SIM_MEM_SIZE - 16, &number),
		 MYNIC_AQ_OK);
}

/* The host takes the memory of a counter away while requests complete */
TEST(memory_vanishes)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_RC };
	const struct drv_path path = { 0 };
	struct drv_pair p = drv_pair_unconnected(&init);
	struct cntr c = { .d = p.b.d, .values = tap_alloc(4096) };
	struct nic *nic = p.b.d->n->nic;
	const uint64_t iova = 1ull << 50;
	uint64_t bad_dma;

	CHECK_EQ(nic_dma_map(nic, iova, 4096, c.values, true), 0);
	CHECK_EQ(create(p.b.d, iova, &c.number), MYNIC_AQ_OK);
	CHECK_EQ(attach(p.b.qp, c.number, MYNIC_COMP_CNTR_RECV), MYNIC_AQ_OK);
	drv_connect(p.a.qp, p.b.qp, &path);
	request_with_recv(&p, IBV_WR_SEND, 100);
	check(&c, 1, 0);
	nic_dma_unmap(nic, iova, 4096);
	bad_dma = drv_stat(p.b.d, MYNIC_STAT_BAD_DMA);
	request_with_recv(&p, IBV_WR_SEND, 100);
	check(&c, 1, 0);
	CHECK(drv_stat(p.b.d, MYNIC_STAT_BAD_DMA) > bad_dma);
	CHECK_EQ(modify(&c, MYNIC_COMP_CNTR_COMPLETIONS, MYNIC_COMP_CNTR_ADD,
			1),
		 MYNIC_AQ_BAD_DMA);
	/* A map for reading is not enough */
	CHECK_EQ(nic_dma_map(nic, iova, 4096, c.values, false), 0);
	request_with_recv(&p, IBV_WR_SEND, 100);
	check(&c, 1, 0);
	nic_dma_unmap(nic, iova, 4096);
	CHECK_EQ(nic_dma_map(nic, iova, 4096, c.values, true), 0);
	request_with_recv(&p, IBV_WR_SEND, 100);
	check(&c, 4, 0);
}

TEST(limit)
{
	struct drv *d = drv_one();
	struct mynic_comp_cntr_values *values =
		sim_alloc(d->n, sizeof(*values), sizeof(*values));
	uint64_t addr = sim_iova(d->n, values);
	uint32_t number, last = 0;

	CHECK(d->attr.max_comp_cntr);
	for (uint32_t i = 0; i < d->attr.max_comp_cntr; i++)
		CHECK_EQ(create(d, addr, &last), MYNIC_AQ_OK);
	CHECK_EQ(create(d, addr, &number), MYNIC_AQ_NO_RESOURCE);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_COMP_CNTR, last),
		 MYNIC_AQ_OK);
	CHECK_EQ(create(d, addr, &number), MYNIC_AQ_OK);
}

/* A reset takes turns, frees all counters, and leaves host memory alone */
TEST(reset)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_RC };
	uint64_t idle = nic_memory(sim_new(1)->nics[0].nic);
	struct drv_pair p = drv_pair_unconnected(&init);
	struct drv *d = p.a.d;
	struct sim_nic *n = d->n;
	struct cntr c = make_cntr(d);
	uint64_t addr = sim_iova(n, c.values);
	unsigned int turns = 0;
	uint32_t number;

	CHECK_EQ(attach(p.a.qp, c.number, ALL_OPS), MYNIC_AQ_OK);
	for (unsigned int i = 0; i < 2000; i++)
		CHECK_EQ(create(d, addr, &number), MYNIC_AQ_OK);
	c.values->completions = 9;
	p.sim->tick = NIC_TURN_NS / 4;
	sim_write32(n, MYNIC_REG_CONTROL, MYNIC_CONTROL_RESET);
	while (nic_run(n->nic))
		turns++;
	p.sim->tick = 0;
	CHECK(turns > 3);
	CHECK_EQ(nic_memory(n->nic), idle);
	check(&c, 9, 0);
	d = drv_up(n);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_COMP_CNTR, c.number),
		 MYNIC_AQ_BAD_NUMBER);
	CHECK_EQ(create(d, addr, &number), MYNIC_AQ_OK);
	check(&c, 0, 0);
}
