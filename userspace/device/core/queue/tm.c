// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Tag matching: the list of tags, the operations of the tag ring, and the match
 * of each message. Rendezvous of matched tags is in rndv.c.
 */

#include "queue/tm.h"

#include <assert.h>
#include <endian.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/iov.h"
#include "base/mem.h"
#include "base/siphash.h"
#include "base/table.h"
#include "base/util.h"
#include "base/verbs.h"
#include "memory/buf.h"
#include "mynic_regs.h"
#include "packet/opcode.h"
#include "packet/packet.h"
#include "queue/cq.h"
#include "queue/rndv.h"
#include "queue/srq.h"
#include "state/nic_types.h"

#define LOG_ENTRY_SIZE 6

/* Bytes that libc needs for the bookkeeping of a tag, and of its name */
#define OVERHEAD 16

/* Tags that are examined for one unit of the turn */
#define TAGS_PER_UNIT 64

/* Purpose of the secret, for the hash of handles */
#define TM_DOMAIN 0x74616773

static_assert(sizeof(struct mynic_tag_wqe) == 1 << LOG_ENTRY_SIZE, "stride");
static_assert(sizeof(struct tm_header) == TM_RNDV_HDR, "header");
static_assert(offsetof(struct tm_header, va) == TM_EAGER_HDR, "header");

static struct mynic_tag_dbrec *tm_tag_dbrec(struct nic *nic,
					    struct tag_matching *tm)
{
	return buf_ptr(nic, &tm->buf, &tm->dbrec, tm->dbrec_offset,
		       sizeof(struct mynic_tag_dbrec), true);
}

static int tm_init(struct nic *nic, struct tag_matching *tm,
		   const struct mynic_create_srq *cmd)
{
	int status;

	status = buf_parse(&tm->buf, &cmd->tag_buf);
	if (status)
		return status;
	tm->dbrec_offset = 1u << (cmd->log_tag_size + LOG_ENTRY_SIZE);
	tm->ring = (struct ring){
		.buf = &tm->buf,
		.log_size = cmd->log_tag_size,
		.log_stride = LOG_ENTRY_SIZE,
	};
	status = ring_check(nic, &tm->ring, false);
	if (status)
		return status;
	return buf_check(nic, &tm->buf, tm->dbrec_offset,
			 sizeof(struct mynic_tag_dbrec),
			 sizeof(struct mynic_tag_dbrec), true);
}

/*
 * Bytes to reserve. Each tag in the list or in use may have two rendezvous that
 * wait for their FINs. One of them waits already when the other is matched.
 */
static size_t tm_tags_cost(const struct tag_matching *tm)
{
	return tm->max_tags * (3 * (sizeof(struct tag) + OVERHEAD) +
			       sizeof(struct tag_name) + OVERHEAD);
}

static struct tag_names *tm_bucket_of(const struct nic *nic,
				      struct tag_matching *tm, uint32_t handle)
{
	struct siphash_key secret = { nic->config.seed, TM_DOMAIN };

	return &tm->names[siphash(&secret, handle) % TM_NAME_BUCKETS];
}

static struct tag_name *tm_find_name(const struct nic *nic,
				     struct tag_matching *tm, uint32_t handle)
{
	struct tag_name *name;

	LIST_FOREACH(name, tm_bucket_of(nic, tm, handle), link)
	if (name->handle == handle)
		return name;
	return NULL;
}

/* Returns false if there is no memory */
static bool tm_give_name(const struct nic *nic, struct tag_matching *tm,
			 struct tag *tag, uint32_t handle)
{
	struct tag_name *name = tm_find_name(nic, tm, handle);

	if (!name) {
		name = calloc(1, sizeof(*name));
		if (!name)
			return false;
		name->handle = handle;
		TAILQ_INIT(&name->tags);
		LIST_INSERT_HEAD(tm_bucket_of(nic, tm, handle), name, link);
	}
	tag->name = name;
	TAILQ_INSERT_TAIL(&name->tags, tag, name_link);
	return true;
}

