// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Data integrity on wires with faults: all operations of RC, UC and UD between
 * two NICs in both directions. Each byte is derived from the seed and compared.
 *
 * A seed determines one run: the fault, its rate, and all that is random. The
 * test prints the seed.
 *
 *	MYNIC_SOAK_SEED=N	that run alone; N may be "random"
 *	MYNIC_SOAK_ROUNDS=N	so many runs of each kind and rate; 4 by
 *				default
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "harness_driver.h"
#include "wire/faults.h"

#define RC_PAIRS 16
#define UC_PAIRS 4
#define UD_QPS 2 /* on each NIC */
#define PAIRS (RC_PAIRS + UC_PAIRS)
#define FLOWS (2 * PAIRS + 2 * UD_QPS)

#define RC_MESSAGES 60
#define UC_MESSAGES 40
#define UD_MESSAGES 100
#define MAX_MESSAGES 100

#define GRADES 3 /* grades of each fault */

#define MAX_LEN 32768u
#define MAX_UC_LEN 12000u
#define MAX_UD_LEN 4096u
#define MAX_INLINE 128u
#define GRH_LEN 40

/* Memory for one message, with guard bytes on both sides */
#define GUARD 64
#define SLOT (MAX_LEN + 2 * GUARD)
#define POISON 0xcb

#define WINDOW 16 /* outstanding requests of an RC flow */
#define RECVS 24 /* receive buffers of a QP */
#define SRQ_RECVS 200

#define QKEY 0x1f2e3d4c

/* Limits of virtual time: for the load, and for packets still in flight */
#define TIME_LIMIT (3000 * SEC)
#define AFTERMATH (20 * SEC)
/* Upper bound of turns without progress */
#define MAX_IDLE 10000

enum trouble {
	IN_PROCESS, /* inside of mynic-device; all others carry bytes */
	CLEAN,
	DROP,
	DUPLICATE,
	REORDER,
	CORRUPT,
	DELAY,
	ALL,
	CONGESTION, /* a bottleneck that marks and drops */
	NUM_KINDS,
};

static const char *const kind_names[NUM_KINDS] = {
	[IN_PROCESS] = "in process",
	[CLEAN] = "clean",
	[DROP] = "drop",
	[DUPLICATE] = "duplicate",
	[REORDER] = "reorder",
	[CORRUPT] = "corrupt",
	[DELAY] = "delay",
	[ALL] = "all",
	[CONGESTION] = "congestion",
};

static const char *const rates[GRADES] = { "0.001", "0.01", "0.1" };
static const char *const bandwidths[GRADES] = { "10Gbit", "2Gbit", "300Mbit" };

/*
 * struct message - one request
 * @key: seed of its data @operand, @swap: atomics
 * @want: value that an atomic must find
 * @recv: its number among the messages of the flow that take receive requests
 * @arrivals: UC, UD
 */
struct message {
	enum ibv_wr_opcode opcode;
	unsigned int flags;
	uint32_t len;
	uint64_t key;
	uint64_t operand;
	uint64_t swap;
	uint64_t want;
	bool shared;
	bool takes_recv;
	unsigned int recv;
	unsigned int arrivals;
};

/* struct buffers - receive buffers, SLOT bytes each; wr_id is the index */
struct buffers {
	struct drv_mr *mr;
	unsigned int num;
	unsigned int free[SRQ_RECVS];
	unsigned int num_free;
};

/* struct side - a NIC; all its peers add to the counter @shared */
struct side {
	struct drv *d;
	uint32_t pdn;
	struct drv_cq *cq;
	struct drv_cq *recv_cq;
	struct drv_srq *srq;
	struct buffers srq_buffers;
	struct drv_mr *shared;
	uint64_t shared_want;
};

/*
 * struct end - a QP
 * @out: flow that it sends
 * @in: flow that it receives; NULL for UD, where the data tells the flow
 */
struct end {
	struct side *side;
	struct drv_qp *qp;
	bool has_srq;
	struct buffers buffers;
	struct flow *out;
	struct flow *in;
};

/*
 * struct flow - the requests of one QP
 * @near: memory at this end, a slot for each request
 * @far: memory at the other end; its last words are for atomics
 * @slots: number of slots in both
 * @done: number of completed requests
 * @needed: receive requests that the posted requests take
 * @received: completed receive requests
 * @newest: UC, UD: number of the last message that has arrived
 */
