/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Rendezvous: what a QP does for its tag matching SRQ. Such a QP has no send
 * queue. Its requests are made here, for one message after the other. They are
 * a READ of the data, and a SEND that says that the data has arrived (FIN).
 */
#ifndef MYNIC_RNDV_H
#define MYNIC_RNDV_H

#include <stdbool.h>

struct qp;
struct tag;

/* For a QP with a tag matching SRQ and without a send queue. */
void rndv_init(struct qp *qp);

/* Whether the QP can do the rendezvous of a matched tag, or software has to. */
bool rndv_takes(const struct qp *qp, const struct tag *tag);

/* Starts the rendezvous. The QP owns the tag from now on. */
void rndv_start(struct qp *qp, struct tag *tag);

#endif /* MYNIC_RNDV_H */
