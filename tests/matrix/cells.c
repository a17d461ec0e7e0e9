// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Legal requests: data and completions at both ends */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "matrix.h"

#define GUARD 0xa5
#define SLOT 8192 /* bytes of a node's buffer for a message */
#define LONG_LEN 3000 /* three packets */
#define DATAGRAM_LEN 1000
#define INLINE_LEN 61
#define TSO_LEN 2500
#define TSO_MSS 1000
#define ATOMIC_LEN 8
#define NO_QPN 0xfffffe
#define PATIENCE_MS 60000

/**
 * struct cell - one combination, with its expected results
 * @pair: the QPs
 * @api: API by which it is posted
 * @req: the request
 * @seed: seed of the data
 * @len: bytes that are sent or fetched, headers included
 * @window: window of the receiver that SEND_WITH_INV invalidates
 */
struct cell {
	struct pair *pair;
	enum wr_api api;
	struct request req;
	unsigned int seed;
	unsigned int len;
	struct ibv_mw *window;
};

static uint8_t *sent(const struct cell *c)
{
	return c->pair->a->buf;
}

static uint8_t *arrived(const struct cell *c)
{
	return pair_target(c->pair) + (c->pair->type == TYPE_UD ? GRH_LEN : 0);
}

static unsigned int length_of(enum type type, const struct op *op,
			      enum setter setter)
{
	switch (op->data) {
	case DATA_NONE:
		return 0;
	case DATA_FETCH:
	case DATA_OUT_8:
		return ATOMIC_LEN;
	case DATA_TSO:
		return TSO_LEN;
	default:
		break;
	}
	if (setter == SETTER_INLINE || setter == SETTER_INLINE_LIST)
		return INLINE_LEN;
	return type == TYPE_UD || type == TYPE_RAW ? DATAGRAM_LEN : LONG_LEN;
}

/* The data in one piece, or in three with an empty one among them */
static void set_sges(struct cell *c)
{
	struct request *req = &c->req;
	struct ibv_sge whole = { (uintptr_t)sent(c), c->len,
				 c->pair->a->mr->lkey };
	bool one = req->op->data == DATA_FETCH || req->op->data == DATA_OUT_8;

	req->sge[0] = whole;
	req->num_sge = 1;
	if (one || (req->setter != SETTER_SGE_LIST &&
		    req->setter != SETTER_INLINE_LIST))
		return;
	req->sge[0].length = c->len / 3;
	req->sge[1] = whole;
	req->sge[1].length = 0;
	req->sge[2] = whole;
	req->sge[2].addr += c->len / 3;
	req->sge[2].length -= c->len / 3;
	req->num_sge = 3;
}

/* A signaled request that moves no data and does not reach the peer */
static struct request marker(const struct cell *c)
{
	bool connected = op_on_type(find_op(IBV_WR_RDMA_WRITE), c->pair->type);
	struct request req = {
		.op = connected ? find_op(IBV_WR_RDMA_WRITE) :
				  plain_op(c->pair->type),
		.setter = SETTER_SGE_LIST,
		.flags = IBV_SEND_SIGNALED,
		.wr_id = MARKER_ID,
		.remote_addr = (uintptr_t)pair_target(c->pair),
		.rkey = pair_key(c->pair, c->pair->b->mr),
		.remote_qpn = NO_QPN,
	};

	if (c->pair->type == TYPE_RAW) {
		/* A frame without a receiver, at the far end of the buffer */
		uint8_t *frame = sent(c) + BUF_SIZE - SLOT;

		set_udp_header(frame, 22);
		frame[5]++;
		req.sge[0] = (struct ibv_sge){ (uintptr_t)frame, 64,
					       c->pair->a->mr->lkey };
		req.num_sge = 1;
	}
	return req;
}

static void expect_wc(struct ibv_cq *cq, const char *who, uint64_t wr_id,
		      struct ibv_wc *wc)
{
	if (!wait_wc(cq, wc))
		wrong("%s: no completion", who);
	else if (wc->status)
		wrong("%s: %s, vendor error %u", who,
		      ibv_wc_status_str(wc->status), wc->vendor_err);
	else if (wc->wr_id != wr_id)
		wrong("%s: wr_id %#llx", who, (unsigned long long)wc->wr_id);
}

static void expect(bool cond, const char *what, unsigned long long value)
{
	if (!cond)
		wrong("%s is %#llx", what, value);
}

/* A window on @node, bound through @qp; NULL if that fails */
static struct ibv_mw *make_window(struct node *node, struct ibv_qp *qp)
{
	struct ibv_mw *mw = ibv_alloc_mw(node->pd, IBV_MW_TYPE_2);
	struct ibv_send_wr *bad, wr = { .wr_id = MARKER_ID,
					.opcode = IBV_WR_BIND_MW,
					.send_flags = IBV_SEND_SIGNALED };
	struct ibv_wc wc = {};

