/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Queue pairs: what is common to all types. Their work is the transport's. */
#ifndef MYNIC_QP_H
#define MYNIC_QP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/verbs.h"
#include "function/event.h"
#include "memory/buf.h"
#include "memory/mkey.h"
#include "mynic_regs.h"
#include "qp/cc.h"
#include "qp/flush.h"
#include "qp/mcast.h"
#include "qp/paging.h"
#include "queue/rndv.h"
#include "rdma/requester.h"
#include "rdma/responder.h"

/*
 * In &qp.type: a work queue, which is a QP without a send queue; see rwq.h.
 * MYNIC_WQS_RDY is RTR.
 */
#define QP_TYPE_WQ 15

struct admin_call;
struct counters;
struct cq;
struct nic;
struct pd;
struct rss;
struct srq;
struct xrcd;

/**
 * struct qp_attr - what MODIFY_QP sets, checked and in host byte order
 * @path_mtu: enum ib_mtu
 * @qkey: Q_Key
 * @rq_psn: first PSN expected, 24 bits
 * @sq_psn: first PSN sent, 24 bits
 * @dest_qpn: the peer, 24 bits
 * @access_flags: enum ib_access_flags, what peers may do; other bits may be set
 * @max_rd_atomic: outstanding reads and atomics as requester
 * @max_dest_rd_atomic: ... and as responder
 * @min_rnr_timer: IBTA RNR NAK timer field, 5 bits
 * @timeout: 4.096 us times 2^timeout, 5 bits; 0: none
 * @retry_cnt: 3 bits
 * @rnr_retry: 3 bits; 7: for ever
 * @port_num: 1 or, before INIT, 0
 * @rate_limit: kbit/s; 0: none
 * @sq_drained_event: send SQ_DRAINED in SQD
 * @ece_options: MYNIC_ECE_*
 * @av: the path, as the host gave it
 *
 * All zeroes before what sets them, and in RESET.
 */
struct qp_attr {
	uint32_t path_mtu;
	uint32_t qkey;
	uint32_t rq_psn;
	uint32_t sq_psn;
	uint32_t dest_qpn;
	uint32_t access_flags;
	uint8_t max_rd_atomic;
	uint8_t max_dest_rd_atomic;
	uint8_t min_rnr_timer;
	uint8_t timeout;
	uint8_t retry_cnt;
	uint8_t rnr_retry;
	uint8_t port_num;
	uint32_t rate_limit;
	bool sq_drained_event;
	uint32_t ece_options;
	struct mynic_av av;
};

/**
 * struct qp - queue pair
 * @nic: its NIC
 * @number: QPN
 * @state: set by the core only
 * @type: enum mynic_qp_type, or QP_TYPE_WQ
 * @service: connected QPs: what its BTH opcodes have beside those of RC
 * @flags: MYNIC_QP_*
 * @has_sq: there is a send ring
 * @has_rq: there is a receive ring
 * @scheduled: in &nic.run_queue through @run_link
 * @polled: in &nic.poll_queue through @poll_link
 * @no_ring: the host has been told so, and need not ring
 * @answered: &requester.pi when a request last came in
 * @counters: the set of counters that it is bound to, or NULL
 * @run_link: see @scheduled
 * @rndv: what it does for a tag matching SRQ
 * @paging: what waits for pages
 * @flush: of what is being made persistent
 * @cc: congestion control, the transport's
 * @attr: set by the core only
 * @pd: protection domain; XRC_TGT: @srq's, or NULL
 * @send_cq: CQ for send completions; XRC_TGT, RSS: NULL
 * @recv_cq: CQ for receive completions; with a tag matching SRQ: @srq's;
 *	XRC_TGT: @srq's, or NULL; RSS: NULL
 * @srq: NULL: the QP has an RQ of its own, or none; XRC_TGT: that of the last
 *	request
 * @xrcd: XRC_TGT: its XRC domain; else NULL
 * @sq: send ring
 * @dbrec: window on the doorbell record
 * @dbrec_offset: of the doorbell record in @buf
 * @req: requester and completer, the transport's
 * @poll_link: see @polled
 * @poll_until: time until which nic_poll() looks after it
 * @resp: responder, the transport's
 * @rq: receive ring
 * @buf: host memory
 * @uarn: the UAR page of its doorbell
 * @events: its asynchronous events
 * @send_link: in &cq.senders
 * @recv_link: in &cq.receivers; XRC_TGT: in &xrcd.targets
 * @srq_link: XRC_TGT: in &srq.targets, with @srq
 * @mcast_groups: the multicast groups that it is attached to
 * @num_flows: flow rules that it receives by
 * @rss: gives frames to WQs; NULL: the QP receives them itself
 * @num_tables: WQ: entries of receive WQ tables that name it
 * @windows: memory windows of type 2 that were bound through it
 *
 * What is used for each message comes first, in few cache lines.
 */
