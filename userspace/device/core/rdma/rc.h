/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The RC service, which XRC has, too. */
#ifndef MYNIC_RC_H
#define MYNIC_RC_H

struct packet;
struct qp;

/* Handles a packet for an RC, XRC_INI or XRC_TGT QP that can receive. */
void rc_receive(struct qp *qp, const struct packet *pkt);

/* The QP goes to ERR. It neither sends nor answers any more. */
void rc_stop(struct qp *qp);

#endif /* MYNIC_RC_H */
