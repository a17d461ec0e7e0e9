/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Sets of counters, which count for the queue pairs that are bound to them. */
#ifndef MYNIC_COUNTERS_H
#define MYNIC_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "mynic_regs.h"

/** How many sets there may be */
#define COUNTERS_MAX_SETS 4096

struct nic;
struct qp;

/**
 * struct counters - set of counters
 * @number: number of the set
 * @users: QPs bound to it, and flow rules
 * @values: by enum mynic_stat
 */
struct counters {
	uint32_t number;
	uint32_t users;
	uint64_t values[MYNIC_NUM_STATS];
};

/** counters_bind() - bind a QP to a set, or (NULL) to none */
void counters_bind(struct qp *qp, struct counters *set);

/** counters_free_one() - in a reset: the next from @number on; false: no more */
bool counters_free_one(struct nic *nic, uint32_t *number);

#endif /* MYNIC_COUNTERS_H */
