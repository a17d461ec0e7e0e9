// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Work queues: ibv_post_wq_recv(), and effects of the state on it */
#include "fixture.h"
#include "mynic.h"

static void close_wq(void *wq)
{
	CHECK_EQ(ibv_destroy_wq(wq), 0);
}

static struct ibv_wq *new_wq(struct fixture *f)
{
	struct ibv_wq_init_attr attr = {
		.wq_type = IBV_WQT_RQ,
		.max_wr = 4,
		.max_sge = 3,
		.pd = f->pd,
		.cq = f->cq,
	};
	struct ibv_wq *wq = ibv_create_wq(f->context, &attr);

	CHECK(wq);
	CHECK_EQ(attr.max_wr, 4);
	CHECK_EQ(attr.max_sge, 3);
	tap_at_end(close_wq, wq);
	return wq;
}

static void set_state(struct ibv_wq *wq, enum ibv_wq_state state)
{
	struct ibv_wq_attr attr = {
		.attr_mask = IBV_WQ_ATTR_STATE,
		.wq_state = state,
	};

	CHECK_EQ(ibv_modify_wq(wq, &attr), 0);
}

static int post(struct ibv_wq *wq, uint64_t wr_id, int num_sge)
{
	struct ibv_sge sge[4] = { { 0x1000, 1, 11 },
				  { 0x2000, 2, 12 },
				  { 0x3000, 3, 13 },
				  { 0x4000, 4, 14 } };
	struct ibv_recv_wr *bad = NULL, wr = {
		.wr_id = wr_id,
		.sg_list = sge,
		.num_sge = num_sge,
	};
	int err = ibv_post_wq_recv(wq, &wr, &bad);

	CHECK(err ? bad == &wr : !bad);
	return err;
}

TEST(wq_post)
{
	struct ibv_wq *wq = new_wq(fixture_open(16));
	const struct mynic_recv_wqe *wqe = fake_wq.ring;
	const struct mynic_sge *sge = (const void *)(wqe + 1);

	CHECK_EQ(post(wq, 1, 1), EINVAL);
	set_state(wq, IBV_WQS_RDY);
	CHECK_EQ(post(wq, 0x7777, 3), 0);
	CHECK_EQ(le64toh(wqe->wr_id), 0x7777);
	CHECK_EQ(le32toh(wqe->num_sge), 3);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(le64toh(sge[i].addr), 0x1000 * (i + 1));
		CHECK_EQ(le32toh(sge[i].length), i + 1);
		CHECK_EQ(le32toh(sge[i].lkey), 11 + i);
	}
	CHECK_EQ(le32toh(fake_wq.dbrec->rq_pi), 1);
	CHECK_EQ(post(wq, 2, 4), EINVAL);
	for (int i = 0; i < 3; i++)
		CHECK_EQ(post(wq, i, 1), 0);
	CHECK_EQ(post(wq, 2, 1), ENOMEM);
	fake_wq.dbrec->rq_ci = htole32(1);
	CHECK_EQ(post(wq, 9, 0), 0);
	CHECK_EQ(le64toh(wqe->wr_id), 9);
	CHECK_EQ(le32toh(fake_wq.dbrec->rq_pi), 5);
}

/* In the error state the device waits for the doorbell, with the WQ's number */
TEST(wq_error_state)
{
	struct ibv_wq *wq = new_wq(fixture_open(16));
	uint64_t *doorbell = fake_uar(MYNIC_UAR_QP_DB);

	set_state(wq, IBV_WQS_RDY);
	CHECK_EQ(post(wq, 1, 1), 0);
	CHECK_EQ(le64toh(*doorbell), 0);
	set_state(wq, IBV_WQS_ERR);
	fake_wq.dbrec->rq_ring = htole32(1);
	CHECK_EQ(post(wq, 2, 1), 0);
	CHECK_EQ(le64toh(*doorbell), (uint64_t)wq->wq_num << 32);
}

