/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Send requests that concern only the sender's own keys. */
#ifndef MYNIC_LOCAL_H
#define MYNIC_LOCAL_H

#include "base/outcome.h"

struct qp;
struct send_req;

/**
 * local_run() - execute a BIND_MW, LOCAL_INV or REG_MR
 * @qp: QP that the request was posted to
 * @req: a request with SEND_IS_LOCAL
 *
 * Return: what comes of it.
 */
enum outcome local_run(struct qp *qp, const struct send_req *req);

#endif /* MYNIC_LOCAL_H */
