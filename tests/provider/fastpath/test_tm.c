// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Tag matching: SRQs, entries of the tag ring, and completions. */
#include "fixture.h"
#include "mynic.h"

#define MAX_TAGS 6
#define MAX_OPS 4
#define WR_ID 0xfedcba9876543210ULL
#define RECV_WR_ID 0x0fedcba987654321ULL
#define TAG 0x1122334455667788ULL
#define MASK 0xff00ff00ff00ff00ULL

static struct ibv_srq *create(struct fixture *f, enum ibv_srq_type type)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = 4, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = type,
		.pd = f->pd,
		.cq = f->cq,
		.tm_cap = { .max_num_tags = MAX_TAGS, .max_ops = MAX_OPS },
	};

	if (type == IBV_SRQT_TM)
		attr.comp_mask |= IBV_SRQ_INIT_ATTR_TM;
	return ibv_create_srq_ex(f->context, &attr);
}

static struct ibv_sge sge = { 0x7000111122220000ULL, 4096, 0x80000100 };

static struct ibv_ops_wr make_add(void)
{
	return (struct ibv_ops_wr){
		.wr_id = WR_ID,
		.opcode = IBV_WR_TAG_ADD,
		.flags = IBV_OPS_SIGNALED | IBV_OPS_TM_SYNC,
		.tm = {
			.unexpected_cnt = 0x12345678,
			.add = {
				.recv_wr_id = RECV_WR_ID,
				.sg_list = &sge,
				.num_sge = 1,
				.tag = TAG,
				.mask = MASK,
			},
		},
	};
}

static int post(struct ibv_srq *srq, struct ibv_ops_wr *wr,
		const struct ibv_ops_wr *want_bad)
{
	struct ibv_ops_wr *bad = NULL;
	int err = ibv_post_srq_ops(srq, wr, &bad);

	CHECK(bad == want_bad);
	return err;
}

/* The device has executed all operations, and @done tags are gone */
static void advance(uint32_t done)
{
	fake_srq.tag_dbrec->ci = fake_srq.tag_dbrec->pi;
	fake_srq.tag_dbrec->done = htole32(done);
}

static void check_rung(uint32_t pi)
{
	CHECK_EQ(le32toh(fake_srq.tag_dbrec->pi), pi);
	CHECK_EQ(le64toh(*fake_uar(MYNIC_UAR_TAG_DB)),
		 (uint64_t)fake_srq.resp.srqn << MYNIC_DB_NUMBER_SHIFT | pi);
}

TEST(tm_post_ops)
{
	struct fixture *f = fixture_open(8);
	struct ibv_srq *srq = create(f, IBV_SRQT_TM);
	struct ibv_ops_wr add = make_add(), empty = make_add();
	struct ibv_ops_wr del = {
		.wr_id = 7,
		.opcode = IBV_WR_TAG_DEL,
		.flags = IBV_OPS_SIGNALED,
		.tm.handle = 0xabcdef01,
	};
	struct ibv_ops_wr sync = {
		.wr_id = 8,
		.opcode = IBV_WR_TAG_SYNC,
		.flags = IBV_OPS_TM_SYNC,
		.tm.unexpected_cnt = 9,
	};
	const struct mynic_tag_wqe *wqe;

	CHECK(srq);
	CHECK_EQ(fake_srq.resp.log_tag_size, 2);
	add.next = &empty;
	empty.next = &del;
	del.next = &sync;
	empty.tm.add.num_sge = 0;
	empty.tm.add.sg_list = NULL;
	CHECK_EQ(post(srq, &add, NULL), 0);
	check_rung(4);
	CHECK(add.tm.handle != empty.tm.handle);

	wqe = &fake_srq.tags[0];
	CHECK_EQ(le64toh(wqe->wr_id), WR_ID);
	CHECK_EQ(le32toh(wqe->ctrl), IBV_WR_TAG_ADD | 3 << 8);
	CHECK_EQ(le32toh(wqe->unexpected_cnt), 0x12345678);
	CHECK_EQ(le32toh(wqe->handle), add.tm.handle);
	CHECK_EQ(le32toh(wqe->num_sge), 1);
	CHECK_EQ(le64toh(wqe->recv_wr_id), RECV_WR_ID);
	CHECK_EQ(le64toh(wqe->tag), TAG);
	CHECK_EQ(le64toh(wqe->mask), MASK);
	CHECK_EQ(le64toh(wqe->sge.addr), sge.addr);
	CHECK_EQ(le32toh(wqe->sge.length), sge.length);
	CHECK_EQ(le32toh(wqe->sge.lkey), sge.lkey);
	wqe++;
	CHECK_EQ(le32toh(wqe->handle), empty.tm.handle);
	CHECK_EQ(le32toh(wqe->num_sge), 0);
	wqe++;
	CHECK_EQ(le64toh(wqe->wr_id), 7);
	CHECK_EQ(le32toh(wqe->ctrl), IBV_WR_TAG_DEL | 1 << 8);
	CHECK_EQ(le32toh(wqe->handle), 0xabcdef01);
	wqe++;
	CHECK_EQ(le64toh(wqe->wr_id), 8);
	CHECK_EQ(le32toh(wqe->ctrl), IBV_WR_TAG_SYNC | 2 << 8);
	CHECK_EQ(le32toh(wqe->unexpected_cnt), 9);
	CHECK_EQ(ibv_destroy_srq(srq), 0);
}

