// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory windows: objects, ibv_bind_mw(), and illegal binds. */
#include "fixture.h"
#include "mynic.h"

#define WR_ID 0xfedcba9876543210ULL
#define ADDR 0x7f0000001234ULL
#define LENGTH 0x100000001ULL

static uint8_t memory[64];

static struct ibv_mr *reg(struct fixture *f, struct ibv_pd *pd, int access)
{
	struct ibv_mr *mr;

	mr = ibv_reg_mr(pd, memory, sizeof(memory),
			access | IBV_ACCESS_LOCAL_WRITE);
	CHECK(mr);
	return mr;
}

static struct ibv_mw *alloc(struct fixture *f, enum ibv_mw_type type)
{
	struct ibv_mw *mw = ibv_alloc_mw(f->pd, type);

	CHECK(mw);
	CHECK_EQ(mw->type, type);
	return mw;
}

static struct ibv_mw_bind make_bind(struct ibv_mr *mr)
{
	return (struct ibv_mw_bind){
		.wr_id = WR_ID,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = {
			.mr = mr,
			.addr = ADDR,
			.length = LENGTH,
			.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
		},
	};
}

static void check_wqe(struct mynic_send_wqe *wqe, uint32_t data,
		      uint32_t old_rkey, uint32_t new_rkey,
		      const struct ibv_mw_bind *bind)
{
	const struct ibv_mw_bind_info *info = &bind->bind_info;
	struct mynic_bind_operands *operands = (void *)wqe + data;

	CHECK_EQ(le64toh(wqe->wr_id), WR_ID);
	CHECK_EQ(le32toh(wqe->ctrl), IBV_WR_BIND_MW | bind->send_flags << 8);
	CHECK_EQ(le32toh(wqe->len), 0);
	CHECK_EQ(le32toh(wqe->rkey), old_rkey);
	CHECK_EQ(le32toh(operands->new_rkey), new_rkey);
	CHECK_EQ(le64toh(operands->addr), info->addr);
	CHECK_EQ(le64toh(operands->length), info->length);
	CHECK_EQ(le32toh(operands->lkey), info->mr ? info->mr->lkey : 0);
	CHECK_EQ(le32toh(operands->access), info->mw_access_flags);
	CHECK_EQ(le32toh(operands->reserved_1c), 0);
}

/* Each bind takes the next key of 256, in the window and in the ring. */
static void check_keys(enum ibv_qp_type type, uint32_t data)
{
	struct fixture *f = fixture_open(16);
	struct ibv_mr *mr = reg(f, f->pd, IBV_ACCESS_MW_BIND);
	struct ibv_mw *mw = alloc(f, IBV_MW_TYPE_1);
	struct ibv_qp *qp = fixture_qp(f, type, 8, 2);
	uint32_t keys[5] = { mw->rkey };

	CHECK_EQ(keys[0], 0x123400fe);
	keys[1] = 0x123400ff;
	keys[2] = 0x12340000;
	keys[3] = 0x12340001;
	keys[4] = 0x12340002;
	for (int i = 0; i < 4; i++) {
		struct ibv_mw_bind bind = make_bind(mr);

		if (i == 1)
			bind.send_flags |= IBV_SEND_FENCE;
		if (i >= 2)
			bind.bind_info.length = 0;
		if (i == 3) {
			bind.bind_info.mr = NULL;
			bind.bind_info.addr = 0;
		}
		memset(fixture_sq_slot(i), 0xee, 64);
		CHECK_EQ(ibv_bind_mw(qp, mw, &bind), 0);
		CHECK_EQ(mw->rkey, keys[i + 1]);
		check_wqe(fixture_sq_slot(i), data, keys[i], keys[i + 1],
			  &bind);
		CHECK_EQ(le64toh(*fake_uar(MYNIC_UAR_QP_DB)),
			 (uint64_t)qp->qp_num << 32 | (i + 1));
		CHECK_EQ(le32toh(fake_qp.dbrec->sq_pi), i + 1);
	}
	CHECK_EQ(ibv_dealloc_mw(mw), 0);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
}

TEST(bind_rc)
{
	check_keys(IBV_QPT_RC, MYNIC_WQE_DATA_RC);
}

TEST(bind_uc)
{
	check_keys(IBV_QPT_UC, MYNIC_WQE_DATA_RC);
}

TEST(bind_xrc)
{
	check_keys(IBV_QPT_XRC_SEND, MYNIC_WQE_DATA_EXT);
}

