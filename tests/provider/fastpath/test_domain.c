// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Thread domains and parent domains: objects, allocators, and no locks. */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"
#include "mynic.h"

static struct ibv_td *alloc_td(struct fixture *f)
{
	struct ibv_td_init_attr attr = {};
	struct ibv_td *td = ibv_alloc_td(f->context, &attr);

	CHECK(td);
	return td;
}

static struct ibv_pd *alloc_parent(struct fixture *f, struct ibv_td *td)
{
	struct ibv_parent_domain_init_attr attr = { .pd = f->pd, .td = td };
	struct ibv_pd *parent = ibv_alloc_parent_domain(f->context, &attr);

	CHECK(parent);
	return parent;
}

TEST(lifetimes)
{
	struct fixture *f = fixture_open(8);
	struct ibv_td *td = alloc_td(f);
	struct ibv_pd *parent = alloc_parent(f, td);
	struct ibv_parent_domain_init_attr attr = { .pd = parent };
	struct ibv_pd *grand;

	/* to the kernel it is the same */
	CHECK_EQ(parent->handle, f->pd->handle);
	CHECK_EQ((uintptr_t)parent->context, (uintptr_t)f->context);
	CHECK_EQ(ibv_dealloc_td(td), EBUSY);
	CHECK_EQ(ibv_dealloc_pd(f->pd), EBUSY);

	grand = ibv_alloc_parent_domain(f->context, &attr);
	CHECK(grand);
	CHECK_EQ(grand->handle, f->pd->handle);
	CHECK_EQ(ibv_dealloc_pd(parent), EBUSY);
	CHECK_EQ(ibv_dealloc_pd(grand), 0);

	fake.fail = EINVAL; /* nothing is asked of the kernel */
	CHECK_EQ(ibv_dealloc_pd(parent), 0);
	CHECK_EQ(fake.fail, EINVAL);
	fake.fail = 0;
	CHECK_EQ(ibv_dealloc_td(td), 0);
}

static void *no_alloc(struct ibv_pd *pd, void *context, size_t size,
		      size_t alignment, uint64_t type)
{
	FAIL("nothing is created");
}

static void no_free(struct ibv_pd *pd, void *context, void *p, uint64_t type)
{
	FAIL("nothing is destroyed");
}

TEST(refusals)
{
	struct fixture *f = fixture_open(8);
	const struct {
		struct ibv_parent_domain_init_attr attr;
		int err;
	} cases[] = {
		{ { .pd = NULL }, EINVAL },
		{ { .pd = f->pd, .comp_mask = 4 }, EOPNOTSUPP },
		{ { .pd = f->pd, .comp_mask = 1U << 31 }, EOPNOTSUPP },
		{ { .pd = f->pd,
		    .comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS },
		  EINVAL },
		{ { .pd = f->pd,
		    .comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS,
		    .alloc = no_alloc },
		  EINVAL },
		{ { .pd = f->pd,
		    .comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS,
		    .free = no_free },
		  EINVAL },
	};
	struct ibv_td_init_attr td_attr = { .comp_mask = 1 };

	for (int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct ibv_parent_domain_init_attr attr = cases[i].attr;

		errno = 0;
		CHECK(!ibv_alloc_parent_domain(f->context, &attr));
		CHECK_EQ(errno, cases[i].err);
	}
	errno = 0;
	CHECK(!ibv_alloc_td(f->context, &td_attr));
	CHECK_EQ(errno, EOPNOTSUPP);
}

/* Calls of an allocator, and its answers */
struct ledger {
	struct ibv_pd *pd;
	void *answer;
	uint64_t type;
	int live;
	int calls;
};

static void *ledger_alloc(struct ibv_pd *pd, void *context, size_t size,
			  size_t alignment, uint64_t type)
{
	struct ledger *l = context;
	void *p;

	CHECK_EQ((uintptr_t)pd, (uintptr_t)l->pd);
	CHECK_EQ(type, l->type);
	l->calls++;
	if (l->answer != pd)
		return l->answer;
	CHECK_EQ(posix_memalign(&p, alignment, size), 0);
	/* Nothing says that it is zeroed. */
	memset(p, 0xa5, size);
	l->live++;
	return p;
}

static void ledger_free(struct ibv_pd *pd, void *context, void *p,
			uint64_t type)
{
	struct ledger *l = context;

	CHECK_EQ((uintptr_t)pd, (uintptr_t)l->pd);
	CHECK_EQ(type, l->type);
	l->live--;
	free(p);
}

