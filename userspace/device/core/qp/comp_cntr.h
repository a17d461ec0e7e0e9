/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Completion counters, which count requests of queue pairs in host memory. The
 * callers of comp_cntr_count() say when a request has completed.
 */
#ifndef MYNIC_COMP_CNTR_H
#define MYNIC_COMP_CNTR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/outcome.h"
#include "state/memory_types.h"
#include "state/qp_types.h"

struct admin_call;
struct nic;

/* Upper bound for the number of counters */
#define COMP_CNTR_MAX 4096

/**
 * struct comp_cntr - a completion counter
 * @number: its number
 * @users: operations of QPs that it counts
 * @values: by MYNIC_COMP_CNTR_COMPLETIONS and MYNIC_COMP_CNTR_ERRORS
 * @buf: host memory of &struct mynic_comp_cntr_values
 * @window: translation of @buf
 */
struct comp_cntr {
	uint32_t number;
	uint32_t users;
	uint64_t values[2];
	struct buf buf;
	struct buf_window window;
};

/* comp_cntr_count() for a QP that has a counter for the operation. */
void comp_cntr_add(struct qp *qp, uint8_t operation, uint32_t num,
		   enum outcome outcome);

/**
 * comp_cntr_count() - count requests that have completed
 * @qp: the queue pair
 * @operation: one of MYNIC_COMP_CNTR_SEND and so on, or 0, which is not counted
 * @num: number of requests
 * @outcome: what has come of them
 */
static inline void comp_cntr_count(struct qp *qp, uint8_t operation,
				   uint32_t num, enum outcome outcome)
{
	if (qp->counted_ops & operation)
		comp_cntr_add(qp, operation, num, outcome);
}

/* The QP is being destroyed. */
void comp_cntr_detach(struct qp *qp);

/*
 * Part of a reset: frees the next counter from @number on. Returns false if
 * there is none.
 */
bool comp_cntrs_free_one(struct nic *nic, uint32_t *number);

/* Commands of the host; see admin.h */
int admin_create_comp_cntr(struct nic *nic, struct admin_call *call);
int admin_destroy_comp_cntr(struct nic *nic, struct admin_call *call);
int admin_modify_comp_cntr(struct nic *nic, struct admin_call *call);
int admin_attach_comp_cntr(struct nic *nic, struct admin_call *call);

#endif /* MYNIC_COMP_CNTR_H */
