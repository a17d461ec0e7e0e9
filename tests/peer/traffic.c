// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * traffic: sends every operation between the RDMA devices of two machines, in
 * both directions, and checks all data and all fields of the completions.
 *
 *   traffic [OPTION]... COMMAND [ARG...]
 *
 * COMMAND runs traffic --other on the other machine. Its input and output
 * connect the two programs outside of the network under test. Both go through
 * the same table. In each row, one is the initiator and the other the target.
 * Prints TAP.
 *
 *   --other	be the other program
 *   --rounds N	all of it with reliable connections, N times, as they are for
 *		wires that lose packets
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE 300 /* seconds */
#define SLOT 98304 /* bytes for a message */
#define SLOTS 16
#define GRH 40 /* bytes before a received datagram */
#define GUARD 0xa5
#define BUF_SIZE (SLOTS * SLOT)
#define WR_ID 0x1122334455667700ULL
#define QKEY 0x1234567

/* Message between the programs, one at each step */
struct word {
	char text[200]; /* the error, or empty */
	uint32_t qpn;
	uint32_t psn;
	uint32_t rkey;
	uint32_t read_only_rkey;
	uint64_t addr;
	union ibv_gid gid[2];
	char device[32];
	int32_t mtu;
};

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_comp_channel *send_channel, *recv_channel;
static struct ibv_cq *send_cq, *recv_cq;
static struct ibv_mr *mr, *read_only;
static uint8_t *buf;
static int gid_index[2]; /* of IPv4 and IPv6 */
static struct word me, other;
static int from_other = STDIN_FILENO, to_other = STDOUT_FILENO;
static bool am_other;
static bool lossy; /* the wire */
static int number, failures;

static void __attribute__((noreturn, format(printf, 1, 2)))
die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, " (%s)\n", strerror(errno));
	exit(1);
}

/* Notes an error, if it is the first one. */
static void __attribute__((format(printf, 1, 2))) wrong(const char *format, ...)
{
	va_list args;

	if (me.text[0])
		return;
	va_start(args, format);
	vsnprintf(me.text, sizeof(me.text), format, args);
	va_end(args);
}

#define expect(cond, ...)                   \
	do {                                \
		if (!(cond))                \
			wrong(__VA_ARGS__); \
	} while (0)

/* Waits until both programs have come here. */
static void meet(void)
{
	size_t have = 0;
	ssize_t n;

	if (write(to_other, &me, sizeof(me)) != sizeof(me))
		die("cannot write to the other program");
	while (have < sizeof(other)) {
		n = read(from_other, (uint8_t *)&other + have,
			 sizeof(other) - have);
		if (n <= 0)
			die("the other program has ended");
		have += n;
	}
}

/* Ends a row of the table, with the errors of either program */
static void __attribute__((format(printf, 1, 2))) result(const char *format,
							 ...)
{
	va_list args;

	meet();
	number++;
	if (me.text[0] || other.text[0])
		failures++;
	if (!am_other) {
		if (me.text[0])
			printf("# %s: %s\n", me.device, me.text);
		if (other.text[0])
			printf("# %s: %s\n", other.device, other.text);
		printf("%sok %d - ", me.text[0] || other.text[0] ? "not " : "",
		       number);
		va_start(args, format);
		vprintf(format, args);
		va_end(args);
		printf("\n");
		fflush(stdout);
	}
	me.text[0] = '\0';
}

/*
 * The device
 */

static bool is_ipv4(const union ibv_gid *gid)
{
	static const uint8_t prefix[12] = { [10] = 0xff, [11] = 0xff };

	return !memcmp(gid->raw, prefix, sizeof(prefix));
}

static void find_gids(void)
{
	struct ibv_gid_entry entry;
	int found[2] = { 0, 0 };

	for (int i = 0; i < 64; i++) {
		int v6;

		if (ibv_query_gid_ex(context, 1, i, &entry, 0) ||
		    entry.gid_type != IBV_GID_TYPE_ROCE_V2 ||
		    entry.gid.raw[0] == 0xfe)
			continue;
		v6 = !is_ipv4(&entry.gid);
		if (found[v6]++)
			continue;
		gid_index[v6] = i;
		me.gid[v6] = entry.gid;
	}
	if (!found[0] || !found[1])
		die("no RoCEv2 GIDs of IPv4 and IPv6");
}

