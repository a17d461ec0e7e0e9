/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Acknowledgments and responses that arrive at an RC requester. */
#ifndef MYNIC_COMPLETER_H
#define MYNIC_COMPLETER_H

struct opcode_info;
struct packet;
struct qp;

/* Handles an acknowledgment or response for an RC QP in RTS or SQD. */
void completer_receive(struct qp *qp, const struct packet *pkt,
		       const struct opcode_info *info);

#endif /* MYNIC_COMPLETER_H */
