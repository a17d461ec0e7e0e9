// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory windows: access by peers after BIND_MW, and the end of that access */
#include "harness_driver.h"

#define ADDR 0x123456780000ull
#define LEN 65536u
#define REGION_ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND)
#define REMOTE_ALL                                          \
	(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
	 IBV_ACCESS_REMOTE_ATOMIC)

static uint64_t next_id = 100;

/* A connection whose b has a region for windows in addition to its memory */
struct world {
	struct drv_pair p;
	uint8_t *mem;
	uint32_t lkey;
};

static uint32_t make_region(struct world *w, uint32_t pdn, uint32_t access)
{
	struct mynic_create_mkey body = {
		.buf.addr = sim_iova(w->p.b.d->n, w->mem),
		.iova = ADDR,
		.length = LEN,
		.pdn = pdn,
		.access = access,
	};
	uint32_t key;

	CHECK_EQ(drv_create_mkey(w->p.b.d, &body, 0, &key), MYNIC_AQ_OK);
	return key;
}

static struct world make_world_of(struct drv_pair p)
{
	struct world w = { .p = p };

	w.mem = sim_alloc(w.p.b.d->n, LEN, 4096);
	w.lkey = make_region(&w, w.p.b.pdn, REGION_ACCESS);
	drv_fill(w.p.a.mr->ptr, LEN, 5);
	return w;
}

static struct world make_world(void)
{
	return make_world_of(drv_rc_pair(NULL));
}

static uint32_t alloc_mw(struct world *w, uint32_t pdn, uint8_t flag)
{
	struct mynic_create_mkey body = { .pdn = pdn };
	uint32_t key;

	CHECK_EQ(drv_create_mkey(w->p.b.d, &body, flag, &key), MYNIC_AQ_OK);
	CHECK(key);
	return key;
}

static uint8_t destroy(struct world *w, uint32_t key)
{
	return drv_number_cmd(w->p.b.d, MYNIC_CMD_DESTROY_MKEY, key >> 8);
}

static uint32_t inc_rkey(uint32_t key)
{
	return (key & ~0xffu) | ((key + 1) & 0xff);
}

static struct drv_wr bind_wr(struct world *w, uint32_t rkey, uint32_t new_rkey,
			     uint64_t offset, uint64_t length, uint32_t access)
{
	return (struct drv_wr){
		.wr_id = next_id++,
		.opcode = IBV_WR_BIND_MW,
		.flags = IBV_SEND_SIGNALED,
		.rkey = rkey,
		.bind = {
			.addr = ADDR + offset,
			.length = length,
			.lkey = w->lkey,
			.new_rkey = new_rkey,
			.access = access,
		},
	};
}

static struct mynic_cqe post_to(struct drv_qp *qp, struct drv_cq *cq,
				const struct drv_wr *wr,
				enum ibv_wc_status status)
{
	drv_post_send(qp, wr);
	return drv_expect(cq, wr->wr_id, status);
}

/* Post a request on b, which has the windows */
static struct mynic_cqe post(struct world *w, const struct drv_wr *wr,
			     enum ibv_wc_status status)
{
	return post_to(w->p.b.qp, w->p.b.cq, wr, status);
}

/* Bind a window with the next key byte. Return: the key */
static uint32_t bind(struct world *w, uint32_t rkey, uint64_t offset,
		     uint64_t length, uint32_t access)
{
	uint32_t key = inc_rkey(rkey);
	struct drv_wr wr = bind_wr(w, rkey, key, offset, length, access);
	struct mynic_cqe cqe = post(w, &wr, IBV_WC_SUCCESS);

	CHECK_EQ(cqe.opcode, IBV_WC_BIND_MW);
	CHECK_EQ(cqe.qp_num, w->p.b.qp->number);
	return key;
}

static void check_access_of(struct drv_end *a, enum ibv_wr_opcode opcode,
			    uint32_t rkey, uint64_t addr, uint32_t len,
			    enum ibv_wc_status status)
{
	struct drv_wr wr = {
		.wr_id = next_id++,
		.opcode = opcode,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { drv_sge(a->mr, 0, len) },
		.remote_addr = addr,
		.rkey = rkey,
		.compare_add = 1,
	};

	post_to(a->qp, a->cq, &wr, status);
}

/* Check an access of a with @rkey. After a failed one, connect again */
static void check_access(struct world *w, enum ibv_wr_opcode opcode,
			 uint32_t rkey, uint64_t addr, uint32_t len,
			 enum ibv_wc_status status)
{
	check_access_of(&w->p.a, opcode, rkey, addr, len, status);
	if (!status)
		return;
	drv_expect_event(&w->p.b.d->event, MYNIC_EVENT_QP_ACCESS_ERROR,
			 w->p.b.qp->number);
	drv_reconnect(&w->p);
}

#define OK IBV_WC_SUCCESS
#define DENIED IBV_WC_REM_ACCESS_ERR

