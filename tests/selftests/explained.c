// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Why the driver refuses calls: with dynamic debugging on, each refusal has a
 * message. Calls that libibverbs or the provider would refuse are made below
 * them.
 */
#include <sys/mman.h>

#include "context.h"
#include "reasons.h"
#include "verbs.h"

#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

FIXTURE(explained)
{
	struct end e;
	int fd;
	struct ibv_device_attr attr;
};

FIXTURE_SETUP(explained)
{
	if (!reasons_wanted(true))
		SKIP(return, "this kernel has no dynamic debugging");
	self->e.ctx = open_mynic(0);
	ASSERT_NE(self->e.ctx, NULL);
	ASSERT_TRUE(make_end(&self->e, IBV_QPT_RC));
	self->fd = self->e.ctx->cmd_fd;
	ASSERT_EQ(ibv_query_device(self->e.ctx, &self->attr), 0);
}

/* What was created without libibverbs is destroyed with the context. */
FIXTURE_TEARDOWN(explained)
{
	reasons_wanted(false);
	EXPECT_EQ(free_end(&self->e), 0);
	EXPECT_EQ(ibv_close_device(self->e.ctx), 0);
}

/* The errno of a function that returns an object */
static int none(const void *object)
{
	return object ? 0 : errno;
}

static int cq_of(struct end *e, int cqe, int vector)
{
	return none(ibv_create_cq(e->ctx, cqe, NULL, NULL, vector));
}

static int resize_cq(struct end *e, uint32_t cqe, uint64_t mmap_key)
{
	struct ib_uverbs_resize_cq cmd = {
		.response = (uintptr_t)reply,
		.cq_handle = e->cq->handle,
		.cqe = cqe,
	};
	struct mynic_resize_cq_req req = { .mmap_key = mmap_key };

	return command(e->ctx->cmd_fd, IB_USER_VERBS_CMD_RESIZE_CQ, &cmd,
		       sizeof(cmd), &req, sizeof(req));
}

TEST_F(explained, completion_queues)
{
	struct ib_uverbs_ex_create_cq flags = {
		.cqe = 16,
		.comp_channel = -1,
		.flags = 1 << 7,
	};
	struct end *e = &self->e;

	EXPECT_REASON(extended(self->fd, IB_USER_VERBS_EX_CMD_CREATE_CQ, &flags,
			       sizeof(flags), NULL, 0),
		      EOPNOTSUPP, "a CQ with flags 0x80$");
	EXPECT_REASON(
		cq_of(e, self->attr.max_cqe + 1, 0), EINVAL,
		"a CQ of [0-9]+ entries with vector 0: 1 to [0-9]+, 0 to");
	EXPECT_REASON(resize_cq(e, self->attr.max_cqe + 1, 0), EINVAL,
		      "CQ 0x[0-9a-f]+ of [0-9]+ entries: 1 to [0-9]+$");
	EXPECT_REASON(
		resize_cq(e, 1000, 0x1000), EINVAL,
		"CQ 0x[0-9a-f]+ has no memory 0x1000 for 2\\^10 entries$");
}

static int qp_with(struct end *e, enum ibv_qp_type type, struct ibv_srq *srq,
		   struct ibv_qp_cap cap)
{
	return none(make_qp_with(e, type, srq, cap));
}

static int driver_qp(struct end *e, struct mynic_create_qp_req req,
		     uint32_t max_recv_wr)
{
	struct ib_uverbs_create_qp cmd = {
		.response = (uintptr_t)reply,
		.pd_handle = e->pd->handle,
		.send_cq_handle = e->cq->handle,
		.recv_cq_handle = e->cq->handle,
		.max_send_wr = 16,
		.max_recv_wr = max_recv_wr,
		.max_send_sge = 1,
		.max_recv_sge = 1,
		.qp_type = IBV_QPT_DRIVER,
	};

	return command(e->ctx->cmd_fd, IB_USER_VERBS_CMD_CREATE_QP, &cmd,
		       sizeof(cmd), &req, sizeof(req));
}

