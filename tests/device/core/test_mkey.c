// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory keys: access rights, ranges, and page lists */
#include "harness_driver.h"

#define ADDR 0x123456789000ull

static uint8_t try_create(struct drv *d, struct mynic_create_mkey body,
			  uint8_t flags)
{
	uint32_t key;

	return drv_create_mkey(d, &body, flags, &key);
}

TEST(mkey_create_bad)
{
	struct drv *d = drv_one();
	struct mynic_create_mkey good = {
		.buf.addr = d->n->iova,
		.iova = ADDR,
		.length = 4096,
		.pdn = drv_alloc_pd(d),
		.access = ACCESS_ALL,
	};
	struct mynic_create_mkey bad;

#define TRY(field, value, status)                                   \
	do {                                                        \
		bad = good;                                         \
		bad.field = value;                                  \
		CHECK_EQ(try_create(d, bad, 0), MYNIC_AQ_##status); \
	} while (0)
	TRY(pdn, 500, BAD_NUMBER);
	TRY(access, 1 << 30, NOT_SUPPORTED);
	TRY(access, 1 << 19, NOT_SUPPORTED);
	TRY(access, IBV_ACCESS_REMOTE_WRITE, BAD_PARAM);
	TRY(access, IBV_ACCESS_REMOTE_ATOMIC, BAD_PARAM);
	TRY(access, IBV_ACCESS_REMOTE_READ, OK);
	TRY(access, ACCESS_ALL | IBV_ACCESS_RELAXED_ORDERING, OK);
	TRY(access, 1 << 29, OK);
	TRY(access, 0, OK);
	TRY(length, 0, OK);
	TRY(length, d->attr.max_mr_size + 1, BAD_PARAM);
	TRY(length, ~0ull, BAD_PARAM);
	TRY(iova, ~0ull - 4094, BAD_PARAM);
	TRY(buf.levels, 3, BAD_PARAM);
	TRY(buf.reserved_0b, 1, BAD_PARAM);
	TRY(buf.log_page_size, 12, BAD_PARAM);
	TRY(buf.log_list_size, 12, BAD_PARAM);
	good.buf.levels = 1;
	TRY(buf.log_page_size, 0, BAD_PARAM);
	TRY(buf.log_page_size, 11, BAD_PARAM);
	TRY(buf.log_page_size, 32, BAD_PARAM);
	TRY(buf.log_page_size, 255, BAD_PARAM);
	good.buf.log_page_size = 12;
	TRY(buf.addr, d->n->iova + 4, BAD_PARAM);
	TRY(buf.offset, 4096, BAD_PARAM);
	TRY(buf.log_list_size, 12, BAD_PARAM);
	good.buf.levels = 2;
	TRY(buf.log_list_size, 11, BAD_PARAM);
	TRY(buf.log_list_size, 23, BAD_PARAM);
	TRY(buf.log_list_size, 255, BAD_PARAM);
#undef TRY
}

TEST(mkey_dma_bad)
{
	struct drv *d = drv_one();
	struct mynic_create_mkey good = {
		.pdn = drv_alloc_pd(d),
		.access = ACCESS_ALL,
	};
	struct mynic_create_mkey bad = good;

	CHECK_EQ(try_create(d, good, MYNIC_MKEY_DMA), MYNIC_AQ_OK);
	bad.length = 1;
	CHECK_EQ(try_create(d, bad, MYNIC_MKEY_DMA), MYNIC_AQ_BAD_PARAM);
	bad = good;
	bad.buf.addr = 4096;
	CHECK_EQ(try_create(d, bad, MYNIC_MKEY_DMA), MYNIC_AQ_BAD_PARAM);
	bad = good;

	bad.iova = 4096;
	CHECK_EQ(try_create(d, bad, MYNIC_MKEY_DMA), MYNIC_AQ_BAD_PARAM);
	bad = good;
	bad.buf.levels = 1;
	bad.buf.log_page_size = 12;
	CHECK_EQ(try_create(d, bad, MYNIC_MKEY_DMA), MYNIC_AQ_BAD_PARAM);
}

TEST(mkey_key_byte_changes)
{
	struct drv *d = drv_one();
	uint32_t pdn = drv_alloc_pd(d);
	uint32_t last[16];

	for (unsigned int i = 0; i < ARRAY_SIZE(last); i++) {
		last[i] = drv_reg_mr(d, pdn, 64, 0)->key;
		CHECK(last[i]);
		for (unsigned int k = 0; k < i; k++)
			CHECK(last[i] != last[k]);
		CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_MKEY,
					last[i] >> 8),
			 0);
	}
}

