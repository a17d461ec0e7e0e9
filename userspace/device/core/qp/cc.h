/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Congestion control of a queue pair: DCQCN (Zhu et al., SIGCOMM 2015). See
 * Documentation/hardware/transport.rst, "Congestion control".
 */
#ifndef MYNIC_CC_H
#define MYNIC_CC_H

#include <stdbool.h>
#include <stdint.h>

#include "state/transport_types.h"

struct qp;

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
 * cc_admit() - decide whether packets may be sent now, all at once
 * @qp: a QP with &cc.paced set; if the packets have to wait, the QP is
 *	scheduled in time
 * @flow: flow of the packets
 * @num: number of packets
 * @len: bytes behind the headers of RoCEv2 packets; of other packets, all bytes
 *
 * Return: true if the packets may be sent now.
 */
bool cc_admit(struct qp *qp, enum cc_flow flow, uint32_t num, uint32_t len);

#endif /* MYNIC_CC_H */
