/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory windows: parts of regions for peers, bound by requests. */
#ifndef MYNIC_MW_H
#define MYNIC_MW_H

#include <stdbool.h>

#include "base/outcome.h"
#include "state/memory_types.h"

struct qp;
struct send_req;

/**
 * mw_init() - initialize a window that is not bound
 * @mkey: the window, zeroed
 * @kind: MKEY_MW1 or MKEY_MW2
 * @cmd: the command that creates it
 *
 * Return: enum mynic_aq_status.
 */
int mw_init(struct mkey *mkey, enum mkey_kind kind,
	    const struct mynic_create_mkey *cmd);

/**
 * mw_bind() - execute a BIND_MW
 * @qp: QP that the request was posted to
 * @req: the request
 *
 * If it fails, the window is not changed.
 *
 * Return: what comes of it.
 */
enum outcome mw_bind(struct qp *qp, const struct send_req *req);

/* Unbinds a window if it is bound. */
void mw_unbind(struct mkey *mw);

/**
 * mw_unbind_some() - unbind some of the windows that belong to a QP
 * @qp: the QP
 *
 * Return: true if there are more.
 */
bool mw_unbind_some(struct qp *qp);

#endif /* MYNIC_MW_H */
