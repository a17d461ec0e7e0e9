/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Answers of the RC responder. */
#ifndef MYNIC_RESPONSE_H
#define MYNIC_RESPONSE_H

#include <stdbool.h>
#include <stdint.h>

struct qp;

/*
 * Like responder_defers(), for a duplicate of the request whose response waits
 * for a page.
 */
bool responder_defers_response(struct qp *qp, uint32_t psn);

/* Timer field of the RNR NAK for a request that waits for a page. */
uint8_t responder_defer_timer(const struct qp *qp);

/**
 * responder_run() - send some of the waiting answers
 * @qp: RC or XRC_TGT QP that can receive
 *
 * Return: true if there is more to do now.
 */
bool responder_run(struct qp *qp);

#endif /* MYNIC_RESPONSE_H */
