/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Packets of a SEND or RDMA WRITE on connected QPs. */
#ifndef MYNIC_MESSAGE_PACKET_H
#define MYNIC_MESSAGE_PACKET_H

#include <stdint.h>

#include "base/outcome.h"

struct packet;
struct qp;
struct send_req;

/**
 * message_packet_build() - build a packet or train of a message
 * @qp: connected QP with a send queue
 * @req: SEND or RDMA WRITE
 * @offset: offset in the message, a multiple of the path MTU
 * @num: number of packets; a train has at most path_train()
 * @pkt: a packet from path_init(); all but the PSN and AckReq is filled in
 *
 * Return: like sge_map().
 */
enum outcome message_packet_build(struct qp *qp, const struct send_req *req,
				  uint32_t offset, uint32_t num,
				  struct packet *pkt);

#endif /* MYNIC_MESSAGE_PACKET_H */
