// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The RC requester: sending, probes, retries and timers. Answers are handled in
 * completer.c; estimates of the path are in qp/loss_recovery.c.
 */

#include "rdma/requester.h"

#include <errno.h>

#include "base/outcome.h"
#include "base/psn.h"
#include "base/util.h"
#include "base/verbs.h"
#include "mynic_regs.h"
#include "packet/opcode.h"
#include "packet/packet.h"
#include "qp/cc.h"
#include "qp/counters.h"
#include "qp/loss_recovery.h"
#include "qp/odp.h"
#include "qp/path.h"
#include "qp/qp.h"
#include "qp/room.h"
#include "qp/service.h"
#include "queue/local.h"
#include "queue/sq.h"
#include "queue/wqe.h"
#include "rdma/message_packet.h"
#include "state/nic_types.h"
#include "state/queue_types.h"
#include "state/transport_types.h"

/* log2 of the acknowledgments that are requested for one window */
#define ACK_SHIFT 2

/* Packets of the response that one request packet of a READ asks for */
#define MIN_PIECE 4

/*
 * Upper bound of the time between probes, which grows while the peer is silent
 */
#define MAX_PROBE_NS 1000000000
#define MAX_PROBES 16

/* Time between looks for room. Many QPs may have nothing else to do */
#define ROOM_PAUSE_NS 20000000

#define RNR_RETRY_FOREVER 7

/* Unit in ns of the ACK timeout, 4.096 us times 2^timeout (IBTA 9.7.6.1.3) */
#define TIMEOUT_UNIT 4096

/* Times of the RNR NAK timer field, in units of 10 us (IBTA 9.7.5.2.8) */
#define RNR_TIME_UNIT 10000
static const uint32_t rnr_times[32] = {
	65536, 1,    2,	   3,	 4,    6,     8,     12,    16,	   24,	  32,
	48,    64,   96,   128,	 192,  256,   384,   512,   768,   1024,  1536,
	2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
};

/*
 * A peer without receive requests mostly has some again long before the time of
 * its RNR NAK is over. It will often run out of them again. For some time after
 * an RNR NAK, the requester therefore waits for a credit before it sends
 * without one. It waits for this time, or for a fraction of the last RNR time.
 * A peer that always posts its receive requests in time sends no RNR NAKs. It
 * is not waited for, although it may report no credits.
 */
#define CREDIT_WAIT_NS 100000
#define CREDIT_WAIT_SHIFT 2
#define CREDIT_WAIT_PERIOD_NS 20000000

void requester_start(struct qp *qp)
{
	struct requester *q = &qp->req;

	q->max_psn = qp->sq.psn;
	q->resumed = qp->sq.psn;
	q->window_base = qp->sq.psn;
	q->ack_psn = qp->sq.psn;
	q->recvs = 0;
	q->counts_credits = false;
	q->credit_wait_end = 0;
	q->probing = false;
	q->probes = 0;
	loss_recovery_start(&q->loss, qp->sq.psn);
}

static void requester_stop_waiting(struct requester *q)
{
	timer_stop(&q->ack_timeout);
	timer_stop(&q->probe);
}

static bool requester_waits_for_ack(const struct requester *q)
{
	return timer_is_set(&q->probe) || timer_is_set(&q->ack_timeout);
}

void requester_stop(struct qp *qp)
{
	requester_stop_waiting(&qp->req);
	timer_stop(&qp->req.rnr);
	timer_stop(&qp->req.credit);
}

void requester_reset(struct qp *qp)
{
	struct requester *q = &qp->req;

	requester_stop(qp);
	q->rd_atomic = 0;
	q->went_back = false;
}

static bool requester_is_rd_atomic(const struct send_req *req)
{
	return req->traits & SEND_HAS_RESPONSE;
}

static bool requester_takes_recv(const struct send_req *req)
{
	return req->traits & SEND_TAKES_RECV;
}

