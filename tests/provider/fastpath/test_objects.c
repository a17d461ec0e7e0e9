// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Creation and destruction: results, errors, and complete cleanup */
#include <stdlib.h>

#include "fixture.h"
#include "mynicdv.h"

TEST(queries)
{
	struct fixture *f = fixture_open(8);
	struct ibv_device_attr_ex attr_ex;
	struct ibv_device_attr attr;
	struct ibv_port_attr port;

	CHECK_EQ(ibv_query_device(f->context, &attr), 0);
	CHECK_EQ(strcmp(attr.fw_ver, "1.22.333"), 0);
	CHECK_EQ(ibv_query_device_ex(f->context, NULL, &attr_ex), 0);
	CHECK_EQ(strcmp(attr_ex.orig_attr.fw_ver, "1.22.333"), 0);
	CHECK_EQ(ibv_query_port(f->context, 1, &port), 0);
	CHECK_EQ(port.state, IBV_PORT_ACTIVE);
}

static void check_limits(uint8_t sq, uint8_t rq, uint8_t size)
{
	static struct verbs_device ours = { .ops = &verbs_provider_mynic };
	struct mynicdv_device_attr attr;
	struct ibv_context *context;
	struct ibv_device *device;

	fake.log_max_sq_stride = sq;
	fake.log_max_rq_stride = rq;
	fake.log_max_memcpy = size;
	context = fake_open();
	CHECK(context);
	device = context->device;
	context->device = &ours.device;
	CHECK_EQ(mynicdv_query_device(context, &attr, sizeof(attr)), 0);
	context->device = device;
	CHECK_EQ(attr.max_sq_stride, 1U << (sq ? sq : 9));
	CHECK_EQ(attr.max_rq_stride, 1U << (rq ? rq : 9));
	CHECK_EQ(attr.max_memcpy_size, 1U << (size ? size : 31));
}

TEST(limits_that_the_kernel_tells)
{
	check_limits(10, 8, 20);
}

/* Limits of a kernel that does not report them */
TEST(limits_as_they_always_were)
{
	check_limits(0, 0, 0);
}

TEST(tso_capacity)
{
	struct fixture *f = fixture_open(8);
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = f->cq,
		.recv_cq = f->cq,
		.cap = { .max_send_wr = 4, .max_send_sge = 3 },
		.qp_type = IBV_QPT_UD,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_MAX_TSO_HEADER,
		.pd = f->pd,
		.max_tso_header = 54,
	};
	struct ibv_qp *qp = ibv_create_qp_ex(f->context, &attr);
	struct ibv_qp_init_attr init_attr;
	struct ibv_qp_attr qp_attr;

	CHECK(qp);
	CHECK(attr.cap.max_send_sge >= 3);
	/* the kernel counts those that fit where the header is */
	CHECK(attr.cap.max_send_sge < fake_qp.cap.max_send_sge);
	CHECK_EQ(ibv_query_qp(qp, &qp_attr, IBV_QP_CAP, &init_attr), 0);
	CHECK_EQ(memcmp(&qp_attr.cap, &attr.cap, sizeof(attr.cap)), 0);
	CHECK_EQ(memcmp(&init_attr.cap, &attr.cap, sizeof(attr.cap)), 0);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
}