TEST(mw_create_bad)
{
	struct drv *d = drv_one();
	static const uint8_t flags[] = { MYNIC_MKEY_MW1, MYNIC_MKEY_MW2 };
	struct mynic_create_mkey good = { .pdn = drv_alloc_pd(d) };
	struct mynic_create_mkey bad;
	uint32_t key;

	for (unsigned int i = 0; i < ARRAY_SIZE(flags); i++) {
#define TRY(field, value, status)                                  \
	do {                                                       \
		bad = good;                                        \
		bad.field = value;                                 \
		CHECK_EQ(drv_create_mkey(d, &bad, flags[i], &key), \
			 MYNIC_AQ_##status);                       \
	} while (0)
		TRY(iova, 0, OK);
		TRY(iova, 1, BAD_PARAM);
		TRY(length, 1, BAD_PARAM);
		TRY(access, IBV_ACCESS_REMOTE_READ, BAD_PARAM);
		TRY(buf.addr, 4096, BAD_PARAM);
		TRY(buf.levels, 1, BAD_PARAM);
		TRY(pdn, 500, BAD_NUMBER);
#undef TRY
	}
	CHECK_EQ(drv_create_mkey(d, &good, MYNIC_MKEY_MW1 | MYNIC_MKEY_MW2,
				 &key),
		 MYNIC_AQ_BAD_PARAM);
	CHECK_EQ(drv_create_mkey(d, &good, MYNIC_MKEY_MW1 | MYNIC_MKEY_DMA,
				 &key),
		 MYNIC_AQ_BAD_PARAM);
	CHECK(d->attr.max_mw > 0);
	/* A domain with a window in it is in use */
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DEALLOC_PD, good.pdn),
		 MYNIC_AQ_BUSY);
}

/* Who has them all may have to wait for a busy device as well */
TEST(mw_limit)
{
	struct drv *d = drv_one();
	struct mynic_create_mkey cmd = { .pdn = drv_alloc_pd(d) };
	uint32_t key, first = 0;

	for (uint32_t i = 0; i < d->attr.max_mw; i++) {
		CHECK_EQ(drv_create_mkey(
				 d, &cmd,
				 i & 1 ? MYNIC_MKEY_MW1 : MYNIC_MKEY_MW2, &key),
			 MYNIC_AQ_OK);
		first = first ? first : key;
	}
	CHECK_EQ(drv_create_mkey(d, &cmd, MYNIC_MKEY_MW1, &key),
		 MYNIC_AQ_NO_RESOURCE);
	CHECK_EQ(drv_create_mkey(d, &cmd, MYNIC_MKEY_MW2, &key),
		 MYNIC_AQ_NO_RESOURCE);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_MKEY, first >> 8),
		 MYNIC_AQ_OK);
	CHECK_EQ(drv_create_mkey(d, &cmd, MYNIC_MKEY_MW2, &key), MYNIC_AQ_OK);
}

static void check_window(struct world *w, uint32_t key, uint64_t offset,
			 uint32_t len)
{
	uint64_t start = ADDR + offset;
	uint64_t *counter = (uint64_t *)(w->mem + offset);

	memset(w->mem, 0, LEN);
	check_access(w, IBV_WR_RDMA_WRITE, key, start, len, OK);
	CHECK_MEM(w->mem + offset, w->p.a.mr->ptr, len);
	for (uint64_t i = 0; i < LEN; i++)
		if ((i < offset || i >= offset + len) && w->mem[i])
			FAIL("byte %u was written", (unsigned int)i);
	drv_fill(w->mem, LEN, 6);
	check_access(w, IBV_WR_RDMA_READ, key, start, len, OK);
	CHECK_MEM(w->p.a.mr->ptr, w->mem + offset, len);
	*counter = 41;
	check_access(w, IBV_WR_ATOMIC_FETCH_AND_ADD, key, start, 8, OK);
	CHECK_EQ(*counter, 42);
	check_access(w, IBV_WR_RDMA_WRITE, key, start - 1, 2, DENIED);
	check_access(w, IBV_WR_RDMA_WRITE, key, start - 1, 1, DENIED);
	check_access(w, IBV_WR_RDMA_READ, key, start + 1, len, DENIED);
	check_access(w, IBV_WR_RDMA_READ, key, start + len, 1, DENIED);
	check_access(w, IBV_WR_ATOMIC_FETCH_AND_ADD, key, start - 8, 8, DENIED);
	check_access(w, IBV_WR_RDMA_READ, key, ~0ull - 1, 8, DENIED);
	/* nothing of it lies outside */
	check_access(w, IBV_WR_RDMA_WRITE, key, 0, 0, OK);
	drv_fill(w->p.a.mr->ptr, LEN, 5);
}

static void check_both_types(void (*check)(struct world *w, uint8_t flag))
{
	for (uint8_t flag = MYNIC_MKEY_MW1; flag <= MYNIC_MKEY_MW2; flag *= 2) {
		struct world w = make_world();

		check(&w, flag);
		sim_free(w.p.sim);
	}
}