static uint64_t requester_ack_timeout(const struct qp *qp)
{
	return (uint64_t)TIMEOUT_UNIT << qp->attr.timeout;
}

/*
 * Silence in ns after which the next probe is due; 0: no probe. Large
 * deviations would make the probe late, but it must come before the ACK
 * timeout.
 */
static uint64_t requester_probe_time(const struct qp *qp)
{
	const struct requester *q = &qp->req;
	uint64_t wait = q->loss.probe_after;
	uint64_t limit = requester_ack_timeout(qp) / 8;

	if (qp->attr.timeout && wait > limit &&
	    limit > LOSS_RECOVERY_MIN_PROBE_NS)
		wait = limit;
	wait <<= q->probes;
	return wait < MAX_PROBE_NS ? wait : MAX_PROBE_NS;
}

/* Probes come before the ACK timeout, so one of the two timers is enough */
static void requester_wait_for_ack(struct qp *qp, uint64_t now)
{
	struct requester *q = &qp->req;
	uint64_t wait = requester_probe_time(qp);

	if (wait && now + wait < q->ack_due) {
		timer_cancel(&qp->nic->timers, &q->ack_timeout);
		timer_set(&qp->nic->timers, &q->probe, now + wait);
		return;
	}
	requester_stop_waiting(q);
	if (q->ack_due != TIMER_NEVER)
		timer_set(&qp->nic->timers, &q->ack_timeout, q->ack_due);
}

static void requester_restart_timer(struct qp *qp, uint64_t now)
{
	struct requester *q = &qp->req;

	q->quiet_since = now;
	q->ack_due = qp->attr.timeout ? now + requester_ack_timeout(qp) :
					TIMER_NEVER;
	timer_stop(&q->credit);
	if (q->una == q->max_psn)
		requester_stop_waiting(q);
	else
		requester_wait_for_ack(qp, now);
}

/* An answer is waited for that was not waited for before */
static void requester_start_timer(struct qp *qp, uint64_t now)
{
	qp->req.place = REQUESTER_SENT;
	qp->req.num_resumes = qp->nic->rooms.num_resumes;
	requester_restart_timer(qp, now);
}

static void requester_fill_counters(struct qp *qp)
{
	qp->req.retry_left = qp->attr.retry_cnt;
	qp->req.rnr_left = qp->attr.rnr_retry;
}

void requester_progress(struct qp *qp, uint64_t now)
{
	struct requester *q = &qp->req;

	/*
	 * The requester may have gone back to packets that are acknowledged now
	 */
	if (seq_before(qp->sq.psn, q->una)) {
		qp->sq.psn = q->una;
		q->resumed = q->una;
	}
	/* Old values must not become "ahead" again when PSNs wrap */
	if (seq_before(q->window_base, q->una))
		q->window_base = q->una;
	requester_fill_counters(qp);
	timer_stop(&q->rnr);
	q->went_back = false;
	q->probing = false;
	loss_recovery_acked(&q->loss, q->una, now);
	if (q->probes)
		loss_recovery_probed(&q->loss, now - q->quiet_since);
	q->probes = 0;
	requester_start_timer(qp, now);
}

static void requester_go_back(struct qp *qp)
{
	struct requester *q = &qp->req;

	qp->sq.cur = qp->sq.ci;
	qp->sq.psn = q->una;
	q->resumed = q->una;
	q->window_base = q->una;
	q->ack_psn = q->una;
	q->rd_atomic = 0;
	q->probing = false;
}

void requester_resend(struct qp *qp)
{
	struct requester *q = &qp->req;

	loss_recovery_lost(&q->loss, q->una, nic_now(qp->nic));
	requester_go_back(qp);
}

void requester_retry(struct qp *qp)
{
	struct requester *q = &qp->req;

	if (!q->retry_left) {
		qp_count(qp, MYNIC_STAT_RETRY_EXCEEDED);
		sq_fail(qp, OUTCOME_RETRY);
		return;
	}
	q->retry_left--;
	requester_resend(qp);
	requester_start_timer(qp, nic_now(qp->nic));
}