struct flow {
	struct soak *soak;
	enum mynic_qp_type type;
	unsigned int index;
	struct end *from;
	struct end *to;
	struct drv_mr *near;
	struct drv_mr *far;
	unsigned int slots;
	unsigned int num;
	unsigned int posted;
	unsigned int done;
	unsigned int needed;
	unsigned int received;
	int newest;
	uint64_t counter;
	uint64_t word;
	struct message message[MAX_MESSAGES];
};

struct soak {
	uint64_t seed;
	enum trouble kind;
	struct sim *sim;
	struct side side[2];
	struct end end[2 * PAIRS + 2 * UD_QPS];
	struct flow flow[FLOWS];
	uint8_t scratch[SLOT];
};

static uint64_t mix(uint64_t x)
{
	/* SplitMix64's, by Steele, Lea and Flood */
	x += 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static uint64_t below(struct soak *s, uint64_t limit)
{
	return sim_random(s->sim, limit);
}

/* The first eight bytes are the key itself, which identifies a datagram */
static void fill(uint8_t *p, uint32_t len, uint64_t key)
{
	for (uint32_t at = 0; at < len; at += 8) {
		uint64_t word = at ? mix(key + at) : key;

		memcpy(p + at, &word, len - at < 8 ? len - at : 8);
	}
}

static void make_slot(uint8_t *slot, const struct message *m)
{
	memset(slot, POISON, GUARD);
	fill(slot + GUARD, m->len, m->key);
	memset(slot + GUARD + m->len, POISON, GUARD);
}

static void poison_slot(uint8_t *slot, uint32_t len)
{
	memset(slot, POISON, len + 2 * GUARD);
}

static void check_guard(const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (p[i] != POISON)
			FAIL("byte %zu of what surrounds a message is 0x%02x",
			     i, p[i]);
}

static void check_data(struct flow *f, const uint8_t *got, unsigned int n)
{
	const struct message *m = &f->message[n];
	uint8_t *want = f->soak->scratch;

	fill(want, m->len, m->key);
	for (uint32_t i = 0; memcmp(got, want, m->len); i++)
		if (got[i] != want[i])
			FAIL("flow %u, message %u, opcode %u: byte %u of %u is 0x%02x, not 0x%02x",
			     f->index, n, m->opcode, i, m->len, got[i],
			     want[i]);
}

static void check_slot(struct flow *f, const uint8_t *slot, unsigned int n)
{
	check_guard(slot, GUARD);
	check_data(f, slot + GUARD, n);
	check_guard(slot + GUARD + f->message[n].len, GUARD);
}

static uint8_t *slot_of(struct flow *f, const struct drv_mr *mr, unsigned int n)
{
	return mr->ptr + (size_t)(n % f->slots) * SLOT;
}

static uint64_t far_word(struct flow *f, unsigned int index)
{
	return f->far->addr + (uint64_t)f->slots * SLOT + 8 * index;
}

static uint32_t random_len(struct soak *s, uint32_t max)
{
	static const uint32_t limits[] = { 9,	 256,  256,  256,  3000,
					   3000, 3000, 9000, 9000, MAX_LEN };
	uint32_t limit = limits[below(s, ARRAY_SIZE(limits))];

	return below(s, (limit < max ? limit : max) + 1);
}

static bool is_atomic(const struct message *m)
{
	return m->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       m->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static void choose_rc(struct flow *f, struct message *m)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND,
		IBV_WR_SEND_WITH_IMM,
		IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_WRITE_WITH_IMM,
		IBV_WR_RDMA_READ,
		IBV_WR_RDMA_READ,
		IBV_WR_ATOMIC_CMP_AND_SWP,
		IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	struct soak *s = f->soak;

	m->opcode = opcodes[below(s, ARRAY_SIZE(opcodes))];
	m->len = random_len(s, MAX_LEN);
	if (!below(s, 8))
		m->flags |= IBV_SEND_FENCE;
	m->operand = below(s, 1 << 30);
	m->swap = mix(m->key);
	if (m->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		m->shared = below(s, 2);
		m->want = f->counter;
		if (m->shared)
			f->to->side->shared_want += m->operand;
		else
			f->counter += m->operand;
	} else if (m->opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
		m->want = f->word;
		if (below(s, 2))
			m->operand = f->word;
		if (m->operand == f->word)
			f->word = m->swap;
	}
	if (is_atomic(m))
		m->len = 8;
}

static void choose_uc(struct flow *f, struct message *m)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND,
		IBV_WR_SEND_WITH_IMM,
		IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_WRITE_WITH_IMM,
	};

	m->opcode = opcodes[below(f->soak, ARRAY_SIZE(opcodes))];
	m->len = random_len(f->soak, MAX_UC_LEN);
}

