// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Illegal requests: the exact errno, and no other request posted or lost */
#include <errno.h>
#include <string.h>

#include "matrix.h"

/* Opcodes of no QP type: reserved ones, and those of the kernel */
static const uint32_t unknown_opcodes[] = { 12,	  13,  16,	  32,
					    0xff, 256, 0x80000002 };

/* A legal request that completes without a packet */
static struct request harmless(const struct pair *pair, uint64_t wr_id)
{
	struct request req = {
		.op = plain_op(pair->type),
		.setter = SETTER_SGE,
		.flags = IBV_SEND_SIGNALED,
		.wr_id = wr_id,
		.sge[0] = { (uintptr_t)pair->a->buf, 64, pair->a->mr->lkey },
		.num_sge = 1,
		.remote_qpn = 0xfffffe,
	};

	req.remote_addr = (uintptr_t)pair_target(pair);
	req.rkey = pair_key(pair, pair->b->mr);
	if (op_on_type(find_op(IBV_WR_RDMA_WRITE), pair->type))
		req.op = find_op(IBV_WR_RDMA_WRITE);
	return req;
}

static void expect_posted(struct pair *pair, uint64_t wr_id)
{
	struct ibv_wc wc;

	if (!wait_wc(pair->a->send_cq, &wc))
		wrong("no completion of a legal request");
	else if (wc.status || wc.wr_id != wr_id)
		wrong("completion %#llx with status %u, expected %#llx",
		      (unsigned long long)wc.wr_id, wc.status,
		      (unsigned long long)wr_id);
}

/*
 * Posts an illegal request between two legal ones. Of a list, the first one is
 * posted; of a critical section, none is. Later requests show that nothing else
 * was posted.
 */
static void expect_refused(struct pair *pair, enum wr_api api,
			   const struct request *refused, int errnum)
{
	struct request reqs[3] = { harmless(pair, 1), *refused,
				   harmless(pair, 3) };
	struct request next = harmless(pair, 4);
	unsigned int bad;
	int err;

	err = post(pair, api, reqs, 3, &bad);
	if (err != errnum)
		wrong("returned %d (%s)", err, strerror(err));
	if (api == API_POST_SEND) {
		if (bad != 1)
			wrong("bad_wr is request %u", bad);
		expect_posted(pair, 1);
	}
	err = post(pair, api, &next, 1, &bad);
	if (err)
		wrong("the next request: %s", strerror(err));
	expect_posted(pair, 4);
}

static struct request request_of(const struct pair *pair, const struct op *op,
				 enum setter setter, unsigned int len)
{
	struct request req = harmless(pair, 2);

	req.op = op;
	req.setter = setter;
	req.sge[0].length = len;
	req.hdr = pair->a->buf;
	req.hdr_len = TCP_FRAME_HEADER;
	req.mss = 1000;
	return req;
}

/* An operation that the QP type or the API lacks */
static void test_op(struct pair *pair, enum wr_api api, const struct op *op)
{
	struct request req = request_of(pair, op, SETTER_SGE, 8);
	bool on_type = op_on_type(op, pair->type);
	struct ibv_qp *qp;

	if (on_type && op_through(op, api))
		return;
	if (api == API_POST_SEND) {
		expect_refused(pair, api, &req, EINVAL);
		result("%s %s post_send: EINVAL", type_name(pair->type),
		       op->name);
		return;
	}
	qp = make_sender(pair->a, pair->type, API_WR, op->create);
	if (qp || errno != EOPNOTSUPP)
		wrong("a QP with it: %s", qp ? "made" : strerror(errno));
	if (qp)
		ibv_destroy_qp(qp);
	result("%s %s wr: EOPNOTSUPP", type_name(pair->type), op->name);
}

/* Inline data of an operation that takes none */
static void test_inline(struct pair *pair, enum wr_api api, const struct op *op)
{
	if (!op_on_type(op, pair->type) || !op_through(op, api) ||
	    op->data == DATA_NONE)
		return;
	for (enum setter s = SETTER_INLINE; s <= SETTER_INLINE_LIST; s++) {
		struct request req = request_of(pair, op, s, 8);

		if (op_with_setter(op, api, s) ||
		    op_with_setter(op, api, SETTER_NONE))
			continue;
		expect_refused(pair, api, &req, EINVAL);
		result("%s %s %s %s: EINVAL", type_name(pair->type), op->name,
		       api_name(api), setter_name(s));
	}
}