static void open_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_port_attr port;

	if (!list || !*list)
		die("no RDMA device");
	context = ibv_open_device(*list);
	if (!context || ibv_query_port(context, 1, &port))
		die("cannot open %s", ibv_get_device_name(*list));
	snprintf(me.device, sizeof(me.device), "%s",
		 ibv_get_device_name(*list));
	me.mtu = port.active_mtu;
	find_gids();
	pd = ibv_alloc_pd(context);
	send_channel = ibv_create_comp_channel(context);
	recv_channel = ibv_create_comp_channel(context);
	if (!send_channel || !recv_channel)
		die("cannot make completion channels");
	send_cq = ibv_create_cq(context, 64, NULL, send_channel, 0);
	recv_cq = ibv_create_cq(context, 64, NULL, recv_channel, 0);
	buf = aligned_alloc(4096, BUF_SIZE);
	if (!pd || !send_cq || !recv_cq || !buf)
		die("cannot make PD, CQs or buffer");
	mr = ibv_reg_mr(pd, buf, BUF_SIZE,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				IBV_ACCESS_REMOTE_READ |
				IBV_ACCESS_REMOTE_ATOMIC);
	read_only = ibv_reg_mr(pd, buf, BUF_SIZE, IBV_ACCESS_REMOTE_READ);
	if (!mr || !read_only)
		die("cannot make memory regions");
	me.rkey = mr->rkey;
	me.read_only_rkey = read_only->rkey;
	me.addr = (uintptr_t)buf;
}

/*
 * Queue pairs
 */

/* Properties of a pair of QPs */
struct config {
	enum ibv_qp_type type;
	enum ibv_mtu mtu;
	int v6;
	/* Of the send side */
	int timeout;
	int retry_cnt;
	int rnr_retry;
	/* Of the QP: it is for requests that only rxe has */
	bool extended;
};

static struct ibv_qp *qp;
static struct ibv_ah *ah;

static const char *type_name(enum ibv_qp_type type)
{
	return type == IBV_QPT_RC ? "RC" : type == IBV_QPT_UC ? "UC" : "UD";
}

static int mtu_bytes(enum ibv_mtu mtu)
{
	return 128 << mtu;
}

static struct ibv_ah_attr path(const struct config *config)
{
	return (struct ibv_ah_attr){
		.is_global = 1,
		.port_num = 1,
		.grh = {
			.dgid = other.gid[config->v6],
			.sgid_index = gid_index[config->v6],
			.hop_limit = 64,
		},
	};
}

static void to_init(const struct config *config)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qkey = QKEY,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC,
	};
	int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;

	if (config->type == IBV_QPT_UC)
		attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	mask |= config->type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
	if (ibv_modify_qp(qp, &attr, mask))
		die("cannot bring a %s QP to INIT", type_name(config->type));
}

static void to_rtr(const struct config *config)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.ah_attr = path(config),
		.path_mtu = config->mtu,
		.dest_qp_num = other.qpn,
		.rq_psn = other.psn,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 1,
	};
	int mask = IBV_QP_STATE;

	if (config->type != IBV_QPT_UD)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			IBV_QP_RQ_PSN;
	if (config->type == IBV_QPT_RC)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	if (ibv_modify_qp(qp, &attr, mask))
		die("cannot bring a %s QP to RTR", type_name(config->type));
}

static void to_rts(const struct config *config)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = me.psn,
		.timeout = config->timeout,
		.retry_cnt = config->retry_cnt,
		.rnr_retry = config->rnr_retry,
		.max_rd_atomic = 4,
	};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

	if (config->type == IBV_QPT_RC)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	if (ibv_modify_qp(qp, &attr, mask))
		die("cannot bring a %s QP to RTS", type_name(config->type));
}

/* A pair of QPs, ready to send. Their first PSNs soon wrap. */
static void connect_qps(const struct config *config)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = send_cq,
		.recv_cq = recv_cq,
		.qp_type = config->type,
		.cap = { .max_send_wr = 32,
			 .max_recv_wr = 32,
			 .max_send_sge = 2,
			 .max_recv_sge = 2 },
		.sq_sig_all = 1,
		.pd = pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
	};
	struct ibv_ah_attr attr;

	if (config->extended) {
		init.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		init.send_ops_flags =
			IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE |
			IBV_QP_EX_WITH_FLUSH | IBV_QP_EX_WITH_ATOMIC_WRITE;
	}
	qp = ibv_create_qp_ex(context, &init);
	if (!qp)
		die("cannot make a %s QP", type_name(config->type));
	me.qpn = qp->qp_num;
	me.psn = 0xffffff - (qp->qp_num & 7);
	meet();
	to_init(config);
	to_rtr(config);
	to_rts(config);
	ah = NULL;
	if (config->type == IBV_QPT_UD) {
		attr = path(config);
		ah = ibv_create_ah(pd, &attr);
		if (!ah)
			die("cannot make an address handle");
	}
	meet();
}