static void choose_ud(struct flow *f, struct message *m)
{
	m->opcode = below(f->soak, 2) ? IBV_WR_SEND : IBV_WR_SEND_WITH_IMM;
	m->len = random_len(f->soak, MAX_UD_LEN);
}

/* Choose message @n, which depends on the seed only */
static void choose(struct flow *f, unsigned int n)
{
	struct message *m = &f->message[n];

	m->key = f->soak->seed << 32 | f->index << 16 | n;
	if (f->type == MYNIC_QP_RC)
		choose_rc(f, m);
	else if (f->type == MYNIC_QP_UC)
		choose_uc(f, m);
	else
		choose_ud(f, m);
	if (f->type != MYNIC_QP_RC && m->len < sizeof(m->key))
		m->len = sizeof(m->key);
	/* completions free slots */
	if (below(f->soak, 4) || n % 8 == 7 || n == f->num - 1)
		m->flags |= IBV_SEND_SIGNALED;
	if (below(f->soak, 2))
		m->flags |= IBV_SEND_SOLICITED;
	if (m->opcode <= IBV_WR_SEND_WITH_IMM && m->len <= MAX_INLINE &&
	    below(f->soak, 2))
		m->flags |= IBV_SEND_INLINE;
	m->takes_recv = m->opcode == IBV_WR_RDMA_WRITE_WITH_IMM ||
			m->opcode == IBV_WR_SEND ||
			m->opcode == IBV_WR_SEND_WITH_IMM;
	if (m->takes_recv)
		m->recv = f->needed++;
}

static void check_effect(struct flow *f, unsigned int n)
{
	const struct message *m = &f->message[n];
	uint8_t *near = slot_of(f, f->near, n);
	uint64_t found;

	if (f->type != MYNIC_QP_RC)
		return;
	if (m->takes_recv)
		CHECK(f->received > m->recv);
	switch (m->opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		check_slot(f, slot_of(f, f->far, n), n);
		break;
	case IBV_WR_RDMA_READ:
		check_slot(f, near, n);
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		memcpy(&found, near + GUARD, 8);
		if (!m->shared)
			CHECK_EQ(found, m->want);
		check_guard(near, GUARD);
		check_guard(near + GUARD + 8, GUARD);
		break;
	default:
		break;
	}
}

/* Split @len bytes into up to @max pieces, some of them empty */
static unsigned int scatter(struct soak *s, const struct drv_mr *mr,
			    uint64_t at, uint32_t len, struct mynic_sge *sge,
			    unsigned int max)
{
	unsigned int num = 1 + below(s, max);

	for (unsigned int i = 0; i < num; i++) {
		uint32_t piece = i < num - 1 ? below(s, len + 1) : len;

		sge[i] = drv_sge(mr, at, piece);
		at += piece;
		len -= piece;
	}
	return num;
}

static void post(struct flow *f)
{
	unsigned int n = f->posted;
	struct message *m = &f->message[n];
	uint8_t *near = slot_of(f, f->near, n);
	struct drv_wr wr = {
		.wr_id = n,
		.opcode = m->opcode,
		.flags = m->flags,
		.imm = n,
		.compare_add = m->operand,
		.swap = m->swap,
		.remote_qkey = QKEY,
		.remote_qpn = f->to->qp->number,
	};

	/* its memory must be unchanged */
	if (n >= f->slots)
		check_effect(f, n - f->slots);
	if (m->opcode == IBV_WR_RDMA_READ || is_atomic(m))
		poison_slot(near, m->len);
	else
		make_slot(near, m);
	if (f->far) {
		uint8_t *far = slot_of(f, f->far, n);

		wr.remote_addr = f->far->addr + (far - f->far->ptr) + GUARD;
		wr.rkey = f->far->key;
		if (m->opcode == IBV_WR_RDMA_READ)
			make_slot(far, m);
		else
			poison_slot(far, m->len);
	}
	if (is_atomic(m))
		wr.remote_addr =
			far_word(f, m->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD);
	if (m->shared) {
		wr.remote_addr = f->to->side->shared->addr;
		wr.rkey = f->to->side->shared->key;
	}
	if (f->type == MYNIC_QP_UD)
		wr.av = drv_av(f->from->side->d, f->to->side->d->n->index,
			       f->index % 2);
	if (m->flags & IBV_SEND_INLINE) {
		wr.inline_data = near + GUARD;
		wr.inline_len = m->len;
	} else {
		wr.num_sge = scatter(f->soak, f->near,
				     near - f->near->ptr + GUARD, m->len,
				     wr.sge, is_atomic(m) ? 1 : 4);
	}
	f->posted++;
	drv_post_send(f->from->qp, &wr);
}