static void tm_remove_tag(struct tag_matching *tm, struct tag *tag)
{
	struct tag_name *name = tag->name;

	TAILQ_REMOVE(&tm->tags, tag, link);
	TAILQ_REMOVE(&name->tags, tag, name_link);
	tag->name = NULL;
	if (!TAILQ_EMPTY(&name->tags))
		return;
	LIST_REMOVE(name, link);
	free(name);
}

int tm_create(struct nic *nic, struct srq *srq,
	      const struct mynic_create_srq *cmd)
{
	struct tag_matching *tm = mem_alloc(&nic->mem, sizeof(*tm));
	int status;

	if (!tm)
		return MYNIC_AQ_NO_RESOURCE;
	status = tm_init(nic, tm, cmd);
	tm->max_tags = le32toh(cmd->max_tags);
	if (!status && !mem_reserve(&nic->mem, tm_tags_cost(tm)))
		status = MYNIC_AQ_NO_RESOURCE;
	if (status) {
		mem_free(&nic->mem, tm);
		return status;
	}
	TAILQ_INIT(&tm->tags);
	srq->tm = tm;
	return MYNIC_AQ_OK;
}

bool tm_free_some(struct nic *nic, struct srq *srq)
{
	struct tag *tag;

	while ((tag = TAILQ_FIRST(&srq->tm->tags))) {
		if (nic_turn_is_over(nic))
			return true;
		nic_charge(nic, 1);
		tm_remove_tag(srq->tm, tag);
		srq->tm->num_tags--;
		free(tag);
	}
	return false;
}

static void tm_unschedule(struct nic *nic, struct srq *srq)
{
	if (srq->tm->scheduled)
		TAILQ_REMOVE(&nic->tag_queue, srq, tag_link);
	srq->tm->scheduled = false;
}

static void tm_schedule(struct nic *nic, struct srq *srq)
{
	if (srq->tm->scheduled)
		return;
	srq->tm->scheduled = true;
	TAILQ_INSERT_TAIL(&nic->tag_queue, srq, tag_link);
}

void tm_destroy(struct nic *nic, struct srq *srq)
{
	tm_unschedule(nic, srq);
	mem_unreserve(&nic->mem, tm_tags_cost(srq->tm));
	mem_free(&nic->mem, srq->tm);
}

void tm_query(const struct tag_matching *tm, struct mynic_query_srq *result)
{
	result->num_tags = htole32(tm->num_tags);
	result->unexpected_cnt = htole32(tm->unexpected);
	result->handled_cnt = htole32(tm->handled);
}

/*
 * Tags that were added while a message was unexpected cannot match until the
 * host has handled it
 */
static void tm_open_tags(struct tag_matching *tm)
{
	if (tm->handled == tm->unexpected)
		tm->open_order = tm->next_order;
}

static void tm_count_done(struct nic *nic, struct tag_matching *tm)
{
	struct mynic_tag_dbrec *dbrec = tm_tag_dbrec(nic, tm);

	tm->done++;
	if (dbrec)
		buf_store_index(&dbrec->done, tm->done);
}

void tm_release(struct nic *nic, struct srq *srq)
{
	srq->tm->num_tags--;
	tm_count_done(nic, srq->tm);
}

/*
 * Guest memory may change at any time. The barrier keeps the compiler from
 * reading the source again.
 */
static void tm_fetch(struct mynic_tag_wqe *dst, const struct mynic_tag_wqe *src)
{
	memcpy(dst, src, sizeof(*dst));
	__asm__ __volatile__("" : : : "memory");
}

