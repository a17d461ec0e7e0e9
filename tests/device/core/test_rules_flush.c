// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Rules of ATOMIC WRITE and FLUSH in Documentation/transport-rules.rst:
 * hand-made requests to a NIC, and requests between two NICs.
 */
#include <errno.h>

#include "harness_mock_peer.h"

#define FLUSH_BOTH (IBV_FLUSH_GLOBAL | IBV_FLUSH_PERSISTENT)

#define ENTRY_LEN (DRV_PAIR_MEM / 2)

static struct packet flush_packet(struct mock_peer *p, int32_t psn,
				  uint32_t placement, uint32_t selectivity,
				  uint32_t len)
{
	struct packet pkt = mock_packet(p, BTH_RC_FLUSH, psn, len);

	pkt.roce.feth = selectivity << 4 | placement;
	return pkt;
}

static void expect_flushed(struct mock_peer *p, int32_t psn, uint64_t persisted)
{
	const struct answer *answer;

	answer = mock_expect(p, BTH_RC_READ_RESPONSE_ONLY, psn);
	CHECK_EQ(answer->len, 0);
	CHECK_EQ(answer->hdr.aeth >> 29, 0);
	CHECK_EQ(p->b.d->n->persisted, persisted);
}

static void check_refused(struct mock_peer *p, uint8_t syndrome,
			  enum mynic_event event)
{
	mock_expect_ack(p, syndrome, 0);
	CHECK_EQ(mock_state(p), IBV_QPS_ERR);
	drv_expect_event(&p->b.d->event, event, p->b.qp->number);
	CHECK_EQ(p->b.d->n->persisted, 0);
}

static void check_invalid(struct mock_peer *p)
{
	check_refused(p, AETH_NAK_INVALID, MYNIC_EVENT_QP_REQ_ERROR);
}

static void check_access(struct mock_peer *p)
{
	check_refused(p, AETH_NAK_ACCESS, MYNIC_EVENT_QP_ACCESS_ERROR);
}

TEST(atomic_write_executed)
{
	struct mock_peer *p = mock_rc();
	const struct answer *answer;

	for (int32_t psn = 0; psn < 3; psn++) {
		memset(p->payload, 0x10 + psn, 8);
		mock_send_opcode(p, BTH_RC_ATOMIC_WRITE, psn, 8);
		answer = mock_expect(p, BTH_RC_READ_RESPONSE_ONLY, psn);
		CHECK_EQ(answer->len, 0);
		CHECK_EQ(answer->hdr.aeth & 0xffffff, psn + 1);
		CHECK_EQ(answer->hdr.aeth >> 29, 0);
		CHECK_MEM(p->b.mr->ptr, p->payload, 8);
	}
	CHECK_EQ(mock_epsn(p), 3);
	CHECK_EQ(p->b.mr->ptr[8], 0);
	mock_expect_nothing(p);
}