static void bind_and_use(struct world *w, uint8_t flag)
{
	uint32_t fresh = alloc_mw(w, w->p.b.pdn, flag);
	uint32_t key;

	check_access(w, IBV_WR_RDMA_READ, fresh, ADDR, 1, DENIED);
	check_access(w, IBV_WR_RDMA_READ, fresh, 0, 1, DENIED);
	key = bind(w, fresh, 4096, 9000, REMOTE_ALL);
	check_window(w, key, 4096, 9000);
	/* neither its former key nor the region's */
	check_access(w, IBV_WR_RDMA_READ, fresh, ADDR + 4096, 1, DENIED);
	check_access(w, IBV_WR_RDMA_READ, w->lkey, ADDR + 4096, 1, DENIED);
}

TEST(mw_bind)
{
	check_both_types(bind_and_use);
}

static void bind_whole(struct world *w, uint8_t flag)
{
	uint32_t key =
		bind(w, alloc_mw(w, w->p.b.pdn, flag), 0, LEN, REMOTE_ALL);

	check_access(w, IBV_WR_RDMA_WRITE, key, ADDR, LEN, OK);
	check_access(w, IBV_WR_RDMA_WRITE, key, ADDR, LEN + 1, DENIED);
	check_access(w, IBV_WR_RDMA_WRITE, key, ADDR - 1, 1, DENIED);
}

TEST(mw_bind_whole_region)
{
	check_both_types(bind_whole);
}

static void bind_zero_based(struct world *w, uint8_t flag)
{
	uint32_t key = bind(w, alloc_mw(w, w->p.b.pdn, flag), 5000, 300,
			    REMOTE_ALL | IBV_ACCESS_ZERO_BASED);

	check_access(w, IBV_WR_RDMA_WRITE, key, 0, 300, OK);
	CHECK_MEM(w->mem + 5000, w->p.a.mr->ptr, 300);
	check_access(w, IBV_WR_RDMA_WRITE, key, 299, 1, OK);
	check_access(w, IBV_WR_RDMA_WRITE, key, 300, 1, DENIED);
	check_access(w, IBV_WR_RDMA_WRITE, key, ADDR + 5000, 1, DENIED);
	check_access(w, IBV_WR_RDMA_WRITE, key, ~0ull, 2, DENIED);
}

TEST(mw_zero_based)
{
	check_both_types(bind_zero_based);
}

static void check_rights(struct world *w, uint8_t flag)
{
	static const struct {
		uint32_t access;
		enum ibv_wr_opcode opcode;
	} rights[] = {
		{ IBV_ACCESS_REMOTE_WRITE, IBV_WR_RDMA_WRITE },
		{ IBV_ACCESS_REMOTE_READ, IBV_WR_RDMA_READ },
		{ IBV_ACCESS_REMOTE_ATOMIC, IBV_WR_ATOMIC_FETCH_AND_ADD },
	};

	for (uint32_t access = 0; access < 16; access++) {
		uint32_t key = bind(w, alloc_mw(w, w->p.b.pdn, flag), 0, 64,
				    access | IBV_ACCESS_RELAXED_ORDERING);

		for (unsigned int i = 0; i < ARRAY_SIZE(rights); i++)
			check_access(w, rights[i].opcode, key, ADDR, 8,
				     access & rights[i].access ? OK : DENIED);
	}
}

TEST(mw_rights)
{
	check_both_types(check_rights);
}

/* A window is read-only if its region lacks LOCAL_WRITE */
static void bind_read_only(struct world *w, uint8_t flag)
{
	uint32_t key = alloc_mw(w, w->p.b.pdn, flag);

	w->lkey = make_region(w, w->p.b.pdn, IBV_ACCESS_MW_BIND);
	key = bind(w, key, 0, 64, IBV_ACCESS_REMOTE_READ);
	check_access(w, IBV_WR_RDMA_READ, key, ADDR, 64, OK);
	check_access(w, IBV_WR_RDMA_WRITE, key, ADDR, 64, DENIED);
}

TEST(mw_read_only_region)
{
	check_both_types(bind_read_only);
}

/* The host chooses the key byte, and the device the index */
static void choose_key(struct world *w, uint8_t flag)
{
	uint32_t key = alloc_mw(w, w->p.b.pdn, flag);

	for (unsigned int byte = 0; byte < 256; byte += 51) {
		/*
		 * the device ignores the other bits, which may be those of a
		 * stale key
		 */
		struct drv_wr wr = bind_wr(w, key ^ 0x5a, 0xabcdef00 | byte, 0,
					   64, REMOTE_ALL);

		if (flag == MYNIC_MKEY_MW2) {
			struct drv_wr inv = drv_inv_wr(next_id++, key);

			post(w, &inv, IBV_WC_SUCCESS);
		}
		post(w, &wr, IBV_WC_SUCCESS);
		check_access(w, IBV_WR_RDMA_READ, 0xabcdef00 | byte, ADDR, 1,
			     DENIED);
		key = (key & ~0xffu) | byte;
		check_access(w, IBV_WR_RDMA_READ, key, ADDR, 1, OK);
		check_access(w, IBV_WR_RDMA_READ, key ^ 1, ADDR, 1, DENIED);
	}
}

