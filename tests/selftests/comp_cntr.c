// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Completion counters, below libibverbs */
#include <endian.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mynic-abi.h>
#include <rdma/mynic-hw.h>
#include <sys/mman.h>

#include "ioctl.h"
#include "reasons.h"
#include "verbs.h"

#define LEN 1000
#define COMP IB_UVERBS_COMP_CNTR_ENTRY_COMP
#define ERR IB_UVERBS_COMP_CNTR_ENTRY_ERR
#define SET IB_UVERBS_COMP_CNTR_MODIFY_OP_SET
#define INC IB_UVERBS_COMP_CNTR_MODIFY_OP_INC
#define OP(name) IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_##name
#define NUM_OPS 6
#define ALL_OPS ((1 << NUM_OPS) - 1)

/* Numbers that are no enum values */
static const uint64_t bad_values[] = { 2, 0xff, 0x100, 0x7fffffff };

/*
 * struct cntr - a completion counter
 * @fd: the file that it belongs to
 * @values: where it is mapped
 */
struct cntr {
	int fd;
	uint32_t handle;
	struct mynic_create_comp_cntr_resp resp;
	const struct mynic_comp_cntr_values *values;
};

static int create(int fd, struct cntr *c)
{
	struct call call = make_call(UVERBS_OBJECT_COMP_CNTR,
				     UVERBS_METHOD_COMP_CNTR_CREATE);
	struct ib_uverbs_attr *out =
		add(&call, UVERBS_ATTR_CREATE_COMP_CNTR_HANDLE, 0, 0);
	int err;

	*c = (struct cntr){ .fd = fd };
	add(&call, MYNIC_ATTR_CREATE_COMP_CNTR_RESP, sizeof(c->resp),
	    (uintptr_t)&c->resp);
	err = execute(fd, &call);
	c->handle = out->data;
	return err;
}

static int destroy(const struct cntr *c)
{
	struct call call = make_call(UVERBS_OBJECT_COMP_CNTR,
				     UVERBS_METHOD_COMP_CNTR_DESTROY);

	add(&call, UVERBS_ATTR_DESTROY_COMP_CNTR_HANDLE, 0, c->handle);
	return execute(c->fd, &call);
}

static int modify(const struct cntr *c, uint64_t entry, uint64_t op,
		  uint64_t value)
{
	struct call call = make_call(UVERBS_OBJECT_COMP_CNTR,
				     UVERBS_METHOD_COMP_CNTR_MODIFY);

	add(&call, UVERBS_ATTR_MODIFY_COMP_CNTR_HANDLE, 0, c->handle);
	add(&call, UVERBS_ATTR_MODIFY_COMP_CNTR_ENTRY, 8, entry);
	add(&call, UVERBS_ATTR_MODIFY_COMP_CNTR_OP, 8, op);
	add(&call, UVERBS_ATTR_MODIFY_COMP_CNTR_VALUE, 8, value);
	return execute(c->fd, &call);
}

static int read_entry(const struct cntr *c, uint64_t entry, uint64_t *value)
{
	struct call call = make_call(UVERBS_OBJECT_COMP_CNTR,
				     UVERBS_METHOD_COMP_CNTR_READ);

	add(&call, UVERBS_ATTR_READ_COMP_CNTR_HANDLE, 0, c->handle);
	add(&call, UVERBS_ATTR_READ_COMP_CNTR_ENTRY, 8, entry);
	add(&call, UVERBS_ATTR_READ_COMP_CNTR_RESP_VALUE, 8, (uintptr_t)value);
	return execute(c->fd, &call);
}

static int attach(const struct ibv_qp *qp, const struct cntr *c, uint32_t ops)
{
	struct call call =
		make_call(UVERBS_OBJECT_QP, UVERBS_METHOD_QP_ATTACH_COMP_CNTR);

	add(&call, UVERBS_ATTR_QP_ATTACH_COMP_CNTR_HANDLE, 0, qp->handle);
	add(&call, UVERBS_ATTR_QP_ATTACH_COMP_CNTR_CNTR_HANDLE, 0, c->handle);
	add(&call, UVERBS_ATTR_QP_ATTACH_COMP_CNTR_OP_MASK, 4, ops);
	return execute(c->fd, &call);
}

static void *map(const struct cntr *c, int fd, size_t size, int prot)
{
	return mmap(NULL, size, prot, MAP_SHARED, fd, c->resp.mmap_key);
}

static int create_mapped(int fd, struct cntr *c)
{
	void *addr;
	int err = create(fd, c);

	if (err)
		return err;
	addr = map(c, fd, c->resp.mmap_size, PROT_READ);
	if (addr == MAP_FAILED)
		return errno;
	c->values = addr + c->resp.values_offset;
	return 0;
}