TEST(atomic_write_lengths)
{
	static const struct {
		uint32_t payload;
		uint32_t announced;
		uint32_t at;
	} bad[] = {
		{ 0, 0, 0 },  { 7, 8, 0 },	    { 8, 7, 0 }, { 8, 9, 0 },
		{ 16, 8, 0 }, { 8, 0x80000008, 0 }, { 8, 8, 1 }, { 8, 8, 4 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		struct mock_peer *p = mock_rc();
		struct packet pkt =
			mock_packet(p, BTH_RC_ATOMIC_WRITE, 0, bad[i].payload);

		memset(p->payload, 0xff, 16);
		pkt.roce.dma_len = bad[i].announced;
		pkt.roce.remote_addr += bad[i].at;
		mock_send(p, &pkt);
		check_invalid(p);
		CHECK_EQ(*(uint64_t *)p->b.mr->ptr, 0);
	}
}

TEST(atomic_write_access)
{
	for (unsigned int way = 0; way < 5; way++) {
		struct mock_peer *p = mock_rc();
		struct packet pkt = mock_packet(p, BTH_RC_ATOMIC_WRITE, 0, 8);

		switch (way) {
		case 0:
			pkt.roce.rkey ^= 1;
			break;
		case 1:
			pkt.roce.remote_addr += DRV_PAIR_MEM;
			break;
		case 2:
			pkt.roce.remote_addr -= 8;
			break;
		case 3:
			pkt.roce.rkey =
				drv_reg_mr(p->b.d, p->b.pdn, 64,
					   ACCESS_ALL &
						   ~IBV_ACCESS_REMOTE_WRITE)
					->key;
			break;
		case 4:
			mock_set_access(p,
					ACCESS_ALL & ~IBV_ACCESS_REMOTE_WRITE);
			break;
		}
		mock_send(p, &pkt);
		if (way < 4)
			check_access(p);
		else
			check_invalid(p);
	}
}

TEST(atomic_write_in_message)
{
	struct mock_peer *p = mock_rc();
	struct packet pkt = mock_packet(p, BTH_RC_WRITE_FIRST, 0, MOCK_MTU);

	pkt.roce.dma_len = 2 * MOCK_MTU;
	pkt.roce.ack_req = false;
	mock_send(p, &pkt);
	mock_send_opcode(p, BTH_RC_ATOMIC_WRITE, 1, 8);
	mock_expect_ack(p, AETH_NAK_INVALID, 1);
}

TEST(duplicate_atomic_write)
{
	struct mock_peer *p = mock_rc();
	struct packet pkt;

	memset(p->payload, 0x55, 8);
	mock_send_opcode(p, BTH_RC_ATOMIC_WRITE, 0, 8);
	mock_expect(p, BTH_RC_READ_RESPONSE_ONLY, 0);
	mock_send_opcode(p, BTH_RC_FETCH_ADD, 1, 0);
	mock_expect(p, BTH_RC_ATOMIC_ACK, 1);
	memset(p->b.mr->ptr, 0xaa, 8);
	/* neither executed nor checked again */
	pkt = mock_packet(p, BTH_RC_ATOMIC_WRITE, 0, 8);
	pkt.roce.rkey ^= 1;
	mock_send(p, &pkt);
	CHECK_EQ(mock_expect(p, BTH_RC_READ_RESPONSE_ONLY, 0)->hdr.aeth &
			 0xffffff,
		 1);
	CHECK_EQ(p->b.mr->ptr[0], 0xaa);
	mock_send_opcode(p, BTH_RC_FETCH_ADD, 1, 0);
	mock_expect(p, BTH_RC_ATOMIC_ACK, 1);
	/* never sent before */
	pkt = mock_packet(p, BTH_RC_ATOMIC_WRITE, -5, 8);
	mock_send(p, &pkt);
	mock_expect_nothing(p);
	CHECK_EQ(mock_stat(p, MYNIC_STAT_DUPLICATE), 3);
}

TEST(atomic_write_takes_a_resource)
{
	struct mock_peer *p = mock_rc();
	struct packet pkt;

	/* four are allowed; all arrive before the NIC can answer one */
	for (int32_t psn = 0; psn < 5; psn++) {
		pkt = mock_packet(p,
				  psn % 2 ? BTH_RC_FLUSH : BTH_RC_ATOMIC_WRITE,
				  psn, 8);
		pkt.roce.feth = IBV_FLUSH_GLOBAL;
		sim_inject(p->b.d->n, &pkt);
	}
	sim_settle(p->sim);
	for (int32_t psn = 0; psn < 4; psn++)
		mock_expect(p, BTH_RC_READ_RESPONSE_ONLY, psn);
	mock_expect_ack(p, AETH_NAK_INVALID, 4);
}

TEST(atomic_write_not_aligned_in_memory)
{
	struct mock_peer *p = mock_rc();
	struct packet pkt = mock_packet(p, BTH_RC_ATOMIC_WRITE, 0, 8);
	struct mynic_create_mkey body = {
		.buf.addr = sim_iova(p->b.d->n, p->b.mr->ptr) + 4,
		.iova = 0x1000,
		.length = 64,
		.pdn = p->b.pdn,
		.access = ACCESS_ALL,
	};

	CHECK_EQ(drv_create_mkey(p->b.d, &body, 0, &pkt.roce.rkey), 0);
	pkt.roce.remote_addr = 0x1000;
	mock_send(p, &pkt);
	check_refused(p, AETH_NAK_OPERATION, MYNIC_EVENT_QP_FATAL);
}

TEST(flush_executed)
{
	static const struct {
		uint32_t placement;
		uint32_t selectivity;
		uint32_t len;
		uint64_t persisted;
	} good[] = {
		{ IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE, 100, 0 },
		{ IBV_FLUSH_PERSISTENT, IBV_FLUSH_RANGE, 100, 100 },
		{ FLUSH_BOTH, IBV_FLUSH_RANGE, 5000, 5000 },
		{ FLUSH_BOTH, IBV_FLUSH_RANGE, 0, 0 },
		{ IBV_FLUSH_GLOBAL, IBV_FLUSH_MR, 0, 0 },
		{ IBV_FLUSH_PERSISTENT, IBV_FLUSH_MR, 0, DRV_PAIR_MEM },
		{ FLUSH_BOTH, IBV_FLUSH_MR, ~0u, DRV_PAIR_MEM },
	};
	struct mock_peer *p = mock_rc();

	for (unsigned int i = 0; i < ARRAY_SIZE(good); i++) {
		struct packet pkt = flush_packet(p, i, good[i].placement,
						 good[i].selectivity,
						 good[i].len);

		p->b.d->n->persisted = 0;
		/* reserved bits */
		pkt.roce.feth |= 0xffffffc0;
		/* neither field is checked */
		if (good[i].selectivity == IBV_FLUSH_MR || !good[i].len)
			pkt.roce.remote_addr -= 1000;
		if (good[i].selectivity == IBV_FLUSH_RANGE && !good[i].len)
			pkt.roce.rkey ^= 1;
		mock_send(p, &pkt);
		expect_flushed(p, i, good[i].persisted);
	}
	CHECK_EQ(mock_epsn(p), ARRAY_SIZE(good));
}

TEST(flush_of_nothing_known)
{
	static const uint32_t bad[] = {
		0x00, 0x04, 0x08, 0x05, 0x09, 0x21, 0x31
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		struct mock_peer *p = mock_rc();
		struct packet pkt =
			flush_packet(p, 0, bad[i] & 0xf, bad[i] >> 4, 8);

		mock_send(p, &pkt);
		check_invalid(p);
	}
}

TEST(flush_length)
{
	struct mock_peer *p = mock_rc();
	struct packet pkt = flush_packet(p, 0, IBV_FLUSH_GLOBAL,
					 IBV_FLUSH_RANGE, 0x80000001);

	mock_send(p, &pkt);
	check_invalid(p);
	/* the largest length, which exceeds this region */
	p = mock_rc();
	pkt = flush_packet(p, 0, IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE, 0x80000000);
	mock_send(p, &pkt);
	check_access(p);
}

TEST(flush_access)
{
	static const uint32_t rights[] = {
		0, IBV_ACCESS_FLUSH_GLOBAL, IBV_ACCESS_FLUSH_PERSISTENT,
		IBV_ACCESS_FLUSH_GLOBAL | IBV_ACCESS_FLUSH_PERSISTENT
	};

	/* The access flags are those of the placements, shifted by 8 */
	for (unsigned int i = 0; i < 4 * 3 * 4; i++) {
		uint32_t right = rights[i / 12];
		uint32_t placement = 1 + i / 4 % 3;
		bool region = i & 1;
		bool of_qp = i & 2;
		bool good = !(placement << 8 & ~right);
		struct mock_peer *p = mock_rc();
		struct packet pkt = flush_packet(
			p, 0, placement,
			region ? IBV_FLUSH_MR : IBV_FLUSH_RANGE, 64);
		struct drv_mr *mr;

		mr = drv_reg_mr(p->b.d, p->b.pdn, 64,
				of_qp ? ACCESS_ALL : right);
		pkt.roce.rkey = mr->key;
		pkt.roce.remote_addr = mr->addr;
		if (of_qp)
			mock_set_access(p, right);
		mock_send(p, &pkt);
		if (good)
			expect_flushed(p, 0,
				       placement & IBV_FLUSH_PERSISTENT ? 64 :
									  0);
		else if (of_qp)
			check_invalid(p);
		else
			check_access(p);
	}
}

TEST(flush_key)
{
	for (unsigned int way = 0; way < 6; way++) {
		struct mock_peer *p = mock_rc();
		struct packet pkt = flush_packet(
			p, 0, IBV_FLUSH_GLOBAL,
			way % 2 ? IBV_FLUSH_MR : IBV_FLUSH_RANGE, 8);

		switch (way / 2) {
		case 0:
			pkt.roce.rkey ^= 1;
			break;
		case 1:
			pkt.roce.rkey = drv_reg_mr(p->b.d, drv_alloc_pd(p->b.d),
						   64, ACCESS_ALL)
						->key;
			break;
		case 2:
			pkt.roce.remote_addr += DRV_PAIR_MEM - 7;
			break;
		}
		mock_send(p, &pkt);
		if (way == 5)
			expect_flushed(p, 0, 0);
		else
			check_access(p);
	}
}

TEST(flush_fails)
{
	struct mock_peer *p = mock_rc();
	struct packet pkt =
		flush_packet(p, 0, IBV_FLUSH_PERSISTENT, IBV_FLUSH_RANGE, 8);

	p->b.d->n->persist_err = -EIO;
	mock_send(p, &pkt);
	mock_expect_ack(p, AETH_NAK_OPERATION, 0);
	drv_expect_event(&p->b.d->event, MYNIC_EVENT_QP_FATAL, p->b.qp->number);
	CHECK_EQ(mock_state(p), IBV_QPS_ERR);
}

/* More than two turns of a FLUSH */
#define ENDLESS_PAGES 16384

/* A region of any length, all of whose pages are the same one */
static uint32_t endless_mkey(struct mock_peer *p, uint64_t len)
{
	void *page = sim_alloc(p->b.d->n, DRV_PAGE, DRV_PAGE);
	uint64_t pages[ENDLESS_PAGES];
	struct mynic_create_mkey body = {
		.length = len,
		.pdn = p->b.pdn,
		.access = ACCESS_ALL,
	};
	uint32_t key;

	for (unsigned int i = 0; i < ARRAY_SIZE(pages); i++)
		pages[i] = sim_iova(p->b.d->n, page);
	body.buf = drv_page_list(p->b.d, pages, ARRAY_SIZE(pages), 12, 1);
	CHECK_EQ(drv_create_mkey(p->b.d, &body, 0, &key), 0);
	return key;
}

TEST(flush_of_much)
{
	struct mock_peer *p = mock_rc();
	struct packet pkt =
		flush_packet(p, 0, IBV_FLUSH_PERSISTENT, IBV_FLUSH_MR, 0);

	pkt.roce.rkey = endless_mkey(p, 512 * DRV_PAGE);
	/* The FLUSH waits for a turn of the NIC, and continues in pieces */
	sim_inject(p->b.d->n, &pkt);
	CHECK(p->b.d->n->persisted < 512 * DRV_PAGE);
	/* Requests that change memory wait meanwhile */
	memset(p->payload, 0x77, 8);
	pkt = mock_packet(p, BTH_RC_ATOMIC_WRITE, 1, 8);
	sim_inject(p->b.d->n, &pkt);
	CHECK_EQ(p->b.mr->ptr[0], 0);
	/* a repeated FLUSH does not replace it */
	pkt = flush_packet(p, 0, IBV_FLUSH_PERSISTENT, IBV_FLUSH_MR, 0);
	sim_inject(p->b.d->n, &pkt);
	sim_settle(p->sim);
	expect_flushed(p, 0, 512 * DRV_PAGE);
	mock_expect_nothing(p);
	/* The requester sends it again */
	mock_send_opcode(p, BTH_RC_ATOMIC_WRITE, 1, 8);
	mock_expect(p, BTH_RC_READ_RESPONSE_ONLY, 1);
	CHECK_EQ(p->b.mr->ptr[0], 0x77);
}

/* All else continues while memory is made persistent. */
TEST(flush_takes_long)
{
	struct mock_peer *p = mock_rc();
	struct sim_nic *n = p->b.d->n;
	struct packet pkt =
		flush_packet(p, 0, IBV_FLUSH_PERSISTENT, IBV_FLUSH_MR, 0);

	n->persist_later = true;
	pkt.roce.rkey = endless_mkey(p, 256 * DRV_PAGE);
	sim_inject(n, &pkt);
	sim_settle(p->sim);
	CHECK(n->persisting);
	mock_expect_nothing(p);
	/*
	 * A WRITE may be executed meanwhile, but its ACK would acknowledge the
	 * FLUSH.
	 */
	memset(p->payload, 0x55, 8);
	pkt = mock_packet(p, BTH_RC_WRITE_ONLY, 1, 8);
	sim_inject(n, &pkt);
	sim_settle(p->sim);
	CHECK_EQ(p->b.mr->ptr[0], 0x55);
	mock_expect_nothing(p);
	while (n->persisting) {
		sim_persisted(n);
		sim_settle(p->sim);
	}
	mock_expect(p, BTH_RC_READ_RESPONSE_ONLY, 0);
	CHECK_EQ(n->persisted, 256 * DRV_PAGE);
}

TEST(flush_takes_long_and_fails)
{
	struct mock_peer *p = mock_rc();
	struct sim_nic *n = p->b.d->n;
	struct packet pkt =
		flush_packet(p, 0, IBV_FLUSH_PERSISTENT, IBV_FLUSH_RANGE, 8);

	n->persist_later = true;
	n->persist_err = -EIO;
	sim_inject(n, &pkt);
	sim_settle(p->sim);
	sim_persisted(n);
	sim_settle(p->sim);
	mock_expect_ack(p, AETH_NAK_OPERATION, 0);
	CHECK_EQ(mock_state(p), IBV_QPS_ERR);
}

/* Requests that depend on the FLUSH, or must not overtake it, wait. */
TEST(flush_takes_long_and_holds_back)
{
	static const uint8_t later[] = { BTH_RC_READ_REQUEST, BTH_RC_FETCH_ADD,
					 BTH_RC_ATOMIC_WRITE, BTH_RC_FLUSH };

	for (unsigned int i = 0; i < ARRAY_SIZE(later); i++) {
		struct mock_peer *p = mock_rc();
		struct sim_nic *n = p->b.d->n;
		struct packet pkt = flush_packet(p, 0, IBV_FLUSH_PERSISTENT,
						 IBV_FLUSH_RANGE, 8);

		n->persist_later = true;
		sim_inject(n, &pkt);
		sim_settle(p->sim);
		CHECK(n->persisting);
		pkt = mock_packet(p, later[i], 1, 8);
		pkt.roce.feth = IBV_FLUSH_GLOBAL;
		pkt.roce.swap_add = 1;
		memset(p->payload, 0x77, 8);
		sim_inject(n, &pkt);
		sim_run(p->sim, SEC);
		mock_expect_nothing(p);
		CHECK_EQ(*(uint64_t *)p->b.mr->ptr, 0);
		sim_persisted(n);
		sim_settle(p->sim);
		mock_expect(p, BTH_RC_READ_RESPONSE_ONLY, 0);
	}
}

static struct drv_wr remote_wr(struct drv_pair *p, enum ibv_wr_opcode opcode)
{
	return (struct drv_wr){
		.wr_id = DRV_WR_ID,
		.opcode = opcode,
		.flags = IBV_SEND_SIGNALED,
		.remote_addr = p->b.mr->addr,
		.rkey = p->b.mr->key,
	};
}

/* Three connections, each with a FLUSH that takes long */
struct flushers {
	struct drv_pair p;
	struct sim_nic *n; /* NIC of the responders */
	struct drv_qp *from[3];
	struct drv_qp *to[3];
};

static struct flushers flushers(void)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_RC };
	struct flushers f = { .p = drv_pair_unconnected(&init) };
	struct drv_qp_init at_a = init, at_b = init;
	struct drv_wr wr = remote_wr(&f.p, IBV_WR_FLUSH);

	f.n = f.p.b.d->n;
	at_a.pdn = f.p.a.pdn;
	at_a.send_cq = f.p.a.cq;
	at_a.recv_cq = f.p.a.recv_cq;
	at_b.pdn = f.p.b.pdn;
	at_b.send_cq = f.p.b.cq;
	at_b.recv_cq = f.p.b.recv_cq;
	f.n->persist_later = true;
	wr.flush.placement = IBV_FLUSH_PERSISTENT;
	wr.flush.selectivity = IBV_FLUSH_RANGE;
	for (unsigned int i = 0; i < 3; i++) {
		f.from[i] = drv_create_qp(f.p.a.d, &at_a);
		f.to[i] = drv_create_qp(f.p.b.d, &at_b);
		drv_connect(f.from[i], f.to[i], &(struct drv_path){ 0 });
		wr.wr_id = i;
		wr.flush.length = 1u << i;
		drv_post_send(f.from[i], &wr);
		SIM_WAIT(f.p.sim, f.n->persisting);
	}
	/* The others arrive at the NIC and wait */
	sim_run(f.p.sim, MSEC);
	CHECK_EQ(f.n->persisted, 1);
	return f;
}