TEST(bind_when_full)
{
	struct fixture *f = fixture_open(16);
	struct ibv_mr *mr = reg(f, f->pd, IBV_ACCESS_MW_BIND);
	struct ibv_mw *mw = alloc(f, IBV_MW_TYPE_1);
	struct ibv_qp *qp = fixture_qp(f, IBV_QPT_RC, 1, 2);
	struct ibv_mw_bind bind = make_bind(mr);

	CHECK_EQ(ibv_bind_mw(qp, mw, &bind), 0);
	CHECK_EQ(ibv_bind_mw(qp, mw, &bind), ENOMEM);
	CHECK_EQ(mw->rkey, 0x123400ff);
	fixture_set_state(qp, IBV_QPS_RESET);
	CHECK_EQ(ibv_bind_mw(qp, mw, &bind), EINVAL);
	CHECK_EQ(mw->rkey, 0x123400ff);
	CHECK_EQ(ibv_dealloc_mw(mw), 0);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
}

TEST(bind_on_wrong_types)
{
	static const enum ibv_qp_type types[] = { IBV_QPT_UD,
						  IBV_QPT_RAW_PACKET,
						  IBV_QPT_DRIVER };
	struct fixture *f = fixture_open(16);
	struct ibv_mr *mr = reg(f, f->pd, IBV_ACCESS_MW_BIND);
	struct ibv_mw *mw = alloc(f, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = make_bind(mr);

	for (int i = 0; i < ARRAY_SIZE(types); i++) {
		struct ibv_qp_init_attr attr = {
			.send_cq = f->cq,
			.recv_cq = f->cq,
			.cap = { .max_send_wr = 1 },
			.qp_type = types[i],
		};
		struct ibv_qp *qp = ibv_create_qp(f->pd, &attr);

		CHECK(qp);
		fixture_set_state(qp, IBV_QPS_RTS);
		CHECK_EQ(ibv_bind_mw(qp, mw, &bind), EINVAL);
		CHECK_EQ(ibv_destroy_qp(qp), 0);
	}
	CHECK_EQ(ibv_dealloc_mw(mw), 0);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
}

/* Kinds of memory regions, and the result of a bind to each */
enum region {
	GOOD,
	NO_BIND,
	ZERO_BASED,
	READ_ONLY,
	IMPORTED,
	NULL_MR,
	DMABUF,
	DMABUF_NO_BIND,
	DM,
	TO_BIND,
	TO_NO_BIND,
	TO_ITS_PD,
	TO_OTHER_PD,
	NOT_TO_OTHER_PD,
	OTHER_PD,
	NO_MR,
	REGIONS,
};

static struct ibv_mr *rereg(struct ibv_mr *mr, int flags, struct ibv_pd *pd,
			    int access)
{
	CHECK_EQ(ibv_rereg_mr(mr, flags, pd, NULL, 0, access), 0);
	return mr;
}

static struct ibv_mr *reg_kind(struct fixture *f, struct ibv_pd *other,
			       enum region kind)
{
	const int bind = IBV_ACCESS_MW_BIND | IBV_ACCESS_LOCAL_WRITE;
	struct ibv_alloc_dm_attr dm_attr = { .length = 4096 };
	struct ibv_dm *dm;
	struct ibv_mr *mr;

	switch (kind) {
	case NO_BIND:
		return reg(f, f->pd, 0);
	case ZERO_BASED:
		return reg(f, f->pd, bind | IBV_ACCESS_ZERO_BASED);
	case READ_ONLY:
		return ibv_reg_mr(f->pd, memory, 1, IBV_ACCESS_MW_BIND);
	case IMPORTED:
		return ibv_import_mr(f->pd, 1);
	case NULL_MR:
		return ibv_alloc_null_mr(f->pd);
	case DMABUF:
		return ibv_reg_dmabuf_mr(f->pd, 0, 1, 0, 0, bind);
	case DMABUF_NO_BIND:
		return ibv_reg_dmabuf_mr(f->pd, 0, 1, 0, 0,
					 IBV_ACCESS_LOCAL_WRITE);
	case DM:
		dm = ibv_alloc_dm(f->context, &dm_attr);
		CHECK(dm);
		mr = ibv_reg_dm_mr(f->pd, dm, 0, 4096,
				   bind | IBV_ACCESS_ZERO_BASED);
		CHECK_EQ(ibv_free_dm(dm), 0);
		return mr;
	case TO_BIND:
		return rereg(reg(f, f->pd, 0), IBV_REREG_MR_CHANGE_ACCESS, NULL,
			     bind);
	case TO_NO_BIND:
		return rereg(reg(f, f->pd, bind), IBV_REREG_MR_CHANGE_ACCESS,
			     NULL, IBV_ACCESS_LOCAL_WRITE);
	case TO_ITS_PD:
		return rereg(reg(f, other, bind), IBV_REREG_MR_CHANGE_PD, f->pd,
			     0);
	case TO_OTHER_PD:
		return rereg(reg(f, f->pd, bind), IBV_REREG_MR_CHANGE_PD, other,
			     0);
	case NOT_TO_OTHER_PD:
		mr = reg(f, f->pd, bind);
		fake.fail = EINVAL;
		CHECK(ibv_rereg_mr(
			mr, IBV_REREG_MR_CHANGE_PD | IBV_REREG_MR_CHANGE_ACCESS,
			other, NULL, 0, 0));
		return mr;
	default:
		return reg(f, kind == OTHER_PD ? other : f->pd, bind);
	}
}

/* Bind a window of either type */
static int bind_any(struct ibv_qp *qp, struct ibv_mw *mw, bool wr_api,
		    uint32_t rkey, struct ibv_mw_bind *bind)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_BIND_MW,
		.bind_mw = { mw, rkey, bind->bind_info },
	}, *bad;

	if (!wr_api)
		return ibv_post_send(qp, &wr, &bad);
	ibv_wr_start(qpx);
	ibv_wr_bind_mw(qpx, mw, rkey, &bind->bind_info);
	return ibv_wr_complete(qpx);
}

