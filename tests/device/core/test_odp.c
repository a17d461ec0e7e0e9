// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * On-demand paging: pages that are missing, come late, or are taken away under
 * traffic
 */
#include "core/engine/qp_info.h"
#include "harness_driver.h"

#define PAGE DRV_PAGE
#define ADDR 0x7f0000000000ull
#define NUM_PAGES 64
#define LEN (NUM_PAGES * PAGE)
#define ACCESS                                               \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |  \
	 IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | \
	 IBV_ACCESS_FLUSH_GLOBAL | IBV_ACCESS_FLUSH_PERSISTENT)

/*
 * struct paged - a region whose pages the test provides and takes away
 * @list: list of the last level
 * @page: address of each page, present or not
 * @spare: its next address
 * @faults: events that have been answered
 */
struct paged {
	struct drv *d;
	uint32_t key;
	uint64_t *list;
	uint8_t *page[NUM_PAGES];
	uint8_t *spare[NUM_PAGES];
	unsigned int faults;
};

static struct mynic_create_mkey make_body(struct paged *r, unsigned int levels)
{
	struct mynic_create_mkey body = {
		.buf = { .levels = levels,
			 .log_page_size = 12,
			 .log_list_size = 12 },
		.iova = ADDR,
		.length = LEN,
		.access = ACCESS,
	};
	uint64_t addr;

	r->list = sim_alloc(r->d->n, PAGE, PAGE);
	addr = sim_iova(r->d->n, r->list);
	while (--levels) {
		uint64_t *list = sim_alloc(r->d->n, PAGE, PAGE);

		list[0] = addr | MYNIC_PAGE_PRESENT;
		addr = sim_iova(r->d->n, list);
	}
	body.buf.addr = addr;
	return body;
}

static struct paged *make_paged(struct drv_end *e, unsigned int levels)
{
	struct paged *r = tap_alloc(sizeof(*r));
	struct mynic_create_mkey body;

	r->d = e->d;
	body = make_body(r, levels);
	body.pdn = e->pdn;
	CHECK_EQ(drv_create_mkey(e->d, &body, MYNIC_MKEY_ODP, &r->key),
		 MYNIC_AQ_OK);
	for (unsigned int i = 0; i < NUM_PAGES; i++) {
		r->page[i] = sim_alloc(e->d->n, PAGE, PAGE);
		r->spare[i] = sim_alloc(e->d->n, PAGE, PAGE);
	}
	return r;
}

static void give(struct paged *r, unsigned int i, bool writable)
{
	r->list[i] = sim_iova(r->d->n, r->page[i]) | MYNIC_PAGE_PRESENT |
		     (writable ? MYNIC_PAGE_WRITABLE : 0);
}

static void give_all(struct paged *r)
{
	for (unsigned int i = 0; i < NUM_PAGES; i++)
		give(r, i, true);
}

/*
 * Take a page away, as the driver does. Afterwards the device does not access
 * it
 */
static void take(struct paged *r, unsigned int i)
{
	r->list[i] = 0;
	CHECK_EQ(drv_number_cmd(r->d, MYNIC_CMD_SYNC_MKEY, r->key >> 8),
		 MYNIC_AQ_OK);
}

static void fill(struct paged *r, unsigned int seed)
{
	for (unsigned int i = 0; i < NUM_PAGES; i++)
		drv_fill(r->page[i], PAGE, seed + i);
}

static void check_same(const struct paged *a, const struct paged *b,
		       uint32_t len)
{
	for (uint32_t at = 0; at < len; at += PAGE)
		CHECK_MEM(a->page[at / PAGE], b->page[at / PAGE],
			  len - at < PAGE ? len - at : PAGE);
}

static struct mynic_sge sge(const struct paged *r, uint32_t at, uint32_t len)
{
	return (struct mynic_sge){ ADDR + at, len, r->key };
}

static uint8_t resume(struct drv *d, uint32_t qpn, uint8_t stage,
		      uint32_t token, uint8_t failed)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_RESUME,
		.number = qpn,
		.resume = { .token = token, .stage = stage, .failed = failed },
	};

	return drv_admin(d, &cmd, NULL);
}

static uint8_t answer(struct drv *d, const struct mynic_eqe *eqe, bool failed)
{
	return resume(d, eqe->number, eqe->type - MYNIC_EVENT_PAGE_FAULT,
		      eqe->token, failed);
}

static struct mynic_eqe wait_fault(struct drv *d)
{
	struct mynic_eqe eqe;

	do {
		SIM_WAIT(d->sim, drv_eq_poll(&d->event, &eqe));
		drv_eq_release(&d->event);
	} while (eqe.type < MYNIC_EVENT_PAGE_FAULT);
	return eqe;
}

/* Provide all requested pages until @cq has a completion */
static struct mynic_cqe serve(struct drv_cq *cq, struct paged *a,
			      struct paged *b)
{
	struct paged *sides[] = { a, b };
	struct mynic_cqe cqe;
	struct mynic_eqe eqe;