/* Flags that the kernel knows, and the device does not have */
static int flagged_qp(struct end *e, enum ibv_qp_type type, uint32_t flags)
{
	struct ib_uverbs_ex_create_qp cmd = {
		.pd_handle = e->pd->handle,
		.send_cq_handle = e->cq->handle,
		.recv_cq_handle = e->cq->handle,
		.max_send_wr = 16,
		.max_send_sge = 1,
		.qp_type = type,
		.create_flags = flags,
	};

	return extended(e->ctx->cmd_fd, IB_USER_VERBS_EX_CMD_CREATE_QP, &cmd,
			sizeof(cmd), NULL, 0);
}

TEST_F(explained, queue_pairs)
{
	struct ibv_qp_cap cap = { 1, 1, 1, 1, 0 };
	struct end *e = &self->e;

	cap.max_send_wr = self->attr.max_qp_wr + 1;
	EXPECT_REASON(qp_with(e, IBV_QPT_RC, NULL, cap), EINVAL,
		      "[0-9]+ send and 1 receive requests: at most [0-9]+$");
	cap = (struct ibv_qp_cap){ 1, 1, 1, 1, 100000 };
	EXPECT_REASON(qp_with(e, IBV_QPT_RC, NULL, cap), EINVAL,
		      "no room for 1 SGEs and 100000 bytes inline$");
	cap = (struct ibv_qp_cap){ 1, 1, 1, 1000, 0 };
	EXPECT_REASON(qp_with(e, IBV_QPT_RC, NULL, cap), EINVAL,
		      "1000 SGEs to receive: at most [0-9]+$");
	EXPECT_REASON(driver_qp(e,
				(struct mynic_create_qp_req){
					.driver_qp_type = 77,
				},
				0),
		      EOPNOTSUPP, "driver QP type 77, or fields");
	EXPECT_REASON(
		driver_qp(e,
			  (struct mynic_create_qp_req){
				  .driver_qp_type = MYNIC_DRIVER_QP_MEMCPY,
			  },
			  1),
		EINVAL, "memcpy QPs do not receive$");
	EXPECT_REASON(flagged_qp(e, IBV_QPT_RC, IBV_QP_CREATE_SCATTER_FCS),
		      EOPNOTSUPP, "creation flags 0x[0-9a-f]+$");
}

/* @modify with driver data */
static int modify_qp(struct end *e, struct ib_uverbs_ex_modify_qp modify,
		     uint32_t reserved)
{
	struct mynic_modify_qp_req req = { .reserved_04 = reserved };

	modify.base.qp_handle = e->qp->handle;
	return extended(e->ctx->cmd_fd, IB_USER_VERBS_EX_CMD_MODIFY_QP, &modify,
			sizeof(modify), &req, sizeof(req));
}

TEST_F(explained, changes_of_queue_pairs)
{
	struct ib_uverbs_ex_modify_qp alternative = {
		.base = { .attr_mask = IBV_QP_PATH_MIG_STATE },
	};
	struct ib_uverbs_ex_modify_qp timeout = {
		.base = { .attr_mask = IBV_QP_TIMEOUT, .timeout = 32 },
	};
	struct ibv_qp_attr attr = rc_attr(&self->e, &self->e);
	struct end *e = &self->e;

	EXPECT_REASON(modify_qp(e, alternative, 0), EOPNOTSUPP,
		      "QP 0x[0-9a-f]+: no attributes 0x40000$");
	EXPECT_REASON(modify_qp(e, timeout, 0), EINVAL,
		      "QP 0x[0-9a-f]+: timeout is 32, not 0 to 31$");
	EXPECT_REASON(modify_qp(e, timeout, 9), EOPNOTSUPP,
		      "QP 0x[0-9a-f]+: reserved field 0x9$");
	attr.qp_state = IBV_QPS_RTS;
	EXPECT_REASON(ibv_modify_qp(e->qp, &attr, IBV_QP_STATE), EINVAL,
		      "QP 0x[0-9a-f]+: no way from RESET to RTS");
	attr.qp_state = IBV_QPS_INIT;
	ASSERT_EQ(ibv_modify_qp(e->qp, &attr, init_mask(IBV_QPT_RC)), 0);
	attr.qp_state = IBV_QPS_RTR;
	attr.ah_attr.sl = 9;
	EXPECT_REASON(ibv_modify_qp(e->qp, &attr, rtr_mask(IBV_QPT_RC)), EINVAL,
		      "a path with flags 0x1 and SL 9: at most 7$");
}