static int tm_add(struct nic *nic, struct tag_matching *tm,
		  const struct mynic_tag_wqe *wqe)
{
	uint32_t num_sge = le32toh(wqe->num_sge);
	struct tag *tag = NULL;

	if (num_sge <= 1 && tm->num_tags < tm->max_tags)
		tag = calloc(1, sizeof(*tag));
	if (tag && !tm_give_name(nic, tm, tag, le32toh(wqe->handle))) {
		free(tag);
		tag = NULL;
	}
	if (!tag) {
		tm_count_done(nic, tm);
		return IBV_WC_TM_ERR;
	}
	tag->order = tm->next_order++;
	tag->wr_id = le64toh(wqe->recv_wr_id);
	tag->tag = le64toh(wqe->tag);
	tag->mask = le64toh(wqe->mask);
	tag->num_sge = num_sge;
	if (num_sge) {
		tag->sge.addr = le64toh(wqe->sge.addr);
		tag->sge.length = le32toh(wqe->sge.length);
		tag->sge.lkey = le32toh(wqe->sge.lkey);
	}
	TAILQ_INSERT_TAIL(&tm->tags, tag, link);
	tm->num_tags++;
	return IBV_WC_SUCCESS;
}

static int tm_del(struct nic *nic, struct srq *srq,
		  const struct mynic_tag_wqe *wqe)
{
	const struct tag_name *name =
		tm_find_name(nic, srq->tm, le32toh(wqe->handle));
	struct tag *tag;

	if (!name)
		return IBV_WC_TM_ERR;
	tag = TAILQ_FIRST(&name->tags);
	tm_remove_tag(srq->tm, tag);
	free(tag);
	tm_release(nic, srq);
	return IBV_WC_SUCCESS;
}

/* enum ibv_wc_opcode by enum ibv_ops_wr_opcode */
static const uint8_t wc_opcodes[] = {
	[IBV_WR_TAG_ADD] = IBV_WC_TM_ADD,
	[IBV_WR_TAG_DEL] = IBV_WC_TM_DEL,
	[IBV_WR_TAG_SYNC] = IBV_WC_TM_SYNC,
};

static int tm_execute(struct nic *nic, struct srq *srq,
		      const struct mynic_tag_wqe *wqe, unsigned int opcode,
		      uint32_t flags)
{
	if (opcode > IBV_WR_TAG_SYNC ||
	    flags & ~(uint32_t)(IBV_OPS_SIGNALED | IBV_OPS_TM_SYNC)) {
		nic_count(nic, MYNIC_STAT_BAD_WQE);
		if (opcode == IBV_WR_TAG_ADD)
			tm_count_done(nic, srq->tm);
		return IBV_WC_LOC_QP_OP_ERR;
	}
	if (flags & IBV_OPS_TM_SYNC)
		srq->tm->handled = le32toh(wqe->unexpected_cnt);
	if (opcode == IBV_WR_TAG_ADD)
		return tm_add(nic, srq->tm, wqe);
	if (opcode == IBV_WR_TAG_DEL)
		return tm_del(nic, srq, wqe);
	return IBV_WC_SUCCESS;
}

static void tm_run_one(struct nic *nic, struct srq *srq,
		       const struct mynic_tag_wqe *wqe)
{
	uint32_t ctrl = le32toh(wqe->ctrl);
	unsigned int opcode = ctrl & MYNIC_TAG_OPCODE_MASK;
	uint32_t flags = ctrl >> MYNIC_TAG_FLAGS_SHIFT;
	struct mynic_cqe cqe = { .wr_id = wqe->wr_id };
	int status;

	status = tm_execute(nic, srq, wqe, opcode, flags);
	tm_open_tags(srq->tm);
	if (!status && !(flags & IBV_OPS_SIGNALED))
		return;
	cqe.status = htole32(status);
	if (opcode <= IBV_WR_TAG_SYNC)
		cqe.opcode = htole32(wc_opcodes[opcode]);
	if (srq->tm->handled != srq->tm->unexpected)
		cqe.wc_flags = htole32(IBV_WC_TM_SYNC_REQ);
	cq_push(nic, srq->cq, &cqe, false, nic_now(nic));
}

/*
 * Executes operations, even without a doorbell. If @bounded, it stops at the
 * end of the turn and returns true if there are more.
 */