	for (;;) {
		bool idle = true;

		sim_settle(a->d->sim);
		for (unsigned int s = 0; s < 2; s++) {
			struct paged *r = sides[s];
			uint64_t first, last;

			if (!drv_eq_poll(&r->d->event, &eqe))
				continue;
			drv_eq_release(&r->d->event);
			idle = false;
			if (eqe.type < MYNIC_EVENT_PAGE_FAULT)
				continue;
			CHECK_EQ(eqe.key, r->key);
			CHECK(eqe.length);
			first = (eqe.addr - ADDR) / PAGE;
			last = (eqe.addr + eqe.length - 1 - ADDR) / PAGE;
			CHECK(last < NUM_PAGES);
			for (uint64_t i = first; i <= last; i++)
				give(r, i, eqe.flags & MYNIC_PAGE_FAULT_WRITE);
			answer(r->d, &eqe, false);
			r->faults++;
		}
		if (drv_poll(cq, &cqe))
			return cqe;
		if (idle)
			CHECK(sim_step(a->d->sim, ~0ull));
	}
}

TEST(odp_create_bad)
{
	struct drv *d = drv_one();
	struct paged r = { .d = d };
	struct mynic_create_mkey good = make_body(&r, 2), bad;
	uint32_t key;

	good.pdn = drv_alloc_pd(d);
	good.length = 512ull * 512 * PAGE;
#define TRY(field, value, status)                                        \
	do {                                                             \
		bad = good;                                              \
		bad.field = value;                                       \
		CHECK_EQ(drv_create_mkey(d, &bad, MYNIC_MKEY_ODP, &key), \
			 MYNIC_AQ_##status);                             \
	} while (0)
	TRY(length, good.length, OK);
	TRY(length, 0, OK);
	TRY(length, good.length + 1, BAD_PARAM);
	TRY(length, ~0ull, BAD_PARAM);
	TRY(buf.offset, 1, BAD_PARAM);
	TRY(buf.levels, 0, BAD_PARAM);
	TRY(buf.levels, 1, BAD_PARAM);
	TRY(buf.levels, 4, OK);
	TRY(buf.levels, 5, BAD_PARAM);
	TRY(buf.levels, 255, BAD_PARAM);
	TRY(buf.log_page_size, 11, BAD_PARAM);
	TRY(buf.log_page_size, 31, OK);
	TRY(buf.log_page_size, 32, BAD_PARAM);
	TRY(buf.log_list_size, 11, BAD_PARAM);
	TRY(buf.log_list_size, 23, BAD_PARAM);
	TRY(buf.addr, good.buf.addr + 8, BAD_PARAM);
	TRY(buf.reserved_0b, 1, BAD_PARAM);
	TRY(iova, ~0ull - 4096, BAD_PARAM);
	TRY(access, 1 << 30, NOT_SUPPORTED);
	TRY(access, ACCESS, OK);
	TRY(pdn, 500, BAD_NUMBER);
#undef TRY
	good.buf.levels = 4;
	good.iova = 0;
	good.length = 1ull << 48;
	CHECK_EQ(drv_create_mkey(d, &good, MYNIC_MKEY_ODP, &key), MYNIC_AQ_OK);
	CHECK_EQ(drv_create_mkey(d, &good, MYNIC_MKEY_ODP | MYNIC_MKEY_DMA,
				 &key),
		 MYNIC_AQ_BAD_PARAM);
	CHECK_EQ(drv_create_mkey(d, &good, MYNIC_MKEY_ODP | MYNIC_MKEY_DM,
				 &key),
		 MYNIC_AQ_BAD_PARAM);
}

TEST(odp_commands_bad)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct paged *r = make_paged(&p.a, 1);
	uint32_t qpn = p.a.qp->number;

	CHECK_EQ(drv_number_cmd(r->d, MYNIC_CMD_SYNC_MKEY, r->key >> 8), 0);
	CHECK_EQ(drv_number_cmd(r->d, MYNIC_CMD_SYNC_MKEY, 0xffffff),
		 MYNIC_AQ_BAD_NUMBER);
	CHECK_EQ(drv_number_cmd(r->d, MYNIC_CMD_SYNC_MKEY, p.a.mr->key >> 8),
		 MYNIC_AQ_BAD_NUMBER);
	for (unsigned int stage = 0; stage < MYNIC_PAGE_STAGES; stage++)
		CHECK_EQ(resume(r->d, qpn, stage, 0, 0), MYNIC_AQ_BAD_STATE);
	CHECK_EQ(resume(r->d, qpn, MYNIC_PAGE_STAGES, 0, 0),
		 MYNIC_AQ_BAD_PARAM);
	CHECK_EQ(resume(r->d, qpn, 255, 0, 0), MYNIC_AQ_BAD_PARAM);
	CHECK_EQ(resume(r->d, qpn, 0, 0, 2), MYNIC_AQ_BAD_PARAM);
	CHECK_EQ(resume(r->d, 0xffffff, 0, 0, 0), MYNIC_AQ_BAD_NUMBER);
}

TEST(odp_all_present)
{
	for (unsigned int levels = 1; levels <= 4; levels++) {
		struct drv_pair p = drv_rc_pair(NULL);
		struct paged *a = make_paged(&p.a, levels);
		struct paged *b = make_paged(&p.b, levels);
		struct drv_wr wr = {
			.opcode = IBV_WR_RDMA_WRITE,
			.flags = IBV_SEND_SIGNALED,
			.num_sge = 1,
			.sge = { sge(a, 0, LEN) },
			.remote_addr = ADDR,
			.rkey = b->key,
		};

		give_all(a);
		give_all(b);
		fill(a, levels);
		drv_post_send(p.a.qp, &wr);
		drv_expect(p.a.cq, 0, IBV_WC_SUCCESS);
		check_same(a, b, LEN);
		wr.sge[0].length++;
		drv_post_send(p.a.qp, &wr);
		drv_expect(p.a.cq, 0, IBV_WC_LOC_PROT_ERR);
		sim_free(p.sim);
	}
}