/* A WQ to which requests can be posted */
static struct ibv_wq *create_wq(struct fixture *f,
				struct ibv_wq_init_attr *attr)
{
	struct ibv_wq_attr ready = {
		.attr_mask = IBV_WQ_ATTR_STATE,
		.wq_state = IBV_WQS_RDY,
	};
	struct ibv_wq *wq = ibv_create_wq(f->context, attr);

	if (wq)
		CHECK_EQ(ibv_modify_wq(wq, &ready), 0);
	return wq;
}

/*
 * Create an object in a parent domain; @type is the argument of the allocator.
 */
static void *create(struct fixture *f, struct ibv_pd *pd, uint64_t type)
{
	struct ibv_qp_init_attr qp_attr = {
		.send_cq = f->cq,
		.recv_cq = f->cq,
		.cap = { 1, 1, 1, 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_srq_init_attr srq_attr = {
		.attr = { .max_wr = 1, .max_sge = 1 },
	};
	struct ibv_cq_init_attr_ex cq_attr = {
		.cqe = 4,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD,
		.parent_domain = pd,
	};

	struct ibv_wq_init_attr wq_attr = {
		.wq_type = IBV_WQT_RQ,
		.max_wr = 4,
		.max_sge = 1,
		.pd = pd,
		.cq = f->cq,
	};

	if (type == MYNICDV_RES_QP)
		return ibv_create_qp(pd, &qp_attr);
	if (type == MYNICDV_RES_WQ)
		return create_wq(f, &wq_attr);
	if (type == MYNICDV_RES_SRQ)
		return ibv_create_srq(pd, &srq_attr);
	return ibv_create_cq_ex(f->context, &cq_attr);
}

static int destroy(void *object, uint64_t type)
{
	if (type == MYNICDV_RES_QP)
		return ibv_destroy_qp(object);
	if (type == MYNICDV_RES_SRQ)
		return ibv_destroy_srq(object);
	if (type == MYNICDV_RES_WQ)
		return ibv_destroy_wq(object);
	return ibv_destroy_cq(ibv_cq_ex_to_cq(object));
}

static void check_allocator(uint64_t type)
{
	struct fixture *f = fixture_open(8);
	struct ledger l = { .type = type };
	struct ibv_parent_domain_init_attr attr = {
		.pd = f->pd,
		.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
			     IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT,
		.alloc = ledger_alloc,
		.free = ledger_free,
		.pd_context = &l,
	};
	void *object;

	l.pd = ibv_alloc_parent_domain(f->context, &attr);
	CHECK(l.pd);

	l.answer = l.pd; /* memory */
	object = create(f, l.pd, type);
	CHECK(object);
	CHECK_EQ(l.calls, 1);
	CHECK_EQ(l.live, 1);
	CHECK_EQ(ibv_dealloc_pd(l.pd), EBUSY);
	fake.fail = EBUSY;
	CHECK_EQ(destroy(object, type), EBUSY);
	CHECK_EQ(l.live, 1);
	CHECK_EQ(destroy(object, type), 0);
	CHECK_EQ(l.live, 0);

	l.answer = IBV_ALLOCATOR_USE_DEFAULT;
	object = create(f, l.pd, type);
	CHECK(object);
	CHECK_EQ(l.calls, 2);
	CHECK_EQ(ibv_dealloc_pd(l.pd), EBUSY);
	CHECK_EQ(destroy(object, type), 0);
	CHECK_EQ(l.live, 0);

	l.answer = NULL;
	errno = 0;
	CHECK(!create(f, l.pd, type));
	CHECK_EQ(errno, ENOMEM);
	CHECK_EQ(l.calls, 3);

	/* a failed creation frees its memory */
	l.answer = l.pd;
	fake.fail = EDQUOT;
	CHECK(!create(f, l.pd, type));
	CHECK_EQ(errno, EDQUOT);
	CHECK_EQ(l.live, 0);

	CHECK_EQ(ibv_dealloc_pd(l.pd), 0);
}

TEST(allocator_qp)
{
	check_allocator(MYNICDV_RES_QP);
}

TEST(allocator_srq)
{
	check_allocator(MYNICDV_RES_SRQ);
}

TEST(allocator_cq)
{
	check_allocator(MYNICDV_RES_CQ);
}

TEST(allocator_wq)
{
	check_allocator(MYNICDV_RES_WQ);
}

TEST(cq)
{
	struct fixture *f = fixture_open(8);
	struct ibv_td *td = alloc_td(f);
	struct ibv_pd *pds[] = { alloc_parent(f, NULL), alloc_parent(f, td) };

	for (int i = 0; i < 2; i++) {
		struct ibv_cq_ex *cq = create(f, pds[i], MYNICDV_RES_CQ);

		CHECK(cq);
		CHECK_EQ(to_mcq(ibv_cq_ex_to_cq(cq))->single_threaded, i);
		CHECK_EQ(ibv_dealloc_pd(pds[i]), EBUSY);
		CHECK_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
		CHECK_EQ(ibv_dealloc_pd(pds[i]), 0);
	}
	CHECK_EQ(ibv_dealloc_td(td), 0);

	/* a parent domain, or none at all */
	errno = 0;
	CHECK(!create(f, f->pd, MYNICDV_RES_CQ));
	CHECK_EQ(errno, EINVAL);
	errno = 0;
	CHECK(!create(f, NULL, MYNICDV_RES_CQ));
	CHECK_EQ(errno, EINVAL);
}

TEST(extended_srq)
{
	struct fixture *f = fixture_open(8);
	struct ibv_td *td = alloc_td(f);
	struct ibv_pd *parent = alloc_parent(f, td);
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = 4, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_PD,
		.pd = parent,
	};
	struct ibv_srq *srq = ibv_create_srq_ex(f->context, &attr);

	CHECK(srq);
	CHECK(to_msrq(srq)->rq.single_threaded);
	CHECK_EQ(ibv_dealloc_pd(parent), EBUSY);
	CHECK_EQ(ibv_destroy_srq(srq), 0);
	CHECK_EQ(ibv_dealloc_pd(parent), 0);
	CHECK_EQ(ibv_dealloc_td(td), 0);
}

/* A parent domain is as good as its protection domain. */
TEST(interchangeable)
{
	struct fixture *f = fixture_open(8);
	struct ibv_pd *parent = alloc_parent(f, NULL);
	struct ibv_ah_attr ah_attr = { .is_global = 1, .port_num = 1 };
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND;
	struct ibv_mw_bind bind = {};
	struct ibv_qp *qp;
	struct ibv_ah *ah;
	struct ibv_mr *mr;
	struct ibv_mw *mw;

	ah = ibv_create_ah(parent, &ah_attr);
	mr = ibv_reg_mr(parent, f, sizeof(*f), access);
	mw = ibv_alloc_mw(parent, IBV_MW_TYPE_2);
	CHECK(ah && mr && mw);
	qp = fixture_qp(f, IBV_QPT_RC, 4, 1);
	CHECK(!to_mqp(qp)->sq.single_threaded);

	/* ... when a window of the one is bound to a region of the other */
	bind.bind_info.mr = mr;
	bind.bind_info.length = 1;
	for (int i = 0; i < 2; i++) {
		struct ibv_send_wr wr = { .opcode = IBV_WR_BIND_MW }, *bad;
		struct ibv_mw *window = mw;

		if (i) {
			window = ibv_alloc_mw(f->pd, IBV_MW_TYPE_2);
			CHECK(window);
		}
		wr.bind_mw.mw = window;
		wr.bind_mw.rkey = ibv_inc_rkey(window->rkey);
		wr.bind_mw.bind_info = bind.bind_info;
		CHECK_EQ(ibv_post_send(qp, &wr, &bad), 0);
		CHECK_EQ(ibv_dealloc_mw(window), 0);
	}
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	CHECK_EQ(ibv_destroy_ah(ah), 0);
	CHECK_EQ(ibv_dealloc_pd(parent), 0);
}

/* The whole data path of a QP and an SRQ; @use uses it */
struct path {
	void (*use)(struct path *p);
	struct fixture *f;
	struct ibv_qp *qp;
	struct ibv_srq *srq;
	struct ibv_mw *mw;
	struct ibv_cq_ex *cq;
	struct fake_cq fake_cq;
	struct ibv_wq *wq;
};

static struct ibv_qp *create_qp(struct fixture *f, struct ibv_pd *pd,
				enum ibv_qp_type type)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = f->cq,
		.recv_cq = f->cq,
		.cap = { 16, 4, 2, 2 },
		.qp_type = type,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = pd,
	};
	struct ibv_qp *qp = ibv_create_qp_ex(f->context, &attr);

	CHECK(qp);
	fixture_set_state(qp, IBV_QPS_RTS);
	return qp;
}