TEST(mw_key_byte)
{
	check_both_types(choose_key);
}

TEST(mw_type1_binds_again)
{
	struct world w = make_world();
	uint32_t first = bind(&w, alloc_mw(&w, w.p.b.pdn, MYNIC_MKEY_MW1), 0,
			      64, REMOTE_ALL);
	uint32_t old_region = w.lkey;
	uint32_t second;

	w.lkey = make_region(&w, w.p.b.pdn, REGION_ACCESS);
	second = bind(&w, first, 128, 64, IBV_ACCESS_REMOTE_READ);
	check_access(&w, IBV_WR_RDMA_READ, first, ADDR, 1, DENIED);
	check_access(&w, IBV_WR_RDMA_READ, second, ADDR, 1, DENIED);
	check_access(&w, IBV_WR_RDMA_READ, second, ADDR + 128, 64, OK);
	check_access(&w, IBV_WR_RDMA_WRITE, second, ADDR + 128, 64, DENIED);
	CHECK_EQ(destroy(&w, old_region), MYNIC_AQ_OK);
	CHECK_EQ(destroy(&w, w.lkey), MYNIC_AQ_BUSY);
}

TEST(mw_type1_length_0_unbinds)
{
	struct world w = make_world();
	uint32_t key = bind(&w, alloc_mw(&w, w.p.b.pdn, MYNIC_MKEY_MW1), 0, 64,
			    REMOTE_ALL);
	struct drv_wr wr = bind_wr(&w, key, key + 1, 0, 0, ~0u);

	/* the other operands are ignored */
	wr.bind.lkey = 0;
	wr.bind.addr = ~0ull;
	post(&w, &wr, IBV_WC_SUCCESS);
	check_access(&w, IBV_WR_RDMA_READ, key, ADDR, 1, DENIED);
	check_access(&w, IBV_WR_RDMA_READ, inc_rkey(key), ADDR, 1, DENIED);
	CHECK_EQ(destroy(&w, w.lkey), MYNIC_AQ_OK);
	/* a second time, which changes nothing */
	wr.wr_id = next_id++;
	post(&w, &wr, IBV_WC_SUCCESS);
}

/*
 * A window of type 1 belongs to the domain, each of whose QPs can use and bind
 * it
 */
TEST(mw_type1_is_of_the_domain)
{
	struct world w = make_world();
	struct drv_qp_init init = { .type = MYNIC_QP_RC,
				    .pdn = w.p.b.pdn,
				    .send_cq = w.p.b.cq,
				    .recv_cq = w.p.b.recv_cq };
	struct drv_qp *b2 = drv_create_qp(w.p.b.d, &init);
	uint32_t key = alloc_mw(&w, w.p.b.pdn, MYNIC_MKEY_MW1);
	struct drv_end a2 = w.p.a;
	struct drv_wr wr;

	init.pdn = a2.pdn;
	init.send_cq = a2.cq;
	init.recv_cq = a2.recv_cq;
	a2.qp = drv_create_qp(a2.d, &init);
	drv_connect(a2.qp, b2, &(struct drv_path){ 0 });
	key = bind(&w, key, 0, 64, REMOTE_ALL);
	check_access_of(&a2, IBV_WR_RDMA_READ, key, ADDR, 64, OK);
	wr = bind_wr(&w, key, inc_rkey(key), 64, 64, REMOTE_ALL);
	post_to(b2, w.p.b.cq, &wr, IBV_WC_SUCCESS);
	key = inc_rkey(key);
	check_access(&w, IBV_WR_RDMA_READ, key, ADDR + 64, 64, OK);
	CHECK_EQ(drv_number_cmd(w.p.b.d, MYNIC_CMD_DESTROY_QP, b2->number), 0);
	check_access(&w, IBV_WR_RDMA_READ, key, ADDR + 64, 64, OK);
}

TEST(mw_type2_life)
{
	struct world w = make_world();
	uint32_t key = alloc_mw(&w, w.p.b.pdn, MYNIC_MKEY_MW2);

	for (unsigned int i = 0; i < 600; i++) {
		struct drv_wr inv;
		struct mynic_cqe cqe;

		key = bind(&w, key, i, 64, REMOTE_ALL);
		check_access(&w, IBV_WR_RDMA_READ, key, ADDR + i, 64, OK);
		CHECK_EQ(destroy(&w, w.lkey), MYNIC_AQ_BUSY);
		inv = drv_inv_wr(next_id++, key);
		cqe = post(&w, &inv, IBV_WC_SUCCESS);
		CHECK_EQ(cqe.opcode, IBV_WC_LOCAL_INV);
		CHECK_EQ(cqe.wc_flags, 0);
	}
	check_access(&w, IBV_WR_RDMA_READ, key, ADDR, 1, DENIED);
	CHECK_EQ(destroy(&w, w.lkey), MYNIC_AQ_OK);
}

