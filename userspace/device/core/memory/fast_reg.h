/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory regions whose memory the kernel gives them with REG_MR requests. */
#ifndef MYNIC_FAST_REG_H
#define MYNIC_FAST_REG_H

#include "memory/mkey.h"
#include "queue/wqe.h"

/** The most pages of a region */
#define FAST_REG_MAX_PAGES 512

/**
 * fast_reg_init() - make a region without memory
 * @mkey: the region, zeroed
 * @cmd: the command that creates it
 *
 * Return: enum mynic_aq_status.
 */
int fast_reg_init(struct mkey *mkey, const struct mynic_create_mkey *cmd);

/**
 * fast_reg_run() - execute a REG_MR
 * @qp: QP of the request
 * @req: the request
 *
 * If it fails the region is as before.
 *
 * Return: why it failed, if it has.
 */
struct wqe_error fast_reg_run(struct qp *qp, const struct send_req *req);

#endif /* MYNIC_FAST_REG_H */
