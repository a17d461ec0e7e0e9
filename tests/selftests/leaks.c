// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a process has left when objects are gone, or were refused: no memory, no
 * mapping and no file more than before
 */
#include <dirent.h>
#include <malloc.h>

#include "verbs.h"

/* Until caches of malloc() and of the verbs library are full */
#define WARM_ROUNDS 16
#define ROUNDS 64

/* struct base - what objects are made with */
struct base {
	struct end e;
	struct ibv_xrcd *xrcd;
};

static struct ibv_xrcd *open_xrcd(struct ibv_context *ctx)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};

	return ibv_open_xrcd(ctx, &attr);
}

static bool once_context(struct base *b)
{
	struct ibv_context *ctx = ibv_open_device(b->e.ctx->device);

	return ctx && !ibv_close_device(ctx);
}

static bool once_pd(struct base *b)
{
	struct ibv_pd *pd = ibv_alloc_pd(b->e.ctx);

	return pd && !ibv_dealloc_pd(pd);
}

static bool once_parent_domain(struct base *b)
{
	struct ibv_td_init_attr td_init = { 0 };
	struct ibv_parent_domain_init_attr init = { .pd = b->e.pd };
	struct ibv_pd *pd;

	init.td = ibv_alloc_td(b->e.ctx, &td_init);
	pd = init.td ? ibv_alloc_parent_domain(b->e.ctx, &init) : NULL;
	return pd && !ibv_dealloc_pd(pd) && !ibv_dealloc_td(init.td);
}

static bool once_mr(struct base *b)
{
	struct ibv_mr *mr =
		ibv_reg_mr(b->e.pd, b->e.buf, 4096, IBV_ACCESS_LOCAL_WRITE);

	return mr &&
	       !ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			     0) &&
	       !ibv_dereg_mr(mr);
}

static bool once_mr_refused(struct base *b)
{
	/* No page is mapped there */
	return !ibv_reg_mr(b->e.pd, (void *)4096, 4096, IBV_ACCESS_LOCAL_WRITE);
}

static bool once_dm(struct base *b)
{
	struct ibv_alloc_dm_attr attr = { .length = 4096 };
	struct ibv_dm *dm = ibv_alloc_dm(b->e.ctx, &attr);
	struct ibv_mr *mr;

	mr = dm ? ibv_reg_dm_mr(b->e.pd, dm, 0, 64,
				IBV_ACCESS_ZERO_BASED |
					IBV_ACCESS_LOCAL_WRITE) :
		  NULL;
	return mr && !ibv_memcpy_to_dm(dm, 0, b->e.buf, 64) &&
	       !ibv_dereg_mr(mr) && !ibv_free_dm(dm);
}

static bool once_dm_refused(struct base *b)
{
	struct ibv_alloc_dm_attr attr = { .length = UINT32_MAX };

	return !ibv_alloc_dm(b->e.ctx, &attr);
}

static bool once_mw(struct base *b)
{
	struct ibv_mw *mw = ibv_alloc_mw(b->e.pd, IBV_MW_TYPE_1);

	return mw && !ibv_dealloc_mw(mw);
}

static bool once_mw_refused(struct base *b)
{
	return !ibv_alloc_mw(b->e.pd, IBV_MW_TYPE_2 + 1);
}

static struct ibv_ah_attr ah_attr(const struct end *e)
{
	return rc_attr(e, e).ah_attr;
}

static bool once_ah(struct base *b)
{
	struct ibv_ah_attr attr = ah_attr(&b->e);
	struct ibv_ah *ah = ibv_create_ah(b->e.pd, &attr);

	return ah && !ibv_destroy_ah(ah);
}

static bool once_ah_refused(struct base *b)
{
	struct ibv_ah_attr attr = ah_attr(&b->e);

	attr.grh.sgid_index = 255;
	return !ibv_create_ah(b->e.pd, &attr);
}

static bool once_cq(struct base *b)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(b->e.ctx);
	struct ibv_cq *cq;

	cq = channel ? ibv_create_cq(b->e.ctx, 16, NULL, channel, 0) : NULL;
	return cq && !ibv_resize_cq(cq, 64) && !ibv_destroy_cq(cq) &&
	       !ibv_destroy_comp_channel(channel);
}

static bool once_cq_ex(struct base *b)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 16,
		.wc_flags = IBV_WC_STANDARD_FLAGS |
			    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK,
	};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(b->e.ctx, &attr);

	return cq && !ibv_destroy_cq(ibv_cq_ex_to_cq(cq));
}

static bool once_cq_refused(struct base *b)
{
	return !ibv_create_cq(b->e.ctx, 16, NULL, NULL, 1000);
}

static bool once_srq(struct base *b)
{
	struct ibv_srq_init_attr init = {
		.attr = { .max_wr = 16, .max_sge = 1 },
	};
	struct ibv_srq_attr more = { .max_wr = 64 };
	struct ibv_srq *srq = ibv_create_srq(b->e.pd, &init);

	return srq && !ibv_modify_srq(srq, &more, IBV_SRQ_MAX_WR) &&
	       !ibv_destroy_srq(srq);
}

