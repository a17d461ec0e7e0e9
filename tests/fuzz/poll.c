// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Completions: those that come are compared with those that should */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runner.h"

#define MAX_EXPECTED 4096
#define MAX_BATCH 64
#define MAX_POLLERS 8
#define MAX_FIELDS 11 /* of a completion, in a program */

/**
 * struct expected - a completion that should come
 * @qp_num: of the queue pair. Those of one queue come in order.
 * @recv: of a receive request; others are of send requests
 * @wr_id: of the request
 * @status: of the request
 * @other: that it may have instead, or the same
 * @opcode: if it succeeded
 * @byte_len: or -1: not said
 * @flags: IBV_WC_WITH_IMM, IBV_WC_WITH_INV, IBV_WC_GRH, TAGGED,
 *	INFORMED, IBV_WC_TM_*
 * @imm: with IBV_WC_WITH_IMM, in host order
 * @key: with IBV_WC_WITH_INV: the key that was invalidated
 * @tag: with TAGGED: flow tag
 * @vlan: with TAGGED: VLAN tag
 * @tm: with INFORMED: tag and context of a message
 * @thread: that posted the request, or 0 if none did so at the same time
 * @received: the program says where the message came from
 * @datagram: it is a datagram
 * @src_qp: number of the queue pair that sent a datagram
 * @sl: if @received: service level
 * @seen: it came
 * @poller: that found it
 */
struct expected {
	uint32_t qp_num;
	bool recv;
	uint64_t wr_id;
	enum ibv_wc_status status;
	enum ibv_wc_status other;
	enum ibv_wc_opcode opcode;
	long byte_len;
	unsigned int flags;
	uint32_t imm;
	uint32_t key;
	uint32_t tag;
	uint16_t vlan;
	struct ibv_wc_tm_info tm;
	unsigned int thread;
	bool received;
	bool datagram;
	uint32_t src_qp;
	uint8_t sl;
	bool seen;
	unsigned int poller;
};

#define TAGGED (1U << 16) /* the program says flow tag and VLAN */
#define INFORMED (1U << 17) /* the program says tag and context of a message */
#define COMPARED_FLAGS                                                         \
	(IBV_WC_WITH_IMM | IBV_WC_WITH_INV | IBV_WC_GRH | IBV_WC_TM_SYNC_REQ | \
	 IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID)

/**
 * struct found - a completion that came
 * @wc: what all have
 * @tagged: flow tag and VLAN were read
 * @tag: flow tag
 * @vlan: VLAN tag
 * @informed: tag and context of a message were read
 * @tm: these
 * @timed: its times, if they were read
 */
struct found {
	struct ibv_wc wc;
	bool tagged;
	uint32_t tag;
	uint16_t vlan;
	bool informed;
	struct ibv_wc_tm_info tm;
	struct timed timed;
};

static uint32_t queue_number(const struct line *line, const char *name)
{
	struct ibv_qp *qp;
	struct ibv_wq *wq;

	if (kind_of(line, name) == KIND_SRQ)
		return 0; /* of operations on a list of tags */
	if (kind_of(line, name) == KIND_WQ) {
		wq = live(line, KIND_WQ, name);
		return wq->wq_num;
	}
	qp = live(line, KIND_QP, name);
	return qp->qp_num;
}

/* SENDER/SL of a datagram, -/SL of a frame */
static void parse_origin(const struct line *line, char **fields,
			 struct expected *e)
{
	e->received = true;
	e->datagram = strcmp(fields[0], "-");
	if (e->datagram)
		e->src_qp = queue_number(line, fields[0]);
	e->sl = strtoul(fields[1], NULL, 0);
}

/*
 * QP, WQ or SRQ/s or r/WR_ID/STATUS/OPCODE/LENGTH/FLAGS/IMM, KEY or TAG:VLAN,
 * and behind that may be /THREAD, and behind that what parse_origin() reads.
 * STATUS may be two, with a | between them.
 */