/*
 * Complete the present FLUSH, and check that it is that of flusher @i. The
 * others still wait.
 */
static void expect_flusher(struct flushers *f, unsigned int i)
{
	sim_persisted(f->n);
	CHECK_EQ(drv_expect(f->p.a.cq, i, IBV_WC_SUCCESS).opcode, IBV_WC_FLUSH);
	drv_expect_none(f->p.a.cq, MSEC);
}

/* One at a time, in turn */
TEST(flush_of_several)
{
	struct flushers f = flushers();

	expect_flusher(&f, 0);
	CHECK_EQ(f.n->persisted, 3);
	expect_flusher(&f, 1);
	CHECK_EQ(f.n->persisted, 7);
	expect_flusher(&f, 2);
	CHECK(!f.n->persisting);
}

static void end_qp(struct drv_qp *qp, unsigned int way)
{
	if (way == 0)
		CHECK_EQ(drv_set_state(qp, IBV_QPS_ERR), MYNIC_AQ_OK);
	else if (way == 1)
		CHECK_EQ(drv_set_state(qp, IBV_QPS_RESET), MYNIC_AQ_OK);
	else
		CHECK_EQ(drv_number_cmd(qp->d, MYNIC_CMD_DESTROY_QP,
					qp->number),
			 MYNIC_AQ_OK);
}

