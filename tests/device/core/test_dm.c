// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Device memory: pieces of BAR2, and access by the host and by memory keys */
#include "harness_driver.h"

#define POOL (8192ull * MYNIC_UAR_SIZE)

/* ALLOC_DM; @number and @offset may be NULL */
static uint8_t alloc(struct drv *d, uint64_t length, uint8_t log_align,
		     uint32_t *number, uint64_t *offset)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_ALLOC_DM,
		.alloc_dm = { .length = length, .log_align = log_align },
	};
	struct mynic_admin_cpl cpl;
	uint8_t status = drv_admin(d, &cmd, &cpl);

	if (number)
		*number = cpl.number;
	if (offset)
		*offset = cpl.dm_place.offset;
	if (status)
		CHECK_EQ(cpl.number, 0);
	return status;
}

static uint8_t free_dm(struct drv *d, uint32_t number)
{
	return drv_number_cmd(d, MYNIC_CMD_FREE_DM, number);
}

static void put(struct drv *d, uint64_t offset, const void *data, size_t len)
{
	nic_bar_write(d->n->nic, MYNIC_BAR_UAR, offset, data, len);
}

static void get(struct drv *d, uint64_t offset, void *data, size_t len)
{
	nic_bar_read(d->n->nic, MYNIC_BAR_UAR, offset, data, len);
}

static uint64_t get64(struct drv *d, uint64_t offset)
{
	uint64_t value;

	get(d, offset, &value, sizeof(value));
	return value;
}

TEST(dm_alloc_bad)
{
	struct drv *d = drv_one();
	uint64_t size = d->attr.dm_size;

	CHECK(size >= 1 << 20);
	CHECK_EQ(alloc(d, 0, 0, NULL, NULL), MYNIC_AQ_BAD_PARAM);
	CHECK_EQ(alloc(d, 1, 64, NULL, NULL), MYNIC_AQ_BAD_PARAM);
	CHECK_EQ(alloc(d, 1, 255, NULL, NULL), MYNIC_AQ_BAD_PARAM);
	CHECK_EQ(alloc(d, 1, 63, NULL, NULL), MYNIC_AQ_NO_RESOURCE);
	CHECK_EQ(alloc(d, size + 1, 0, NULL, NULL), MYNIC_AQ_NO_RESOURCE);
	CHECK_EQ(alloc(d, ~0ull, 0, NULL, NULL), MYNIC_AQ_NO_RESOURCE);
	CHECK_EQ(alloc(d, ~0ull - 4095, 0, NULL, NULL), MYNIC_AQ_NO_RESOURCE);
	CHECK_EQ(free_dm(d, 1), MYNIC_AQ_BAD_NUMBER);
}

TEST(dm_all_of_it)
{
	struct drv *d = drv_one();
	uint64_t size = d->attr.dm_size, offset;
	uint32_t pages = size / MYNIC_DM_GRANULE, number, last = 0;

	CHECK_EQ(alloc(d, size, 0, &number, &offset), MYNIC_AQ_OK);
	CHECK_EQ(offset, POOL);
	CHECK_EQ(alloc(d, 1, 0, NULL, NULL), MYNIC_AQ_NO_RESOURCE);
	CHECK_EQ(free_dm(d, number), MYNIC_AQ_OK);
	CHECK_EQ(free_dm(d, number), MYNIC_AQ_BAD_NUMBER);

	for (uint32_t i = 0; i < pages; i++) {
		CHECK_EQ(alloc(d, i % 2 ? 1 : 4096, 0, &number, &offset),
			 MYNIC_AQ_OK);
		CHECK_EQ(offset, POOL + (uint64_t)i * 4096);
		CHECK(number != last);
		last = number;
		if (i == pages / 2)
			CHECK_EQ(alloc(d, size / 2, 0, NULL, NULL),
				 MYNIC_AQ_NO_RESOURCE);
	}
	CHECK_EQ(alloc(d, 1, 0, NULL, NULL), MYNIC_AQ_NO_RESOURCE);
	CHECK_EQ(free_dm(d, last), MYNIC_AQ_OK);
	CHECK_EQ(alloc(d, 4097, 0, NULL, NULL), MYNIC_AQ_NO_RESOURCE);
	CHECK_EQ(alloc(d, 1, 0, NULL, &offset), MYNIC_AQ_OK);
	CHECK_EQ(offset, POOL + size - 4096);

	/* a reset frees all of it */
	drv_reset(d->n);
	d = drv_up(d->n);
	CHECK_EQ(alloc(d, size, 0, NULL, NULL), MYNIC_AQ_OK);
}

TEST(dm_alignment)
{
	struct drv *d = drv_one();
	uint64_t offset;

	CHECK_EQ(alloc(d, 1, 0, NULL, NULL), MYNIC_AQ_OK);
	for (uint8_t log = 0; log < 19; log++) {
		CHECK_EQ(alloc(d, 1, log, NULL, &offset), MYNIC_AQ_OK);
		CHECK_EQ(offset % (1ull << log), 0);
		CHECK_EQ(offset % 4096, 0);
	}
}