TEST(mkey_dma_lkey_stays)
{
	struct drv *d = drv_one();

	CHECK(drv_number_cmd(d, MYNIC_CMD_DESTROY_MKEY,
			     d->attr.dma_lkey >> 8) != MYNIC_AQ_OK);
}

static uint64_t next_id = 100;

/* RDMA WRITE of @len bytes into b. Return: its status at a */
static enum ibv_wc_status write_to(struct drv_pair *p, uint64_t addr,
				   uint32_t rkey, uint32_t len)
{
	struct mynic_cqe cqe;
	struct drv_wr wr = {
		.wr_id = next_id++,
		.opcode = IBV_WR_RDMA_WRITE,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { drv_sge(p->a.mr, 0, len) },
		.remote_addr = addr,
		.rkey = rkey,
	};

	drv_fill(p->a.mr->ptr, len, next_id);
	drv_post_send(p->a.qp, &wr);
	SIM_WAIT(p->sim, drv_poll(p->a.cq, &cqe));
	CHECK_EQ(cqe.wr_id, wr.wr_id);
	return cqe.status;
}

static void check_write(struct drv_pair *p, uint64_t addr, uint32_t rkey,
			uint32_t len, enum ibv_wc_status want)
{
	enum ibv_wc_status got = write_to(p, addr, rkey, len);

	if (got != want)
		FAIL("write of %u bytes at +0x%llx: status %u, not %u", len,
		     (unsigned long long)(addr - ADDR), got, want);
	if (!got)
		return;
	/* the connection is in ERR now: set it up again */
	drv_reset_qp(p->a.qp);
	drv_reset_qp(p->b.qp);
	drv_connect(p->a.qp, p->b.qp, &(struct drv_path){ 0 });
}

/*
 * A region of pages in random order, with guard pages of other memory between
 * them. @layout has the size of a page, the levels and the offset.
 */
static uint32_t scattered_mr(struct drv_pair *p, const struct mynic_buf *layout,
			     unsigned int num, uint64_t len, uint8_t **page)
{
	unsigned int log_page = layout->log_page_size;
	struct drv *d = p->b.d;
	uint64_t *iova = tap_alloc(num * sizeof(*iova));
	struct mynic_create_mkey body = {
		.iova = ADDR + layout->offset,
		.length = len,
		.pdn = p->b.pdn,
		.access = ACCESS_ALL,
	};
	uint32_t key;

	for (unsigned int i = 0; i < num; i++) {
		page[i] = sim_alloc(d->n, 1ul << log_page, 1ul << log_page);
		sim_alloc(d->n, 1, 1);
	}
	for (unsigned int i = num - 1; i > 0; i--) {
		unsigned int k = sim_random(p->sim, i + 1);
		uint8_t *tmp = page[i];

		page[i] = page[k];
		page[k] = tmp;
	}
	for (unsigned int i = 0; i < num; i++)
		iova[i] = sim_iova(d->n, page[i]);
	body.buf = drv_page_list(d, iova, num, log_page, layout->levels);
	body.buf.offset = layout->offset;
	CHECK_EQ(drv_create_mkey(d, &body, 0, &key), MYNIC_AQ_OK);
	return key;
}