static void destroy_qp(void)
{
	struct ibv_wc wc;

	if (ah)
		ibv_destroy_ah(ah);
	if (ibv_destroy_qp(qp))
		die("cannot destroy a QP");
	/* Discard flushed completions */
	while (ibv_poll_cq(send_cq, 1, &wc) || ibv_poll_cq(recv_cq, 1, &wc))
		;
}

/*
 * Messages and completions
 */

/* One kind of request, and its expected result */
struct op {
	const char *name;
	enum ibv_wr_opcode opcode;
	enum ibv_wc_opcode sent;
	enum ibv_wc_opcode received; /* if it takes a receive request */
	bool receives;
	bool imm;
	unsigned int types; /* of QPs that have it */
};

#define RC BIT(IBV_QPT_RC)
#define UC BIT(IBV_QPT_UC)
#define UD BIT(IBV_QPT_UD)
#define BIT(n) (1u << (n))

static const struct op ops[] = {
	{ "SEND", IBV_WR_SEND, IBV_WC_SEND, IBV_WC_RECV, true, false,
	  RC | UC | UD },
	{ "SEND_IMM", IBV_WR_SEND_WITH_IMM, IBV_WC_SEND, IBV_WC_RECV, true,
	  true, RC | UC | UD },
	{ "WRITE", IBV_WR_RDMA_WRITE, IBV_WC_RDMA_WRITE, 0, false, false,
	  RC | UC },
	{ "WRITE_IMM", IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WC_RDMA_WRITE,
	  IBV_WC_RECV_RDMA_WITH_IMM, true, true, RC | UC },
	{ "READ", IBV_WR_RDMA_READ, IBV_WC_RDMA_READ, 0, false, false, RC },
	{ "CMP_SWAP", IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WC_COMP_SWAP, 0, false,
	  false, RC },
	{ "FETCH_ADD", IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WC_FETCH_ADD, 0, false,
	  false, RC },
};

#define NUM_OPS (sizeof(ops) / sizeof(*ops))

