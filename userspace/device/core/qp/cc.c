// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "qp/cc.h"

#include <stddef.h>

#include "base/util.h"
#include "core.h"
#include "packet/opcode.h"
#include "qp/path.h"

#define ECN_MASK 0x03

/* Bytes of a CNP behind the BTH: reserved, zero (annex A17) */
#define CNP_PAYLOAD_LEN 16

/* Ethernet, IPv6, UDP, BTH and ICRC, which take their time on the line too */
#define HEADERS_LEN (14 + 40 + 8 + BTH_LEN + ICRC_LEN)

/* A QP's peer is told of congestion once in this time (DCQCN, 3.1) */
#define CNP_INTERVAL_NS 50000

/* The period of alpha and of rate increases, and their volume (DCQCN, 5.2) */
#define PERIOD_NS 55000
#define VOLUME_BYTES 10000000

/* The weight g of news in alpha is 1/256 (DCQCN, 5.2) */
#define ALPHA_ONE 65536
#define ALPHA_SHIFT 8

/* Periods or volumes in which a rate returns to where it was cut (DCQCN, 3.1) */
#define FAST_RECOVERY 5

/* By what the target grows after that, bit/s (DCQCN, 5.2; QCN for the second) */
#define ADDITIVE_INCREASE 40000000
#define HYPER_INCREASE 400000000

#define LINE_RATE (PORT_SPEED_MBPS * 1000000ull)

/* A packet of 4096 bytes in 3.3 ms: well within the usual ACK timeouts */
#define MIN_RATE 10000000ull

/*
 * What a QP has not sent in time because the device was late it may send later,
 * but not what it had no need to send for a long time.
 */
#define MAX_CREDIT_NS 50000

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void timer_fn(struct timer *timer)
{
	struct qp *qp = container_of(timer, struct qp, cc.timer);

	qp_schedule(qp->nic, qp);
}

int cc_init(struct qp *qp)
{
	qp->cc = (struct cc){ 0 };
	return timer_add(&qp->nic->timers, &qp->cc.timer, timer_fn);
}

void cc_fini(struct qp *qp)
{
	timer_remove(&qp->nic->timers, &qp->cc.timer);
}

void cc_reset(struct qp *qp)
{
	qp->cc.cnp_due = false;
	qp->cc.cnp_after = 0;
	qp->cc.limited = false;
	qp->cc.paced = false;
	qp->cc.ceiling = 0;
	qp->cc.next = 0;
	timer_stop(&qp->cc.timer);
}

/* Mbit/s, by enum ibv_rate; 0: as much as the port has */
static const uint32_t static_rates[] = {
	[2] = 2500,    [3] = 10000,   [4] = 30000,    [5] = 5000,
	[6] = 20000,   [7] = 40000,   [8] = 60000,    [9] = 80000,
	[10] = 120000, [11] = 14000,  [12] = 56000,   [13] = 112000,
	[14] = 168000, [15] = 25000,  [16] = 100000,  [17] = 200000,
	[18] = 300000, [19] = 28000,  [20] = 50000,   [21] = 400000,
	[22] = 600000, [23] = 800000, [24] = 1200000,
};

/* bit/s; the line's rate if the path has no other */
static uint64_t path_rate(uint8_t static_rate)
{
	uint64_t mbps = 0;

	if (static_rate < ARRAY_SIZE(static_rates))
		mbps = static_rates[static_rate];
	return mbps ? mbps * 1000000 : LINE_RATE;
}

void cc_set_ceiling(struct qp *qp, uint8_t static_rate)
{
	uint64_t ceiling = min_u64(path_rate(static_rate), LINE_RATE);
	struct cc *cc = &qp->cc;

	if (qp->attr.rate_limit)
		ceiling = min_u64(ceiling, qp->attr.rate_limit * 1000ull);
	cc->ceiling = ceiling < LINE_RATE ? ceiling : 0;
	cc->paced = cc->limited || cc->ceiling;
}

void cc_marked(struct qp *qp)
{
	uint64_t now = nic_now(qp->nic);

	if (now < qp->cc.cnp_after)
		return;
	qp->cc.cnp_after = now + CNP_INTERVAL_NS;
	qp->cc.cnp_due = true;
	qp_schedule(qp->nic, qp);
}