static struct ibv_qp *create_qp(struct fixture *f)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = f->cq,
		.recv_cq = f->cq,
		.cap = { .max_send_wr = 64, .max_send_sge = 1 },
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = f->pd,
		.send_ops_flags = IBV_QP_EX_WITH_BIND_MW,
	};
	struct ibv_qp *qp = ibv_create_qp_ex(f->context, &attr);

	CHECK(qp);
	fixture_set_state(qp, IBV_QPS_RTS);
	return qp;
}

TEST(regions)
{
	static const int expected[REGIONS] = {
		[NO_BIND] = EINVAL,	   [ZERO_BASED] = EINVAL,
		[READ_ONLY] = EINVAL,	   [IMPORTED] = EOPNOTSUPP,
		[NULL_MR] = EOPNOTSUPP,	   [OTHER_PD] = EPERM,
		[DMABUF_NO_BIND] = EINVAL, [DM] = EINVAL,
		[TO_NO_BIND] = EINVAL,	   [TO_OTHER_PD] = EPERM,
		[NO_MR] = EINVAL,
	};
	struct fixture *f = fixture_open(16);
	struct ibv_mw *mw1 = alloc(f, IBV_MW_TYPE_1);
	struct ibv_mw *mw2 = alloc(f, IBV_MW_TYPE_2);
	struct ibv_pd *other = ibv_alloc_pd(f->context);
	struct ibv_qp *qp = create_qp(f);
	uint32_t pi = 0;

	CHECK(other);
	for (enum region kind = 0; kind < REGIONS; kind++) {
		struct ibv_mr *mr = reg_kind(f, other, kind);
		struct ibv_mw_bind bind = make_bind(kind == NO_MR ? NULL : mr);
		uint32_t rkey = ibv_inc_rkey(mw2->rkey), old = mw1->rkey;

		for (int api = 0; api < 2; api++)
			CHECK_EQ(bind_any(qp, mw2, api, rkey, &bind),
				 expected[kind]);
		CHECK_EQ(ibv_bind_mw(qp, mw1, &bind), expected[kind]);
		CHECK_EQ(mw1->rkey, expected[kind] ? old : ibv_inc_rkey(old));
		pi += expected[kind] ? 0 : 3;
		CHECK_EQ(le32toh(fake_qp.dbrec->sq_pi), pi);

		/* a window that is only read needs no write access */
		bind.bind_info.mw_access_flags = IBV_ACCESS_REMOTE_READ;
		if (kind == READ_ONLY) {
			CHECK_EQ(bind_any(qp, mw2, true, rkey, &bind), 0);
			CHECK_EQ(ibv_bind_mw(qp, mw1, &bind), 0);
			pi += 2;
		}
		if (kind == IMPORTED)
			ibv_unimport_mr(mr);
		else
			CHECK_EQ(ibv_dereg_mr(mr), 0);
	}
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	CHECK_EQ(ibv_dealloc_pd(other), 0);
	CHECK_EQ(ibv_dealloc_mw(mw1), 0);
	CHECK_EQ(ibv_dealloc_mw(mw2), 0);
}

