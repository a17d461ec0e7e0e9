// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Posting and polling of messages by as little code as possible. */
#include <unistd.h>

#include "traffic.h"

#define LOG_CQ_SIZE 13
#define MAX_POSTED 4096

/* Completions per look at the clock */
#define MAX_POLL 64

/* Distance of successive pages in a scattered region, in pages; a prime */
#define SCATTER 1021u

/*
 * Additional offset of the responder's buffers in its memory. Zen processors
 * first take addresses that differ by a multiple of 256 MiB for the same. Both
 * machines have 512 MiB in succession, so copying between equal offsets would
 * take a fifth longer, or more.
 */
#define APART (64u << 10)

/* First address of scattered regions in requests */
#define SCATTERED_ADDR (1ull << 44)

/**
 * struct flow - one connection
 * @qp: of the requester
 * @slots: its send ring, which is in one page
 * @done: messages completed
 * @peer: of the responder
 * @received: receive requests completed
 */
struct flow {
	struct drv_qp *qp;
	uint8_t *slots;
	uint32_t done;
	struct drv_qp *peer;
	uint32_t received;
};

static struct mynic_sge traffic_buffer(const struct traffic *t,
				       const struct drv_mr *mr, unsigned int qp,
				       unsigned int slot)
{
	uint64_t index = (uint64_t)qp * t->config.depth + slot;

	if (t->config.num_buffers)
		index %= t->config.num_buffers;
	return drv_sge(mr, index * t->stride, t->config.size);
}

static unsigned int traffic_log2_of(unsigned int value)
{
	CHECK(value && !(value & (value - 1)));
	return __builtin_ctz(value);
}

static void traffic_prepare(struct traffic *t, unsigned int qp,
			    const struct drv_mr *from, const struct drv_mr *to)
{
	const struct traffic_config *c = &t->config;
	struct flow *flow = &t->flows[qp];

	for (unsigned int i = 0; i < c->depth; i++) {
		struct mynic_sge local = traffic_buffer(t, from, qp, i);
		struct mynic_sge remote = traffic_buffer(t, to, qp, i);
		struct drv_wr wr = {
			.opcode = c->opcode,
			.num_sge = 1,
			.sge = { local },
			.remote_addr = remote.addr,
			.rkey = remote.lkey,
		};

		if (c->inline_data) {
			wr.flags |= IBV_SEND_INLINE;
			wr.inline_data = from->ptr;
			wr.inline_len = c->size;
		}
		if ((i + 1) % c->signal_every == 0)
			wr.flags |= IBV_SEND_SIGNALED;
		drv_write_wqe(flow->qp, &wr);
		if (c->opcode == IBV_WR_SEND)
			drv_post_recv(flow->peer, i, &remote, 1);
	}
	flow->qp->sq_pi = 0;
	flow->slots = drv_buf_at(&flow->qp->buf, flow->qp->create.sq_offset);
}

static void traffic_connect_all(struct traffic *t, struct drv_qp_init *a,
				struct drv_qp_init *b, struct drv *from,
				struct drv *to)
{
	static const struct drv_path path = {
		.mtu = IBV_MTU_4096,
		.timeout = 19,
		.max_rd_atomic = 16,
	};

	for (unsigned int i = 0; i < t->config.num_qps; i++) {
		struct flow *flow = &t->flows[i];

		flow->qp = drv_create_qp(from, a);
		flow->peer = drv_create_qp(to, b);
		CHECK_EQ(flow->qp->number, t->flows[0].qp->number + i);
		CHECK_EQ(flow->peer->number, t->flows[0].peer->number + i);
		drv_connect(flow->qp, flow->peer, &path);
	}
	t->first_qpn = t->flows[0].qp->number;
	t->first_recv_qpn = t->flows[0].peer->number;
}

size_t traffic_place(const struct traffic *t, size_t offset)
{
	size_t page = offset / DRV_PAGE;

	if (!t->config.scattered)
		return offset;
	return page * SCATTER % t->num_pages * DRV_PAGE + offset % DRV_PAGE;
}

