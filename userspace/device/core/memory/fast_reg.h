/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory regions that get their memory by REG_MR requests of the kernel. */
#ifndef MYNIC_FAST_REG_H
#define MYNIC_FAST_REG_H

#include "base/outcome.h"

struct mkey;
struct mynic_create_mkey;
struct qp;
struct send_req;

/* Upper bound for the pages of such a region */
#define FAST_REG_MAX_PAGES 512

/**
 * fast_reg_init() - initialize a region that has no memory yet
 * @mkey: the region, zeroed
 * @cmd: the command that creates it
 *
 * Return: enum mynic_aq_status.
 */
int fast_reg_init(struct mkey *mkey, const struct mynic_create_mkey *cmd);

/**
 * fast_reg_run() - execute a REG_MR
 * @qp: QP that the request was posted to
 * @req: the request
 *
 * If it fails, the region is not changed.
 *
 * Return: what comes of it.
 */
enum outcome fast_reg_run(struct qp *qp, const struct send_req *req);

#endif /* MYNIC_FAST_REG_H */