static bool once_srq_xrc(struct base *b)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = 16, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = b->e.pd,
		.xrcd = b->xrcd,
		.cq = b->e.cq,
	};
	struct ibv_srq *srq = ibv_create_srq_ex(b->e.ctx, &attr);

	return srq && !ibv_destroy_srq(srq);
}

static bool once_srq_tm(struct base *b)
{
	struct ibv_srq *srq = make_tm_srq(&b->e, 16, 16);

	return srq && !ibv_destroy_srq(srq);
}

static bool once_srq_refused(struct base *b)
{
	return !make_tm_srq(&b->e, UINT32_MAX, 16);
}

static bool once_qp(struct base *b, enum ibv_qp_type type)
{
	struct ibv_qp *qp = make_qp(&b->e, type);

	return qp && !ibv_destroy_qp(qp);
}

static bool once_qp_rc(struct base *b)
{
	return once_qp(b, IBV_QPT_RC);
}

static bool once_qp_uc(struct base *b)
{
	return once_qp(b, IBV_QPT_UC);
}

static bool once_qp_ud(struct base *b)
{
	return once_qp(b, IBV_QPT_UD);
}

static bool once_qp_raw(struct base *b)
{
	return once_qp(b, IBV_QPT_RAW_PACKET);
}

static bool once_qp_xrc_send(struct base *b)
{
	return once_qp(b, IBV_QPT_XRC_SEND);
}

static bool once_qp_xrc_recv(struct base *b)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = b->xrcd,
	};
	struct ibv_qp *qp = ibv_create_qp_ex(b->e.ctx, &attr);

	return qp && !ibv_destroy_qp(qp);
}

static bool once_qp_ex(struct base *b)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND,
		.pd = b->e.pd,
		.send_cq = b->e.cq,
		.recv_cq = b->e.cq,
		.cap = { .max_send_wr = 16, .max_send_sge = 1 },
	};
	struct ibv_qp *qp = ibv_create_qp_ex(b->e.ctx, &attr);

	return qp && !ibv_destroy_qp(qp);
}

static bool once_qp_refused(struct base *b)
{
	/* More than a NIC has */
	struct ibv_qp_cap cap = { .max_send_wr = 1 << 24, .max_send_sge = 1 };

	return !make_qp_with(&b->e, IBV_QPT_RC, NULL, cap) &&
	       !make_qp(&b->e, IBV_QPT_DRIVER);
}

static bool once_connection(struct base *b)
{
	return !to_reset(&b->e) && !to_rts(&b->e, &b->e) &&
	       !check_write(&b->e, &b->e, 4096) && !to_reset(&b->e);
}

static bool once_wq(struct base *b)
{
	struct ibv_wq_init_attr init = {
		.wq_type = IBV_WQT_RQ,
		.max_wr = 16,
		.max_sge = 1,
		.pd = b->e.pd,
		.cq = b->e.cq,
	};
	struct ibv_wq *wq = ibv_create_wq(b->e.ctx, &init);
	struct ibv_rwq_ind_table_init_attr table_init = { .ind_tbl = &wq };
	struct ibv_rwq_ind_table *table;

	table = wq ? ibv_create_rwq_ind_table(b->e.ctx, &table_init) : NULL;
	return table && !ibv_destroy_rwq_ind_table(table) &&
	       !ibv_destroy_wq(wq);
}

static bool once_counters(struct base *b)
{
	struct ibv_counters_init_attr init = { 0 };
	struct ibv_counters *counters = ibv_create_counters(b->e.ctx, &init);
	struct ibv_counter_attach_attr attach = {
		.counter_desc = IBV_COUNTER_PACKETS,
	};

	return counters &&
	       !ibv_attach_counters_point_flow(counters, &attach, NULL) &&
	       !ibv_destroy_counters(counters);
}

static bool once_flow(struct base *b)
{
	struct ibv_flow_attr attr = {
		.type = IBV_FLOW_ATTR_ALL_DEFAULT,
		.size = sizeof(attr),
		.port = 1,
	};
	struct ibv_qp *qp = make_qp(&b->e, IBV_QPT_RAW_PACKET);
	struct ibv_flow *flow;

	flow = qp ? ibv_create_flow(qp, &attr) : NULL;
	return flow && !ibv_destroy_flow(flow) && !ibv_destroy_qp(qp);
}

static bool once_flow_refused(struct base *b)
{
	struct ibv_flow_attr attr = { .size = sizeof(attr), .port = 9 };
	struct ibv_qp *qp = make_qp(&b->e, IBV_QPT_RAW_PACKET);

	return qp && !ibv_create_flow(qp, &attr) && !ibv_destroy_qp(qp);
}

static bool once_xrcd(struct base *b)
{
	struct ibv_xrcd *xrcd = open_xrcd(b->e.ctx);

	return xrcd && !ibv_close_xrcd(xrcd);
}

/*
 * struct held - what the process has
 * @memory: bytes from malloc()
 * @mapped: bytes of address space
 * @files: file descriptors
 */
