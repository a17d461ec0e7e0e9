// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The table of completions. A row that is missing reads as zero, which is a SEND. */
#include "harness_driver.h"

#define PAGE DRV_PAGE
#define ADDR 0x7654321000ull
#define LEN 64

/* Completions of all opcodes that an RC queue pair has */
static const struct {
	unsigned int opcode;
	unsigned int completion;
} opcodes[] = {
	{ IBV_WR_RDMA_WRITE, IBV_WC_RDMA_WRITE },
	{ IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WC_RDMA_WRITE },
	{ IBV_WR_SEND, IBV_WC_SEND },
	{ IBV_WR_SEND_WITH_IMM, IBV_WC_SEND },
	{ IBV_WR_RDMA_READ, IBV_WC_RDMA_READ },
	{ IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WC_COMP_SWAP },
	{ IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WC_FETCH_ADD },
	{ IBV_WR_LOCAL_INV, IBV_WC_LOCAL_INV },
	{ IBV_WR_BIND_MW, IBV_WC_BIND_MW },
	{ IBV_WR_SEND_WITH_INV, IBV_WC_SEND },
	{ IBV_WR_FLUSH, IBV_WC_FLUSH },
	{ IBV_WR_ATOMIC_WRITE, IBV_WC_ATOMIC_WRITE },
	{ MYNIC_WR_REG_MR, MYNIC_WC_REG_MR },
};

static bool find_completion(unsigned int opcode, unsigned int *completion)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(opcodes); i++) {
		if (opcodes[i].opcode == opcode) {
			*completion = opcodes[i].completion;
			return true;
		}
	}
	return false;
}

static struct drv_wr reg_wr(struct drv_end *e)
{
	uint64_t iova = sim_iova(e->d->n, sim_alloc(e->d->n, PAGE, PAGE));
	struct mynic_create_mkey body = { .pdn = e->pdn, .length = 1 };
	struct drv_wr wr = {
		.opcode = MYNIC_WR_REG_MR,
		.flags = IBV_SEND_SIGNALED,
		.remote_addr = ADDR,
		.reg_mr = { .buf = drv_page_list(e->d, &iova, 1, 12, 1),
			    .length = PAGE },
	};

	CHECK_EQ(drv_create_mkey(e->d, &body, MYNIC_MKEY_FAST_REG, &wr.rkey),
		 MYNIC_AQ_OK);
	return wr;
}

/* Return: a key that may be invalidated */
static uint32_t registered_key(struct drv_end *e)
{
	struct drv_wr wr = reg_wr(e);

	drv_post_send(e->qp, &wr);
	drv_expect(e->cq, 0, IBV_WC_SUCCESS);
	return wr.rkey;
}

static struct drv_wr bind_wr(struct drv_end *e)
{
	const struct drv_mr *mr =
		drv_reg_mr(e->d, e->pdn, LEN, IBV_ACCESS_MW_BIND);
	struct mynic_create_mkey body = { .pdn = e->pdn };
	struct drv_wr wr = {
		.opcode = IBV_WR_BIND_MW,
		.flags = IBV_SEND_SIGNALED,
		.bind = { .addr = mr->addr, .length = LEN, .lkey = mr->key },
	};

	CHECK_EQ(drv_create_mkey(e->d, &body, MYNIC_MKEY_MW2, &wr.rkey),
		 MYNIC_AQ_OK);
	wr.bind.new_rkey = wr.rkey ^ 1;
	return wr;
}

/* Return: a valid request of a, without operands if the opcode is unknown */
static struct drv_wr make_wr(struct drv_pair *p, unsigned int opcode)
{
	struct drv_wr wr = {
		.opcode = opcode,
		.flags = IBV_SEND_SIGNALED,
		.num_sge = 1,
		.sge = { drv_sge(p->a.mr, 0, 8) },
		.remote_addr = p->b.mr->addr,
		.rkey = p->b.mr->key,
		.flush = { .length = LEN,
			   .placement = IBV_FLUSH_GLOBAL,
			   .selectivity = IBV_FLUSH_RANGE },
	};

	switch (opcode) {
	case MYNIC_WR_REG_MR:
		return reg_wr(&p->a);
	case IBV_WR_BIND_MW:
		return bind_wr(&p->a);
	case IBV_WR_LOCAL_INV:
		wr.imm = registered_key(&p->a);
		wr.num_sge = 0;
		break;
	case IBV_WR_SEND_WITH_INV:
		wr.imm = registered_key(&p->b);
		break;
	case IBV_WR_FLUSH:
		wr.num_sge = 0;
		break;
	}
	return wr;
}

TEST(tables_completions_of_opcodes)
{
	static const struct drv_qp_init init = { .type = MYNIC_QP_RC,
						 .flags = MYNIC_QP_KERNEL };

	for (unsigned int op = 0; op <= MYNIC_WQE_OPCODE_MASK; op++) {
		struct drv_pair p = drv_pair_unconnected(&init);
		struct mynic_sge buf = drv_sge(p.b.mr, 0, LEN);
		unsigned int completion;
		struct mynic_cqe cqe;
		struct drv_wr wr;

		drv_connect(p.a.qp, p.b.qp, &(struct drv_path){ 0 });
		drv_post_recv(p.b.qp, 1, &buf, 1);
		wr = make_wr(&p, op);
		drv_post_send(p.a.qp, &wr);
		SIM_WAIT(p.sim, drv_poll(p.a.cq, &cqe));
		if (find_completion(op, &completion)) {
			CHECK_EQ(cqe.status, IBV_WC_SUCCESS);
			CHECK_EQ(cqe.opcode, completion);
		} else if (cqe.vendor_err != MYNIC_SYN_BAD_OPCODE) {
			FAIL("opcode %u is accepted, and not listed here", op);
		}
		sim_free(p.sim);
	}
}
