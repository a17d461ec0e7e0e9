// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* XRC: objects, and entries of the ring. */
#include "fixture.h"
#include "sq.h"

#define RADDR 0x1122334455667788ULL
#define RKEY 0xa1b2c3d4U
#define WR_ID 0xfedcba9876543210ULL
#define IMM htobe32(0x01020304)
#define SRQN 0x654321U
#define COMPARE 0x0123456789abcdefULL
#define SWAP 0x1032547698badcfeULL

static const enum ibv_wr_opcode opcodes[] = {
	IBV_WR_SEND,
	IBV_WR_SEND_WITH_IMM,
	IBV_WR_RDMA_WRITE,
	IBV_WR_RDMA_WRITE_WITH_IMM,
	IBV_WR_RDMA_READ,
	IBV_WR_ATOMIC_CMP_AND_SWP,
	IBV_WR_ATOMIC_FETCH_AND_ADD,
};

static const struct ibv_sge sge = { 0x7000111122220000ULL, 8, 0x80000100 };

/* An entry as the hardware specification has it for XRC_INI QPs */
static void check_wqe(uint32_t index, enum ibv_wr_opcode opcode)
{
	struct mynic_send_wqe *wqe = fixture_sq_slot(index);
	struct mynic_xrc_ext *ext = (void *)wqe + MYNIC_WQE_EXT;
	struct mynic_sge *data = (void *)wqe + MYNIC_WQE_DATA_EXT;
	struct mynic_atomic_operands *operands =
		(void *)data + MYNIC_WQE_ATOMIC;

	CHECK_EQ(le64toh(wqe->wr_id), WR_ID);
	CHECK_EQ(le32toh(wqe->ctrl), opcode | IBV_SEND_SIGNALED << 8);
	CHECK_EQ(le32toh(wqe->len), 1);
	CHECK_EQ(le32toh(ext->remote_srqn), SRQN);
	for (int i = 0; i < sizeof(ext->reserved_04); i++)
		CHECK_EQ(ext->reserved_04[i], 0);
	CHECK_EQ(le64toh(data->addr), sge.addr);
	CHECK_EQ(le32toh(data->length), sge.length);
	CHECK_EQ(le32toh(data->lkey), sge.lkey);
	if (opcode != IBV_WR_SEND && opcode != IBV_WR_SEND_WITH_IMM) {
		CHECK_EQ(le64toh(wqe->remote_addr), RADDR);
		CHECK_EQ(le32toh(wqe->rkey), RKEY);
	}
	if (opcode == IBV_WR_SEND_WITH_IMM ||
	    opcode == IBV_WR_RDMA_WRITE_WITH_IMM)
		CHECK_EQ(wqe->imm_data, IMM);
	if (fixture_is_atomic(opcode))
		CHECK_EQ(le64toh(operands->compare_add), COMPARE);
	if (opcode == IBV_WR_ATOMIC_CMP_AND_SWP)
		CHECK_EQ(le64toh(operands->swap), SWAP);
}

TEST(xrc_post_send)
{
	struct fixture *f = fixture_open(16);
	struct ibv_qp *qp = fixture_qp(f, IBV_QPT_XRC_SEND, 8, 2);
	struct ibv_sge list = sge;

	for (int i = 0; i < ARRAY_SIZE(opcodes); i++) {
		struct ibv_send_wr wr = {
			.wr_id = WR_ID,
			.sg_list = &list,
			.num_sge = 1,
			.opcode = opcodes[i],
			.send_flags = IBV_SEND_SIGNALED,
			.imm_data = IMM,
			.qp_type.xrc.remote_srqn = SRQN,
		}, *bad;

		if (fixture_is_atomic(opcodes[i])) {
			wr.wr.atomic.remote_addr = RADDR;
			wr.wr.atomic.rkey = RKEY;
			wr.wr.atomic.compare_add = COMPARE;
			wr.wr.atomic.swap = SWAP;
		} else {
			wr.wr.rdma.remote_addr = RADDR;
			wr.wr.rdma.rkey = RKEY;
		}
		CHECK_EQ(ibv_post_send(qp, &wr, &bad), 0);
		check_wqe(i, opcodes[i]);
		CHECK_EQ(le64toh(*fake_uar(MYNIC_UAR_QP_DB)),
			 (uint64_t)qp->qp_num << 32 | (i + 1));
	}
}

