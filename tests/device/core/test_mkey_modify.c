// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory keys that change while they are in use, and the null key */
#include "harness_driver.h"

#define ADDR 0x123456789000ull

static uint8_t modify(struct drv *d, uint32_t number,
		      const struct mynic_create_mkey *body)
{
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_MODIFY_MKEY,
		.number = number,
		.create_mkey = *body,
	};

	return drv_admin(d, &cmd, NULL);
}

/* struct region - 4096 bytes of b, and their description for the device */
struct region {
	struct mynic_create_mkey body;
	uint8_t *ptr;
	uint32_t key;
};

static struct region region_of(struct drv_pair *p, uint32_t access)
{
	struct region r = { .ptr = sim_alloc(p->b.d->n, DRV_PAGE, DRV_PAGE) };

	r.body = (struct mynic_create_mkey){
		.buf.addr = sim_iova(p->b.d->n, r.ptr),
		.iova = ADDR,
		.length = DRV_PAGE,
		.pdn = p->b.pdn,
		.access = access,
	};
	CHECK_EQ(drv_create_mkey(p->b.d, &r.body, 0, &r.key), MYNIC_AQ_OK);
	return r;
}

static void change(struct drv_pair *p, const struct region *r)
{
	CHECK_EQ(modify(p->b.d, r->key >> 8, &r->body), MYNIC_AQ_OK);
}

static void check_rdma(struct drv_pair *p, enum ibv_wr_opcode opcode,
		       uint64_t addr, uint32_t key, enum ibv_wc_status want)
{
	static uint64_t next_id = 100;
	struct drv_wr wr = {
		.wr_id = next_id++,
		.opcode = opcode,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { drv_sge(p->a.mr, 0, 64) },
		.remote_addr = addr,
		.rkey = key,
	};

	drv_fill(p->a.mr->ptr, 64, wr.wr_id);
	drv_post_send(p->a.qp, &wr);
	drv_expect(p->a.cq, wr.wr_id, want);
	if (!want)
		return;
	drv_reset_qp(p->a.qp);
	drv_reset_qp(p->b.qp);
	drv_connect(p->a.qp, p->b.qp, &(struct drv_path){ 0 });
}

#define check_write(p, addr, key, want) \
	check_rdma(p, IBV_WR_RDMA_WRITE, addr, key, IBV_WC_##want)
#define check_read(p, addr, key, want) \
	check_rdma(p, IBV_WR_RDMA_READ, addr, key, IBV_WC_##want)

TEST(mkey_modify_pages)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct region r = region_of(&p, ACCESS_ALL);
	uint8_t *before = r.ptr;
	uint8_t *after = sim_alloc(p.b.d->n, 2 * DRV_PAGE, DRV_PAGE);
	uint64_t pages[2] = { sim_iova(p.b.d->n, after + DRV_PAGE),
			      sim_iova(p.b.d->n, after) };

	check_write(&p, ADDR, r.key, SUCCESS);
	CHECK_MEM(before, p.a.mr->ptr, 64);
	memset(before, 0xee, 64);
	r.body.buf = drv_page_list(p.b.d, pages, 2, 12, 1);
	r.body.iova = 2 * ADDR;
	r.body.length = 2 * DRV_PAGE;
	change(&p, &r);
	check_write(&p, ADDR, r.key, REM_ACCESS_ERR);
	check_write(&p, 2 * ADDR, r.key, SUCCESS);
	CHECK_MEM(after + DRV_PAGE, p.a.mr->ptr, 64);
	check_write(&p, 2 * ADDR + DRV_PAGE, r.key, SUCCESS);
	CHECK_MEM(after, p.a.mr->ptr, 64);
	CHECK_EQ(before[0], 0xee);
	/* take the memory away */
	r.body.length = 0;
	change(&p, &r);
	check_write(&p, 2 * ADDR, r.key, REM_ACCESS_ERR);
	check_read(&p, 2 * ADDR, r.key, REM_ACCESS_ERR);
	CHECK_EQ(drv_number_cmd(p.b.d, MYNIC_CMD_DESTROY_MKEY, r.key >> 8), 0);
	CHECK_EQ(modify(p.b.d, r.key >> 8, &r.body), MYNIC_AQ_BAD_NUMBER);
}

TEST(mkey_modify_access)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct region r = region_of(&p, IBV_ACCESS_REMOTE_READ);

	check_write(&p, ADDR, r.key, REM_ACCESS_ERR);
	check_read(&p, ADDR, r.key, SUCCESS);
	r.body.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
	change(&p, &r);
	check_write(&p, ADDR, r.key, SUCCESS);
	check_read(&p, ADDR, r.key, REM_ACCESS_ERR);
	r.body.access = 0;
	change(&p, &r);
	check_write(&p, ADDR, r.key, REM_ACCESS_ERR);
	check_read(&p, ADDR, r.key, REM_ACCESS_ERR);
}