static bool may_post(const struct flow *f)
{
	if (f->posted == f->num)
		return false;
	return f->posted - f->done < (f->slots < WINDOW ? f->slots : WINDOW);
}

static void init_buffers(struct buffers *b, struct side *side, unsigned int num)
{
	b->mr = drv_reg_mr(side->d, side->pdn, (size_t)num * SLOT, ACCESS_ALL);
	b->num = num;
	for (unsigned int i = 0; i < num; i++)
		b->free[b->num_free++] = i;
}

static struct buffers *buffers_of(struct end *e)
{
	return e->has_srq ? &e->side->srq_buffers : &e->buffers;
}

static uint8_t *buffer(const struct buffers *b, unsigned int i)
{
	return b->mr->ptr + (size_t)i * SLOT;
}

/* Ends with an SRQ post to the SRQ */
static void post_recv(struct end *e)
{
	struct buffers *b = buffers_of(e);
	unsigned int i = b->free[--b->num_free];
	struct mynic_sge sge[3];
	unsigned int num = scatter(e->out->soak, b->mr,
				   (uint64_t)i * SLOT + GUARD, MAX_LEN, sge,
				   ARRAY_SIZE(sge));

	poison_slot(buffer(b, i), MAX_LEN);
	if (e->has_srq)
		drv_post_srq_recv(e->side->srq, i, sge, num);
	else
		drv_post_recv(e->qp, i, sge, num);
}

/* RC waits for late receive requests; other types lose messages */
static void refill(struct end *e)
{
	bool late = e->qp->create.type == MYNIC_QP_RC;

	while (buffers_of(e)->num_free && (!late || below(e->out->soak, 3)))
		post_recv(e);
}

static struct end *find_end(struct soak *s, unsigned int side, uint32_t number)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(s->end); i++)
		if (s->end[i].side == &s->side[side] &&
		    s->end[i].qp->number == number)
			return &s->end[i];
	FAIL("completion of QP 0x%x", number);
}

static bool may_repeat(const struct soak *s)
{
	return s->kind == DUPLICATE || s->kind == ALL;
}

static bool may_reorder(const struct soak *s)
{
	return s->kind == REORDER || s->kind == DELAY || may_repeat(s);
}

/* Find out which message has arrived at a UC or UD QP */
static unsigned int identify(struct end *e, const struct mynic_cqe *cqe,
			     const uint8_t *data, struct flow **flow)
{
	struct soak *s = e->out->soak;
	uint64_t key = cqe->imm_data;
	unsigned int index;

	*flow = e->in;
	if (cqe->opcode == IBV_WC_RECV_RDMA_WITH_IMM)
		return key;
	memcpy(&key, data, sizeof(key));
	index = key >> 16 & 0xffff;
	if (key >> 32 != (s->seed & 0xffffffff) || index >= FLOWS ||
	    s->flow[index].to != e)
		FAIL("a message with label 0x%llx", (unsigned long long)key);
	*flow = &s->flow[index];
	return key & 0xffff;
}

/* Messages are repeated or reordered only by the wire, and never mixed */
static void check_arrival(struct flow *f, unsigned int n)
{
	struct message *m = &f->message[n];

	if (m->arrivals++ && !may_repeat(f->soak))
		FAIL("flow %u: message %u arrives again", f->index, n);
	if ((int)n < f->newest && !may_reorder(f->soak))
		FAIL("flow %u: message %u arrives after %d", f->index, n,
		     f->newest);
	f->newest = n;
}

static unsigned int next_with_recv(const struct flow *f)
{
	for (unsigned int n = 0; n < f->posted; n++)
		if (f->message[n].takes_recv &&
		    f->message[n].recv == f->received)
			return n;
	FAIL("flow %u: a message that was not sent", f->index);
}