TEST(xrc_builders)
{
	struct fixture *f = fixture_open(16);
	struct ibv_qp *qp = fixture_qp(f, IBV_QPT_XRC_SEND, 8, 2);
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);

	ibv_wr_start(qpx);
	qpx->wr_id = WR_ID;
	qpx->wr_flags = IBV_SEND_SIGNALED;
	for (int i = 0; i < ARRAY_SIZE(opcodes); i++) {
		switch (opcodes[i]) {
		case IBV_WR_SEND:
			ibv_wr_send(qpx);
			break;
		case IBV_WR_SEND_WITH_IMM:
			ibv_wr_send_imm(qpx, IMM);
			break;
		case IBV_WR_RDMA_WRITE:
			ibv_wr_rdma_write(qpx, RKEY, RADDR);
			break;
		case IBV_WR_RDMA_WRITE_WITH_IMM:
			ibv_wr_rdma_write_imm(qpx, RKEY, RADDR, IMM);
			break;
		case IBV_WR_RDMA_READ:
			ibv_wr_rdma_read(qpx, RKEY, RADDR);
			break;
		case IBV_WR_ATOMIC_CMP_AND_SWP:
			ibv_wr_atomic_cmp_swp(qpx, RKEY, RADDR, COMPARE, SWAP);
			break;
		default:
			ibv_wr_atomic_fetch_add(qpx, RKEY, RADDR, COMPARE);
		}
		ibv_wr_set_xrc_srqn(qpx, SRQN);
		ibv_wr_set_sge(qpx, sge.lkey, sge.addr, sge.length);
	}
	CHECK_EQ(ibv_wr_complete(qpx), 0);
	for (int i = 0; i < ARRAY_SIZE(opcodes); i++)
		check_wqe(i, opcodes[i]);
}

TEST(xrc_inline)
{
	struct fixture *f = fixture_open(16);
	struct ibv_qp *qp = fixture_qp(f, IBV_QPT_XRC_SEND, 8, 2);
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);
	char text[] = "sixteen or more bytes";
	struct ibv_sge list = { (uintptr_t)text, sizeof(text), 0 };
	struct ibv_send_wr wr = {
		.sg_list = &list,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_INLINE,
		.qp_type.xrc.remote_srqn = SRQN,
	}, *bad;

	CHECK_EQ(ibv_post_send(qp, &wr, &bad), 0);
	ibv_wr_start(qpx);
	qpx->wr_flags = 0;
	ibv_wr_rdma_write(qpx, RKEY, RADDR);
	ibv_wr_set_xrc_srqn(qpx, SRQN);
	ibv_wr_set_inline_data(qpx, text, sizeof(text));
	CHECK_EQ(ibv_wr_complete(qpx), 0);
	for (uint32_t i = 0; i < 2; i++) {
		struct mynic_xrc_ext *ext =
			(void *)fixture_sq_slot(i) + MYNIC_WQE_EXT;

		CHECK_EQ(le32toh(fixture_sq_slot(i)->len), sizeof(text));
		CHECK_EQ(le32toh(ext->remote_srqn), SRQN);
		CHECK_MEM((void *)fixture_sq_slot(i) + MYNIC_WQE_DATA_EXT, text,
			  sizeof(text));
	}
}