/* Those that waited for their turn flush at once, again and again */
TEST(flush_again_after_waiting)
{
	struct flushers f = flushers();
	struct drv_wr wr = remote_wr(&f.p, IBV_WR_FLUSH);

	wr.flush = (struct mynic_flush_operands){ 8, IBV_FLUSH_PERSISTENT,
						  IBV_FLUSH_RANGE };
	f.n->persist_later = false;
	sim_persisted(f.n);
	for (unsigned int i = 0; i < 3; i++)
		drv_expect(f.p.a.cq, i, IBV_WC_SUCCESS);
	for (unsigned int i = 0; i < 12; i++) {
		wr.wr_id = i;
		drv_post_send(f.from[i % 3], &wr);
		drv_expect(f.p.a.cq, i, IBV_WC_SUCCESS);
	}
	CHECK_EQ(f.n->persisted, 7 + 12 * 8);
	/* After the end, nothing is left */
	for (unsigned int i = 3; i--;)
		end_qp(f.to[i], 2);
	drv_connect(f.p.a.qp, f.p.b.qp, &(struct drv_path){ 0 });
	drv_post_send(f.p.a.qp, &wr);
	drv_expect(f.p.a.cq, wr.wr_id, IBV_WC_SUCCESS);
}

/* When a QP that waits is gone, those behind it still have their turns */
TEST(flush_ends_while_it_waits)
{
	for (unsigned int way = 0; way < 3; way++) {
		struct flushers f = flushers();

		end_qp(f.to[1], way);
		expect_flusher(&f, 0);
		CHECK_EQ(f.n->persisted, 5);
		expect_flusher(&f, 2);
		CHECK(!f.n->persisting);
	}
}

