// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * FLUSH (IBTA annex A19): checks, and making memory persistent piece by piece.
 * Only one piece of a NIC is under way at a time.
 */

#include "rdma/flush.h"

#include <errno.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/uio.h>

#include "base/iov.h"
#include "base/verbs.h"
#include "memory/buf.h"
#include "memory/mkey.h"
#include "mynic_regs.h"
#include "nic.h"
#include "packet/feth.h"
#include "packet/packet.h"
#include "qp/odp.h"
#include "qp/qp.h"
#include "queue/xrcd.h"
#include "rdma/response_queue.h"
#include "state/memory_types.h"
#include "state/nic_types.h"
#include "state/qp_types.h"
#include "state/queue_types.h"

/* Elements of a list; a piece must fit wherever it begins in its first page */
#define MAX_IOV 64
#define PIECE ((MAX_IOV - 1) << BUF_MIN_LOG_PAGE_SIZE)

/* Pieces that one run makes persistent, so that other QPs need not wait */
#define QUANTUM 4

static uint32_t flush_needed_access(uint32_t placement)
{
	uint32_t access = 0;

	if (placement & IBV_FLUSH_GLOBAL)
		access |= IBV_ACCESS_FLUSH_GLOBAL;
	if (placement & IBV_FLUSH_PERSISTENT)
		access |= IBV_ACCESS_FLUSH_PERSISTENT;
	return access;
}

/* Finds the range of a FLUSH, as far as its key allows */
static enum outcome flush_find_range(struct qp *qp, const struct roce_hdr *hdr,
				     bool region, uint32_t access,
				     struct response *response)
{
	const struct mkey_range range = {
		.key = hdr->rkey,
		.access = access,
		.addr = hdr->remote_addr,
		.len = hdr->dma_len,
	};
	const struct pd *pd = xrc_pd(qp, response->srqn);
	struct mkey *mkey;

	if (region)
		return mkey_range_remote(qp, pd, hdr->rkey, access,
					 &response->addr,
					 &response->flush_left);
	response->addr = hdr->remote_addr;
	response->flush_left = hdr->dma_len;
	if (!hdr->dma_len)
		return OUTCOME_OK;
	return mkey_check_remote(qp, pd, &range, &mkey);
}

enum outcome flush_check(struct qp *qp, const struct roce_hdr *hdr,
			 struct response *response)
{
	uint32_t placement = feth_placement(hdr->feth);
	uint32_t selectivity = feth_selectivity(hdr->feth);
	uint32_t access = flush_needed_access(placement);
	enum outcome outcome;

	if (!feth_is_valid(placement, selectivity))
		return OUTCOME_INVALID;
	if (access & ~qp->attr.access_flags)
		return OUTCOME_NOT_ALLOWED;
	if (selectivity == IBV_FLUSH_RANGE && hdr->dma_len > WQE_MAX_LENGTH)
		return OUTCOME_INVALID;
	outcome = flush_find_range(qp, hdr, selectivity == IBV_FLUSH_MR, access,
				   response);
	/*
	 * Data that was written is in memory and visible to all readers already
	 */
	if (!(placement & IBV_FLUSH_PERSISTENT))
		response->flush_left = 0;
	return outcome;
}

/* Lets the QP that has waited longest begin. */
static void flush_call_next(struct nic *nic)
{
	struct qp *next = TAILQ_FIRST(&nic->flushes.waiting);

	if (nic->flushes.busy || !next)
		return;
	next->flush.state = FLUSH_NEXT;
	qp_schedule(nic, next);
}

/* Returns true if the QP may begin a piece. Otherwise the QP is called later */
static bool flush_may_begin(struct qp *qp)
{
	struct flushes *flushes = &qp->nic->flushes;

	if (qp->flush.state == FLUSH_NEXT) {
		TAILQ_REMOVE(&flushes->waiting, qp, flush.link);
		qp->flush.state = FLUSH_IDLE;
		return true;
	}
	if (!flushes->busy && TAILQ_EMPTY(&flushes->waiting))
		return true;
	qp->flush.state = FLUSH_QUEUED;
	TAILQ_INSERT_TAIL(&flushes->waiting, qp, flush.link);
	return false;
}

