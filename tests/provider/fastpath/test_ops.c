// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Each operation of ibv_post_send(3) and ibv_wr_post(3) on each type of QP, with
 * each kind of data. The results are the bytes in the ring, or the error.
 */
#include "fixture.h"
#include "mynic.h"

#define RADDR 0x1122334455667788ULL
#define RKEY 0xa1b2c3d4U
#define WR_ID 0xfedcba9876543210ULL
#define IMM 0x01020304U
#define INV_RKEY 0x55667788U
#define COMPARE 0x0123456789abcdefULL
#define SWAP 0x1032547698badcfeULL
#define SRQN 0x654321U
#define QPN 0x123456U
#define QKEY 0x80010000U
#define MSS 1460
#define HDR_LEN 54
#define FLUSH_LEN 0x12345678

enum { RC = 1, UC = 2, XRC = 4, UD = 8, RAW = 16, DRIVER = 32 };

#define CONNECTED (RC | UC | XRC)

enum data { ANY, SGES, TSO, FIXED, NONE };

/* The tables of the manual pages */
static const struct op {
	enum ibv_wr_opcode opcode;
	uint64_t flag;
	unsigned int types;
	enum data data;
} ops[] = {
#define OP(name, types, data) \
	{ IBV_WR_##name, IBV_QP_EX_WITH_##name, types, data }
	OP(RDMA_WRITE, CONNECTED, ANY),
	OP(RDMA_WRITE_WITH_IMM, CONNECTED, ANY),
	OP(SEND, CONNECTED | UD | RAW, ANY),
	OP(SEND_WITH_IMM, CONNECTED | UD, ANY),
	OP(RDMA_READ, RC | XRC, SGES),
	OP(ATOMIC_CMP_AND_SWP, RC | XRC, SGES),
	OP(ATOMIC_FETCH_AND_ADD, RC | XRC, SGES),
	OP(LOCAL_INV, CONNECTED, NONE),
	OP(BIND_MW, CONNECTED, NONE),
	OP(SEND_WITH_INV, CONNECTED, ANY),
	OP(TSO, UD | RAW, TSO),
	OP(FLUSH, RC | XRC, FIXED),
	OP(ATOMIC_WRITE, RC | XRC, FIXED),
	{ IBV_WR_DRIVER1, 0, DRIVER, ANY },
};

/* Ways to give data: SGEs of ibv_send_wr, or a setter */
enum setter { NO_SETTER, SGE, SGE_LIST, INLINE, INLINE_LIST, SETTERS };

/* A type of QP, and objects that its requests need */
struct cell {
	struct fixture *f;
	struct ibv_qp *qp;
	unsigned int type;
	struct ibv_ah *ah;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
};

static uint8_t payload[48], header[HDR_LEN];

static const struct ibv_sge sges[2] = {
	{ (uintptr_t)payload, 16, 0x200 },
	{ (uintptr_t)payload + 16, 5, 0x201 },
};

static bool is_inline(enum setter how)
{
	return how == INLINE || how == INLINE_LIST;
}

static int pieces(const struct op *op, enum setter how)
{
	if (how == NO_SETTER)
		return 0;
	/* operands are where a second SGE would be */
	if (op->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	    op->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		return 1;
	return how == SGE || how == INLINE ? 1 : 2;
}

static enum ibv_qp_type qp_type(unsigned int type)
{
	switch (type) {
	case RC:
		return IBV_QPT_RC;
	case UC:
		return IBV_QPT_UC;
	case XRC:
		return IBV_QPT_XRC_SEND;
	case UD:
		return IBV_QPT_UD;
	case RAW:
		return IBV_QPT_RAW_PACKET;
	default:
		return IBV_QPT_DRIVER;
	}
}

static uint64_t flags_of(unsigned int type)
{
	uint64_t flags = 0;

	for (int i = 0; i < ARRAY_SIZE(ops); i++)
		if (ops[i].types & type)
			flags |= ops[i].flag;
	return flags;
}

static struct ibv_qp *create(struct fixture *f, unsigned int type,
			     uint64_t flags)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = f->cq,
		.recv_cq = f->cq,
		.cap = { .max_send_wr = 8, .max_send_sge = 2 },
		.qp_type = qp_type(type),
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = f->pd,
		.send_ops_flags = flags,
	};

	if (type == UD || type == RAW) {
		attr.comp_mask |= IBV_QP_INIT_ATTR_MAX_TSO_HEADER;
		attr.max_tso_header = HDR_LEN;
	}
	return ibv_create_qp_ex(f->context, &attr);
}