static void receive(struct end *e, const struct mynic_cqe *cqe)
{
	struct buffers *b = buffers_of(e);
	unsigned int grh = e->qp->create.type == MYNIC_QP_UD ? GRH_LEN : 0;
	uint8_t *slot = buffer(b, cqe->wr_id);
	uint8_t *data = slot + GUARD + grh;
	struct flow *f = e->in;
	const struct message *m;
	bool imm, write;
	unsigned int n;

	CHECK(cqe->wr_id < b->num);
	if (f && f->type == MYNIC_QP_RC) {
		n = next_with_recv(f);
	} else {
		n = identify(e, cqe, data, &f);
		CHECK(n < f->posted);
		check_arrival(f, n);
	}
	f->received++;
	m = &f->message[n];
	imm = m->opcode == IBV_WR_SEND_WITH_IMM ||
	      m->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	write = m->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	CHECK_EQ(cqe->opcode, write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV);
	CHECK_EQ(cqe->byte_len, m->len + grh);
	CHECK_EQ(!!(cqe->wc_flags & IBV_WC_WITH_IMM), imm);
	if (imm)
		CHECK_EQ(cqe->imm_data, n);
	check_guard(slot, GUARD);
	if (write)
		check_slot(f, slot_of(f, f->far, n), n);
	else
		check_data(f, data, n);
	/* in UC, a part of another message may be there */
	if (f->type != MYNIC_QP_UC)
		check_guard(write ? data : data + m->len, GUARD);
	b->free[b->num_free++] = cqe->wr_id;
}

static enum ibv_wc_opcode wc_opcode(enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return IBV_WC_RDMA_WRITE;
	case IBV_WR_RDMA_READ:
		return IBV_WC_RDMA_READ;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		return IBV_WC_COMP_SWAP;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		return IBV_WC_FETCH_ADD;
	default:
		return IBV_WC_SEND;
	}
}

/* Check that requests complete in order, once each, and with success */
static void complete(struct flow *f, const struct mynic_cqe *cqe)
{
	CHECK(cqe->wr_id >= f->done && cqe->wr_id < f->posted);
	while (f->done <= cqe->wr_id) {
		unsigned int n = f->done++;
		bool signaled = f->message[n].flags & IBV_SEND_SIGNALED;

		CHECK_EQ(signaled, n == cqe->wr_id);
		check_effect(f, n);
	}
	CHECK_EQ(cqe->opcode, wc_opcode(f->message[cqe->wr_id].opcode));
}

static void note_errors(struct drv_cq *cq, unsigned int side, const char *what)
{
	struct mynic_cqe cqe;

	for (; drv_peek(cq, &cqe); cq->ci++)
		if (cqe.status)
			tap_note(
				"nic%u, QP 0x%x: %s 0x%llx ends with status %u, syndrome %u",
				side + 1, cqe.qp_num, what,
				(unsigned long long)cqe.wr_id, cqe.status,
				cqe.vendor_err);
}

/* One error causes many others, and may not be the first in the list */
static void fail_with_errors(struct soak *s)
{
	for (unsigned int i = 0; i < 2; i++) {
		note_errors(s->side[i].cq, i, "request");
		note_errors(s->side[i].recv_cq, i, "receive request");
	}
	FAIL("a request has failed");
}

/* A completed request has arrived at the responder */
static void poll_cqs(struct soak *s)
{
	struct mynic_cqe cqe;

	for (unsigned int i = 0; i < 2; i++)
		for (; drv_peek(s->side[i].recv_cq, &cqe);
		     drv_poll(s->side[i].recv_cq, &cqe)) {
			if (cqe.status)
				fail_with_errors(s);
			receive(find_end(s, i, cqe.qp_num), &cqe);
		}
	for (unsigned int i = 0; i < 2; i++)
		for (; drv_peek(s->side[i].cq, &cqe);
		     drv_poll(s->side[i].cq, &cqe)) {
			if (cqe.status)
				fail_with_errors(s);
			complete(find_end(s, i, cqe.qp_num)->out, &cqe);
		}
}

static bool is_done(const struct flow *f)
{
	if (f->done < f->num)
		return false;
	return f->type != MYNIC_QP_RC || f->received == f->needed;
}

static bool all_done(const struct soak *s)
{
	for (unsigned int i = 0; i < FLOWS; i++)
		if (!is_done(&s->flow[i]))
			return false;
	return true;
}

static void fail_stuck(struct soak *s)
{
	for (unsigned int i = 0; i < FLOWS; i++) {
		const struct flow *f = &s->flow[i];

		if (!is_done(f))
			tap_note(
				"flow %u: %u posted, %u done, %u of %u received",
				i, f->posted, f->done, f->received, f->needed);
	}
	FAIL("no end at %llu ns", (unsigned long long)s->sim->now);
}

