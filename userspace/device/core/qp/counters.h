/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Counter sets, which count for the queue pairs and flow rules bound to them.
 */
#ifndef MYNIC_COUNTERS_H
#define MYNIC_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "mynic_regs.h"

/* Upper bound for the number of sets */
#define COUNTERS_MAX_SETS 4096

struct nic;
struct qp;

/**
 * struct counters - a counter set
 * @number: number of the set
 * @users: QPs and flow rules that are bound to it
 * @values: by enum mynic_stat
 */
struct counters {
	uint32_t number;
	uint32_t users;
	uint64_t values[MYNIC_NUM_STATS];
};

/* Binds a QP to a set; NULL: to none. */
void counters_bind(struct qp *qp, struct counters *set);

/*
 * Part of a reset: frees the next set from @number on. Returns false if there
 * is none.
 */
bool counters_free_one(struct nic *nic, uint32_t *number);

#endif /* MYNIC_COUNTERS_H */