	if (!mw) {
		wrong("no memory window: %s", strerror(errno));
		return NULL;
	}
	mw->rkey = ibv_inc_rkey(mw->rkey);
	wr.bind_mw.mw = mw;
	wr.bind_mw.rkey = mw->rkey;
	wr.bind_mw.bind_info = (struct ibv_mw_bind_info){
		.mr = node->mr,
		.addr = (uintptr_t)node->buf,
		.length = SLOT,
		.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	if (ibv_post_send(qp, &wr, &bad))
		wrong("a window cannot be bound");
	else
		expect_wc(node->send_cq, "binding", MARKER_ID, &wc);
	return mw;
}

static void prepare_window(struct cell *c)
{
	struct request *req = &c->req;
	struct node *a = c->pair->a;

	switch (req->op->opcode) {
	case IBV_WR_BIND_MW:
		req->mw = ibv_alloc_mw(a->pd, IBV_MW_TYPE_2);
		if (!req->mw) {
			wrong("no memory window: %s", strerror(errno));
			return;
		}
		req->rkey = ibv_inc_rkey(req->mw->rkey);
		req->bind = (struct ibv_mw_bind_info){
			.mr = a->mr,
			.addr = (uintptr_t)a->buf,
			.length = SLOT,
			.mw_access_flags = IBV_ACCESS_REMOTE_READ |
					   IBV_ACCESS_REMOTE_WRITE,
		};
		break;
	case IBV_WR_LOCAL_INV:
		c->window = make_window(a, c->pair->qp);
		if (c->window)
			req->invalidate = c->window->rkey;
		break;
	case IBV_WR_SEND_WITH_INV:
		c->window = make_window(c->pair->b, c->pair->binder);
		if (c->window)
			req->invalidate = c->window->rkey;
		break;
	default:
		break;
	}
}

static void prepare(struct cell *c)
{
	struct node *a = c->pair->a, *b = c->pair->b;
	struct request *req = &c->req;
	unsigned int received;
	uint64_t *word;

	memset(pair_target(c->pair), GUARD, SLOT);
	fill(sent(c), c->len, c->seed);
	req->wr_id = WR_ID;
	req->remote_qpn = pair_remote_qpn(c->pair);
	set_sges(c);
	if (req->op->remote) {
		req->remote_addr = (uintptr_t)pair_target(c->pair);
		req->rkey = pair_key(c->pair, b->mr);
	}
	switch (req->op->data) {
	case DATA_NONE: /* FLUSH takes its length from here. */
		req->sge[0].length = SLOT;
		req->num_sge = 0;
		break;
	case DATA_IN:
		memset(sent(c), GUARD, SLOT);
		fill(b->buf, c->len, c->seed);
		break;
	case DATA_FETCH:
		memset(sent(c), GUARD, SLOT);
		word = (uint64_t *)b->buf;
		*word = c->seed;
		req->compare_add = c->seed;
		req->swap = ~(uint64_t)c->seed;
		break;
	case DATA_TSO:
		set_tcp_header(a->buf + SLOT);
		req->hdr = a->buf + SLOT;
		req->hdr_len = TCP_FRAME_HEADER;
		req->mss = TSO_MSS;
		break;
	default:
		if (c->pair->type == TYPE_RAW)
			set_udp_header(sent(c), c->len - UDP_FRAME_HEADER);
	}
	prepare_window(c);
	if (!req->op->receives)
		return;
	received = req->op->data == DATA_TSO ?
			   (TSO_LEN + TSO_MSS - 1) / TSO_MSS :
			   1;
	for (unsigned int i = 0; i < received; i++)
		if (pair_post_recv(c->pair, b->mr, b->buf + i * SLOT, SLOT))
			wrong("no receive request can be posted");
	if (req->flags & IBV_SEND_SOLICITED && ibv_req_notify_cq(b->recv_cq, 1))
		wrong("the CQ cannot be armed");
}

static void check_receive_wc(const struct cell *c, const struct ibv_wc *wc)
{
	enum ibv_wr_opcode opcode = c->req.op->opcode;
	enum type type = c->pair->type;
	enum ibv_wc_opcode expected = opcode == IBV_WR_RDMA_WRITE_WITH_IMM ?
					      IBV_WC_RECV_RDMA_WITH_IMM :
					      IBV_WC_RECV;
	unsigned int flags = wc->wc_flags &
			     (IBV_WC_WITH_IMM | IBV_WC_WITH_INV | IBV_WC_GRH);
	unsigned int len = c->len + (type == TYPE_UD ? GRH_LEN : 0);

	expect(wc->opcode == expected, "the receiver's opcode", wc->opcode);
	expect(wc->byte_len == len, "the receiver's byte_len", wc->byte_len);
	expect(wc->qp_num == c->pair->peer->qp_num, "the receiver's qp_num",
	       wc->qp_num);
	if (type == TYPE_UD)
		expect(wc->src_qp == c->pair->qp->qp_num, "src_qp", wc->src_qp);
	if (opcode == IBV_WR_SEND_WITH_INV) {
		expect(flags == IBV_WC_WITH_INV, "wc_flags", wc->wc_flags);
		expect(wc->invalidated_rkey == c->req.invalidate,
		       "invalidated_rkey", wc->invalidated_rkey);
	} else if (opcode == IBV_WR_SEND_WITH_IMM ||
		   opcode == IBV_WR_RDMA_WRITE_WITH_IMM) {
		expect(flags & IBV_WC_WITH_IMM, "wc_flags", wc->wc_flags);
		expect(ntohl(wc->imm_data) == IMM, "imm_data",
		       ntohl(wc->imm_data));
	} else {
		expect(!(flags & (IBV_WC_WITH_IMM | IBV_WC_WITH_INV)),
		       "wc_flags", wc->wc_flags);
	}
}

static void check_event(const struct cell *c)
{
	struct pollfd fd = { .fd = c->pair->b->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (poll(&fd, 1, PATIENCE_MS) != 1 ||
	    ibv_get_cq_event(c->pair->b->channel, &cq, &context))
		wrong("no event for a solicited message");
	else
		ibv_ack_cq_events(cq, 1);
}

static void check_untouched(const uint8_t *end)
{
	for (unsigned int i = 0; i < 64; i++)
		expect(end[i] == GUARD, "memory behind the data", end[i]);
}

static void check_message(const struct cell *c)
{
	uint8_t *data = arrived(c);

	if (c->pair->type == TYPE_RAW) {
		if (c->req.flags & IBV_SEND_IP_CSUM &&
		    !take_checksums(data, c->len))
			wrong("a checksum is wrong");
		if (memcmp(data, sent(c), UDP_FRAME_HEADER))
			wrong("the headers changed");
		data += UDP_FRAME_HEADER;
		if (memcmp(data, sent(c) + UDP_FRAME_HEADER,
			   c->len - UDP_FRAME_HEADER))
			wrong("the data changed");
	} else if (!filled(data, c->len, c->seed)) {
		wrong("other data arrived");
	}
	check_untouched(arrived(c) + c->len);
}

static void check_segments(const struct cell *c)
{
	struct node *b = c->pair->b;
	unsigned int sum = 0;
	struct ibv_wc wc;

	for (unsigned int i = 0; sum < TSO_LEN && !is_wrong(); i++) {
		unsigned int prefix = c->pair->type == TYPE_UD ? GRH_LEN : 0;
		unsigned int len = TSO_LEN - sum < TSO_MSS ? TSO_LEN - sum :
							     TSO_MSS;
		uint8_t *frame = b->buf + i * SLOT + prefix;

		expect_wc(b->recv_cq, "receiver", RECV_ID, &wc);
		expect(wc.byte_len == prefix + TCP_FRAME_HEADER + len,
		       "the receiver's byte_len", wc.byte_len);
		/* UD copies the header unchanged. */
		if (prefix && memcmp(frame, c->req.hdr, TCP_FRAME_HEADER))
			wrong("the header changed");
		if (!prefix)
			check_tcp_segment(frame, TCP_FRAME_HEADER + len, sum,
					  sum + len == TSO_LEN);
		if (memcmp(frame + TCP_FRAME_HEADER, sent(c) + sum, len))
			wrong("other data arrived");
		sum += len;
	}
}

static void check_memory(const struct cell *c)
{
	const uint64_t *found = (const uint64_t *)sent(c);
	const uint64_t *word = (const uint64_t *)arrived(c);
	uint64_t result;

	switch (c->req.op->opcode) {
	case IBV_WR_RDMA_READ:
		if (!filled(sent(c), c->len, c->seed))
			wrong("other data was read");
		check_untouched(sent(c) + c->len);
		return;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		result = c->req.op->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ?
				 2 * (uint64_t)c->seed :
				 c->req.swap;
		expect(*found == c->seed, "what was found", *found);
		expect(*word == result, "the result", *word);
		check_untouched(arrived(c) + sizeof(*word));
		return;
	default:
		if (c->req.op->remote)
			check_message(c);
	}
}

/* Check and free the window of a cell */
static void check_window(struct cell *c)
{
	if (c->req.mw && ibv_dealloc_mw(c->req.mw))
		wrong("the bound window cannot be freed");
	if (c->window && ibv_dealloc_mw(c->window))
		wrong("the window cannot be freed");
}

static void check(struct cell *c)
{
	bool signaled = c->req.flags & IBV_SEND_SIGNALED;
	const struct op *op = c->req.op;
	struct ibv_wc wc = {};

	expect_wc(c->pair->a->send_cq, "sender", signaled ? WR_ID : MARKER_ID,
		  &wc);
	if (signaled && !is_wrong())
		expect(wc.opcode == op->completion, "the sender's opcode",
		       wc.opcode);
	if (is_wrong())
		return;
	if (op->data == DATA_TSO) {
		check_segments(c);
	} else if (op->receives) {
		expect_wc(c->pair->b->recv_cq, "receiver", RECV_ID, &wc);
		if (!is_wrong())
			check_receive_wc(c, &wc);
		check_message(c);
	} else {
		check_memory(c);
	}
	/* Ethernet frames cannot carry SOLICITED. */
	if (op->receives && c->req.flags & IBV_SEND_SOLICITED &&
	    c->pair->type != TYPE_RAW && !is_wrong())
		check_event(c);
}

static void run_cell(struct pair *pair, enum wr_api api, const struct op *op,
		     enum setter setter, unsigned int flags)
{
	static unsigned int seed;
	struct cell c = {
		.pair = pair,
		.api = api,
		.req = { .op = op, .setter = setter, .flags = flags },
		.seed = ++seed,
		.len = length_of(pair->type, op, setter),
	};
	struct request reqs[2];
	unsigned int bad;
	int err;

	prepare(&c);
	if (!is_wrong()) {
		reqs[0] = c.req;
		reqs[1] = marker(&c);
		err = post(pair, api, reqs, flags & IBV_SEND_SIGNALED ? 1 : 2,
			   &bad);
		if (err)
			wrong("posting: %s", strerror(err));
		else
			check(&c);
	}
	check_window(&c);
	if (is_wrong())
		wrong("(flags %#x)", flags);
}

/*
 * A window of type 2 belongs to the QP that has bound it. The receiving QP of
 * XRC cannot bind, because it has no send queue. The peer therefore refuses
 * invalidation through XRC.
 */
static bool cannot_invalidate(enum type type, const struct op *op)
{
	return type == TYPE_XRC && op->opcode == IBV_WR_SEND_WITH_INV;
}

static void run_refused(struct pair *pair, enum wr_api api, const struct op *op,
			enum setter setter)
{
	struct cell c = {
		.pair = pair,
		.api = api,
		.req = { .op = op,
			 .setter = setter,
			 .flags = IBV_SEND_SIGNALED },
		.len = length_of(pair->type, op, setter),
	};
	struct ibv_wc wc = {};
	unsigned int bad;

	prepare(&c);
	if (is_wrong())
		return;
	if (post(pair, api, &c.req, 1, &bad))
		wrong("it is not posted");
	else if (!wait_wc(pair->a->send_cq, &wc))
		wrong("no completion");
	else if (wc.status != IBV_WC_REM_ACCESS_ERR)
		wrong("%s", ibv_wc_status_str(wc.status));
	check_window(&c);
}

/* All subsets of the possible flags */
static void run_flags(struct pair *pair, enum wr_api api, const struct op *op,
		      enum setter setter)
{
	unsigned int all = op_flags(pair->type);
	unsigned int flags = 0;

	do {
		run_cell(pair, api, op, setter, flags);
		flags = (flags - all) & all;
	} while (flags && !is_wrong());
}

static void test_type(struct node *a, struct node *b, enum type type,
		      enum wr_api api)
{
	struct pair pair;
	bool usable = false;

	for (unsigned int i = 0; i < num_ops; i++) {
		const struct op *op = &ops[i];

		if (!op_on_type(op, type) || !op_through(op, api))
			continue;
		for (enum setter s = 0; s <= SETTER_NONE; s++) {
			bool refused = cannot_invalidate(type, op);

			if (!op_with_setter(op, api, s))
				continue;
			if (!usable && !pair_open(&pair, type, api, a, b))
				wrong("no pair of QPs: %s", strerror(errno));
			else if (refused)
				run_refused(&pair, api, op, s);
			else
				run_flags(&pair, api, op, s);
			usable = !is_wrong() && !refused;
			if (!usable)
				pair_close(&pair);
			result("%s %s %s %s%s", type_name(type), op->name,
			       api_name(api), setter_name(s),
			       refused ? ": remote access error" : "");
		}
	}
	if (usable)
		pair_close(&pair);
}

void test_cells(struct node *a, struct node *b)
{
	for (enum type type = 0; type < NUM_TYPES; type++)
		for (enum wr_api api = 0; api < NUM_APIS; api++)
			test_type(a, b, type, api);
}