static void load(struct soak *s)
{
	uint64_t until = s->sim->now + TIME_LIMIT;
	unsigned int idle = 0;

	while (!all_done(s)) {
		struct flow *f = &s->flow[below(s, FLOWS)];

		for (unsigned int i = below(s, 4); i && may_post(f); i--)
			post(f);
		for (unsigned int i = 0; i < ARRAY_SIZE(s->end); i++)
			refill(&s->end[i]);
		if (below(s, 2)) {
			idle = sim_step(s->sim, until) ? 0 : idle + 1;
			if (idle > MAX_IDLE)
				fail_stuck(s);
		}
		poll_cqs(s);
	}
}

static void init_side(struct soak *s, unsigned int i)
{
	struct side *side = &s->side[i];

	side->d = drv_up(&s->sim->nics[i]);
	side->pdn = drv_alloc_pd(side->d);
	side->cq = drv_create_cq(side->d, 12);
	side->recv_cq = drv_create_cq(side->d, 12);
	side->srq = drv_create_srq(side->d, side->pdn, 8);
	init_buffers(&side->srq_buffers, side, SRQ_RECVS);
	side->shared = drv_reg_mr(side->d, side->pdn, 8, ACCESS_ALL);
}

static void init_end(struct end *e, struct side *side, enum mynic_qp_type type,
		     bool has_srq)
{
	struct drv_qp_init init = {
		.type = type,
		.pdn = side->pdn,
		.send_cq = side->cq,
		.recv_cq = side->recv_cq,
		.srq = has_srq ? side->srq : NULL,
	};

	e->side = side;
	e->has_srq = has_srq;
	e->qp = drv_create_qp(side->d, &init);
	if (!has_srq)
		init_buffers(&e->buffers, side, RECVS);
}

static void init_flow(struct soak *s, unsigned int index, struct end *from,
		      struct end *to)
{
	struct flow *f = &s->flow[index];
	size_t size;

	f->soak = s;
	f->type = from->qp->create.type;
	f->index = index;
	f->from = from;
	f->to = to;
	f->newest = -1;
	f->num = f->type == MYNIC_QP_RC ? RC_MESSAGES :
		 f->type == MYNIC_QP_UC ? UC_MESSAGES :
					  UD_MESSAGES;
	/* the sender cannot know when a slot of UC is free again */
	f->slots = f->type == MYNIC_QP_UC ? f->num : WINDOW;
	from->out = f;
	to->in = f;
	size = (size_t)f->slots * SLOT;
	f->near = drv_reg_mr(from->side->d, from->side->pdn, size, ACCESS_ALL);
	if (f->type != MYNIC_QP_UD)
		f->far = drv_reg_mr(to->side->d, to->side->pdn, size + 16,
				    ACCESS_ALL);
	for (unsigned int n = 0; n < f->num; n++)
		choose(f, n);
}

static void connect_ends(struct soak *s, struct end *a, struct end *b,
			 unsigned int i)
{
	struct drv_path path = {
		.mtu = 1 + i % 5,
		.gid_index = below(s, 2),
		.sq_psn = below(s, 1 << 24),
		.rq_psn = below(s, 1 << 24),
		.traffic_class = below(s, 3), /* not ECT, ECT(1), ECT(0) */
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.min_rnr_timer = 1 + below(s, 5),
		.max_rd_atomic = 1 + below(s, 16),
	};

	/* these pass the end of the number space */
	if (i % 4 == 0)
		path.sq_psn = 0xffffff - below(s, 200);
	drv_connect(a->qp, b->qp, &path);
}

static void set_up(struct soak *s)
{
	struct end *e = s->end;
	unsigned int index = 0;

	for (unsigned int i = 0; i < 2; i++)
		init_side(s, i);
	for (unsigned int i = 0; i < PAIRS + UD_QPS; i++, e += 2) {
		enum mynic_qp_type type = i < RC_PAIRS ? MYNIC_QP_RC :
					  i < PAIRS    ? MYNIC_QP_UC :
							 MYNIC_QP_UD;

		for (unsigned int k = 0; k < 2; k++)
			init_end(&e[k], &s->side[k], type,
				 type == MYNIC_QP_RC && below(s, 2));
		if (type == MYNIC_QP_UD) {
			drv_ud_up(e[0].qp, QKEY, IBV_QPS_RTS);
			drv_ud_up(e[1].qp, QKEY, IBV_QPS_RTS);
		} else {
			connect_ends(s, &e[0], &e[1], i);
		}
		init_flow(s, index++, &e[0], &e[1]);
		init_flow(s, index++, &e[1], &e[0]);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(s->end); i++)
		refill(&s->end[i]);
}