/* RESET restarts the queue, and removes its completions */
TEST(wq_reset)
{
	struct fixture *f = fixture_open(16);
	struct ibv_wq *wq = new_wq(f);
	struct mynic_cqe cqe = { .qp_num = htole32(wq->wq_num) };
	struct ibv_wc wc;

	set_state(wq, IBV_WQS_RDY);
	CHECK_EQ(post(wq, 1, 1), 0);
	CHECK_EQ(post(wq, 2, 1), 0);
	fake_complete(&f->fake_cq, &cqe);
	cqe.qp_num = htole32(wq->wq_num + 1);
	fake_complete(&f->fake_cq, &cqe);
	set_state(wq, IBV_WQS_RESET);
	CHECK_EQ(le32toh(fake_wq.dbrec->rq_pi), 0);
	CHECK_EQ(post(wq, 1, 1), EINVAL);
	CHECK_EQ(ibv_poll_cq(f->cq, 1, &wc), 1);
	CHECK_EQ(wc.qp_num, wq->wq_num + 1);
	CHECK_EQ(ibv_poll_cq(f->cq, 1, &wc), 0);
	set_state(wq, IBV_WQS_RDY);
	CHECK_EQ(post(wq, 0x55, 1), 0);
	CHECK_EQ(le64toh(((struct mynic_recv_wqe *)fake_wq.ring)->wr_id), 0x55);
	CHECK_EQ(le32toh(fake_wq.dbrec->rq_pi), 1);
}

static struct ibv_qp *new_rss(struct fixture *f, struct ibv_cq *send_cq,
			      struct ibv_rwq_ind_table *table)
{
	static uint8_t key[40];
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = send_cq,
		.qp_type = IBV_QPT_RAW_PACKET,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_IND_TABLE |
			     IBV_QP_INIT_ATTR_RX_HASH,
		.pd = f->pd,
		.rwq_ind_tbl = table,
		.rx_hash_conf = {
			.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
			.rx_hash_key_len = sizeof(key),
			.rx_hash_key = key,
			.rx_hash_fields_mask = IBV_RX_HASH_SRC_IPV4,
		},
	};

	return ibv_create_qp_ex(f->context, &attr);
}

/* An RSS QP sends nothing, so the named CQ may be destroyed before it. */
TEST(rss_keeps_no_cq)
{
	struct fixture *f = fixture_open(16);
	struct ibv_cq *send_cq = ibv_create_cq(f->context, 8, NULL, NULL, 0);
	struct ibv_wq *wq = new_wq(f);
	struct ibv_rwq_ind_table_init_attr attr = { .ind_tbl = &wq };
	struct ibv_rwq_ind_table *table;
	struct ibv_qp *qp;

	table = ibv_create_rwq_ind_table(f->context, &attr);
	CHECK(send_cq && table);
	qp = new_rss(f, send_cq, table);
	CHECK(qp);
	CHECK(!qp->send_cq && !qp->recv_cq && !qp->srq);
	CHECK_EQ((uintptr_t)qp->pd, (uintptr_t)f->pd);
	CHECK_EQ(ibv_destroy_cq(send_cq), 0);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	CHECK_EQ(ibv_destroy_rwq_ind_table(table), 0);
}

/* If the device is gone, the kernel destroys everything. */
TEST(wq_keeps_its_cq)
{
	struct fixture *f = fixture_open(16);
	struct ibv_wq_init_attr attr = {
		.wq_type = IBV_WQT_RQ,
		.max_wr = 4,
		.max_sge = 3,
		.pd = f->pd,
		.cq = ibv_create_cq(f->context, 8, NULL, NULL, 0),
	};
	struct ibv_wq *wq;

	CHECK(attr.cq);
	wq = ibv_create_wq(f->context, &attr);
	CHECK(wq);
	CHECK_EQ(ibv_destroy_cq(attr.cq), EBUSY);
	CHECK_EQ(ibv_destroy_wq(wq), 0);
	CHECK_EQ(ibv_destroy_cq(attr.cq), 0);
}
