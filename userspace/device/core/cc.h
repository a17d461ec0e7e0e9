/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Congestion control of a queue pair; see Documentation/hardware.rst. */
#ifndef MYNIC_CC_H
#define MYNIC_CC_H

#include <stdbool.h>
#include <stdint.h>

struct qp;

/**
 * struct cc - congestion control of a queue pair; all zeroes: there was none
 * @cnp_due: the peer is to be sent a CNP
 * @cnp_after: time before which no other CNP is sent, ns
 */
struct cc {
	bool cnp_due;
	uint64_t cnp_after;
};

/** cc_marked() - a packet that met congestion on its way came for an RC QP */
void cc_marked(struct qp *qp);

/**
 * cc_send_cnp() - tell the peer of congestion
 * @qp: a QP that can receive, with &cc.cnp_due set
 */
void cc_send_cnp(struct qp *qp);

/** cc_cnp() - the peer told of congestion */
void cc_cnp(struct qp *qp);

#endif /* MYNIC_CC_H */
