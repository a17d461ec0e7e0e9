// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Regions that get their memory from the kernel by REG_MR */
#include "harness_driver.h"

#define ADDR 0x7654321000ull
#define PAGE 4096u
#define NUM_PAGES 16
#define FAST_REG_MAX 512

#define OK IBV_WC_SUCCESS
#define DENIED IBV_WC_REM_ACCESS_ERR

static uint64_t next_id = 100;

/* A connection of the kernel, whose b has a region without memory */
struct world {
	struct drv_pair p;
	uint8_t *page[NUM_PAGES];
	struct mynic_buf list;
	uint32_t key;
};

static uint8_t create(struct drv *d, uint32_t pdn, uint64_t pages,
		      uint32_t *key)
{
	struct mynic_create_mkey body = { .pdn = pdn, .length = pages };

	return drv_create_mkey(d, &body, MYNIC_MKEY_FAST_REG, key);
}

static struct mynic_buf new_pages(struct world *w)
{
	uint64_t iova[NUM_PAGES];

	/* not in the order of their addresses */
	for (unsigned int i = 0; i < NUM_PAGES; i++)
		w->page[i ^ 5] = sim_alloc(w->p.b.d->n, PAGE, PAGE);
	for (unsigned int i = 0; i < NUM_PAGES; i++)
		iova[i] = sim_iova(w->p.b.d->n, w->page[i]);
	return drv_page_list(w->p.b.d, iova, NUM_PAGES, 12, 1);
}

static struct world make_world(uint8_t flags)
{
	struct drv_qp_init init = { .type = MYNIC_QP_RC, .flags = flags };
	struct world w = { .p = drv_pair_unconnected(&init) };

	drv_connect(w.p.a.qp, w.p.b.qp, &(struct drv_path){ 0 });
	w.list = new_pages(&w);
	CHECK_EQ(create(w.p.b.d, w.p.b.pdn, NUM_PAGES, &w.key), MYNIC_AQ_OK);
	drv_fill(w.p.a.mr->ptr, NUM_PAGES * PAGE, 5);
	return w;
}

static struct drv_wr reg_wr(struct world *w, uint32_t key, uint32_t access)
{
	return (struct drv_wr){
		.wr_id = next_id++,
		.opcode = MYNIC_WR_REG_MR,
		.flags = IBV_SEND_SIGNALED,
		.remote_addr = ADDR,
		.rkey = key,
		.reg_mr = {
			.buf = w->list,
			.length = NUM_PAGES * PAGE,
			.access = access,
		},
	};
}

static struct mynic_cqe post(struct drv_end *e, const struct drv_wr *wr,
			     enum ibv_wc_status status)
{
	drv_post_send(e->qp, wr);
	return drv_expect(e->cq, wr->wr_id, status);
}

static void access_remote(struct world *w, enum ibv_wr_opcode opcode,
			  uint32_t key, uint64_t addr, uint32_t len,
			  enum ibv_wc_status status)
{
	struct drv_wr wr = {
		.wr_id = next_id++,
		.opcode = opcode,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { drv_sge(w->p.a.mr, 0, len) },
		.remote_addr = addr,
		.rkey = key,
	};

	post(&w->p.a, &wr, status);
	if (status)
		drv_reconnect(&w->p);
}

/* b sends from the region to a, or receives into it */
static void access_local(struct world *w, enum ibv_wr_opcode opcode,
			 uint32_t key, uint64_t addr, uint32_t len,
			 enum ibv_wc_status status)
{
	struct drv_wr wr = {
		.wr_id = next_id++,
		.opcode = opcode,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { { .addr = addr, .length = len, .lkey = key } },
		.remote_addr = w->p.a.mr->addr,
		.rkey = w->p.a.mr->key,
	};

	post(&w->p.b, &wr, status);
	if (status)
		drv_reconnect(&w->p);
}

static void check_pages(struct world *w, const uint8_t *want)
{
	for (unsigned int i = 0; i < NUM_PAGES; i++)
		CHECK_MEM(w->page[i], want + i * PAGE, PAGE);
}