static bool is_atomic(const struct op *op)
{
	return op->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       op->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static uint8_t *slot(int k)
{
	return buf + k * SLOT;
}

static uint8_t pattern(unsigned int seed, unsigned int i)
{
	return seed * 37 + i * 7 + (i >> 8) * 13;
}

static void fill(int k, unsigned int seed, unsigned int length)
{
	memset(slot(k), GUARD, SLOT);
	for (unsigned int i = 0; i < length; i++)
		slot(k)[i] = pattern(seed, i);
}

static bool has_pattern(int k, unsigned int seed, unsigned int offset,
			unsigned int length)
{
	for (unsigned int i = 0; i < length; i++)
		if (slot(k)[offset + i] != pattern(seed, i))
			return false;
	return true;
}

/*
 * Check that the slot has length bytes of the pattern at offset, and is
 * otherwise unchanged.
 */
static void check_slot(int k, unsigned int seed, unsigned int offset,
		       unsigned int length)
{
	static uint8_t guard[SLOT];

	memset(guard, GUARD, SLOT);
	expect(has_pattern(k, seed, offset, length),
	       "the %u bytes of message %d are not what was sent", length, k);
	expect(!memcmp(slot(k) + offset + length, guard,
		       SLOT - offset - length),
	       "bytes were written behind the %u of message %d", length, k);
}

/* Only its data shows the arrival of an unreliable WRITE. */
static void await_data(int k, unsigned int seed, unsigned int length)
{
	time_t end = time(NULL) + PATIENCE;

	while (!has_pattern(k, seed, 0, length) && time(NULL) < end)
		usleep(1000);
}

static void take_event(struct ibv_cq *cq)
{
	void *context_of_cq;
	struct ibv_cq *which;

	if (ibv_get_cq_event(cq->channel, &which, &context_of_cq))
		die("no completion event");
	ibv_ack_cq_events(which, 1);
}

/*
 * The next completion; false if there is none for too long. It does not poll
 * all the time, because two guests need the processors.
 */
static bool next_completion(struct ibv_cq *cq, struct ibv_wc *wc)
{
	struct pollfd fd = { .fd = cq->channel->fd, .events = POLLIN };

	for (;;) {
		if (ibv_poll_cq(cq, 1, wc) == 1)
			return true;
		if (ibv_req_notify_cq(cq, 0))
			die("cannot ask for an event");
		if (ibv_poll_cq(cq, 1, wc) == 1)
			return true;
		if (poll(&fd, 1, PATIENCE * 1000) != 1) {
			wrong("no completion for %d s", PATIENCE);
			return false;
		}
		take_event(cq);
	}
}

static void post_recv(int k, unsigned int length)
{
	struct ibv_sge sge = { .addr = (uintptr_t)slot(k),
			       .length = length,
			       .lkey = mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = WR_ID + k,
				  .sg_list = &sge,
				  .num_sge = 1 };
	struct ibv_recv_wr *bad;

	if (ibv_post_recv(qp, &wr, &bad))
		die("cannot post a receive request");
}

static uint64_t atomic_compare(int k)
{
	return 0x0102030405060708 * (k + 1);
}

#define ATOMIC_OPERAND 0xfedcba9876543210

/* Message k goes from slot to slot; a READ comes. */
static struct ibv_send_wr request(const struct op *op, int k,
				  struct ibv_sge *sge)
{
	struct ibv_send_wr wr = {
		.wr_id = WR_ID + k,
		.sg_list = sge,
		.num_sge = 1,
		.opcode = op->opcode,
		.imm_data = htonl(0xabcd0000 + k),
	};

	if (ah) {
		wr.wr.ud.ah = ah;
		wr.wr.ud.remote_qpn = other.qpn;
		wr.wr.ud.remote_qkey = QKEY;
	} else if (is_atomic(op)) {
		wr.wr.atomic.remote_addr = other.addr + k * SLOT;
		wr.wr.atomic.rkey = other.rkey;
		wr.wr.atomic.compare_add = atomic_compare(k);
		wr.wr.atomic.swap = ATOMIC_OPERAND;
	} else {
		wr.wr.rdma.remote_addr = other.addr + k * SLOT;
		wr.wr.rdma.rkey = other.rkey;
	}
	return wr;
}

static struct ibv_sge sge_of(int k, unsigned int length)
{
	return (struct ibv_sge){ .addr = (uintptr_t)slot(k),
				 .length = length,
				 .lkey = mr->lkey };
}

static int post(const struct op *op, int k, unsigned int length)
{
	struct ibv_sge sge = sge_of(k, length);
	struct ibv_send_wr wr = request(op, k, &sge), *bad;

	return ibv_post_send(qp, &wr, &bad);
}

static void check_sent(const struct op *op, int k)
{
	struct ibv_wc wc;

	if (!next_completion(send_cq, &wc))
		return;
	expect(wc.status == IBV_WC_SUCCESS, "request %d: %s", k,
	       ibv_wc_status_str(wc.status));
	expect(wc.wr_id == WR_ID + k, "request %d: wr_id %#llx", k,
	       (unsigned long long)wc.wr_id);
	expect(wc.qp_num == qp->qp_num, "request %d: qp_num %#x", k, wc.qp_num);
	if (wc.status == IBV_WC_SUCCESS)
		expect(wc.opcode == op->sent, "request %d: opcode %d", k,
		       wc.opcode);
}

/* The header that comes with a datagram: IPv6, or IPv4 in the last 20 bytes */
static void check_grh(const struct config *config, int k)
{
	const uint8_t *grh = slot(k);

	if (config->v6) {
		expect(grh[0] >> 4 == 6, "GRH: version %d", grh[0] >> 4);
		expect(!memcmp(grh + 8, &other.gid[1], 16), "GRH: source");
		expect(!memcmp(grh + 24, &me.gid[1], 16), "GRH: destination");
	} else {
		expect(grh[20] == 0x45, "GRH: first byte of IPv4 %02x",
		       grh[20]);
		expect(!memcmp(grh + 32, other.gid[0].raw + 12, 4),
		       "GRH: source");
		expect(!memcmp(grh + 36, me.gid[0].raw + 12, 4),
		       "GRH: destination");
	}
}

static void check_received(const struct config *config, const struct op *op,
			   int k, unsigned int length)
{
	unsigned int extra = config->type == IBV_QPT_UD ? GRH : 0;
	struct ibv_wc wc;

	if (!next_completion(recv_cq, &wc))
		return;
	expect(wc.status == IBV_WC_SUCCESS, "receive %d: %s", k,
	       ibv_wc_status_str(wc.status));
	expect(wc.wr_id == WR_ID + k, "receive %d: wr_id %#llx", k,
	       (unsigned long long)wc.wr_id);
	expect(wc.qp_num == qp->qp_num, "receive %d: qp_num %#x", k, wc.qp_num);
	if (wc.status != IBV_WC_SUCCESS)
		return;
	expect(wc.opcode == op->received, "receive %d: opcode %d", k,
	       wc.opcode);
	expect(wc.byte_len == length + extra, "receive %d: byte_len %u, not %u",
	       k, wc.byte_len, length + extra);
	expect(!!(wc.wc_flags & IBV_WC_WITH_IMM) == op->imm,
	       "receive %d: flags %#x", k, wc.wc_flags);
	if (op->imm)
		expect(ntohl(wc.imm_data) == 0xabcd0000 + (uint32_t)k,
		       "receive %d: immediate data %#x", k, ntohl(wc.imm_data));
	if (config->type == IBV_QPT_UD) {
		expect(wc.wc_flags & IBV_WC_GRH, "receive %d: no GRH flag", k);
		expect(wc.src_qp == other.qpn, "receive %d: src_qp %#x", k,
		       wc.src_qp);
		expect(wc.pkey_index == 0, "receive %d: pkey_index %u", k,
		       wc.pkey_index);
		check_grh(config, k);
	}
}

/*
 * On a wire with losses, rxe has two errors, with any peer. Both can be seen on
 * the wire. An ATOMIC_WRITE that it repeats has the address zero. It does not
 * answer a repeated READ of no bytes.
 */

static bool is_rxe(const char *device)
{
	return !strncmp(device, "rxe", 3);
}

static bool loses_atomic_writes(bool mine)
{
	return lossy && is_rxe(mine ? me.device : other.device);
}

static bool loses_empty_reads(const struct op *op, bool mine)
{
	return lossy && op->opcode == IBV_WR_RDMA_READ &&
	       is_rxe(mine ? other.device : me.device);
}

/* Lengths around what a packet holds; returns their number. */
static int lengths(const struct config *config, const struct op *op, bool mine,
		   unsigned int *length)
{
	unsigned int mtu = mtu_bytes(config->mtu);
	int n = 0;

	if (is_atomic(op)) {
		for (n = 0; n < 4; n++)
			length[n] = 8;
		return n;
	}
	if (!loses_empty_reads(op, mine))
		length[n++] = 0;
	length[n++] = 1;
	length[n++] = mtu - 1;
	length[n++] = mtu;
	if (config->type == IBV_QPT_UD)
		return n;
	length[n++] = mtu + 1;
	length[n++] = 2 * mtu;
	length[n++] = 3 * mtu + 7;
	length[n++] = 65536;
	return n;
}

/*
 * Rows of the table
 */

static void initiate(const struct op *op, int n, const unsigned int *length,
		     unsigned int seed)
{
	for (int k = 0; k < n; k++)
		fill(k, seed + k,
		     op->opcode == IBV_WR_RDMA_READ || is_atomic(op) ?
			     0 :
			     length[k]);
	meet();
	for (int k = 0; k < n; k++)
		if (post(op, k, length[k])) {
			wrong("cannot post: %s", strerror(errno));
			n = k;
		}
	for (int k = 0; k < n; k++)
		check_sent(op, k);
	for (int k = 0; k < n; k++) {
		uint64_t value;

		if (op->opcode == IBV_WR_RDMA_READ)
			check_slot(k, seed + k, 0, length[k]);
		if (!is_atomic(op))
			continue;
		memcpy(&value, slot(k), sizeof(value));
		expect(value == atomic_compare(k),
		       "atomic %d returned %#llx, not %#llx", k,
		       (unsigned long long)value,
		       (unsigned long long)atomic_compare(k));
	}
	meet();
}

static void be_target(const struct config *config, const struct op *op, int n,
		      const unsigned int *length, unsigned int seed)
{
	unsigned int extra = config->type == IBV_QPT_UD ? GRH : 0;
	bool has_data = op->receives || op->opcode == IBV_WR_RDMA_WRITE;
	uint64_t value;

	for (int k = 0; k < n; k++) {
		fill(k, seed + k,
		     op->opcode == IBV_WR_RDMA_READ ? length[k] : 0);
		value = atomic_compare(k);
		if (is_atomic(op))
			memcpy(slot(k), &value, sizeof(value));
		if (op->receives)
			post_recv(k, SLOT);
	}
	meet();
	if (op->receives)
		for (int k = 0; k < n; k++)
			check_received(config, op, k, length[k]);
	meet();
	for (int k = 0; k < n; k++) {
		if (config->type == IBV_QPT_UC && !op->receives)
			await_data(k, seed + k, length[k]);
		if (has_data)
			check_slot(k, seed + k, extra, length[k]);
		if (!is_atomic(op))
			continue;
		memcpy(&value, slot(k), sizeof(value));
		expect(value == (op->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ?
					 ATOMIC_OPERAND :
					 2 * atomic_compare(k)),
		       "after atomic %d: %#llx", k, (unsigned long long)value);
	}
}

static const char *direction(bool mine)
{
	static char text[80];

	snprintf(text, sizeof(text), "%s to %s",
		 mine ? me.device : other.device,
		 mine ? other.device : me.device);
	return text;
}

static void one_row(const struct config *config, const struct op *op, bool mine)
{
	unsigned int length[SLOTS];
	int n = lengths(config, op, mine, length);

	connect_qps(config);
	if (mine)
		initiate(op, n, length, number);
	else
		be_target(config, op, n, length, number);
	destroy_qp();
	result("%s: %s %s, MTU %d, %s", direction(mine),
	       type_name(config->type), op->name, mtu_bytes(config->mtu),
	       config->v6 ? "IPv6" : "IPv4");
}

/* ibv_post_send() of not every provider has ATOMIC_WRITE */
static void write_atomically(void)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);
	struct ibv_wc wc;

	for (int k = 0; k < SLOTS; k++)
		fill(k, number + k, 8);
	meet();
	ibv_wr_start(qpx);
	for (int k = 0; k < SLOTS; k++) {
		qpx->wr_id = WR_ID + k;
		ibv_wr_atomic_write(qpx, other.rkey, other.addr + k * SLOT,
				    slot(k));
	}
	if (ibv_wr_complete(qpx))
		wrong("cannot post: %s", strerror(errno));
	for (int k = 0; k < SLOTS && next_completion(send_cq, &wc); k++) {
		expect(wc.wr_id == WR_ID + k, "request %d: wr_id %#llx", k,
		       (unsigned long long)wc.wr_id);
		expect(wc.status == IBV_WC_SUCCESS, "request %d: %s", k,
		       ibv_wc_status_str(wc.status));
		expect(wc.opcode == IBV_WC_ATOMIC_WRITE,
		       "request %d: opcode %d", k, wc.opcode);
	}
	meet();
}