static enum outcome flush_persist(struct qp *qp, struct mkey *mkey,
				  uint64_t addr, uint32_t len)
{
	const struct nic_config *config = &qp->nic->config;
	struct flushes *flushes = &qp->nic->flushes;
	struct iovec iov[MAX_IOV];
	struct iov_list list = { .iov = iov, .max = MAX_IOV };
	struct page_fault fault;
	enum outcome outcome;
	int err;

	outcome = mkey_iov(qp->nic, mkey, addr, len, &list, &fault);
	if (outcome == OUTCOME_NO_PAGE)
		return odp_wait(qp, MYNIC_PAGE_READ, &fault);
	if (outcome)
		return outcome;
	err = config->ops->persist(config->ctx, list.iov, list.num);
	if (err == -EINPROGRESS) {
		flushes->busy = true;
		flushes->owner = qp;
		qp->flush.state = FLUSH_BUSY;
		qp->flush.len = len;
		return OUTCOME_WAIT;
	}
	return err ? OUTCOME_DMA : OUTCOME_OK;
}

static enum outcome flush_run_pieces(struct qp *qp, struct response *response,
				     struct mkey *mkey)
{
	for (unsigned int i = 0; i < QUANTUM && response->flush_left; i++) {
		uint32_t len = PIECE;
		enum outcome outcome;

		if (len > response->flush_left)
			len = response->flush_left;
		outcome = flush_persist(qp, mkey, response->addr, len);
		if (outcome)
			return outcome;
		response->addr += len;
		response->flush_left -= len;
		nic_look_at_clock(qp->nic);
		if (qp->nic->turn.over)
			break;
	}
	return OUTCOME_OK;
}

/* Handles the end of a piece. Returns OUTCOME_OK or OUTCOME_DMA */
static enum outcome flush_finish(struct qp *qp, struct response *response)
{
	qp->flush.state = FLUSH_IDLE;
	if (qp->flush.err)
		return OUTCOME_DMA;
	response->addr += qp->flush.len;
	response->flush_left -= qp->flush.len;
	return OUTCOME_OK;
}

enum outcome flush_run(struct qp *qp, struct response *response)
{
	enum flush_state state = qp->flush.state;
	struct mkey_range range;
	enum outcome outcome = OUTCOME_OK;
	struct mkey *mkey;

	if (state == FLUSH_QUEUED || state == FLUSH_BUSY)
		return OUTCOME_WAIT;
	if (state == FLUSH_DONE)
		outcome = flush_finish(qp, response);
	if (outcome || !response->flush_left)
		return outcome;
	if (!flush_may_begin(qp))
		return OUTCOME_WAIT;
	range = (struct mkey_range){
		.key = response->rkey,
		.access = IBV_ACCESS_FLUSH_PERSISTENT,
		.addr = response->addr,
		.len = response->flush_left,
	};
	outcome = mkey_check_remote(qp, xrc_pd(qp, response->srqn), &range,
				    &mkey);
	if (!outcome)
		outcome = flush_run_pieces(qp, response, mkey);
	flush_call_next(qp->nic);
	return outcome;
}

void nic_persisted(struct nic *nic, int err)
{
	struct qp *qp = nic->flushes.owner;

	nic->flushes.busy = false;
	nic->flushes.owner = NULL;
	if (qp) {
		qp->flush.state = FLUSH_DONE;
		qp->flush.err = err;
		qp_schedule(nic, qp);
	}
	flush_call_next(nic);
}

void flush_stop(struct qp *qp)
{
	struct flushes *flushes = &qp->nic->flushes;

	if (qp->flush.state == FLUSH_QUEUED || qp->flush.state == FLUSH_NEXT)
		TAILQ_REMOVE(&flushes->waiting, qp, flush.link);
	if (flushes->owner == qp)
		flushes->owner = NULL;
	qp->flush.state = FLUSH_IDLE;
	flush_call_next(qp->nic);
}