/* Whether the values are these, by both ways to read them */
static bool has(const struct cntr *c, uint64_t completions, uint64_t errors)
{
	const volatile struct mynic_comp_cntr_values *values = c->values;
	uint64_t comp = -1, err = -1;

	return le64toh(values->completions) == completions &&
	       le64toh(values->errors) == errors &&
	       !read_entry(c, COMP, &comp) && comp == completions &&
	       !read_entry(c, ERR, &err) && err == errors;
}

/* For what happens at the side that gets no completion */
static bool wait_has(const struct cntr *c, uint64_t completions,
		     uint64_t errors)
{
	time_t end = deadline();

	while (!has(c, completions, errors))
		if (time(NULL) >= end)
			return false;
	return true;
}

FIXTURE(comp_cntr)
{
	struct end a;
	struct end b;
	struct cntr at_a[NUM_OPS];
	struct cntr at_b[NUM_OPS];
};

FIXTURE_SETUP(comp_cntr)
{
	struct cntr c;

	self->a.ctx = open_mynic(0);
	self->b.ctx = open_mynic(1);
	if (!self->b.ctx)
		SKIP(return, "only one mynic device");
	if (!kernel_since(7, 3)) {
		EXPECT_EQ(create(self->a.ctx->cmd_fd, &c), EPROTONOSUPPORT);
		SKIP(return, "this kernel has no completion counters");
	}
	ASSERT_TRUE(make_end(&self->a, IBV_QPT_RC));
	ASSERT_TRUE(make_end(&self->b, IBV_QPT_RC));
}

/* The counters are freed with the context */
FIXTURE_TEARDOWN(comp_cntr)
{
	EXPECT_EQ(free_end(&self->a), 0);
	EXPECT_EQ(free_end(&self->b), 0);
	ibv_close_device(self->a.ctx);
	if (self->b.ctx)
		ibv_close_device(self->b.ctx);
}

/* Count each operation of the QP by itself. Return: 0 or an errno */
static int count_all(const struct end *e, struct cntr *of)
{
	int err = 0;

	for (int i = 0; i < NUM_OPS && !err; i++) {
		err = create_mapped(e->ctx->cmd_fd, &of[i]);
		err = err ? err : attach(e->qp, &of[i], 1 << i);
	}
	return err;
}

static bool connect_counted(struct end *a, struct cntr *at_a, struct end *b,
			    struct cntr *at_b)
{
	return !count_all(a, at_a) && !count_all(b, at_b) && !to_rts(a, b) &&
	       !to_rts(b, a);
}

static const struct cntr *of_op(const struct cntr *all, unsigned int op)
{
	return &all[__builtin_ctz(op)];
}

TEST_F(comp_cntr, caps)
{
	struct call call = make_call(UVERBS_OBJECT_DEVICE,
				     UVERBS_METHOD_QUERY_COMP_CNTR_CAPS);
	uint32_t max = 0, ops = 0;
	uint64_t value = 0;

	add(&call, UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_COUNTERS, 4,
	    (uintptr_t)&max);
	add(&call, UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_VALUE, 8,
	    (uintptr_t)&value);
	add(&call, UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_SUPPORTED_QP_ATTACH_OPS, 4,
	    (uintptr_t)&ops);
	ASSERT_EQ(execute(self->a.ctx->cmd_fd, &call), 0);
	EXPECT_GE(max, 1);
	EXPECT_EQ(value, UINT64_MAX);
	EXPECT_EQ(ops, ALL_OPS);
}

TEST_F(comp_cntr, requests)
{
	struct end *a = &self->a, *b = &self->b;
	struct ibv_wc wc;

	ASSERT_TRUE(connect_counted(a, self->at_a, b, self->at_b));
	for (int i = 1; i <= 10; i++) {
		ASSERT_EQ(check_write(a, b, LEN), 0);
		EXPECT_TRUE(has(of_op(self->at_a, OP(RDMA_WRITE)), i, 0));
		EXPECT_TRUE(
			has(of_op(self->at_b, OP(REMOTE_RDMA_WRITE)), i, 0));
		ASSERT_EQ(post(a, IBV_WR_RDMA_READ, i, 0, LEN, b), 0);
		ASSERT_TRUE(wait_wc(a->cq, &wc));
		ASSERT_EQ(wc.status, IBV_WC_SUCCESS);
		EXPECT_TRUE(has(of_op(self->at_a, OP(RDMA_READ)), i, 0));
		EXPECT_TRUE(wait_has(of_op(self->at_b, OP(REMOTE_RDMA_READ)), i,
				     0));
		ASSERT_EQ(post_recv(b, i, 0, LEN), 0);
		ASSERT_EQ(post(a, IBV_WR_SEND, i, 0, LEN, NULL), 0);
		ASSERT_TRUE(wait_wc(b->cq, &wc));
		ASSERT_EQ(wc.status, IBV_WC_SUCCESS);
		EXPECT_TRUE(has(of_op(self->at_b, OP(RECV)), i, 0));
		ASSERT_TRUE(wait_wc(a->cq, &wc));
		ASSERT_EQ(wc.status, IBV_WC_SUCCESS);
		EXPECT_TRUE(has(of_op(self->at_a, OP(SEND)), i, 0));
	}
	EXPECT_TRUE(has(of_op(self->at_a, OP(RECV)), 0, 0));
	EXPECT_TRUE(has(of_op(self->at_b, OP(SEND)), 0, 0));
}