TEST(tm_full)
{
	struct fixture *f = fixture_open(8);
	struct ibv_srq *srq = create(f, IBV_SRQT_TM);
	struct ibv_ops_wr wr[MAX_OPS + 1];
	struct ibv_ops_wr sync = { .opcode = IBV_WR_TAG_SYNC };

	for (int i = 0; i <= MAX_OPS; i++) {
		wr[i] = make_add();
		wr[i].next = i < MAX_OPS ? &wr[i + 1] : NULL;
	}
	/* no slots */
	CHECK_EQ(post(srq, &wr[0], &wr[MAX_OPS]), ENOMEM);
	check_rung(MAX_OPS);
	CHECK_EQ(post(srq, &sync, &sync), ENOMEM);
	/* no tags */
	advance(0);
	CHECK_EQ(post(srq, &wr[0], &wr[MAX_TAGS - MAX_OPS]), ENOMEM);
	check_rung(MAX_TAGS);
	CHECK_EQ(post(srq, &sync, NULL), 0);
	advance(2);
	CHECK_EQ(post(srq, &wr[3], NULL), 0);
	CHECK_EQ(post(srq, &wr[4], &wr[4]), ENOMEM);
	check_rung(MAX_TAGS + 3);
	/* with an impossible index, the ring counts as full */
	advance(0x80000000);
	CHECK_EQ(post(srq, &wr[4], &wr[4]), ENOMEM);
	/* for a long time, so that indexes wrap */
	for (uint32_t i = 8; i < 1000; i++) {
		advance(i);
		CHECK_EQ(post(srq, &wr[4], NULL), 0);
		CHECK_EQ(le32toh(fake_srq.tags[(i + 1) & 3].handle), i);
	}
	CHECK_EQ(ibv_destroy_srq(srq), 0);
}

TEST(tm_bad_ops)
{
	struct fixture *f = fixture_open(8);
	struct ibv_srq *srq = create(f, IBV_SRQT_TM);
	struct ibv_ops_wr good = make_add(), bad = make_add();

	good.next = &bad;
	bad.tm.add.num_sge = 2;
	CHECK_EQ(post(srq, &good, &bad), EINVAL);
	check_rung(1);
	bad.tm.add.num_sge = -1;
	CHECK_EQ(post(srq, &bad, &bad), EINVAL);
	bad.tm.add.num_sge = 1;
	bad.opcode = 3;
	CHECK_EQ(post(srq, &bad, &bad), EINVAL);
	bad.opcode = IBV_WR_TAG_ADD;
	bad.flags = 4;
	CHECK_EQ(post(srq, &bad, &bad), EINVAL);
	check_rung(1);
	CHECK_EQ(ibv_destroy_srq(srq), 0);

	srq = create(f, IBV_SRQT_BASIC);
	CHECK_EQ(post(srq, &good, &good), EINVAL);
	CHECK_EQ(ibv_destroy_srq(srq), 0);
	CHECK(!create(f, IBV_SRQT_TM + 1));
	CHECK_EQ(errno, EOPNOTSUPP);
}