void requester_rnr(struct qp *qp, unsigned int timer)
{
	uint64_t time = (uint64_t)RNR_TIME_UNIT * rnr_times[timer];
	struct requester *q = &qp->req;
	uint64_t now = nic_now(qp->nic);

	if (!q->rnr_left) {
		qp_count(qp, MYNIC_STAT_RNR_RETRY_EXCEEDED);
		sq_fail(qp, OUTCOME_RNR_RETRY);
		return;
	}
	if (qp->attr.rnr_retry != RNR_RETRY_FOREVER)
		q->rnr_left--;
	loss_recovery_unclear(&q->loss, q->max_psn, now);
	requester_go_back(qp);
	requester_stop_waiting(q);
	timer_set(&qp->nic->timers, &q->rnr, now + time);
	q->credit_wait = time >> CREDIT_WAIT_SHIFT;
	if (q->credit_wait > CREDIT_WAIT_NS)
		q->credit_wait = CREDIT_WAIT_NS;
	q->credit_wait_end = now + time + CREDIT_WAIT_PERIOD_NS;
}

/* Whether the current request exceeds the credits of the peer */
static bool requester_lacks_credit(const struct requester *q,
				   const struct send_req *req)
{
	uint32_t recv = req->num_psn ? req->recv_index : q->recvs;

	return q->counts_credits && requester_takes_recv(req) &&
	       !seq_before(recv, q->credit_end);
}

static bool requester_waits_for_credit(struct qp *qp)
{
	struct requester *q = &qp->req;
	uint64_t due = q->quiet_since + q->credit_wait;
	uint64_t now = nic_now(qp->nic);

	if (now >= q->credit_wait_end || now >= due)
		return false;
	timer_set(&qp->nic->timers, &q->credit, due);
	return true;
}

/*
 * Without a credit only one packet is sent. The rest of the message follows
 * when the peer has accepted it (IBTA 9.7.7.2.5).
 */
static bool requester_may_send_without_credit(struct qp *qp,
					      const struct send_req *req)
{
	const struct requester *q = &qp->req;

	if (req->num_psn && qp->sq.psn != req->first_psn)
		return seq_before(req->first_psn, q->una);
	if (qp->sq.psn != q->una)
		return false;
	return q->una != q->max_psn || !requester_waits_for_credit(qp);
}

/*
 * A responder that has answered the whole READ need not remember what precedes
 * a part that it is asked for again. rxe does not remember it.
 */
static bool requester_is_out_of_turn(const struct qp *qp,
				     const struct send_req *req)
{
	uint32_t psn = qp->sq.psn;

	return req->opcode == IBV_WR_RDMA_READ && req->piece && req->in_turn &&
	       psn != req->first_psn && psn != qp->req.una;
}

/* Number of packets that may be sent before the next acknowledgment */
static int32_t requester_room(const struct qp *qp)
{
	const struct requester *q = &qp->req;
	uint32_t base = q->una;

	if (!q->loss.lossy && seq_before(base, q->window_base))
		base = q->window_base;
	return q->loss.window - (qp->sq.psn - base);
}

/* Whether fences, limits and the window allow the next packet */
static bool requester_may_send(struct qp *qp, const struct send_req *req)
{
	const struct requester *q = &qp->req;
	bool starts = !req->num_psn || qp->sq.psn == req->first_psn;

	if (starts && req->flags & IBV_SEND_FENCE && q->rd_atomic)
		return false;
	if (requester_is_rd_atomic(req) &&
	    q->rd_atomic >= qp->attr.max_rd_atomic)
		return false;
	if (!req->num_psn &&
	    qp->sq.psn - q->una + path_packets(qp, req->length) > PSN_HALF)
		return false;
	if (req->num_psn && requester_is_out_of_turn(qp, req))
		return false;
	if (requester_lacks_credit(q, req) &&
	    !requester_may_send_without_credit(qp, req))
		return false;
	return requester_room(qp) > 0;
}

