// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * PROGRAM instructions|ns SUBJECT [td] [ah] [watched] [mixed]: the loops that are
 * measured.
 *
 * - td: in a thread domain;
 * - ah: with requests that have an address handle;
 * - watched: with a device that watches what is posted;
 * - mixed: in a context that has queues in thread domains and others.
 *
 * Between two rings full of requests the device does its part. All that was
 * posted is checked to complete in order. None of that is measured.
 *
 * With "ns", prints samples. With "instructions", under callgrind, leaves a dump
 * for each form, named after it, of as many requests as "PROGRAM requests" says.
 */
#include <stdlib.h>
#include <time.h>
#include <valgrind/callgrind.h>

#include "bench.h"

#define LAPS_COUNTED 10
#define LAPS_TIMED 101
#define WR_ID 0x1000

enum kind {
	POST_WRITE,
	POST_SEND,
	POST_INLINE,
	WR_WRITE,
	WR_INLINE,
	POST_RECV,
	POLL_SEND,
	POLL_RECV,
	POLL_EMPTY,
	POLL_READ,
	POLL_NEXT,
};

static const struct form {
	const char *name;
	enum kind kind;
	int batch;
	uint32_t needs;
} forms[] = {
	{ "post_send WRITE x1", POST_WRITE, 1, LACKS_WRITE },
	{ "post_send WRITE x16", POST_WRITE, BATCH, LACKS_WRITE },
	{ "post_send SEND x1", POST_SEND, 1 },
	{ "post_send SEND x16", POST_SEND, BATCH },
	{ "post_send inline x1", POST_INLINE, 1 },
	{ "post_send inline x16", POST_INLINE, BATCH },
	{ "ibv_wr WRITE x1", WR_WRITE, 1, LACKS_WR },
	{ "ibv_wr WRITE x16", WR_WRITE, BATCH, LACKS_WR | LACKS_WR_BATCH },
	{ "ibv_wr inline x1", WR_INLINE, 1, LACKS_WR },
	{ "ibv_wr inline x16", WR_INLINE, BATCH, LACKS_WR | LACKS_WR_BATCH },
	{ "post_recv x1", POST_RECV, 1 },
	{ "post_recv x16", POST_RECV, BATCH },
	{ "poll_cq x1", POLL_SEND, 1 },
	{ "poll_cq x16", POLL_SEND, BATCH },
	{ "poll_cq receive x16", POLL_RECV, BATCH },
	{ "poll_cq empty", POLL_EMPTY, 1 },
	{ "start/read 4/end", POLL_READ, 1, LACKS_EX },
	{ "start/next/end x16", POLL_NEXT, BATCH, LACKS_EX },
};

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_cq_ex *cq_ex;
static struct ibv_qp *qp;
static struct ibv_qp_ex *qpx;
static struct ibv_ah *ah;
static uint8_t payload[PAYLOAD_LEN];
static struct ibv_sge sge = { .length = PAYLOAD_LEN, .lkey = LKEY };
static struct ibv_send_wr send_wr[BATCH];
static struct ibv_recv_wr recv_wr[BATCH];
static struct ibv_wc wc[RING];

/* Sums of values that a loop has read from its completions */
static struct sums {
	uint64_t wr_ids;
	uint64_t statuses;
	uint64_t qp_nums;
	uint64_t others;
} seen;

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

/* The loops */

static __attribute__((noinline)) void main_loop_post_send(int batch)
{
	struct ibv_send_wr *bad;

	for (int i = 0; i < RING; i += batch)
		if (ibv_post_send(qp, send_wr, &bad))
			FAIL("ibv_post_send() fails");
}

static __attribute__((noinline)) void main_loop_post_recv(int batch)
{
	struct ibv_recv_wr *bad;

	for (int i = 0; i < RING; i += batch)
		if (ibv_post_recv(qp, recv_wr, &bad))
			FAIL("ibv_post_recv() fails");
}

static __attribute__((noinline)) void main_loop_wr_write(int batch)
{
	for (int i = 0; i < RING; i += batch) {
		ibv_wr_start(qpx);
		for (int j = 0; j < batch; j++) {
			qpx->wr_id = WR_ID + j;
			qpx->wr_flags = IBV_SEND_SIGNALED;
			ibv_wr_rdma_write(qpx, RKEY, REMOTE_ADDR);
			if (ah)
				ibv_wr_set_ud_addr(qpx, ah, 1, 1);
			ibv_wr_set_sge(qpx, LKEY, (uintptr_t)payload,
				       PAYLOAD_LEN);
		}
		if (ibv_wr_complete(qpx))
			FAIL("ibv_wr_complete() fails");
	}
}

