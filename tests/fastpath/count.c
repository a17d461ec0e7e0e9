// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The calls whose instructions are counted. Under callgrind, writes for each of
 * them two dumps that are named after it: one of a loop that makes the calls,
 * and one ("null") of the same loop with functions that return at once. Their
 * difference is what the provider costs.
 */
#include <endian.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <valgrind/callgrind.h>

#include "../unit/harness_tap.h"
#include "fake.h"

/* Steady state: requests of a measurement, of a call in a batch, in a ring */
#define TOTAL 10240
#define BATCH 16
#define RING 1024
#define INLINE_LEN 32

void tap_fail(const char *file, int line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, " (%s:%d)\n", file, line);
	exit(1);
}

void tap_at_end(void (*fn)(void *arg), void *arg)
{
}

static struct ibv_context *context;
static struct ibv_cq *cq;
static struct ibv_cq_ex *cq_ex;
static struct ibv_pd *pd;
static struct ibv_qp *qp;
static struct ibv_qp_ex *qpx;
static struct fake_cq poll_fake;
static uint32_t sends, recvs;
static uint8_t payload[INLINE_LEN];
static struct ibv_sge sge = { 0x1000, INLINE_LEN, 0x200 };
static struct ibv_send_wr send_wr[BATCH];
static struct ibv_recv_wr recv_wr[BATCH];
static struct ibv_wc wc[BATCH];

static int null_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
			  struct ibv_send_wr **bad)
{
	return 0;
}

static int null_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr,
			  struct ibv_recv_wr **bad)
{
	return 0;
}

static int null_poll(struct ibv_cq *ibcq, int n, struct ibv_wc *wcs)
{
	return n;
}

static void null_start(struct ibv_qp_ex *q)
{
}

static int null_complete(struct ibv_qp_ex *q)
{
	return 0;
}

static void null_write(struct ibv_qp_ex *q, uint32_t rkey, uint64_t addr)
{
}

static void null_send(struct ibv_qp_ex *q)
{
}

static void null_set_sge(struct ibv_qp_ex *q, uint32_t lkey, uint64_t addr,
			 uint32_t length)
{
}

static void null_set_inline(struct ibv_qp_ex *q, void *addr, size_t length)
{
}

static int null_start_poll(struct ibv_cq_ex *c, struct ibv_poll_cq_attr *attr)
{
	return 0;
}

static int null_next_poll(struct ibv_cq_ex *c)
{
	return 0;
}

static void null_end_poll(struct ibv_cq_ex *c)
{
}

static uint32_t null_read32(struct ibv_cq_ex *c)
{
	return 0;
}

static enum ibv_wc_opcode null_read_opcode(struct ibv_cq_ex *c)
{
	return 0;
}

static unsigned int null_read_flags(struct ibv_cq_ex *c)
{
	return 0;
}

/* The device is done with all requests whenever it has got a ring of them. */
static void drain(uint32_t *posted, __le32 *ci, uint32_t number)
{
	*posted += number;
	if (*posted % RING == 0)
		*ci = htole32(*posted);
}

static void loop_post_send(unsigned int batch)
{
	struct ibv_send_wr *bad;

	for (int i = 0; i < TOTAL; i += batch) {
		if (ibv_post_send(qp, send_wr, &bad))
			abort();
		drain(&sends, &fake_qp.dbrec->sq_ci, batch);
	}
}

static void loop_post_recv(unsigned int batch)
{
	struct ibv_recv_wr *bad;

	for (int i = 0; i < TOTAL; i += batch) {
		if (ibv_post_recv(qp, recv_wr, &bad))
			abort();
		drain(&recvs, &fake_qp.dbrec->rq_ci, batch);
	}
}

static void loop_wr_write(unsigned int batch)
{
	for (int i = 0; i < TOTAL; i += batch) {
		ibv_wr_start(qpx);
		for (unsigned int j = 0; j < batch; j++) {
			qpx->wr_id = j;
			qpx->wr_flags = 0;
			ibv_wr_rdma_write(qpx, 0x300, 0x2000);
			ibv_wr_set_sge(qpx, 0x200, 0x1000, INLINE_LEN);
		}
		if (ibv_wr_complete(qpx))
			abort();
		drain(&sends, &fake_qp.dbrec->sq_ci, batch);
	}
}

