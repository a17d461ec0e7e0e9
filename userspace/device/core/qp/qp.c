// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Look-up of queue pairs, and their place in the run queue. */

#include "qp/qp.h"

#include <endian.h>
#include <sys/queue.h>

#include "base/table.h"
#include "memory/buf.h"
#include "mynic_regs.h"
#include "state/admin_types.h"
#include "state/nic_types.h"
#include "state/qp_types.h"

struct qp *qp_find(const struct nic *nic, uint32_t number)
{
	return table_lookup(&nic->qps, number);
}

struct qp *qp_of_command(const struct nic *nic, const struct admin_call *call)
{
	struct qp *qp = qp_find(nic, le32toh(call->cmd.number));

	return qp && qp->type != QP_TYPE_RWQ ? qp : NULL;
}

struct mynic_qp_dbrec *qp_dbrec(struct nic *nic, struct qp *qp)
{
	return buf_ptr(nic, &qp->buf, &qp->dbrec, qp->dbrec_offset,
		       sizeof(struct mynic_qp_dbrec), true);
}

void qp_schedule(struct nic *nic, struct qp *qp)
{
	if (qp->scheduled)
		return;
	qp->scheduled = true;
	TAILQ_INSERT_TAIL(&nic->run_queue, qp, run_link);
}

void qp_unschedule(struct nic *nic, struct qp *qp)
{
	if (qp->scheduled)
		TAILQ_REMOVE(&nic->run_queue, qp, run_link);
	qp->scheduled = false;
}
