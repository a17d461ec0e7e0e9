// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* NIC faults of a queue pair: requests that fail, and messages without one. */

#include "qp/qp_fault.h"

#include "base/verbs.h"
#include "function/fault.h"
#include "state/fault_types.h"
#include "state/qp_types.h"

struct qp_fault qp_fault_decide(struct qp *qp, unsigned int number)
{
	const struct nic_occasion occasion = {
		.on = NIC_FAULT_ON_COMPLETION,
		.qp = qp,
		.number = number,
	};
	const struct nic_fault *rule = nic_fault_meet(qp->nic, &occasion);
	struct qp_fault fault = { 0 };

	if (!rule)
		return fault;
	if (rule->kind == NIC_FAULT_QP_ERROR)
		fault.to_error = true;
	else
		fault.outcome =
			nic_fault_outcome(rule->status, number == IBV_WC_RECV);
	return fault;
}

bool qp_fault_takes_recv(struct qp *qp)
{
	const struct nic_occasion occasion = {
		.on = NIC_FAULT_ON_MESSAGE,
		.qp = qp,
	};

	return nic_fault_waits(qp->nic, NIC_FAULT_ON_MESSAGE) &&
	       nic_fault_meet(qp->nic, &occasion);
}