static void open_cell(struct cell *c, uint64_t flags)
{
	c->qp = create(c->f, c->type, flags);
	CHECK(c->qp);
	fixture_set_state(c->qp, IBV_QPS_RTS);
}

static void close_cell(struct cell *c)
{
	CHECK_EQ(ibv_destroy_qp(c->qp), 0);
}

static struct ibv_send_wr make_wr(const struct cell *c, const struct op *op,
				  enum setter how, unsigned int flags)
{
	struct ibv_send_wr wr = {
		.wr_id = WR_ID,
		.opcode = op->opcode,
		.send_flags = flags,
		.sg_list = (struct ibv_sge *)sges,
		.num_sge = pieces(op, how),
		.imm_data = htobe32(IMM),
		.wr.rdma = { .remote_addr = RADDR, .rkey = RKEY },
	};

	if (is_inline(how))
		wr.send_flags |= IBV_SEND_INLINE;
	switch (op->opcode) {
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		wr.wr.atomic.compare_add = COMPARE;
		wr.wr.atomic.swap = SWAP;
		wr.wr.atomic.rkey = RKEY;
		break;
	case IBV_WR_LOCAL_INV:
	case IBV_WR_SEND_WITH_INV:
		wr.invalidate_rkey = INV_RKEY;
		break;
	case IBV_WR_BIND_MW:
		wr.bind_mw.mw = c->mw;
		wr.bind_mw.rkey = ibv_inc_rkey(c->mw->rkey);
		wr.bind_mw.bind_info = (struct ibv_mw_bind_info){
			.mr = c->mr,
			.addr = RADDR,
			.length = 0x123456789ULL,
			.mw_access_flags = IBV_ACCESS_REMOTE_READ |
					   IBV_ACCESS_LOCAL_WRITE,
		};
		break;
	case IBV_WR_TSO:
		wr.tso.hdr = header;
		wr.tso.hdr_sz = HDR_LEN;
		wr.tso.mss = MSS;
		break;
	default:
		break;
	}
	if (c->type == UD) {
		wr.wr.ud.ah = c->ah;
		wr.wr.ud.remote_qpn = QPN;
		wr.wr.ud.remote_qkey = QKEY;
	}
	wr.qp_type.xrc.remote_srqn = SRQN;
	return wr;
}

static void begin(const struct cell *c, const struct op *op)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(c->qp);
	struct ibv_send_wr wr = make_wr(c, op, NO_SETTER, 0);

	switch (op->opcode) {
	case IBV_WR_RDMA_WRITE:
		ibv_wr_rdma_write(qpx, RKEY, RADDR);
		break;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		ibv_wr_rdma_write_imm(qpx, RKEY, RADDR, htobe32(IMM));
		break;
	case IBV_WR_SEND:
		ibv_wr_send(qpx);
		break;
	case IBV_WR_SEND_WITH_IMM:
		ibv_wr_send_imm(qpx, htobe32(IMM));
		break;
	case IBV_WR_RDMA_READ:
		ibv_wr_rdma_read(qpx, RKEY, RADDR);
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		ibv_wr_atomic_cmp_swp(qpx, RKEY, RADDR, COMPARE, SWAP);
		break;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		ibv_wr_atomic_fetch_add(qpx, RKEY, RADDR, COMPARE);
		break;
	case IBV_WR_LOCAL_INV:
		ibv_wr_local_inv(qpx, INV_RKEY);
		break;
	case IBV_WR_BIND_MW:
		ibv_wr_bind_mw(qpx, c->mw, wr.bind_mw.rkey,
			       &wr.bind_mw.bind_info);
		break;
	case IBV_WR_SEND_WITH_INV:
		ibv_wr_send_inv(qpx, INV_RKEY);
		break;
	case IBV_WR_TSO:
		ibv_wr_send_tso(qpx, header, HDR_LEN, MSS);
		break;
	case IBV_WR_FLUSH:
		ibv_wr_flush(qpx, RKEY, RADDR, FLUSH_LEN,
			     IBV_FLUSH_GLOBAL | IBV_FLUSH_PERSISTENT,
			     IBV_FLUSH_MR);
		break;
	case IBV_WR_ATOMIC_WRITE:
		ibv_wr_atomic_write(qpx, RKEY, RADDR, payload);
		break;
	default:
		mynic_wr_driver1(qpx, RKEY, RADDR);
		break;
	}
}

