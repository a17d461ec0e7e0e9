// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* ibv_post_send(), ibv_post_recv(), ibv_post_srq_recv() */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

#define MAX_LIST 1025

/* ADDRESS/LENGTH/KEY, separated by | */
static int parse_sges(const struct line *line, char *text, struct ibv_sge *sges)
{
	char *save, *word;
	int n = 0;

	for (word = strtok_r(text, "|", &save); word;
	     word = strtok_r(NULL, "|", &save)) {
		char *length = strchr(word, '/');
		char *keys = length ? strchr(length + 1, '/') : NULL;

		if (!keys || n == 64)
			fail(line, "malformed SGE %s", word);
		*length++ = *keys++ = 0;
		sges[n++] = (struct ibv_sge){ address(line, word),
					      strtoul(length, NULL, 0),
					      lkey(line, keys) };
	}
	return n;
}

static uint32_t remote_qpn(const struct line *line, const char *text)
{
	struct ibv_qp *qp;

	if (text[0] >= '0' && text[0] <= '9')
		return strtoul(text, NULL, 0);
	qp = live(line, KIND_QP, text);
	return qp->qp_num;
}

static uint32_t remote_srqn(const struct line *line, const char *text)
{
	uint32_t number;

	if (text[0] >= '0' && text[0] <= '9')
		return strtoul(text, NULL, 0);
	if (ibv_get_srq_num(live(line, KIND_SRQ, text), &number))
		fail(line, "%s has no number", text);
	return number;
}

static void set_ah(const struct line *line, struct request *req,
		   const char *name)
{
	req->wr.wr.ud.ah = live(line, KIND_AH, name);
	req->ud = true;
}

static void set_srqn(struct request *req, uint32_t number)
{
	req->wr.qp_type.xrc.remote_srqn = number;
	req->srqn = true;
}

/* Address and key, set before, are elsewhere in the union then. */
static void set_atomic(struct ibv_send_wr *wr, uint64_t compare_add)
{
	uint64_t remote_addr = wr->wr.rdma.remote_addr;
	uint32_t rkey = wr->wr.rdma.rkey;

	wr->wr.atomic.remote_addr = remote_addr;
	wr->wr.atomic.compare_add = compare_add;
	wr->wr.atomic.rkey = rkey;
}

/* One more than there is room for */
static void exceed(const struct line *line, struct request *req,
		   const char *what)
{
	const struct ibv_qp_cap *cap = &object(line, line->target)->cap;

	if (!strcmp(what, "inline"))
		req->sges[0].length = cap->max_inline_data + 1;
	else if (!strcmp(what, "send_sge"))
		req->wr.num_sge = cap->max_send_sge + 1;
	else
		req->wr.num_sge = cap->max_recv_sge + 1;
}

static void set_window(const struct line *line, struct request *req,
		       const char *name)
{
	req->wr.bind_mw.mw = live(line, KIND_MW, name);
	req->window = object(line, name);
}

/* ADDRESS/LENGTH/MSS; the header is where no key is needed */
static void set_tso(const struct line *line, struct ibv_send_wr *wr, char *text)
{
	char *rest = strchr(text, '/');

	if (!rest)
		fail(line, "malformed header %s", text);
	*rest++ = 0;
	wr->tso.hdr = (void *)(uintptr_t)address(line, text);
	if (sscanf(rest, "%" SCNu16 "/%" SCNu16, &wr->tso.hdr_sz,
		   &wr->tso.mss) != 2)
		fail(line, "malformed header %s", rest);
}

static void set_field(const struct line *line, struct request *req,
		      const char *name, char *value)
{
	struct ibv_send_wr *wr = &req->wr;

	if (!strcmp(name, "id"))
		wr->wr_id = strtoull(value, NULL, 0);
	else if (!strcmp(name, "op"))
		wr->opcode = strtoul(value, NULL, 0);
	else if (!strcmp(name, "flags"))
		wr->send_flags = strtoul(value, NULL, 0);
	else if (!strcmp(name, "sges"))
		wr->num_sge = parse_sges(line, value, req->sges);
	else if (!strcmp(name, "num_sge"))
		wr->num_sge = strtol(value, NULL, 0);
	else if (!strcmp(name, "over"))
		exceed(line, req, value);
	else if (!strcmp(name, "set"))
		req->setter = value;
	else if (!strcmp(name, "imm"))
		wr->imm_data = htonl(strtoul(value, NULL, 0));
	else if (!strcmp(name, "inv"))
		wr->invalidate_rkey = rkey(line, value);
	else if (!strcmp(name, "raddr"))
		wr->wr.rdma.remote_addr = address(line, value);
	else if (!strcmp(name, "rkey"))
		wr->wr.rdma.rkey = rkey(line, value);
	else if (!strcmp(name, "add"))
		set_atomic(wr, strtoull(value, NULL, 0));
	else if (!strcmp(name, "swap"))
		wr->wr.atomic.swap = strtoull(value, NULL, 0);
	else if (!strcmp(name, "tso"))
		set_tso(line, wr, value);
	else if (!strcmp(name, "flush"))
		sscanf(value, "%hhu/%hhu/%" SCNu64, &req->flush.type,
		       &req->flush.level, &req->flush.len);
	else if (!strcmp(name, "srqn"))
		set_srqn(req, remote_srqn(line, value));
	else if (!strcmp(name, "ah"))
		set_ah(line, req, value);
	else if (!strcmp(name, "qpn"))
		wr->wr.ud.remote_qpn = remote_qpn(line, value);
	else if (!strcmp(name, "qkey"))
		wr->wr.ud.remote_qkey = strtoul(value, NULL, 0);
	else if (!strcmp(name, "mw"))
		set_window(line, req, value);
	else if (!strcmp(name, "newkey"))
		wr->bind_mw.rkey = rkey(line, value);
	else if (!strcmp(name, "mr"))
		wr->bind_mw.bind_info.mr = live(line, KIND_MR, value);
	else if (!strcmp(name, "addr"))
		wr->bind_mw.bind_info.addr = address(line, value);
	else if (!strcmp(name, "len"))
		wr->bind_mw.bind_info.length = strtoull(value, NULL, 0);
	else if (!strcmp(name, "access"))
		wr->bind_mw.bind_info.mw_access_flags = strtoul(value, NULL, 0);
	else if (strcmp(name, "rule")) /* for readers */
		fail(line, "request with %s", name);
}