/*
 * struct stage - a request, and the page that is missing
 * @length: 0: a message of several packets
 * @at_peer: the page belongs to the responder
 * @write: the page must be writable
 * @failed: status of the send completion if there is no such page
 * @recv_failed: the same for the receive completion; 0: there is none
 */
static const struct stage {
	const char *name;
	enum mynic_qp_type type;
	enum ibv_wr_opcode opcode;
	uint32_t length;
	bool at_peer;
	bool write;
	enum mynic_page_stage stage;
	enum ibv_wc_status failed;
	enum ibv_wc_status recv_failed;
} stages[] = {
	{ "send", MYNIC_QP_RC, IBV_WR_SEND, 0, false, false, MYNIC_PAGE_SEND,
	  IBV_WC_LOC_PROT_ERR, 0 },
	{ "send", MYNIC_QP_RC, IBV_WR_SEND, 0, true, true, MYNIC_PAGE_RECV,
	  IBV_WC_REM_OP_ERR, IBV_WC_LOC_PROT_ERR },
	{ "write", MYNIC_QP_RC, IBV_WR_RDMA_WRITE, 0, false, false,
	  MYNIC_PAGE_SEND, IBV_WC_LOC_PROT_ERR, 0 },
	{ "write", MYNIC_QP_RC, IBV_WR_RDMA_WRITE, 0, true, true,
	  MYNIC_PAGE_RECV, IBV_WC_REM_OP_ERR, 0 },
	{ "read", MYNIC_QP_RC, IBV_WR_RDMA_READ, 0, false, true,
	  MYNIC_PAGE_RECV, IBV_WC_LOC_PROT_ERR, 0 },
	{ "read", MYNIC_QP_RC, IBV_WR_RDMA_READ, 0, true, false,
	  MYNIC_PAGE_READ, IBV_WC_REM_OP_ERR, 0 },
	{ "atomic", MYNIC_QP_RC, IBV_WR_ATOMIC_FETCH_AND_ADD, 8, false, true,
	  MYNIC_PAGE_RECV, IBV_WC_LOC_PROT_ERR, 0 },
	{ "atomic", MYNIC_QP_RC, IBV_WR_ATOMIC_FETCH_AND_ADD, 8, true, true,
	  MYNIC_PAGE_RECV, IBV_WC_REM_OP_ERR, 0 },
	{ "uc send", MYNIC_QP_UC, IBV_WR_SEND, 0, false, false, MYNIC_PAGE_SEND,
	  IBV_WC_LOC_PROT_ERR, 0 },
	{ "uc send", MYNIC_QP_UC, IBV_WR_SEND, 0, true, true, MYNIC_PAGE_RECV,
	  IBV_WC_SUCCESS, IBV_WC_LOC_PROT_ERR },
	{ "uc write", MYNIC_QP_UC, IBV_WR_RDMA_WRITE, 0, true, true,
	  MYNIC_PAGE_RECV, IBV_WC_SUCCESS, 0 },
	{ "ud send", MYNIC_QP_UD, IBV_WR_SEND, 900, false, false,
	  MYNIC_PAGE_SEND, IBV_WC_LOC_PROT_ERR, 0 },
	{ "ud send", MYNIC_QP_UD, IBV_WR_SEND, 900, true, true, MYNIC_PAGE_RECV,
	  IBV_WC_SUCCESS, IBV_WC_LOC_PROT_ERR },
};

struct scene {
	struct drv_pair p;
	struct paged *a;
	struct paged *b;
	uint32_t len;
	bool receives;
};

#define GRH 40

static struct scene begin_over(const struct stage *s, bool hole,
			       const struct drv_path *path)
{
	struct scene c = { .len = s->length ? s->length : 3 * PAGE };
	struct drv_wr wr = { .opcode = s->opcode,
			     .flags = IBV_SEND_SIGNALED,
			     .num_sge = 1,
			     .remote_addr = ADDR };
	uint32_t grh = s->type == MYNIC_QP_UD ? GRH : 0;
	struct mynic_sge buf;

	if (s->type == MYNIC_QP_RC)
		c.p = drv_rc_pair(path);
	else if (s->type == MYNIC_QP_UC)
		c.p = drv_uc_pair(NULL);
	else
		c.p = drv_ud_pair();
	c.a = make_paged(&c.p.a, 2);
	c.b = make_paged(&c.p.b, 3);
	give_all(c.a);
	give_all(c.b);
	fill(s->opcode == IBV_WR_RDMA_READ ? c.b : c.a, 5);
	if (hole)
		take(s->at_peer ? c.b : c.a, s->length ? 0 : 1);
	c.receives = s->opcode == IBV_WR_SEND;
	if (c.receives) {
		buf = sge(c.b, 0, c.len + grh);
		drv_post_recv(c.p.b.qp, 7, &buf, 1);
	}
	wr.sge[0] = sge(c.a, 0, c.len);
	wr.rkey = c.b->key;
	wr.compare_add = 3;
	if (grh) {
		wr.av = drv_av(c.p.a.d, 1, 0);
		wr.remote_qpn = c.p.b.qp->number;
		wr.remote_qkey = 0x11111111;
	}
	drv_post_send(c.p.a.qp, &wr);
	return c;
}

