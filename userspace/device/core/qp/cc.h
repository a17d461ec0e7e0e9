/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Congestion control of a queue pair: DCQCN (Zhu et al., SIGCOMM 2015). See
 * Documentation/hardware/transport.rst, "Congestion control".
 */
#ifndef MYNIC_CC_H
#define MYNIC_CC_H

#include <stdbool.h>
#include <stdint.h>

#include "base/timer.h"

struct qp;

/** enum cc_flow - flows of a QP that share its rate by turns */
enum cc_flow {
	CC_REQUESTS,
	CC_RESPONSES,
	CC_NUM_FLOWS,
};

/**
 * struct cc - congestion control of a queue pair
 * @cnp_due: a CNP is to be sent to the peer
 * @cnp_after: earliest time of the next CNP, ns
 * @paced: @limited is set, or @ceiling is not 0
 * @ceiling: upper bound from the QP's rate limit or the path's static rate,
 *	bit/s; 0: none
 * @limited: the peer has reported congestion, and the rate of the line has not
 *	been reached again. The members up to @volume are only valid then
 * @rate: current rate that congestion allows, bit/s
 * @target: rate that @rate approaches, bit/s
 * @alpha: estimate of the congestion; 65536 is the worst
 * @periods: periods that have ended since the last cut
 * @period_end: end of the current period, ns
 * @volumes: volumes that have been sent since the last cut
 * @volume: bytes sent of the next volume
 * @next: if @paced: earliest time of the next packet, ns
 * @waits: by enum cc_flow: it has a packet to send
 * @last: enum cc_flow of the last packet
 * @timer: set while a packet waits for @next
 */
struct cc {
	bool cnp_due;
	bool paced;
	bool limited;
	uint64_t cnp_after;
	uint64_t ceiling;
	uint64_t rate;
	uint64_t target;
	uint32_t alpha;
	uint32_t periods;
	uint64_t period_end;
	uint32_t volumes;
	uint32_t volume;
	uint64_t next;
	bool waits[CC_NUM_FLOWS];
	enum cc_flow last;
	struct timer timer;
};

/**
 * cc_init() - initialize congestion control of a new QP
 * @qp: of any type
 *
 * Return: 0 or -ENOMEM.
 */
int cc_init(struct qp *qp);

void cc_fini(struct qp *qp);

/* Forgets congestion and rates. */
void cc_reset(struct qp *qp);

/**
 * cc_set_ceiling() - limit the rate of a QP independently of congestion
 * @qp: of any type
 * @static_rate: enum ibv_rate of the path; the QP's rate limit applies, too
 */
void cc_set_ceiling(struct qp *qp, uint8_t static_rate);

/* The QP has received a packet that was marked on its way. */
void cc_marked(struct qp *qp);

/**
 * cc_send_cnp() - report congestion to the peer
 * @qp: a QP that can receive, with &cc.cnp_due set
 */
void cc_send_cnp(struct qp *qp);

/* The peer has reported congestion. */
void cc_cnp(struct qp *qp);

/**
 * cc_admit() - decide whether a packet may be sent now
 * @qp: a QP with &cc.paced set; if the packet has to wait, the QP is scheduled
 *	in time
 * @flow: flow of the packet
 * @len: bytes behind the headers of a RoCEv2 packet; of other packets, all
 *	bytes
 *
 * Return: true if the packet may be sent now.
 */
bool cc_admit(struct qp *qp, enum cc_flow flow, uint32_t len);

#endif /* MYNIC_CC_H */
