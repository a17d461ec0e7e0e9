/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Tables of work queues. A WQ is a QP that has a receive queue only: type
 * QP_TYPE_WQ. See wq.c for its own commands.
 */
#ifndef MYNIC_RWQ_H
#define MYNIC_RWQ_H

#include <stdbool.h>
#include <stdint.h>

struct nic;
struct qp;

/**
 * struct rwq_table - receive WQ table
 * @number: its number
 * @num_qps: QPs that spread frames by it
 * @num_wqs: elements of @wqs, a power of two
 * @wqs: the WQs; one may be there several times
 */
struct rwq_table {
	uint32_t number;
	uint32_t num_qps;
	uint32_t num_wqs;
	struct qp *wqs[];
};

/** rwq_find() - the WQ with a number (any value), or NULL */
struct qp *rwq_find(const struct nic *nic, uint32_t number);

/** rwq_tables_free_one() - in a reset: the next from @number on; false: no more */
bool rwq_tables_free_one(struct nic *nic, uint32_t *number);

#endif /* MYNIC_RWQ_H */