static void check_pages(struct drv_pair *p, uint8_t **page,
			unsigned int log_page, uint64_t at, uint32_t len)
{
	const uint8_t *want = p->a.mr->ptr;

	while (len) {
		uint64_t in_page = at & ((1ull << log_page) - 1);
		uint32_t part = (1u << log_page) - in_page;

		part = part < len ? part : len;
		CHECK_MEM(page[at >> log_page] + in_page, want, part);
		want += part;
		at += part;
		len -= part;
	}
}

static void check_levels(unsigned int levels, unsigned int log_page,
			 unsigned int num, uint32_t offset)
{
	struct drv_pair p = drv_rc_pair(NULL);
	uint64_t len = ((uint64_t)num << log_page) - offset - 5;
	uint8_t **page = tap_alloc(num * sizeof(*page));
	const struct mynic_buf layout = {
		.levels = levels,
		.log_page_size = log_page,
		.offset = offset,
	};
	uint32_t key = scattered_mr(&p, &layout, num, len, page);
	uint64_t base = ADDR + offset;

	for (int i = 0; i < 60; i++) {
		uint32_t size = sim_random(p.sim, 10000);
		uint64_t at = sim_random(p.sim, len - size + 1);

		check_write(&p, base + at, key, size, IBV_WC_SUCCESS);
		check_pages(&p, page, log_page, offset + at, size);
	}
	/* up to its ends, and no byte further */
	check_write(&p, base, key, 1, IBV_WC_SUCCESS);
	check_write(&p, base + len - 1, key, 1, IBV_WC_SUCCESS);
	check_write(&p, base + len, key, 1, IBV_WC_REM_ACCESS_ERR);
	check_write(&p, base - 1, key, 2, IBV_WC_REM_ACCESS_ERR);
	check_write(&p, base + len - 5000, key, 5001, IBV_WC_REM_ACCESS_ERR);
	check_write(&p, ~0ull - 10, key, 100, IBV_WC_REM_ACCESS_ERR);
	check_write(&p, 0, key, 100, IBV_WC_REM_ACCESS_ERR);
}

TEST(mkey_level_1)
{
	check_levels(1, 12, 20, 0);
}

TEST(mkey_level_1_offset)
{
	check_levels(1, 12, 20, 1234);
}

TEST(mkey_level_1_big_pages)
{
	check_levels(1, 21, 8, 77777);
}

TEST(mkey_level_1_odd_page_size)
{
	check_levels(1, 13, 8, 8191);
}

TEST(mkey_level_2)
{
	check_levels(2, 12, 1500, 0);
}

TEST(mkey_level_2_offset)
{
	check_levels(2, 12, 1500, 4095);
}

/*
 * A list goes with its region, so another list may have the same address later
 */
TEST(mkey_list_in_the_place_of_another)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv *d = p.b.d;
	uint64_t page[2];
	void *list = NULL;
	struct mynic_create_mkey body = {
		.iova = ADDR,
		.length = 8192,
		.pdn = p.b.pdn,
		.access = ACCESS_ALL,
	};
	uint8_t *mem = sim_alloc(d->n, 4 * 8192, 8192);
	uint32_t key;

	for (unsigned int i = 0; i < 4; i++) {
		page[0] = sim_iova(d->n, mem + i * 8192);
		page[1] = page[0] + 4096;
		if (!i) {
			body.buf = drv_page_list(d, page, 2, 12, 1);
			list = d->n->mem + (body.buf.addr - d->n->iova);
		}
		memcpy(list, page, sizeof(page));
		CHECK_EQ(drv_create_mkey(d, &body, 0, &key), MYNIC_AQ_OK);
		check_write(&p, ADDR, key, 8192, IBV_WC_SUCCESS);
		CHECK_MEM(mem + i * 8192, p.a.mr->ptr, 8192);
		CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_MKEY, key >> 8),
			 0);
		check_write(&p, ADDR, key, 8192, IBV_WC_REM_ACCESS_ERR);
	}
}