/* The NIC is reset after or before the turn of the next QP has come */
TEST(flush_reset_while_it_waits)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_RC };

	for (unsigned int turn = 0; turn < 2; turn++) {
		struct flushers f = flushers();
		struct drv_pair p;
		struct drv_wr wr;

		if (turn)
			sim_persisted(f.n);
		drv_reset(f.n);
		if (!turn)
			sim_persisted(f.n);
		CHECK(!f.n->persisting);
		/* Nothing is left of the QPs that waited */
		p = drv_pair_on(f.p.a.d, drv_up(f.n), &init);
		drv_connect(p.a.qp, p.b.qp, &(struct drv_path){ 0 });
		wr = remote_wr(&p, IBV_WR_FLUSH);
		wr.flush = (struct mynic_flush_operands){ 8,
							  IBV_FLUSH_PERSISTENT,
							  IBV_FLUSH_RANGE };
		drv_post_send(p.a.qp, &wr);
		SIM_WAIT(p.sim, f.n->persisting);
		CHECK_EQ(f.n->persisted, 9);
		sim_persisted(f.n);
		drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_SUCCESS);
	}
}

/* When a QP is gone during its FLUSH, the NIC waits until that is done */
TEST(flush_ends_while_it_is_done)
{
	for (unsigned int way = 0; way < 3; way++) {
		struct flushers f = flushers();

		end_qp(f.to[0], way);
		sim_run(f.p.sim, MSEC);
		CHECK_EQ(f.n->persisted, 1);
		sim_persisted(f.n);
		sim_run(f.p.sim, MSEC);
		CHECK_EQ(f.n->persisted, 3);
		expect_flusher(&f, 1);
		expect_flusher(&f, 2);
		CHECK(!f.n->persisting);
	}
}