static void be_written_atomically(void)
{
	for (int k = 0; k < SLOTS; k++)
		fill(k, 0, 0);
	meet();
	meet();
	for (int k = 0; k < SLOTS; k++)
		check_slot(k, number + k, 0, 8);
}

static void atomic_write_row(const struct config *config, bool mine)
{
	struct config extended = *config;

	extended.extended = true;
	connect_qps(&extended);
	if (mine)
		write_atomically();
	else
		be_written_atomically();
	destroy_qp();
	result("%s: RC ATOMIC_WRITE, MTU %d, %s", direction(mine),
	       mtu_bytes(config->mtu), config->v6 ? "IPv6" : "IPv4");
}

static void all_ops(const struct config *config)
{
	if (config->type == IBV_QPT_RC) {
		if (!loses_atomic_writes(!am_other))
			atomic_write_row(config, !am_other);
		if (!loses_atomic_writes(am_other))
			atomic_write_row(config, am_other);
	}
	for (size_t i = 0; i < NUM_OPS; i++) {
		if (!(ops[i].types & BIT(config->type)))
			continue;
		one_row(config, &ops[i], !am_other);
		one_row(config, &ops[i], am_other);
	}
}

static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD };

static void all_configs(int num_types)
{
	for (int i = 0; i < num_types; i++)
		for (int mtu = IBV_MTU_256; mtu <= IBV_MTU_4096; mtu++)
			for (int v6 = 0; v6 < 2; v6++) {
				struct config config = {
					.type = types[i],
					.mtu = mtu,
					.v6 = v6,
					.timeout = 16,
					.retry_cnt = 7,
					.rnr_retry = 7,
				};

				/* A datagram fills the port's MTU. */
				if (types[i] != IBV_QPT_UD || mtu == me.mtu)
					all_ops(&config);
			}
}

