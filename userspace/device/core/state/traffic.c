// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Doorbells, packets and completions in the journal. All is out of line and
 * cold. While nobody wants to see traffic, each costs the test of a flag.
 */
#include "state/traffic.h"

#include <endian.h>

#include "base/verbs.h"
#include "mynic_regs.h"
#include "packet/packet.h"

static void traffic_add(struct nic *nic, const struct journal_entry *entry)
{
	journal_add(&nic->journal, nic_now(nic), entry);
}

__attribute__((cold)) void traffic_note_doorbell(struct nic *nic, uint32_t qpn)
{
	const struct journal_entry entry = {
		.kind = JOURNAL_DOORBELL,
		.number = qpn,
	};

	traffic_add(nic, &entry);
}

__attribute__((cold)) void traffic_note_packet(struct nic *nic,
					       enum journal_kind kind,
					       const struct packet *pkt)
{
	struct journal_entry entry = {
		.kind = kind,
		.code = pkt->kind,
		.length = packet_len(pkt),
		.expected = packet_count(pkt),
	};

	if (pkt->defect)
		entry.code = PACKET_ETH;
	if (entry.code == PACKET_ROCE) {
		entry.number = pkt->roce.dest_qpn;
		entry.from = pkt->roce.opcode;
		entry.psn = pkt->roce.psn;
	}
	traffic_add(nic, &entry);
}

__attribute__((cold)) void traffic_note_completion(struct nic *nic,
						   uint32_t cqn,
						   const struct mynic_cqe *cqe)
{
	const struct journal_entry entry = {
		.kind = JOURNAL_COMPLETION,
		.number = le32toh(cqe->qp_num),
		.key = cqn,
		.addr = le64toh(cqe->wr_id),
		.status = le32toh(cqe->status),
		.length = le32toh(cqe->byte_len),
		.code = le32toh(cqe->opcode) & IBV_WC_RECV ? 1 : 0,
	};

	traffic_add(nic, &entry);
}