static void parse(const struct line *line, char *text, struct expected *e)
{
	char *fields[MAX_FIELDS], *save, *word;
	int n = 0;

	for (word = strtok_r(text, "/", &save); word && n < MAX_FIELDS;
	     word = strtok_r(NULL, "/", &save))
		fields[n++] = word;
	if (n < 8 || n == 10)
		fail(line, "malformed completion");
	*e = (struct expected){
		.qp_num = queue_number(line, fields[0]),
		.recv = fields[1][0] == 'r',
		.wr_id = strtoull(fields[2], NULL, 0),
		.status = strtoul(fields[3], NULL, 0),
		.opcode = strtoul(fields[4], NULL, 0),
		.byte_len = strtol(fields[5], NULL, 0),
		.flags = strtoul(fields[6], NULL, 0),
		.thread = n > 8 ? strtoul(fields[8], NULL, 0) : 0,
	};
	if (n == MAX_FIELDS)
		parse_origin(line, &fields[9], e);
	word = strchr(fields[3], '|');
	e->other = word ? strtoul(word + 1, NULL, 0) : e->status;
	if (e->flags & IBV_WC_WITH_INV)
		e->key = rkey(line, fields[7]);
	else if (e->flags & INFORMED)
		sscanf(fields[7], "%" SCNu64 ":%" SCNu32, &e->tm.tag,
		       &e->tm.priv);
	else if (e->flags & TAGGED)
		sscanf(fields[7], "%" SCNu32 ":%" SCNu16, &e->tag, &e->vlan);
	else
		e->imm = strtoul(fields[7], NULL, 0);
}

static void compare_tags(const struct line *line, const struct found *found,
			 const struct expected *e)
{
	if (found->tag != e->tag || found->vlan != e->vlan)
		fail(line, "request %llu: tag %#x, VLAN %#x, expected %#x, %#x",
		     (unsigned long long)found->wc.wr_id, found->tag,
		     found->vlan, e->tag, e->vlan);
}

/* ibv_create_srq_ex(3): a rendezvous that software must do has a message. */
static bool has_fields(const struct ibv_wc *wc)
{
	return !wc->status || wc->status == IBV_WC_TM_RNDV_INCOMPLETE;
}

/*
 * Fields of messages of UD and RAW_PACKET (IBTA 11.4.2.1). RoCE has no LIDs, and
 * without LIDs no path bits.
 */
static void compare_origin(const struct line *line, const struct ibv_wc *wc,
			   const struct expected *e)
{
	if (e->datagram && wc->src_qp != e->src_qp)
		fail(line, "request %llu: source QP %#x, expected %#x",
		     (unsigned long long)wc->wr_id, wc->src_qp, e->src_qp);
	if (wc->sl != e->sl)
		fail(line, "request %llu: service level %u, expected %u",
		     (unsigned long long)wc->wr_id, wc->sl, e->sl);
	if (wc->slid || wc->dlid_path_bits)
		fail(line, "request %llu: source LID %#x, path bits %#x",
		     (unsigned long long)wc->wr_id, wc->slid,
		     wc->dlid_path_bits);
}

/* Flags that a completion should have, or should not have */
static unsigned int compared_flags(const struct expected *e)
{
	unsigned int flags = COMPARED_FLAGS;

	/* ibv_poll_cq(3): IBV_WC_GRH is valid only for UD, which always has it */
	if (!(e->flags & IBV_WC_GRH))
		flags &= ~IBV_WC_GRH;
	/* ibv_poll_cq(3): valid only where device_cap_flags has checksums */
	if (e->received && !e->datagram)
		flags |= IBV_WC_IP_CSUM_OK;
	return flags;
}

