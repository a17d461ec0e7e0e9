// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Attributes of queue pairs: MODIFY_QP and QUERY_QP. Legal transitions are in
 * qp/qp_state.c.
 */

#include "engine/qp_attr.h"

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/journal.h"
#include "base/util.h"
#include "base/verbs.h"
#include "engine/transport.h"
#include "function/gid.h"
#include "mynic_regs.h"
#include "qp/cc.h"
#include "qp/qp.h"
#include "qp/qp_state.h"
#include "queue/sq.h"
#include "rdma/response_queue.h"
#include "state/nic_types.h"
#include "state/qp_types.h"
#include "state/queue_types.h"

#define SUPPORTED_ATTRS                                                        \
	(IBV_QP_STATE | IBV_QP_CUR_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY |        \
	 IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY | \
	 IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |     \
	 IBV_QP_RNR_RETRY | IBV_QP_RQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC |          \
	 IBV_QP_MIN_RNR_TIMER | IBV_QP_SQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |    \
	 IBV_QP_DEST_QPN | IBV_QP_RATE_LIMIT | MYNIC_QP_ATTR_ECE)

#define MAX_24_BITS 0xffffff
#define MAX_FLOW_LABEL 0xfffff
#define MAX_TIMEOUT 31
#define MAX_RETRY 7
#define THE_PORT 1

static bool qp_attr_av_is_valid(const struct nic *nic,
				const struct mynic_av *av)
{
	return le32toh(av->flow_label) <= MAX_FLOW_LABEL &&
	       av->sl <= MYNIC_MAX_SL && gid_at(nic, le16toh(av->sgid_index));
}

static bool qp_attr_values_are_valid(const struct nic *nic, uint32_t mask,
				     const struct mynic_qp_attr *attr)
{
	const struct {
		uint32_t mask;
		uint32_t value;
		uint32_t min;
		uint32_t max;
	} ranges[] = {
		{ IBV_QP_STATE, attr->qp_state, 0, MYNIC_NUM_QP_STATES - 1 },
		{ IBV_QP_CUR_STATE, attr->cur_qp_state, 0,
		  MYNIC_NUM_QP_STATES - 1 },
		{ IBV_QP_EN_SQD_ASYNC_NOTIFY, attr->sq_drained_event, 0, 1 },
		{ IBV_QP_PKEY_INDEX, le16toh(attr->pkey_index), 0, 0 },
		{ IBV_QP_PORT, attr->port_num, THE_PORT, THE_PORT },
		{ IBV_QP_PATH_MTU, attr->path_mtu, IBV_MTU_256, IBV_MTU_4096 },
		{ IBV_QP_TIMEOUT, attr->timeout, 0, MAX_TIMEOUT },
		{ IBV_QP_RETRY_CNT, attr->retry_cnt, 0, MAX_RETRY },
		{ IBV_QP_RNR_RETRY, attr->rnr_retry, 0, MAX_RETRY },
		{ IBV_QP_RQ_PSN, le32toh(attr->rq_psn), 0, MAX_24_BITS },
		{ IBV_QP_SQ_PSN, le32toh(attr->sq_psn), 0, MAX_24_BITS },
		{ IBV_QP_MAX_QP_RD_ATOMIC, attr->max_rd_atomic, 0,
		  NIC_MAX_RD_ATOMIC },
		{ IBV_QP_MAX_DEST_RD_ATOMIC, attr->max_dest_rd_atomic, 0,
		  NIC_MAX_RD_ATOMIC },
		{ IBV_QP_MIN_RNR_TIMER, attr->min_rnr_timer, 0, MAX_TIMEOUT },
		{ IBV_QP_DEST_QPN, le32toh(attr->dest_qpn), 0, MAX_24_BITS },
		{ IBV_QP_RATE_LIMIT, le32toh(attr->rate_limit), 0,
		  NIC_MAX_RATE_KBPS },
		{ MYNIC_QP_ATTR_ECE, le32toh(attr->ece_options), 0,
		  MYNIC_ECE_ECN },
	};

	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++) {
		if (mask & ranges[i].mask && (ranges[i].value < ranges[i].min ||
					      ranges[i].value > ranges[i].max))
			return false;
	}
	if (attr->reserved_25[0] || attr->reserved_25[1] ||
	    attr->reserved_25[2])
		return false;
	return !(mask & IBV_QP_AV) || qp_attr_av_is_valid(nic, &attr->av);
}