struct held {
	size_t memory;
	size_t mapped;
	unsigned int files;
};

static size_t mapped(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long begin, end;
	size_t sum = 0;

	while (maps && fscanf(maps, "%lx-%lx%*[^\n]", &begin, &end) == 2)
		sum += end - begin;
	if (maps)
		fclose(maps);
	return sum;
}

static unsigned int files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

static struct held held_now(void)
{
	struct held held = { .mapped = mapped(), .files = files() };

	held.memory = mallinfo2().uordblks;
	return held;
}

FIXTURE(leaks)
{
	struct base base;
};

FIXTURE_VARIANT(leaks)
{
	bool (*once)(struct base *b);
};

FIXTURE_VARIANT_ADD(leaks, context){ .once = once_context };
FIXTURE_VARIANT_ADD(leaks, pd){ .once = once_pd };
FIXTURE_VARIANT_ADD(leaks, parent_domain){ .once = once_parent_domain };
FIXTURE_VARIANT_ADD(leaks, mr){ .once = once_mr };
FIXTURE_VARIANT_ADD(leaks, mr_refused){ .once = once_mr_refused };
FIXTURE_VARIANT_ADD(leaks, dm){ .once = once_dm };
FIXTURE_VARIANT_ADD(leaks, dm_refused){ .once = once_dm_refused };
FIXTURE_VARIANT_ADD(leaks, mw){ .once = once_mw };
FIXTURE_VARIANT_ADD(leaks, mw_refused){ .once = once_mw_refused };
FIXTURE_VARIANT_ADD(leaks, ah){ .once = once_ah };
FIXTURE_VARIANT_ADD(leaks, ah_refused){ .once = once_ah_refused };
FIXTURE_VARIANT_ADD(leaks, cq){ .once = once_cq };
FIXTURE_VARIANT_ADD(leaks, cq_ex){ .once = once_cq_ex };
FIXTURE_VARIANT_ADD(leaks, cq_refused){ .once = once_cq_refused };
FIXTURE_VARIANT_ADD(leaks, srq){ .once = once_srq };
FIXTURE_VARIANT_ADD(leaks, srq_xrc){ .once = once_srq_xrc };
FIXTURE_VARIANT_ADD(leaks, srq_tm){ .once = once_srq_tm };
FIXTURE_VARIANT_ADD(leaks, srq_refused){ .once = once_srq_refused };
FIXTURE_VARIANT_ADD(leaks, qp_rc){ .once = once_qp_rc };
FIXTURE_VARIANT_ADD(leaks, qp_uc){ .once = once_qp_uc };
FIXTURE_VARIANT_ADD(leaks, qp_ud){ .once = once_qp_ud };
FIXTURE_VARIANT_ADD(leaks, qp_raw){ .once = once_qp_raw };
FIXTURE_VARIANT_ADD(leaks, qp_xrc_send){ .once = once_qp_xrc_send };
FIXTURE_VARIANT_ADD(leaks, qp_xrc_recv){ .once = once_qp_xrc_recv };
FIXTURE_VARIANT_ADD(leaks, qp_ex){ .once = once_qp_ex };
FIXTURE_VARIANT_ADD(leaks, qp_refused){ .once = once_qp_refused };
FIXTURE_VARIANT_ADD(leaks, connection){ .once = once_connection };
FIXTURE_VARIANT_ADD(leaks, wq){ .once = once_wq };
FIXTURE_VARIANT_ADD(leaks, counters){ .once = once_counters };
FIXTURE_VARIANT_ADD(leaks, flow){ .once = once_flow };
FIXTURE_VARIANT_ADD(leaks, flow_refused){ .once = once_flow_refused };
FIXTURE_VARIANT_ADD(leaks, xrcd){ .once = once_xrcd };

FIXTURE_SETUP(leaks)
{
	self->base.e.ctx = open_mynic(0);
	ASSERT_NE(self->base.e.ctx, NULL);
	ASSERT_TRUE(make_end(&self->base.e, IBV_QPT_RC));
	self->base.xrcd = open_xrcd(self->base.e.ctx);
	ASSERT_NE(self->base.xrcd, NULL);
}

FIXTURE_TEARDOWN(leaks)
{
	EXPECT_EQ(ibv_close_xrcd(self->base.xrcd), 0);
	EXPECT_EQ(free_end(&self->base.e), 0);
	EXPECT_EQ(ibv_close_device(self->base.e.ctx), 0);
}

TEST_F(leaks, none)
{
	struct held before, after;

	for (int i = 0; i < WARM_ROUNDS; i++) {
		ASSERT_TRUE(variant->once(&self->base));
	}
	before = held_now();
	for (int i = 0; i < ROUNDS; i++) {
		ASSERT_TRUE(variant->once(&self->base));
	}
	after = held_now();
	EXPECT_EQ(before.memory, after.memory);
	EXPECT_EQ(before.mapped, after.mapped);
	EXPECT_EQ(before.files, after.files);
}

TEST_HARNESS_MAIN