TEST(mw_type2_is_of_the_qp)
{
	struct world w = make_world();
	struct drv_qp_init init = { .type = MYNIC_QP_RC,
				    .pdn = w.p.b.pdn,
				    .send_cq = w.p.b.cq,
				    .recv_cq = w.p.b.recv_cq };
	struct drv_qp *b2 = drv_create_qp(w.p.b.d, &init);
	struct drv_end a2 = w.p.a;
	struct drv_wr wr;
	uint32_t key;

	init.pdn = a2.pdn;
	init.send_cq = a2.cq;
	init.recv_cq = a2.recv_cq;
	a2.qp = drv_create_qp(a2.d, &init);
	drv_connect(a2.qp, b2, &(struct drv_path){ 0 });
	key = bind(&w, alloc_mw(&w, w.p.b.pdn, MYNIC_MKEY_MW2), 0, 64,
		   REMOTE_ALL);
	check_access_of(&a2, IBV_WR_RDMA_READ, key, ADDR, 64, DENIED);
	drv_reset_qp(a2.qp);
	drv_reset_qp(b2);
	drv_connect(a2.qp, b2, &(struct drv_path){ 0 });
	wr = drv_inv_wr(next_id++, key);
	CHECK_EQ(post_to(b2, w.p.b.cq, &wr, IBV_WC_MW_BIND_ERR).vendor_err,
		 MYNIC_SYN_BAD_MKEY);
	check_access(&w, IBV_WR_RDMA_READ, key, ADDR, 64, OK);
	/* the state of its own QP does not matter */
	drv_reconnect(&w.p);
	check_access(&w, IBV_WR_RDMA_READ, key, ADDR, 64, OK);
}

TEST(mw_type2_qp_destroyed)
{
	struct world w = make_world();
	struct drv_qp_init init = { .type = MYNIC_QP_RC,
				    .pdn = w.p.b.pdn,
				    .send_cq = w.p.b.cq,
				    .recv_cq = w.p.b.recv_cq };
	uint32_t key[3];

	for (unsigned int i = 0; i < ARRAY_SIZE(key); i++)
		key[i] = bind(&w, alloc_mw(&w, w.p.b.pdn, MYNIC_MKEY_MW2), i,
			      64, REMOTE_ALL);
	CHECK_EQ(destroy(&w, key[1]), MYNIC_AQ_OK);
	CHECK_EQ(destroy(&w, w.lkey), MYNIC_AQ_BUSY);
	CHECK_EQ(drv_number_cmd(w.p.b.d, MYNIC_CMD_DESTROY_QP,
				w.p.b.qp->number),
		 MYNIC_AQ_OK);
	CHECK_EQ(destroy(&w, w.lkey), MYNIC_AQ_OK);
	/* they can be bound through another one */
	w.p.b.qp = drv_create_qp(w.p.b.d, &init);
	drv_reconnect(&w.p);
	w.lkey = make_region(&w, w.p.b.pdn, REGION_ACCESS);
	check_access(&w, IBV_WR_RDMA_READ, key[0], ADDR, 64, DENIED);
	key[0] = bind(&w, key[0], 0, 64, REMOTE_ALL);
	check_access(&w, IBV_WR_RDMA_READ, key[0], ADDR, 64, OK);
}

static void destroy_bound(struct world *w, uint8_t flag)
{
	uint32_t key =
		bind(w, alloc_mw(w, w->p.b.pdn, flag), 0, 64, REMOTE_ALL);

	CHECK_EQ(destroy(w, w->lkey), MYNIC_AQ_BUSY);
	check_access(w, IBV_WR_RDMA_READ, key, ADDR, 64, OK);
	CHECK_EQ(destroy(w, key), MYNIC_AQ_OK);
	check_access(w, IBV_WR_RDMA_READ, key, ADDR, 64, DENIED);
	CHECK_EQ(destroy(w, key), MYNIC_AQ_BAD_NUMBER);
	CHECK_EQ(destroy(w, w->lkey), MYNIC_AQ_OK);
}

TEST(mw_destroyed_while_bound)
{
	check_both_types(destroy_bound);
}

static void reset_bound(struct world *w, uint8_t flag)
{
	bind(w, alloc_mw(w, w->p.b.pdn, flag), 0, 64, REMOTE_ALL);
	drv_reset(w->p.b.d->n);
}

TEST(mw_device_reset_while_bound)
{
	check_both_types(reset_bound);
}

/*
 * Check that BIND_MW fails, the window stays unchanged, and the QP goes to ERR
 */
static void check_bind_fails(struct world *w, struct drv_wr *wr,
			     enum mynic_syndrome syndrome)
{
	uint64_t bad = drv_stat(w->p.b.d, MYNIC_STAT_BAD_WQE);
	struct drv_wr next = drv_inv_wr(next_id++, 0);

