/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The RC responder: what it expects, and what it has to answer. UC uses the
 * same struct for PSNs and messages that arrive. The answers are in response.c.
 */
#ifndef MYNIC_RESPONDER_H
#define MYNIC_RESPONDER_H

#include <stdbool.h>

struct opcode_info;
struct packet;
struct qp;

/* The QP goes to RTR. */
void responder_start(struct qp *qp);

/* Discards the state of messages and responses. */
void responder_reset(struct qp *qp);

/* Handles a request for an RC or XRC_TGT QP. */
void responder_receive(struct qp *qp, const struct packet *pkt,
		       const struct opcode_info *info);

/**
 * responder_defers() - answer the expected request while the QP waits for a page
 * @qp: RC or XRC_TGT QP that holds packets, see odp_holds()
 * @pkt: packet that has arrived
 * @info: its opcode
 *
 * A page may take longer than all retries of the peer. After a while, an RNR NAK
 * tells the peer that the request is not lost; see "On-demand paging" of the
 * specification. A request that comes for the first time is held, because the
 * RNR NAK would end it if the peer's rnr_retry is 0.
 *
 * Return: whether @pkt has been answered, and is not to be held.
 */
bool responder_defers(struct qp *qp, const struct packet *pkt,
		      const struct opcode_info *info);

#endif /* MYNIC_RESPONDER_H */