static void qp_attr_set_attrs(struct qp_attr *dst, uint32_t mask,
			      const struct mynic_qp_attr *src)
{
	if (mask & IBV_QP_EN_SQD_ASYNC_NOTIFY)
		dst->sq_drained_event = src->sq_drained_event;
	if (mask & IBV_QP_ACCESS_FLAGS)
		dst->access_flags = le32toh(src->access_flags);
	if (mask & IBV_QP_PORT)
		dst->port_num = src->port_num;
	if (mask & IBV_QP_QKEY)
		dst->qkey = le32toh(src->qkey);
	if (mask & IBV_QP_AV)
		dst->av = src->av;
	if (mask & MYNIC_QP_ATTR_ECE)
		dst->ece_options = le32toh(src->ece_options);
	if (mask & IBV_QP_RATE_LIMIT)
		dst->rate_limit = le32toh(src->rate_limit);
	if (mask & IBV_QP_PATH_MTU)
		dst->path_mtu = src->path_mtu;
	if (mask & IBV_QP_TIMEOUT)
		dst->timeout = src->timeout;
	if (mask & IBV_QP_RETRY_CNT)
		dst->retry_cnt = src->retry_cnt;
	if (mask & IBV_QP_RNR_RETRY)
		dst->rnr_retry = src->rnr_retry;
	if (mask & IBV_QP_RQ_PSN)
		dst->rq_psn = le32toh(src->rq_psn);
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
		dst->max_rd_atomic = src->max_rd_atomic;
	if (mask & IBV_QP_MIN_RNR_TIMER)
		dst->min_rnr_timer = src->min_rnr_timer;
	if (mask & IBV_QP_SQ_PSN)
		dst->sq_psn = le32toh(src->sq_psn);
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		dst->max_dest_rd_atomic = src->max_dest_rd_atomic;
	if (mask & IBV_QP_DEST_QPN)
		dst->dest_qpn = le32toh(src->dest_qpn);
}

static void qp_attr_note_state(const struct qp *qp, enum ibv_qp_state new)
{
	const struct journal_entry entry = {
		.kind = JOURNAL_MODIFIED,
		.number = qp->number,
		.from = qp->state,
		.to = new,
	};

	nic_note(qp->nic, &entry);
}

int admin_modify_qp(struct nic *nic, struct admin_call *call)
{
	struct qp *qp = qp_of_command(nic, call);
	const struct mynic_qp_attr *attr = &call->qp_attr;
	uint32_t mask = le32toh(attr->attr_mask);
	uint8_t old, new;

	if (!qp)
		return MYNIC_AQ_BAD_NUMBER;
	if (mask & ~SUPPORTED_ATTRS || qp->rss)
		return MYNIC_AQ_NOT_SUPPORTED;
	if (!qp_attr_values_are_valid(nic, mask, attr))
		return MYNIC_AQ_BAD_PARAM;
	old = qp->state;
	new = (mask & IBV_QP_STATE) ? attr->qp_state : old;
	if ((mask & IBV_QP_CUR_STATE && attr->cur_qp_state != old) ||
	    !qp_transition_is_legal(qp->type, old, new, mask))
		return MYNIC_AQ_BAD_STATE;
	if (mask & IBV_QP_MAX_DEST_RD_ATOMIC &&
	    !responses_keep(qp, attr->max_dest_rd_atomic))
		return MYNIC_AQ_NO_RESOURCE;
	/* The event is asked for with each transition anew */
	if (new != old)
		qp->attr.sq_drained_event = 0;
	if (new == IBV_QPS_RESET)
		memset(&qp->attr, 0, sizeof(qp->attr));
	else
		qp_attr_set_attrs(&qp->attr, mask, attr);
	/* A delay that was computed from the old rate no longer applies */
	if (mask & IBV_QP_RATE_LIMIT)
		qp->cc.next = 0;
	if (mask & (IBV_QP_AV | IBV_QP_RATE_LIMIT))
		cc_set_ceiling(qp, qp->attr.av.static_rate);
	qp_attr_note_state(qp, new);
	qp->state = new;
	transport_set_state(qp, old);
	return MYNIC_AQ_OK;
}

int admin_query_qp(struct nic *nic, struct admin_call *call)
{
	const struct qp *qp = qp_of_command(nic, call);

	if (!qp)
		return MYNIC_AQ_BAD_NUMBER;
	call->qp_attr = (struct mynic_qp_attr){
		.qp_state = qp->state,
		.cur_qp_state = qp->state,
		.path_mtu = qp->attr.path_mtu,
		.sq_drained_event = qp->state == IBV_QPS_SQD &&
				    sq_draining(&qp->sq),
		.qkey = htole32(qp->attr.qkey),
		.rq_psn = htole32(qp->resp.epsn & MAX_24_BITS),
		.sq_psn = htole32(qp->sq.psn & MAX_24_BITS),
		.dest_qpn = htole32(qp->attr.dest_qpn),
		.access_flags = htole32(qp->attr.access_flags),
		.max_rd_atomic = qp->attr.max_rd_atomic,
		.max_dest_rd_atomic = qp->attr.max_dest_rd_atomic,
		.min_rnr_timer = qp->attr.min_rnr_timer,
		.timeout = qp->attr.timeout,
		.retry_cnt = qp->attr.retry_cnt,
		.rnr_retry = qp->attr.rnr_retry,
		.port_num = qp->attr.port_num,
		.rate_limit = htole32(qp->attr.rate_limit),
		.ece_options = htole32(qp->attr.ece_options),
		.av = qp->attr.av,
	};
	return MYNIC_AQ_OK;
}