static bool tm_run(struct nic *nic, struct srq *srq, bool bounded)
{
	struct mynic_tag_dbrec *dbrec = tm_tag_dbrec(nic, srq->tm);
	struct tag_matching *tm = srq->tm;
	uint32_t left;

	if (srq->error)
		return false;
	if (!dbrec) {
		srq_to_error(nic, srq);
		return false;
	}
	left = buf_load_index(&dbrec->pi) - tm->ci;
	if (left > ring_size(&tm->ring)) {
		nic_count(nic, MYNIC_STAT_BAD_INDEX);
		srq_to_error(nic, srq);
		return false;
	}
	while (left--) {
		const struct mynic_tag_wqe *slot =
			ring_slot(nic, &tm->ring, tm->ci, false);
		struct mynic_tag_wqe wqe;

		if (bounded && nic_turn_is_over(nic))
			return true;
		nic_charge(nic, 1);
		if (!slot) {
			srq_to_error(nic, srq);
			return false;
		}
		tm_fetch(&wqe, slot);
		buf_store_index(&dbrec->ci, ++tm->ci);
		tm_run_one(nic, srq, &wqe);
	}
	return false;
}

bool tms_run(struct nic *nic)
{
	struct srq *srq;

	while ((srq = TAILQ_FIRST(&nic->tag_queue))) {
		if (nic_turn_is_over(nic))
			return true;
		nic_charge(nic, 1);
		tm_unschedule(nic, srq);
		if (tm_run(nic, srq, true))
			tm_schedule(nic, srq);
	}
	return false;
}

bool tm_doorbell(struct nic *nic, uint32_t uarn, uint32_t number)
{
	struct srq *srq = table_lookup(&nic->srqs, number);

	if (!srq || !srq->tm || srq->cq->uarn != uarn)
		return false;
	tm_schedule(nic, srq);
	return true;
}

/* Sets the kind to TM_EAGER or TM_RNDV if the message has a tag */
static void tm_read_header(struct tm_match *match, const struct packet *pkt,
			   const struct opcode_info *info)
{
	struct iov_cursor cursor = { .iov = pkt->iov };
	uint32_t len = pkt->payload_len;

	*match = (struct tm_match){ .kind = TM_NO_TAG };
	if (len < TM_EAGER_HDR)
		return;
	iov_read(&cursor, &match->header,
		 len < TM_RNDV_HDR ? TM_EAGER_HDR : TM_RNDV_HDR);
	if (match->header.opcode == IBV_TMH_EAGER)
		match->kind = TM_EAGER;
	else if (match->header.opcode == IBV_TMH_RNDV && len >= TM_RNDV_HDR &&
		 len <= TM_MAX_RNDV_HDR && info->flags & OPCODE_LAST)
		match->kind = TM_RNDV;
}

static struct tag *tm_find(struct nic *nic, const struct tag_matching *tm,
			   uint64_t value)
{
	unsigned int num = 0;
	struct tag *tag;

	TAILQ_FOREACH(tag, &tm->tags, link)
	{
		if (++num % TAGS_PER_UNIT == 0)
			nic_charge(nic, 1);
		if (tag->order >= tm->open_order)
			return NULL;
		if ((value & tag->mask) == tag->tag)
			return tag;
	}
	return NULL;
}

static void tm_use_tag(struct qp *qp, struct tag *tag, uint32_t payload_len)
{
	struct tm_match *match = &qp->rq.match;
	struct recv_req *recv = &qp->rq.recv;

	recv->wr_id = tag->wr_id;
	recv->outcome = OUTCOME_OK;
	recv->num_sge = tag->num_sge;
	recv->sge[0] = tag->sge;
	recv->capacity = tag->sge.length;
	qp->rq.has_recv = true;
	match->tag = tag;
	tag->header = match->header;
	if (match->kind == TM_EAGER)
		match->skip = TM_EAGER_HDR;
	else if (rndv_takes(qp, tag))
		match->skip = payload_len;
	else
		match->kind = TM_INCOMPLETE;
}