/* Without retries nothing may be lost */
static struct scene begin(const struct stage *s, bool hole)
{
	return begin_over(s, hole, &(struct drv_path){ .no_retry = true });
}

/* People can see what the QP waits for. */
static void check_shown(struct drv *d, const struct mynic_eqe *eqe,
			unsigned int stage)
{
	uint32_t pages = QP_WAIT_FLUSH - QP_WAIT_PAGE;
	uint32_t number = eqe->number;
	struct qp_info info;

	CHECK(nic_next_qp(d->n->nic, &number, &info));
	CHECK_EQ(info.number, eqe->number);
	CHECK_EQ(info.waits & pages, QP_WAIT_PAGE << stage);
	CHECK_EQ(info.page[stage].key, eqe->key);
	CHECK_EQ(info.page[stage].addr, eqe->addr);
}

TEST(odp_every_stage_waits)
{
	for (const struct stage *s = stages; s != stages + ARRAY_SIZE(stages);
	     s++) {
		struct scene c = begin(s, true);
		struct paged *r = s->at_peer ? c.b : c.a;
		struct mynic_eqe eqe = wait_fault(r->d);
		struct drv_qp *qp = s->at_peer ? c.p.b.qp : c.p.a.qp;
		struct mynic_cqe cqe;

		CHECK_EQ(eqe.number, qp->number);
		CHECK_EQ(eqe.type, MYNIC_EVENT_PAGE_FAULT + s->stage);
		CHECK_EQ(eqe.flags, s->write ? MYNIC_PAGE_FAULT_WRITE : 0);
		CHECK_EQ(eqe.key, r->key);
		CHECK_EQ(eqe.addr, ADDR + (s->length ? 0 : PAGE));
		if (!s->length)
			CHECK_EQ(eqe.length, 2 * PAGE);
		/* a while, but less than the timeout */
		sim_run(c.p.sim, MSEC);
		check_shown(r->d, &eqe, s->stage);
		if (s->type == MYNIC_QP_RC)
			CHECK(!drv_poll(c.p.a.cq, &cqe));
		CHECK(!drv_poll(c.p.b.recv_cq, &cqe));
		CHECK_EQ(resume(r->d, eqe.number, s->stage, eqe.token + 1, 0),
			 MYNIC_AQ_BAD_STATE);
		give(r, s->length ? 0 : 1, s->write);
		CHECK_EQ(answer(r->d, &eqe, false), MYNIC_AQ_OK);
		CHECK_EQ(answer(r->d, &eqe, false), MYNIC_AQ_BAD_STATE);
		drv_expect(c.p.a.cq, 0, IBV_WC_SUCCESS);
		if (c.receives)
			drv_expect(c.p.b.recv_cq, 7, IBV_WC_SUCCESS);
		if (s->type == MYNIC_QP_UD)
			CHECK_MEM(c.b->page[0] + GRH, c.a->page[0], c.len);
		else if (s->length)
			CHECK_EQ(c.b->page[0][0], 3);
		else
			check_same(c.a, c.b, c.len);
		sim_settle(c.p.sim);
		CHECK(!drv_eq_poll(&r->d->event, &eqe));
		CHECK_EQ(drv_stat(r->d, MYNIC_STAT_BAD_DMA), 0);
		sim_free(c.p.sim);
	}
}

TEST(odp_every_stage_fails)
{
	for (const struct stage *s = stages; s != stages + ARRAY_SIZE(stages);
	     s++) {
		struct scene c = begin(s, true);
		struct drv *d = s->at_peer ? c.p.b.d : c.p.a.d;
		struct mynic_eqe eqe = wait_fault(d);

		CHECK_EQ(answer(d, &eqe, true), MYNIC_AQ_OK);
		drv_expect(c.p.a.cq, 0, s->failed);
		if (s->recv_failed)
			drv_expect(c.p.b.recv_cq, 7, s->recv_failed);
		sim_settle(c.p.sim);
		sim_free(c.p.sim);
	}
}

/* All retries of the default path end after about half a second */
#define LATE (10 * SEC)

TEST(odp_every_stage_waits_for_long)
{
	for (const struct stage *s = stages; s != stages + ARRAY_SIZE(stages);
	     s++) {
		struct scene c = begin_over(s, true, NULL);
		struct paged *r = s->at_peer ? c.b : c.a;
		struct mynic_eqe eqe = wait_fault(r->d);
		struct mynic_cqe cqe;

		sim_run(c.p.sim, LATE);
		if (s->type == MYNIC_QP_RC)
			CHECK(!drv_poll(c.p.a.cq, &cqe));
		give_all(r);
		CHECK_EQ(answer(r->d, &eqe, false), MYNIC_AQ_OK);
		drv_expect(c.p.a.cq, 0, IBV_WC_SUCCESS);
		if (c.receives)
			drv_expect(c.p.b.recv_cq, 7, IBV_WC_SUCCESS);
		if (s->type == MYNIC_QP_RC && s->length)
			CHECK_EQ(c.b->page[0][0], 3);
		else if (s->type == MYNIC_QP_RC)
			check_same(c.a, c.b, c.len);
		sim_settle(c.p.sim);
		sim_free(c.p.sim);
	}
}