static struct drv_mr *traffic_reg_scattered(const struct traffic *t,
					    struct drv *d, uint32_t pdn)
{
	uint64_t *iova = tap_alloc(t->num_pages * sizeof(*iova));
	struct drv_mr *mr = tap_alloc(sizeof(*mr));
	struct mynic_create_mkey body = {
		.iova = SCATTERED_ADDR,
		.length = t->num_pages * DRV_PAGE,
		.pdn = pdn,
		.access = ACCESS_ALL,
	};

	CHECK(t->num_pages % SCATTER);
	mr->ptr = sim_alloc(d->n, body.length, DRV_PAGE);
	mr->len = body.length;
	mr->addr = body.iova;
	for (size_t i = 0; i < t->num_pages; i++)
		iova[i] = sim_iova(d->n,
				   mr->ptr + traffic_place(t, i * DRV_PAGE));
	body.buf = drv_page_list(d, iova, t->num_pages, 12, 2);
	CHECK_EQ(drv_create_mkey(d, &body, 0, &mr->key), MYNIC_AQ_OK);
	return mr;
}

static struct drv_mr *traffic_reg(const struct traffic *t, struct drv *d,
				  uint32_t pdn, size_t len)
{
	if (t->config.scattered)
		return traffic_reg_scattered(t, d, pdn);
	/* Buffers begin at pages, like those of most programs */
	sim_alloc(d->n, DRV_PAGE, DRV_PAGE);
	return drv_reg_mr(d, pdn, len, ACCESS_ALL);
}

struct traffic *traffic_new(struct drv *from, struct drv *to,
			    const struct traffic_config *c)
{
	struct traffic *t = tap_alloc(sizeof(*t));
	struct drv_qp_init a = {
		.type = MYNIC_QP_RC,
		.pdn = drv_alloc_pd(from),
		.log_sq_size = traffic_log2_of(c->depth),
		.log_sq_stride = 6,
		.log_rq_size = 1,
		.log_rq_stride = 5,
	};
	struct drv_qp_init b = {
		.type = MYNIC_QP_RC,
		.pdn = drv_alloc_pd(to),
		.log_sq_size = 1,
		.log_sq_stride = 6,
		.log_rq_size = a.log_sq_size,
		.log_rq_stride = 5,
	};
	struct drv_mr *from_mr, *to_mr;
	uint64_t len;

	t->config = *c;
	t->stride = (c->size + BENCH_LINE - 1) & ~(BENCH_LINE - 1);
	t->limit = (uint64_t)c->num_qps * c->depth;
	if (t->limit > MAX_POSTED)
		t->limit = MAX_POSTED;
	CHECK(c->batch && c->depth % c->batch == 0);
	CHECK(c->batch % c->signal_every == 0);
	if (c->inline_data)
		while (1u << a.log_sq_stride < MYNIC_WQE_DATA_RC + c->size)
			a.log_sq_stride++;
	CHECK(c->depth << a.log_sq_stride <= DRV_PAGE);
	t->cq = drv_create_cq(from, LOG_CQ_SIZE);
	t->recv_cq = drv_create_cq(to, LOG_CQ_SIZE);
	a.send_cq = t->cq;
	a.recv_cq = t->cq;
	b.send_cq = t->recv_cq;
	b.recv_cq = t->recv_cq;
	len = (uint64_t)c->num_qps * c->depth * t->stride;
	t->num_pages = (len + DRV_PAGE - 1) / DRV_PAGE;
	from_mr = traffic_reg(t, from, a.pdn, len);
	sim_alloc(to->n, APART, DRV_PAGE);
	to_mr = traffic_reg(t, to, b.pdn, len);
	t->from = from_mr->ptr;
	t->to = to_mr->ptr;
	t->flows = tap_alloc(c->num_qps * sizeof(*t->flows));
	traffic_connect_all(t, &a, &b, from, to);
	for (unsigned int i = 0; i < c->num_qps; i++)
		traffic_prepare(t, i, from_mr, to_mr);
	/* Touch all memory before the measurement */
	drv_fill(t->from, len, 1);
	drv_fill(t->to, len, 2);
	return t;
}

void traffic_post(struct traffic *t, unsigned int index, unsigned int num)
{
	struct flow *flow = &t->flows[index];
	struct drv_qp *qp = flow->qp;
	uint32_t mask = t->config.depth - 1;

	for (unsigned int i = 0; i < num; i++, qp->sq_pi++) {
		size_t slot = qp->sq_pi & mask;
		struct mynic_send_wqe *wqe;

		wqe = (void *)(flow->slots +
			       (slot << qp->create.log_sq_stride));
		wqe->wr_id = qp->sq_pi;
	}
	t->posted += num;
	drv_ring(qp);
}

