// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Answers of the RC responder: READ responses, atomic results, ACK and NAK.
 * Their queue is in rdma/response_queue.c.
 */

#include "rdma/response.h"

#include "base/iov.h"
#include "base/outcome.h"
#include "base/psn.h"
#include "base/verbs.h"
#include "memory/buf.h"
#include "memory/mkey.h"
#include "mynic_regs.h"
#include "packet/aeth.h"
#include "packet/opcode.h"
#include "packet/packet.h"
#include "qp/cc.h"
#include "qp/comp_cntr.h"
#include "qp/counters.h"
#include "qp/odp.h"
#include "qp/path.h"
#include "qp/qp.h"
#include "qp/qp_error.h"
#include "qp/room.h"
#include "qp/service.h"
#include "queue/xrcd.h"
#include "rdma/flush.h"
#include "rdma/response_queue.h"
#include "state/memory_types.h"
#include "state/nic_types.h"
#include "state/transport_types.h"

/*
 * Code of 81.92 ms (IBTA 9.7.5.2.8), for requests that wait for a page. The few
 * retries of a requester then last long enough. A requester without a limit
 * does not repeat the request often. The ACK ends its wait earlier.
 */
#define DEFER_TIMER 26

/* BTH opcodes by OPCODE_FIRST and OPCODE_LAST, without the service */
static const uint8_t read_opcodes[] = {
	[0] = BTH_RC_READ_RESPONSE_MIDDLE,
	[OPCODE_FIRST] = BTH_RC_READ_RESPONSE_FIRST,
	[OPCODE_LAST] = BTH_RC_READ_RESPONSE_LAST,
	[OPCODE_ONLY] = BTH_RC_READ_RESPONSE_ONLY,
};

/* Without a valid path the answer counts as lost */
static bool response_start_packet(struct qp *qp, struct packet *pkt,
				  uint32_t psn)
{
	if (!path_init(qp, &qp->attr.av, qp->attr.dest_qpn, pkt))
		return false;
	pkt->roce.psn = psn;
	return true;
}

static uint32_t response_make_aeth(uint8_t syndrome, uint32_t msn)
{
	return (uint32_t)syndrome << AETH_SYNDROME_SHIFT | msn;
}

/*
 * The code of the largest number in the table of IBTA 9.7.7.2.2 that is at most
 * @num. 2^n has code 2n, and 3 * 2^n has the code between 2n and the next.
 */
static uint8_t response_credit_code(uint32_t num)
{
	unsigned int log;

	if (num < 2)
		return num;
	log = 31 - __builtin_clz(num);
	return 2 * log + (num >> (log - 1) & 1);
}

/* Entries of an SRQ are no credits, because other QPs may take them */
static uint8_t response_ack_syndrome(struct qp *qp)
{
	const struct mynic_qp_dbrec *dbrec;
	uint32_t num = 0;

	if (!qp->has_rq)
		return AETH_ACK | AETH_NO_CREDITS;
	dbrec = qp_dbrec(qp->nic, qp);
	if (dbrec)
		num = buf_load_index(&dbrec->rq_pi) - qp->rq.ci;
	/*
	 * An impossible producer index is handled when a receive request is
	 * taken
	 */
	if (num > ring_size(&qp->rq.ring))
		num = 0;
	return AETH_ACK | response_credit_code(num + qp->rq.has_recv);
}

static void response_send_atomic(struct qp *qp, struct response *response)
{
	struct packet pkt;

	if (!response_start_packet(qp, &pkt, response->psn))
		return;
	pkt.roce.opcode = (response->empty ? BTH_RC_READ_RESPONSE_ONLY :
					     BTH_RC_ATOMIC_ACK) |
			  qp->service->bth;
	pkt.roce.aeth =
		response_make_aeth(response_ack_syndrome(qp), response->msn);
	pkt.roce.atomic_orig = response->orig;
	path_send(qp, &pkt);
}