TEST(dm_host_access)
{
	struct drv *d = drv_one();
	uint64_t size = d->attr.dm_size, bad, a, b;
	uint8_t pattern[256], back[8];
	uint32_t number;

	bad = drv_stat(d, MYNIC_STAT_BAD_DOORBELL);
	CHECK_EQ(alloc(d, 4096, 0, &number, &a), MYNIC_AQ_OK);
	CHECK_EQ(alloc(d, 4096, 0, NULL, &b), MYNIC_AQ_OK);
	CHECK_EQ(b, a + 4096);
	drv_fill(pattern, sizeof(pattern), 3);
	/* all sizes, at all alignments */
	for (unsigned int at = 0, len = 1; at + len < sizeof(pattern);
	     at += len, len = len % 8 + 1)
		put(d, a + at, pattern + at, len);
	for (unsigned int at = 0, len = 8; at + len < sizeof(pattern) - 8;
	     at += len, len = len == 1 ? 8 : len - 1) {
		get(d, a + at, back, len);
		CHECK_MEM(back, pattern + at, len);
	}
	/* the end of a piece is an end */
	put(d, a + 4092, pattern, 8);
	CHECK_EQ(drv_stat(d, MYNIC_STAT_BAD_DOORBELL), ++bad);
	CHECK_EQ(get64(d, a + 4088), 0);
	CHECK_EQ(get64(d, b), 0);
	put(d, b + 4088, pattern, 8);
	CHECK_MEM(&(uint64_t){ get64(d, b + 4088) }, pattern, 8);
	CHECK_EQ(get64(d, b + 4092), 0);

	/* unallocated memory, and addresses without memory */
	put(d, b + 4096, pattern, 8);
	put(d, POOL + size - 8, pattern, 8);
	put(d, POOL + size, pattern, 8);
	put(d, ~0ull - 7, pattern, 8);
	CHECK_EQ(drv_stat(d, MYNIC_STAT_BAD_DOORBELL), bad + 4);
	CHECK_EQ(get64(d, b + 4096), 0);
	CHECK_EQ(get64(d, POOL + size - 8), 0);
	CHECK_EQ(get64(d, POOL + size), 0);
	CHECK_EQ(get64(d, ~0ull - 7), 0);

	/* the next owner sees no data of the last one */
	CHECK_EQ(free_dm(d, number), MYNIC_AQ_OK);
	CHECK_EQ(get64(d, a), 0);
	CHECK_EQ(alloc(d, 1, 0, NULL, &b), MYNIC_AQ_OK);
	CHECK_EQ(b, a);
	for (unsigned int at = 0; at < 4096; at += 8)
		CHECK_EQ(get64(d, a + at), 0);
}

/*
 * Try to create a key for piece @number. The piece cannot be freed while the
 * key exists
 */
static void try_mkey(struct drv *d, const struct mynic_create_mkey *body,
		     uint32_t number, uint8_t status)
{
	uint32_t key;

	CHECK_EQ(drv_create_mkey(d, body, MYNIC_MKEY_DM, &key), status);
	if (status)
		return;
	CHECK_EQ(free_dm(d, number), MYNIC_AQ_BUSY);
	CHECK_EQ(drv_number_cmd(d, MYNIC_CMD_DESTROY_MKEY, key >> 8),
		 MYNIC_AQ_OK);
}

