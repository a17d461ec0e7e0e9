// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Building the packets of a SEND or RDMA WRITE on connected QPs, without PSNs.
 */

#include "rdma/message_packet.h"

#include "base/verbs.h"
#include "packet/opcode.h"
#include "packet/packet.h"
#include "qp/path.h"
#include "qp/service.h"
#include "queue/wqe.h"
#include "state/qp_types.h"
#include "state/queue_types.h"

/* BTH opcodes by OPCODE_FIRST and OPCODE_LAST, without the service */
static const uint8_t send_opcodes[] = {
	[0] = BTH_RC_SEND_MIDDLE,
	[OPCODE_FIRST] = BTH_RC_SEND_FIRST,
	[OPCODE_LAST] = BTH_RC_SEND_LAST,
	[OPCODE_ONLY] = BTH_RC_SEND_ONLY,
};

static const uint8_t write_opcodes[] = {
	[0] = BTH_RC_WRITE_MIDDLE,
	[OPCODE_FIRST] = BTH_RC_WRITE_FIRST,
	[OPCODE_LAST] = BTH_RC_WRITE_LAST,
	[OPCODE_ONLY] = BTH_RC_WRITE_ONLY,
};

/* The opcode with immediate data always follows the one without */
static uint8_t message_packet_last_opcode(const struct send_req *req,
					  uint8_t opcode)
{
	switch (req->opcode) {
	case IBV_WR_SEND_WITH_IMM:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		return opcode + 1;
	case IBV_WR_SEND_WITH_INV:
		return opcode == BTH_RC_SEND_LAST ? BTH_RC_SEND_LAST_INV :
						    BTH_RC_SEND_ONLY_INV;
	default:
		return opcode;
	}
}

enum outcome message_packet_build(struct qp *qp, const struct send_req *req,
				  uint32_t offset, uint32_t num,
				  struct packet *pkt)
{
	uint32_t len = req->length - offset;
	uint32_t most = num << path_log_mtu(qp);
	struct roce_hdr *hdr = &pkt->roce;
	unsigned int position = 0;
	enum outcome outcome;

	if (!offset)
		position |= OPCODE_FIRST;
	if (len <= most)
		position |= OPCODE_LAST;
	else
		len = most;
	if (num > 1)
		pkt->train_mtu = path_mtu(qp);
	outcome = send_payload(qp, req, offset, len, pkt);
	if (outcome)
		return outcome;
	if (req->opcode == IBV_WR_SEND || req->opcode == IBV_WR_SEND_WITH_IMM ||
	    req->opcode == IBV_WR_SEND_WITH_INV) {
		hdr->opcode = send_opcodes[position];
	} else {
		hdr->opcode = write_opcodes[position];
		if (!offset) {
			hdr->remote_addr = req->remote_addr;
			hdr->rkey = req->rkey;
			hdr->dma_len = req->length;
		}
	}
	if (position & OPCODE_LAST) {
		hdr->opcode = message_packet_last_opcode(req, hdr->opcode);
		hdr->imm = req->imm;
		hdr->solicited = req->flags & IBV_SEND_SOLICITED;
	}
	hdr->opcode |= qp->service->bth;
	return OUTCOME_OK;
}