static void loop_wr_inline(unsigned int batch)
{
	for (int i = 0; i < TOTAL; i += batch) {
		ibv_wr_start(qpx);
		for (unsigned int j = 0; j < batch; j++) {
			qpx->wr_id = j;
			qpx->wr_flags = 0;
			ibv_wr_send(qpx);
			ibv_wr_set_inline_data(qpx, payload, INLINE_LEN);
		}
		if (ibv_wr_complete(qpx))
			abort();
		drain(&sends, &fake_qp.dbrec->sq_ci, batch);
	}
}

static void loop_poll(unsigned int batch)
{
	for (int i = 0; i < TOTAL; i += batch)
		if (ibv_poll_cq(cq, batch, wc) != batch)
			abort();
}

static void loop_poll_empty(unsigned int batch)
{
	for (int i = 0; i < TOTAL; i++)
		ibv_poll_cq(cq, batch, wc);
}

static void loop_poll_ex(unsigned int batch)
{
	struct ibv_poll_cq_attr attr = {};

	for (int i = 0; i < TOTAL; i += batch) {
		if (ibv_start_poll(cq_ex, &attr))
			abort();
		for (unsigned int j = 1; j < batch; j++)
			if (ibv_next_poll(cq_ex))
				abort();
		ibv_end_poll(cq_ex);
	}
}

static void loop_poll_ex_read(unsigned int batch)
{
	struct ibv_poll_cq_attr attr = {};

	for (int i = 0; i < TOTAL; i += batch) {
		if (ibv_start_poll(cq_ex, &attr))
			abort();
		ibv_wc_read_opcode(cq_ex);
		ibv_wc_read_byte_len(cq_ex);
		ibv_wc_read_qp_num(cq_ex);
		ibv_wc_read_wc_flags(cq_ex);
		ibv_end_poll(cq_ex);
	}
}

static void prepare_send(unsigned int batch, enum ibv_wr_opcode opcode,
			 unsigned int flags)
{
	for (int i = 0; i < BATCH; i++)
		send_wr[i] = (struct ibv_send_wr){
			.wr_id = i,
			.next = i < batch - 1 ? &send_wr[i + 1] : NULL,
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = opcode,
			.send_flags = flags,
			.wr.rdma = { .remote_addr = 0x2000, .rkey = 0x300 },
		};
	sge.addr = (uintptr_t)payload;
}

static void prepare_write(unsigned int batch)
{
	prepare_send(batch, IBV_WR_RDMA_WRITE, 0);
}

static void prepare_inline(unsigned int batch)
{
	prepare_send(batch, IBV_WR_SEND, IBV_SEND_INLINE);
}

static void prepare_recv(unsigned int batch)
{
	for (int i = 0; i < BATCH; i++)
		recv_wr[i] = (struct ibv_recv_wr){
			.wr_id = i,
			.next = i < batch - 1 ? &recv_wr[i + 1] : NULL,
			.sg_list = &sge,
			.num_sge = 1,
		};
}

static void prepare_cqes(unsigned int batch)
{
	static const struct mynic_cqe cqe;

	for (int i = 0; i < TOTAL; i++)
		fake_complete(&poll_fake, &cqe);
}

static void prepare_nothing(unsigned int batch)
{
}

static const struct {
	const char *name;
	void (*prepare)(unsigned int batch);
	void (*loop)(unsigned int batch);
	unsigned int batch;
	bool posts;
} measurements[] = {
	{ "post_send WRITE x1", prepare_write, loop_post_send, 1, true },
	{ "post_send WRITE x16", prepare_write, loop_post_send, BATCH, true },
	{ "post_send inline x1", prepare_inline, loop_post_send, 1, true },
	{ "post_send inline x16", prepare_inline, loop_post_send, BATCH, true },
	{ "ibv_wr WRITE x1", prepare_nothing, loop_wr_write, 1, true },
	{ "ibv_wr WRITE x16", prepare_nothing, loop_wr_write, BATCH, true },
	{ "ibv_wr inline x1", prepare_nothing, loop_wr_inline, 1, true },
	{ "ibv_wr inline x16", prepare_nothing, loop_wr_inline, BATCH, true },
	{ "post_recv x1", prepare_recv, loop_post_recv, 1, true },
	{ "post_recv x16", prepare_recv, loop_post_recv, BATCH, true },
	{ "poll_cq x1", prepare_cqes, loop_poll, 1, false },
	{ "poll_cq x16", prepare_cqes, loop_poll, BATCH, false },
	{ "poll_cq empty", prepare_nothing, loop_poll_empty, 1, false },
	{ "start/end", prepare_cqes, loop_poll_ex, 1, false },
	{ "start/next/end x16", prepare_cqes, loop_poll_ex, BATCH, false },
	{ "start/read 4/end", prepare_cqes, loop_poll_ex_read, 1, false },
};