struct qp {
	struct nic *nic;
	uint32_t number;
	enum ib_qp_state state;
	uint8_t type;
	uint8_t service;
	uint8_t flags;
	bool has_sq;
	bool has_rq;
	bool scheduled;
	bool polled;
	bool no_ring;
	uint32_t answered;
	struct counters *counters;
	TAILQ_ENTRY(qp) run_link;
	struct rndv rndv;
	struct paging paging;
	struct flush flush;
	struct cc cc;
	struct qp_attr attr;
	struct pd *pd;
	struct cq *send_cq;
	struct cq *recv_cq;
	struct srq *srq;
	struct xrcd *xrcd;
	struct ring sq;
	struct buf_window dbrec;
	uint32_t dbrec_offset;
	struct requester req;
	TAILQ_ENTRY(qp) poll_link;
	uint64_t poll_until;
	struct responder resp;
	struct ring rq;
	struct buf buf;
	uint32_t uarn;
	struct event_source events;
	LIST_ENTRY(qp) send_link;
	LIST_ENTRY(qp) recv_link;
	LIST_ENTRY(qp) srq_link;
	struct mcast_members mcast_groups;
	uint32_t num_flows;
	struct rss *rss;
	uint32_t num_tables;
	struct mkey_list windows;
};

TAILQ_HEAD(qp_queue, qp);

/** qp_is_connected() - the path is the QP's, not that of each request */
static inline bool qp_is_connected(const struct qp *qp)
{
	return qp->type == MYNIC_QP_RC || qp->type == MYNIC_QP_UC ||
	       qp->type == MYNIC_QP_XRC_INI || qp->type == MYNIC_QP_XRC_TGT;
}

/** qp_is_requester() - a reliable QP that sends requests */
static inline bool qp_is_requester(const struct qp *qp)
{
	return qp->type == MYNIC_QP_RC || qp->type == MYNIC_QP_XRC_INI;
}

/** qp_is_responder() - a reliable QP that answers requests */
static inline bool qp_is_responder(const struct qp *qp)
{
	return qp->type == MYNIC_QP_RC || qp->type == MYNIC_QP_XRC_TGT;
}

/** qp_can_receive() - its state lets it take packets */
static inline bool qp_can_receive(const struct qp *qp)
{
	return qp->state >= IB_QPS_RTR && qp->state <= IB_QPS_SQE;
}

/** qp_find() - the QP with a number (any value), or NULL; O(1) */
struct qp *qp_find(const struct nic *nic, uint32_t number);

/** qp_of_command() - the QP that a command names, or NULL; a WQ is none */
struct qp *qp_of_command(const struct nic *nic, const struct admin_call *call);

/** qp_dbrec() - the doorbell record, or NULL (counted as BAD_DMA) */
struct mynic_qp_dbrec *qp_dbrec(struct nic *nic, struct qp *qp);

/** qp_unschedule() - take it off that list */
void qp_unschedule(struct nic *nic, struct qp *qp);

/**
 * qp_schedule() - have transport_run_qp() called soon
 * @nic: the NIC
 * @qp: the QP
 *
 * Does nothing if the QP is on the list already.
 */
void qp_schedule(struct nic *nic, struct qp *qp);

#endif /* MYNIC_QP_H */
