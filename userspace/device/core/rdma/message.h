/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* SEND and RDMA WRITE at the receiver, as all connected QPs have them. */
#ifndef MYNIC_MESSAGE_H
#define MYNIC_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/verbs.h"
#include "packet/opcode.h"
#include "qp/message_fault.h"
#include "queue/wqe.h"
#include "rdma/responder.h"

struct mynic_cqe;
struct mkey;
struct packet;
struct qp;
struct roce_hdr;

/** message_in_sequence() - may a packet of this kind come now? */
static inline bool message_in_sequence(const struct responder *r,
				       const struct opcode_info *info)
{
	bool first = info->flags & OPCODE_FIRST;

	return first == !r->msg && (!r->msg || r->msg == info->class);
}

/**
 * message_execute() - place a packet of a SEND or WRITE
 * @qp: connected QP that can receive
 * @pkt: the packet
 * @info: its opcode, a SEND or WRITE, in sequence
 *
 * With the last packet the receive request completes, if there is one. After a
 * fault it is still in use, and the message where it was.
 *
 * Return: MESSAGE_OK, or why nothing has been done.
 */
enum message_fault message_execute(struct qp *qp, const struct packet *pkt,
				   const struct opcode_info *info);

/**
 * message_check_reth() - check the RETH of a READ or WRITE as a whole
 * @qp: the queue pair
 * @hdr: the packet's headers
 * @access: the right that it takes
 * @mkey: out: if all is well and there are bytes, whose they are
 *
 * Return: MESSAGE_OK, or what is wrong.
 */
enum message_fault message_check_reth(struct qp *qp, const struct roce_hdr *hdr,
				      enum ib_access_flags access,
				      struct mkey **mkey);

/** message_complete() - the receive request in use has ended */
void message_complete(struct qp *qp, struct wqe_error error,
		      struct mynic_cqe *cqe, bool solicited);

#endif /* MYNIC_MESSAGE_H */
