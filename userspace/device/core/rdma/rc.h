/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The RC service, which XRC has, too. */
#ifndef MYNIC_RC_H
#define MYNIC_RC_H

struct packet;
struct qp;

/* Handles a packet for an RC, XRC_INI or XRC_TGT QP that can receive. */
void rc_receive(struct qp *qp, const struct packet *pkt);

/* Undoes requester_init(), and discards all that the responder has. */
void rc_fini(struct qp *qp);

/* Forgets messages, answers, and what is on its way. */
void rc_reset(struct qp *qp);

/* The QP goes to ERR. It neither sends nor answers any more. */
void rc_stop(struct qp *qp);

#endif /* MYNIC_RC_H */
