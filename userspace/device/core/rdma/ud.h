/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Unreliable datagrams: UD QPs and the GSI. */
#ifndef MYNIC_UD_H
#define MYNIC_UD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/outcome.h"
#include "qp/spread.h"

struct packet;
struct qp;
struct send_req;

/**
 * ud_send() - send a datagram
 * @qp: UD or GSI QP
 * @req: a request without error
 *
 * Return: what comes of the request.
 */
enum outcome ud_send(struct qp *qp, const struct send_req *req);

/**
 * ud_send_bytes() - send a part of a request as a datagram of its own
 * @qp: UD or GSI QP
 * @req: the request
 * @data: the payload
 * @len: bytes of @data, at most the path MTU
 *
 * Return: OUTCOME_OK or OUTCOME_BAD_GID.
 */
enum outcome ud_send_bytes(struct qp *qp, const struct send_req *req,
			   const uint8_t *data, uint32_t len);

/* Places a datagram in a QP that does not wait; see odp_wait(). */
void ud_take(struct qp *qp, const struct packet *pkt);

/**
 * ud_receive() - receive a datagram from the wire or from this NIC
 * @qp: UD or GSI QP that can receive
 * @pkt: the datagram
 *
 * Return: true if its Q_Key was that of the QP.
 */
bool ud_receive(struct qp *qp, const struct packet *pkt);

/* Receivers of a datagram: all QPs in the group of its dgid. */
extern const struct spread_kind ud_group_kind;

#endif /* MYNIC_UD_H */