/*
 * Requests that must fail
 */

struct error_case {
	const char *name;
	int op; /* index in ops */
	unsigned int length;
	unsigned int offset; /* in the target's memory */
	bool bad_rkey;
	bool read_only;
	bool no_receive;
	unsigned int receive; /* length */
	bool gone; /* the target has no such QP */
	enum ibv_wc_status status;
	enum ibv_wc_status target; /* of the receive, if not 0 */
	/* status with Linux's rxe, if different */
	enum ibv_wc_status rxe_status;
	enum ibv_wc_status rxe_target;
	bool rxe_rejects; /* when it is posted */
	/*
	 * Posts a special request, from rxe to mynic only, on which they do not
	 * agree. NULL: the request above is posted.
	 */
	int (*post)(struct ibv_send_wr *wr);
};

static int post_send_inv(struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	wr->opcode = IBV_WR_SEND_WITH_INV;
	wr->invalidate_rkey = other.rkey;
	return ibv_post_send(qp, wr, &bad);
}

static int post_flush(struct ibv_send_wr *wr)
{
	struct ibv_qp_ex *qpx = ibv_qp_to_qp_ex(qp);

	ibv_wr_start(qpx);
	qpx->wr_id = wr->wr_id;
	ibv_wr_flush(qpx, other.rkey, other.addr, 100, IBV_FLUSH_GLOBAL,
		     IBV_FLUSH_RANGE);
	return ibv_wr_complete(qpx);
}

