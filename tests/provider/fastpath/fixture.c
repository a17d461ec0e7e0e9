// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The fixture of the tests: an open device, and queue pairs. */
#include <sys/mman.h>

#include "fixture.h"

static void close_pd(void *pd)
{
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
	CHECK_EQ(fake.live, 0);
}

static void close_cq(void *cq)
{
	CHECK_EQ(ibv_destroy_cq(cq), 0);
}

static void close_qp(void *qp)
{
	CHECK_EQ(ibv_destroy_qp(qp), 0);
}

static void close_ah(void *ah)
{
	CHECK_EQ(ibv_destroy_ah(ah), 0);
}

struct fixture *fixture_open(int cqe)
{
	struct fixture *f = tap_alloc(sizeof(*f));

	f->context = fake_open();
	CHECK(f->context);
	f->pd = ibv_alloc_pd(f->context);
	CHECK(f->pd);
	tap_at_end(close_pd, f->pd);
	f->cq = ibv_create_cq(f->context, cqe, NULL, NULL, 0);
	CHECK(f->cq);
	tap_at_end(close_cq, f->cq);
	f->fake_cq = fake_cq;
	return f;
}

void fixture_set_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
}

struct ibv_qp *fixture_qp(struct fixture *f, enum ibv_qp_type type,
			  uint32_t max_wr, uint32_t max_sge)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = f->cq,
		.recv_cq = f->cq,
		.cap = {
			.max_send_wr = max_wr,
			.max_recv_wr = max_wr,
			.max_send_sge = max_sge,
			.max_recv_sge = max_sge,
		},
		.qp_type = type,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = f->pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND,
	};
	struct ibv_qp *qp;

	qp = ibv_create_qp_ex(f->context, &attr);
	CHECK(qp);
	tap_at_end(close_qp, qp);
	fixture_set_state(qp, IBV_QPS_INIT);
	fixture_set_state(qp, IBV_QPS_RTR);
	fixture_set_state(qp, IBV_QPS_RTS);
	return qp;
}

struct ibv_ah *fixture_ah(struct fixture *f)
{
	struct ibv_ah_attr attr = {
		.grh = {
			.flow_label = 0x12345,
			.sgid_index = 9,
			.hop_limit = 33,
			.traffic_class = 0x77,
		},
		.sl = 5,
		.static_rate = IBV_RATE_40_GBPS,
		.is_global = 1,
		.port_num = 1,
	};
	struct ibv_ah *ah;

	for (int i = 0; i < 16; i++)
		attr.grh.dgid.raw[i] = 0x80 + i;
	ah = ibv_create_ah(f->pd, &attr);
	CHECK(ah);
	tap_at_end(close_ah, ah);
	return ah;
}

void fixture_check_av(const struct mynic_av *av)
{
	static const uint8_t dmac[] = FAKE_DMAC;

	for (int i = 0; i < 16; i++)
		CHECK_EQ(av->dgid[i], 0x80 + i);
	CHECK_MEM(av->dmac, dmac, sizeof(dmac));
	CHECK_EQ(av->hop_limit, 33);
	CHECK_EQ(av->traffic_class, 0x77);
	CHECK_EQ(le32toh(av->flow_label), 0x12345);
	CHECK_EQ(le16toh(av->sgid_index), 9);
	CHECK_EQ(av->sl, 5);
	CHECK_EQ(av->static_rate, IBV_RATE_40_GBPS);
}

struct mynic_send_wqe *fixture_sq_slot(uint32_t index)
{
	uint32_t mask = (1U << fake_qp.resp.log_sq_size) - 1;

	return fake_qp.sq +
	       ((size_t)(index & mask) << fake_qp.resp.log_sq_stride);
}

void fixture_check_doorbell(struct ibv_qp *qp, uint32_t index)
{
	CHECK_EQ(le64toh(*fake_uar(MYNIC_UAR_QP_DB)),
		 (uint64_t)qp->qp_num << 32 | index);
	CHECK_EQ(le32toh(fake_qp.dbrec->sq_pi), index);
	*fake_uar(MYNIC_UAR_QP_DB) = 0;
}

void fixture_check_not_rung(uint32_t index)
{
	CHECK_EQ(*fake_uar(MYNIC_UAR_QP_DB), 0);
	CHECK_EQ(le32toh(fake_qp.dbrec->sq_pi), index);
}

bool fixture_is_atomic(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static void unmap_page(void *end)
{
	munmap(end - 4096, 8192);
}

void *fixture_page_end(size_t size)
{
	void *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED && size <= 4096);
	CHECK_EQ(mprotect(p + 4096, 4096, PROT_NONE), 0);
	tap_at_end(unmap_page, p + 4096);
	return p + 4096 - size;
}