TEST(mkey_level_0_offset)
{
	struct drv_pair p = drv_rc_pair(NULL);
	uint8_t *mem = sim_alloc(p.b.d->n, 8192, 4096);
	struct mynic_create_mkey body = {
		.buf = { .addr = sim_iova(p.b.d->n, mem), .offset = 1000 },
		.iova = ADDR,
		.length = 5000,
		.pdn = p.b.pdn,
		.access = ACCESS_ALL,
	};
	uint32_t key;

	CHECK_EQ(drv_create_mkey(p.b.d, &body, 0, &key), 0);
	check_write(&p, ADDR + 1, key, 4999, IBV_WC_SUCCESS);
	CHECK_MEM(mem + 1001, p.a.mr->ptr, 4999);
	check_write(&p, ADDR + 1, key, 5000, IBV_WC_REM_ACCESS_ERR);
}

TEST(mkey_dma_reaches_all_memory)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct mynic_create_mkey body = {
		.pdn = p.b.pdn,
		.access = ACCESS_ALL,
	};
	uint8_t *mem = sim_alloc(p.b.d->n, 4096, 64);
	uint32_t key;

	CHECK_EQ(drv_create_mkey(p.b.d, &body, MYNIC_MKEY_DMA, &key), 0);
	check_write(&p, sim_iova(p.b.d->n, mem), key, 4096, IBV_WC_SUCCESS);
	CHECK_MEM(mem, p.a.mr->ptr, 4096);
	/* across the border of two maps */
	check_write(&p, p.b.d->n->iova + SIM_MEM_SIZE / 2 - 1000, key, 3000,
		    IBV_WC_SUCCESS);
	CHECK_MEM(p.b.d->n->mem + SIM_MEM_SIZE / 2 - 1000, p.a.mr->ptr, 3000);
}

static void check_remote(uint32_t access, bool qp_access,
			 enum ibv_wc_status status)
{
	struct drv_path path = { .no_access = !qp_access };
	struct drv_pair p = drv_rc_pair(&path);
	struct drv_mr *mr = drv_reg_mr(p.b.d, p.b.pdn, 4096, access);

	drv_fill(mr->ptr, 4096, 1);
	CHECK_EQ(write_to(&p, mr->addr, mr->key, 64), status);
	if (status) {
		uint8_t want[64];

		drv_fill(want, 64, 1);
		CHECK_MEM(mr->ptr, want, 64);
	}
}

TEST(mkey_remote_write_access)
{
	check_remote(ACCESS_ALL, true, IBV_WC_SUCCESS);
}

TEST(mkey_no_remote_write_access)
{
	check_remote(ACCESS_ALL & ~IBV_ACCESS_REMOTE_WRITE, true,
		     IBV_WC_REM_ACCESS_ERR);
}

TEST(mkey_no_qp_access)
{
	/* IBTA 9.7.4.1: a request that the QP does not allow is invalid */
	check_remote(ACCESS_ALL, false, IBV_WC_REM_INV_REQ_ERR);
}

TEST(mkey_remote_bad_keys)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_mr *mr = p.b.mr;
	struct drv_mr *other =
		drv_reg_mr(p.b.d, drv_alloc_pd(p.b.d), 4096, ACCESS_ALL);

	check_write(&p, mr->addr, mr->key ^ 1, 64, IBV_WC_REM_ACCESS_ERR);
	check_write(&p, mr->addr, mr->key + 0x100000, 64,
		    IBV_WC_REM_ACCESS_ERR);
	check_write(&p, mr->addr, 0, 64, IBV_WC_REM_ACCESS_ERR);
	check_write(&p, mr->addr, 0xffffffff, 64, IBV_WC_REM_ACCESS_ERR);
	/* another PD's */
	check_write(&p, other->addr, other->key, 64, IBV_WC_REM_ACCESS_ERR);
	/* the key of all memory is no remote key */
	check_write(&p, p.b.d->n->iova, p.b.d->attr.dma_lkey, 64,
		    IBV_WC_REM_ACCESS_ERR);
	/* zero bytes need no key */
	check_write(&p, 0, 0, 0, IBV_WC_SUCCESS);
	CHECK_EQ(drv_number_cmd(p.b.d, MYNIC_CMD_DESTROY_MKEY, mr->key >> 8),
		 0);
	check_write(&p, mr->addr, mr->key, 64, IBV_WC_REM_ACCESS_ERR);
}