/* Posts in all ways, with success and with errors. */
/* Requests of all kinds, also invalid ones */
static void use_post_send(struct path *p)
{
	static struct mynic_ah ah;
	static char data[8];
	static const unsigned int opcodes[] = {
		IBV_WR_SEND,
		IBV_WR_RDMA_WRITE,
		IBV_WR_ATOMIC_FETCH_AND_ADD,
		IBV_WR_LOCAL_INV,
		IBV_WR_DRIVER1,
		IBV_WR_TSO,
		99,
	};
	struct ibv_sge sge = { .addr = (uintptr_t)data, .length = 8 };
	struct ibv_send_wr *bad;

	for (int i = 0; i < ARRAY_SIZE(opcodes); i++) {
		for (int num_sge = 0; num_sge <= 3; num_sge++) {
			struct ibv_send_wr wr = {
				.opcode = opcodes[i],
				.sg_list = &sge,
				.num_sge = num_sge & 1,
				.send_flags = num_sge & 2 ? IBV_SEND_INLINE : 0,
				.wr.ud.ah = &ah.ibv_ah,
			};

			ibv_post_send(p->qp, &wr, &bad);
		}
	}
}

static void use_path(struct path *p)
{
	static char data[8];
	struct ibv_sge sge = { .addr = (uintptr_t)data, .length = 8 };
	struct ibv_recv_wr recv = { .sg_list = &sge, .num_sge = 1 };
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(p->qp);
	struct ibv_mw_bind bind = {};
	struct ibv_poll_cq_attr poll_attr = {};
	const struct mynic_cqe cqe = {};
	struct ibv_recv_wr *bad_recv;
	struct ibv_wc wc;

	use_post_send(p);
	for (int i = 0; i < 3; i++) {
		ibv_wr_start(qpx);
		ibv_wr_send(qpx);
		ibv_wr_set_sge(qpx, 1, 2, 3);
		if (i == 1)
			ibv_wr_send_tso(qpx, data, 1, 1);
		if (i == 2)
			ibv_wr_abort(qpx);
		else
			ibv_wr_complete(qpx);
	}
	ibv_bind_mw(p->qp, p->mw, &bind);
	for (int i = 0; i < 6; i++) {
		ibv_post_recv(p->qp, &recv, &bad_recv);
		ibv_post_srq_recv(p->srq, &recv, &bad_recv);
		ibv_post_wq_recv(p->wq, &recv, &bad_recv);
	}
	fake_complete(&p->fake_cq, &cqe);
	fake_complete(&p->fake_cq, &cqe);
	for (int i = 0; i < 2; i++)
		ibv_poll_cq(ibv_cq_ex_to_cq(p->cq), 1, &wc);
	fake_complete(&p->fake_cq, &cqe);
	fake_complete(&p->fake_cq, &cqe);
	for (int i = 0; i < 2; i++) {
		if (ibv_start_poll(p->cq, &poll_attr))
			continue;
		ibv_next_poll(p->cq);
		ibv_end_poll(p->cq);
	}
	ibv_req_notify_cq(ibv_cq_ex_to_cq(p->cq), 0);
}

