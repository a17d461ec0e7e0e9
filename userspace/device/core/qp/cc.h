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

/** enum cc_flow - what shares the rate of a QP, in turns */
enum cc_flow {
	CC_REQUESTS,
	CC_RESPONSES,
	CC_NUM_FLOWS,
};

/**
 * struct cc - congestion control of a queue pair
 * @cnp_due: the peer is to be sent a CNP
 * @cnp_after: time before which no other CNP is sent, ns
 * @paced: @limited is set, or @ceiling is not 0
 * @ceiling: what the QP may send at most, by its own rate limit or its path's
 *	static rate, bit/s; 0: as much as the line takes
 * @limited: the peer has told of congestion, and the line's rate has not been
 *	reached again. What follows up to @volume has a meaning only then
 * @rate: what congestion lets the QP send now, bit/s
 * @target: what @rate is on its way to, bit/s
 * @alpha: estimate of the congestion, 65536 for the worst
 * @periods: whole periods since the last cut
 * @period_end: end of the current one, ns
 * @volumes: times that so much has been sent since then that it counts
 * @volume: bytes sent on the way to the next one
 * @next: @paced: when the next packet may be sent, ns
 * @waits: by enum cc_flow, it has a packet to send
 * @last: enum cc_flow that sent the last packet
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
 * cc_init() - prepare a new QP
 * @qp: of any type
 *
 * Return: 0 or -ENOMEM.
 */
int cc_init(struct qp *qp);

void cc_fini(struct qp *qp);

/** cc_reset() - forget all */
void cc_reset(struct qp *qp);

/**
 * cc_set_ceiling() - limit what a QP sends, whatever the congestion
 * @qp: of any type
 * @static_rate: enum ibv_rate of the path; the QP's rate limit holds as well
 */
void cc_set_ceiling(struct qp *qp, uint8_t static_rate);

/** cc_marked() - a packet that met congestion on its way came for the QP */
void cc_marked(struct qp *qp);

/**
 * cc_send_cnp() - tell the peer of congestion
 * @qp: a QP that can receive, with &cc.cnp_due set
 */
void cc_send_cnp(struct qp *qp);

/** cc_cnp() - the peer told of congestion */
void cc_cnp(struct qp *qp);

/**
 * cc_admit() - let a packet go, or the QP wait for its time
 * @qp: a QP with &cc.paced set; it is scheduled again at that time
 * @flow: whose packet it is
 * @len: bytes of the packet behind its headers; of all, if it is no RoCEv2 packet
 *
 * Return: whether the packet is to be sent now.
 */
bool cc_admit(struct qp *qp, enum cc_flow flow, uint32_t len);

#endif /* MYNIC_CC_H */