	wr->wr_id = next_id++;
	drv_write_wqe(w->p.b.qp, wr);
	drv_write_wqe(w->p.b.qp, &next);
	drv_ring(w->p.b.qp);
	CHECK_EQ(
		drv_expect(w->p.b.cq, wr->wr_id, IBV_WC_MW_BIND_ERR).vendor_err,
		syndrome);
	drv_expect(w->p.b.cq, next.wr_id, IBV_WC_WR_FLUSH_ERR);
	CHECK_EQ(drv_query_qp(w->p.b.qp).qp_state, IBV_QPS_ERR);
	CHECK_EQ(drv_stat(w->p.b.d, MYNIC_STAT_BAD_WQE), bad);
	drv_reconnect(&w->p);
}

static void bind_badly(struct world *w, uint8_t flag)
{
	uint32_t other_pdn = drv_alloc_pd(w->p.b.d);
	uint32_t other_region = make_region(w, other_pdn, REGION_ACCESS);
	uint32_t other_mw = alloc_mw(w, other_pdn, flag);
	uint32_t unbindable = make_region(w, w->p.b.pdn, ACCESS_ALL);
	uint32_t read_only = make_region(w, w->p.b.pdn, IBV_ACCESS_MW_BIND);
	uint32_t key = alloc_mw(w, w->p.b.pdn, flag);
	uint32_t other =
		bind(w, alloc_mw(w, w->p.b.pdn, flag), 0, 64, REMOTE_ALL);
	struct drv_wr good = bind_wr(w, key, key + 1, 100, 64, REMOTE_ALL);
	struct drv_wr bad;

#define TRY(field, value, syndrome)                              \
	do {                                                     \
		bad = good;                                      \
		bad.field = value;                               \
		check_bind_fails(w, &bad, MYNIC_SYN_##syndrome); \
	} while (0)
	TRY(rkey, 0, BAD_MKEY);
	TRY(rkey, 0xffffffff, BAD_MKEY);
	TRY(rkey, other_mw, BAD_MKEY);
	TRY(rkey, w->lkey, BAD_MKEY);
	TRY(rkey, w->p.b.d->attr.dma_lkey, BAD_MKEY);
	TRY(bind.lkey, 0, BAD_MKEY);
	TRY(bind.lkey, 0xffffffff, BAD_MKEY);
	TRY(bind.lkey, w->lkey ^ 1, BAD_MKEY);
	TRY(bind.lkey, other_region, BAD_MKEY);
	TRY(bind.lkey, other, BAD_MKEY);
	TRY(bind.lkey, w->p.b.d->attr.dma_lkey, BAD_MKEY);
	TRY(bind.lkey, unbindable, MKEY_ACCESS);
	TRY(bind.lkey, read_only, MKEY_ACCESS);
	TRY(bind.access, REMOTE_ALL | IBV_ACCESS_MW_BIND, MKEY_ACCESS);
	TRY(bind.access, REMOTE_ALL | 1 << 19, MKEY_ACCESS);
	TRY(bind.access, ~0u, MKEY_ACCESS);
	TRY(bind.addr, ADDR - 1, MKEY_BOUNDS);
	TRY(bind.addr, 0, MKEY_BOUNDS);
	TRY(bind.addr, ~0ull, MKEY_BOUNDS);
	TRY(bind.addr, ADDR + LEN - 63, MKEY_BOUNDS);
	TRY(bind.addr, ADDR + LEN + 1, MKEY_BOUNDS);
	TRY(bind.length, LEN, MKEY_BOUNDS);
	TRY(bind.length, ~0ull, MKEY_BOUNDS);
	TRY(bind.length, ~0ull - ADDR - 100, MKEY_BOUNDS);
	if (flag == MYNIC_MKEY_MW2) {
		TRY(bind.length, 0, MKEY_BOUNDS);
		TRY(rkey, other, BAD_MKEY);
	} else {
		bad = good;
		bad.rkey = other;
		bad.bind.length = LEN;
		check_bind_fails(w, &bad, MYNIC_SYN_MKEY_BOUNDS);
		bad = drv_inv_wr(next_id++, other);
		check_bind_fails(w, &bad, MYNIC_SYN_BAD_MKEY);
	}
#undef TRY
	check_access(w, IBV_WR_RDMA_READ, other, ADDR, 64, OK);
	check_access(w, IBV_WR_RDMA_READ, key, ADDR + 100, 64, DENIED);
	check_access(w, IBV_WR_RDMA_READ, key + 1, ADDR + 100, 64, DENIED);
	/* and only the other one is bound */
	CHECK_EQ(destroy(w, w->lkey), MYNIC_AQ_BUSY);
	CHECK_EQ(destroy(w, other), MYNIC_AQ_OK);
	CHECK_EQ(destroy(w, w->lkey), MYNIC_AQ_OK);
}

TEST(mw_bind_errors)
{
	check_both_types(bind_badly);
}

/* A window has no local key, not even for its owner */
static void use_locally(struct world *w, uint8_t flag)
{
	uint32_t key = bind(w, alloc_mw(w, w->p.b.pdn, flag), 0, 64,
			    REMOTE_ALL | IBV_ACCESS_LOCAL_WRITE);
	struct drv_wr wr = {
		.wr_id = next_id++,
		.opcode = IBV_WR_RDMA_WRITE,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { { .addr = ADDR, .length = 8, .lkey = key } },
		.remote_addr = w->p.a.mr->addr,
		.rkey = w->p.a.mr->key,
	};

	CHECK_EQ(post(w, &wr, IBV_WC_LOC_PROT_ERR).vendor_err,
		 MYNIC_SYN_BAD_LKEY);
}

TEST(mw_is_no_lkey)
{
	check_both_types(use_locally);
}

static void check_malformed(struct drv_qp_init init, struct drv_wr wr,
			    enum mynic_syndrome syndrome)
{
	struct drv_pair p = drv_pair_unconnected(&init);

	drv_connect(p.a.qp, p.b.qp, &(struct drv_path){ 0 });
	CHECK_EQ(post_to(p.a.qp, p.a.cq, &wr, IBV_WC_LOC_QP_OP_ERR).vendor_err,
		 syndrome);
	CHECK_EQ(drv_stat(p.a.d, MYNIC_STAT_BAD_WQE), 1);
	sim_free(p.sim);
}

TEST(mw_malformed_entries)
{
	static const enum ibv_wr_opcode opcodes[] = { IBV_WR_BIND_MW,
						      IBV_WR_LOCAL_INV };
	static const struct drv_qp_init rc = { .type = MYNIC_QP_RC };
	struct drv_wr wr = { .flags = IBV_SEND_SIGNALED, .inline_data = "" };

	for (unsigned int i = 0; i < ARRAY_SIZE(opcodes); i++) {
		wr.opcode = opcodes[i];
		wr.num_sge = 1;
		check_malformed(rc, wr, MYNIC_SYN_BAD_LEN);
		wr.num_sge = 0;
		wr.flags |= IBV_SEND_INLINE;
		check_malformed(rc, wr, MYNIC_SYN_BAD_FLAGS);
		wr.flags &= ~IBV_SEND_INLINE;
	}
}

/* The smallest slot holds the operands where there is no extension */
TEST(mw_smallest_slot)
{
	struct drv_qp_init init = { .type = MYNIC_QP_RC, .log_sq_stride = 6 };
	struct drv_pair p = drv_pair_unconnected(&init);
	struct world w;
	uint32_t key;

	drv_connect(p.a.qp, p.b.qp, &(struct drv_path){ 0 });
	w = make_world_of(p);
	key = bind(&w, alloc_mw(&w, p.b.pdn, MYNIC_MKEY_MW1), 0, 64,
		   REMOTE_ALL);
	check_access(&w, IBV_WR_RDMA_READ, key, ADDR, 64, OK);
}

TEST(mw_no_room_in_slot)
{
	struct drv_qp_init init = { .type = MYNIC_QP_XRC_INI,
				    .log_sq_stride = 6 };
	struct drv_pair p = drv_pair_unconnected(&init);
	uint32_t xrcdn = drv_alloc_xrcd(p.b.d);
	struct drv_qp *target = drv_create_target(p.b.d, xrcdn);
	struct drv_wr wr = { .wr_id = 1, .opcode = IBV_WR_BIND_MW };
	struct mynic_send_wqe *wqe;

	drv_connect(p.a.qp, target, &(struct drv_path){ 0 });
	/* operands would be in the next slot */
	wr.opcode = IBV_WR_LOCAL_INV;
	wqe = drv_write_wqe(p.a.qp, &wr);
	wqe->ctrl = IBV_WR_BIND_MW;
	drv_ring(p.a.qp);
	CHECK_EQ(drv_expect(p.a.cq, 1, IBV_WC_LOC_QP_OP_ERR).vendor_err,
		 MYNIC_SYN_BAD_LEN);
}

/* UC: the send queue alone fails */
TEST(mw_uc)
{
	struct world w = make_world_of(drv_uc_pair(NULL));
	uint32_t key = bind(&w, alloc_mw(&w, w.p.b.pdn, MYNIC_MKEY_MW2), 0,
			    4096, REMOTE_ALL);
	struct drv_wr wr;

	check_access_of(&w.p.a, IBV_WR_RDMA_WRITE, key, ADDR, 4096, OK);
	sim_settle(w.p.sim);
	CHECK_MEM(w.mem, w.p.a.mr->ptr, 4096);
	memset(w.mem, 0, LEN);
	check_access_of(&w.p.a, IBV_WR_RDMA_WRITE, key, ADDR + 4096, 1, OK);
	sim_settle(w.p.sim);
	CHECK_EQ(w.mem[4096], 0);
	CHECK_EQ(drv_stat(w.p.b.d, MYNIC_STAT_RX_DROP_KEY), 1);
	wr = drv_inv_wr(next_id++, key);
	post(&w, &wr, IBV_WC_SUCCESS);
	check_access_of(&w.p.a, IBV_WR_RDMA_WRITE, key, ADDR, 1, OK);
	sim_settle(w.p.sim);
	CHECK_EQ(w.mem[0], 0);
	wr = bind_wr(&w, key, key, 0, LEN + 1, REMOTE_ALL);
	post(&w, &wr, IBV_WC_MW_BIND_ERR);
	CHECK_EQ(drv_query_qp(w.p.b.qp).qp_state, IBV_QPS_SQE);
}

/* XRC: a window of type 1 belongs to the domain of the SRQ */
TEST(mw_xrc)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_XRC_INI };
	struct world w = { .p = drv_pair_unconnected(&init) };
	struct drv_end *a = &w.p.a, *b = &w.p.b;
	uint32_t xrcdn[2] = { drv_alloc_xrcd(a->d), drv_alloc_xrcd(b->d) };
	struct drv_qp *target[2] = { drv_create_target(a->d, xrcdn[0]),
				     drv_create_target(b->d, xrcdn[1]) };
	struct drv_srq *srq =
		drv_create_xrc_srq(b->d, b->pdn, xrcdn[1], b->recv_cq, 5);
	struct drv_wr wr;
	uint32_t key[2];

	w = make_world_of(w.p);
	drv_connect(a->qp, target[1], &(struct drv_path){ 0 });
	drv_connect(b->qp, target[0], &(struct drv_path){ 0 });
	for (unsigned int i = 0; i < 2; i++) {
		uint8_t flag = i ? MYNIC_MKEY_MW2 : MYNIC_MKEY_MW1;

		key[i] = alloc_mw(&w, b->pdn, flag);
		wr = bind_wr(&w, key[i], key[i], 0, 4096, REMOTE_ALL);
		post(&w, &wr, IBV_WC_SUCCESS);
		wr = (struct drv_wr){
			.wr_id = next_id++,
			.opcode = IBV_WR_RDMA_WRITE,
			.flags = IBV_SEND_SIGNALED,
			.num_sge = 1,
			.sge = { drv_sge(a->mr, 0, 4096) },
			.remote_addr = ADDR,
			.rkey = key[i],
			.remote_srqn = srq->number,
		};
		/* a window of type 2 belongs to a QP that receives nothing */
		post_to(a->qp, a->cq, &wr, i ? DENIED : OK);
	}
	CHECK_MEM(w.mem, a->mr->ptr, 4096);
	wr = drv_inv_wr(next_id++, key[1]);
	post(&w, &wr, IBV_WC_SUCCESS);
}