/* The ring is full, and setters must not change other requests. */
TEST(xrc_full)
{
	struct fixture *f = fixture_open(16);
	struct ibv_qp *qp = fixture_qp(f, IBV_QPT_XRC_SEND, 1, 1);
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);

	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_xrc_srqn(qpx, SRQN);
	CHECK_EQ(ibv_wr_complete(qpx), 0);
	for (int i = 0; i < 2; i++) {
		ibv_wr_start(qpx);
		if (i)
			ibv_wr_atomic_cmp_swp(qpx, RKEY, RADDR, 1, 2);
		else
			ibv_wr_atomic_fetch_add(qpx, RKEY, RADDR, 1);
		ibv_wr_set_xrc_srqn(qpx, 0x111111);
		ibv_wr_set_sge(qpx, 1, 2, 3);
		CHECK_EQ(ibv_wr_complete(qpx), ENOMEM);
	}
	CHECK_EQ(le32toh(((struct mynic_xrc_ext *)((void *)fixture_sq_slot(0) +
						   MYNIC_WQE_EXT))
				 ->remote_srqn),
		 SRQN);
}

static struct ibv_xrcd *open_xrcd(struct fixture *f)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
	};

	return ibv_open_xrcd(f->context, &attr);
}

static struct ibv_srq *create_srq(struct fixture *f, struct ibv_xrcd *xrcd,
				  enum ibv_srq_type type)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = 3, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = type,
		.pd = f->pd,
		.xrcd = xrcd,
		.cq = f->cq,
	};

	return ibv_create_srq_ex(f->context, &attr);
}

static struct ibv_qp *create_target(struct fixture *f, struct ibv_xrcd *xrcd,
				    uint32_t comp_mask)
{
	struct ibv_qp_init_attr_ex attr = {
		/* programs name CQs here, too */
		.send_cq = f->cq,
		.recv_cq = f->cq,
		.cap = { .max_send_wr = 5 },
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = comp_mask | IBV_QP_INIT_ATTR_XRCD,
		.pd = f->pd,
		.xrcd = xrcd,
	};

	return ibv_create_qp_ex(f->context, &attr);
}

TEST(xrc_srq)
{
	struct fixture *f = fixture_open(8);
	struct ibv_xrcd *xrcd = open_xrcd(f);
	struct ibv_srq_init_attr basic = {
		.attr = { .max_wr = 1, .max_sge = 1 },
	};
	struct ibv_sge list = sge;
	struct ibv_recv_wr wr = { .sg_list = &list, .num_sge = 1 }, *bad;
	struct ibv_srq *srq;
	uint32_t number;

	CHECK(xrcd);
	srq = create_srq(f, xrcd, IBV_SRQT_XRC);
	CHECK(srq);
	CHECK_EQ(ibv_get_srq_num(srq, &number), 0);
	CHECK_EQ(number, fake_srq.resp.srqn);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(ibv_post_srq_recv(srq, &wr, &bad), 0);
	CHECK_EQ(ibv_post_srq_recv(srq, &wr, &bad), ENOMEM);
	CHECK_EQ(le32toh(fake_srq.dbrec->pi), 4);
	CHECK_EQ(ibv_destroy_srq(srq), 0);

	CHECK(!create_srq(f, xrcd, IBV_SRQT_TM + 1));
	CHECK_EQ(errno, EOPNOTSUPP);
	srq = ibv_create_srq(f->pd, &basic);
	CHECK(srq);
	CHECK_EQ(ibv_get_srq_num(srq, &number), EINVAL);
	CHECK_EQ(ibv_destroy_srq(srq), 0);
	CHECK_EQ(ibv_close_xrcd(xrcd), 0);
}

/* Check a QP without queues: posting is an error */
static void check_target(struct ibv_qp *qp)
{
	struct ibv_sge list = sge;
	struct ibv_recv_wr recv = { .sg_list = &list, .num_sge = 1 };
	struct ibv_send_wr send = { .sg_list = &list, .num_sge = 1 };
	struct ibv_recv_wr *bad_recv;
	struct ibv_send_wr *bad_send;

	fixture_set_state(qp, IBV_QPS_INIT);
	fixture_set_state(qp, IBV_QPS_RTR);
	fixture_set_state(qp, IBV_QPS_RTS);
	CHECK_EQ(ibv_post_recv(qp, &recv, &bad_recv), EINVAL);
	CHECK_EQ(ibv_post_send(qp, &send, &bad_send), EINVAL);
	CHECK_EQ(*fake_uar(MYNIC_UAR_QP_DB), 0);
	fixture_set_state(qp, IBV_QPS_RESET);
	CHECK(!ibv_qp_to_qp_ex(qp));
	CHECK(!qp->send_cq && !qp->recv_cq && !qp->srq);
}

