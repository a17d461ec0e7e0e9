/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* NIC faults of a queue pair: requests that fail, and messages without one. */
#ifndef MYNIC_QP_FAULT_H
#define MYNIC_QP_FAULT_H

#include <stdbool.h>

#include "base/outcome.h"

struct qp;

/**
 * struct qp_fault - what becomes of a request that was done
 * @outcome: what it ends with
 * @to_error: the QP is to go to ERR after it
 */
struct qp_fault {
	enum outcome outcome;
	bool to_error;
};

/* Decides about a request; @number as in &struct nic_occasion. */
struct qp_fault qp_fault_decide(struct qp *qp, unsigned int number);

/* Whether a message is to find no receive request. */
bool qp_fault_takes_recv(struct qp *qp);

#endif /* MYNIC_QP_FAULT_H */