/* The next completion, or NULL; it is released by release() */
static const struct mynic_cqe *traffic_peek(const struct drv_cq *cq)
{
	const unsigned int per_page = DRV_PAGE / sizeof(struct mynic_cqe);
	uint32_t slot = cq->ci & ((1u << cq->log_size) - 1);
	const struct mynic_cqe *cqe;

	cqe = (void *)cq->buf.page[slot / per_page];
	cqe += slot % per_page;
	if ((__atomic_load_n(&cqe->phase, __ATOMIC_ACQUIRE) & 1) ==
	    (cq->ci >> cq->log_size & 1))
		return NULL;
	return cqe;
}

static void traffic_check_completion(const struct mynic_cqe *cqe,
				     uint32_t index)
{
	CHECK_EQ(cqe->status, IBV_WC_SUCCESS);
	CHECK_EQ(cqe->wr_id, index);
}

unsigned int traffic_poll(struct traffic *t)
{
	const unsigned int signal_every = t->config.signal_every;
	const struct mynic_cqe *cqe;
	unsigned int num = 0;

	for (int i = 0; i < MAX_POLL && (cqe = traffic_peek(t->cq)); i++) {
		uint32_t index = cqe->qp_num - t->first_qpn;

		CHECK(index < t->config.num_qps);
		t->flows[index].done += signal_every;
		traffic_check_completion(cqe, t->flows[index].done - 1);
		t->cq->ci++;
		num += signal_every;
	}
	if (num)
		__atomic_store_n(&t->cq->rec->ci, t->cq->ci, __ATOMIC_RELEASE);
	t->posted -= num;
	return num;
}

unsigned int traffic_poll_recv(struct traffic *t)
{
	const unsigned int depth = t->config.depth;
	const struct mynic_cqe *cqe;
	unsigned int num = 0;

	for (; num < MAX_POLL && (cqe = traffic_peek(t->recv_cq)); num++) {
		uint32_t index = cqe->qp_num - t->first_recv_qpn;
		struct flow *flow = &t->flows[index];

		CHECK(index < t->config.num_qps);
		traffic_check_completion(cqe, flow->received++ & (depth - 1));
		CHECK_EQ(cqe->byte_len, t->config.size);
		/* The entry is still valid */
		__atomic_store_n(&flow->peer->rec->rq_pi,
				 flow->received + depth, __ATOMIC_RELEASE);
		t->recv_cq->ci++;
	}
	if (num)
		__atomic_store_n(&t->recv_cq->rec->ci, t->recv_cq->ci,
				 __ATOMIC_RELEASE);
	return num;
}

static bool traffic_has_room(const struct traffic *t, const struct flow *flow)
{
	const struct traffic_config *c = &t->config;
	uint32_t end = flow->qp->sq_pi + c->batch - c->depth;

	if ((int32_t)(end - flow->done) > 0)
		return false;
	return c->opcode != IBV_WR_SEND || (int32_t)(end - flow->received) <= 0;
}

/* Post a batch to the next QP, if it has room */
static bool traffic_post_next(struct traffic *t)
{
	const struct traffic_config *c = &t->config;

	if (t->posted + c->batch > t->limit ||
	    !traffic_has_room(t, &t->flows[t->next]))
		return false;
	traffic_post(t, t->next, c->batch);
	if (++t->next == c->num_qps)
		t->next = 0;
	return true;
}

uint64_t traffic_run(struct traffic *t, uint64_t ns, unsigned int nap)
{
	bool receives = t->config.opcode == IBV_WR_SEND;
	uint64_t end = bench_now() + ns;
	uint64_t sent = 0, received = 0;
	bool over = false;

	while (!over || t->posted || (receives && received < sent)) {
		unsigned int num = traffic_poll(t);

		sent += num;
		if (receives)
			received += traffic_poll_recv(t);
		if (!over) {
			while (traffic_post_next(t))
				;
			over = bench_now() >= end;
		}
		if (!num && nap)
			usleep(nap);
	}
	return sent;
}