#ifdef __x86_64__
/* All operations that notify a device that watches, once each, and others. */
#define TELLING 4

static void use_watched(struct path *p)
{
	struct ibv_sge sge = { .length = 8 };
	struct ibv_send_wr wr[2] = {
		{ .next = &wr[1],
		  .sg_list = &sge,
		  .num_sge = 1,
		  .opcode = IBV_WR_SEND },
		{ .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND },
	};
	struct ibv_recv_wr recv = { .sg_list = &sge, .num_sge = 1 };
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(p->qp);
	struct ibv_mw_bind bind = {};
	const struct mynic_cqe cqe = {};
	struct ibv_recv_wr *bad_recv;
	struct ibv_send_wr *bad;
	struct ibv_wc wc;

	if (ibv_post_send(p->qp, wr, &bad))
		_exit(1);
	ibv_wr_start(qpx);
	ibv_wr_send(qpx);
	ibv_wr_set_sge(qpx, 1, 2, 3);
	if (ibv_wr_complete(qpx))
		_exit(1);
	if (ibv_bind_mw(p->qp, p->mw, &bind))
		_exit(1);
	ibv_req_notify_cq(ibv_cq_ex_to_cq(p->cq), 0);

	if (ibv_post_recv(p->qp, &recv, &bad_recv) ||
	    ibv_post_srq_recv(p->srq, &recv, &bad_recv) ||
	    ibv_post_wq_recv(p->wq, &recv, &bad_recv))
		_exit(1);
	fake_complete(&p->fake_cq, &cqe);
	if (ibv_poll_cq(ibv_cq_ex_to_cq(p->cq), 1, &wc) != 1)
		_exit(1);
}