static void compare(const struct line *line, const struct found *found,
		    const struct expected *e)
{
	const struct ibv_wc *wc = &found->wc;

	if (wc->wr_id != e->wr_id)
		fail(line, "completion of request %llu, expected %llu",
		     (unsigned long long)wc->wr_id,
		     (unsigned long long)e->wr_id);
	if (wc->status != e->status && wc->status != e->other)
		fail(line, "request %llu: %s (vendor error %u), expected %s",
		     (unsigned long long)wc->wr_id,
		     ibv_wc_status_str(wc->status), wc->vendor_err,
		     ibv_wc_status_str(e->status));
	if (!has_fields(wc))
		return;
	if (wc->opcode != e->opcode)
		fail(line, "request %llu: opcode %u, expected %u",
		     (unsigned long long)wc->wr_id, wc->opcode, e->opcode);
	if (e->byte_len >= 0 && wc->byte_len != e->byte_len)
		fail(line, "request %llu: %u bytes, expected %ld",
		     (unsigned long long)wc->wr_id, wc->byte_len, e->byte_len);
	if ((wc->wc_flags ^ e->flags) & compared_flags(e))
		fail(line, "request %llu: flags %#x, expected %#x",
		     (unsigned long long)wc->wr_id, wc->wc_flags, e->flags);
	if (e->flags & IBV_WC_WITH_IMM && ntohl(wc->imm_data) != e->imm)
		fail(line, "request %llu: immediate data %#x, expected %#x",
		     (unsigned long long)wc->wr_id, ntohl(wc->imm_data),
		     e->imm);
	if (e->flags & IBV_WC_WITH_INV && wc->invalidated_rkey != e->key)
		fail(line, "request %llu: invalidated key %#x, expected %#x",
		     (unsigned long long)wc->wr_id, wc->invalidated_rkey,
		     e->key);
	if (e->received)
		compare_origin(line, wc, e);
	if (e->flags & TAGGED && found->tagged)
		compare_tags(line, found, e);
	if (e->flags & INFORMED && found->informed &&
	    (found->tm.tag != e->tm.tag || found->tm.priv != e->tm.priv))
		fail(line, "request %llu: tag %#llx, context %#x",
		     (unsigned long long)wc->wr_id,
		     (unsigned long long)found->tm.tag, found->tm.priv);
}

/* The next of those expected that this one can be: of the same queue */
static struct expected *find(struct expected *list, unsigned int n,
			     uint32_t qp_num, uint64_t wr_id)
{
	struct expected *first = NULL;

	for (unsigned int i = 0; i < n; i++) {
		struct expected *e = &list[i];

		if (e->seen || e->qp_num != qp_num)
			continue;
		if (e->wr_id == wr_id)
			return e;
		if (!first)
			first = e;
	}
	return first;
}

/* Whether one must come before the other: requests of two threads need not */
static bool ordered(const struct expected *a, const struct expected *b)
{
	return a->qp_num == b->qp_num && a->recv == b->recv &&
	       (a->thread == b->thread || !a->thread || !b->thread);
}

/* A poller finds the completions of a queue in their order. */
static void check_order(const struct line *line, const struct expected *e,
			const struct expected *end)
{
	for (const struct expected *later = e + 1; later < end; later++)
		if (later->seen && later->poller == e->poller &&
		    ordered(e, later))
			fail(line, "request %llu completed before %llu",
			     (unsigned long long)later->wr_id,
			     (unsigned long long)e->wr_id);
}

/* The device's clock does not run backwards, but wraps. */
static void read_times(const struct line *line, struct object *obj,
		       struct timed *timed)
{
	uint64_t mask = program->nodes[obj->node].clock_mask;
	struct ibv_cq_ex *cq = obj->ptr;

	if (obj->wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
		timed->ns = ibv_wc_read_completion_wallclock_ns(cq);
	if (!(obj->wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP))
		return;
	timed->ticks = ibv_wc_read_completion_ts(cq);
	if (obj->ticks && ((timed->ticks - obj->ticks) & mask) > mask / 2)
		fail(line, "completed at %llu, the one before at %llu",
		     (unsigned long long)timed->ticks,
		     (unsigned long long)obj->ticks);
	obj->ticks = timed->ticks;
}

/* With the extended functions a completion is read field by field. */
static void read_fields(const struct line *line, struct object *obj,
			struct found *found)
{
	struct ibv_cq_ex *cq = obj->ptr;
	struct ibv_wc *wc = &found->wc;