/* A FLUSH that fails affects only its QP */
TEST(flush_of_one_fails)
{
	struct flushers f = flushers();

	f.n->persist_err = -EIO;
	sim_persisted(f.n);
	f.n->persist_err = 0;
	drv_expect(f.p.a.cq, 0, IBV_WC_REM_OP_ERR);
	expect_flusher(&f, 1);
	expect_flusher(&f, 2);
}

/*
 * A QP that is gone when its FLUSH is done is not told, and the next one has
 * its turn.
 */
TEST(flush_of_a_queue_pair_that_goes)
{
	struct mock_peer *p = mock_rc();
	struct sim_nic *n = p->b.d->n;
	struct packet pkt =
		flush_packet(p, 0, IBV_FLUSH_PERSISTENT, IBV_FLUSH_RANGE, 8);

	n->persist_later = true;
	sim_inject(n, &pkt);
	sim_settle(p->sim);
	CHECK(n->persisting);
	nic_reset(n->nic);
	sim_persisted(n);
	sim_settle(p->sim);
	CHECK(!n->persisting);
}

TEST(flush_key_goes)
{
	struct mock_peer *p = mock_rc();
	struct packet pkt =
		flush_packet(p, 0, IBV_FLUSH_PERSISTENT, IBV_FLUSH_MR, 0);
	struct mynic_admin_cmd cmd = { .opcode = MYNIC_CMD_DESTROY_MKEY };

	pkt.roce.rkey = endless_mkey(p, ENDLESS_PAGES * DRV_PAGE);
	cmd.number = pkt.roce.rkey >> 8;
	/*
	 * A command with an earlier doorbell, executed before the rest of the
	 * FLUSH
	 */
	drv_admin_post(p->b.d, &cmd);
	drv_admin_ring(p->b.d);
	sim_inject(p->b.d->n, &pkt);
	sim_settle(p->sim);
	mock_expect_ack(p, AETH_NAK_ACCESS, 0);
	CHECK(p->b.d->n->persisted < ENDLESS_PAGES * DRV_PAGE);
}