static __attribute__((noinline)) void main_loop_wr_inline(int batch)
{
	for (int i = 0; i < RING; i += batch) {
		ibv_wr_start(qpx);
		for (int j = 0; j < batch; j++) {
			qpx->wr_id = WR_ID + j;
			qpx->wr_flags = IBV_SEND_SIGNALED;
			ibv_wr_send(qpx);
			if (ah)
				ibv_wr_set_ud_addr(qpx, ah, 1, 1);
			ibv_wr_set_inline_data(qpx, payload, PAYLOAD_LEN);
		}
		if (ibv_wr_complete(qpx))
			FAIL("ibv_wr_complete() fails");
	}
}

static __attribute__((noinline)) void main_loop_poll(int batch)
{
	for (int i = 0; i < RING; i += batch)
		if (ibv_poll_cq(cq, batch, &wc[i]) != batch)
			FAIL("ibv_poll_cq() finds too few completions");
}

static __attribute__((noinline)) void main_loop_poll_empty(int batch)
{
	struct sums sums = {};

	for (int i = 0; i < RING; i += batch)
		sums.others += ibv_poll_cq(cq, batch, wc);
	seen = sums;
}

static __attribute__((noinline)) void main_loop_poll_read(int batch)
{
	struct ibv_poll_cq_attr attr = {};
	struct sums sums = {};

	for (int i = 0; i < RING; i += batch) {
		if (ibv_start_poll(cq_ex, &attr))
			FAIL("ibv_start_poll() finds no completion");
		sums.wr_ids += cq_ex->wr_id;
		sums.statuses += cq_ex->status;
		sums.qp_nums += ibv_wc_read_qp_num(cq_ex);
		sums.others += ibv_wc_read_opcode(cq_ex);
		sums.others += ibv_wc_read_byte_len(cq_ex);
		sums.others += ibv_wc_read_wc_flags(cq_ex);
		ibv_end_poll(cq_ex);
	}
	seen = sums;
}

static __attribute__((noinline)) void main_loop_poll_next(int batch)
{
	struct ibv_poll_cq_attr attr = {};
	struct sums sums = {};

	for (int i = 0; i < RING; i += batch) {
		if (ibv_start_poll(cq_ex, &attr))
			FAIL("ibv_start_poll() finds no completion");
		for (int j = 1; j < batch; j++) {
			sums.wr_ids += cq_ex->wr_id;
			sums.statuses += cq_ex->status;
			if (ibv_next_poll(cq_ex))
				FAIL("ibv_next_poll() finds no completion");
		}
		sums.wr_ids += cq_ex->wr_id;
		sums.statuses += cq_ex->status;
		ibv_end_poll(cq_ex);
	}
	seen = sums;
}

/* Preparation and checks */

static void main_prepare_send(const struct form *form,
			      enum ibv_wr_opcode opcode, unsigned int flags)
{
	for (int i = 0; i < form->batch; i++) {
		send_wr[i] = (struct ibv_send_wr){
			.wr_id = WR_ID + i,
			.next = i < form->batch - 1 ? &send_wr[i + 1] : NULL,
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = opcode,
			.send_flags = IBV_SEND_SIGNALED | flags,
		};
		if (ah) {
			send_wr[i].wr.ud.ah = ah;
			send_wr[i].wr.ud.remote_qpn = 1;
			send_wr[i].wr.ud.remote_qkey = 1;
		} else if (opcode == IBV_WR_RDMA_WRITE) {
			send_wr[i].wr.rdma.remote_addr = REMOTE_ADDR;
			send_wr[i].wr.rdma.rkey = RKEY;
		}
	}
}

static void main_prepare(const struct form *form)
{
	if (form->kind == POST_WRITE)
		main_prepare_send(form, IBV_WR_RDMA_WRITE, 0);
	else if (form->kind == POST_INLINE)
		main_prepare_send(form, IBV_WR_SEND, IBV_SEND_INLINE);
	else
		main_prepare_send(form, IBV_WR_SEND, 0);
	for (int i = 0; i < form->batch; i++)
		recv_wr[i] = (struct ibv_recv_wr){
			.wr_id = WR_ID + i,
			.next = i < form->batch - 1 ? &recv_wr[i + 1] : NULL,
			.sg_list = &sge,
			.num_sge = 1,
		};
}

static enum ibv_wc_opcode main_opcode_of(const struct form *form)
{
	switch (form->kind) {
	case POST_WRITE:
	case WR_WRITE:
		return IBV_WC_RDMA_WRITE;
	case POST_RECV:
	case POLL_RECV:
		return IBV_WC_RECV;
	default:
		return IBV_WC_SEND;
	}
}