/* A request of ibv_wr_*(), without wr_start and wr_complete */
static void build(const struct cell *c, const struct op *op, enum setter how,
		  unsigned int flags)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(c->qp);
	const struct ibv_data_buf bufs[2] = {
		{ (void *)(uintptr_t)sges[0].addr, sges[0].length },
		{ (void *)(uintptr_t)sges[1].addr, sges[1].length },
	};

	qpx->wr_id = WR_ID;
	qpx->wr_flags = flags;
	begin(c, op);
	if (c->type == UD)
		ibv_wr_set_ud_addr(qpx, c->ah, QPN, QKEY);
	if (c->type == XRC)
		ibv_wr_set_xrc_srqn(qpx, SRQN);
	switch (how) {
	case SGE:
		ibv_wr_set_sge(qpx, sges[0].lkey, sges[0].addr, sges[0].length);
		break;
	case SGE_LIST:
		ibv_wr_set_sge_list(qpx, pieces(op, how), sges);
		break;
	case INLINE:
		ibv_wr_set_inline_data(qpx, bufs[0].addr, bufs[0].length);
		break;
	case INLINE_LIST:
		ibv_wr_set_inline_data_list(qpx, 2, bufs);
		break;
	default:
		break;
	}
}

static void want(const uint8_t *at, const void *value, size_t len)
{
	CHECK_MEM(at, value, len);
}

static void want16(const uint8_t *at, uint16_t value)
{
	__le16 bytes = htole16(value);

	want(at, &bytes, sizeof(bytes));
}

static void want32(const uint8_t *at, uint32_t value)
{
	__le32 bytes = htole32(value);

	want(at, &bytes, sizeof(bytes));
}

static void want64(const uint8_t *at, uint64_t value)
{
	__le64 bytes = htole64(value);

	want(at, &bytes, sizeof(bytes));
}

static void want_head(const struct cell *c, const uint8_t *wqe,
		      const struct op *op)
{
	static const uint8_t zero[32];
	const __be32 imm_data = htobe32(IMM);

	switch (op->opcode) {
	case IBV_WR_RDMA_WRITE_WITH_IMM:
	case IBV_WR_SEND_WITH_IMM:
		want(wqe + 0x0c, &imm_data, sizeof(imm_data));
		break;
	case IBV_WR_LOCAL_INV:
	case IBV_WR_SEND_WITH_INV:
		want32(wqe + 0x0c, INV_RKEY);
		break;
	default:
		break;
	}
	if (op->opcode == IBV_WR_TSO) {
		want16(wqe + 0x18, MSS);
		want16(wqe + 0x1a, HDR_LEN);
	} else if (op->opcode == IBV_WR_BIND_MW) {
		want32(wqe + 0x18, c->mw->rkey);
	} else if (op->opcode != IBV_WR_SEND &&
		   op->opcode != IBV_WR_SEND_WITH_IMM &&
		   op->opcode != IBV_WR_SEND_WITH_INV &&
		   op->opcode != IBV_WR_LOCAL_INV) {
		want64(wqe + 0x10, RADDR);
		want32(wqe + 0x18, RKEY);
	}
	if (c->type == UD) {
		want32(wqe + 0x10, QPN);
		want32(wqe + 0x14, QKEY);
		fixture_check_av((void *)(wqe + MYNIC_WQE_EXT));
	} else if (c->type == XRC) {
		want32(wqe + MYNIC_WQE_EXT, SRQN);
		want(wqe + MYNIC_WQE_EXT + 4, zero, 28);
	} else if (c->type == RAW || c->type == DRIVER) {
		want(wqe + MYNIC_WQE_EXT, zero, 32);
	}
}

static void want_sges(const uint8_t *at, int n)
{
	for (int i = 0; i < n; i++) {
		want64(at + 16 * i, sges[i].addr);
		want32(at + 16 * i + 8, sges[i].length);
		want32(at + 16 * i + 12, sges[i].lkey);
	}
}

