/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Creation and destruction of queue pairs. */
#ifndef MYNIC_QP_CREATE_H
#define MYNIC_QP_CREATE_H

#include <stdbool.h>
#include <stdint.h>

struct admin_call;
struct mynic_create_qp;
struct nic;
struct qp;

/**
 * qp_create() - create a QP or WQ
 * @nic: the NIC
 * @cmd: the command; its type and flags have been checked
 * @qp: out: the queue pair
 *
 * Return: enum mynic_aq_status.
 */
int qp_create(struct nic *nic, const struct mynic_create_qp *cmd,
	      struct qp **qp);

/*
 * Destroys a QP or WQ that is not in use and has no multicast group and no
 * window.
 */
void qp_destroy(struct nic *nic, struct qp *qp);

/**
 * qps_free_one() - free QPs as a part of a reset
 * @nic: the NIC
 * @number: in: where to look for the next QP; out: its number
 *
 * Return: false if there are none left.
 */
bool qps_free_one(struct nic *nic, uint32_t *number);

/* Commands of the host; see admin.h */
int admin_create_qp(struct nic *nic, struct admin_call *call);
int admin_destroy_qp(struct nic *nic, struct admin_call *call);

#endif /* MYNIC_QP_CREATE_H */
