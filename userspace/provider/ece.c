// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Enhanced connection establishment: options that both ends negotiate. */
#include <config.h>

#include <errno.h>

#include "mynic.h"

/* The vendor ID of the options is that of the PCI function. */
#define MYNIC_ECE_VENDOR 0x1af4

static bool mynic_has_ece(const struct ibv_qp *ibqp)
{
	return ibqp->qp_type == IBV_QPT_RC || ibqp->qp_type == IBV_QPT_UC ||
	       ibqp->qp_type == IBV_QPT_XRC_SEND;
}

static int mynic_ece_refuse(struct ibv_qp *ibqp, const char *why, int err)
{
	verbs_debug(verbs_get_ctx(ibqp->context), "QP 0x%x: ECE: %s\n",
		    ibqp->qp_num, why);
	return err;
}

void mynic_ece_reset(struct mynic_qp *qp)
{
	struct ibv_qp *ibqp = &qp->vqp.qp;

	qp->ece_set = false;
	qp->ece_options =
		mynic_has_ece(ibqp) ? to_mctx(ibqp->context)->ece_options : 0;
}

/*
 * Before RTR, report the options that the QP can have, or those of
 * ibv_set_ece(). Afterwards, report those in use. EOPNOTSUPP: the QP has no
 * peer.
 */
int mynic_query_ece(struct ibv_qp *ibqp, struct ibv_ece *ece)
{
	struct mynic_qp *qp = to_mqp(ibqp);

	if (!mynic_has_ece(ibqp))
		return mynic_ece_refuse(ibqp, "the QP has no peer", EOPNOTSUPP);
	pthread_mutex_lock(&qp->state_lock);
	*ece = (struct ibv_ece){
		.vendor_id = MYNIC_ECE_VENDOR,
		.options = qp->ece_options,
	};
	pthread_mutex_unlock(&qp->state_lock);
	return 0;
}

/*
 * Options that the QP cannot have are dropped. EOPNOTSUPP: the QP has no peer.
 */
int mynic_set_ece(struct ibv_qp *ibqp, struct ibv_ece *ece)
{
	struct mynic_qp *qp = to_mqp(ibqp);
	bool early;

	if (!mynic_has_ece(ibqp))
		return mynic_ece_refuse(ibqp, "the QP has no peer", EOPNOTSUPP);
	if (ece->comp_mask || ece->vendor_id != MYNIC_ECE_VENDOR)
		return mynic_ece_refuse(ibqp, "comp_mask, or another vendor",
					EINVAL);
	pthread_mutex_lock(&qp->state_lock);
	early = qp->state == IBV_QPS_RESET || qp->state == IBV_QPS_INIT;
	if (early) {
		ece->options &= to_mctx(ibqp->context)->ece_options;
		qp->ece_options = ece->options;
		qp->ece_set = true;
	}
	pthread_mutex_unlock(&qp->state_lock);
	if (!early)
		return mynic_ece_refuse(ibqp, "the QP has left INIT", EINVAL);
	return 0;
}