/* Operands; @data is where the data area begins. */
static void want_operands(const struct cell *c, const uint8_t *data,
			  const struct op *op)
{
	switch (op->opcode) {
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		want64(data + 24, SWAP);
		want64(data + 16, COMPARE);
		break;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		want64(data + 16, COMPARE);
		break;
	case IBV_WR_BIND_MW:
		want64(data, RADDR);
		want64(data + 8, 0x123456789ULL);
		want32(data + 16, c->mr->lkey);
		want32(data + 20, ibv_inc_rkey(c->mw->rkey));
		want32(data + 24, IBV_ACCESS_REMOTE_READ);
		want32(data + 28, 0);
		break;
	case IBV_WR_FLUSH:
		want64(data, FLUSH_LEN);
		want32(data + 8, 3);
		want32(data + 12, 1);
		break;
	case IBV_WR_TSO:
		want(data, header, HDR_LEN);
		break;
	default:
		break;
	}
}

/* Write the expected entry, as in Documentation/hardware/work-queues.rst */
static void want_wqe(const struct cell *c, uint32_t index, const struct op *op,
		     enum setter how, unsigned int flags, bool wr_api)
{
	const uint8_t *wqe = (void *)fixture_sq_slot(index);
	const uint8_t *data = wqe + (c->type & (RC | UC) ? 32 : 64);
	uint32_t len = pieces(op, how);

	if (wr_api && op->data == FIXED) {
		/* setters have no effect */
		len = 0;
		if (op->opcode == IBV_WR_ATOMIC_WRITE) {
			flags |= IBV_SEND_INLINE;
			len = 8;
			want(data, payload, len);
		}
	} else if (op->data == NONE) {
		len = 0;
	} else if (is_inline(how)) {
		flags |= IBV_SEND_INLINE;
		len = how == INLINE ? 16 : 21;
		want(data, payload, len);
	} else {
		want_sges(data + (op->data == TSO ? 64 : 0), len);
	}
	want64(wqe, WR_ID);
	want32(wqe + 0x08, op->opcode | flags << 8);
	want32(wqe + 0x1c, len);
	want_head(c, wqe, op);
	want_operands(c, data, op);
}

/* An operation that each QP of the type has */
static const struct op *plain_op(const struct cell *c)
{
	for (int i = 0; i < ARRAY_SIZE(ops); i++)
		if (ops[i].types & c->type && ops[i].data == ANY)
			return &ops[i];
	FAIL("type %u can do nothing", c->type);
}

static bool post_refuses(const struct cell *c, const struct op *op,
			 enum setter how)
{
	if (!(op->types & c->type) || op->opcode == IBV_WR_FLUSH)
		return true;
	if (is_inline(how) && op->data != ANY &&
	    op->opcode != IBV_WR_ATOMIC_WRITE)
		return true;
	return false;
}

/* Post a request of the operation between two good ones */
static void try_post(struct cell *c, const struct op *op, enum setter how,
		     unsigned int flags)
{
	const struct op *good = plain_op(c);
	struct ibv_send_wr wr[3], *bad = NULL;
	int err = post_refuses(c, op, how) ? EINVAL : 0;

	open_cell(c, 0);
	wr[0] = make_wr(c, good, SGE, 0);
	wr[1] = make_wr(c, op, how, flags);
	wr[2] = wr[0];
	wr[0].next = &wr[1];
	wr[1].next = &wr[2];
	CHECK_EQ(ibv_post_send(c->qp, wr, &bad), err);
	if (err)
		CHECK_EQ(bad - wr, 1);
	else
		want_wqe(c, 1, op, how, flags, false);
	want_wqe(c, 0, good, SGE, 0, false);
	fixture_check_doorbell(c->qp, err ? 1 : 3);
	close_cell(c);
}

static bool wr_refuses(const struct cell *c, const struct op *op,
		       enum setter how)
{
	if (!(op->types & c->type))
		return true;
	switch (op->data) {
	case NONE:
		return how != NO_SETTER;
	case SGES:
	case TSO:
		return is_inline(how);
	default:
		return false;
	}
}