static void set_fault(struct soak *s, struct sim_nic *n, const char *rule)
{
	tap_note("  nic%u,%s", n->index + 1, rule);
	sim_fault(n, rule, below(s, 1ull << 47));
}

static void add_fault(struct soak *s, enum trouble kind, const char *rate)
{
	struct sim_nic *n = &s->sim->nics[below(s, 2)];
	char rule[FAULTS_RULE_SIZE], more[64] = "";
	unsigned int usec = 1 + below(s, below(s, 2) ? 20 : 3000);

	if (kind == CORRUPT)
		snprintf(more, sizeof(more), ",bits=%u",
			 1 + (unsigned int)below(s, 8));
	else if (kind == DELAY || (kind == REORDER && below(s, 2)))
		snprintf(more, sizeof(more), ",time=%uus", usec);
	snprintf(rule, sizeof(rule), "kind=%s,rate=%s%s", kind_names[kind],
		 rate, more);
	set_fault(s, n, rule);
}

static void add_bottleneck(struct soak *s, const char *bandwidth)
{
	unsigned int queue = 20000 + below(s, 200000);
	char rule[FAULTS_RULE_SIZE];

	snprintf(rule, sizeof(rule), "kind=rate,bandwidth=%s,queue=%u,ecn=%u",
		 bandwidth, queue, queue / 2);
	for (unsigned int i = 0; i < 2; i++)
		set_fault(s, &s->sim->nics[i], rule);
}

/* @grade: severity */
static void set_faults(struct soak *s, unsigned int grade)
{
	s->sim->frames = s->kind != IN_PROCESS;
	s->sim->direct = s->kind == IN_PROCESS;
	if (s->kind == CONGESTION)
		add_bottleneck(s, bandwidths[grade]);
	for (enum trouble kind = DROP; kind < ALL; kind++)
		if (s->kind == kind || s->kind == ALL)
			add_fault(s, kind, rates[grade]);
}

static uint64_t faults_applied(const struct soak *s)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < 2; i++) {
		const struct faults *faults = s->sim->nics[i].faults;

		if (faults)
			for (unsigned int k = 0; k < faults_num_rules(faults);
			     k++)
				sum += faults_stats(faults, k).applied;
	}
	return sum;
}

static uint64_t sum_stat(const struct soak *s, enum mynic_stat stat)
{
	return drv_stat(s->side[0].d, stat) + drv_stat(s->side[1].d, stat);
}

/*
 * Messages without retries are lost by a fault or for lack of a receive
 * request. A fault in one packet can end two messages of UC: when it is
 * missing, and when it arrives late or twice.
 */
static void check_losses(const struct soak *s)
{
	uint64_t faults = faults_applied(s);
	uint64_t allowed = 2 * faults + sum_stat(s, MYNIC_STAT_RX_DROP_WQE);
	uint64_t lost = 0, sent = 0;

	for (unsigned int i = 2 * RC_PAIRS; i < FLOWS; i++) {
		const struct flow *f = &s->flow[i];

		for (unsigned int n = 0; n < f->num; n++)
			if (f->message[n].takes_recv) {
				lost += !f->message[n].arrivals;
				sent++;
			}
	}
	if (lost > allowed)
		FAIL("%llu datagrams and messages of UC are lost",
		     (unsigned long long)lost);
	if (s->kind < DROP)
		CHECK_EQ(lost, 0);
	CHECK(sum_stat(s, MYNIC_STAT_RX_DROP_ICRC) +
		      sum_stat(s, MYNIC_STAT_RX_DROP_HEADER) <=
	      faults);
	tap_note("  %llu ms, %llu packets, %llu faults, %llu CNPs",
		 (unsigned long long)((s->sim->now - AFTERMATH) / MSEC),
		 (unsigned long long)(s->sim->nics[0].sent +
				      s->sim->nics[1].sent),
		 (unsigned long long)faults,
		 (unsigned long long)sum_stat(s, MYNIC_STAT_RX_CNP));
	tap_note("  %llu sent again, %llu timeouts, %llu of %llu lost",
		 (unsigned long long)sum_stat(s, MYNIC_STAT_RETRANSMIT),
		 (unsigned long long)sum_stat(s, MYNIC_STAT_TIMEOUT),
		 (unsigned long long)lost, (unsigned long long)sent);
}

/*
 * A message may not have arrived: each byte is that of the message, or
 * unchanged
 */