/* Sends a packet that is complete; @next is the PSN behind it */
static void requester_send_packet(struct qp *qp, struct packet *pkt,
				  uint32_t next)
{
	struct requester *q = &qp->req;
	bool again = seq_before(qp->sq.psn, q->max_psn);
	bool starts_timer = q->una == q->max_psn || qp->sq.psn == q->una ||
			    !requester_waits_for_ack(q);
	uint64_t now = 0;
	bool measures;

	pkt->roce.psn = qp->sq.psn & PSN_MASK;
	if (again)
		qp_count(qp, MYNIC_STAT_RETRANSMIT);
	if (pkt->roce.ack_req)
		q->ack_psn = next;
	measures = !q->loss.timing &&
		   (pkt->roce.ack_req || !q->loss.probe_after);
	if (measures || starts_timer)
		now = nic_now(qp->nic);
	if (measures)
		loss_recovery_sent(&q->loss, qp->sq.psn, q->una, now);
	/* Attributes that were set in SQD apply from the next request on */
	if (q->una == q->max_psn)
		requester_fill_counters(qp);
	qp->sq.psn = next;
	if (seq_before(q->max_psn, next))
		q->max_psn = next;
	if (starts_timer)
		requester_start_timer(qp, now);
	path_send(qp, pkt);
}

/* @next: PSN behind the packet */
static bool requester_wants_ack(const struct requester *q,
				const struct send_req *req, uint32_t next)
{
	uint32_t part = q->loss.window >> ACK_SHIFT;

	return next - q->ack_psn >= part || requester_lacks_credit(q, req);
}

/* Packets that are sent again, or without a credit, do not form trains */
static uint32_t requester_num_together(const struct qp *qp,
				       const struct send_req *req,
				       uint32_t left)
{
	const struct requester *q = &qp->req;
	uint32_t num = min_u32(requester_room(qp), left);

	if (num < 2 || qp->sq.psn != q->max_psn || q->loss.lossy ||
	    requester_lacks_credit(q, req))
		return 1;
	return path_train(qp, num);
}

/* Sends a packet of a SEND or RDMA WRITE */
static enum outcome requester_send_data(struct qp *qp,
					const struct send_req *req,
					struct packet *pkt)
{
	struct requester *q = &qp->req;
	uint32_t index = qp->sq.psn - req->first_psn;
	enum outcome outcome;
	uint32_t num = 1;

	if (index + 1 < req->num_psn)
		num = requester_num_together(qp, req, req->num_psn - index);
	outcome = message_packet_build(qp, req, index * path_mtu(qp), num, pkt);
	if (outcome)
		return outcome;
	pkt->roce.ack_req = requester_wants_ack(q, req, qp->sq.psn + num);
	if (index + num == req->num_psn) {
		pkt->roce.ack_req = true;
		qp->sq.cur++;
	}
	requester_send_packet(qp, pkt, qp->sq.psn + num);
	return OUTCOME_OK;
}

uint32_t requester_piece_left(const struct send_req *req, uint32_t psn)
{
	uint32_t left = req->first_psn + req->num_psn - psn;
	int32_t behind = psn - req->cut_psn;
	uint32_t piece = -behind;

	if (!req->piece)
		return left;
	if (behind >= 0)
		piece = req->piece - behind % req->piece;
	return min_u32(piece, left);
}

/*
 * A responder sends all that was requested at once. On a lossy path it is asked
 * for at most a window, so that less is sent in vain after a loss. Several
 * requests keep the path busy if the QP may have several.
 */
static uint32_t requester_piece_packets(const struct qp *qp)
{
	uint32_t num = qp->attr.max_rd_atomic < 8 ? qp->attr.max_rd_atomic : 8;
	uint32_t piece = 2 * qp->req.loss.window / num;

	return piece > MIN_PIECE ? piece : MIN_PIECE;
}

/*
 * After a retry, the parts of a response that have arrived are not requested
 * again
 */
