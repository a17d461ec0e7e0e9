// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Enhanced connection establishment: options on which both ends agree. */
#include <config.h>

#include <errno.h>

#include "mynic.h"

/* In the name of this vendor, who is that of the PCI function */
#define MYNIC_ECE_VENDOR 0x1af4

static bool mynic_has_ece(const struct ibv_qp *ibqp)
{
	return ibqp->qp_type == IBV_QPT_RC || ibqp->qp_type == IBV_QPT_UC ||
	       ibqp->qp_type == IBV_QPT_XRC_SEND;
}

/**
 * mynic_ece_reset() - nothing has been agreed on
 * @qp: a QP in RESET
 */
void mynic_ece_reset(struct mynic_qp *qp)
{
	struct ibv_qp *ibqp = &qp->vqp.qp;

	qp->ece_set = false;
	qp->ece_options =
		mynic_has_ece(ibqp) ? to_mctx(ibqp->context)->ece_options : 0;
}

/**
 * mynic_query_ece() - ibv_query_ece(3)
 * @ibqp: the QP
 * @ece: before RTR what it can have, or has been given by ibv_set_ece(); then
 *	what it has
 *
 * Return: 0, or EOPNOTSUPP for a QP without a peer.
 */
int mynic_query_ece(struct ibv_qp *ibqp, struct ibv_ece *ece)
{
	struct mynic_qp *qp = to_mqp(ibqp);

	if (!mynic_has_ece(ibqp))
		return EOPNOTSUPP;
	pthread_mutex_lock(&qp->state_lock);
	*ece = (struct ibv_ece){
		.vendor_id = MYNIC_ECE_VENDOR,
		.options = qp->ece_options,
	};
	pthread_mutex_unlock(&qp->state_lock);
	return 0;
}

/**
 * mynic_set_ece() - ibv_set_ece(3)
 * @ibqp: a QP that is in RESET or INIT
 * @ece: options; those that the QP cannot have are cleared
 *
 * Return: 0, EOPNOTSUPP for a QP without a peer, or EINVAL.
 */
int mynic_set_ece(struct ibv_qp *ibqp, struct ibv_ece *ece)
{
	struct mynic_qp *qp = to_mqp(ibqp);
	int err = EINVAL;

	if (!mynic_has_ece(ibqp))
		return EOPNOTSUPP;
	if (ece->comp_mask || ece->vendor_id != MYNIC_ECE_VENDOR)
		return EINVAL;
	pthread_mutex_lock(&qp->state_lock);
	if (qp->state == IBV_QPS_RESET || qp->state == IBV_QPS_INIT) {
		ece->options &= to_mctx(ibqp->context)->ece_options;
		qp->ece_options = ece->options;
		qp->ece_set = true;
		err = 0;
	}
	pthread_mutex_unlock(&qp->state_lock);
	return err;
}
