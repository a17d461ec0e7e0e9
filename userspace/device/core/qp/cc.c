// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Congestion control: the sender's and the receiver's part of DCQCN, and static
 * rates. Both pace a QP by the time of its next packet.
 */

#include "qp/cc.h"

#include <sys/uio.h>

#include "base/timer.h"
#include "base/util.h"
#include "mynic_regs.h"
#include "packet/opcode.h"
#include "packet/packet.h"
#include "qp/counters.h"
#include "qp/path.h"
#include "qp/qp.h"
#include "qp/service.h"
#include "state/function_types.h"
#include "state/nic_types.h"

/* Bytes of a CNP behind the BTH, reserved and zero (annex A17) */
#define CNP_PAYLOAD_LEN 16

/* Ethernet, IPv6, UDP, BTH and ICRC, which occupy the line like payload */
#define HEADERS_LEN (14 + 40 + 8 + BTH_LEN + ICRC_LEN)

/* Shortest time between two CNPs to the peer of a QP (DCQCN, 3.1) */
#define CNP_INTERVAL_NS 50000

/*
 * Period of updates of alpha and of rate increases, and their volume (DCQCN,
 * 5.2)
 */
#define PERIOD_NS 55000
#define VOLUME_BYTES 10000000

/* The weight g of new information in alpha is 1/256 (DCQCN, 5.2) */
#define ALPHA_ONE 65536
#define ALPHA_SHIFT 8

/*
 * Number of periods or volumes in which a rate returns to its value before the
 * cut (DCQCN, 3.1)
 */
#define FAST_RECOVERY 5

/*
 * Growth of the target rate after that, in bit/s (DCQCN, 5.2; the second: QCN)
 */
#define ADDITIVE_INCREASE 40000000
#define HYPER_INCREASE 400000000

#define LINE_RATE (PORT_SPEED_MBPS * 1000000ull)

/*
 * At this rate a packet of 4096 bytes takes 3.3 ms, well below usual ACK
 * timeouts
 */
#define MIN_RATE 10000000ull

/*
 * Upper bound for the time that a QP may catch up. It makes up for delays in
 * the device, but not for times without requests.
 */
#define MAX_CREDIT_NS 50000

static void cc_timer_fn(struct timer *timer)
{
	struct qp *qp = container_of(timer, struct qp, cc.timer);

	qp_schedule(qp->nic, qp);
}

int cc_init(struct qp *qp)
{
	qp->cc = (struct cc){ 0 };
	return timer_add(&qp->nic->timers, &qp->cc.timer, cc_timer_fn);
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

/* Rates in Mbit/s, by enum ibv_rate; 0: no limit but the port's */
static const uint32_t static_rates[] = {
	[2] = 2500,    [3] = 10000,   [4] = 30000,    [5] = 5000,
	[6] = 20000,   [7] = 40000,   [8] = 60000,    [9] = 80000,
	[10] = 120000, [11] = 14000,  [12] = 56000,   [13] = 112000,
	[14] = 168000, [15] = 25000,  [16] = 100000,  [17] = 200000,
	[18] = 300000, [19] = 28000,  [20] = 50000,   [21] = 400000,
	[22] = 600000, [23] = 800000, [24] = 1200000,
};

/* Rate in bit/s; that of the line if the path has no limit */
static uint64_t cc_path_rate(uint8_t static_rate)
{
	uint64_t mbps = 0;

	if (static_rate < ARRAY_SIZE(static_rates))
		mbps = static_rates[static_rate];
	return mbps ? mbps * 1000000 : LINE_RATE;
}

void cc_set_ceiling(struct qp *qp, uint8_t static_rate)
{
	uint64_t ceiling = min_u64(cc_path_rate(static_rate), LINE_RATE);
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
	qp_count_quietly(qp, MYNIC_STAT_TX_CNP);
	path_send(qp, &pkt);
}

/* Applies one increase, at the end of a period or a volume */
static void cc_increase(struct qp *qp)
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
 * Applies the increases of all periods that have ended. From the lowest rate to
 * that of the line there are at most some thousands.
 */
static void cc_catch_up(struct qp *qp, uint64_t now)
{
	struct cc *cc = &qp->cc;

	while (cc->limited && now >= cc->period_end) {
		cc->period_end += PERIOD_NS;
		cc->periods++;
		cc->alpha -= cc->alpha >> ALPHA_SHIFT;
		cc_increase(qp);
	}
}

/*
 * Packets that are not ECN-capable are never marked, so a CNP cannot be about
 * them
 */
static bool cc_sends_ecn(const struct qp *qp)
{
	return qp->attr.ece_options & MYNIC_ECE_ECN ||
	       qp->attr.av.traffic_class & ECN_MASK;
}

void cc_cnp(struct qp *qp)
{
	uint64_t now = nic_now(qp->nic);
	struct cc *cc = &qp->cc;

	qp_count_quietly(qp, MYNIC_STAT_RX_CNP);
	if (!cc_sends_ecn(qp))
		return;
	if (cc->limited)
		cc_catch_up(qp, now);
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

/* Rate in bit/s of a paced QP */
static uint64_t cc_current_rate(const struct cc *cc)
{
	if (!cc->limited)
		return cc->ceiling;
	return cc->ceiling ? min_u64(cc->rate, cc->ceiling) : cc->rate;
}

bool cc_admit(struct qp *qp, enum cc_flow flow, uint32_t num, uint32_t len)
{
	enum cc_flow other = flow == CC_REQUESTS ? CC_RESPONSES : CC_REQUESTS;
	uint64_t now = nic_now(qp->nic);
	struct cc *cc = &qp->cc;

	cc_catch_up(qp, now);
	if (!cc->paced)
		return true;
	if (now < cc->next) {
		if (!timer_is_set(&cc->timer))
			qp_count_quietly(qp, MYNIC_STAT_RATE_LIMITED);
		timer_set(&qp->nic->timers, &cc->timer, cc->next);
		cc->waits[flow] = true;
		return false;
	}
	if (cc->last == flow && cc->waits[other]) {
		/*
		 * The other flow may have nothing to send any more; then its
		 * turn is over
		 */
		cc->waits[other] = false;
		qp_schedule(qp->nic, qp);
		return false;
	}
	cc->last = flow;
	cc->waits[flow] = false;
	if (qp->service->roce)
		len += num * HEADERS_LEN;
	cc->next = max_u64(cc->next, now - min_u64(now, MAX_CREDIT_NS)) +
		   len * 8000000000ull / cc_current_rate(cc);
	if (!cc->limited)
		return true;
	cc->volume += len;
	if (cc->volume >= VOLUME_BYTES) {
		cc->volume -= VOLUME_BYTES;
		cc->volumes++;
		cc_increase(qp);
	}
	return true;
}