/*
 * Whether the instruction at @code is locked, by a prefix or as an exchange
 * with memory.
 */
static bool is_locked(const uint8_t *code)
{
	for (int i = 0; i < 4; i++) {
		switch (code[i]) {
		case 0xf0:
			return true;
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x26:
		case 0x64:
		case 0x65:
		case 0x66:
		case 0x67:
		case 0xf2:
		case 0xf3:
		case 0x40 ... 0x4f:
			continue;
		case 0x86:
		case 0x87:
			return code[i + 1] >> 6 != 3;
		default:
			return false;
		}
	}
	return false;
}

/* Bounds of the program's code, in which the provider is. */
extern const char __executable_start, etext;

/*
 * Single-step the use of a path in a child.
 *
 * Return: locked instructions.
 */
static int count_locked(struct path *p)
{
	int count = 0, status;
	pid_t child = fork();

	CHECK(child >= 0);
	if (!child) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(1);
		raise(SIGTRAP);
		p->use(p);
		_exit(0);
	}
	for (;;) {
		struct user_regs_struct regs;
		long code;

		CHECK_EQ(waitpid(child, &status, 0), child);
		if (WIFEXITED(status))
			break;
		CHECK(WIFSTOPPED(status));
		CHECK_EQ(WSTOPSIG(status), SIGTRAP);
		CHECK_EQ(ptrace(PTRACE_GETREGS, child, NULL, &regs), 0);
		if (regs.rip >= (uintptr_t)&__executable_start &&
		    regs.rip < (uintptr_t)&etext) {
			code = ptrace(PTRACE_PEEKTEXT, child, regs.rip, NULL);
			count += is_locked((uint8_t *)&code);
		}
		CHECK_EQ(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL), 0);
	}
	CHECK_EQ(WEXITSTATUS(status), 0);
	return count;
}

/* The same for objects that are created in a parent domain */
static int count_use(struct fixture *f, struct ibv_pd *parent,
		     enum ibv_qp_type type, void (*use)(struct path *p))
{
	struct path p = { .f = f, .use = use };
	int count;

	p.mw = ibv_alloc_mw(f->pd, IBV_MW_TYPE_1);
	p.srq = create(f, parent, MYNICDV_RES_SRQ);
	p.wq = create(f, parent, MYNICDV_RES_WQ);
	p.qp = create_qp(f, parent, type);
	p.cq = create(f, parent, MYNICDV_RES_CQ);
	p.fake_cq = fake_cq;
	CHECK(p.mw && p.srq && p.wq && p.cq);
	count = count_locked(&p);
	CHECK_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(p.cq)), 0);
	CHECK_EQ(ibv_destroy_qp(p.qp), 0);
	CHECK_EQ(ibv_destroy_wq(p.wq), 0);
	CHECK_EQ(ibv_destroy_srq(p.srq), 0);
	CHECK_EQ(ibv_dealloc_mw(p.mw), 0);
	tap_restart_timeout();
	return count;
}

static int count_in(struct fixture *f, struct ibv_pd *parent,
		    enum ibv_qp_type type)
{
	return count_use(f, parent, type, use_path);
}

/* In a context that never has thread domains; a test has one context. */
static int count_alone(void)
{
	int status;
	pid_t child = fork();

	CHECK(child >= 0);
	if (!child) {
		struct fixture *f = fixture_open(8);

		_exit(count_in(f, alloc_parent(f, NULL), IBV_QPT_RC));
	}
	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) >= 40);
	return WEXITSTATUS(status);
}
#endif