static void test_too_many_sges(struct pair *pair, enum wr_api api)
{
	struct request next = harmless(pair, 4);
	struct ibv_sge many[64] = {};
	struct ibv_send_wr *bad_wr = NULL, wr = {
		.sg_list = many,
		.num_sge = 64,
		.opcode = next.op->opcode,
	};
	unsigned int bad;
	int err;

	if (api == API_POST_SEND) {
		err = ibv_post_send(pair->qp, &wr, &bad_wr);
		if (bad_wr != &wr)
			wrong("bad_wr is another");
	} else {
		ibv_wr_start(pair->qpx);
		begin(pair->qpx, &next);
		ibv_wr_set_sge_list(pair->qpx, 64, many);
		err = ibv_wr_complete(pair->qpx);
	}
	if (err != EINVAL)
		wrong("returned %d (%s)", err, strerror(err));
	if (post(pair, api, &next, 1, &bad))
		wrong("the next request is refused");
	expect_posted(pair, 4);
	result("%s too many SGEs %s: EINVAL", type_name(pair->type),
	       api_name(api));
}

static void test_unknown_opcodes(struct pair *pair)
{
	for (unsigned int i = 0;
	     i < sizeof(unknown_opcodes) / sizeof(*unknown_opcodes); i++) {
		struct op op = { .name = "unknown",
				 .opcode = unknown_opcodes[i] };
		struct request req = request_of(pair, &op, SETTER_SGE, 8);

		expect_refused(pair, API_POST_SEND, &req, EINVAL);
		result("%s opcode %#x post_send: EINVAL", type_name(pair->type),
		       unknown_opcodes[i]);
	}
}

static void test_abort(struct pair *pair)
{
	struct request next = harmless(pair, 4);
	unsigned int bad;

	ibv_wr_start(pair->qpx);
	for (int i = 0; i < 3; i++) {
		pair->qpx->wr_id = i;
		pair->qpx->wr_flags = IBV_SEND_SIGNALED;
		begin(pair->qpx, &next);
		ibv_wr_set_sge(pair->qpx, pair->a->mr->lkey,
			       (uintptr_t)pair->a->buf, 8);
	}
	ibv_wr_abort(pair->qpx);
	if (post(pair, API_WR, &next, 1, &bad))
		wrong("the next request is refused");
	expect_posted(pair, 4);
	result("%s abort", type_name(pair->type));
}

/*
 * Requests to a QP in SQD wait, so that the queue fills up. All posted requests
 * are executed when it continues.
 */
static void test_full(struct pair *pair, enum wr_api api)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD };
	unsigned int num = 0, bad;
	struct request req;
	int err;

	if (ibv_modify_qp(pair->qp, &attr, IBV_QP_STATE))
		wrong("not to SQD: %s", strerror(errno));
	do {
		req = harmless(pair, num);
		err = post(pair, api, &req, 1, &bad);
	} while (!err && ++num < 100000);
	if (err != ENOMEM)
		wrong("returned %d (%s) after %u", err, strerror(err), num);
	attr.qp_state = IBV_QPS_RTS;
	if (ibv_modify_qp(pair->qp, &attr, IBV_QP_STATE))
		wrong("not to RTS: %s", strerror(errno));
	for (unsigned int i = 0; i < num && !is_wrong(); i++)
		expect_posted(pair, i);
	result("%s full queue %s: ENOMEM", type_name(pair->type),
	       api_name(api));
}

static void test_not_ready(struct pair *pair, enum wr_api api)
{
	struct pair fresh = *pair;
	struct request req = harmless(pair, 1);
	unsigned int bad;
	int err;

	fresh.qp = make_sender(pair->a, pair->type, api, req.op->create);
	if (!fresh.qp) {
		wrong("no QP: %s", strerror(errno));
	} else {
		fresh.qpx = api == API_WR ? ibv_qp_to_qp_ex(fresh.qp) : NULL;
		err = post(&fresh, api, &req, 1, &bad);
		if (err != EINVAL)
			wrong("returned %d (%s)", err, strerror(err));
		ibv_destroy_qp(fresh.qp);
	}
	result("%s in RESET %s: EINVAL", type_name(pair->type), api_name(api));
}

static void test_type(struct pair *pair, enum wr_api api)
{
	for (unsigned int i = 0; i < num_ops; i++) {
		test_op(pair, api, &ops[i]);
		test_inline(pair, api, &ops[i]);
	}
	test_too_many_sges(pair, api);
	test_not_ready(pair, api);
	if (pair->type != TYPE_RAW) /* It has no SQD. */
		test_full(pair, api);
	if (api == API_WR)
		test_abort(pair);
	else
		test_unknown_opcodes(pair);
}

void test_refusals(struct node *a, struct node *b)
{
	struct pair pair;

	for (enum type type = 0; type < NUM_TYPES; type++)
		for (enum wr_api api = 0; api < NUM_APIS; api++) {
			if (!pair_open(&pair, type, api, a, b)) {
				wrong("no pair of QPs: %s", strerror(errno));
				result("%s %s", type_name(type), api_name(api));
				pair_close(&pair);
				continue;
			}
			test_type(&pair, api);
			pair_close(&pair);
		}
}
