// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "segment.h"

#include "core.h"
#include "opcode.h"
#include "path.h"

/* BTH opcodes by OPCODE_FIRST and OPCODE_LAST, but for the service */
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

int segment_build(struct qp *qp, const struct send_req *req, uint32_t offset,
		  struct packet *pkt)
{
	uint32_t len = req->length - offset;
	struct roce_hdr *hdr = &pkt->roce;
	unsigned int position = 0;
	bool has_imm;
	int syndrome;

	if (!offset)
		position |= OPCODE_FIRST;
	if (len <= path_mtu(qp))
		position |= OPCODE_LAST;
	else
		len = path_mtu(qp);
	syndrome = send_payload(qp, req, offset, len, pkt);
	if (syndrome)
		return syndrome;
	if (req->opcode == IB_WR_SEND || req->opcode == IB_WR_SEND_WITH_IMM) {
		hdr->opcode = send_opcodes[position];
	} else {
		hdr->opcode = write_opcodes[position];
		if (!offset) {
			hdr->remote_addr = req->remote_addr;
			hdr->rkey = req->rkey;
			hdr->dma_len = req->length;
		}
	}
	hdr->opcode |= qp->service;
	if (position & OPCODE_LAST) {
		has_imm = req->opcode == IB_WR_SEND_WITH_IMM ||
			  req->opcode == IB_WR_RDMA_WRITE_WITH_IMM;
		/* The opcode with immediate data is always the next one */
		hdr->opcode += has_imm;
		hdr->imm = req->imm;
		hdr->solicited = req->flags & IB_SEND_SOLICITED;
	}
	return MYNIC_SYN_NONE;
}
