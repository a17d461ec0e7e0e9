/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* How a SEND or RDMA WRITE of connected QPs is cut into packets. */
#ifndef MYNIC_SEGMENT_H
#define MYNIC_SEGMENT_H

#include <stdint.h>

struct packet;
struct qp;
struct send_req;

/**
 * segment_build() - make one packet of a message, or a train
 * @qp: connected QP with a send queue
 * @req: SEND or RDMA WRITE
 * @offset: of the packet in the message, in bytes; a multiple of the path MTU
 * @num: packets; more than one as path_train() says
 * @pkt: from path_init(); gets all but the PSN and AckReq
 *
 * Return: enum mynic_syndrome, 0 if all is well.
 */
int segment_build(struct qp *qp, const struct send_req *req, uint32_t offset,
		  uint32_t num, struct packet *pkt);

#endif /* MYNIC_SEGMENT_H */