static void requester_send_read(struct qp *qp, struct send_req *req,
				struct packet *pkt)
{
	struct requester *q = &qp->req;
	uint32_t index = qp->sq.psn - req->first_psn;
	uint32_t offset = index * path_mtu(qp);
	uint32_t len = req->length - offset;
	uint32_t num = req->num_psn - index;
	uint32_t piece;

	/* Only if no response to other pieces is on its way */
	if (q->loss.lossy && !req->piece && (!index || qp->sq.psn == q->una)) {
		req->piece = requester_piece_packets(qp);
		req->cut_psn = qp->sq.psn;
		req->in_turn = seq_before(qp->sq.psn, q->max_psn);
	}
	piece = requester_piece_left(req, qp->sq.psn);
	if (num > piece) {
		num = piece;
		len = num * path_mtu(qp);
	} else {
		qp->sq.cur++;
	}
	pkt->roce.opcode = BTH_RC_READ_REQUEST | qp->service->bth;
	pkt->roce.remote_addr = req->remote_addr + offset;
	pkt->roce.rkey = req->rkey;
	pkt->roce.dma_len = len;
	pkt->roce.ack_req = true;
	q->rd_atomic++;
	requester_send_packet(qp, pkt, qp->sq.psn + num);
	q->window_base = qp->sq.psn;
}

/* Sends a request of one packet that has a response of its own */
static void requester_send_alone(struct qp *qp, const struct send_req *req,
				 struct packet *pkt)
{
	struct requester *q = &qp->req;

	pkt->roce.opcode |= qp->service->bth;
	pkt->roce.remote_addr = req->remote_addr;
	pkt->roce.rkey = req->rkey;
	pkt->roce.ack_req = true;
	q->rd_atomic++;
	qp->sq.cur++;
	requester_send_packet(qp, pkt, qp->sq.psn + 1);
	q->window_base = qp->sq.psn;
}

static void requester_send_atomic(struct qp *qp, const struct send_req *req,
				  struct packet *pkt)
{
	if (req->opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
		pkt->roce.opcode = BTH_RC_CMP_SWAP;
		pkt->roce.compare = req->compare_add;
		pkt->roce.swap_add = req->swap;
	} else {
		pkt->roce.opcode = BTH_RC_FETCH_ADD;
		pkt->roce.swap_add = req->compare_add;
		/* Not used, but sent */
		pkt->roce.compare = 0;
	}
	requester_send_alone(qp, req, pkt);
}

static enum outcome requester_send_atomic_write(struct qp *qp,
						const struct send_req *req,
						struct packet *pkt)
{
	enum outcome outcome = send_payload(qp, req, 0, req->length, pkt);

	if (outcome)
		return outcome;
	pkt->roce.opcode = BTH_RC_ATOMIC_WRITE;
	pkt->roce.dma_len = req->length;
	requester_send_alone(qp, req, pkt);
	return OUTCOME_OK;
}

static void requester_send_flush(struct qp *qp, const struct send_req *req,
				 struct packet *pkt)
{
	pkt->roce.opcode = BTH_RC_FLUSH;
	pkt->roce.feth = req->feth;
	pkt->roce.dma_len = req->flush_len;
	requester_send_alone(qp, req, pkt);
}

/* Returns false if there is no path to the peer */
static bool requester_init_packet(const struct qp *qp,
				  const struct send_req *req,
				  struct packet *pkt)
{
	if (!path_init(qp, &qp->attr.av, qp->attr.dest_qpn, pkt))
		return false;
	pkt->roce.srqn = req->remote_srqn;
	return true;
}

static enum outcome requester_send_one(struct qp *qp, struct send_req *req)
{
	enum outcome outcome = OUTCOME_OK;
	struct packet pkt;