static int srq_of_type(struct end *e, uint32_t type, uint32_t reserved)
{
	struct ib_uverbs_create_xsrq cmd = {
		.response = (uintptr_t)reply,
		.srq_type = type,
		.pd_handle = e->pd->handle,
		.max_wr = 16,
		.max_sge = 1,
		.max_num_tags = 8,
		.cq_handle = e->cq->handle,
	};
	struct mynic_create_srq_req req = {
		.max_ops = 16,
		.reserved_04 = reserved,
	};

	return command(e->ctx->cmd_fd, IB_USER_VERBS_CMD_CREATE_XSRQ, &cmd,
		       sizeof(cmd), &req, sizeof(req));
}

static int modify_srq(struct ibv_srq *srq, uint32_t mask, uint32_t max_wr,
		      uint32_t limit, uint64_t mmap_key)
{
	struct ib_uverbs_modify_srq cmd = {
		.srq_handle = srq->handle,
		.attr_mask = mask,
		.max_wr = max_wr,
		.srq_limit = limit,
	};
	struct mynic_modify_srq_req req = {
		.mmap_key = mmap_key,
		.resp = (uintptr_t)reply,
	};

	return command(srq->context->cmd_fd, IB_USER_VERBS_CMD_MODIFY_SRQ, &cmd,
		       sizeof(cmd), &req, sizeof(req));
}

static int srq_of(struct end *e, uint32_t max_wr)
{
	struct ibv_srq_init_attr init = { .attr = { max_wr, 1, 0 } };

	return none(ibv_create_srq(e->pd, &init));
}

TEST_F(explained, shared_receive_queues)
{
	struct end *e = &self->e;

	EXPECT_REASON(srq_of(e, self->attr.max_srq_wr + 1), EINVAL,
		      "an SRQ of [0-9]+ requests: 1 to [0-9]+$");
	EXPECT_REASON(srq_of_type(e, 9, 0), EOPNOTSUPP,
		      "no SRQs of type 9 for a process$");
	EXPECT_REASON(srq_of_type(e, IBV_SRQT_TM, 7), EOPNOTSUPP,
		      "an SRQ with reserved field 0x7$");
	EXPECT_REASON(
		none(make_tm_srq(e, 1 << 30, 16)), EINVAL,
		"[0-9]+ tags and 16 operations: 1 to [0-9]+, 1 to [0-9]+$");
}

TEST_F(explained, changes_of_shared_receive_queues)
{
	struct ibv_srq_init_attr init = { .attr = { 16, 1, 0 } };
	struct ibv_srq *srq = ibv_create_srq(self->e.pd, &init);
	struct ibv_srq_attr limit = { .srq_limit = 100000 };

	ASSERT_NE(srq, NULL);
	EXPECT_REASON(modify_srq(srq, 1 << 5, 0, 0, 0), EOPNOTSUPP,
		      "SRQ 0x[0-9a-f]+: no attributes 0x20$");
	EXPECT_REASON(modify_srq(srq, IBV_SRQ_MAX_WR, 0, 0, 0), EINVAL,
		      "SRQ 0x[0-9a-f]+ of 0 requests: 1 to [0-9]+$");
	EXPECT_REASON(
		modify_srq(srq, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT, 64, 65, 1),
		EINVAL,
		"SRQ 0x[0-9a-f]+: limit 65, memory 0x1 of 2\\^6 requests$");
	EXPECT_REASON(
		modify_srq(srq, IBV_SRQ_MAX_WR, 64, 0, 0x1000), EINVAL,
		"SRQ 0x[0-9a-f]+ has no memory 0x1000 for 2\\^6 requests$");
	EXPECT_REASON(ibv_modify_srq(srq, &limit, IBV_SRQ_LIMIT), EINVAL,
		      "SRQ 0x[0-9a-f]+: limit 100000, at most [0-9]+$");
	EXPECT_EQ(ibv_destroy_srq(srq), 0);
}