/* What the host has said is not forgotten while there is no room for packets */
TEST(odp_every_stage_fails_without_room)
{
	for (const struct stage *s = stages; s != stages + ARRAY_SIZE(stages);
	     s++) {
		struct scene c = begin(s, true);
		struct drv *d = s->at_peer ? c.p.b.d : c.p.a.d;
		struct mynic_eqe eqe = wait_fault(d);

		for (unsigned int i = 0; i < 2; i++)
			sim_set_room(&c.p.sim->nics[i], 0);
		CHECK_EQ(answer(d, &eqe, true), MYNIC_AQ_OK);
		sim_run(c.p.sim, MSEC);
		for (unsigned int i = 0; i < 2; i++)
			sim_set_room(&c.p.sim->nics[i], SIM_MUCH_ROOM);
		drv_expect(c.p.a.cq, 0, s->failed);
		sim_settle(c.p.sim);
		while (drv_eq_poll(&d->event, &eqe))
			CHECK(eqe.type < MYNIC_EVENT_PAGE_FAULT);
		sim_free(c.p.sim);
	}
}

/* The peer, which has been told to wait, learns that there is no such page */
TEST(odp_every_stage_fails_after_long)
{
	for (const struct stage *s = stages; s != stages + ARRAY_SIZE(stages);
	     s++) {
		struct scene c = begin_over(s, true, NULL);
		struct drv *d = s->at_peer ? c.p.b.d : c.p.a.d;
		struct mynic_eqe eqe = wait_fault(d);

		sim_run(c.p.sim, LATE);
		CHECK_EQ(answer(d, &eqe, true), MYNIC_AQ_OK);
		drv_expect(c.p.a.cq, 0, s->failed);
		if (s->recv_failed)
			drv_expect(c.p.b.recv_cq, 7, s->recv_failed);
		sim_settle(c.p.sim);
		sim_free(c.p.sim);
	}
}

/* An RNR NAK says that the page takes long, but only after a while */
TEST(odp_peer_is_told)
{
	static const struct drv_path path = { .timeout = 8, .rnr_retry = 1 };

	for (const struct stage *s = stages; s != stages + ARRAY_SIZE(stages);
	     s++) {
		struct scene c;
		struct mynic_eqe eqe;

		if (s->type != MYNIC_QP_RC || !s->at_peer)
			continue;
		c = begin_over(s, true, &path);
		eqe = wait_fault(c.b->d);
		sim_run(c.p.sim, 3 * MSEC);
		CHECK_EQ(drv_stat(c.b->d, MYNIC_STAT_TX_NAK_RNR), 0);
		CHECK(drv_stat(c.a->d, MYNIC_STAT_TIMEOUT));
		sim_free(c.p.sim);

		c = begin_over(s, true, &(struct drv_path){ .rnr_retry = 1 });
		eqe = wait_fault(c.b->d);
		drv_expect(c.p.a.cq, 0, IBV_WC_RNR_RETRY_EXC_ERR);
		CHECK_EQ(drv_stat(c.b->d, MYNIC_STAT_TX_NAK_RNR), 2);
		CHECK_EQ(answer(c.b->d, &eqe, true), MYNIC_AQ_OK);
		sim_settle(c.p.sim);
		sim_free(c.p.sim);
	}
}

/*
 * The page may be that of the QP's own READ. A request of the peer that comes
 * long after the page fault has not waited yet
 */
TEST(odp_request_behind_a_response)
{
	const struct stage *read = &stages[4];
	struct scene c = begin(read, true);
	struct mynic_eqe eqe = wait_fault(c.a->d);
	struct drv_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { sge(c.b, 0, 8) },
		.remote_addr = ADDR,
		.rkey = c.a->key,
	};

	CHECK(read->opcode == IBV_WR_RDMA_READ && !read->at_peer);
	sim_run(c.p.sim, 40 * MSEC);
	drv_post_send(c.p.b.qp, &wr);
	sim_run(c.p.sim, MSEC);
	CHECK_EQ(drv_stat(c.a->d, MYNIC_STAT_TX_NAK_RNR), 0);
	give_all(c.a);
	CHECK_EQ(answer(c.a->d, &eqe, false), MYNIC_AQ_OK);
	drv_expect(c.p.a.cq, 0, IBV_WC_SUCCESS);
	drv_expect(c.p.b.cq, 0, IBV_WC_SUCCESS);
	sim_settle(c.p.sim);
	sim_free(c.p.sim);
}

/*
 * The peer sends again from what was not acknowledged on, and not all at once.
 * It must come to the packet that waits
 */