TEST(no_locked_instruction)
{
#ifdef __x86_64__
	static const enum ibv_qp_type types[] = {
		IBV_QPT_RC, IBV_QPT_UC,		IBV_QPT_XRC_SEND,
		IBV_QPT_UD, IBV_QPT_RAW_PACKET, IBV_QPT_DRIVER,
	};
	struct fixture *f = fixture_open(8);
	struct ibv_td *td = alloc_td(f);
	struct ibv_pd *parents[] = { alloc_parent(f, NULL),
				     alloc_parent(f, td) };

	for (int i = 0; i < ARRAY_SIZE(types); i++) {
		CHECK(count_in(f, parents[0], types[i]) >= 40);
		CHECK_EQ(count_in(f, parents[1], types[i]), 0);
	}
	CHECK_EQ(ibv_dealloc_pd(parents[0]), 0);
	CHECK_EQ(ibv_dealloc_pd(parents[1]), 0);
	CHECK_EQ(ibv_dealloc_td(td), 0);
#else
	tap_skip("knows the instructions of x86-64 only");
#endif
}

/*
 * The barrier before the test whether the device watches is a locked
 * instruction. It is for the device, not for other threads.
 */
TEST(one_locked_instruction_to_tell)
{
#ifdef __x86_64__
	static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UC,
						  IBV_QPT_XRC_SEND };
	struct ibv_pd *parent;
	struct fixture *f;
	struct ibv_td *td;

	fake.db_suppress = true;
	f = fixture_open(8);
	td = alloc_td(f);
	parent = alloc_parent(f, td);
	for (int i = 0; i < ARRAY_SIZE(types); i++)
		CHECK_EQ(count_use(f, parent, types[i], use_watched), TELLING);
	CHECK_EQ(ibv_dealloc_pd(parent), 0);
	CHECK_EQ(ibv_dealloc_td(td), 0);
#else
	tap_skip("knows the instructions of x86-64 only");
#endif
}

/*
 * Functions for all queues of a context take no locks while all queues are in
 * thread domains. They take the locks of queues that are added later.
 */
TEST(queues_of_many_threads_join)
{
#ifdef __x86_64__
	int count = count_alone();
	struct fixture f = { .context = fake_open() };
	struct ibv_pd *many, *single;
	struct ibv_cq_ex *cq;
	struct ibv_td *td;

	f.pd = ibv_alloc_pd(f.context);
	CHECK(f.pd);
	td = alloc_td(&f);
	single = alloc_parent(&f, td);
	cq = create(&f, single, MYNICDV_RES_CQ);
	CHECK(cq);
	f.cq = ibv_cq_ex_to_cq(cq);
	CHECK_EQ(count_in(&f, single, IBV_QPT_RC), 0);
	many = alloc_parent(&f, NULL);
	CHECK_EQ(count_in(&f, many, IBV_QPT_RC), count);
	CHECK_EQ(count_in(&f, single, IBV_QPT_RC), 0);
	CHECK_EQ(ibv_destroy_cq(f.cq), 0);
	CHECK_EQ(ibv_dealloc_pd(many), 0);
	CHECK_EQ(ibv_dealloc_pd(single), 0);
	CHECK_EQ(ibv_dealloc_td(td), 0);
	CHECK_EQ(ibv_dealloc_pd(f.pd), 0);
#else
	tap_skip("knows the instructions of x86-64 only");
#endif
}

/* Queues of a thread domain have the same entries as others. */
TEST(same_entries)
{
	struct fixture *f = fixture_open(8);
	struct ibv_td *td = alloc_td(f);
	struct ibv_pd *pds[] = { alloc_parent(f, NULL), alloc_parent(f, td) };
	void *rings[2], *rqs[2];
	size_t size = 0;

	for (int i = 0; i < 2; i++) {
		struct path p = { .f = f };

		p.mw = ibv_alloc_mw(f->pd, IBV_MW_TYPE_1);
		p.srq = create(f, pds[i], MYNICDV_RES_SRQ);
		p.wq = create(f, pds[i], MYNICDV_RES_WQ);
		p.qp = create_qp(f, pds[i], IBV_QPT_RC);
		p.cq = create(f, pds[i], MYNICDV_RES_CQ);
		p.fake_cq = fake_cq;
		CHECK(p.mw && p.srq && p.wq && p.cq);
		use_path(&p);
		rings[i] = fake_qp.sq;
		rqs[i] = fake_qp.rq;
		size = 1UL << fake_qp.resp.log_sq_size
			   << fake_qp.resp.log_sq_stride;
		CHECK_EQ(le32toh(fake_qp.dbrec->sq_pi), 14);
		CHECK_EQ(le32toh(fake_qp.dbrec->rq_pi), 4);
		CHECK_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(p.cq)), 0);
		CHECK_EQ(ibv_destroy_qp(p.qp), 0);
		CHECK_EQ(ibv_destroy_wq(p.wq), 0);
		CHECK_EQ(ibv_destroy_srq(p.srq), 0);
		CHECK_EQ(ibv_dealloc_mw(p.mw), 0);
	}
	CHECK_MEM(rings[1], rings[0], size);
	CHECK_MEM(rqs[1], rqs[0], 4 * 64);
	CHECK_EQ(ibv_dealloc_pd(pds[0]), 0);
	CHECK_EQ(ibv_dealloc_pd(pds[1]), 0);
	CHECK_EQ(ibv_dealloc_td(td), 0);
}

