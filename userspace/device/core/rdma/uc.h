/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The UC service (IBTA 9.8.2), which has the messages of RC without answers. */
#ifndef MYNIC_UC_H
#define MYNIC_UC_H

#include <stdbool.h>

struct packet;
struct qp;

/**
 * uc_run() - send some packets
 * @qp: UC QP in RTS or SQD
 *
 * Return: true if there is more to do now.
 */
bool uc_run(struct qp *qp);

/* Handles a packet for a UC QP that can receive. */
void uc_receive(struct qp *qp, const struct packet *pkt);

#endif /* MYNIC_UC_H */
