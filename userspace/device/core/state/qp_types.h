/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A queue pair. The members that concern one wing are structs of their own.
 * Functions for it begin in qp/qp.h.
 */
#ifndef MYNIC_QP_TYPES_H
#define MYNIC_QP_TYPES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/verbs.h"
#include "mynic_regs.h"
#include "state/delivery_types.h"
#include "state/function_types.h"
#include "state/memory_types.h"
#include "state/queue_types.h"
#include "state/transport_types.h"
#include "state/waits_types.h"

struct comp_cntr;
struct counters;
struct cq;
struct nic;
struct pd;
struct qp_service;
struct rss;
struct srq;
struct xrcd;

/*
 * &qp.type of a work queue, which is a QP without a send queue; see rwq.h. Its
 * state for MYNIC_WQS_RDY is RTR.
 */
#define QP_TYPE_RWQ 15

/* Operations that a completion counter can count; see mynic_regs.h */
#define QP_COUNTED_OPS 6

/**
 * struct qp_attr - attributes from MODIFY_QP, checked and in host byte order
 * @path_mtu: enum ibv_mtu
 * @qkey: Q_Key
 * @rq_psn: first PSN to expect, 24 bits
 * @sq_psn: first PSN to send, 24 bits
 * @dest_qpn: QPN of the peer, 24 bits
 * @access_flags: enum ibv_access_flags for peers; other bits may be set
 * @max_rd_atomic: outstanding READs and atomics as requester
 * @max_dest_rd_atomic: outstanding READs and atomics as responder
 * @min_rnr_timer: IBTA RNR NAK timer field, 5 bits
 * @timeout: 4.096 us times 2^timeout, 5 bits; 0: no timeout
 * @retry_cnt: 3 bits
 * @rnr_retry: 3 bits; 7: no limit
 * @port_num: 1; before INIT 0
 * @rate_limit: kbit/s; 0: no limit
 * @sq_drained_event: send SQ_DRAINED in SQD
 * @ece_options: MYNIC_ECE_*
 * @av: the path, in the format of the host
 *
 * All zeroes until it is set, and in RESET.
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
 * @nic: NIC of the queue pair
 * @number: QPN
 * @state: changed by MODIFY_QP, MODIFY_WQ and errors
 * @service: what the type decides
 * @type: enum mynic_qp_type, or QP_TYPE_RWQ
 * @flags: MYNIC_QP_*
 * @has_sq: it has a send ring
 * @has_rq: it has a receive ring
 * @scheduled: it is in &nic.run_queue
 * @watched: it is in &nic.watch_queue
 * @db_suppress: the host was told that it need not ring the doorbell
 * @counted_ops: operations in @comp_cntrs, MYNIC_COMP_CNTR_SEND and so on
 * @answered: &send_queue.pi when the last request arrived
 * @counters: counter set that it is bound to, or NULL
 * @run_link: link in &nic.run_queue
 * @room: wait for room where the next packet goes
 * @rndv: rendezvous for a tag matching SRQ
 * @odp: waits for missing pages
 * @flush: persistence work
 * @cc: congestion control
 * @attr: changed by MODIFY_QP
 * @pd: protection domain; XRC_TGT: that of @srq, or NULL
 * @send_cq: CQ for send completions; XRC_TGT, RSS: NULL
 * @recv_cq: CQ for receive completions; with a tag matching SRQ: that of @srq;
 *	XRC_TGT: that of @srq, or NULL; RSS: NULL
 * @srq: the SRQ; NULL: the QP has an RQ or nothing to receive with; XRC_TGT:
 *	the SRQ of the last request
 * @xrcd: XRC domain of an XRC_TGT QP; otherwise NULL
 * @sq: send requests
 * @dbrec: translation of the doorbell record
 * @dbrec_offset: offset of the doorbell record in @buf
 * @req: RC: requester and completer
 * @watch_link: link in &nic.watch_queue
 * @watch_until: time until which nic_watch() reads its doorbell record
 * @resp: RC, UC: responder
 * @rq: receive requests
 * @buf: host memory
 * @uarn: UAR page of its doorbell
 * @events: asynchronous events of the QP
 * @send_link: link in &cq.senders
 * @recv_link: link in &cq.receivers; XRC_TGT: in &xrcd.targets
 * @srq_link: XRC_TGT with an SRQ: link in &srq.targets
 * @mcast_groups: multicast groups that it is attached to
 * @num_flows: flow rules that deliver to it
 * @rss: spreading of frames over WQs; NULL: the QP receives them itself
 * @num_tables: WQ: entries of receive WQ tables that refer to it
 * @windows: memory windows of type 2 that were bound through it
 * @comp_cntrs: completion counters, by the number of the operation's bit; NULL:
 *	the operation is not counted
 *
 * Members that each message uses come first, in few cache lines.
 */
struct qp {
	struct nic *nic;
	uint32_t number;
	enum ibv_qp_state state;
	const struct qp_service *service;
	uint8_t type;
	uint8_t flags;
	bool has_sq;
	bool has_rq;
	bool scheduled;
	bool watched;
	bool db_suppress;
	uint8_t counted_ops;
	uint32_t answered;
	struct counters *counters;
	TAILQ_ENTRY(qp) run_link;
	struct room room;
	struct rndv rndv;
	struct odp odp;
	struct flush flush;
	struct cc cc;
	struct qp_attr attr;
	struct pd *pd;
	struct cq *send_cq;
	struct cq *recv_cq;
	struct srq *srq;
	struct xrcd *xrcd;
	struct send_queue sq;
	struct buf_window dbrec;
	uint32_t dbrec_offset;
	struct requester req;
	TAILQ_ENTRY(qp) watch_link;
	uint64_t watch_until;
	struct responder resp;
	struct recv_queue rq;
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
	struct comp_cntr *comp_cntrs[QP_COUNTED_OPS];
};

TAILQ_HEAD(qp_queue, qp);
LIST_HEAD(qp_list, qp);

#endif /* MYNIC_QP_TYPES_H */
