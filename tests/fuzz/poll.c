// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Completions: those that come are compared with those that should */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runner.h"

#define PATIENCE 60 /* seconds without any completion */
#define MAX_EXPECTED 4096

/**
 * struct expected - a completion that should come
 * @qp_num: of the queue pair. Those of one queue come in order.
 * @recv: of a receive request; others are of send requests
 * @wr_id: of the request
 * @status: of the request
 * @opcode: if it succeeded
 * @byte_len: or -1: not said
 * @flags: IBV_WC_WITH_IMM, IBV_WC_WITH_INV, IBV_WC_GRH
 * @imm: with IBV_WC_WITH_IMM, in host order
 * @key: with IBV_WC_WITH_INV: the key that was invalidated
 * @seen: it came
 */
struct expected {
	uint32_t qp_num;
	bool recv;
	uint64_t wr_id;
	enum ibv_wc_status status;
	enum ibv_wc_opcode opcode;
	long byte_len;
	unsigned int flags;
	uint32_t imm;
	uint32_t key;
	bool seen;
};

/* QP/s or r/WR_ID/STATUS/OPCODE/LENGTH/FLAGS/IMM or KEY */
static void parse(const struct line *line, char *text, struct expected *e)
{
	char *fields[8], *save, *word;
	struct ibv_qp *qp;
	int n = 0;

	for (word = strtok_r(text, "/", &save); word && n < 8;
	     word = strtok_r(NULL, "/", &save))
		fields[n++] = word;
	if (n != 8)
		fail(line, "malformed completion");
	qp = live(line, KIND_QP, fields[0]);
	*e = (struct expected){
		.qp_num = qp->qp_num,
		.recv = fields[1][0] == 'r',
		.wr_id = strtoull(fields[2], NULL, 0),
		.status = strtoul(fields[3], NULL, 0),
		.opcode = strtoul(fields[4], NULL, 0),
		.byte_len = strtol(fields[5], NULL, 0),
		.flags = strtoul(fields[6], NULL, 0),
	};
	if (e->flags & IBV_WC_WITH_INV)
		e->key = rkey(line, fields[7]);
	else
		e->imm = strtoul(fields[7], NULL, 0);
}

static void compare(const struct line *line, const struct ibv_wc *wc,
		    const struct expected *e)
{
	if (wc->wr_id != e->wr_id)
		fail(line, "completion of request %llu, expected %llu",
		     (unsigned long long)wc->wr_id,
		     (unsigned long long)e->wr_id);
	if (wc->status != e->status)
		fail(line, "request %llu: %s (vendor error %u), expected %s",
		     (unsigned long long)wc->wr_id,
		     ibv_wc_status_str(wc->status), wc->vendor_err,
		     ibv_wc_status_str(e->status));
	if (wc->status)
		return;
	if (wc->opcode != e->opcode)
		fail(line, "request %llu: opcode %u, expected %u",
		     (unsigned long long)wc->wr_id, wc->opcode, e->opcode);
	if (e->byte_len >= 0 && wc->byte_len != e->byte_len)
		fail(line, "request %llu: %u bytes, expected %ld",
		     (unsigned long long)wc->wr_id, wc->byte_len, e->byte_len);
	if ((wc->wc_flags ^ e->flags) &
	    (IBV_WC_WITH_IMM | IBV_WC_WITH_INV | IBV_WC_GRH))
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

/* An earlier one of the same queue is still missing */
static void check_order(const struct line *line, const struct expected *list,
			const struct expected *e)
{
	for (; list < e; list++)
		if (!list->seen && list->qp_num == e->qp_num &&
		    list->recv == e->recv)
			fail(line, "request %llu completed before %llu",
			     (unsigned long long)e->wr_id,
			     (unsigned long long)list->wr_id);
}

/* With the extended functions a completion is read field by field */
static int poll_ex(struct ibv_cq_ex *cq, struct ibv_wc *wc)
{
	struct ibv_poll_cq_attr attr = { 0 };
	int ret = ibv_start_poll(cq, &attr);

	if (ret)
		return ret == ENOENT ? 0 : -ret;
	*wc = (struct ibv_wc){ .wr_id = cq->wr_id, .status = cq->status };
	wc->qp_num = ibv_wc_read_qp_num(cq);
	wc->vendor_err = ibv_wc_read_vendor_err(cq);
	if (!wc->status) {
		wc->opcode = ibv_wc_read_opcode(cq);
		wc->byte_len = ibv_wc_read_byte_len(cq);
		wc->wc_flags = ibv_wc_read_wc_flags(cq);
		if (wc->wc_flags & IBV_WC_WITH_IMM)
			wc->imm_data = ibv_wc_read_imm_data(cq);
		if (wc->wc_flags & IBV_WC_WITH_INV)
			wc->invalidated_rkey = ibv_wc_read_invalidated_rkey(cq);
	}
	ibv_end_poll(cq);
	return 1;
}

static int poll_once(void *cq, bool ex, struct ibv_wc *wc)
{
	return ex ? poll_ex(cq, wc) : ibv_poll_cq(cq, 1, wc);
}

/* For whoever has to find out why: what is in all CQs */
static void show_others(void)
{
	unsigned int n = 0;
	struct ibv_wc wc;
	bool ex;
	void *cq;

	while ((cq = each(KIND_CQ, &n, &ex)))
		while (poll_once(cq, ex, &wc) > 0)
			printf("# request %llu of QP %u: %s (vendor error %u)\n",
			       (unsigned long long)wc.wr_id, wc.qp_num,
			       ibv_wc_status_str(wc.status), wc.vendor_err);
}

static void missing(const struct line *line, const struct expected *list,
		    unsigned int n)
{
	show_others();
	for (unsigned int i = 0; i < n; i++)
		if (!list[i].seen)
			fail(line, "request %llu does not complete",
			     (unsigned long long)list[i].wr_id);
}

static void poll_cq(const struct line *line)
{
	static struct expected list[MAX_EXPECTED];
	time_t last = time(NULL);
	void *cq = live(line, KIND_CQ, line->target);
	bool ex = object(line, line->target)->ex;
	unsigned int n = 0, seen = 0;
	struct expected *e;
	struct ibv_wc wc;
	int ret;

	for (unsigned int i = 0; i < line->num_args; i++)
		if (!strncmp(line->args[i], "wc=", 3))
			parse(line, line->args[i] + 3, &list[n++]);
	/* Once more than needed: nothing else may come */
	for (bool more = true; more;) {
		more = seen < n;
		ret = poll_once(cq, ex, &wc);
		if (ret < 0)
			fail(line, "polling returned %d", ret);
		if (!ret) {
			if (more && time(NULL) - last > PATIENCE)
				missing(line, list, n);
			continue;
		}
		e = find(list, n, wc.qp_num, wc.wr_id);
		if (!e)
			fail(line, "request %llu of QP %u completes, %s",
			     (unsigned long long)wc.wr_id, wc.qp_num,
			     ibv_wc_status_str(wc.status));
		compare(line, &wc, e);
		check_order(line, list, e);
		e->seen = true;
		seen++;
		more = true;
		last = time(NULL);
	}
}

bool poll_call(const struct line *line)
{
	if (strcmp(line->verb, "poll"))
		return false;
	poll_cq(line);
	return true;
}