void cc_send_cnp(struct qp *qp)
{
	static const uint8_t reserved[CNP_PAYLOAD_LEN];
	struct packet pkt;

	qp->cc.cnp_due = false;
	if (!path_init(qp, &qp->attr.av, qp->attr.dest_qpn, &pkt))
		return;
	pkt.roce.opcode = BTH_CNP;
	pkt.roce.becn = true;
	pkt.roce.traffic_class &= ~ECN_MASK;
	pkt.iov[0] = (struct iovec){ (void *)reserved, sizeof(reserved) };
	pkt.niov = 1;
	pkt.payload_len = sizeof(reserved);
	qp_add(qp, MYNIC_STAT_TX_CNP);
	path_send(qp, &pkt);
}

/* A period is over, or a volume has been sent */
static void increase(struct qp *qp)
{
	struct cc *cc = &qp->cc;
	uint32_t least = min_u64(cc->periods, cc->volumes);
	uint32_t most = max_u64(cc->periods, cc->volumes);

	if (least > FAST_RECOVERY)
		cc->target +=
			(uint64_t)HYPER_INCREASE * (least - FAST_RECOVERY);
	else if (most >= FAST_RECOVERY)
		cc->target += ADDITIVE_INCREASE;
	cc->target = min_u64(cc->target, LINE_RATE);
	cc->rate = (cc->rate + cc->target) / 2;
	if (LINE_RATE - cc->rate > ADDITIVE_INCREASE)
		return;
	cc->limited = false;
	cc->paced = cc->ceiling;
	if (!cc->paced)
		timer_stop(&cc->timer);
}

/*
 * Make up for the periods that are over. They are as many as it takes from the
 * lowest rate to the line's at most: some thousands.
 */
static void catch_up(struct qp *qp, uint64_t now)
{
	struct cc *cc = &qp->cc;

	while (cc->limited && now >= cc->period_end) {
		cc->period_end += PERIOD_NS;
		cc->periods++;
		cc->alpha -= cc->alpha >> ALPHA_SHIFT;
		increase(qp);
	}
}

/* What says that it knows no ECN is not marked, so a CNP is not about it */
static bool sends_ecn(const struct qp *qp)
{
	return qp->attr.ece_options & MYNIC_ECE_ECN ||
	       qp->attr.av.traffic_class & ECN_MASK;
}

void cc_cnp(struct qp *qp)
{
	uint64_t now = nic_now(qp->nic);
	struct cc *cc = &qp->cc;

	qp_add(qp, MYNIC_STAT_RX_CNP);
	if (!sends_ecn(qp))
		return;
	if (cc->limited)
		catch_up(qp, now);
	if (!cc->limited) {
		cc->limited = true;
		cc->paced = true;
		cc->rate = LINE_RATE;
		cc->alpha = ALPHA_ONE;
		cc->next = max_u64(cc->next, now);
	}
	cc->target = cc->rate;
	cc->rate -= cc->rate * cc->alpha / (2 * ALPHA_ONE);
	cc->rate = max_u64(cc->rate, MIN_RATE);
	cc->alpha += (ALPHA_ONE - cc->alpha) >> ALPHA_SHIFT;
	cc->periods = 0;
	cc->period_end = now + PERIOD_NS;
	cc->volumes = 0;
	cc->volume = 0;
}

/* bit/s; only if the QP is paced */
static uint64_t current_rate(const struct cc *cc)
{
	if (!cc->limited)
		return cc->ceiling;
	return cc->ceiling ? min_u64(cc->rate, cc->ceiling) : cc->rate;
}

bool cc_admit(struct qp *qp, enum cc_flow flow, uint32_t len)
{
	enum cc_flow other = flow == CC_REQUESTS ? CC_RESPONSES : CC_REQUESTS;
	uint64_t now = nic_now(qp->nic);
	struct cc *cc = &qp->cc;

	catch_up(qp, now);
	if (!cc->paced)
		return true;
	if (now < cc->next) {
		if (!timer_is_set(&cc->timer))
			qp_add(qp, MYNIC_STAT_RATE_LIMITED);
		timer_set(&qp->nic->timers, &cc->timer, cc->next);
		cc->waits[flow] = true;
		return false;
	}
	if (cc->last == flow && cc->waits[other]) {
		/* If that has nothing to send any more, it has had its turn */
		cc->waits[other] = false;
		qp_schedule(qp->nic, qp);
		return false;
	}
	cc->last = flow;
	cc->waits[flow] = false;
	if (qp->type != MYNIC_QP_RAW_PACKET)
		len += HEADERS_LEN;
	cc->next = max_u64(cc->next, now - min_u64(now, MAX_CREDIT_NS)) +
		   len * 8000000000ull / current_rate(cc);
	if (!cc->limited)
		return true;
	cc->volume += len;
	if (cc->volume >= VOLUME_BYTES) {
		cc->volume -= VOLUME_BYTES;
		cc->volumes++;
		increase(qp);
	}
	return true;
}