TEST(odp_long_message_waits_for_long)
{
	struct scene c = { .p = drv_rc_pair(NULL) };
	struct drv_wr wr = { .opcode = IBV_WR_RDMA_WRITE,
			     .flags = IBV_SEND_SIGNALED,
			     .num_sge = 1,
			     .remote_addr = ADDR };
	struct mynic_eqe eqe;
	struct mynic_cqe cqe;

	c.a = make_paged(&c.p.a, 2);
	c.b = make_paged(&c.p.b, 3);
	give_all(c.a);
	give_all(c.b);
	take(c.b, NUM_PAGES / 2);
	fill(c.a, 5);
	wr.sge[0] = sge(c.a, 0, LEN);
	wr.rkey = c.b->key;
	drv_post_send(c.p.a.qp, &wr);
	eqe = wait_fault(c.b->d);
	sim_run(c.p.sim, LATE);
	CHECK(!drv_poll(c.p.a.cq, &cqe));
	give_all(c.b);
	CHECK_EQ(answer(c.b->d, &eqe, false), MYNIC_AQ_OK);
	drv_expect(c.p.a.cq, 0, IBV_WC_SUCCESS);
	check_same(c.a, c.b, LEN);
	sim_settle(c.p.sim);
	sim_free(c.p.sim);
}

TEST(odp_atomic_write)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct paged *a = make_paged(&p.a, 2), *b = make_paged(&p.b, 2);
	struct drv_wr wr = {
		.opcode = IBV_WR_ATOMIC_WRITE,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { sge(a, 8, 8) },
		.remote_addr = ADDR + PAGE,
		.rkey = b->key,
	};
	struct mynic_cqe cqe;

	fill(a, 1);
	drv_post_send(p.a.qp, &wr);
	cqe = serve(p.a.cq, a, b);
	CHECK_EQ(cqe.status, IBV_WC_SUCCESS);
	CHECK_EQ(a->faults, 1);
	CHECK_EQ(b->faults, 1);
	CHECK_MEM(b->page[1], a->page[0] + 8, 8);
}

/* A FLUSH for visibility needs no missing page, but one for persistence does */
TEST(odp_flush)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct paged *a = make_paged(&p.a, 2), *b = make_paged(&p.b, 2);
	struct drv_wr wr = {
		.opcode = IBV_WR_FLUSH,
		.flags = IBV_SEND_SIGNALED,
		.remote_addr = ADDR,
		.rkey = b->key,
		.flush = { .length = LEN,
			   .placement = IBV_FLUSH_GLOBAL,
			   .selectivity = IBV_FLUSH_RANGE },
	};
	struct mynic_eqe eqe;

	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, 0, IBV_WC_SUCCESS);
	CHECK(!drv_eq_poll(&b->d->event, &eqe));
	CHECK_EQ(b->d->n->persisted, 0);

	give_all(b);
	take(b, 2);
	wr.flush.placement = IBV_FLUSH_PERSISTENT;
	drv_post_send(p.a.qp, &wr);
	CHECK_EQ(serve(p.a.cq, a, b).status, IBV_WC_SUCCESS);
	CHECK_EQ(b->faults, 1);
	CHECK_EQ(b->d->n->persisted, LEN);

	take(b, NUM_PAGES - 1);
	wr.flush.selectivity = IBV_FLUSH_MR;
	drv_post_send(p.a.qp, &wr);
	eqe = wait_fault(b->d);
	CHECK_EQ(eqe.addr, ADDR + LEN - PAGE);
	CHECK_EQ(eqe.flags, 0);
	CHECK_EQ(answer(b->d, &eqe, true), MYNIC_AQ_OK);
	drv_expect(p.a.cq, 0, IBV_WC_REM_OP_ERR);
}

/* A request that is lost, and cannot be read again when it is probed */
static struct scene begin_lost(void)
{
	/* The ACK timeout is hours away, so only probes notice the loss */
	struct scene c = begin_over(&stages[2], false,
				    &(struct drv_path){ .timeout = 31 });
	struct drv_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { sge(c.a, 0, 900) },
		.remote_addr = ADDR,
		.rkey = c.b->key,
	};

	drv_expect(c.p.a.cq, 0, IBV_WC_SUCCESS);
	drv_fill(c.a->page[0], PAGE, 6);
	c.p.sim->drop = 1000;
	drv_post_send(c.p.a.qp, &wr);
	sim_run(c.p.sim, USEC);
	CHECK_EQ(drv_stat(c.a->d, MYNIC_STAT_PROBE), 0);
	take(c.a, 0);
	return c;
}

TEST(odp_probe_waits)
{
	struct scene c = begin_lost();
	struct mynic_eqe eqe = wait_fault(c.a->d);

	CHECK_EQ(eqe.type, MYNIC_EVENT_PAGE_FAULT + MYNIC_PAGE_SEND);
	CHECK_EQ(drv_stat(c.a->d, MYNIC_STAT_PROBE), 1);
	c.p.sim->drop = 0;
	give(c.a, 0, false);
	CHECK_EQ(answer(c.a->d, &eqe, false), MYNIC_AQ_OK);
	drv_expect(c.p.a.cq, 0, IBV_WC_SUCCESS);
	check_same(c.a, c.b, 900);
	CHECK_EQ(drv_stat(c.a->d, MYNIC_STAT_RETRANSMIT), 1);
}

/* The host is asked once, and its answer ends the request */
TEST(odp_probe_fails)
{
	struct scene c = begin_lost();
	struct mynic_eqe eqe = wait_fault(c.a->d);

	CHECK_EQ(answer(c.a->d, &eqe, true), MYNIC_AQ_OK);
	drv_expect(c.p.a.cq, 0, IBV_WC_LOC_PROT_ERR);
	CHECK(!drv_eq_poll(&c.a->d->event, &eqe));
	CHECK_EQ(drv_stat(c.a->d, MYNIC_STAT_TIMEOUT), 0);
}