/**
 * request_parse() - read a work request
 * @line: the call that it is of
 * @text: field=value, separated by commas; it is cut to pieces
 * @req: the request. It points into itself.
 */
void request_parse(const struct line *line, char *text, struct request *req)
{
	char *name, *value;

	memset(req, 0, sizeof(*req));
	req->wr.sg_list = req->sges;
	while ((name = next_field(line, &text, &value)))
		set_field(line, req, name, value);
}

/**
 * expect_posted() - compare what a posting call returned with the line
 * @line: the call
 * @err: what it returned
 * @bad: which request bad_wr points to, or -1
 */
void expect_posted(const struct line *line, int err, long bad)
{
	char *at = strchr(line->expect, '@');
	long expected = at ? strtol(at + 1, NULL, 0) : -1;

	if (at && !strcmp(at, "@room"))
		expected = room(line, !strcmp(line->verb, "post_send"));

	expect_errno(line, err);
	if (bad != expected)
		fail(line, "bad_wr is request %ld, expected %ld", bad,
		     expected);
}

/** room() - how many requests a queue has room for */
uint32_t room(const struct line *line, bool send)
{
	const struct ibv_qp_cap *cap = &object(line, line->target)->cap;

	return send ? cap->max_send_wr : cap->max_recv_wr;
}

/** request_count() - how often each request of a line is to be posted */
unsigned int request_count(const struct line *line, bool send)
{
	struct ibv_cq *cq = maybe(line, KIND_CQ, "crowd");

	if (cq)
		return cq->cqe - number(line, "there", 0) + 1;
	return arg(line, "overflow") ? room(line, send) + 1 : 1;
}

/*
 * One request, again and again. The last one that there is room for is signaled,
 * so that the program can wait for all.
 */
static unsigned int repeat(const struct line *line, struct request *reqs,
			   unsigned int n)
{
	if (n > MAX_LIST) {
		fprintf(stderr, "a queue has room for %u requests\n", n - 1);
		exit(2);
	}
	for (unsigned int i = 1; i < n; i++) {
		reqs[i] = reqs[0];
		reqs[i - 1].wr.next = &reqs[i].wr;
	}
	reqs[n - 1].wr.next = NULL;
	if (arg(line, "overflow"))
		reqs[n - 2].wr.send_flags |= IBV_SEND_SIGNALED;
	return n;
}

static unsigned int parse_list(const struct line *line, struct request *reqs,
			       bool send)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < line->num_args; i++) {
		if (strncmp(line->args[i], "wr=", 3))
			continue;
		if (n == MAX_LIST)
			fail(line, "too many requests");
		request_parse(line, line->args[i] + 3, &reqs[n]);
		if (n)
			reqs[n - 1].wr.next = &reqs[n].wr;
		n++;
	}
	if (arg(line, "overflow") || arg(line, "crowd"))
		return repeat(line, reqs, request_count(line, send));
	return n;
}

static void post_send(const struct line *line)
{
	static _Thread_local struct request reqs[MAX_LIST];
	struct ibv_qp *qp = live(line, KIND_QP, line->target);
	struct ibv_send_wr *bad = NULL;
	unsigned int n = parse_list(line, reqs, true);
	int err;

	err = ibv_post_send(qp, n ? &reqs[0].wr : NULL, &bad);
	expect_posted(line, err, bad ? (struct request *)bad - reqs : -1);
}

static int post_recv_to(const struct line *line, struct ibv_recv_wr *wrs,
			struct ibv_recv_wr **bad)
{
	if (!strcmp(line->verb, "post_srq_recv"))
		return ibv_post_srq_recv(live(line, KIND_SRQ, line->target),
					 wrs, bad);
	if (!strcmp(line->verb, "post_wq_recv"))
		return ibv_post_wq_recv(live(line, KIND_WQ, line->target), wrs,
					bad);
	return ibv_post_recv(live(line, KIND_QP, line->target), wrs, bad);
}

static void post_recv(const struct line *line)
{
	static _Thread_local struct request reqs[MAX_LIST];
	static _Thread_local struct ibv_recv_wr wrs[MAX_LIST];
	struct ibv_recv_wr *bad = NULL;
	unsigned int n = parse_list(line, reqs, false);
	int err;

	for (unsigned int i = 0; i < n; i++)
		wrs[i] = (struct ibv_recv_wr){
			.wr_id = reqs[i].wr.wr_id,
			.next = i + 1 < n ? &wrs[i + 1] : NULL,
			.sg_list = reqs[i].sges,
			.num_sge = reqs[i].wr.num_sge,
		};
	err = post_recv_to(line, n ? wrs : NULL, &bad);
	expect_posted(line, err, bad ? bad - wrs : -1);
}

bool post_call(const struct line *line)
{
	if (!strcmp(line->verb, "post_send"))
		post_send(line);
	else if (!strcmp(line->verb, "post_recv") ||
		 !strcmp(line->verb, "post_srq_recv") ||
		 !strcmp(line->verb, "post_wq_recv"))
		post_recv(line);
	else
		return false;
	return true;
}