static void try_wr(struct cell *c, const struct op *op, enum setter how,
		   unsigned int flags, uint64_t ops_flags)
{
	const struct op *good = plain_op(c);
	int err = wr_refuses(c, op, how) ? EINVAL : 0;
	struct ibv_qp_ex *qpx;

	open_cell(c, ops_flags);
	qpx = ibv_qp_to_qp_ex(c->qp);
	ibv_wr_start(qpx);
	build(c, good, SGE, 0);
	build(c, op, how, flags);
	build(c, good, INLINE, 0);
	fixture_check_not_rung(0);
	CHECK_EQ(ibv_wr_complete(qpx), err);
	if (err) {
		fixture_check_not_rung(0);
	} else {
		want_wqe(c, 0, good, SGE, 0, true);
		want_wqe(c, 1, op, how, flags, true);
		want_wqe(c, 2, good, INLINE, 0, true);
		fixture_check_doorbell(c->qp, 3);
	}
	/* the failed request has no effect */
	ibv_wr_start(qpx);
	build(c, good, SGE_LIST, 0);
	CHECK_EQ(ibv_wr_complete(qpx), 0);
	fixture_check_doorbell(c->qp, err ? 1 : 4);
	want_wqe(c, err ? 0 : 3, good, SGE_LIST, 0, true);
	close_cell(c);
}

static void try_create(struct cell *c, const struct op *op)
{
	bool may = op->types & c->type || !op->flag;
	struct ibv_qp *qp;

	errno = 0;
	qp = create(c->f, c->type, flags_of(c->type) | op->flag);
	CHECK_EQ(!!qp, may);
	if (qp)
		CHECK_EQ(ibv_destroy_qp(qp), 0);
	else
		CHECK_EQ(errno, EOPNOTSUPP);
}

static void check_ops_of(unsigned int type)
{
	static const unsigned int flags[] = {
		0,
		IBV_SEND_FENCE,
		IBV_SEND_SIGNALED,
		IBV_SEND_SOLICITED,
		IBV_SEND_IP_CSUM,
		IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_FENCE,
	};
	struct cell c = { .f = fixture_open(16), .type = type };
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND;

	for (int i = 0; i < sizeof(payload); i++)
		payload[i] = 0x11 + i;
	for (int i = 0; i < sizeof(header); i++)
		header[i] = 0x80 + i;
	c.ah = fixture_ah(c.f);
	c.mr = ibv_reg_mr(c.f->pd, payload, sizeof(payload), access);
	c.mw = ibv_alloc_mw(c.f->pd, IBV_MW_TYPE_2);
	CHECK(c.mr && c.mw);
	for (int i = 0; i < ARRAY_SIZE(ops); i++) {
		const struct op *op = &ops[i];

		try_create(&c, op);
		for (enum setter s = 0; s < SETTERS; s++) {
			uint64_t may = flags_of(type);

			for (int j = 0; j < ARRAY_SIZE(flags); j++) {
				try_post(&c, op, s, flags[j]);
				try_wr(&c, op, s, flags[j], may);
				try_wr(&c, op, s, flags[j], may & op->flag);
			}
		}
		tap_restart_timeout();
	}
	CHECK_EQ(ibv_dealloc_mw(c.mw), 0);
	CHECK_EQ(ibv_dereg_mr(c.mr), 0);
}

TEST(ops_rc)
{
	check_ops_of(RC);
}

TEST(ops_uc)
{
	check_ops_of(UC);
}

TEST(ops_xrc)
{
	check_ops_of(XRC);
}

TEST(ops_ud)
{
	check_ops_of(UD);
}

TEST(ops_raw)
{
	check_ops_of(RAW);
}

TEST(ops_driver)
{
	check_ops_of(DRIVER);
}