TEST(odp_key_goes_before_a_probe)
{
	struct scene c = begin_lost();

	CHECK_EQ(drv_number_cmd(c.a->d, MYNIC_CMD_DESTROY_MKEY, c.a->key >> 8),
		 MYNIC_AQ_OK);
	drv_expect(c.p.a.cq, 0, IBV_WC_LOC_PROT_ERR);
	CHECK_EQ(drv_stat(c.a->d, MYNIC_STAT_TIMEOUT), 0);
}

/* A wait ends with its QP, after which its event cannot be answered */
TEST(odp_end_of_a_queue_pair)
{
	static const enum ibv_qp_state ends[] = { IBV_QPS_RESET, IBV_QPS_ERR };

	for (const struct stage *s = stages; s != stages + ARRAY_SIZE(stages);
	     s++)
		for (unsigned int i = 0; i <= ARRAY_SIZE(ends); i++) {
			struct scene c = begin(s, true);
			struct drv_end *e = s->at_peer ? &c.p.b : &c.p.a;
			struct mynic_eqe eqe = wait_fault(e->d);
			uint8_t status = MYNIC_AQ_BAD_STATE;

			if (i == ARRAY_SIZE(ends)) {
				CHECK_EQ(drv_number_cmd(e->d,
							MYNIC_CMD_DESTROY_QP,
							e->qp->number),
					 MYNIC_AQ_OK);
				status = MYNIC_AQ_BAD_NUMBER;
			} else {
				CHECK_EQ(drv_set_state(e->qp, ends[i]), 0);
			}
			CHECK_EQ(answer(e->d, &eqe, false), status);
			sim_settle(c.p.sim);
			sim_free(c.p.sim);
		}
}

/* The end of a queue pair has to free all of them at once */
TEST(odp_holds_so_many_packets)
{
	struct drv_pair p = drv_uc_pair(NULL);
	struct paged *r = make_paged(&p.b, 1);
	struct drv_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { drv_sge(p.a.mr, 0, 1) },
		.remote_addr = ADDR,
		.rkey = r->key,
	};

	for (unsigned int i = 0; i < 3000; i++) {
		drv_post_send(p.a.qp, &wr);
		drv_expect(p.a.cq, 0, 0);
	}
	CHECK_EQ(drv_stat(p.b.d, MYNIC_STAT_RX_DROP_OVERRUN), 3000 - 1024);
	CHECK_EQ(drv_number_cmd(p.b.d, MYNIC_CMD_DESTROY_QP, p.b.qp->number),
		 MYNIC_AQ_OK);
}

TEST(odp_key_goes)
{
	for (const struct stage *s = stages; s != stages + ARRAY_SIZE(stages);
	     s++) {
		struct scene c = begin(s, true);
		struct paged *r = s->at_peer ? c.b : c.a;
		struct mynic_eqe eqe = wait_fault(r->d);
		struct mynic_cqe cqe;

		CHECK_EQ(drv_number_cmd(r->d, MYNIC_CMD_DESTROY_MKEY,
					r->key >> 8),
			 MYNIC_AQ_OK);
		CHECK_EQ(answer(r->d, &eqe, true), MYNIC_AQ_OK);
		SIM_WAIT(c.p.sim, drv_poll(c.p.a.cq, &cqe));
		if (s->type == MYNIC_QP_RC)
			CHECK(cqe.status);
		sim_free(c.p.sim);
	}
}

TEST(odp_read_only_page)
{
	struct scene c = begin(&stages[0], false);
	struct drv_wr wr = {
		.opcode = IBV_WR_RDMA_READ,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { sge(c.a, 0, PAGE) },
		.remote_addr = ADDR,
		.rkey = c.b->key,
	};
	struct mynic_eqe eqe;

	drv_expect(c.p.a.cq, 0, IBV_WC_SUCCESS);
	take(c.b, 0);
	give(c.b, 0, false);
	drv_post_send(c.p.a.qp, &wr);
	drv_expect(c.p.a.cq, 0, IBV_WC_SUCCESS);
	wr.opcode = IBV_WR_RDMA_WRITE;
	drv_fill(c.a->page[0], PAGE, 99);
	drv_post_send(c.p.a.qp, &wr);
	eqe = wait_fault(c.b->d);
	CHECK_EQ(eqe.type, MYNIC_EVENT_PAGE_FAULT + MYNIC_PAGE_RECV);
	CHECK_EQ(eqe.flags, MYNIC_PAGE_FAULT_WRITE);
	give(c.b, 0, true);
	CHECK_EQ(answer(c.b->d, &eqe, false), MYNIC_AQ_OK);
	drv_expect(c.p.a.cq, 0, IBV_WC_SUCCESS);
	CHECK_MEM(c.b->page[0], c.a->page[0], PAGE);
}

