/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Tables of receive work queues. A WQ is a QP of type QP_TYPE_RWQ, which has
 * only a receive queue. Its own commands are in engine/rwq_commands.c.
 */
#ifndef MYNIC_RWQ_H
#define MYNIC_RWQ_H

#include <stdbool.h>
#include <stdint.h>

struct admin_call;
struct nic;
struct qp;

/**
 * struct rwq_table - a table of receive work queues
 * @number: its number
 * @num_qps: QPs that use the table
 * @num_wqs: elements of @wqs, a power of two
 * @wqs: the WQs; one WQ may occur several times
 */
struct rwq_table {
	uint32_t number;
	uint32_t num_qps;
	uint32_t num_wqs;
	struct qp *wqs[];
};

/* The WQ with any number, or NULL. */
struct qp *rwq_find(const struct nic *nic, uint32_t number);

/*
 * Part of a reset: frees the next table from @number on. Returns false if there
 * is none.
 */
bool rwq_tables_free_one(struct nic *nic, uint32_t *number);

/* Commands of the host; see admin.h */
int admin_create_rwq_table(struct nic *nic, struct admin_call *call);
int admin_destroy_rwq_table(struct nic *nic, struct admin_call *call);

#endif /* MYNIC_RWQ_H */