static const struct error_case error_cases[] = {
	{ .name = "WRITE with a wrong key",
	  .op = 2,
	  .length = 100,
	  .bad_rkey = true,
	  .status = IBV_WC_REM_ACCESS_ERR },
	{ .name = "READ with a wrong key",
	  .op = 4,
	  .length = 100,
	  .bad_rkey = true,
	  .status = IBV_WC_REM_ACCESS_ERR },
	{ .name = "FETCH_ADD with a wrong key",
	  .op = 6,
	  .length = 8,
	  .bad_rkey = true,
	  .status = IBV_WC_REM_ACCESS_ERR },
	{ .name = "WRITE beyond the end of the region",
	  .op = 2,
	  .length = 9000,
	  .offset = BUF_SIZE - 8999,
	  .status = IBV_WC_REM_ACCESS_ERR },
	{ .name = "READ beyond the end of the region",
	  .op = 4,
	  .length = 9000,
	  .offset = BUF_SIZE - 8999,
	  .status = IBV_WC_REM_ACCESS_ERR },
	{ .name = "WRITE to a region that is read-only",
	  .op = 2,
	  .length = 100,
	  .read_only = true,
	  .status = IBV_WC_REM_ACCESS_ERR },
	{ .name = "CMP_SWAP of a region that is read-only",
	  .op = 5,
	  .length = 8,
	  .read_only = true,
	  .status = IBV_WC_REM_ACCESS_ERR },
	{ .name = "CMP_SWAP that is not aligned",
	  .op = 5,
	  .length = 8,
	  .offset = 4,
	  .status = IBV_WC_REM_INV_REQ_ERR,
	  .rxe_rejects = true },
	{ .name = "SEND longer than the receive request",
	  .op = 0,
	  .length = 5000,
	  .receive = 4999,
	  .status = IBV_WC_REM_INV_REQ_ERR,
	  .target = IBV_WC_LOC_LEN_ERR,
	  .rxe_status = IBV_WC_REM_OP_ERR,
	  .rxe_target = IBV_WC_LOC_QP_OP_ERR },
	{ .name = "SEND without a receive request",
	  .op = 0,
	  .length = 100,
	  .no_receive = true,
	  .status = IBV_WC_RNR_RETRY_EXC_ERR },
	{ .name = "WRITE_IMM without a receive request",
	  .op = 3,
	  .length = 100,
	  .no_receive = true,
	  .status = IBV_WC_RNR_RETRY_EXC_ERR },
	{ .name = "SEND with invalidation of a region that is not for that",
	  .op = 0,
	  .length = 100,
	  .status = IBV_WC_REM_ACCESS_ERR,
	  .target = IBV_WC_LOC_ACCESS_ERR,
	  .post = post_send_inv },
	/* rxe sends it with a wrong ICRC, so it is dropped. */
	{ .name = "FLUSH with a wrong ICRC",
	  .status = IBV_WC_RETRY_EXC_ERR,
	  .post = post_flush },
	{ .name = "SEND to a QP that is not there",
	  .op = 0,
	  .length = 100,
	  .gone = true,
	  .status = IBV_WC_RETRY_EXC_ERR },
};