TEST(duplicate_flush)
{
	struct mock_peer *p = mock_rc();
	struct packet pkt =
		flush_packet(p, 0, IBV_FLUSH_PERSISTENT, IBV_FLUSH_RANGE, 8);

	mock_send(p, &pkt);
	expect_flushed(p, 0, 8);
	mock_send(p, &pkt);
	expect_flushed(p, 0, 8);
	pkt.roce.psn--;
	mock_send(p, &pkt);
	mock_expect_nothing(p);
}

static void expect_ok(struct drv_pair *p, enum ibv_wc_opcode opcode)
{
	struct mynic_cqe cqe = drv_expect(p->a.cq, DRV_WR_ID, IBV_WC_SUCCESS);

	CHECK_EQ(cqe.opcode, opcode);
}

TEST(atomic_write_request)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_wr wr = remote_wr(&p, IBV_WR_ATOMIC_WRITE);

	wr.num_sge = 1;
	wr.sge[0] = drv_sge(p.a.mr, 3, 8);
	drv_fill(p.a.mr->ptr, 64, 1);
	drv_post_send(p.a.qp, &wr);
	expect_ok(&p, IBV_WC_ATOMIC_WRITE);
	CHECK_MEM(p.b.mr->ptr, p.a.mr->ptr + 3, 8);
	wr.flags |= IBV_SEND_INLINE | IBV_SEND_FENCE | IBV_SEND_SOLICITED;
	wr.inline_data = "12345678";
	wr.inline_len = 8;
	wr.remote_addr += 8;
	drv_post_send(p.a.qp, &wr);
	expect_ok(&p, IBV_WC_ATOMIC_WRITE);
	CHECK_MEM(p.b.mr->ptr + 8, "12345678", 8);
}

TEST(atomic_write_request_bad)
{
	static const struct {
		unsigned int num_sge;
		uint32_t len;
		bool is_inline;
		enum ibv_wc_status status;
	} bad[] = {
		{ 1, 7, false, IBV_WC_LOC_LEN_ERR },
		{ 1, 9, false, IBV_WC_LOC_LEN_ERR },
		{ 2, 4, false, IBV_WC_LOC_LEN_ERR },
		{ 0, 0, false, IBV_WC_LOC_LEN_ERR },
		{ 0, 7, true, IBV_WC_LOC_LEN_ERR },
		{ 0, 9, true, IBV_WC_LOC_LEN_ERR },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		struct drv_pair p = drv_rc_pair(NULL);
		struct drv_wr wr = remote_wr(&p, IBV_WR_ATOMIC_WRITE);
		struct mynic_cqe cqe;

		wr.num_sge = bad[i].num_sge;
		wr.sge[0] = drv_sge(p.a.mr, 0, bad[i].len);
		wr.sge[1] = drv_sge(p.a.mr, 64, bad[i].len);
		if (bad[i].is_inline)
			wr.flags |= IBV_SEND_INLINE;
		wr.inline_data = p.a.mr->ptr;
		wr.inline_len = bad[i].len;
		drv_post_send(p.a.qp, &wr);
		cqe = drv_expect(p.a.cq, DRV_WR_ID, bad[i].status);
		CHECK_EQ(cqe.vendor_err, MYNIC_SYN_BAD_LEN);
		CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_BAD_WQE), 1);
	}
}

TEST(flush_request)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_wr wr = remote_wr(&p, IBV_WR_FLUSH);

	for (unsigned int i = 0; i < 6; i++) {
		bool persistent;

		wr.flush.placement = 1 + i / 2;
		wr.flush.selectivity = i % 2;
		wr.flush.length = 1000;
		persistent = wr.flush.placement & IBV_FLUSH_PERSISTENT;
		p.b.d->n->persisted = 0;
		drv_post_send(p.a.qp, &wr);
		expect_ok(&p, IBV_WC_FLUSH);
		CHECK_EQ(p.b.d->n->persisted, !persistent ? 0 :
					      i % 2	  ? DRV_PAIR_MEM :
							    1000);
	}
	/* Memory that cannot be made persistent */
	p.b.d->n->persist_err = -EIO;
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, DRV_WR_ID, IBV_WC_REM_OP_ERR);
}

