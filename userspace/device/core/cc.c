// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "cc.h"

#include "core.h"
#include "opcode.h"
#include "path.h"

#define ECN_MASK 0x03

/* Bytes of a CNP behind the BTH: reserved, zero (annex A17) */
#define CNP_PAYLOAD_LEN 16

/* A QP's peer is told of congestion once in this time (DCQCN, section 3.1) */
#define CNP_INTERVAL_NS 50000

void cc_marked(struct qp *qp)
{
	uint64_t now = nic_now(qp->nic);

	if (now < qp->cc.cnp_after)
		return;
	qp->cc.cnp_after = now + CNP_INTERVAL_NS;
	qp->cc.cnp_due = true;
	qp_schedule(qp->nic, qp);
}

void cc_send_cnp(struct qp *qp)
{
	static uint8_t reserved[CNP_PAYLOAD_LEN];
	struct packet pkt;

	qp->cc.cnp_due = false;
	if (!path_init(qp, &qp->attr.av, qp->attr.dest_qpn, &pkt))
		return;
	pkt.roce.opcode = BTH_CNP;
	pkt.roce.becn = true;
	pkt.roce.traffic_class &= ~ECN_MASK;
	pkt.iov[0] = (struct iovec){ reserved, sizeof(reserved) };
	pkt.niov = 1;
	pkt.payload_len = sizeof(reserved);
	nic_count(qp->nic, MYNIC_STAT_TX_CNP);
	path_send(qp->nic, &pkt);
}

void cc_cnp(struct qp *qp)
{
	nic_count(qp->nic, MYNIC_STAT_RX_CNP);
}