/* Requests without data, and the capacity of slots of a QP with headers */
TEST(tso_limits)
{
	static const struct {
		uint16_t hdr_len;
		uint16_t mss;
		int err;
	} cases[] = {
		{ HDR_LEN, MSS, 0 },	      { 1, 1, 0 },
		{ HDR_LEN, UINT16_MAX, 0 },   { 0, MSS, EINVAL },
		{ HDR_LEN + 1, MSS, EINVAL }, { UINT16_MAX, MSS, EINVAL },
		{ HDR_LEN, 0, EINVAL },
	};
	struct cell c = { .f = fixture_open(16), .type = RAW };
	const struct op *op = &ops[10];
	struct ibv_qp_ex *qpx;
	uint32_t pi = 0;

	CHECK_EQ(op->opcode, IBV_WR_TSO);
	open_cell(&c, IBV_QP_EX_WITH_TSO);
	qpx = ibv_qp_to_qp_ex(c.qp);
	for (int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ibv_send_wr wr = make_wr(&c, op, SGE, 0), *bad;

		wr.tso.hdr =
			fixture_page_end(cases[i].err ? 0 : cases[i].hdr_len);
		wr.tso.hdr_sz = cases[i].hdr_len;
		wr.tso.mss = cases[i].mss;
		CHECK_EQ(ibv_post_send(c.qp, &wr, &bad), cases[i].err);
		ibv_wr_start(qpx);
		ibv_wr_send_tso(qpx, wr.tso.hdr, wr.tso.hdr_sz, wr.tso.mss);
		CHECK_EQ(ibv_wr_complete(qpx), cases[i].err);
		pi += cases[i].err ? 0 : 2;
		CHECK_EQ(le32toh(fake_qp.dbrec->sq_pi), pi);
	}
	close_cell(&c);
}

TEST(tso_capacity)
{
	struct fixture *f = fixture_open(16);

	for (uint32_t hdr = 0; hdr <= 150; hdr++) {
		for (uint32_t max_sge = 0; max_sge <= 12; max_sge++) {
			struct ibv_qp_init_attr_ex attr = {
				.send_cq = f->cq,
				.recv_cq = f->cq,
				.cap = { .max_send_wr = 1,
					 .max_send_sge = max_sge },
				.qp_type = IBV_QPT_UD,
				.comp_mask = IBV_QP_INIT_ATTR_PD |
					     IBV_QP_INIT_ATTR_MAX_TSO_HEADER,
				.pd = f->pd,
				.max_tso_header = hdr,
			};
			struct ibv_qp *qp;
			uint32_t need;

			qp = ibv_create_qp_ex(f->context, &attr);
			CHECK(qp);
			CHECK(attr.cap.max_send_sge >= max_sge);
			need = (hdr + 15) / 16 * 16 +
			       attr.cap.max_send_sge * 16;
			CHECK(64 + need <= 1U << fake_qp.resp.log_sq_stride);
			CHECK_EQ(ibv_destroy_qp(qp), 0);
		}
	}
}

/* QPs of all types refuse unknown opcodes. */
TEST(unknown_opcodes)
{
	static const int opcodes[] = { 12, 13,	  16,	     31, 32,
				       39, 0x100, INT32_MAX, -1 };
	struct fixture *f = fixture_open(16);

	for (unsigned int type = RC; type <= DRIVER; type <<= 1) {
		struct cell c = { .f = f, .type = type };

		c.ah = fixture_ah(f);
		open_cell(&c, 0);
		for (int i = 0; i < ARRAY_SIZE(opcodes); i++) {
			struct ibv_send_wr wr, *bad;

			wr = make_wr(&c, plain_op(&c), SGE, 0);
			wr.opcode = opcodes[i];
			CHECK_EQ(ibv_post_send(c.qp, &wr, &bad), EINVAL);
			CHECK_EQ(bad - &wr, 0);
		}
		fixture_check_not_rung(0);
		close_cell(&c);
	}
}

/* Setters of another type of QP */
TEST(wrong_addresses)
{
	struct fixture *f = fixture_open(16);
	struct ibv_ah *ah = fixture_ah(f);

	for (unsigned int type = RC; type <= DRIVER; type <<= 1) {
		struct cell c = { .f = f, .type = type, .ah = ah };
		struct ibv_qp_ex *qpx;

		open_cell(&c, 0);
		qpx = ibv_qp_to_qp_ex(c.qp);
		ibv_wr_start(qpx);
		build(&c, plain_op(&c), SGE, 0);
		ibv_wr_set_ud_addr(qpx, ah, QPN, QKEY);
		CHECK_EQ(ibv_wr_complete(qpx), type == UD ? 0 : EINVAL);
		ibv_wr_start(qpx);
		build(&c, plain_op(&c), SGE, 0);
		ibv_wr_set_xrc_srqn(qpx, SRQN);
		CHECK_EQ(ibv_wr_complete(qpx), type == XRC ? 0 : EINVAL);
		close_cell(&c);
	}
}