TEST(flush_request_bad)
{
	static const struct {
		unsigned int flags;
		unsigned int num_sge;
		struct mynic_flush_operands flush;
		enum ibv_wc_status status;
		enum mynic_syndrome syndrome;
	} bad[] = {
		{ IBV_SEND_INLINE,
		  0,
		  { 8, 1, 0 },
		  IBV_WC_LOC_QP_OP_ERR,
		  MYNIC_SYN_BAD_FLAGS },
		{ 0, 1, { 8, 1, 0 }, IBV_WC_LOC_QP_OP_ERR, MYNIC_SYN_BAD_LEN },
		{ 0,
		  0,
		  { 0x80000001, 1, 0 },
		  IBV_WC_LOC_LEN_ERR,
		  MYNIC_SYN_BAD_LEN },
		{ 0,
		  0,
		  { 1ull << 32, 1, 0 },
		  IBV_WC_LOC_LEN_ERR,
		  MYNIC_SYN_BAD_LEN },
		{ 0, 0, { 8, 0, 0 }, IBV_WC_LOC_QP_OP_ERR, MYNIC_SYN_BAD_FLAGS },
		{ 0, 0, { 8, 4, 0 }, IBV_WC_LOC_QP_OP_ERR, MYNIC_SYN_BAD_FLAGS },
		{ 0,
		  0,
		  { 8, 0x80000001, 0 },
		  IBV_WC_LOC_QP_OP_ERR,
		  MYNIC_SYN_BAD_FLAGS },
		{ 0, 0, { 8, 1, 2 }, IBV_WC_LOC_QP_OP_ERR, MYNIC_SYN_BAD_FLAGS },
		{ 0,
		  0,
		  { 8, 1, 1u << 28 },
		  IBV_WC_LOC_QP_OP_ERR,
		  MYNIC_SYN_BAD_FLAGS },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		struct drv_pair p = drv_rc_pair(NULL);
		struct drv_wr wr = remote_wr(&p, IBV_WR_FLUSH);
		struct mynic_cqe cqe;

		wr.flags |= bad[i].flags;
		wr.num_sge = bad[i].num_sge;
		wr.flush = bad[i].flush;
		drv_post_send(p.a.qp, &wr);
		cqe = drv_expect(p.a.cq, DRV_WR_ID, bad[i].status);
		CHECK_EQ(cqe.vendor_err, bad[i].syndrome);
		CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_BAD_WQE), 1);
	}
}

static enum sim_verdict lose_some(struct sim *sim, struct sim_nic *from,
				  struct packet *pkt)
{
	(void)from;
	(void)pkt;
	return sim_random(sim, 4) ? SIM_PASS : SIM_DROP;
}

/* Like a log: make an entry persistent, and then write the pointer to it */
TEST(flush_before_atomic_write)
{
	struct drv_pair p = drv_rc_pair(&(struct drv_path){ .timeout = 8 });
	struct drv_wr write = remote_wr(&p, IBV_WR_RDMA_WRITE);
	struct drv_wr flush = remote_wr(&p, IBV_WR_FLUSH);
	struct drv_wr commit = remote_wr(&p, IBV_WR_ATOMIC_WRITE);
	uint64_t *log = (uint64_t *)p.b.mr->ptr;

	p.sim->filter = lose_some;
	write.num_sge = 1;
	write.sge[0] = drv_sge(p.a.mr, 0, ENTRY_LEN);
	write.remote_addr += 4096;
	flush.remote_addr += 4096;
	flush.flush = (struct mynic_flush_operands){ ENTRY_LEN,
						     IBV_FLUSH_PERSISTENT,
						     IBV_FLUSH_RANGE };
	commit.flags |= IBV_SEND_INLINE;
	commit.inline_len = 8;
	for (uint64_t i = 1; i < 20; i++) {
		drv_fill(p.a.mr->ptr, ENTRY_LEN, i);
		commit.inline_data = &i;
		drv_write_wqe(p.a.qp, &write);
		drv_write_wqe(p.a.qp, &flush);
		drv_post_send(p.a.qp, &commit);
		expect_ok(&p, IBV_WC_RDMA_WRITE);
		expect_ok(&p, IBV_WC_FLUSH);
		expect_ok(&p, IBV_WC_ATOMIC_WRITE);
		CHECK_EQ(*log, i);
		CHECK_MEM(p.b.mr->ptr + 4096, p.a.mr->ptr, ENTRY_LEN);
	}
}
