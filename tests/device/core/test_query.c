// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* QUERY_CQ, QUERY_MKEY and QUERY_SRQ: the state of objects in the device */
#include "harness_driver.h"

static uint8_t query(struct drv *d, uint8_t opcode, uint32_t number, void *mbox,
		     size_t len)
{
	struct mynic_admin_cmd cmd = { .opcode = opcode, .number = number };

	return drv_admin_out(d, &cmd, mbox, len);
}

static struct mynic_query_cq query_cq(struct drv_cq *cq)
{
	struct mynic_query_cq mbox;

	CHECK_EQ(query(cq->d, MYNIC_CMD_QUERY_CQ, cq->number, &mbox,
		       sizeof(mbox)),
		 MYNIC_AQ_OK);
	return mbox;
}

TEST(query_cq_life)
{
	struct drv_pair pair = drv_rc_pair(NULL);
	struct drv_cq *cq = pair.b.recv_cq;
	struct mynic_query_cq mbox = query_cq(cq);

	CHECK_EQ(mbox.cqn, cq->number);
	CHECK_EQ(mbox.uarn, cq->uarn);
	CHECK_EQ(mbox.eqn, cq->d->comp.number);
	CHECK_EQ(mbox.log_size, cq->log_size);
	CHECK_EQ(mbox.arm, MYNIC_CQ_NOT_ARMED);
	CHECK_EQ(mbox.pi, 0);
	CHECK_EQ(mbox.dead, 0);

	drv_arm(cq, true);
	sim_settle(pair.sim);
	CHECK_EQ(query_cq(cq).arm, MYNIC_CQ_ARMED_SOLICITED);
	drv_arm(cq, false);
	sim_settle(pair.sim);
	CHECK_EQ(query_cq(cq).arm, MYNIC_CQ_ARMED);

	drv_send_recv(&pair.a, &pair.b, 100);
	mbox = query_cq(cq);
	CHECK_EQ(mbox.pi, 1);
	CHECK_EQ(mbox.arm, MYNIC_CQ_NOT_ARMED);
}

TEST(query_cq_that_overran)
{
	struct drv_pair pair = drv_rc_pair(NULL);
	struct drv_cq *cq = pair.a.cq;
	struct drv_wr wr = {
		.opcode = IBV_WR_SEND,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { drv_sge(pair.a.mr, 0, 1) },
	};

	for (uint32_t i = 0; i <= 1u << cq->log_size; i++) {
		struct mynic_sge sge = drv_sge(pair.b.mr, 0, 1);

		drv_post_recv(pair.b.qp, i, &sge, 1);
		drv_post_send(pair.a.qp, &wr);
		drv_expect(pair.b.recv_cq, i, IBV_WC_SUCCESS);
		sim_settle(pair.sim);
	}
	CHECK_EQ(query_cq(cq).dead, 1);
	CHECK_EQ(query_cq(cq).pi, 1u << cq->log_size);
}

TEST(query_mkey)
{
	struct drv *d = drv_one();
	uint32_t pdn = drv_alloc_pd(d), access = IBV_ACCESS_LOCAL_WRITE;
	struct drv_mr *mr = drv_reg_mr(d, pdn, 10000, access);
	struct mynic_create_mkey all = { .pdn = pdn, .access = access };
	struct mynic_query_mkey mbox;
	uint32_t key;

	CHECK_EQ(query(d, MYNIC_CMD_QUERY_MKEY, mr->key >> 8, &mbox,
		       sizeof(mbox)),
		 MYNIC_AQ_OK);
	CHECK_EQ(mbox.key, mr->key);
	CHECK_EQ(mbox.pdn, pdn);
	CHECK_EQ(mbox.access, access);
	CHECK_EQ(mbox.flags, 0);
	CHECK_EQ(mbox.iova, mr->addr);
	CHECK_EQ(mbox.length, 10000);

	CHECK_EQ(drv_create_mkey(d, &all, MYNIC_MKEY_DMA, &key), MYNIC_AQ_OK);
	CHECK_EQ(query(d, MYNIC_CMD_QUERY_MKEY, key >> 8, &mbox, sizeof(mbox)),
		 MYNIC_AQ_OK);
	CHECK_EQ(mbox.flags, MYNIC_MKEY_DMA);
	CHECK_EQ(mbox.length, UINT64_MAX);
}

TEST(query_srq)
{
	struct drv *d = drv_one();
	struct drv_srq *srq = drv_create_srq(d, drv_alloc_pd(d), 4);
	struct mynic_admin_cmd cmd = {
		.opcode = MYNIC_CMD_QUERY_SRQ,
		.number = srq->number,
	};
	struct mynic_admin_cpl cpl;

	CHECK_EQ(drv_admin(d, &cmd, &cpl), MYNIC_AQ_OK);
	CHECK_EQ(cpl.query_srq.srqn, srq->number);
	CHECK_EQ(cpl.query_srq.type, MYNIC_SRQ_BASIC);
	CHECK_EQ(cpl.query_srq.num_qps, 0);
	CHECK_EQ(cpl.query_srq.ci, 0);
	CHECK_EQ(cpl.query_srq.dead, 0);
}

TEST(query_nothing)
{
	static const uint32_t numbers[] = { 0, 0xffff, 0xffffff, 0xffffffff };
	struct drv *d = drv_one();
	uint8_t mbox[64];

	for (unsigned int i = 0; i < ARRAY_SIZE(numbers); i++) {
		CHECK_EQ(query(d, MYNIC_CMD_QUERY_MKEY, numbers[i], mbox,
			       sizeof(mbox)),
			 MYNIC_AQ_BAD_NUMBER);
		CHECK_EQ(query(d, MYNIC_CMD_QUERY_CQ, numbers[i], mbox,
			       sizeof(mbox)),
			 MYNIC_AQ_BAD_NUMBER);
	}
	/* The kernel's key of all memory is not a region */
	CHECK_EQ(query(d, MYNIC_CMD_QUERY_MKEY, d->attr.dma_lkey >> 8, mbox,
		       sizeof(mbox)),
		 MYNIC_AQ_BAD_NUMBER);
}
