/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memcpy QPs (type DRIVER): copies within the host. */
#ifndef MYNIC_MEMCPY_H
#define MYNIC_MEMCPY_H

#include "base/outcome.h"

struct qp;
struct send_req;

/* Copies a piece of the oldest request; see sq_run(). */
enum outcome memcpy_send(struct qp *qp, struct send_req *req);

#endif /* MYNIC_MEMCPY_H */