/* Windows come and go while a peer writes through them */
TEST(mw_invalidation_under_traffic)
{
	unsigned int num_failed = 0;

	for (unsigned int seed = 0; seed < 40; seed++) {
		struct world w = make_world();
		uint32_t key = bind(&w, alloc_mw(&w, w.p.b.pdn, MYNIC_MKEY_MW2),
				    0, LEN, REMOTE_ALL);
		struct drv_wr inv = drv_inv_wr(next_id++, key);
		struct mynic_cqe cqe;
		bool failed = false;

		w.p.sim->random = seed + 1;
		for (uint64_t i = 0; i < 30; i++) {
			struct drv_wr wr = {
				.wr_id = i,
				.opcode = i & 1 ? IBV_WR_RDMA_READ :
						  IBV_WR_RDMA_WRITE,
				.flags = IBV_SEND_SIGNALED,
				.num_sge = 1,
				.sge = { drv_sge(w.p.a.mr, 0, LEN) },
				.remote_addr = ADDR,
				.rkey = key,
			};

			drv_write_wqe(w.p.a.qp, &wr);
		}
		drv_ring(w.p.a.qp);
		for (uint64_t i = sim_random(w.p.sim, 200); i; i--)
			nic_run(w.p.sim->nics[i & 1].nic);
		drv_post_send(w.p.b.qp, &inv);
		for (uint64_t i = 0; i < 30; i++) {
			SIM_WAIT(w.p.sim, drv_poll(w.p.a.cq, &cqe));
			CHECK_EQ(cqe.wr_id, i);
			if (failed)
				CHECK_EQ(cqe.status, IBV_WC_WR_FLUSH_ERR);
			else if (cqe.status)
				CHECK_EQ(cqe.status, DENIED);
			failed |= cqe.status;
		}
		sim_settle(w.p.sim);
		CHECK(drv_poll(w.p.b.cq, &cqe));
		CHECK_EQ(cqe.status, IBV_WC_SUCCESS);
		CHECK_EQ(destroy(&w, w.lkey), MYNIC_AQ_OK);
		sim_free(w.p.sim);
		num_failed += failed;
	}
	CHECK(num_failed > 10);
}