	if (!requester_init_packet(qp, req, &pkt))
		return OUTCOME_BAD_GID;
	switch (req->opcode) {
	case IBV_WR_RDMA_READ:
		requester_send_read(qp, req, &pkt);
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		requester_send_atomic(qp, req, &pkt);
		break;
	case IBV_WR_ATOMIC_WRITE:
		outcome = requester_send_atomic_write(qp, req, &pkt);
		break;
	case IBV_WR_FLUSH:
		requester_send_flush(qp, req, &pkt);
		break;
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
	case IBV_WR_SEND_WITH_INV:
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		outcome = requester_send_data(qp, req, &pkt);
		break;
	default:
		outcome = OUTCOME_BAD_OPCODE;
	}
	return outcome;
}

/*
 * Sends only the oldest packet of a SEND or RDMA WRITE again. The answer tells
 * whether later ones have arrived.
 */
static enum outcome requester_send_probe(struct qp *qp)
{
	const struct send_req *req = sq_req(&qp->sq, qp->sq.ci);
	uint32_t psn = qp->req.una;
	enum outcome outcome;
	struct packet pkt;

	if (!requester_init_packet(qp, req, &pkt))
		return OUTCOME_BAD_GID;
	outcome = message_packet_build(
		qp, req, (psn - req->first_psn) * path_mtu(qp), 1, &pkt);
	if (outcome)
		return outcome;
	pkt.roce.psn = psn & PSN_MASK;
	pkt.roce.ack_req = true;
	qp_count(qp, MYNIC_STAT_RETRANSMIT);
	path_send(qp, &pkt);
	return OUTCOME_OK;
}

static void requester_probe_data(struct qp *qp)
{
	struct requester *q = &qp->req;

	if (requester_send_probe(qp)) {
		/* requester_run() waits for the page, or reports the error */
		requester_go_back(qp);
		q->went_back = true;
		return;
	}
	q->probing = true;
	q->probe_psn = q->una;
	q->probe_end = qp->sq.psn;
	q->probe_at = nic_now(qp->nic);
}

static void requester_probe(struct qp *qp, uint64_t now)
{
	struct requester *q = &qp->req;

	if (q->probes < MAX_PROBES)
		q->probes++;
	requester_wait_for_ack(qp, now);
	/* After going back, the packet will be sent anyway */
	if (qp->sq.psn == q->una)
		return;
	qp_count(qp, MYNIC_STAT_PROBE);
	loss_recovery_unclear(&q->loss, q->max_psn, now);
	if (requester_is_rd_atomic(sq_req(&qp->sq, qp->sq.ci))) {
		requester_resend(qp);
		q->went_back = true;
	} else {
		requester_probe_data(qp);
	}
}

/* The packet is still to be sent again */
static bool requester_waits_to_repeat(const struct qp *qp)
{
	return qp->room.waits && qp->sq.psn == qp->req.una;
}

/* The packet may be in a queue that has no room. Returns false if it has left */
static bool requester_is_queued(struct qp *qp)
{
	int way = room_full_way(qp, qp->attr.av.dmac);
	struct requester *q = &qp->req;
	uint32_t num_resumes;

	if (way < 0)
		return false;
	num_resumes = qp->nic->rooms.ways[way].num_resumes;
	if (q->place == REQUESTER_SENT || q->way != way) {
		q->place = REQUESTER_QUEUED;
		q->way = way;
		q->leaves = num_resumes + 2;
	}
	return seq_before(num_resumes, q->leaves);
}

/*
 * Whether an answer cannot be expected yet. Its time begins when the packet that
 * asks for it has left
 */
static bool requester_waits_for_room(struct qp *qp, uint64_t now)
{
	bool repeats = requester_waits_to_repeat(qp);
	uint64_t until = now + ROOM_PAUSE_NS;
	struct requester *q = &qp->req;

	if (!repeats && (q->place == REQUESTER_LEFT ||
			 (q->place == REQUESTER_SENT &&
			  q->num_resumes == qp->nic->rooms.num_resumes &&
			  room_full_way(qp, qp->attr.av.dmac) < 0)))
		return false;
	q->probes = 0;
	requester_restart_timer(qp, now);
	if (!repeats && !requester_is_queued(qp)) {
		q->place = REQUESTER_LEFT;
	} else if (requester_waits_for_ack(q)) {
		requester_stop_waiting(q);
		q->ack_due = max_u64(q->ack_due, until);
		timer_set(&qp->nic->timers, &q->ack_timeout, until);
	}
	return true;
}