/* Entries that are not addresses end requests, and nothing else */
TEST(odp_hostile_lists)
{
	static const uint64_t bad[] = {
		~0ull, 0x1003 | 4, 0x3, 0xfffffffffffff003, 1ull << 40 | 3,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		struct scene c = begin(&stages[3], true);
		struct mynic_eqe eqe = wait_fault(c.b->d);

		c.b->list[1] = bad[i];
		CHECK_EQ(answer(c.b->d, &eqe, false), MYNIC_AQ_OK);
		drv_expect(c.p.a.cq, 0, IBV_WC_REM_OP_ERR);
		CHECK_EQ(drv_stat(c.b->d, MYNIC_STAT_BAD_DMA), 1);
		sim_free(c.p.sim);
	}
}

/* More packets than are kept while a page is missing; the rest is sent again */
TEST(odp_storm)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct paged *b = make_paged(&p.b, 1), *a = make_paged(&p.a, 1);
	struct drv_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.num_sge = 1,
		.remote_addr = ADDR,
		.rkey = b->key,
	};
	struct mynic_cqe cqe;

	give_all(a);
	fill(a, 8);
	wr.sge[0] = sge(a, 0, LEN);
	for (unsigned int i = 0; i < 20; i++) {
		wr.flags = i == 19 ? IBV_SEND_SIGNALED : 0;
		drv_post_send(p.a.qp, &wr);
	}
	sim_run(p.sim, 20 * MSEC);
	cqe = serve(p.a.cq, a, b);
	CHECK_EQ(cqe.status, IBV_WC_SUCCESS);
	check_same(a, b, LEN);
	CHECK(b->faults >= 1);
}

/* Move a page as a kernel does. The device must not access the old place */
static void move(struct paged *r, unsigned int i)
{
	uint8_t *old = r->page[i];

	take(r, i);
	for (unsigned int k = 0; k < PAGE; k++)
		if (r->spare[i][k] != (uint8_t)(0xd0 + i))
			FAIL("page %u was touched at %u after it had gone", i,
			     k);
	memcpy(r->spare[i], old, PAGE);
	memset(old, 0xd0 + i, PAGE);
	r->page[i] = r->spare[i];
	r->spare[i] = old;
}

static void scribble(struct paged *r)
{
	for (unsigned int i = 0; i < NUM_PAGES; i++)
		memset(r->spare[i], 0xd0 + i, PAGE);
}

static void soak(enum mynic_qp_type type, unsigned int drop)
{
	static const enum ibv_wr_opcode opcodes[] = { IBV_WR_RDMA_WRITE,
						      IBV_WR_RDMA_READ,
						      IBV_WR_SEND };
	struct drv_pair p = type == MYNIC_QP_RC ? drv_rc_pair(NULL) :
						  drv_uc_pair(NULL);
	struct paged *a = make_paged(&p.a, 3), *b = make_paged(&p.b, 4);
	struct mynic_cqe cqe;

	scribble(a);
	scribble(b);
	p.sim->drop = drop;
	for (unsigned int round = 0; round < 150; round++) {
		uint32_t len = 1 + sim_random(p.sim, LEN);
		struct drv_wr wr = {
			.wr_id = round,
			.opcode = opcodes[round % 3],
			.flags = IBV_SEND_SIGNALED,
			.num_sge = 1,
			.sge = { sge(a, 0, len) },
			.remote_addr = ADDR,
			.rkey = b->key,
		};
		struct mynic_sge buf = sge(b, 0, len);

		fill(wr.opcode == IBV_WR_RDMA_READ ? b : a, round);
		if (wr.opcode == IBV_WR_SEND)
			drv_post_recv(p.b.qp, round, &buf, 1);
		drv_post_send(p.a.qp, &wr);
		/* a little at a time, with moves between */
		for (unsigned int i = 0; i < 20; i++) {
			sim_run(p.sim, USEC);
			move(a, sim_random(p.sim, NUM_PAGES));
			move(b, sim_random(p.sim, NUM_PAGES));
		}
		cqe = serve(p.a.cq, a, b);
		CHECK_EQ(cqe.wr_id, round);
		CHECK_EQ(cqe.status, IBV_WC_SUCCESS);
		if (wr.opcode == IBV_WR_SEND) {
			cqe = serve(p.b.recv_cq, a, b);
			CHECK_EQ(cqe.status, IBV_WC_SUCCESS);
		}
		check_same(a, b, len);
	}
	CHECK(a->faults > 100);
	CHECK(b->faults > 100);
}

TEST(odp_pages_move_under_traffic)
{
	soak(MYNIC_QP_RC, 0);
}

TEST(odp_pages_move_while_packets_are_lost)
{
	soak(MYNIC_QP_RC, 20);
}

/* Without room in the EQ, the event waits with the others */
TEST(odp_event_is_not_lost)
{
	struct scene c = begin(&stages[1], true);
	struct mynic_eqe eqe;

	sim_run(c.p.sim, MSEC);
	eqe = wait_fault(c.b->d);
	CHECK_EQ(eqe.number, c.p.b.qp->number);
	/* there is another event if the page is missing again */
	CHECK_EQ(answer(c.b->d, &eqe, false), MYNIC_AQ_OK);
	eqe = wait_fault(c.b->d);
	give(c.b, 1, true);
	CHECK_EQ(answer(c.b->d, &eqe, false), MYNIC_AQ_OK);
	drv_expect(c.p.b.recv_cq, 7, IBV_WC_SUCCESS);
}