TEST(mkey_modify_pd)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct region r = region_of(&p, ACCESS_ALL);
	uint32_t old = p.b.pdn, new = drv_alloc_pd(p.b.d);

	r.body.pdn = new;
	change(&p, &r);
	check_write(&p, ADDR, r.key, REM_ACCESS_ERR);
	CHECK_EQ(drv_number_cmd(p.b.d, MYNIC_CMD_DEALLOC_PD, new),
		 MYNIC_AQ_BUSY);
	r.body.pdn = old;
	change(&p, &r);
	check_write(&p, ADDR, r.key, SUCCESS);
	CHECK_EQ(drv_number_cmd(p.b.d, MYNIC_CMD_DEALLOC_PD, new), MYNIC_AQ_OK);
	CHECK_EQ(drv_number_cmd(p.b.d, MYNIC_CMD_DESTROY_MKEY, r.key >> 8), 0);
}

/* Failed commands change nothing */
TEST(mkey_modify_bad)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct region r = region_of(&p, ACCESS_ALL);
	struct mynic_create_mkey bad;
	uint32_t pdn = drv_alloc_pd(p.b.d);
	uint32_t key;

#define TRY(field, value, status)                                             \
	do {                                                                  \
		bad = r.body;                                                 \
		bad.pdn = pdn;                                                \
		bad.field = value;                                            \
		CHECK_EQ(modify(p.b.d, r.key >> 8, &bad), MYNIC_AQ_##status); \
	} while (0)
	TRY(pdn, 500, BAD_NUMBER);
	TRY(access, 1 << 19, NOT_SUPPORTED);
	TRY(access, IBV_ACCESS_REMOTE_WRITE, BAD_PARAM);
	TRY(length, ~0ull, BAD_PARAM);
	TRY(iova, ~0ull - 4094, BAD_PARAM);
	TRY(buf.levels, 3, BAD_PARAM);
	TRY(buf.addr, 0x1000, BAD_DMA);
#undef TRY
	CHECK_EQ(modify(p.b.d, r.key, &r.body), MYNIC_AQ_BAD_NUMBER);
	CHECK_EQ(modify(p.b.d, 0, &r.body), MYNIC_AQ_BAD_NUMBER);
	CHECK_EQ(drv_number_cmd(p.b.d, MYNIC_CMD_DEALLOC_PD, pdn), MYNIC_AQ_OK);
	check_write(&p, ADDR, r.key, SUCCESS);
	CHECK_MEM(r.ptr, p.a.mr->ptr, 64);
	bad = (struct mynic_create_mkey){
		.pdn = p.b.pdn,
		.access = ACCESS_ALL,
	};
	CHECK_EQ(drv_create_mkey(p.b.d, &bad, MYNIC_MKEY_DMA, &key), 0);
	CHECK_EQ(modify(p.b.d, key >> 8, &r.body), MYNIC_AQ_BAD_STATE);
}

/*
 * A window cannot follow its region to new memory, and must not outlive the old
 */
TEST(mkey_modify_with_a_window)
{
	struct drv_pair p = drv_rc_pair(NULL);
	struct region r = region_of(&p, ACCESS_ALL | IBV_ACCESS_MW_BIND);
	struct mynic_create_mkey empty = { .pdn = p.b.pdn };
	struct drv_wr wr = {
		.wr_id = 7,
		.opcode = IBV_WR_BIND_MW,
		.flags = IBV_SEND_SIGNALED,
		.bind = {
			.addr = ADDR + 64,
			.length = 64,
			.lkey = r.key,
			.access = IBV_ACCESS_REMOTE_WRITE,
		},
	};
	uint32_t key;

	CHECK_EQ(drv_create_mkey(p.b.d, &empty, MYNIC_MKEY_MW1, &key), 0);
	CHECK_EQ(modify(p.b.d, key >> 8, &r.body), MYNIC_AQ_BAD_STATE);
	wr.rkey = key++;
	wr.bind.new_rkey = key;
	drv_post_send(p.b.qp, &wr);
	drv_expect(p.b.cq, 7, IBV_WC_SUCCESS);
	check_write(&p, ADDR + 64, key, SUCCESS);
	CHECK_EQ(modify(p.b.d, r.key >> 8, &r.body), MYNIC_AQ_BUSY);
	memset(r.ptr, 0xee, DRV_PAGE);
	CHECK_EQ(modify(p.b.d, r.key >> 8, &empty), MYNIC_AQ_OK);
	check_write(&p, ADDR + 64, key, REM_ACCESS_ERR);
	check_write(&p, ADDR + 64, r.key, REM_ACCESS_ERR);
	CHECK_EQ(r.ptr[64], 0xee);
	CHECK_EQ(modify(p.b.d, r.key >> 8, &r.body), MYNIC_AQ_BUSY);
	CHECK_EQ(drv_number_cmd(p.b.d, MYNIC_CMD_DESTROY_MKEY, key >> 8), 0);
	change(&p, &r);
	check_write(&p, ADDR + 64, r.key, SUCCESS);
}