bool tm_match(struct qp *qp, const struct packet *pkt,
	      const struct opcode_info *info)
{
	struct tm_match *match = &qp->rq.match;
	struct tag_matching *tm = qp->srq->tm;
	struct tag *tag;

	tm_run(qp->nic, qp->srq, false);
	tm_read_header(match, pkt, info);
	if (match->kind == TM_NO_TAG || qp->srq->error)
		return false;
	tag = tm_find(qp->nic, tm, be64toh(match->header.tag));
	if (!tag) {
		match->kind = TM_UNEXPECTED;
		return false;
	}
	tm_remove_tag(tm, tag);
	tm_use_tag(qp, tag, pkt->payload_len);
	return true;
}

void tm_no_match(struct qp *qp, bool taken)
{
	struct tm_match *match = &qp->rq.match;

	if (!taken)
		match->kind = TM_NONE;
	else if (match->kind == TM_UNEXPECTED)
		qp->srq->tm->unexpected++;
}

void tm_cut(const struct packet *pkt, uint32_t skip, struct iovec *iov)
{
	for (unsigned int i = 0; i < pkt->niov; i++) {
		size_t n = min_u64(pkt->iov[i].iov_len, skip);

		iov[i].iov_base = (uint8_t *)pkt->iov[i].iov_base + n;
		iov[i].iov_len = pkt->iov[i].iov_len - n;
		skip -= n;
	}
}

static void tm_set_tag(struct mynic_cqe *cqe, const struct tm_header *header)
{
	cqe->tag = htole64(be64toh(header->tag));
	cqe->tag_priv = htole32(be32toh(header->app_ctx));
}

void tm_begun(struct qp *qp)
{
	const struct tm_match *match = &qp->rq.match;
	struct mynic_cqe cqe = {
		.wr_id = htole64(qp->rq.recv.wr_id),
		.opcode = htole32(IBV_WC_TM_RECV),
		.qp_num = htole32(qp->number),
		.wc_flags = htole32(IBV_WC_TM_MATCH),
	};

	if (match->kind != TM_EAGER)
		return;
	tm_set_tag(&cqe, &match->header);
	cq_push(qp->nic, qp->recv_cq, &cqe, false, nic_now(qp->nic));
}

enum outcome tm_complete(struct qp *qp, bool single, struct mynic_cqe *cqe)
{
	struct tm_match *match = &qp->rq.match;
	uint32_t flags = 0;

	cqe->opcode = htole32(IBV_WC_TM_RECV);
	switch (match->kind) {
	case TM_NO_TAG:
		cqe->opcode = htole32(IBV_WC_TM_NO_TAG);
		break;
	case TM_EAGER:
		flags = IBV_WC_TM_DATA_VALID | (single ? IBV_WC_TM_MATCH : 0);
		break;
	case TM_RNDV:
		flags = IBV_WC_TM_MATCH;
		rndv_start(qp, match->tag);
		match->tag = NULL;
		break;
	case TM_INCOMPLETE:
		flags = IBV_WC_TM_MATCH | IBV_WC_TM_DATA_VALID;
		if (qp->resp.offset > qp->rq.recv.capacity)
			cqe->byte_len = htole32(qp->rq.recv.capacity);
		break;
	}
	cqe->wc_flags |= htole32(flags);
	if (flags & IBV_WC_TM_MATCH)
		tm_set_tag(cqe, &match->header);
	return match->kind == TM_INCOMPLETE ? OUTCOME_CUT : OUTCOME_OK;
}

void tm_end(struct qp *qp, bool success)
{
	struct tm_match *match = &qp->rq.match;

	/*
	 * The host does not learn of the message, so it cannot count it either
	 */
	if (match->kind == TM_UNEXPECTED && !success) {
		qp->srq->tm->unexpected--;
		tm_open_tags(qp->srq->tm);
	}
	if (match->tag) {
		free(match->tag);
		tm_release(qp->nic, qp->srq);
	}
	*match = (struct tm_match){ 0 };
}