TEST(tm_create_fails)
{
	struct fixture *f = fixture_open(8);
	int live = fake.live;

	fake.bad_map = true;
	CHECK(!create(f, IBV_SRQT_TM));
	CHECK_EQ(fake.live, live);
	fake.bad_map = false;
	fake.fail = ENOSPC;
	CHECK(!create(f, IBV_SRQT_TM));
	CHECK_EQ(errno, ENOSPC);
	CHECK_EQ(fake.live, live);
}

static struct mynic_cqe make_match(void)
{
	return (struct mynic_cqe){
		.wr_id = htole64(RECV_WR_ID),
		.opcode = htole32(IBV_WC_TM_RECV),
		.byte_len = htole32(100),
		.qp_num = htole32(0x42),
		.wc_flags = htole32(IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID),
		.tag = htole64(TAG),
		.timestamp = htole64(55),
		.tag_priv = htole32(0x01020304),
	};
}

TEST(tm_read_info)
{
	struct fixture *f = fixture_open(8);
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 8,
		.wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_TM_INFO |
			    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
	};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(f->context, &attr);
	const struct mynic_cqe add = {
		.wr_id = htole64(WR_ID),
		.status = htole32(IBV_WC_TM_ERR),
		.opcode = htole32(IBV_WC_TM_DEL),
		.wc_flags = htole32(IBV_WC_TM_SYNC_REQ),
	};
	const struct mynic_cqe match = make_match();
	struct ibv_poll_cq_attr poll = {};
	struct ibv_wc_tm_info info;
	struct ibv_wc wc;

	CHECK(cq);
	fake_complete(&fake_cq, &match);
	fake_complete(&fake_cq, &add);
	CHECK_EQ(ibv_start_poll(cq, &poll), 0);
	CHECK_EQ(cq->wr_id, RECV_WR_ID);
	CHECK_EQ(cq->status, IBV_WC_SUCCESS);
	CHECK_EQ(ibv_wc_read_opcode(cq), IBV_WC_TM_RECV);
	CHECK_EQ(ibv_wc_read_wc_flags(cq),
		 IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID);
	CHECK_EQ(ibv_wc_read_byte_len(cq), 100);
	CHECK_EQ(ibv_wc_read_completion_ts(cq), 55);
	ibv_wc_read_tm_info(cq, &info);
	CHECK_EQ(info.tag, TAG);
	CHECK_EQ(info.priv, 0x01020304);
	CHECK_EQ(ibv_next_poll(cq), 0);
	CHECK_EQ(cq->wr_id, WR_ID);
	CHECK_EQ(cq->status, IBV_WC_TM_ERR);
	CHECK_EQ(ibv_wc_read_opcode(cq), IBV_WC_TM_DEL);
	CHECK_EQ(ibv_wc_read_wc_flags(cq), IBV_WC_TM_SYNC_REQ);
	ibv_wc_read_tm_info(cq, &info);
	CHECK_EQ(info.tag, 0);
	CHECK_EQ(info.priv, 0);
	ibv_end_poll(cq);

	fake_complete(&fake_cq, &match);
	CHECK_EQ(ibv_poll_cq(ibv_cq_ex_to_cq(cq), 1, &wc), 1);
	CHECK_EQ(wc.wr_id, RECV_WR_ID);
	CHECK_EQ(wc.opcode, IBV_WC_TM_RECV);
	CHECK_EQ(wc.byte_len, 100);
	CHECK_EQ(wc.wc_flags, IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID);
	CHECK_EQ(wc.qp_num, 0x42);
	CHECK_EQ(wc.src_qp, 0);
	CHECK_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
}

/* Completions must stay, because the host has to count all messages */
TEST(tm_completions_outlive_the_qp)
{
	struct fixture *f = fixture_open(8);
	struct ibv_srq *srq = create(f, IBV_SRQT_TM);
	struct ibv_qp_init_attr attr = {
		.send_cq = f->cq,
		.recv_cq = f->cq,
		.srq = srq,
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp = ibv_create_qp(f->pd, &attr);
	struct mynic_cqe cqe = make_match();
	struct ibv_wc wc;

	CHECK(qp);
	cqe.qp_num = htole32(qp->qp_num);
	fake_complete(&f->fake_cq, &cqe);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	CHECK_EQ(ibv_poll_cq(f->cq, 1, &wc), 1);
	CHECK_EQ(wc.wr_id, RECV_WR_ID);
	CHECK_EQ(ibv_destroy_srq(srq), 0);
}
