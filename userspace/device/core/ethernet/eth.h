/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The Ethernet part of a NIC: RAW_PACKET QPs and the port's receive filter. */
#ifndef MYNIC_ETH_H
#define MYNIC_ETH_H

#include <stdbool.h>
#include <stdint.h>

#include "function/port.h"
#include "mynic_regs.h"
#include "packet/headers.h"
#include "packet/packet.h"
#include "queue/wqe.h"

/* Upper bound for the bytes of a frame, without FCS */
#define ETH_MAX_FRAME (PORT_MAX_MTU + PORT_FRAME_OVERHEAD)

#define ETH_RX_FLAGS (MYNIC_RX_ENABLE | MYNIC_RX_PROMISC | MYNIC_RX_ALLMULTI)

struct nic;
struct qp;

/**
 * struct eth - receive filter
 * @qp: receiver of the port's frames; NULL if there is none
 * @flags: MYNIC_RX_*
 * @num_macs: elements of @macs
 * @macs: MACs that are received besides the port's own and broadcast
 */
struct eth {
	struct qp *qp;
	uint32_t flags;
	uint32_t num_macs;
	uint8_t macs[MYNIC_RX_MAX_MACS][6];
};

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
 * @frame: the frame, without FCS
 * @len: bytes, ETHER_HDR_LEN to ETH_MAX_FRAME
 */
void eth_send_bytes(struct qp *qp, const uint8_t *frame, uint32_t len);

/* The QP no longer receives, or is being destroyed. */
void eth_qp_gone(struct nic *nic, const struct qp *qp);

#endif /* MYNIC_ETH_H */