/* Check the status of a SEND whose data comes from @sge */
static void check_local(struct drv_pair *p, struct mynic_sge sge,
			enum mynic_syndrome syndrome)
{
	struct drv_wr wr = {
		.wr_id = 9,
		.opcode = IBV_WR_RDMA_WRITE,
		.num_sge = 1,
		.sge = { sge },
		.remote_addr = p->b.mr->addr,
		.rkey = p->b.mr->key,
	};
	struct mynic_cqe cqe;

	drv_post_send(p->a.qp, &wr);
	cqe = drv_expect(p->a.cq, 9, IBV_WC_LOC_PROT_ERR);
	CHECK_EQ(cqe.vendor_err, syndrome);
	CHECK_EQ(drv_query_qp(p->a.qp).qp_state, IBV_QPS_ERR);
	drv_reset_qp(p->a.qp);
	drv_reset_qp(p->b.qp);
	drv_connect(p->a.qp, p->b.qp, &(struct drv_path){ 0 });
}

TEST(mkey_local_bad_keys)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_mr *mr = p.a.mr;
	struct drv_mr *other =
		drv_reg_mr(p.a.d, drv_alloc_pd(p.a.d), 4096, ACCESS_ALL);
	struct mynic_sge sge = drv_sge(mr, 0, 64);

	sge.lkey ^= 1;
	check_local(&p, sge, MYNIC_SYN_BAD_LKEY);
	sge.lkey = 0;
	check_local(&p, sge, MYNIC_SYN_BAD_LKEY);
	sge.lkey = 0xffffff00;
	check_local(&p, sge, MYNIC_SYN_BAD_LKEY);
	check_local(&p, drv_sge(other, 0, 64), MYNIC_SYN_BAD_LKEY);
	check_local(&p, drv_sge(mr, DRV_PAIR_MEM - 63, 64),
		    MYNIC_SYN_LKEY_BOUNDS);
	check_local(&p, drv_sge(mr, -1, 64), MYNIC_SYN_LKEY_BOUNDS);
	check_local(&p, drv_sge(mr, DRV_PAIR_MEM, 1), MYNIC_SYN_LKEY_BOUNDS);
	/* a user's queue may not use the key of all memory */
	sge = (struct mynic_sge){ p.a.d->n->iova, 64, p.a.d->attr.dma_lkey };
	check_local(&p, sge, MYNIC_SYN_BAD_LKEY);
}

TEST(mkey_dma_lkey_for_kernel_queues)
{
	struct drv_qp_init init = { .type = MYNIC_QP_RC,
				    .flags = MYNIC_QP_KERNEL };
	struct drv_pair p = drv_pair_unconnected(&init);
	uint8_t *from = sim_alloc(p.a.d->n, 64, 64);
	uint8_t *to = sim_alloc(p.b.d->n, 64, 64);
	struct mynic_sge sge = { sim_iova(p.b.d->n, to), 64,
				 p.b.d->attr.dma_lkey };
	struct drv_wr wr = {
		.opcode = IBV_WR_SEND,
		.num_sge = 1,
		.sge = { { sim_iova(p.a.d->n, from), 64,
			   p.a.d->attr.dma_lkey } },
	};

	drv_connect(p.a.qp, p.b.qp, &(struct drv_path){ 0 });
	drv_fill(from, 64, 3);
	drv_post_recv(p.b.qp, 1, &sge, 1);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.b.recv_cq, 1, IBV_WC_SUCCESS);
	CHECK_MEM(to, from, 64);
}

