// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Messages of all lengths at which something changes */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "matrix.h"

#define MAX_MESSAGE (1UL << 31)
#define BLOCK (2UL << 20)
/* One byte more than the longest message, in whole blocks */
#define BIG_SIZE (MAX_MESSAGE + BLOCK)

static const enum ibv_wr_opcode measured[] = {
	IBV_WR_SEND,	   IBV_WR_SEND_WITH_IMM,
	IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE_WITH_IMM,
	IBV_WR_RDMA_READ,  IBV_WR_DRIVER1,
};

#define NUM_MEASURED (sizeof(measured) / sizeof(*measured))

/*
 * Map BLOCK bytes of memory at all addresses of BIG_SIZE bytes. A message can
 * be that long, although no guest has so much memory.
 */
static uint8_t *map_big(void)
{
	int fd = memfd_create("matrix", MFD_CLOEXEC);
	uint8_t *big;

	if (fd < 0 || ftruncate(fd, BLOCK))
		return NULL;
	big = mmap(NULL, BIG_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		   0);
	for (size_t at = 0; big != MAP_FAILED && at < BIG_SIZE; at += BLOCK)
		if (mmap(big + at, BLOCK, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
			return NULL;
	close(fd);
	return big == MAP_FAILED ? NULL : big;
}

/**
 * struct side - memory of one end
 * @buf: where it is
 * @mr: region over it
 */
struct side {
	uint8_t *buf;
	struct ibv_mr *mr;
};

/* Bytes to check of a message in memory that repeats */
static size_t seen(size_t len)
{
	return len < BLOCK ? len : BLOCK;
}

static void check_lengths(const struct pair *pair, const struct op *op,
			  size_t len, unsigned int seed,
			  const struct side *target)
{
	unsigned int prefix = pair->type == TYPE_UD ? GRH_LEN : 0;
	struct ibv_wc wc;

	if (!wait_wc(pair->a->send_cq, &wc))
		wrong("no completion");
	else if (wc.status)
		wrong("%s", ibv_wc_status_str(wc.status));
	else if (op->opcode == IBV_WR_RDMA_READ && wc.byte_len != len)
		wrong("byte_len of the READ is %u", wc.byte_len);
	if (op->receives && !is_wrong()) {
		if (!wait_wc(pair->b->recv_cq, &wc))
			wrong("the receiver has no completion");
		else if (wc.status)
			wrong("receiver: %s", ibv_wc_status_str(wc.status));
		else if (wc.byte_len != len + prefix)
			wrong("the receiver's byte_len is %u", wc.byte_len);
	}
	if (!is_wrong() && !filled(target->buf + prefix, seen(len), seed))
		wrong("other data arrived");
	if (len < BLOCK / 2 && target->buf[prefix + len] != 0xa5)
		wrong("memory behind the data changed");
}

static void run_length(struct pair *pair, enum wr_api api, const struct op *op,
		       enum setter setter, size_t len,
		       const struct side sides[2])
{
	const struct side *near = &sides[0];
	const struct side *far = &sides[1];
	static unsigned int seed;
	bool read = op->opcode == IBV_WR_RDMA_READ;
	const struct side *source = read ? far : near;
	const struct side *target = read ? near : far;
	struct request req = {
		.op = op,
		.setter = setter,
		.flags = IBV_SEND_SIGNALED,
		.wr_id = WR_ID,
		.sge[0] = { (uintptr_t)near->buf, len, near->mr->lkey },
		.num_sge = 1,
		.remote_addr = (uintptr_t)far->buf,
		.rkey = pair_key(pair, far->mr),
		.remote_qpn = pair_remote_qpn(pair),
	};
	unsigned int bad;
	int err;

	memset(target->buf, 0xa5, seen(len + 64 + GRH_LEN));
	fill(source->buf, seen(len), ++seed);
	if (op->receives && pair_post_recv(pair, far->mr, far->buf,
					   len < BLOCK ? len + GRH_LEN : len))
		wrong("no receive request can be posted");
	err = post(pair, api, &req, 1, &bad);
	if (err)
		wrong("posting: %s", strerror(err));
	else
		check_lengths(pair, op, len, seed, target);
}

static void test_length(struct pair *pair, enum wr_api api, enum setter setter,
			size_t len, const struct side sides[2])
{
	for (unsigned int i = 0; i < NUM_MEASURED; i++) {
		const struct op *op = find_op(measured[i]);

		if (!op_on_type(op, pair->type) ||
		    !op_with_setter(op, api, setter))
			continue;
		run_length(pair, api, op, setter, len, sides);
		result("%s %s %s %s of %zu bytes", type_name(pair->type),
		       op->name, api_name(api), setter_name(setter), len);
	}
}

/* As much as the queue has room for, and one byte more, which is refused. */
static void test_inline_limit(struct pair *pair, enum wr_api api,
			      const struct side sides[2])
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct request req = {
		.op = plain_op(pair->type),
		.setter = SETTER_INLINE,
		.sge[0] = { .addr = (uintptr_t)sides[0].buf },
		.num_sge = 1,
		.remote_qpn = pair_remote_qpn(pair),
	};
	unsigned int bad;
	int err;

	if (ibv_query_qp(pair->qp, &attr, IBV_QP_CAP, &init)) {
		wrong("ibv_query_qp: %s", strerror(errno));
		attr.cap.max_inline_data = MAX_INLINE;
	}
	test_length(pair, api, SETTER_INLINE, attr.cap.max_inline_data - 1,
		    sides);
	test_length(pair, api, SETTER_INLINE, attr.cap.max_inline_data, sides);
	req.sge[0].length = attr.cap.max_inline_data + 1;
	err = post(pair, api, &req, 1, &bad);
	if (err != EINVAL)
		wrong("returned %d (%s)", err, strerror(err));
	result("%s %s %s inline of %u bytes: EINVAL", type_name(pair->type),
	       req.op->name, api_name(api), req.sge[0].length);
}

/* A message that is too long: the request fails, and the QP goes to ERR. */
static void test_too_long(struct pair *pair, enum wr_api api, size_t len,
			  const struct side sides[2])
{
	struct request req = {
		.op = plain_op(pair->type),
		.setter = SETTER_SGE_LIST,
		.flags = IBV_SEND_SIGNALED,
		.wr_id = WR_ID,
		.sge = { { (uintptr_t)sides[0].buf, len - 1,
			   sides[0].mr->lkey },
			 { (uintptr_t)sides[0].buf, 1, sides[0].mr->lkey } },
		.num_sge = 2,
		.remote_addr = (uintptr_t)sides[1].buf,
		.rkey = pair_key(pair, sides[1].mr),
		.remote_qpn = pair_remote_qpn(pair),
	};
	struct ibv_wc wc;
	unsigned int bad;

	if (post(pair, api, &req, 1, &bad))
		wrong("it is refused");
	else if (!wait_wc(pair->a->send_cq, &wc))
		wrong("no completion");
	else if (wc.status != IBV_WC_LOC_LEN_ERR)
		wrong("%s", ibv_wc_status_str(wc.status));
	result("%s %s %s of %zu bytes: local length error",
	       type_name(pair->type), req.op->name, api_name(api), len);
}

static void test_type(struct node *a, struct node *b, enum type type,
		      enum wr_api api, const struct side sides[2])
{
	bool datagram = type == TYPE_UD;
	struct pair pair;

	if (!pair_open(&pair, type, api, a, b)) {
		wrong("no pair of QPs: %s", strerror(errno));
		result("%s lengths %s", type_name(type), api_name(api));
		pair_close(&pair);
		return;
	}
	test_length(&pair, api, SETTER_SGE, 0, sides);
	test_length(&pair, api, SETTER_SGE, 1, sides);
	test_length(&pair, api, SETTER_INLINE, 0, sides);
	test_length(&pair, api, SETTER_INLINE, 1, sides);
	test_inline_limit(&pair, api, sides);
	test_length(&pair, api, SETTER_SGE, MTU - 1, sides);
	test_length(&pair, api, SETTER_SGE, MTU, sides);
	if (!datagram) {
		test_length(&pair, api, SETTER_SGE, MTU + 1, sides);
		/* One of each is enough, because 2 GiB take long. */
		test_length(&pair, api, SETTER_SGE,
			    api == API_WR ? MAX_MESSAGE : MAX_MESSAGE - 1,
			    sides);
	}
	test_too_long(&pair, api, datagram ? 4096 + 1 : MAX_MESSAGE + 1, sides);
	pair_close(&pair);
}

static bool open_side(struct side *side, struct node *node)
{
	side->buf = map_big();
	if (!side->buf)
		return false;
	side->mr = ibv_reg_mr(node->pd, side->buf, BIG_SIZE,
			      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				      IBV_ACCESS_REMOTE_READ);
	return side->mr;
}

static void close_side(struct side *side)
{
	if (side->mr && ibv_dereg_mr(side->mr))
		wrong("a region cannot be deregistered");
	if (side->buf)
		munmap(side->buf, BIG_SIZE);
}

static void test_apis(struct node *a, struct node *b, enum type type,
		      const struct side sides[2])
{
	for (enum wr_api api = 0; api < NUM_APIS; api++)
		test_type(a, b, type, api, sides);
}

void test_lengths(struct node *a, struct node *b)
{
	/* The memory beside that of a is the far side of a memcpy QP */
	struct side apart[2] = {}, beside[2] = {};

	if (open_side(&apart[0], a) && open_side(&beside[1], a) &&
	    open_side(&apart[1], b)) {
		for (enum type type = 0; type < TYPE_RAW; type++)
			test_apis(a, b, type, apart);
		beside[0] = apart[0];
		test_apis(a, b, TYPE_DRIVER, beside);
	} else {
		wrong("no memory region of 2 GiB: %s", strerror(errno));
	}
	close_side(&apart[0]);
	close_side(&apart[1]);
	close_side(&beside[1]);
	result("memory regions of 2 GiB");
}