#define PER_THREAD 3000
#define BATCH 3

struct poster {
	struct ibv_qp *qp;
	uint64_t number;
	pthread_t thread;
};

static void build_batch(struct ibv_qp_ex *qpx, uint64_t first)
{
	qpx->wr_flags = 0;
	for (int i = 0; i < BATCH; i++) {
		qpx->wr_id = first + i;
		ibv_wr_rdma_write(qpx, 1, ~(first + i));
	}
}

/* Return: number of posted requests. */
static int post_batch(struct ibv_qp *qp, uint64_t first)
{
	struct ibv_send_wr wr[BATCH], *bad;

	for (int i = 0; i < BATCH; i++)
		wr[i] = (struct ibv_send_wr){
			.wr_id = first + i,
			.opcode = IBV_WR_RDMA_WRITE,
			.next = i < BATCH - 1 ? &wr[i + 1] : NULL,
			.wr.rdma.remote_addr = ~(first + i),
		};
	return ibv_post_send(qp, wr, &bad) ? bad - wr : BATCH;
}

/* Aborted requests are never seen. Return: number of posted requests. */
static int complete_batch(struct ibv_qp_ex *qpx, uint64_t first)
{
	ibv_wr_start(qpx);
	build_batch(qpx, first + 100);
	ibv_wr_abort(qpx);

	ibv_wr_start(qpx);
	build_batch(qpx, first + 200);
	ibv_wr_set_inline_data(qpx, NULL, SIZE_MAX);
	CHECK(ibv_wr_complete(qpx));

	ibv_wr_start(qpx);
	build_batch(qpx, first);
	return ibv_wr_complete(qpx) ? 0 : BATCH;
}

/* Even threads use ibv_post_send(), odd ones ibv_wr_*(). */
static void *post_many(void *arg)
{
	struct poster *p = arg;
	int n;

	for (uint64_t i = 0; i < PER_THREAD; i += n) {
		uint64_t first = p->number << 32 | i;

		if (p->number & 1)
			n = complete_batch(ibv_qp_to_qp_ex(p->qp), first);
		else
			n = post_batch(p->qp, first);
		if (!n)
			sched_yield();
	}
	return NULL;
}

/*
 * Threads that use either interface on one QP: nothing is lost or mixed up, and
 * requests between wr_start and wr_complete stay together.
 */
TEST(both_interfaces_and_threads)
{
	struct fixture *f = fixture_open(16);
	struct ibv_qp *qp = fixture_qp(f, IBV_QPT_RC, 64, 2);
	uint64_t next[4] = {}, open = UINT64_MAX;
	struct poster posters[4];
	uint32_t ci = 0;

	for (int i = 0; i < 4; i++) {
		posters[i] = (struct poster){ .qp = qp, .number = i };
		CHECK_EQ(pthread_create(&posters[i].thread, NULL, post_many,
					&posters[i]),
			 0);
	}
	while (ci < 4 * PER_THREAD) {
		uint32_t pi = mynic_observe(&fake_qp.dbrec->sq_pi);

		CHECK(pi - ci <= 64);
		if (ci == pi)
			sched_yield();
		for (; ci != pi; ci++) {
			struct mynic_send_wqe *wqe = fixture_sq_slot(ci);
			uint64_t wr_id = le64toh(wqe->wr_id);
			uint64_t number = wr_id >> 32;

			CHECK(number < 4);
			CHECK_EQ(le64toh(wqe->remote_addr), ~wr_id);
			CHECK_EQ((uint32_t)wr_id, next[number]++);
			CHECK(open == number || open == UINT64_MAX);
			open = UINT64_MAX;
			if (number & 1 && next[number] % BATCH)
				open = number;
		}
		mynic_publish(&fake_qp.dbrec->sq_ci, ci);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(posters[i].thread, NULL);
}
