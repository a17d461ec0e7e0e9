/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef MYNIC_XRCD_H
#define MYNIC_XRCD_H

#include <stdbool.h>
#include <stdint.h>

#include "queue/cq.h"

struct nic;
struct qp;
struct srq;

/**
 * struct xrcd - XRC domain
 * @number: XRCDN
 * @num_srqs: SRQs in it
 * @targets: XRC_TGT QPs in it, through &qp.recv_link
 */
struct xrcd {
	uint32_t number;
	uint32_t num_srqs;
	struct qp_list targets;
};

/**
 * xrc_srq_find() - the SRQ that an XRCETH names
 * @qp: XRC_TGT QP
 * @srqn: from the packet, any value
 *
 * Return: the SRQ; NULL if there is none in the QP's domain.
 */
struct srq *xrc_srq_find(const struct qp *qp, uint32_t srqn);

/**
 * xrc_pd() - the protection domain of what a peer names
 * @qp: any QP
 * @srqn: XRC_TGT: the SRQ that the request named
 *
 * Return: the domain; NULL if that SRQ is gone.
 */
const struct pd *xrc_pd(const struct qp *qp, uint32_t srqn);

/**
 * xrc_bind() - have a QP's receive requests, keys and completions be an SRQ's
 * @qp: XRC_TGT QP with no message under way
 * @srq: SRQ of its domain, or NULL
 */
void xrc_bind(struct qp *qp, struct srq *srq);

/**
 * xrc_unbind_some() - before an SRQ is destroyed
 * @nic: the NIC
 * @srq: the SRQ
 *
 * What a message under way has taken from it has no completion.
 *
 * Return: true if there are more QPs whose last request named it.
 */
bool xrc_unbind_some(struct nic *nic, struct srq *srq);

/** xrcds_free_one() - in a reset: the next from @number on; false: no more */
bool xrcds_free_one(struct nic *nic, uint32_t *number);

#endif /* MYNIC_XRCD_H */
