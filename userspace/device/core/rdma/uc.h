/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The UC service (IBTA 9.8.2): SENDs and WRITEs like those of RC, but without
 * answers.
 */
#ifndef MYNIC_UC_H
#define MYNIC_UC_H

#include "base/outcome.h"

struct packet;
struct qp;
struct send_req;

/* Sends a packet of the oldest request, or executes it; see sq_run(). */
enum outcome uc_send(struct qp *qp, struct send_req *req);

/* Handles a packet for a UC QP that can receive. */
void uc_receive(struct qp *qp, const struct packet *pkt);

#endif /* MYNIC_UC_H */