/* All of the ring has completed, in order and with success. */
static void main_check_completions(const struct form *form)
{
	for (int i = 0; i < RING; i++) {
		CHECK_EQ(wc[i].status, IBV_WC_SUCCESS);
		CHECK_EQ(wc[i].wr_id, WR_ID + i % form->batch);
		CHECK_EQ(wc[i].opcode, main_opcode_of(form));
		CHECK_EQ(wc[i].qp_num, qp->qp_num);
		if (main_opcode_of(form) == IBV_WC_RECV)
			CHECK_EQ(wc[i].byte_len, PAYLOAD_LEN);
	}
}

static void main_drain(const struct form *form)
{
	int n = 0;
	int got;

	do {
		got = ibv_poll_cq(cq, RING - n, &wc[n]);
		CHECK(got >= 0);
		n += got;
	} while (got && n < RING);
	CHECK_EQ(n, RING);
	CHECK_EQ(ibv_poll_cq(cq, 1, &wc[0]), 0);
	main_check_completions(form);
}

/* State that the loop needs, and checks of its results */
static void main_before(const struct form *form)
{
	memset(wc, 0xff, sizeof(wc));
	memset(&seen, 0, sizeof(seen));
	switch (form->kind) {
	case POLL_SEND:
	case POLL_READ:
	case POLL_NEXT:
		main_loop_post_send(form->batch);
		card.send();
		break;
	case POLL_RECV:
		main_loop_post_recv(form->batch);
		card.recv();
		break;
	default:
		break;
	}
}

static void main_after(const struct form *form)
{
	uint64_t wr_ids = 0;

	for (int i = 0; i < RING; i++)
		wr_ids += WR_ID + i % form->batch;
	switch (form->kind) {
	case POLL_SEND:
	case POLL_RECV:
		main_check_completions(form);
		break;
	case POLL_EMPTY:
		CHECK_EQ(seen.others, 0);
		break;
	case POLL_READ:
	case POLL_NEXT:
		CHECK_EQ(seen.wr_ids, wr_ids);
		CHECK_EQ(seen.statuses, RING * IBV_WC_SUCCESS);
		if (form->kind == POLL_READ)
			CHECK_EQ(seen.qp_nums, (uint64_t)RING * qp->qp_num);
		break;
	case POST_RECV:
		card.recv();
		main_drain(form);
		break;
	default:
		card.send();
		main_drain(form);
		break;
	}
}

static void main_run(const struct form *form)
{
	switch (form->kind) {
	case POST_WRITE:
	case POST_SEND:
	case POST_INLINE:
		main_loop_post_send(form->batch);
		break;
	case WR_WRITE:
		main_loop_wr_write(form->batch);
		break;
	case WR_INLINE:
		main_loop_wr_inline(form->batch);
		break;
	case POST_RECV:
		main_loop_post_recv(form->batch);
		break;
	case POLL_SEND:
	case POLL_RECV:
		main_loop_poll(form->batch);
		break;
	case POLL_EMPTY:
		main_loop_poll_empty(form->batch);
		break;
	case POLL_READ:
		main_loop_poll_read(form->batch);
		break;
	case POLL_NEXT:
		main_loop_poll_next(form->batch);
		break;
	}
}

static void main_count(const struct form *form)
{
	CALLGRIND_ZERO_STATS;
	for (int lap = 0; lap < LAPS_COUNTED; lap++) {
		if (!card.nothing)
			main_before(form);
		CALLGRIND_TOGGLE_COLLECT;
		main_run(form);
		CALLGRIND_TOGGLE_COLLECT;
		if (!card.nothing)
			main_after(form);
	}
	CALLGRIND_DUMP_STATS_AT(form->name);
}

static uint64_t main_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static int main_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The median lap is one in which nobody else had the processor. */
static void main_time_form(const struct form *form, const char *subject)
{
	uint64_t ns[LAPS_TIMED];

	for (int lap = 0; lap < LAPS_TIMED; lap++) {
		if (!card.nothing)
			main_before(form);
		ns[lap] = main_now_ns();
		main_run(form);
		ns[lap] = main_now_ns() - ns[lap];
		if (!card.nothing)
			main_after(form);
	}
	qsort(ns, LAPS_TIMED, sizeof(ns[0]), main_compare);
	printf("fastpath-ns\t%s\t\t%s\t%.3f\tns\n", form->name, subject,
	       (double)ns[LAPS_TIMED / 2] / RING);
}