/* A receive buffer without write access */
TEST(mkey_no_local_write)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv_mr *mr = drv_reg_mr(p.b.d, p.b.pdn, 4096, 0);
	struct mynic_sge sge = drv_sge(mr, 0, 64);
	struct drv_wr wr = {
		.wr_id = 1,
		.opcode = IBV_WR_SEND,
		.num_sge = 1,
		.sge = { drv_sge(p.a.mr, 0, 64) },
	};

	drv_fill(p.a.mr->ptr, 64, 1);
	drv_post_recv(p.b.qp, 2, &sge, 1);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.b.recv_cq, 2, IBV_WC_LOC_PROT_ERR);
	drv_expect(p.a.cq, 1, IBV_WC_REM_OP_ERR);
	CHECK_EQ(mr->ptr[5], 0);
}

TEST(mkey_list_not_mapped)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct mynic_create_mkey body = {
		.buf = { .addr = 0x1000, .levels = 1, .log_page_size = 12 },
		.iova = ADDR,
		.length = 1 << 20,
		.pdn = p.b.pdn,
		.access = ACCESS_ALL,
	};
	uint64_t *list = sim_alloc(p.b.d->n, 4096, 4096);
	uint32_t key;

	/* the device may refuse to create it, or to access it */
	if (drv_create_mkey(p.b.d, &body, 0, &key) != MYNIC_AQ_BAD_DMA)
		CHECK(write_to(&p, ADDR, key, 64) != IBV_WC_SUCCESS);
	body.buf.addr = sim_iova(p.b.d->n, list);
	list[0] = 0x1000;
	body.length = 4096;
	drv_reset_qp(p.a.qp);
	drv_reset_qp(p.b.qp);
	drv_connect(p.a.qp, p.b.qp, &(struct drv_path){ 0 });
	if (drv_create_mkey(p.b.d, &body, 0, &key) == MYNIC_AQ_BAD_DMA)
		return;
	CHECK(write_to(&p, ADDR, key, 64) != IBV_WC_SUCCESS);
	CHECK(drv_stat(p.b.d, MYNIC_STAT_BAD_DMA) > 0);
}

TEST(mkey_many)
{
	struct drv *d = drv_one();
	uint32_t pdn = drv_alloc_pd(d);
	struct mynic_create_mkey body = {
		.buf.addr = d->n->iova,
		.iova = ADDR,
		.length = 4096,
		.pdn = pdn,
	};
	uint32_t key, first = 0;

	for (unsigned int i = 0; i < 100000; i++) {
		CHECK_EQ(drv_create_mkey(d, &body, 0, &key), 0);
		if (!i)
			first = key;
	}
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_MKEY, first >> 8), 0);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_MKEY, key >> 8), 0);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_MKEY, key >> 8),
		 MYNIC_AQ_BAD_NUMBER);
}

/* 1 GiB in 4 KiB pages whose lists all name the same few pages */
TEST(mkey_huge)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct drv *d = p.b.d;
	uint64_t *top = sim_alloc(d->n, 512 * 8, 4096);
	uint64_t *list = sim_alloc(d->n, 4096, 4096);
	uint8_t *page = sim_alloc(d->n, 4096, 4096);
	struct mynic_create_mkey body = {
		.buf = { .addr = sim_iova(d->n, top),
			 .levels = 2,
			 .log_page_size = 12,
			 .log_list_size = 12 },
		.iova = ADDR,
		.length = 1ull << 30,
		.pdn = p.b.pdn,
		.access = ACCESS_ALL,
	};
	uint32_t key;

	for (int i = 0; i < 512; i++) {
		top[i] = sim_iova(d->n, list);
		list[i] = sim_iova(d->n, page);
	}
	CHECK_EQ(drv_create_mkey(d, &body, 0, &key), 0);
	check_write(&p, ADDR + (1ull << 30) - 64, key, 64, IBV_WC_SUCCESS);
	CHECK_MEM(page + 4096 - 64, p.a.mr->ptr, 64);
	check_write(&p, ADDR + (1ull << 30) - 63, key, 64,
		    IBV_WC_REM_ACCESS_ERR);
}