TEST(capacity_is_what_there_is)
{
	struct fixture *f = fixture_open(8);
	struct ibv_qp_init_attr attr = {
		.send_cq = f->cq,
		.recv_cq = f->cq,
		.cap = { .max_send_wr = 5,
			 .max_recv_wr = 3,
			 .max_send_sge = 3,
			 .max_recv_sge = 2,
			 .max_inline_data = 50 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp = ibv_create_qp(f->pd, &attr);

	CHECK(qp);
	CHECK_EQ(attr.cap.max_send_wr, 8);
	CHECK_EQ(attr.cap.max_recv_wr, 4);
	CHECK_EQ(attr.cap.max_send_sge, 6);
	CHECK_EQ(attr.cap.max_recv_sge, 3);
	CHECK_EQ(attr.cap.max_inline_data, 96);
	CHECK(!ibv_qp_to_qp_ex(qp));
	CHECK_EQ(ibv_destroy_qp(qp), 0);
}

TEST(qp_refusals)
{
	static const struct {
		enum ibv_qp_type type;
		uint32_t comp_mask;
		uint64_t ops;
	} bad[] = {
		{ 7, 0, 0 },
		{ IBV_QPT_RC, IBV_QP_INIT_ATTR_MAX_TSO_HEADER, 0 },
		{ IBV_QPT_RC, IBV_QP_INIT_ATTR_XRCD, 0 },
		{ IBV_QPT_XRC_SEND, IBV_QP_INIT_ATTR_XRCD, 0 },
		{ IBV_QPT_XRC_SEND, IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		  IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_TSO },
		{ IBV_QPT_XRC_RECV,
		  IBV_QP_INIT_ATTR_XRCD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		  IBV_QP_EX_WITH_SEND },
		{ IBV_QPT_RC, 1U << 31, 0 },
		{ IBV_QPT_UD, IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		  IBV_QP_EX_WITH_RDMA_WRITE },
		{ IBV_QPT_UD, IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		  IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_READ },
		{ IBV_QPT_UC, IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		  IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_READ },
		{ IBV_QPT_UC, IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		  IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP },
		{ IBV_QPT_UC, IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		  IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD },
		{ IBV_QPT_RC, IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		  IBV_QP_EX_WITH_TSO },
		{ IBV_QPT_RC, IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		  IBV_QP_EX_WITH_SEND | 1ULL << 50 },
	};
	struct fixture *f = fixture_open(8);

	for (int i = 0; i < ARRAY_SIZE(bad); i++) {
		struct ibv_qp_init_attr_ex attr = {
			.send_cq = f->cq,
			.recv_cq = f->cq,
			.qp_type = bad[i].type,
			.comp_mask = IBV_QP_INIT_ATTR_PD | bad[i].comp_mask,
			.pd = f->pd,
			.send_ops_flags = bad[i].ops,
			.max_tso_header = 14,
		};

		errno = 0;
		CHECK(!ibv_create_qp_ex(f->context, &attr));
		CHECK_EQ(errno, EOPNOTSUPP);
	}
}

TEST(qp_create_flags)
{
	struct fixture *f = fixture_open(8);
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = f->cq,
		.recv_cq = f->cq,
		.cap = { .max_send_wr = 5 },
		.qp_type = IBV_QPT_UD,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_CREATE_FLAGS,
		.pd = f->pd,
	};
	struct ibv_qp *qp = ibv_create_qp_ex(f->context, &attr);

	CHECK(qp);
	CHECK_EQ(attr.cap.max_send_wr, 8);
	CHECK_EQ(ibv_destroy_qp(qp), 0);

	attr.create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB;
	CHECK(!ibv_create_qp_ex(f->context, &attr));
	CHECK_EQ(errno, EOPNOTSUPP);

	attr.comp_mask = 0;
	CHECK(!ibv_create_qp_ex(f->context, &attr));
	CHECK_EQ(errno, EINVAL);
}

static bool has_all_ops(struct ibv_qp_ex *qp, enum ibv_qp_type type)
{
	bool all = qp->wr_start && qp->wr_complete && qp->wr_abort &&
		   qp->wr_send && qp->wr_send_imm && qp->wr_set_sge &&
		   qp->wr_set_sge_list && qp->wr_set_inline_data &&
		   qp->wr_set_inline_data_list;

	if (type == IBV_QPT_UD)
		return all && qp->wr_set_ud_addr;
	all = all && qp->wr_rdma_write && qp->wr_rdma_write_imm;
	if (type == IBV_QPT_UC)
		return all;
	return all && qp->wr_rdma_read && qp->wr_atomic_cmp_swp &&
	       qp->wr_atomic_fetch_add;
}

TEST(wr_functions)
{
	static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UC,
						  IBV_QPT_UD };
	struct fixture *f = fixture_open(8);

	for (int i = 0; i < ARRAY_SIZE(types); i++) {
		struct ibv_qp *qp = fixture_qp(f, types[i], 4, 1);

		CHECK(has_all_ops(ibv_qp_to_qp_ex(qp), types[i]));
	}
}