static void main_create_cq(struct ibv_pd *domain, bool td)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = RING,
		.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_QP_NUM,
		.comp_mask = td ? IBV_CQ_INIT_ATTR_MASK_FLAGS |
					     IBV_CQ_INIT_ATTR_MASK_PD :
				  0,
		.flags = td ? IBV_CREATE_CQ_ATTR_SINGLE_THREADED : 0,
		.parent_domain = domain,
	};

	if (card.lacks & LACKS_EX) {
		cq = ibv_create_cq(context, RING, NULL, NULL, 0);
	} else {
		cq_ex = ibv_create_cq_ex(context, &attr);
		if (cq_ex)
			cq = ibv_cq_ex_to_cq(cq_ex);
	}
	if (!cq)
		FAIL("no CQ: %s", strerror(errno));
}

static void main_create_qp(struct ibv_pd *domain)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = RING,
			 .max_recv_wr = RING,
			 .max_send_sge = 1,
			 .max_recv_sge = 1,
			 .max_inline_data = PAYLOAD_LEN },
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = domain,
		.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE |
				  IBV_QP_EX_WITH_SEND,
	};
	static const enum ibv_qp_state states[] = { IBV_QPS_INIT, IBV_QPS_RTR,
						    IBV_QPS_RTS };

	if (card.create_qp)
		qp = card.create_qp(context, &attr);
	else if (card.lacks & LACKS_WR)
		qp = ibv_create_qp(domain, (struct ibv_qp_init_attr *)&attr);
	else
		qp = ibv_create_qp_ex(context, &attr);
	if (!qp)
		FAIL("no QP: %s", strerror(errno));
	for (int i = 0; i < ARRAY_SIZE(states); i++) {
		struct ibv_qp_attr state = { .qp_state = states[i],
					     .path_mtu = IBV_MTU_1024 };

		CHECK_EQ(ibv_modify_qp(qp, &state,
				       IBV_QP_STATE | IBV_QP_PATH_MTU),
			 0);
	}
	if (!(card.lacks & LACKS_WR))
		qpx = ibv_qp_to_qp_ex(qp);
}

static struct ibv_pd *main_thread_domain(void)
{
	struct ibv_td_init_attr td_attr = {};
	struct ibv_parent_domain_init_attr attr = { .pd = pd };

	attr.td = ibv_alloc_td(context, &td_attr);
	if (!attr.td)
		FAIL("no thread domain: %s", strerror(errno));
	return ibv_alloc_parent_domain(context, &attr);
}

static void main_set_up(bool td, bool needs_ah, bool mixed)
{
	struct ibv_ah_attr ah_attr = { .is_global = 1, .port_num = 1 };
	struct ibv_pd *domain;

	context = card.open();
	if (!context)
		FAIL("no context");
	pd = ibv_alloc_pd(context);
	CHECK(pd);
	if (mixed) {
		domain = td ? pd : main_thread_domain();
		CHECK(domain);
		main_create_cq(domain, !td);
		main_create_qp(domain);
	}
	domain = td ? main_thread_domain() : pd;
	CHECK(domain);
	main_create_cq(domain, td);
	main_create_qp(domain);
	if (needs_ah) {
		ah = ibv_create_ah(pd, &ah_attr);
		CHECK(ah);
	}
	if (card.nothing)
		card.nothing(context, qpx, cq_ex);
	sge.addr = (uintptr_t)payload;
}

int main(int argc, char *argv[])
{
	bool timed, td = false, needs_ah = card.needs_ah;
	bool watched = false, mixed = false;

	if (argc == 2 && !strcmp(argv[1], "requests")) {
		printf("%d\n", LAPS_COUNTED * RING);
		return 0;
	}
	if (argc < 3)
		FAIL("%s instructions|ns SUBJECT [td] [ah] [watched] [mixed]",
		     argv[0]);
	timed = !strcmp(argv[1], "ns");
	for (int i = 3; i < argc; i++) {
		td |= !strcmp(argv[i], "td");
		needs_ah |= !strcmp(argv[i], "ah");
		watched |= !strcmp(argv[i], "watched");
		mixed |= !strcmp(argv[i], "mixed");
	}
	if (watched && !card.watch)
		FAIL("%s has no device that watches", argv[2]);
	if (watched)
		card.watch();
	if ((td || mixed) && card.lacks & LACKS_TD)
		FAIL("%s has no thread domains", argv[2]);
	main_set_up(td, needs_ah, mixed);
	for (int i = 0; i < ARRAY_SIZE(forms); i++) {
		if (forms[i].needs & card.lacks)
			continue;
		main_prepare(&forms[i]);
		if (timed)
			main_time_form(&forms[i], argv[2]);
		else
			main_count(&forms[i]);
	}
	return 0;
}