/* Post a request that fails, and two more that are flushed */
static void fail_request(const struct error_case *row)
{
	struct ibv_sge sge = sge_of(0, row->length);
	struct ibv_send_wr wr = request(&ops[row->op], 0, &sge), *bad;
	struct ibv_wc wc;
	int err;

	if (is_atomic(&ops[row->op])) {
		wr.wr.atomic.remote_addr = other.addr + row->offset;
		wr.wr.atomic.rkey = row->bad_rkey  ? other.rkey ^ 0x5500 :
				    row->read_only ? other.read_only_rkey :
						     other.rkey;
	} else {
		wr.wr.rdma.remote_addr = other.addr + row->offset;
		wr.wr.rdma.rkey = row->bad_rkey	 ? other.rkey ^ 0x5500 :
				  row->read_only ? other.read_only_rkey :
						   other.rkey;
	}
	meet();
	err = row->post ? row->post(&wr) : ibv_post_send(qp, &wr, &bad);
	if (err || post(&ops[2], 1, 10) || post(&ops[0], 2, 10))
		wrong("cannot post: %s", strerror(errno));
	for (int k = 0; k < 3; k++) {
		enum ibv_wc_status status = row->status;

		if (k)
			status = IBV_WC_WR_FLUSH_ERR;
		else if (row->rxe_status && is_rxe(other.device))
			status = row->rxe_status;

		if (!next_completion(send_cq, &wc))
			break;
		expect(wc.wr_id == WR_ID + k, "completion %d: wr_id %#llx", k,
		       (unsigned long long)wc.wr_id);
		expect(wc.status == status, "request %d: %s", k,
		       ibv_wc_status_str(wc.status));
	}
	meet();
}

/*
 * Check the target: its memory is unchanged, and so is its QP, if there is one.
 */
static void suffer(const struct error_case *row)
{
	struct ibv_wc wc;

	fill(0, 0, 0);
	fill(SLOTS - 1, 0, 0);
	if (row->receive)
		post_recv(1, row->receive);
	else if (ops[row->op].receives && !row->no_receive)
		post_recv(1, SLOT);
	if (row->gone)
		destroy_qp();
	meet();
	if (row->target && next_completion(recv_cq, &wc))
		expect(wc.status == (is_rxe(me.device) && row->rxe_target ?
					     row->rxe_target :
					     row->target),
		       "receive: %s", ibv_wc_status_str(wc.status));
	meet();
	check_slot(0, 0, 0, 0);
	check_slot(SLOTS - 1, 0, 0, 0);
}

static void error_row(const struct error_case *row, bool mine)
{
	bool answered = row->status != IBV_WC_RETRY_EXC_ERR;
	const struct config config = {
		.type = IBV_QPT_RC,
		.mtu = IBV_MTU_1024,
		.timeout = answered ? 18 : 10, /* 1 s, 4 ms */
		.retry_cnt = 2,
		.rnr_retry = 2,
		.extended = row->post && mine,
	};

	if (row->rxe_rejects && is_rxe(mine ? me.device : other.device))
		return;
	if (row->post && (!is_rxe(mine ? me.device : other.device) ||
			  is_rxe(mine ? other.device : me.device)))
		return;
	connect_qps(&config);
	if (mine)
		fail_request(row);
	else
		suffer(row);
	if (mine || !row->gone)
		destroy_qp();
	result("%s: %s", direction(mine), row->name);
}

static void all_errors(void)
{
	for (size_t i = 0; i < sizeof(error_cases) / sizeof(*error_cases);
	     i++) {
		error_row(&error_cases[i], !am_other);
		error_row(&error_cases[i], am_other);
	}
}

static void start_other(char **words)
{
	int in[2], out[2];
	pid_t pid;

	if (pipe(in) || pipe(out))
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		for (int i = 0; i < 2; i++) {
			close(in[i]);
			close(out[i]);
		}
		execvp(words[0], words);
		die("%s", words[0]);
	}
	close(in[0]);
	close(out[1]);
	to_other = in[1];
	from_other = out[0];
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "other", no_argument, NULL, 'o' },
		{ "rounds", required_argument, NULL, 'r' },
		{ NULL, 0, NULL, 0 },
	};
	int rounds = 0, c;

	while ((c = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		if (c == 'o')
			am_other = true;
		else if (c == 'r')
			rounds = atoi(optarg);
		else
			return 2;
	}
	if (!am_other) {
		if (optind == argc)
			return 2;
		start_other(argv + optind);
	}
	lossy = rounds;
	open_device();
	meet();
	for (int i = 0; i < rounds; i++)
		all_configs(1);
	if (!rounds) {
		all_configs(3);
		all_errors();
	}
	if (!am_other)
		printf("1..%d\n", number);
	return !!failures;
}