/*
 * A parent domain may be destroyed before regions and windows that were created
 * in it. Only the process knows the domain of a null region.
 */
TEST(domains_that_are_gone)
{
	struct fixture *f = fixture_open(16);
	struct ibv_parent_domain_init_attr attr = { .pd = f->pd };
	struct ibv_pd *parent = ibv_alloc_parent_domain(f->context, &attr);
	struct ibv_pd *other = ibv_alloc_pd(f->context);
	struct ibv_qp *qp = create_qp(f);
	struct ibv_mr *mr, *null_mr;
	struct ibv_mw_bind bind;
	struct ibv_mw *mw;

	CHECK(parent && other);
	mr = reg(f, parent, IBV_ACCESS_MW_BIND);
	mw = ibv_alloc_mw(parent, IBV_MW_TYPE_1);
	null_mr = ibv_alloc_null_mr(other);
	CHECK(mw && null_mr);
	CHECK_EQ(ibv_dealloc_pd(parent), 0);
	CHECK_EQ(ibv_dealloc_pd(other), 0);

	bind = make_bind(mr);
	CHECK_EQ(ibv_bind_mw(qp, mw, &bind), 0);
	bind = make_bind(null_mr);
	CHECK_EQ(ibv_bind_mw(qp, mw, &bind), EPERM);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	CHECK_EQ(ibv_dereg_mr(null_mr), 0);
	CHECK_EQ(ibv_dealloc_mw(mw), 0);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
}

TEST(bad_binds)
{
	struct fixture *f = fixture_open(16);
	struct ibv_mr *mr = reg(f, f->pd, IBV_ACCESS_MW_BIND);
	struct ibv_mw *mw1 = alloc(f, IBV_MW_TYPE_1);
	struct ibv_mw *mw2 = alloc(f, IBV_MW_TYPE_2);
	struct ibv_qp *qp = create_qp(f);
	uint32_t rkey = mw2->rkey + 1;

	for (int api = 0; api < 2; api++) {
		struct ibv_mw_bind bind = make_bind(mr);

		/* of the other type; a key that is another window's */
		CHECK_EQ(bind_any(qp, mw1, api, rkey, &bind), EINVAL);
		CHECK_EQ(bind_any(qp, mw2, api, rkey + 256, &bind), EINVAL);
		CHECK_EQ(bind_any(qp, mw2, api, 0, &bind), EINVAL);
		/* only type 1 is unbound in this way */
		bind.bind_info.length = 0;
		CHECK_EQ(bind_any(qp, mw2, api, rkey, &bind), EINVAL);
		bind.bind_info.length = 1;
		for (int bit = 0; bit < 32; bit++) {
			unsigned int access = 1U << bit;
			unsigned int good = IBV_ACCESS_LOCAL_WRITE |
					    IBV_ACCESS_REMOTE_WRITE |
					    IBV_ACCESS_REMOTE_READ |
					    IBV_ACCESS_REMOTE_ATOMIC |
					    IBV_ACCESS_ZERO_BASED;

			bind.bind_info.mw_access_flags = access;
			CHECK_EQ(bind_any(qp, mw2, api, rkey, &bind),
				 access & good ? 0 : EINVAL);
			CHECK_EQ(ibv_bind_mw(qp, mw1, &bind),
				 access & good ? 0 : EINVAL);
		}
	}
	for (int bit = 0; bit < 32; bit++) {
		struct ibv_mw_bind bind = make_bind(mr);
		unsigned int flag = 1U << bit;
		bool good = flag == IBV_SEND_FENCE || flag == IBV_SEND_SIGNALED;

		bind.send_flags = flag;
		CHECK_EQ(ibv_bind_mw(qp, mw1, &bind), good ? 0 : EINVAL);
	}
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	CHECK_EQ(ibv_dealloc_mw(mw1), 0);
	CHECK_EQ(ibv_dealloc_mw(mw2), 0);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
}

TEST(kernel_refuses)
{
	struct fixture *f = fixture_open(16);
	struct ibv_mw *mw;

	fake.fail = EDQUOT;
	errno = 0;
	CHECK(!ibv_alloc_mw(f->pd, IBV_MW_TYPE_1));
	CHECK_EQ(errno, EDQUOT);
	mw = alloc(f, IBV_MW_TYPE_2);
	fake.fail = EBUSY;
	CHECK_EQ(ibv_dealloc_mw(mw), EBUSY);
	CHECK_EQ(ibv_dealloc_mw(mw), 0);
}
