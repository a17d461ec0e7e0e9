/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Counter sets, which count for the queue pairs and flow rules bound to them.
 */
#ifndef MYNIC_COUNTERS_H
#define MYNIC_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/journal.h"
#include "mynic_regs.h"
#include "state/nic_types.h"

/* Upper bound for the number of sets */
#define COUNTERS_MAX_SETS 4096

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

/* Adds to the QP's counter set what the NIC has counted already. */
static inline void counters_add(struct qp *qp, enum mynic_stat stat, uint64_t n)
{
	if (!qp->counters)
		return;
	qp->counters->values[stat] += n;
	qp->nic->bound_stats[stat] += n;
}

/* Like qp_count(), but without a note in the journal. */
static inline void qp_count_quietly(struct qp *qp, enum mynic_stat stat)
{
	qp->nic->stats[stat]++;
	counters_add(qp, stat, 1);
}

/* Like nic_count(), and counts in the QP's counter set, too. */
static inline void qp_count(struct qp *qp, enum mynic_stat stat)
{
	const struct journal_entry entry = {
		.kind = JOURNAL_COUNT,
		.code = stat,
		.number = qp->number,
		.psn = qp->req.una,
		.expected = qp->resp.epsn,
	};

	qp_count_quietly(qp, stat);
	nic_note(qp->nic, &entry);
}

/* Commands of the host; see admin.h */
int admin_create_counters(struct nic *nic, struct admin_call *call);
int admin_destroy_counters(struct nic *nic, struct admin_call *call);
int admin_query_counters(struct nic *nic, struct admin_call *call);
int admin_bind_counters(struct nic *nic, struct admin_call *call);

#endif /* MYNIC_COUNTERS_H */