static void check_maybe(struct flow *f, unsigned int n)
{
	const struct message *m = &f->message[n];
	const uint8_t *got = slot_of(f, f->far, n);
	uint8_t *want = f->soak->scratch;

	check_guard(got, GUARD);
	got += GUARD;
	fill(want, m->len, m->key);
	for (uint32_t i = 0; i < m->len; i++)
		if (got[i] != want[i] && got[i] != POISON)
			FAIL("flow %u, message %u: byte %u is 0x%02x", f->index,
			     n, i, got[i]);
	check_guard(got + m->len, GUARD);
}

static void check_end(struct soak *s)
{
	for (unsigned int i = 0; i < FLOWS; i++) {
		struct flow *f = &s->flow[i];
		uint64_t words[2];

		CHECK_EQ(drv_query_qp(f->from->qp).qp_state, IBV_QPS_RTS);
		CHECK_EQ(f->done, f->num);
		for (unsigned int n = f->num - f->slots; n < f->num; n++)
			check_effect(f, n);
		if (f->type == MYNIC_QP_UC)
			for (unsigned int n = 0; n < f->num; n++)
				check_maybe(f, n);
		if (f->type != MYNIC_QP_RC)
			continue;
		CHECK_EQ(f->received, f->needed);
		memcpy(words, f->far->ptr + (size_t)f->slots * SLOT, 16);
		CHECK_EQ(words[0], f->word);
		CHECK_EQ(words[1], f->counter);
	}
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t shared;

		memcpy(&shared, s->side[i].shared->ptr, 8);
		CHECK_EQ(shared, s->side[i].shared_want);
	}
}

/* Return: a hash of the whole run */
static uint64_t run(uint64_t seed)
{
	struct soak *s = tap_alloc(sizeof(*s));
	uint64_t trace;

	tap_restart_timeout();
	s->seed = seed;
	s->kind = seed % NUM_KINDS;
	s->sim = sim_new(2);
	drv_features = mix(seed) & 2 ? MYNIC_FEATURE_DB_SUPPRESS : 0;
	s->sim->random = mix(seed) | 1;
	tap_note("MYNIC_SOAK_SEED=%llu: %s", (unsigned long long)seed,
		 kind_names[s->kind]);
	set_faults(s, seed / NUM_KINDS % GRADES);
	set_up(s);
	load(s);
	sim_run(s->sim, AFTERMATH);
	poll_cqs(s);
	check_losses(s);
	check_end(s);
	trace = s->sim->trace ^ s->sim->now;
	sim_free(s->sim);
	return trace;
}

static uint64_t setting(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);
	uint64_t value;
	char *end;

	if (!text)
		return otherwise;
	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || !*text || *end)
		FAIL("%s=%s is no number", name, text);
	return value;
}

static uint64_t random_seed(void)
{
	uint32_t seed;

	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		FAIL("no random numbers");
	return seed;
}

static void soak(enum trouble kind)
{
	const char *text = getenv("MYNIC_SOAK_SEED");
	uint64_t rounds = setting("MYNIC_SOAK_ROUNDS", 4);
	uint64_t seed;

	if (text && strcmp(text, "random")) {
		seed = setting("MYNIC_SOAK_SEED", 0);
		if (seed % NUM_KINDS != kind)
			tap_skip("MYNIC_SOAK_SEED asks for another");
		run(seed);
		return;
	}
	if (kind >= DROP)
		rounds *= GRADES;
	for (uint64_t i = 0; i < rounds; i++) {
		seed = text ? random_seed() / NUM_KINDS : i;
		run(seed * NUM_KINDS + kind);
	}
}

TEST(soak_in_process)
{
	soak(IN_PROCESS);
}

TEST(soak_clean)
{
	soak(CLEAN);
}

TEST(soak_drop)
{
	soak(DROP);
}

TEST(soak_duplicate)
{
	soak(DUPLICATE);
}

TEST(soak_reorder)
{
	soak(REORDER);
}

TEST(soak_corrupt)
{
	soak(CORRUPT);
}

TEST(soak_delay)
{
	soak(DELAY);
}

TEST(soak_all)
{
	soak(ALL);
}

TEST(soak_congestion)
{
	soak(CONGESTION);
}

/* The same seed sends the same bytes at the same times */
TEST(soak_is_reproducible)
{
	uint64_t seed = NUM_KINDS + ALL;
	uint64_t trace = run(seed);

	CHECK_EQ(run(seed), trace);
	CHECK(run(seed + GRADES * NUM_KINDS) != trace);
}
