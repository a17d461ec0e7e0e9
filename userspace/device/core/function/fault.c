// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Rules of NIC faults: which of them apply to an occasion. The place of the
 * occasion applies them, or nic_faults.c does in the next turn.
 */

#include "function/fault.h"

#include <stddef.h>

#include "base/journal.h"
#include "base/splitmix.h"
#include "base/util.h"
#include "base/verbs.h"
#include "memory/mkey.h"
#include "mynic_regs.h"
#include "state/qp_types.h"

/**
 * struct cause - outcomes that have a status in their completion
 * @send: of a send request
 * @receive: of a receive request; OUTCOME_OK: there is none
 */
struct cause {
	enum outcome send;
	enum outcome receive;
};

static const struct cause causes[] = {
	[IBV_WC_LOC_LEN_ERR] = { OUTCOME_BAD_LEN },
	[IBV_WC_LOC_QP_OP_ERR] = { OUTCOME_NO_ENTRY, OUTCOME_NO_ENTRY },
	[IBV_WC_LOC_PROT_ERR] = { OUTCOME_LKEY, OUTCOME_LKEY },
	[IBV_WC_MW_BIND_ERR] = { OUTCOME_MKEY },
	[IBV_WC_BAD_RESP_ERR] = { OUTCOME_BAD_RESPONSE },
	[IBV_WC_REM_INV_REQ_ERR] = { OUTCOME_REMOTE_INVALID },
	[IBV_WC_REM_ACCESS_ERR] = { OUTCOME_REMOTE_ACCESS },
	[IBV_WC_REM_OP_ERR] = { OUTCOME_REMOTE_OP },
	[IBV_WC_RETRY_EXC_ERR] = { OUTCOME_RETRY },
	[IBV_WC_RNR_RETRY_EXC_ERR] = { OUTCOME_RNR_RETRY },
};

enum outcome nic_fault_outcome(unsigned int status, bool receive)
{
	if (status >= ARRAY_SIZE(causes))
		return OUTCOME_OK;
	return receive ? causes[status].receive : causes[status].send;
}

/* Without these, neither connections nor the network would work */
static bool fault_is_of_kernel(const struct qp *qp)
{
	return qp->type == MYNIC_QP_GSI ||
	       (qp->type == MYNIC_QP_RAW_PACKET && qp->flags & MYNIC_QP_KERNEL);
}

static bool fault_selects_qp(const struct nic_fault *rule, const struct qp *qp)
{
	if (rule->qpn < 0)
		return !fault_is_of_kernel(qp);
	return qp->number == (uint32_t)rule->qpn;
}

static bool fault_selects(const struct nic_fault *rule,
			  const struct nic_occasion *occasion)
{
	bool receive = occasion->number == IBV_WC_RECV;

	if (rule->on != occasion->on)
		return false;
	switch (rule->on) {
	case NIC_FAULT_ON_COMPLETION:
		if (rule->kind == NIC_FAULT_COMPLETION &&
		    !nic_fault_outcome(rule->status, receive))
			return false;
		return fault_selects_qp(rule, occasion->qp) &&
		       (rule->opcode < 0 ||
			occasion->number == (unsigned int)rule->opcode);
	case NIC_FAULT_ON_MESSAGE:
		return fault_selects_qp(rule, occasion->qp);
	case NIC_FAULT_ON_COMMAND:
		return rule->opcode < 0 ||
		       occasion->number == (unsigned int)rule->opcode;
	case NIC_FAULT_ON_INTERRUPT:
		return rule->vector < 0 ||
		       occasion->number == (unsigned int)rule->vector;
	default:
		return true;
	}
}

/* An effect that waits comes once in a turn. Only a region with memory loses it */
static bool fault_finds_target(const struct nic *nic,
			       const struct nic_fault *rule)
{
	return !rule->pending && (rule->kind != NIC_FAULT_REVOKE ||
				  mkey_is_revocable(nic, rule->key));
}

/* Draws a number for each occasion with a target that @after and @count leave */
static bool fault_chooses(struct nic_fault *rule)
{
	if (rule->matched <= rule->after || rule->applied >= rule->count)
		return false;
	if (splitmix_scale(splitmix_next(&rule->random), NIC_FAULT_RATE_ONE) >=
	    rule->rate)
		return false;
	rule->applied++;
	return true;
}

static void fault_note(struct nic *nic, const struct nic_fault *rule,
		       const struct nic_occasion *occasion)
{
	const struct journal_entry entry = {
		.kind = JOURNAL_FAULT,
		.code = rule->kind,
		.number = occasion->qp ? occasion->qp->number : 0,
		.key = rule->number,
	};

	nic_note(nic, &entry);
}

void nic_fault_wake(struct nic *nic, uint64_t when)
{
	nic->faults.next = min_u64(nic->faults.next, when);
}

bool nic_fault_meet_one(struct nic *nic, struct nic_fault *rule,
			const struct nic_occasion *occasion)
{
	if (!fault_selects(rule, occasion))
		return false;
	rule->matched++;
	if (!fault_finds_target(nic, rule) || !fault_chooses(rule))
		return false;
	fault_note(nic, rule, occasion);
	if (rule->kind < NIC_FAULT_REVOKE)
		return true;
	rule->pending = true;
	nic_fault_wake(nic, 0);
	return false;
}

const struct nic_fault *nic_fault_meet(struct nic *nic,
				       const struct nic_occasion *occasion)
{
	struct nic_faults *faults = &nic->faults;

	for (unsigned int i = 0; i < faults->num; i++) {
		if (nic_fault_meet_one(nic, &faults->rules[i], occasion))
			return &faults->rules[i];
	}
	return NULL;
}