static enum outcome response_map_read(struct qp *qp,
				      const struct response *response,
				      uint32_t len, struct packet *pkt)
{
	struct iov_list list = { .iov = pkt->iov, .max = PACKET_MAX_IOV };
	const struct mkey_range range = {
		.key = response->rkey,
		.access = IBV_ACCESS_REMOTE_READ,
		.addr = response->addr,
		.len = len,
	};
	struct page_fault fault;
	enum outcome outcome;
	struct mkey *mkey;

	pkt->payload_len = len;
	if (!len)
		return OUTCOME_OK;
	outcome = mkey_check_remote(qp, xrc_pd(qp, response->srqn), &range,
				    &mkey);
	if (outcome)
		return outcome;
	outcome = mkey_iov(qp->nic, mkey, response->addr, len, &list, &fault);
	pkt->niov = list.num;
	if (outcome != OUTCOME_NO_PAGE)
		return outcome;
	fault.len += response->left - len;
	return odp_wait(qp, MYNIC_PAGE_READ, &fault);
}

/*
 * Sends the next packet or train of a READ response; @num is the number of
 * packets
 */
static enum outcome response_send_read(struct qp *qp, struct response *response,
				       uint32_t *num)
{
	uint32_t packets = path_packets(qp, response->left);
	unsigned int position = 0;
	enum outcome outcome;
	struct packet pkt;
	uint32_t len;

	*num = 1;
	if (packets > 1 && !response->duplicate)
		*num = path_train(qp, packets);
	len = *num << path_log_mtu(qp);
	if (response->left <= len) {
		len = response->left;
		position |= OPCODE_LAST;
	}
	if (response->first)
		position |= OPCODE_FIRST;
	if (response_start_packet(qp, &pkt, response->psn)) {
		outcome = response_map_read(qp, response, len, &pkt);
		if (outcome)
			return outcome;
		if (*num > 1)
			pkt.train_mtu = path_mtu(qp);
		pkt.roce.opcode = read_opcodes[position] | qp->service->bth;
		if (position)
			pkt.roce.aeth = response_make_aeth(
				response_ack_syndrome(qp), response->msn);
		path_send(qp, &pkt);
	}
	response->first = false;
	response->psn = psn_add(response->psn, *num);
	response->addr += len;
	response->left -= len;
	return OUTCOME_OK;
}

/* The key or its memory has gone since the request arrived */
static void response_fail(struct qp *qp, const struct response *response,
			  enum outcome why)
{
	if (response->duplicate)
		return;
	responses_clear(&qp->resp);
	responses_fail(&qp->resp, response->psn, why);
	if (!response->atomic)
		comp_cntr_count(qp, MYNIC_COMP_CNTR_REMOTE_READ, 1, why);
}

/*
 * A response to a duplicate replaces those to all later requests, and does not
 * tell how many requests it answers. When the last response has been sent, all
 * have been answered.
 */
static void response_count_read(struct qp *qp, const struct response *response)
{
	struct responder *r = &qp->resp;
	uint32_t num = 0;

	if (response->psn == r->read_end)
		num = r->reads_left;
	else if (!response->duplicate && r->reads_left)
		num = 1;
	r->reads_left -= num;
	if (num)
		comp_cntr_count(qp, MYNIC_COMP_CNTR_REMOTE_READ, num,
				OUTCOME_OK);
}

static void response_pop(struct response_queue *queue)
{
	queue->first = (queue->first + 1) % queue->size;
	queue->num--;
}

/* Sends the next part of the oldest response. Returns the number of packets */
static uint32_t response_answer(struct qp *qp)
{
	struct response_queue *queue = &qp->resp.responses;
	struct response *response = responses_waiting(queue, 0);
	enum outcome outcome;
	uint32_t num = 1;

	if (response->flush_left) {
		outcome = flush_run(qp, response);
		if (outcome == OUTCOME_WAIT)
			return num;
		if (outcome)
			response_fail(qp, response, outcome);
		else
			queue->flushing = response->flush_left;
		return num;
	}
	if (response->atomic) {
		response_send_atomic(qp, response);
		response_pop(queue);
		return num;
	}
	outcome = response_send_read(qp, response, &num);
	if (outcome == OUTCOME_WAIT)
		return num;
	if (outcome)
		response_fail(qp, response, outcome);
	else if (!response->left)
		response_count_read(qp, response);
	if (queue->num && (outcome || !response->left))
		response_pop(queue);
	return num;
}