static void measure(const char *prefix, bool poll)
{
	for (int i = 0; i < ARRAY_SIZE(measurements); i++) {
		char name[64];

		if (!measurements[i].posts && !poll)
			continue;
		snprintf(name, sizeof(name), "%s%s", prefix,
			 measurements[i].name);
		measurements[i].prepare(measurements[i].batch);
		CALLGRIND_ZERO_STATS;
		measurements[i].loop(measurements[i].batch);
		CALLGRIND_DUMP_STATS_AT(name);
	}
}

static void create_qp(struct ibv_pd *domain)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = RING,
			 .max_recv_wr = RING,
			 .max_send_sge = 1,
			 .max_recv_sge = 1,
			 .max_inline_data = INLINE_LEN },
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = domain,
		.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE |
				  IBV_QP_EX_WITH_SEND,
	};
	struct ibv_qp_attr state = { .qp_state = IBV_QPS_RTS };

	qp = ibv_create_qp_ex(context, &attr);
	if (!qp || ibv_modify_qp(qp, &state, IBV_QP_STATE))
		FAIL("no QP");
	qpx = ibv_qp_to_qp_ex(qp);
	sends = 0;
	recvs = 0;
}

static void set_up(void)
{
	struct ibv_cq_init_attr_ex cq_attr = {
		.cqe = TOTAL,
		.wc_flags = IBV_WC_STANDARD_FLAGS,
	};

	context = fake_open();
	if (!context)
		FAIL("the provider does not open the device");
	cq_ex = ibv_create_cq_ex(context, &cq_attr);
	if (!cq_ex)
		FAIL("no CQ");
	cq = ibv_cq_ex_to_cq(cq_ex);
	poll_fake = fake_cq;
	pd = ibv_alloc_pd(context);
	if (!pd)
		FAIL("no PD");
	create_qp(pd);
}

/* The same queue pair once more, in a thread domain */
static void set_up_domain(void)
{
	struct ibv_td_init_attr td_attr = {};
	struct ibv_parent_domain_init_attr attr = { .pd = pd };
	struct ibv_pd *parent;

	attr.td = ibv_alloc_td(context, &td_attr);
	if (!attr.td)
		FAIL("no thread domain");
	parent = ibv_alloc_parent_domain(context, &attr);
	if (!parent)
		FAIL("no parent domain");
	create_qp(parent);
}

static void set_null(void)
{
	context->ops.post_send = null_post_send;
	context->ops.post_recv = null_post_recv;
	context->ops.poll_cq = null_poll;
	qpx->wr_start = null_start;
	qpx->wr_complete = null_complete;
	qpx->wr_rdma_write = null_write;
	qpx->wr_send = null_send;
	qpx->wr_set_sge = null_set_sge;
	qpx->wr_set_inline_data = null_set_inline;
	cq_ex->start_poll = null_start_poll;
	cq_ex->next_poll = null_next_poll;
	cq_ex->end_poll = null_end_poll;
	cq_ex->read_opcode = null_read_opcode;
	cq_ex->read_byte_len = null_read32;
	cq_ex->read_qp_num = null_read32;
	cq_ex->read_wc_flags = null_read_flags;
}

int main(void)
{
	set_up();
	measure("", true);
	set_up_domain();
	measure("td ", false);
	set_null();
	measure("null ", true);
	measure("null td ", false);
	printf("%d\n", TOTAL);
	return 0;
}