TEST_F(explained, tags_are_for_rc)
{
	struct ibv_srq *srq = make_tm_srq(&self->e, 8, 16);

	ASSERT_NE(srq, NULL);
	EXPECT_REASON(qp_with(&self->e, IBV_QPT_UC, srq,
			      (struct ibv_qp_cap){ 1, 0, 1, 0, 0 }),
		      EINVAL, "tag matching is for RC only$");
	EXPECT_EQ(ibv_destroy_srq(srq), 0);
}

/* An XRC target has no flags. */
TEST_F(explained, targets)
{
	struct ibv_xrcd_init_attr init = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};
	struct ibv_xrcd *xrcd = ibv_open_xrcd(self->e.ctx, &init);
	struct ib_uverbs_ex_create_qp cmd = {
		.qp_type = IBV_QPT_XRC_RECV,
		.create_flags = IBV_QP_CREATE_SCATTER_FCS,
	};

	ASSERT_NE(xrcd, NULL);
	/* struct verbs_xrcd has the handle after struct ibv_xrcd */
	memcpy(&cmd.pd_handle, (char *)(xrcd + 1) + sizeof(uint32_t),
	       sizeof(cmd.pd_handle));
	EXPECT_REASON(extended(self->fd, IB_USER_VERBS_EX_CMD_CREATE_QP, &cmd,
			       sizeof(cmd), NULL, 0),
		      EOPNOTSUPP,
		      "creation flags 0x[0-9a-f]+ of an XRC target$");
	EXPECT_EQ(ibv_close_xrcd(xrcd), 0);
}

static struct ibv_wq *make_wq(struct end *e, uint32_t max_wr, uint32_t flags)
{
	struct ibv_wq_init_attr init = {
		.wq_type = IBV_WQT_RQ,
		.max_wr = max_wr,
		.max_sge = 1,
		.pd = e->pd,
		.cq = e->cq,
		.comp_mask = IBV_WQ_INIT_ATTR_FLAGS,
		.create_flags = flags,
	};

	return ibv_create_wq(e->ctx, &init);
}

static int rss_qp(struct end *e, struct ibv_rwq_ind_table *table,
		  uint64_t fields, uint32_t max_send_wr)
{
	uint8_t key[40] = { 1 };
	struct ibv_qp_init_attr_ex init = {
		.send_cq = e->cq,
		.qp_type = IBV_QPT_RAW_PACKET,
		.cap = { .max_send_wr = max_send_wr },
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE |
			     IBV_QP_INIT_ATTR_RX_HASH,
		.pd = e->pd,
		.rwq_ind_tbl = table,
		.rx_hash_conf = { .rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
				  .rx_hash_key_len = sizeof(key),
				  .rx_hash_key = key,
				  .rx_hash_fields_mask = fields },
	};
	struct ibv_qp *qp = ibv_create_qp_ex(e->ctx, &init);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	int err;

	if (!qp)
		return errno;
	err = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT);
	ibv_destroy_qp(qp);
	return err;
}