static void response_send_aeth(struct qp *qp, uint8_t syndrome, uint32_t psn)
{
	struct packet pkt;

	if (!response_start_packet(qp, &pkt, psn))
		return;
	pkt.roce.opcode = BTH_RC_ACK | qp->service->bth;
	pkt.roce.aeth = response_make_aeth(syndrome, qp->resp.msn);
	path_send(qp, &pkt);
}

static enum mynic_stat response_nak_counter(uint8_t syndrome)
{
	switch (syndrome & ~AETH_NAK) {
	case AETH_NAK_INVALID_REQUEST:
		return MYNIC_STAT_TX_NAK_INVALID;
	case AETH_NAK_REMOTE_ACCESS:
		return MYNIC_STAT_TX_NAK_ACCESS;
	default:
		return MYNIC_STAT_TX_NAK_OPERATION;
	}
}

/* A NAK acknowledges all requests before its PSN */
static void response_acknowledge(struct qp *qp)
{
	struct responder *r = &qp->resp;

	switch (r->nak) {
	case RESPONDER_NAK_NONE:
		if (r->ack)
			response_send_aeth(qp, response_ack_syndrome(qp),
					   psn_add(r->epsn, -1));
		break;
	case RESPONDER_NAK_SEQ:
		qp_count(qp, MYNIC_STAT_TX_NAK_SEQ);
		response_send_aeth(qp, r->nak_syndrome, r->epsn);
		r->gap = true;
		break;
	case RESPONDER_NAK_RNR:
		qp_count(qp, MYNIC_STAT_TX_NAK_RNR);
		response_send_aeth(qp, r->nak_syndrome, r->epsn);
		break;
	case RESPONDER_NAK_FATAL:
		qp_count(qp, response_nak_counter(r->nak_syndrome));
		response_send_aeth(qp, r->nak_syndrome, r->nak_psn);
		qp_to_error(qp->nic, qp, r->nak_event);
		break;
	}
	r->nak = RESPONDER_NAK_NONE;
	r->ack = false;
}

uint8_t responder_defer_timer(const struct qp *qp)
{
	uint8_t timer = qp->attr.min_rnr_timer;

	/* 0 is the longest time */
	return timer && timer < DEFER_TIMER ? DEFER_TIMER : timer;
}

bool responder_defers_response(struct qp *qp, uint32_t psn)
{
	const struct response_queue *queue = &qp->resp.responses;

	if (!queue->num || responses_waiting(queue, 0)->psn != psn ||
	    !odp_waits_long(qp, MYNIC_PAGE_READ))
		return false;
	qp->resp.defer = true;
	return true;
}

/* The first response waits. All before it have been sent */
static void response_wait(struct qp *qp)
{
	struct responder *r = &qp->resp;

	if (!r->defer)
		return;
	r->defer = false;
	qp_count(qp, MYNIC_STAT_TX_NAK_RNR);
	response_send_aeth(qp, AETH_RNR_NAK | responder_defer_timer(qp),
			   responses_waiting(&r->responses, 0)->psn);
}

static uint32_t response_next_len(const struct qp *qp)
{
	uint32_t left = responses_waiting(&qp->resp.responses, 0)->left;

	return left < path_mtu(qp) ? left : path_mtu(qp);
}

bool responder_run(struct qp *qp)
{
	struct response_queue *queue = &qp->resp.responses;

	for (uint32_t num = 0; num < PACKET_QUANTUM;) {
		uint32_t sent;

		if (!queue->num) {
			response_acknowledge(qp);
			return false;
		}
		if (odp_waits(&qp->odp, MYNIC_PAGE_READ) ||
		    flush_waits(&qp->flush)) {
			response_wait(qp);
			return false;
		}
		qp->resp.defer = false;
		/* Others may wait for the end of a FLUSH, which sends nothing */
		if (!responses_waiting(queue, 0)->flush_left &&
		    !room_admit(qp, qp->attr.av.dmac))
			return false;
		if (qp->cc.paced &&
		    !cc_admit(qp, CC_RESPONSES, 1, response_next_len(qp)))
			return false;
		sent = response_answer(qp);
		num += sent;
		nic_charge(qp->nic, sent);
		if (nic_turn_is_over(qp->nic))
			break;
	}
	return true;
}