static bool requester_can_repeat(const struct qp *qp)
{
	return qp->state == IBV_QPS_RTS || qp->state == IBV_QPS_SQD;
}

/*
 * Whether packets can be sent again. An answer may have arrived and wait for a
 * page, or the packet that asks for it waits for one. The time starts again
 * then.
 */
static bool requester_may_repeat(struct qp *qp, uint64_t now)
{
	if (!requester_can_repeat(qp))
		return false;
	if (!odp_holds(&qp->odp) && !odp_waits(&qp->odp, MYNIC_PAGE_SEND))
		return true;
	requester_restart_timer(qp, now);
	return false;
}

static void requester_time_out(struct qp *qp, uint64_t now)
{
	struct requester *q = &qp->req;

	qp_count(qp, MYNIC_STAT_TIMEOUT);
	q->went_back = false;
	loss_recovery_unclear(&q->loss, q->max_psn, now);
	requester_retry(qp);
}

static void requester_ack_timeout_fn(struct timer *timer)
{
	struct qp *qp = container_of(timer, struct qp, req.ack_timeout);
	uint64_t now = nic_now(qp->nic);

	if (requester_can_repeat(qp) && requester_waits_for_room(qp, now))
		return;
	if (requester_may_repeat(qp, now))
		requester_time_out(qp, now);
	qp_schedule(qp->nic, qp);
}

/* A probe is as large as any packet */
static void requester_probe_later(struct qp *qp, uint64_t now)
{
	struct requester *q = &qp->req;

	timer_set(&qp->nic->timers, &q->probe,
		  min_u64(now + ROOM_PAUSE_NS, q->ack_due));
}

static void requester_probe_fn(struct timer *timer)
{
	struct qp *qp = container_of(timer, struct qp, req.probe);
	uint64_t now = nic_now(qp->nic);

	if (requester_can_repeat(qp) && requester_waits_for_room(qp, now))
		return;
	if (requester_may_repeat(qp, now)) {
		/* A NIC that runs late may have missed the ACK timeout, too */
		if (now >= qp->req.ack_due) {
			requester_time_out(qp, now);
		} else if (room_full_way(qp, qp->attr.av.dmac) < 0) {
			requester_probe(qp, now);
		} else {
			requester_probe_later(qp, now);
			return;
		}
	}
	qp_schedule(qp->nic, qp);
}

static void requester_rnr_fn(struct timer *timer)
{
	struct qp *qp = container_of(timer, struct qp, req.rnr);

	qp_schedule(qp->nic, qp);
}

static void requester_credit_fn(struct timer *timer)
{
	struct qp *qp = container_of(timer, struct qp, req.credit);

	qp_schedule(qp->nic, qp);
}

int requester_init(struct qp *qp)
{
	struct timers *timers = &qp->nic->timers;
	struct requester *q = &qp->req;

	if (timer_add(timers, &q->ack_timeout, requester_ack_timeout_fn))
		return -ENOMEM;
	if (timer_add(timers, &q->probe, requester_probe_fn))
		goto err_ack_timeout;
	if (timer_add(timers, &q->rnr, requester_rnr_fn))
		goto err_probe;
	if (!timer_add(timers, &q->credit, requester_credit_fn))
		return 0;
	timer_remove(timers, &q->rnr);
err_probe:
	timer_remove(timers, &q->probe);
err_ack_timeout:
	timer_remove(timers, &q->ack_timeout);
	return -ENOMEM;
}

void requester_fini(struct qp *qp)
{
	timer_remove(&qp->nic->timers, &qp->req.ack_timeout);
	timer_remove(&qp->nic->timers, &qp->req.probe);
	timer_remove(&qp->nic->timers, &qp->req.rnr);
	timer_remove(&qp->nic->timers, &qp->req.credit);
}

