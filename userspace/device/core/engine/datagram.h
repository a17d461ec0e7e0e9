/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Sending of UD, GSI and RAW_PACKET QPs by functions of rdma/ and ethernet/. */
#ifndef MYNIC_DATAGRAM_H
#define MYNIC_DATAGRAM_H

#include "base/outcome.h"

struct qp;
struct send_req;

/*
 * Both send the oldest request, or a piece of it if it is TSO; see sq_run(). The
 * first is for UD and GSI, the second for RAW_PACKET.
 */
enum outcome datagram_send_ud(struct qp *qp, struct send_req *req);
enum outcome datagram_send_raw(struct qp *qp, struct send_req *req);

#endif /* MYNIC_DATAGRAM_H */