TEST(fast_reg_create_bad)
{
	struct drv *d = drv_one();
	struct mynic_create_mkey good = { .pdn = drv_alloc_pd(d), .length = 1 };
	struct mynic_create_mkey bad;
	uint32_t key;

	CHECK_EQ(d->attr.max_fast_reg_pages, FAST_REG_MAX);
#define TRY(field, value, status)                                             \
	do {                                                                  \
		bad = good;                                                   \
		bad.field = value;                                            \
		CHECK_EQ(drv_create_mkey(d, &bad, MYNIC_MKEY_FAST_REG, &key), \
			 MYNIC_AQ_##status);                                  \
	} while (0)
	TRY(length, FAST_REG_MAX, OK);
	TRY(length, 0, BAD_PARAM);
	TRY(length, FAST_REG_MAX + 1, BAD_PARAM);
	TRY(length, ~0ull, BAD_PARAM);
	TRY(iova, 1, BAD_PARAM);
	TRY(access, IBV_ACCESS_LOCAL_WRITE, BAD_PARAM);
	TRY(buf.addr, PAGE, BAD_PARAM);
	TRY(buf.levels, 1, BAD_PARAM);
	TRY(pdn, 500, BAD_NUMBER);
#undef TRY
}

TEST(fast_reg_registers)
{
	struct world w = make_world(MYNIC_QP_KERNEL);
	uint32_t len = NUM_PAGES * PAGE;
	uint32_t key = w.key ^ 0x33;
	struct drv_wr wr = reg_wr(&w, key, ACCESS_ALL);
	struct mynic_cqe cqe;

	access_remote(&w, IBV_WR_RDMA_READ, w.key, ADDR, 1, DENIED);
	access_local(&w, IBV_WR_RDMA_WRITE, w.key, ADDR, 1,
		     IBV_WC_LOC_PROT_ERR);
	cqe = post(&w.p.b, &wr, OK);
	CHECK_EQ(cqe.opcode, MYNIC_WC_REG_MR);
	access_remote(&w, IBV_WR_RDMA_READ, w.key, ADDR, 1, DENIED);
	access_remote(&w, IBV_WR_RDMA_WRITE, key, ADDR, len, OK);
	check_pages(&w, w.p.a.mr->ptr);
	access_remote(&w, IBV_WR_RDMA_READ, key, ADDR, len, OK);
	access_remote(&w, IBV_WR_RDMA_READ, key, ADDR - 1, 1, DENIED);
	access_remote(&w, IBV_WR_RDMA_READ, key, ADDR + len, 1, DENIED);
	access_remote(&w, IBV_WR_RDMA_READ, key, ADDR + 1, len, DENIED);
	drv_fill(w.p.a.mr->ptr, len, 9);
	access_local(&w, IBV_WR_RDMA_READ, key, ADDR, len, OK);
	check_pages(&w, w.p.a.mr->ptr);
	memset(w.p.a.mr->ptr, 0, len);
	access_local(&w, IBV_WR_RDMA_WRITE, key, ADDR, len, OK);
	check_pages(&w, w.p.a.mr->ptr);
	access_local(&w, IBV_WR_RDMA_WRITE, key, ADDR + 1, len,
		     IBV_WC_LOC_PROT_ERR);
}

/* The window on the last pages touched must not outlive a registration */
TEST(fast_reg_again_with_other_pages)
{
	struct world w = make_world(MYNIC_QP_KERNEL);
	uint32_t len = NUM_PAGES * PAGE;
	uint32_t key = w.key;

	for (unsigned int i = 0; i < 300; i++) {
		uint32_t old = key;
		struct drv_wr wr;

		w.list = new_pages(&w);
		key = (key & ~0xffu) | (i & 0xff);
		wr = reg_wr(&w, key, ACCESS_ALL);
		post(&w.p.b, &wr, OK);
		drv_fill(w.p.a.mr->ptr, len, i);
		access_remote(&w, IBV_WR_RDMA_WRITE, key, ADDR + len - PAGE,
			      PAGE, OK);
		CHECK_MEM(w.page[NUM_PAGES - 1], w.p.a.mr->ptr, PAGE);
		access_remote(&w, IBV_WR_RDMA_WRITE, key, ADDR, len, OK);
		check_pages(&w, w.p.a.mr->ptr);
		if (i % 100 == 99)
			access_remote(&w, IBV_WR_RDMA_WRITE, old, ADDR, 1,
				      DENIED);
		wr = drv_inv_wr(next_id++, key);
		CHECK_EQ(post(&w.p.b, &wr, OK).opcode, IBV_WC_LOCAL_INV);
		if (i % 100 == 98)
			access_remote(&w, IBV_WR_RDMA_WRITE, key, ADDR, 1,
				      DENIED);
	}
	/* an invalid region stays invalid */
	for (unsigned int i = 0; i < 2; i++) {
		struct drv_wr wr = drv_inv_wr(next_id++, key);

		post(&w.p.b, &wr, OK);
	}
}

/* A chain as ULPs post it, of which only the last request is signaled */
TEST(fast_reg_chain)
{
	struct world w = make_world(MYNIC_QP_KERNEL);
	uint32_t len = NUM_PAGES * PAGE;
	struct drv_wr wr[4] = {
		reg_wr(&w, w.key, ACCESS_ALL),
		{
			.wr_id = 1,
			.opcode = IBV_WR_RDMA_READ,
			.num_sge = 1,
			.sge = { { ADDR, len, w.key } },
			.remote_addr = w.p.a.mr->addr,
			.rkey = w.p.a.mr->key,
		},
		drv_inv_wr(next_id++, w.key),
		reg_wr(&w, w.key + 1, ACCESS_ALL),
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(wr); i++) {
		if (i < 3)
			wr[i].flags = 0;
		drv_write_wqe(w.p.b.qp, &wr[i]);
	}
	drv_ring(w.p.b.qp);
	drv_expect(w.p.b.cq, wr[3].wr_id, OK);
	drv_expect_none(w.p.b.cq, 0);
	check_pages(&w, w.p.a.mr->ptr);
	access_remote(&w, IBV_WR_RDMA_WRITE, w.key + 1, ADDR, len, OK);
}

/* As some kernel consumers ask for it: REMOTE_WRITE alone */
TEST(fast_reg_rights)
{
	struct world w = make_world(MYNIC_QP_KERNEL);

	for (uint32_t access = 0; access < 16; access++) {
		struct drv_wr wr = reg_wr(&w, w.key, access);
		bool can_write = access & IBV_ACCESS_REMOTE_WRITE;
		bool can_read = access & IBV_ACCESS_REMOTE_READ;

		post(&w.p.b, &wr, OK);
		access_remote(&w, IBV_WR_RDMA_WRITE, w.key, ADDR, 8,
			      can_write ? OK : DENIED);
		access_remote(&w, IBV_WR_RDMA_READ, w.key, ADDR, 8,
			      can_read ? OK : DENIED);
		access_local(&w, IBV_WR_RDMA_WRITE, w.key, ADDR, 8, OK);
		access_local(&w, IBV_WR_RDMA_READ, w.key, ADDR, 8,
			     access & IBV_ACCESS_LOCAL_WRITE ?
				     OK :
				     IBV_WC_LOC_PROT_ERR);
		wr = drv_inv_wr(next_id++, w.key);
		post(&w.p.b, &wr, OK);
	}
}

/* Processes cannot name DMA addresses */
TEST(fast_reg_is_the_kernels)
{
	struct world w = make_world(0);
	struct drv_wr wr = reg_wr(&w, w.key, ACCESS_ALL);

	CHECK_EQ(post(&w.p.b, &wr, IBV_WC_LOC_QP_OP_ERR).vendor_err,
		 MYNIC_SYN_BAD_OPCODE);
	drv_reconnect(&w.p);
	access_remote(&w, IBV_WR_RDMA_READ, w.key, ADDR, 1, DENIED);
}

TEST(fast_reg_errors)
{
	struct world w = make_world(MYNIC_QP_KERNEL);
	uint32_t pdn = drv_alloc_pd(w.p.b.d);
	struct drv_wr good = reg_wr(&w, w.key, ACCESS_ALL);
	struct drv_wr bad, inv;
	uint32_t other, valid;

	CHECK_EQ(create(w.p.b.d, pdn, NUM_PAGES, &other), MYNIC_AQ_OK);
	CHECK_EQ(create(w.p.b.d, w.p.b.pdn, NUM_PAGES, &valid), MYNIC_AQ_OK);
	bad = reg_wr(&w, valid, ACCESS_ALL);
	post(&w.p.b, &bad, OK);
#define TRY(field, value, syndrome)                                         \
	do {                                                                \
		bad = good;                                                 \
		bad.field = value;                                          \
		CHECK_EQ(post(&w.p.b, &bad, IBV_WC_MW_BIND_ERR).vendor_err, \
			 MYNIC_SYN_##syndrome);                             \
		CHECK_EQ(drv_query_qp(w.p.b.qp).qp_state, IBV_QPS_ERR);     \
		drv_reconnect(&w.p);                                        \
	} while (0)
	TRY(rkey, 0, BAD_MKEY);
	TRY(rkey, 0xffffffff, BAD_MKEY);
	TRY(rkey, other, BAD_MKEY);
	TRY(rkey, valid, BAD_MKEY);
	TRY(rkey, w.p.b.mr->key, BAD_MKEY);
	TRY(rkey, w.p.b.d->attr.dma_lkey, BAD_MKEY);
	TRY(reg_mr.access, ACCESS_ALL | IBV_ACCESS_ZERO_BASED, MKEY_ACCESS);
	TRY(reg_mr.access, 1u << 31, MKEY_ACCESS);
	TRY(reg_mr.length, 0, MKEY_BOUNDS);
	TRY(reg_mr.length, NUM_PAGES * PAGE + 1, MKEY_BOUNDS);
	TRY(reg_mr.length, ~0ull, MKEY_BOUNDS);
	TRY(reg_mr.buf.offset, 1, MKEY_BOUNDS);
	TRY(reg_mr.buf.offset, PAGE, MKEY_BOUNDS);
	TRY(reg_mr.buf.levels, 3, MKEY_BOUNDS);
	TRY(reg_mr.buf.log_page_size, 11, MKEY_BOUNDS);
	TRY(reg_mr.buf.log_page_size, 255, MKEY_BOUNDS);
	TRY(reg_mr.buf.reserved_0b, 1, MKEY_BOUNDS);
	TRY(remote_addr, ~0ull, MKEY_BOUNDS);
	TRY(remote_addr, ~0ull - NUM_PAGES * PAGE + 2, MKEY_BOUNDS);
#undef TRY
	inv = drv_inv_wr(next_id++, w.p.b.mr->key);
	CHECK_EQ(post(&w.p.b, &inv, IBV_WC_MW_BIND_ERR).vendor_err,
		 MYNIC_SYN_BAD_MKEY);
	drv_reconnect(&w.p);
	inv = drv_inv_wr(next_id++, other);
	post(&w.p.b, &inv, IBV_WC_MW_BIND_ERR);
	drv_reconnect(&w.p);
	inv = drv_inv_wr(next_id++, valid ^ 1);
	post(&w.p.b, &inv, IBV_WC_MW_BIND_ERR);
	drv_reconnect(&w.p);
	/* all that had no effect */
	access_remote(&w, IBV_WR_RDMA_WRITE, valid, ADDR, 8, OK);
	post(&w.p.b, &good, OK);
	access_remote(&w, IBV_WR_RDMA_WRITE, w.key, ADDR, 8, OK);
}

/* Missing memory is found when it is accessed */
TEST(fast_reg_of_unmapped_memory)
{
	struct world w = make_world(MYNIC_QP_KERNEL);
	struct drv_wr wr = reg_wr(&w, w.key, ACCESS_ALL);

	wr.reg_mr.buf = (struct mynic_buf){ .addr = 0x1000 };
	wr.reg_mr.length = 1ull << 40;
	post(&w.p.b, &wr, OK);
	access_remote(&w, IBV_WR_RDMA_WRITE, w.key, ADDR, 64,
		      IBV_WC_REM_OP_ERR);
	access_local(&w, IBV_WR_RDMA_WRITE, w.key, ADDR, 64,
		     IBV_WC_LOC_PROT_ERR);
	wr = drv_inv_wr(next_id++, w.key);
	post(&w.p.b, &wr, OK);
	wr = reg_wr(&w, w.key, ACCESS_ALL);
	wr.reg_mr.buf.addr = ~0ull & ~7ull;
	post(&w.p.b, &wr, OK);
	access_remote(&w, IBV_WR_RDMA_WRITE, w.key, ADDR, 64,
		      IBV_WC_REM_OP_ERR);
	CHECK_EQ(drv_number_cmd(w.p.b.d, MYNIC_CMD_DESTROY_MKEY, w.key >> 8),
		 MYNIC_AQ_OK);
}

/* A region with windows cannot change */
TEST(fast_reg_with_windows)
{
	struct world w = make_world(MYNIC_QP_KERNEL);
	struct drv_wr wr = reg_wr(&w, w.key, ACCESS_ALL | IBV_ACCESS_MW_BIND);
	struct mynic_create_mkey body = { .pdn = w.p.b.pdn };
	struct drv_wr bind = {
		.wr_id = next_id++,
		.opcode = IBV_WR_BIND_MW,
		.flags = IBV_SEND_SIGNALED,
		.bind = {
			.addr = ADDR + PAGE,
			.length = PAGE,
			.lkey = w.key,
			.access = IBV_ACCESS_REMOTE_WRITE,
		},
	};

	CHECK_EQ(drv_create_mkey(w.p.b.d, &body, MYNIC_MKEY_MW1, &bind.rkey),
		 MYNIC_AQ_OK);
	bind.bind.new_rkey = bind.rkey;
	/* to a region that is not valid */
	CHECK_EQ(post(&w.p.b, &bind, IBV_WC_MW_BIND_ERR).vendor_err,
		 MYNIC_SYN_BAD_MKEY);
	drv_reconnect(&w.p);
	post(&w.p.b, &wr, OK);
	post(&w.p.b, &bind, OK);
	access_remote(&w, IBV_WR_RDMA_WRITE, bind.rkey, ADDR + PAGE, PAGE, OK);
	CHECK_MEM(w.page[1], w.p.a.mr->ptr, PAGE);
	wr = drv_inv_wr(next_id++, w.key);
	CHECK_EQ(post(&w.p.b, &wr, IBV_WC_MW_BIND_ERR).vendor_err,
		 MYNIC_SYN_BAD_MKEY);
	drv_reconnect(&w.p);
	access_remote(&w, IBV_WR_RDMA_WRITE, bind.rkey, ADDR + PAGE, PAGE, OK);
	CHECK_EQ(drv_number_cmd(w.p.b.d, MYNIC_CMD_DESTROY_MKEY, w.key >> 8),
		 MYNIC_AQ_BUSY);
}
