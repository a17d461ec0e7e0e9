/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Sending of UD, GSI and RAW_PACKET QPs by functions of rdma/ and ethernet/. */
#ifndef MYNIC_DATAGRAM_H
#define MYNIC_DATAGRAM_H

#include "base/outcome.h"

struct qp;
struct send_req;

/* Sends the oldest request, or a piece of it if it is TSO; see sq_run(). */
enum outcome datagram_send(struct qp *qp, struct send_req *req);

#endif /* MYNIC_DATAGRAM_H */