TEST_F(explained, receive_work_queues)
{
	struct ibv_wq_attr attr = {
		.attr_mask = IBV_WQ_ATTR_FLAGS,
		.flags = IBV_WQ_FLAGS_SCATTER_FCS,
		.flags_mask = IBV_WQ_FLAGS_SCATTER_FCS,
	};
	struct ibv_wq *wq = make_wq(&self->e, 16, 0);
	struct end *e = &self->e;

	ASSERT_NE(wq, NULL);
	EXPECT_REASON(none(make_wq(e, 16, IBV_WQ_FLAGS_SCATTER_FCS)),
		      EOPNOTSUPP, "a WQ of type 0 with flags 0x[0-9a-f]+$");
	EXPECT_REASON(none(make_wq(e, self->attr.max_qp_wr + 1, 0)), EINVAL,
		      "a WQ of [0-9]+ requests: 1 to [0-9]+$");
	EXPECT_REASON(ibv_modify_wq(wq, &attr), EOPNOTSUPP,
		      "WQ 0x[0-9a-f]+: attributes 0x4, flags 0x[0-9a-f]+ of");
	EXPECT_EQ(ibv_destroy_wq(wq), 0);
}

TEST_F(explained, rss)
{
	struct ibv_rwq_ind_table_init_attr init = { .log_ind_tbl_size = 8 };
	struct ibv_wq *wq = make_wq(&self->e, 16, 0), *wqs[256];
	struct ibv_rwq_ind_table *table;
	struct end *e = &self->e;

	ASSERT_NE(wq, NULL);
	for (int i = 0; i < 256; i++)
		wqs[i] = wq;
	init.ind_tbl = wqs;
	EXPECT_REASON(none(ibv_create_rwq_ind_table(e->ctx, &init)), EINVAL,
		      "a table of 2\\^8 WQs: at most 2\\^[0-9]+$");
	init.log_ind_tbl_size = 0;
	table = ibv_create_rwq_ind_table(e->ctx, &init);
	ASSERT_NE(table, NULL);
	EXPECT_REASON(rss_qp(e, table, IBV_RX_HASH_INNER, 0), EOPNOTSUPP,
		      "RSS: function 1, fields 0x80000000, or others");
	EXPECT_REASON(rss_qp(e, table, IBV_RX_HASH_SRC_IPV4, 1), EOPNOTSUPP,
		      "RSS: a QP of type 8, creation flags 0x0, 1 to send$");
	EXPECT_REASON(rss_qp(e, table, IBV_RX_HASH_SRC_IPV4, 0), EOPNOTSUPP,
		      "QP 0x[0-9a-f]+: RSS QPs have no states$");
	EXPECT_EQ(ibv_destroy_rwq_ind_table(table), 0);
	EXPECT_EQ(ibv_destroy_wq(wq), 0);
}

/* A rule with two of the specs that count */
struct counting_rule {
	struct ibv_flow_attr attr;
	struct ibv_flow_spec_eth eth;
	struct ibv_flow_spec_counter_action count[2];
} __attribute__((packed));

static int flow_of(struct ibv_qp *qp, struct counting_rule *rule)
{
	return none(ibv_create_flow(qp, (void *)rule));
}

TEST_F(explained, flow_rules)
{
	struct ibv_counters_init_attr init = {};
	struct ibv_counters *counters = ibv_create_counters(self->e.ctx, &init);
	struct ibv_qp *raw = make_qp(&self->e, IBV_QPT_RAW_PACKET);
	struct ibv_qp *ud = make_qp(&self->e, IBV_QPT_UD);
	struct counting_rule rule = {
		.attr = { .size = sizeof(rule), .num_of_specs = 3, .port = 1 },
		.eth = { .type = IBV_FLOW_SPEC_ETH, .size = sizeof(rule.eth) },
	};

	ASSERT_NE(counters, NULL);
	ASSERT_NE(raw, NULL);
	ASSERT_NE(ud, NULL);
	for (int i = 0; i < 2; i++)
		rule.count[i] = (struct ibv_flow_spec_counter_action){
			.type = IBV_FLOW_SPEC_ACTION_COUNT,
			.size = sizeof(rule.count[i]),
			.counters = counters,
		};
	EXPECT_REASON(flow_of(raw, &rule), EINVAL,
		      "a flow rule with two counters$");
	EXPECT_REASON(flow_of(ud, &rule), EOPNOTSUPP,
		      "a flow rule with flags 0x0 for a QP of type 4$");
	rule.attr.type = 4;
	EXPECT_REASON(flow_of(raw, &rule), EINVAL,
		      "a flow rule of type 4 for port 1 with 3 parts$");
	EXPECT_EQ(ibv_destroy_qp(ud), 0);
	EXPECT_EQ(ibv_destroy_qp(raw), 0);
	EXPECT_EQ(ibv_destroy_counters(counters), 0);
}