/* Create one object; @kind chooses which. */
static bool create(struct fixture *f, int kind)
{
	struct ibv_srq_init_attr srq_attr = {
		.attr = { .max_wr = 1, .max_sge = 1 },
	};
	struct ibv_cq_init_attr_ex cq_attr = { .cqe = 1 };
	struct ibv_qp_init_attr qp_attr = {
		.send_cq = f->cq,
		.recv_cq = f->cq,
		.cap = { .max_send_wr = 1 },
		.qp_type = IBV_QPT_UD,
	};
	struct ibv_ah_attr ah_attr = { .is_global = 1, .port_num = 1 };

	errno = 0;
	switch (kind) {
	case 0:
		return ibv_create_cq(f->context, 1, NULL, NULL, 0);
	case 1:
		return ibv_create_cq_ex(f->context, &cq_attr);
	case 2:
		return ibv_create_srq(f->pd, &srq_attr);
	case 3:
		return ibv_create_qp(f->pd, &qp_attr);
	case 4:
		return ibv_alloc_pd(f->context);
	case 5:
		return ibv_create_ah(f->pd, &ah_attr);
	default:
		return ibv_reg_mr(f->pd, f, 1, 0);
	}
}

#define KINDS_WITH_MAP 4
#define KINDS 7

TEST(kernel_refuses)
{
	struct fixture *f = fixture_open(8);
	int live = fake.live;

	for (int kind = 0; kind < KINDS; kind++) {
		fake.fail = EDQUOT;
		CHECK(!create(f, kind));
		CHECK_EQ(errno, EDQUOT);
		CHECK_EQ(fake.live, live);
	}
}

TEST(mapping_fails)
{
	struct fixture *f = fixture_open(8);
	int live = fake.live;

	fake.bad_map = true;
	for (int kind = 0; kind < KINDS_WITH_MAP; kind++) {
		CHECK(!create(f, kind));
		CHECK_EQ(errno, EINVAL);
		CHECK_EQ(fake.live, live);
	}
}

TEST(device_does_not_open)
{
	fake.fail = ENODEV;
	errno = 0;
	CHECK(!fake_open());
	CHECK_EQ(errno, ENODEV);
	fake.bad_map = true;
	CHECK(!fake_open());
	CHECK_EQ(errno, EINVAL);
}

/* An object that the kernel does not destroy stays usable. */
TEST(destroy_fails)
{
	struct fixture *f = fixture_open(8);
	struct ibv_qp *qp = fixture_qp(f, IBV_QPT_RC, 4, 1);
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;
	struct ibv_ah *ah = fixture_ah(f);
	struct ibv_wc wc;

	fake.fail = EBUSY;
	CHECK_EQ(ibv_destroy_qp(qp), EBUSY);
	CHECK_EQ(ibv_post_send(qp, &wr, &bad), 0);
	fake.fail = EBUSY;
	CHECK_EQ(ibv_destroy_cq(f->cq), EBUSY);
	CHECK_EQ(ibv_poll_cq(f->cq, 1, &wc), 0);
	fake.fail = EBUSY;
	CHECK_EQ(ibv_dealloc_pd(f->pd), EBUSY);
	fake.fail = EBUSY;
	CHECK_EQ(ibv_destroy_ah(ah), EBUSY);
}

/*
 * If the device is gone, the kernel destroys everything, in any order. The
 * completions of a QP are still removed from its CQs.
 */
TEST(qp_keeps_its_cqs)
{
	struct fixture *f = fixture_open(8);
	struct ibv_qp_init_attr attr = {
		.send_cq = ibv_create_cq(f->context, 8, NULL, NULL, 0),
		.recv_cq = ibv_create_cq(f->context, 8, NULL, NULL, 0),
		.cap = { .max_send_wr = 1, .max_recv_wr = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp;

	CHECK(attr.send_cq && attr.recv_cq);
	qp = ibv_create_qp(f->pd, &attr);
	CHECK(qp);
	CHECK_EQ(ibv_destroy_cq(attr.send_cq), EBUSY);
	CHECK_EQ(ibv_destroy_cq(attr.recv_cq), EBUSY);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	CHECK_EQ(ibv_destroy_cq(attr.send_cq), 0);
	CHECK_EQ(ibv_destroy_cq(attr.recv_cq), 0);
}

/* A QP does not need its SRQ to know these CQs. */
TEST(qp_outlives_its_srq)
{
	struct fixture *f = fixture_open(8);
	struct ibv_srq_init_attr srq_attr = {
		.attr = { .max_wr = 1, .max_sge = 1 },
	};
	struct ibv_qp_init_attr attr = {
		.send_cq = f->cq,
		.recv_cq = f->cq,
		.srq = ibv_create_srq(f->pd, &srq_attr),
		.cap = { .max_send_wr = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp;

	CHECK(attr.srq);
	qp = ibv_create_qp(f->pd, &attr);
	CHECK(qp);
	CHECK_EQ(ibv_destroy_srq(attr.srq), 0);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
}