/* A process that uses no completions at all */
TEST_F(comp_cntr, unsignaled)
{
	struct end *a = &self->a, *b = &self->b;
	struct ibv_sge sge = { (uintptr_t)a->buf, LEN, a->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.wr.rdma = { (uintptr_t)b->buf, b->mr->rkey },
	};
	struct ibv_wc wc;
	struct cntr at_a, at_b;

	ASSERT_EQ(create_mapped(a->ctx->cmd_fd, &at_a), 0);
	ASSERT_EQ(create_mapped(b->ctx->cmd_fd, &at_b), 0);
	ASSERT_EQ(attach(a->qp, &at_a, OP(RDMA_WRITE)), 0);
	ASSERT_EQ(attach(b->qp, &at_b, OP(REMOTE_RDMA_WRITE)), 0);
	ASSERT_EQ(to_rts(a, b), 0);
	ASSERT_EQ(to_rts(b, a), 0);
	memset(a->buf, 0x5a, LEN);
	for (int i = 0; i < 20; i++) {
		ASSERT_EQ(ibv_post_send(a->qp, &wr, &bad), 0);
	}
	EXPECT_TRUE(wait_has(&at_b, 20, 0));
	EXPECT_EQ(memcmp(a->buf, b->buf, LEN), 0);
	EXPECT_TRUE(wait_has(&at_a, 20, 0));
	EXPECT_EQ(ibv_poll_cq(a->cq, 1, &wc), 0);
}

TEST_F(comp_cntr, errors)
{
	struct end *a = &self->a, *b = &self->b;
	struct ibv_wc wc;

	ASSERT_TRUE(connect_counted(a, self->at_a, b, self->at_b));
	ASSERT_EQ(post_recv(b, 1, 0, LEN), 0);
	b->mr->rkey ^= 0x100;
	ASSERT_EQ(post(a, IBV_WR_RDMA_WRITE, 1, 0, LEN, b), 0);
	ASSERT_EQ(post(a, IBV_WR_SEND, 2, 0, LEN, NULL), 0);
	b->mr->rkey ^= 0x100;
	ASSERT_TRUE(wait_wc(a->cq, &wc));
	EXPECT_EQ(wc.status, IBV_WC_REM_ACCESS_ERR);
	ASSERT_TRUE(wait_wc(a->cq, &wc));
	EXPECT_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
	EXPECT_TRUE(has(of_op(self->at_a, OP(RDMA_WRITE)), 0, 1));
	EXPECT_TRUE(has(of_op(self->at_a, OP(SEND)), 0, 1));
	EXPECT_TRUE(has(of_op(self->at_b, OP(REMOTE_RDMA_WRITE)), 0, 1));
	EXPECT_TRUE(wait_has(of_op(self->at_b, OP(RECV)), 0, 1));
	EXPECT_TRUE(has(of_op(self->at_b, OP(REMOTE_RDMA_READ)), 0, 0));
}

TEST_F(comp_cntr, modified)
{
	bool explained = reasons_wanted(true);
	uint64_t value;
	struct cntr c;
	int log;

	ASSERT_EQ(create_mapped(self->a.ctx->cmd_fd, &c), 0);
	EXPECT_TRUE(has(&c, 0, 0));
	EXPECT_EQ(modify(&c, COMP, SET, 100), 0);
	EXPECT_TRUE(has(&c, 100, 0));
	EXPECT_EQ(modify(&c, ERR, SET, UINT64_MAX), 0);
	EXPECT_EQ(modify(&c, COMP, INC, 11), 0);
	EXPECT_TRUE(has(&c, 111, UINT64_MAX));
	EXPECT_EQ(modify(&c, ERR, INC, 2), 0);
	EXPECT_TRUE(has(&c, 111, 1));
	log = reasons_open();
	for (unsigned int i = 0; i < 4; i++) {
		EXPECT_EQ(modify(&c, bad_values[i], SET, 1), EINVAL);
		EXPECT_EQ(modify(&c, COMP, bad_values[i], 1), EINVAL);
		EXPECT_EQ(read_entry(&c, bad_values[i], &value), EINVAL);
	}
	EXPECT_EQ(reasons_count(log, "a completion counter "),
		  explained ? 12 : 0);
	reasons_wanted(false);
	EXPECT_TRUE(has(&c, 111, 1));
	EXPECT_EQ(destroy(&c), 0);
	EXPECT_EQ(modify(&c, COMP, SET, 1), ENOENT);
}

