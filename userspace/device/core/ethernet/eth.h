/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The Ethernet part of a NIC: RAW_PACKET QPs and the port's receive filter. */
#ifndef MYNIC_ETH_H
#define MYNIC_ETH_H

#include <stdint.h>

#include "base/outcome.h"
#include "mynic_regs.h"
#include "state/function_types.h"

struct admin_call;
struct nic;
struct packet;
struct qp;
struct send_req;

/* Upper bound for the bytes of a frame, without FCS */
#define ETH_MAX_FRAME (PORT_MAX_MTU + PORT_FRAME_OVERHEAD)

#define ETH_RX_FLAGS (MYNIC_RX_ENABLE | MYNIC_RX_PROMISC | MYNIC_RX_ALLMULTI)

/* Takes an Ethernet frame, or a RoCEv2 packet that has its bytes. */
void eth_receive(struct nic *nic, const struct packet *pkt);

/**
 * eth_send() - execute a send request of a RAW_PACKET QP
 * @qp: the queue pair
 * @req: a request without error
 *
 * Return: result for the completion.
 */
enum outcome eth_send(struct qp *qp, const struct send_req *req);

/**
 * eth_send_bytes() - send a frame
 * @qp: the sending QP
 * @req: the request, which says what tag is to be inserted
 * @frame: the frame, without FCS and that tag
 * @len: bytes; at least ETHER_HDR_LEN, and at most ETH_MAX_FRAME with the tag
 */
void eth_send_bytes(struct qp *qp, const struct send_req *req,
		    const uint8_t *frame, uint32_t len);

/* Bytes of the tag that is inserted in each frame of a request */
uint32_t eth_tag_len(const struct send_req *req);

/* The QP no longer receives, or is being destroyed. */
void eth_qp_gone(struct nic *nic, const struct qp *qp);

/* Commands of the host; see admin.h */
int admin_set_rx(struct nic *nic, struct admin_call *call);

#endif /* MYNIC_ETH_H */
