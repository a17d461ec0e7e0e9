/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* How a queue pair comes, and goes. */
#ifndef MYNIC_QP_CREATE_H
#define MYNIC_QP_CREATE_H

#include <stdbool.h>
#include <stdint.h>

struct mynic_create_qp;
struct nic;
struct qp;

/**
 * qp_create() - create a QP or WQ
 * @nic: the NIC
 * @cmd: what to create; all but the type and the flags is checked here
 * @qp: result
 *
 * Return: enum mynic_aq_status.
 */
int qp_create(struct nic *nic, const struct mynic_create_qp *cmd,
	      struct qp **qp);

/** qp_destroy() - destroy a QP or WQ that nothing uses, and that has no group
 * and no window
 */
void qp_destroy(struct nic *nic, struct qp *qp);

/**
 * qps_free_one() - in a reset: a bounded piece of that
 * @nic: the NIC
 * @number: in: where to look for the next; out: its number
 *
 * Return: false if there are no more.
 */
bool qps_free_one(struct nic *nic, uint32_t *number);

#endif /* MYNIC_QP_CREATE_H */