static int region_of(struct end *e, size_t length, unsigned int access)
{
	return none(ibv_reg_mr(e->pd, e->buf, length, access));
}

TEST_F(explained, regions)
{
	struct ibv_mr *paged =
		ibv_reg_mr(self->e.pd, self->e.buf, PAGE, IBV_ACCESS_ON_DEMAND);
	struct end *e = &self->e;

	ASSERT_NE(paged, NULL);
	EXPECT_REASON(region_of(e, PAGE, IBV_ACCESS_HUGETLB), EOPNOTSUPP,
		      "access flags 0x80$");
	EXPECT_REASON(region_of(e, 1ULL << 62, 0), EINVAL,
		      "a region of [0-9]+ bytes: at most [0-9]+$");
	EXPECT_REASON(ibv_rereg_mr(paged, IBV_REREG_MR_CHANGE_ACCESS, NULL,
				   NULL, 0, IBV_ACCESS_LOCAL_WRITE) ?
			      errno :
			      0,
		      EOPNOTSUPP,
		      "region 0x[0-9a-f]+, paged, cannot change by 0x4$");
	EXPECT_EQ(ibv_dereg_mr(paged), 0);
}

TEST_F(explained, paged_regions)
{
	struct end *e = &self->e;

	EXPECT_REASON(region_of(e, PAGE,
				IBV_ACCESS_ON_DEMAND | IBV_ACCESS_MW_BIND),
		      EOPNOTSUPP, "paged: access flags 0x[0-9a-f]+$");
	EXPECT_REASON(region_of(e, 0, IBV_ACCESS_ON_DEMAND), EINVAL,
		      "paged: 0 bytes at 0x[0-9a-f]+$");
	EXPECT_REASON(none(ibv_reg_mr_iova(e->pd, NULL, SIZE_MAX, PAGE,
					   IBV_ACCESS_ON_DEMAND)),
		      EINVAL, "all memory at 0x[0-9a-f]+, not 0$");
}

TEST_F(explained, advice)
{
	struct ibv_pd *other = ibv_alloc_pd(self->e.ctx);
	struct ibv_mr *mr =
		ibv_reg_mr(self->e.pd, self->e.buf, PAGE, IBV_ACCESS_ON_DEMAND);
	struct ibv_pd *pd = self->e.pd;

	ASSERT_NE(other, NULL);
	ASSERT_NE(mr, NULL);
	EXPECT_REASON(advise(pd, 7, mr->addr, PAGE, mr->lkey), EOPNOTSUPP,
		      "advice 7$");
	EXPECT_REASON(advise(pd, IBV_ADVISE_MR_ADVICE_PREFETCH,
			     self->e.mr->addr, PAGE, self->e.mr->lkey),
		      ENOENT, "no paged region has key 0x[0-9a-f]+$");
	EXPECT_REASON(advise(other, IBV_ADVISE_MR_ADVICE_PREFETCH, mr->addr,
			     PAGE, mr->lkey),
		      EPERM, "region 0x[0-9a-f]+ has another PD$");
	EXPECT_REASON(advise(pd, IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, mr->addr,
			     PAGE, mr->lkey),
		      EPERM, "region 0x[0-9a-f]+ is read-only$");
	EXPECT_REASON(
		advise(pd, IBV_ADVISE_MR_ADVICE_PREFETCH, mr->addr, PAGE + 1,
		       mr->lkey),
		EFAULT,
		"region 0x[0-9a-f]+: [0-9]+ bytes at 0x[0-9a-f]+: -EFAULT$");
	EXPECT_EQ(ibv_dereg_mr(mr), 0);
	EXPECT_EQ(ibv_dealloc_pd(other), 0);
}