TEST_F(comp_cntr, attached)
{
	struct end *a = &self->a, *b = &self->b;
	struct cntr c, d;

	ASSERT_EQ(create_mapped(a->ctx->cmd_fd, &c), 0);
	ASSERT_EQ(create_mapped(a->ctx->cmd_fd, &d), 0);
	EXPECT_EQ(attach(a->qp, &c, 0), EINVAL);
	EXPECT_EQ(attach(a->qp, &c, ALL_OPS + 1), EINVAL);
	EXPECT_EQ(attach(a->qp, &c, OP(SEND) | OP(RECV)), 0);
	EXPECT_EQ(attach(a->qp, &c, OP(SEND)), EBUSY);
	EXPECT_EQ(attach(a->qp, &d, OP(RECV) | OP(RDMA_READ)), EBUSY);
	EXPECT_EQ(destroy(&d), 0);
	EXPECT_EQ(attach(a->qp, &d, OP(RDMA_READ)), ENOENT);
	EXPECT_EQ(destroy(&c), EBUSY);
	ASSERT_EQ(to_rts(a, b), 0);
	EXPECT_EQ(attach(a->qp, &c, OP(RDMA_WRITE)), EINVAL);
	/* It stays through RESET */
	ASSERT_EQ(to_reset(a), 0);
	EXPECT_EQ(attach(a->qp, &c, OP(SEND)), EBUSY);
	EXPECT_EQ(attach(a->qp, &c, OP(RDMA_WRITE)), 0);
	ASSERT_EQ(to_rts(a, b), 0);
	ASSERT_EQ(to_rts(b, a), 0);
	ASSERT_EQ(check_write(a, b, LEN), 0);
	EXPECT_TRUE(has(&c, 1, 0));
	EXPECT_EQ(destroy(&c), EBUSY);
	ASSERT_EQ(ibv_destroy_qp(a->qp), 0);
	a->qp = NULL;
	EXPECT_EQ(destroy(&c), 0);
	/* The last values can still be read */
	EXPECT_EQ(le64toh(c.values->completions), 1);
}

TEST_F(comp_cntr, mapping)
{
	const int rw = PROT_READ | PROT_WRITE;
	const size_t page = sysconf(_SC_PAGESIZE);
	int fd = self->a.ctx->cmd_fd;
	struct cntr c;
	void *ptr;

	ASSERT_EQ(create_mapped(fd, &c), 0);
	EXPECT_EQ(c.resp.mmap_size, page);
	EXPECT_EQ(map(&c, fd, page, rw), MAP_FAILED);
	EXPECT_EQ(errno, EPERM);
	EXPECT_EQ(map(&c, fd, page, PROT_WRITE), MAP_FAILED);
	EXPECT_EQ(errno, EPERM);
	EXPECT_EQ(map(&c, fd, 2 * page, PROT_READ), MAP_FAILED);
	EXPECT_EQ(errno, EINVAL);
	EXPECT_EQ(mmap(NULL, page, PROT_READ, MAP_PRIVATE, fd, c.resp.mmap_key),
		  MAP_FAILED);
	ptr = map(&c, fd, page, PROT_READ);
	ASSERT_NE(ptr, MAP_FAILED);
	EXPECT_EQ(mprotect(ptr, page, rw), -1);
	EXPECT_EQ(errno, EACCES);
	EXPECT_EQ(munmap(ptr, page), 0);
	/* Nothing but the values is there */
	for (size_t i = sizeof(*c.values); i < page; i++) {
		ASSERT_EQ(((const uint8_t *)c.values)[i], 0);
	}
	EXPECT_EQ(destroy(&c), 0);
	EXPECT_EQ(map(&c, fd, page, PROT_READ), MAP_FAILED);
}

/* Closing the file destroys all objects, in the right order */
TEST_F(comp_cntr, left_behind)
{
	for (int round = 0; round < 5; round++) {
		struct end e = { .ctx = open_mynic(0) };
		struct cntr all[NUM_OPS];

		ASSERT_NE(e.ctx, NULL);
		ASSERT_TRUE(make_end(&e, IBV_QPT_RC));
		ASSERT_EQ(count_all(&e, all), 0);
		EXPECT_EQ(ibv_close_device(e.ctx), 0);
		EXPECT_EQ(le64toh(all[0].values->completions), 0);
		free(e.buf);
	}
}

TEST_HARNESS_MAIN