TEST(dm_mkey_bad)
{
	struct drv *d = drv_one();
	struct mynic_create_mkey good = {
		.length = 8192,
		.pdn = drv_alloc_pd(d),
		.access = ACCESS_ALL,
	};
	struct mynic_create_mkey body;
	uint64_t offset;
	uint32_t number;

	CHECK_EQ(alloc(d, 8192, 0, &number, &offset), MYNIC_AQ_OK);
	CHECK_EQ(alloc(d, 8192, 0, NULL, NULL), MYNIC_AQ_OK);
	good.buf.addr = offset;
#define TRY(field, value, status)                              \
	do {                                                   \
		body = good;                                   \
		body.field = value;                            \
		try_mkey(d, &body, number, MYNIC_AQ_##status); \
	} while (0)
	TRY(length, 8192, OK);
	TRY(length, 0, OK);
	TRY(iova, 0x123456789, OK);
	TRY(length, 8193, BAD_NUMBER);
	TRY(buf.addr, offset + 1, BAD_NUMBER);
	TRY(buf.addr, offset - 1, BAD_NUMBER);
	TRY(buf.addr, offset + 16384, BAD_NUMBER);
	TRY(buf.addr, 0, BAD_NUMBER);
	TRY(buf.addr, POOL + d->attr.dm_size, BAD_NUMBER);
	TRY(buf.addr, ~0ull, BAD_NUMBER);
	TRY(buf.offset, 1, BAD_PARAM);
	TRY(buf.levels, 1, BAD_PARAM);
	TRY(buf.log_page_size, 12, BAD_PARAM);
	TRY(pdn, 500, BAD_NUMBER);
	good.buf.levels = 1;
	TRY(buf.log_page_size, 12, BAD_PARAM);
	good.buf.levels = 0;
	CHECK_EQ(drv_create_mkey(d, &good, MYNIC_MKEY_DM | MYNIC_MKEY_DMA,
				 &(uint32_t){ 0 }),
		 MYNIC_AQ_BAD_PARAM);
#undef TRY
	CHECK_EQ(free_dm(d, number), MYNIC_AQ_OK);
}

/*
 * A pair whose b has 2 pages of device memory, and a key for all but its first
 * 8 bytes
 */
struct dm_end {
	struct drv_pair p;
	uint64_t offset;
	uint32_t key;
};

static struct dm_end dm_pair(void)
{
	struct dm_end e = { .p = drv_rc_pair(NULL) };
	struct mynic_create_mkey body = { 0 };

	CHECK_EQ(alloc(e.p.b.d, 8192, 0, NULL, &e.offset), MYNIC_AQ_OK);
	body.buf.addr = e.offset + 8;
	body.length = 8184;
	body.pdn = e.p.b.pdn;
	body.access = ACCESS_ALL;
	CHECK_EQ(drv_create_mkey(e.p.b.d, &body, MYNIC_MKEY_DM, &e.key),
		 MYNIC_AQ_OK);
	return e;
}

static struct mynic_cqe run(struct dm_end *e, struct drv_wr wr,
			    enum ibv_wc_status status)
{
	wr.flags = IBV_SEND_SIGNALED;
	wr.rkey = e->key;
	drv_post_send(e->p.a.qp, &wr);
	return drv_expect(e->p.a.cq, 0, status);
}

TEST(dm_remote)
{
	struct dm_end e = dm_pair();
	struct drv_wr wr = {
		.opcode = IBV_WR_RDMA_WRITE,
		.num_sge = 1,
		.sge = { drv_sge(e.p.a.mr, 0, 8184) },
	};
	uint8_t *mem = e.p.a.mr->ptr;
	uint64_t word;

	drv_fill(mem, 8184, 1);
	run(&e, wr, IBV_WC_SUCCESS);
	CHECK_EQ(get64(e.p.b.d, e.offset), 0);
	for (unsigned int i = 0; i < 8184; i += 8) {
		get(e.p.b.d, e.offset + 8 + i, &word, 8);
		CHECK_MEM(&word, mem + i, 8);
	}

	wr.opcode = IBV_WR_RDMA_READ;
	wr.sge[0] = drv_sge(e.p.a.mr, 16384, 8184);
	run(&e, wr, IBV_WC_SUCCESS);
	CHECK_MEM(mem + 16384, mem, 8184);

	wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	wr.sge[0] = drv_sge(e.p.a.mr, 65536, 8);
	wr.remote_addr = 4096;
	wr.compare_add = 5;
	run(&e, wr, IBV_WC_SUCCESS);
	CHECK_MEM(mem + 65536, mem + 4096, 8);
	memcpy(&word, mem + 4096, 8);
	CHECK_EQ(get64(e.p.b.d, e.offset + 8 + 4096), word + 5);

	wr.opcode = IBV_WR_RDMA_WRITE;
	wr.sge[0].length = 9;
	wr.remote_addr = 8184 - 8;
	run(&e, wr, IBV_WC_REM_ACCESS_ERR);
}

TEST(dm_local)
{
	struct dm_end e = dm_pair();
	struct mynic_sge sge = { .addr = 100, .length = 5000, .lkey = e.key };
	struct drv_wr wr = {
		.opcode = IBV_WR_SEND,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { drv_sge(e.p.a.mr, 0, 5000) },
	};
	uint64_t word;

	drv_fill(e.p.a.mr->ptr, 5000, 7);
	drv_post_recv(e.p.b.qp, 1, &sge, 1);
	drv_post_send(e.p.a.qp, &wr);
	drv_expect(e.p.a.cq, 0, IBV_WC_SUCCESS);
	drv_expect(e.p.b.recv_cq, 1, IBV_WC_SUCCESS);
	for (unsigned int i = 0; i < 5000; i += 8) {
		get(e.p.b.d, e.offset + 108 + i, &word, 8);
		CHECK_MEM(&word, e.p.a.mr->ptr + i, 8);
	}

	/* and back, as the sender's memory */
	sge = drv_sge(e.p.a.mr, 8192, 5000);
	drv_post_recv(e.p.a.qp, 2, &sge, 1);
	wr.sge[0] = (struct mynic_sge){ .addr = 100,
					.length = 5000,
					.lkey = e.key };
	drv_post_send(e.p.b.qp, &wr);
	drv_expect(e.p.b.cq, 0, IBV_WC_SUCCESS);
	drv_expect(e.p.a.recv_cq, 2, IBV_WC_SUCCESS);
	CHECK_MEM(e.p.a.mr->ptr + 8192, e.p.a.mr->ptr, 5000);
}