static int dm_of(struct end *e, size_t length, uint32_t log_align)
{
	struct ibv_alloc_dm_attr attr = {
		.length = length,
		.log_align_req = log_align,
	};

	return none(ibv_alloc_dm(e->ctx, &attr));
}

TEST_F(explained, device_memory)
{
	struct ibv_alloc_dm_attr attr = { .length = PAGE };
	struct ibv_dm *dm = ibv_alloc_dm(self->e.ctx, &attr);
	struct end *e = &self->e;

	ASSERT_NE(dm, NULL);
	EXPECT_REASON(dm_of(e, 1, 64), EINVAL,
		      "1 bytes of device memory at 2\\^64$");
	EXPECT_REASON(dm_of(e, SIZE_MAX, 0), ENOMEM,
		      "[0-9]+ bytes of device memory: there are [0-9]+$");
	EXPECT_REASON(
		none(ibv_reg_dm_mr(e->pd, dm, 0, PAGE,
				   IBV_ACCESS_ZERO_BASED | IBV_ACCESS_HUGETLB)),
		EOPNOTSUPP, "access flags 0x[0-9a-f]+$");
	EXPECT_EQ(ibv_free_dm(dm), 0);
}

static int map(int fd, off_t offset, int prot, int flags)
{
	void *at = mmap(NULL, PAGE, prot, flags, fd, offset);

	if (at == MAP_FAILED)
		return errno;
	munmap(at, PAGE);
	return 0;
}

/* Where the context has pages that may only be read: no other can be. */
static off_t find_read_only(int fd)
{
	for (off_t key = 0; key < 64 * (off_t)PAGE; key += PAGE)
		if (!map(fd, key, PROT_READ, MAP_SHARED) &&
		    map(fd, key, PROT_READ | PROT_WRITE, MAP_SHARED) == EPERM)
			return key;
	return -1;
}

TEST_F(explained, mappings)
{
	off_t key = find_read_only(self->fd);

	ASSERT_GE(key, 0);
	EXPECT_REASON(map(self->fd, 1LL << 40, PROT_READ, MAP_SHARED), EINVAL,
		      "[0-9]+ bytes at offset 0x10000000000, shared, cannot");
	EXPECT_REASON(map(self->fd, key, PROT_READ, MAP_PRIVATE), EINVAL,
		      "[0-9]+ bytes at offset 0x[0-9a-f]+, private, cannot");
	EXPECT_REASON(map(self->fd, key, PROT_READ | PROT_WRITE, MAP_SHARED),
		      EPERM, "offset 0x[0-9a-f]+ is mapped for reading only$");
}

TEST_F(explained, addresses)
{
	struct ibv_ah_attr attr = rc_attr(&self->e, &self->e).ah_attr;

	attr.sl = 8;
	EXPECT_REASON(none(ibv_create_ah(self->e.pd, &attr)), EINVAL,
		      "a path with flags 0x1 and SL 8: at most 7$");
}

/* Nothing without dynamic debugging */
TEST_F(explained, only_if_wanted)
{
	int log;

	EXPECT_REASON(srq_of(&self->e, 0), EINVAL, "an SRQ of 0 requests: ");
	ASSERT_TRUE(reasons_wanted(false));
	log = reasons_open();
	EXPECT_EQ(srq_of(&self->e, 0), EINVAL);
	EXPECT_EQ(reasons_count(log, "."), 0);
}

TEST_HARNESS_MAIN
