/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * XRC domains, and the SRQ that an XRC_TGT QP uses: each request names one of
 * its domain. SRQs themselves are in queue/srq.h.
 */
#ifndef MYNIC_XRCD_H
#define MYNIC_XRCD_H

#include <stdbool.h>
#include <stdint.h>

#include "state/qp_types.h"

struct admin_call;
struct nic;
struct pd;
struct srq;

/**
 * struct xrcd - an XRC domain
 * @number: XRCDN
 * @num_srqs: SRQs in it
 * @targets: its XRC_TGT QPs, linked by &qp.recv_link
 */
struct xrcd {
	uint32_t number;
	uint32_t num_srqs;
	struct qp_list targets;
};

/**
 * xrc_srq_find() - find the SRQ that an XRCETH names
 * @qp: XRC_TGT QP
 * @srqn: from the packet, any value
 *
 * Return: the SRQ; NULL if the QP's domain has no such SRQ.
 */
struct srq *xrc_srq_find(const struct qp *qp, uint32_t srqn);

/**
 * xrc_pd() - find the protection domain for a request's key
 * @qp: any QP
 * @srqn: XRC_TGT: SRQ that the request has named
 *
 * Return: the domain; NULL if the SRQ is gone.
 */
const struct pd *xrc_pd(const struct qp *qp, uint32_t srqn);

/**
 * xrc_bind() - let a QP use receive requests, PD and CQ of an SRQ
 * @qp: XRC_TGT QP between two messages
 * @srq: SRQ of the QP's domain, or NULL
 */
void xrc_bind(struct qp *qp, struct srq *srq);

/**
 * xrc_unbind_some() - unbind some QPs from an SRQ
 * @nic: the NIC
 * @srq: an SRQ that is going to be destroyed
 *
 * A receive request that a message has taken from it gets no completion.
 *
 * Return: true if more QPs are bound to it.
 */
bool xrc_unbind_some(struct nic *nic, struct srq *srq);

/*
 * Part of a reset: frees the next domain from @number on. Returns false if
 * there is none.
 */
bool xrcds_free_one(struct nic *nic, uint32_t *number);

/* Commands of the host; see admin.h */
int admin_alloc_xrcd(struct nic *nic, struct admin_call *call);
int admin_dealloc_xrcd(struct nic *nic, struct admin_call *call);

#endif /* MYNIC_XRCD_H */
