/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Receiving SENDs and RDMA WRITEs on connected QPs. */
#ifndef MYNIC_MESSAGE_H
#define MYNIC_MESSAGE_H

#include <stdbool.h>

#include "base/outcome.h"
#include "base/verbs.h"
#include "packet/opcode.h"
#include "state/transport_types.h"

struct mkey;
struct mynic_cqe;
struct packet;
struct qp;
struct roce_hdr;

/* Whether a packet of this kind may follow the last one. */
static inline bool message_in_sequence(const struct responder *r,
				       const struct opcode_info *info)
{
	bool first = info->flags & OPCODE_FIRST;

	return first == !r->msg && (!r->msg || r->msg == info->class);
}

/* A request packet has arrived, which its host may want to answer. */
void message_arrives(struct qp *qp);

/**
 * message_execute() - place a packet of a SEND or RDMA WRITE
 * @qp: connected QP that can receive
 * @pkt: the packet
 * @info: its opcode, a SEND or RDMA WRITE, in sequence
 *
 * The last packet completes the receive request, if there is one. After an
 * error, the receive request stays in use, and the message is where it was.
 *
 * Return: OUTCOME_OK, or why nothing was done.
 */
enum outcome message_execute(struct qp *qp, const struct packet *pkt,
			     const struct opcode_info *info);

/**
 * message_check_reth() - check the whole range of a READ or RDMA WRITE
 * @qp: the queue pair
 * @hdr: headers of the packet
 * @access: required right
 * @mkey: out: if it succeeds and the range is not empty, the key
 *
 * Return: OUTCOME_OK, or the reason to refuse it.
 */
enum outcome message_check_reth(struct qp *qp, const struct roce_hdr *hdr,
				enum ibv_access_flags access,
				struct mkey **mkey);

/* Completes the receive request that is in use. */
void message_complete(struct qp *qp, enum outcome why, struct mynic_cqe *cqe,
		      bool solicited);

#endif /* MYNIC_MESSAGE_H */
