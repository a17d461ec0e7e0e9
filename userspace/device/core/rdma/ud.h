/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Unreliable datagrams: UD QPs and the GSI. */
#ifndef MYNIC_UD_H
#define MYNIC_UD_H

#include <stdbool.h>

#include "queue/wqe.h"

struct packet;
struct qp;
struct spread_place;

/**
 * ud_send() - execute a send request
 * @qp: UD or GSI QP
 * @req: checked; @req->error is none
 *
 * Return: how it ended, for the completion.
 */
struct wqe_error ud_send(struct qp *qp, const struct send_req *req);

/**
 * ud_send_bytes() - send a datagram of a request, in a packet of its own
 * @qp: UD or GSI QP
 * @req: the request
 * @data: the payload
 * @len: bytes of it, at most a path MTU
 *
 * Return: how it ended.
 */
struct wqe_error ud_send_bytes(struct qp *qp, const struct send_req *req,
			       const uint8_t *data, uint32_t len);

/** ud_take() - a datagram for a QP that nothing holds up; see paging_wait() */
void ud_take(struct qp *qp, const struct packet *pkt);

/**
 * ud_receive() - a datagram came in for a QP, from the wire or this NIC
 * @qp: UD or GSI QP that can receive
 * @pkt: the datagram
 *
 * Return: whether its Q_Key was the QP's.
 */
bool ud_receive(struct qp *qp, const struct packet *pkt);

/** A datagram for all QPs in the group of its dgid */
extern const struct spread_kind ud_group_kind;

#endif /* MYNIC_UD_H */