TEST(xrc_target)
{
	struct fixture *f = fixture_open(8);
	struct ibv_xrcd *xrcd = open_xrcd(f);
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD |
			     IBV_QP_OPEN_ATTR_TYPE,
		.xrcd = xrcd,
		.qp_type = IBV_QPT_XRC_RECV,
	};
	struct ibv_qp *qp, *opened;

	CHECK(xrcd);
	qp = create_target(f, xrcd, 0);
	CHECK(qp);
	check_target(qp);
	CHECK(!qp->pd);
	attr.qp_num = qp->qp_num;
	opened = ibv_open_qp(f->context, &attr);
	CHECK(opened);
	CHECK_EQ(opened->qp_num, qp->qp_num);
	check_target(opened);
	CHECK(!opened->pd);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	CHECK_EQ(ibv_destroy_qp(opened), 0);
	CHECK_EQ(ibv_close_xrcd(xrcd), 0);
}

/* An SRQ that is created after rdma_create_ep(3) takes the PD of the QP. */
TEST(xrc_target_has_the_pd_it_was_given)
{
	struct fixture *f = fixture_open(8);
	struct ibv_xrcd *xrcd = open_xrcd(f);
	struct ibv_qp *qp;

	CHECK(xrcd);
	qp = create_target(f, xrcd, IBV_QP_INIT_ATTR_PD);
	CHECK(qp);
	CHECK_EQ((uintptr_t)qp->pd, (uintptr_t)f->pd);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	CHECK_EQ(ibv_close_xrcd(xrcd), 0);
}

/*
 * A sending QP has neither an SRQ nor a receive CQ, whatever the program names.
 */
TEST(xrc_send_keeps_no_srq)
{
	struct fixture *f = fixture_open(8);
	struct ibv_srq_init_attr srq_attr = {
		.attr = { .max_wr = 1, .max_sge = 1 },
	};
	struct ibv_qp_init_attr attr = {
		.send_cq = f->cq,
		.recv_cq = ibv_create_cq(f->context, 8, NULL, NULL, 0),
		.srq = ibv_create_srq(f->pd, &srq_attr),
		.cap = { .max_send_wr = 1 },
		.qp_type = IBV_QPT_XRC_SEND,
	};
	struct ibv_qp *qp;

	CHECK(attr.recv_cq && attr.srq);
	qp = ibv_create_qp(f->pd, &attr);
	CHECK(qp);
	CHECK(!qp->recv_cq && !qp->srq);
	CHECK_EQ(ibv_destroy_srq(attr.srq), 0);
	CHECK_EQ(ibv_destroy_cq(attr.recv_cq), 0);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
}

TEST(xrc_kernel_refuses)
{
	struct fixture *f = fixture_open(8);
	struct ibv_xrcd *xrcd = open_xrcd(f);
	struct ibv_qp_open_attr attr = { .xrcd = xrcd };
	int live = fake.live;

	CHECK(xrcd);
	fake.fail = EDQUOT;
	CHECK(!open_xrcd(f));
	CHECK_EQ(errno, EDQUOT);
	fake.fail = EDQUOT;
	CHECK(!create_srq(f, xrcd, IBV_SRQT_XRC));
	CHECK_EQ(errno, EDQUOT);
	fake.fail = EDQUOT;
	CHECK(!create_target(f, xrcd, 0));
	CHECK_EQ(errno, EDQUOT);
	fake.fail = EDQUOT;
	CHECK(!ibv_open_qp(f->context, &attr));
	CHECK_EQ(errno, EDQUOT);
	fake.bad_map = true;
	CHECK(!create_srq(f, xrcd, IBV_SRQT_XRC));
	CHECK_EQ(errno, EINVAL);
	CHECK_EQ(fake.live, live);
	fake.fail = EBUSY;
	CHECK_EQ(ibv_close_xrcd(xrcd), EBUSY);
	CHECK_EQ(ibv_close_xrcd(xrcd), 0);
}
