/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Occasions of NIC faults, and which rules apply to them. */
#ifndef MYNIC_FAULT_H
#define MYNIC_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/outcome.h"
#include "state/fault_types.h"
#include "state/nic_types.h"

struct qp;

/**
 * struct nic_occasion - something that a rule may change
 * @on: what it is
 * @qp: completion, message: the QP
 * @number: completion: enum ibv_wc_opcode, IBV_WC_RECV for all receive
 *	requests; command: enum mynic_aq_opcode; interrupt: its vector
 */
struct nic_occasion {
	enum nic_fault_on on;
	const struct qp *qp;
	unsigned int number;
};

/* Whether any rule waits for such occasions. */
static inline bool nic_fault_waits(const struct nic *nic, enum nic_fault_on on)
{
	return __builtin_expect(nic->faults.occasions & 1u << on, 0);
}

/**
 * nic_fault_meet() - let the rules decide about an occasion
 * @nic: the NIC
 * @occasion: the occasion
 *
 * Effects that wait for the next turn are noted.
 *
 * Return: the rule that the caller has to apply, or NULL.
 */
const struct nic_fault *nic_fault_meet(struct nic *nic,
				       const struct nic_occasion *occasion);

/* nic_fault_meet() for one rule. Returns whether it is to be applied. */
bool nic_fault_meet_one(struct nic *nic, struct nic_fault *rule,
			const struct nic_occasion *occasion);

/* Has nic_faults_run() called at that time, or before. */
void nic_fault_wake(struct nic *nic, uint64_t when);

/**
 * nic_fault_outcome() - find what makes a completion have a status
 * @status: enum ibv_wc_status
 * @receive: of a receive request
 *
 * Return: OUTCOME_OK if no rule can make such a request have this status.
 */
enum outcome nic_fault_outcome(unsigned int status, bool receive);

#endif /* MYNIC_FAULT_H */
