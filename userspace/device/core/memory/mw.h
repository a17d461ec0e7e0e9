/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory windows: parts of regions that peers may reach, bound by requests. */
#ifndef MYNIC_MW_H
#define MYNIC_MW_H

#include "memory/mkey.h"
#include "queue/wqe.h"

/**
 * mw_init() - make a window that is not bound
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
 * @qp: QP of the request
 * @req: the request
 *
 * If it fails the window is as before.
 *
 * Return: why it failed, if it has.
 */
struct wqe_error mw_bind(struct qp *qp, const struct send_req *req);

/** mw_unbind() - take away from a window what it was bound to, if anything */
void mw_unbind(struct mkey *mw);

/**
 * mw_unbind_some() - unbind windows that can be reached through a QP only
 * @qp: the QP
 *
 * Return: true if there are more.
 */
bool mw_unbind_some(struct qp *qp);

#endif /* MYNIC_MW_H */