static uint32_t requester_next_len(const struct qp *qp,
				   const struct send_req *req)
{
	uint32_t left;

	if (requester_is_rd_atomic(req))
		return 0;
	left = req->length - (qp->sq.psn - req->first_psn) * path_mtu(qp);
	return left < path_mtu(qp) ? left : path_mtu(qp);
}

static void requester_begin(struct qp *qp, struct send_req *req)
{
	struct requester *q = &qp->req;

	req->first_psn = qp->sq.psn;
	req->num_psn = path_packets(qp, req->length);
	req->piece = 0;
	req->recv_index = q->recvs;
	q->recvs += requester_takes_recv(req);
}

/*
 * Requests before a LOCAL_INV may still need the key, even to be sent again.
 * Other local requests only have to be done before later requests.
 */
static bool requester_may_run_local(const struct qp *qp,
				    const struct send_req *req)
{
	if (req->opcode == IBV_WR_LOCAL_INV)
		return qp->sq.ci == qp->sq.cur;
	return !(req->flags & IBV_SEND_FENCE && qp->req.rd_atomic);
}

static enum outcome requester_run_local(struct qp *qp, struct send_req *req)
{
	enum outcome outcome;

	if (!req->done) {
		if (!requester_may_run_local(qp, req))
			return OUTCOME_WAIT;
		outcome = local_run(qp, req);
		if (outcome)
			return outcome;
		req->done = true;
	}
	if (qp->sq.ci != qp->sq.cur)
		qp->sq.cur++;
	else if (!sq_complete(qp, 1, nic_now(qp->nic)))
		return OUTCOME_WAIT;
	return OUTCOME_OK;
}

static enum outcome requester_check(const struct qp *qp,
				    const struct send_req *req)
{
	if (requester_is_rd_atomic(req) && !qp->attr.max_rd_atomic)
		return OUTCOME_BAD_OPCODE;
	return req->outcome;
}

/*
 * The current request waits or has failed. One that has failed ends after those
 * before it, which may still succeed. Returns true if there is more to do now.
 */
static bool requester_end(struct qp *qp, struct send_req *req,
			  enum outcome outcome)
{
	if (outcome == OUTCOME_WAIT)
		return false;
	if (qp->sq.ci != qp->sq.cur) {
		req->outcome = outcome;
		return false;
	}
	sq_fail(qp, outcome);
	return true;
}

bool requester_run(struct qp *qp)
{
	struct requester *q = &qp->req;

	for (uint32_t num = 0; num < PACKET_QUANTUM;) {
		uint32_t before = num;
		uint32_t psn = qp->sq.psn;
		enum outcome outcome;
		struct send_req *req;

		if (requester_waits_for_rnr(q))
			return false;
		req = sq_next(qp);
		if (!req)
			return false;
		outcome = requester_check(qp, req);
		if (outcome)
			return requester_end(qp, req, outcome);
		if (req->traits & SEND_IS_LOCAL) {
			outcome = requester_run_local(qp, req);
			if (outcome)
				return requester_end(qp, req, outcome);
			num++;
			nic_charge(qp->nic, 1);
			continue;
		}
		if (!requester_may_send(qp, req))
			return false;
		if (!room_admit(qp, qp->attr.av.dmac))
			return false;
		if (!req->num_psn)
			requester_begin(qp, req);
		if (qp->cc.paced &&
		    !cc_admit(qp, CC_REQUESTS, 1, requester_next_len(qp, req)))
			return false;
		outcome = requester_send_one(qp, req);
		if (outcome)
			return requester_end(qp, req, outcome);
		/* A READ takes the PSNs of its response */
		num += requester_is_rd_atomic(req) ? 1 : qp->sq.psn - psn;
		nic_charge(qp->nic, num - before);
		if (nic_turn_is_over(qp->nic))
			break;
	}
	return true;
}