	*wc = (struct ibv_wc){ .wr_id = cq->wr_id, .status = cq->status };
	wc->qp_num = ibv_wc_read_qp_num(cq);
	wc->vendor_err = ibv_wc_read_vendor_err(cq);
	read_times(line, obj, &found->timed);
	if (!has_fields(wc))
		return;
	wc->opcode = ibv_wc_read_opcode(cq);
	wc->byte_len = ibv_wc_read_byte_len(cq);
	wc->wc_flags = ibv_wc_read_wc_flags(cq);
	wc->src_qp = ibv_wc_read_src_qp(cq);
	wc->slid = ibv_wc_read_slid(cq);
	wc->sl = ibv_wc_read_sl(cq);
	wc->dlid_path_bits = ibv_wc_read_dlid_path_bits(cq);
	if (wc->wc_flags & IBV_WC_WITH_IMM)
		wc->imm_data = ibv_wc_read_imm_data(cq);
	if (wc->wc_flags & IBV_WC_WITH_INV)
		wc->invalidated_rkey = ibv_wc_read_invalidated_rkey(cq);
	if (obj->wc_flags & IBV_WC_EX_WITH_TM_INFO) {
		found->informed = true;
		ibv_wc_read_tm_info(cq, &found->tm);
	}
	if (obj->wc_flags & IBV_WC_EX_WITH_FLOW_TAG) {
		found->tagged = true;
		found->tag = ibv_wc_read_flow_tag(cq);
		found->vlan = ibv_wc_read_cvlan(cq);
	}
}

/*
 * The clocks are read once for all that were polled. A completion queue that tells
 * times says that the device has a clock.
 */
static void note_polled(const struct line *line, const struct object *obj,
			struct found *list, int n)
{
	const struct node *node = &program->nodes[obj->node];
	const uint64_t times = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
			       IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
	struct moment now;

	if (!(obj->wc_flags & times) || n <= 0)
		return;
	if (!node->clock_mask || !clock_now(node, &now))
		fail(line, "completions have times, but there is no clock");
	for (int i = 0; i < n; i++) {
		list[i].timed.known = true;
		list[i].timed.polled = now;
	}
}

static int poll_ex(const struct line *line, struct object *obj, int most,
		   struct found *list)
{
	struct ibv_poll_cq_attr attr = { 0 };
	int ret = ibv_start_poll(obj->ptr, &attr);
	int n = 0;