/* Ring the doorbell of the command after some packets of the response */
static enum sim_verdict ring_in_between(struct sim *sim, struct sim_nic *from,
					struct packet *pkt)
{
	struct drv *d = sim->filter_arg;

	(void)pkt;
	if (from == d->n && from->sent == 200)
		drv_admin_ring(d);
	return SIM_PASS;
}

/* The response to a READ ends where memory is taken away */
TEST(mkey_modify_in_a_read)
{
	struct drv_pair p =
		drv_rc_pair(&(struct drv_path){ .mtu = IBV_MTU_256 });
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_MODIFY_MKEY,
		.number = p.b.mr->key >> 8,
		.create_mkey = { .pdn = p.b.pdn, .access = ACCESS_ALL },
	};
	struct drv_wr wr = {
		.wr_id = 7,
		.opcode = IBV_WR_RDMA_READ,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { drv_sge(p.a.mr, 0, DRV_PAIR_MEM) },
		.remote_addr = p.b.mr->addr,
		.rkey = p.b.mr->key,
	};

	drv_fill(p.b.mr->ptr, DRV_PAIR_MEM, 1);
	drv_admin_post(p.b.d, &cmd);
	p.sim->filter = ring_in_between;
	p.sim->filter_arg = p.b.d;
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, 7, IBV_WC_REM_ACCESS_ERR);
	CHECK_MEM(p.a.mr->ptr, p.b.mr->ptr, 100 * 256);
	CHECK_EQ(p.a.mr->ptr[DRV_PAIR_MEM - 1], 0);
}

TEST(null_lkey)
{
	struct drv_pair p = drv_rc_pair(NULL);
	uint32_t null = p.a.d->attr.null_lkey;
	struct mynic_sge nowhere = { ADDR, 100000, null };
	struct drv_wr wr = {
		.wr_id = 7,
		.opcode = IBV_WR_SEND,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 3,
		.sge = { drv_sge(p.a.mr, 0, 10),
			 { ~0ull - 70000, 70000, null },
			 drv_sge(p.a.mr, 10, 10) },
	};
	struct mynic_sge to[2] = { drv_sge(p.b.mr, 0, 5),
				   { ADDR, 1 << 20, p.b.d->attr.null_lkey } };

	CHECK(null);
	CHECK(null != p.a.d->attr.dma_lkey);
	drv_fill(p.a.mr->ptr, DRV_PAIR_MEM, 1);
	memset(p.b.mr->ptr, 0xee, DRV_PAIR_MEM);
	drv_post_recv(p.b.qp, 1,
		      (struct mynic_sge[]){ drv_sge(p.b.mr, 0, 70020) }, 1);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, 7, IBV_WC_SUCCESS);
	drv_expect(p.b.recv_cq, 1, IBV_WC_SUCCESS);
	CHECK_MEM(p.b.mr->ptr, p.a.mr->ptr, 10);
	for (unsigned int i = 10; i < 70010; i++)
		CHECK_EQ(p.b.mr->ptr[i], 0);
	CHECK_MEM(p.b.mr->ptr + 70010, p.a.mr->ptr + 10, 10);
	/* reads do not return what was written */
	wr.num_sge = 1;
	wr.sge[0] = drv_sge(p.a.mr, 0, 1 << 20);
	drv_post_recv(p.b.qp, 2, to, 2);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, 7, IBV_WC_SUCCESS);
	drv_expect(p.b.recv_cq, 2, IBV_WC_SUCCESS);
	wr.opcode = IBV_WR_RDMA_WRITE;
	wr.sge[0] = nowhere;
	wr.remote_addr = p.b.mr->addr;
	wr.rkey = p.b.mr->key;
	memset(p.b.mr->ptr, 0xee, nowhere.length);
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, 7, IBV_WC_SUCCESS);
	for (unsigned int i = 0; i < nowhere.length; i++)
		CHECK_EQ(p.b.mr->ptr[i], 0);
	/* read results, and those of atomics */
	wr.opcode = IBV_WR_RDMA_READ;
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, 7, IBV_WC_SUCCESS);
	wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
	wr.sge[0].length = 8;
	wr.compare_add = 5;
	drv_post_send(p.a.qp, &wr);
	drv_expect(p.a.cq, 7, IBV_WC_SUCCESS);
	CHECK_EQ(p.b.mr->ptr[0], 5);
}

/* It is a local key, without a PD or index */
TEST(null_lkey_not_for_peers)
{
	struct drv_pair p = drv_rc_pair(NULL);
	uint32_t null = p.b.d->attr.null_lkey;

	check_write(&p, ADDR, null, REM_ACCESS_ERR);
	check_read(&p, ADDR, null, REM_ACCESS_ERR);
	CHECK_EQ(drv_number_cmd(p.b.d, MYNIC_CMD_DESTROY_MKEY, null >> 8),
		 MYNIC_AQ_BAD_NUMBER);
}
