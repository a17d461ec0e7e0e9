/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Send requests that concern the sender's own keys only. */
#ifndef MYNIC_LOCAL_H
#define MYNIC_LOCAL_H

#include "queue/wqe.h"

/**
 * local_run() - execute a BIND_MW, LOCAL_INV or REG_MR
 * @qp: QP of the request
 * @req: a request with SEND_IS_LOCAL
 *
 * Return: why it failed, if it has.
 */
struct wqe_error local_run(struct qp *qp, const struct send_req *req);

#endif /* MYNIC_LOCAL_H */