	if (ret)
		return ret == ENOENT ? 0 : -ret;
	do
		read_fields(line, obj, &list[n++]);
	while (n < most && !(ret = ibv_next_poll(obj->ptr)));
	ibv_end_poll(obj->ptr);
	note_polled(line, obj, list, n);
	return ret && ret != ENOENT ? -ret : n;
}

/* Completions that are there, at most so many. Return: their number, or < 0 */
static int poll_some(const struct line *line, struct object *obj, bool ex,
		     int most, struct found *list)
{
	struct ibv_wc wcs[MAX_BATCH];
	int n;

	memset(list, 0, most * sizeof(*list));
	if (ex)
		return poll_ex(line, obj, most, list);
	n = ibv_poll_cq(obj->ptr, most, wcs);
	for (int i = 0; i < n; i++)
		list[i].wc = wcs[i];
	return n;
}

/* For whoever has to find out why: what is in all CQs */
static void show_others(const struct line *line)
{
	struct object *obj;
	unsigned int n = 0;
	struct found found;
	struct ibv_wc *wc = &found.wc;

	while ((obj = each(KIND_CQ, &n)))
		while (poll_some(line, obj, obj->ex, 1, &found) > 0)
			printf("# request %llu of QP %u: %s (vendor error %u)\n",
			       (unsigned long long)wc->wr_id, wc->qp_num,
			       ibv_wc_status_str(wc->status), wc->vendor_err);
}

static void missing(const struct line *line, const struct expected *list,
		    unsigned int n)
{
	show_others(line);
	for (unsigned int i = 0; i < n; i++)
		if (!list[i].seen)
			fail(line, "request %llu does not complete",
			     (unsigned long long)list[i].wr_id);
}

/**
 * struct polling - how a completion queue is polled
 * @line: the call
 * @obj: the queue
 * @list: completions that should come
 * @n: how many these are
 * @program: that polls
 * @lock: of what is below
 * @pollers: threads that have begun
 * @seen: how many completions came
 * @last: when the last of them came
 */
struct polling {
	const struct line *line;
	struct object *obj;
	struct expected *list;
	unsigned int n;
	struct program *program;
	pthread_mutex_t lock;
	unsigned int pollers;
	unsigned int seen;
	time_t last;
};

static void check(struct polling *polling, const struct found *found,
		  unsigned int poller)
{
	const struct line *line = polling->line;
	const struct ibv_wc *wc = &found->wc;
	struct expected *e =
		find(polling->list, polling->n, wc->qp_num, wc->wr_id);

	if (!e)
		fail(line, "request %llu of QP %u completes, %s",
		     (unsigned long long)wc->wr_id, wc->qp_num,
		     ibv_wc_status_str(wc->status));
	compare(line, found, e);
	if (e->datagram && !wc->status)
		program->datagram = *wc;
	clock_compare(line, polling->obj, wc->wr_id, &found->timed);
	e->seen = true;
	e->poller = poller;
	check_order(line, e, polling->list + polling->n);
}

/* Return: whether there may be more */
static bool take(struct polling *polling, const struct found *found, int n,
		 unsigned int poller)
{
	bool more;

	pthread_mutex_lock(&polling->lock);
	for (int i = 0; i < n; i++)
		check(polling, &found[i], poller);
	polling->seen += n;
	if (n)
		polling->last = time(NULL);
	more = polling->seen < polling->n;
	if (more && time(NULL) - polling->last > PATIENCE)
		missing(polling->line, polling->list, polling->n);
	pthread_mutex_unlock(&polling->lock);
	return more;
}

/* Once more than needed: nothing else may come */
static void poll_all(struct polling *polling)
{
	const struct line *line = polling->line;
	unsigned int most = number(line, "most", 1);
	unsigned int poller =
		__atomic_fetch_add(&polling->pollers, 1, __ATOMIC_RELAXED);
	struct found found[MAX_BATCH];
	bool more = true;
	int ret;

	do {
		ret = poll_some(line, polling->obj, number(line, "ex", 0), most,
				found);
		if (ret < 0)
			fail(line, "polling returned %d", ret);
		more = take(polling, found, ret, poller);
	} while (more || ret);
}

static void *poll_beside(void *arg)
{
	struct polling *polling = arg;

	program = polling->program;
	making_begin(polling->line);
	poll_all(polling);
	making_end();
	return NULL;
}

static unsigned int parse_all(const struct line *line, struct expected *list)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < line->num_args; i++)
		if (!strncmp(line->args[i], "wc=", 3))
			parse(line, line->args[i] + 3, &list[n++]);
	return n;
}

static void poll_cq(const struct line *line)
{
	static _Thread_local struct expected list[MAX_EXPECTED];
	struct polling polling = {
		.line = line,
		.obj = object(line, line->target),
		.list = list,
		.n = parse_all(line, list),
		.program = program,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.last = time(NULL),
	};
	unsigned int others = number(line, "threads", 1) - 1;
	pthread_t threads[MAX_POLLERS];

	live(line, KIND_CQ, line->target);
	if (number(line, "most", 1) > MAX_BATCH || others > MAX_POLLERS)
		fail(line, "too many at a time");
	for (unsigned int i = 0; i < others; i++)
		if (pthread_create(&threads[i], NULL, poll_beside, &polling))
			fail(line, "there can be no more threads");
	poll_all(&polling);
	for (unsigned int i = 0; i < others; i++)
		pthread_join(threads[i], NULL);
}

bool poll_call(const struct line *line)
{
	if (strcmp(line->verb, "poll"))
		return false;
	poll_cq(line);
	return true;
}
